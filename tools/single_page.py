"""A Sphinx extension: the whole book on one page, from which `make pdf` prints.

Sphinx looks for what writes a node under the name of the builder, and under ``html`` only if no
extension registered anything under that name. One does, and the others' nodes would be unknown.
It also asks only the first chapter whether there is any mathematics to render.
"""

from __future__ import annotations


def complete(app):
    """Let the one-page builder write whatever the builder of pages can write."""
    handlers = app.registry.translation_handlers
    if app.builder.name == "singlehtml":
        handlers["singlehtml"] = handlers["html"] | handlers.get("singlehtml", {})
        app.set_html_assets_policy("always")


def setup(app):
    """Complete the handlers when all extensions have registered theirs."""
    app.connect("builder-inited", complete)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
