"""Stochastic localisation in theory: whether it can draw solutions, its time by overlap.

Stochastic localisation reveals a configuration w drawn from a measure little by little: at time t
one knows ``h = t w + sqrt(t) x``, x normal, and the measure given h is the first one with a field
h on the weights. Two configurations drawn from it have an overlap q1, which grows from that of
typical solutions, q0, to 1. Averaged over w and x, the replicas that share h are a group of m
replicas that attract each other with the strength t, at m -> 1: what is 1RSB without a field
[eq-localization-free-entropy]. The saddle point gives the time at which the overlap is q1,

    t = (q1_hat - q0_hat)(weights) - (q1_hat - q0_hat)(patterns)   [eq-localization-time],

the first from the weights, at overlap q1, and the second from the patterns. Where t grows with q1
all the way, there is one saddle point at each time, and message passing, which is led by the same
equations, gives the mean that the algorithm needs. Where t falls, the overlap would have to jump:
message passing stays on a branch that is the wrong one for some time, and what is drawn has
another law, or is no solution.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Interval

from wfmlib.models.constraints import LogPotential, Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory.axes import Load, checked
from wfmlib.theory.saddles.replica_symmetric import Stationary
from wfmlib.theory.sweeps import dataset, labelled
from wfmlib.theory.typical.entropy import solved

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["curve", "threshold"]


def __dir__():
    return __all__


SOLVED = (Margin, LogPotential)
#: q1_hat - q0_hat (Binary), or (q1 - q0) / (1 - q1) (Spherical), is looked at from the first to
#: the second: there 1 - q1 is about 1e-13, or 1e-6.
REACH = (1e-3, {True: 60.0, False: 1e6})
RULE = gaussian.legendre_rule(8)  # relative errors of times below 1e-6
FALL = 1e-9  # by which a time may fall that does not fall: rounding
TOLERANCE = 1e-4  # of a threshold

Points = Annotated[int, Interval(ge=10, le=2000)]
MEANING = {
    "overlap": ("1", "overlap of two configurations drawn given the field"),
    "time": ("1", "time of the localisation at which this is the overlap"),
    "complement": ("1", "1 - overlap"),
}


@arguments.checked
def curve(
    device: Device,
    alpha: Load,
    constraint: Constraint = Margin(0.0),
    *,
    points: Points = 100,
) -> xr.Dataset:
    """Return the time of stochastic localisation for overlaps from the typical one to nearly 1.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        A committee of infinitely many units.
    alpha : float
        Load, patterns per weight; not negative.
    constraint : Margin or LogPotential
        The measure that is drawn from: solutions of a margin, all alike, or weighed.
    points : int, optional
        Overlaps, from 10 to 2000.

    Returns
    -------
    xarray.Dataset
        Over `overlap`: `time`, 0 at the overlap of typical solutions  [eq-localization-time], and
        `complement`, 1 - overlap without its rounding. Negative times stand at overlaps that no
        time has.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where there are no typical solutions.

    Examples
    --------
    >>> from wfmlib import LogPotential, Perceptron
    >>> path = curve(Perceptron(), 0.3, constraint=LogPotential(1.0))
    >>> bool((path.time.diff("overlap") > 0).all())  # such solutions can be drawn
    True
    """
    axes = checked(device, constraint, SOLVED)
    state = _typical(device, alpha, constraint)
    weights = axes[0]
    split = _splits(weights, points)
    walk = np.array([_time(width, state, axes) for width in split])
    overlap = np.concatenate([[state.q], 1.0 - walk[:, 0]])
    columns = {
        "time": np.concatenate([[0.0], walk[:, 1]]),
        "complement": np.concatenate([[state.complement], walk[:, 0]]),
    }
    coordinates = {"alpha": alpha, "overlap": overlap, "constraint": constraint}
    arrays = {name: labelled(name, value) for name, value in coordinates.items()}
    columns = {name: ("overlap", values) for name, values in columns.items()}
    return dataset(arrays, columns, MEANING, device=device)


@arguments.checked
def threshold(
    device: Device, constraint: Constraint = Margin(0.0), *, points: Points = 60
) -> float:
    """Return the largest load up to which stochastic localisation draws typical solutions.

    Parameters
    ----------
    device, constraint, points
        As in `curve`.

    Returns
    -------
    float
        Load up to which the time grows with the overlap, to 1e-4; 0 where it falls at any load,
        as for binary weights and a `Margin`, or a `LogPotential` of an exponent below 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where the time still grows at a load of 100.

    Notes
    -----
    Overlaps are looked at on a grid of `points`: a dip narrower than its mesh is overlooked.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron, Spherical
    >>> round(threshold(Perceptron(Spherical()), Margin(0.5), points=30), 3)
    0.961
    >>> threshold(Perceptron())
    0.0
    """
    axes = checked(device, constraint, SOLVED)
    if axes[0].discrete and getattr(constraint, "exponent", 0.0) < 1.0:
        return (
            0.0  # the patterns' conjugate diverges as a power of 1 - q1, the weights' as its log
        )
    low, high = 0.0, 0.25
    while grows(device, high, axes, points):
        low, high = high, 2.0 * high
        if high > 100.0:
            report = Report(False, math.inf, 1, "the time grows with the overlap at any load")
            raise NotConverged(report, low)
    while high - low > TOLERANCE:
        middle = 0.5 * (low + high)
        if grows(device, middle, axes, points):
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def grows(device, alpha, axes, points):
    """Return whether the time grows with the overlap, at a load."""
    try:
        state = _typical(device, alpha, axes[2])
    except NotConverged:
        return False
    last = 0.0
    for width in _splits(axes[0], points):
        time = _time(width, state, axes)[1]
        if time < last - FALL * (1.0 + abs(last)):
            return False
        last = time
    return True


def _typical(device, alpha, constraint):
    """Return the saddle point of typical solutions; NotConverged where there are none."""
    if alpha == 0.0:
        return Stationary(0.0, *checked(device, constraint, SOLVED), alpha=0.0)
    point, state = solved(device, alpha, constraint)
    if device.weights.discrete and point.entropy < 0.0:
        message = f"there are no solutions of {constraint} at alpha = {alpha:g}"
        raise NotConverged(Report(False, math.inf, 1, message), state.q_hat)
    return state


def _splits(weights, points):
    """Return differences of the conjugates as `broken` takes them, from small to large."""
    first, last = REACH
    return np.geomspace(first, last[weights.discrete], points - 1)


def _time(split, state, axes):
    """Return 1 - q1, and the time at which the overlap is q1."""
    weights, activation, constraint = axes
    entropic = weights.broken(state.q_hat, split, 1.0)
    outer = activation.effective(entropic.q0, 1.0 - entropic.q0)
    inner = activation.effective(1.0 - entropic.complement, entropic.complement)
    gap = outer.complement - inner.complement
    scaled = constraint.rescaled(activation.scale)
    pattern = scaled.grouped(outer.c, gap, inner.complement, 1.0, RULE)
    conjugate = inner.slope * (pattern.common + pattern.spread) - outer.slope * pattern.common
    return entropic.complement, float(entropic.split_hat - state.alpha * conjugate)
