"""What a live slider calls is there when it is moved, which may be after the whole page ran."""

from __future__ import annotations

import ast
import builtins

import pytest

from tools import notebooks

FUNCTION = ast.FunctionDef | ast.Lambda

# How many sliders of a page compute: those that do not only show values computed before.
LIVE = {
    "01_binary_perceptron": 1,
    "02_cross_entropy": 1,
    "03_committee_machine": 1,
    "03_4_exercises": 1,
    "06_2_phases": 1,
    "06_margins": 1,
    "corrections": 1,
    "recipes": 1,
}


def parameters(function: FUNCTION) -> set[str]:
    """Return the names that a call of a function gives a value."""
    every = function.args
    return {one.arg for one in (*every.posonlyargs, *every.args, *every.kwonlyargs)}


def names(node: ast.AST, kind: type) -> set[str]:
    """Return the names that are read, or set, anywhere in a piece of code."""
    return {
        one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, kind)
    }


def free(function: FUNCTION) -> set[str]:
    """Return the names that a function looks up on the page when it is called."""
    body = function.body if isinstance(function.body, list) else [function.body]
    read = set().union(*(names(one, ast.Load) for one in body))
    own = set().union(*(names(one, ast.Store) for one in body))
    return read - own - parameters(function) - set(dir(builtins))


def bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement at the top of a cell sets."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).partition(".")[0] for one in statement.names}
    inside = [
        name
        for one in ast.walk(statement)
        if isinstance(one, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
        for made in one.generators
        for name in names(made.target, ast.Store)
    ]
    return names(statement, ast.Store) - set(inside)


def renamed(cells: list[str]) -> tuple[int, set[str]]:
    """Return how many sliders of a page compute, and what they read that is set anew later."""
    last: dict[str, int] = {}
    functions: dict[str, ast.FunctionDef] = {}
    used: list[tuple[int, set[str]]] = []
    for number, source in enumerate(cells):
        for statement in ast.parse(source).body:
            last |= dict.fromkeys(bound(statement), number)
            if isinstance(statement, ast.FunctionDef):
                functions[statement.name] = statement
            for call in ast.walk(statement):
                for given in call.keywords if isinstance(call, ast.Call) else []:
                    if given.arg == "compute":
                        value = given.value
                        start = free(value) if isinstance(value, ast.Lambda) else {value.id}
                        used.append((number, start))
    wrong = set()
    for number, every in used:
        front = every
        while (
            front := {name for one in front if one in functions for name in free(functions[one])}
            - every
        ):
            every |= front
        wrong |= {name for name in every if last.get(name, number) > number}
    return len(used), wrong


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_what_a_live_slider_reads_stays(chapter):
    cells = [one.source for one in notebooks.read(chapter).cells if one.cell_type == "code"]
    assert renamed(cells) == (LIVE.get(chapter.stem, 0), set())


@pytest.mark.parametrize(
    ("cells", "wrong"),
    [
        (["x = 1\nf(compute=lambda a: g(a, x))", "y = 2"], set()),
        (["x = 1\nf(compute=lambda a: g(a, x))", "x = 2"], {"x"}),
        (["x = 1\nf(compute=lambda a, x=x: g(a, x))", "x = 2"], set()),
        (["def h(a):\n    return x * a", "x = 1\nf(compute=h)", "for x in y: pass"], {"x"}),
        (["def h(a):\n    return a", "f(compute=h)", "z = [h for h in y]"], set()),
        (["def h(a):\n    return a", "f(compute=h)", "h = 3"], {"h"}),
    ],
)
def test_a_name_that_is_set_anew_is_found(cells, wrong):
    assert renamed(cells) == (1, wrong)
