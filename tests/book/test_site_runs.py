"""A downloaded notebook installs the wheel from the site, and runs, with what the wheel asks for.

`make site-test` does it with every notebook, where nothing was there, with packages from the
index. This one asks for every claim, so that it reads nearly all archives. Packages of others are
those of this environment, but only what the wheel says that it needs.
"""

from __future__ import annotations

import re
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement

from tests.conftest import HTML, ROOT
from tools import first_cell, site_test

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


def needs(wheel: Path) -> list[str]:
    """Return what a wheel says that it needs for notebooks."""
    (told,) = (one for one in zipfile.Path(wheel).iterdir() if one.name.endswith(".dist-info"))
    lines = map(Requirement, PathDistribution(told).requires)
    return [
        f"{line.name}[{','.join(line.extras)}]" if line.extras else line.name
        for line in lines
        if not line.marker or line.marker.evaluate({"extra": "notebook"})
    ]


def test_what_is_lent_is_what_is_needed(tmp_path):
    """A package that the wheel forgot would be missing, with an extra that nobody asked for."""
    names = {one.name.lower() for one in site_test.needed(["nbclient"])}
    assert {"nbclient", "nbformat", "traitlets"} <= names
    assert not {"numpy", "wfmlib", "pytest"} & names
    assert "sphinx" not in names
    assert "ipykernel" in {one.name.lower() for one in site_test.needed(["wfmlib[book]"])}
    elsewhere = site_test.Elsewhere(tmp_path)
    elsewhere.lend("packaging")
    found = elsewhere.run("python", "-m", "pip", "list", "--format=freeze").split()
    assert sorted(one.partition("==")[0] for one in found)[:2] == ["packaging", "pip"]
    with pytest.raises(RuntimeError, match="No module named 'numpy'"):
        elsewhere.run("python", "-c", "import packaging, numpy")


def test_a_downloaded_notebook_installs_and_runs(html, tmp_path):
    with site_test.served(HTML) as server:
        # What is computed on the page, and read from no archive, need not be computed again.
        known = {"WFMLIB_ANSWERS": str(ROOT / "_build" / "answers"), "PIP_NO_INDEX": "1"}
        elsewhere = site_test.Elsewhere(tmp_path, WFMLIB_SITE=server.address, **known)
        elsewhere.lend("ipykernel", "nbclient", *needs(html / first_cell.WHEEL))
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
