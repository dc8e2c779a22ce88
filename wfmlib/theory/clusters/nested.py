"""Groups of groups: m1 groups of m2 solutions each, an ultrametric arrangement of two levels.

Solutions of one group have the overlap q2, those of different groups the smaller overlap q1. The
average number of arrangements has the same two terms as that of groups, each with one more
Gaussian average  [eq-nested-entropic], [eq-nested-energetic]. We choose the conjugates, and read
off the overlaps. Averages are sums on an even grid: for functions that are smooth on a scale and
fall off like a Gaussian these converge faster than any power.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import scipy

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics.ranges import Range
from wfmlib.numerics.solvers import NotConverged, Report, accepted
from wfmlib.theory.axes import RESOLVED, ResolvedLoad
from wfmlib.theory.clusters.groups import doors
from wfmlib.theory.points import Shown

SIZE = Range(1.0, 30.0)
SHARE = Range(1e-3, 1.0 - 1e-4)

Sizes: TypeAlias = Annotated[tuple[float, float], SIZE]

REACH = 8.5  # how far a Gaussian field is followed from where its weight is largest
FINE = 0.5  # steps of the grid, in units of the scale on which a function changes
CLOSE = 1e-9  # of overlaps that are asked for
COARSE = np.linspace(math.log(0.02), math.log(5.0), 12)  # logarithms of conjugates, to begin with


class Level(NamedTuple):
    """The entropic side at given conjugates.

    Attributes
    ----------
    q1, q2 : float
        Overlaps between groups, and within.
    entropy : float
        ``ln`` of the number of arrangements of vectors, in nats per weight.
    """

    q1: float
    q2: float
    entropy: float


@dataclass(frozen=True, repr=False)
class NestedGap(Shown):
    """Where two overlaps first have no group of groups of solutions.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    constraint : Margin or Band
    replicas : tuple of float
        Groups m1, and solutions m2 in a group.
    alpha : float
        The load.
    q1, q2 : float
        Overlaps between groups, and within a group.
    report : Report
    """

    asked = ("device", "constraint", "replicas")
    found = ("alpha", "q1", "q2")

    device: Device
    constraint: Constraint
    replicas: tuple[float, float]
    alpha: float
    q1: float
    q2: float
    report: Report = field(compare=False)


def _line(reach, scale):
    """Return an even grid of normal variables that covers a range, and its log weights."""
    step = FINE * min(1.0, scale)
    count = math.ceil(reach / step)
    x = step * np.arange(-count, count + 1)
    return x, math.log(step) - 0.5 * x**2 - 0.5 * math.log(2.0 * math.pi)


def entropic(h1, split, m1, m2):
    """Return `Level` at the conjugates h1 and ``h2 = h1 + split``  [eq-nested-entropic]."""
    root, width = math.sqrt(h1), math.sqrt(split)
    x, log_x = _line(REACH + m1 * m2 * root, 1.0 / max(1.0, root))
    y, log_y = _line(REACH + m2 * width, 1.0 / max(1.0, width))  # tanh bends over one unit
    keep = x >= 0.0  # even in x
    x, log_x = x[keep], log_x[keep] + math.log(2.0) * (x[keep] > 0.0)
    size = np.abs(root * x[:, None] + width * y)
    log_inner = log_y + m2 * (size + np.log1p(np.exp(-2.0 * size)))
    log_group = scipy.special.logsumexp(log_inner, axis=1)
    t = np.tanh(root * x[:, None] + width * y)
    tilted = np.exp(log_inner - log_group[:, None])
    first, second = np.sum(tilted * t, axis=1), np.sum(tilted * t**2, axis=1)
    log_outer = log_x + m1 * log_group
    log_norm = scipy.special.logsumexp(log_outer)
    outer = np.exp(log_outer - log_norm)
    q1, q2 = float(outer @ first**2), float(outer @ second)
    h2 = h1 + split
    products = m1 * m2 * (h2 + (m2 - 1.0) * h2 * q2 + (m1 - 1.0) * m2 * h1 * q1)
    return Level(q1, q2, float(log_norm - 0.5 * products))


def energetic(q1, q2, m1, m2, axes):
    """Return ``ln`` of the probability that a pattern is right for all  [eq-nested-energetic]."""
    _, activation, constraint = axes
    outside = activation.effective(q1, 1.0 - q1)
    inside = activation.effective(q2, 1.0 - q2)
    scaled = constraint.rescaled(activation.scale)
    root, width = math.sqrt(outside.c), math.sqrt(outside.complement - inside.complement)
    own = math.sqrt(inside.complement)
    # a margin pulls fields up, the more the larger the groups are
    pull = 0.0 if scaled.even else 2.0 * math.sqrt(2.0 * math.log1p(m1 * m2))
    x, log_x = _line(REACH + pull, math.hypot(width, own) / (root * math.sqrt(m1 * m2)))
    y, log_y = _line(REACH + pull, own / (width * math.sqrt(m2)))
    if scaled.even:
        keep = x >= 0.0
        x, log_x = x[keep], log_x[keep] + math.log(2.0) * (x[keep] > 0.0)
    omega = root * x[:, None] + width * y
    with np.errstate(over="ignore"):
        f = np.asarray(scaled.log_weight(omega.ravel(), inside.complement)).reshape(omega.shape)
    log_group = scipy.special.logsumexp(log_y + m2 * f, axis=1)
    return float(scipy.special.logsumexp(log_x + m1 * log_group))


def nested_entropy(
    device: Device,
    alpha: ResolvedLoad,
    overlaps: tuple[float, float],
    *,
    replicas: Sizes,
    constraint: Constraint = Margin(0.0),
) -> float:
    """Return the logarithm of the average number of groups of groups, in nats per weight.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    alpha : float
        Load, patterns per weight: 0, or at least 1e-7.
    overlaps : tuple of float
        q1 between groups and q2 within, from 1e-3 to ``1 - 1e-4``, the first below the second.
    replicas : tuple of float
        Groups m1, and solutions m2 in a group; each from 1 to 30.
    constraint : Margin or Band
        As `clusters.solve`.

    Returns
    -------
    float
        Negative where there are none  [eq-nested-energetic].

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where no conjugates keep the two overlaps: such vectors do not exist in that number.
    """
    axes, alpha = doors(device, constraint, "annealed"), RESOLVED.check("alpha", alpha)
    q1, q2 = _pair("overlaps", overlaps, SHARE)
    m1, m2 = _pair("replicas", replicas, SIZE)
    if not q1 < q2:
        raise ValueError(f"overlaps must grow inwards, q1 < q2, got {(q1, q2)}")

    def lack(unknowns):
        h1, split = np.exp(unknowns).tolist()
        at = entropic(h1, split, m1, m2)
        return [math.log(q1 / at.q1), math.log((1.0 - q2) / (1.0 - at.q2))]

    start = np.log([0.1 / m1 * q1 + 1e-3, 2.0 / m2])
    found = scipy.optimize.root(lack, start, options={"xtol": 1e-12})
    residual = float(np.max(np.abs(found.fun)))
    accepted(residual, CLOSE, int(found.nfev), "conjugates found", found.x)
    h1, split = np.exp(found.x).tolist()
    at = entropic(h1, split, m1, m2)
    if alpha == 0.0:
        return at.entropy
    return float(at.entropy + alpha * energetic(q1, q2, m1, m2, axes))


def nested_threshold(
    device: Device, replicas: Sizes | None, *, constraint: Constraint = Margin(0.0)
) -> float:
    """Return the least load from which two overlaps have no group of groups, on average.

    Parameters
    ----------
    device, constraint
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
        Where the least load is not found.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> round(nested_threshold(Perceptron(), (2, 3), constraint=Band(1.0)), 4)
    1.6299
    """
    return first_nested_gap(device, replicas, constraint=constraint).alpha


def first_nested_gap(
    device: Device, replicas: Sizes | None, *, constraint: Constraint = Margin(0.0)
) -> NestedGap:
    """Return the threshold together with the two overlaps.

    Parameters
    ----------
    device, replicas, constraint
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
    The method of Nelder and Mead starts from the best place of a coarse grid of conjugates. It
    takes some seconds, and half a minute with free numbers.
    """
    axes = doors(device, constraint, "annealed")
    sizes = None if replicas is None else _pair("replicas", replicas, SIZE)
    sizes, alpha, q1, q2, report = _first_gap(sizes, axes)
    return NestedGap(device, constraint, sizes, alpha, q1, q2, report)


@lru_cache(maxsize=64)
def _first_gap(sizes, axes):
    free = sizes is None

    def taken(unknowns):
        m1, m2 = np.exp(unknowns[2:]).tolist() if free else sizes
        return *np.exp(unknowns[:2]).tolist(), m1, m2

    def load(unknowns):
        h1, split, m1, m2 = taken(unknowns)
        if not (1.0 <= m1 <= SIZE.high and 1.0 <= m2 <= SIZE.high):
            return 1e3
        if not (1e-6 < h1 < 30.0 and 1e-6 < split < 30.0):
            return 1e3
        at = entropic(h1, split, m1, m2)
        if not (SHARE.low < at.q1 < at.q2 < SHARE.high):
            return 1e3
        return -at.entropy / energetic(at.q1, at.q2, m1, m2, axes)

    sizes_tried = [math.log(3.0), math.log(4.0)] if free else []
    starts = [np.array([h1, split, *sizes_tried]) for h1 in COARSE for split in COARSE]
    start = min(starts, key=load)
    simplex = np.vstack([start, start + 0.2 * np.eye(len(start))])
    options = {"initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-9, "maxiter": 500}
    found = scipy.optimize.minimize(load, start, method="Nelder-Mead", options=options)
    if not found.success or found.fun >= 1e3:
        raise NotConverged(Report(False, math.inf, int(found.nfev), str(found.message)), found.x)
    h1, split, m1, m2 = taken(found.x)
    at = entropic(h1, split, m1, m2)
    report = accepted(0.0, 0.0, int(found.nfev), "a minimum by Nelder and Mead")
    return (m1, m2), float(found.fun), at.q1, at.q2, report


def _pair(name: str, values: Any, allowed: Range) -> tuple[float, float]:
    """Return two numbers after checking them."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be two numbers, got {values!r}") from None
    return allowed.check(f"{name}[0]", first), allowed.check(f"{name}[1]", second)
