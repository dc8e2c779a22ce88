"""Replica theory of storage in the limit of infinitely many weights.

A question takes a device, a load and a constraint: `typical` (how many solutions, how far apart,
up to which load and margin), `stabilities` (of their patterns), `franz_parisi` (what surrounds
them), `large_deviation` (where they lie densest), `clusters` (at which overlaps there are none),
`full_breaking` (groups inside groups), `localization` (whether they can be drawn),
`connectivity` (what lies between them), `cross_entropy` (low temperatures),
`teacher_student` and `margin_students` (the same where a rule is behind the labels).

Beyond the three papers is the folder `since`; a rule behind the labels has the folder `teacher`.
A module loads when it is first named.
"""

from __future__ import annotations

import importlib
import sys

__all__ = [
    "clusters",
    "connectivity",
    "cross_entropy",
    "franz_parisi",
    "franz_parisi_1rsb",
    "full_breaking",
    "large_deviation",
    "localization",
    "margin_students",
    "stabilities",
    "teacher_student",
    "typical",
]

_FOLDERS = {  # of the questions that have their file or folder one floor below
    "clusters": "since",
    "connectivity": "since",
    "franz_parisi_1rsb": "since",
    "full_breaking": "since",
    "localization": "since",
    "margin_students": "teacher",
    "teacher_student": "teacher",
}


def __getattr__(name):
    if name in _FOLDERS:
        return importlib.import_module(f"wfmlib.theory.{_FOLDERS[name]}.{name}")
    if name in __all__:
        return importlib.import_module(f"wfmlib.theory.{name}")
    hint = ""
    if not name.startswith("_"):
        homes = [one for one in __all__ if name in __getattr__(one).__all__]
        hint = f": write {' or '.join(f'theory.{one}.{name}' for one in homes)}" if homes else ""
    message = f"module 'wfmlib.theory' has no attribute {name!r}{hint}"
    raise AttributeError(message, name=name, obj=sys.modules[__name__])


def __dir__():
    return __all__
