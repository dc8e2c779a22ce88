"""A Sphinx extension: lectures are numbered in their chapter, and a chapter has its gallery.

- Sphinx counts a chapter's own sections together with its lectures. Here the sections of its first
  page have no number, and its lectures are 1.1, 1.2, 1.3.
- An appendix has a letter, written in its title, and so has what is numbered in it: "Figure A.1".
  What stands on a page without number or letter has no number.
- The numbers are noted beside the pages for notebooks and slides (`tools/numbering.py`).
- `{figure-gallery} chapter` shows every figure of a chapter as a thumbnail, which leads to the
  place where it is made. A chapter is named by its first page; the figures of its lectures follow.
"""

from __future__ import annotations

import gc
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from posixpath import dirname, join

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(Path(__file__).resolve().parent.parent))  # Sphinx knows this folder only

from tools import numbering

# What Sphinx calls each kind, and what it puts before a label.
KINDS = {"displaymath": "equation", "exercise": "exercise", "figure": "figure", "table": "table"}
SLIDER = re.compile(r'<svg role="img".*</svg>', re.DOTALL)  # the panel, without its controls
STYLE = re.compile(r'<figure class="wfm-slider">(<style>.*?</style>)', re.DOTALL)


# ------------------------------------------------------------------------------------------------
# Numbers
# ------------------------------------------------------------------------------------------------


def restore(app, env, docnames) -> None:
    """Give Sphinx back its own numbers, with which it compares: else it would write all anew."""
    if hasattr(env, "wfm_numbers"):
        env.toc_secnumbers, env.toc_fignumbers = env.wfm_numbers


def number(app, env) -> list[str]:
    """Number lectures and appendices, and note all numbers; return the pages that changed."""
    before, changed = getattr(env, "wfm_numbers", None), []
    env.wfm_numbers = deepcopy((env.toc_secnumbers, env.toc_fignumbers))
    for chapter, lectures in env.toctree_includes.items():
        own = env.toc_secnumbers.get(chapter, {}).get("")
        if own:
            give(env, chapter, own)
            for count, lecture in enumerate(lectures, start=1):
                give(env, lecture, (*own, count))
            changed += [chapter, *lectures]
    counts = Counter()
    for page, chapter in numbering.pages(Path(app.srcdir)):
        for kind, numbers in env.toc_fignumbers.get(page, {}).items():
            if chapter.isalpha():
                for name in numbers:
                    counts[chapter, kind] += 1
                    numbers[name] = (chapter, counts[chapter, kind])
            elif not chapter:
                numbers.clear()
    note(app, env)
    return changed if before != env.wfm_numbers else []


def give(env, page: str, own: tuple[int, ...]) -> None:
    """Give a page its number, and none to the sections in it."""
    env.toc_secnumbers[page] = dict.fromkeys(env.toc_secnumbers[page]) | {"": own}
    env.titles[page]["secnumber"] = own
    for link in env.tocs[page].findall(nodes.reference):
        if link["refuri"] == page:
            link["secnumber"] = None if link["anchorname"] else own


def note(app, env) -> None:
    """Write the numbers of labels and of pages beside the pages."""
    noted = {}
    for kinds in env.toc_fignumbers.values():
        for kind, numbers in kinds.items():
            for name, parts in numbers.items():
                label = name.removeprefix("equation-")
                noted[label] = [KINDS.get(kind, kind), ".".join(map(str, parts))]
    for page, numbers in env.toc_secnumbers.items():
        if numbers.get(""):
            noted[page] = ["page", ".".join(map(str, numbers[""]))]
    Path(app.outdir).parent.joinpath("numbers.json").write_text(json.dumps(noted, indent=0))


# ------------------------------------------------------------------------------------------------
# The gallery
# ------------------------------------------------------------------------------------------------


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
        for output in figure.findall(nodes.container):
            kind, first = output.get("mime_type"), next(iter(output.children), None)
            if kind == "image/svg+xml" or (
                kind == "text/html" and 'class="wfm-slider"' in first.astext()
            ):
                yield figure, first
                break


def fill(app, doctree: nodes.document, docname: str) -> None:
    """Put the thumbnails in their places."""
    styled = False  # the style of the sliders is needed once
    for place in list(doctree.findall(Gallery)):
        gallery = nodes.bullet_list(classes=["wfm-gallery"])
        chapter = place["chapter"]
        lectures = app.env.toctree_includes.get(chapter, ())
        for source in [chapter] if chapter == app.config.root_doc else [chapter, *lectures]:
            page = app.builder.get_relative_uri(docname, source)
            numbers = app.env.toc_fignumbers.get(source, {}).get("figure", {})
            for figure, content in figures(app.env.get_doctree(source)):
                if isinstance(content, nodes.image):
                    picture = nodes.image(**content.attributes | {"classes": ["wfm-thumbnail"]})
                else:
                    text = content.astext()
                    style = "" if styled else STYLE.search(text)[1]
                    html = f'<div class="wfm-slider">{style}{SLIDER.search(text)[0]}</div>'
                    picture, styled = nodes.raw("", html, format="html"), True
                name = figure["ids"][0]
                count = ".".join(map(str, numbers.get(name, ())))
                called = f"Figure {count}" if count else "The figure of this page"
                link = nodes.reference("", called, refuri=f"{page}#{name}", internal=True)
                caption = figure.next_node(nodes.caption).deepcopy()
                text_below = nodes.paragraph("", "", link, nodes.Text(". "), *caption.children)
                gallery += nodes.list_item("", picture, text_below)
        if any(gallery.findall(nodes.math)):  # of the captions; the page itself has none
            app.env.get_domain("math").data["has_equations"][docname] = True
        place.replace_self(gallery)


def setup(app):
    """Number after Sphinx has; it does so at the default priority."""
    gc.set_threshold(50_000, 50, 100)  # a third of a build went into looking for cycles
    app.add_node(Gallery)
    app.add_directive("figure-gallery", FigureGallery)
    app.connect("env-before-read-docs", restore)
    app.connect("env-get-updated", number, priority=600)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
