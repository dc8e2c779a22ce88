"""What a reader has of a page before its scripts ran, and of one that is opened as a file."""

from __future__ import annotations

import pytest

from tests.browser.test_pages import THEME_ERRORS
from tests.conftest import unwritten


@pytest.mark.parametrize("name", ["index", "02_1_company", "scorecard"])
def test_a_page_can_be_read_before_its_scripts_ran(browser, server, name):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    unwritten(page)
    page.goto(f"{server}/book/{name}.html")
    apart = "one => [...one.querySelectorAll('p, li, th, td')].filter(p => !p.closest('%s'))"
    folded = apart % "details, form"
    read = f"""() => ({folded})(document.querySelector('article'))
        .filter(p => p.checkVisibility()).length"""
    with_scripts = page.evaluate(read)
    context.close()
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 1280, "height": 900}
    )
    page = context.new_page()
    page.goto(f"{server}/book/{name}.html")
    assert page.locator("article h1").is_visible()
    assert page.locator("nav.bd-docs-nav").is_visible()
    # Scripts fold solutions away and add forms; nothing to read comes into sight by them.
    assert page.evaluate(read) >= with_scripts > 20
    context.close()


@pytest.mark.parametrize("name", ["404", "genindex", "index", "py-modindex", "search"])
def test_pages_that_are_made_for_all_books_are_silent_as_files(browser, html, name):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda one: errors.append(one.text) if one.type != "log" else None)
    page.goto((html / f"{name}.html").as_uri(), wait_until="load")
    page.close()
    assert not set(errors) - THEME_ERRORS
