"""The first cell of a downloaded notebook: it installs what is missing and fetches archives.

Everything comes from the site of the book, whose address is the environment's WFMLIB_SITE, or
else from the folder of a handout, or else from the address that the build was given. Nothing is
installed where it is already there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from nbformat.v4 import new_code_cell

from wfmlib import __version__
from wfmlib.book import claims, experiments

ID = "from-the-site"
FILES = "files/"  # of the site, as `wfmlib.book.experiments` has it
WHEEL = f"{FILES}wfmlib-{__version__}-py3-none-any.whl"
QUOTED = re.compile(r"[\"']([a-z0-9-]+)[\"']")
# What JupyterLab and Colab need to show the cell folded; the tag is that of the pages.
FOLDED = {
    "tags": ["hide-input"],
    "jupyter": {"source_hidden": True},
    "cellView": "form",
}

SOURCE = """\
# @title From the book's site: what is missing here, and archived results
import importlib, importlib.util, os, pathlib, subprocess, sys, sysconfig

site = os.environ.get("WFMLIB_SITE") or "{site}"  # its address, or its folder
package = "{wheel}"
if not os.environ.get("WFMLIB_SITE") and os.path.exists(package):
    site = "."  # handed out with the notebook


def missing():
    needed = ({needed})
    return ", ".join(one for one in needed if not importlib.util.find_spec(one))


if missing() and not site:
    raise ModuleNotFoundError(
        f"not installed here: {{missing()}}. Say where the book's site is, at an address "
        "or in a folder, in a cell above: %env WFMLIB_SITE=https://..."
    )
if missing():
    managed = pathlib.Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists()
    if sys.version_info < (3, 11):
        raise RuntimeError(f"needs Python 3.11 or newer, here is {{sys.version[:6]}}")
    if not importlib.util.find_spec("pip"):
        raise RuntimeError(f"no pip here: run '{{sys.executable}} -m ensurepip' once")
    if managed and sys.prefix == sys.base_prefix:
        raise RuntimeError(
            "the system keeps this Python as it is. Make an environment, 'python3 -m "
            "venv wfm', in it 'wfm/bin/python -m pip install jupyterlab', start there"
        )
    base = site if "://" in site else pathlib.Path(site).resolve().as_uri()
    wheel = f"wfmlib[{extras}] @ {{base.rstrip('/')}}/{{package}}"
    print("Installing", wheel)
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", wheel])
    importlib.invalidate_caches()
    if missing():
        raise ModuleNotFoundError(
            f"not installed here: {{missing()}}. pip could not get it (see above); it "
            f"needs the book's site, {{site}}, and the index of Python packages, once"
        )
"""
KNOWN = """\
if site:
    os.environ.setdefault("WFMLIB_SITE", site)
"""
FETCH = """\
from wfmlib.book import experiments

experiments.fetch({names})
"""


def site() -> str:
    """Return the address that the build was given; empty where it was given none."""
    chosen = os.environ.get("WFMLIB_SITE", "").strip()
    return chosen.rstrip("/") + "/" if chosen else ""


def archives(notebook, stem: str) -> list[str]:
    """Return the archives that a notebook reads: those it names, and those of its claims.

    A chapter checks the claims of its number, any other page may ask for all.
    """
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    names = set(QUOTED.findall(code)) & set(experiments.names())
    if "claims." in code:
        number = re.match(r"(\d\d)_", stem)
        chapter = int(number[1]) if number else None
        asked = [claim for claim in claims.load() if chapter in (None, claim.chapter)]
        names |= {claim.archive for claim in asked if claim.archive}
    return sorted(names)


def cell(notebook, stem: str, more: Iterable[str] = ()):
    """Return the first cell of a notebook, which fetches its archives, and more."""
    needed, extras = '"wfmlib", "matplotlib", "ipywidgets"', "notebook"
    if any("from sklearn" in one.source for one in notebook.cells):
        needed, extras = f'{needed}, "sklearn"', "notebook,sklearn"
    source = SOURCE.format(site=site(), wheel=WHEEL, needed=needed, extras=extras)
    names = sorted({*archives(notebook, stem), *more})
    if names:
        lines = "".join(f'\n    "{name}",' for name in names)
        source += KNOWN + FETCH.format(names=lines + "\n")
    return new_code_cell(source.rstrip("\n"), id=ID, metadata=FOLDED)


def put(notebook, stem: str, more: Iterable[str] = ()) -> None:
    """Put the cell in front of a notebook."""
    notebook.cells.insert(0, cell(notebook, stem, more))
    # Cells have ids from here on.
    notebook.nbformat, notebook.nbformat_minor = 4, max(5, notebook.nbformat_minor)
