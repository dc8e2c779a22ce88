"""Every page in headless Chromium: complete, silent, light; readable in the dark, on a phone.

A page is opened once, as a file, where it could fetch nothing; the tests of it run in the order in
which they stand here.
"""

from __future__ import annotations

import re
import time

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.conftest import transferred, unwritten
from tests.thinned import thin
from tests.waiting import until
from tools import numbering

# Corrections and recipes have a figure where one is needed.
CHAPTERS = {pages[0] for name, pages in numbering.chapters().items() if name not in ("A", "B")}

# A page with all that it loads, text compressed: 1.2 MB and 25 requests.
WEIGHT_LIMIT = 1_200_000
REQUEST_LIMIT = 25

DESKTOP = {"width": 1280, "height": 900}
SCREEN = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
SMALLEST = 9.0  # pixels of a text, without what is raised or lowered
WRONG = {"resultTypes": ["violations"]}
BY_COLOUR = ["color-contrast", "link-in-text-block"]  # take axe-core milliseconds for a text
COLOURS = WRONG | {"runOnly": {"type": "rule", "values": BY_COLOUR}}
ALL_BUT_COLOURS = WRONG | {"rules": {rule: {"enabled": False} for rule in BY_COLOUR}}

# Whether a text can be read, and a link be seen, depends on its colour, on its size and on what is
# behind it, in either theme: of each kind axe-core looks at two.
KINDS = """() => {
    const root = document.documentElement, texts = [], kinds = new Map(), seen = {};
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const one = walk.currentNode, holder = one.parentElement;
        if (/\\S/.test(one.data) && holder.checkVisibility({visibilityProperty: true})
            && holder.getBoundingClientRect().width > 1) texts.push(one);
    }
    for (const theme of ['dark', 'light']) {
        root.dataset.theme = theme;
        const behind = new Map([[null, '']]);
        const ground = one => {
            if (!behind.has(one)) {
                const {backgroundColor, backgroundImage, opacity} = getComputedStyle(one);
                const own = `${backgroundColor} ${backgroundImage} ${opacity};`;
                const clear = own === 'rgba(0, 0, 0, 0) none 1;';
                behind.set(one, (clear ? '' : own) + ground(one.parentElement));
            }
            return behind.get(one);
        };
        for (const one of texts) {
            const {color, fontSize, fontWeight} = getComputedStyle(one.parentElement);
            const kind = [color, fontSize, fontWeight, ground(one.parentElement)];
            kinds.set(one, (kinds.get(one) ?? '') + kind);
        }
    }
    for (const one of texts) {
        const kind = kinds.get(one);
        seen[kind] = (seen[kind] ?? 0) + 1;
        if (seen[kind] <= 2)
            (one.parentElement.closest('a') ?? one.parentElement).dataset.looked = 'at';
    }
    return Object.keys(seen).length;
}"""

# axe-core looks for what is behind a text among all elements. Rows of tables stay: their grounds
# take turns.
OTHERS_OUT = """() => {
    const needed = '[data-looked], tr, tr *, :has([data-looked]), [data-looked] *';
    document.querySelectorAll('body *').forEach(one => {
        if (!one.matches(needed) && !one.matches('script, style, link')) one.remove();
    });
}"""
DARK_GROUNDS = """all => {
    const root = document.documentElement, before = root.dataset.theme;
    root.dataset.theme = 'dark';
    const grounds = all.map(one => getComputedStyle(one).backgroundColor);
    root.dataset.theme = before;
    return grounds;
}"""

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

# A promise that the page has been drawn twice: what watches sizes has acted by then.
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

# What scrolls has a place in the order of tabs, and nothing else has one; the theme sees to it a
# third of a second after the width or the content has changed.
REACHED = """[...document.querySelectorAll('article pre')]
    .every(one => (one.tabIndex === 0) === (one.scrollWidth > one.clientWidth))"""

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
def visit(request, browser, html):
    """Open one page for all tests of it, at a desktop's width.

    `name` is that of the page; `asked` and `errors` hold what it asks for and complains of.
    """
    context = browser.new_context(viewport=DESKTOP)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.name, page.asked, page.errors = request.param, [], []
    page.on("request", lambda one: page.asked.append(one.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda one: page.errors.append(one.text) if one.type != "log" else None)
    page.goto((html / "book" / f"{request.param}.html").as_uri(), wait_until="load")
    until(page, "!window.MathJax || !!window.MathJax.startup?.promise")
    page.evaluate("window.MathJax ? window.MathJax.startup.promise : null")
    yield page
    context.close()


@pytest.fixture(scope="module")
def narrow(visit):
    """The page at the width of a phone, with every solution and every folded cell open."""
    unfold(visit)
    visit.set_viewport_size(PHONE)
    until(visit, f"innerWidth === {PHONE['width']}")
    visit.wait_for_timeout(200)
    visit.evaluate(DRAWN)
    return visit


@pytest.fixture(scope="module")
def unfolded(narrow):
    """The same at a desktop's width, thinned: from here on formulas are no more."""
    thin(narrow)
    narrow.set_viewport_size(DESKTOP)
    until(narrow, f"innerWidth === {DESKTOP['width']}")
    until(narrow, REACHED)
    return narrow


def test_page(visit, html):
    """A page is complete, silent and light."""
    site = html.as_uri()
    assert visit.locator("article h1").count() == 1
    external = [
        url for url in visit.asked if not url.startswith((site, "data:", "blob:", "about:"))
    ]
    assert not external, f"the page asks other hosts: {external}"
    assert not visit.errors, f"script errors: {visit.errors}"
    loaded = {url for url in visit.asked if url.startswith(site)}
    assert len(loaded) < REQUEST_LIMIT
    assert sum(transferred(html, url.removeprefix(site)) for url in loaded) < WEIGHT_LIMIT

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


def test_first_figure_is_on_the_first_two_screens(visit):
    """A chapter shows its answer before it derives it; of another page this is not asked."""
    if f"book/{visit.name}" not in CHAPTERS:
        return
    visit.set_viewport_size(SCREEN)
    visit.evaluate("window.scrollTo(0, 0)")
    figure = visit.locator("article figure").first.bounding_box()
    visit.set_viewport_size(DESKTOP)
    assert figure["y"] + figure["height"] / 2 < 2 * SCREEN["height"]


def test_sliders_move_the_curves(visit):
    """On every page, the keyboard moves each slider, and with it a curve and the number shown."""
    for figure in visit.locator("figure.wfm-slider").all():
        control = figure.locator(
            "input[type=range]"
        ).first  # where a figure computes, one of several

        def shown(figure=figure):
            drawn = figure.locator("svg[role=img] path").evaluate_all(
                "paths => paths.map(one => one.getAttribute('d')).join()"
            )
            return drawn, figure.locator("output").inner_text()

        before = shown()
        control.focus()
        visit.keyboard.press("ArrowRight")
        end = time.monotonic() + 30.0  # a worker may have to solve for the curve
        while any(a == b for a, b in zip(before, shown(), strict=True)):
            assert time.monotonic() < end, "the slider moves nothing"
            visit.wait_for_timeout(50)


def test_page_fits_a_phone(narrow):
    """Nothing sticks out at 390 pixels: wide formulas and tables scroll inside themselves."""
    width = narrow.evaluate("document.documentElement.scrollWidth")
    culprits = narrow.evaluate(
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


def test_text_of_figures_can_be_read_on_a_phone(narrow, html):
    """No text of a figure is smaller than nine pixels at a width of 390."""
    small = {}
    for file, width in narrow.evaluate(SHOWN):
        sizes = text_sizes((html / "book" / file).read_text())
        if sizes and min(sizes) * width < SMALLEST:
            small[file] = round(min(sizes) * width, 1)
    assert narrow.url.endswith("gallery.html") or not small


def test_what_is_cut_says_so(narrow):
    """What scrolls sideways on a phone fades at the edge behind which there is more."""
    silent = [html for html, mask in narrow.evaluate(SCROLLING) if "gradient" not in mask]
    assert not silent, f"{len(silent)}: {silent[:5]}"


def test_page_is_accessible(unfolded):
    """axe-core finds nothing but what stands in the list of the theme's own findings."""
    results = Axe().run(unfolded, options=ALL_BUT_COLOURS)
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


def test_each_theme_has_its_own_figures(unfolded, html):
    """Of each figure one version is shown, that of the theme; nothing else is fetched."""
    count = unfolded.locator("article .wfm-figure").count()
    for theme in ("light", "dark"):
        unfolded.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        files = [file for file, _ in unfolded.evaluate(SHOWN)]
        assert len(files) == count
        for file in files:
            assert file.endswith(f"-{theme}.svg")
            assert (html / "book" / file).exists()


def test_every_text_can_be_read(unfolded):
    """In neither theme axe-core finds a pale text, or a link like the words around it.

    The last test of a page: what axe-core need not look at is taken out.
    """
    assert unfolded.evaluate(KINDS) > 5
    slabs = unfolded.locator("article .wfm-figure img.only-dark").evaluate_all(DARK_GROUNDS)
    assert set(slabs) <= {"rgba(0, 0, 0, 0)"}, "a figure stands on a slab"
    unfolded.evaluate(OTHERS_OUT)
    for theme in ("light", "dark"):
        unfolded.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found = Axe().run(unfolded, "[data-looked]", COLOURS).response["violations"]
        pale = [(node["target"], node["html"][:120]) for one in found for node in one["nodes"]]
        assert not pale, f"{theme}: {len(pale)} texts: {pale[:5]}"


def test_chapter_1_has_a_slider(browser, server):
    """The tests above would pass on a book without sliders, and without chapters."""
    assert len(CHAPTERS) == 13
    page = browser.new_page()
    unwritten(page)
    page.goto(f"{server}/book/01_binary_perceptron.html")
    assert page.locator("figure.wfm-slider input[type=range]").count() >= 1
    page.close()


def test_front_page_begins_with_its_picture(browser, server):
    page = browser.new_page(viewport=SCREEN)
    page.goto(f"{server}/book/index.html")
    figure = page.locator("article figure").first.bounding_box()
    code = page.locator("article div.cell_input").first
    assert figure["y"] + figure["height"] / 2 < SCREEN["height"]
    assert code.count() == 0 or figure["y"] < code.bounding_box()["y"]
    page.close()
