"""How long a reader waits for the figures that compute in the page, in Chromium and in Firefox.

The pages are those of the built book (`make book`), opened as files in a fresh tab. Times are the
pages' own clock: `data-since` is when the first picture stood, counted from the navigation, and
`data-took` what the lines of the last move took.
"""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests import firefox
from tools import browser as chromium

HTML = Path(__file__).resolve().parent.parent / "_build" / "html" / "book"
FIGURE = "figure.wfm-slider:has(script.wfm-live)"
READY = f"!!document.querySelector('{FIGURE}[data-took]')"
MOVED = f"""(async () => {{
    const figure = document.querySelector('{FIGURE}');
    const range = figure.querySelector('input[type=range]');
    const [low, high] = [Number(range.min), Number(range.max)];
    const took = [];
    for (let i = 0; i < 40; i += 1) {{
        range.value = String(low + (0.618 * i % 1) * (high - low));
        range.dispatchEvent(new Event('input', {{ bubbles: true }}));
        took.push(Number(figure.dataset.took));
        await new Promise((done) => setTimeout(done, 20));
    }}
    return took;
}})()"""
EXACT = f"""(async () => {{
    const figure = document.querySelector('{FIGURE}');
    const range = figure.querySelector('input[type=range]');
    const settled = async () => {{
        while (!figure.dataset.told) await new Promise((done) => setTimeout(done, 5));
    }};
    await settled();
    const began = performance.now();
    range.value = String(Number(range.max));
    range.dispatchEvent(new Event('input', {{ bubbles: true }}));
    await settled();
    return performance.now() - began;
}})()"""
RUN = """(async () => {
    const figure = document.querySelector('figure.wfm-instance');
    [...figure.querySelectorAll('button')].find((one) => one.textContent === 'Run').click();
    while (!figure.dataset.took) await new Promise((done) => setTimeout(done, 20));
    return Number(figure.dataset.took);
})()"""


class Chromium:
    """Chromium of the system, as `firefox.Firefox` is used."""

    def __init__(self, path):
        self._started = sync_playwright().start()
        given = {"executable_path": path, "args": ["--no-sandbox", "--disable-gpu"]}
        self._browser = self._started.chromium.launch(**given)
        self.version = self._browser.version
        self._tab = None

    def goto(self, address):
        """Open an address in a new tab."""
        if self._tab:
            self._tab.close()
        self._tab = self._browser.new_page()
        self._tab.goto(address)

    def evaluate(self, script):
        """Return the value of an expression in the page, a promise awaited."""
        return self._tab.evaluate(script)

    def until(self, condition, seconds=60.0):
        """Wait until an expression is true in the page."""
        return firefox.Firefox.until(self, condition, seconds)

    def close(self):
        """End the browser."""
        self._browser.close()
        self._started.stop()


KINDS = {"chromium": (chromium, Chromium), "firefox": (firefox, firefox.Firefox)}


@pytest.fixture(scope="module", params=KINDS)
def tab(request):
    module, kind = KINDS[request.param]
    path = module.executable()
    if path is None:
        pytest.skip(module.MISSING)
    running = kind(path)
    yield running
    running.close()


def address(name):
    page = HTML / f"{name}.html"
    if not page.exists():
        pytest.skip("no built book: run `make book`")
    return page.as_uri()


@pytest.mark.parametrize("name", ["01_2_capacity", "02_2_minima"])
def test_figure(benchmark, tab, tell, name):
    def opened():
        tab.goto(address(name))
        tab.until(READY)

    benchmark.pedantic(opened, rounds=3, warmup_rounds=1)
    first = float(tab.evaluate(f"document.querySelector('{FIGURE}').dataset.since"))
    curve = statistics.median(tab.evaluate(MOVED))
    found = {"first": first, "curve": curve}
    if name == "02_2_minima":
        found["exact"] = float(tab.evaluate(EXACT))
    tell(f"{name}, version {tab.version}, milliseconds", **found)


def test_instance(benchmark, tab, tell):
    def run():
        tab.goto(address("instance"))
        tab.until("!!document.querySelector('figure.wfm-instance select')")
        return tab.evaluate(RUN)

    took = benchmark.pedantic(run, rounds=1)
    tell(f"focusing, version {tab.version}, milliseconds", run=float(took))
