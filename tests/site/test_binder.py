"""The environment of `binder/`, made from it alone, runs a notebook downloaded from its page.

Part of `make site-test`: it installs all that a reader needs, and takes minutes.
"""

from __future__ import annotations

import shutil
import subprocess

import nbformat

from tests.conftest import HTML, ROOT
from tests.site.elsewhere import Elsewhere, served

SOURCES = ("binder", "wfmlib", "tools", "book/results", "requirements.txt", "pyproject.toml")


def test_binder_runs_a_downloaded_notebook(tmp_path):
    """What repo2docker does with `binder/`: its requirements, then its script, elsewhere."""
    checkout = tmp_path / "checkout"
    for name in (*SOURCES, "README.md", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, checkout / name)
    elsewhere = Elsewhere(tmp_path / "elsewhere")
    elsewhere.install("-r", checkout / "binder" / "requirements.txt")
    script = checkout / "binder" / "postBuild"
    subprocess.run([script], env=elsewhere.variables, cwd=checkout, check=True)
    settings = "etc/jupyter/labconfig/default_setting_overrides.json"
    assert (elsewhere.bin.parent / settings).exists()

    shutil.rmtree(checkout)  # the notebook must not find the sources
    with served(HTML) as server:
        elsewhere.variables["WFMLIB_SITE"] = server.address
        ran, failed = elsewhere.execute(server.address, "index")
        assert not [path for path in server.asked if path.endswith(".whl")], "nothing was missing"
    assert (ran > 3, failed) == (True, [])
    notebook = nbformat.read(elsewhere.work / "index.ipynb", as_version=4)
    assert any(cell.get("outputs") for cell in notebook.cells)
