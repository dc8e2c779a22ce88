"""Handouts: no solution is left, every exercise is, and nothing that they need is elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import nbformat
import pytest

from tools import bibliography, exercises, first_cell, links, notebooks, numbering, students

pytestmark = pytest.mark.usefixtures("html")  # whose numbers they carry
CHAPTERS = [one for one in notebooks.chapters() if exercises.of_chapter(one)]
# Written apart from the tool: everything from one mark to the other.
SOLUTION = re.compile(
    r"^````\{solution-start\}.*?^````\{solution-end\}\n````$", re.MULTILINE | re.DOTALL
)
TERM = re.compile(r"\{term\}`([^<`]*[^<` ])(?: <[^`]*>)?`")  # of the glossary: plain text here
TOY = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A toy

```{code-cell} ipython3
number = 42
```

## Exercises

By hand. Solutions are folded, and are
executed with the page.
A *rating* ends each title.

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
    monkeypatch.setattr(links, "BOOK", tmp_path / "book")
    chapter = tmp_path / "book" / "01_toy.md"
    chapter.parent.mkdir()
    chapter.write_text(TOY)
    return chapter


def text_of(notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def is_answer(cell) -> bool:
    return "answer" in cell.metadata.get("tags", [])


def undefined(notebook, folder) -> str:
    """Return what ruff says about names that no cell defines."""
    nbformat.write(notebook, folder / "one.ipynb")
    command = [shutil.which("ruff", path=f"{sys.prefix}/bin"), "check", "--isolated"]
    command += ["--no-cache", "--select", "F821", folder / "one.ipynb"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_exercise_is_there_as_on_the_page(chapter):
    """Compared with the page from whose text everything else was cut."""
    text, known = chapter.read_text(), numbering.numbers()
    assert len(SOLUTION.findall(text)) == len(exercises.of_chapter(chapter))
    words = " ".join(text_of(handout(chapter)).split())
    for body in (one["body"] for one in exercises.EXERCISE.finditer(SOLUTION.sub("", text))):
        written = numbering.plain(TERM.sub(r"\1", body), known)
        parts = re.split(r"\[[^\]]+\]\([^)]+\)", bibliography.cited(written))  # at links
        assert all(" ".join(part.split()) in words for part in parts)
    setup = [
        one.source for one in handout(chapter).cells if "setup" in one.metadata.get("tags", [])
    ]
    assert setup
    assert all(source in text for source in setup)


@pytest.mark.parametrize("site", ["", "https://org.example/book/"])
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_handout_is_closed_in_itself(chapter, site, monkeypatch):
    """It has each formula that it cites, no link without target, and no mark of the pages."""
    monkeypatch.setenv("WFMLIB_SITE", site)
    notebook = students.handout(chapter)
    text = text_of(notebook)
    for one in notebook.cells:
        cited = set(re.findall(r"(?<![\w\d])\(([\dF]+\.\d+)\)", one.source))
        assert cited <= set(re.findall(r"\\tag\{([^}]+)\}", one.source)), one.source
    targets = re.findall(r"\]\(([^)\s]*)\)", text)
    assert not [target for target in targets if "://" not in target]
    assert bool([target for target in targets if target.startswith("https://org")]) == bool(site)
    assert not re.search(
        r"^:::|^`{3,}|\{[\w:]+\}`|Solutions are folded|form below", text, re.MULTILINE
    )
    assert "**Student number:**" in notebook.cells[1].source
    assert len(notebook.cells) < 40


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
        above = [cell.source for cell in cells[: mine[0]] if not is_answer(cell)]
        assert f"**{number}. {one.title}**\n" in above[-1]
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
    toy.write_text(TOY.replace("number = 42", "number = double"))
    assert "double" in undefined(students.handout(toy), tmp_path)


def test_toy(toy):
    cells = students.handout(toy).cells
    assert [cell.source.splitlines()[0] for cell in cells] == [
        "# Exercises: 1. A toy",
        "**Name:** &nbsp;",
        "number = 42",
        "## Exercises",
        "# Your answer here.",
    ]
    assert students.handout(toy) == students.handout(toy), "the same at every run"


def test_solutions_are_for_lecturers_alone(toy):
    cells = students.handout(toy, solved=True).cells
    assert "double = 2 * number" in [cell.source for cell in cells]
    assert "<details><summary>Solution</summary>\n\nMultiply" in cells[4].source
    assert not any(map(is_answer, cells))


def test_points_are_the_rating_or_what_the_table_has(toy):
    assert tomllib.loads(students.points([toy], {})) == {
        "ex-twice": {"number": "1.1", "check": False, "points": 1}
    }
    toy.write_text(TOY.replace("} Twice", "} Twice [3]"))
    assert tomllib.loads(students.points([toy], {}))["ex-twice"]["points"] == 3
    kept = tomllib.loads(students.points([toy], {"ex-twice": {"points": 7}}))
    assert kept["ex-twice"]["points"] == 7


def test_source_of_a_page_without_solutions():
    left = exercises.unsolved(TOY)
    assert "*By code.* Double the number." in left
    assert "## After the exercise" in left
    for gone in ("solution-", "Multiply", "double =", "folded"):
        assert gone not in left
    for chapter in CHAPTERS:
        text = chapter.read_text()
        left, right = exercises.unsolved(text), SOLUTION.sub("", text)
        right = re.sub(r" *Solutions are folded[\w\s,]*\.", "", right)
        assert re.sub(r"\n+", "\n", left) == re.sub(r"\n+", "\n", right)


@pytest.mark.parametrize("said", ["yes", "no"])
def test_pages_without_solutions(said, tmp_path):
    """A book of one page: neither page, search nor source has what the solution says."""
    book, output = tmp_path / "book", tmp_path / "output"
    book.mkdir()
    (book / "page.md").write_text(TOY.replace("## After", "Text.\n\n## After"))
    (book / "_toc.yml").write_text("{format: jb-book, root: page}\n")
    (book / "_config.yml").write_text(
        "execute: {execute_notebooks: 'off'}\n"
        f"sphinx: {{local_extensions: {{downloads: '{notebooks.ROOT / 'tools'}'}},\n"
        "  extra_extensions: [sphinx_exercise]}\n"
    )
    command = [Path(sys.executable).with_name("jupyter-book"), "build", book, "-q"]
    environment = os.environ | {"WFMLIB_SOLUTIONS": said, "WFMLIB_SITE": ""}
    # The packages of notebooks are those of the whole book, which is not there.
    subprocess.run(
        [*command, "--path-output", output], check=False, capture_output=True, env=environment
    )
    pages = output / "_build" / "html"
    for name in ("page.html", "searchindex.js", "_sources/page.md"):
        text = (pages / name).read_text().lower()
        assert "after" in text
        assert ("multipl" in text) == (said == "yes"), name
        if name != "searchindex.js":
            assert ("are folded" in text) == (said == "yes"), name
            assert "by hand." in text, name
            assert "ends each title." in text, name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("````{solution-end}\n````\n", "", "the solution of ex-twice does not end"),
        ("````{solution-start} ex-twice\n:class: dropdown\n````\n", "", "begin and end in turn"),
        ("````{solution-start} ex-twice", "````{solution} ex-twice", "begin and end in turn"),
        (
            "````\n\n## After",
            "````\n\n```{solution} x\nFour.\n```\n\n## After",
            "as the others are",
        ),
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
    done = run("4", "book/01_4_exercises.md", "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = ["01_4_exercises.ipynb", "04_4_exercises.ipynb"]
    assert sorted(path.name for path in (tmp_path / "out").glob("*.ipynb")) == names
    assert [line.rsplit("/", 1)[1] for line in done.stdout.split()] == [*names, "points.toml"]
    assert (tmp_path / "out" / first_cell.WHEEL).is_file()
    for name in names:
        (cell, *_) = nbformat.read(tmp_path / "out" / name, 4).cells
        for archive in first_cell.QUOTED.findall(cell.source.partition("fetch(")[2]):
            assert (tmp_path / "out" / "files" / "archives" / f"{archive}.nc").is_file()
    table = tomllib.loads((tmp_path / "points.toml").read_text("utf-8"))
    assert {one["number"][0] for one in table.values()} == {"1", "4"}


def test_command_says_what_it_does():
    assert "a notebook that needs nothing beside it" in " ".join(run("--help").stdout.split())
    unknown = run("77")
    assert unknown.returncode == 2
    assert "no chapter with exercises is called 77" in unknown.stderr
