"""A Sphinx extension: what the search looks in, a place of the book at a time.

A place is what a link can lead to: a section, an exercise, a term of the glossary, an entry of the
API reference, or a claim. Code, figures and solutions are left out, and formulas are written as
text. Everything stands in one script, `_static/places.js`: a page that is opened as a file could
fetch nothing else. `book/_static/search.js` looks through it.

What a page holds is noted when it is written, beside its doctree, so that a build that writes two
pages reads two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

from tools.plain_formulas import plain
from wfmlib.book import claims

SCORECARD = "book/scorecard"
SKIPPED = (
    nodes.raw,
    nodes.comment,
    nodes.image,
    nodes.literal_block,
    nodes.doctest_block,
    nodes.system_message,
    addnodes.toctree,
    addnodes.index,
    addnodes.desc_signature,
)
SOLUTION, EXERCISE = "solution", "exercise"  # how the names of sphinx-exercise's nodes begin
SECTION, TERM, API, CLAIM = "section", "term", "api", "claim"  # and EXERCISE


def title_of(node: nodes.Element) -> nodes.title | None:
    """Return the title of a section or of an exercise."""
    return next((one for one in node.children if isinstance(one, nodes.title)), None)


def is_place(node: nodes.Node) -> bool:
    """Say whether a link can lead to a node, which then has its own text."""
    if isinstance(node, nodes.section) or type(node).__name__.startswith(EXERCISE):
        return title_of(node) is not None and bool(node["ids"])
    return isinstance(node, (addnodes.desc, addnodes.glossary))


def words(node: nodes.Node) -> str:
    """Return the text of a node, without code, figures, and what is a place of its own."""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, (nodes.math, nodes.math_block)):
        return f" {plain(node.astext())} "
    if isinstance(node, SKIPPED) or is_place(node) or type(node).__name__.startswith(SOLUTION):
        return " "
    inside = "".join(words(child) for child in node.children)
    return inside if isinstance(node, nodes.Inline) else f" {inside} "


def content(node: nodes.Element) -> str:
    """Return the text below a heading."""
    parts = [words(child) for child in node.children if not isinstance(child, nodes.title)]
    text = re.sub(r"\s+", " ", " ".join(parts)).strip()
    return re.sub(r" (?=[,.;:)])", "", text)


def heading(node: nodes.Element) -> str:
    """Return a title as text."""
    return re.sub(r"\s+", " ", words(node)).strip()


def places(doctree: nodes.document) -> Iterator[list[str]]:
    """Yield kind, anchor, title and text of every place of a page."""
    for node in doctree.findall(is_place):
        if title_of(node) is not None:
            anchor = "" if isinstance(node.parent, nodes.document) else node["ids"][0]
            kind = SECTION if isinstance(node, nodes.section) else EXERCISE
            yield [kind, anchor, heading(title_of(node)), content(node)]
        elif isinstance(node, addnodes.desc):
            signature = node.next_node(addnodes.desc_signature)
            if signature is not None and signature["ids"]:
                yield [API, signature["ids"][0], signature["ids"][0], content(node)]
        else:
            for item in node.findall(nodes.definition_list_item):
                terms = list(item.findall(nodes.term))
                title = ", ".join(heading(one) for one in terms)
                yield [TERM, terms[0]["ids"][0], title, content(item.children[-1])]


def noted(app, docname: str) -> Path:
    """Return where the places of a page are noted."""
    return Path(app.doctreedir, f"{docname}.places.json")


def note(app, doctree, docname):
    """Note the places of a page, when all that it refers to is known."""
    if app.builder.name == "html":
        file = noted(app, docname)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(list(places(doctree)), ensure_ascii=False), "utf-8")


def all_places(app) -> list[list[str]]:
    """Return kind, address, title, text and page of every place of the book."""
    found = []
    for docname in sorted(app.env.found_docs):
        if noted(app, docname).exists():
            page = app.builder.get_target_uri(docname)
            title = heading(app.env.titles[docname])
            for kind, anchor, name, text in json.loads(noted(app, docname).read_text("utf-8")):
                address = f"{page}#{anchor}" if anchor else page
                found.append([kind, address, name, text, title])
    if SCORECARD in app.env.found_docs:
        page, title = app.builder.get_target_uri(SCORECARD), heading(app.env.titles[SCORECARD])
        for claim in claims.load():
            address = f"{page}#{claim.id}"
            found.append([CLAIM, address, claim.statement, f"{claim.source}. {claim.why}", title])
    return found


def write(app, error):
    """Write the places of the whole book, when all pages stand."""
    if error or app.builder.name != "html":
        return
    lines = ",\n".join(json.dumps(place, ensure_ascii=False) for place in all_places(app))
    Path(app.outdir, "_static", "places.js").write_text(f"window.wfmPlaces = [\n{lines}\n];\n")


def setup(app):
    """Note a page after all others have changed it."""
    app.connect("doctree-resolved", note, priority=900)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
