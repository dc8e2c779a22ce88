"""Averages inside a group of more than one replica: where the strongly tilted measure lies.

With m replicas the variable y that a group shares weighs ``e^{m f}``. For m up to 1 its tilt is
mild, and `broken_symmetry` follows it by the asymptotes of f. For more replicas the measure
gathers about a maximum, at a distance of order ``sqrt(m)``.
"""

from __future__ import annotations

from numba import njit

from wfmlib.numerics import gaussian


@njit(cache=True, nogil=True)
def most_tilted(given, ratio):
    """Return the zero of ``t + ratio h(t) - given``, h the hazard: where ``m f`` tilts most.

    The function is convex and increases: Newton's method comes down to its zero from `given`.
    """
    t = given
    for _ in range(60):
        step = (t - given + ratio * gaussian.hazard(t)) / (
            1.0 + ratio * gaussian.hazard_derivative(t)
        )
        t -= step
        if abs(step) < 1e-6:  # near enough for a middle
            break
    return t
