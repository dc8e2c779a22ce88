"""Handouts for students: the exercises of a page as a notebook that needs nothing beside it.

    make students CHAPTER="1 6"        # or: python -m tools.students 1 6 --output FOLDER

Each notebook has the imports of its page, and its section of exercises with an empty cell in the
place of every solution. The formulas that an exercise cites are repeated in it, and links lead to
the site of the book, or say which page they mean. The wheel of the package and the archives that
the notebooks name go along, so that the folder can be handed out as it is. Beside the folder
stands the table of points by which `make marks` marks what was handed out.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tomllib
from pathlib import Path

import nbformat
from hatchling.builders.wheel import WheelBuilder
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools import bibliography, exercises, first_cell, links, numbering
from tools.notebooks import BOOK, BUILD, ROOT, chapters, read, without_terms
from wfmlib.book import experiments

OUTPUT = BUILD / "students"
POINTS = "points.toml"
ARCHIVES = BOOK / "results"
SECTION = "Exercises"
RATING = re.compile(r" \[([1-5])\]$")  # at the end of an exercise's title
PROSE_ANSWER = "*Your answer here.*"
CODE_ANSWER = "# Your answer here."
IMPORT_CHECK = "from wfmlib.book import exercises"
# What the pages say about solutions and forms that are not here.
ONLY_ON_PAGES = re.compile(
    rf"{exercises.FOLDED.pattern}|^Where an exercise has a \*Check\*.*?(?:\n\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
TRIAL = re.compile(rf"{IMPORT_CHECK}\n+exercises\.check\([^\n]*\)\s*")
SETUP = {"tags": ["setup"], "jupyter": {"source_hidden": True}}
STUDENT = "**Name:** &nbsp;\n\n**Student number:** &nbsp;"
HEAD = """\
# Exercises: {title}

From {source}, a page of *Wide Flat Minima*.

Run the first cells. Answer in the cells that ask for it, and leave those cells where they are; you
may add others below them. Where the last line of a cell calls `exercises.check`, delete the `#` in
front: the call says *right*, or gives a hint. Text CC BY 4.0, code MIT."""


def handout(page: Path, solved: bool = False):
    """Return the exercises of a page as a notebook, without solutions unless they are asked for.

    Raises
    ------
    ValueError
        If a solution does not begin and end as the pages write it.
    """
    notebook, numbers = read(page), numbering.numbers()
    known = {exercise.label: exercise for exercise in exercises.of_chapter(page)}
    setup, cells, section, current, answered = [], [], "", "", None
    for cell, text, label in exercises.parts(notebook):
        if cell.cell_type == "code":
            if label is not None or section == SECTION:
                tags = ["solution" if label else "answer", label or current]
                if (solved or label is None) and not TRIAL.fullmatch(text):
                    cells.append(new_code_cell(text, metadata={"tags": tags}))
            elif not section:
                setup.append(new_code_cell(text, metadata=SETUP))
        elif label is None:
            for part in re.split(r"^(?=## )", text, flags=re.MULTILINE):
                heading = exercises.HEADING.match(part)
                section = heading[2] if heading and heading[1] == "##" else section
                if section == SECTION and part.strip():
                    current = "".join(numbering.EXERCISE_LABEL.findall(part)[-1:]) or current
                    cells.append(new_markdown_cell(with_formulas(part, numbers)))
        elif solved and text:
            fold = f":::{{admonition}} Solution\n:class: dropdown\n{text}\n:::"
            cells.append(new_markdown_cell(fold, metadata={"tags": ["solution", label]}))
        if label is not None and label != answered and not solved:
            cells += answer(known[label])
        answered = label
    here = f"{BOOK.name}/{page.stem}"
    cells = [new_markdown_cell(head(here, numbers)), *setup, *cells]
    for cell in cells:
        if cell.cell_type == "markdown":
            text = without_terms(ONLY_ON_PAGES.sub("", cell.source))
            text = links.absolute(numbering.plain(text, numbers), numbers, here)
            cell.source = bibliography.cited(text)
    cells = [cell for cell in cells if cell.source.strip()]
    cells.insert(1, new_markdown_cell(STUDENT, metadata={"tags": ["student"]}))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # not at random: equal pages make equal notebooks
    notebook.cells = cells
    if any("{solution" in cell.source for cell in cells):
        raise ValueError(f"{page.name}: a solution is not written as the others are")
    notebook.metadata.pop("jupytext", None)  # from here on it is a notebook like any other
    return notebook


def head(page: str, numbers: dict[str, numbering.Number]) -> str:
    """Return the title of a handout, that of the chapter for its page of exercises."""
    chapter = next((pages[0] for pages in numbering.chapters().values() if page in pages), page)
    title = links.title(chapter if page.endswith("_exercises") else page, numbers)
    return HEAD.format(title=title, source=links.linked("", page, "", numbers))


def with_formulas(text: str, numbers: dict[str, numbering.Number]) -> str:
    """Return the text of an exercise with the formulas that it cites below its title."""
    formulas = links.used(text, numbers)
    return numbering.EXERCISE.sub(lambda match: f"{match[0]}\n{formulas}".rstrip(), text)


def downloaded(page: Path, solved: bool = False):
    """Return the same with a cell in front that installs what is missing where it is run."""
    notebook = handout(page, solved)
    first_cell.put(notebook, page.stem, named(page))
    return notebook


def named(page: Path) -> list[str]:
    """Return the archives that the exercises of a page name, or that their solutions read."""
    text = page.read_text("utf-8").partition(f"\n## {SECTION}\n")[2].partition("\n## ")[0]
    return sorted({*re.findall(r"[\"'`]([a-z0-9-]+)[\"'`]", text)} & {*experiments.names()})


def answer(exercise: exercises.Exercise) -> list:
    """Return the empty cells in which an exercise is answered, and where one can be, checked."""
    metadata = {"tags": ["answer", exercise.label]}
    cells = [new_markdown_cell(PROSE_ANSWER, metadata=metadata)] if exercise.by_hand else []
    if exercise.by_code or exercise.check:
        check = [IMPORT_CHECK, f"# {exercise.check}"] if exercise.check else []
        cells.append(new_code_cell("\n".join([CODE_ANSWER, *check]), metadata=metadata))
    return cells


def points(pages: list[Path], kept: dict[str, dict]) -> str:
    """Return the table of points: those that it has already, or else as many as the rating."""
    lines = ["# What was handed out. Change points; delete what shall not count."]
    numbers = numbering.numbers()
    for one in (exercise for page in pages for exercise in exercises.of_chapter(page)):
        rating = RATING.search(one.title)
        worth = kept.get(one.label, {}).get("points", int(rating[1]) if rating else 1)
        what = f'number = "{numbers[one.label]}", check = {str(bool(one.check)).lower()}'
        lines.append(f"{one.label} = {{ {what}, points = {worth} }}  # {one.title}")
    return "\n".join(lines) + "\n"


def write(selected: list[Path], output: Path, solved: bool = False) -> list[Path]:
    """Write notebooks, the wheel and archives to a folder; return the notebooks' paths."""
    shutil.rmtree(output, ignore_errors=True)
    (output / first_cell.FILES / "archives").mkdir(parents=True)
    files, written = output / first_cell.FILES, []
    list(WheelBuilder(str(ROOT)).build(directory=str(files), versions=["standard"]))
    for page in selected:
        notebook = downloaded(page, solved)
        for name in {*first_cell.archives(notebook, page.stem), *named(page)}:
            shutil.copyfile(ARCHIVES / f"{name}.nc", files / "archives" / f"{name}.nc")
        written.append(output / f"{page.stem}.ipynb")
        nbformat.write(notebook, written[-1])
    return written


def main() -> None:
    """Write the handouts of some chapters, or of all that have exercises."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [page for page in chapters() if exercises.of_chapter(page)]
    parser.add_argument(
        "chapters",
        nargs="*",
        metavar="CHAPTER",
        help="its number, a file of book/, or the beginning of its name; by default all",
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, help="by default _build/students")
    parser.add_argument("--solutions", action="store_true", help="with solutions, for lecturers")
    arguments = parser.parse_args()
    asked = tuple(Path(name).stem.zfill(2) for name in arguments.chapters)
    selected = [page for page in every if not asked or page.stem.startswith(asked)]
    unknown = [name for name in asked if not any(page.stem.startswith(name) for page in every)]
    if unknown:
        parser.error(f"no chapter with exercises is called {', '.join(unknown)}")
    for path in write(selected, arguments.output, arguments.solutions):
        print(path)
    if not arguments.solutions:
        table = arguments.output.with_name(POINTS)
        kept = tomllib.loads(table.read_text("utf-8")) if table.exists() else {}
        table.write_text(points(selected, kept), "utf-8")
        print(table)


if __name__ == "__main__":
    main()
