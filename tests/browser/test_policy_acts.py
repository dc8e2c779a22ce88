"""The policy of the pages acts, and keeps nothing from working that should."""

from __future__ import annotations

import pytest

from tests.waiting import until

CHAPTER = "book/01_binary_perceptron.html"
LISTEN = """
    window.refused = [];
    addEventListener("securitypolicyviolation",
        event => window.refused.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""
INJECT = """() => {
    const script = document.createElement("script");
    script.textContent = "window.injected = true;";
    document.body.append(script);
    const picture = document.createElement("p");
    picture.innerHTML = '<img src="data:," onerror="window.handled = true;">';
    document.body.append(picture);
    const other = document.createElement("script");
    other.src = "https://example.org/a.js";
    document.body.append(other);
}"""


@pytest.fixture
def tab(browser):
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(LISTEN)
    yield page
    page.close()


@pytest.fixture(params=["file", "server"])
def site(request, html):
    """The address of the pages: as files, and as a server gives them."""
    return html.as_uri() if request.param == "file" else request.getfixturevalue("server")


def test_nothing_of_a_page_is_refused(tab, site):
    tab.goto(f"{site}/{CHAPTER}")
    tab.evaluate("window.MathJax.startup.promise")
    slider = tab.locator("figure.wfm-slider input[type=range]").first
    slider.focus()
    before = slider.input_value()
    tab.keyboard.press("ArrowRight")
    assert slider.input_value() != before
    assert tab.locator("article mjx-container").count() > 10
    assert tab.evaluate("window.refused") == []


def test_the_search_answers(tab, site):
    tab.goto(f"{site}/search.html?q=capacity")
    tab.locator("#wfm-places a").first.wait_for()
    assert tab.evaluate("window.refused") == []


def test_the_buttons_work(tab, site):
    tab.add_init_script("window.print = () => { window.printed = true; };")
    tab.goto(f"{site}/{CHAPTER}")
    tab.evaluate("document.querySelector('[data-click=print]').click()")
    assert tab.evaluate("window.printed")
    tab.evaluate("document.querySelector('[data-click=fullscreen]').click()")
    assert tab.evaluate("typeof window.toggleFullScreen") == "function"
    assert tab.evaluate("window.refused") == []


def test_what_is_brought_into_a_page_does_not_run(tab, site):
    tab.goto(f"{site}/{CHAPTER}")
    tab.evaluate(INJECT)
    until(tab, "window.refused.length === 3")
    tab.wait_for_timeout(200)
    assert tab.evaluate("[window.injected, window.handled]") == [None, None]
    refused = sorted(tab.evaluate("window.refused"))
    assert refused == [
        "script-src-attr inline",
        "script-src-elem https://example.org/a.js",
        "script-src-elem inline",
    ]
