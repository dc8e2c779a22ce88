"""The book's own part: experiments, claims, figures, exercises and the command ``wfm``.

`experiments` defines what the archives hold, `runs` computes and reads them, `claims` is the
ledger of the papers' statements, `display` draws, `exercises` checks what students answer, and
`cli` is the command ``wfm``. Nothing else in the package imports it. Numerics never draw, so a
figure is made by a chapter out of arrays.
"""

from __future__ import annotations

import importlib

__all__ = ["claims", "display", "exercises", "experiments"]


def __getattr__(name):
    if name in __all__:
        return importlib.import_module(f"wfmlib.book.{name}")
    raise AttributeError(f"module 'wfmlib.book' has no attribute {name!r}")


def __dir__():
    return __all__
