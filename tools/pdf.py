"""The whole book as a PDF, printed by Chromium from one page.

Solutions stand open, sliders as their static figure. What the pages fold away otherwise is left
out: the code that draws figures, and the claims at the end of a chapter, which the scorecard has.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tools import browser
from tools.notebooks import BUILD, ROOT

FOLDER = BUILD / "pdf" / "_build" / "singlehtml"
OUTPUT = BUILD / "wide-flat-minima.pdf"
STYLE = Path(__file__).with_name("pdf.css")
FOOT = (
    "<div style='font: 8px sans-serif; width: 100%; text-align: center'>"
    "<span class='pageNumber'></span></div>"
)

# Everything that a reader would have to open, and what is left to load, before it is printed.
PREPARE = """async () => {
    document.documentElement.dataset.theme = 'light';
    document.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));
    document.querySelectorAll('details').forEach(e => { e.open = true; });
    document.querySelectorAll('img[loading=lazy]').forEach(e => { e.loading = 'eager'; });
    await window.MathJax.startup.promise;
    await Promise.all([...document.images].map(e => e.decode().catch(() => {
        throw new Error('a figure is missing: ' + e.src);
    })));
}"""


def assemble() -> Path:
    """Build the book as one page, and return where it is.

    Sphinx writes it to the folder of the first chapter, with addresses relative to the one above,
    and takes other chapters for other pages in some of its links.
    """
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "--quiet"]
    command += ["--builder", "singlehtml", "--path-output", BUILD / "pdf"]
    environment = os.environ | {"WFMLIB_DISPLAY": "static"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    text = (FOLDER / "book" / "index.html").read_text("utf-8")
    page = FOLDER / "all.html"
    page.write_text(inside(text), "utf-8")
    return page


def inside(text: str) -> str:
    """Return the page with links to places of the book that stay on it."""
    text = re.sub(r'href="(?!\w+:)[^"#]*\.html#', 'href="#', text)
    return re.sub(r'href="(\w+)\.html"', r'href="#document-book/\1"', text)


def write(page: Path, output: Path) -> None:
    """Print a page that stands on this machine.

    Raises
    ------
    SystemExit
        If there is no Chromium.
    """
    executable = browser.executable()
    if executable is None:
        raise SystemExit(browser.MISSING)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        tab = chromium.new_page()
        tab.set_default_timeout(600_000)
        tab.goto(page.as_uri())
        tab.emulate_media(media="print", color_scheme="light")
        tab.add_style_tag(path=STYLE)
        tab.wait_for_function("window.MathJax?.startup?.promise")
        tab.evaluate(PREPARE)
        tab.pdf(
            path=output,
            format="A4",
            scale=0.8,  # or wide formulas do not fit
            margin={"top": "18mm", "bottom": "18mm", "left": "16mm", "right": "16mm"},
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOT,
            outline=True,
            tagged=True,
        )
        chromium.close()


def main() -> None:
    """Make the PDF."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    output = parser.parse_args().output
    print("Putting the book on one page ...")
    page = assemble()
    print("Printing takes some minutes ...")
    write(page, output)
    print(f"{output} ({output.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
