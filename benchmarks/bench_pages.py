"""How long a reader with 1.6 Mbit/s waits for a page: the front page 5 s, a chapter 8 s.

Chromium's own emulation of a slow network (150 ms a round trip), an empty cache, and a server that
compresses text, as those of the web do. The time ends when all formulas of the page are set. It
needs the built book (`make book`).
"""

from __future__ import annotations

import gzip
import threading
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tools import browser as chromium

HTML = Path(__file__).resolve().parent.parent / "_build" / "html"
RATE = 1.6e6 / 8  # bytes in a second
ROUND_TRIP = 150  # ms
PROMISED = {"index": 5.0, "02_cross_entropy": 8.0, "07_message_passing": 8.0}  # seconds
READY = "window.MathJax?.startup?.promise"


@cache
def compressed(path: str) -> bytes:
    """Return a file as it goes over the network."""
    return gzip.compress(Path(path).read_bytes(), 6)


class Compressing(SimpleHTTPRequestHandler):
    """Serves files, those of text compressed, over connections that stay open."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """Send a file."""
        path = Path(self.translate_path(self.path))
        if path.suffix not in {".html", ".css", ".js", ".svg"} or not path.is_file():
            super().do_GET()
            return
        body = compressed(str(path))
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def server():
    if not (HTML / "index.html").exists():
        pytest.skip("no built book: run `make book`")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Compressing, directory=HTML)) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="module")
def browser():
    executable = chromium.executable()
    if executable is None:
        pytest.skip(chromium.MISSING)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu"]
        )
        yield running
        running.close()


@pytest.mark.parametrize("name", PROMISED)
def test_a_page_over_a_slow_network(benchmark, browser, server, name):
    def opened():
        page = browser.new_context().new_page()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        conditions = {"downloadThroughput": RATE, "uploadThroughput": RATE, "latency": ROUND_TRIP}
        session.send("Network.emulateNetworkConditions", {"offline": False, **conditions})
        return (page,), {}

    def load(page):
        page.goto(f"{server}/book/{name}.html", wait_until="load")
        page.evaluate(READY)
        benchmark.extra_info["first text (s)"] = first_paint(page)
        page.context.close()

    benchmark.extra_info["promised (s)"] = PROMISED[name]
    benchmark.pedantic(load, setup=opened, rounds=3)


def first_paint(page) -> float:
    """Return when the first text stood, in seconds."""
    (entry,) = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint').map(one => one.startTime)"
    )
    return entry / 1e3
