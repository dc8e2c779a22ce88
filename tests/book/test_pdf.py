"""The printed book: pages on one page, with links that lead from one to the other, and numbers."""

from __future__ import annotations

import re
import subprocess
import sys

from bs4 import BeautifulSoup
from pypdf import PdfReader

from tests.conftest import ROOT
from tools import pdf

PAGE = """\
<html><body><nav id="menu"></nav><article class="bd-article"><section id="title">
<h1>%s<a class="headerlink" href="#title">#</a></h1>
<p id="here"><a href="#here">here</a> <a href="two.html#here">there</a> <a href="two.html">two</a>
<a href="downloads.html">files</a> <a href="https://example.org/#x">elsewhere</a></p>
<details class="hide above-input"><summary>Code</summary></details>
<img src="../_images/one.svg" alt="One."></section></article></body></html>
"""


def test_a_page_is_a_section_whose_links_stay_in_the_book(tmp_path):
    (tmp_path / "book").mkdir()
    for name in ("one", "two"):
        (tmp_path / "book" / f"{name}.html").write_text(PAGE % name)
    known = {"book/one", "book/two"}
    section = pdf.chapter("book/one", below=True, known=known, html=tmp_path)
    assert section["id"] == "book-one"
    assert [link["href"] for link in section.find_all("a")] == [
        "#book-one--here",
        "#book-two--here",
        "#book-two",
        "https://example.org/#x",
    ]
    assert section.find("p")["id"] == "book-one--here"
    assert section.find("img")["src"] == "html/_images/one.svg"
    assert section.find("h2").get_text() == "one"
    assert not section.select("details, nav, .headerlink")


def test_the_whole_book_is_complete(html):
    """Every chapter is in the contents once, solutions are at the end, and each link leads on."""
    book = BeautifulSoup(pdf.book(), "html.parser")
    titles = [line.find("span").get_text() for line in book.select("#contents a")]
    assert len(titles) == len(set(titles)) > 60
    assert "1. The binary perceptron" in titles
    assert "7.3. Does focusing end where solutions are densest?" in titles
    assert len(book.select("#solutions div.solution")) == len(book.select("div.solution")) > 60
    places = [one["id"] for one in book.find_all(id=True)]
    there = set(places)
    lost = [a["href"] for a in book.select("a[href^='#']") if a["href"][1:] not in there]
    assert not lost
    assert not book.select("article script:not([type*=math], .wfm-slider > script)")
    for picture in book.select("img[src^=html]"):
        assert (html.parent / picture["src"]).exists()


def test_it_is_printed_with_its_numbers(browser, tmp_path):
    """A small one, without formulas."""
    sections = [
        BeautifulSoup(
            f'<section id="p{k}"><h1>Part {k}</h1>Text.</section>', "html.parser"
        ).section
        for k in (1, 2)
    ]
    body = "".join(map(str, (pdf.contents(sections), *sections)))
    ready = "<script>MathJax = {startup: {promise: Promise.resolve()}};</script>"
    (tmp_path / "one.html").write_text(f"<!DOCTYPE html><title>T</title>{ready}{body}")
    code = "from pathlib import Path; from tools import pdf; pdf.write(*map(Path, {!r}))"
    files = [str(tmp_path / f"one.{kind}") for kind in ("html", "pdf")]
    # Another browser in the same process would be refused.
    subprocess.run([sys.executable, "-c", code.format(files)], cwd=ROOT, check=True)
    reader = PdfReader(tmp_path / "one.pdf")
    assert len(reader.pages) == 3
    assert re.findall(r"Part (\d)\s*(\d)", reader.pages[0].extract_text()) == [
        ("1", "2"),
        ("2", "3"),
    ]
    assert len(reader.outline) >= 2
