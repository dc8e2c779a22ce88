"""Real replicas at a fixed mutual overlap: where solutions lie densest.

`real_replicas_entropy` solves for them, `around_reference` for replicas at a distance from a
reference, and `flat_slope` finds the load at which dense regions end.
"""

from wfmlib.theory.large_deviation.around_reference import around_reference
from wfmlib.theory.large_deviation.real_replicas_entropy import (
    curve,
    dense_threshold,
    energetic_term,
    local_entropy,
    overlap_range,
    solve,
    zero_complexity_replicas,
)

__all__ = [
    "around_reference",
    "curve",
    "dense_threshold",
    "energetic_term",
    "local_entropy",
    "overlap_range",
    "solve",
    "zero_complexity_replicas",
]


def __dir__():
    return __all__
