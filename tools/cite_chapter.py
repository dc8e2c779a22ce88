"""A Sphinx extension: a chapter says how to cite it, on pages, in print and in the EPUB.

The words stand at the end of its first page, which has its number and its title.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # Sphinx knows this folder only

from tools import citation, numbering, site_meta  # noqa: E402


def paragraph(cited: dict, chapter: str, address: str) -> nodes.paragraph:
    """Return the last paragraph of the first page of a chapter."""
    before, title, after = citation.suggested(cited, chapter)
    said = nodes.paragraph("", "", classes=["wfm-cite"])
    said += [nodes.Text(f"To cite this chapter: {before}"), nodes.emphasis("", title)]
    said += nodes.Text(after)
    if address:
        said += [nodes.Text(", "), nodes.reference("", address, refuri=address)]
    said += nodes.Text(".")
    return said


def end(app, doctree) -> None:
    """Add the paragraph to a page that has a number in its title."""
    page = app.env.docname
    if page not in (pages[0] for pages in numbering.chapters(Path(app.srcdir)).values()):
        return
    section = next(doctree.findall(nodes.section))
    title = section.next_node(nodes.title).astext()
    site = site_meta.address()
    section += paragraph(citation.read(), title, f"{site}{page}.html" if site else "")


def setup(app):
    """Add it when a page has been read."""
    app.connect("doctree-read", end)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
