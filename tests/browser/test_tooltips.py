"""What a link shows beside itself: on focus and on hover, away with Escape, in either theme."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.thinned import thin
from tests.waiting import until

TERM = "article a:has(> .std-term)"
FORMULA = 'article a.reference[href*="#equation-eq-fp-energetic"]'
CITATION = 'article a.reference[href*="bibliography.html#"]'


@pytest.fixture(scope="module")
def page(browser, html):
    """Open chapter 6 as a file, where nothing can be fetched, with its formulas written."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{html.as_uri()}/book/06_1_surroundings.html")
    until(page, "window.MathJax?.startup?.promise")
    page.evaluate("MathJax.startup.promise")
    page.keyboard.press("Tab")  # from here on focus is that of a keyboard
    yield page
    page.close()


def focus(page, selector: str):
    """Focus a link; return it and the tip, once it stands in its place."""
    link, tip = page.locator(selector).first, page.locator("#wfm-tip")
    link.evaluate("one => one.scrollIntoView({block: 'center'})")
    link.focus()
    until(page, "document.querySelector('#wfm-tip').style.visibility === 'visible'")
    return link, tip


def test_focus_shows_the_definition_and_escape_hides_it(page):
    link, tip = focus(page, TERM)
    assert tip.is_visible()
    assert tip.inner_text().startswith("margin\n")
    assert "\\(" not in tip.inner_text()
    assert link.get_attribute("aria-describedby") == tip.get_attribute("id")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    assert link.get_attribute("aria-describedby") is None
    assert link.evaluate("one => one === document.activeElement")


def test_hover_shows_it_as_long_as_the_pointer_is_there(page):
    link, tip = page.locator(TERM).first, page.locator("#wfm-tip")
    page.evaluate("document.activeElement.blur()")
    link.hover()
    tip.wait_for(state="visible")
    tip.hover()
    page.wait_for_timeout(400)
    assert tip.is_visible()
    page.mouse.move(2, 2)
    tip.wait_for(state="hidden")


def test_citation_shows_its_reference_once(page):
    link = page.locator(CITATION).first
    title = link.get_attribute("title")
    _, tip = focus(page, CITATION)
    assert tip.inner_text() == title
    assert link.get_attribute("title") is None
    page.keyboard.press("Escape")
    assert link.get_attribute("title") == title


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_tips_are_accessible_and_fit(page, theme, width):
    page.add_style_tag(content="* { transition: none !important; }")
    thin(page, keep=FORMULA)
    page.evaluate("one => { document.documentElement.dataset.theme = one; }", theme)
    page.set_viewport_size({"width": width, "height": 800})
    for selector in (TERM, FORMULA):
        _, tip = focus(page, selector)
        assert tip.locator("mjx-container").count() >= 1
        assert tip.locator("mjx-merror").count() == 0
        box = tip.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] < 300
        assert tip.evaluate("one => one.scrollWidth - one.clientWidth") <= 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, context="#wfm-tip").response["violations"]
        assert [(one["id"], node["html"]) for one in found for node in one["nodes"]] == []


def test_a_tap_shows_the_tip_and_stays_and_a_second_one_follows(browser, server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{server}/book/01_binary_perceptron.html")  # tips need formulas: it has few
    term, tip = page.locator(TERM).first, page.locator("#wfm-tip")
    term.tap()
    tip.wait_for(state="visible")
    page.wait_for_timeout(400)
    assert tip.is_visible()
    assert page.url.endswith("/book/01_binary_perceptron.html")
    tip.tap()
    assert tip.is_visible()
    page.locator("article h1").tap()
    assert not tip.is_visible()
    term.tap()
    tip.wait_for(state="visible")
    page.locator(TERM).nth(4).tap()
    assert tip.is_visible()
    assert page.url.endswith("/book/01_binary_perceptron.html"), "another term is another tip"
    page.locator(TERM).nth(4).tap()
    page.wait_for_url("**/glossary.html#term-*")
    context.close()
