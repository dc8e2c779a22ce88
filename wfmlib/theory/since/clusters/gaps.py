"""From which load no group of m solutions at some mutual overlap exists: the overlap gap.

At each overlap there is a last load at which groups exist. The least of these over overlaps, where
both the entropy of groups and its slope vanish  [eq-gap-threshold], is the threshold: above it an
interval of overlaps is forbidden. If the size m is free, the derivative in m vanishes too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, Report, accepted
from wfmlib.theory import large_deviation
from wfmlib.theory.axes import ResolvedLoad, values_over
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.broken_symmetry import Broken
from wfmlib.theory.saddles.real_replicas import saddle, unbroken_load
from wfmlib.theory.saddles.replica_symmetric import Stationary
from wfmlib.theory.since.clusters.groups import (
    Average,
    GroupOverlap,
    GroupSize,
    annealed,
    check_axes,
    entropy,
)

SCANNED = np.linspace(-2.0, 12.0, 43)  # logits of overlaps that are tried
WALKED = np.arange(7.5, -1.0, -0.3)  # the same where each point starts from the one before
SIZES = np.exp(np.linspace(math.log(1.2), math.log(500.0), 14))
FEW = (2.0, 3.0, 4.0, 6.0)
#: By how much below the overlap of orthogonal groups leaning ones are looked for, in its logit.
LOWERED = (0.0, 0.15, 0.3, 0.45, 0.6, 0.9)
NEARBY = (-0.3, -0.1, 0.1, 0.3)  # of logits of overlaps: there are groups
ORTHOGONAL = 1e-12  # overlap between groups
FAR = 4.0  # of logarithms of conjugates: how far from a guess a root is looked for
TOLERANCE = 1e-9  # of entropies and of logarithms of loads
FLAT = 1e-7  # of slopes: loads err by its square


@dataclass(frozen=True, repr=False)
class FirstGap(Shown):
    """Where an overlap first has no group of solutions.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    constraint : Margin or Band
    average : str
        "annealed" or "quenched".
    alpha : float
        The load: the threshold.
    overlap : float
        The mutual overlap that is forbidden first.
    replicas : float
        Solutions in a group.
    q0 : float
        Overlap of solutions of different groups.
    report : Report
    """

    printed_arguments = ("device", "constraint", "average")
    printed_answers = ("alpha", "overlap", "replicas", "q0")

    device: Device
    constraint: Constraint
    average: str
    alpha: float
    overlap: float
    replicas: float
    q0: float
    report: Report = field(compare=False)


@arguments.checked
def threshold(
    device: Device,
    replicas: GroupSize | None,
    constraint: Constraint = Margin(0.0),
    *,
    average: Average = "annealed",
) -> float:
    """Return the least load from which some mutual overlap has no group of m solutions.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    replicas : float or None
        Solutions m in a group, from 1 to 1000; None for the real m at which the load is least.
    constraint : Margin or Band
        As `clusters.solve`.
    average : {"annealed", "quenched"}
        As `clusters.solve`.

    Returns
    -------
    float
        With one solution in a group it is the load at which the (average) number of solutions
        vanishes.

    Raises
    ------
    TypeError, ValueError
        As `clusters.solve`.
    NotConverged
        Where no such load is found.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> round(threshold(Perceptron(), 4, constraint=Band(1.0)), 4)
    1.6578
    """
    return first_gap(device, replicas, constraint=constraint, average=average).alpha


@arguments.checked
def first_gap(
    device: Device,
    replicas: GroupSize | None,
    constraint: Constraint = Margin(0.0),
    *,
    average: Average = "annealed",
) -> FirstGap:
    """Return the threshold together with the overlap and the size of the groups.

    Parameters
    ----------
    device, replicas, constraint, average
        As `threshold`.

    Returns
    -------
    FirstGap
        Its overlap is NaN with one solution in a group.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `threshold`.

    Notes
    -----
    In a band the quenched threshold is the annealed one where groups are orthogonal, q0 = 0; where
    they lean to one side together (four of them in bands from 1.1 to 2, say) it is lower.

    Overlaps are scanned for the least load, from 0.12 to ``1 - 6e-6`` (annealed) and from that of
    typical solutions to 0.9994 (quenched), before the equations are solved; a narrower dip would
    be missed. A quenched threshold takes a second or so, with a free m five.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> gap = first_gap(Perceptron(), 3)
    >>> round(gap.alpha, 4), round(gap.overlap, 4)
    (0.9728, 0.9954)
    """
    axes = check_axes(device, constraint)
    if average == "annealed":
        smallest = _annealed_gap(replicas, axes)
    else:
        smallest = (_even_gap if axes[2].even else quenched_gap)(replicas, axes)
    alpha, overlap, m, q0, report = smallest
    return FirstGap(device, constraint, average, alpha, overlap, m, q0, report)


# ------------------------------------------------------------------------------------------------
# Annealed
# ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _annealed_gap(m, axes):
    """Return load, overlap, size, q0 and report."""
    if m is None:
        loads = [_load_or_none(size, axes) for size in SIZES.tolist()]
        best = int(np.argmin(loads))
        if not 0 < best < len(loads) - 1:
            message = f"the load falls up to the ends of the sizes, {SIZES[0]:g} to {SIZES[-1]:g}"
            raise NotConverged(Report(False, math.inf, len(loads), message))

        def leaning(log_m):
            size = math.exp(log_m)
            alpha, overlap, *_ = _annealed_gap(size, axes)
            return annealed(overlap, size, axes).leaning(alpha)

        ends = [math.log(SIZES[best + step]) for step in (-1, 1)]
        m = math.exp(scipy.optimize.brentq(leaning, *ends, xtol=1e-12))
        return _annealed_gap(m, axes)
    if m == 1.0:
        alpha = annealed(0.5, 1.0, axes).load
        return float(alpha), math.nan, 1.0, 0.0, accepted(0.0, 0.0, 1, "a closed form")

    def slope(place):
        groups = annealed(float(scipy.special.expit(place)), m, axes)
        return groups.slope(groups.load)

    loads = [annealed(float(scipy.special.expit(place)), m, axes).load for place in SCANNED]
    best = int(np.argmin(loads))
    if not 0 < best < len(SCANNED) - 1:
        message = "the load falls up to the ends of the overlaps that are tried"
        raise NotConverged(Report(False, math.inf, len(loads), message))
    place = scipy.optimize.brentq(slope, SCANNED[best - 1], SCANNED[best + 1], xtol=1e-12)
    overlap = float(scipy.special.expit(place))
    report = accepted(abs(slope(place)), FLAT, len(loads), "entropy and slope vanish")
    return float(annealed(overlap, m, axes).load), overlap, m, 0.0, report


def _load_or_none(size, axes):
    """Return the threshold of a size, infinite where its dip is too close to overlap 1."""
    try:
        return _annealed_gap(size, axes)[0]
    except NotConverged:
        return math.inf


# ------------------------------------------------------------------------------------------------
# Quenched
# ------------------------------------------------------------------------------------------------


def _broken(unknowns, m, axes):
    return Broken(math.exp(unknowns[0]), math.exp(unknowns[1]), m, *axes)


def solved(equations, start):
    """Return the root of a few equations near a start, and what is left of them."""

    def safe(unknowns):
        if np.max(np.abs(unknowns - start)) > FAR:
            return np.full(len(unknowns), 1e3)
        try:
            values = np.array(equations(unknowns), dtype=float)
        except (ArithmeticError, ValueError, NotConverged):
            return np.full(len(unknowns), 1e3)
        return np.nan_to_num(values, nan=1e3, posinf=1e3, neginf=-1e3)

    root = scipy.optimize.root(safe, start, options={"xtol": 1e-12})
    return root.x, float(np.max(np.abs(safe(root.x))))


def _walk(m, axes):
    """Return the last loads at overlaps, from large ones downwards, and their unknowns."""
    first = float(scipy.special.expit(WALKED[0]))
    top = unbroken_load(first, axes) * (1.0 - 1e-9)

    def free_entropy(alpha):
        return saddle(first, alpha, m, axes)[0].entropy(alpha)

    alpha = scipy.optimize.brentq(free_entropy, _below(free_entropy, top), top, xtol=1e-10)
    broken = saddle(first, alpha, m, axes)[0].broken
    unknowns = np.log([broken.q0_hat, broken.split])
    rows = [(alpha, unknowns)]
    for place in WALKED[1:]:
        overlap = float(scipy.special.expit(place))

        def equations(unknowns, overlap=overlap):
            state = _broken(unknowns, m, axes)
            lack = math.log((1.0 - overlap) / state.overlaps.complement)
            return [lack, state.entropy(state.load_between)]

        guess = 2.0 * rows[-1][1] - rows[-2][1] if len(rows) > 1 else rows[-1][1]
        unknowns, residual = solved(equations, guess)
        if residual > TOLERANCE:  # groups dissolve
            break
        rows.append((_broken(unknowns, m, axes).load_between, unknowns))
    return rows


@lru_cache(maxsize=256)
def quenched_gap(m, axes):
    """Return load, overlap, size, q0 and report."""
    if m == 1.0:
        return _last_typical(axes)
    if m is None:
        starts = [quenched_gap(size, axes) for size in FEW]
        *_, size, _, _ = min(starts, key=lambda start: start[0])
        return _described(
            *_flat(np.log([*_conjugates(_quenched_state(size, axes)), size]), m, axes)
        )
    point = _quenched_state(m, axes)
    return _described(point, abs(math.log(point.load_within / point.load_between)))


def _conjugates(broken):
    return broken.q0_hat, broken.split


def _described(state, residual):
    """Return load, overlap, size, q0 and report of a saddle point."""
    report = accepted(residual, TOLERANCE, 1, "entropy and its derivatives vanish")
    overlap, q0 = float(1.0 - state.overlaps.complement), float(state.overlaps.q0)
    return float(state.load_between), overlap, state.m, q0, report


def _flat(start, m, axes):
    """Return the saddle point at which entropy and slope vanish, near a start, and what is left.

    Of a free size, the derivative in m too; the unknowns are logarithms.
    """

    def state(unknowns):
        return _broken(unknowns, float(math.exp(unknowns[2])) if m is None else m, axes)

    def equations(unknowns):
        point = state(unknowns)
        alpha = point.load_between
        leaning = [point.complexity(alpha)] if m is None else []
        return [math.log(point.load_within / alpha), point.entropy(alpha), *leaning]

    unknowns, residual = solved(equations, start)
    return state(unknowns), residual


@lru_cache(maxsize=256)
def _quenched_state(m, axes):
    """Return the saddle point at which entropy and slope vanish, at a given size."""
    rows = _walk(m, axes)
    best = min(range(len(rows)), key=lambda i: rows[i][0])
    if best in (0, len(rows) - 1):
        message = "the load falls up to the ends of the overlaps that are tried"
        raise NotConverged(Report(False, math.inf, len(rows), message))
    point, residual = _flat(rows[best][1], m, axes)
    accepted(residual, TOLERANCE, len(rows), "entropy and slope vanish")
    return point


@lru_cache(maxsize=256)
def _even_gap(m, axes):
    """Return the same for a constraint without a sign.

    Groups are orthogonal, and both averages agree, unless they lean towards one side together:
    that saddle point exists at overlaps below some value, and the lower of the two counts.
    """
    orthogonal = _annealed_gap(m, axes)
    alpha, overlap, size, *_ = orthogonal
    if m == 1.0:
        return orthogonal
    for shift in LOWERED:
        lower = float(scipy.special.expit(scipy.special.logit(overlap) - shift))
        state, *_ = saddle(lower, alpha, size, axes)
        if state.q0 > ORTHOGONAL:
            break
    else:
        return orthogonal
    start = np.log([*_conjugates(state.broken), size])[: 3 if m is None else 2]
    broken, residual = _flat(start, m, axes)
    if residual > TOLERANCE or broken.overlaps.q0 < ORTHOGONAL:  # it leads back
        _check_positive(alpha, overlap, size, axes)
        return orthogonal
    leaning = _described(broken, residual)
    if leaning[0] > alpha:
        return orthogonal
    _check_positive(*leaning[:3], axes)
    return leaning


def _check_positive(alpha, overlap, m, axes):
    """Raise NotConverged where groups of overlaps nearby are fewer than none."""
    for shift in NEARBY:
        place = float(scipy.special.expit(scipy.special.logit(overlap) + shift))
        state, *_ = saddle(place, alpha, m, axes)
        left = float(state.entropy(alpha))
        if left < -FLAT:
            message = f"groups of the overlap {place:.6g} vanish below alpha = {alpha:.6g}"
            raise NotConverged(Report(False, -left, 1, message))


def _last_typical(axes):
    """Return the capacity in the form of a gap: one solution in a group."""

    def left(log_q_hat):
        return Stationary(math.exp(log_q_hat), *axes).entropy

    root = scipy.optimize.brentq(left, -4.0, 8.0, xtol=1e-13)
    point = Stationary(math.exp(root), *axes)
    report = accepted(abs(left(root)), TOLERANCE, 1, "the entropy vanishes")
    return float(point.alpha), math.nan, 1.0, float(point.q), report


# ------------------------------------------------------------------------------------------------
# One overlap, and one load
# ------------------------------------------------------------------------------------------------


@arguments.checked
def last_load(
    device: Device,
    overlap: Annotated[ArrayLike, *GroupOverlap.__metadata__],
    constraint: Constraint = Margin(0.0),
    *,
    replicas: GroupSize,
    average: Average = "annealed",
) -> Any:
    """Return the load up to which there are groups of m solutions at a mutual overlap.

    Parameters
    ----------
    device, replicas, constraint, average
        As `clusters.solve`.
    overlap : float or array_like
        As `clusters.solve`.

    Returns
    -------
    float or ndarray
        Of the shape of `overlap`. Quenched and in an array: NaN where groups dissolve into
        typical solutions before their entropy vanishes.

    Raises
    ------
    TypeError, ValueError
        As `clusters.solve`.
    NotConverged
        There, for a single overlap.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> last_load(Perceptron(), [0.5, 0.9, 0.99], replicas=3).round(4).tolist()
    [1.2744, 1.1136, 0.977]
    """
    axes, m = check_axes(device, constraint), replicas

    def load(overlap):
        if average == "annealed":
            return float(annealed(overlap, m, axes).load)
        return (_last_even if axes[2].even else _last_quenched)(overlap, m, axes)

    if np.ndim(overlap) == 0:
        return load(overlap)

    def load_or_nan(overlap):
        try:
            return load(overlap)
        except NotConverged:
            return math.nan

    return values_over(load_or_nan, overlap)


def _last_quenched(overlap, m, axes):
    top = unbroken_load(overlap, axes) * (1.0 - 1e-9)

    def free_entropy(alpha):
        return saddle(overlap, alpha, m, axes)[0].entropy(alpha)

    left = free_entropy(top)
    if left > 0.0:
        message = f"groups dissolve at load {top:.6g}, before their entropy vanishes"
        raise NotConverged(Report(False, left, 1, message))
    low = _below(free_entropy, top)
    return float(scipy.optimize.brentq(free_entropy, low, top, xtol=1e-10))


def _last_even(overlap, m, axes):
    """Return the same for a constraint without a sign, whose groups may lean to one side."""
    top = float(annealed(overlap, m, axes).load)

    def free_entropy(alpha):
        return saddle(overlap, alpha, m, axes)[0].entropy(alpha)

    if m == 1.0 or saddle(overlap, top, m, axes)[0].q0 < ORTHOGONAL:
        return top
    return float(scipy.optimize.brentq(free_entropy, _below(free_entropy, top), top, xtol=1e-10))


def _below(free_entropy, top):
    """Return a load at which there are groups: at load 0 their entropy is positive."""
    low = 0.05 * top
    while free_entropy(low) < 0.0:
        low *= 0.25
    return low


@arguments.checked
def overlap_gap(
    device: Device,
    alpha: ResolvedLoad,
    constraint: Constraint = Margin(0.0),
    *,
    replicas: GroupSize,
    average: Average = "annealed",
) -> tuple[float, float]:
    """Return the interval of mutual overlaps at which there is no group of m solutions.

    Parameters
    ----------
    device, alpha, replicas, constraint, average
        As `clusters.solve`.

    Returns
    -------
    low, high : float
        Between them the entropy of groups is negative; of several such intervals, the one with
        its minimum. Quenched: `low` is the overlap of typical solutions where it is negative from
        there on.

    Raises
    ------
    TypeError, ValueError
        As `clusters.solve`.
    NotConverged
        Where there is no gap: at loads below the `threshold`; and where the interval reaches the
        ends of the overlaps tried, 0.12 and ``1 - 6e-6``: above the capacity.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> low, high = overlap_gap(Perceptron(), 1.7, Band(1.0), replicas=4)
    >>> round(low, 4), round(high, 4)
    (0.9458, 0.9973)
    """
    axes = check_axes(device, constraint)
    m = replicas
    options: Any = {"replicas": m, "constraint": axes[2], "average": average}
    low, high = float(SCANNED[0]), float(SCANNED[-1])
    if average == "quenched" and not axes[2].even:
        least = large_deviation.overlap_range(device, alpha, constraint=axes[2])[0]
        low = max(low, float(scipy.special.logit(least)) + 1e-3)

    def counted(place):
        return entropy(device, alpha, float(scipy.special.expit(place)), **options)

    places = np.linspace(low, high, 57).tolist()
    values = entropy(device, alpha, scipy.special.expit(places), **options)
    best = int(np.nanargmin(values))
    if values[best] >= 0.0:
        message = f"no gap: there are groups of {m:g} at all overlaps, alpha = {alpha:.6g}"
        raise NotConverged(Report(False, float(values[best]), len(places), message))
    below = [i for i in range(best) if values[i] >= 0.0]
    above = [i for i in range(best, len(places)) if values[i] >= 0.0]
    if not above or (not below and low == SCANNED[0]):
        message = f"there are no groups of {m:g} up to the ends of the overlaps, alpha = {alpha:g}"
        raise NotConverged(Report(False, float(values[best]), len(places), message))
    right = scipy.optimize.brentq(counted, places[above[0] - 1], places[above[0]], xtol=1e-10)
    left = low
    if below:
        left = scipy.optimize.brentq(counted, places[below[-1]], places[below[-1] + 1], xtol=1e-10)
    return float(scipy.special.expit(left)), float(scipy.special.expit(right))
