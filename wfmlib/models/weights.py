"""The weights: what one component may be, and the entropic term that follows.

The entropic term knows nothing of the patterns. Given the conjugate overlap ``q_hat`` that the
patterns exert on a weight, it says how much two solutions overlap and how many there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numba import njit

from wfmlib.numerics import gaussian

__all__ = ["Binary", "ConstrainedEntropic", "Entropic", "Spherical"]


class Entropic(NamedTuple):
    """The entropic side of a replica-symmetric saddle point, at a given ``q_hat``.

    Attributes
    ----------
    q : float
        Overlap between two solutions.
    complement : float
        ``1 - q``, without the rounding of q.
    term : float
        What the weights contribute to the free entropy, the ``q_hat (1 - q) / 2`` of the Legendre
        transform included; nats per weight.
    fluctuation : float
        Mean square of a weight's variance over the solutions: the weights' factor of the replicon.
    """

    q: float
    complement: float
    term: float
    fluctuation: float


class ConstrainedEntropic(NamedTuple):
    """The entropic side for solutions counted at a distance from a reference.

    Attributes
    ----------
    p : float
        Overlap between two counted solutions.
    complement : float
        ``1 - p``, without the rounding of p.
    t0 : float
        Overlap of a counted solution with a reference other than its own.
    t1_hat : float
        Conjugate of the overlap with its own reference, ``t1 = 1 - 2 distance``.
    term : float
        What the weights contribute to the local entropy, the products of overlaps and conjugates
        included; nats per weight.
    fluctuation : float
        Mean square of a weight's variance over the counted solutions.
    """

    p: float
    complement: float
    t0: float
    t1_hat: float
    term: float
    fluctuation: float


@dataclass(frozen=True)
class Binary:
    """Weights ``w_i = +1`` or ``-1``; entropies count configurations, ``ln 2`` at load 0."""

    discrete = True  #: solutions run out where the entropy vanishes, not where q -> 1
    entropy = math.log(2.0)  #: nats per weight without any pattern
    collapse = 2.0 / math.pi  #: limit of q_hat (1 - q)^2 for q -> 1

    def entropic(self, q_hat):
        """Return the entropic side of the saddle point  [eq-rs-entropic].

        A weight feels the field ``sqrt(q_hat) x``, x normal: ``q = E tanh^2(sqrt(q_hat) x)``, and
        the free entropy gains ``-q_hat (1 - q) / 2 + E ln 2 cosh(sqrt(q_hat) x)``.

        Source: P3, equation A10a.
        """
        width = math.sqrt(q_hat)
        q, complement, log_2cosh, fluctuation = _field_averages(width, gaussian.legendre_rule())
        return Entropic(q, complement, log_2cosh - 0.5 * q_hat * complement, fluctuation)

    def constrained(self, distance, p_hat, correlation, reference):
        """Return the entropic side at a distance from a reference  [eq-fp-entropic].

        The fields on a reference weight w and on a counted one are ``sqrt(q_hat) x`` and
        ``sqrt(p_hat) u + delta w``, where x and u have the correlation
        ``t0_hat / sqrt(p_hat q_hat)``. ``delta = t1_hat - t0_hat`` is solved for here such that
        the overlap with the reference is ``1 - 2 distance``.

        Source: P3, equation B13a.
        """
        widths = math.sqrt(p_hat), math.sqrt(reference.q_hat)
        delta, averages = _constrained(distance, *widths, correlation, gaussian.legendre_rule(12))
        p, complement, t0, log_2cosh, fluctuation = averages
        t0_hat = correlation * widths[0] * widths[1]
        t1 = 1.0 - 2.0 * distance
        products = -0.5 * p_hat * complement + (t0 - t1) * t0_hat - t1 * delta
        return ConstrainedEntropic(
            p, complement, t0, delta + t0_hat, log_2cosh + products, fluctuation
        )

    def bound(self, distance):
        """Return the entropy of all weight vectors at a distance  [eq-geometric-bound]."""
        return scipy.special.entr(distance) + scipy.special.entr(1.0 - np.asarray(distance))


@dataclass(frozen=True)
class Spherical:
    """Weights on the sphere ``sum_i w_i^2 = N`` (of each hidden unit, in a committee).

    Entropies are logarithms of shares of the sphere: 0 without any pattern. The papers' volumes in
    the weights' own coordinates are larger by ``ln(2 pi e) / 2`` per weight, that of the sphere.
    """

    discrete = False  #: solutions run out where q -> 1
    entropy = 0.0  #: nats per weight without any pattern
    collapse = 1.0  #: limit of q_hat (1 - q)^2 for q -> 1

    def entropic(self, q_hat):
        """Return the entropic side of the saddle point  [eq-spherical-entropic].

        ``q_hat = q / (1 - q)^2``  [eq-spherical-saddle], solved here for q; the free entropy gains
        ``[ln(1 - q) + q / (1 - q)] / 2``.

        Source: P2, equation B1 with the conjugates eliminated.
        """
        complement = 2.0 / (1.0 + math.sqrt(1.0 + 4.0 * q_hat))
        q = min(q_hat * complement**2, 1.0)  # rounding
        return Entropic(
            q=q,
            complement=complement,
            term=0.5 * (math.log(complement) + q / complement),
            fluctuation=complement**2,
        )

    def constrained(self, distance, p_hat, correlation, reference):
        """Return the entropic side at a distance from a reference  [eq-fp-spherical].

        ``p_hat (1 - p)^2 = p - t1^2 + u^2`` with ``u = (t0 - q t1) / (1 - q) =
        (1 - q) (1 - p) t0_hat``, solved here for p; the local entropy gains
        ``[ln(1 - p) + p_hat (1 - p)] / 2``.

        Source: P2, equation C6 with the conjugates eliminated.
        """
        t1, q = 1.0 - 2.0 * distance, reference.q
        free = 4.0 * distance * (1.0 - distance)  # 1 - t1^2
        t0_hat = correlation * math.sqrt(p_hat * reference.q_hat)
        stretch = p_hat * (1.0 - correlation**2 * q)
        complement = 2.0 * free / (1.0 + math.sqrt(1.0 + 4.0 * stretch * free))
        return ConstrainedEntropic(
            p=1.0 - complement,
            complement=complement,
            t0=q * t1 + reference.complement**2 * complement * t0_hat,
            t1_hat=t1 / complement + q * t0_hat,
            term=0.5 * (math.log(complement) + p_hat * complement),
            fluctuation=complement**2,
        )

    def bound(self, distance):
        """Return the log-share of the sphere's slice at a distance  [eq-geometric-bound]."""
        with np.errstate(divide="ignore"):
            return 0.5 * np.log(4.0 * distance * (1.0 - np.asarray(distance)))


# ------------------------------------------------------------------------------------------------
# Kernel
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _field_averages(width, rule):
    """Return the averages of tanh^2, sech^2, ln 2 cosh, sech^4 at ``width x``, x normal.

    In exponentials of ``-2 |field|``, so that nothing overflows or cancels.
    """
    # the averages are even: twice the half line, its panels graded towards 0
    features = np.array([[0.0, 1.0 / max(width, 0.5)]])
    x, weight = gaussian.fill_grid(features, 0.0, gaussian.LIMIT, rule)
    q = complement = log_2cosh = fluctuation = 0.0
    for i in range(len(x)):
        field = width * x[i]
        decay = math.exp(-2.0 * field)
        variance = 4.0 * decay / (1.0 + decay) ** 2
        q += 2.0 * weight[i] * (math.expm1(-2.0 * field) / (1.0 + decay)) ** 2
        complement += 2.0 * weight[i] * variance
        log_2cosh += 2.0 * weight[i] * (field + math.log1p(decay))
        fluctuation += 2.0 * weight[i] * variance**2
    if q > 0.5:  # the smaller of the two keeps its digits, and their sum is 1
        q = 1.0 - complement
    else:
        complement = 1.0 - q
    return q, complement, log_2cosh, fluctuation


@njit(cache=True, nogil=True)
def _reference_spin(u, width, correlation, rule):
    """Return E (1 + mr) and E (1 + mr) mr given u, where ``mr = tanh(width x)``.

    By symmetry the reference weight is taken to be +1; 1 + mr is the density, relative to the
    normal one, that this gives to the field x on it.
    """
    first, second = np.empty_like(u), np.empty_like(u)
    lean, own = width * correlation, width * math.sqrt(max(1.0 - correlation**2, 0.0))
    features = np.empty((1, 2))
    count = 1 if own > 0.5 else 0
    for i in range(len(u)):
        if count:
            features[0] = -lean * u[i] / own, 1.0 / own
        v, weight = gaussian.fill_grid(features[:count], -9.0, 9.0, rule)
        total = signed = 0.0
        for j in range(len(v)):
            field = lean * u[i] + own * v[j]
            decay = math.exp(-2.0 * abs(field))
            density = weight[j] * 2.0 / (1.0 + decay)
            m = (1.0 - decay) / (1.0 + decay)
            if field < 0.0:
                density, m = density * decay, -m
            total += density
            signed += density * m
        first[i], second[i] = total, signed
    return first, second


@njit(cache=True, nogil=True)
def _delta(delta, target, width, u, weight):
    """Solve for the delta at which the logit of the distance is `target`.

    Newton's method; the logit is ``-2 delta`` without other fields, and the slope of the overlap
    is ``1 - p``, positive: there is one root. A step that leaves the bracket of the signs seen so
    far is replaced by its middle.
    """
    low, high = delta - 10.0 * width - 5.0, delta + 10.0 * width + 5.0
    for _ in range(100):
        near = far = variance = 1e-300
        for i in range(len(u)):
            field = width * u[i] + delta
            decay = math.exp(-2.0 * abs(field))
            large, small = weight[i] / (1.0 + decay), weight[i] * decay / (1.0 + decay)
            variance += 4.0 * large * decay / (1.0 + decay)
            near += large if field > 0.0 else small
            far += small if field > 0.0 else large
        excess = math.log(far / near) - target
        if excess > 0.0:  # too far away: pull harder
            low = delta
        else:
            high = delta
        step = excess * 2.0 * far * near / variance
        if abs(step) <= 1e-15 * max(1.0, abs(delta)):
            break
        if delta + step <= low or delta + step >= high:
            step = 0.5 * (low + high) - delta
        delta += step
    return delta


@njit(cache=True, nogil=True)
def _constrained(distance, width, reference_width, correlation, rule):
    """Return delta, and p, 1 - p, t0, the averages of ln 2 cosh and of sech^4 at it."""
    target = math.log(distance / (1.0 - distance))
    delta = -0.5 * target
    features = np.empty((1, 2))
    count = 1 if width > 0.5 else 0
    for _ in range(20):
        if count:  # short panels where the counted weight changes sign
            features[0] = -delta / width, 1.0 / width
        u, weight = gaussian.fill_grid(features[:count], -9.0, 9.0, rule)
        first, second = _reference_spin(u, reference_width, correlation, rule)
        first *= weight
        second *= weight
        before = delta
        delta = _delta(delta, target, width, u, first)
        if not count or abs(delta - before) < 0.5:
            break
    p = complement = t0 = log_2cosh = fluctuation = 0.0
    for i in range(len(u)):
        field = width * u[i] + delta
        decay = math.exp(-2.0 * abs(field))
        variance = 4.0 * decay / (1.0 + decay) ** 2
        m = -math.expm1(-2.0 * abs(field)) / (1.0 + decay)
        p += first[i] * m * m
        complement += first[i] * variance
        t0 += second[i] * (m if field > 0.0 else -m)
        log_2cosh += first[i] * (abs(field) + math.log1p(decay))
        fluctuation += first[i] * variance**2
    if p > 0.5:
        p = 1.0 - complement
    else:
        complement = 1.0 - p
    return delta, (p, complement, t0, log_2cosh, fluctuation)
