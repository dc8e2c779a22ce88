"""The density of stabilities in a dense region: the kernels behind `stabilities`.

As for typical solutions a pattern's field in one replica is normal about the part w that others
share, cut off at the margin; only w has another distribution. With y replicas its part within the
group weighs ``H^y``, and for infinitely many it is the field w* of `log_concave`
[eq-dense-stability]:

    density = E < G(b + step) / H(b) > / sqrt(1 - c1),   b = (kappa - w) / sqrt(1 - c1).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.models.constraints.margin import most_tilted, shortfall
from wfmlib.numerics import gaussian

LIMIT = 9.0
FAR = 60.0  # standard deviations beyond the margin: the density underflows there
NODES = 40  # of a panel on which density and share are interpolated
SMOOTH = 1e-11  # the last coefficients of a polynomial that will do


def supported(kernel, stabilities, kappa):
    """Return density and share where there are stabilities, and where there are none.

    Parameters
    ----------
    kernel : callable
        Gives both at an array of stabilities above the margin.
    stabilities : ndarray, shape (n,)
    kappa : float

    Returns
    -------
    density, share : ndarray, shape (n,)
        At the margin and below both are 0, and so is the density where it underflows.
    """
    beyond = stabilities - kappa
    inside = (beyond > 0.0) & (beyond <= FAR)
    density, share = np.zeros(len(beyond)), (beyond > FAR).astype(float)
    density[inside], share[inside] = kernel(stabilities[inside])
    return density, share


def at_many(kernel, stabilities, kappa):
    """Return density and share at many stabilities, from few: above the margin both are analytic.

    Chebyshev polynomials for ``ln density`` and ``share / (stability - kappa)``, on panels that
    are halved until the last coefficients vanish. Where panels get too short for that to pay, or
    the density underflows, each stability is computed.

    Parameters
    ----------
    kernel : callable
        `infinite` or `finite` with all but the first argument given.
    stabilities : ndarray, shape (n,)
        Above the margin, as `supported` gives them.
    kappa : float

    Returns
    -------
    density, share : ndarray, shape (n,)
        Relative errors beside those of the kernel: 1e-11; 1e-10 where the density is below 1e-100.
    """
    if len(stabilities) <= 1.2 * NODES:
        return kernel(stabilities)
    beyond = stabilities - kappa
    density, share = np.empty(len(beyond)), np.empty(len(beyond))
    top = np.max(beyond)
    panels = [(0.0, top)]

    def rows(t):
        distance = middle + half * t
        density, below = kernel(kappa + distance)
        density = np.where(density > 0.0, density, math.nan)  # underflow is not smooth
        return np.stack((np.log(density), below / distance), axis=1)

    while panels:
        low, high = panels.pop()
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        some = (beyond > low) & (beyond <= high)
        if np.count_nonzero(some) <= 1.2 * NODES or half < 1e-3 * top:
            density[some], share[some] = kernel(stabilities[some])
            continue
        coefficients = np.polynomial.chebyshev.chebinterpolate(rows, NODES - 1)
        if not np.all(np.abs(coefficients[-4:]) < SMOOTH):  # or not finite
            panels += [(low, middle), (middle, high)]
            continue
        logarithm, rate = np.polynomial.chebyshev.chebval(
            (beyond[some] - middle) / half, coefficients
        )
        density[some], share[some] = np.exp(logarithm), np.minimum(rate * beyond[some], 1.0)
    return density, share


@njit(cache=True, nogil=True)
def ratios(b, step):
    """Return ``G(b + step) / H(b)`` and ``1 - H(b + step) / H(b)``."""
    if b > 0.0:  # G / H is the hazard, the rest a falling exponential: nothing underflows
        fall = -step * (b + 0.5 * step)
        near, far = gaussian.hazard(b), gaussian.hazard(b + step)
        return near * math.exp(fall), -math.expm1(fall + math.log(near / far))
    tail = gaussian.H(b)
    return gaussian.G(b + step) / tail, 1.0 - gaussian.H(b + step) / tail


@njit(cache=True, nogil=True)
def infinite(stabilities, kappa, c, spread, variance, rule):
    """Return density and share up to each stability; `spread` is ``c'(q1) d0``, `variance` 1-c."""
    density, share = np.zeros(len(stabilities)), np.zeros(len(stabilities))
    root, soft = math.sqrt(c), math.sqrt(variance)
    ratio = spread / variance
    features = np.empty((3, 2))
    for i in range(len(stabilities)):
        beyond = stabilities[i] - kappa
        step = beyond / soft
        count = 0
        if root > 0.05:
            bend = -math.sqrt(2.0 * math.log1p(ratio))
            edge = -step  # b where the field is the stability
            bent = edge + ratio * gaussian.hazard(edge)
            wide = 1.0 + ratio * gaussian.hazard_derivative(edge)
            features[0, 0], features[0, 1] = kappa / root, soft / root
            features[1, 0], features[1, 1] = (
                (kappa - soft * bend) / root,
                soft / (root * (1.0 - bend)),
            )
            features[2, 0], features[2, 1] = (kappa - soft * bent) / root, soft * wide / root
            count = 3
        high = max(root * stabilities[i], 0.0) + LIMIT
        x, weight = gaussian.fill_grid(features[:count], min(kappa, 0.0) - LIMIT, high, rule)
        b = (kappa - root * x[0]) / soft / (1.0 + ratio)
        for j in range(len(x)):
            b = shortfall((kappa - root * x[j]) / soft, ratio, b)
            height, below = ratios(b, step)
            density[i] += weight[j] * height
            share[i] += weight[j] * below
        density[i] /= soft
        share[i] = min(share[i], 1.0)
    return density, share


@njit(cache=True, nogil=True)
def _other_middle(short, beyond, width, variance, m, start):
    """Return where ``(m - 1) f - (stability - w)^2 / (2 variance) - y^2 / 2`` is largest in y.

    Its derivative is convex in y and falls: Newton's method does not leave its zero once left.
    """
    soft = math.sqrt(variance)
    y = start
    for _ in range(60):
        b = (short - width * y) / soft
        force = (m - 1.0) * gaussian.hazard(b) + b + beyond / soft
        excess = y - width / soft * force
        slope = 1.0 + width**2 / variance * (1.0 + (m - 1.0) * gaussian.hazard_derivative(b))
        y -= excess / slope
        if abs(excess) < 1e-6 * slope:
            break
    return y


@njit(cache=True, nogil=True)
def finite(stabilities, kappa, c0, gap, variance, m, rule):
    """Return density and share up to each stability for m replicas; `gap` is c1 - c0."""
    density, share = np.zeros(len(stabilities)), np.zeros(len(stabilities))
    root, width, soft = math.sqrt(c0), math.sqrt(gap), math.sqrt(variance)
    narrow = 1.0 / math.sqrt(1.0 + m * gap / variance)
    features = np.empty((4, 2))
    for i in range(len(stabilities)):
        beyond = stabilities[i] - kappa
        step = beyond / soft
        count = 0
        if root > 0.05:
            around = math.sqrt(variance + gap) / root
            features[0, 0], features[0, 1] = kappa / root, around
            features[1, 0], features[1, 1] = stabilities[i] / root, around
            count = 2
        high = max(root * stabilities[i], 0.0) + LIMIT
        x, outer = gaussian.fill_grid(features[:count], min(kappa, 0.0) - LIMIT, high, rule)
        for k in range(len(x)):
            short = kappa - root * x[k]
            # measured from the middle of the tilted Gaussian, so that no exponential overflows
            top = most_tilted(short / soft, m * gap / variance)
            shift = width / soft * m * gaussian.hazard(top)
            log_top = gaussian.log_H((short - width * shift) / soft)
            mode = _other_middle(short, beyond, width, variance, m, shift) - shift
            features[0], features[1] = (0.0, narrow), (mode, narrow)
            count = 2
            if width > 0.3 * soft:
                features[2, 0], features[2, 1] = short / width - shift, soft / width
                features[3, 0], features[3, 1] = (short + beyond) / width - shift, soft / width
                count = 4
            y, inner = gaussian.fill_grid(
                features[:count], min(mode, 0.0) - LIMIT, max(mode, 0.0) + LIMIT, rule
            )
            norm = first = second = 0.0
            for j in range(len(y)):
                b = (short - width * (shift + y[j])) / soft
                w = inner[j] * math.exp(m * (gaussian.log_H(b) - log_top) - shift * y[j])
                height, below = ratios(b, step)
                norm += w
                first += w * height
                second += w * below
            density[i] += outer[k] * first / norm
            share[i] += outer[k] * second / norm
        density[i] /= soft
        share[i] = min(share[i], 1.0)
    return density, share
