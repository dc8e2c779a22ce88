"""Wide flat minima: replica theory, learning algorithms and landscape measures.

The parts load when they are first named: ``wfmlib.theory``, ``wfmlib.learning`` and so on.
"""

from __future__ import annotations

import importlib

from wfmlib import _numba_cache  # noqa: F401  (first: numba reads the folder at import)

__version__ = "0.1.0"

_PARTS = (
    "claims",
    "comparisons",
    "datasets",
    "display",
    "experiments",
    "gaussian",
    "landscape",
    "learning",
    "networks",
    "patterns",
    "solvers",
    "theory",
)


def __getattr__(name):
    if name in _PARTS:
        return importlib.import_module(f"wfmlib.{name}")
    raise AttributeError(f"module 'wfmlib' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_PARTS})
