"""The printed book, held on a small one of two chapters that is built and printed alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader
from sphinx.application import Sphinx

from tools import bookmarks, citation, paper, pdf

CONFIG = """\
import sys
sys.path.append({tools!r})
extensions = ["myst_parser", "sphinx_exercise", "single_page"]
project, html_theme, numfig = "Small", "sphinx_book_theme", True
exercise_style, myst_heading_anchors = "solution_follow_exercise", 3
suppress_warnings = ["toc.not_included"]
"""
INDEX = """\
# A small book

```{{toctree}}
:caption: Chapters
{pages}
```

```{{toctree}}
:caption: API reference
api/index
```
"""
CHAPTER = """\
# {number}. Chapter {number}

See [the exercises](#exercises), [those of chapter 1](01_one.md#exercises), [chapter 2](02_two.md),
[the package](api/index.md) and [elsewhere](https://example.org/page.html#there).

## Exercises

By hand. Solutions are folded, and are executed with the page.

```{{exercise}} Of chapter {number}
:label: ex-{number}
What is the answer?
```

```{{solution}} ex-{number}
The answer is {number}{number}.
```
"""

PARTS = {"book/01_one": "Chapters", "book/02_two": "Chapters", "book/api/index": "API reference"}


@pytest.fixture(scope="module")
def single(tmp_path_factory) -> str:
    """Return a small book on one page, as Sphinx writes it."""
    source = tmp_path_factory.mktemp("small")
    (source / "book" / "api").mkdir(parents=True)
    tools = str(Path(paper.__file__).parent)
    (source / "conf.py").write_text(CONFIG.format(tools=tools) + "root_doc = 'book/index'\n")
    (source / "book" / "index.md").write_text(INDEX.format(pages="01_one\n02_two"))
    for number, name in enumerate(("01_one", "02_two"), 1):
        (source / "book" / f"{name}.md").write_text(CHAPTER.format(number=number))
    (source / "book" / "api" / "index.md").write_text("# The package\n\nNames.\n")
    built = source / "built"
    app = Sphinx(source, source, built, built / "doctrees", "singlehtml", status=None)
    app.build()
    return (built / "book" / "index.html").read_text()


@pytest.fixture(scope="module")
def book(single) -> BeautifulSoup:
    """Return the small book as it is printed."""
    return BeautifulSoup(paper.typeset(single, PARTS), "html.parser")


def links(tag) -> dict[str, str]:
    """Return where the links of a part of the book lead, by their text."""
    return {" ".join(one.get_text().split()): one["href"] for one in tag.find_all("a", href=True)}


def test_places_of_one_name_are_told_apart(single, book):
    ids = [one["id"] for one in book.find_all(id=True)]
    assert len(ids) == len(set(ids))
    first, second = book.find(id="chapter-1"), book.find(id="chapter-2")
    for chapter in (first, second):
        there = chapter.find("h2")["id"]
        assert links(chapter)["the exercises"] == f"#{there}"
        assert links(chapter)["those of chapter 1"] == "#book-01-one--exercises"
        assert links(chapter)["chapter 2"] == "#document-book/02_two"
        assert links(chapter)["elsewhere"] == "https://example.org/page.html#there"


def test_every_link_has_a_place(book):
    places = {one["id"] for one in book.find_all(id=True)}
    inside = [one for one in links(book).values() if one.startswith("#")]
    assert len(inside) > 10
    assert {one.removeprefix("#") for one in inside} <= places


def test_the_api_is_printed_if_asked_for(single, book):
    whole = BeautifulSoup(paper.typeset(single, PARTS, api=True), "html.parser")
    titles = [one.get_text() for one in whole.find_all("h1")]
    assert titles[-2:] == [paper.SOLUTIONS, "The package"]
    assert [one.get_text() for one in whole.select("#contents p")] == ["Chapters", "API reference"]
    assert links(whole.find(id="chapter-1"))["the package"] == "#document-book/api/index"
    assert "The package" not in [one.get_text() for one in book.find_all("h1")]
    assert "the package" in book.find(id="chapter-1").get_text()
    assert "the package" not in links(book.find(id="chapter-1"))
    site = "https://example.org/book/"
    there = BeautifulSoup(paper.typeset(single, PARTS, site=site), "html.parser")
    assert links(there.find(id="chapter-1"))["the package"] == f"{site}book/api/index.html"


def test_solutions_stand_at_the_end(book):
    for number in (1, 2):
        chapter = book.find(id=f"chapter-{number}")
        assert f"The answer is {number}{number}." not in chapter.get_text()
        assert "folded" not in chapter.get_text()
        part = book.find(id=f"solutions-chapter-{number}").parent
        assert f"The answer is {number}{number}." in part.get_text()
        solution, exercise = part.find("div"), chapter.find(class_="exercise")
        assert links(solution) == {f"Exercise {number} (Of chapter {number})": f"#ex-{number}"}
        assert links(exercise) == {"Solution: page": f"#{solution['id']}"}
    assert book.find_all("section", recursive=True)[-1].find_parent(id="solutions")


def test_contents_name_parts_chapters_and_sections(book):
    lines = book.find(id="contents").find_all(["p", "a"])
    assert [one.get_text() for one in lines] == [
        *("Introduction", "Chapters", "1. Chapter 1", "Exercises", "2. Chapter 2", "Exercises"),
        *("Solutions of the exercises", "1. Chapter 1", "2. Chapter 2"),
    ]
    headings = {one.get("id", one.parent.get("id")): one for one in book.find_all(["h1", "h2"])}
    for line in book.find(id="contents").find_all("a"):
        assert headings[line["href"][1:]].name == f"h{line['class'][0][-1]}"


def test_pages_belong_to_parts():
    nested = [{"file": "book/a", "sections": [{"file": "book/b"}]}, {"file": "book/c"}]
    found = paper.parts({"parts": [{"caption": "One", "chapters": nested}]})
    assert found == {"book/a": "One", "book/b": "One", "book/c": "One"}


def test_the_title_page_names_authors_and_papers(book):
    cited = citation.read()
    page = book.find(id="title-page").get_text()
    for paper_cited in cited["references"]:
        assert paper_cited["title"] in page
        assert all(author["family-names"] in page for author in paper_cited["authors"])
    assert citation.names(cited) in page
    assert cited["version"] in page
    assert book.title.string == cited["title"]


def test_printed_numbers_are_those_of_the_pages(book, browser, tmp_path):
    page, output = tmp_path / "small.html", tmp_path / "small.pdf"
    page.write_text(re.sub(r"<(script|link)\b.*?>", "", str(book)))
    tab = browser.new_page()
    tab.goto(page.as_uri())
    lines = pdf.print_page(tab, output)
    tab.close()
    count = bookmarks.add(output, lines, {"Author": "A. Author", "Title": "A title"})
    reader = PdfReader(output)
    assert count == len(reader.pages) == 6
    assert reader.metadata.author == "A. Author"
    texts = [" ".join(one.extract_text().split()) for one in reader.pages]
    assert "Exercise 2 (Of chapter 2), page 5" in texts[5]
    assert texts[4].count("Solution: page 6") == 1
    assert re.search(r"1\. Chapter 1 4 Exercises 4 2\. Chapter 2 5 Exercises 5", texts[1])
    assert texts[3].startswith("1. Chapter 1 4 1. Chapter 1 See")  # the head and the foot first
    assert texts[0].startswith("Wide Flat Minima")  # without
    named = [
        (one.title, reader.get_destination_page_number(one) + 1)
        for one in reader.outline
        if not isinstance(one, list)
    ]
    assert named == [
        *(("Introduction", 3), ("1. Chapter 1", 4), ("2. Chapter 2", 5)),
        ("Solutions of the exercises", 6),
    ]
    inner = next(one for one in reader.outline if isinstance(one, list))
    assert [one.title for one in inner] == ["Exercises"]
