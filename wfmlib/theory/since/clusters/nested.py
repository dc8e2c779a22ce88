"""Groups of groups: m1 groups of m2 solutions each, an ultrametric arrangement of two levels.

Solutions of one group have the overlap q2, those of different groups the smaller overlap q1. The
average number of arrangements has the same two terms as that of groups, each with one more
Gaussian average  [eq-nested-entropic], [eq-nested-energetic]. We choose the conjugates, and read
off the overlaps. A typical number has a third overlap, q0, between arrangements
[eq-nested-quenched]: at q0 = 0 it is the average number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Range
from wfmlib.numerics.solvers import NotConverged, Report, accepted
from wfmlib.theory.axes import ResolvedLoad
from wfmlib.theory.points import Shown
from wfmlib.theory.since.clusters.arrangements import Arrangement, Shared, keeping
from wfmlib.theory.since.clusters.gaps import first_gap
from wfmlib.theory.since.clusters.groups import Average, check_axes, replicon
from wfmlib.theory.since.clusters.nested_quenched import check_orthogonal, gap, saddle

Size: TypeAlias = Annotated[float, Interval(ge=1.0, le=30.0)]
Sizes: TypeAlias = tuple[Size, Size]

COARSE = np.linspace(math.log(0.02), math.log(5.0), 12)  # logarithms of conjugates, to begin with


@dataclass(frozen=True, repr=False)
class NestedGap(Shown):
    """Where two overlaps first have no group of groups of solutions.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    constraint : Margin or Band
    replicas : tuple of float
        Groups m1, and solutions m2 in a group.
    average : str
        "annealed" or "quenched".
    alpha : float
        The load.
    q1, q2 : float
        Overlaps between groups, and within a group; quenched and of one level: NaN for the other.
    q0 : float
        Overlap of solutions of different arrangements; 0 where the average is annealed.
    replicon : float or None
        Quenched, of arrangements: RS between them is stable where it is below 1.
    report : Report
    """

    printed_arguments = ("device", "constraint", "replicas", "average")
    printed_answers = ("alpha", "q1", "q2", "q0", "replicon")

    device: Device
    constraint: Constraint
    replicas: tuple[float, float]
    average: str
    alpha: float
    q1: float
    q2: float
    q0: float
    replicon: float | None
    report: Report = field(compare=False)


@arguments.checked
def nested_entropy(
    device: Device,
    alpha: ResolvedLoad,
    overlaps: tuple[float, float],
    constraint: Constraint = Margin(0.0),
    *,
    replicas: Sizes,
    average: Average = "annealed",
) -> float:
    """Return the logarithm of the number of groups of groups, in nats per weight.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    alpha : float
        Load, patterns per weight: 0, or at least 1e-7.
    overlaps : tuple of float
        q1 between groups and q2 within, from 1e-3 to ``1 - 1e-4``, the first below the second.
    constraint : Margin or Band
        As `clusters.solve`.
    replicas : tuple of float
        Groups m1, and solutions m2 in a group; each from 1 to 30.
    average : {"annealed", "quenched"}
        The logarithm of the average number, or the average of the logarithm, with replica symmetry
        between arrangements.

    Returns
    -------
    float
        Negative where there are none  [eq-nested-energetic], [eq-nested-quenched].

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where no conjugates keep the two overlaps: such vectors do not exist in that number.
        Quenched: where q1 is not above the overlap of typical groups of m2.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> asked = {"replicas": (2, 3), "average": "quenched"}
    >>> round(nested_entropy(Perceptron(), 0.77, (0.95, 0.99), **asked), 4)
    0.0121
    """
    axes = check_axes(device, constraint)
    q1, q2 = _pair("overlaps", overlaps, Range.of(Shared))
    m1, m2 = _pair("replicas", replicas, Range.of(Size))
    if not q1 < q2:
        raise ValueError(f"overlaps must grow inwards, q1 < q2, got {(q1, q2)}")
    if average == "quenched" and alpha > 0.0:
        return saddle((q1, q2), alpha, (m1, m2), axes).entropy(alpha)
    h1, split = keeping((q1, q2), 0.0, (m1, m2))
    arrangement = Arrangement(0.0, h1, split, m1, m2, axes)
    return arrangement.entropic if alpha == 0.0 else arrangement.entropy(alpha)


@arguments.checked
def nested_threshold(
    device: Device,
    replicas: Sizes | None,
    constraint: Constraint = Margin(0.0),
    *,
    average: Average = "annealed",
) -> float:
    """Return the least load from which two overlaps have no group of groups.

    Parameters
    ----------
    device, constraint, average
        As `nested_entropy`.
    replicas : tuple of float or None
        As `nested_entropy`; None for the real numbers at which the load is least.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        As `nested_entropy`.
    NotConverged
        Where the least load is not found: of large groups, q2 is beyond its range.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> round(nested_threshold(Perceptron(), (2, 3), constraint=Band(1.0)), 4)
    1.6299
    """
    return first_nested_gap(device, replicas, constraint=constraint, average=average).alpha


@arguments.checked
def first_nested_gap(
    device: Device,
    replicas: Sizes | None,
    constraint: Constraint = Margin(0.0),
    *,
    average: Average = "annealed",
) -> NestedGap:
    """Return the threshold together with the two overlaps.

    Parameters
    ----------
    device, replicas, constraint, average
        As `nested_threshold`.

    Returns
    -------
    NestedGap

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `nested_threshold`.

    Notes
    -----
    Annealed: the method of Nelder and Mead starts from the best place of a coarse grid of
    conjugates. It takes some seconds, and half a minute with free numbers. Quenched: the equations
    are solved, from two groups of two on to the sizes that are asked for, in some seconds. With
    one group, or groups of one, the threshold is that of `clusters.first_gap`.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> gap = first_nested_gap(Perceptron(), (2, 3), Band(1.0))
    >>> round(gap.alpha, 4), round(gap.q1, 3), round(gap.q2, 3)
    (1.6299, 0.96, 0.995)
    """
    axes = check_axes(device, constraint)
    sizes = None if replicas is None else _pair("replicas", replicas, Range.of(Size))
    problem = device, constraint
    if average == "quenched" and sizes is not None and min(sizes) == 1.0:
        single = first_gap(device, max(sizes), constraint=constraint, average=average)
        overlaps = (math.nan, single.overlap) if sizes[0] == 1.0 else (single.overlap, math.nan)
        stable = replicon(single.overlap, single.alpha, max(sizes), axes)
        point = single.alpha, *overlaps, single.q0
        return NestedGap(*problem, sizes, average, *point, replicon=stable, report=single.report)
    if average == "annealed" or axes[2].even:
        sizes, alpha, q1, q2, report = _first_gap(sizes, axes)
        stable = None
        if average == "quenched":
            (m1, m2), (h1, split) = sizes, keeping((q1, q2), 0.0, sizes)
            arrangement = Arrangement(0.0, h1, split, m1, m2, axes)
            check_orthogonal(arrangement, alpha)
            stable = arrangement.replicon(alpha)
        return NestedGap(*problem, sizes, average, alpha, q1, q2, 0.0, stable, report)
    arrangement, report = gap(sizes, axes)
    alpha = arrangement.loads[0]
    point = alpha, arrangement.q1, arrangement.q2, arrangement.q0, arrangement.replicon(alpha)
    return NestedGap(*problem, arrangement.sizes, average, *point, report=report)


@lru_cache(maxsize=64)
def _first_gap(sizes, axes):
    free = sizes is None
    overlaps, most = Range.of(Shared), Range.of(Size).high

    def parameters(unknowns):
        m1, m2 = np.exp(unknowns[2:]).tolist() if free else sizes
        return *np.exp(unknowns[:2]).tolist(), m1, m2

    def load(unknowns):
        h1, split, m1, m2 = parameters(unknowns)
        if not (1.0 <= m1 <= most and 1.0 <= m2 <= most):
            return 1e3
        if not (1e-6 < h1 < 30.0 and 1e-6 < split < 30.0):
            return 1e3
        arrangement = Arrangement(0.0, h1, split, m1, m2, axes)
        if not (overlaps.low < arrangement.q1 < arrangement.q2 < overlaps.high):
            return 1e3
        return -arrangement.entropic / arrangement.pattern

    sizes_tried = [math.log(3.0), math.log(4.0)] if free else []
    starts = [np.array([h1, split, *sizes_tried]) for h1 in COARSE for split in COARSE]
    start = min(starts, key=load)
    simplex = np.vstack([start, start + 0.2 * np.eye(len(start))])
    options = {"initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-9, "maxiter": 500}
    minimum = scipy.optimize.minimize(load, start, method="Nelder-Mead", options=options)
    if not minimum.success or minimum.fun >= 1e3:
        raise NotConverged(
            Report(False, math.inf, int(minimum.nfev), str(minimum.message)), minimum.x
        )
    h1, split, m1, m2 = parameters(minimum.x)
    arrangement = Arrangement(0.0, h1, split, m1, m2, axes)
    report = accepted(0.0, 0.0, int(minimum.nfev), "a minimum by Nelder and Mead")
    return (m1, m2), float(minimum.fun), arrangement.q1, arrangement.q2, report


def _pair(name: str, values: Any, allowed: Range) -> tuple[float, float]:
    """Return two numbers after checking them."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be two numbers, got {values!r}") from None
    return allowed.check(f"{name}[0]", first), allowed.check(f"{name}[1]", second)
