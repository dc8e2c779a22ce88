"""Links of the pages where no page is beside: in notebooks, which leave the folder of the book.

With the address of the site (WFMLIB_SITE) a link leads there. Without, it becomes a text that
names the page. A formula is given with its number, so that a notebook can repeat what it cites.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache

from tools import first_cell, numbering
from tools.notebooks import BOOK

LINK = re.compile(r"(?<!!)\[([^\]\[]*)\]\(([^)\s]+)\)")
LABEL = re.compile(
    r"^:label: (\S+)$|^\((\S+)\)=$|^ *:?name: (\S+)$|^\$\$ \((\S+)\)$", re.MULTILINE
)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
FORMULA = re.compile(r"\[\]\((eq-[^)]+)\)")


def text(page: str) -> str:
    """Return the source of a page, named from the root of the book."""
    return (BOOK.parent / f"{page}.md").read_text("utf-8")


@cache
def places() -> dict[str, str]:
    """Return on which page each label stands."""
    pages = [page for page, _ in numbering.pages()]
    return {"".join(found): page for page in pages for found in LABEL.findall(text(page))}


@cache
def formulas() -> dict[str, str]:
    """Return each numbered formula as the pages write it, by its label."""
    pages = [page for page, _ in numbering.pages()]
    found = [match for page in pages for match in numbering.EQUATION.finditer(text(page))]
    return {match[2]: match[0] for match in found if match[2]}


def title(page: str, known: dict[str, numbering.Number]) -> str:
    """Return the title of a page, with its number if it has one."""
    return numbering.titled(TITLE.search(text(page))[0], page, known).removeprefix("# ")


def address(page: str, anchor: str = "") -> str:
    """Return where a page, or a place on it, is on the site; empty where there is none."""
    site = first_cell.site()
    return f"{site}{page}.html" + (f"#{anchor}" if anchor else "") if "://" in site else ""


def linked(words: str, page: str, anchor: str, known: dict[str, numbering.Number]) -> str:
    """Return a link to a place of the book, or the words with the title of its page."""
    called = title(page, known)
    if where := address(page, anchor):
        return f"[{words or called}]({where})"
    return f"{words} (*{called}*)" if words and words != called else f"*{called}*"


def absolute(words: str, known: dict[str, numbering.Number], here: str) -> str:
    """Return a text of a page of the book, none of whose links needs another page beside it."""

    def link(match: re.Match) -> str:
        words, target = match.groups()
        path, _, anchor = target.partition("#")
        if target in places():
            page = places()[target]
            return words if words and page == here else linked(words, page, target, known)
        if "://" in target or not path.endswith(".md"):
            return match[0]
        page = posixpath.normpath(posixpath.join(BOOK.name, path.removesuffix(".md")))
        return linked(words, page, anchor, known)

    return LINK.sub(link, words)


def used(words: str, known: dict[str, numbering.Number]) -> str:
    """Return the formulas that a text cites by their numbers, folded; "" if it cites none.

    Written as the pages write an admonition: `numbering.plain` makes it what notebooks can show.
    """
    labels = dict.fromkeys(FORMULA.findall(words))
    parts = []
    for label in labels:
        source = linked("", places()[label], label, known)
        parts.append(f"{formulas()[label]}\n\n{known[label].spoken} is from {source}.")
    if not parts:
        return ""
    body = "\n\n".join(parts)
    return f":::{{admonition}} Formulas used here\n:class: dropdown\n{body}\n:::\n"
