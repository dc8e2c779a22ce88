"""Mutation testing: do the tests notice small errors in the sources?

`make mutants` draws errors (`tools/mutations.py`) from the sources of a commit, with a seed, and
runs for each the unit tests that reach it (`tools/reach.py`), the nearest first, until one fails.
It works on a copy of the commit in `_build/mutants`, and appends what it finds to a file there.

A mutant is *killed* if a test fails that passes without it, or never ends that otherwise does;
else it *survives*. Of the book one page is looked at: a check of a claim that prints another
verdict is seen there. Other cells of chapters, and tests of the book, take minutes each and are
left out, so that the share of killed mutants is what unit tests and the scorecard see. Mutants
that change nothing which could be seen are listed in `tools/mutants.toml` with the reason, and do
not count.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path

from scipy import stats

from tools import mutations
from tools.mutations import Mutant
from tools.notebooks import BUILD, ROOT
from tools.reach import Place, Reach, module_of

LEDGER = "wfmlib/claims.toml"
NUMERICS = (
    "gaussian.py",
    "patterns.py",
    "solvers.py",
    "theory",
    "learning",
    "networks",
    "landscape",
)
MACHINERY = ("__init__", "archive", "digest", "experiment", "registry", "runner", "samples")
MACHINERY += ("statistical", "verification")  # of experiments: no recipes
GROUPS = ("numerics", "recipes", "ledger")
EQUIVALENT = ROOT / "tools" / "mutants.toml"
WATCH = ROOT / "tools" / "mutants_watch.py"
LIMITS = {"test": 60, "session": 60}  # seconds of processor time
PATIENCE = 900  # seconds on the clock, for tests whose work is done by other processes
VERDICTS = "import sys; from wfmlib import claims; print(*map(claims.check, sys.argv[1:]))"
MOST = 20  # tests a mutant


def sources(root: Path, group: str) -> list[Path]:
    """Return the files of a group, relative to the tree."""
    package = root / "wfmlib"
    if group == "numerics":
        found = [package / name for name in NUMERICS]
        paths = [
            one for path in found for one in (path.rglob("*.py") if path.is_dir() else [path])
        ]
    elif group == "recipes":
        paths = [one for one in package.glob("experiments/*.py") if one.stem not in MACHINERY]
    else:
        paths = [*package.glob("claim_checks/*.py"), root / LEDGER]
    return sorted(path.relative_to(root) for path in paths)


def candidates(root: Path, group: str) -> list[Mutant]:
    """Return all mutants of a group."""
    found: list[Mutant] = []
    for path in sources(root, group):
        text = (root / path).read_bytes()
        if path.suffix == ".toml":
            found += mutations.of_ledger(text, path.as_posix())
        else:
            found += mutations.of_source(text, path.as_posix(), recipe=group == "recipes")
    return found


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
    return root


class Tree:
    """Two copies of the sources: in one, one mutant after the other is tested; one stays."""

    def __init__(self, root: Path, clean: Path):
        self.root, self.clean, self.log = root, clean, root.parent / "log.jsonl"
        self.kernels = root.parent / "numba"
        for folder in (root, clean):
            shutil.copy(WATCH, folder)
        self.reach = Reach(root)
        self.stamp = int(time.time())
        self.alone: dict[str, float] = {}  # seconds of a test without a mutant; inf: it fails

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach a mutant."""
        if mutant.file == LEDGER:
            claim = tomllib.loads((self.root / LEDGER).read_text())["claim"]
            checks = {one.get("compute", one["id"]) for one in claim if one["id"] == mutant.place}
            return self.reach.nearest({("wfmlib.claims", "load")}, {mutant.place} | checks, MOST)
        module = module_of(Path(mutant.file))
        start = {(module, mutant.place)}
        found = self.reach.nearest(start, self.names(start), MOST)
        if found:
            return found
        # what numba's overloads call is not named: then all tests of the module
        every = {(module, name) for name in self.reach.sources.module(module).statements}
        return self.reach.nearest(every, set(), MOST)

    def names(self, start: set[Place]) -> set[str]:
        """Return the names by which a test may look up what uses a definition."""
        names = set()
        for module, name in self.reach.distances(start, set()):
            if name == "EXPERIMENT" or module.startswith("wfmlib.experiments."):
                names.add(module.rpartition(".")[2].replace("_", "-"))
            if module.startswith("wfmlib.claim_checks") and not name.startswith("_"):
                names.add(name)
        return names

    def variables(self, root: Path) -> dict[str, str]:
        """Return the environment in which a copy is tested."""
        return {
            "PYTHONPATH": str(root),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # no test of the package needs one
            "NUMBA_CACHE_DIR": str(self.kernels),
            "WFMLIB_DISPLAY": "static",
            "OPENBLAS_NUM_THREADS": "1",
            "MUTANTS_LOG": str(self.log),
            "MUTANTS_LIMITS": json.dumps(LIMITS),
        }

    def run(self, tests: list[str], root: Path) -> tuple[int, list[list], str]:
        """Run tests, to the first that fails; return the exit status, the log, what was said."""
        self.log.unlink(missing_ok=True)
        self.kernels.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
        left = [f"--deselect={name}" for name, used in self.alone.items() if used == math.inf]
        process = subprocess.Popen(
            [*command, "-p", "mutants_watch", *left, *tests],
            cwd=root,
            env=os.environ | self.variables(root),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return process.returncode, [json.loads(line) for line in lines], said

    def verdicts(self, mutant: Mutant, root: Path) -> str:
        """Return what the scorecard would say of the claims whose checks reach a definition."""
        names = self.names({(module_of(Path(mutant.file)), mutant.place)})
        listed = tomllib.loads((self.root / LEDGER).read_text())["claim"]
        ids = [one["id"] for one in listed if one.get("compute") in names]
        try:
            done = subprocess.run(
                [sys.executable, "-c", VERDICTS, *ids],
                cwd=root,
                env=os.environ | self.variables(root),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "no end"
        return done.stdout if done.returncode == 0 else f"an error: {done.stderr[-200:]}"

    def takes(self, test: str) -> float:
        """Return how long a test takes without a mutant, in seconds; inf if it fails."""
        if test not in self.alone:
            status, log, _ = self.run([test], self.clean)
            used = log[-1][2] - log[0][2] if log else 0.0
            self.alone[test] = used if status == 0 else math.inf
        return self.alone[test]

    def test(self, mutant: Mutant) -> dict:
        """Return what comes of a mutant, and which test said so."""
        tests, began = self.tests_of(mutant), time.perf_counter()
        source = (self.root / mutant.file).read_bytes()
        outcome, by, ran = "survives", "", []
        while tests:
            try:
                self.write(mutant.file, mutant.applied(source))
                status, log, said = self.run(tests, self.root)
            finally:
                self.write(mutant.file, source)
            ran = [name for what, name, _ in log if what == "runs"]
            failed = [name for what, name, _ in log if what == "fails"]
            if status >= 0 and ran and not failed:
                break
            if status in (3, 4):
                raise RuntimeError(f"pytest cannot run {tests[0]} and others: {said[-500:]}")
            by = (failed or ran or tests)[-1 if ran else 0]
            if status >= 0 and self.takes(by) < math.inf:
                outcome = "killed"
            elif status < 0 and self.takes(by) < LIMITS["test"] / 4:
                outcome = "loops"
            elif self.takes(by) < math.inf:  # slow, with the mutant as without it
                self.alone[by] = math.inf
            if outcome != "survives" or not ran:
                break
            by = ""
        if outcome == "survives" and mutant.file.startswith("wfmlib/claim_checks/"):
            clean = self.verdicts(mutant, self.clean)
            try:
                self.write(mutant.file, mutant.applied(source))
                if self.verdicts(mutant, self.root) != clean:
                    outcome, by = "killed", "the scorecard"
            finally:
                self.write(mutant.file, source)
        seconds = round(time.perf_counter() - began)
        return {"outcome": outcome, "by": by, "seconds": seconds, "tests": len(ran)}

    def write(self, file: str, source: bytes) -> None:
        """Write a source, and let numba see that all that calls into it has changed."""
        (self.root / file).write_bytes(source)
        self.stamp += 2
        paths = {self.root / file}
        if file.endswith(".py"):
            paths |= self.reach.dependents(module_of(Path(file)))
        for path in paths:
            os.utime(path, (self.stamp, self.stamp))


def equivalents() -> dict[str, str]:
    """Return the reasons why mutants count for nothing, by their words without the line."""
    table = tomllib.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}
    return {f"{one['file']} {one['change']}": one["reason"] for one in table.get("mutant", [])}


def key(mutant: dict) -> str:
    """Return what stands for a mutant in the list of equivalents: it may move in its file."""
    words = (" ".join(mutant[one].split()) for one in ("before", "after"))
    return f"{mutant['file']} {mutant['place']}: {' -> '.join(words)}"


def summary(found: list[dict]) -> str:
    """Return for each group the share of killed mutants with its 95% interval (Wilson)."""
    same = equivalents()
    lines = []
    for group in GROUPS:
        every = [one for one in found if one["group"] == group]
        counted = [one for one in every if one["outcome"] != "survives" or key(one) not in same]
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
    return str(Mutant(**{name: one[name] for name in Mutant.__dataclass_fields__}))


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
    folder = BUILD / "mutants" / commit
    tree = Tree(copied(commit, folder / "tree"), copied(commit, folder / "clean"))
    kept = folder / f"seed-{arguments.seed}.jsonl"
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
        print(f"\n==== {commit}, seed {arguments.seed}\n{summary(found)}")


if __name__ == "__main__":
    main()
