"""Clusters of solutions: groups of m at one mutual overlap, and where they end.

`groups` counts them at one overlap, `gaps` finds the load from which an overlap has none, `nested`
does the same for groups of groups, and `breakup` asks where the local entropy inside of the
densest groups stops being monotonic. Weights are binary.
"""

from wfmlib.theory.since.clusters.breakup import breakup
from wfmlib.theory.since.clusters.gaps import first_gap, last_load, overlap_gap, threshold
from wfmlib.theory.since.clusters.groups import curve, entropy, solve
from wfmlib.theory.since.clusters.nested import first_nested_gap, nested_entropy, nested_threshold

__all__ = [
    "breakup",
    "curve",
    "entropy",
    "first_gap",
    "first_nested_gap",
    "last_load",
    "nested_entropy",
    "nested_threshold",
    "overlap_gap",
    "solve",
    "threshold",
]


def __dir__():
    return __all__
