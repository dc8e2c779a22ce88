"""The built site runs from its own address, where there is nothing of the book.

Part of `make site-test`: packages of others come from the package index, as they do for a reader.
"""

from __future__ import annotations

import nbformat
import pytest

from tests.conftest import HTML
from tests.site.elsewhere import Elsewhere, served
from tools import first_cell

# One that reads an archive, and one that reads nearly all.
PAGES = ("01_binary_perceptron", "scorecard")


@pytest.fixture(scope="module")
def site():
    """Serve the pages that `make book` built."""
    with served(HTML) as server:
        yield server


def test_the_lines_of_the_page_run_it(site, tmp_path):
    elsewhere = Elsewhere(tmp_path)
    elsewhere.install(f"wfmlib[book] @ {site.address}/{first_cell.WHEEL}")
    elsewhere.variables["WFMLIB_SITE"] = site.address
    for name in PAGES:
        ran, failed = elsewhere.execute(site.address, name)
        assert failed == []
        assert ran > 1
    fetched = {path for path in site.asked if path.endswith(".nc")}
    read = [(nbformat.read(elsewhere.work / f"{name}.ipynb", 4), name) for name in PAGES]
    named = {one for page in read for one in first_cell.archives(*page)}
    second = {"slow-growth"}  # of a claim, which names one: it comes when it is asked for
    assert fetched == {f"/files/archives/{name}.nc" for name in named | second}


def test_the_first_cell_of_a_notebook_installs_the_book(site, tmp_path):
    """As on a hub: there is a kernel, and nothing of the book."""
    elsewhere = Elsewhere(tmp_path)
    elsewhere.install("ipykernel", "nbclient")
    elsewhere.variables["WFMLIB_SITE"] = site.address
    _, failed = elsewhere.execute(site.address, PAGES[0])
    assert failed == []
    first = nbformat.read(elsewhere.work / f"{PAGES[0]}.ipynb", 4).cells[0]
    printed = "".join(output.get("text", "") for output in first.outputs)
    assert f"Installing wfmlib[notebook] @ {site.address}/files/wfmlib-" in printed
