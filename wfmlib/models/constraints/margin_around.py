"""Solutions of a margin around a reference: compiled averages over the fields of a pattern.

The reference is a solution, too, or is weighed by a loss: its logarithm of a weight and its force
are tabulated then; those of a margin have closed forms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian, portable, tails
from wfmlib.numerics.tabulated import ORDER, evaluate, panel_of

FAR = 8.0  # cuts beyond this many standard deviations are too small to divide by
LIMIT = 8.5  # how far fields are followed: the normal density beyond weighs 2e-17
RULE = gaussian.legendre_rule(10)  # relative errors of the averages are below 1e-12


NO_TABLE = np.zeros(0), np.zeros((2, 0, ORDER))


class MarginSplit(NamedTuple):
    """How the fields of one pattern are split, for the kernels: `log_concave.Split`, and edges.

    Given x and y the reference's field has the mean ``root_c x + lean y`` and the variance
    `left`; the counted one has ``slope x + width y`` and `own`. `variance` is that of the
    reference's field given x. References turn bad below kt, counted solutions below kappa; the
    force on a reference no longer grows below `lowest` (NaN: it always does).
    """

    root_c: float
    variance: float
    kt: float
    slope: float
    width: float
    own: float
    kappa: float
    lean: float
    left: float
    lowest: float


def kernel_arguments(kappa, reference, fields, split):
    """Return the arguments of the kernels, for solutions of the margin kappa."""
    edges = MarginSplit(
        root_c=math.sqrt(split.c),
        variance=split.variance,
        kt=reference.front,
        slope=split.slope,
        width=split.width,
        own=split.own,
        kappa=kappa,
        lean=split.lean,
        left=split.left,
        lowest=reference.lowest(split.left),
    )
    return *fields, edges, *reference.table(split, fields[2]), RULE


@njit(cache=True, nogil=True, error_model="numpy")
def _private_fields(x, force, log_weight, split, ends, table, rule):
    """Return nodes and weights for y, given x, from the measure of the reference.

    Given x the reference's field v is normal about ``root_c x``, weighed by the pattern, and y is
    correlated with it. That density of y is normal times a log-concave function, the pattern's
    weight given y: it lies within a standard normal's reach of its mean.
    """
    mean = split.lean * force
    spread = math.sqrt(split.variance)
    cut = (split.kt - split.root_c * x) / spread
    margin = len(ends) == 0
    # an ordinary cut keeps y's own normal density; a far one is divided out in logarithms
    direct = margin and cut <= FAR
    centre = 0.0 if direct else mean
    root_left = math.sqrt(split.left)
    features = np.empty((3, 2))
    count = 0
    if split.width > 1e-8:
        features[count, 0] = (split.kappa - split.slope * x) / split.width - centre
        features[count, 1] = math.sqrt(split.own) / split.width
        count += 1
    if abs(split.lean) > 1e-8:
        features[count, 0] = (split.kt - split.root_c * x) / split.lean - centre
        features[count, 1] = root_left / abs(split.lean)
        count += 1
        if not math.isnan(split.lowest):
            features[count, 0] = (split.lowest - split.root_c * x) / split.lean - centre
            features[count, 1] = features[count - 1, 1]
            count += 1
    low, high = mean - centre - LIMIT, mean - centre + LIMIT
    y, weight = gaussian.fill_grid(features[:count], low, high, rule)
    u, stored = np.empty_like(y), np.empty_like(y)
    if direct:
        total = math.exp(log_weight)
        for j in range(len(y)):
            u[j] = (split.kt - split.root_c * x - split.lean * y[j]) / root_left
        tails.fill_tail(u, stored)
        for j in range(len(y)):
            weight[j] *= stored[j] / total
        return y, weight
    # relative to the normal density about the mean, which is in the weight already
    if margin:
        for j in range(len(y)):
            u[j] = (split.kt - split.root_c * x - split.lean * (y[j] + mean)) / root_left
        tails.fill_log_tail(u, stored)
    else:
        for j in range(len(y)):
            field = split.root_c * x + split.lean * (y[j] + mean)
            field = min(max(field, ends[0]), ends[-1])
            stored[j] = evaluate(ends, table[0], panel_of(ends, field), field)
    for j in range(len(y)):
        weight[j] *= portable.exp(-mean * (y[j] + 0.5 * mean) + stored[j] - log_weight)
        y[j] += mean
    return y, weight


@njit(cache=True, nogil=True, error_model="numpy")
def averages(x, weight, other, log_weight, split, ends, table, rule, sharp, forces_only):
    """Return averages of f, f'^2, r f' with either r, f''^2, as in `log_concave.Averages`.

    Where the cut of the reference's field is `sharp` its force is integrated by parts in y. With
    `forces_only` all but the second and the third are 0.
    """
    cost = force = common = pull = stiffness = 0.0
    root_own, root_left = math.sqrt(split.own), math.sqrt(split.left)
    for i in range(len(x)):
        y, inner = _private_fields(x[i], other[i], log_weight[i], split, ends, table, rule)
        u, slopes = np.empty_like(y), np.empty_like(y)
        for j in range(len(y)):
            u[j] = (split.kappa - split.slope * x[i] - split.width * y[j]) / root_own
        tails.fill_hazard(u, slopes)
        if forces_only:
            first = second = 0.0
            for j in range(len(y)):
                first += inner[j] * slopes[j]
                second += inner[j] * slopes[j] * slopes[j]
            force += weight[i] * second / split.own
            common += weight[i] * other[i] * first / root_own
            continue
        log_weights, bends, forces = np.empty_like(y), np.empty_like(y), np.empty_like(y)
        tails.fill_log_tail(u, log_weights)
        tails.fill_hazard_derivative(u, bends)
        if not sharp and len(ends) == 0:  # next, the force on the reference
            for j in range(len(y)):
                u[j] = (split.kt - split.root_c * x[i] - split.lean * y[j]) / root_left
            tails.fill_hazard(u, forces)
        elif not sharp:
            for j in range(len(y)):
                field = split.root_c * x[i] + split.lean * y[j]
                field = min(max(field, ends[0]), ends[-1])
                forces[j] = evaluate(ends, table[1], panel_of(ends, field), field) * root_left
        for j in range(len(y)):
            w = weight[i] * inner[j]
            slope, bend = slopes[j] / root_own, bends[j] / split.own  # bend = -f''
            cost += w * log_weights[j]
            force += w * slope**2
            common += w * other[i] * slope
            stiffness += w * bend**2
            if sharp:
                pull += w * (y[j] * slope + split.width * bend) / split.lean
            else:
                pull += w * forces[j] / root_left * slope
    return cost, force, common, pull, stiffness
