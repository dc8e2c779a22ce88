"""From text notebooks to executed ones: what `make book`, `make test` and `make references` share.

The pages in `book/` are the only source. `execute` turns pages into notebooks, which carry the
stored reference outputs of their checked cells where these are to be compared; nbval executes and
compares them; `tools/nbval_bridge.py` puts what was executed into jupyter-cache, where the book
build finds it.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jupytext
import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import JupyterCacheAbstract

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
BUILD = ROOT / "_build"
NOTEBOOKS = BUILD / "notebooks"
CACHE = BUILD / ".jupyter_cache"
REFERENCES = ROOT / "tests" / "references"
LONGEST = "scorecard"  # executed first: at the end of the line it would run alone
CHECKED = "nbval-check-output"
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3", "file_extension": ".py"}
LECTURE = re.compile(r"(\d\d_)(\d)_")  # how the name of a lecture begins: 01_1_counting
TERM = re.compile(r"\{term\}`([^`<]+?)\s*(?:<[^`>]+>)?`")  # shown, and what it is called there


def chapters(book: Path = BOOK) -> list[Path]:
    """Return the pages of the book that hold code: those with a jupytext header.

    The first page of a chapter comes before its lectures.
    """
    pages = sorted(book.glob("*.md"), key=_place)
    return [path for path in pages if "\nkernelspec:" in path.read_text()]


def _place(page: Path) -> tuple[str, int, str]:
    """Return by what a page is sorted: a chapter's lectures, by their number, after its page."""
    lecture = LECTURE.match(page.name)
    return (lecture[1], int(lecture[2]), "") if lecture else (page.name[:3], 0, page.name)


def read(chapter: Path):
    """Return a chapter as a notebook, as both nbval and the book build see it."""
    return jupytext.read(chapter)


def without_terms(text: str) -> str:
    """Return a text without its marks for the glossary, which only the pages can show."""
    return TERM.sub(r"\1", text)


def checked_cells(notebook) -> list:
    """Return the code cells whose output is compared with a stored reference."""
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and CHECKED in cell.metadata.get("tags", [])
    ]


def references_of(notebook) -> list[dict]:
    """Return what is stored of an executed notebook: its checked cells and their outputs."""
    return [{"source": cell.source, "outputs": cell.outputs} for cell in checked_cells(notebook)]


def insert_references(notebook, references: list[dict], name: str) -> None:
    """Put stored outputs into the checked cells; nbval compares a cell only if it was 'run'.

    A cell without a reference, or one whose source changed since the reference was stored, is an
    error: nbval would compare nothing, or something else, and pass.
    """
    cells = checked_cells(notebook)
    if [cell.source for cell in cells] != [entry["source"] for entry in references]:
        raise ValueError(
            f"{name}: the checked cells ({len(cells)}) are not those of the stored references "
            f"({len(references)}). Read the change, then run `make references`."
        )
    for cell, entry in zip(cells, references, strict=True):
        cell.execution_count = 1
        cell.outputs = [nbformat.from_dict(output) for output in entry["outputs"]]


def write_notebooks(pages: list[Path], folder: Path, compared: bool) -> int:
    """Write one notebook a page into a folder that holds nothing else afterwards.

    With `compared` each carries its stored references. Returned is how many cells have to be
    compared: more than can be where the references of a page are not those of its cells.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    count = 0
    for page in pages:
        notebook = read(page)
        notebook.metadata["language_info"] = LANGUAGE
        if compared:
            stored = REFERENCES / f"{page.stem}.json"
            entries = json.loads(stored.read_text()) if stored.exists() else []
            count += max(len(entries), len(checked_cells(notebook)))
            try:
                insert_references(notebook, entries, page.name)
            except ValueError as why:
                print(why, file=sys.stderr)
        nbformat.write(notebook, folder / f"{page.stem}.ipynb")
    return count


def execute(
    pages: list[Path],
    compared: bool,
    jobs: int,
    folder: Path = NOTEBOOKS,
    cache: Path = CACHE,
    **variables: str,
) -> int:
    """Execute pages, several at a time; return the exit status of pytest."""
    pages = sorted(pages, key=lambda page: page.stem != LONGEST)
    count = write_notebooks(pages, folder, compared)
    with open_cache(cache) as opened:
        opened.db.connect().close()  # now: of two processes that make it at once, one would fail
    command = [sys.executable, "-m", "pytest", "-p", "tools.nbval_bridge", "--nbval-lax", "-q"]
    command += ["-n", jobs, "--dist", "loadfile", "--no-loadscope-reorder", "-ra"]
    command += ["--jupyter-cache", cache, "--references", count]
    command += [folder / f"{page.stem}.ipynb" for page in pages]
    return subprocess.run(
        [str(word) for word in command], cwd=ROOT, env=os.environ | variables, check=False
    ).returncode


@contextmanager
def open_cache(folder: Path) -> Iterator[JupyterCacheAbstract]:
    """Open a jupyter-cache, and close its database again: Python 3.13 warns of one left open."""
    cache = get_cache(folder)
    try:
        yield cache
    finally:
        cache.db.dispose()


def executed(chapter: Path, folder: Path = CACHE):
    """Return a chapter with the outputs of its last execution.

    Raises
    ------
    KeyError
        If it was not executed since its code last changed.
    """
    with open_cache(folder) as cache:
        return cache.merge_match_into_notebook(read(chapter))[1]


def store_references() -> None:
    """Write the outputs of the last execution to `tests/references`, showing what changed."""
    REFERENCES.mkdir(parents=True, exist_ok=True)
    names = {f"{chapter.stem}.json" for chapter in chapters()}
    for orphan in [path for path in REFERENCES.glob("*.json") if path.name not in names]:
        orphan.unlink()
    for chapter in chapters():
        entries = references_of(executed(chapter))
        path = REFERENCES / f"{chapter.stem}.json"
        old = path.read_text() if path.exists() else ""
        new = json.dumps(entries, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        if entries:
            path.write_text(new)
        else:
            path.unlink(missing_ok=True)
        name = path.relative_to(ROOT).as_posix()
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, lineterm="")
        print("\n".join(lines) or f"{name}: unchanged")


def store_picture() -> None:
    """Write the front page's figure on white to `book/_static`, where the README shows it."""
    outputs = [
        output for cell in executed(BOOK / "index.md").cells for output in cell.get("outputs", [])
    ]
    picture = next(
        result.data["image/svg+xml"]
        for result in outputs
        if "image/svg+xml" in result.get("data", {})
    )
    white = "".join(picture).replace("fill: none", "fill: #ffffff", 1)  # the ground comes first
    (BOOK / "_static" / "solutions.svg").write_text(white)


def was_executed(page: Path) -> bool:
    """Say whether the cache has a page, and has it whole: a build may have been killed."""
    try:
        executed(page)
    except (KeyError, ValueError):
        return False
    return True


def main() -> None:
    """Execute the pages for what is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("purpose", choices=["book", "test", "references", "style"])
    parser.add_argument("--jobs", type=int, default=2, help="pages at a time (default: 2)")
    arguments = parser.parse_args()
    pages, status = chapters(), 0
    if arguments.purpose == "style":
        write_notebooks(pages, NOTEBOOKS, compared=False)
        return
    if arguments.purpose == "book":
        pages = [page for page in pages if not was_executed(page)]
    if pages:
        status = execute(pages, arguments.purpose == "test", arguments.jobs)
    if arguments.purpose == "references" and not status:
        store_references()
        store_picture()
    sys.exit(status)


if __name__ == "__main__":
    main()
