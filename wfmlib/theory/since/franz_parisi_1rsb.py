"""Solutions at a distance from a reference, in groups: one step of replica symmetry breaking.

Replicas of the counted solutions come in groups of m: overlap p1 inside a group, p0 between
groups. The reference, t0 and t1 stay as in `franz_parisi`  [eq-fp-1rsb]. The entropic and the
energetic term get an inner Gaussian z for what the members of a group share, with the weight
``(2 cosh)^m`` of a weight's field, or ``H^m`` of a pattern's:

    p0 = E <tanh>^2,             p1 = E <tanh^2>,
    p0_hat = alpha c'(p0) E <f'>^2,    p1_hat = alpha c'(p1) E <f'^2>,

z under < >, everything else under E; t0, t0_hat and t1_hat follow from <tanh> and <f'> as before.

The symmetric point ``p1 = p0`` solves these equations for every m, and most iterations end there.
So the breaking is taken out of the loop: ``split`` (``p1_hat - p0_hat`` for binary weights, ``(p1
- p0) / (1 - p1)`` for spherical ones) is held fixed, the other unknowns are solved for, and one
more turn of the loop says by which factor it would change the split, the `growth`. It tends to
the replicon for ``split -> 0``, and a state with ``p1 != p0`` is a split at which it is 1:
*attracting* if the growth falls there, such that iterations end in it, *repelling* if it rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Distance, Share
from wfmlib.numerics.solvers import NotConverged, Report, accepted, first_root, fixed_point
from wfmlib.theory.axes import Load
from wfmlib.theory.franz_parisi.surroundings import Surroundings
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.constrained_groups import RULE, Groups

__all__ = ["search", "solve"]


def __dir__():
    return __all__


COARSE = gaussian.legendre_rule(6)  # below 1e-6: to look around
TOLERANCE = 1e-9  # of the equations, in the relative change of each unknown

# The splits that are tried: a ladder from where the growth is the replicon, nearly, to where
# ``(1 - p1) / (1 - p0)`` is small. Two states within one step hide each other. Beyond, growth with
# spherical weights falls; that of binary ones rises without end from where it is above 1, and
# groups shrink to single configurations.
FIRST, STRIDE, SHORT_STRIDE = 0.02, 2.5, 1.3  # short where binary groups shrink exponentially
RESOLVED = math.log(1e-12)  # the averages lose their digits beyond
LARGEST = 25.0  # logarithm of a conjugate
SIZES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0)  # values of m at which solutions are sought


# ------------------------------------------------------------------------------------------------
# At the public door
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class BrokenPoint(Shown):
    """The surroundings of a typical reference at one distance, with groups of solutions.

    Attributes
    ----------
    device, alpha, distance, reference, constraint
        As in `franz_parisi.Point`.
    m : float
        Parisi parameter, above 0, up to 1; 1 at a symmetric point for which none was given.
    p0 : float
        Overlap of two counted solutions from different groups.
    difference : float
        ``p1 - p0``, without the rounding of the two; 0 at a symmetric point.
    t0 : float
        Overlap of a counted solution with another reference.
    local_entropy : float
        ``phi``, in nats per weight. The symmetric value at a symmetric point.
    complexity : float
        ``-m^2 d phi / dm``: logarithm of the number of groups, per weight. ``phi = complexity / m
        + group_entropy``; groups that exist have both parts not negative.
    attracting : bool
        Whether iterations at this m end here.
    report : Report
        Residual: largest change of an unknown in one more turn of the loop.
    """

    printed_arguments = ("device", "alpha", "distance", "reference", "constraint")
    counted = ("local_entropy",)
    printed_answers = ("m", "p0", "p1", "t0", "local_entropy", "complexity", "attracting")

    device: Device
    alpha: float
    distance: float
    reference: Margin
    constraint: Constraint
    m: float
    p0: float
    difference: float
    t0: float
    local_entropy: float
    complexity: float
    attracting: bool
    report: Report = field(compare=False)

    @property
    def p1(self) -> float:
        """Overlap of two counted solutions from one group; 1 for groups of one configuration."""
        return self.p0 + self.difference

    @property
    def broken(self) -> bool:
        """Whether p1 differs from p0: by more than 1e-6 of ``1 - p0``."""
        return self.difference > 1e-6 * (1.0 - self.p0)

    @property
    def frozen(self) -> bool:
        """Whether groups are single configurations, ``p1 = 1``."""
        return self.p1 == 1.0

    @property
    def group_entropy(self) -> float:
        """Logarithm of the number (Binary) or share (Spherical) of solutions in a group."""
        return self.local_entropy - self.complexity / self.m


@dataclass(frozen=True)
class Survey:
    """All states with ``p1 != p0`` that were met at one distance.

    Attributes
    ----------
    states : tuple of BrokenPoint
        By m, then by p1. Frozen groups, known in closed form, are not among them.
    m : tuple of float
        Where they were sought.
    reached : tuple of float
        For each m the smallest ``(1 - p1) / (1 - p0)`` down to which they were sought.
    """

    states: tuple[Any, ...]
    m: tuple[Any, ...]
    reached: tuple[Any, ...]

    @property
    def attracting(self) -> tuple[BrokenPoint, ...]:
        """The states in which iterations end."""
        return tuple(state for state in self.states if state.attracting)


@arguments.checked
def solve(
    device: Device,
    alpha: Load,
    distance: Distance,
    constraint: Constraint = Margin(0.0),
    *,
    reference: Constraint = Margin(0.0),
    m: Annotated[float, Interval(gt=0.0, le=1.0)] | None = None,
    start: Share | None = None,
) -> BrokenPoint:
    """Solve for groups of solutions at one distance from a typical reference.

    Parameters
    ----------
    device, alpha, distance, reference, constraint
        As in `franz_parisi.solve`.
    m : float, optional
        Parisi parameter, above 0, up to 1. Without it the local entropy is made stationary in m.
    start : float, optional
        Overlap p1 from which the split is left to grow or shrink, from 0 to 1: at or below p0
        (the default) it starts infinitesimal. Only together with m.

    Returns
    -------
    BrokenPoint
        With m: the state in which iterations from `start` end. That is the symmetric point, an
        attracting state, or for binary weights the frozen one,  ``p1 = 1`` with ``phi = phi_RS /
        m`` and the complexity ``phi_RS``. Without m: the attracting state with vanishing
        complexity, or the one at m = 1 if its complexity is not negative; else the symmetric
        point.

    Raises
    ------
    TypeError, ValueError
        As `franz_parisi.solve`; also if m or start are out of range.
    NotConverged
        As `franz_parisi.solve`: where there is no symmetric point to start from. Also if a
        state that was bracketed is not reached.

    Notes
    -----
    Source: P3, equations B16-B17.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> solve(Perceptron(), 0.5, 0.1, m=0.5).broken
    False
    >>> state = solve(Perceptron(), 0.5, 0.0018, m=0.3)
    >>> round(state.p0, 5), round(state.p1, 5)
    (0.99447, 0.99496)
    """
    if start is not None and m is None:
        raise ValueError(f"start must be None without m, got {start}")
    search = _Search(device, alpha, distance, reference, constraint)
    return search.stationary() if m is None else search.attractor(m, start or 0.0)


@arguments.checked
def search(
    device: Device,
    alpha: Load,
    distance: Distance,
    constraint: Constraint = Margin(0.0),
    *,
    reference: Constraint = Margin(0.0),
    m: Annotated[ArrayLike, Interval(gt=0.0, le=1.0)] = SIZES,
) -> Survey:
    """Look for states with ``p1 != p0``, attracting or not, at several m and all splits.

    Parameters
    ----------
    device, alpha, distance, reference, constraint
        As in `franz_parisi.solve`.
    m : array_like, optional
        Parisi parameters, above 0, up to 1.

    Returns
    -------
    Survey

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `solve`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> result = search(Perceptron(), 0.5, 0.1, m=[0.5, 1.0])
    >>> [(state.m, state.attracting, round(state.p1, 3)) for state in result.states]
    [(0.5, False, 0.999), (1.0, False, 0.999)]
    """
    sizes = np.ravel(m).tolist()
    search = _Search(device, alpha, distance, reference, constraint)
    states, reached = [], []
    for size in sorted(sizes):
        rungs = list(search.climb(size))
        states += [search.refined(crossing) for crossing in _crossings(rungs, size)]
        reached.append(math.exp(rungs[-1].log_narrow))
    return Survey(tuple(states), tuple(sorted(sizes)), tuple(reached))


# ------------------------------------------------------------------------------------------------
# Where the growth is 1
# ------------------------------------------------------------------------------------------------


class _Rung(NamedTuple):
    """One split, with the state ``(ln p0_hat, r)`` at it."""

    split: float
    log_growth: float
    log_narrow: float  # of (1 - p1) / (1 - p0)
    complexity: float
    state: np.ndarray


class _Crossing(NamedTuple):
    """Two neighbouring rungs with a state between them, and what is interpolated to it."""

    m: float
    attracting: bool
    splits: tuple[Any, ...]
    split: float
    log_narrow: float
    complexity: float
    state: np.ndarray


def _crossings(rungs, m):
    """Return where the growth is 1."""
    crossings = []
    for low, high in pairwise(rungs):
        if (low.log_growth > 0.0) == (high.log_growth > 0.0):
            continue
        part = low.log_growth / (low.log_growth - high.log_growth)
        part = part if math.isfinite(part) else 0.5
        log_narrow, complexity, state = (
            a + part * (b - a) for a, b in zip(low[2:], high[2:], strict=True)
        )
        split = part * high.split
        if low.split > 0.0:
            split = low.split * (high.split / low.split) ** part
        attracting = low.log_growth > 0.0
        splits = low.split, high.split
        crossings.append(_Crossing(m, attracting, splits, split, log_narrow, complexity, state))
    return crossings


class _Search:
    """States with groups at one distance from one reference."""

    def __init__(self, device, alpha, distance, reference, constraint):
        arguments.member("reference", reference, (Margin,))
        self.case = Surroundings(device, alpha, reference, constraint)
        self.distance = distance
        state, self.report = self.case.solve(self.distance, self.case.start)
        self.symmetric = self.case.at(self.distance, state)
        self.weights, self.delta = device.weights, None
        self.state = np.array([state[0], 0.0 if self.case.reference.planted else state[1]])

    def _groups(self, state, split, m, rule=RULE):
        """Return the turn of the loop that begins at `state`, ``(ln p0_hat, r)``, and a split."""
        p0_hat, correlation = math.exp(state[0]), min(max(float(state[1]), 0.0), 1.0)
        settings = self.distance, p0_hat, correlation, split, m, self.case.reference
        groups = Groups(*settings, *self.case.axes, rule=rule, delta=self.delta)
        if groups.overlaps.delta is not None and math.isfinite(groups.overlaps.delta):
            self.delta = groups.overlaps.delta  # where the next one starts to look for its own
        return groups

    def climb(self, m):
        """Yield rungs at splits from 0 upwards."""
        replicon = self.symmetric.replicon
        log_growth = math.log(replicon) if replicon > 0.0 else -math.inf
        rung = _Rung(0.0, log_growth, 0.0, 0.0, self.state)
        yield rung
        split = FIRST
        while self.case.alpha > 0.0 and not self._is_last(rung):
            try:
                state, groups = self._settled(rung.state, split, m)
            except NotConverged:  # the symmetric branch has an end, and so has this one
                break
            if groups.log_narrow < RESOLVED:
                break
            rung = _Rung(split, groups.log_growth, groups.log_narrow, groups.complexity, state)
            yield rung
            split *= STRIDE if rung.log_narrow > -7.0 else SHORT_STRIDE

    def _is_last(self, rung):
        """Whether there is nothing to be found beyond a rung."""
        narrow = rung.log_narrow < self.weights.narrowest
        return narrow and (rung.log_growth > 0.0 or not self.weights.discrete)

    def _settled(self, start, split, m):
        """Return the state at a fixed split, roughly, and the turn of the loop there."""
        last = None

        def image(state):
            nonlocal last
            if not np.all(np.abs(state) <= LARGEST):
                return np.full(2, np.nan)
            last = self._groups(state, split, m, COARSE)
            return last.image()

        state, _ = fixed_point(image, start, tolerance=1e-6, max_iterations=60)
        return state, last

    def refined(self, crossing):
        """Return the state in a crossing."""
        low, high = crossing.splits
        target = lambda _: crossing.m, crossing, (0.999 * low, 1.001 * high)
        try:
            return self._root([*crossing.state, math.log(crossing.split)], *target)
        except NotConverged:  # there may be a second state nearby, just outside the two rungs
            return self._root(self._closed_in(crossing), *target)

    def _closed_in(self, crossing):
        """Return the state in a crossing, roughly, without leaving it."""
        low, high = crossing.splits
        low, high = math.log(max(low, 1e-3 * high)), math.log(high)
        state = crossing.state

        def growth(log_split):
            nonlocal state
            state, groups = self._settled(state, math.exp(log_split), crossing.m)
            return groups.log_growth

        log_split, _ = first_root(growth, low, high, step=high - low, tolerance=1e-6)
        return [*state, log_split]

    def _root(self, start, size, crossing, splits):
        """Return the state near `start`, ``(ln p0_hat, r, ln split)`` and m if it is unknown."""
        evaluations = 0

        def residuals(x):
            nonlocal evaluations
            evaluations += 1
            # false for NaN too
            if not (np.all(np.abs(x) <= LARGEST) and 0.0 < size(x) < 2.0):
                return np.full(len(x), 1e3)  # turns the solver back
            groups = self._groups(x, math.exp(x[2]), size(x))
            left = [*(groups.image() - x[:2]), groups.log_growth, groups.relative_complexity]
            return np.array(left[: len(x)])

        root = scipy.optimize.root(residuals, start, options={"xtol": 1e-12})
        m, split = float(size(root.x)), math.exp(root.x[2])
        residual = float(np.max(np.abs(root.fun)))
        if not residual < TOLERANCE or not splits[0] <= split <= splits[1] or m > 1.0:
            message = (
                f"a state with groups was not reached: residual {residual:.3g} at m = {m:.6g}"
            )
            raise NotConverged(Report(False, residual, evaluations, message), root.x)
        groups = self._groups(root.x, split, m)
        message = "attracting state" if crossing.attracting else "repelling state"
        report = accepted(residual, TOLERANCE, evaluations, message)
        overlaps = groups.p, groups.overlaps.difference, groups.t0
        entropies = groups.local_entropy, groups.complexity
        return self._point(m, overlaps, entropies, crossing.attracting, report)

    def attractor(self, m, start):
        """Return where the split ends that starts at an overlap p1."""
        place = math.log(min((1.0 - start) / self.symmetric.complement, 1.0) or 1e-300)
        rungs = []
        for rung in self.climb(m):
            rungs.append(rung)
            if rung.log_narrow > place:  # below the start
                continue
            crossings = _crossings(rungs, m)
            passed = sum(crossing.log_narrow >= place for crossing in crossings)
            grows = not crossings[passed - 1].attracting if passed else rungs[0].log_growth > 0.0
            if grows and passed < len(crossings):
                return self.refined(crossings[passed])
            if not grows:
                return self.refined(crossings[passed - 1]) if passed else self.unbroken(m)
        if rung.log_growth <= 0.0:  # the start lies beyond the ladder's end
            crossings = _crossings(rungs, m)
            return self.refined(crossings[-1]) if crossings else self.unbroken(m)
        if self.weights.discrete and self._is_last(rung):
            return self.frozen(m)
        narrow = math.exp(rung.log_narrow)
        message = f"the split grows, and is lost at (1 - p1) / (1 - p0) = {narrow:.6g}"
        raise NotConverged(Report(False, rung.log_growth, len(rungs), message), rung.state)

    def stationary(self):
        """Return the attracting state at which the local entropy is stationary in m."""
        last = None
        for m in reversed(SIZES):
            for crossing in _crossings(list(self.climb(m)), m):
                if not crossing.attracting:
                    continue
                if m == 1.0:
                    state = self.refined(crossing)
                    if state.complexity >= 0.0:
                        return state
                if last is not None and crossing.complexity >= 0.0 > last.complexity:
                    return self._stationary_between(crossing, last)
                last = crossing
        return self.unbroken(1.0)

    def _stationary_between(self, crossing, neighbour):
        """Return the state with vanishing complexity between two of different m."""
        part = crossing.complexity / (crossing.complexity - neighbour.complexity)
        m = crossing.m + part * (neighbour.m - crossing.m)
        start = [*crossing.state, math.log(crossing.split), m]
        return self._root(start, lambda x: x[3], crossing, (0.0, math.inf))

    def unbroken(self, m):
        """Return the symmetric point."""
        symmetric = self.symmetric
        stable = bool(symmetric.replicon < 1.0)
        message = "replica symmetric" if stable else "replica symmetric, unstable"
        report = replace(self.report, message=message)
        return self._point(
            m, (symmetric.p, 0.0, symmetric.t0), (symmetric.local_entropy, 0.0), stable, report
        )

    def frozen(self, m):
        """Return the state with groups of single configurations."""
        symmetric, report = self.symmetric, self.report
        report = replace(report, message="groups of one configuration")
        entropies = symmetric.local_entropy / m, symmetric.local_entropy
        return self._point(
            m, (symmetric.p, 1.0 - symmetric.p, symmetric.t0), entropies, True, report
        )

    def _point(self, m, overlaps, entropies, attracting, report):
        case, numbers = self.case, map(float, (m, *overlaps, *entropies))
        settings = case.device, case.alpha, self.distance, case.drawn_from, case.constraint
        return BrokenPoint(*settings, *numbers, attracting, report)
