"""A Sphinx extension: captions say where a panel is, on a wide screen and on a phone.

On a phone the panels that a caption calls left and right stand below each other
(`tools/drawings.py`). The style of the page (`book.css`) writes there, after such a word, where
its panel has gone: "Left (top): the entropy. Right (bottom): the overlap."
"""

from __future__ import annotations

import re

CAPTION = re.compile(r"<figcaption>.*?</figcaption>", re.DOTALL)
PLACES = {"left": "top", "right": "bottom"}
SIDE = re.compile(r"\b(Left|Right)(?=:)|(?<=\()(left|right)(?=\))")


def marked(body: str) -> str:
    """Return the text of a page, with a span around each word for a side in its captions."""

    def mark(found: re.Match) -> str:
        place = PLACES[found[0].lower()]
        told = (
            f", {place}" if found[0].islower() else f" ({place})"
        )  # in brackets, or before a colon
        return f'<span class="wfm-side" data-phone="{told}">{found[0]}</span>'

    return CAPTION.sub(lambda caption: SIDE.sub(mark, caption[0]), body)


def add(app, pagename, templatename, context, doctree):
    """Mark the words on a page of the book."""
    if doctree is not None and app.builder.name == "html":
        context["body"] = marked(context["body"])


def setup(app):
    """Change a page when it is written."""
    app.connect("html-page-context", add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
