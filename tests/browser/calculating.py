"""A page with a figure that computes, and what tests of it share."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import numpy as np

from tests.browser.test_slider import THEMES
from tools import live, policy, wasm
from tools.notebooks import ROOT
from wfmlib import Perceptron
from wfmlib.book import display
from wfmlib.theory import typical

PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<title>Figure</title><meta name="viewport" content="width=device-width, initial-scale=1">
<style>{themes}</style>{scripts}
</head><body><main><h1>Figure</h1>{figure}</main></body></html>"""


@cache
def figure():
    """Return the figure of the page."""
    loads = np.linspace(0.0, 1.0, 51)
    found = typical.curve(Perceptron(), loads)
    return display.calculator(
        [
            display.Curve("overlap q", loads, found.q),
            display.Curve("entropy φ", loads, found.entropy),
            display.Curve("replicon", loads, found.replicon, line="unstable"),
            display.Rule("capacity", typical.capacity(Perceptron())),
            display.Rule("the load below", 0.5),
        ],
        margin=0.0,
        load=0.5,
        xlabel="load α",
        ylabel="overlap, entropy, replicon",
        alt="Three curves against the load.",
    )


def write(folder: Path, theme: str = "light", html: str = "", name: str = "page") -> str:
    """Write and return the page of a figure, by default the calculator's, with what it loads."""
    html = html or figure().html()
    scripts = live.loaded(html)
    for script in scripts:
        made = ROOT / "book" / "_static" / "live" / script
        if script.startswith("kernels-"):
            made = wasm.make() / script
        if script == "doors.js":
            (folder / script).write_text(live.table(), "utf-8")
        else:
            shutil.copy(made, folder)
    tags = "\n".join(f'<script src="{one}" defer></script>' for one in scripts)
    given = {"theme": theme, "themes": THEMES, "scripts": tags, "figure": html}
    page = policy.protected(PAGE.format(**given))
    (folder / f"{name}.html").write_text(page, "utf-8")
    return page
