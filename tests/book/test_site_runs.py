"""A downloaded notebook installs what it needs from the site, and runs, where nothing was there.

`make site-test` does it with every notebook. This one asks for every claim, so that it reads
nearly all archives.
"""

from __future__ import annotations

import re

import nbformat

from tests.conftest import HTML
from tools import first_cell, site_test, validate

NAME = "scorecard"
COUNTED = re.compile(r"<p>(\d+ claims: .*?)</p>")


def text(cell) -> str:
    return "\n".join(str(output.get("text", "")) for output in cell.outputs)


def counted(notebook) -> str:
    """Return the line above the scorecard, which also names archives that are missing."""
    shown = [
        out.data for cell in notebook.cells for out in cell.get("outputs", []) if "data" in out
    ]
    (line,) = [one for data in shown for one in COUNTED.findall(data.get("text/html", ""))]
    return line


def test_a_downloaded_notebook_installs_and_runs(html, tmp_path):
    with site_test.served(HTML) as server:
        # What is computed on the page, and read from no archive, need not be computed again.
        known = {"WFMLIB_ANSWERS": str(validate.ANSWERS)}
        elsewhere = site_test.Elsewhere(tmp_path, WFMLIB_SITE=server.address, **known)
        elsewhere.install("ipykernel", "nbclient")
        ran, failed = elsewhere.execute(server.address, NAME)
    assert failed == []
    notebook = nbformat.read(elsewhere.work / f"{NAME}.ipynb", as_version=4)
    first, *code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert ran == len(code) + 1
    assert first.id == first_cell.ID
    assert f"Installing wfmlib[notebook] @ {server.address}/files/wfmlib-" in text(first)
    assert server.asked.count(f"/{first_cell.WHEEL}") == 1
    wanted = {f"/files/archives/{name}.nc" for name in first_cell.archives(notebook, NAME)}
    asked = [path for path in server.asked if path.endswith(".nc")]
    assert sorted(asked) == sorted(wanted), "each archive once, and no other"
    # The same verdicts as on the page, which was made in a checkout.
    page = nbformat.read(html / "_sources" / "book" / f"{NAME}.ipynb", as_version=4)
    assert counted(notebook) == counted(page)
