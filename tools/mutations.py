"""Small errors in a source, one at a time: what a slip of the pen would make of it.

A `Mutant` replaces one expression or statement of a file: a number, an operator, a comparison, a
sign, a term that goes, two arguments that change places; in a recipe also a named argument that
goes, and another word from the same file; in the ledger a digit, a tolerance, a verdict, a check.
What says nothing on a result is left alone: docstrings, words of errors, annotations, decorators.
So is what only costs work, where it has one form throughout: how often a loop or a solver that
ends by itself may turn at most, one more node in each panel of a quadrature, the scale at which
panels are graded, a tenth wider, and room for one more of what they are graded by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
EDGES = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
TURNED = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SYMMETRIC = {"max", "min", "maximum", "minimum", "isclose", "array_equal", "logical_and", "zip"}
RULE, NODES = "legendre_rule", "order"  # how many nodes a panel has: what it takes, as a default
CAP = 20  # turns, from which on the end of a loop is one that is not meant to be reached
TINY = 1e-5  # below it a number is a tolerance: it changes by a factor of a thousand

# What an experiment says of itself; its quick scale, on which nothing rests; its seed.
WORDS = {"name", "title", "source", "chapter", "seed", "dtype", "cache"}
DECLARATIONS = {"Variable", "Axis"}
QUICK = "quick"


@dataclass(frozen=True)
class Mutant:
    """One small error: `after` stands where `before` stood, in a definition of a file."""

    file: str
    place: str  # the definition, at the top of the module
    line: int
    kind: str
    before: str
    after: str
    start: int  # bytes from the beginning of the file
    end: int
    text: str = ""  # of the line

    def __str__(self):
        one, other = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}:{self.line} {self.place}: {one} -> {other}"

    def applied(self, source: bytes) -> bytes:
        """Return the source with this error."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def of_source(source: bytes, file: str, recipe: bool = False) -> list[Mutant]:
    """Return all mutants of a Python source, in the order of the file."""
    reader = _Reader(source, file, recipe)
    for node in ast.parse(source).body:
        reader.place = _name(node)
        reader.visit(node)
    return sorted(reader.found, key=lambda one: (one.start, one.end, one.kind))


def _name(node: ast.stmt) -> str:
    """Return what a statement at the top of a module defines."""
    if hasattr(node, "name"):
        return node.name
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and _stored(one)]
    return names[0] if names else ""


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _plain(target: ast.expr) -> tuple[type, ...]:
    """Return which numbers, but zero, change no result in what is assigned to this.

    A grid grades its panels by `features`, pairs of a centre and a scale (`gaussian.fill_grid`).
    """
    if getattr(target, "id", "") == "features":
        return float, int
    inside = isinstance(target, ast.Subscript) and getattr(target.value, "id", "") == "features"
    return (float,) if inside else ()


def _is_capped(node: ast.For) -> bool:
    """Say whether a loop counts nothing but its turns, up to a large number: `for _ in range`."""
    return (
        getattr(node.target, "id", "") == "_"
        and isinstance(node.iter, ast.Call)
        and getattr(node.iter.func, "id", "") == "range"
        and [type(one) for one in node.iter.args] == [ast.Constant]
        and node.iter.args[0].value >= CAP
    )


def _is_cap(argument: ast.keyword) -> bool:
    """Say whether an argument is how often a solver may turn at most: `max_iterations=60`."""
    value = getattr(argument.value, "value", None)
    return argument.arg == "max_iterations" and type(value) is int and value >= CAP


def _next(one: str, of: list[str]) -> str:
    return of[(of.index(one) + 1) % len(of)]


def _is_fixed(argument: ast.expr) -> bool:
    return _is_text(argument) or isinstance(argument, ast.Starred)


class _Reader(ast.NodeVisitor):
    """Walks a source and collects its mutants."""

    def __init__(self, source: bytes, file: str, recipe: bool):
        self.source, self.file, self.recipe = source, file, recipe
        self.found: list[Mutant] = []
        self.place = ""
        self.plain: tuple[type, ...] = ()  # numbers that only say how a quadrature has its panels
        self.starts = [0]
        self.lines = source.splitlines(keepends=True)
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.words = sorted(_settings(ast.parse(source))) if recipe else []

    def add(self, kind: str, node: ast.AST, new: ast.AST | str) -> None:
        """Note that a node may be replaced by another, or by text."""
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        before, after = self.source[start:end].decode(), new
        if not isinstance(new, str):
            after = ast.unparse(ast.fix_missing_locations(new))
            after = f"({after})" if isinstance(node, ast.expr) else after
        if isinstance(new, str) or ast.dump(node) != ast.dump(new):
            where = self.file, self.place, node.lineno
            text = self.lines[node.lineno - 1].decode().strip()
            self.found.append(Mutant(*where, kind, before, after, start, end, text))

    # What is left alone ---------------------------------------------------------------------

    def visit_FunctionDef(self, node):
        """Look at the defaults and the body, not at decorators, annotations, docstring."""
        named = [*node.args.posonlyargs, *node.args.args][::-1]
        defaults = [*zip(named, node.args.defaults[::-1], strict=False)][::-1]
        defaults += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        for argument, default in defaults:
            if default is not None and argument.arg != NODES:
                self.visit(default)
        for one in node.body:
            self.visit(one)

    def visit_ClassDef(self, node):
        """Look at the body alone."""
        for one in node.body:
            self.visit(one)

    def visit_AnnAssign(self, node):
        """Look at the value, not at its type."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node):
        """Leave errors as they are."""

    visit_JoinedStr = visit_Import = visit_ImportFrom = visit_Raise

    def visit_Assign(self, node):
        """Look at the value, unless it lists names."""
        if not any(getattr(one, "id", "").startswith("__") for one in node.targets):
            self.plain = _plain(node.targets[0])
            self.visit(node.value)
            self.plain = ()
            for one in node.targets:
                if isinstance(one, ast.Subscript):
                    self.visit(one.slice)

    def visit_For(self, node):
        """Leave the cap of a loop that ends by itself."""
        ends = any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(node))
        if not (ends and _is_capped(node)):
            self.visit(node.iter)
        for one in (*node.body, *node.orelse):
            self.visit(one)

    def visit_Dict(self, node):
        """Look at the values; of scales at that of the papers alone."""
        for key, value in zip(node.keys, node.values, strict=True):
            if getattr(key, "value", None) != QUICK:
                self.visit(value)

    # What changes ---------------------------------------------------------------------------

    def visit_Constant(self, node):
        """Change a number or a truth; in a recipe put another word of the same file."""
        value = node.value
        if type(value) in self.plain and value:
            return
        if isinstance(value, bool):
            self.add("constant", node, ast.Constant(not value))
        elif isinstance(value, int):
            self.add("constant", node, ast.Constant(value + 1))
        elif isinstance(value, float):
            factor = 1000.0 if abs(value) < TINY else 1.1
            self.add("constant", node, ast.Constant(float(f"{factor * value:.6g}") or 1.0))
        elif value in self.words and len(self.words) > 1:
            self.add("word", node, ast.Constant(_next(value, self.words)))

    def visit_UnaryOp(self, node):
        """Drop a sign or a not."""
        if isinstance(node.op, ast.USub | ast.Not):
            self.add("sign", node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        """Take another operator, or drop what stands behind it."""
        if not _is_text(node.left) and not _is_text(node.right):
            if type(node.op) in OPERATORS:
                other = OPERATORS[type(node.op)]()
                self.add("operator", node, ast.BinOp(node.left, other, node.right))
            if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
                self.add("term", node, node.left)
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        """Take another operator, or do without the statement."""
        if type(node.op) in OPERATORS:
            other = OPERATORS[type(node.op)]()
            self.add("operator", node, ast.AugAssign(node.target, other, node.value))
        self.add("statement", node, "pass")
        self.visit(node.value)

    def visit_Compare(self, node):
        """Move the edge of a comparison, or turn it."""
        for kind, table in (("edge", EDGES), ("comparison", TURNED)):
            if type(node.ops[0]) in table:
                ops = [table[type(node.ops[0])](), *node.ops[1:]]
                self.add(kind, node, ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        """Take `or` for `and`, or drop the last condition."""
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.add("operator", node, ast.BoolOp(other, node.values))
        kept = node.values[:-1]
        self.add("term", node, kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept))
        self.generic_visit(node)

    def visit_If(self, node):
        """Turn a condition that is no comparison."""
        if isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
            self.add("comparison", node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_If

    def visit_Expr(self, node):
        """Do without a call whose value is not used."""
        if not isinstance(node.value, ast.Constant):
            self.add("statement", node, "pass")
            self.visit(node.value)

    def visit_Call(self, node):
        """Exchange the first two arguments; end a range earlier; drop a named argument."""
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if self.recipe and name in DECLARATIONS:
            return
        args = node.args
        if name == "range" and args:
            stop = min(1, len(args) - 1)
            less = ast.BinOp(args[stop], ast.Sub(), ast.Constant(1))
            self.add("range", args[stop], less)
        elif len(args) > 1 and name not in SYMMETRIC and not any(map(_is_fixed, args[:2])):
            swapped = [*args[1::-1], *args[2:]]
            self.add("swap", node, ast.Call(node.func, swapped, node.keywords))
        for one in node.keywords if self.recipe and name not in ("Scale", "dict") else ():
            if one.arg not in WORDS and (name != "Experiment" or one.arg == "paired"):
                kept = [other for other in node.keywords if other is not one]
                self.add("argument", node, ast.Call(node.func, node.args, kept))
        self.visit(node.func)
        for one in () if name == RULE else args:
            self.visit(one)
        for one in node.keywords:
            if one.arg not in WORDS and not _is_cap(one):
                self.visit(one.value)


def _settings(tree: ast.Module) -> set[str]:
    """Return the words that a recipe chooses among: in settings and in comparisons."""
    found: set[str] = set()
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Dict):
            parts = [v for k, v in zip(node.keys, node.values, strict=True) if k is not None]
        elif isinstance(node, ast.Compare):
            parts = node.comparators
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            parts = node.value.elts
        elif isinstance(node, ast.keyword) and node.arg not in WORDS:
            parts = [node.value]
        found |= {one.value for one in parts if isinstance(one, ast.Constant) and _is_text(one)}
    return found - {"1"}


# ------------------------------------------------------------------------------------------------
# The ledger
# ------------------------------------------------------------------------------------------------


def of_ledger(source: bytes, file: str) -> Iterator[Mutant]:
    """Yield the mutants of the list of claims, of all that is no prose; `place` is the id."""
    lines = source.decode().splitlines(keepends=True)
    checks = sorted(set(re.findall(r'^compute = "(\w+)"', source.decode(), re.M)))
    archives = sorted(set(re.findall(r'^archive = "([\w-]+)"', source.decode(), re.M)))
    start, place = 0, ""
    for number, line in enumerate(lines, 1):
        field, _, value = (part.strip() for part in line.partition("="))
        if field == "id":
            place = value.strip('"')
        after = _field(field, value, checks, archives)
        end = start + len(line.encode())
        if after is not None:
            after = f"{field} = {after}\n" if after else "\n"
            yield Mutant(file, place, number, field, line, after, start, end)
        start = end


def _field(field: str, value: str, checks: list[str], archives: list[str]) -> str | None:
    """Return another value of a field of a claim, empty without the field, None for prose."""
    if field in ("quoted", "printed") and re.search(r"\d", value):
        return re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit[0]) + 1) % 10), value)
    if field == "tolerance":
        return f"{10 * float(value):.6g}"
    if field == "chapter":
        return str(int(value) % 9 + 1)
    if field == "source":
        papers = {"P1": "P2", "P2": "P3", "P3": "P1"}
        return re.sub(r"P[123]", lambda paper: papers[paper[0]], value, count=1)
    if field == "compute":
        return f'"{_next(value.strip(chr(34)), checks)}"'
    if field == "archive":
        return f'"{_next(value.strip(chr(34)), archives)}"'
    if field == "kind":
        return '"archive"' if "live" in value else '"live"'
    return "" if field in ("expected", "calibrated") else None
