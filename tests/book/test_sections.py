"""A chapter is a short first page and lectures, each of a length that a reader can keep in mind.

Counted are the words of running text and of lists, a formula in a line as one word. Code,
displayed formulas, tables, labels and what follows "Exercises" are not: an exercise is for after
the lecture.
"""

from __future__ import annotations

import re

import pytest

from tools import exercises, notebooks, numbering

CHAPTERS = {
    one[0].removeprefix("book/"): [notebooks.ROOT / f"{page}.md" for page in one]
    for one in numbering.chapters().values()
    if re.match(r"book/(\d\d_|foundations)", one[0])
}
FIRST, LECTURE, EQUATIONS = 900, 3500, 12
PAGES = {"foundations": 8}  # and five of any other chapter

LECTURES = [
    page
    for one in CHAPTERS
    for page in CHAPTERS[one][1:]
    if not page.stem.endswith("_exercises")  # which stand on a page of their own
]


def words(text: str) -> int:
    """Return the number of words of a page."""
    text = re.sub(r"\A---\n.*?\n---\n", "", exercises.without_code(text), flags=re.DOTALL)
    text = re.split(r"^## Exercises$", text, flags=re.MULTILINE)[0]
    text = re.sub(r"^\$\$\n.*?\n\$\$.*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = "\n\n".join(re.sub(r"\$[^$]+\$", "x", one) for one in text.split("\n\n"))
    text = re.sub(r"^\|.*$|^\(sec-.*\)=$|^[`:]{3,}.*$|^:\w+:.*$", "", text, flags=re.MULTILINE)
    return len(text.split())


def equations(text: str) -> int:
    """Return how many numbered equations a page has."""
    return len(re.findall(r"^\$\$ \(eq-\S+\)$", text, re.MULTILINE))


def test_words_are_counted_without_formulas_and_exercises():
    text = "---\na: b\n---\n\n# A title\n\nAn $x + y$ of\n\n$$\nx y\n$$ (eq-x)\n\n- one.\n\n"
    text += (
        "| a | b |\n\n```{code-cell} ipython3\nx = 1\n```\n\n(sec-x)=\n## Exercises\n\nDo it.\n"
    )
    assert words(text) == 8
    assert equations(text) == 1


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_is_split(chapter):
    assert 2 <= len(CHAPTERS[chapter]) <= PAGES.get(chapter, 5)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_first_page_is_the_chapter_in_five_minutes(chapter):
    """It asks and answers, shows, says how sure we are, and leads to every lecture."""
    first, *lectures = CHAPTERS[chapter]
    text = first.read_text()
    assert ":::{admonition} Question and answer\n" in text
    assert words(text) <= FIRST
    assert equations(text) == 0
    assert "\n    name: fig-" in text
    sure = text.split("\n## How sure we are\n")[1].split("\n## ")[0]
    assert re.findall(r"^- \*\*(.+?)\*\*", sure, re.MULTILINE) == [
        "Proved",
        "Replica theory",
        "Measured",
    ]
    listed = text.split("\n## The lectures\n")[1]
    assert re.findall(r"^\d\. \[[^\]]+\]\((\S+\.md)\)", listed, re.MULTILINE) == [
        one.name for one in lectures
    ]


@pytest.mark.parametrize("page", LECTURES, ids=lambda path: path.stem)
def test_lecture_is_one_question_on_a_few_pages(page):
    """It begins with its question, ends with what it showed, and can be read at a sitting."""
    text = page.read_text()
    begin = text.split("\n# ")[1]
    assert re.match(r"[^\n]+\?\n\n:::\{admonition\} Question\n", begin)
    assert "?" in begin.split(":::")[1]
    assert "\n## What we learned\n\n- " in text
    assert words(text) < LECTURE
    assert equations(text) <= EQUATIONS


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_pages_are_named_in_their_order(chapter):
    number = chapter if chapter == "foundations" else chapter[:2]
    for count, page in enumerate(CHAPTERS[chapter][1:], start=1):
        assert page.name.startswith(f"{number}_{count}_")
    place = notebooks.chapters().index
    order = [place(page) for page in CHAPTERS[chapter]]
    assert order == list(range(order[0], order[0] + len(order)))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_links_lead_to_the_page_that_has_the_section(chapter):
    """A section that moved to a lecture is linked there, from every page of the book."""
    for page in notebooks.BOOK.glob("*.md"):
        for name, anchor in re.findall(r"\]\((\w+\.md)#([\w-]+)\)", page.read_text()):
            if name in [one.name for one in CHAPTERS[chapter]]:
                titles = exercises.headings(notebooks.BOOK / name)
                assert anchor in map(exercises.anchor, titles), f"{page.name}: {name}#{anchor}"


@pytest.mark.parametrize("chapter", [one for one in CHAPTERS if one != "foundations"])
def test_first_page_says_what_can_be_tried(chapter):
    """After its slider, with the answer folded."""
    text = CHAPTERS[chapter][0].read_text()
    tried = text.index("**Try it.** ")
    assert text.index("display.slider(") < tried
    assert re.match(
        r".*?\?\n\n:::\{admonition\} Answer\n:class: dropdown\n", text[tried:], re.DOTALL
    )
