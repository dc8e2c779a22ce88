"""The whole book as a PDF, printed by Chromium from one page, with numbers of pages.

`tools/paper.py` makes a book of the page. It is printed once to learn on which page everything
comes to stand, the numbers are filled in, and it is printed again until none of them moves.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import yaml
from playwright.sync_api import Page, sync_playwright

from tools import bookmarks, browser, paper, site_meta, title_page
from tools.notebooks import BUILD, ROOT

FOLDER = BUILD / "pdf" / "_build" / "singlehtml"
OUTPUT = BUILD / "wide-flat-minima.pdf"
STYLE = Path(__file__).with_name("pdf.css")
PASSES = 5

# What is left to load before it is printed.
PREPARE = """async () => {
    document.querySelectorAll('img[loading=lazy]').forEach(e => { e.loading = 'eager'; });
    await window.MathJax?.startup.promise;
    await document.fonts.ready;
    await Promise.all([...document.images].map(e => e.decode().catch(() => {
        throw new Error('a figure is missing: ' + e.src);
    })));
}"""
# The lines of the contents: level, title and place.
CONTENTS = """attribute => [...document.querySelectorAll(`[${attribute}]`)].map(e =>
    [+e.className.at(-1), e.getAttribute(attribute), e.getAttribute('href').slice(1)])"""
# Fill in the numbers; the places that have none are returned.
NUMBER = """([attribute, pages]) => {
    const places = [...document.querySelectorAll(`[${attribute}]`)];
    for (const one of places) one.textContent = pages[one.getAttribute(attribute)] ?? '';
    return places.map(one => one.getAttribute(attribute)).filter(one => !(one in pages));
}"""


def assemble(api: bool) -> Path:
    """Build the book as one page, make a book of it, and return where it is.

    Sphinx writes it to the folder of the first chapter, with addresses relative to the one above.
    """
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "--quiet"]
    command += ["--builder", "singlehtml", "--path-output", BUILD / "pdf"]
    environment = os.environ | {"WFMLIB_DISPLAY": "static"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    text = (FOLDER / "book" / "index.html").read_text("utf-8")
    page = FOLDER / "all.html"
    parts = paper.parts(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    text = paper.typeset(text, parts, api=api, site=site_meta.address())
    page.write_text(text, "utf-8")
    return page


def write(page: Path, output: Path) -> list[tuple[int, str, str]]:
    """Print a page that stands on this machine; return the lines of its contents.

    Raises
    ------
    SystemExit
        If there is no Chromium, or the numbers of the pages do not settle.
    """
    executable = browser.executable()
    if executable is None:
        raise SystemExit(browser.MISSING)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        tab = chromium.new_page()
        tab.set_default_timeout(600_000)
        tab.goto(page.as_uri())
        lines = print_page(tab, output)
        chromium.close()
    return lines


def print_page(tab: Page, output: Path) -> list[tuple[int, str, str]]:
    """Print the page that is open; return the lines of its contents: level, title and place."""
    tab.emulate_media(media="print", color_scheme="light")
    tab.add_style_tag(path=STYLE)
    tab.evaluate(PREPARE)
    settle(tab, output)
    return tab.evaluate(CONTENTS, paper.OUTLINE)


def settle(tab: Page, output: Path) -> None:
    """Print until the numbers that are printed are those of the pages."""
    printed: dict[str, int] = {}
    for _ in range(PASSES):
        tab.pdf(path=output, prefer_css_page_size=True, scale=0.8, tagged=True)
        found = bookmarks.pages(output)
        if found == printed:
            return
        if missing := tab.evaluate(NUMBER, [paper.PAGE_OF, found]):
            raise SystemExit(f"places without a page: {', '.join(missing[:5])}")
        printed = found
    raise SystemExit(f"the numbers of the pages still move after {PASSES} times")


def main() -> None:
    """Make the PDF."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    parser.add_argument("--api", action="store_true", help="with the API reference")
    arguments = parser.parse_args()
    output = arguments.output
    print("Putting the book on one page ...")
    page = assemble(arguments.api)
    print("Printing takes some minutes ...")
    count = bookmarks.add(output, write(page, output), title_page.about())
    print(f"{output} ({count} pages, {output.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
