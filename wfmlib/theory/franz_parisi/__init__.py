"""The Franz-Parisi potential: what surrounds a typical solution.

`surroundings` solves the saddle point around one reference, `potential` asks it along distances;
`dips` finds minima on the way, and `dense_regions` the margins and loads at which they appear.
"""

from wfmlib.theory.franz_parisi.potential import (
    curve,
    dense_threshold,
    distance_of_maximum,
    gap,
    gapless_threshold,
    geometric_bound,
    local_entropy,
    margin_monotonic,
    margin_no_gap,
    solve,
)

__all__ = [
    "curve",
    "dense_threshold",
    "distance_of_maximum",
    "gap",
    "gapless_threshold",
    "geometric_bound",
    "local_entropy",
    "margin_monotonic",
    "margin_no_gap",
    "solve",
]


def __dir__():
    return __all__
