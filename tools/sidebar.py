"""A Sphinx extension: the arrow beside a chapter in the sidebar says what it unfolds.

The theme makes it of an icon alone, which a screen reader cannot name.
"""

from __future__ import annotations

import re
from pathlib import Path

ARROW = re.compile(
    r"(?<=>)([^<>]+)(</a><details[^>]*><summary)(?=><span class=\"toctree-toggle\")"
)


def named(html: str) -> str:
    """Return a page whose arrows are named after their chapters."""
    return ARROW.sub(r'\1\2 aria-label="Lectures of \1"', html)


def write(app, error):
    """Name the arrows of all pages."""
    if error or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        html = page.read_text("utf-8")
        if (new := named(html)) != html:
            page.write_text(new, "utf-8")


def setup(app):
    """Come before the policy, which is last."""
    app.connect("build-finished", write, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
