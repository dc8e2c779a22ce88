"""How long the calculator takes to its first picture, and to a new curve, in Chromium.

From a file: no network has a part in it. `measured` is for the table of pages.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import calculating
from tools import browser as chromium

CURVES = 20
# What the page says of its own last change, in milliseconds.
TOOK = "Number(document.querySelector('figure').dataset.took)"
SINCE = """new Promise((done) => {
    const figure = document.querySelector('figure');
    const look = () => (figure.dataset.told ? done(performance.now()) : setTimeout(look, 1));
    look();
})"""
MOVE = """(value) => {
    const range = document.querySelector('figure input[type=range]');
    range.value = String(value);
    range.dispatchEvent(new Event('input', {bubbles: true}));
}"""


def measured() -> dict[str, float]:
    """Return milliseconds: from the address to the first picture, and to a new curve.

    Curves are those of a new margin, by kind of activation, medians of `CURVES`; and of a new
    activation, sampled anew.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        calculating.write(Path(folder))
        executable = chromium.executable()
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{Path(folder).as_uri()}/page.html", wait_until="commit")
        page.locator("figure.wfm-calculator").wait_for(state="attached")
        found["first picture"] = page.evaluate(SINCE)
        for kind in ("none", "relu", "tanh", "drawn"):
            page.evaluate("document.querySelector('figure').removeAttribute('data-told')")
            if kind != "none":
                page.get_by_label("hidden units").select_option(kind)
                page.locator("figure[data-told]").wait_for()
                found[f"new activation, {kind}"] = page.evaluate(TOOK)
            took = []
            for k in range(CURVES):
                page.evaluate(MOVE, k / CURVES)
                took.append(page.evaluate(TOOK))
            found[f"new margin, {kind}"] = statistics.median(took)
        browser.close()
    return found


def bench_calculator(benchmark):
    """Open the calculator, and change its margin and its activation."""
    benchmark.extra_info.update(benchmark.pedantic(measured, rounds=1))
