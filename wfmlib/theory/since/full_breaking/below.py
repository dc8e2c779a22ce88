"""Hierarchies below capacity: the distribution of the overlap of two solutions, in k steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Array
from wfmlib.theory.axes import Load, checked
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.one_step_capacity import limit
from wfmlib.theory.saddles.one_step_search import Search
from wfmlib.theory.saddles.replica_symmetric import Stationary, lowest
from wfmlib.theory.since.full_breaking import states
from wfmlib.theory.since.full_breaking.lowest_point import lowest_point
from wfmlib.theory.since.full_breaking.tabulated_overlap import quick

WIDEST = 5.0  # margin, in units of the scale: the grid of fields reaches from 0 to there
STABLE = 1e-6  # a replicon below 1 by less counts as 1: no level splits
ROUNDING = 2e-11  # of phi: far steps gain less
GROWTH = 0.2  # of m along one interval: where the two halves of it start
SPLIT = 0.3  # of the distances to the next overlaps: where the two halves of a level start


@dataclass(frozen=True, repr=False, eq=False)
class LoadHierarchy(Shown):
    """How typical solutions are grouped at a load below capacity.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    constraint : Margin
    steps : int
        Of symmetry breaking: as many as were asked for, or fewer if these are stable.
    overlaps : ndarray
        q_0 to q_k, increasing: shape ``(k + 1,)``. One where replica symmetry holds.
    sizes : ndarray
        m_1 to m_k, increasing, between 0 and 1: shape ``(k,)``.
    entropy : float
        Logarithm of the share of the sphere that solutions have, in nats per weight.
    replicon : ndarray
        Stability of each level: shape ``(k + 1,)``. Where it exceeds 1 a further step that splits
        the level lowers the entropy  [eq-full-marginal].
    report : Report
        Residual: by how much a further step of the search would lower the entropy.
    """

    printed_answers = ("steps", "overlaps", "distribution", "entropy")

    device: Device
    alpha: float
    constraint: Margin
    steps: int
    overlaps: Array
    sizes: Array
    entropy: float
    replicon: Array
    report: Report = field(compare=False)

    @property
    def distribution(self) -> Array:
        """Probability of each overlap, ``m_{i+1} - m_i``: shape ``(k + 1,)``."""
        return states.weights(self.sizes)


@arguments.checked
def at_load(
    device: Device,
    alpha: Load,
    constraint: Constraint = Margin(0.0),
    *,
    steps: Annotated[int, Interval(ge=1, le=8)] = 2,
) -> LoadHierarchy:
    """Return the hierarchy of typical solutions at a load below capacity.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With spherical weights; of a committee's units infinitely many.
    alpha : float
        Load, patterns per weight; not negative.
    constraint : Margin
        A margin from -2 to 5 times the activation's scale.
    steps : int
        Of symmetry breaking, from 1 to 8.

    Returns
    -------
    LoadHierarchy
        Where the free entropy is smallest  [eq-full-spherical]. Replica symmetric up to the load
        of `typical.instability`, or, where groups appear discontinuously, as long as their
        number per weight is positive. The search adds one step after the other, and splits the
        least stable level each time; it ends early where all levels are stable.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        At and above the capacity of that many steps, which is `solve(device, constraint,
        steps=steps).alpha`, and where overlaps are too close to each other or to 1.

    Notes
    -----
    The entropy errs by less than 1e-10. Overlaps and sizes err by some 1e-6 with one and two
    steps, and by up to 1e-4 with more: levels that are nearly marginal move at little cost.

    Source: G. Parisi, J. Phys. A 13, L115 (1980); S. Franz, G. Parisi, M. Sevelev, P. Urbani, F.
    Zamponi, SciPost Phys. 2, 019 (2017).

    Examples
    --------
    >>> from wfmlib import Perceptron, Spherical
    >>> hierarchy = at_load(Perceptron(Spherical()), 9.0, Margin(-1.0))
    >>> hierarchy.overlaps.round(3).tolist(), hierarchy.distribution.round(3).tolist()
    ([0.65, 0.76, 0.841], [0.279, 0.031, 0.689])
    """
    axes = checked(device, constraint, weights=(Spherical,))
    _, activation, constraint = axes
    kappa = constraint.rescaled(activation.scale).kappa
    if kappa > WIDEST:
        raise ValueError(
            f"constraint must have a margin of at most {WIDEST:g} times the activation's scale "
            f"here, got {constraint!r}"
        )
    last = limit(activation, constraint)
    if alpha >= last.alpha:
        raise _none(alpha, f"above capacity: alpha must be below {last.alpha:.10g}")
    q_hat, report = lowest(alpha, axes)
    broken = Search(alpha, q_hat, axes).groups() if alpha > 0.0 else None
    if broken is None or broken.m >= 1.0:
        saddle = Stationary(q_hat, *axes)
        entropy, replicon = float(saddle.entropy), np.array([float(saddle.replicon)])
        q = np.array([float(saddle.q)])
        return LoadHierarchy(
            device, alpha, constraint, 0, q, np.zeros(0), entropy, replicon, report
        )
    term = quick(activation)
    _, within, difference = broken.overlaps[:3]
    start = np.array([within + difference, within]), np.array([broken.m])
    try:
        gaps, sizes, phi, report = minimum(term, kappa, alpha, *start)
        while True:
            replicon = states.replicons(activation, kappa, alpha, gaps, sizes)
            if len(sizes) == steps or np.max(replicon) < 1.0 + STABLE:
                break
            gaps, sizes, phi, report = _finer(term, kappa, alpha, gaps, sizes, phi, replicon)
    except NotConverged as failure:
        reason = "no minimum: too close to, or above, the capacity of that many steps"
        raise _none(alpha, f"{reason} ({failure.report.message})") from None
    return LoadHierarchy(
        device, alpha, constraint, len(sizes), 1.0 - gaps, sizes, phi, replicon, report
    )


def minimum(activation, kappa, alpha, gaps, sizes):
    """Return gaps, sizes, phi and the report where phi is smallest, near a start.

    The unknowns are the logits of the ratios of successive gaps ``1 - q``, and of successive
    sizes from 1 down: every point is a hierarchy.
    """
    n = len(gaps)

    def objective(x):
        (gaps, by_gap), (sizes, by_size) = _products(x[:n]), _products(x[n:])
        phi, *change = states.free_entropy(activation, kappa, alpha, gaps, sizes[::-1])
        return phi, np.concatenate([change[0] @ by_gap, change[1][::-1] @ by_size])

    start = np.concatenate([_logits(gaps), _logits(sizes[::-1])])
    x, phi, report = lowest_point(objective, start, f"{len(sizes)} steps")
    return _products(x[:n])[0], _products(x[n:])[0][::-1], phi, report


def _finer(activation, kappa, alpha, gaps, sizes, phi, replicon):
    """Return the minimum with a step more, as `minimum` does."""
    level = int(np.argmax(replicon))
    stable = np.flatnonzero(replicon <= 1.0)
    first = int(np.max(stable[stable < level], initial=-1)) + 1
    last = int(np.min(stable[stable > level], initial=len(gaps))) - 1
    starts = [_split(gaps, sizes, level)]
    if last > first:
        starts.insert(0, _resampled(gaps, sizes, first, last))
    for start in starts:
        try:
            finer = minimum(activation, kappa, alpha, *start)
        except NotConverged as error:
            failure = error
            continue
        if finer[2] < phi + ROUNDING:
            return finer
        failure = NotConverged(Report(False, finer[2] - phi, 0, "a step more lowers nothing"))
    raise failure


def _resampled(gaps, sizes, first, last):
    """Return a start with a step more among unstable levels: q and m as functions of depth."""
    n = last - first
    depth = np.arange(n + 1) / n
    new = np.exp(np.interp(np.arange(n + 2) / (n + 1), depth, np.log(gaps[first : last + 1])))
    low, high = _rises(sizes)[[first, last + 1]]
    old, places = sizes[first:last], (np.arange(n + 1) + 0.5) / (n + 1)
    growth = np.polyfit((np.arange(n) + 0.5) / n, old, 1)[0] if n > 1 else GROWTH * old[0]
    within = np.interp(places, (np.arange(n) + 0.5) / n, old)
    beyond = growth * 0.5 / (n * (n + 1))
    within[0] = max(old[0] - beyond, 0.5 * (low + old[0]))
    within[-1] = min(old[-1] + beyond, 0.5 * (high + old[-1]))
    return (
        np.concatenate([gaps[:first], new, gaps[last + 1 :]]),
        np.concatenate([sizes[:first], within, sizes[last:]]),
    )


def _split(gaps, sizes, level):
    """Return a start with a step more: a level becomes two, with a size between its two."""
    ends, rises = np.concatenate([[1.0], gaps, [0.0]]), _rises(sizes)
    two = gaps[level] + SPLIT * (ends[[level, level + 2]] - gaps[level])
    size = 0.5 * (rises[level] + rises[level + 1])
    return (
        np.concatenate([gaps[:level], two, gaps[level + 1 :]]),
        np.insert(sizes, level, size),
    )


def _rises(sizes):
    """Return x below the overlaps, between them, and above."""
    return np.concatenate([[0.0], sizes, [1.0]])


def _products(x):
    """Return products of the fractions with logits x, each of one more, and their derivatives."""
    values = np.cumprod(scipy.special.expit(x))
    return values, values[:, None] * np.tri(len(x)) * scipy.special.expit(-x)


def _logits(values):
    return scipy.special.logit(values / np.append(1.0, values[:-1]))


def _none(alpha, reason):
    message = f"{reason}; got alpha = {alpha:.10g}"
    return NotConverged(Report(False, math.nan, 0, message))
