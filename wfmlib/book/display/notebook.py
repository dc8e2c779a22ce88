"""Settings of a chapter's notebook: how its figures look and come out, said once at its top."""

from __future__ import annotations

import os
import sys
import textwrap
import warnings
from functools import partial
from importlib.util import find_spec
from typing import Any


def figures() -> None:
    """Set the book's style, and pictures that are the same at every run.

    Figures come as SVG for pages, and as PNG for a notebook that is opened elsewhere: JupyterLab
    shows no SVG that it does not trust. Dates and random names would make equal figures differ.
    Outside of a notebook only the style is set. In a notebook the package's warnings print as
    text: a page holds no stderr.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> with plt.rc_context():
    ...     figures()
    ...     plt.rcParams["axes.spines.top"]
    False
    """
    import matplotlib.pyplot as plt

    shell = _shell()
    if shell is not None and hasattr(shell, "kernel"):
        from IPython.core.pylabtools import print_figure
        from matplotlib.figure import Figure
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        # First: the inline backend sets its own formats once, when it is loaded.
        shell.run_line_magic("matplotlib", "inline")
        set_matplotlib_formats()
        # Not through `set_matplotlib_formats`: it hands the same metadata to every format, and
        # they have other names in each.
        draw = partial(print_figure, bbox_inches=None)
        svg = partial(draw, fmt="svg", metadata={"Date": None, "Creator": None})
        png = partial(draw, fmt="png", base64=True, dpi=96, metadata={"Software": None})
        formatters = shell.display_formatter.formatters
        formatters["image/svg+xml"].for_type(Figure, svg)
        formatters["image/png"].for_type(Figure, png)
        if warnings.showwarning is not _show_as_text:
            _OTHERS.append(warnings.showwarning)
            warnings.showwarning = _show_as_text
    plt.style.use("wfmlib.wfm")


_OTHERS = []  # what shows the warnings of other packages


def _show_as_text(message, category, filename, lineno, file=None, line=None):
    """Print a warning of this package; leave others to what showed them before."""
    if category.__module__.partition(".")[0] == __name__.partition(".")[0]:
        print(textwrap.fill(f"{category.__name__}: {message}", 84))
    else:
        _OTHERS[-1](message, category, filename, lineno, file, line)


def progress(iterable: Any, description: str = "") -> Any:
    """Return `iterable` with a progress bar where a reader waits, and without a word in pages.

    tqdm alone would not do: its text goes to stderr, which no page may hold, and its notebook
    form leaves a dead widget behind.

    Examples
    --------
    >>> [step**2 for step in progress(range(3), "squares")]
    [0, 1, 4]
    """
    from tqdm.auto import tqdm

    return tqdm(iterable, desc=description, leave=False) if is_live() else iterable


def is_live() -> bool:
    """Say whether a control may ask a kernel: one runs, and no page is being made of it."""
    if os.environ.get("WFMLIB_DISPLAY") == "static":
        return False
    return hasattr(_shell(), "kernel") and find_spec("ipywidgets") is not None


def _shell():
    """Return IPython's shell, if we run inside of one."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
