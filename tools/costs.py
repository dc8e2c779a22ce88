"""What the archives cost: write the table in `book/cluster.md` from what they say of themselves.

Each archive's provenance has the seconds of every sample and the processor that took them.
"""

from __future__ import annotations

import argparse
from typing import Any

from tools.notebooks import BOOK
from wfmlib.book import experiments
from wfmlib.runs import archive

PAGE = BOOK / "cluster.md"
RESULTS = BOOK / "results"
BEGIN, END = "<!-- counted -->", "<!-- to here -->"
WORKERS = 100
HEAD = "experiment", "chapter", "samples", "core-hours", "an hour", f"on {WORKERS} workers"


def row(name: str) -> list[Any]:
    """Return what one archive cost."""
    told = archive.read_provenance(archive.archive_path(name, "paper", RESULTS))
    seconds = sorted(told["seconds_per_sample"].values(), reverse=True)
    return [
        f"`{name}`",
        experiments.get(name).chapter,
        len(seconds),
        f"{sum(seconds) / 3600:.2f}",
        f"{3600 * len(seconds) / sum(seconds):.0f}",
        f"{makespan(seconds) / 60:.1f} min",
    ]


def makespan(seconds: list[float], workers: int = WORKERS) -> float:
    """Return when the last of the workers is done, samples handed out as they are listed."""
    until = [0.0] * workers
    for one in seconds:
        until[until.index(min(until))] += one
    return max(until)


def table() -> str:
    """Return the table in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "|" + " --- |" * len(HEAD)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row(name)))} |" for name in names())])


def names() -> list[str]:
    """Return the experiments that have an archive, in the order of the chapters."""
    exists = {one.stem for one in RESULTS.glob("*.nc")}
    return [name for name in experiments.names() if name in exists]


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}")


if __name__ == "__main__":
    main()
