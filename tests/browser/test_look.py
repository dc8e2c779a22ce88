"""Figures that are tapped, tables as cards, and pages on paper."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.conftest import unwritten
from tests.waiting import until


@pytest.fixture
def phone(browser):
    """A phone in the dark."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark"
    )
    yield context.new_page()
    context.close()


def test_a_figure_is_enlarged_by_tap_and_by_key(phone, server):
    phone.goto(f"{server}/book/index.html")
    link, dialog = phone.locator(".wfm-figure > a.only-dark").first, phone.locator("#wfm-large")
    before = link.bounding_box()["width"]
    link.tap()
    large = dialog.locator("img")
    large.wait_for(state="visible")
    until(phone, "document.querySelector('#wfm-large img').naturalWidth > 0")
    assert large.get_attribute("src").endswith("-dark.svg")
    assert large.get_attribute("alt") == link.locator("img").get_attribute("alt")
    assert large.bounding_box()["width"] > 1.5 * before
    found = Axe().run(phone, context="#wfm-large").response["violations"]
    assert [(one["id"], node["html"]) for one in found for node in one["nodes"]] == []
    phone.keyboard.press("Escape")
    assert not dialog.is_visible()
    link.focus()
    phone.keyboard.press("Enter")
    assert dialog.is_visible()
    dialog.get_by_role("button", name="Close").press("Enter")
    assert not dialog.is_visible()
    assert link.evaluate("one => one === document.activeElement")
    assert phone.url.endswith("/book/index.html")


def test_a_formula_in_a_line_that_is_wider_than_a_phone_scrolls(phone, server):
    """Its edge fades as long as there is more; the others are left alone."""
    phone.goto(f"{server}/book/03_3_end.html")
    wide = phone.locator(".wfm-wide").first
    wide.wait_for(state="attached")
    seen = "one => [one.scrollWidth > one.clientWidth, one.matches('.wfm-more-right')]"
    until(phone, "document.querySelector('.wfm-wide.wfm-more-right')")
    assert wide.evaluate(seen) == [True, True]
    wide.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
    until(phone, "document.querySelector('.wfm-wide.wfm-more-left:not(.wfm-more-right)')")
    assert phone.locator(".wfm-wide").count() < 0.1 * phone.locator("article span.math").count()
    caption = phone.locator(".wfm-side").first
    told = caption.evaluate("one => getComputedStyle(one, '::after').content")
    assert told == '" (top)"'
    phone.set_viewport_size({"width": 1280, "height": 900})
    until(phone, "!document.querySelector('.wfm-wide')")
    assert phone.locator("span.math:is(.wfm-more-left, .wfm-more-right)").count() == 0
    assert caption.evaluate("one => getComputedStyle(one, '::after').content") == "none"


def test_without_scripts_a_figure_leads_to_its_drawing(browser, server):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server}/book/index.html")
    link = page.locator(".wfm-figure > a.only-light").first
    assert link.is_visible()
    assert not page.locator(".wfm-figure > a.only-dark").first.is_visible()
    link.click()
    page.wait_for_url("**/_images/*-light.svg")
    context.close()


@pytest.mark.parametrize(
    ("name", "row", "heads"),
    [
        ("scorecard", ".wfm-scorecard tbody tr", "Found"),
        ("corrections", ".wfm-scorecard tbody tr", "What we find"),
        ("index", "table.wfm-cards tbody tr", None),
    ],
)
def test_lines_of_a_table_are_cards_on_a_phone(phone, server, name, row, heads):
    """Every cell of a line stands below the one before, inside of the screen, under its head."""
    unwritten(phone)
    phone.goto(f"{server}/book/{name}.html")
    lines = phone.locator(row)
    assert lines.count() >= 9
    cells = """all => all.slice(0, 12).map(row => [...row.children]
        .filter(cell => cell.checkVisibility()).map(cell => {
            const {left, right, top, bottom} = cell.getBoundingClientRect();
            return {left, right, top, bottom};
        }))"""
    for boxes in lines.evaluate_all(cells):
        boxes.sort(key=lambda box: box["top"])
        assert len(boxes) >= 3
        assert all(box["left"] >= 0 and box["right"] <= 390 for box in boxes)
        pairs = pairwise(boxes)
        assert all(one["bottom"] <= other["top"] + 1 for one, other in pairs)
    if heads:
        told = lines.first.evaluate(
            """row => [...row.querySelectorAll('td')].filter(e => e.checkVisibility())
                .map(e => getComputedStyle(e, '::before').content)"""
        )
        assert f'"{heads}"' in told


def test_paper_is_white_whatever_the_theme(browser, server):
    """A dark page is printed as a light one; afterwards it is dark again."""
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    unwritten(page)
    page.goto(f"{server}/book/01_binary_perceptron.html")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.emulate_media(media="print", color_scheme="dark")
    until(page, f"{theme} === 'light'")
    look = """() => ['body', 'article p', 'article h1', 'article pre', 'article .wfm-slider text']
        .map(one => document.querySelector(one)).map(one => {
            const style = getComputedStyle(one);
            return one.tagName === 'text' ? style.fill : style.color;
        })"""
    for colour in page.evaluate(look):
        assert max(map(int, re.findall(r"\d+", colour)[:3])) < 100, colour
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert (
        page.locator("img.only-dark").evaluate_all("all => all.some(e => e.checkVisibility())")
        is False
    )
    assert page.locator("img.only-light").evaluate_all(
        "all => all.every(e => e.loading === 'eager')"
    )
    folded = "all => all.map(e => e.checkVisibility())"
    assert not any(page.locator("details.hide").evaluate_all(folded))
    page.emulate_media(media="screen", color_scheme="dark")
    assert all(page.locator("details.hide").evaluate_all(folded))
    until(page, f"{theme} === 'dark'")
    context.close()


def test_output_of_the_front_page_fits(browser, server):
    """At the width of a small desktop no line of output is wider than its box."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{server}/book/index.html")
    wide = page.locator("div.cell_output pre").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
    )
    page.close()
    assert not wide
