"""Energetic term of a committee of three sign units, for integer numbers of replicas.

The majority is right if all units are, or all but one: with P the probability that a unit is right
and ``Q = 1 - P``  [eq-ld-committee],

    Sigma = P_1 P_2 P_3 + P_1 P_2 Q_3 + P_1 Q_2 P_3 + Q_1 P_2 P_3,

four positive terms. Its m-th power is a multinomial sum: with k_l the number of replicas in which
unit l is the one that is wrong, and ``B_k = E P^{m-k} Q^k`` over what a group shares of a unit's
field (`unit_moments`),

    < Sigma^m > = sum m! / [k_1! k_2! k_3! (m - k_1 - k_2 - k_3)!] B_{k_1} B_{k_2} B_{k_3}.

Nothing cancels, and no integral has more than one dimension. Mean forces follow from the
derivatives of B; mean squared forces from ``d_3 Sigma = p_3 (P_1 Q_2 + Q_1 P_2)``, p the
derivative of P: ``(d_3 Sigma)^2 Sigma^{m-2}`` is such a sum again, with m - 2 in the place of m.

The sums over k_1 and k_2 at a fixed total are taken once for each pair of shared fields. What
`Grouped` calls information, the derivative in m, is no such sum: it is not offered (NaN).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.models.constraints.log_concave import Grouped
from wfmlib.theory.machines.unit_moments import log_sum, moments, shared_grid

LEAST = 1e-13  # shared fields of a smaller weight are left out
ACCURACY = 0.8  # of the shared fields' grid: its step in units of the narrowest structure
SHORTEST = 0.125  # step


def pattern_averages(q0, difference, complement, m, accuracy=ACCURACY):
    """Return what a pattern contributes with m replicas, as in `log_concave.Grouped`.

    Parameters
    ----------
    q0, difference, complement : float
        Overlap between groups, ``q1 - q0``, ``1 - q1``.
    m : int
        Number of replicas, at least 2.
    accuracy : float, optional
        As `unit_moments.shared_grid`.

    Returns
    -------
    log_concave.Grouped
        `information` is NaN.
    """
    root, width = math.sqrt(q0 / complement), math.sqrt(difference / complement)
    node, weight = shared_grid(root, width, m, accuracy, SHORTEST)
    sums = _averages(*moments(root * node, width, m), weight, m)
    common, total, term = (float(value) for value in sums)
    return Grouped(common / complement, (total - common) / complement, term / m, math.nan)


@njit(cache=True, nogil=True)
def _third(logs, slopes, power, factorial):
    """Return what the third unit brings if the others were wrong in s replicas, for all s.

    The logarithm of ``sum_k B_k / [k! (power - s - k)!]``, and the mean of `slopes` in that sum.
    """
    total, mean = np.empty((len(logs), power + 1)), np.empty((len(logs), power + 1))
    terms = np.empty(power + 1)
    for i in range(len(logs)):
        for s in range(power + 1):
            for k in range(power - s + 1):
                terms[k] = logs[i, k] - factorial[k] - factorial[power - s - k]
            total[i, s] = log_sum(terms, power - s + 1)
            mean[i, s] = 0.0
            for k in range(power - s + 1):
                mean[i, s] += math.exp(terms[k] - total[i, s]) * slopes[i, k]
    return total, mean


@njit(cache=True, nogil=True)
def _scale(logs, linear):
    """Fill in ``exp(logs - peak)`` and return the peak."""
    peak = logs.max()
    for i in range(len(logs)):
        linear[i] = math.exp(logs[i] - peak)
    return peak


@njit(cache=True, nogil=True)
def _averages(logs, slopes, curved, weight, m):
    """Return E of the squared mean forces, of the mean squared forces, and of ln < Sigma^m >.

    The units are alike: the first two are thrice those of the last unit.
    """
    nodes = len(weight)
    factorial = np.array([math.lgamma(k + 1.0) for k in range(m + 1)])
    last, mean = _third(logs, slopes, m, factorial)
    bent, _ = _third(curved, slopes, m - 2, factorial)
    last_linear, bent_linear = np.empty_like(last), np.empty_like(bent)
    last_peak, bent_peak = np.empty(nodes), np.empty(nodes)
    for i in range(nodes):
        last_peak[i] = _scale(last[i], last_linear[i])
        bent_peak[i] = _scale(bent[i], bent_linear[i])
    pair, two = np.empty(m + 1), np.empty(m - 1)
    pair_linear, two_linear = np.empty(m + 1), np.empty(m - 1)
    terms = np.empty(3 * m + 1)
    common = square = term = kept = 0.0
    for i in range(nodes):
        for j in range(i + 1):
            outer = weight[i] * weight[j] * (1.0 if i == j else 2.0)
            if outer < LEAST:
                continue
            _pairs(logs[i], logs[j], factorial, pair, two, terms)
            pair_peak = _scale(pair, pair_linear)
            two_peak = _scale(two, two_linear)
            for k in range(nodes):
                mass = outer * weight[k]
                if mass < LEAST:
                    continue
                total = force = 0.0
                for s in range(m + 1):
                    part = pair_linear[s] * last_linear[k, s]
                    total += part
                    force += part * mean[k, s]
                log_total = pair_peak + last_peak[k]
                if total > 1e-250:
                    log_total += math.log(total)
                    force /= total
                else:
                    for s in range(m + 1):
                        terms[s] = pair[s] + last[k, s]
                    log_total = log_sum(terms, m + 1)
                    force = 0.0
                    for s in range(m + 1):
                        force += math.exp(terms[s] - log_total) * mean[k, s]
                total = 0.0
                for s in range(m - 1):
                    total += two_linear[s] * bent_linear[k, s]
                log_square = two_peak + bent_peak[k]
                if total > 1e-250:
                    log_square += math.log(total)
                else:
                    for s in range(m - 1):
                        terms[s] = two[s] + bent[k, s]
                    log_square = log_sum(terms, m - 1)
                # (m - 2)! over m!
                ratio = math.exp(log_square - log_total) / (m * (m - 1.0))
                common += 3.0 * mass * (force / m) ** 2
                square += 3.0 * mass * ratio
                term += mass * (log_total + factorial[m])
                kept += mass
    return common / kept, square / kept, term / kept


@njit(cache=True, nogil=True)
def _pairs(first, second, factorial, pair, two, terms):
    """Fill in the sums over two units that are wrong in s replicas together.

    `pair`: ``sum B_{k_1} B_{k_2} / (k_1! k_2!)``. `two`: the same of ``(P_1 Q_2 + Q_1 P_2)^2``
    times m - 2 replicas, where every unit comes with m powers again.
    """
    m = len(first) - 1
    for s in range(m + 1):
        for k in range(s + 1):
            terms[k] = first[k] + second[s - k] - factorial[k] - factorial[s - k]
        pair[s] = log_sum(terms, s + 1)
    log_two = math.log(2.0)
    for s in range(m - 1):
        for k in range(s + 1):
            j = s - k
            divide = factorial[k] + factorial[j]
            terms[3 * k] = first[k] + second[j + 2] - divide
            terms[3 * k + 1] = first[k + 1] + second[j + 1] - divide + log_two
            terms[3 * k + 2] = first[k + 2] + second[j] - divide
        two[s] = log_sum(terms, 3 * (s + 1))
