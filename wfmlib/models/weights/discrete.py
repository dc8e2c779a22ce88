"""Weights of a few values: every term a plain sum over the values and over Gaussian fields.

A weight s in a field h has the sum over states ``Z = sum_s exp(s h - level s^2)``. The level keeps
the mean square of the weights where it is given, one more conjugate: in each term it is where the
mean of s^2 is 1, and the term gains `level`.

Fields are averaged by the trapezoidal rule. On the whole line its error falls exponentially as the
step shrinks: Z has no zero within ``pi / (largest - smallest value)`` of the real axis, as its
terms lie on one side of a line through 0 there. `Binary` is compiled, and far faster; its kernels
and these sums know nothing of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from wfmlib.models.weights.binary import Binary
from wfmlib.models.weights.terms import (
    BrokenEntropic,
    ConstrainedBroken,
    ConstrainedEntropic,
    Entropic,
    Group,
    Magnetised,
)
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.solvers import NotConverged, Report

REACH = 9.0  # how far fields are followed: the normal density beyond weighs 2e-19
DIGITS = 44.0  # of the trapezoidal rule: minus the logarithm of its error
RULE = gaussian.legendre_rule(16)
NEAR = 1e-8  # from where one step of Newton's method is enough
ROUNDING = 1e-13  # in which it is lost whether a function falls


@dataclass(frozen=True)
class Discrete:
    """Weights of a few values, in units in which ``sum_i w_i^2 = N``.

    Entropies count configurations. Without a pattern all are as likely whose mean square is the
    one that is asked for; if it is that of the values, all values are.

    Parameters
    ----------
    values : sequence of float
        Two or more, and with each its negative.
    mean_square : float, optional
        Of the weights, in units of the values; by default that of the values themselves.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    Infinitely many real replicas are solved for two values alone. A search for groups at a
    distance from a reference takes many minutes.

    Examples
    --------
    >>> ternary = Discrete((-1, 0, 1))
    >>> round(ternary.entropy, 6), round(ternary.entropic(1.0).q, 6)  # ln 3
    (1.098612, 0.387957)
    >>> round(float(ternary.bound(0.1)), 4), round(ternary.collapse, 4)
    (0.6536, 0.7932)
    >>> ternary.sizes.round(4).tolist()  # of weights whose mean square is one
    [-1.2247, 0.0, 1.2247]
    >>> round(ternary.conjugate(0.5), 4)  # at which q is 0.5
    1.8969
    """

    values: tuple[float, ...]
    mean_square: float | None = None

    discrete = True  #: solutions run out where the entropy vanishes, not where q -> 1
    implicit = True  #: conjugates of a given overlap are solved for, not closed formulas
    # where saddle points are looked for, as `Binary`
    last_split, largest_split = Binary.last_split, Binary.largest_split
    largest_log_hat, narrowest = Binary.largest_log_hat, Binary.narrowest

    def __post_init__(self):
        values = np.unique(arguments.reals("values", self.values))
        if len(values) < 2 or not np.array_equal(values, -values[::-1]):
            raise ValueError(
                f"values must be two or more, and with each its negative, got {self.values}"
            )
        squares = values**2
        mean = float(squares.mean()) if self.mean_square is None else self.mean_square
        mean = arguments.real("mean_square", mean, squares.min(), squares.max())
        if squares.min() < squares.max() and mean in (squares.min(), squares.max()):
            raise ValueError(
                f"mean_square must lie between the least and the largest square, got {mean}"
            )
        object.__setattr__(self, "values", tuple(values.tolist()))
        object.__setattr__(self, "mean_square", mean)

    @cached_property
    def sizes(self):
        """The values where the mean square is 1."""
        return np.array(self.values) / math.sqrt(self.mean_square)

    @property
    def entropy(self) -> float:
        """Nats per weight without any pattern."""
        return self.entropic(0.0).term

    @property
    def collapse(self) -> float:
        """Limit of ``q_hat (1 - q)^2``: the jumps of a frozen weight at its thresholds, squared.

        The variance of a weight is the slope of its mean, so that ``sqrt(q_hat) (1 - q)`` tends to
        the sum of the jumps, each times the normal density there.
        """
        s = self.sizes
        places = 0.5 * (s[1:] + s[:-1])  # times a common factor, at which the mean square is 1

        def excess(factor):
            cuts = scipy.special.ndtr(np.concatenate([[-np.inf], factor * places, [np.inf]]))
            return np.diff(cuts) @ s**2 - 1.0

        factor = scipy.optimize.brentq(excess, 0.0, 1e3, xtol=1e-15) if self._levelled else 0.0
        return float(np.diff(s) @ gaussian.G(factor * places)) ** 2

    def entropic(self, q_hat: float) -> Entropic:
        """Return the entropic side of the saddle point  [eq-rs-entropic]."""
        return _entropic(self, q_hat)[0]

    def constrained(
        self, distance: float, p_hat: float, correlation: float, reference: Any
    ) -> ConstrainedEntropic:
        """Return the entropic side at a distance from a reference  [eq-fp-entropic].

        As `Binary.constrained`, with a sum over the values of the reference.
        """
        delta, averages, t0 = self._apart(distance, p_hat, 0.0, 1.0, correlation, reference)
        t0_hat, t1 = correlation * math.sqrt(p_hat * reference.q_hat), 1.0 - 2.0 * distance
        products = -0.5 * p_hat * averages.variance + (t0 - t1) * t0_hat - t1 * delta
        return ConstrainedEntropic(
            p=averages.common,
            complement=averages.variance,
            t0=t0,
            t1_hat=delta + t0_hat,
            term=averages.log_sum + products,
            fluctuation=averages.fluctuation,
        )

    def bound(self, distance: ArrayLike) -> Any:
        """Return the entropy of all weight vectors at a distance  [eq-geometric-bound]."""
        free = SimpleNamespace(q_hat=0.0)

        def entropy(d):
            return 0.0 if d in (0.0, 1.0) else self.constrained(d, 0.0, 0.0, free).term

        return np.vectorize(entropy, otypes=[float])(distance)[()]

    def broken(self, q0_hat: float, split: float, m: float) -> BrokenEntropic:
        """Return the entropic side with groups of m replicas  [eq-1rsb-binary]."""
        common, spread, complement, term, information = self.group(q0_hat, split, m)
        product = spread * q0_hat + (common + spread) * split  # q1 q1_hat - q0 q0_hat
        return BrokenEntropic(
            q0=common,
            complement=complement,
            difference=spread,
            split_hat=split,
            term=term - 0.5 * ((q0_hat + split) * complement + m * product),
            complexity=0.5 * m**2 * product - information,
        )

    def group(self, q0_hat: float, split: float, m: float) -> Group:
        """Return what a weight contributes in a group of m replicas."""
        x, weight = self._line(math.sqrt(q0_hat) * max(m, 1.0))
        fields = math.sqrt(q0_hat) * x
        _, averages = self._balanced(fields, weight, np.zeros(len(x)), split, m)
        common, spread, variance = averages.common, averages.spread, averages.variance
        return Group(common, spread, variance, averages.log_sum, averages.information)

    def coarse_group(self, q0_hat: float, split: float, m: float, rule: Any) -> Group:
        """Return the same; `Binary` has a faster one to begin with."""
        return self.group(q0_hat, split, m)

    def constrained_broken(
        self,
        distance: float,
        p0_hat: float,
        correlation: float,
        split: float,
        m: float,
        reference: Any,
        rule: Any = None,
        delta: Any = None,
    ) -> ConstrainedBroken:
        """Return the entropic side of groups at a distance from a reference  [eq-fp-1rsb].

        Neither `rule` nor `delta` is needed.
        """
        delta, averages, t0 = self._apart(distance, p0_hat, split, m, correlation, reference)
        t0_hat, t1 = correlation * math.sqrt(p0_hat * reference.q_hat), 1.0 - 2.0 * distance
        # p1 p1_hat - p0 p0_hat
        product = averages.spread * p0_hat + (1.0 - averages.variance) * split
        products = (t0 - t1) * t0_hat - t1 * delta - 0.5 * (p0_hat + split) * averages.variance
        return ConstrainedBroken(
            p0=averages.common,
            outer=averages.variance + averages.spread,
            complement=averages.variance,
            difference=averages.spread,
            t0=t0,
            split_hat=split,
            term=averages.log_sum + products - 0.5 * m * product,
            complexity=0.5 * m**2 * product - averages.information,
            delta=delta,
        )

    def limit_group(self, q1_hat: float, d0_hat: float) -> Magnetised:
        """Return what a weight contributes with infinitely many replicas: of two values."""
        self._check_two_values("infinitely many replicas")
        width = math.sqrt(q1_hat)
        scale = max(abs(1.0 - d0_hat) ** 1.5, 1e-10) / max(width, 1e-3)  # of m* next to 0
        features = np.array([[0.0, min(scale, 1.0 / max(width, 0.5))]])
        u, weight = gaussian.fill_grid(features, 0.0, REACH + 1.0, RULE)
        m = np.ones(len(u))
        for _ in range(60):  # m = tanh(width u + d0_hat m), from above: Newton's steps only fall
            response = np.tanh(width * u + d0_hat * m)
            slope = 1.0 - d0_hat * (1.0 - response**2)
            m = m - np.where(slope > 0.0, (m - response) / np.maximum(slope, 1e-300), 0.0)
        field = width * u + d0_hat * m
        value = field + np.log1p(np.exp(-2.0 * field)) - 0.5 * d0_hat * m**2
        weight = 2.0 * weight  # even in u
        return Magnetised(
            overlap=float(weight @ m**2),
            complement=float(weight @ np.cosh(np.minimum(field, 300.0)) ** -2.0),
            lean=float(weight @ (u * m)),
            term=float(weight @ value),
        )

    def strongest_pull(self, overlap: float) -> float:
        """Return d0_hat where infinitely many replicas of two values meet no pattern."""
        m = math.sqrt(overlap)
        return math.atanh(m) / m

    # what follows from the averages, whatever the values
    conjugate, widest_split, replicas = Binary.conjugate, Binary.widest_split, Binary.replicas
    limit, _pulled = Binary.limit, Binary._pulled

    def unloaded(self, overlap, replicas):
        """Return `Unloaded`: replicas at a mutual overlap that no pattern constrains."""
        if replicas == math.inf:
            self._check_two_values("infinitely many replicas")
        return Binary.unloaded(self, overlap, replicas)

    _unloaded_limit = Binary._unloaded_limit

    def _check_two_values(self, question):
        if len(self.values) > 2:
            raise ValueError(f"values must be two for {question}, got {self!r}")

    # --------------------------------------------------------------------------------------------
    # Sums
    # --------------------------------------------------------------------------------------------

    @cached_property
    def _levelled(self):
        """Whether squares differ, so that a level decides their mean."""
        return bool(np.ptp(self.sizes**2) > 0.0)

    def _line(self, width, reach=REACH):
        """Return nodes and normal weights for functions of a field of this width."""
        strip = np.pi / np.ptp(self.sizes)
        step = min(0.5, 2.0 * np.pi * strip / (DIGITS * max(width, 1e-300)))
        count = math.ceil(reach / step)
        x = step * np.arange(-count, count + 1)
        return x, step * gaussian.G(x)

    def _states(self, fields, level):
        """Return ln Z and the probabilities of the values, on a first axis of their own."""
        exponents = np.multiply.outer(self.sizes, fields)
        exponents -= (level * self.sizes**2).reshape(-1, *[1] * fields.ndim)
        top = exponents.max(axis=0)
        chances = np.exp(exponents - top)
        total = chances.sum(axis=0)
        return top + np.log(total), chances / total

    def _apart(self, distance, p_hat, split, m, correlation, reference):
        """Return delta, the averages there, and t0."""
        u, normal = self._line(math.sqrt(p_hat) * max(m, 1.0))
        own, s = math.sqrt(reference.q_hat), self.sizes
        rest = math.sqrt(max(1.0 - correlation**2, 0.0))
        v, other = self._line(own * rest)
        _, chances = self._states(
            own * (correlation * u[:, None] + rest * v), _entropic(self, reference.q_hat)[1]
        )
        first = chances @ other
        second = (chances * np.tensordot(s, chances, 1)) @ other
        fields = np.tile(math.sqrt(p_hat) * u, len(s))
        weight = (first * normal).ravel()
        signs = np.repeat(s, len(u))
        delta, averages = self._balanced(fields, weight, signs, split, m, distance)
        return delta, averages, float((second * normal).ravel() @ averages.means)

    def _balanced(self, fields, weight, signs, split=0.0, m=1.0, distance=None):
        """Return the delta and the averages where mean square and distance are what they must be.

        Fields are ``fields + delta signs + sqrt(split) z``, weighed with ``Z^m``. Both conditions
        are those of the minimum of a convex function; Newton's steps are halved where it rises.
        """
        free = np.array([distance is not None, self._levelled])
        place = np.array([0.0 if distance is None else 0.5 * math.log(1.0 / distance - 1.0), 0.0])
        place *= free

        def turn(place):
            averages = self._averages(fields + place[0] * signs, weight, signs, split, m, place[1])
            miss = 2.0 * distance - averages.apart if free[0] else 0.0
            height = averages.log_sum - (place[0] * (1.0 - 2.0 * distance) if free[0] else 0.0)
            gradient = np.array([miss, 1.0 - averages.square]) * free
            return averages, height, gradient

        averages, height, gradient = turn(place)
        for _ in range(200):
            hessian = averages.hessian * np.outer(free, free) + np.diag(1.0 - free)
            step = -np.linalg.solve(hessian, gradient)
            if np.all(np.abs(step) <= NEAR * np.maximum(1.0, np.abs(place))):
                place = place + step  # the error is of the order of the square
                return float(place[0]), turn(place)[0]
            while True:
                after, low, slope = turn(place + step)
                fall = -gradient @ step
                if low <= height - 0.1 * fall or fall < ROUNDING * max(1.0, abs(height)):
                    break
                step = 0.5 * step
            place, averages, height, gradient = place + step, after, low, slope
        residual = float(np.abs(gradient).max())
        report = Report(False, residual, 200, f"no conjugates of {self!r} were found")
        raise NotConverged(report, place)

    def _averages(self, fields, weight, signs, split, m, level):
        """Return `_Averages` over the fields, and in each over what a group shares."""
        s, inner = self.sizes, math.sqrt(split)
        z, density = np.zeros(1), np.ones(1)
        if split > 0.0:
            z, density = self._line(inner, REACH + m * inner * s[-1])
        log_sum, chances = self._states(fields[:, None] + inner * z, level)
        middle = log_sum[:, len(z) // 2]
        tilt = m * (log_sum - middle[:, None])
        top = np.max(tilt - 0.5 * z**2, axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            measure = np.exp(tilt + np.log(density) - top)
        total = measure.sum(axis=1)
        measure /= total[:, None]
        log_norm = np.log(total) + top[:, 0]
        mean, square = (np.tensordot(power, chances, 1) for power in (s, s**2))
        variance = sum(
            chance * (value - mean) ** 2 for value, chance in zip(s, chances, strict=True)
        )
        bend = np.tensordot(s**3, chances, 1) - mean * square
        fourth = sum(
            chance * (value**2 - square) ** 2 for value, chance in zip(s, chances, strict=True)
        )

        def inside(quantity):
            return np.einsum("fz,...fz->...f", measure, quantity)

        means, squares = inside(mean), inside(square)
        off, beyond = mean - means[:, None], square - squares[:, None]
        spread = inside(off**2)
        # how far a weight is from the reference's, s_a (s_a - s), without a difference of means
        apart = signs * np.sum((signs - s[:, None]) * inside(chances), axis=0)
        mixed = -signs * (inside(bend) + m * inside(off * beyond))
        levels = inside(fourth) + m * inside(beyond**2)
        hessian = np.array(
            [
                [weight @ (signs**2 * (inside(variance) + m * spread)), weight @ mixed],
                [weight @ mixed, weight @ levels],
            ]
        )
        return _Averages(
            common=float(weight @ means**2),
            spread=float(weight @ spread),
            variance=float(weight @ inside(variance)),
            fluctuation=float(weight @ inside(variance**2)),
            log_sum=float(weight @ (middle + log_norm / m)) + level,
            information=float(weight @ (inside(tilt) - log_norm)),
            square=float(weight @ squares),
            apart=float(weight @ apart),
            hessian=hessian,
            means=means,
        )


class _Averages(NamedTuple):
    """Averages over the fields of a weight; what groups share is tilted."""

    common: float  # E <mean>^2
    spread: float  # E [<mean^2> - <mean>^2]
    variance: float
    fluctuation: float  # of the squared variance
    log_sum: float  # E ln <Z^m> / m, and the level
    information: float
    square: float
    apart: float
    hessian: np.ndarray  # of log_sum in delta and level
    means: np.ndarray


@lru_cache(maxsize=4096)
def _entropic(weights, q_hat):
    """Return the entropic side of typical solutions, and the level.

    Fields may be of any width: panels are graded towards the fields at which two values are
    equally likely, at the level that is solved for.
    """
    width, s = math.sqrt(q_hat), weights.sizes
    pairs = np.array([(s[i] + s[j], s[j] - s[i]) for j in range(len(s)) for i in range(j)])

    def averages(level):
        features = np.zeros((len(pairs), 2))
        features[:, 0] = level * pairs[:, 0] / max(width, 1e-300)
        features[:, 1] = 1.0 / np.maximum(0.5 * width * pairs[:, 1], 0.5)
        features = features[np.abs(features[:, 0]) < REACH]
        x, weight = gaussian.fill_grid(features, -gaussian.LIMIT, gaussian.LIMIT, RULE)
        return weight, *weights._states(width * x, level)

    def excess(level):
        weight, _, chances = averages(level)
        return weight @ (s**2 @ chances) - 1.0

    level = 0.0
    if weights._levelled:
        far = (60.0 + 20.0 * width * s[-1]) / np.diff(np.unique(s**2)).min()
        level = scipy.optimize.brentq(excess, -far, far, xtol=1e-15, rtol=1e-14)
    weight, log_sum, chances = averages(level)
    mean = s @ chances
    variance = np.sum(chances * (s[:, None] - mean) ** 2, axis=0)
    q, complement = weight @ mean**2, weight @ variance
    if q > 0.5:  # the smaller of the two keeps its digits, and their sum is 1
        q = 1.0 - complement
    else:
        complement = 1.0 - q
    term = weight @ log_sum + level - 0.5 * q_hat * complement
    entropic = Entropic(float(q), float(complement), float(term), float(weight @ variance**2))
    return entropic, level
