"""A weight of +1 or -1 in a Gaussian field: its averages, and those next to a reference.

Loops that fill arrays are apart from those that sum them: the former become vector instructions,
the latter keep their order.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numba import njit

from wfmlib.numerics import gaussian, portable
from wfmlib.numerics.newton import bracketed

SIGNS = np.array([[1.0], [-1.0]])
POLE = 0.5 * math.pi  # of tanh, from the real axis
FAR = 10.0  # how far fields of infinitely many replicas are followed


def spin_moments(field):
    """Return tanh, sech^2 and ln 2 cosh of fields; nothing overflows or cancels.

    In NumPy: of some hundred nodes these are averages that no compiler need prepare.
    """
    size = np.abs(field)
    decay = np.exp(-2.0 * size)
    return np.tanh(field), 4.0 * decay / np.square(1.0 + decay), size + np.log1p(decay)


def field_averages(width, rule):
    """Return the averages of tanh^2, sech^2, ln 2 cosh, sech^4 at ``width x``, x normal."""
    nodes = gaussian.spaced(POLE / width if width else math.inf, -gaussian.LIMIT, gaussian.LIMIT)
    if nodes is None:  # the averages are even: twice the half line, panels graded towards 0
        features = np.array([[0.0, 1.0 / max(width, 0.5)]])
        x, weight = gaussian.panels(features, 0.0, gaussian.LIMIT, rule)
        weight *= 2.0
    else:
        x, weight = nodes
    m, variance, log = spin_moments(width * x)
    q, complement = float(weight @ (m * m)), float(weight @ variance)
    log_2cosh, fluctuation = float(weight @ log), float(weight @ (variance * variance))
    if q > 0.5:  # the smaller of the two keeps its digits, and their sum is 1
        q = 1.0 - complement
    else:
        complement = 1.0 - q
    return q, complement, log_2cosh, fluctuation


@njit(cache=True, nogil=True)
def magnetisation(push, pull, start):
    """Return the largest m with ``m = tanh(push + pull m)``, for push >= 0, and the field.

    Newton's method for the field, ``field - push - pull tanh(field)``: from above the largest zero
    it falls onto it without overshooting, as the function is convex there.
    """
    field = start
    for _ in range(200):
        decay = math.exp(-2.0 * field)
        m = -math.expm1(-2.0 * field) / (1.0 + decay)
        slope = 1.0 - pull * 4.0 * decay / (1.0 + decay) ** 2
        if slope <= 0.0:  # at the end of this branch, where it meets the unstable one
            break
        step = (field - push - pull * m) / slope
        if step <= 1e-15 * field:
            break
        field -= step
    decay = math.exp(-2.0 * field)
    return -math.expm1(-2.0 * field) / (1.0 + decay), field


@njit(cache=True, nogil=True)
def limit_averages(width, pull, rule):
    """Return what `Magnetised` holds; `width` is ``sqrt(q1_hat)``, `pull` is d0_hat.

    All averages are even in u. Next to ``pull = 1``, m* is nearly a cubic root at u = 0.
    """
    features = np.empty((1, 2))
    scale = max(abs(1.0 - pull) ** 1.5, 1e-10) / max(width, 1e-3)
    features[0, 0], features[0, 1] = 0.0, min(scale, 1.0 / max(width, 0.5))
    u, measure = gaussian.fill_grid(features, 0.0, FAR, rule)
    overlap = complement = lean = term = 0.0
    for i in range(len(u)):
        push = width * u[i]
        m, field = magnetisation(push, pull, push + pull)
        decay = math.exp(-2.0 * field)
        w = 2.0 * measure[i]
        overlap += w * m * m
        complement += w * 4.0 * decay / (1.0 + decay) ** 2
        lean += w * u[i] * m
        term += w * (field + math.log1p(decay) - 0.5 * pull * m * m)
    return overlap, complement, lean, term


@njit(cache=True, nogil=True, error_model="numpy")
def reference_spin(u, width, correlation, rule):
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
            features[0, 0], features[0, 1] = -lean * u[i] / own, 1.0 / own
        v, weight = gaussian.fill_grid(features[:count], -9.0, 9.0, rule)
        m = np.empty_like(v)
        for j in range(len(v)):
            field = lean * u[i] + own * v[j]
            decay = portable.exp(-2.0 * abs(field))
            up = field >= 0.0
            m[j] = (1.0 - decay if up else decay - 1.0) / (1.0 + decay)
            weight[j] *= (2.0 if up else 2.0 * decay) / (1.0 + decay)
        total = signed = 0.0
        for j in range(len(v)):
            total += weight[j]
            signed += weight[j] * m[j]
        first[i], second[i] = total, signed
    return first, second


@njit(cache=True, nogil=True, error_model="numpy")
def _delta(delta, target, width, u, weight):
    """Solve for the delta at which the logit of the distance is `target`.

    Newton's method; the logit is ``-2 delta`` without other fields, and the slope of the overlap
    is ``1 - p``, positive: there is one root.
    """
    low, high = delta - 10.0 * width - 5.0, delta + 10.0 * width + 5.0
    above, below, spread = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    for _ in range(100):
        for i in range(len(u)):
            field = width * u[i] + delta
            decay = portable.exp(-2.0 * abs(field))
            large = weight[i] / (1.0 + decay)
            small = large * decay
            above[i] = large if field > 0.0 else small
            below[i] = small if field > 0.0 else large
            spread[i] = 4.0 * small / (1.0 + decay)
        near = far = variance = 1e-300
        for i in range(len(u)):
            near += above[i]
            far += below[i]
            variance += spread[i]
        excess = math.log(far / near) - target
        step = excess * 2.0 * far * near / variance
        if abs(step) <= 1e-15 * max(1.0, abs(delta)):
            break
        delta, low, high = bracketed(delta, step, excess <= 0.0, low, high)
    return delta


def constrained_averages(distance, width, reference_width, correlation, rule):
    """Return delta, and p, 1 - p, t0, the averages of ln 2 cosh and of sech^4 at it."""
    target = math.log(distance / (1.0 - distance))
    nodes = _spaced_reference(width, reference_width, correlation)
    if nodes is None:
        delta, u, first, second = _graded_reference(
            target, width, reference_width, correlation, rule
        )
    else:
        u, first, second = nodes
        delta = _delta_of_few(target, width * u, first)
    field = width * u + delta
    m, variance, log = spin_moments(field)
    p, complement = float(first @ m**2), float(first @ variance)
    averages = float(second @ m), float(first @ log), float(first @ variance**2)
    if p > 0.5:
        p = 1.0 - complement
    else:
        complement = 1.0 - p
    return delta, (p, complement, *averages)


def _spaced_reference(width, reference_width, correlation):
    """Return nodes u at equal distances, and what `reference_spin` does with their weights."""
    lean = reference_width * correlation
    own = reference_width * math.sqrt(max(1.0 - correlation**2, 0.0))
    sharpest = max(width, lean)
    outer = gaussian.spaced(POLE / sharpest if sharpest else math.inf, -9.0, 9.0, 200)
    inner = gaussian.spaced(POLE / own if own else math.inf, -9.0, 9.0, 200)
    if outer is None or inner is None:
        return None
    (u, weight), (v, density) = outer, inner
    m = np.tanh(lean * u[:, None] + own * v)
    odd = m @ density
    return u, weight * (1.0 + odd), weight * (odd + (m * m) @ density)


def _graded_reference(target, width, reference_width, correlation, rule):
    """Return delta, and the same on panels, where fields are wide."""
    delta = -0.5 * target
    for _ in range(20):
        features = np.empty((0, 2))
        if width > 0.5:  # short panels where the counted weight changes sign
            features = np.array([[-delta / width, 1.0 / width]])
        u, weight = gaussian.panels(features, -9.0, 9.0, rule)
        first, second = reference_spin(u, reference_width, correlation, rule)
        first *= weight
        second *= weight
        before = delta
        delta = _delta(delta, target, width, u, first)
        if not len(features) or abs(delta - before) < 0.5:
            break
    return delta, u, first, second


def _delta_of_few(target, fields, weight):
    """Return delta as `_delta` does, for few fields, without the compiler."""
    delta = -0.5 * target
    for _ in range(100):
        up, down = scipy.special.expit(2.0 * (fields + delta) * SIGNS)
        near, far = 1e-300 + weight @ up, 1e-300 + weight @ down
        excess = math.log(far / near) - target
        step = 0.5 * excess * far * near / (1e-300 + weight @ (up * down))
        delta += step
        if abs(step) <= 1e-8:  # the next one would be its square
            break
    return delta
