"""The environment of `binder/`, made from it alone, runs a notebook downloaded from its page."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv

import nbformat

from tests.conftest import ROOT

RUN = """
import sys, nbformat, nbclient
notebook = nbformat.read(sys.argv[1], as_version=4)
for cell in notebook.cells:
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""


def test_binder_runs_a_downloaded_notebook(html, tmp_path):
    """What repo2docker does with `binder/`: its requirements, then its script, elsewhere."""
    checkout, work = tmp_path / "checkout", tmp_path / "work"
    work.mkdir()
    sources = ("binder", "wfmlib", "tools", "requirements.txt", "pyproject.toml", "README.md")
    for name in (*sources, "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, checkout / name)
    venv.create(tmp_path / "env", with_pip=True)
    bin = tmp_path / "env" / "bin"
    ours = ("PYTHON", "VIRTUAL_ENV", "WFMLIB", "JUPYTER", "NUMBA", "PYTEST")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    environment |= {"PATH": f"{bin}:/usr/bin:/bin", "NUMBA_CACHE_DIR": str(tmp_path / "numba")}

    def run(*command, cwd=checkout):
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    run(bin / "python", "-m", "pip", "install", "-qq", "-r", "binder/requirements.txt")
    run("binder/postBuild")
    assert (tmp_path / "env/etc/jupyter/labconfig/default_setting_overrides.json").exists()

    shutil.rmtree(checkout)  # the notebook must not find the sources
    notebook = work / "index.ipynb"
    shutil.copy(html / "_sources" / "book" / notebook.name, notebook)
    run(bin / "python", "-c", RUN, notebook, cwd=work)
    code = [c for c in nbformat.read(notebook, as_version=4).cells if c.cell_type == "code"]
    assert any(cell.outputs for cell in code)
    assert all(cell.execution_count for cell in code)
