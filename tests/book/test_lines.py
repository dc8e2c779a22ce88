"""Formulas stay with their signs, and captions say where a panel is on a phone."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from tests.conftest import parsed
from tools import lines, notebooks

FORMULA = r'<span class="math notranslate nohighlight">\\(q_1 &lt; 1\\)</span>'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"the load {FORMULA}.", f"the load [{FORMULA}.]"),
        (f"(what if {FORMULA})?", f"(what if [{FORMULA})?]"),
        (f"<p>({FORMULA}, say)</p>", f"<p>[({FORMULA},] say)</p>"),
        (f"the {FORMULA}-th of all", f"the [{FORMULA}-th] of all"),
        (f"{FORMULA}{FORMULA}s", f"[{FORMULA}{FORMULA}s]"),
        (f"and {FORMULA} alone", f"and {FORMULA} alone"),
        (f"<em>{FORMULA}</em>.", f"<em>{FORMULA}</em>."),
    ],
)
def test_what_touches_a_formula_stays_with_it(line, expected):
    plain = expected.replace("[", '<span class="wfm-unbroken">').replace("]", "</span>")
    assert lines.joined(line) == plain


def test_pages_break_no_line_before_a_full_stop(html):
    for chapter in notebooks.chapters():
        page = parsed(html / "book" / f"{chapter.stem}.html").article
        for one in page.select("p span.math, li span.math"):
            after = one.next_sibling
            if isinstance(after, str) and after[:1] in tuple(".,;:)"):
                assert "wfm-unbroken" in one.parent.get("class", ()), one.parent.get_text()


def test_only_words_for_a_panel_are_marked():
    caption = (
        "<figcaption>Left: what is left. Right: the right answers, far up (right).</figcaption>"
    )
    told = BeautifulSoup(lines.marked(f"Left: (left) {caption}"), "html.parser").select("span")
    assert [(one.text, one["data-phone"]) for one in told] == [
        ("Left", " (top)"),
        ("Right", " (bottom)"),
        ("right", ", bottom"),
    ]


def test_panels_that_captions_call_left_and_right_stand_below_each_other_on_a_phone(html):
    """Every such figure has a version for phones that is higher than it is wide."""
    seen = 0
    for chapter in notebooks.chapters():
        page = parsed(html / "book" / f"{chapter.stem}.html")
        for figure in page.select("figure:has(.wfm-side)"):
            source = figure.find("source")
            assert int(source["height"]) > 1.2 * int(source["width"]), figure.figcaption.text
            seen += 1
    assert seen > 20


def test_prose_counts_panels():
    """In the text panels are first and second: sides change on a phone."""
    side = re.compile(
        r"\b(left|right)(-hand)? (panel|picture|plot)\b|\((left|right)\)|\*(Left|Right)\*"
        r"|\b[Oo]n the (left|right):",
    )
    for chapter in notebooks.chapters():
        for cell in notebooks.read(chapter).cells:
            if cell.cell_type == "markdown":
                found = side.search(cell.source)
                assert not found, f"{chapter.name}: {found[0]}"
