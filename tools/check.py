"""All checks of `make test`, one part after the other, and what failed at the end.

A part that fails does not keep the next from running. The exit status is that of the whole: 1 if
a part failed. `python -m tools.check style pages` runs these parts alone; `pages` looks at what
`chapters` executed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tools import elsewhere, failures, notebooks, processors, validate
from tools.notebooks import BUILD, CACHE, NOTEBOOKS, ROOT

BIN = Path(sys.executable).parent
CFF = ROOT / ".venv-cff" / "bin" / "cffconvert"
LISTS = BUILD / "failures"
# The first of these builds the pages, for several minutes; the other process has units to test.
# The second installs and executes a notebook: at the end of the line it would run alone.
BUILDING = "tests/book/test_api.py"
INSTALLING = "tests/book/test_site_runs.py"

# The chapters that train networks before the reader's eyes, on the least like processor: one for
# each of two processes. `make elsewhere` executes the others as well.
SENSITIVE = ("08_", "09_")
LEAST_LIKE = "oldest"


@dataclass(frozen=True)
class Outcome:
    """How a part ended."""

    part: str
    passed: bool
    seconds: float
    said: list[str] = field(default_factory=list)


def run(command: list, name: str, *, answers: Path | None = None) -> list[str]:
    """Run a command; return what failed, or its exit status if that is all it says."""
    file = LISTS / f"{name}.json"
    file.unlink(missing_ok=True)
    shown = " ".join(str(word) for word in command)
    print(f"$ {shown if len(shown) < 200 else shown[:197] + '...'}", flush=True)
    status = subprocess.run(
        [str(word) for word in command], cwd=ROOT, env=validate.environment(answers), check=False
    ).returncode
    failed = failures.lines(failures.read(file))
    return failed or ([f"{Path(command[0]).name} exits with {status}: {shown}"] if status else [])


def style(jobs: int) -> list[str]:
    """Return what is wrong with the form of the sources, those of the pages' cells included."""
    prepare = [sys.executable, "-m", "tools.notebooks", "prepare", "--without-references"]
    prepared = run(prepare, "notebooks")
    cells = sorted(NOTEBOOKS.glob("*.ipynb"))
    return [
        *prepared,
        *run([BIN / "ruff", "check", "--quiet", "--config", "line-length=84", *cells], "cells"),
        *run([BIN / "ruff", "check", "."], "lint"),
        *run([BIN / "ruff", "format", "--check", "."], "format"),
        *run([BIN / "mypy"], "types"),
        *run([CFF, "--validate", "--infile", "CITATION.cff"], "citation"),
    ]


def chapters(jobs: int) -> list[str]:
    """Return the cells that fail or print something else than what is stored."""
    prepared = run([sys.executable, "-m", "tools.notebooks", "prepare"], "prepare")
    listed = "--failures", LISTS / "chapters.json"
    command = validate.nbval(NOTEBOOKS, CACHE, jobs, *listed)
    return prepared + run(command, "chapters", answers=validate.ANSWERS)


def other_processor(jobs: int) -> list[str]:
    """Return the cells of sensitive chapters that another processor would print differently."""
    (setting,) = processors.chosen([LEAST_LIKE])
    pages = [page for page in notebooks.chapters() if page.name.startswith(SENSITIVE)]
    return elsewhere.execute(setting, pages, jobs).said


def pages(jobs: int) -> list[str]:
    """Return the tests of the package, of the pages and in the browser that fail."""
    for stale in (BUILD / "html", BUILD / ".doctrees"):
        shutil.rmtree(stale, ignore_errors=True)
    found = (ROOT / "tests" / "book").glob("test_*.py")
    book = {path.relative_to(ROOT).as_posix() for path in found} - {BUILDING, INSTALLING}
    ordered = [BUILDING, "tests/unit", "wfmlib", INSTALLING, "tests/browser", "tests/lab"]
    ordered += sorted(book)
    listed = "--failures", LISTS / "pages.json"
    return run(validate.pytest(jobs, "--doctest-modules", *listed, *ordered), "pages")


PARTS: dict[str, Callable[[int], list[str]]] = {
    "style": style,
    "chapters": chapters,
    "elsewhere": other_processor,
    "pages": pages,
}


def summary(outcomes: list[Outcome]) -> str:
    """Return the closing lines: each part, and below it what failed."""
    told = []
    for outcome in outcomes:
        word = "passed" if outcome.passed else "FAILED"
        told.append(f"{outcome.part:<10} {word}  {outcome.seconds:4.0f} s")
        told += [f"    {line}" for line in outcome.said]
    failed = [outcome.part for outcome in outcomes if not outcome.passed]
    told.append(f"failed: {', '.join(failed)}" if failed else "all parts passed")
    return "\n".join(told)


def check(parts: dict[str, Callable[[int], list[str]]], jobs: int) -> list[Outcome]:
    """Run parts one after the other, whatever comes of each."""
    outcomes = []
    for name, part in parts.items():
        print(f"\n==== {name}", flush=True)
        began = time.perf_counter()
        try:
            said = part(jobs)
        except Exception as why:  # whatever it is, the next part runs
            said = [f"{type(why).__name__}: {why}"]
        outcomes.append(Outcome(name, not said, time.perf_counter() - began, said))
    return outcomes


def main() -> None:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(PARTS))
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    wanted = arguments.parts or list(PARTS)
    outcomes = check({name: PARTS[name] for name in wanted}, arguments.jobs)
    print(f"\n==== summary\n{summary(outcomes)}")
    sys.exit(not all(outcome.passed for outcome in outcomes))


if __name__ == "__main__":
    main()
