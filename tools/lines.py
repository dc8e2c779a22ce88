"""A Sphinx extension: what keeps the lines of a page readable at every width.

A browser may break a line on either side of a formula, as of a picture: a full stop would begin
the next line, a bracket end the one before. `joined` keeps a formula with the signs that touch it.

On a phone the panels that a caption calls left and right stand below each other
(`tools/drawings.py`). The style of the page (`book.css`) writes there, after a word that `marked`
has found, where its panel has gone: "Left (top): the entropy. Right (bottom): the overlap."
"""

from __future__ import annotations

import re

FORMULA = r'<span class="math notranslate nohighlight">[^<]*</span>'
TOUCHED = re.compile(rf"([^\s<>]*)((?:{FORMULA})+)([^\s<>]*)")

CAPTION = re.compile(r"<figcaption>.*?</figcaption>", re.DOTALL)
SIDE = re.compile(r"\b(Left|Right)(?=:)|(?<=\()(left|right)(?=\))")
GONE = {"Left": " (top)", "Right": " (bottom)", "left": ", top", "right": ", bottom"}


def joined(body: str) -> str:
    """Return the text of a page, with a span around each formula and what touches it."""

    def join(found: re.Match) -> str:
        before, _, after = found.groups()
        return f'<span class="wfm-unbroken">{found[0]}</span>' if before or after else found[0]

    return TOUCHED.sub(join, body)


def marked(body: str) -> str:
    """Return the text of a page, with a span around each word for a side in its captions."""

    def mark(found: re.Match) -> str:
        return f'<span class="wfm-side" data-phone="{GONE[found[0]]}">{found[0]}</span>'

    return CAPTION.sub(lambda caption: SIDE.sub(mark, caption[0]), body)


def change(app, pagename, templatename, context, doctree):
    """Join formulas and signs on a page of the book; mark its captions, but not for print."""
    if doctree is None or app.builder.format != "html":
        return
    body = context["body"]
    if app.builder.name == "html":
        body = marked(body)
    context["body"] = joined(body)


def setup(app):
    """Change a page when it is written."""
    app.connect("html-page-context", change)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
