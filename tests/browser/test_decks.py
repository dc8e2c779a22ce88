"""Every deck of slides as a file: each formula is set, each page turns, and nothing complains."""

from __future__ import annotations

import re

import pytest

from tests.waiting import until
from tools import notebooks, slides


@pytest.fixture(scope="module")
def decks(html, tmp_path_factory):
    """Write the slides of the pages that were executed."""
    folder = tmp_path_factory.mktemp("slides")
    return slides.write(slides.gathered(notebooks.chapters(), None), folder)


def test_every_deck_opens(browser, decks):
    """As many formulas as there are in the text, none of them as TeX, and no error."""
    assert len(decks) > 50
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    for file in decks:
        page, asked, errors = context.new_page(), [], []
        page.set_default_timeout(120_000)
        page.on("request", lambda one, asked=asked: asked.append(one.url))
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        page.on("console", lambda one, errors=errors: errors.append(one.text))
        page.goto(file.as_uri())
        until(page, "!!window.MathJax?.startup?.promise", 120)
        page.evaluate("MathJax.startup.promise")
        formulas = len(re.findall(r"(?<!\\)\\[(\[]", file.read_text("utf-8")))
        assert page.locator("mjx-container").count() == formulas, file.name
        assert page.locator("[data-mjx-error]").count() == 0, file.name
        left = page.evaluate(r"/\\[([]/.test(document.querySelector('main').textContent)")
        assert not left, f"{file.name}: raw TeX"
        count = page.locator("section").count()
        if file.name != "index.html":
            page.keyboard.press("End")
            assert page.locator("nav output").inner_text() == f"{count} of {count}"
            assert page.locator("section:visible").count() == 1
        assert {url.split(":")[0] for url in asked} <= {"file", "data"}
        assert not errors, file.name
        page.close()
    context.close()
