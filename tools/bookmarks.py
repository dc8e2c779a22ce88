"""What a printed PDF knows of its pages, and what Chromium does not write: outline and authors.

Chromium makes an outline of its own, in which a heading stands twice if it moved to the next page.
"""

from __future__ import annotations

from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.generic import Fit


def pages(path: Path) -> dict[str, int]:
    """Return the page, counted from one, of each place to which a link of the PDF leads."""
    reader = PdfReader(path)
    return {
        name.removeprefix("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


def add(path: Path, outline: list[tuple[int, str, str]], about: dict[str, str]) -> int:
    """Write an outline and what the PDF is about into it; return the number of its pages.

    Parameters
    ----------
    path
        The PDF, to which it is added.
    outline
        Level (1 for chapters), title and place of each heading.
    about
        ``Title``, ``Author`` and the like.
    """
    writer = PdfWriter(path, incremental=True)  # the rest stays as it is, at a tenth of the time
    places = writer.named_destinations
    above = {0: None}
    for level, title, place in outline:
        there = places[f"/{place}"]
        above[level] = writer.add_outline_item(
            title=title,
            page_number=there["/Page"],
            fit=Fit.xyz(there.left, there.top),
            parent=above[level - 1],
            is_open=False,
        )
    writer.add_metadata({f"/{name}": text for name, text in about.items()})
    writer.page_mode = "/UseOutlines"
    writer.write(path)
    return len(writer.pages)
