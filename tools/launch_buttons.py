"""A Sphinx extension: the address of the site brings launch and source buttons.

GitHub serves the pages of `https://github.com/OWNER/NAME` at `https://OWNER.github.io/NAME/`, so
that the environment's WFMLIB_SITE says both. For a site elsewhere, `repository: url` in
`_config.yml` names the repository. With one, every page that holds code offers to open itself on
Binder, in the environment of `binder/`, and on Colab, which reads the notebooks from the branch
`notebooks` (the publishing workflow writes it). Without one no page mentions such a service.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"
BRANCH = "notebooks"  # holds the executed notebooks: the sources are text
GITHUB = "https://github.com/"


def repository(site: str) -> str:
    """Return the repository whose pages GitHub serves at an address; empty for any other."""
    address = urlsplit(site)
    host = address.hostname or ""
    owner = host.removesuffix(".github.io")
    if owner in ("", host):
        return ""
    name = address.path.strip("/").partition("/")[0]
    return f"{GITHUB}{owner}/{name or host}"


def configure(app, config):
    """Name the repository and Binder to the theme, which then makes the buttons."""
    options = config.html_theme_options
    if not options.get("repository_url"):
        options["repository_url"] = repository(os.environ.get("WFMLIB_SITE", "").strip())
    if options["repository_url"]:
        options["use_repository_button"] = options["use_source_button"] = True
        buttons = options.setdefault("launch_buttons", {})
        if not buttons.get("binderhub_url"):
            buttons["binderhub_url"] = BINDER


def offer_colab(app, pagename, templatename, context, doctree):
    """Add Colab to the buttons: the theme would send it to the text, which Colab cannot open."""
    url = app.config.html_theme_options.get("repository_url") or ""
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons" and url.startswith(GITHUB):
            path = url.removeprefix(GITHUB).strip("/")
            notebook = f"{COLAB}/github/{path}/blob/{BRANCH}/{pagename}.ipynb"
            group["buttons"].append(
                {
                    "type": "link",
                    "text": "Colab",
                    "tooltip": "Launch on Colab",
                    "icon": "_static/images/logo_colab.png",
                    "url": notebook,
                }
            )


def setup(app):
    """Configure before the theme reads its options; offer Colab after it made its buttons."""
    app.connect("config-inited", configure, priority=400)
    app.connect("html-page-context", offer_colab, priority=550)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
