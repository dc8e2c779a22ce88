"""A Sphinx extension: the executed notebook of a chapter is published beside its page.

The theme knows how to offer a notebook for download (`ipynb_source` in the page's context), but
copies it only where launch buttons to an outside service are configured, and MyST-NB writes the
notebook without outputs when they come from the cache. In front stands a cell that installs what
is missing where the notebook is run.
"""

from __future__ import annotations

from pathlib import Path

import first_cell
import nbformat
from bibliography import cited
from notebooks import chapters, executed, without_terms
from numbering import captioned, numbers, plain


def offer(app, pagename, templatename, context, doctree):
    """Name the notebook to the theme."""
    if doctree is not None and Path(app.srcdir) / f"{pagename}.md" in chapters():
        context["ipynb_source"] = f"{pagename}.ipynb"


def publish(app, pagename, templatename, context, doctree):
    """Write the executed notebook to the sources of the pages."""
    if doctree is not None and "ipynb_source" in context:
        notebook = executed(Path(app.srcdir) / f"{pagename}.md")
        notebook.metadata.pop("jupytext", None)  # from here on it is a notebook like any other
        known = numbers(Path(app.srcdir))
        notebook.cells = list(captioned(notebook.cells, known))
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = cited(plain(without_terms(cell.source), known))
        first_cell.put(notebook, Path(pagename).name)
        target = Path(app.outdir) / "_sources" / f"{pagename}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, target)


def setup(app):
    """Offer before the theme makes its download button (at the default priority).

    Publish after it made its launch buttons (at 501), for which it copies a notebook of its own.
    """
    app.connect("html-page-context", offer, priority=400)
    app.connect("html-page-context", publish, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
