"""The chapters were executed once, compared with the references, and are what the pages show."""

from __future__ import annotations

import re

import nbformat
import pytest

from tools import notebooks


def test_the_book_builds_without_warnings(built):
    assert built.returncode == 0, built.stdout[-6000:]


def test_build_executes_nothing(built):
    """Every chapter of the pages comes from the execution that nbval checked."""
    assert len(re.findall("Using cached notebook", built.stdout)) == len(notebooks.chapters())
    assert "Executing notebook" not in built.stdout


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_executed_notebook_is_published(chapter, html):
    """Beside its page, each chapter offers the executed notebook for download."""
    name = f"{chapter.stem}.ipynb"
    page = (html / "book" / f"{chapter.stem}.html").read_text()
    assert f"_sources/book/{name}" in page
    notebook = nbformat.read(html / "_sources" / "book" / name, as_version=4)
    assert any(cell.get("outputs") for cell in notebook.cells)
