"""One numbering: what a page shows is what the sources count, and references lead to it."""

from __future__ import annotations

import re
from collections import defaultdict

import jupytext
import pytest
from bs4 import BeautifulSoup

from tests.conftest import HTML, parsed
from tools import exercises, notebooks, numbering

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
  - chapters:
      - file: two
        sections: [{file: two_more}]
      - file: appendix
      - file: other
"""
TWO = """\
# 2. Two

$$
x
$$ (eq-x)

$$
not counted
$$

```{exercise-start} Do it
:label: ex-do
```

```{code-cell} ipython3
---
tags: [hide-input]
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
MORE = """\
# More of it

$$
y
$$ (eq-y)

```{table} Two numbers.
:align: left
:name: tab-two
| a | b |
| - | - |
```
"""


@pytest.fixture
def toy(tmp_path):
    """Return the folder of a book of which one chapter has two pages."""
    texts = {"_toc.yml": CONTENTS, "index.md": "# Front\n", "two.md": TWO, "two_more.md": MORE}
    texts["appendix.md"] = "# Appendix A. The rest\n\n$$\nz\n$$ (eq-z)\n"
    texts["other.md"] = "# Notation\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_chapter_counts_through_its_pages(toy):
    said = {label: one.spoken for label, one in numbering.numbers(toy).items()}
    assert said == {
        "eq-x": "(2.1)",
        "ex-do": "Exercise 2.1",
        "fig-line": "Figure 2.1",
        "eq-y": "(2.2)",
        "tab-two": "Table 2.1",
        "eq-z": "(A.1)",
    }
    assert list(numbering.pages(toy))[1:3] == [("two", "2"), ("two_more", "2")]
    assert numbering.chapters(toy) == {"2": ["two", "two_more"], "A": ["appendix"]}


@pytest.mark.parametrize(
    ("page", "label", "message"),
    [("two_more", "eq-x", "eq-x stands on two, too"), ("other", "eq-w", "needs a page")],
)
def test_label_without_a_number_of_its_own_is_refused(toy, page, label, message):
    with (toy / f"{page}.md").open("a") as file:
        file.write(f"\n$$\nw\n$$ ({label})\n")
    with pytest.raises(ValueError, match=message):
        numbering.numbers(toy)


def test_notebooks_carry_the_numbers_of_the_book(toy):
    """In Markdown that any reader of notebooks shows, captions included."""
    known = numbering.numbers(toy)
    text = (
        "By [](eq-x) and {numref}`ex-do`:\n\n$$\ny\n$$ (eq-y)\n\n$$\nfree\n$$\n\n"
        "```{exercise-start} Do it\n:label: ex-do\n```\n*By hand.* It.\n```{exercise-end}\n```\n\n"
        "```{table} Two numbers.\n:name: tab-two\n\n| a |\n| - |\n```\n\n"
        "````{solution-start} ex-do\n:class: dropdown\n````\nDone.\n\n````{solution-end}\n````\n"
    )
    assert numbering.plain(text, known) == (
        "By (2.1) and Exercise 2.1:\n\n$$\ny\n\\tag{2.2}\n$$\n\n$$\nfree\n$$\n\n"
        "**Exercise 2.1. Do it**\n\n*By hand.* It.\n\n**Table 2.1.** Two numbers.\n\n"
        "| a |\n| - |\n\n"
        "**Solution of Exercise 2.1**\n\nDone."
    )
    cells = list(numbering.captioned(jupytext.reads(TWO, "md:myst").cells, known))
    assert cells[-1].source == "**Figure 2.1.** A line of two."
    assert cells[-2].cell_type == "code"


@pytest.mark.parametrize("page", PAGES)
def test_no_number_is_written_by_hand(page):
    """A number in plain text is one that nothing follows when something is put before it."""
    text = exercises.without_code((notebooks.ROOT / f"{page}.md").read_text())
    assert not PLAIN.findall(text)


def test_every_exercise_has_a_number():
    known = numbering.numbers()
    assert {one.label for one in exercises.everywhere()} == {
        label for label, number in known.items() if number.kind == "exercise"
    }


def soup(page: str) -> BeautifulSoup:
    return parsed(HTML / f"{page}.html").article


def words(node) -> str:
    return " ".join(node.get_text().split())


def test_pages_show_the_numbers_of_the_sources(html):
    """All of them, in their order, in the right place; and no other."""
    expected, shown = defaultdict(list), defaultdict(list)
    for label, number in numbering.numbers().items():
        name = f"equation-{label}" if number.kind == "equation" else label
        expected[number.kind].append((number.page, name, str(number)))
    for page in PAGES:
        for kind, (place, form) in SHOWN.items():
            for node in soup(page).select(place):
                name = node.find_parent(id=True)["id"]
                shown[kind].append((page, name, re.match(form, words(node))[1]))
    assert shown == expected
    assert len(shown["equation"]) > 190
    assert len(shown["exercise"]) >= 60


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
