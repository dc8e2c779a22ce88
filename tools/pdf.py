"""The printed book: the built pages on one page, printed by Chromium to one PDF.

What only a site can show is left out: the downloads, the gallery and the API reference, and what
the pages fold away, which is the code that draws figures and the claims that the scorecard has.
Solutions move to the end. It is printed twice: first to learn on which page each chapter stands.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from posixpath import join, normpath

import yaml
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import sync_playwright
from pypdf import PdfReader

from tools import browser, numbering
from tools.notebooks import BUILD, ROOT

HTML = BUILD / "html"
OUTPUT = BUILD / "wide-flat-minima.pdf"
STYLE = Path(__file__).with_suffix(".css")
SITE_ONLY = ("book/downloads", "book/gallery", "book/api/")
LEFT_OUT = (
    "details.above-input, details.below-input, details > summary, .headerlink, button, "
    "script:not(.wfm-slider > script)"
)
READY = """async () => {
    document.querySelectorAll('img[loading=lazy]').forEach(e => { e.loading = 'eager'; });
    await MathJax.startup.promise;
    await document.fonts.ready;
    await Promise.all([...document.images].map(e => e.decode()));
}"""
# A slider stands as it begins, in the middle and at its end.
FRAMES = """() => document.querySelectorAll('.wfm-slider:has(> script[type])').forEach(slider => {
    const range = slider.querySelector('input[type=range]');
    const frames = document.createElement('div');
    frames.className = 'wfm-frames';
    for (const share of new Set([0, Math.round(range.max / 2), range.max].map(Number))) {
        range.value = share;
        range.dispatchEvent(new Event('input', {bubbles: true}));
        frames.append(slider.cloneNode(true));
    }
    slider.replaceWith(frames);
})"""
NUMBER = """pages => document.querySelectorAll('#contents a').forEach(e => {
    e.lastChild.textContent = pages[decodeURIComponent(e.hash.slice(1))] ?? '';
})"""


def place(page: str, anchor: str = "") -> str:
    """Return the name of a place: on one page those of all pages stand together."""
    return f"{page}--{anchor}".replace("/", "-") if anchor else page.replace("/", "-")


def chapter(page: str, below: bool, known: set[str], html: Path = HTML) -> Tag:
    """Return the text of a page, with names and links as on one page; a lecture is a section."""
    soup = BeautifulSoup((html / f"{page}.html").read_text("utf-8"), "html.parser")
    section = soup.find("article")
    for tag in section.select(LEFT_OUT):
        tag.decompose()
    section.name, section.attrs = "section", {"id": place(page), "class": "wfm-page"}
    for tag in section.find_all(id=True)[:]:
        tag["id"] = place(page, tag["id"])
    for tag in section.find_all(src=True):
        tag["src"] = "html/" + normpath(join(page, "..", tag["src"]))
    for link in section.find_all("a", href=True):
        address, _, anchor = link["href"].partition("#")
        target = normpath(join(page, "..", address)).removesuffix(".html") if address else page
        if target in known:
            link["href"] = f"#{place(target, anchor)}"
        elif not re.match(r"\w+:", address):
            link.unwrap()  # what is not printed
    if below:
        for level in range(5, 0, -1):
            for tag in section.find_all(f"h{level}"):
                tag.name = f"h{level + 1}"
    return section


def element(name: str, text: str = "", **attributes: str) -> Tag:
    """Return a new element."""
    tag = BeautifulSoup("", "html.parser").new_tag(name, attrs=attributes)
    tag.string = text
    return tag


def contents(sections: list[Tag]) -> Tag:
    """Return the contents: a line for each chapter and lecture, with room for its page."""
    nav = element("nav", id="contents")
    nav.append(element("h1", "Contents"))
    for section in sections:
        heading = section.find(("h1", "h2"))
        title = " ".join(heading.get_text().split())
        line = element("a", href=f"#{section['id']}", **{"class": f"wfm-{heading.name}"})
        line.extend([element("span", title), element("i"), element("span")])
        nav.append(line)
    return nav


def book(only: str = "") -> str:
    """Return the whole book as one page, or the chapter of a number or letter alone."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    firsts = {entry["file"] for part in toc["parts"] for entry in part["chapters"]}
    every = [(page, of) for page, of in numbering.pages() if not page.startswith(SITE_ONLY)]
    pages = [page for page, of in every if only in ("", of)]
    if not pages:
        raise SystemExit(f"no chapter {only}: there are {', '.join(numbering.chapters())}")
    sections, solved = [], element("section", id="solutions", **{"class": "wfm-page"})
    solved.append(element("h1", "Solutions of the exercises"))
    for page in pages:
        section = chapter(page, page not in firsts | {toc["root"]}, set(pages))
        for solution in section.select("div.solution"):
            solved.append(solution.extract())
        sections.append(section)
    sections.append(solved)
    anchors = {tag["id"] for section in sections for tag in section.find_all(id=True)}
    anchors |= {section["id"] for section in sections}
    for link in [tag for section in sections for tag in section.select('a[href^="#"]')]:
        if link["href"][1:] not in anchors:
            link.unwrap()  # to what was left out of its page
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    title = element("header", id="title-page")
    title.append(element("h1", cited["title"].partition(":")[0]))
    imprint = (
        f"Version {cited['version']}, {cited['date-released']}. "
        "Text and figures CC BY 4.0, code MIT licence."
    )
    title.extend(
        [element("p", author["name"]) for author in cited["authors"]] + [element("p", imprint)]
    )
    head = BeautifulSoup((HTML / f"{toc['root']}.html").read_text("utf-8"), "html.parser").head
    kept = head.find_all("link", rel="stylesheet")
    kept += [script for script in head.find_all("script") if "mathjax" in str(script).lower()]
    written = "\n".join(map(str, kept)).replace('"../', '"html/')
    body = "\n".join(map(str, (title, contents(sections), *sections)))
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{cited['title']}</title>\n{written}</head>\n"
        f'<body><main class="bd-main bd-content"><article class="bd-article">{body}'
        "</article></main></body></html>\n"
    )


def write(page: Path, output: Path) -> int:
    """Print a page that stands on this machine; return how many pages it has on paper."""
    executable = browser.executable()
    if executable is None:
        raise SystemExit(browser.MISSING)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        tab = chromium.new_page()
        tab.set_default_timeout(900_000)
        tab.goto(page.as_uri())
        tab.emulate_media(media="print", color_scheme="light")
        tab.add_style_tag(path=STYLE)
        tab.evaluate(READY)
        tab.evaluate(FRAMES)
        for _ in range(2):
            tab.pdf(path=output, prefer_css_page_size=True, scale=0.8, tagged=True, outline=True)
            read = PdfReader(output)
            destinations = read.named_destinations.items()
            pages = {
                name.strip("/"): read.get_destination_page_number(destination)
                for name, destination in destinations
            }
            tab.evaluate(NUMBER, {name: number + 1 for name, number in pages.items()})
        chromium.close()
    return len(read.pages)


def main() -> None:
    """Print the book that was built."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    parser.add_argument("--chapter", default="", help="print it alone: 1 to 13, or F, A, B")
    arguments = parser.parse_args()
    output, page = arguments.output, BUILD / "printed.html"
    page.write_text(book(arguments.chapter), "utf-8")
    print("Printing takes some minutes ...")
    count = write(page, output)
    print(f"{output} ({count} pages, {output.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
