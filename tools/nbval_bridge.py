"""A pytest plugin: what nbval executed goes into jupyter-cache, and what it compared is counted.

nbval passes over a checked cell whose stored output it does not see: the run fails unless it
compared as many cells as there are references. A notebook whose cells ran, but printed something
else than what is stored, is kept as well: its failure is told, and the pages are built and looked
at all the same.
"""

from __future__ import annotations

import copy
from pathlib import Path

import nbformat
import nbval.kernel
import pytest
from jupyter_cache.base import CacheBundleIn
from nbval.plugin import IPyNbCell

from tools.notebooks import open_cache

COMPARED = "compared"  # what a report says of a cell


class Run:
    """One notebook on its way through nbval."""

    def __init__(self, notebook):
        self.notebook = copy.deepcopy(notebook)
        self.code = [cell for cell in self.notebook.cells if cell.cell_type == "code"]
        self.seconds = 0.0
        self.executed = 0


RUNS = pytest.StashKey[dict[Path, Run]]()


def pytest_addoption(parser):
    """Say where executed notebooks go, and how many cells are compared."""
    parser.addoption("--jupyter-cache", type=Path, help="store executed notebooks in this cache")
    parser.addoption("--references", type=int, help="fail unless so many cells were compared")


def pytest_configure(config):
    """Begin with nothing executed."""
    config.stash[RUNS] = {}
    nbval.kernel.start_new_kernel = start_kernel


def start_kernel(*arguments, start=nbval.kernel.start_new_kernel, **options):
    """Start a kernel, and once more where it does not answer: another process took its port."""
    try:
        return start(*arguments, **options)
    except RuntimeError:
        return start(*arguments, **options)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Collect the outputs of a cell; store the notebook after its last cell."""
    report = yield
    if isinstance(item, IPyNbCell) and call.when == "call":
        run = item.config.stash[RUNS].setdefault(item.path, Run(item.parent.nb))
        run.seconds += call.duration
        if report.passed or str(call.excinfo.value) == "Cell outputs differ":
            compared = item.options["check"] and item.cell.execution_count is not None
            report.user_properties.append((COMPARED, compared))
            run.executed += 1
            cell = run.code[item.cell_num]
            cell.outputs = [nbformat.from_dict(output) for output in item.test_outputs]
            cell.execution_count = item.cell_num + 1
            if run.executed == len(run.code):
                store(run, item.path, item.config.getoption("jupyter_cache"))
    return report


def store(run: Run, path: Path, folder: Path) -> None:
    """Put an executed notebook where the book build will find it."""
    for cell in run.code:
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
    bundle = CacheBundleIn(run.notebook, str(path), data={"execution_seconds": run.seconds})
    with open_cache(folder) as cache:
        cache.cache_notebook_bundle(bundle, overwrite=True)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Fail if another number of cells was compared than there are references."""
    if hasattr(session.config, "workerinput"):
        return
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = [report for some in terminal.stats.values() for report in some]
    all_properties = [dict(getattr(report, "user_properties", ())) for report in reports]
    compared = sum(properties.get(COMPARED, False) for properties in all_properties)
    wanted = session.config.getoption("references")
    terminal.write_line(f"\n{compared} of {wanted} checked cells were compared")
    if compared != wanted:
        session.exitstatus = 1
