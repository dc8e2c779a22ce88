"""A Sphinx extension: pages with a figure that computes load the kernels, and no other page does.

A figure says in its data which groups of kernels it calls (``data-kernels``), and its page loads
these. A module stands in a script, since a page that is opened as a file may fetch nothing.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Sphinx knows this folder only

from tools import wasm

MARK = 'class="wfm-live"'  # of the data of such a figure
#: The scripts of each kind of figure, by what its data are marked with.
FOLLOWED = 'class="wfm-followed"'
SCRIPTS = {
    MARK: ["live.js"],
    'class="wfm-instance-data"': ["instance.js"],
    FOLLOWED: ["live.js", "follow.js"],
}
CALLED = re.compile(r'data-kernels="([\w ]+)"')
FOLDER = "live"  # of the scripts, in _static


def write(app) -> None:
    """Put the kernels where pages find them; `make book` has compiled them."""
    if app.builder.format == "html":
        target = Path(app.outdir, "_static", FOLDER)
        target.mkdir(parents=True, exist_ok=True)
        for group in wasm.EXPORTS:
            shutil.copy(wasm.make() / f"kernels-{group}.js", target)


def load(app, pagename, templatename, context, doctree) -> None:
    """Have a page load the scripts if it needs them."""
    body = context.get("body", "")
    called = {group for found in CALLED.findall(body) for group in found.split()}
    needed = [script for mark, scripts in SCRIPTS.items() if mark in body for script in scripts]
    for script in [*(f"kernels-{group}.js" for group in sorted(called)), *dict.fromkeys(needed)]:
        app.add_js_file(f"{FOLDER}/{script}", loading_method="defer")


def setup(app):
    """Before the pages are written, and before `assets` joins what they load."""
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
