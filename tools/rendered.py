"""Markdown with formulas, and figures of executed pages, as HTML: for slides and article."""

from __future__ import annotations

import re
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tools.notebooks import BOOK, executed

FIGURE = re.compile(r"^@FIGURE (\S+) (\S+)@$", re.MULTILINE)  # its label, and its page


def formula(tex: str, where: dict) -> str:
    """Return a formula between the marks that MathJax looks for."""
    return escape(rf"\[{tex}\]" if where["display_mode"] else rf"\({tex}\)")


MARKDOWN = (
    MarkdownIt("commonmark", {"html": True})
    .enable("table")
    .use(dollarmath_plugin, renderer=formula)
)


def figure(label: str, page: str) -> tuple[str, str]:
    """Return a figure of an executed page, a slider or an SVG, and its caption in Markdown.

    Raises
    ------
    KeyError
        If the page shows no figure of this name.
    """
    for cell in executed(BOOK / f"{page}.md").cells:
        about = cell.metadata.get("mystnb", {}).get("figure", {})
        if about.get("name") == label:
            data = [output.data for output in cell.outputs if "data" in output][-1]
            svg = "".join(data.get("image/svg+xml", ""))
            shown = svg[svg.index("<svg") :] if svg else "".join(data["text/html"])
            return shown, " ".join(about["caption"].split())
    raise KeyError(f"{page} shows no figure {label}")
