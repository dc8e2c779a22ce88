"""The search for the saddle point of real replicas at a fixed mutual overlap.

The equation is that of `mutual_overlap`: a load, a function of how far apart groups are, must be
alpha. At q0 = q1 it is the load at which q1 is the replica-symmetric overlap, and it vanishes with
q0: a minimum exists where q1 is larger than the replica-symmetric overlap at alpha. There the
groups dissolve. Of a parity machine load does not vanish with q0, and q0 = 0 is a stationary point
of its own: of all minima the lowest is taken. With infinitely many replicas load vanishes there
too, and there is one minimum.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy

from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, NoZero, Report, accepted, increasing_root
from wfmlib.theory.machines.finite_machines import MOST_POWERS
from wfmlib.theory.saddles.mutual_overlap import Finite, Infinite, Orthogonal
from wfmlib.theory.saddles.replica_symmetric import Stationary

# Of `place`: below, load is not told from 0; above, q0 not from q1.
PLACES = (-300.0, 25.0)
FINE = 1e-13  # to which logarithms of load and overlap are met, or else of their unknowns
# The same for finite machines with infinitely many replicas, whose averages are over maxima that
# are found to about as much; and what the load is accepted within, which jumps where at a node of
# the averages another maximum becomes the highest.
ROUGH, JUMP = 1e-8, 1e-3
COARSE = gaussian.legendre_rule(5)  # relative errors of averages are mostly below 1e-5
# Places where minima are looked for. Beyond 4 the load is nearly linear in exp(-place).
SCANNED = (12.0, 10.0, 8.0, 6.0, *range(4, -13, -1))
CLOSEST = 10.0  # place up to which coarse panels tell groups apart
ACCURACY = 1e-8  # of the logarithm of the load: slopes err by as much, entropies by its square
DISSOLVED = 1e-6  # relative error of the load at which groups dissolve, at overlaps near 1e-9


def saddle(overlap, alpha, replicas, axes, start=None):
    """Return the saddle point at q1 and a positive load, its place and a report.

    `start` is a place nearby, if one is known. A place of ``-inf`` stands for q0 = 0 (parity, or a
    constraint without a sign), or for a spread that is as good as infinite: the state is None.

    Raises
    ------
    NotConverged
        Where q1 is not above the replica-symmetric overlap.
    """
    make = _maker(overlap, replicas, axes)
    seen, tolerance, accuracy = {}, FINE, ACCURACY

    def excess(place):
        if place not in seen:
            seen[place] = make(place)
        load = seen[place].load
        return math.log(load / alpha) if load > 0.0 else math.nan  # lost in rounding

    even = axes[2].even
    if axes[1].one_field and not even:  # of finite machines it may cost minutes
        lack = math.log(alpha / _load_of_one_group(overlap, axes))
        if lack > DISSOLVED:
            raise _dissolved(overlap, alpha, lack)
    if axes[0].implicit and replicas < math.inf and axes[1].one_field and not even:
        found = _joint_saddle(overlap, alpha, replicas, axes, start)
        if found is not None:
            return found
    if even or (axes[1].orthogonal and replicas <= MOST_POWERS):
        place = _lowest(excess, seen, alpha)
    elif axes[1].orthogonal and replicas < math.inf:
        place = _highest(excess, seen, alpha, replicas, make)
    else:
        slope = 1.0
        if replicas == math.inf and not axes[1].one_field:
            tolerance, accuracy = ROUGH, JUMP
            start, slope = _coarse_start(overlap, alpha, axes, start)
        place = _single(excess, start, overlap, alpha, slope, tolerance, accuracy)
    if place == -math.inf:
        state = None if replicas == math.inf and not even else make(place)
        return state, place, accepted(0.0, FINE, len(seen), "no overlap between groups")
    residual = abs(excess(place))
    report = accepted(residual, accuracy, len(seen), f"place within {tolerance:g}", place)
    return seen[place], place, report


def unbroken_load(overlap, axes):
    """Return the load at which q1 is the replica-symmetric overlap: there groups dissolve."""
    return Finite(overlap, PLACES[1], 1.0, axes).load


@lru_cache(maxsize=4096)
def _load_of_one_group(overlap, axes):
    """Return the same, from the replica-symmetric equations of a machine that has them."""
    return float(Stationary(axes[0].conjugate(overlap), *axes).alpha)


def _maker(overlap, replicas, axes):
    if replicas == math.inf:
        return lambda place: (
            Infinite(overlap, place, axes) if place > -math.inf else Orthogonal(overlap, axes)
        )
    return lambda place: Finite(overlap, place, replicas, axes)


def _coarse_start(overlap, alpha, axes, start):
    """Return where to begin, and the slope there, from cheap averages of a finite machine.

    Or what was given, if they lead nowhere.
    """

    def excess(place):
        return math.log(Infinite(overlap, place, axes, coarse=True).load / alpha)

    try:
        place = increasing_root(excess, start, PLACES, step=1.0, tolerance=1e-3)
        slope = (excess(place + 0.01) - excess(place - 0.01)) / 0.02
    except NotConverged:
        return start, 1.0
    return (place, slope) if slope > 0.0 else (start, 1.0)


def _single(excess, start, overlap, alpha, slope, tolerance, accuracy):
    """Return the place of the only minimum."""
    try:
        place = increasing_root(excess, start, PLACES, 1.0, slope, tolerance, max(accuracy, 1e-6))
    except NoZero as failure:
        if failure.state == PLACES[0]:
            return -math.inf
        raise _dissolved(overlap, alpha, failure.residual) from None
    return place


def _dissolved(overlap, alpha, residual):
    """Return the exception for groups that are no longer told from one another."""
    message = (
        f"no saddle point: overlap must be above the replica-symmetric overlap at this load "
        f"(see overlap_range); got overlap = {overlap:.10g}, alpha = {alpha:.10g}"
    )
    return NotConverged(Report(False, residual, 1, message), PLACES[1])


def _lowest(excess, seen, alpha):
    """Return the place of the lowest of several minima, q0 = 0 among them."""
    values = [excess(place) for place in SCANNED]
    minima = []
    for i in range(len(SCANNED) - 1):
        if values[i] > 0.0 >= values[i + 1]:
            minima.append(scipy.optimize.brentq(excess, SCANNED[i + 1], SCANNED[i], xtol=FINE))
            excess(minima[-1])
    if values[-1] > 0.0:
        minima.append(-math.inf)

    def height(place):
        return seen[max(place, SCANNED[-1])].entropy(alpha)

    if not minima:  # it falls all the way to q0 = q1
        message = "no saddle point: overlap must be above the replica-symmetric overlap"
        raise NotConverged(Report(False, abs(values[0]), len(seen), message), SCANNED[0])
    return min(minima, key=height)


# ------------------------------------------------------------------------------------------------
# Both equations of discrete weights at once
# ------------------------------------------------------------------------------------------------


def _joint_saddle(overlap, alpha, replicas, axes, place):
    """Return what `saddle` does, or None where this shorter way does not lead there.

    The unknowns are the place and the logarithm of the split. Newton's method on coarse panels
    comes close, and finds how both equations change; a few steps with all digits do the rest.
    """
    if place is None or place == -math.inf:  # a group exerts a force of order 1, a member 1 / y
        place = min(math.log(alpha / replicas**2 / axes[0].conjugate(overlap)), 0.0)
    widest = axes[0].widest_split(overlap, replicas)
    log_split = math.log(widest) + scipy.special.log_expit(-place)

    def coarse(unknowns):
        return _coarse_excess(unknowns, overlap, alpha, replicas, axes)

    def exact(unknowns):
        place, log_split = unknowns.tolist()
        state = Finite(overlap, place, replicas, axes, math.exp(log_split))
        complement = state.broken.overlaps.complement
        return state, np.log([(1.0 - overlap) / complement, state.load / alpha])

    unknowns, jacobian = _newton(coarse, np.array([place, log_split]))
    if jacobian is None:
        return None
    tolerance = FINE * max(1.0, 0.01 * replicas)  # exponents of order y round a load
    state, excess = exact(unknowns)
    for count in range(1, 8):
        residual = float(np.max(np.abs(excess)))
        if residual <= tolerance:
            message = f"both equations within {tolerance:g}"
            report = accepted(residual, tolerance, count, message)
            return state, float(unknowns[0]), report
        step = -np.linalg.solve(jacobian, excess)
        if not np.max(np.abs(step)) < 1.0:
            break
        unknowns = unknowns + step
        state, excess = exact(unknowns)
        jacobian += np.outer(excess, step) / (step @ step)  # Broyden: what the step has shown
    return None


def _coarse_excess(unknowns, overlap, alpha, replicas, axes):
    """Return the logarithms of what 1 - q1 should be over what it is, and of load / alpha.

    NaN where coarse panels do not resolve how far apart groups are.
    """
    place, log_split = unknowns.tolist()
    if not PLACES[0] < place < CLOSEST:
        return np.full(2, math.nan)
    weights, activation, constraint = axes
    q0_hat = float(weights.conjugate(overlap) * scipy.special.expit(place))
    group = weights.coarse_group(q0_hat, math.exp(log_split), replicas, COARSE)
    q0, difference, complement, *_ = group
    between = activation.effective(q0, complement + difference)
    within = activation.effective(1.0 - complement, complement)
    gap = between.complement - within.complement
    if not gap > 0.0:
        return np.full(2, math.nan)
    constraint = constraint.rescaled(activation.scale)
    force = constraint.grouped(between.c, gap, within.complement, replicas, COARSE).common
    return np.log([(1.0 - overlap) / complement, q0_hat / (between.slope * force) / alpha])


def _newton(function, unknowns):
    """Return a zero to some four digits and the matrix of derivatives there, or None for it."""
    shift = 1e-4
    for _ in range(15):
        value = function(unknowns)
        shifted = [function(unknowns + row) for row in shift * np.eye(len(unknowns))]
        jacobian = (np.array(shifted) - value).T / shift
        if not np.all(np.isfinite(jacobian)) or np.linalg.det(jacobian) == 0.0:
            break
        step = -np.linalg.solve(jacobian, value)
        size = float(np.max(np.abs(step)))
        unknowns = unknowns + step * min(1.0, 4.0 / size)
        if size < 1e-3:
            return unknowns, jacobian
    return unknowns, None


def _highest(excess, seen, alpha, replicas, make):
    """Return the place of the minimum with the largest q0 for many replicas of a parity machine.

    Or of q0 = 0, if that is lower: it hardly is, and no longer asked for above 1000 replicas.
    """
    place = 12.0 + math.ceil(math.log(replicas / MOST_POWERS))
    if excess(place) <= 0.0:
        message = "no saddle point: overlap must be above the replica-symmetric overlap"
        raise NotConverged(Report(False, abs(excess(place)), len(seen), message), place)
    while excess(place - 1.0) > 0.0:
        place -= 1.0
    place = scipy.optimize.brentq(excess, place - 1.0, place, xtol=FINE)
    excess(place)
    if replicas <= 1000.0 and make(-math.inf).entropy(alpha) < seen[place].entropy(alpha):
        return -math.inf
    return place
