"""Energetic term at capacity where a group votes: a few sign units, one step.

Members of a group share the fields of K units, ``sqrt(q0) v``; their own are normal about them
with variance ``1 - q0``. A pattern weighs a group by ``W = <exp(-r D^2 / 2)>``, with D the least
distance by which the fields must move for n of them to exceed kappa: the unit with the n-th
largest field, x, and all above x must be right. So D is 0 if x exceeds kappa, and otherwise W is a
sum over which unit that is, and an integral over x,

    W = Prob(n are right) + int_{-inf}^kappa dx [z^(n-1) e] prod_i (B_i + z A_i + e p_i),
    A_i(x) = int_x^inf dw N_i(w) exp[-r (kappa - w)_+^2 / 2],    B_i(x) = int_{-inf}^x dw N_i(w),

``p_i = N_i(x) exp[-r (kappa - x)^2 / 2]``, in which [z^(n-1) e] takes the coefficient of
``z^(n-1) e``: n - 1 units above x, one at x, K - n below  [eq-few-votes]. For most units n is
``(K + 1) / 2``. All are closed forms but the integral.

The shared fields of the units lie on one grid, and W does not depend on their order: a sum over
the sorted ones, each with the number of its orders. The product grows factor by factor, so that
all that begin alike have their beginning in common, and the last factor costs three products.
Powers that the last factors cannot complete to ``z^(n-1) e`` are not kept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numba import njit

from wfmlib.numerics import gaussian

EXTENT = 5.5  # of the fields that solutions share
SAFE = 5.0  # widths of a group above kappa where a unit is right: further nodes are lumped
REACH = 6.5  # of the middle field, in widths of a group that the weight has narrowed
NODES = 8  # in a panel of two such widths
NEGLIGIBLE = 1e-11  # of the measure: beginnings that weigh less are left out


class Votes(NamedTuple):
    """Averages over patterns.

    Attributes
    ----------
    log_weight : float
        Of ln W.
    by_q0, by_ratio : float
        Its derivatives; ``-r^2 / 2`` and ``-1 / 2`` times the averages of <s>^2 and of <s^2>,
        where s is by how much fields must move, summed over the units.
        NaN where they were not asked for.
    left_out : float
        The part of the measure that was left out; the averages are over the rest.
    """

    log_weight: float
    by_q0: float
    by_ratio: float
    left_out: float


def averages(units, q0, complement, ratio, step, kappa=0.0, needed=None, slopes=True):
    """Return what a pattern contributes  [eq-few-votes].

    Parameters
    ----------
    units : int
    q0, complement : float
        Overlap between groups, and ``1 - q0``.
    ratio : float
        ``r``, the limit of ``m / (1 - q1)``.
    step : float
        Of the grid of shared fields, in widths of a group, and at most in standard deviations.
    kappa : float, optional
        Which a unit's field must exceed.
    needed : int, optional
        How many units must be right; by default most of an odd number.
    slopes : bool, optional
        Whether derivatives are computed, at four times the cost.

    Returns
    -------
    Votes
    """
    above = (units // 2 + 1 if needed is None else needed) - 1
    v, share = _shared(q0, complement, step, kappa)
    terms, right = _units(v, q0, complement, ratio, kappa)
    factors = np.ascontiguousarray(terms[: 3 if slopes else 1].transpose(3, 0, 1, 2))
    tail = np.cumsum(share[::-1])[::-1]
    orders = scipy.special.comb(units, np.arange(units + 1))
    *sums, measure = _summed(
        above, units - 1 - above, share, tail, orders, factors, right
    ).tolist()
    if not slopes:
        sums[1:] = math.nan, math.nan
    return Votes(*(total / measure for total in sums), 1.0 - measure)


def _shared(q0, complement, step, kappa):
    """Return nodes v and their weights; the last stands for all where a unit is safe."""
    width = math.sqrt(complement / q0)
    step *= min(width, 1.0)
    top = min(EXTENT, max(kappa / math.sqrt(q0) + SAFE * width, 1.0))
    nodes = step * np.arange(-math.ceil(EXTENT / step), math.ceil(EXTENT / step) + 1)
    share = np.exp(-0.5 * nodes**2)
    share /= share.sum()
    count = int(np.searchsorted(nodes, top)) + 1
    share[count - 1] = share[count - 1 :].sum()
    return nodes[:count], share[:count]


def _units(v, q0, complement, ratio, kappa):
    """Return what a unit contributes, and its derivatives by q0 and by the ratio.

    Returns
    -------
    terms : ndarray, shape (3, 3, nodes of x, nodes of v)
        First axis: the value, its derivatives. Second: B, A, p, the last with the weights of the
        quadrature.
    right : ndarray, shape (2, 2, nodes of v)
        First axis: the value, its derivative by q0. Second: the chance to be wrong, and right.
    """
    mean, own = math.sqrt(q0) * v, math.sqrt(complement)
    tight = 1.0 / math.sqrt(1.0 + ratio * complement)
    width = own * tight
    low = max(kappa - mean[0], 0.0) * tight**2 + REACH * width
    x, cell = _panels(kappa, low, 2.0 * width)
    x, cell = x[:, None], cell[:, None]
    short, by_mean = x - mean, v / (2.0 * math.sqrt(q0))

    def along(first, second):
        """Return the derivative by q0 from first and second moments about the mean."""
        return by_mean * first - second

    bell = gaussian.G(short / own) / own
    below = scipy.special.ndtr(short / own)
    below_q0 = along(-bell, -0.5 * short / complement * bell)
    edge = gaussian.G((kappa - mean) / own) / own
    above = scipy.special.ndtr((mean - kappa) / own)
    above_q0 = along(edge, 0.5 * (kappa - mean) / complement * edge)
    # from x to kappa: the weight makes a narrower Gaussian about `centre`
    centre = mean * tight**2 + kappa * (1.0 - tight**2)
    scale = tight * np.exp(-0.5 * ratio * ((kappa - mean) * tight) ** 2)
    a, b = (x - centre) / width, (kappa - centre) / width
    bell_a, bell_b = gaussian.G(a), gaussian.G(b)
    zeroth = scipy.special.ndtr(b) - scipy.special.ndtr(a)
    first, second = width * (bell_a - bell_b), width**2 * (zeroth + a * bell_a - b * bell_b)
    moved, missed = centre - mean, kappa - centre
    moment1 = scale * (moved * zeroth + first)
    moment2 = scale * (moved**2 * zeroth + 2.0 * moved * first + second)
    cost = scale * (missed**2 * zeroth - 2.0 * missed * first + second)
    inner = scale * zeroth
    inner_q0 = along(moment1 / complement, 0.5 * (moment2 / complement - inner) / complement)
    vote = cell * bell * np.exp(-0.5 * ratio * (kappa - x) ** 2)
    vote_q0 = vote * along(short / complement, 0.5 * (short**2 / complement - 1.0) / complement)
    terms = np.zeros((3, 3, *vote.shape))
    terms[0] = below, above + inner, vote
    terms[1] = below_q0, above_q0 + inner_q0, vote_q0
    terms[2, 1], terms[2, 2] = -0.5 * cost, -0.5 * (kappa - x) ** 2 * vote
    right = np.array([[scipy.special.ndtr((kappa - mean) / own), above], [-above_q0, above_q0]])
    return terms, right


def _panels(top, length, panel):
    """Nodes and weights of the `length` below `top`."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    edges = top - panel * np.arange(math.ceil(length / panel), -1, -1)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + node)).ravel(), (half * weight).ravel()


@njit(cache=True, nogil=True)
def _multiply(state, factors, level, i, above, below):
    """Multiply the products of `level` units by the factor of unit i.

    Coefficients of z^k and of z^k e, their derivatives by q0 and by the ratio, at k + 1 (nothing
    at 0). Only those are filled in that more units can complete: with not more than `above`
    factors A, nor `below` factors B.
    """
    parts, nodes, after = factors.shape[1], factors.shape[3], level + 1
    for power in range(2):
        for k in range(max(after - power - below, 0), min(after - power, above) + 1):
            for t in range(nodes):
                b, a = factors[i, 0, 0, t], factors[i, 0, 1, t]
                c, d = state[level, power, 0, k + 1, t], state[level, power, 0, k, t]
                state[after, power, 0, k + 1, t] = c * b + d * a
            for s in range(1, parts):
                for t in range(nodes):
                    b, a = factors[i, 0, 0, t], factors[i, 0, 1, t]
                    b1, a1 = factors[i, s, 0, t], factors[i, s, 1, t]
                    c, d = state[level, power, 0, k + 1, t], state[level, power, 0, k, t]
                    c1, d1 = state[level, power, s, k + 1, t], state[level, power, s, k, t]
                    state[after, power, s, k + 1, t] = c1 * b + c * b1 + d1 * a + d * a1
    for k in range(max(level - below, 0), min(level, above) + 1):
        for t in range(nodes):
            state[after, 1, 0, k + 1, t] += state[level, 0, 0, k + 1, t] * factors[i, 0, 2, t]
        for s in range(1, parts):
            for t in range(nodes):
                c, p = state[level, 0, 0, k + 1, t], factors[i, 0, 2, t]
                c1, p1 = state[level, 0, s, k + 1, t], factors[i, s, 2, t]
                state[after, 1, s, k + 1, t] += c1 * p + c * p1


@njit(cache=True, nogil=True)
def _integral(state, factors, level, i, above, by):
    """Return the integral with the factor of the last unit, i, and its derivatives."""
    value = by_q0 = by_ratio = 0.0
    for t in range(factors.shape[3]):
        b, a, p = factors[i, 0, 0, t], factors[i, 0, 1, t], factors[i, 0, 2, t]
        e, g = state[level, 1, 0, above + 1, t], state[level, 1, 0, above, t]
        c = state[level, 0, 0, above + 1, t]
        value += e * b + g * a + c * p
        if by:
            by_q0 += e * factors[i, 1, 0, t] + g * factors[i, 1, 1, t] + c * factors[i, 1, 2, t]
            by_q0 += state[level, 1, 1, above + 1, t] * b
            by_q0 += state[level, 1, 1, above, t] * a + state[level, 0, 1, above + 1, t] * p
            by_ratio += g * factors[i, 2, 1, t] + c * factors[i, 2, 2, t]
            by_ratio += state[level, 1, 2, above + 1, t] * b
            by_ratio += state[level, 1, 2, above, t] * a + state[level, 0, 2, above + 1, t] * p
    return value, by_q0, by_ratio


@njit(cache=True, nogil=True)
def _chance(wrong, right, i, k):
    """Return the chance that k units are wrong, unit i among them, and its slope by q0."""
    w, w1, v, v1 = wrong[0, k + 1], wrong[1, k + 1], wrong[0, k], wrong[1, k]
    value = w * right[0, 1, i] + v * right[0, 0, i]
    by_q0 = w1 * right[0, 1, i] + w * right[1, 1, i]
    return value, by_q0 + v1 * right[0, 0, i] + v * right[1, 0, i]


@njit(cache=True, nogil=True)
def _summed(above, below, share, tail, orders, factors, right):
    """Return sums over sorted rows of nodes, each as often as it has orders; the measure too."""
    units = above + below + 1
    count, parts, _, nodes = factors.shape
    state = np.zeros((units, 2, parts, above + 2, nodes))  # after so many units
    state[0, 0, 0, 1, :] = 1.0
    wrong = np.zeros((units, 2, below + 2))  # the chance that k are, at k + 1, and by q0
    wrong[0, 0, 1] = 1.0
    weight, run = np.ones(units), np.zeros(units, np.int64)
    index = np.zeros(units, np.int64)  # the first is no unit: the least node of the next
    result = np.zeros(4)
    level, following = 0, 0
    while True:
        if level == units - 1:  # all but the last unit are given
            for i in range(index[level], count):
                alike = run[level] + 1 if level > 0 and i == index[level] else 1
                mass = weight[level] * share[i] * units / alike
                value, by_q0, by_ratio = _integral(state, factors, level, i, above, parts > 1)
                for k in range(below + 1):
                    chance, slope = _chance(wrong[level], right, i, k)
                    value += chance
                    by_q0 += slope
                result[0] += mass * math.log(value)
                result[1] += mass * by_q0 / value
                result[2] += mass * by_ratio / value
                result[3] += mass
            following = count
        if following == count:  # back to the unit before
            if level == 0:
                return result
            following = index[level] + 1
            level -= 1
            continue
        i = following
        alike = run[level] + 1 if level > 0 and i == index[level] else 1
        mass = weight[level] * share[i] * (level + 1) / alike
        if mass * orders[level + 1] * tail[i] ** (units - level - 1) < NEGLIGIBLE:
            following += 1
            continue
        _multiply(state, factors, level, i, above, below)
        for k in range(below + 1):
            wrong[level + 1, 0, k + 1], wrong[level + 1, 1, k + 1] = _chance(
                wrong[level], right, i, k
            )
        level += 1
        index[level], run[level], weight[level] = i, alike, mass
        following = i
