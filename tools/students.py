"""Notebooks for students: the chapters with an empty cell in the place of every solution.

Made from the text notebooks in `book/`; nothing is executed and no output is kept. The archives
that some figures read go along, so that the folder can be handed out as it is.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools import bibliography, exercises, first_cell, numbering
from tools.notebooks import BOOK, BUILD, chapters, read, without_terms

OUTPUT = BUILD / "students"
ARCHIVES = BOOK / "results"
PROSE_ANSWER = "*Your answer here.*"
CODE_ANSWER = "# Your answer here."
IMPORT_CHECK = "from wfmlib.book import exercises"
# What the chapters say about solutions that are no longer there.
FOLDED = re.compile(r"\s*Solutions are folded,[^.]*\.")


def handout(chapter: Path):
    """Return a chapter as a notebook without solutions.

    Cells of which no part belongs to a solution are those of the chapter, unchanged but for the
    sentence about folded solutions and the marks for the glossary.

    Raises
    ------
    ValueError
        If a solution does not begin and end as the chapters write it.
    """
    notebook = read(chapter)
    known = {exercise.label: exercise for exercise in exercises.of_chapter(chapter)}
    cells, answered = [], None
    for cell, text, label in exercises.parts(notebook):
        if label is None and text == cell.source:
            cells.append(cell)
        elif label is None and text:
            cells.append(new_markdown_cell(text, metadata=cell.metadata))
        elif label is not None and label != answered:
            cells += answer(known[label])
        answered = label
    numbers = numbering.numbers()
    cells = list(numbering.captioned(cells, numbers))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # not at random: equal chapters make equal notebooks
        if cell.cell_type == "markdown":
            text = without_terms(FOLDED.sub("", cell.source))
            cell.source = bibliography.cited(numbering.plain(text, numbers))
    cells[0].source = numbering.titled(cells[0].source, f"book/{chapter.stem}", numbers)
    notebook.cells = cells
    if any("{solution" in cell.source for cell in cells):
        raise ValueError(f"{chapter.name}: a solution is not written as the others are")
    notebook.metadata.pop("jupytext", None)  # from here on it is a notebook like any other
    return notebook


def downloaded(chapter: Path):
    """Return the same with a cell in front that installs what is missing where it is run."""
    notebook = handout(chapter)
    first_cell.put(notebook, chapter.stem)
    return notebook


def answer(exercise: exercises.Exercise) -> list:
    """Return the empty cells in which an exercise is answered, and where one can be, checked."""
    metadata = {"tags": ["answer", exercise.label]}
    cells = [new_markdown_cell(PROSE_ANSWER, metadata=metadata)] if exercise.by_hand else []
    if exercise.by_code or exercise.check:
        check = [IMPORT_CHECK, f"# {exercise.check}"] if exercise.check else []
        cells.append(new_code_cell("\n".join([CODE_ANSWER, *check]), metadata=metadata))
    return cells


def write(selected: list[Path], output: Path, archives: Path = ARCHIVES) -> list[Path]:
    """Write notebooks and archives to a folder; return the notebooks' paths."""
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for chapter in selected:
        written.append(output / f"{chapter.stem}.ipynb")
        nbformat.write(downloaded(chapter), written[-1])
    quick = shutil.ignore_patterns("*.quick.*")
    # Where the library looks for them, from the folder of the notebook.
    shutil.copytree(archives, output / "book" / "results", ignore=quick, dirs_exist_ok=True)
    return written


def main() -> None:
    """Write the notebooks of some chapters, or of all that have exercises."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [chapter for chapter in chapters() if exercises.of_chapter(chapter)]
    parser.add_argument(
        "chapters",
        nargs="*",
        metavar="CHAPTER",
        help="a file of book/, or the beginning of its name, such as 04; by default all",
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, help="by default _build/students")
    arguments = parser.parse_args()
    asked = tuple(Path(name).stem for name in arguments.chapters)
    selected = [page for page in every if not asked or page.stem.startswith(asked)]
    unknown = [name for name in asked if not any(page.stem.startswith(name) for page in every)]
    if unknown:
        parser.error(f"no chapter with exercises is called {', '.join(unknown)}")
    for path in write(selected, arguments.output):
        print(path)


if __name__ == "__main__":
    main()
