"""Capacity of three sign units and spherical weights, with broken symmetry.

As in `one_step_capacity`, but a pattern has three fields, and falls short of its label by the
least distance D by which they must move for the majority to be right: two must be positive,

    D^2 = min(w_1, 0)^2 + min(w_2, 0)^2,    w_1 >= w_2 >= w_3    [eq-nearest-solution].

The smallest field is free, so that a group's average is a sum over which unit that is, and one
integral over its field x, each of the two others lying above x,

    <e^{-r D^2 / 2}> = sum_i int dx p_i(x) prod_{j != i} A_j(x),
    A_j(x) = int_x^inf dw p_j(w) e^{-r min(w, 0)^2 / 2},

where p_i is the normal density of unit i in the group. The inner integrals have a closed form.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy

from wfmlib.numerics import gaussian
from wfmlib.theory.saddles.one_step_capacity import smallest

EXTENT = 6.0  # of the fields that solutions share
REACH = 8.0  # of a group's own fields, in standard deviations
STEP = 0.4  # of the grid of shared fields, in widths of a group
FINE = 0.2  # and where groups are broken up once more
TRIALS = np.arange(0.0, 4.1), np.arange(-2.0, 2.1)  # ln[r (1 - q0)], logit q0


@cache
def one_step(symmetric):
    """Return the `Limit` of one step of symmetry breaking; `symmetric` is the load without."""
    return smallest(averages, symmetric, TRIALS)


def averages(q0, complement, ratio):
    """Return averages over patterns: of ln <weight>, and of <s>^2 and <s^2>, s the move of a unit.

    Summed over the units.
    """
    own = math.sqrt(complement)
    step = STEP * min(own / math.sqrt(q0), 1.0)
    v = step * np.arange(-math.ceil(EXTENT / step), math.ceil(EXTENT / step) + 1)
    share = np.exp(-0.5 * v**2)
    share /= share.sum()
    weights = share[:, None, None] * share[:, None] * share
    total, lean, cost = _groups(math.sqrt(q0) * v, own, ratio)
    pull = 3.0 * np.sum(weights * (lean / total) ** 2) / ratio**2
    square = -6.0 * np.sum(weights * cost / total)
    return float(np.sum(weights * np.log(total))), float(pull), float(square)


def _groups(mean, own, ratio):
    """Return <weight> for all triples of means, and its derivatives by the first unit's.

    By its mean, and by the ratio, as far as that unit is concerned.
    """
    density, above, by_mean, by_ratio, lean = _unit(mean, own, ratio)
    count = len(mean)
    both = (above[:, None, :] * above).reshape(count**2, -1)
    last = (density[:, None, :] * above).reshape(count**2, -1)  # the second unit is the smallest

    def triples(first, others):
        return (first @ others.T).reshape(count, count, count)

    def either(first):
        total = triples(first, last)
        return total + total.transpose(0, 2, 1)

    total = triples(density, both) + either(above)
    return total, triples(lean, both) + either(by_mean), either(by_ratio)


def _unit(mean, own, ratio):
    """Return what a unit of each mean contributes at each x, weights of the quadrature included.

    Its density and the integral from x on, the latter's derivatives by the mean and the ratio, and
    that of the density by the mean.
    """
    tight = 1.0 / math.sqrt(1.0 + ratio * own**2)  # the weight makes a narrower Gaussian
    x, cell = _panels(mean.min() - REACH * own, mean.max() + REACH * own, own * tight, own)
    mean = mean[:, None]
    centre, width = mean * tight**2, own * tight
    scale = tight * np.exp(-0.5 * ratio * (mean * tight) ** 2)
    low, high = (np.minimum(x, 0.0) - centre) / width, -centre / width
    low_bell, high_bell = gaussian.G(low), gaussian.G(high)
    zeroth = scipy.special.ndtr(high) - scipy.special.ndtr(low)
    first = centre * zeroth - width * (high_bell - low_bell)
    second = (centre**2 + width**2) * zeroth
    second -= width * (centre * high_bell - (np.minimum(x, 0.0) + centre) * low_bell)
    right = (mean - np.maximum(x, 0.0)) / own
    above = scipy.special.ndtr(right) + scale * zeroth
    by_mean = gaussian.G(right) / own + scale * (first - mean * zeroth) / own**2
    density = cell * gaussian.G((x - mean) / own) / own
    return density, above, by_mean, -0.5 * scale * second, density * (x - mean) / own**2


def _panels(low, high, fine, coarse):
    """Nodes and weights from `low` to `high`, in panels of two `fine` below zero."""
    node, weight = np.polynomial.legendre.leggauss(10)
    below = 2.0 * fine * np.arange(-math.ceil(-low / (2.0 * fine)), 0)
    edges = np.concatenate([below, coarse * np.arange(math.ceil(high / coarse) + 1)])
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + node)).ravel(), (half * weight).ravel()


@cache
def two_steps(symmetric):
    """Return the load with two steps of symmetry breaking, the smallest over four parameters.

    Groups of groups: with q0 and q1 the overlaps between them and inside, r and s the limits of
    m / (1 - q2) of both, and ``X_1 = 1 + s (1 - q1)``, ``X_0 = X_1 + r (q1 - q0)``,

        alpha = {ln(X_1) / s + ln(X_0 / X_1) / r + q0 / X_0} / (-2 f / r),

    where f is the average of ``ln E <weight>^{r / s}``. Both ratios equal is one step.
    """
    start = one_step(symmetric)
    within = [scipy.special.logit(start.q0), 2.0, math.log(start.ratio), 0.0]
    minimum = scipy.optimize.minimize(
        lambda x: math.log(_load(x)), within, method="BFGS", options={"gtol": 1e-4, "eps": 1e-5}
    )
    return _load(minimum.x)


def _load(x):
    q0 = scipy.special.expit(x[0])
    q1 = q0 + (1.0 - q0) * scipy.special.expit(x[1])
    outer = math.exp(x[2])
    return nested_load(q0, q1, outer, outer * (1.0 + math.exp(x[3])))


def nested_load(q0, q1, outer, inner):
    """Return the load at which the free entropy of two steps vanishes; see `two_steps`."""
    field = FINE * np.arange(-math.ceil(EXTENT / FINE), math.ceil(EXTENT / FINE) + 1)
    weight = _groups(field, math.sqrt(1.0 - q1), inner)[0] ** (outer / inner)
    spread = np.exp(-0.5 * (field[:, None] - field) ** 2 / (q1 - q0))
    spread /= spread.sum(axis=1)[:, None]
    for _ in range(3):  # over the field of each unit in turn
        weight = np.tensordot(spread, weight, axes=(1, 2))
    share = np.exp(-0.5 * field**2 / q0)
    share /= share.sum()
    log_weight = np.einsum("ijk,i,j,k", np.log(weight), share, share, share, optimize=True)
    within = 1.0 + inner * (1.0 - q1)
    between = within + outer * (q1 - q0)
    entropic = math.log(within) / inner + math.log(between / within) / outer + q0 / between
    return float(entropic / (-2.0 * log_weight / outer))
