"""Tables of `book/speed.md`: the times and memory that `make bench` measured.

`python -m tools.speed FILE` reads what pytest-benchmark wrote. A benchmark keeps with its time
which row of which table it is in, and what stands beside.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HEAD = "| what | time | unit | beside it | its time | ratio |\n|" + " --- |" * 6


def number(benchmark: dict[str, Any]) -> float:
    """Return the time of a benchmark in its unit: its own seconds, or the shortest round."""
    extra = benchmark["extra_info"]
    seconds = extra["seconds"] if "seconds" in extra else benchmark["stats"]["min"]
    return float(seconds / extra.get("per", 1.0))


def digits(value: float) -> str:
    """Return a time with two digits, as times are no better known."""
    places = 1 if value >= 1.0 else 3 if value < 0.1 else 2
    return f"{value:.0f}" if value >= 10.0 else f"{value:.{places}f}"


def line(same: list[dict[str, Any]]) -> str:
    """Return a row, of the benchmarks that measured it: ours, and perhaps one beside."""
    (ours,) = (benchmark for benchmark in same if not benchmark["extra_info"]["beside"])
    extra = ours["extra_info"]
    comparisons = [
        (benchmark["extra_info"]["beside"], number(benchmark))
        for benchmark in same
        if benchmark is not ours
    ]
    cells = [extra["what"], digits(number(ours)), extra["unit"], "", "", ""]
    for name, value in [extra["quoted"]] if extra.get("quoted") else comparisons:
        cells[3:] = name, digits(value), digits(number(ours) / value)
    return f"| {' | '.join(cells)} |"


def tables(run: dict[str, Any]) -> str:
    """Return all tables in Markdown, under the sentence that says what they were measured on."""
    machine = run["machine_info"]
    parts = [
        f"Measured on {run['datetime'][:10]}: {machine['cpu'].get('brand_raw', 'processor')}, "
        f"{machine['cores']} cores, Python {machine['python_version']}, {machine['libraries']}; "
        f"load average {machine['load']:.1f} when it began."
    ]
    groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for benchmark in run["benchmarks"]:
        rows = groups.setdefault(benchmark["group"], {})
        rows.setdefault(benchmark["extra_info"]["what"], []).append(benchmark)
    for title, rows in groups.items():
        parts += [f"## {title}", "\n".join([HEAD, *map(line, rows.values())])]
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(tables(json.loads(Path(sys.argv[1]).read_text())))
