"""Execute the chapters that changed, several at a time, before the pages are built.

The build would execute them as well, but one after the other. jupyter-cache's parallel executor
takes one process a core, in any order, and tells what failed when all have ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import yaml
from joblib import Parallel, delayed
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from tqdm import tqdm

from tools import executions
from tools.notebooks import CACHE, ROOT, chapters, open_cache, read

LONGEST = "scorecard"  # first: at the end of the line it would run alone
QUIET = ["--IPKernelApp.log_level=40"]  # or each kernel warns that it does not encrypt


def changed(pages: Iterable[Path], folder: Path) -> list[Path]:
    """Return the pages whose execution the cache has not, or not whole, the longest first."""
    found = []
    with open_cache(folder) as cache:
        for page in pages:
            if not executions.has(cache, read(page)):
                found.append(page)
    return sorted(found, key=lambda page: page.stem != LONGEST)


def run(page: Path, timeout: int) -> tuple[Path, ExecutionResult]:
    """Execute one page in its folder."""
    result = single_nb_execution(
        read(page), str(page.parent), timeout, allow_errors=False, extra_arguments=QUIET
    )
    result.err = None  # the traceback says it; some of these errors cannot leave their process
    return page, result


def execute(pages: Iterable[Path], folder: Path, jobs: int, timeout: int) -> list[str]:
    """Execute the pages that changed, put them into the cache and return their names.

    Raises
    ------
    SystemExit
        If a cell fails: with the name of the page and the traceback. If what was executed cannot
        be kept. What other pages gave is kept either way.
    """
    waiting = changed(pages, folder)
    runs = Parallel(jobs, return_as="generator_unordered")(
        delayed(run)(page, timeout) for page in waiting
    )
    with open_cache(folder) as cache:
        for page, result in tqdm(runs, total=len(waiting), unit="page", disable=not waiting):
            if result.exc_string is not None:
                raise SystemExit(f"{page.name}: {result.exc_string}")
            try:
                executions.keep(cache, result.nb, str(page), result.time, check_validity=False)
            except OSError as error:
                raise SystemExit(
                    f"{page.name} was executed, and cannot be kept in {folder} "
                    f"({error.strerror or error}); repeat the command once that is mended"
                ) from None
    return [page.stem for page in waiting]


def main() -> None:
    """Execute what the book needs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="pages at a time (default: 2)")
    jobs = parser.parse_args().jobs
    timeout = yaml.safe_load((ROOT / "_config.yml").read_text())["execute"]["timeout"]
    execute(chapters(), CACHE, jobs, timeout)


if __name__ == "__main__":
    main()
