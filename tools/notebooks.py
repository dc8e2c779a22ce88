"""From text notebooks to executed ones: what `make book`, `make test` and `make references` share.

The pages in `book/` are the only source. One execution serves both the validation and the
pages: `prepare` turns each chapter into a notebook that carries the stored reference outputs of
its checked cells; nbval executes and compares it; `tools/nbval_bridge.py` puts what was executed
into jupyter-cache, where the book build finds it.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path

import jupytext
import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import JupyterCacheAbstract
from jupyter_cache.cache.main import JupyterCacheBase

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
BUILD = ROOT / "_build"
NOTEBOOKS = BUILD / "nbval"
CACHE = BUILD / ".jupyter_cache"
REFERENCES = ROOT / "tests" / "references"
# What an edit of the package makes stale: kernels and executions, those of `make elsewhere` too.
STALE = CACHE.name, "answers", ".doctrees", "jupyter_execute", "numba", "elsewhere"
CHECKED = "nbval-check-output"
LECTURE = re.compile(r"(\d\d_)(\d)_")  # how the name of a lecture begins: 01_1_counting
TERM = re.compile(r"\{term\}`([^`<]+?)\s*(?:<[^`>]+>)?`")  # shown, and what it is called there

# jupyter-cache takes tags and captions of a cell for a part of what is executed: a new caption
# would execute the chapter anew. And a cell would have the caption that it had when it was
# executed. The book build, which opens its cache itself, imports this module, too.
JupyterCacheBase.create_hashed_notebook = partialmethod(
    JupyterCacheBase.create_hashed_notebook, cell_metadata=()
)
JupyterCacheBase.merge_match_into_notebook = partialmethod(
    JupyterCacheBase.merge_match_into_notebook, cell_meta=()
)


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
        raise SystemExit(
            f"{name}: the checked cells ({len(cells)}) are not those of the stored references "
            f"({len(references)}). Read the change, then run `make references`."
        )
    for cell, entry in zip(cells, references, strict=True):
        cell.execution_count = 1
        cell.outputs = [nbformat.from_dict(output) for output in entry["outputs"]]


def compared_file(notebook: Path) -> Path:
    """Return the file that says how many cells of an executed notebook nbval compared."""
    return notebook.with_suffix(".compared")


def prepare(with_references: bool) -> None:
    """Write one notebook a chapter to `_build/nbval`, and make sure that there is a cache.

    What is left of an earlier execution goes, the counts of compared cells among it.
    """
    forget_stale()
    with open_cache(CACHE) as cache:
        cache.db.connect().close()  # now: of two processes that make it at once, one would fail
    write_notebooks(chapters(), NOTEBOOKS, REFERENCES if with_references else None)


def write_notebooks(pages: list[Path], folder: Path, references: Path | None) -> None:
    """Write one notebook a page into a folder that holds nothing else afterwards.

    Raises
    ------
    SystemExit
        At the end, if references of some pages are not those of their cells: these pages are
        written without, and the others are as they should be.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    refused = []
    for page in pages:
        notebook = read(page)
        if references is not None:
            stored = references / f"{page.stem}.json"
            entries = json.loads(stored.read_text()) if stored.exists() else []
            try:
                insert_references(notebook, entries, page.name)
            except SystemExit as why:
                refused.append(str(why))
        nbformat.write(notebook, folder / f"{page.stem}.ipynb")
    if refused:
        raise SystemExit("\n".join(refused))


def sources_digest(root: Path) -> str:
    """Return a digest of the package and of what it depends on.

    What a run leaves behind in the package is none of it: compiled files of Python and of numba.
    """
    digest = hashlib.sha256((root / "requirements.txt").read_bytes())
    for path in sorted((root / "wfmlib").rglob("*")):
        inside = path.relative_to(root)
        if path.is_file() and "__pycache__" not in inside.parts:
            digest.update(inside.as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def forget_stale() -> None:
    """Drop compiled kernels, cached executions and pages when the package changed.

    jupyter-cache looks at the cells only, so it would serve the outputs of an older `wfmlib`; and
    numba looks at the file of a kernel only, not at those that the kernel calls into.
    """
    digest = sources_digest(ROOT)
    stamp = BUILD / ".sources"
    if not stamp.exists() or stamp.read_text() != digest:
        for name in STALE:
            shutil.rmtree(BUILD / name, ignore_errors=True)
        BUILD.mkdir(exist_ok=True)
        stamp.write_text(digest)


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
        path.write_text(new)
        name = path.relative_to(ROOT).as_posix()
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, lineterm="")
        print("\n".join(lines) or f"{name}: unchanged")


def store_picture() -> None:
    """Write the front page's figure to `book/_static`, where the README shows it."""
    outputs = [
        output for cell in executed(BOOK / "index.md").cells for output in cell.get("outputs", [])
    ]
    picture = next(
        one.data["image/svg+xml"] for one in outputs if "image/svg+xml" in one.get("data", {})
    )
    (BOOK / "_static" / "solutions.svg").write_text("".join(picture))


def main() -> None:
    """Run one of the steps by name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("fresh", help="drop cached executions that an edit made stale")
    one = steps.add_parser("prepare", help="write the notebooks that nbval executes")
    one.add_argument("--without-references", action="store_true", help="execute, compare nothing")
    steps.add_parser("references", help="store the outputs of the last execution as references")
    arguments = parser.parse_args()
    if arguments.step == "fresh":
        forget_stale()
    elif arguments.step == "prepare":
        prepare(with_references=not arguments.without_references)
    else:
        store_references()
        store_picture()


if __name__ == "__main__":
    main()
