"""A Sphinx extension: each cell of the ledger's tables knows the head of its column.

On a phone a line of the ledger is a card, where heads stand far from what is below them; the
style of the page (`book.css`) writes them into the cards.
"""

from __future__ import annotations

import re
from itertools import count

TABLE = re.compile(r'<div class="wfm-scorecard.*?</table>', re.DOTALL)
HEAD = re.compile(r'<th scope="col"[^>]*>(.*?)</th>', re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<t([dh])\b")


def labelled(body: str) -> str:
    """Return the text of a page, with the head of its column as an attribute of every cell."""

    def table(found: re.Match) -> str:
        heads = HEAD.findall(found[0])
        head, closing, rows = found[0].partition("</thead>")
        return head + closing + ROW.sub(lambda row: cells(row[0], heads), rows)

    return TABLE.sub(table, body)


def cells(row: str, heads: list[str]) -> str:
    """Return a row whose cells carry the heads."""
    place = count()
    return CELL.sub(lambda cell: f'{cell[0]} data-label="{heads[next(place)]}"', row)


def add(app, pagename, templatename, context, doctree):
    """Label the cells of a page of the book, after links were added to it."""
    if doctree is not None and app.builder.name == "html":
        context["body"] = labelled(context["body"])


def setup(app):
    """Change a page when it is written."""
    app.connect("html-page-context", add, priority=700)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
