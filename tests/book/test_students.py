"""Notebooks for students: no solution is left, every exercise is, and nothing else has changed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache

import jupytext
import nbformat
import pytest

from tools import bibliography, exercises, notebooks, numbering, students

pytestmark = pytest.mark.usefixtures("html")  # whose numbers they carry
CHAPTERS = [one for one in notebooks.chapters() if exercises.of_chapter(one)]
# Written apart from the tool: everything from one mark to the other.
SOLUTION = re.compile(
    r"^````\{solution-start\}.*?^````\{solution-end\}\n````$", re.MULTILINE | re.DOTALL
)
TERM = re.compile(r"\{term\}`([^<`]*[^<` ])(?: <[^`]*>)?`")  # of the glossary: plain text here
TOY = """\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A toy

```{code-cell} ipython3
number = 42
```

```{exercise-start} Twice
:label: ex-twice
```
*By code.* Double the number.
```{exercise-end}
```

````{solution-start} ex-twice
:class: dropdown
````
Multiply by two.

```{code-cell} ipython3
double = 2 * number
```

````{solution-end}
````

## After the exercise

```{code-cell} ipython3
print(number)
```
"""


@cache
def handout(chapter):
    return students.handout(chapter)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    known = {
        "ex-twice": numbering.Number("exercise", "1.1"),
        "book/01_toy": numbering.Number("page", "1"),
    }
    monkeypatch.setattr(numbering, "numbers", lambda: known)
    chapter = tmp_path / "01_toy.md"
    chapter.write_text(TOY)
    return chapter


def is_answer(cell) -> bool:
    return "answer" in cell.metadata.get("tags", [])


def added(cell) -> bool:
    """Whether the tool made the cell: one for an answer, or one with a caption."""
    return bool({"answer", "caption"} & set(cell.metadata.get("tags", [])))


def prose(cells) -> list[str]:
    """Return the lines of text cells, without the sentence that the tool takes out."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    text = re.sub(r"\s*Solutions are folded, and are\s+executed with the page\.", "", text)
    return [line for line in text.splitlines() if line.strip()]


def undefined(notebook, folder) -> str:
    """Return what ruff says about names that no cell defines."""
    nbformat.write(notebook, folder / "one.ipynb")
    command = [shutil.which("ruff", path=f"{sys.prefix}/bin"), "check", "--isolated"]
    command += ["--no-cache", "--select", "F821", folder / "one.ipynb"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_all_but_the_solutions_is_there_unchanged(chapter):
    """Compared with the chapter from whose text the solutions were cut."""
    text = chapter.read_text()
    found = SOLUTION.findall(text)
    assert len(found) == len(exercises.of_chapter(chapter))
    written = numbering.plain(TERM.sub(r"\1", SOLUTION.sub("", text)), numbering.numbers())
    expected = jupytext.reads(bibliography.cited(written), "md:myst").cells
    name, known = f"book/{chapter.stem}", numbering.numbers()
    expected[0].source = numbering.titled(expected[0].source, name, known)
    kept = [cell for cell in handout(chapter).cells if not added(cell)]
    assert prose(kept) == prose(expected)
    code = [(cell.source, cell.metadata) for cell in kept if cell.cell_type == "code"]
    assert code == [(one.source, one.metadata) for one in expected if one.cell_type == "code"]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_no_line_of_a_solution_is_left(chapter):
    text = chapter.read_text()
    elsewhere = SOLUTION.sub("", text)
    left = "\n".join(cell.source for cell in handout(chapter).cells)
    lines = {line for one in SOLUTION.findall(text) for line in one.splitlines() if len(line) > 20}
    hidden = {line for line in lines if line not in elsewhere}
    assert len(hidden) > 0.8 * len(lines) > 8
    assert not [line for line in hidden if line in left]
    assert "solution-" not in left


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_exercise_has_a_place_for_its_answer(chapter):
    cells, answered = handout(chapter).cells, []
    for one in exercises.of_chapter(chapter):
        mine = [k for k, cell in enumerate(cells) if one.label in cell.metadata.get("tags", [])]
        kinds = [cells[k].cell_type for k in mine]
        wanted = {
            "by hand": ["markdown", "code"] if one.check else ["markdown"],
            "by code": ["code"],
            "by hand and by code": ["markdown", "code"],
            "small project": ["markdown", "code"],
        }
        assert kinds == wanted[one.level]
        lines = cells[mine[-1]].source.splitlines()
        assert lines[-1] == f"# {one.check}" if one.check else len(lines) == 1
        number = numbering.numbers()[one.label].spoken
        assert f"**{number}. {one.title}**\n" in cells[mine[0] - 1].source
        answered += mine
    assert answered == [k for k, cell in enumerate(cells) if is_answer(cell)]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_notebook_is_valid_and_complete(chapter, tmp_path):
    """It holds no output, and no cell needs a name that only a solution defines."""
    notebook = handout(chapter)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "jupytext" not in notebook.metadata
    for cell in notebook.cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)
    assert not undefined(notebook, tmp_path)


def test_citations_are_words_and_links():
    said = bibliography.cited(
        "{cite:t}`aubin2019storage`, {cite}`abbe2021proof,perkins2021frozen`."
    )
    assert re.sub(r"\]\(https://doi.org/[^)]+\)", "]", said) == (
        "[Aubin et al. (2019)], ([Abbe et al. 2021]; [Perkins and Xu 2021])."
    )
    for chapter in notebooks.chapters():
        assert "{cite" not in bibliography.cited(chapter.read_text())


def test_name_of_a_solution_would_be_missed(toy, tmp_path):
    """The check above can fail."""
    assert not undefined(students.handout(toy), tmp_path)
    toy.write_text(TOY.replace("print(number)", "print(double)"))
    assert "double" in undefined(students.handout(toy), tmp_path)


def test_toy(toy):
    cells = students.handout(toy).cells
    assert [cell.source.splitlines()[0] for cell in cells] == [
        "# 1. A toy",
        "number = 42",
        "**Exercise 1.1. Twice**",
        "# Your answer here.",
        "## After the exercise",
        "print(number)",
    ]
    assert students.handout(toy) == students.handout(toy), "the same at every run"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("````{solution-end}\n````\n", "", "the solution of ex-twice does not end"),
        ("````{solution-start} ex-twice\n:class: dropdown\n````\n", "", "begin and end in turn"),
        ("````{solution-start} ex-twice", "````{solution} ex-twice", "begin and end in turn"),
        ("## After", "```{solution} ex-twice\nFour.\n```\n\n## After", "as the others are"),
    ],
)
def test_solution_that_could_slip_through_is_refused(toy, old, new, message):
    assert old in TOY
    toy.write_text(TOY.replace(old, new))
    with pytest.raises(ValueError, match=message):
        students.handout(toy)


def run(*arguments):
    command = [sys.executable, "-m", "tools.students", *map(str, arguments)]
    return subprocess.run(command, cwd=notebooks.ROOT, capture_output=True, text=True, check=False)


def test_command_writes_notebooks_and_archives(tmp_path):
    done = run("04", "book/01_4_exercises.md", "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = ["01_4_exercises.ipynb", "04_4_exercises.ipynb"]
    assert sorted(path.name for path in (tmp_path / "out").glob("*.ipynb")) == names
    assert [line.rsplit("/", 1)[1] for line in done.stdout.splitlines()] == names
    archives = {path.name for path in (tmp_path / "out" / "book" / "results").glob("*.nc")}
    assert "tree-minima.nc" in archives
    assert not [name for name in archives if ".quick." in name]


def test_command_says_what_it_does():
    assert "in the place of every solution" in " ".join(run("--help").stdout.split())
    unknown = run("77")
    assert unknown.returncode == 2
    assert "no chapter with exercises is called 77" in unknown.stderr
