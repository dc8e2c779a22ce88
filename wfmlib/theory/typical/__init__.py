"""Typical solutions: how many there are, how far apart, and up to which load and margin.

`entropy` solves the saddle point, `thresholds` finds where solutions and replica symmetry end,
`one_step` breaks the symmetry once.
"""

from wfmlib.theory.typical.entropy import (
    capacity,
    curve,
    instability,
    last_margin,
    max_margin,
    solve,
    solve_1rsb,
)

__all__ = [
    "capacity",
    "curve",
    "instability",
    "last_margin",
    "max_margin",
    "solve",
    "solve_1rsb",
]


def __dir__():
    return __all__
