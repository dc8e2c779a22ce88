"""A Sphinx extension: `{figure-gallery} chapter` shows every figure of a chapter as a thumbnail.

Each leads to the place where the figure is made. The pictures are those of the chapter, by the
same name; of a figure with a slider it is the frame that the page begins with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from posixpath import dirname, join

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


def figures(doctree: nodes.document) -> Iterator[tuple[nodes.Element, nodes.Element]]:
    """Yield each output of a cell that shows a figure, and the figure: an image, or a slider."""
    for output in doctree.findall(nodes.container):
        if output.get("nb_element") == "cell_code_output":
            for shown in output.findall(nodes.container):
                kind, first = shown.get("mime_type"), next(iter(shown.children), None)
                if kind == "image/svg+xml" or (
                    kind == "text/html" and 'class="wfm-slider"' in first.astext()
                ):
                    yield output, first
                    break


def address(app, doctree: nodes.document) -> None:
    """Give the output of every figure a name that a link can end in: that of its section."""
    count = Counter()
    for output, _ in figures(doctree):
        section = section_of(output)["ids"][0]
        count[section] += 1
        output["ids"].append(f"figure-{section}-{count[section]}")


def section_of(node: nodes.Element) -> nodes.section:
    """Return the section in which a node stands."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return node


def fill(app, doctree: nodes.document, docname: str) -> None:
    """Put the thumbnails in their places."""
    styled = False  # the style of the sliders is needed once
    for place in list(doctree.findall(Gallery)):
        found = nodes.bullet_list(classes=["wfm-gallery"])
        every = list(figures(app.env.get_doctree(place["chapter"])))
        page = app.builder.get_relative_uri(docname, place["chapter"])
        together = Counter(id(section_of(output)) for output, _ in every)
        for output, figure in every:
            if isinstance(figure, nodes.image):
                picture = nodes.image(**figure.attributes | {"loading": "lazy"})
            else:
                text = figure.astext()
                style = "" if styled else STYLE.search(text)[1]
                html = f'<div class="wfm-slider">{style}{SLIDER.search(text)[0]}</div>'
                picture, styled = nodes.raw("", html, format="html"), True
            section, name = section_of(output), output["ids"][-1]
            link = nodes.reference(refuri=f"{page}#{name}", internal=True)
            link += [one.deepcopy() for one in section.next_node(nodes.title).children]
            which = [f"figure {name.rpartition('-')[2]}"] if together[id(section)] > 1 else []
            which += ["with a slider"] if isinstance(figure, nodes.raw) else []
            if which:
                link += nodes.Text(f" ({', '.join(which)})")
            found += nodes.list_item("", picture, nodes.paragraph("", "", link))
        place.replace_self(found)


def setup(app):
    """Register the directive and what happens to it."""
    app.add_node(Gallery)
    app.add_directive("figure-gallery", FigureGallery)
    app.connect("doctree-read", address)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
