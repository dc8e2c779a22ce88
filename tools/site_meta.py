"""A Sphinx extension: what the pages say to other machines, once the book has an address.

The address is the environment's WFMLIB_SITE. With it every page names its canonical address and
what a link to it shows elsewhere (Open Graph), and `sitemap.xml` lists the pages; without it no
page mentions an address. `404.html` is what a server shows where there is no page.
"""

from __future__ import annotations

import os
import re
from html import escape, unescape
from pathlib import Path

MISSING = "404"
CARD = "_static/card.png"
CARD_TEXT = "Solutions of a small perceptron as points, and how many lie around one of them."
DESCRIPTION = re.compile(r'<meta content="([^"]*)" name="description"')


def address() -> str:
    """Return the address of the book with a slash at its end, or nothing."""
    given = os.environ.get("WFMLIB_SITE", "").strip()
    return given.rstrip("/") + "/" if given.startswith(("http://", "https://")) else ""


def configure(app, config):
    """Have the page for missing pages made, and canonical links where there is an address."""
    config.html_additional_pages[MISSING] = "404.html"
    config.html_baseurl = address()


def describe(app, pagename, templatename, context, doctree):
    """Put the tags into the head of a page."""
    site, tags = address(), context.get("metatags", "")
    if not site:
        return
    if pagename == MISSING:
        # It is shown at any depth: what it names is to be found from here.
        context["metatags"] = f'<base href="{site}{MISSING}.html">{tags}'
        context["pageurl"] = None
    if doctree is None:
        return
    said = DESCRIPTION.search(tags)  # a test holds that every page has one
    title = re.sub("<[^>]*>", "", context["title"])
    graph = {
        "og:type": "article",
        "og:site_name": app.config.project,
        "og:title": unescape(title),
        "og:url": f"{site}{app.builder.get_target_uri(pagename)}",
        "og:image": site + CARD,
        "og:image:alt": CARD_TEXT,
        "og:description": unescape(said[1]),
    }
    lines = [f'<meta property="{name}" content="{escape(text)}">' for name, text in graph.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image">')
    context["metatags"] = "\n".join([tags, *lines])


def write(app, error):
    """List the pages for search engines."""
    site = address()
    if error or not site or app.builder.name != "html":
        return
    pages = [app.builder.get_target_uri(one) for one in sorted(app.env.found_docs)]
    lines = [f"<url><loc>{escape(site + page)}</loc></url>" for page in pages]
    Path(app.outdir, "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        + "\n".join(lines)
        + "\n</urlset>\n",
        "utf-8",
    )


def setup(app):
    """Describe pages after the theme has put its own words into their context."""
    app.connect("config-inited", configure)
    app.connect("html-page-context", describe, priority=700)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
