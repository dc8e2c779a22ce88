"""Weights of -1, 0 and +1 with a given share of zeros.

In a field h a weight has the sum over states ``Z = z + 2 cosh(a h)``, where ``a = (1 -
zeros)^(-1/2)`` is the size of a weight that is not zero, so that the norm is that of all other
weights, ``sum_i w_i^2 = N``. The chemical potential ``ln z`` of a zero is one more conjugate: in
each term it is where the share of zeros is the given one, and the term gains ``- zeros ln z``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
import scipy
from annotated_types import Interval
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.models.weights.discrete import Discrete
from wfmlib.models.weights.terms import (
    ConstrainedEntropic,
    Entropic,
    Group,
    LimitEntropic,
    Magnetised,
)
from wfmlib.numerics import arguments, gaussian, tails
from wfmlib.numerics.newton import bracketed

ZEROS = 1e-6, 0.99  # shares that are accepted
REACH = 9.0  # how far fields are followed: the normal density beyond weighs 2e-19
LEAST = -46.0  # logarithm of what is neglected in a group, relative to the maximum
RULE = gaussian.legendre_rule(12)
FAINT = 1e-8  # width of a common field below which its effect is linear in it
FROZEN = 1e5  # a times the width of the field from which its limit is taken


@dataclass(frozen=True)
class Ternary(Discrete):
    """Weights ``w_i = -a``, 0 or a, of which a given share is zero, ``a = (1 - zeros)^(-1/2)``.

    Entropies count configurations. Overlaps are those of the weights as they stand, of norm
    ``sum_i w_i^2 = N``, and distances ``(1 - overlap) / 2``.

    Parameters
    ----------
    zeros : float
        Share of the weights that are zero, from 1e-6 to 0.99; for none there is `Binary`.

    Raises
    ------
    TypeError, ValueError
        If `zeros` is not a number or out of range.

    Notes
    -----
    Typical solutions, what surrounds them with replica symmetry, and up to 50 real replicas or
    infinitely many are solved. Relative errors of the averages are below 1e-9.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> from wfmlib.theory import typical
    >>> round(Ternary(1 / 3).entropy, 6)  # ln 3: all three values are as frequent
    1.098612
    >>> round(typical.capacity(Perceptron(Ternary(1 / 3))), 4)
    1.1723
    """

    zeros: Annotated[float, Interval(ge=ZEROS[0], le=ZEROS[1])] = 1.0 / 3.0

    #: if not infinitely many; beyond, averages over sharp groups are not accurate enough
    most_replicas = 50.0

    def __post_init__(self):
        object.__setattr__(self, "zeros", arguments.real("zeros", self.zeros, *ZEROS))

    @property
    def size(self) -> float:
        """Size a of a weight that is not zero."""
        return (1.0 - self.zeros) ** -0.5

    @property
    def entropy(self) -> float:
        """Nats per weight without any pattern."""
        some = 1.0 - self.zeros
        return float(scipy.special.entr([self.zeros, some]).sum()) + some * math.log(2.0)

    @property
    def threshold(self) -> float:
        """Field x, normal, below which a frozen weight is zero: the share of zeros lies there."""
        return float(scipy.special.ndtri(0.5 * (1.0 + self.zeros)))

    @property
    def collapse(self) -> float:
        """Limit of q_hat (1 - q)^2 for q -> 1: ``4 a^2 G(x0)^2``, x0 the `threshold`."""
        return 4.0 * float(self.size * gaussian.G(self.threshold)) ** 2

    def entropic(self, q_hat: float) -> Entropic:
        """Return the entropic side of the saddle point.

        A weight feels the field ``h = sqrt(q_hat) x``, x normal: with the mean ``m = a 2 sinh(a h)
        / Z`` of a weight ``q = E m^2``, and the free entropy gains ``E ln Z - zeros ln z - q_hat
        (1 - q) / 2``.

        Returns
        -------
        Entropic
        """
        return _entropic(self, math.sqrt(q_hat))[0]

    def constrained(
        self, distance: float, p_hat: float, correlation: float, reference: Any
    ) -> ConstrainedEntropic:
        """Return the entropic side at a distance from a reference.

        The fields on a reference weight w and on a counted one are ``sqrt(q_hat) x`` and
        ``sqrt(p_hat) u + delta w``, where x and u have the correlation ``t0_hat / sqrt(p_hat
        q_hat)``. ``delta = t1_hat - t0_hat`` and the counted weights' ln z are solved for such
        that the overlap with the reference is ``1 - 2 distance`` and the share of zeros is right.

        Returns
        -------
        ConstrainedEntropic
        """
        width, own = math.sqrt(p_hat), math.sqrt(reference.q_hat)
        zeta = _entropic(self, own)[1]
        start = self._apart(distance)
        delta, log_z, averages = _constrained(
            distance, width, own, correlation, zeta, self.zeros, *start, RULE
        )
        p, complement, t0, log_sum, fluctuation = averages
        t0_hat, t1 = correlation * width * own, 1.0 - 2.0 * distance
        products = -0.5 * p_hat * complement + (t0 - t1) * t0_hat - t1 * delta
        term = log_sum - self.zeros * log_z + products
        return ConstrainedEntropic(p, complement, t0, delta + t0_hat, term, fluctuation)

    def group(self, q0_hat: float, split: float, m: float, rule: Any = RULE) -> Any:
        """Return what a weight contributes in a group of m replicas, `Group`."""
        start = math.log(2.0 * self.zeros / (1.0 - self.zeros))
        *averages, log_z = _group(math.sqrt(q0_hat), math.sqrt(split), m, self.zeros, start, rule)
        common, spread, complement, log_sum, information = averages
        return Group(common, spread, complement, log_sum - self.zeros * log_z, information)

    coarse_group = group

    def limit_group(self, q1_hat: float, d0_hat: float) -> Any:
        """Return what a weight contributes with infinitely many replicas, `Magnetised`.

        Its field is ``sqrt(q1_hat) u + d0_hat m*`` with m* the mean in that field. Where this has
        several solutions, the one with the largest ``ln Z - d0_hat m*^2 / 2`` counts: as u grows
        the mean may jump.
        """
        width, zeros = math.sqrt(q1_hat), self.zeros

        def excess(log_z):
            return _limit(width, d0_hat, log_z, self.size, RULE)[0] - zeros

        far = 60.0 + self.size * (12.0 * width + self.size * d0_hat)
        log_z = scipy.optimize.brentq(excess, -60.0, far, xtol=1e-14, rtol=1e-15)
        _, overlap, complement, lean, log_sum = _limit(width, d0_hat, log_z, self.size, RULE)
        return Magnetised(overlap, complement, lean, log_sum - zeros * log_z)

    def limit(self, overlap: float, place: float) -> LimitEntropic:
        """Return the entropic side of infinitely many replicas at q1 = `overlap`.

        As in `Discrete`. Where, without patterns, some weights are in no field, a faint common
        field ``sqrt(q1_hat) u`` decides which: those with the smallest ``|u|``. The mean jumps
        there, and the spread grows like ``1 / sqrt(q1_hat)``.

        Returns
        -------
        LimitEntropic
        """
        q1_hat = float(self.conjugate(overlap) * scipy.special.expit(place))
        pull, entropy, share, mean = _centre(self, overlap)
        width = math.sqrt(q1_hat)
        if width > FAINT or share == 0.0:
            return super().limit(overlap, place)
        edge = float(scipy.special.ndtri(0.5 * (1.0 + share)))
        lean = 2.0 * mean * float(gaussian.G(edge))
        return LimitEntropic(q1_hat, pull, lean / width, entropy + 0.5 * width * lean)

    def strongest_pull(self, overlap: float) -> float:
        """Return d0_hat where infinitely many replicas meet no pattern."""
        return _centre(self, overlap)[0]

    def bound(self, distance: ArrayLike) -> Any:
        """Return the entropy of all weight vectors at a distance.

        Of the shares of pairs of values that have the right overlap and shares of zeros, those
        with the largest entropy: with e the share of weights that are zero in the counted vector
        only, ``e^2 = [(2 n d - e) (2 n (1 - d) - e)]^(1/2) (1 - n - e)``, ``n = 1 - zeros``.
        """
        distance = np.asarray(distance, dtype=float)
        some = 1.0 - self.zeros
        moved = np.vectorize(lambda d: _moved(d, some), otypes=[float])(distance)
        shares = np.array(
            [
                some * (1.0 - distance) - 0.5 * moved,
                some * distance - 0.5 * moved,
                moved,
                moved,
                self.zeros - moved,
            ]
        )
        joint = scipy.special.entr(np.maximum(shares, 0.0)).sum(axis=0) + moved * math.log(2.0)
        found = joint - scipy.special.entr([some, self.zeros]).sum()
        return np.where(distance == 0.0, 0.0, found)[()]

    def _apart(self, distance):
        """Return delta and ln z of weights at a distance from a reference, without patterns."""
        some = 1.0 - self.zeros
        moved = _moved(distance, some)
        same, opposite = some * (1.0 - distance) - 0.5 * moved, some * distance - 0.5 * moved
        delta = 0.5 * some * math.log(same / opposite)
        return delta, math.log(2.0 * (self.zeros - moved) / moved)

    def _unloaded_limit(self, overlap):
        """Return entropy and slope of infinitely many replicas without patterns."""
        pull, entropy, *_ = _centre(self, overlap)
        return entropy, -0.5 * pull


@lru_cache(maxsize=4096)
def _entropic(weights, width):
    """Return the `Entropic` of a field's width, and ln z."""
    a, zeros = weights.size, weights.zeros
    if a * width > FROZEN:  # the next order is smaller by (a width)^-2
        x0 = weights.threshold
        density = float(gaussian.G(x0))
        complement = 2.0 * density * a / width
        fluctuation = density * a**3 / (3.0 * width)
        term = a * width * density
        return Entropic(1.0 - complement, complement, term, fluctuation), a * width * x0
    start = math.log(2.0 * zeros / (1.0 - zeros))
    *averages, log_z = _field_averages(width, zeros, start, RULE)
    q, complement, log_sum, fluctuation = averages
    term = log_sum - zeros * log_z - 0.5 * width**2 * complement
    return Entropic(q, complement, term, fluctuation), log_z


@lru_cache(maxsize=4096)
def _moved(distance, some):
    """Return the share e of `Ternary.bound`: where the entropy of the shares is stationary."""
    top = min(2.0 * some * distance, 1.0 - some)
    if top == 0.0:
        return 0.0

    def excess(logit):
        moved = top * scipy.special.expit(logit)
        left = top * scipy.special.expit(-logit)  # top - moved
        rest = left + ((1.0 - some) - top)
        # 2 n d - e and 2 n (1 - d) - e
        first = left + (2.0 * some * distance - top)
        second = left + (2.0 * some * (1.0 - distance) - top)
        return 2.0 * math.log(moved) - 0.5 * math.log(first * second) - math.log(rest)

    root = scipy.optimize.brentq(excess, -300.0, 300.0, xtol=1e-14, rtol=1e-15)
    return float(top * scipy.special.expit(root))


@lru_cache(maxsize=4096)
def _centre(weights, overlap):
    """Return d0_hat and the entropy of infinitely many replicas without patterns.

    Then the share of weights in no field, and the mean of the others.

    All replicas are drawn from fields that are h on a share of the weights and 0 on the rest, h
    and ln z such that the overlap and the share of zeros are right. One field for all weights if
    that is where ``ln Z - d0_hat m^2 / 2`` is largest; else both are, with the same value.
    """
    a, zeros, some = weights.size, weights.zeros, 1.0 - weights.zeros
    if overlap < some:  # one field
        tilt = math.atanh(math.sqrt(overlap / some))
        log_z = math.log(2.0 * zeros / some) + _log_cosh(tilt)
        pull = tilt / (a * math.sqrt(overlap))
        value = np.logaddexp(log_z, math.log(2.0) + _log_cosh(tilt)) - 0.5 * pull * overlap
        best = _best(0.0, pull, log_z, a)
        if best[2] <= value + 1e-13:
            entropy = float(value - zeros * log_z - 0.5 * overlap * pull)
            return pull, entropy, 0.0, math.sqrt(overlap)
    return _two_fields(weights, overlap)


def _two_fields(weights, overlap):
    """Return what `_centre` does where some weights are in no field: the two values are equal."""
    a, zeros = weights.size, weights.zeros

    def log_z(t):
        """Return ln z at which the fields 0 and t / a have the same value."""

        def excess(log_z):
            z = math.exp(log_z)
            total = z + 2.0 * math.cosh(t)
            gain = math.log1p(4.0 * math.sinh(0.5 * t) ** 2 / (z + 2.0))
            return gain * total / math.sinh(t) - t

        return scipy.optimize.brentq(excess, -60.0, t + 20.0, xtol=1e-14, rtol=1e-15)

    def shares(t):
        """Return the share of weights in no field, then mean and variance in the field."""
        found = log_z(t)
        _, none, *_ = _site(0.0, found, a)
        up, zero, down, _ = _site(t / a, found, a)
        free = (zeros - zero) / (none - zero)
        variance = a * a * (zero * (up + down) + 4.0 * up * down)
        return free, a * (up - down), free * a * a * (1.0 - none) + (1.0 - free) * variance

    def excess(log_t):
        return math.log((1.0 - overlap) / shares(math.exp(log_t))[2])

    log_t = scipy.optimize.brentq(excess, math.log(1e-2), math.log(600.0), xtol=1e-14, rtol=1e-15)
    t = math.exp(log_t)
    found, (share, mean, _) = log_z(t), shares(t)
    pull = t / (a * mean)
    value = np.logaddexp(found, math.log(2.0))
    return pull, float(value - zeros * found - 0.5 * overlap * pull), share, mean


def _log_cosh(t):
    return abs(t) + math.log1p(math.exp(-2.0 * abs(t))) - math.log(2.0)


# ------------------------------------------------------------------------------------------------
# Kernels. `log_z` is the chemical potential of a zero, `a` the size of the others.
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _site(field, log_z, a):
    """Return the probabilities of a, 0 and -a in a field, and ln Z; in no exponential above 1."""
    push = a * abs(field)
    top = max(push, log_z)
    near, none, far = math.exp(push - top), math.exp(log_z - top), math.exp(-push - top)
    total = near + none + far
    near, none, far = near / total, none / total, far / total
    if field < 0.0:
        near, far = far, near
    return near, none, far, top + math.log(total)


@njit(cache=True, nogil=True)
def _moments(site, a):
    """Return mean and variance of a weight, given what `_site` returns."""
    up, none, down, _ = site
    return a * (up - down), a * a * (none * (up + down) + 4.0 * up * down)


@njit(cache=True, nogil=True)
def _bends(log_z, width, offset, a):
    """Return where a field ``width x + offset`` turns weights over, and over what width of x."""
    features = np.empty((3, 2))
    count = 0
    if a * width > 0.5:
        edge = max(log_z, 0.0) / a
        for place in (-edge, 0.0, edge):
            features[count, 0], features[count, 1] = (place - offset) / width, 1.0 / (a * width)
            count += 1
    return features[:count]


@njit(cache=True, nogil=True)
def _field_averages(width, zeros, log_z, rule):
    """Return the averages of m^2, variance, ln Z and variance^2 at ``width x``, and ln z.

    Newton's method for ln z; the share of zeros increases with it.
    """
    a = (1.0 - zeros) ** -0.5
    low, high = log_z - 5.0, log_z + a * width * 8.0 + 5.0
    gridded = math.inf
    for _ in range(100):
        if abs(log_z - gridded) > 0.3 or gridded == math.inf:  # short panels where m rises
            gridded = log_z
            x, weight = gaussian.fill_grid(_bends(log_z, width, 0.0, a), -REACH, REACH, rule)
        share = slope = 0.0
        for i in range(len(x)):
            _, none, _, _ = _site(width * x[i], log_z, a)
            share += weight[i] * none
            slope += weight[i] * none * (1.0 - none)
        step = (zeros - share) / max(slope, 1e-300)
        if abs(step) <= 1e-15 * max(1.0, abs(log_z)):
            break
        log_z, low, high = bracketed(log_z, step, share > zeros, low, high)
    q = complement = log_sum = fluctuation = 0.0
    for i in range(len(x)):
        site = _site(width * x[i], log_z, a)
        mean, variance = _moments(site, a)
        q += weight[i] * mean * mean
        complement += weight[i] * variance
        log_sum += weight[i] * site[3]
        fluctuation += weight[i] * variance * variance
    if q > 0.5:  # the smaller of the two keeps its digits, and their sum is 1
        q = 1.0 - complement
    else:
        complement = 1.0 - q
    return q, complement, log_sum, fluctuation, log_z


@njit(cache=True, nogil=True)
def _reference(u, width, correlation, log_z, a, value, rule):
    """Return the probability of a reference weight's value given u, and its mean times that.

    `value` is 1 for weights that are not zero, +a standing for both, and 0 for zeros.
    """
    first, second = np.empty_like(u), np.empty_like(u)
    lean, own = width * correlation, width * math.sqrt(max(1.0 - correlation**2, 0.0))
    for i in range(len(u)):
        v, weight = gaussian.fill_grid(_bends(log_z, own, lean * u[i], a), -REACH, REACH, rule)
        total = signed = 0.0
        for j in range(len(v)):
            site = _site(lean * u[i] + own * v[j], log_z, a)
            share = weight[j] * (2.0 * site[0] if value else site[1])
            total += share
            signed += share * a * (site[0] - site[2])
        first[i], second[i] = total, signed
    return first, second


@njit(cache=True, nogil=True)
def _constrained(
    distance, width, own, correlation, log_z_reference, zeros, delta, log_z, rule
):  # fmt: skip
    """Return delta, ln z, and p, 1 - p, t0, the averages of ln Z and of variance^2 at them.

    Both unknowns by Newton's method: ``E ln Z - t1 delta - zeros ln z`` is convex in them. The
    excesses are written without differences: of the overlap in terms of the weights that have
    changed, of zeros as those that became one less those that no longer are.
    """
    a = (1.0 - zeros) ** -0.5
    old_delta, old_log_z = math.inf, math.inf
    best = math.inf
    for turn in range(200):
        if (
            turn == 0 or abs(delta - old_delta) * a * a > 0.3 or abs(log_z - old_log_z) > 0.3
        ) and best > 1e-9:
            old_delta, old_log_z = delta, log_z
            grid = _bends(log_z, width, delta * a, a)
            u, weight = gaussian.fill_grid(grid, -REACH, REACH, rule)
            kept, kept_mean = _reference(u, own, correlation, log_z_reference, a, 1, rule)
            grid = _bends(log_z, width, 0.0, a)
            w, measure = gaussian.fill_grid(grid, -REACH, REACH, rule)
            none, none_mean = _reference(w, own, correlation, log_z_reference, a, 0, rule)
            kept, kept_mean = kept * weight, kept_mean * weight
            none, none_mean = none * measure, none_mean * measure
        apart = moved = back = 0.0
        hessian = np.zeros((2, 2))
        for i in range(len(u)):
            site = _site(width * u[i] + delta * a, log_z, a)
            mean, variance = _moments(site, a)
            apart += kept[i] * a * a * (site[1] + 2.0 * site[2])
            moved += kept[i] * site[1]
            hessian[0, 0] += kept[i] * a * a * variance
            hessian[0, 1] -= kept[i] * a * mean * site[1]
            hessian[1, 1] += kept[i] * site[1] * (1.0 - site[1])
        for i in range(len(w)):
            site = _site(width * w[i], log_z, a)
            back += none[i] * (site[0] + site[2])
            hessian[1, 1] += none[i] * site[1] * (1.0 - site[1])
        hessian[1, 0] = hessian[0, 1]
        # gradient of the convex function: overlap less t1, zeros less their share
        first, second = 2.0 * distance - apart, moved - back
        scale = hessian[0, 0] * hessian[1, 1] - hessian[0, 1] ** 2
        step_delta = -(hessian[1, 1] * first - hessian[0, 1] * second) / scale
        step_log_z = -(hessian[0, 0] * second - hessian[0, 1] * first) / scale
        best = max(abs(first) / distance, abs(second) / moved)
        size = max(abs(step_delta) * a * a, abs(step_log_z))
        if size < 1e-14 * max(1.0, abs(delta), abs(log_z)) or (best < 1e-13 and turn > 2):
            break
        # no further than a part of the width of the fields
        shorten = min(1.0, (1.0 + 0.2 * a * width) / size)
        delta += shorten * step_delta
        log_z += shorten * step_log_z
    else:
        return delta, log_z, (math.nan, math.nan, math.nan, math.nan, math.nan)
    p = complement = t0 = log_sum = fluctuation = 0.0
    for i in range(len(u)):
        site = _site(width * u[i] + delta * a, log_z, a)
        mean, variance = _moments(site, a)
        p += kept[i] * mean * mean
        complement += kept[i] * variance
        t0 += kept_mean[i] * mean
        log_sum += kept[i] * site[3]
        fluctuation += kept[i] * variance * variance
    for i in range(len(w)):
        site = _site(width * w[i], log_z, a)
        mean, variance = _moments(site, a)
        p += none[i] * mean * mean
        complement += none[i] * variance
        t0 += none_mean[i] * mean
        log_sum += none[i] * site[3]
        fluctuation += none[i] * variance * variance
    if p > 0.5:
        p = 1.0 - complement
    else:
        complement = 1.0 - p
    return delta, log_z, (p, complement, t0, log_sum, fluctuation)


@njit(cache=True, nogil=True)
def _shared(bias, inner, m, log_z, a, rule):
    """Average over the field ``bias + inner y`` of a weight, weighted with Z^m.

    Returns <p0>, its derivative in ln z, <m>, <m^2> - <m>^2, <variance>, ``ln <Z^m>`` and ``m <ln
    Z> - ln <Z^m>``. Means are measured from that at y = 0: small widths lose no digits. The
    exponent ``m ln Z - y^2 / 2`` bends down by 1 at most: a panel, at most 2 long, holds nothing
    more than sqrt(e) times what its ends have, and is left out where that is negligible.
    """
    middle = _site(bias, log_z, a)
    mean_there = a * (middle[0] - middle[2])
    reach = REACH + m * inner * a
    mild = reach < REACH + 2.0
    ends = gaussian.edges(_bends(log_z, inner, bias, a), -reach, reach)
    heights = np.empty(len(ends))
    for k in range(len(ends)):
        site = _site(bias + inner * ends[k], log_z, a)
        heights[k] = m * (site[3] - middle[3]) - 0.5 * ends[k] ** 2
    top = 0.0 if mild else np.max(heights)
    norm = 1.0 if mild else 0.0
    excess = share = square = bend = first = second = spread = tilted = 0.0
    for k in range(len(ends) - 1):
        if max(heights[k], heights[k + 1]) < top + LEAST and not mild:
            continue
        centre, half = 0.5 * (ends[k + 1] + ends[k]), 0.5 * (ends[k + 1] - ends[k])
        for j in range(len(rule)):
            y = centre + half * rule[j, 0]
            site = _site(bias + inner * y, log_z, a)
            exponent = m * (site[3] - middle[3])
            measure = half * rule[j, 1] / tails.SQRT_2PI
            if mild:
                measure *= math.exp(-0.5 * y * y)
                growth = math.expm1(exponent)
                excess += measure * growth
                weight = measure * (1.0 + growth)
            else:
                weight = measure * math.exp(exponent - 0.5 * y * y - top)
                norm += weight
            mean, variance = _moments(site, a)
            mean -= mean_there
            share += weight * site[1]
            square += weight * site[1] ** 2
            bend += weight * site[1] * (1.0 - site[1])
            first += weight * mean
            second += weight * mean * mean
            spread += weight * variance
            tilted += weight * exponent
    log_norm = math.log1p(excess) if mild else math.log(norm) + top
    norm += excess
    share /= norm
    first /= norm
    slope = bend / norm + m * max(square / norm - share * share, 0.0)
    return (
        share,
        slope,
        mean_there + first,
        max(second / norm - first * first, 0.0),
        spread / norm,
        m * middle[3] + log_norm,
        tilted / norm - log_norm,
    )


@njit(cache=True, nogil=True)
def _turn(inner, m, log_z, a, reach, rule):
    """Return the bias, up to `reach`, at which the zeros of a group give way to others.

    Where they are as likely as halfway between the two branches of infinitely many replicas that
    are pulled together as strongly: next to their jump, or where one branch is steepest.
    """
    low, high = 0.0, reach
    _, _, below, above = _rise(m * inner * inner, log_z, a)
    half = 0.5 * (_site(below, log_z, a)[1] + _site(above, log_z, a)[1])
    if _shared(low, inner, m, log_z, a, rule)[0] <= half:
        return low
    if _shared(high, inner, m, log_z, a, rule)[0] >= half:
        return high
    for _ in range(40):
        middle = 0.5 * (low + high)
        if _shared(middle, inner, m, log_z, a, rule)[0] > half:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _group(width, inner, m, zeros, log_z, rule):
    """Return what `Group` holds but for ``- zeros ln z``, and ln z.

    All averages are even in the common field ``width x``.
    """
    a = (1.0 - zeros) ** -0.5
    low = log_z - 60.0
    high = log_z + a * (9.0 * math.hypot(width, inner) + m * a * inner * inner) + 60.0
    features = np.empty((2, 2))
    gridded = math.inf
    x, outer = np.zeros(1), np.full(1, 0.5)  # nothing depends on x
    for _ in range(200):
        if width > 0.0 and (abs(log_z - gridded) > 0.1 or gridded == math.inf):
            gridded = log_z
            scale = 1.0 / max((1.0 + m) * a * width, 0.5)
            features[0, 0], features[0, 1] = 0.0, scale
            features[1, 0], features[1, 1] = (
                _turn(inner, m, log_z, a, REACH * width, rule) / width,
                scale,
            )
            x, outer = gaussian.fill_grid(features, 0.0, REACH, rule)
        total = slope = common = spread = complement = log_sum = information = 0.0
        for i in range(len(x)):
            weight = 2.0 * outer[i]
            found = _shared(width * x[i], inner, m, log_z, a, rule)
            total += weight * found[0]
            slope += weight * found[1]
            common += weight * found[2] ** 2
            spread += weight * found[3]
            complement += weight * found[4]
            log_sum += weight * found[5]
            information += weight * found[6]
        step = (zeros - total) / max(slope, 1e-300)
        if abs(step) <= 1e-14 * max(1.0, abs(log_z)):
            break
        log_z, low, high = bracketed(log_z, step, total > zeros, low, high)
    return common, spread, complement, log_sum / m, information, log_z


@njit(cache=True, nogil=True)
def _spinodals(pull, log_z, a):
    """Return the fields between which ``pull`` times a weight's variance is above 1; or -1, -1.

    With ``C = 2 cosh(a h)`` that is ``C^2 + z C (2 - D) + z^2 < 4 D``, ``D = pull a^2``; here C is
    measured in z.
    """
    strength, inverse = pull * a * a, math.exp(-log_z)
    root = strength * (strength - 4.0 + 16.0 * inverse * inverse)
    if root <= 0.0:
        return -1.0, -1.0
    large = 0.5 * (strength - 2.0 + math.sqrt(root))
    if large <= 2.0 * inverse:
        return -1.0, -1.0
    small = (1.0 - 4.0 * strength * inverse * inverse) / large
    ends = np.zeros(2)
    for k, one in enumerate((small, large)):
        if one > 2.0 * inverse:
            half = 0.5 * one  # C / 2, in z
            ends[k] = (log_z + math.log(half + math.sqrt(half * half - inverse * inverse))) / a
    return ends[0], ends[1]


@njit(cache=True, nogil=True)
def _lacking(field, pull, log_z, a):
    """Return the push that a field needs beside ``pull m``."""
    site = _site(field, log_z, a)
    return field - pull * a * (site[0] - site[2])


@njit(cache=True, nogil=True)
def _between(push, pull, log_z, a, low, high):
    """Return the field from low to high that needs this push; the push increases there."""
    field = 0.5 * (low + high)
    for _ in range(200):
        mean, variance = _moments(_site(field, log_z, a), a)
        excess = field - pull * mean - push
        if excess > 0.0:
            high = field
        else:
            low = field
        slope = 1.0 - pull * variance
        step = -excess / slope if slope > 0.0 else math.inf
        if abs(step) <= 1e-15 * max(field, 1e-3):
            break
        if not low < field + step < high:
            step = 0.5 * (low + high) - field
            if abs(step) <= 1e-15 * max(field, 1e-3):
                break
        field += step
    return field


@njit(cache=True, nogil=True)
def _value(field, pull, log_z, a):
    site = _site(field, log_z, a)
    return site[3] - 0.5 * pull * (a * (site[0] - site[2])) ** 2


@njit(cache=True, nogil=True)
def _best(push, pull, log_z, a):
    """Return the field ``push + pull m`` on the branch with the largest value, which, the value.

    The branch is 0 below a jump and 1 above it; -1 where there is only one.
    """
    first, last = _spinodals(pull, log_z, a)
    top = push + pull * a
    if last < 0.0:
        field = _between(push, pull, log_z, a, push, top)
        return field, -1, _value(field, pull, log_z, a)
    field, branch, value = 0.0, -1, -math.inf
    if push <= first and _lacking(first, pull, log_z, a) >= push:
        field, branch = _between(push, pull, log_z, a, push, first), 0
        value = _value(field, pull, log_z, a)
    if last <= top and _lacking(last, pull, log_z, a) <= push:
        other = _between(push, pull, log_z, a, last, top)
        if _value(other, pull, log_z, a) >= value:
            field, branch, value = other, 1, _value(other, pull, log_z, a)
    return field, branch, value


@njit(cache=True, nogil=True)
def _rise(pull, log_z, a):
    """Return the push at which the mean rises or jumps, on which scale, and the fields about it.

    The scale of a jump is that on which the branch beyond would end.
    """
    first, last = _spinodals(pull, log_z, a)
    if last < 0.0:  # steepest where C = z - 8 / z
        field = log_z / a
        if log_z < 300.0:
            cosh = 0.5 * math.exp(log_z) - 4.0 * math.exp(-log_z)
            field = math.acosh(cosh) / a if cosh > 1.0 else 0.0
        stiff = 1.0 - pull * _moments(_site(field, log_z, a), a)[1]
        place = max(_lacking(field, pull, log_z, a), 0.0)
        return place, max(stiff**1.5, 1e-10) / a, field, field
    start, end = _lacking(last, pull, log_z, a), max(_lacking(first, pull, log_z, a), 0.0)
    low, high = max(start, 0.0), end
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _best(middle, pull, log_z, a)[1] == 1:
            high = middle
        else:
            low = middle
    below, above = _best(low, pull, log_z, a)[0], _best(high, pull, log_z, a)[0]
    if low == 0.0:  # the jump is from -m to m
        return 0.0, max(-start, 1e-10), 0.0, above
    return 0.5 * (low + high), max(min(low - start, end - high), 1e-10), below, above


@njit(cache=True, nogil=True)
def _limit(width, pull, log_z, a, rule):
    """Return the share of zeros, ``E m*^2``, E variance, ``E u m*`` and E value, u normal.

    All are even in u. Where the mean jumps the panels end, and are graded on the scale on which
    the branch beyond would end; elsewhere on that on which the mean rises.
    """
    features = np.empty((2, 2))
    features[0, 0], features[0, 1] = 0.0, 1.0 / max(a * width, 0.5)
    place, scale, _, _ = _rise(pull, log_z, a)
    features[1, 0], features[1, 1] = place / width, scale / max(width, 1e-3)
    u, measure = gaussian.fill_grid(features, 0.0, REACH, rule)
    share = overlap = complement = lean = value = 0.0
    for i in range(len(u)):
        field, _, best = _best(width * u[i], pull, log_z, a)
        site = _site(field, log_z, a)
        mean, variance = _moments(site, a)
        weight = 2.0 * measure[i]
        share += weight * site[1]
        overlap += weight * mean * mean
        complement += weight * variance
        lean += weight * u[i] * mean
        value += weight * best
    return share, overlap, complement, lean, value
