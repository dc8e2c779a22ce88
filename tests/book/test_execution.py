"""The chapters were executed once, compared with the references, and are what the pages show."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from tools import notebooks
from tools.nbval_bridge import COMPARED


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_reference_was_compared(chapter, request):
    """nbval passes over a checked cell that has no reference: count what it compared."""
    runs = request.config.stash.get(COMPARED, {})
    if not runs:
        pytest.skip("the chapters are not part of this run; `make test` runs them")
    stored = json.loads((notebooks.REFERENCES / f"{chapter.stem}.json").read_text())
    assert runs[chapter.stem].compared == len(stored)
    assert len(stored) == len(notebooks.checked_cells(notebooks.read(chapter)))


def test_build_executes_nothing(build_log):
    """Every chapter of the pages comes from the execution that nbval checked."""
    assert len(re.findall("Using cached notebook", build_log)) == len(notebooks.chapters())
    assert "Executing notebook" not in build_log


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_executed_notebook_is_published(chapter, html):
    """Beside its page, each chapter offers the executed notebook for download."""
    name = f"{chapter.stem}.ipynb"
    page = (html / "book" / f"{chapter.stem}.html").read_text()
    assert f"_sources/book/{name}" in page
    notebook = nbformat.read(html / "_sources" / "book" / name, as_version=4)
    assert any(cell.get("outputs") for cell in notebook.cells)
