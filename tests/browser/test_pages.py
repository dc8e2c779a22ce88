"""Every page in headless Chromium: it loads, shows its mathematics, asks nobody, fits a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.conftest import transferred

# A page with all that it loads, text compressed: 1.2 MB and 25 requests.
WEIGHT_LIMIT = 1_200_000
REQUEST_LIMIT = 25

# What axe-core finds in the theme's own frame: (rule, part of the selector, reason).
THEME_AXE_FINDINGS = (
    ("region", ".sidebar-primary-items__start", "the theme's logo stands outside a landmark"),
    ("aria-allowed-role", "#id", "docutils gives entries of a bibliography an old role"),
    ("aria-deprecated-role", "#id", "docutils gives entries of a bibliography an old role"),
    ("aria-required-children", ".citation-list", "docutils' list of such entries"),
)


def page_names():
    from tests.conftest import ROOT

    book = ROOT / "book"
    return sorted(path.relative_to(book).with_suffix("").as_posix() for path in book.rglob("*.md"))


def unfold(page):
    """Open every solution and every folded cell, at once: half faded in, they are pale."""
    page.add_style_tag(content="* { animation: none !important; transition: none !important; }")
    page.evaluate(
        """() => {
            document.querySelectorAll('details').forEach(one => { one.open = true; });
            document.querySelectorAll('.toggle-hidden')
                .forEach(one => one.classList.remove('toggle-hidden'));
        }"""
    )


@pytest.fixture(params=page_names())
def visit(request, browser, server):
    """Open one page at a desktop's width; collect what it asks for and what it complains of."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda one: asked.append(one.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
    response = page.goto(f"{server}/book/{request.param}.html", wait_until="load")
    assert response.ok
    page.wait_for_function("!window.MathJax || !!window.MathJax.startup?.promise")
    page.evaluate("window.MathJax ? window.MathJax.startup.promise : null")
    page.asked, page.errors = asked, errors
    yield page
    context.close()


def test_page(visit, server, html):
    """A page is complete, silent and light."""
    assert visit.locator("article h1").count() == 1
    external = [
        url for url in visit.asked if not url.startswith((server, "data:", "blob:", "about:"))
    ]
    assert not external, f"the page asks other hosts: {external}"
    assert not visit.errors, f"script errors: {visit.errors}"
    loaded = {url for url in visit.asked if url.startswith(server)}
    assert len(loaded) < REQUEST_LIMIT
    assert sum(transferred(html, url.removeprefix(server)) for url in loaded) < WEIGHT_LIMIT

    formulas = visit.locator("article .math").count()
    rendered = visit.locator("article mjx-container").count()
    assert rendered >= formulas
    assert visit.locator("article mjx-merror, article [data-mjx-error]").count() == 0

    cut = visit.evaluate(
        """() => [...document.querySelectorAll('article div.math')]
            .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.id)"""
    )
    assert not cut, f"formulas wider than the column: {cut}"

    for image in visit.locator("article img").all():
        assert (image.get_attribute("alt") or "").strip(), "a figure without alternative text"


def test_page_fits_a_phone(visit):
    """Nothing sticks out at 390 pixels: wide formulas and tables scroll inside themselves."""
    unfold(visit)
    visit.set_viewport_size({"width": 390, "height": 844})
    visit.wait_for_timeout(300)
    width = visit.evaluate("document.documentElement.scrollWidth")
    culprits = visit.evaluate(
        """() => [...document.querySelectorAll('article *')]
            .filter(e => e.getBoundingClientRect().right > 391)
            .filter(e => {
                for (let p = e; p && p.tagName !== 'ARTICLE'; p = p.parentElement)
                    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX))
                        return false;
                return true;
            })
            .slice(0, 5).map(e => e.tagName + '.' + e.className)"""
    )
    assert width <= 390, f"{width} pixels wide: {culprits}"
    assert not culprits


def test_page_is_accessible(visit):
    """axe-core finds nothing but what stands in the list of the theme's own findings."""
    unfold(visit)
    results = Axe().run(visit)
    unknown = []
    for violation in results.response["violations"]:
        for node in violation["nodes"]:
            selector = str(node["target"])
            if not any(
                rule == violation["id"] and part in selector
                for rule, part, _ in THEME_AXE_FINDINGS
            ):
                unknown.append((violation["id"], selector, node["html"][:160]))
    assert not unknown, "\n".join(map(str, unknown))


def test_sliders_move_the_curves(visit):
    """On every page, the keyboard moves each slider, and with it a curve and the number shown."""
    for figure in visit.locator("figure.wfm-slider").all():
        control = figure.locator("input[type=range]")

        def shown(figure=figure):
            drawn = figure.locator("svg[role=img] path").evaluate_all(
                "paths => paths.map(one => one.getAttribute('d')).join()"
            )
            return drawn, figure.locator("output").inner_text()

        before = shown()
        control.focus()
        visit.keyboard.press("ArrowRight")
        after = shown()
        assert before[0] != after[0]
        assert before[1] != after[1]


def test_chapter_1_has_a_slider(browser, server):
    """The test above would pass on a book without sliders."""
    page = browser.new_page()
    page.goto(f"{server}/book/01_binary_perceptron.html")
    assert page.locator("figure.wfm-slider input[type=range]").count() >= 1
    page.close()
