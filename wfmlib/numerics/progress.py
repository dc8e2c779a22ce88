"""Progress bar for what takes longer than two seconds, where somebody watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from tqdm.auto import tqdm

DELAY = 2.0  # seconds without a bar


def progress_bar(progress: bool | None, steps: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return a bar of tqdm over steps, or one that its caller moves.

    Parameters
    ----------
    progress : bool or None
        Whether it shows, once two seconds have passed; in a terminal or a notebook where None.
    steps : iterable, optional
        What the bar goes through.
    **options
        Of tqdm, such as `total` and `unit`.
    """
    visible = watched() if progress is None else progress
    return tqdm(steps, disable=not visible, delay=DELAY, **options)


def watched() -> bool:
    """Say whether messages go to a terminal or a notebook, and are not kept in a page."""
    if os.environ.get("WFMLIB_DISPLAY") == "static":
        return False
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return sys.stderr.isatty() or hasattr(shell, "kernel")
