"""The picture that a link to the book shows elsewhere: its title, and the front page's figure.

`python -m tools.card` draws it from `book/_static/solutions.svg` to `book/_static/card.png` (needs
Chromium). It is run by hand, when the figure or the title has changed.
"""

from __future__ import annotations

import base64

from playwright.sync_api import sync_playwright

from tools import browser
from tools.notebooks import BOOK

SIZE = {"width": 1200, "height": 630}
PAGE = """\
<body style="margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 36px 60px;
 font-family: 'DejaVu Sans', sans-serif; color: #222832; background: white">
<div style="font-size: 58px">Wide Flat Minima</div>
<div style="font-size: 25px; margin: 10px 0 6px">The theory of three papers, derived, computed and
checked</div>
<img src="data:image/svg+xml;base64,%s" style="display: block; height: 450px; margin: 0 auto">
"""


def main() -> None:
    """Draw the picture."""
    figure = base64.b64encode((BOOK / "_static" / "solutions.svg").read_bytes()).decode()
    executable = browser.executable()
    if executable is None:
        raise SystemExit(browser.MISSING)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = chromium.new_page(viewport=SIZE)
        page.set_content(PAGE % figure, wait_until="load")
        page.screenshot(path=BOOK / "_static" / "card.png")
        chromium.close()


if __name__ == "__main__":
    main()
