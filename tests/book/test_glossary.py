"""The glossary: chapters mark its terms, and the built pages hold what hovering one shows."""

from __future__ import annotations

import json
import re

import pytest

from tools import exercises, notebooks, numbering

SOURCE = (notebooks.BOOK / "glossary.md").read_text()
ENTRIES = re.findall(r"^(\S.*)$", re.search(r"^:sorted:\n(.*)^```$", SOURCE, re.M | re.S)[1], re.M)
MARK = re.compile(r"\{term\}`([^`]+)`")
NUMBERED = [one for one in notebooks.chapters() if re.match(r"\d", one.stem)]


def named(chapter) -> list[str]:
    """Return the entries that a chapter marks."""
    return [mark.rpartition("<")[2].strip(">") for mark in MARK.findall(chapter.read_text())]


@pytest.fixture(scope="module")
def tips(html) -> dict[str, str]:
    """Return what links show, by where they lead."""
    script = (html / "_static" / "tips.js").read_text()
    return json.JSONDecoder().raw_decode(script.partition("window.wfmTips = ")[2])[0]


def test_entries_are_in_order_and_short():
    assert len(ENTRIES) > 60
    definitions = re.split(r"^\S.*\n", SOURCE.split(":sorted:\n")[1], flags=re.M)[1:]
    assert all(len(one.split()) <= 65 for one in definitions)
    assert sorted(ENTRIES, key=str.lower) == sorted(set(ENTRIES), key=str.lower)


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_terms_are_marked_once_and_sparingly(chapter):
    found = named(chapter)
    assert set(found) <= set(ENTRIES)
    assert len(set(found)) == len(found), "a term is marked where it is used first"
    assert len(found) <= 14


@pytest.mark.parametrize("chapter", [*"123456789", "10", "11", "12", "13"])
def test_chapter_marks_its_terms(chapter):
    pages = numbering.chapters()[chapter]
    marked = {one for page in pages for one in named(notebooks.ROOT / f"{page}.md")}
    assert len(marked) >= 5


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_terms_are_marked_in_running_text_only(chapter):
    text = chapter.read_text()
    assert not MARK.search("\n".join(re.findall(r"^#+ .*$", text, re.M)))
    for exercise in exercises.EXERCISE.finditer(text):
        assert not MARK.search(exercise[0])
    assert "{term}" not in "\n".join(
        one.source for one in notebooks.read(chapter).cells if one.cell_type == "code"
    )


def test_marks_are_plain_text_elsewhere():
    text = "A {term}`load`, two {term}`loads <load>`, *{term}`1RSB <breaking (1RSB)>`*."
    assert notebooks.without_terms(text) == "A load, two loads, *1RSB*."


def test_a_tip_for_every_entry(tips):
    """The text is in the built files, so that nothing has to be fetched."""
    shown = [html for address, html in tips.items() if "#term-" in address]
    assert len(shown) == len(ENTRIES)
    for entry in ENTRIES:
        assert sum(html.startswith(f"<strong>{entry}</strong>") for html in shown) == 1
    assert all(len(re.sub(r"<.*?>", "", html)) > 40 for html in shown)
    assert not any("<a " in html or "http" in html or "()" in html for html in tips.values())


def test_a_tip_for_every_numbered_formula(tips):
    labels = {
        (page.stem, label)
        for page in notebooks.BOOK.glob("*.md")
        for label in re.findall(r"^\$\$ \((eq-[^)]+)\)$", page.read_text(), re.M)
    }
    assert len(labels) > 150
    for page, label in labels:
        assert r"\[" in tips[f"book/{page}.html#equation-{label}"]


@pytest.mark.parametrize("chapter", NUMBERED, ids=lambda path: path.stem)
def test_links_of_a_page_have_their_tips(chapter, html, tips):
    page = (html / "book" / f"{chapter.stem}.html").read_text()
    assert 0 < page.index("_static/tips.js") < page.index("_static/tooltips.js")
    found = re.findall(
        r'href="(glossary\.html#term-[^"]+)"><span class="xref std std-term">', page
    )
    assert len(found) == len(named(chapter))
    assert all(f"book/{address}" in tips for address in found)
