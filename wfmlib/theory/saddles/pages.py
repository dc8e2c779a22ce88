"""Typical solutions as kernels of plain numbers: what the pages of the book compute with.

`replica_symmetric` solves the same equations for any axes. Here a device is fixed when its kernel
is compiled, and the formulas of its weights, activation and constraint are the methods of
`models`, compiled as they stand. Sums are taken in another order and the load is met by another
search, so that results agree with `typical.solve` to rounding, not to the bit.

No kernel raises: `ended` tells how a search ended, as in `numerics.zeros`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.models.activations import Linear
from wfmlib.models.constraints.margin import Margin
from wfmlib.models.weights.binary import Binary
from wfmlib.models.weights.spherical import Spherical
from wfmlib.numerics import gaussian
from wfmlib.numerics.zeros import FOUND, first_zero

RULE = gaussian.legendre_rule()
LIMIT = gaussian.LIMIT
LOWEST, HIGHEST = -30.0, 70.0  # of ln q_hat: q is 1e-13 and 1 - q is 1e-15 there


class Edge(NamedTuple):
    """A margin, as the methods of `Margin` see it."""

    kappa: float


log_weight, slope, curvature = map(njit, (Margin.log_weight, Margin.slope, Margin.curvature))


@njit
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


@njit
def force(overlap, kappa):
    """Return ``E f'^2``  [eq-rs-saddle]."""
    omega, weight = nodes(overlap.c, overlap.complement, kappa)
    total = 0.0
    for i in range(len(omega)):
        total += weight[i] * slope(Edge(kappa), omega[i], overlap.complement) ** 2
    return total


@njit
def shortfall(kappa):
    """Return ``E (kappa - x)_+^2``, as `Margin.shortfall`."""
    features = np.empty((1, 2))
    features[0, 0], features[0, 1] = kappa, 0.0
    x, weight = gaussian.fill_grid(features, min(kappa, 0.0) - LIMIT, LIMIT, RULE)
    total = 0.0
    for i in range(len(x)):
        total += weight[i] * max(kappa - x[i], 0.0) ** 2
    return total


class Kernels(NamedTuple):
    """What a page may ask of a device's typical solutions.

    Attributes
    ----------
    curve : compiled function
        ``curve(log_q_hat, kappa) -> (alpha, entropy, q)``, from `LOWEST` to `HIGHEST`: a place on
        the curve against the load, without a search.
    point : compiled function
        ``point(alpha, kappa) -> (ended, residual, q, complement, entropy, replicon,
        margin_density)``, as of `typical.SaddlePoint`; NaN unless `ended` is 0. The residual is
        the relative error of the load.
    vanishing : compiled function
        ``vanishing(kappa) -> (ended, residual, alpha)``: the load at which the entropy is 0, the
        capacity of binary weights.
    last_load : compiled function
        ``last_load(kappa)``: the load at which q reaches 1, the capacity of spherical weights.
    """

    curve: object
    point: object
    vanishing: object
    last_load: object


def kernels(weights, activation) -> Kernels:
    """Return the kernels of a device whose patterns are to be stored with a margin.

    Parameters
    ----------
    weights : Binary or Spherical
    activation : Linear
    """
    entropic = njit(type(weights).entropic)
    effective = njit(type(activation).effective)
    scale, collapse = activation.scale, weights.collapse * activation.slope_at_one

    @njit(error_model="numpy")
    def load(log_q_hat, kappa):
        q_hat = math.exp(log_q_hat)
        side = entropic(None, q_hat)
        overlap = effective(None, side.q, side.complement)
        return q_hat / (overlap.slope * force(overlap, kappa))

    @njit(error_model="numpy")
    def averages(q_hat, kappa):
        side = entropic(None, q_hat)
        overlap = effective(None, side.q, side.complement)
        omega, weight = nodes(overlap.c, overlap.complement, kappa)
        push = cost = stiffness = edge = 0.0
        for i in range(len(omega)):
            here = Edge(kappa), omega[i], overlap.complement
            first, second = slope(*here), curvature(*here)
            push += weight[i] * first * first
            cost += weight[i] * log_weight(*here)
            stiffness += weight[i] * second * second
            edge += weight[i] * first
        alpha = q_hat / (overlap.slope * push)
        response = overlap.slope**2 * stiffness + overlap.curvature * push
        replicon = alpha * side.fluctuation * response
        return alpha, side.q, side.complement, side.term + alpha * cost, replicon, edge / scale

    @njit(error_model="numpy")
    def curve(log_q_hat, kappa):
        kappa /= scale
        q_hat = math.exp(log_q_hat)
        side = entropic(None, q_hat)
        overlap = effective(None, side.q, side.complement)
        omega, weight = nodes(overlap.c, overlap.complement, kappa)
        push = cost = 0.0
        for i in range(len(omega)):
            here = Edge(kappa), omega[i], overlap.complement
            push += weight[i] * slope(*here) ** 2
            cost += weight[i] * log_weight(*here)
        alpha = q_hat / (overlap.slope * push)
        return alpha, side.term + alpha * cost, side.q

    @njit(error_model="numpy")
    def excess(log_q_hat, given):
        alpha, kappa = given
        return math.log(load(log_q_hat, kappa) / alpha)

    @njit(error_model="numpy")
    def entropy(log_q_hat, kappa):
        return curve(log_q_hat, kappa * scale)[1]

    @njit(error_model="numpy")
    def lowest(alpha, kappa):
        side = entropic(None, 0.0)
        overlap = effective(None, side.q, side.complement)
        return alpha * overlap.slope * force(overlap, kappa)

    @njit(error_model="numpy")
    def point(alpha, kappa):
        kappa /= scale
        below = lowest(alpha, kappa)
        q_hat, residual, ended = below, 0.0, FOUND
        if below >= 1e-30:
            start = min(math.log(below) - 1e-3, HIGHEST - 1.0)
            place, residual, ended = first_zero(
                excess, (alpha, kappa), start, HIGHEST, 0.5, 1e-14, 1e-6
            )
            q_hat = math.exp(place)
        _, q, complement, entropy, replicon, edge = averages(q_hat, kappa)
        return float(ended), residual, q, complement, entropy, replicon, edge

    @njit(error_model="numpy")
    def vanishing(kappa):
        kappa /= scale
        place, residual, ended = first_zero(entropy, kappa, -10.0, HIGHEST, 0.5, 1e-14, 1e-6)
        return float(ended), residual, averages(math.exp(place), kappa)[0]

    @njit(error_model="numpy")
    def last_load(kappa):
        return collapse / shortfall(kappa / scale)

    return Kernels(curve, point, vanishing, last_load)


binary_curve, binary_point, binary_capacity, binary_last_load = kernels(Binary(), Linear())
spherical_curve, spherical_point, _, spherical_capacity = kernels(Spherical(), Linear())
