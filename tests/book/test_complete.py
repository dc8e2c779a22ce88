"""In each lecture three lines can be completed, and with the folded lines they come out right."""

from __future__ import annotations

import ast
import re

import pytest

from tools import notebooks
from wfmlib.book import exercises

LECTURES = [one for one in notebooks.chapters() if "\n## Warm-ups\n" in one.read_text()]
BLANK = re.compile(r"^(\w+) = \.\.\.(?:  # .*)?$", re.MULTILINE)
LINES = re.compile(
    r"\n:::\{admonition\} The three lines\n:class: dropdown\n```python\n(.*?)\n```\n:::\n",
    re.DOTALL,
)


def cells(page) -> tuple[str, str, str]:
    """Return the imports of a page, the cell with three blanks, and the lines that fill them."""
    every = [one.source for one in notebooks.read(page).cells if one.cell_type == "code"]
    cell = next(one for one in every if BLANK.search(one))
    before = [node for one in every[: every.index(cell)] for node in ast.parse(one).body]
    imports = [one for one in before if isinstance(one, ast.Import | ast.ImportFrom)]
    text = page.read_text().split("\n**Complete it.** ")[1]
    return "\n".join(map(ast.unparse, imports)), cell, LINES.search(text)[1]


def said(imports: str, cell: str) -> exercises.Result:
    """Return what a cell says in its last line, on its own."""
    names: dict = {}
    *body, last = ast.parse(f"{imports}\n{cell}").body
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_every_lecture_with_warm_ups_has_lines_to_complete():
    assert len(LECTURES) > 40
    assert all(page.read_text().count("\n**Complete it.** ") == 1 for page in LECTURES)


@pytest.mark.parametrize("page", LECTURES, ids=lambda path: path.stem)
def test_cell_says_not_yet_and_then_right(page):
    imports, cell, answer = cells(page)
    lines = answer.splitlines()
    assert [line.split(" = ")[0] for line in lines] == BLANK.findall(cell)
    assert len(lines) == 3
    assert max(map(len, lines)) <= 84
    assert repr(said(imports, cell)) == "not yet"
    filled = iter(lines)
    assert said(imports, BLANK.sub(lambda _: next(filled), cell)), "the folded lines are wrong"


def test_wrong_lines_are_not_right():
    assert not exercises.complete(0.85, 0.833)
    assert not exercises.complete((0.833, ...), (0.833, 1.0))
    assert not exercises.complete(-0.833, 0.833)
