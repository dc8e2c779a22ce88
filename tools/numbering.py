"""The numbers of equations, exercises, figures and tables, read from the sources of the pages.

The number of a chapter stands in its title: ``# 2. Cross-entropy``, ``# Appendix A. The replica
method``. Pages below such a page in the table of contents belong to the same chapter. What is
numbered has a label, and each kind is counted through all pages of a chapter: Exercise 2.3 is the
third one of chapter 2. The rendered pages, notebooks, slides and the lists of exercises take their
numbers from here, so that they are the same everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from nbformat.v4 import new_markdown_cell

ROOT = Path(__file__).resolve().parent.parent
TITLE = re.compile(r"^# (?:Appendix )?(\d+|[A-Z])\. ", re.MULTILINE)
LABEL = re.compile(
    r"^\$\$ \((?P<equation>[^)\s]+)\)$"
    r"|^`{3,}\{exercise(?:-start)?\}[^\n]*\n:label: (?P<exercise>\S+)$"
    r"|^  figure:\n(?:    .*\n)*?    name: (?P<figure>\S+)$"
    r"|^[`:]{3,}\{table\}[^\n]*\n(?::.*\n)*?:name: (?P<table>\S+)$",
    re.MULTILINE,
)

EQUATION = re.compile(r"^\$\$\n(.*?)\n\$\$(?: \(([^)\s]+)\))?$", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"^(`{3,})\{exercise-start\} ([^\n]+)\n:label: (\S+)\n\1$", re.MULTILINE)
SOLUTION = re.compile(r"^(`{3,})\{solution-start\} (\S+)\n(?::.*\n)*\1$", re.MULTILINE)
TABLE = re.compile(
    r"^(`{3,})\{table\} ([^\n]+)\n:name: (\S+)\n\n(.*?)\n\1$", re.MULTILINE | re.DOTALL
)
END = re.compile(r"^(`{3,})\{(?:exercise|solution)-end\}\n\1\n*", re.MULTILINE)
REFERENCE = re.compile(r"\{numref\}`([^`]+)`|\[\]\(((?:eq|ex|fig|tab)-[^)]+)\)")


@dataclass(frozen=True)
class Number:
    """The number of something: its kind, the page where it stands, its chapter and its count."""

    kind: str
    page: str
    chapter: str
    count: int

    def __str__(self) -> str:
        return f"{self.chapter}.{self.count}"

    @property
    def spoken(self) -> str:
        """What a reference in running text says: "Figure 2.3", or "(2.3)" of an equation."""
        return f"({self})" if self.kind == "equation" else f"{self.kind.capitalize()} {self}"


def pages(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield the pages in the order of the contents, without suffix, and the chapter of each.

    The chapter is "" where neither the page nor one above it has a number in its title.
    """
    contents = yaml.safe_load((root / "_toc.yml").read_text())
    yield contents["root"], ""
    for part in contents["parts"]:
        for entry in part["chapters"]:
            yield from _below(entry, "", root)


def chapters(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the pages of every numbered chapter in their order, by the chapter's number.

    The first one, with the number in its title, is the chapter in short; the others are lectures.
    """
    found: dict[str, list[str]] = {}
    for page, chapter in pages(root):
        if chapter:
            found.setdefault(chapter, []).append(page)
    return found


def _below(entry: dict, chapter: str, root: Path) -> Iterator[tuple[str, str]]:
    if "file" in entry:
        title = TITLE.search((root / f"{entry['file']}.md").read_text())
        chapter = title[1] if title else chapter
        yield entry["file"], chapter
    for section in entry.get("sections", ()):
        yield from _below(section, chapter, root)


def of_text(text: str, page: str, chapter: str, counts: Counter) -> Iterator[tuple[str, Number]]:
    """Yield label and number of everything numbered in a text, counting on."""
    for match in LABEL.finditer(text):
        kind = match.lastgroup
        counts[chapter, kind] += 1
        yield match[kind], Number(kind, page, chapter, counts[chapter, kind])


def numbers(root: Path = ROOT) -> dict[str, Number]:
    """Return the numbers of the whole book by label.

    A figure on a page that belongs to no numbered chapter has a caption and no number.

    Raises
    ------
    ValueError
        If a label is used twice, or something else stands on such a page.
    """
    known, counts = {}, Counter()
    for page, chapter in pages(root):
        text = (root / f"{page}.md").read_text()
        for label, number in of_text(text, page, chapter, counts):
            if label in known:
                raise ValueError(f"{page}: the label {label} stands on {known[label].page}, too")
            if not chapter and number.kind == "figure":
                continue
            if not chapter:
                raise ValueError(f"{page}: {label} needs a page with a number in its title")
            known[label] = number
    return known


def referred(text: str, known: dict[str, Number]) -> str:
    """Return a text with its references in words: "Figure 2.3", or "(2.3)" of an equation."""
    return REFERENCE.sub(lambda match: known[match[1] or match[2]].spoken, text)


def plain(text: str, known: dict[str, Number]) -> str:
    """Return a text in Markdown that any reader of notebooks shows, with the numbers of the book.

    Without the build of the book nobody resolves a reference, and each notebook would count from
    one.
    """

    def equation(match: re.Match) -> str:
        tag = f"\\tag{{{known[match[2]]}}}\n" if match[2] else ""
        return f"$$\n{match[1]}\n{tag}$$"

    text = EQUATION.sub(equation, text)
    text = EXERCISE.sub(lambda match: f"**{known[match[3]].spoken}. {match[2]}**\n", text)
    text = TABLE.sub(lambda m: f"**{known[m[3]].spoken}.** {m[2]}\n\n{m[4]}", text)
    text = SOLUTION.sub(lambda match: f"**Solution of {known[match[2]].spoken}**\n", text)
    return referred(END.sub("\n", text), known).strip("\n")


def captioned(cells: list, known: dict[str, Number]) -> Iterator:
    """Yield the cells of a notebook, and after each that shows a figure one with its caption."""
    for cell in cells:
        yield cell
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            number = known.get(figure["name"])
            said = " ".join(figure["caption"].split())
            if number:  # a page without a number has figures without one
                said = f"**{number.spoken}.** {said}"
            yield new_markdown_cell(said, id=figure["name"], metadata={"tags": ["caption"]})
