"""A Sphinx extension: `repository: url` in `_config.yml` brings launch buttons.

With it, every page that holds code offers to open itself on Binder, in the environment of
`binder/`; without it, no page mentions such a service.
"""

from __future__ import annotations

BINDER = "https://mybinder.org"


def configure(app, config):
    """Name Binder to the theme, which then makes the button."""
    options = config.html_theme_options
    if options.get("repository_url") and not options["launch_buttons"].get("binderhub_url"):
        options["launch_buttons"]["binderhub_url"] = BINDER


def setup(app):
    """Configure before the theme reads its options."""
    app.connect("config-inited", configure, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
