"""What things cost: run the benchmarks of the table in `book/speed.md`, and write the table.

`tools/speed.toml` says which benchmark is in which row. `python -m tools.speed` measures, some
minutes on a quiet machine; `--from FILE` takes what pytest-benchmark wrote before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.notebooks import BOOK, ROOT
from wfmlib.book.runs import processor

PAGE = BOOK / "speed.md"
ROWS = Path(__file__).with_suffix(".toml")
NAMES = "-o", "python_files=bench_*.py", "-o", "python_functions=test_* bench_*"
BEGIN, END = "<!-- measured -->", "<!-- to here -->"


def groups() -> list[dict[str, Any]]:
    """Return the groups of rows."""
    return tomllib.loads(ROWS.read_text())["group"]


def asked(everything: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the benchmarks that the rows need, each once."""
    seen = set()
    for group in everything:
        for row in group["row"]:
            for one in (row, row.get("beside", {})):
                if "of" in one and one["of"] not in seen:
                    seen.add(one["of"])
                    yield one["of"]


def measure(names: list[str], path: Path) -> None:
    """Run benchmarks, one thread to each, and write pytest-benchmark's file.

    Raises
    ------
    SystemExit
        If one of them fails.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-n0", *NAMES, "--benchmark-only"]
    command.append(f"--benchmark-json={path}")
    done = subprocess.run([*command, *(f"benchmarks/{name}" for name in names)], cwd=ROOT)
    if done.returncode:
        raise SystemExit("a benchmark failed: the table is as it was")


def found(run: dict[str, Any], row: dict[str, Any], like: dict[str, Any]) -> float:
    """Return a row's number, in its unit; what a row does not say is as in the one beside."""
    if "value" in row:
        return float(row["value"])
    (one,) = (b for b in run["benchmarks"] if b["fullname"] == f"benchmarks/{row['of']}")
    number = row.get("number", like.get("number", "min"))
    value = one["stats"]["min"] if number == "min" else one["extra_info"][number]
    return float(value) / row.get("per", like.get("per", 1.0))


def measured(run: dict[str, Any], row: dict[str, Any]) -> bool:
    """Say whether a row has a number: a browser that is not there is not measured."""
    return "value" in row or any(
        one["fullname"] == f"benchmarks/{row['of']}" for one in run["benchmarks"]
    )


def table(run: dict[str, Any], group: dict[str, Any]) -> str:
    """Return the table of a group, in Markdown."""
    lines = ["| what | time | unit | beside it | its time | ratio |", "|" + " --- |" * 6]
    for row in group["row"]:
        ours, cells = found(run, row, row), ["", "", ""]
        if "beside" in row and measured(run, row["beside"]):
            other = found(run, row["beside"], row)
            cells = [row["beside"]["name"], digits(other), digits(ours / other)]
        lines.append(f"| {' | '.join([row['what'], digits(ours), row['unit'], *cells])} |")
    return "\n".join(lines)


def digits(value: float) -> str:
    """Return a time with two digits, as times are no better known."""
    places = 1 if value >= 1.0 else 3 if value < 0.1 else 2
    return f"{value:.0f}" if value >= 10.0 else f"{value:.{places}f}"


def written(run: dict[str, Any]) -> str:
    """Return what stands between the marks of the page."""
    parts = [conditions(run)]
    for group in groups():
        parts += [heading(group), table(run, group)]
    return "\n\n".join(parts)


def conditions(run: dict[str, Any]) -> str:
    """Return the sentence that says when and on what it was measured."""
    machine = run["machine_info"]
    return (
        f"Measured on {run['datetime'][:10]}: {machine['model']}, {machine['cores']} cores, "
        f"Python {machine['python_version']}, {machine['libraries']}; load average "
        f"{machine['load']:.1f} when it began."
    )


def heading(group: dict[str, Any]) -> str:
    """Return the heading of a group, and what must be said before its table."""
    said = f"\n\n{group['said']}" if "said" in group else ""
    return f"## {group['title']}{said}"


def replaced(page: str, run: dict[str, Any], group: dict[str, Any]) -> str:
    """Return the page with one group measured anew, under conditions of its own."""
    before, _, rest = page.partition(BEGIN)
    between, _, after = rest.partition(END)
    parts = re.split(r"^(?=## )", between, flags=re.MULTILINE)
    text = f"{heading(group)}\n\n{conditions(run)}\n\n{table(run, group)}\n\n"
    start = f"## {group['title']}\n"
    others = [part for part in parts if not part.startswith(start)]
    places = [i for i, part in enumerate(parts) if part.startswith(start)] or [len(parts)]
    others.insert(places[0], text)
    return f"{before}{BEGIN}{''.join(others)}{END}{after}"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="file", type=Path, metavar="FILE",
                        help="what pytest-benchmark wrote; nothing is measured")  # fmt: skip
    parser.add_argument("--only", metavar="TITLE", help="one group, others stay as they are")
    given = parser.parse_args()
    file, wanted = given.file, [g for g in groups() if given.only in (None, g["title"])]
    if not wanted:
        parser.error(f"no group is called {given.only!r}")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        if file is None:
            file = Path(folder, "run.json")
            measure(list(asked(wanted)), file)
        run = json.loads(file.read_text())
    machine = run["machine_info"]
    machine.setdefault("load", load)
    machine.update(model=processor(), cores=os.cpu_count(), libraries=libraries())
    if given.only:
        PAGE.write_text(replaced(PAGE.read_text(), run, wanted[0]))
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{written(run)}\n\n{END}{after}")


def libraries() -> str:
    """Return the versions that times depend on."""
    import numba
    import numpy as np
    import scipy

    return f"NumPy {np.__version__}, SciPy {scipy.__version__}, numba {numba.__version__}"


if __name__ == "__main__":
    main()
