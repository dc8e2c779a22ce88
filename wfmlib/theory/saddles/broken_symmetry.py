"""The saddle point with one step of replica symmetry breaking, for all weights and activations.

Replicas come in groups of m: overlap q1 inside a group, q0 between groups. As at the
replica-symmetric level (`replica_symmetric`) the weights turn conjugates into overlaps, the
activation overlaps into effective ones ``c0 = c(q0)`` and ``c1 = c(q1)``, and the constraint those
into forces. What groups share of a field is ``sqrt(c0) x``, what the members of one share on top
is ``sqrt(c1 - c0) y``, and an average over y carries the weight of the group, ``e^{m f}``
[eq-1rsb-energetic]:

    q0_hat = alpha c'(q0) E <f'>^2,    q1_hat = alpha c'(q1) E <f'^2>    [eq-1rsb-saddle]

with x under E and y under < >. We choose ``q0_hat``, ``q1_hat - q0_hat`` and m, and read off the
load that each of the two equations asks for. Differences between q1 and q0 are never formed by
subtraction: the difference of the two equations is one of variances,

    q1_hat - q0_hat = alpha {c'(q0) E [<f'^2> - <f'>^2] + [c'(q1) - c'(q0)] E <f'^2>},

so that the point where groups dissolve into replica symmetry is as smooth as any other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian
from wfmlib.theory.saddles.many_replicas import most_tilted

LIMIT = 9.0  # how far fields are followed: the normal density beyond weighs 2e-19
RULE = gaussian.legendre_rule(12)  # relative errors of all averages below 1e-14


class Grouped(NamedTuple):
    """What a pattern contributes at one step of symmetry breaking.

    Attributes
    ----------
    common : float
        ``E <f'>^2``.
    spread : float
        ``E [<f'^2> - <f'>^2]``, between the members of a group.
    term : float
        ``(1/m) E ln < e^{m f} >``.
    information : float
        ``E [m <f> - ln < e^{m f} >]`` with the first average tilted and the second not: how much
        the weight of the groups changes the measure, a relative entropy. Not negative.
    """

    common: float
    spread: float
    term: float
    information: float


class Broken:
    """The saddle point with one step of symmetry breaking whose conjugates are given.

    Parameters
    ----------
    q0_hat : float
        Positive.
    split : float
        How far the symmetry is broken; positive, 0 in the limit where it is not. For spherical
        weights ``(q1 - q0) / (1 - q1)``, for discrete ones ``q1_hat - q0_hat``.
    m : float
        Parisi parameter, positive.
    weights, activation, constraint
        The axes; the constraint is raw, in the units of each paper.

    Attributes
    ----------
    overlaps : BrokenEntropic
    pattern : Grouped
    load_between, load_within : float
        The loads at which the saddle-point equations hold for q0, and for the difference between
        q1 and q0. This is a saddle point where the two are equal.
    """

    def __init__(self, q0_hat, split, m, weights, activation, constraint):
        self.q0_hat, self.split, self.m = q0_hat, split, m
        self.overlaps = weights.broken(q0_hat, split, m)
        q0, complement, difference = self.overlaps[:3]
        between = activation.effective(q0, complement + difference)
        within = activation.effective(1.0 - complement, complement)
        kappa = constraint.rescaled(activation.scale).kappa
        if not activation.one_field:
            self.pattern = activation.pattern_averages(q0, difference, complement, kappa, m)
        else:
            # a difference of two numbers that are both below 1/2 loses least
            gap = between.complement - within.complement
            if between.c < 0.5:
                gap = within.c - between.c
            self.pattern = Grouped(
                *_pattern_averages(between.c, gap, within.complement, kappa, m, RULE)
            )
        common, spread = self.pattern[:2]
        force = between.slope * common  # none at q0 = 0 for parity machines
        self.load_between = q0_hat / force if force > 0.0 else math.inf
        response = between.slope * spread + (within.slope - between.slope) * (common + spread)
        # none, or less, where groups are too narrow to be told apart
        self.load_within = self.overlaps.split_hat / response if response > 0.0 else math.inf

    def entropy(self, alpha):
        """Free entropy in nats per weight  [eq-1rsb-entropy]."""
        return self.overlaps.term + alpha * self.pattern.term

    def complexity(self, alpha):
        """``-m^2 d phi / dm``: logarithm of the number of groups, per weight."""
        return self.overlaps.complexity - alpha * self.pattern.information


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def log_tail(u, hazard):
    """Return ``ln H(u)``, given the hazard, by ``H = G / h`` where that loses no digits."""
    if u < -5.0:
        return gaussian.log_H(u)
    return -0.5 * u * u - gaussian.LOG_SQRT_2PI - math.log(hazard)


@njit(cache=True, nogil=True)
def pattern_group(short, gap, variance, m, rule):
    """Average over what a group shares of a pattern's field, weighted with ``H^m``.

    The field falls short of the margin by ``short - sqrt(gap) y``. Returns ``<f'>`` and the
    variance of f', in units of ``1 / sqrt(variance)`` and its square, ``ln <e^{m f}> / m`` and the
    information. y is measured from the middle of its tilted Gaussian, `shift`, so that no
    exponential overflows, and the force from that there.
    """
    width, soft = math.sqrt(gap), math.sqrt(variance)
    pull = m / variance  # curvature of -m f, deep in the forbidden region
    narrow = 1.0 / math.sqrt(1.0 + pull * gap)
    features = np.empty((2, 2))
    if m > 1.0:  # more than one force: the middle of the Gaussian is that of the true tilt
        shift = width / soft * m * gaussian.hazard(most_tilted(short / soft, pull * gap))
        u_middle = (short - width * shift) / soft
    else:
        shift = max(short, 0.0) * width * pull * narrow**2
        u_middle = short * (narrow**2 if shift > 0.0 else 1.0) / soft
    count = 0
    if width > 0.3 * soft:
        features[0] = short / width - shift, soft / width
        count = 1
    if narrow < 0.5:
        features[count] = 0.0, narrow
        count += 1
    elif shift < 2.0:  # the tilt is slight, and no large numbers shall cancel
        features[0, 0] += shift
        shift, u_middle = 0.0, short / soft
    y, weight = gaussian.fill_grid(features[:count], -LIMIT, LIMIT, rule)
    middle = gaussian.hazard(u_middle)
    log_middle = log_tail(u_middle, middle)
    excess = first = second = tilted = moved = 0.0
    for j in range(len(y)):
        u = u_middle - width * y[j] / soft
        hazard = gaussian.hazard(u)
        exponent = m * (log_tail(u, hazard) - log_middle) - shift * y[j]
        growth = math.expm1(exponent)
        w = weight[j] * (1.0 + growth)
        hazard -= middle
        excess += weight[j] * growth
        first += w * hazard
        second += w * hazard * hazard
        tilted += w * exponent
        moved += w * y[j]
    norm = 1.0 + excess
    first /= norm
    log_norm = math.log1p(excess) - 0.5 * shift * shift
    information = (tilted + shift * moved) / norm - log_norm
    return middle + first, second / norm - first * first, log_middle + log_norm / m, information


@njit(cache=True, nogil=True)
def _pattern_averages(c0, gap, variance, kappa, m, rule):
    """Return what a pattern contributes, as in `Grouped`; `gap` is c1 - c0, `variance` 1 - c1."""
    root = math.sqrt(c0)
    features = np.empty((1, 2))
    count = 0
    if root > 0.05:
        features[0] = kappa / root, math.sqrt(variance + gap) / root
        count = 1
    x, outer = gaussian.fill_grid(features[:count], min(kappa, 0.0) - LIMIT, LIMIT, rule)
    common = spread = term = information = 0.0
    for i in range(len(x)):
        group = pattern_group(kappa - root * x[i], gap, variance, m, rule)
        common += outer[i] * group[0] ** 2
        spread += outer[i] * group[1]
        term += outer[i] * group[2]
        information += outer[i] * group[3]
    return common / variance, spread / variance, term, information
