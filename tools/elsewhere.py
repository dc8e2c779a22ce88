"""The chapters as other processors would execute them: which checked cells differ?

`tools/processors.py` holds the settings. Each has its own notebooks, compiled kernels, answers and
cache of executions in `_build/elsewhere`, so that nothing passes from one to another. A setting
that this machine cannot have is skipped with a word; one that it has, but that takes no effect,
is a failure.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tools import failures, processors, validate
from tools.notebooks import BUILD, REFERENCES, ROOT, chapters, forget_stale, write_notebooks
from tools.processors import Setting

FOLDER = BUILD / "elsewhere"


@dataclass(frozen=True)
class Outcome:
    """What came of one setting: a word on it, and what failed in words."""

    setting: str
    word: str
    said: list[str] = field(default_factory=list)


class Impossible(Exception):
    """The machine cannot be that processor."""


def facts(**variables: str) -> dict:
    """Return what the libraries of a process with these variables say of themselves."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.processors"],
        cwd=ROOT,
        env=validate.environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:  # by a signal: an instruction that this processor does not have
        raise Impossible("this processor lacks its instructions")
    if done.returncode:
        raise RuntimeError(f"the libraries refuse {variables}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def told(found: dict, native: dict) -> str:
    """Return in a line what the libraries of a setting found, and whose bits are others."""
    other = [name for name in found["bits"] if found["bits"][name] != native["bits"][name]]
    return (
        f"numba {found['numba']}, OpenBLAS {' '.join(found['blas']) or 'none'}, "
        f"NumPy {' '.join(found['numpy']) or 'baseline'}, "
        f"libm {'as it is' if found['libm'] is None else ' '.join(found['libm']) or 'plain'}; "
        f"other bits than here from: {', '.join(other) or 'none of them'}"
    )


def execute(
    setting: Setting,
    pages: list[Path],
    jobs: int,
    folder: Path = FOLDER,
    references: Path = REFERENCES,
) -> Outcome:
    """Execute pages under a setting and compare their checked cells with the references."""
    if processors.architecture() not in setting.processors:
        return Outcome(setting.name, f"skipped: not one of {processors.architecture()}")
    native = facts()
    variables = processors.environment(setting, native)
    try:
        found = facts(**variables)
    except Impossible as why:
        return Outcome(setting.name, f"skipped: {why}")
    print(f"{setting.name}: {setting.what}\n  {told(found, native)}", flush=True)
    wrong = processors.ineffective(setting, found)
    if wrong:
        return Outcome(setting.name, "no effect", [f"{setting.name}: {one}" for one in wrong])

    folder = folder / setting.name
    for earlier in ("answers", "cache"):
        shutil.rmtree(folder / earlier, ignore_errors=True)
    refused = ""
    try:
        write_notebooks(pages, folder / "notebooks", references)
    except SystemExit as why:
        refused = str(why)
    file = folder / "failures.json"
    file.unlink(missing_ok=True)
    command = validate.nbval(
        folder / "notebooks", folder / "cache", jobs, "--quiet", "--tb=no", "--failures", file
    )
    variables["NUMBA_CACHE_DIR"] = str(folder / "numba")
    began = time.perf_counter()
    status = subprocess.run(
        command, cwd=ROOT, env=validate.environment(folder / "answers", **variables), check=False
    ).returncode
    failed = failures.read(file)
    said = failures.lines(failed) or ([f"pytest exits with {status}"] if status else [])
    word = f"{len(failed)} cells differ, {time.perf_counter() - began:.0f} s"
    return Outcome(setting.name, word, said + ([refused] if refused else []))


def main() -> None:
    """Execute the pages that are named, or all, under the settings that are named, or all."""
    known = {page.stem: page for page in chapters()}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as 09_deep_networks")
    parser.add_argument("--settings", nargs="+", default=[], help="such as oldest")
    parser.add_argument("--jobs", type=int, default=2, help="pages at a time (default: 2)")
    parser.add_argument("--list", action="store_true", help="say what there is, execute nothing")
    arguments = parser.parse_args()
    settings = processors.chosen(arguments.settings)
    if arguments.list:
        print("\n".join(f"{setting.name:<8} {setting.what}" for setting in settings))
        return
    unknown = sorted(set(arguments.pages) - set(known))
    if unknown:
        parser.error(f"no page {unknown[0]!r}; there are {', '.join(known)}")
    pages = [known[name] for name in arguments.pages] or list(known.values())
    forget_stale()
    outcomes = [execute(one, pages, arguments.jobs) for one in settings]
    print("\n==== summary")
    for outcome in outcomes:
        print(
            "\n".join([f"{outcome.setting}: {outcome.word}", *(f"    {x}" for x in outcome.said)])
        )
    sys.exit(any(outcome.said for outcome in outcomes))


if __name__ == "__main__":
    main()
