"""Typical solutions of any device with one field, as kernels of plain numbers and arrays.

The weights are a number, `BINARY` or `SPHERICAL`, and the activation is an array of `sampled`, so
that one module answers for all of them, drawn ones included. The formulas of spherical weights and
of the activation are the methods of `models`, compiled as they stand; those of binary weights and
of the margin, which are NumPy's there, stand here again. Each kernel does what the
function of `theory.typical` of its name does, with the same searches: results agree to rounding.
None raises: its first number tells how a search ended, as in `zeros`, or one of the codes below.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.book.lab.kernels.sampled import SCALE, SLOPE_AT_ONE, effective
from wfmlib.book.lab.kernels.zeros import FOUND, first_zero
from wfmlib.models.constraints.margin import RANGE
from wfmlib.models.weights.binary import Binary
from wfmlib.models.weights.spherical import Spherical
from wfmlib.models.weights.terms import Entropic
from wfmlib.numerics import gaussian, portable
from wfmlib.theory.saddles.replica_symmetric import LOG_Q_HAT

BINARY, SPHERICAL = 0.0, 1.0
BELOW_RANGE, ABOVE_RANGE = 10.0, 11.0  #: of margins
ENTROPY = Binary.entropy
COLLAPSE = Binary.collapse, Spherical.collapse
LEAST, MOST = RANGE
LOWEST, HIGHEST = -30.0, 70.0  # of ln q_hat: q is 1e-13 and 1 - q is 1e-15 there
RULE = gaussian.legendre_rule()
LIMIT = gaussian.LIMIT

kernel = njit(error_model="numpy")
spherical = njit(Spherical.entropic)


@kernel
def log_weight(kappa, omega, variance):
    """Return ``f``, as `Margin.log_weight`."""
    return gaussian.log_H((kappa - omega) / math.sqrt(variance))


@kernel
def slope(kappa, omega, variance):
    """Return ``f'``, as `Margin.slope`."""
    width = math.sqrt(variance)
    return gaussian.hazard((kappa - omega) / width) / width


@kernel
def curvature(kappa, omega, variance):
    """Return ``f''``, as `Margin.curvature`."""
    return -gaussian.hazard_derivative((kappa - omega) / math.sqrt(variance)) / variance


@kernel
def binary(q_hat):
    """Return the entropic side, as `Binary.entropic`."""
    width = math.sqrt(q_hat)
    features = np.zeros((1, 2))
    features[0, 1] = 1.0 / max(width, 0.5)
    x, weight = gaussian.fill_grid(features, 0.0, LIMIT, RULE)
    q = complement = log_2cosh = fluctuation = 0.0
    for i in range(len(x)):
        size = width * x[i]
        decay = portable.exp(-2.0 * size)
        m = -portable.expm1(-2.0 * size) / (1.0 + decay)
        variance = 4.0 * decay / ((1.0 + decay) * (1.0 + decay))
        q += 2.0 * weight[i] * m**2
        complement += 2.0 * weight[i] * variance
        log_2cosh += 2.0 * weight[i] * (size + portable.log1p_of_share(decay))
        fluctuation += 2.0 * weight[i] * variance**2
    if q > 0.5:  # the smaller of the two keeps its digits, and their sum is 1
        q = 1.0 - complement
    else:
        complement = 1.0 - q
    return Entropic(q, complement, log_2cosh - 0.5 * q_hat * complement, fluctuation)


@kernel
def nodes(c, variance, kappa):
    """Return the part of a field that all solutions share, and its weights."""
    root = math.sqrt(c)
    features = np.empty((1, 2))
    count = 0
    if root > 0.05:
        features[0, 0], features[0, 1] = kappa / root, math.sqrt(variance) / root
        count = 1
    x, weight = gaussian.fill_grid(features[:count], min(kappa, 0.0) - LIMIT, LIMIT, RULE)
    return root * x, weight


@kernel
def force(overlap, kappa):
    """Return ``E f'^2``  [eq-rs-saddle]."""
    omega, weight = nodes(overlap.c, overlap.complement, kappa)
    total = 0.0
    for i in range(len(omega)):
        total += weight[i] * slope(kappa, omega[i], overlap.complement) ** 2
    return total


@kernel
def shortfall(kappa):
    """Return ``E (kappa - x)_+^2``, as `Margin.shortfall`."""
    features = np.empty((1, 2))
    features[0, 0], features[0, 1] = kappa, 0.0
    x, weight = gaussian.fill_grid(features, min(kappa, 0.0) - LIMIT, LIMIT, RULE)
    total = 0.0
    for i in range(len(x)):
        total += weight[i] * max(kappa - x[i], 0.0) ** 2
    return total


@kernel
def entropic(weights, q_hat):
    """Return the entropic side, as `Binary` or `Spherical`."""
    if weights == BINARY:
        return binary(q_hat)
    return spherical(None, q_hat)


@kernel
def load(log_q_hat, kappa, weights, about):
    """Return the load of the saddle point at a conjugate overlap; margins in units of scale."""
    q_hat = math.exp(log_q_hat)
    side = entropic(weights, q_hat)
    overlap = effective(side.q, side.complement, about)
    return q_hat / (overlap.slope * force(overlap, kappa))


@kernel
def averages(q_hat, kappa, weights, about):
    """Return the load, q, 1 - q, the entropy, the replicon and the density at the margin."""
    side = entropic(weights, q_hat)
    overlap = effective(side.q, side.complement, about)
    omega, weight = nodes(overlap.c, overlap.complement, kappa)
    push = cost = stiffness = edge = 0.0
    for i in range(len(omega)):
        pattern = kappa, omega[i], overlap.complement
        first, second = slope(*pattern), curvature(*pattern)
        push += weight[i] * first * first
        cost += weight[i] * log_weight(*pattern)
        stiffness += weight[i] * second * second
        edge += weight[i] * first
    alpha = q_hat / (overlap.slope * push)
    response = overlap.slope**2 * stiffness + overlap.curvature * push
    replicon = alpha * side.fluctuation * response
    entropy = side.term + alpha * cost
    return alpha, side.q, side.complement, entropy, replicon, edge / about[SCALE]


@kernel
def typical_curve(log_q_hat, kappa, weights, about):
    """Return the load, the entropy, q and the replicon at a place on the curve over loads."""
    alpha, q, _, entropy, replicon, _ = averages(
        math.exp(log_q_hat), kappa / about[SCALE], weights, about
    )
    return alpha, entropy, q, replicon


@kernel
def excess(log_q_hat, parameters):
    alpha, kappa, weights, about = parameters
    return math.log(load(log_q_hat, kappa, weights, about) / alpha)


@kernel
def typical_solve(alpha, kappa, weights, about):
    """Return how the search ended, its residual, q, q_hat, the distance, the entropy, the
    replicon and the density at the margin: `typical.solve`.
    """
    kappa /= about[SCALE]
    side = entropic(weights, 0.0)
    overlap = effective(side.q, side.complement, about)
    q_hat, residual, status = alpha * overlap.slope * force(overlap, kappa), 0.0, FOUND
    if q_hat >= 1e-30:
        start = min(math.log(q_hat) - 1e-3, HIGHEST - 1.0)
        parameters = alpha, kappa, weights, about
        place, residual, status = first_zero(excess, parameters, start, HIGHEST, 0.5, 1e-14, 1e-6)
        q_hat = math.exp(place)
    _, q, complement, entropy, replicon, edge = averages(q_hat, kappa, weights, about)
    distance = 0.5 * complement
    return float(status), residual, q, q_hat, distance, entropy, replicon, edge


@kernel
def left(log_q_hat, parameters):
    """Return the entropy, or what is left of stability, with the walk's direction turned up."""
    direction, stability, kappa, weights, about = parameters
    _, _, _, entropy, replicon, _ = averages(
        math.exp(direction * log_q_hat), kappa, weights, about
    )
    return 1.0 - replicon if stability > 0.0 else entropy


@kernel
def first(stability, kappa, weights, about):
    """Return how the search for the first zero of `left` ended, its residual and the load."""
    direction, limit = 1.0, LOG_Q_HAT[1]
    if not left(0.0, (direction, stability, kappa, weights, about)) > 0.0:
        direction, limit = -1.0, -LOG_Q_HAT[0]
    parameters = direction, stability, kappa, weights, about
    place, residual, status = first_zero(left, parameters, 0.0, limit, 1.0, 1e-14, 1e-6)
    return float(status), residual, load(direction * place, kappa, weights, about)


@kernel
def last(kappa, weights, about):
    """Return the load at which q reaches 1; the margin in units of scale."""
    return COLLAPSE[int(weights)] * about[SLOPE_AT_ONE] / shortfall(kappa)


@kernel
def typical_last_load(kappa, weights, about):
    """Return the load at which q reaches 1."""
    return last(kappa / about[SCALE], weights, about)


@kernel
def typical_capacity(kappa, weights, about):
    """Return how the search ended, its residual, and the load: `typical.capacity`."""
    kappa /= about[SCALE]
    if weights == BINARY:
        return first(0.0, kappa, weights, about)
    return float(FOUND), 0.0, last(kappa, weights, about)


@kernel
def typical_instability(kappa, weights, about):
    """Return how the search ended, its residual, and the load: `typical.instability`.

    Infinite where the replicon does not reach 1.
    """
    status, residual, alpha = first(1.0, kappa / about[SCALE], weights, about)
    if status == 1.0:  # `NO_ZERO`
        return float(FOUND), 0.0, math.inf
    return status, residual, alpha


@kernel
def ends(kappa, parameters):
    """Return the logarithm of capacity over load, where q reaches 1 or entropy 0."""
    direction, at_one, alpha, weights, about = parameters
    kappa *= direction
    if at_one > 0.0:
        return math.log(last(kappa, weights, about) / alpha)
    status, _, load = first(0.0, kappa, weights, about)
    return math.log(load / alpha) if status == FOUND else math.nan


@kernel
def annealed(kappa, entropy_by_load):
    return -entropy_by_load - gaussian.log_H(kappa)


@kernel
def margin(at_one, alpha, weights, about):
    """Return how the search for a margin ended, its residual, and the margin."""
    if alpha == 0.0 or (at_one > 0.0 and math.isinf(about[SLOPE_AT_ONE])):
        return float(FOUND), 0.0, math.inf
    parameters = 1.0, at_one, alpha, weights, about
    if ends(LEAST, parameters) < 0.0:
        return BELOW_RANGE, math.nan, math.nan
    if at_one > 0.0:
        x, residual, status = first_zero(ends, parameters, LEAST, MOST, 10.0, 1e-13, 1e-6)
    else:
        # there are not more solutions than on average, 2^N H(kappa)^P
        bound, _, status = first_zero(annealed, ENTROPY / alpha, -40.0, MOST, 1.0, 1e-12, 1e-3)
        bound = min(bound, MOST) if status == FOUND else MOST
        if bound < LEAST:
            return BELOW_RANGE, math.nan, math.nan
        parameters = -1.0, at_one, alpha, weights, about
        x, residual, status = first_zero(ends, parameters, -bound, -LEAST, 0.5, 1e-13, 1e-6)
        x = -x
    if status == 1:  # `NO_ZERO`
        return ABOVE_RANGE, math.nan, math.nan
    return float(status), residual, x * about[SCALE]


@kernel
def typical_max_margin(alpha, weights, about):
    """Return how the search ended, its residual, and the margin: `typical.max_margin`."""
    return margin(weights, alpha, weights, about)


@kernel
def typical_last_margin(alpha, weights, about):
    """Return how the search ended, its residual, and the margin: `typical.last_margin`."""
    return margin(1.0, alpha, weights, about)
