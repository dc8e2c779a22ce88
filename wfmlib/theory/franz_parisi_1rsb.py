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
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import optimize

from wfmlib import _validate, gaussian
from wfmlib.solvers import NotConverged, Report, fixed_point
from wfmlib.theory.activations import Activation, Perceptron, ReLU, Sign
from wfmlib.theory.constrained import FREE, LIMIT, Constrained
from wfmlib.theory.constraints import Margin
from wfmlib.theory.surroundings import Surroundings
from wfmlib.theory.weights import Binary, Spherical, _reference_spin

__all__ = ["BrokenPoint", "Survey", "search", "solve"]

RULE = gaussian.legendre_rule(10)  # relative errors of all averages below 1e-11
COARSE = gaussian.legendre_rule(6)  # below 1e-6: to look around
TOLERANCE = 1e-9  # of the equations, in the relative change of each unknown

# The splits that are tried: a ladder from where the growth is the replicon, nearly, to where
# ``(1 - p1) / (1 - p0)`` is small. Two states within one step hide each other. Beyond, growth with
# spherical weights falls; that of binary ones rises without end from where it is above 1, and
# groups shrink to single configurations.
FIRST, STRIDE, SHORT_STRIDE = 0.02, 2.5, 1.3  # short where binary groups shrink exponentially
NARROW = math.log(1e-4), math.log(1e-8)  # spherical, binary
RESOLVED = math.log(1e-12)  # the averages lose their digits beyond
LARGEST = 25.0  # logarithm of a conjugate
SIZES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0)  # values of m at which solutions are sought


# ------------------------------------------------------------------------------------------------
# At the public door
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BrokenPoint:
    """The surroundings of a typical reference at one distance, with groups of solutions.

    Attributes
    ----------
    distance, alpha, weights, activation, reference, constraint
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

    distance: float
    alpha: float
    weights: Binary | Spherical
    activation: Perceptron | Sign | ReLU | Activation
    reference: Margin
    constraint: Margin
    m: float
    p0: float
    difference: float
    t0: float
    local_entropy: float
    complexity: float
    attracting: bool
    report: Report = field(compare=False)

    @property
    def p1(self):
        """Overlap of two counted solutions from one group; 1 for groups of one configuration."""
        return self.p0 + self.difference

    @property
    def broken(self):
        """Whether p1 differs from p0: by more than 1e-6 of ``1 - p0``."""
        return self.difference > 1e-6 * (1.0 - self.p0)

    @property
    def frozen(self):
        """Whether groups are single configurations, ``p1 = 1``."""
        return self.p1 == 1.0

    @property
    def group_entropy(self):
        """Logarithm of the number (Binary) or volume (Spherical) of solutions in a group."""
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

    states: tuple
    m: tuple
    reached: tuple

    @property
    def attracting(self):
        """The states in which iterations end."""
        return tuple(state for state in self.states if state.attracting)


def solve(
    distance,
    alpha,
    *,
    weights=Binary(),
    activation=Perceptron(),
    reference=Margin(0.0),
    margin=0.0,
    m=None,
    start=None,
):
    """Solve for groups of solutions at one distance from a typical reference.

    Parameters
    ----------
    distance, alpha, weights, activation, reference, margin
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
    >>> solve(0.1, 0.5, m=0.5).broken
    False
    >>> state = solve(0.0018, 0.5, m=0.3)
    >>> round(state.p0, 5), round(state.p1, 5)
    (0.99447, 0.99496)
    """
    if m is not None:
        m = _validate.real("m", m, 0.0, 1.0, low_open=True)
    if start is not None:
        start = _validate.real("start", start, 0.0, 1.0)
        if m is None:
            raise ValueError(f"start must be None without m, got {start}")
    search = _Search(distance, alpha, weights, activation, reference, margin)
    return search.stationary() if m is None else search.attractor(m, start or 0.0)


def search(
    distance,
    alpha,
    *,
    weights=Binary(),
    activation=Perceptron(),
    reference=Margin(0.0),
    margin=0.0,
    m=SIZES,
):
    """Look for states with ``p1 != p0``, attracting or not, at several m and all splits.

    Parameters
    ----------
    distance, alpha, weights, activation, reference, margin
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
    >>> found = search(0.1, 0.5, m=[0.5, 1.0])
    >>> [(state.m, state.attracting, round(state.p1, 3)) for state in found.states]
    [(0.5, False, 0.999), (1.0, False, 0.999)]
    """
    sizes = np.atleast_1d(_validate.reals("m", m))
    sizes = [_validate.real("m", one, 0.0, 1.0, low_open=True) for one in sizes.flat]
    search = _Search(distance, alpha, weights, activation, reference, margin)
    states, reached = [], []
    for one in sorted(sizes):
        rungs = list(search.climb(one))
        states += [search.refined(crossing) for crossing in _crossings(rungs, one)]
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
    splits: tuple
    split: float
    log_narrow: float
    complexity: float
    state: np.ndarray


def _crossings(rungs, m):
    """Return where the growth is 1."""
    found = []
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
        found.append(_Crossing(m, attracting, splits, split, log_narrow, complexity, state))
    return found


class _Search:
    """States with groups at one distance from one reference."""

    def __init__(self, distance, alpha, weights, activation, reference, margin):
        self.case = Surroundings(alpha, weights, activation, reference, margin)
        self.distance = _validate.real("distance", distance, 0.0, 0.5, low_open=True)
        self.raw_reference = reference
        state, self.report = self.case.solve(self.distance, self.case.start)
        self.symmetric = self.case.at(self.distance, state)
        self.discrete, self.delta = weights.discrete, None
        self.state = np.array([state[0], 0.0 if self.case.reference.planted else state[1]])

    def _groups(self, state, split, m, rule=RULE):
        """Return the turn of the loop that begins at `state`, ``(ln p0_hat, r)``, and a split."""
        p0_hat, correlation = math.exp(state[0]), min(max(float(state[1]), 0.0), 1.0)
        given = self.distance, p0_hat, correlation, split, m, self.case.reference
        at = Groups(*given, *self.case.axes, rule=rule, delta=self.delta)
        self.delta = at.overlaps.delta  # where the next one starts to look for its own
        return at

    def climb(self, m):
        """Yield rungs at splits from 0 upwards."""
        replicon = self.symmetric.replicon
        log_growth = math.log(replicon) if replicon > 0.0 else -math.inf
        rung = _Rung(0.0, log_growth, 0.0, 0.0, self.state)
        yield rung
        split = FIRST
        while self.case.alpha > 0.0 and not self._ended(rung):
            try:
                state, at = self._settled(rung.state, split, m)
            except NotConverged:  # the symmetric branch has an end, and so has this one
                break
            if at.log_narrow < RESOLVED:
                break
            rung = _Rung(split, at.log_growth, at.log_narrow, at.complexity, state)
            yield rung
            split *= STRIDE if rung.log_narrow > -7.0 else SHORT_STRIDE

    def _ended(self, rung):
        """Whether there is nothing to be found beyond a rung."""
        narrow = rung.log_narrow < NARROW[self.discrete]
        return narrow and (rung.log_growth > 0.0 or not self.discrete)

    def _settled(self, start, split, m):
        """Return the state at a fixed split, roughly, and the turn of the loop there."""
        last = None

        def image(state):
            nonlocal last
            if abs(state[0]) > LARGEST:
                return np.full(2, np.nan)
            last = self._groups(state, split, m, COARSE)
            return last.image()

        state, _ = fixed_point(image, start, tolerance=1e-6, max_iterations=60)
        return state, last

    def refined(self, crossing):
        """Return the state in a crossing."""
        start = [*crossing.state, math.log(crossing.split)]
        low, high = crossing.splits
        return self._root(start, lambda _: crossing.m, crossing, (0.999 * low, 1.001 * high))

    def _root(self, start, size, crossing, splits):
        """Return the state near `start`, ``(ln p0_hat, r, ln split)`` and m if it is unknown."""
        evaluations = 0

        def residuals(x):
            nonlocal evaluations
            evaluations += 1
            if max(abs(x[0]), abs(x[2])) > LARGEST or not 0.0 < size(x) < 2.0:
                return np.full(len(x), 1e3)  # turns the solver back
            at = self._groups(x, math.exp(x[2]), size(x))
            left = [*(at.image() - x[:2]), at.log_growth, at.relative_complexity]
            return np.array(left[: len(x)])

        found = optimize.root(residuals, start, options={"xtol": 1e-12})
        m, split = float(size(found.x)), math.exp(found.x[2])
        residual = float(np.max(np.abs(found.fun)))
        if not residual < TOLERANCE or not splits[0] <= split <= splits[1] or m > 1.0:
            message = (
                f"a state with groups was not reached: residual {residual:.3g} at m = {m:.6g}"
            )
            raise NotConverged(Report(False, residual, evaluations, message), found.x)
        at = self._groups(found.x, split, m)
        message = "attracting state" if crossing.attracting else "repelling state"
        report = Report(True, residual, evaluations, message)
        overlaps, entropies = (
            (at.p, at.overlaps.difference, at.t0),
            (at.local_entropy, at.complexity),
        )
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
            passed = sum(one.log_narrow >= place for one in crossings)
            grows = not crossings[passed - 1].attracting if passed else rungs[0].log_growth > 0.0
            if grows and passed < len(crossings):
                return self.refined(crossings[passed])
            if not grows:
                return self.refined(crossings[passed - 1]) if passed else self.unbroken(m)
        if rung.log_growth <= 0.0:  # the start lies beyond the ladder's end
            crossings = _crossings(rungs, m)
            return self.refined(crossings[-1]) if crossings else self.unbroken(m)
        if self.discrete and self._ended(rung):
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

    def _stationary_between(self, crossing, other):
        """Return the state with vanishing complexity between two of different m."""
        part = crossing.complexity / (crossing.complexity - other.complexity)
        m = crossing.m + part * (other.m - crossing.m)
        start = [*crossing.state, math.log(crossing.split), m]
        return self._root(start, lambda x: x[3], crossing, (0.0, math.inf))

    def unbroken(self, m):
        """Return the symmetric point."""
        at = self.symmetric
        stable = bool(at.replicon < 1.0)
        message = "replica symmetric" if stable else "replica symmetric, unstable"
        report = Report(True, self.report.residual, self.report.iterations, message)
        return self._point(m, (at.p, 0.0, at.t0), (at.local_entropy, 0.0), stable, report)

    def frozen(self, m):
        """Return the state with groups of single configurations."""
        at, report = self.symmetric, self.report
        report = Report(True, report.residual, report.iterations, "groups of one configuration")
        entropies = at.local_entropy / m, at.local_entropy
        return self._point(m, (at.p, 1.0 - at.p, at.t0), entropies, True, report)

    def _point(self, m, overlaps, entropies, attracting, report):
        weights, activation, constraint = self.case.axes
        axes = self.case.alpha, weights, activation, self.raw_reference, constraint
        numbers = map(float, (m, *overlaps, *entropies))
        return BrokenPoint(self.distance, *axes, *numbers, attracting, report)


# ------------------------------------------------------------------------------------------------
# One turn of the loop
# ------------------------------------------------------------------------------------------------


class Overlaps(NamedTuple):
    """The entropic side, given the conjugates, the split and the distance.

    Attributes
    ----------
    p0, outer : float
        Overlap between groups, and ``1 - p0``.
    complement, difference : float
        ``1 - p1`` and ``p1 - p0``.
    t0 : float
        Overlap with another reference.
    split_hat : float
        ``p1_hat - p0_hat``.
    term : float
        What the weights contribute to the local entropy  [eq-fp-1rsb], in nats per weight.
    complexity : float
        What they contribute to ``-m^2 d phi / dm``.
    delta : float or None
        ``t1_hat - t0_hat``, for binary weights.
    """

    p0: float
    outer: float
    complement: float
    difference: float
    t0: float
    split_hat: float
    term: float
    complexity: float
    delta: float | None = None


class Pattern(NamedTuple):
    """Averages over the fields that one pattern exerts; z under < >.

    Attributes
    ----------
    common : float
        ``E <f'>^2``.
    spread : float
        ``E [<f'^2> - <f'>^2]``.
    cross : float
        ``E r <f'>``, r the force on another reference.
    log_weight : float
        ``(1/m) E ln < e^{m f} >``.
    information : float
        ``E [m <f> - ln < e^{m f} >]``, not negative.
    """

    common: float
    spread: float
    cross: float
    log_weight: float
    information: float


class Groups(Constrained):
    """One turn of the loop: from ``p0_hat``, r, the split and the distance to overlaps and back.

    What `Constrained` calls p is p0 here: the fields' covariance splits in the same way.
    """

    def __init__(
        self,
        distance,
        p0_hat,
        correlation,
        split,
        m,
        reference,
        weights,
        activation,
        constraint,
        rule=RULE,
        delta=None,
    ):
        self.distance, self.correlation, self.m, self.rule = distance, correlation, m, rule
        self.p_hat = p0_hat if p0_hat > FREE else 0.0
        self.reference = reference
        self.kappa = constraint.kappa / activation.scale
        entropic = _binary if weights.discrete else _spherical
        given = distance, self.p_hat, correlation, split, m, reference
        self.overlaps = entropic(*given, rule, delta)
        self.p, self.complement = self.overlaps.p0, self.overlaps.outer
        self.t0, self.t1 = self.overlaps.t0, 1.0 - 2.0 * distance
        self.counted = activation._effective(self.p, self.complement)
        within = 1.0 - self.overlaps.complement, self.overlaps.complement
        self.within = activation._effective(*within)
        self.other = activation._effective(self.t0, 1.0 - self.t0)
        self.nearest = activation._effective(self.t1, 2.0 * distance)
        self._split()
        # c(p1) - c(p0): a difference of two numbers that are both below 1/2 loses least
        self.gap = self.counted.complement - self.within.complement
        if self.counted.c < 0.5:
            self.gap = self.within.c - self.counted.c

    @cached_property
    def pattern(self):
        """Averages over a pattern's fields, as `Pattern`; NaN where nothing can be resolved."""
        if not self.gap > 0.0 or not self.within.complement > 0.0:
            return Pattern(*[math.nan] * 5)
        reference = self.reference
        return Pattern(
            *_pattern_averages(
                math.sqrt(reference.c),
                reference.variance,
                reference.kappa,
                self.slope,
                self.width,
                self.counted.complement,
                self.gap,
                self.within.complement,
                self.kappa,
                self.lean,
                self.left,
                self.m,
                self.rule,
            )
        )

    def image(self):
        """Return ``(ln p0_hat, r)`` as they follow from the overlaps; r stays if no field is."""
        alpha, q_hat = self.reference.alpha, self.reference.q_hat
        p0_hat = alpha * self.counted.slope * self.pattern.common
        if math.isnan(p0_hat):
            return np.full(2, np.nan)
        if p0_hat <= FREE:
            return np.array([math.log(FREE), self.correlation])
        t0_hat = alpha * self.other.slope * self.pattern.cross
        return np.array([math.log(p0_hat), min(t0_hat / math.sqrt(p0_hat * q_hat), 1.0)])

    @property
    def log_growth(self):
        """Logarithm of the factor by which ``p1_hat - p0_hat`` changes in one turn.

        The difference of the two equations is one of variances: for small splits no digit is lost.
        """
        common, spread = self.pattern[:2]
        slopes = self.counted.slope, self.within.slope - self.counted.slope
        image = self.reference.alpha * (slopes[0] * spread + slopes[1] * (common + spread))
        if image == 0.0:
            return -math.inf
        return float(np.log(image / self.overlaps.split_hat))

    @property
    def log_narrow(self):
        """Logarithm of ``(1 - p1) / (1 - p0)``: how narrow groups are."""
        return math.log(self.overlaps.complement / self.overlaps.outer)

    @property
    def local_entropy(self):
        """Local entropy in nats per weight  [eq-fp-1rsb]."""
        return self.overlaps.term + self.reference.alpha * self.pattern.log_weight

    @property
    def complexity(self):
        """``-m^2 d phi / dm``: logarithm of the number of groups, per weight."""
        return self.overlaps.complexity - self.reference.alpha * self.pattern.information

    @property
    def relative_complexity(self):
        """The complexity in units in which it is linear in a small split."""
        scale = self.m**2 * self.overlaps.split_hat * self.overlaps.difference
        return self.complexity / scale


def _spherical(distance, p0_hat, correlation, split, m, reference, *_):
    """Return the entropic side, conjugates eliminated.

    With ``X = 1 - p1`` and ``Y = X + m (p1 - p0)``: ``p0_hat Y^2 = p0 - t1^2 + u^2`` with ``u =
    (t0 - q t1) / (1 - q) = (1 - q) Y t0_hat``, and ``p1_hat - p0_hat = (p1 - p0) / (X Y)``, solved
    here for the overlaps. The local entropy gains ``[ln X + ln(Y / X) / m + p0_hat Y + ln(2 pi e)]
    / 2``.
    """
    t1, q = 1.0 - 2.0 * distance, reference.q
    free = 4.0 * distance * (1.0 - distance)  # 1 - t1^2
    t0_hat = correlation * math.sqrt(p0_hat * reference.q_hat)
    stretch = p0_hat * (1.0 - correlation**2 * q)
    ratio = (1.0 + m * split) / (1.0 + split)  # Y / (1 - p0)
    wide = 2.0 * free * ratio / (1.0 + math.sqrt(1.0 + 4.0 * stretch * free * ratio**2))
    inner = wide / (1.0 + m * split)
    outer = wide / ratio
    log_ratio, share = math.log1p(m * split), m * split / (1.0 + m * split)
    return Overlaps(
        p0=1.0 - outer,
        outer=outer,
        complement=inner,
        difference=split * inner,
        t0=q * t1 + reference.complement**2 * wide * t0_hat,
        split_hat=split / wide,
        term=0.5 * (math.log(inner) + log_ratio / m + p0_hat * wide) + Spherical.entropy,
        complexity=0.5 * (log_ratio - share + m * share * p0_hat * wide),
    )


def _binary(distance, p0_hat, correlation, split, m, reference, rule, delta):
    """Return the entropic side.

    As in `Binary.constrained` the reference weight is taken to be +1, and ``delta = t1_hat -
    t0_hat`` is solved for such that its overlap with the counted weight is ``1 - 2 distance``.
    """
    widths = math.sqrt(p0_hat), math.sqrt(split), math.sqrt(reference.q_hat)
    if delta is None:
        delta = 0.5 * math.log((1.0 - distance) / distance)
    delta, averages = _weight_averages(distance, delta, *widths, correlation, m, rule)
    spread, complement, t0, log_weight, information = averages
    t0_hat = correlation * widths[0] * widths[2]
    t1 = 1.0 - 2.0 * distance
    # p1 p1_hat - p0 p0_hat
    product = spread * p0_hat + (1.0 - complement) * split
    products = (t0 - t1) * t0_hat - t1 * delta - 0.5 * (p0_hat + split) * complement
    return Overlaps(
        p0=1.0 - (complement + spread),
        outer=complement + spread,
        complement=complement,
        difference=spread,
        t0=t0,
        split_hat=split,
        term=log_weight + products - 0.5 * m * product,
        complexity=0.5 * m**2 * product - information,
        delta=delta,
    )


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _weight_averages(distance, delta, width, inner, reference_width, correlation, m, rule):
    """Return delta, given a guess, and ``E [<tanh^2> - <tanh>^2]``, 1 - p1, t0, and the two terms.

    Newton's method for delta as in `weights._delta`, with the group's average at every field.
    """
    target = math.log(distance / (1.0 - distance))
    reach = 10.0 * math.hypot(width, inner) + 5.0
    low, high = min(delta, -0.5 * target) - reach, max(delta, -0.5 * target) + reach
    features = np.empty((1, 2))
    count = 1 if width > 0.5 else 0
    gridded = math.inf  # the delta for which the panels were made
    for _ in range(100):
        if abs(gridded - delta) > (0.5 if count else math.inf) or gridded == math.inf:
            gridded = delta
            if count:  # short panels where the counted weight changes sign
                features[0] = -delta / width, 1.0 / width
            u, weight = gaussian.fill_grid(features[:count], -9.0, 9.0, rule)
            first, second = _reference_spin(u, reference_width, correlation, rule)
        near = far = slope = spread = complement = t0 = log_weight = information = 0.0
        for i in range(len(u)):
            w = weight[i] * first[i]
            if w < 1e-20:
                continue
            group = _weight_group(width * u[i] + delta, inner, m, rule)
            near += w * group[0]
            far += w * group[1]
            slope += w * (group[2] + m * group[3])
            spread += w * group[3]
            complement += w * group[2]
            t0 += weight[i] * second[i] * (group[0] - group[1])
            log_weight += w * group[4]
            information += w * group[5]
        excess = math.log(far / near) - target
        step = excess * 2.0 * far * near / slope
        if abs(step) <= 1e-13 * max(1.0, abs(delta)):
            break
        if excess > 0.0:  # too far away: pull harder
            low = delta
        else:
            high = delta
        if delta + step <= low or delta + step >= high:
            step = 0.5 * (low + high) - delta
        delta += step
    else:
        complement = math.nan  # refused by whoever asks for an image
    return delta, (spread, complement, t0, log_weight, information)


@njit(cache=True, nogil=True)
def _weight_group(bias, width, m, rule):
    """Average over the field ``bias + width z`` of one weight, weighted with ``(2 cosh)^m``.

    Returns the shares of +1 and of -1, ``<sech^2>``, the variance of tanh, ``ln <(2 cosh)^m> / m``
    and the information. On either side of zero ``(2 cosh)^m`` is ``e^{+-m field}`` but for a
    bounded factor, and z is measured from the middle of the Gaussian that this makes of it, unless
    that is close to zero. Responses are measured from that at z = 0: small widths lose no digits.
    """
    shift = m * width if m * width > 2.0 else 0.0
    size = abs(bias)
    middle = math.tanh(size)
    log_middle = size + math.log1p(math.exp(-2.0 * size))  # ln 2 cosh
    features = np.empty((1, 2))
    norm = 1.0 if shift == 0.0 else 0.0
    excess = near = far = first = second = variance = tilted = 0.0
    for side in (1.0, -1.0):
        zero = -side * size / width - shift
        edge = max(zero, -9.0)
        if edge >= 9.0:
            continue
        features[0] = zero, 1.0 / max(width, 0.5)
        z, weight = gaussian.fill_grid(features, edge, 9.0, rule)
        for j in range(len(z)):
            field = abs(size + side * width * (z[j] + shift))
            decay = math.exp(-2.0 * field)
            exponent = m * (field + math.log1p(decay) - log_middle)
            growth = math.expm1(exponent - shift * (z[j] + shift))
            w = weight[j] * (1.0 + growth)
            large, small = w / (1.0 + decay), w * decay / (1.0 + decay)
            near += large if side > 0.0 else small
            far += small if side > 0.0 else large
            variance += 4.0 * large * decay / (1.0 + decay)
            response = side * (1.0 - decay) / (1.0 + decay) - middle
            first += w * response
            second += w * response * response
            tilted += w * exponent
            excess += weight[j] * growth
            if shift > 0.0:
                norm += weight[j]
    log_norm = math.log1p(excess + (norm - 1.0)) + 0.5 * shift * shift
    norm += excess
    if bias < 0.0:
        near, far = far, near
    spread = max(second / norm - (first / norm) ** 2, 0.0)
    log_weight = log_middle + log_norm / m
    return near / norm, far / norm, variance / norm, spread, log_weight, tilted / norm - log_norm


@njit(cache=True, nogil=True)
def _log_tail(u, hazard):
    """Return ``ln H(u)``, given the hazard, by ``H = G / h`` where that loses no digits."""
    if u < -5.0:
        return gaussian.log_H(u)
    return -0.5 * u * u - gaussian.LOG_SQRT_2PI - math.log(hazard)


@njit(cache=True, nogil=True)
def _pattern_group(short, gap, variance, m, rule):
    """Average over what a group shares of a pattern's field, weighted with ``H^m``.

    The field falls short of the margin by ``short - sqrt(gap) z``. Returns ``<f'>`` and the
    variance of f', in units of ``1 / sqrt(variance)`` and its square, ``ln <e^{m f}> / m`` and the
    information. z is measured from the middle of its tilted Gaussian, and the force from that
    there.
    """
    width, soft = math.sqrt(gap), math.sqrt(variance)
    pull = m / variance  # curvature of -m f, deep in the forbidden region
    narrow = 1.0 / math.sqrt(1.0 + pull * gap)
    shift = max(short, 0.0) * width * pull * narrow**2
    features = np.empty((2, 2))
    count = 0
    if width > 0.3 * soft:
        features[0] = short / width - shift, soft / width
        count = 1
    if narrow < 0.5:
        features[count] = 0.0, narrow
        count += 1
    elif shift < 2.0:  # the tilt is slight, and no large numbers shall cancel
        features[0, 0] += shift
        shift = 0.0
    z, weight = gaussian.fill_grid(features[:count], -9.0, 9.0, rule)
    u_middle = short * (narrow**2 if shift > 0.0 else 1.0) / soft
    middle = gaussian.hazard(u_middle)
    log_middle = _log_tail(u_middle, middle)
    excess = first = second = tilted = moved = 0.0
    for j in range(len(z)):
        u = u_middle - width * z[j] / soft
        hazard = gaussian.hazard(u)
        exponent = m * (_log_tail(u, hazard) - log_middle) - shift * z[j]
        growth = math.expm1(exponent)
        w = weight[j] * (1.0 + growth)
        hazard -= middle
        excess += weight[j] * growth
        first += w * hazard
        second += w * hazard * hazard
        tilted += w * exponent
        moved += w * z[j]
    norm = 1.0 + excess
    first /= norm
    log_norm = math.log1p(excess) - 0.5 * shift * shift
    information = (tilted + shift * moved) / norm - log_norm
    return middle + first, second / norm - first * first, log_middle + log_norm / m, information


@njit(cache=True, nogil=True)
def _reach(root_c, spread, kt, lean, rho, sigma):
    """Return the ranges of u and v outside of which the measure of the reference is negligible.

    x is normal, and y, given x, within a standard normal's reach of its mean.
    """
    ranges = np.zeros((2, 2))
    for k in range(69):
        x = LIMIT * (k / 34.0 - 1.0)
        mean = lean * gaussian.hazard((kt - root_c * x) / spread) / spread
        for side in (-1.0, 1.0):
            y = mean + side * math.sqrt(LIMIT**2 - x * x)
            for row, place in enumerate((rho * x + sigma * y, sigma * x - rho * y)):
                ranges[row, 0] = min(ranges[row, 0], place)
                ranges[row, 1] = max(ranges[row, 1], place)
    return ranges


@njit(cache=True, nogil=True)
def _pattern_averages(
    root_c, variance, kt, slope, width, outer, gap, own, kappa, lean, left, m, rule
):  # fmt: skip
    """Return what `Pattern` holds; `outer` is ``1 - c(p0)``, `own` is ``1 - c(p1)``.

    Of x and y a group sees only ``slope x + width y``. So they are turned into u along that and v
    at a right angle: for each u one average over v, of the measure of the reference, and one over
    z, instead of three nested ones.
    """
    spread, root_left = math.sqrt(variance), math.sqrt(max(left, 1e-300))
    size = math.hypot(slope, width)
    rho, sigma = (slope / size, width / size) if size > 0.0 else (1.0, 0.0)
    # the reference's field, given u and v, has the mean `along` u + `across` v
    along, across = root_c * rho + lean * sigma, root_c * sigma - lean * rho
    ranges = _reach(root_c, spread, kt, lean, rho, sigma)
    features = np.empty((2, 2))
    count = 0
    if size > 1e-8:
        features[count] = kappa / size, math.sqrt(outer) / size
        count += 1
    if along > 1e-8:
        features[count] = kt / along, math.sqrt(left + across**2) / along
        count += 1
    u, weight = gaussian.fill_grid(features[:count], ranges[0, 0], ranges[0, 1], rule)
    common = deviation = cross = log_weight = information = 0.0
    for i in range(len(u)):
        count = 0
        if abs(across) > 1e-8:
            features[count] = (kt - along * u[i]) / across, root_left / abs(across)
            count += 1
        if root_c * sigma > 1e-8:
            features[count] = (kt / root_c - rho * u[i]) / sigma, spread / (root_c * sigma)
            count += 1
        v, measure = gaussian.fill_grid(features[:count], ranges[1, 0], ranges[1, 1], rule)
        first = second = 0.0
        for j in range(len(v)):
            short = (kt - root_c * (rho * u[i] + sigma * v[j])) / spread
            hazard = gaussian.hazard(short)  # of another reference
            above = gaussian.log_H((kt - along * u[i] - across * v[j]) / root_left)
            exponent = above - _log_tail(short, hazard)
            if exponent > -100.0:
                w = weight[i] * measure[j] * math.exp(exponent)
                first += w
                second += w * hazard
        if first < 1e-24:
            continue
        group = _pattern_group(kappa - size * u[i], gap, own, m, rule)
        common += first * group[0] ** 2
        deviation += first * group[1]
        cross += second * group[0]
        log_weight += first * group[2]
        information += first * group[3]
    return (
        common / own,
        deviation / own,
        cross / (spread * math.sqrt(own)),
        log_weight,
        information,
    )
