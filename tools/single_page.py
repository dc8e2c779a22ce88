"""A Sphinx extension: the whole book on one page, from which `make pdf` prints.

Sphinx looks for what writes a node under the name of the builder, and under ``html`` only if no
extension registered anything under that name. One does, and the others' nodes would be unknown.
It also asks only the first chapter whether there is any mathematics to render. One style sheet
comes to a site of pages only. And it keeps the names that places have on their pages: on one page
every link to "Exercises" would lead to those of the first chapter.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import sphinx_codeautolink
from docutils import nodes
from sphinx.addnodes import start_of_file

FAR = re.compile(r"#document-([^#]+)#(.+)")  # how Sphinx refers to a place of another page


def complete(app):
    """Let the one-page builder write whatever the builder of pages can write."""
    handlers = app.registry.translation_handlers
    if app.builder.name == "singlehtml":
        handlers["singlehtml"] = handlers["html"] | handlers.get("singlehtml", {})
        app.set_html_assets_policy("always")
        static = Path(sphinx_codeautolink.__file__).with_name("static")
        app.config.html_static_path.append(str(static))


def with_pages(node: nodes.Node, page: str) -> Iterator[tuple[nodes.Element, str]]:
    """Yield every element of a tree with the page to which it belongs."""
    if isinstance(node, nodes.Element):
        page = node["docname"] if isinstance(node, start_of_file) else page
        yield node, page
        for child in node.children:
            yield from with_pages(child, page)


def tell_apart(tree: nodes.document, root: str) -> None:
    """Rename the places whose names stand on several pages, and what refers to them."""
    every = list(with_pages(tree, root))
    pages_of = defaultdict(set)
    for node, page in every:
        for name in node["ids"]:
            pages_of[name].add(page)

    def renamed(page: str, name: str) -> str:
        return f"{nodes.make_id(page)}--{name}" if len(pages_of[name]) > 1 else name

    for node, page in every:
        for attribute in ("ids", "backrefs"):
            node[attribute] = [renamed(page, name) for name in node[attribute]]
        if "refid" in node:
            node["refid"] = renamed(page, node["refid"])
        address = node.get("refuri", "")
        if found := FAR.fullmatch(address):
            node["refuri"] = f"#document-{found[1]}#{renamed(*found.groups())}"
        elif address.startswith("#") and not address.startswith("#document-"):
            node["refuri"] = f"#{renamed(page, address[1:])}"


def resolved(app, doctree, docname):
    """Rename places when all links are resolved, and still say to which page they lead."""
    if app.builder.name == "singlehtml":
        tell_apart(doctree, docname)


def setup(app):
    """Complete the handlers when all extensions have registered theirs."""
    app.connect("builder-inited", complete)
    app.connect("doctree-resolved", resolved)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
