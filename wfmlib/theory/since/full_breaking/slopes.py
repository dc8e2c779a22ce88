"""Slope of the breaking function, and the load at which a gap opens in the overlaps.

Where a hierarchy is continuous, ``alpha lambda^2 E f''^2 = 1`` at every overlap of a perceptron.
Its first derivative by q, with Parisi's equation for f and for the density of fields, gives x, and
its second one gives dx/dq  [eq-full-slope]. The breaking function must not fall: where dx/dq would
be negative at the smallest overlap, no overlap is close above it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.models.constraints import Margin
from wfmlib.models.devices import Perceptron
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Array
from wfmlib.theory.axes import PERCEPTRON, checked, energetic
from wfmlib.theory.saddles.replica_symmetric import last_stable
from wfmlib.theory.since.full_breaking import states
from wfmlib.theory.since.full_breaking.below import LoadHierarchy, at_load
from wfmlib.theory.since.full_breaking.fields import fields
from wfmlib.theory.since.full_breaking.hierarchy import Hierarchy, solve

NEAREST = (0.8, 0.9, 0.97, 0.99)  # of the way from the loss of symmetry to capacity
TOLERANCE = 1e-6  # of the load


@arguments.checked
def slope(hierarchy: LoadHierarchy | Hierarchy) -> Array:
    """Return the slope of the breaking function that belongs to each overlap of a perceptron.

    Parameters
    ----------
    hierarchy : LoadHierarchy or Hierarchy
        Of a perceptron, from `at_load` or `solve`; at capacity with at least one step.

    Returns
    -------
    ndarray
        ``dx/dq`` (at capacity ``dy/dq``) just above each overlap, if the hierarchy is continuous
        there  [eq-full-slope]: shape ``(k + 1,)``, at capacity ``(n,)``. Negative at the smallest
        overlap: a gap lies above it.

    Raises
    ------
    TypeError, ValueError
        If `hierarchy` is of another kind, of a committee, or at capacity replica symmetric.

    Notes
    -----
    With k steps the fields at an overlap are nearly those of the continuous hierarchy: below
    capacity three steps give the slope at the smallest overlap within 2e-3 of that of eight.

    Source: the second derivative of the condition of marginal stability, as in S. Franz,
    G. Parisi, M. Sevelev, P. Urbani, F. Zamponi, SciPost Phys. 2, 019 (2017).

    Examples
    --------
    >>> from wfmlib import Spherical
    >>> hierarchy = at_load(Perceptron(Spherical()), 20.0, Margin(-1.45))
    >>> slope(hierarchy).round(2).tolist()
    [-0.02, 0.11, 0.24]
    """
    arguments.member("hierarchy", hierarchy, (LoadHierarchy, Hierarchy))
    if not isinstance(hierarchy.device, Perceptron):
        raise ValueError(f"hierarchy must be of a perceptron, got one of {hierarchy.device!r}")
    if isinstance(hierarchy, Hierarchy):
        field = fields(hierarchy)
        bend = [np.gradient(field.force, field.stability, axis=1)]
        for _ in range(2):
            bend.append(np.gradient(bend[-1], field.stability, axis=1))
        mass = field.density * np.gradient(field.stability)
        response = hierarchy.responses[: len(mass)]
        levels = zip(mass, zip(*bend, strict=True), response, strict=True)
    else:
        kappa = hierarchy.constraint.rescaled(energetic(hierarchy.device).scale).kappa
        levels = _states(kappa, hierarchy.overlaps, hierarchy.sizes)
    return np.array([_slope(hierarchy.alpha, *level) for level in levels])


@arguments.checked
def gap_onset(
    device: Device,
    constraint: Constraint = Margin(0.0),
    *,
    steps: Annotated[int, Interval(ge=1, le=6)] = 3,
) -> float:
    """Return the load at which a gap opens above the smallest overlap of typical solutions.

    Parameters
    ----------
    device : Perceptron
        With spherical weights.
    constraint : Margin
        A margin from -2 to 1e4.
    steps : int
        Of the hierarchies below capacity, from 1 to 6.

    Returns
    -------
    float
        Where the slope of the breaking function at the smallest overlap vanishes. The load of
        `typical.instability` where the slope is negative from there on; infinite where it is
        positive up to capacity, or replica symmetry holds. With three steps it is too small by
        0.1 % at margin -1.4, by 1 % at -1.3 and by 3 % at -1.25, where it is close to capacity.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If the gap opens within one per cent of the way from the loss of symmetry to capacity, or
        as `at_load` and `solve`.

    Examples
    --------
    >>> from wfmlib import Spherical
    >>> round(gap_onset(Perceptron(Spherical()), Margin(-1.6)), 2)  # where symmetry is lost
    23.06

    At margin -1.4, where the gap opens later, it is 19.07, after some five seconds.
    """
    arguments.member("device", device, (Perceptron,))
    axes = checked(device, constraint, kinds=(PERCEPTRON,), weights=(Spherical,))
    onset = last_stable(axes)
    if math.isinf(onset):
        return math.inf

    @cache
    def first(alpha):
        return float(slope(at_load(device, alpha, constraint, steps=steps))[0])

    if first(onset) <= 0.0:
        return onset
    high = onset + NEAREST[0] * (solve(device, constraint, steps=steps).alpha - onset)
    if first(high) >= 0.0:  # it opens close to capacity, if it opens
        end = solve(device, constraint)
        if slope(end)[0] >= 0.0:
            return math.inf
        high = _where_negative(first, onset, end.alpha)
    return float(scipy.optimize.brentq(first, onset, high, rtol=TOLERANCE))


def _where_negative(function, low, high):
    """Return a place where a function is negative that is not close to the higher end."""
    for share in NEAREST:
        place = low + share * (high - low)
        if function(place) < 0.0:
            return place
    message = f"the gap opens close to capacity: above {place:.6g}, below {high:.6g}"
    raise NotConverged(Report(False, math.nan, 0, message))


def _states(kappa, overlaps, sizes):
    """Yield, at each overlap below capacity, what `_slope` asks for."""
    widths = np.diff(overlaps, prepend=0.0, append=1.0)
    response = states.responses(1.0 - overlaps, sizes)
    levels = states.levels(kappa, widths, sizes, 4)
    for (mass, (_, *bend)), level_response in zip(levels, response, strict=True):
        yield mass, bend, level_response


def _slope(alpha, mass, bend, response):
    """Return dx/dq  [eq-full-slope] from f'', f''' and f'''' at fields with the given mass."""
    second, third, fourth = bend
    scale = 2.0 * (response**-3 + alpha * mass @ second**3)
    x = alpha * mass @ third**2 / scale
    change = fourth**2 - 12.0 * x * second * third**2 + 6.0 * x**2 * second**4
    return (alpha * mass @ change - 6.0 * x**2 / response**4) / scale
