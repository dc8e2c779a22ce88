"""Which tests reach a definition, the nearest first: what `tools/mutants.py` asks of a tree.

Names are followed as the digest of an experiment follows them (`wfmlib/runs/digest.py`),
from each test and its fixtures. What is looked up by a name at run time, an experiment, a check or
a claim, is found by that name in the text of a test.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

from wfmlib.runs.digest import Sources

Place = tuple[str, str]  # a module, and what it defines
# A test that any change of a source makes fail would kill all, and says nothing on any.
DETECTORS = ("test_digest.py", "test_numba_cache.py")


class Reach:
    """The definitions of a tree and its tests, and which of them name which."""

    def __init__(self, root: Path):
        self.root = root
        self.sources = Sources({name: root / name for name in ("wfmlib", "tests")})
        self.users: dict[Place, set[Place]] = defaultdict(set)
        self.texts: dict[Place, str] = {}
        self.tests: list[Place] = []
        for folder in ("wfmlib", "tests/unit"):
            for path in sorted((root / folder).rglob("*.py")):
                if folder == "wfmlib" or path.name not in DETECTORS:
                    self._read(path)

    def _read(self, path: Path) -> None:
        """Note what each definition of a module names."""
        module = module_of(path.relative_to(self.root))
        lines = path.read_text().splitlines()
        is_test = path.name.startswith("test_")
        known = self.sources.module(module)
        for name, statements in known.statements.items():
            place = (module, name)
            # not what it decorates, or what else is done with it
            nodes = [one for one in statements if getattr(one, "name", name) == name]
            for _, target in {pair for one in nodes for pair in self.sources._names(known, one)}:
                if isinstance(target, tuple):
                    self.users[target].add(place)
            if name == "EXPERIMENT":  # a declaration, whose arguments the digest does not follow
                for one in (one.id for node in nodes for one in ast.walk(node) if _is_name(one)):
                    self.users[known.imports.get(one, (module, one))].add(place)
            if is_test:
                parts = [lines[node.lineno - 1 : node.end_lineno] for node in nodes]
                self.texts[place] = "\n".join(line for part in parts for line in part)
                self._fixtures(module, place, nodes)

    def _fixtures(self, module: str, place: Place, nodes: list[ast.stmt]) -> None:
        """Note which fixtures a test, or a fixture, takes by the names of its arguments."""
        for node in nodes:
            if not isinstance(node, ast.FunctionDef):
                continue
            if node.name.startswith("test_"):
                self.tests.append(place)
                parts = [ast.unparse(one) for one in node.decorator_list]
                self.texts[place] += "\n".join(parts)
            for argument in node.args.args:
                if argument.arg in self.sources.module(module).statements:
                    self.users[module, argument.arg].add(place)

    def distances(self, start: set[Place], names: dict[str, int]) -> dict[Place, int]:
        """Return how many steps it is from a definition to each user of it.

        `names` says how far away is what has a name; a test with the name in its text is one step
        farther.
        """
        by_name = defaultdict(set)
        for name, steps in names.items():
            by_name[steps + 1] |= self._with(name)
        found, front, steps = dict.fromkeys(start, 0), set(start), 0
        while front or steps < max(by_name, default=0):
            steps += 1
            users = {user for one in front for user in self.users[one]}
            front = (users | by_name[steps]) - set(found)
            found |= dict.fromkeys(front, steps)
        return found

    def _with(self, name: str) -> set[Place]:
        """Return what of the tests has a name in its text, in quotation marks."""
        quoted = f'"{name}"', f"'{name}'"
        return {place for place, text in self.texts.items() if any(map(text.count, quoted))}

    def nearest(
        self, start: set[Place], names: dict[str, int], most: int, own: tuple[str, ...] = ()
    ) -> list[str]:
        """Return tests that reach a definition, as pytest writes them, the nearest first.

        Those of the file that is named after the module, or its folder, and of other files of its
        `own`, come before all others, up to half of the tests. Of those equally near each file's
        first come before any file's second.
        """
        steps = self.distances(start, names)
        first = {f"test_{part}" for module, _ in start for part in module.split(".")[-2:]}
        ranked, turns = [], Counter()
        for place in sorted(one for one in self.tests if one in steps):
            file = place[0].rpartition(".")[2]
            rank = [*first, *own].index(file) >= len(first) if file in {*first, *own} else 2
            ranked.append((rank, steps[place], turns[rank, steps[place], file], place))
            turns[rank, steps[place], file] += 1
        ranked.sort()
        ours = [one for one in ranked if one[0] < 2]
        nearest = ours[: most // 2] + [one for one in ranked if one[0] == 2] + ours[most // 2 :]
        return [f"{module.replace('.', '/')}.py::{name}" for *_, (module, name) in nearest[:most]]

    def kernels(self, module: str, name: str) -> set[Path]:
        """Return the files with kernels that are compiled from a definition, or with its value.

        A kernel calls other kernels, and holds the values of names at the top of a module. What a
        function without a decorator does is not in it, but for those values.
        """
        found, front = {(module, name)}, {(module, name)}
        while front:
            users = {
                user
                for one in front
                for user in self.users[one] | self.users[self.overloaded(one)]
                if not self.is_plain(user) and not (self.is_plain(one) and self.is_function(user))
            }
            front = users - found
            found |= front
        return {
            path
            for one, _ in found
            if one.startswith("wfmlib") and (path := self.sources._path(one)) is not None
        }

    def is_function(self, place: Place) -> bool:
        """Say whether a definition is a function."""
        statements = self.sources.module(place[0]).statements.get(place[1], [])
        return any(isinstance(node, ast.FunctionDef) for node in statements)

    def overloaded(self, place: Place) -> Place:
        """Return what kernels call where a definition stands for it, by numba's `overload`."""
        for node in self.sources.module(place[0]).statements.get(place[1], []):
            for one in getattr(node, "decorator_list", ()):
                if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "overload":
                    return place[0], ast.unparse(one.args[0])
        return place

    def is_plain(self, place: Place) -> bool:
        """Say whether a definition is a function without a decorator."""
        statements = self.sources.module(place[0]).statements.get(place[1], [])
        return any(isinstance(n, ast.FunctionDef) and not n.decorator_list for n in statements)


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def module_of(path: Path) -> str:
    """Return the dotted name of a source."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
