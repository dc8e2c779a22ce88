"""A pytest plugin: what nbval executed goes into jupyter-cache, and what it compared is counted.

The count is left in a file beside the notebook: several processes may share the notebooks, and
the tests of the book run after them, in processes of their own. A notebook whose cells ran, but
printed something else than what is stored, is kept as well: its failure is told, and the pages are
built and looked at all the same. What differs goes with the report of the cell.

It leans on three attributes of nbval's cells (`cell`, `options`, `test_outputs`) and on a message;
a test of the machinery on a toy notebook fails should they change.
"""

from __future__ import annotations

import copy
from pathlib import Path

import nbformat
import pytest
from nbval.plugin import IPyNbCell

from tools import executions, failures
from tools.notebooks import compared_file, open_cache

RUNS = pytest.StashKey[dict]()


class Run:
    """One notebook on its way through nbval."""

    def __init__(self, notebook):
        self.notebook = copy.deepcopy(notebook)
        self.code = [cell for cell in self.notebook.cells if cell.cell_type == "code"]
        self.seconds = 0.0
        self.executed = 0
        self.compared = 0


def pytest_addoption(parser):
    """Say where executed notebooks go."""
    parser.addoption("--jupyter-cache", type=Path, help="store executed notebooks in this cache")


def pytest_configure(config):
    """Begin with nothing executed."""
    config.stash[RUNS] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Collect the outputs of a cell; store the notebook after its last cell."""
    report = yield
    if isinstance(item, IPyNbCell) and call.when == "call":
        runs = item.config.stash[RUNS]
        run = runs.setdefault(item.path.stem, Run(item.parent.nb))
        run.seconds += call.duration
        differs = report.failed and str(call.excinfo.value) == "Cell outputs differ"
        if report.failed:
            report.user_properties.append((failures.CELL, story(item, call, differs)))
        if report.passed or differs:
            run.executed += 1
            run.compared += bool(item.options["check"] and item.cell.execution_count is not None)
            cell = run.code[item.cell_num]
            cell.outputs = [nbformat.from_dict(output) for output in item.test_outputs]
            cell.execution_count = item.cell_num + 1
            cache = item.config.getoption("jupyter_cache")
            if run.executed == len(run.code):
                compared_file(item.path).write_text(f"{run.compared}\n")
                if cache:
                    store(run, item.path, cache)
    return report


def story(item: IPyNbCell, call: pytest.CallInfo, differs: bool) -> dict:
    """Return what a reader wants to know of a cell that failed."""
    if differs:
        stored, found = failures.text(item.cell.outputs), failures.text(item.test_outputs)
        told = failures.differing_lines(stored, found)
    else:
        errors = [one for one in item.test_outputs or () if one.output_type == "error"]
        told = [f"{one.ename}: {one.evalue}" for one in errors] or [str(call.excinfo.value)]
    first = next(iter(item.cell.source.splitlines()), "")
    return {"page": item.path.stem, "number": item.cell_num, "source": first, "differs": told}


def store(run: Run, path: Path, folder: Path) -> None:
    """Put an executed notebook where the book build will find it."""
    for cell in run.code:
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
    with open_cache(folder) as cache:
        executions.keep(cache, run.notebook, str(path), run.seconds)
