"""The distribution of the patterns' stabilities.

In typical solutions (`distribution`), and in dense regions (`dense_stabilities`).
"""

from wfmlib.theory.stabilities.distribution import (
    cumulative,
    density,
)

__all__ = [
    "cumulative",
    "density",
]


def __dir__():
    return __all__
