"""The command that executes notebooks and compares their checked cells, in one place.

`make test` runs it over all chapters, `make elsewhere` under other settings, `make references`
without anything to compare.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tools.notebooks import BUILD, CACHE, NOTEBOOKS, ROOT

KERNELS = BUILD / "numba"  # compiled once, for tests and chapters
ANSWERS = BUILD / "answers"  # a claim is computed once, for its chapter and for the scorecard
LONGEST = "scorecard.ipynb"  # first: at the end of the line it would run alone
STATIC = {"WFMLIB_DISPLAY": "static"}  # pages hold static figures
# Processes share the processors: threads of OpenBLAS that wait for each other spin, and made the
# same calculations take five times as long.
ALONE = {"OPENBLAS_NUM_THREADS": "1"}


def pytest(jobs: int, *arguments: str | Path) -> list[str]:
    """Return a command whose processes share the files, in the order given."""
    shared = ["-n", str(jobs), "--dist", "loadfile", "--no-loadscope-reorder"] if jobs > 1 else []
    plugins = ["-p", "tools.failures"]
    return [sys.executable, "-m", "pytest", *shared, *plugins, *map(str, arguments)]


def nbval(folder: Path, cache: Path, jobs: int, *arguments: str | Path) -> list[str]:
    """Return the command that executes the notebooks of a folder and compares them."""
    longest = [folder / LONGEST] if (folder / LONGEST).exists() else []
    bridge = ["-p", "tools.nbval_bridge", "--nbval-lax", "--jupyter-cache", cache]
    return pytest(jobs, *bridge, *arguments, *longest, folder)


def environment(answers: Path | None = ANSWERS, **more: str) -> dict[str, str]:
    """Return the variables under which chapters and tests run; tests find each answer anew."""
    kernels = {"NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(KERNELS))}
    kept = {} if answers is None else {"WFMLIB_ANSWERS": str(answers)}
    return os.environ | STATIC | ALONE | kernels | kept | more


def main() -> None:
    """Execute the prepared chapters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="pages at a time (default: 2)")
    command = nbval(NOTEBOOKS, CACHE, parser.parse_args().jobs)
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode)


if __name__ == "__main__":
    main()
