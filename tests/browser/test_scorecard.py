"""The scorecard by chapter, paper and verdict: by keyboard, by address, and opened at a claim."""

from __future__ import annotations

import pytest

from tests.waiting import until
from wfmlib.book import claims

SHOWN = ".wfm-scorecard tbody tr:not([hidden])"
STATUS = "#wfm-filter [role=status]"


@pytest.fixture
def page(browser, html):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{html.as_uri()}/book/scorecard.html")
    yield page
    page.close()


def visible(page) -> list[str]:
    """Return the names of the claims in sight."""
    return page.locator(SHOWN).evaluate_all(
        "rows => rows.filter(row => row.checkVisibility()).map(row => row.id)"
    )


def names(**wanted) -> list[str]:
    """Return the claims of the ledger that have a chapter or a paper: first those that differ."""
    return [
        claim.id
        for claim in sorted(
            claims.load(), key=lambda claim: (claim.expected != claims.DIFFERS, claim.chapter)
        )
        if wanted.get("chapter") in (None, claim.chapter)
        and wanted.get("paper") in (None, claim.source.paper)
    ]


def test_all_stand_until_something_is_chosen(page):
    assert visible(page) == names()
    assert page.locator(STATUS).inner_text() == f"all {len(names())} claims"


def test_filters_work_together_by_the_keyboard(page):
    page.get_by_label("Chapter", exact=True).focus()
    page.keyboard.type("6")
    assert visible(page) == names(chapter=6)
    page.keyboard.press("Tab")
    page.keyboard.type("P3")
    both = names(chapter=6, paper="P3")
    assert visible(page) == both
    assert page.locator(STATUS).inner_text() == f"{len(both)} of {len(names())} claims"
    assert page.url.endswith("#chapter=6&paper=P3")
    assert page.locator(".wfm-scorecard:visible").count() <= 2  # what differs, and the chapter
    page.go_back()  # "P" alone chose P1
    page.go_back()
    assert visible(page) == names(chapter=6)
    page.get_by_role("button", name="Show all").click()
    until(page, "!location.hash")
    assert visible(page) == names()


def test_a_verdict_is_what_its_line_says(page):
    for verdict in claims.VERDICTS:
        page.get_by_label("Verdict", exact=True).select_option(verdict)
        cells = page.locator(f"{SHOWN} > td:last-child").all_inner_texts()
        assert cells
        assert all(f" {verdict}" in cell for cell in cells)


def test_the_strip_has_a_mark_a_claim(page):
    marks = page.locator(".wfm-strip a")
    assert sorted(marks.evaluate_all("all => all.map(a => a.hash.slice(1))")) == sorted(names())
    name = claims.load()[-1].id
    page.locator(f'.wfm-strip a[href="#{name}"]').click()
    box = page.locator(f"tr#{name}").bounding_box()
    assert -1 <= box["y"] < 900


def test_an_address_chooses(page, html):
    page.goto("about:blank")
    page.goto(f"{html.as_uri()}/book/scorecard.html#verdict=not+checked+here&chapter=1")
    rows = visible(page)
    assert "capacity-proved" in rows
    assert set(rows) < set(names(chapter=1))


def test_a_claim_that_is_hidden_is_shown_by_its_address(page):
    page.get_by_label("Chapter", exact=True).select_option("9")
    first = names(chapter=1)[-1]
    assert first not in visible(page)
    page.evaluate("name => { location.hash = name; }", first)
    row = page.locator(f"#{first}")
    row.wait_for(state="visible")
    assert visible(page) == names()
    box = row.bounding_box()
    assert -1 <= box["y"] < 900
    assert page.url.endswith(f"#{first}")


def test_without_scripts_the_whole_table_stands(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{html.as_uri()}/book/scorecard.html")
    assert page.locator(".wfm-scorecard tbody tr:visible").count() == len(names())
    context.close()
