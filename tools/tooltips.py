"""A Sphinx extension: what a link to a term or to a numbered formula shows beside itself.

The definitions of the glossary and the formulas are written once more to one script,
`_static/tips.js`, as HTML by address: a page that is opened as a file could fetch nothing else.
`book/_static/tooltips.js` shows them on hover and on keyboard focus.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes


def write(app, env):
    """Write the tips of the whole book.

    Before the pages, which carry the checksum of the script; after formulas were numbered.
    """
    if app.builder.format != "html":
        return
    tips = {}
    for docname in sorted(env.found_docs):
        for name, html in [*formulas(app, docname), *terms(app, docname)]:
            tips[f"{app.builder.get_target_uri(docname)}#{name}"] = html
    script = Path(app.outdir, "_static", "tips.js")
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"window.wfmTips = {json.dumps(tips, indent=0, ensure_ascii=False)};\n")


def formulas(app, docname: str) -> Iterator[tuple[str, str]]:
    """Yield the name of every numbered formula of a page, and the formula without its number."""
    for node in app.env.get_doctree(docname).findall(nodes.math_block):
        if node.get("label") and node["ids"]:
            formula = node.deepcopy()
            formula["ids"], formula["number"] = [], None
            yield node["ids"][0], html(app, formula)


def terms(app, docname: str) -> Iterator[tuple[str, str]]:
    """Yield the name of every term that a page defines, and its definition without links."""
    if not any(app.env.get_doctree(docname).findall(addnodes.glossary)):
        return
    page = app.env.get_and_resolve_doctree(docname, app.builder)
    for glossary in page.findall(addnodes.glossary):
        for item in glossary.findall(nodes.definition_list_item):
            definition = nodes.container("", *item.children[-1].deepcopy().children)
            for link in list(definition.findall(nodes.reference)):
                link.replace_self(link.children)
            for term in item.findall(nodes.term):
                yield term["ids"][0], f"<strong>{term.astext()}</strong>{html(app, definition)}"


def html(app, node: nodes.Node) -> str:
    """Return a node as the builder writes it."""
    return app.builder.render_partial(node)["fragment"].strip()


def setup(app):
    """Register the writer and the two scripts of every page."""
    app.connect("env-check-consistency", write)
    for script in ("tips.js", "tooltips.js"):
        app.add_js_file(script, loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
