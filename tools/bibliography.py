"""Citations as text, where no build of the book resolves them: in notebooks and on slides."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pybtex.database import Entry, parse_file

WORKS = Path(__file__).resolve().parent.parent / "book" / "references.bib"
CITATION = re.compile(r"\{cite(?::([tp]))?\}`([^`]+)`")


@cache
def works() -> dict[str, Entry]:
    """Return the works that the book cites, by key."""
    return dict(parse_file(WORKS).entries)


def authors(key: str) -> str:
    """Return who wrote a work: up to two family names, or the first "et al."."""
    people = works()[key].persons["author"]
    names = [" ".join(map(str, person.rich_last_names)) for person in people]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def in_text(key: str) -> str:
    """Return what a citation in the running text reads, such as "Krauth and Mézard (1989)"."""
    return f"{authors(key)} ({works()[key].fields['year']})"


def address(key: str) -> str:
    """Return where a work is found on the web, "" if its entry does not say so."""
    fields = works()[key].fields
    if "doi" in fields:
        return f"https://doi.org/{fields['doi']}"
    if "eprint" in fields:
        return f"https://arxiv.org/abs/{fields['eprint']}"
    return str(fields.get("url", ""))


def keys(text: str) -> list[str]:
    """Return the keys of the works that a text cites, each once, in their order."""
    found = (key.strip() for match in CITATION.finditer(text) for key in match[2].split(","))
    return list(dict.fromkeys(found))


def cited(text: str) -> str:
    """Return a text in Markdown with its citations in words, as links to the works."""

    def words(match: re.Match) -> str:
        running, keys = match[1] == "t", [key.strip() for key in match[2].split(",")]
        citations = []
        for key in keys:
            word = in_text(key) if running else f"{authors(key)} {works()[key].fields['year']}"
            citations.append(f"[{word}]({address(key)})" if address(key) else word)
        return ", ".join(citations) if running else f"({'; '.join(citations)})"

    return CITATION.sub(words, text)
