"""A Sphinx extension: every page says its version, when it was executed and how long it took."""

from __future__ import annotations

from datetime import UTC, datetime

from myst_nb.sphinx_ import NbMetadataCollector

from wfmlib import __version__


def sentence(executed: dict | None) -> str:
    """Return what the foot of a page says of the execution that MyST-NB reports, if any."""
    version = f"Version {__version__}"
    if executed is None:
        return f"{version}. This page holds no code."
    moment = datetime.fromtimestamp(executed["mtime"], UTC)
    when = f"{moment.day} {moment:%B %Y}"
    seconds = executed["runtime"]
    if seconds is None:
        return f"{version}. Executed on {when}."
    took = f"{seconds:.0f} seconds" if seconds >= 1.5 else "a second"
    return f"{version}. Executed on {when}; the cells took {took}."


def tell(app, pagename, templatename, context, doctree):
    """Put the sentence where the theme has room for one, at the foot of the page."""
    if doctree is not None:
        data = NbMetadataCollector.get_doc_data(app.env).get(pagename, {})
        context["theme_extra_footer"] = f"<p>{sentence(data.get('exec_data'))}</p>"


def setup(app):
    """Tell after the theme has put its options into the context."""
    app.connect("html-page-context", tell)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
