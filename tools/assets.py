"""A Sphinx extension: a page loads one style sheet and one script, whatever its parts are.

The theme and the extensions ask for some thirty files. Their tags are taken out of a page when it
is written; the files are joined when all pages are, and removed. What no page of this book uses is
left out: Thebe, the script of an icon set (`tools/icons.py` keeps the icons in use), the other
forms in which MathJax comes, and the search index, which only the page of the search needs.
"""

from __future__ import annotations

import re
from pathlib import Path

TAG = re.compile(
    r"""<link\b[^>]*\brel="(?:stylesheet|preload)"[^>]*>\s*
    |<script\b[^>]*>.*?</script>\s*
    |<!--.*?-->\s*""",
    re.VERBOSE | re.DOTALL,
)
ADDRESS = re.compile(r'(?:href|src)="(?:\.\./|\./)*(?:(_static/)?)([^"?]+)')
IMPORT = re.compile(r'@import\s+"([^"]+)"\s*;?')
RELATIVE = re.compile(r"url\(\s*[\"']?(?!data:|\w+:|/|#)([^)\"']+)[\"']?\s*\)")

UNUSED = ("scripts/fontawesome.js", "sphinx-thebe.css", "sphinx-thebe.js")
SEARCHING = ("searchtools.js", "language_data.js", "searchindex.js")  # the search has its own
APART = ("mathjax/", "live/")  # where a page has formulas, or figures that compute
MATHJAX = "tex-chtml.js"  # the form of it that pages load
# What is said of one page only, to parts of the theme that are switched off.
SAID = "DOCUMENTATION_OPTIONS."


class Parts:
    """The files that pages ask for, in the order in which they do."""

    def __init__(self):
        self.styles: dict[str, None] = {}
        self.scripts: dict[str, None] = {}

    def take(self, html: str) -> str:
        """Return a part of a page without the tags of files that are joined, and note these."""
        return TAG.sub(self.taken, html)

    def taken(self, tag: re.Match) -> str:
        """Return what stays of a tag or a comment."""
        text = tag[0]
        opening = text.partition(">")[0]
        found = ADDRESS.search(opening)
        if text.startswith("<!--") or 'rel="preload"' in opening:
            return ""
        if not found:
            return "" if SAID in text else text
        static, name = found.groups()
        if not static:
            return "" if name in SEARCHING else text
        if name.startswith(APART):
            return text
        if name not in (*UNUSED, *SEARCHING):
            (self.styles if text.startswith("<link") else self.scripts)[name] = None
        return ""


def style(folder: Path, name: str) -> str:
    """Return a style sheet with what it imports, and addresses as seen from `folder`."""
    here = (folder / name).parent
    text = (folder / name).read_text("utf-8").removeprefix('@charset "UTF-8";')

    def imported(match: re.Match) -> str:
        inner = (here / match[1]).resolve().relative_to(folder.resolve())
        return style(folder, inner.as_posix())

    def address(match: re.Match) -> str:
        target = (here / match[1]).resolve().relative_to(folder.resolve())
        return f"url({target.as_posix()})"

    return IMPORT.sub(imported, RELATIVE.sub(address, text))


def begin(app):
    """Keep Thebe from the pages, which no button starts here."""
    app.joined_parts = Parts()
    for listeners in app.events.listeners.values():
        for listener in list(listeners):
            if getattr(listener.handler, "__module__", "").startswith("sphinx_thebe"):
                app.disconnect(listener.id)


def offer(app, pagename, templatename, context, doctree):
    """Give the templates what takes the tags out of a page."""
    context["joined"] = app.joined_parts.take


def write(app, error):
    """Join the files when all pages stand."""
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    styles = "\n".join(style(static, name) for name in app.joined_parts.styles)
    scripts = [(static / name).read_text("utf-8") for name in app.joined_parts.scripts]
    (static / "joined.css").write_text(styles, "utf-8")
    # A file that ends in a comment, or without a semicolon, ends here.
    (static / "joined.js").write_text("\n;\n".join(scripts), "utf-8")
    for path in superfluous(static, app.joined_parts):
        path.unlink(missing_ok=True)


def superfluous(static: Path, parts: Parts) -> list[Path]:
    """Return what no page asks for any more: joined files, their maps, other forms of MathJax."""
    found = [static / name for name in (*parts.styles, *parts.scripts, *UNUSED, SEARCHING[0])]
    whole = [path for path in (static / "mathjax").glob("*-*.js") if path.name != MATHJAX]
    return [*found, *(path.with_name(f"{path.name}.map") for path in found), *whole]


def setup(app):
    """Take out what is drawn by the templates, and join it at the end."""
    app.connect("builder-inited", begin)
    app.connect("html-page-context", offer)
    # After the theme, which writes the colours of code at the default priority.
    app.connect("build-finished", write, priority=550)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
