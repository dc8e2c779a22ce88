"""Path of the system's Chromium, for the PDF and for the tests of the pages."""

from __future__ import annotations

import shutil

MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
NAMES = ("chromium", "chromium-browser", "google-chrome", MACOS)
MISSING = f"no Chromium on this machine: one of {', '.join(NAMES)} (Debian: apt install chromium)"


def executable() -> str | None:
    """Return the path of the first that is found."""
    return next(filter(None, map(shutil.which, NAMES)), None)
