"""Capacity of a parity machine with spherical weights, with one step of symmetry breaking.

As in `one_step_capacity`, but a pattern has K fields, and falls short of its label where an odd
number of units is wrong: then the unit nearest to its threshold crosses over, at the cost

    D^2 = min_l w_l^2    [eq-nearest-solution].

With ``P_l(x)`` and ``Q_l(x)`` the probabilities, in a group, that field l lies above x and below
-x, all fields are farther than x from 0 with probability ``prod (P_l + Q_l)``, and the mean of the
product of their signs there is ``prod (P_l - Q_l)``. So a group's average is one integral,

    <e^{-r D^2 / 2}> = 1 - int_0^inf dx r x e^{-r x^2 / 2} [prod (P + Q) - prod (P - Q)] / 2,

of terms that are all positive once 1 is the integral of ``r x e^{-r x^2 / 2}``. Flipping one
shared field flips the label: the fields that groups share are taken non-negative, in order, and
the label right or wrong with equal chance.

So q0 = 0 is stationary. With two units a minimum with q0 above 0 is lower. With more, what q0 does
to a pattern is of order ``q0^K``, to the weights ``q0^2``: groups are orthogonal, and no other
minimum was met.

Source: E. Barkai, D. Hansel, I. Kanter, Phys. Rev. Lett. 65, 2312 (1990).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian
from wfmlib.theory.saddles.one_step_capacity import apart, smallest_apart

EXTENT = 6.0  # of the fields that solutions share
STEP = 0.35  # of the grid of shared fields, in widths of a group
FAR, NODES = 9.0, 32  # of the moves, in units of r^(-1/2)
LEAST = 1e-300  # of a group's average
TRIALS = np.arange(0.0, 7.1), np.arange(-3.0, 2.1)  # ln[r (1 - q0)], logit q0


@cache
def one_step(units):
    """Return the `Limit` of one step of symmetry breaking."""

    def group(q0, complement, ratio):
        return averages(units, q0, complement, ratio)

    if units > 2:
        return apart(group, TRIALS[0])
    return smallest_apart(group, symmetric(units), TRIALS)


def symmetric(units):
    """Return the load without breaking, at which q reaches 1: ``1 / E D^2``."""
    x, weight = gaussian.fill_grid(np.empty((0, 2)), 0.0, gaussian.LIMIT, gaussian.legendre_rule())
    far = 2.0 * gaussian.H(x)
    density = 2.0 * units * far ** (units - 1)  # of the nearest field, where half are wrong
    return float(2.0 / ((weight * density) @ x**2))


def averages(units, q0, complement, ratio, step=STEP):
    """Return averages over patterns: of ln <weight>, and of <s>^2 and <s^2>, s the move of a unit.

    Summed over the units.

    Parameters
    ----------
    units : int
    q0, complement : float
        Overlap between groups, and ``1 - q0``.
    ratio : float
        Limit r of ``m / (1 - q1)``.
    step : float, optional
        Of the grid of shared fields, in widths of a group.
    """
    own = math.sqrt(complement)
    v, share = np.zeros(1), np.ones(1)
    if q0 > 0.0:
        fine = step * min(own / math.sqrt(q0), 1.0)
        v = fine * np.arange(math.ceil(EXTENT / fine) + 1)
        share = np.exp(-0.5 * v**2) * np.where(v > 0.0, 2.0, 1.0)
        share /= share.sum()
    node, weight = np.polynomial.legendre.leggauss(NODES)
    t = 0.5 * FAR * (1.0 + node)
    weight = weight * t * np.exp(-0.5 * t**2)
    weight /= weight.sum()
    x, mean = t / math.sqrt(ratio), math.sqrt(q0) * v[:, None]
    below = gaussian.H((mean + x) / own)  # on the wrong side, farther than x
    near = gaussian.H((mean - x) / own) - below
    rise, fall = gaussian.G((x - mean) / own) / own, gaussian.G((x + mean) / own) / own
    log_weight, pull, by_ratio = _average(
        units, share, weight, 0.5 * t**2, near, below, rise - fall, rise + fall
    )
    return log_weight, pull / ratio**2, -2.0 * by_ratio / ratio


@njit(cache=True, nogil=True)
def _average(units, share, weight, u, near, below, far_slope, signed_slope):
    """Sum over shared fields in order, and both labels.

    Returns averages of ln <weight>, of the squares of its derivatives in the means, summed over
    the units, and of that by the logarithm of the ratio.
    """
    nodes = len(share)
    index = np.zeros(units, np.int64)
    lean = np.empty(units)
    sums = np.zeros(3)
    while True:
        measure, run = math.gamma(units + 1.0), 0
        for l in range(units):
            run = run + 1 if l and index[l] == index[l - 1] else 1
            measure *= share[index[l]] / run
        for label in (1.0, -1.0):
            total = change = 0.0
            lean[:] = 0.0
            for k in range(len(weight)):
                some, odd = 0.0, 0.0  # 1 less the two products, without cancellation
                for l in range(units):
                    loss = near[index[l], k]
                    some += loss * (1.0 - some)
                    loss += 2.0 * below[index[l], k]
                    odd += loss * (1.0 - odd)
                met = 0.5 * (some + (odd if label < 0.0 else 2.0 - odd))
                total += weight[k] * met
                change -= weight[k] * (1.0 - u[k]) * (1.0 - met)
                for l in range(units):
                    product, rest = 1.0, label
                    for j in range(units):
                        if j != l:
                            loss = near[index[j], k]
                            product *= 1.0 - loss
                            rest *= 1.0 - loss - 2.0 * below[index[j], k]
                    slope = far_slope[index[l], k] * product - signed_slope[index[l], k] * rest
                    lean[l] -= 0.5 * weight[k] * slope
            total = max(total, LEAST)
            sums[0] += 0.5 * measure * math.log(total)
            for l in range(units):
                sums[1] += 0.5 * measure * (lean[l] / total) ** 2
            sums[2] += 0.5 * measure * change / total
        level = units - 1
        while level >= 0 and index[level] == nodes - 1:
            level -= 1
        if level < 0:
            break
        index[level:] = index[level] + 1
    return sums[0], sums[1], sums[2]
