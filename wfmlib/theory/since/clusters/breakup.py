"""Breakup of dense groups: the load at which their local entropy stops being monotonic."""

from __future__ import annotations

import math

import numpy as np
import scipy

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory import large_deviation
from wfmlib.theory.since.clusters.groups import annealed, check_axes

PLACES = np.linspace(2.5, 8.0, 23)  # logits of overlaps
SIZES = np.log([1.05, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0, 22.0, 35.0, 60.0, 100.0])


@arguments.checked
def breakup(
    device: Device,
    constraint: Constraint = Margin(0.0),
) -> float:
    """Return the load at which the local entropy at zero complexity is no longer monotonic.

    At each mutual overlap the groups have the size m of zero complexity: phi_m = m phi_m', where
    the derivative is in m. The number of dense regions is then no longer exponential, while that
    of groups, exp(N phi_m), still is. Their entropy divided by m is a local entropy.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    constraint : Margin or Band
        As `clusters.solve`.

    Returns
    -------
    float
        The least load at which that local entropy has a slope of zero at some overlap, between
        0.92 and 0.9997. Of a margin it is ``large_deviation.dense_threshold(device,
        replicas="zero complexity")``.

    Raises
    ------
    TypeError, ValueError
        As `clusters.solve`.
    NotConverged
        Where the slope does not vanish in that range.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> round(breakup(Perceptron(), Band(1.0)), 4)
    1.6234
    """
    axes = check_axes(device, constraint)
    if not axes[2].even:
        return large_deviation.dense_threshold(
            device, replicas="zero complexity", constraint=constraint
        )
    loads = [_flat_load(place, axes) for place in PLACES]
    best = int(np.argmin(loads))
    if not 0 < best < len(PLACES) - 1 or not math.isfinite(loads[best]):
        message = "the slope of the local entropy does not vanish at the overlaps that are tried"
        raise NotConverged(Report(False, math.inf, len(loads), message))
    ends = PLACES[best - 1], PLACES[best + 1]
    minimum = scipy.optimize.minimize_scalar(
        lambda place: _flat_load(place, axes), bounds=ends, options={"xatol": 1e-6}
    )
    return float(minimum.fun)


def _flat_load(place, axes):
    """Return the load with zero slope and zero complexity at an overlap, infinite without one."""
    overlap = float(scipy.special.expit(place))

    def flat(log_m):
        groups = annealed(overlap, math.exp(log_m), axes)
        return -groups.entropic_slope / groups.energetic_slope, groups

    def complexity(log_m):
        alpha, groups = flat(log_m)
        return groups.leaning(alpha)

    values = [complexity(size) for size in SIZES]
    for low, high, left, right in zip(SIZES, SIZES[1:], values, values[1:], strict=False):
        if left * right < 0.0:
            return flat(scipy.optimize.brentq(complexity, low, high, xtol=1e-12))[0]
    return math.inf
