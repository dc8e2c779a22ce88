"""Energetic term of a parity machine of any number of units, for integer replicas.

With P the probability that a unit is right, ``Q = 1 - P`` and ``e = P - Q``, the machine is right
with probability ``Sigma = (1 + prod_l e_l) / 2``  [eq-parity-probability]. Its m-th power is a sum
of products, and averages over a group's fields are moments of one unit each  [eq-parity-moments]

    < Sigma^m > = 2^-m sum_j binom(m, j) prod_l E e_l^j.

Flipping the sign of one shared field flips that of the odd terms: shared fields are taken
non-negative, in order of the nodes of one grid, and the machine right or wrong with equal chance.

Where a pattern is hard to get right, the terms with alternating signs cancel. There we add unit
after unit: a machine that is right with probability a, wrong with ``b = 1 - a``, becomes

    a' = P a + Q b,    b' = Q a + P b,

so that ``< a'^n b'^{m-n} >`` are combinations of the smaller machine's, all with positive
coefficients and moments ``E P^n Q^{m-n}`` (`unit_moments`). All is kept in logarithms.

What `Grouped` calls information, the derivative in m, is no such sum: it is not offered (NaN). Nor
is, for one replica, the mean squared force.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.models.constraints.log_concave import Grouped
from wfmlib.numerics import tails
from wfmlib.theory.machines.unit_moments import (
    NEGLIGIBLE,
    log_sum,
    moments,
    shared_grid,
    unit_fields,
)

LEAST = 1e-13  # shared fields of a smaller weight are left out
CANCELLED = 1e-7  # where alternating sums are smaller, logarithms are taken
# of the shared fields' grid, by the number of units: its step in units of the narrowest structure,
ACCURACY = {2: 0.3, 3: 0.6, 4: 0.6, 5: 0.6, 6: 0.6}
SHORTEST = {2: 0.06, 3: 0.1, 4: 0.15, 5: 0.25, 6: 0.3}  # and the least step


def pattern_averages(units, q0, difference, complement, m, most=None, accuracy=None):
    """Return what a pattern contributes with m replicas, as in `log_concave.Grouped`.

    Parameters
    ----------
    units : int
    q0, difference, complement : float
        Overlap between groups, ``q1 - q0``, ``1 - q1``.
    m : int
        Number of replicas.
    most : int, optional
        Number of replicas for which the grid of shared fields is made, by default m.
    accuracy : float, optional
        As `unit_moments.shared_grid`, by default from `ACCURACY`.

    Returns
    -------
    log_concave.Grouped
        `information` is NaN; so is `spread` for one replica. At ``q0 = 0`` `common` is exactly 0.
    """
    root, width = math.sqrt(q0 / complement), math.sqrt(difference / complement)
    node, weight = np.zeros(1), np.ones(1)
    if q0 > 0.0:
        accuracy = accuracy or ACCURACY[units]
        node, weight = shared_grid(root, width, most or m, accuracy, SHORTEST[units])
        half = len(node) // 2
        node, weight = node[half:], 2.0 * weight[half:]
        weight[0] *= 0.5
    sums = _averages(
        units, m, *_signed_moments(root * node, width, m), *moments(root * node, width, m), weight
    )
    common, total, term = (float(value) for value in sums)
    if q0 == 0.0:
        common = 0.0
    if m == 1:
        total = math.nan
    return Grouped(common / complement, (total - common) / complement, term / m, math.nan)


@njit(cache=True, nogil=True)
def _signed_moments(x, width, m):
    """Return ``E e^j``, its derivative in x, and ``E e'^2 e^j``, for j up to m."""
    plain, slopes = np.zeros((len(x), m + 1)), np.zeros((len(x), m + 1))
    bent = np.zeros((len(x), m + 1))
    for i in range(len(x)):
        step, half = unit_fields(x[i], width, m)
        for k in range(-half, half + 1):
            u = k * step
            z = x[i] + width * u
            weight = 1.0
            if width > 0.0:
                weight = step * math.exp(-0.5 * u * u) / tails.SQRT_2PI
            even = math.erf(z / math.sqrt(2.0))
            steep = 2.0 * math.exp(-0.5 * z * z) / tails.SQRT_2PI
            before = 0.0
            power = 1.0
            for j in range(m + 1):
                plain[i, j] += weight * power
                slopes[i, j] += weight * j * before * steep
                bent[i, j] += weight * power * steep * steep
                before = power
                power *= even
    return plain, slopes, bent


@njit(cache=True, nogil=True)
def _averages(units, m, plain, slopes, bent, logs, log_slopes, curved, weight):
    """Sum over ordered shared fields of all units but the last, and over all of the last.

    Returns sums of the squared mean force and of the mean squared force, in z, over the units, and
    E ln < Sigma^m >.
    """
    nodes, others = len(weight), units - 1
    factorial = np.array([math.lgamma(k + 1.0) for k in range(m + 1)])
    binomial = np.empty(m + 1)
    lower = np.zeros(m + 1)
    for j in range(m + 1):
        log_binomial = factorial[m] - factorial[j] - factorial[m - j]
        binomial[j] = math.exp(log_binomial - m * math.log(2.0))
        if j <= m - 2:
            lower[j] = binomial[j] * (m - j) * (m - j - 1.0) / (m * (m - 1.0))
    index = np.zeros(others, np.int64)
    product = np.empty((others, m + 1))
    rows = np.empty((nodes, m + 1, m + 1))
    ready = np.zeros(nodes, np.bool_)
    state = np.empty((others, m + 1))
    terms = np.empty(m + 1)
    result, sums = np.empty(3), np.zeros(3)
    kept = 0.0  # weight of what is not left out
    changed = known = 0
    while True:
        for level in range(changed, others):
            for j in range(m + 1):
                before = product[level - 1, j] if level else 1.0
                product[level, j] = before * plain[index[level], j]
        measure = 1.0
        run = 0
        for level in range(others):
            run = run + 1 if level and index[level] == index[level - 1] else 1
            measure *= weight[index[level]] * (level + 1) / run
        top = product[others - 1]
        if measure > LEAST:
            for last in range(nodes):
                mass = 0.5 * measure * weight[last]
                if mass < LEAST:
                    continue
                even = odd = even_force = odd_force = even_square = odd_square = 0.0
                for j in range(0, m + 1, 2):
                    part = binomial[j] * top[j]
                    even += part * plain[last, j]
                    even_force += part * slopes[last, j]
                for j in range(1, m + 1, 2):
                    part = binomial[j] * top[j]
                    odd += part * plain[last, j]
                    odd_force += part * slopes[last, j]
                for j in range(0, m - 1, 2):
                    even_square += lower[j] * top[j + 2] * bent[last, j]
                for j in range(1, m - 1, 2):
                    odd_square += lower[j] * top[j + 2] * bent[last, j]
                for wrong in range(2):
                    sign = 1.0 - 2.0 * wrong
                    norm = even + sign * odd
                    if norm > CANCELLED:
                        result[0] = (even_force + sign * odd_force) / (m * norm)
                        result[1] = (even_square + sign * odd_square) / norm
                        result[2] = math.log(norm)
                    else:
                        for level in range(known, others):
                            _add_unit(logs, index, level, state, rows, ready, factorial, terms)
                        known = others
                        _hard(
                            m, logs[last], log_slopes[last], curved[last], state[others - 1],
                            factorial, wrong, terms, result,
                        )  # fmt: skip
                    sums[0] += mass * units * result[0] ** 2
                    sums[1] += mass * units * result[1]
                    sums[2] += mass * result[2]
                    kept += mass
        level = others - 1
        while level >= 0 and index[level] == nodes - 1:
            level -= 1
        if level < 0:
            return sums / kept
        index[level] += 1
        for after in range(level + 1, others):
            index[after] = index[level]
        changed = level
        known = min(known, level)


@njit(cache=True, nogil=True)
def _add_unit(logs, index, level, state, rows, ready, factorial, terms):
    """Fill in ``ln < a^{m-k} b^k >`` of the machine of the first `level` + 1 units, for all k."""
    node = index[level]
    if level == 0:
        state[0] = logs[node]
        return
    m = logs.shape[1] - 1
    if not ready[node]:
        _fill_transfer(logs[node], factorial, rows[node])
        ready[node] = True
    for k in range(m + 1):
        for j in range(m + 1):
            terms[j] = rows[node, k, j] + state[level - 1, j]
        state[level, k] = log_sum(terms, m + 1)


@njit(cache=True, nogil=True)
def _fill_transfer(logs, factorial, matrix):
    """Fill in the logarithms of what one unit more makes of ``< a^{m-j} b^j >``."""
    m = len(logs) - 1
    terms = np.empty(m + 1)
    for k in range(m + 1):
        for j in range(m + 1):
            # of the k that shall be wrong and the m - k that shall be right, so many were wrong
            low = max(0, j - (m - k))
            high = min(k, j)
            for i in range(low, high + 1):
                ways = factorial[k] - factorial[i] - factorial[k - i]
                ways += factorial[m - k] - factorial[j - i] - factorial[m - k - j + i]
                # the unit is wrong where the machine's outcome changes
                terms[i - low] = ways + logs[k + j - 2 * i]
            matrix[k, j] = log_sum(terms, high - low + 1)


@njit(cache=True, nogil=True)
def _hard(m, logs, slopes, curved, top, factorial, wrong, terms, result):
    """Fill in mean force, mean squared force and ``ln < Sigma^m >`` from logarithms.

    `wrong` is 1 if the last unit's shared field is negative.
    """
    for k in range(m + 1):
        count = m - k if wrong else k
        terms[k] = factorial[m] - factorial[k] - factorial[m - k] + logs[count] + top[k]
    norm = log_sum(terms, m + 1)
    force = square = 0.0
    for k in range(m + 1):
        count = m - k if wrong else k
        force += math.exp(terms[k] - norm) * slopes[count]
    for k in range(m - 1):
        # (a - b)^2 p^2 (P a + Q b)^{m - 2}
        count = m - 2 - k if wrong else k
        shift = factorial[m - 2] - factorial[k] - factorial[m - 2 - k] + curved[count] - norm
        if shift + max(top[k], top[k + 2]) > -NEGLIGIBLE:
            square += math.exp(shift + top[k]) + math.exp(shift + top[k + 2])
            square -= 2.0 * math.exp(shift + top[k + 1])
    result[0], result[1], result[2] = force / m, square, norm
