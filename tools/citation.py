"""How the book and its chapters are cited, from `CITATION.cff`, which alone says it.

A DOI and a Software Heritage identifier stand there under `identifiers` once they are issued, and
nowhere before: what is not there, nothing of the book names.
"""

from __future__ import annotations

import yaml

from tools.notebooks import ROOT


def read() -> dict:
    """Return what `CITATION.cff` says of the book."""
    return yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def names(cited: dict) -> str:
    """Return authors as they are named: given names first."""
    every = [
        one.get("name") or f"{one['given-names']} {one['family-names']}"
        for one in cited["authors"]
    ]
    return " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)


def identifiers(cited: dict) -> list[str]:
    """Return the addresses of what was issued for the book: of its DOI, of its archived source."""
    where = {"doi": "https://doi.org/{}", "swh": "https://archive.softwareheritage.org/{}"}
    return [
        where[one["type"]].format(one["value"])
        for one in cited.get("identifiers", ())
        if one["type"] in where
    ]


def suggested(cited: dict, chapter: str = "") -> tuple[str, str, str]:
    """Return the citation of a chapter or of the book: what is before the title, it, the rest.

    Parameters
    ----------
    cited
        What `CITATION.cff` says.
    chapter
        The title of the chapter with its number; nothing for the book as a whole.
    """
    before = f"{names(cited)}, " + (f"“{chapter}”, in " if chapter else "")
    year = str(cited["date-released"])[:4]
    after = ", ".join([f", version {cited['version']} ({year})", *identifiers(cited)])
    return before, cited["title"], after
