"""One numbering: by chapter, on pages and in notebooks; references lead to what has the number."""

from __future__ import annotations

import re
from collections import Counter

import jupytext
import pytest
from bs4 import Tag

from tests.conftest import HTML, parsed
from tools import exercises, notebooks, numbering
from wfmlib.book.exercises.table import QUESTIONS

SHOWN = {
    "equation": ("div.math[id] > .eqno", r"\(([\dA-Z]+\.\d+)\)"),
    "exercise": (".admonition.exercise[id] .caption-number", r"Exercise ([\dA-Z]+\.\d+)"),
    "figure": ("figure[id] > figcaption .caption-number", r"Figure ([\dA-Z]+\.\d+)"),
    "table": ("table[id] > caption .caption-number", r"Table ([\dA-Z]+\.\d+)"),
}
SPOKEN = re.compile(r"(?:(Exercise|Figure|Table) )?\(?([\dA-Z]+\.\d+)\)?")
PLAIN = re.compile(r"\b(?:exercises?|figures?|tables?|equations?|eqs?\.)\s+\(?[\dA-Z]\b", re.I)
NUMREF = re.compile(r"\{numref\}`([^`]+)`")
PAGES = [page for page, _ in numbering.pages()]
CONTENTS = """\
root: index
parts:
  - numbered: 4
    chapters: [{file: one}, {file: two, sections: [{file: more}]}]
  - chapters: [{file: appendix}, {file: other}]
  - numbered: 4
    chapters: [{file: three}]
"""
FIGURE = """\
```{code-cell} ipython3
---
mystnb:
  figure:
    caption: 'A line
      of two.'
    name: fig-line
  image:
    alt: A line.
---
```
"""
KNOWN = {
    "eq-y": numbering.Number("equation", "2.2"),
    "ex-do": numbering.Number("exercise", "2.1"),
    "fig-line": numbering.Number("figure", "2.1"),
    "tab-two": numbering.Number("table", "2.1"),
    "book/02_1_more": numbering.Number("page", "2.1"),
}


def test_chapters_are_counted_through_the_parts(tmp_path):
    """An appendix has the letter of its title; other pages belong to no chapter."""
    titles = {"index": "Front", "appendix": "Appendix A. The rest", "other": "Notation"}
    for name in ("index", "one", "two", "more", "three", "appendix", "other"):
        (tmp_path / f"{name}.md").write_text(f"# {titles.get(name, name)}\n")
    (tmp_path / "_toc.yml").write_text(CONTENTS)
    assert numbering.chapters(tmp_path) == {
        "1": ["one"],
        "2": ["two", "more"],
        "A": ["appendix"],
        "3": ["three"],
    }
    assert dict(numbering.pages(tmp_path))["other"] == ""


def test_notebooks_carry_the_numbers_of_the_book():
    """In Markdown that any reader of notebooks shows, captions included."""
    text = (
        "By [](eq-y) and {numref}`ex-do`:\n\n$$\ny\n$$ (eq-y)\n\n$$\nfree\n$$\n\n"
        "```{exercise-start} Do it\n:label: ex-do\n```\n*By hand.* It.\n```{exercise-end}\n```\n\n"
        "```{table} Two numbers.\n:name: tab-two\n\n| a |\n| - |\n```\n\n"
        "````{solution-start} ex-do\n:class: dropdown\n````\nDone.\n\n````{solution-end}\n````\n"
    )
    assert numbering.plain(text, KNOWN) == (
        "By (2.2) and Exercise 2.1:\n\n$$\ny\n\\tag{2.2}\n$$\n\n$$\nfree\n$$\n\n"
        "**Exercise 2.1. Do it**\n\n*By hand.* It.\n\n**Table 2.1.** Two numbers.\n\n"
        "| a |\n| - |\n\n"
        "**Solution of Exercise 2.1**\n\nDone."
    )
    cells = list(numbering.captioned(jupytext.reads(FIGURE, "md:myst").cells, KNOWN))
    assert cells[-1].source == "**Figure 2.1.** A line of two."
    assert cells[-2].cell_type == "code"
    assert numbering.titled("# More\n\nText", "book/02_1_more", KNOWN) == "# 2.1. More\n\nText"


def test_numbers_are_those_of_the_built_pages(tmp_path):
    with pytest.raises(SystemExit, match="make book"):
        numbering.numbers(tmp_path / "none.json")


@pytest.mark.parametrize("page", PAGES)
def test_no_number_is_written_by_hand(page):
    """A number in plain text is one that nothing follows when something is put before it."""
    text = exercises.without_code((notebooks.ROOT / f"{page}.md").read_text())
    assert not PLAIN.findall(text)


def test_every_exercise_has_a_number(html):
    known = numbering.numbers()
    labels = {label for label, number in known.items() if number.kind == "exercise"}
    assert {one.label for one in exercises.everywhere()} == labels
    for number, question in QUESTIONS.items():  # whose answers can be checked
        assert known[question.label].spoken == f"Exercise {number}"


def soup(page: str, part: str = "article") -> Tag:
    return parsed(HTML / f"{page}.html").select_one(part)


def words(node) -> str:
    return " ".join(node.get_text().split())


def test_everything_is_counted_by_chapter(html):
    """Through the lectures of a chapter, in their order; and what is noted is what is shown."""
    known, counts = numbering.numbers(), Counter()
    for page, chapter in numbering.pages():
        for kind, (place, form) in SHOWN.items():
            for node in soup(page).select(place):
                counts[chapter, kind] += 1
                assert chapter, f"{page}: a number on a page without one"
                number = f"{chapter}.{counts[chapter, kind]}"
                assert re.match(form, words(node))[1] == number
                label = node.find_parent(id=True)["id"].removeprefix("equation-")
                assert (known[label].kind, str(known[label])) == (kind, number)
    total = Counter()
    for (_, kind), count in counts.items():
        total[kind] += count
    assert total["equation"] > 190
    assert total["exercise"] >= 60
    assert sum(total.values()) == sum(one.kind != "page" for one in known.values())


def test_chapters_and_lectures_have_their_numbers(html):
    """In their titles and in the sidebar; the sections of a page have none."""
    sidebar = [words(one) for one in soup("book/index", "nav.bd-links").select("a")]
    for chapter, (first, *lectures) in numbering.chapters().items():
        if chapter.isdigit():
            for count, page in enumerate((first, *lectures)):
                number = f"{chapter}.{count}. " if count else f"{chapter}. "
                title, *sections = soup(page).select("h1, h2, h3")
                assert words(title).startswith(number)
                assert words(title).removesuffix("#") in sidebar
                assert not [one for one in sections if one.select_one(".section-number")]


@pytest.mark.parametrize("page", PAGES)
def test_references_lead_to_what_has_the_number(page, html):
    """Every number in a link is the one that its target shows, and every reference is a link."""
    text = exercises.without_code((notebooks.ROOT / f"{page}.md").read_text())
    references = NUMREF.findall(text) + re.findall(r"\[\]\((eq-[^)]+)\)", text)
    followed = 0
    for link in soup(page).select("a.reference.internal"):
        said = SPOKEN.fullmatch(words(link))
        if not said:
            continue
        address, _, name = link["href"].partition("#")
        there = f"{page.rpartition('/')[0]}/{address.removesuffix('.html')}" if address else page
        target = soup(there.replace("book/api/../../", "")).find(id=name)
        kind = said[1].lower() if said[1] else "equation"
        place = SHOWN[kind][0].split(" ", 1)[1].removeprefix("> ")
        assert said[2] == re.match(SHOWN[kind][1], words(target.select_one(place)))[1]
        followed += 1
    assert followed >= len(references)
