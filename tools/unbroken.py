"""A Sphinx extension: a formula in a line stays with the signs that touch it.

A browser may break a line on either side of a formula, as of a picture: a full stop would begin
the next line, a bracket end the one before.
"""

from __future__ import annotations

import re

FORMULA = r'<span class="math notranslate nohighlight">[^<]*</span>'
TOUCHED = re.compile(rf"([^\s<>]*)((?:{FORMULA})+)([^\s<>]*)")


def joined(body: str) -> str:
    """Return the text of a page, with a span around each formula and what touches it."""

    def join(found: re.Match) -> str:
        before, _, after = found.groups()
        return f'<span class="wfm-unbroken">{found[0]}</span>' if before or after else found[0]

    return TOUCHED.sub(join, body)


def add(app, pagename, templatename, context, doctree):
    """Join formulas and signs on a page of the book."""
    if doctree is not None and app.builder.format == "html":
        context["body"] = joined(context["body"])


def setup(app):
    """Change a page when it is written."""
    app.connect("html-page-context", add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
