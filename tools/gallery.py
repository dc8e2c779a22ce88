"""A Sphinx extension: `{figure-gallery} chapter` shows every figure of a chapter as a thumbnail.

A chapter is named by its first page; the figures of its lectures follow.

Each has its number and its caption and leads to the place where the figure is made. The pictures
are those of the chapter, by the same name; of a figure with a slider it is the frame that the page
begins with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join

import numbering
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

SLIDER = re.compile(r'<svg role="img".*</svg>', re.DOTALL)  # the panel, without its controls
STYLE = re.compile(r'<figure class="wfm-slider">(<style>.*?</style>)', re.DOTALL)


class Gallery(nodes.General, nodes.Element):
    """The place of a gallery, until all chapters have been read; `chapter` is its document."""


class FigureGallery(SphinxDirective):
    """Leave a place for the figures of a chapter, which may not have been read yet."""

    required_arguments = 1

    def run(self):
        """Have this page written again in each build: the chapter may have changed."""
        self.env.note_reread()
        chapter = join(dirname(self.env.docname), self.arguments[0])
        if chapter not in self.env.found_docs:
            raise self.error(f"no page of the book is called {chapter}")
        return [Gallery(chapter=chapter)]


def figures(doctree: nodes.document) -> Iterator[tuple[nodes.figure, nodes.Element]]:
    """Yield each figure that a cell shows, and the picture in it: an image, or a slider."""
    for figure in doctree.findall(nodes.figure):
        for shown in figure.findall(nodes.container):
            kind, first = shown.get("mime_type"), next(iter(shown.children), None)
            if kind == "image/svg+xml" or (
                kind == "text/html" and 'class="wfm-slider"' in first.astext()
            ):
                yield figure, first
                break


def all_figures(app, chapter: str) -> Iterator[tuple[str, nodes.figure, nodes.Element]]:
    """Yield each figure of a chapter with its page and its picture."""
    every = numbering.chapters(Path(app.srcdir)).values()
    for page in next((pages for pages in every if pages[0] == chapter), [chapter]):
        for figure, shown in figures(app.env.get_doctree(page)):
            yield page, figure, shown


def fill(app, doctree: nodes.document, docname: str) -> None:
    """Put the thumbnails in their places."""
    styled = False  # the style of the sliders is needed once
    for place in list(doctree.findall(Gallery)):
        found = nodes.bullet_list(classes=["wfm-gallery"])
        for source, figure, shown in all_figures(app, place["chapter"]):
            page = app.builder.get_relative_uri(docname, source)
            numbers = app.env.toc_fignumbers.get(source, {}).get("figure", {})
            if isinstance(shown, nodes.image):
                picture = nodes.image(**shown.attributes | {"classes": ["wfm-thumbnail"]})
            else:
                text = shown.astext()
                style = "" if styled else STYLE.search(text)[1]
                html = f'<div class="wfm-slider">{style}{SLIDER.search(text)[0]}</div>'
                picture, styled = nodes.raw("", html, format="html"), True
            name = figure["ids"][0]
            number = ".".join(map(str, numbers.get(name, ())))
            called = f"Figure {number}" if number else "The figure of this page"
            link = nodes.reference("", called, refuri=f"{page}#{name}", internal=True)
            caption = figure.next_node(nodes.caption).deepcopy()
            said = nodes.paragraph("", "", link, nodes.Text(". "), *caption.children)
            found += nodes.list_item("", picture, said)
        if any(found.findall(nodes.math)):  # of the captions; the page itself has none
            app.env.get_domain("math").data["has_equations"][docname] = True
        place.replace_self(found)


def setup(app):
    """Register the directive and what happens to it."""
    app.add_node(Gallery)
    app.add_directive("figure-gallery", FigureGallery)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
