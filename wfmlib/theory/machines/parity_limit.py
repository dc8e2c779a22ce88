"""Energetic term of a parity machine with infinitely many replicas.

In units of ``sqrt(1 - q1)``, with shared fields x, we need the maximum over z of

    -|z - x|^2 / (2 spread) + ln Sigma(z),    Sigma = (1 + prod_l e_l) / 2,

with ``e_l`` as in `parity`. Sigma does not change when units are exchanged, or two of them change
sign. So x can be taken from the region

    x_1 >= x_2 >= .. >= |x_K|,

times ``2^{K-1} K!``: only the last unit may be wrong, and it is nearest to its threshold. Of all
the images of z the one in the same region is nearest to x: there the maximum lies, and no sign or
order is left to choose. The maximum may still jump inside the region: for three units it does.

There ``Sigma = P_K a + Q_K b``, where a and b are the chances that the other units are right and
wrong: ``b <= (K - 1) P_K`` if unit K is more likely wrong, and no digits are lost.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.models.constraints.log_concave import Limit
from wfmlib.numerics import gaussian, tails

REACH = 6.5  # how far shared fields are followed
LEAST = 1e-11  # nodes of a smaller weight are left out
NEAR = 1.5  # where the largest of three shared fields is larger, there is one maximum


def limit_averages(units, q1, spread, order=6):
    """Return what a pattern contributes with infinitely many replicas  [eq-ld-infinite].

    Parameters
    ----------
    units : int
        2 or 3.
    q1 : float
        Overlap, above 0 and below 1.
    spread : float
        ``d0 = y (q1 - q0)``, positive.
    order : int, optional
        Nodes in a panel. With 6, errors of the term are below 1e-6, relative ones of the forces
        below 1e-5 with two units, 1e-4 with three, where the maximum jumps.

    Returns
    -------
    log_concave.Limit
        By the maximum's envelope, as in `committee_of_three.limit_averages`.
    """
    complement = 1.0 - q1
    root = math.sqrt(q1 / complement)
    rule = gaussian.legendre_rule(order)
    term, force, outward = _limit_averages(units, root, spread / complement, rule)
    return Limit(term, force / complement, (force + outward) / complement)


@njit(cache=True, nogil=True)
def _log_sigma(z, slope, curvature):
    """Return ``ln Sigma`` at a z of the region; fill in its first and second derivatives."""
    units = len(z)
    last = z[units - 1]
    # the first unit, or the first two: chance a to be right, and ln b
    a = gaussian.H(-z[0])
    log_b = gaussian.log_H(z[0])
    if units == 3:
        right, log_wrong = gaussian.H(-z[1]), gaussian.log_H(z[1])
        log_b = log_wrong + math.log(a + right * math.exp(log_b - log_wrong))
        a = a * right + gaussian.H(z[0]) * gaussian.H(z[1])
    if last >= 0.0:
        value = math.log1p(-gaussian.H(last) * a - gaussian.H(-last) * math.exp(log_b))
    else:
        log_right = gaussian.log_H(-last)
        value = log_right + math.log(a + gaussian.H(last) * math.exp(log_b - log_right))
    for i in range(units):
        # for the moment ln G_i
        curvature[i, i] = -0.5 * z[i] * z[i] - tails.LOG_SQRT_2PI
    for i in range(units):
        product = 1.0
        for j in range(units):
            if j != i:
                product *= math.erf(z[j] / math.sqrt(2.0))
        slope[i] = product * math.exp(curvature[i, i] - value)
    for i in range(units):
        for j in range(i):
            both = 2.0 * math.exp(curvature[i, i] + curvature[j, j] - value)
            if units == 3:
                both *= math.erf(z[3 - i - j] / math.sqrt(2.0))
            curvature[i, j] = curvature[j, i] = both - slope[i] * slope[j]
    for i in range(units):
        curvature[i, i] = -slope[i] * (z[i] + slope[i])
    return value


@njit(cache=True, nogil=True)
def _fold(z):
    """Replace z by its image in the region."""
    units = len(z)
    odd = False
    for i in range(units):
        if z[i] < 0.0:
            z[i] = -z[i]
            odd = not odd
    for i in range(units - 1):
        for j in range(units - 1 - i):
            if z[j] < z[j + 1]:
                z[j], z[j + 1] = z[j + 1], z[j]
    if odd:
        z[units - 1] = -z[units - 1]


@njit(cache=True, nogil=True)
def _solve(a, b, shift, factor, step):
    """Solve ``(shift - a) step = b`` for a symmetric a; False if not positive definite."""
    units = len(b)
    for i in range(units):
        for j in range(i + 1):
            value = -a[i, j]
            if i == j:
                value += shift
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            if i == j:
                if value <= 0.0:
                    return False
                factor[i, i] = math.sqrt(value)
            else:
                factor[i, j] = value / factor[j, j]
    for i in range(units):
        value = b[i]
        for k in range(i):
            value -= factor[i, k] * step[k]
        step[i] = value / factor[i, i]
    for i in range(units - 1, -1, -1):
        value = step[i]
        for k in range(i + 1, units):
            value -= factor[k, i] * step[k]
        step[i] = value / factor[i, i]
    return True


@njit(cache=True, nogil=True)
def _height(x, spread, z, slope, curvature):
    value = _log_sigma(z, slope, curvature)
    for i in range(len(x)):
        value -= 0.5 * (z[i] - x[i]) ** 2 / spread
    return value


@njit(cache=True, nogil=True)
def _climb(x, spread, z, slope, curvature, work):
    """Climb from z to a maximum; return its height. `slope` and `curvature` belong to z then.

    Newton's method; where the function is not concave the step is shortened by a shift. A state
    out of the region is replaced by its image, which raises the function. `work` is scratch.
    """
    units = len(x)
    trial, step, gradient, factor = work[0], work[1], work[2], work[3:]
    shift = 1.0 / spread
    value = _height(x, spread, z, slope, curvature)
    for _ in range(200):
        size = 0.0
        for i in range(units):
            gradient[i] = slope[i] - (z[i] - x[i]) / spread
            size = max(size, abs(gradient[i]))
        if size * spread < 1e-8:
            break
        extra = 0.0
        accepted = False
        for _ in range(40):
            if _solve(curvature, gradient, shift + extra, factor, step):
                for i in range(units):
                    trial[i] = z[i] + step[i]
                _fold(trial)
                height = _height(x, spread, trial, slope, curvature)
                if height >= value - 1e-13 * (1.0 + abs(value)):
                    accepted = True
                    break
                _log_sigma(z, slope, curvature)
            extra = max(4.0 * extra, 0.25 * shift, 0.25 * size)
        if not accepted:
            break
        z[:] = trial
        value = height
    return value


@njit(cache=True, nogil=True)
def _push(spread):
    """Return how far beyond its threshold a unit is about pushed: forces there are 1 / spread."""
    return math.sqrt(2.0 * math.log1p(spread))


@njit(cache=True, nogil=True)
def _best(x, spread, z, slope, curvature, start, work):
    """Return the global maximum for an x of the region; z is where.

    The z given is a start. Only three units, all near their thresholds, may have more than one
    maximum: there nobody is pushed, and all units are, for two more starts. What is left in
    `slope` and `curvature` belongs to z.
    """
    _fold(z)
    best = _climb(x, spread, z, slope, curvature, work)
    if len(x) == 2 or x[0] > NEAR:
        return best
    for least in (-math.inf, _push(spread)):
        for i in range(len(x)):
            start[i] = max(x[i], least)
        height = _climb(x, spread, start, slope, curvature, work)
        if height > best:
            best = height
            z[:] = start
    _log_sigma(z, slope, curvature)
    return best


@njit(cache=True, nogil=True)
def _limit_averages(units, root, spread, rule):
    """Return E of the maximum, of the squared force, and of ``force (z + v / root)``.

    `root` is ``sqrt(q1 / C)``, `spread` d0 / C with ``C = 1 - q1``; forces are derivatives in z.
    """
    x, z, slope, start = np.zeros(units), np.zeros(units), np.zeros(units), np.zeros(units)
    curvature, work = np.zeros((units, units)), np.zeros((units + 3, units))
    scale = 1.0 / max(root, 1.0)
    # two units have nobody before them
    first, first_weight, images = np.full(1, REACH), np.ones(1), 4.0
    push = _push(spread)
    features = np.zeros((2, 2))
    features[:, 1] = scale
    if units == 3:
        first, first_weight = gaussian.fill_grid(features[:1], 0.0, REACH, rule)
        images = 24.0
    term = force = outward = 0.0
    for i in range(len(first)):
        x[0] = root * first[i]
        features[1, 0] = first[i]
        middle, middle_weight = gaussian.fill_grid(features[: units - 1], 0.0, first[i], rule)
        for j in range(len(middle)):
            x[units - 2] = root * middle[j]
            outer = images * first_weight[i] * middle_weight[j]
            if outer < LEAST:
                continue
            features[1, 0] = -middle[j]
            last, last_weight = gaussian.fill_grid(features, -middle[j], middle[j], rule)
            for unit in range(units - 1):
                z[unit] = max(x[unit], push)
            z[units - 1] = push  # its field is chosen next
            for k in range(len(last)):
                weight = outer * last_weight[k]
                if weight < LEAST:
                    continue
                x[units - 1] = root * last[k]
                term += weight * _best(x, spread, z, slope, curvature, start, work)
                for unit in range(units):
                    force += weight * slope[unit] ** 2
                    outward += weight * slope[unit] * (z[unit] + x[unit] / root**2)
    return term, force, outward
