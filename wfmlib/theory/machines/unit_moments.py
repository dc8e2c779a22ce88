"""Averages over one unit's field in a group of m replicas: moments of being right or wrong.

The field of a unit is ``z = x + width u`` in units of ``sqrt(1 - q1)``, u normal; a replica's unit
is right with probability ``P = H(-z)`` and wrong with ``Q = 1 - P``. Of m replicas a certain k are
wrong with probability ``E P^{m-k} Q^k``, the same for any set of k. All machines whose probability
to be right is a polynomial in the P and Q of their units are made of these  [eq-parity-moments].

The integrands are entire, and grow along the imaginary axis no faster than
``exp[(m + 1 / width^2) y^2 / 2]``: equidistant sums with step h have relative errors of
``exp[- 2 pi^2 / (h^2 (m + 1 / width^2))]``, 4e-14 here.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian, tails

STEP = 0.8  # of the sums, in units of the narrowest width
REACH = 8.0  # how far fields are followed, in standard deviations
NEGLIGIBLE = 40.0  # exponents this far below the largest are left out
LIMIT = 6.0  # how far the shared fields are followed
LONGEST = 0.5  # step of their grid


def shared_grid(root, width, m, accuracy, shortest):
    """Nodes and weights for a normal variable v, when a unit's shared field is ``root v``.

    Equidistant, which for averages of smooth functions over a normal variable converges faster
    than any power of the step. The narrowest structures are ridges far from all thresholds, where
    it changes which of two units is easier to move: with fields x, the logarithm of the ratio of
    their chances is the difference of ``x^2 / 2`` over `hardness`.

    Parameters
    ----------
    root, width : float
        Not negative.
    m : int
        Replicas.
    accuracy : float
        Step in units of the ridges' width, but for two bounds; the upper one is scaled as well.
    shortest : float
        Lower bound of the step.

    Returns
    -------
    node, weight : ndarray, shape (2 n + 1,)
        Increasing; the node in the middle is 0.
    """
    hardness = width**2 + 1.0 / (1.0 + m * width**2)
    ridge = 0.5 * hardness / max(root, 1e-3) ** 2
    step = min(max(accuracy * ridge, shortest), accuracy * LONGEST)
    half = math.ceil(LIMIT / step)
    node = step * np.arange(-half, half + 1)
    weight = np.exp(-0.5 * node**2)
    return node, weight / weight.sum()


@njit(cache=True, nogil=True)
def log_sum(terms, count):
    """Return ``ln sum exp(terms)`` of the first `count` terms."""
    peak = -np.inf
    for i in range(count):
        peak = max(peak, terms[i])
    if peak == -np.inf:
        return peak
    total = 0.0
    for i in range(count):
        if terms[i] - peak > -40.0:
            total += math.exp(terms[i] - peak)
    return peak + math.log(total)


@njit(cache=True, nogil=True)
def unit_fields(x, width, m):
    """Return the step in u, and the number of nodes on either side of u = 0."""
    step = STEP / math.sqrt(1.0 + m * width * width)
    if width == 0.0:
        return step, 0
    # a group pushes its fields across the threshold, but hardly beyond
    push = min(m * width * width * (abs(x) + 1.0), abs(x) + 3.0)
    return step, int((REACH + push / width) / step) + 1


@njit(cache=True, nogil=True)
def moments(x, width, m):
    """Return the moments of a unit whose shared field is x, for each of several x.

    Parameters
    ----------
    x : ndarray, shape (n,)
        Shared fields.
    width : float
        Not negative.
    m : int
        Replicas, at least 1.

    Returns
    -------
    logs : ndarray, shape (n, m + 1)
        ``ln E P^{m-k} Q^k`` for k from 0 to m.
    slopes : ndarray, shape (n, m + 1)
        Its derivative in x.
    curved : ndarray, shape (n, m + 1)
        ``ln E p^2 P^{m-2-k} Q^k``, p the derivative of P, for k up to m - 2; ``-inf`` beyond.
    """
    logs, slopes = np.empty((len(x), m + 1)), np.empty((len(x), m + 1))
    curved = np.full((len(x), m + 1), -np.inf)
    for i in range(len(x)):
        step, half = unit_fields(x[i], width, m)
        count = 2 * half + 1
        right, wrong, density = np.empty(count), np.empty(count), np.empty(count)
        hazard, lost = np.empty(count), np.empty(count)
        for j in range(count):
            u = (j - half) * step
            z = x[i] + width * u
            near = gaussian.hazard_gap(abs(z))  # of the tail at |z|
            tail = -0.5 * z * z - tails.LOG_SQRT_2PI - math.log(abs(z) + near)
            less = math.log1p(-math.exp(tail))
            inner = (abs(z) + near) * math.exp(tail - less)
            if z > 0.0:
                right[j], wrong[j] = less, tail
                hazard[j], lost[j] = inner, abs(z) + near
            else:
                right[j], wrong[j] = tail, less
                hazard[j], lost[j] = abs(z) + near, inner
            density[j] = -0.5 * u * u
        shift = math.log(step) - tails.LOG_SQRT_2PI if width > 0.0 else 0.0
        for k in range(m + 1):
            peak = -np.inf
            for j in range(count):
                peak = max(peak, density[j] + (m - k) * right[j] + k * wrong[j])
            total = slope = second = 0.0
            for j in range(count):
                value = density[j] + (m - k) * right[j] + k * wrong[j] - peak
                if value > -NEGLIGIBLE:
                    weight = math.exp(value)
                    total += weight
                    slope += weight * ((m - k) * hazard[j] - k * lost[j])
                    second += weight * hazard[j] * hazard[j]
            logs[i, k] = shift + peak + math.log(total)
            slopes[i, k] = slope / total
            if k <= m - 2:  # p^2 P^{m-2-k} Q^k, with p = hazard P
                curved[i, k] = shift + peak + math.log(second)
    return logs, slopes, curved
