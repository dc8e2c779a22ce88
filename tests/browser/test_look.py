"""Every page in the dark, on a phone and on paper: nothing is pale, cut without a sign or tiny."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.test_pages import page_names, unfold

SMALLEST = 9.0  # pixels of a text, without what is raised or lowered
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}

# Of each figure that is shown: the file, and how wide it stands.
SHOWN = """() => [...document.querySelectorAll('article .wfm-figure img')]
    .filter(one => one.checkVisibility()).map(one => {
        const source = one.closest('picture')?.querySelector('source');
        const phone = source && matchMedia(source.media).matches;
        const file = phone ? source.getAttribute('srcset') : one.getAttribute('src');
        return [file, one.getBoundingClientRect().width];
    })"""

# What scrolls sideways: how much more there is, and whether its edge fades.
SCROLLING = """() => [...document.querySelectorAll('article *')]
    .filter(one => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
    .filter(one => one.checkVisibility() && one.clientWidth)
    .filter(one => one.scrollWidth > one.clientWidth + 3)
    .map(one => [one.outerHTML.slice(0, 120), getComputedStyle(one).maskImage])"""


def text_sizes(svg: str) -> list[float]:
    """Return the sizes of the texts of a drawing, as shares of its width."""
    width = float(re.search(r'viewBox="\S+ \S+ (\S+)', svg)[1])
    sizes, grown = [], [1.0]
    for one in re.finditer(r"<g(?P<start>[^>]*)>|</g>", svg):
        if one["start"] is None:
            grown.pop()
        elif one[0].endswith("/>"):
            continue
        else:
            larger = re.search(r'transform="translate\(\S+ \S+\) scale\(([\d.]+)\)"', one["start"])
            grown.append(grown[-1] * (float(larger[1]) if larger else 1.0))
            if text := re.search(r"scale\((0\.\d+) -0\.\d+\)", one["start"]):
                sizes.append(100 * float(text[1]) * grown[-1] / width)
    return sizes


@pytest.fixture(scope="module", params=page_names())
def opened(request, browser, server):
    """Open one page for all tests of this file, with everything unfolded."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{server}/book/{request.param}.html", wait_until="load")
    page.evaluate("window.MathJax ? window.MathJax.startup.promise : null")
    unfold(page)
    yield page
    context.close()


def test_a_dark_page_can_be_read(opened):
    """In the dark theme axe-core finds no text that is too pale for what is behind it."""
    opened.set_viewport_size({"width": 1280, "height": 900})
    opened.evaluate("document.documentElement.dataset.theme = 'dark'")
    found = Axe().run(opened, options=CONTRAST).response["violations"]
    pale = [(node["target"], node["html"][:120]) for one in found for node in one["nodes"]]
    ground = "e => getComputedStyle(e).backgroundColor"
    slabs = opened.locator("article .wfm-figure img.only-dark").evaluate_all(
        f"all => all.map({ground})"
    )
    opened.evaluate("document.documentElement.dataset.theme = 'light'")
    assert not pale, f"{len(pale)} texts: {pale[:5]}"
    assert set(slabs) <= {"rgba(0, 0, 0, 0)"}, "a figure stands on a slab"


def test_each_theme_has_its_own_figures(opened, html):
    """Of each figure one version is shown, that of the theme; nothing else is fetched."""
    opened.set_viewport_size({"width": 1280, "height": 900})
    count = opened.locator("article .wfm-figure").count()
    for theme in ("light", "dark"):
        opened.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        files = [file for file, _ in opened.evaluate(SHOWN)]
        assert len(files) == count
        for file in files:
            assert file.endswith(f"-{theme}.svg")
            assert (html / "book" / file).exists()
    opened.evaluate("document.documentElement.dataset.theme = 'light'")


def test_text_of_figures_can_be_read_on_a_phone(opened, html):
    """No text of a figure is smaller than nine pixels at a width of 390."""
    opened.set_viewport_size({"width": 390, "height": 844})
    small = {}
    for file, width in opened.evaluate(SHOWN):
        sizes = text_sizes((html / "book" / file).read_text())
        if sizes and min(sizes) * width < SMALLEST:
            small[file] = round(min(sizes) * width, 1)
    assert opened.url.endswith("gallery.html") or not small


def test_what_is_cut_says_so(opened):
    """What scrolls sideways on a phone fades at the edge behind which there is more."""
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.wait_for_timeout(150)
    silent = [html for html, mask in opened.evaluate(SCROLLING) if "gradient" not in mask]
    assert not silent, f"{len(silent)}: {silent[:5]}"


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
    phone.wait_for_function("document.querySelector('#wfm-large img').naturalWidth > 0")
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
    page.goto(f"{server}/book/01_binary_perceptron.html")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function(f"{theme} === 'light'")
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
    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_function(f"{theme} === 'dark'")
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
