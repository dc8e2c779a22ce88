"""Every page in headless Chromium, opened as a file: whole and silent, at two widths."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.conftest import ROOT, transferred
from tests.thinned import thin
from tests.waiting import until

WIDTHS = {1280: 800, 390: 844}
WEIGHT = 1_200_000  # bytes of a first visit, text compressed
MADE = ("404", "genindex", "py-modindex", "search")  # by Sphinx and the theme, for any book
KINDS = ("index", "01_binary_perceptron", "01_2_capacity", "scorecard", "glossary", "bibliography")

# What is not drawn: an icon is a drawing that a script put there, or a glyph.
ICONS = """() => [...document.querySelectorAll('[class*="fa-"]')]
    .filter(one => one.checkVisibility())
    .filter(one => one.matches('svg') ? !one.querySelector('path')
        : getComputedStyle(one, '::before').content === 'none' && !one.querySelector('svg'))
    .map(one => one.outerHTML.slice(0, 120))"""
UNDESCRIBED = """() => [...document.querySelectorAll('article img')]
    .filter(one => !one.alt.trim()).map(one => one.src)"""
# Two frames later, a page is drawn at its new width.
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# The menu and the search: each in sight, and large enough for a finger (WCAG 2.5.8).
TARGETS = """() => ['.primary-toggle', '.search-button__button'].map(name =>
    [...document.querySelectorAll(name)].filter(one => one.checkVisibility()).map(one => {
        const {x, y, width, height} = one.getBoundingClientRect();
        return x >= 0 && y >= 0 && x + width <= innerWidth && y + height <= innerHeight
            && width >= 24 && height >= 24;
    }))"""
# What sticks out at the right, and does not scroll inside of something.
OUTSIDE = """() => [...document.querySelectorAll('article *')]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
    .filter(one => {
        for (let p = one; p && p.tagName !== 'ARTICLE'; p = p.parentElement)
            if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
        return one.checkVisibility();
    }).slice(0, 5).map(one => one.outerHTML.slice(0, 120))"""

# The theme and Jupyter Book both declare where Thebe is, which no page uses.
THEME_ERRORS = {"Identifier 'THEBE_JS_URL' has already been declared"}


def names():
    """Return every page, those that Sphinx makes for any book among them."""
    book = ROOT / "book"
    pages = [path.relative_to(ROOT).with_suffix("").as_posix() for path in book.rglob("*.md")]
    return sorted(one for one in pages if "_build" not in one) + list(MADE)


def load(page, file):
    """Open a file and wait for its formulas."""
    page.goto(file.as_uri(), wait_until="load")
    until(page, "!window.MathJax || !!window.MathJax.startup?.promise")
    page.evaluate("window.MathJax ? window.MathJax.startup.promise : null")


@pytest.fixture(scope="module")
def visit(browser, html):
    """Open a page of the site as a file; note what it asks for and complains of.

    One tab for all, since a new one takes as long as the page in it.
    """
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.on("request", lambda one: page.asked.append(one.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda one: page.errors.append(one.text) if one.type != "log" else 0)

    def opened(name):
        page.goto("about:blank")
        page.set_viewport_size({"width": 1280, "height": 800})
        page.asked, page.errors = [], []
        load(page, html / f"{name}.html")
        return page

    yield opened
    context.close()


@pytest.mark.parametrize("name", names())
def test_page(name, visit, html):
    page = visit(name)
    site = (html.as_uri(), "data:", "blob:", "about:")
    assert not [url for url in page.asked if not url.startswith(site)], "it asks other hosts"
    assert page.locator("article h1").count() == 1 or name in MADE
    formulas = page.locator("article .math").count()
    assert page.locator("article mjx-container").count() >= formulas
    assert page.locator("article mjx-merror, article [data-mjx-error]").count() == 0
    assert page.evaluate(UNDESCRIBED) == [], "a figure without alternative text"
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(DRAWN)
        assert page.evaluate(ICONS) == []
        menu, search = page.evaluate(TARGETS)
        assert menu == [True]
        assert any(search)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == []
    assert not set(page.errors) - THEME_ERRORS


@pytest.mark.parametrize("name", ["book/index", "book/01_1_counting"])
def test_a_first_visit_is_light(name, browser, html):
    page, asked, site = browser.new_page(), [], html.as_uri()
    page.on("request", lambda one: asked.append(one.url))
    load(page, html / f"{name}.html")
    loaded = {url.removeprefix(site) for url in asked if url.startswith(site)}
    assert 100_000 < sum(transferred(html, url) for url in loaded) < WEIGHT
    page.close()


@pytest.mark.parametrize("name", KINDS)
def test_page_is_accessible(name, visit):
    """axe-core finds nothing, in either theme."""
    page = visit(f"book/{name}")
    page.add_style_tag(content="* { animation: none !important; transition: none !important; }")
    thin(page)
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found = [
            (one["id"], str(node["target"]), node["html"][:160])
            for one in Axe().run(page).response["violations"]
            for node in one["nodes"]
        ]
        assert not found, "\n".join([theme, *map(str, found)])


def test_paper_is_white_whatever_the_theme(browser, html):
    """A dark page is printed as a light one, in the book's own face."""
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto((html / "book" / "01_binary_perceptron.html").as_uri())
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print", color_scheme="dark")
    until(page, "document.documentElement.dataset.theme === 'light'")
    until(page, "document.fonts.check('16px \"Source Serif 4\"')")
    text = page.locator("article p").first.evaluate("one => getComputedStyle(one).fontFamily")
    assert text.startswith('"Source Serif 4"')
    context.close()
