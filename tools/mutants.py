"""Mutation testing: do the tests notice small errors in the sources?

`make mutants` draws errors (`tools/mutations.py`) from the sources of a commit, with a seed, and
runs for each the unit tests that reach it (`tools/reach.py`), the nearest first, until one fails.
It works on a copy of the commit in `_build/mutants`, and appends what it finds to a file there.
Kernels that numba compiled stay beside that copy as long as the package is the same, and each
mutant gets those that it cannot change.

A mutant is *killed* if a test fails that passes without it, or never ends that otherwise does;
else it *survives*. Of the book one page is looked at: a check of a claim that prints another
verdict is seen there. Other cells of chapters, and tests of the book, take minutes each and are
left out, so that the share of killed mutants is what unit tests and the scorecard see. Mutants
that change nothing which could be seen are listed in `tools/mutants.toml` with the reason, and do
not count.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path

from scipy import stats

from tools import mutations
from tools.mutations import Mutant
from tools.notebooks import BUILD, ROOT
from tools.reach import Place, Reach, module_of

LEDGER = "wfmlib/book/claims.toml"
ON_LEDGER = tuple(
    f"tests/unit/test_{name}.py"
    for name in ("ledger", "claims", "claims_otherwise", "claims_training_sets")
)
OWN = {  # files of tests that are on each module of a part
    "wfmlib.book.experiments.": ("test_recipes", "test_grids", "test_what_is_kept"),
    "wfmlib.book.claim_checks.": ("test_claims_otherwise", "test_claims"),
}
NUMERICS = (
    "numerics/gaussian.py",
    "numerics/portable.py",
    "numerics/solvers.py",
    "numerics/tails.py",
    "patterns.py",
    "models",
    "theory",
    "learning",
    "networks",
    "landscape",
)
MACHINERY = ("__init__", "registry")  # of experiments: no recipes
GROUPS = ("numerics", "recipes", "ledger")
EQUIVALENT = ROOT / "tools" / "mutants.toml"
HELPERS = [ROOT / "tools" / name for name in ("mutants_watch.py", "mutants_server.py")]
LIMITS = {"test": 60, "session": 240}  # seconds of processor time
PATIENCE = 900  # seconds on the clock, for tests whose work is done by other processes
VERDICTS = "from wfmlib.book import claims; print(*map(claims.check, arguments))"
NEEDED = ("pytest", "numba", "scipy.optimize", "scipy.stats", "xarray")  # beside the package
SCORECARD = "the scorecard"
MOST = 400  # tests a mutant
COMMAND = ("-q", "--tb=no", "-p", "no:cacheprovider", "-p", "mutants_watch")
ALL = {"one": [], "of": []}  # cases of a test: none is left out
SAME = 1_000_000_000  # when all sources were written, as far as numba can tell


def sources(root: Path, group: str) -> list[Path]:
    """Return the files of a group, relative to the tree."""
    package = root / "wfmlib"
    if group == "numerics":
        found = [package / name for name in NUMERICS]
        paths = [
            one for path in found for one in (path.rglob("*.py") if path.is_dir() else [path])
        ]
    elif group == "recipes":
        paths = [one for one in package.glob("book/experiments/*.py") if one.stem not in MACHINERY]
    else:
        paths = [*package.glob("book/claim_checks/*.py"), root / LEDGER]
    return sorted(path.relative_to(root) for path in paths)


def candidates(root: Path, group: str) -> list[Mutant]:
    """Return all mutants of a group."""
    return [one for path in sources(root, group) for one in of_file(root, path, group)]


def of_file(root: Path, path: Path, group: str) -> list[Mutant]:
    """Return all mutants of a file, whose path is relative to the tree."""
    text = (root / path).read_bytes()
    if path.suffix == ".toml":
        return list(mutations.of_ledger(text, path.as_posix()))
    return mutations.of_source(text, path.as_posix(), recipe=group == "recipes")


def drawn(root: Path, group: str, count: int, seed: int) -> list[Mutant]:
    """Return a sample of the mutants of a group, in a random order.

    Every other one of the ledger's is of the list of claims, where each field is as likely as
    another. Of a sample that breaks off, what was tested is a sample.
    """
    found = candidates(root, group)
    rng = random.Random(f"{seed} {group}")
    if group != "ledger":
        return rng.sample(found, min(count, len(found)))
    listed = [one for one in found if one.file == LEDGER]
    rest = [one for one in found if one.file != LEDGER]
    fields = sorted({one.kind for one in listed})
    chosen = []
    for i in range(count):
        kind = rng.choice(fields)
        pool = rest if i % 2 else [one for one in listed if one.kind == kind]
        chosen.append(rng.choice(pool))
    return list(dict.fromkeys(chosen))


def copied(commit: str, root: Path) -> Path:
    """Copy a commit into a folder, and return the folder."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", root], input=archive, check=True)
    for path in (root / "wfmlib").rglob("*.py"):
        os.utime(path, (SAME, SAME))
    return root


def importers(root: Path) -> dict[str, set[str]]:
    """Return for each module of the package those that import it, itself, and what is below them.

    One that is imported from a package is imported by all of it.
    """
    paths = {module_of(path.relative_to(root)): path for path in (root / "wfmlib").rglob("*.py")}
    paths = {name: path for name, path in paths.items() if not name.endswith("__main__")}
    uses: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                uses[name] |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
            elif isinstance(node, ast.Import):
                uses[name] |= {one.name for one in node.names}
        uses[name] |= {name.rpartition(".")[0]}  # a part is imported anew with its package
    found = {}
    for start in paths:
        every, front = {start}, {start}
        while front:
            front = {name for name in paths if uses[name] & front} - every - {"wfmlib"}
            every |= front
        found[start] = every
    return found


def package_of(commit: str) -> str:
    """Return what stands for the package of a commit: the same where no source of it changed."""
    said = subprocess.run(
        ["git", "rev-parse", f"{commit}:wfmlib"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    ).stdout  # fmt: skip
    return said[:10]


class Tree:
    """Two copies of the sources: in one, one mutant after the other is tested; one stays."""

    def __init__(self, root: Path, clean: Path):
        self.root, self.clean, self.log = root, clean, root.parent / "log.jsonl"
        self.kernels = Kernels(root.parent / "numba")
        for folder in (root, clean):
            for path in HELPERS:
                shutil.copy(path, folder)
        self.reach = Reach(root)
        self.importers = importers(root)
        self.changed: set[str] = set()  # modules that are not what they were
        self.servers: dict[Path, subprocess.Popen] = {}
        self.stamp = int(time.time())
        self.alone: dict[str, float] = {}  # seconds of a test without a mutant; inf: it fails

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach a mutant."""
        if mutant.file == LEDGER:
            return [one for one in ON_LEDGER if (self.root / one).exists()]
        module = module_of(Path(mutant.file))
        start = {(module, mutant.place)}
        own = next((of for part, of in OWN.items() if module.startswith(part)), ())
        found = self.reach.nearest(start, self.names(start), MOST, own)
        if mutant.file.startswith("wfmlib/book/claim_checks/"):  # found by names in tables
            found += [one for one in ON_LEDGER[2:3] if (self.root / one).exists()]
        if found:
            return found + self.named_after(module)
        # what numba's overloads call is not named: then all tests of the module
        every = {(module, name) for name in self.reach.sources.module(module).statements}
        return self.reach.nearest(every, {}, MOST)

    def named_after(self, module: str) -> list[str]:
        """Return the files of tests that are on a module by their names, or on its folder.

        What is called as a method of whatever device is given is not reached by names.
        """
        files = [f"tests/unit/test_{part}.py" for part in module.split(".")[:0:-1]]
        return [one for one in files if (self.root / one).exists()]

    def names(self, start: set[Place]) -> dict[str, int]:
        """Return the names by which a test may look up what uses a definition, and how far it is.

        A kernel is in many experiments: tests that call it come before those that name one.
        """
        names: dict[str, int] = {}
        for (module, name), steps in self.reach.distances(start, {}).items():  # the nearest first
            if name == "EXPERIMENT" or module.startswith("wfmlib.book.experiments."):
                names.setdefault(module.rpartition(".")[2].replace("_", "-"), steps)
            if module.startswith("wfmlib.book.claim_checks") and not name.startswith("_"):
                names.setdefault(name, steps)
        return names

    def variables(self, root: Path, cases: dict = ALL) -> dict[str, str]:
        """Return the environment in which a copy is tested."""
        return {
            "PYTHONPATH": str(root),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # no test of the package needs one
            "NUMBA_CACHE_DIR": str(self.kernels.now),
            "WFMLIB_DISPLAY": "static",
            "OPENBLAS_NUM_THREADS": "1",
            "MUTANTS_LOG": str(self.log),
            "MUTANTS_LIMITS": json.dumps(LIMITS),
            "MUTANTS_CASES": json.dumps(cases),
        }

    def cases(self, mutant: Mutant) -> dict:
        """Return which cases of a test are on a mutant's claims or recipes, and which on any."""
        if mutant.file.startswith("wfmlib/book/experiments/"):
            one = set(self.names({(module_of(Path(mutant.file)), mutant.place)}))
            every = [path.stem for path in (self.clean / "wfmlib/book/experiments").glob("*.py")]
            return {"one": sorted(one), "of": [name.replace("_", "-") for name in every]}
        claim = tomllib.loads((self.clean / LEDGER).read_text())["claim"]
        checks = {one["id"]: one.get("compute") for one in claim}
        if mutant.file == LEDGER:
            one = {mutant.place, checks[mutant.place]}
        elif mutant.file.startswith("wfmlib/book/claim_checks/"):
            one = set(self.names({(module_of(Path(mutant.file)), mutant.place)}))
            one |= {id for id, check in checks.items() if check in one}
        else:
            return ALL
        of = {*checks, *checks.values()} - {None}
        return {"one": sorted(one - {None}), "of": sorted(of)}

    def run(
        self, tests: list[str], root: Path, cases: dict = ALL, options: tuple[str, ...] = ("-x",)
    ) -> tuple[int, list[list], str]:
        """Run tests, to the first that fails; return the exit status, the log, what was said."""
        self.log.unlink(missing_ok=True)
        left = [f"--deselect={name}" for name, used in self.alone.items() if used == math.inf]
        arguments = [*COMMAND, *options, *left, *tests]
        status, said = self.work(root, {"arguments": arguments}, cases)
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return status, [json.loads(line) for line in lines], said

    def server(self, root: Path) -> subprocess.Popen:
        """Return the process that has imported a copy, which must be without a mutant by then."""
        if root not in self.servers:
            self.servers[root] = subprocess.Popen(
                [sys.executable, "mutants_server.py", *NEEDED, *sorted(self.importers)],
                cwd=root,
                env=os.environ | self.variables(root, ALL),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            if self.servers[root].stdout.readline().strip() != "ready":
                raise RuntimeError(f"the package in {root} cannot be imported")
        return self.servers[root]

    def work(self, root: Path, job: dict, cases: dict = ALL) -> tuple[int, str]:
        """Let a fork of the process for a copy do a job; return the status and what was said."""
        server = self.server(root)
        said = self.log.with_name("said.txt")
        job |= {"env": self.variables(root, cases), "said": str(said), "patience": PATIENCE}
        job["forget"] = sorted(self.changed)
        print(json.dumps(job), file=server.stdin, flush=True)
        return int(server.stdout.readline()), said.read_text(errors="replace")

    def close(self) -> None:
        """End the processes in which tests are run."""
        for server in self.servers.values():
            with server:  # closes what it reads, at which it ends
                pass

    def verdicts(self, mutant: Mutant, root: Path) -> str:
        """Return what the scorecard would say of the claims whose checks reach a definition."""
        names = self.names({(module_of(Path(mutant.file)), mutant.place)})
        listed = tomllib.loads((self.root / LEDGER).read_text())["claim"]
        ids = [one["id"] for one in listed if one.get("compute") in names]
        status, said = self.work(root, {"program": VERDICTS, "arguments": ids})
        return said if status == 0 else f"status {status}: {said[-200:]}"

    def confirm(self, tests: set[str]) -> None:
        """Note how long tests take without a mutant, in seconds; inf for those that fail."""
        while unknown := sorted(tests - set(self.alone)):
            _, log, _ = self.run(unknown, self.clean, options=())
            for one in unknown:
                within = (f"{one}::", f"{one}[")  # tests of a file, cases of a test
                lines = [line for line in log if line[1] == one or line[1].startswith(within)]
                used = sum(
                    at if what == "ends" else -at for what, _, at in lines if what != "fails"
                )
                ended = [what for what, *_ in lines].count("ends")
                if ended and all(what != "fails" for what, *_ in lines):
                    self.alone[one] = used
                elif lines or one == unknown[0]:  # the others may have had no time
                    self.alone[one] = math.inf

    def takes(self, test: str) -> float:
        """Return how long a test takes without a mutant, in seconds; inf if it fails."""
        self.confirm({test})
        return self.alone[test]

    def unfounded(self, found: list[dict]) -> Iterator[dict]:
        """Yield the mutants killed by a test that fails without them, until none is left."""
        while True:
            killed = [one for one in found if one["outcome"] == "killed"]
            self.confirm({one["by"] for one in killed} - {SCORECARD})
            wrong = [one for one in killed if self.alone.get(one["by"]) == math.inf]
            if not wrong:
                return
            yield from wrong

    def test(self, mutant: Mutant) -> dict:
        """Return what comes of a mutant, and which test said so: `unfounded` looks at that."""
        tests, began = self.tests_of(mutant), time.perf_counter()
        outcome, by, ran, cases = "survives", "", [], self.cases(mutant)
        while tests:
            with self.written(mutant):
                status, log, said = self.run(tests, self.root, cases)
            ran = [name for what, name, _ in log if what == "runs"]
            failed = [name for what, name, _ in log if what == "fails"]
            if status >= 0 and ran and not failed:
                break
            by = (failed or ran or tests)[-1 if ran else 0]
            if status in (3, 4) and self.run(tests, self.clean, cases)[0] in (3, 4):
                raise RuntimeError(f"pytest cannot run {tests[0]} and others: {said[-500:]}")
            if status >= 0 and self.alone.get(by, 0.0) < math.inf:
                outcome = "killed"
            elif status < 0 and self.takes(by) < LIMITS["test"] / 4:
                outcome = "loops"
            elif self.takes(by) < math.inf:  # slow, with the mutant as without it
                self.alone[by] = math.inf
            if outcome != "survives" or not ran:
                break
            by = ""
        if outcome == "survives" and mutant.file.startswith("wfmlib/book/claim_checks/"):
            clean = self.verdicts(mutant, self.clean)
            with self.written(mutant):
                if self.verdicts(mutant, self.root) != clean:
                    outcome, by = "killed", SCORECARD
        seconds = round(time.perf_counter() - began)
        return {"outcome": outcome, "by": by, "seconds": seconds, "tests": len(ran)}

    @contextlib.contextmanager
    def written(self, mutant: Mutant):
        """Put a mutant in the place of its source, and hide the kernels that it may change."""
        path = self.root / mutant.file
        source, when = path.read_bytes(), path.stat().st_mtime
        self.server(self.root)
        self.stamp += 2
        try:
            path.write_bytes(mutant.applied(source))
            os.utime(path, (self.stamp, self.stamp))
            is_code = path.suffix == ".py"
            changed = (
                self.reach.kernels(module_of(Path(mutant.file)), mutant.place) if is_code else {}
            )
            self.changed = self.importers.get(module_of(Path(mutant.file)), set())
            if not is_code:
                self.changed = self.importers["wfmlib.book.claims"]
            with self.kernels.without({path.stem, *(one.stem for one in changed)}):
                yield
        finally:
            self.changed = set()
            path.write_bytes(source)
            os.utime(path, (when, when))


class Kernels:
    """What numba compiled, and for a mutant a copy without what the mutant may change.

    numba sees that the file of a kernel has changed, not another that the kernel calls into.
    """

    def __init__(self, root: Path):
        self.root = self.now = root
        root.mkdir(exist_ok=True)

    @contextlib.contextmanager
    def without(self, stems: set[str]):
        """Use a copy without the kernels of some files; keep what is compiled of the others."""
        self.now = self.root.with_name("numba-mutant")
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(
            self.root, self.now, copy_function=os.link,
            ignore=lambda _, names: [one for one in names if one.partition(".")[0] in stems],
        )  # fmt: skip
        try:
            yield
        finally:
            for path in self.now.rglob("*.nb?"):
                kept = self.root / path.relative_to(self.now)
                if path.name.partition(".")[0] not in stems and path.stat().st_nlink == 1:
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(kept)
            self.now = self.root


def equivalents() -> list[dict[str, str]]:
    """Return the mutants that count for nothing, each with the reason."""
    return tomllib.loads(EQUIVALENT.read_text()).get("mutant", []) if EQUIVALENT.exists() else []


def is_excused(mutant: dict, by: dict[str, str]) -> bool:
    """Say whether a mutant is the one that an entry of the list means, which may name its line.

    It may move in its file.
    """
    words = (" ".join(mutant[one].split()) for one in ("before", "after"))
    same = f"{mutant['place']}: {' -> '.join(words)}" == by["change"]
    return same and mutant["file"] == by["file"] and by.get("line") in (None, mutant["text"])


def summary(found: list[dict]) -> str:
    """Return for each group the share of killed mutants with its 95% interval (Wilson)."""
    same = equivalents()
    lines = []
    for group in GROUPS:
        every = [one for one in found if one["group"] == group]
        counted = [
            one
            for one in every
            if one["outcome"] != "survives" or not any(is_excused(one, by) for by in same)
        ]
        killed = [one for one in counted if one["outcome"] != "survives"]
        if not counted:
            continue
        ends = stats.binomtest(len(killed), len(counted)).proportion_ci(method="wilson")
        loops = sum(one["outcome"] == "loops" for one in counted)
        lines.append(
            f"{group}: {len(killed)} of {len(counted)} killed ({loops} never end), "
            f"{len(killed) / len(counted):.0%}, 95% interval {ends.low:.0%} to {ends.high:.0%}; "
            f"{len(every) - len(counted)} equivalent"
        )
        lines += [f"    survives: {shown(one)}" for one in counted if one not in killed]
    return "\n".join(lines)


def shown(one: dict) -> str:
    """Return a mutant in words."""
    return str(mutant_of(one))


def mutant_of(one: dict) -> Mutant:
    """Return the mutant that a line of the file is on."""
    return Mutant(**{name: one[name] for name in Mutant.__dataclass_fields__})


def main() -> None:
    """Draw and test mutants of the groups that are named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--count", type=int, default=20, help="mutants a group (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: 1)")
    parser.add_argument("--commit", default="HEAD", help="whose sources (default: HEAD)")
    parser.add_argument("--list", action="store_true", help="say what is drawn, test nothing")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.groups) - set(GROUPS))
    if unknown:
        parser.error(f"no group {unknown[0]!r}; there are {', '.join(GROUPS)}")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", arguments.commit],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    folder = BUILD / "mutants" / package_of(commit)
    tree = Tree(copied(commit, folder / "tree"), copied(commit, folder / "clean"))
    kept = BUILD / "mutants" / commit / f"seed-{arguments.seed}.jsonl"
    kept.parent.mkdir(exist_ok=True)
    found = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {(one["group"], one["file"], one["start"], one["after"]) for one in found}
    wanted = [
        [(group, one) for one in drawn(tree.root, group, arguments.count, arguments.seed)]
        for group in arguments.groups or GROUPS
    ]
    for group, mutant in [one for row in zip_longest(*wanted) for one in row if one]:
        if arguments.list:
            print(f"{mutant}  ({len(tree.tests_of(mutant))} tests)")
        elif (group, mutant.file, mutant.start, mutant.after) not in done:
            one = {"group": group, **asdict(mutant), **tree.test(mutant)}
            found.append(one)
            with kept.open("a") as lines:
                lines.write(json.dumps(one) + "\n")
            told = f"{one['outcome']:<8} {one['seconds']:4} s  {mutant}"
            print(told + (f"  ({one['by']})" if one["by"] else ""), flush=True)
    if not arguments.list:
        for one in tree.unfounded(found):
            one |= tree.test(mutant_of(one))
            print(f"again: {one['outcome']:<8} {shown(one)}", flush=True)
        kept.write_text("".join(json.dumps(one) + "\n" for one in found))
        print(f"\n==== {commit}, seed {arguments.seed}\n{summary(found)}")
    tree.close()


if __name__ == "__main__":
    main()
