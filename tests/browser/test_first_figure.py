"""A chapter shows its answer before it derives it: its first figure is on its first screens."""

from __future__ import annotations

import pytest

from tools import numbering

CHAPTERS = [
    page for page, chapter in numbering.pages() if chapter and chapter not in ("B", "C")
]  # corrections and recipes have a figure where one is needed
SCREEN = {"width": 1440, "height": 900}
FIRST = """() => {
    const figure = document.querySelector('article figure').getBoundingClientRect();
    const code = document.querySelector('article div.cell_input');
    return [(figure.top + figure.bottom) / 2 + scrollY, figure.top + scrollY,
        code ? code.getBoundingClientRect().top + scrollY : Infinity];
}"""


@pytest.fixture(scope="module")
def places(browser, server):
    """Return middle and top of the first figure of a page, and the top of its first code."""
    page = browser.new_page(viewport=SCREEN)
    page.set_default_timeout(120_000)  # a busy machine is no defect

    def measured(name):
        page.goto(f"{server}/{name}.html")
        page.wait_for_function("!!window.MathJax?.startup?.promise")
        page.evaluate("MathJax.startup.promise")
        return page.evaluate(FIRST)

    yield measured
    page.close()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_first_figure_is_on_the_first_two_screens(chapter, places):
    middle, _, _ = places(chapter)
    assert middle < 2 * SCREEN["height"]


def test_front_page_begins_with_its_picture(places):
    middle, top, code = places("book/index")
    assert middle < SCREEN["height"]
    assert top < code
