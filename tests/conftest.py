"""What the tests of the book share: the pages, built once and served on 127.0.0.1."""

from __future__ import annotations

import gc
import gzip
import json
import os
import re
import subprocess
import sys
import threading
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import HealthCheck, settings

from tools import browser as chromium

gc.set_threshold(50_000, 50, 100)  # cycles are few in large trees of pages

ROOT = Path(__file__).resolve().parent.parent
# Before anything imports numba: one folder for the kernels of tests, chapters and subprocesses.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / "_build" / "numba"))
HTML = ROOT / "_build" / "html"

# `make test` draws the same few arguments each time, `make properties` new ones for long.
for name, count in {"quick": 100, "long": 10_000}.items():
    settings.register_profile(
        name,
        max_examples=count,
        derandomize=name == "quick",
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile("quick")

# A page of a book, with one cell of code to fill in.
PAGE = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---

# A page

```{code-cell} ipython3
%s
```
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> subprocess.CompletedProcess:
    """Build the book with warnings as errors; return how that ended and what it printed.

    One process of the run builds; the others wait, and read what it left. A build that ends with
    an error is told by a test of its own: what was built is looked at all the same.
    """
    from fcntl import LOCK_EX, flock

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # that of the whole run
    left = folder / "build.json"
    with (folder / "build.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not left.exists():
            done = build()
            log = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
            left.write_text(json.dumps([done.returncode, log]))
    status, log = json.loads(left.read_text())
    return subprocess.CompletedProcess("jupyter-book", status, log)


def build() -> subprocess.CompletedProcess:
    """Run the build of `make book`, with warnings as errors; it is told of no address."""
    subprocess.run([sys.executable, "-m", "wfmlib.book.lab.build"], cwd=ROOT, check=True)
    kept = {name: text for name, text in os.environ.items() if name != "WFMLIB_SITE"}
    return subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n", "--keep-going"],
        cwd=ROOT,
        env=kept | {"WFMLIB_DISPLAY": "static", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def html(built) -> Path:
    """Return the folder of the built pages."""
    if not (HTML / "index.html").exists():
        pytest.fail(f"there are no pages, since the build broke off:\n{built.stdout[-3000:]}")
    return HTML


@pytest.fixture(scope="session")
def pages(html) -> list[str]:
    """Return the address of every page of the table of contents, relative to the book."""
    return sorted(path.relative_to(html).as_posix() for path in html.glob("book/*.html"))


@cache
def parsed(file: Path) -> BeautifulSoup:
    """Return a built page as a tree that nobody changes: to make one takes seconds."""
    return BeautifulSoup(file.read_text(), "html.parser")


def transferred(html: Path, address: str) -> int:
    """Return the bytes of a file of the site on their way to a reader: text is compressed."""
    file = html / address.partition("?")[0].partition("#")[0].lstrip("/")
    packed = file.suffix in {".woff", ".woff2", ".png", ".jpg"}
    return file.stat().st_size if packed else len(gzip.compress(file.read_bytes(), 6))


def unwritten(page):
    """Leave formulas as TeX: to write those of a chapter takes a browser many seconds."""
    page.route(
        "**/mathjax/**", lambda route: route.fulfill(body="", content_type="text/javascript")
    )


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def server(html):
    """Serve the book on 127.0.0.1; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=html)) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium of the system; a run that must have it says so by environment."""
    executable = chromium.executable()
    if executable is None:
        if os.environ.get("WFMLIB_REQUIRE_BROWSER"):
            pytest.fail(chromium.MISSING)
        pytest.skip(chromium.MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=executable,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield running
        running.close()
