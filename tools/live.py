"""A Sphinx extension: pages with a figure that computes load the kernels, and no other page does.

A figure says in its data which groups of kernels it calls (``data-kernels``), and its page loads
these. A module stands in a script, since a page that is opened as a file may fetch nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Sphinx knows this folder only

from tools import wasm
from wfmlib.book.display import doors

MARK = 'class="wfm-live"'  # of the data of such a figure
FOLLOWED = 'class="wfm-followed"'  # of such a figure with several curves that a worker refines
#: The scripts of each kind of figure, by what its data are marked with.
SCRIPTS = {
    MARK: ["live.js"],
    'class="wfm-instance-data"': ["instance.js"],
    'class="wfm-calculator-data"': ["calculator.js"],
    FOLLOWED: ["live.js", "follow.js"],
}
#: What every page with kernels loads: `window.wfm.compute` answers for the group "typical" there.
COMPUTE = ("kernels-typical.js", "doors.js", "formula.js", "compute.js")
CALLED = re.compile(r'data-kernels="([\w ]+)"')
FOLDER = "live"  # of the scripts, in _static


def write(app) -> None:
    """Put the kernels where pages find them; `make book` has compiled them."""
    if app.builder.format == "html":
        target = Path(app.outdir, "_static", FOLDER)
        target.mkdir(parents=True, exist_ok=True)
        for group in wasm.EXPORTS:
            shutil.copy(wasm.make() / f"kernels-{group}.js", target)
        (target / "doors.js").write_text(table(), "utf-8")


def table() -> str:
    """Return the script that tells pages what they may compute."""
    return f"window.wfmDoors = {json.dumps(doors.told(), allow_nan=False)};\n"


def loaded(html: str) -> list[str]:
    """Return the scripts that a page needs to compute, in the order in which they run."""
    called = {group for found in CALLED.findall(html) for group in found.split()}
    kernels = sorted(f"kernels-{group}.js" for group in called)
    own = [script for mark, scripts in SCRIPTS.items() if mark in html for script in scripts]
    return list(dict.fromkeys([*kernels, *COMPUTE, *own])) if kernels else []


def load(app, pagename, templatename, context, doctree) -> None:
    """Have a page load the scripts if it needs them."""
    for script in loaded(context.get("body", "")):
        app.add_js_file(f"{FOLDER}/{script}", loading_method="defer")


def setup(app):
    """Before the pages are written, and before `assets` joins what they load."""
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
