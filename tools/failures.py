"""A pytest plugin: what failed goes into a file, for the summary of all parts at the end.

A cell of a chapter is told by its page, its number and its first line, and by the lines of its
output that differ: `tools/nbval_bridge.py` sends them along with the report, through processes.
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest

CELL = "cell"  # the name of what the bridge sends along
FOUND = pytest.StashKey[list]()
SHOWN = 6  # differing lines of a cell; the pytest output has them all


def pytest_addoption(parser):
    """Say where the list goes."""
    parser.addoption("--failures", type=Path, help="write what failed to this JSON file")


def pytest_configure(config):
    """Begin with nothing failed; a worker reports to the process that writes."""
    if config.getoption("failures") and not hasattr(config, "workerinput"):
        config.stash[FOUND] = []
        config.pluginmanager.register(Recorder(config), "failures")


class Recorder:
    """Collects what failed and writes it when the run ends."""

    def __init__(self, config):
        self.config = config

    def pytest_runtest_logreport(self, report):
        """Keep a failure or an error of a test."""
        if report.failed:
            cell = dict(report.user_properties).get(CELL)
            self.config.stash[FOUND].append({"name": report.nodeid, CELL: cell})

    def pytest_collectreport(self, report):
        """Keep a file that could not be collected."""
        if report.failed:
            self.config.stash[FOUND].append({"name": report.nodeid, CELL: None})

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        """Write the list: each name once, in the order of names."""
        found = {failure["name"]: failure for failure in self.config.stash[FOUND]}
        file = self.config.getoption("failures")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps([found[name] for name in sorted(found)], indent=1) + "\n")


def read(file: Path) -> list[dict]:
    """Return what a run wrote; nothing if it did not come to its end."""
    return json.loads(file.read_text()) if file.exists() else []


def text(outputs: list) -> str:
    """Return what an output says in text, without pictures."""
    parts = []
    for output in outputs:
        data = output.get("data", {})
        parts += [output["text"]] if "text" in output else []
        parts += [data[kind] for kind in sorted(data) if kind.startswith("text/")]
    return "\n".join("".join(part).rstrip("\n") for part in parts)


def differing_lines(stored: str, found: str) -> list[str]:
    """Return the lines that differ, those stored marked with -, those found with +."""
    lines = difflib.ndiff(stored.splitlines(), found.splitlines())
    return [line.rstrip() for line in lines if line[:2] in ("- ", "+ ")]


def lines(failures: list[dict]) -> list[str]:
    """Return the list in words: a line for each failure, and below it what differs."""
    said = []
    for failure in failures:
        cell = failure[CELL]
        if cell is None:
            said.append(failure["name"])
            continue
        said.append(f"{cell['page']}, cell {cell['number']}: {cell['source']}")
        shown = cell["differs"][:SHOWN]
        more = len(cell["differs"]) - len(shown)
        said += [f"    {line}" for line in shown]
        said += [f"    (and {more} more lines)"] if more else []
    return said
