"""Every deck of slides as a file: each formula is set, each slide fits, and nothing complains."""

from __future__ import annotations

import re

import pytest

from tests.waiting import until
from tools import slides


@pytest.fixture(scope="module")
def written(html, tmp_path_factory):
    """Write the decks, with the figures that the book's build executed."""
    return {file.stem: file for file in slides.write(tmp_path_factory.mktemp("slides") / "decks")}


@pytest.mark.parametrize("name", [source.stem for source in slides.decks()])
def test_deck_opens(browser, written, name):
    page, asked, errors = browser.new_page(viewport={"width": 1280, "height": 720}), [], []
    page.set_default_timeout(120_000)
    page.on("request", lambda one: asked.append(one.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda one: errors.append(one.text))
    page.goto(written[name].as_uri())
    until(page, "!!window.MathJax?.startup?.promise", 120)
    page.evaluate("MathJax.startup.promise")
    text = written[name].read_text("utf-8")
    formulas = re.findall(r"(?<!\\)\\[(\[]", text)
    assert page.locator("mjx-container").count() == len(formulas)
    assert page.locator("[data-mjx-error]").count() == 0
    for slide in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate("slide => Reveal.slide(slide)", slide)
        high, wide = page.evaluate(
            "(slide => [slide.scrollHeight, slide.scrollWidth])(Reveal.getCurrentSlide())"
        )
        assert high <= 720, f"slide {slide + 1} is too full"
        assert wide <= 1280, f"slide {slide + 1} is too full"
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "blob"}
    assert not errors
    page.close()
