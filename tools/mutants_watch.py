"""A pytest plugin for `tools/mutants.py`: says which test runs, and ends what takes too long.

It is copied beside the tests of a mutant, and needs nothing but pytest. Processor time counts, not
that of the clock: the machine may have more to do. A test beyond its own limit is ended by a
signal, which stops a loop in compiled code, too; a session beyond its limit ends after a test.
"""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path

LOG = Path(os.environ["MUTANTS_LOG"])
LIMITS = json.loads(os.environ["MUTANTS_LIMITS"])  # seconds: "test" and "session"
CASES = json.loads(os.environ["MUTANTS_CASES"])  # "one": those to run "of" all that have a name


def note(what: str, name: str) -> None:
    """Append a line to the log."""
    with LOG.open("a") as log:
        log.write(json.dumps([what, name, time.process_time()]) + "\n")


def pytest_collection_modifyitems(config, items):
    """Leave out the cases of a test that are on another claim, or recipe, than was changed."""
    left = [
        item
        for item in items
        if hasattr(item, "callspec")
        and (name := item.callspec.id.partition(" ")[0]) in CASES["of"]
        and name not in CASES["one"]
    ]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_runtest_logstart(nodeid):
    """Say that a test begins, and give it its time."""
    note("runs", nodeid)
    until = int(time.process_time() + LIMITS["test"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def pytest_runtest_logfinish(nodeid):
    """Say that a test has ended."""
    note("ends", nodeid)


def pytest_runtest_logreport(report):
    """Say that a test fails."""
    if report.failed:
        note("fails", report.nodeid)


def pytest_runtest_teardown(item):
    """Begin no further test when the session has had its time."""
    if time.process_time() > LIMITS["session"]:
        item.session.shouldstop = "the session has had its time"
