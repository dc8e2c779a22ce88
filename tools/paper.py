"""The one page of the book as a printed book: a title page, contents, chapters, solutions.

What only a site can show is left out: the downloads and the gallery, and what the pages fold away,
which is the code that draws figures and the claims that the scorecard has. Solutions move to the
end of the book. A number of a page is left open, as an empty element that names a place in
`PAGE_OF`; `tools/pdf.py` fills these in when it knows the pages.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from bs4 import BeautifulSoup, Tag

from tools import title_page
from tools.students import FOLDED
from tools.title_page import element

PAGE_OF = "data-page-of"
OUTLINE = "data-outline"
SITE_ONLY = ("book/downloads", "book/gallery")
API = "book/api/"
INTRODUCTION = "Introduction"  # the first chapter: the title of the book stands on its title page
SOLUTIONS = "Solutions of the exercises"
LEFT_OUT = "details.above-input, details.below-input, details > summary, .headerlink, script"
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True)
class Chapter:
    """A page of the book: its name there, the part to which it belongs, and its text."""

    page: str
    part: str
    section: Tag

    @property
    def title(self) -> str:
        """The heading, without marks."""
        return " ".join(self.section.find("h1").get_text().split())


def typeset(text: str, parts: dict[str, str], *, api: bool = False, site: str = "") -> str:
    """Return the page to print, made from the one that Sphinx writes.

    Parameters
    ----------
    text
        The page of the builder ``singlehtml``.
    parts
        The part of the book to which each page belongs.
    api
        Whether the API reference is printed.
    site
        The address of the book, for links to what is not printed; without one these are text.
    """
    soup = BeautifulSoup(text, "html.parser")
    article = soup.find("article")
    for one in article.select(LEFT_OUT):
        one.decompose()
    for one in article.select(".exercise > section, .solution > section"):
        del one["id"]  # all have the same
    chapters = [
        one
        for one in split(article, parts)
        if one.page not in SITE_ONLY and (api or not one.page.startswith(API))
    ]
    reference = [one for one in chapters if one.page.startswith(API)]
    chapters = chapters[: len(chapters) - len(reference)]  # the last part of the book
    chapters += [solutions(soup, chapters), *reference]
    article.clear()
    article.append(title_page.make(soup))
    article.append(contents(soup, chapters))
    for one in chapters:
        article.append(one.section)
    mend_links(article, site)
    name_headings(article)
    return document(soup, article, chapters)


def parts(contents: dict) -> dict[str, str]:
    """Return the part of each page, from a table of contents such as `_toc.yml`."""
    return {
        name: part["caption"] for part in contents["parts"] for name in _files(part["chapters"])
    }


def _files(entries: list[dict]) -> Iterator[str]:
    for entry in entries:
        if "file" in entry:
            yield entry["file"]
        yield from _files(entry.get("sections", ()))


def split(article: Tag, parts: dict[str, str]) -> list[Chapter]:
    """Take the pages out of the first one, in which Sphinx nests them all.

    What is nested in them stays: the lectures of a chapter are its sections.
    """
    root = article.find("section")
    inner = set(map(id, root.select(".toctree-wrapper .toctree-wrapper span[id^=document-]")))
    every = root.select(".toctree-wrapper span[id^=document-]")
    marks = [one for one in every if id(one) not in inner]
    chapters = []
    for mark in marks:
        page = mark["id"].removeprefix("document-")
        section = mark.find_next_sibling("section")
        chapters.append(Chapter(page, parts.get(page, ""), section))
        top = int(section.find(HEADINGS).name[1:])
        for heading in section.find_all(HEADINGS):
            heading.name = f"h{int(heading.name[1:]) - top + 1}"
    for one, mark in zip(chapters, marks, strict=True):
        one.section.extract().insert(0, mark.extract())
    for wrapper in root.select(".toctree-wrapper"):
        wrapper.decompose()
    root.find("h1").string = INTRODUCTION
    return [Chapter("book/index", "", root), *chapters]


def solutions(soup: BeautifulSoup, chapters: list[Chapter]) -> Chapter:
    """Take the solutions out of the chapters, and return them as a chapter of its own."""
    section = element(soup, "section", id="solutions")
    section.append(element(soup, "h1", SOLUTIONS))
    for chapter in chapters:
        part = element(soup, "section", id=f"solutions-{chapter.section['id']}")
        part.append(element(soup, "h2", chapter.title))
        for exercise in chapter.section.select("div.exercise"):
            solution = exercise.find_next("div", class_=("exercise", "solution"))
            if solution is not None and "solution" in solution["class"]:
                part.append(moved(soup, exercise, solution))
        if part.find("div"):
            section.append(part)
        for words in chapter.section.find_all(string=FOLDED):
            words.replace_with(FOLDED.sub(" Solutions stand at the end of the book.", words))
    return Chapter("solutions", chapters[-1].part, section)


def moved(soup: BeautifulSoup, exercise: Tag, solution: Tag) -> Tag:
    """Take the solution out, with a link to its exercise, and leave a link to it there."""
    back = element(soup, "a", href=f"#{exercise['id']}")
    for one in copy.copy(exercise.find(class_="admonition-title")).contents[:]:
        back.append(one)
    title = solution.find(class_="admonition-title")
    title.clear()
    title.extend([back, element(soup, "span", ", page "), number(soup, exercise["id"])])
    there = element(soup, "p", **{"class": "wfm-solved"})
    link = element(soup, "a", "Solution: page ", href=f"#{solution['id']}")
    link.append(number(soup, solution["id"]))
    there.append(link)
    exercise.append(there)
    return solution.extract()


def contents(soup: BeautifulSoup, chapters: list[Chapter]) -> Tag:
    """Return the contents: parts, chapters and sections, with room for the number of the page."""
    nav = element(soup, "nav", id="contents")
    nav.append(element(soup, "h1", "Contents"))
    part = ""
    for chapter in chapters:
        if chapter.part != part:
            part = chapter.part
            nav.append(element(soup, "p", part, **{"class": "wfm-part"}))
        for level, heading, place in headings(chapter.section):
            line = element(soup, "a", href=f"#{place}", **{"class": f"wfm-level-{level}"})
            line[OUTLINE] = " ".join(heading.get_text().split())
            title = element(soup, "span")
            title.extend(copy.copy(one) for one in heading.contents)
            for link in title.find_all("a"):
                link.unwrap()
            line.extend([title, element(soup, "i"), number(soup, place)])
            nav.append(line)
    return nav


def headings(section: Tag) -> Iterator[tuple[int, Tag, str]]:
    """Yield the headings of a chapter and of its sections: level, heading and place."""
    for heading in section.find_all(("h1", "h2")):
        yield int(heading.name[1:]), heading, heading.parent["id"]


def name_headings(article: Tag) -> None:
    """Move the names of sections to their headings, which may have gone on to the next page."""
    for heading in article.find_all(HEADINGS[1:]):
        section = heading.parent
        if section.name == "section" and "id" in section.attrs and "id" not in heading.attrs:
            heading["id"] = section["id"]
            del section["id"]


def mend_links(article: Tag, site: str) -> None:
    """Have links lead to places of the printed book, or to the site, or take them away."""
    places = {one["id"] for one in article.find_all(id=True)}
    for link in article.find_all("a", href=True):
        address = link["href"]
        if re.match(r"\w+:", address):
            continue
        place = address.partition("#")[2]
        place = "contents" if place == "document-book/index" else place
        if place in places:
            link["href"] = f"#{place}"
        elif site and address.startswith("../"):
            link["href"] = site + address.removeprefix("../")
        elif site and place.startswith("document-"):
            link["href"] = f"{site}{place.removeprefix('document-')}.html"
        else:
            link.unwrap()


def document(soup: BeautifulSoup, article: Tag, chapters: list[Chapter]) -> str:
    """Return the whole page: what the theme says of style and formulas, and nothing else of it."""
    kept = soup.head.find_all("link", rel="stylesheet")
    kept += [one for one in soup.head.find_all("script") if "mathjax" in str(one).lower()]
    style = element(soup, "style", running_heads(chapters))
    head = "\n".join(str(one) for one in (*kept, style))
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{escape(title_page.about()['Title'])}</title>\n{head}</head>\n"
        f'<body><main class="bd-main bd-content">{article}</main></body></html>\n'
    )


def running_heads(chapters: list[Chapter]) -> str:
    """Return the style that prints the title of a chapter on top of its pages."""
    rules = []
    for count, chapter in enumerate(chapters):
        title = chapter.title.replace("\\", "\\\\").replace('"', '\\"')
        rules.append(
            f'[id="{chapter.section["id"]}"] {{ page: chapter{count}; }}\n'
            f'@page chapter{count} {{ @top-center {{ content: "{title}"; }} }}'
        )
    return "\n".join(rules)


def number(soup: BeautifulSoup, place: str) -> Tag:
    """Return the element into which the number of the page of a place is written."""
    return element(soup, "span", **{PAGE_OF: place})
