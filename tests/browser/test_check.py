"""The form below an exercise says what `exercises.check` says, without Python."""

from __future__ import annotations

import pytest

from tools import exercises, notebooks
from wfmlib.book.exercises import available
from wfmlib.book.exercises.answers import Number, compare
from wfmlib.book.exercises.table import QUESTIONS

PAGES = [page for chapter in exercises.pages() for page in chapter]
PAGE = next(page.stem for page in PAGES if 'exercises.check("3.1"' in page.read_text())


@pytest.fixture
def page(browser, html):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(f"{html.as_uri()}/book/{PAGE}.html")
    yield page
    page.close()


def test_a_form_says_whether_a_number_is_right(page):
    form = page.locator("form.wfm-check").first
    key = exercises.key("3.1")
    for text, said in [
        (f"{key['right']:.12g}", "right"),
        (f"{key['mistakes'][0][0]:.12g}", key["mistakes"][0][1]),
        ("a quarter", "Type a number"),
    ]:
        form.get_by_role("textbox").fill(text)
        form.get_by_role("button", name="Check").click()
        assert said in form.locator("output").inner_text()


def test_the_form_says_what_the_package_says(page):
    for number in available():
        key = exercises.key(number)
        mistakes = [(lambda wrong=wrong: wrong, hint) for wrong, hint in key["mistakes"]]
        right = key["right"]
        question = Number(key["asked"], "", lambda right=right: right, mistakes, key["tolerance"])
        question = Number(**vars(question) | {"nats": QUESTIONS[number].nats})
        values = [right * factor for factor in (1.0, -1.0, 0.5, 1.0 + 2e-3, 100.0, 1.234, 0.0)]
        values += [right / 0.6931471805599453, 1.0 - 2.0 * right, *(m() for m, _ in mistakes)]
        said = page.evaluate("([key, all]) => all.map(x => wfm.check(key, x))", [key, values])
        assert said == [compare(number, question, value).said for value in values]


def test_every_exercise_with_a_check_has_a_form(html):
    asked = {
        number
        for page in notebooks.chapters()
        for number in exercises.CALLED.findall((html / "book" / f"{page.stem}.html").read_text())
    }
    assert asked == set(available())
