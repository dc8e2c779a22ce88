"""The gallery shows every figure of every chapter with number and caption, and leads to it."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.conftest import parsed
from tools import notebooks

CARD = re.compile(r'<li>(.*?)<a class="reference internal" href="([^"#]+)#([^"]+)">', re.DOTALL)
ALT = re.compile(r'(?:alt|svg role="img" aria-label)="([^"]*)"')
PICTURE = re.compile(r'<img [^>]*src="([^"]+)"')


def described(chapter) -> list[str]:
    """Return the figures of an executed chapter in words, sliders among them."""
    found = []
    for cell in notebooks.executed(chapter).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                found.append(cell.metadata["mystnb"]["image"]["alt"])
            elif 'class="wfm-slider"' in (markup := "".join(data.get("text/html", ""))):
                found.append(unescape(ALT.search(markup)[1]))
    return [" ".join(one.split()) for one in found]


@pytest.fixture(scope="module")
def cards(html) -> list[tuple[str, str, str]]:
    """Return the cards of the gallery: what they show, and page and name of where they lead."""
    page = (html / "book" / "gallery.html").read_text()
    return CARD.findall(page.split('class="wfm-gallery', 1)[1])


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_figure_is_shown_and_found(chapter, html, cards):
    page = parsed(html / "book" / f"{chapter.stem}.html").article
    own = [(shown, name) for shown, target, name in cards if target == f"{chapter.stem}.html"]
    words = [unescape(ALT.search(shown)[1]) for shown, _ in own]
    assert words == described(chapter)
    for (shown, name), text in zip(own, words, strict=True):
        (place,) = page.select(f"#{name}")
        pictures = place.select("img[alt], svg[role=img][aria-label]")
        assert text in [one.get("alt") or one["aria-label"] for one in pictures]
        if picture := PICTURE.search(shown):
            assert picture[1] in [one.get("src") for one in pictures], "a copy, not the chapter's"
            assert (html / "book" / picture[1]).exists()


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_figure_says_what_to_look_at(chapter, html):
    """Below the figure and in the gallery, in other words than the alternative text."""
    page, gallery = (
        parsed(html / "book" / f"{name}.html").article for name in (chapter.stem, "gallery")
    )
    cells = notebooks.read(chapter).cells
    figures = [one for cell in cells if (one := cell.metadata.get("mystnb", {}).get("figure"))]
    assert len(figures) == len(described(chapter))
    for figure, alt in zip(figures, described(chapter), strict=True):
        caption = page.select_one(f"#{figure['name']} > figcaption")
        said = words(caption.select_one(".caption-text"))
        assert 8 <= len(said.split()) <= 60
        assert said != alt
        number = caption.select_one(".caption-number")
        link = gallery.select_one(f"a[href='{chapter.stem}.html#{figure['name']}']")
        assert words(link) == (words(number) if number else "The figure of this page")
        assert words(link.parent) == f"{words(link)}. {said}"


def words(node) -> str:
    return " ".join(node.get_text().split())


def test_nothing_else_is_shown(cards):
    assert len(cards) == sum(len(described(one)) for one in notebooks.chapters())
    assert len(cards) > 80
    assert len({(page, name) for _, page, name in cards}) == len(cards)
