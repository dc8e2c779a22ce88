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
from wfmlib.theory.saddles.many_replicas import most_tilted, weight_averages

LIMIT = 9.0  # how far fields are followed: the normal density beyond weighs 2e-19
RULE = gaussian.legendre_rule(12)  # relative errors of all averages below 1e-14


class Grouped(NamedTuple):
    """What the weights, or a pattern, contribute at one step of symmetry breaking.

    Attributes
    ----------
    common : float
        ``E <s>^2``, s the response: ``tanh`` of the field of a weight, ``f'`` for a pattern.
    spread : float
        ``E [<s^2> - <s>^2]``, between the members of a group.
    term : float
        ``(1/m) E ln < e^{m f} >``, with ``ln 2 cosh`` of the field for f if it is a weight.
    information : float
        ``E [m <f> - ln < e^{m f} >]`` with the first average tilted and the second not: how much
        the weight of the groups changes the measure, a relative entropy. Not negative.
    """

    common: float
    spread: float
    term: float
    information: float


class Overlaps(NamedTuple):
    """The entropic side, given the conjugates.

    Attributes
    ----------
    q0, complement : float
        Overlap between groups, and ``1 - q1``.
    difference : float
        ``q1 - q0``.
    split_hat : float
        ``q1_hat - q0_hat``.
    term : float
        What the weights contribute to the free entropy  [eq-1rsb-entropy], in nats per weight.
    complexity : float
        What they contribute to ``-m^2 d phi / dm``.
    """

    q0: float
    complement: float
    difference: float
    split_hat: float
    term: float
    complexity: float


class Broken:
    """The saddle point with one step of symmetry breaking whose conjugates are given.

    Parameters
    ----------
    q0_hat : float
        Positive.
    split : float
        How far the symmetry is broken; positive, 0 in the limit where it is not. For spherical
        weights ``(q1 - q0) / (1 - q1)``, for binary ones ``q1_hat - q0_hat``.
    m : float
        Parisi parameter, positive.
    weights, activation, constraint
        The axes; the constraint is raw, in the units of each paper.

    Attributes
    ----------
    overlaps : Overlaps
    pattern : Grouped
    load_between, load_within : float
        The loads at which the saddle-point equations hold for q0, and for the difference between
        q1 and q0. This is a saddle point where the two are equal.
    """

    def __init__(self, q0_hat, split, m, weights, activation, constraint):
        self.q0_hat, self.split, self.m = q0_hat, split, m
        entropic = _binary if weights.discrete else _spherical
        self.overlaps = entropic(q0_hat, split, m)
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


def _spherical(q0_hat, split, m):
    """Return the entropic side, conjugates eliminated  [eq-1rsb-spherical].

    With ``X = 1 - q1`` and ``Y = X + m (q1 - q0)``: ``q0_hat = q0 / Y^2`` and ``q1_hat - q0_hat =
    (q1 - q0) / (X Y)``, solved here for the overlaps. The free entropy gains ``[ln X + ln(Y / X) /
    m + q0 / Y] / 2``.

    Source: P2, equation B4.
    """
    ratio = (1.0 + m * split) / (1.0 + split)  # Y / (1 - q0)
    outer = 2.0 * ratio / (1.0 + math.sqrt(1.0 + 4.0 * q0_hat * ratio**2))
    inner = outer / (1.0 + m * split)
    q0 = q0_hat * outer**2
    log_ratio = math.log1p(m * split)
    share = m * split / (1.0 + m * split)
    return Overlaps(
        q0=q0,
        complement=inner,
        difference=split * inner,
        split_hat=split / outer,
        term=0.5 * (math.log(inner) + log_ratio / m + q0 / outer),
        complexity=0.5 * (log_ratio - share + m * share * q0_hat * outer),
    )


def _binary(q0_hat, split, m):
    """Return the entropic side  [eq-1rsb-binary].

    Source: P2, equation B5.
    """
    averages = _weight_averages
    if m > 1.0 and m**2 * split > 4.0:  # more than one force: a strong tilt
        averages = weight_averages
    common, spread, complement, term, information = averages(
        math.sqrt(q0_hat), math.sqrt(split), m, RULE
    )
    # q1 q1_hat - q0 q0_hat
    product = spread * q0_hat + (common + spread) * split
    return Overlaps(
        q0=common,
        complement=complement,
        difference=spread,
        split_hat=split,
        term=term - 0.5 * ((q0_hat + split) * complement + m * product),
        complexity=0.5 * m**2 * product - information,
    )


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


@njit(cache=True, nogil=True)
def _weight_averages(width, split, m, rule):
    """Return what a binary weight contributes, with ``E <sech^2>`` after the two responses.

    Its field is ``width x + split y``. On either side of zero ``(2 cosh field)^m`` is
    ``e^{+-m field}`` but for a bounded factor, and y is measured from the middle of the Gaussian
    that this makes of it, unless that is close to zero.
    """
    shift = m * split if m * split > 2.0 else 0.0
    features = np.empty((1, 2))
    features[0] = 0.0, 1.0 / max(width, 0.5)
    common = spread = complement = term = information = 0.0
    # even in x: twice the half line
    x, outer = gaussian.fill_grid(features, 0.0, LIMIT, rule)
    for i in range(len(x)):
        bias = width * x[i]
        middle = math.tanh(bias)
        log_middle = bias + math.log1p(math.exp(-2.0 * bias))  # ln 2 cosh
        norm = 1.0 if shift == 0.0 else 0.0
        excess = first = second = variance = tilted = 0.0
        for side in (1.0, -1.0):
            edge = max(-side * bias / split - shift, -LIMIT)
            if edge >= LIMIT:
                continue
            features[0] = -side * bias / split - shift, 1.0 / max(split, 0.5)
            y, inner = gaussian.fill_grid(features, edge, LIMIT, rule)
            for j in range(len(y)):
                field = abs(bias + side * split * (y[j] + shift))
                decay = math.exp(-2.0 * field)
                exponent = m * (field + math.log1p(decay) - log_middle)
                growth = math.expm1(exponent - shift * (y[j] + shift))
                weight = inner[j] * (1.0 + growth)
                response = side * (1.0 - decay) / (1.0 + decay) - middle
                if shift > 0.0:
                    norm += inner[j]
                excess += inner[j] * growth
                first += weight * response
                second += weight * response * response
                variance += weight * 4.0 * decay / (1.0 + decay) ** 2
                tilted += weight * exponent
        log_norm = math.log1p(excess + (norm - 1.0)) + 0.5 * shift * shift
        norm += excess
        first /= norm
        weight = 2.0 * outer[i]
        common += weight * (middle + first) ** 2
        spread += weight * (second / norm - first * first)
        complement += weight * variance / norm
        term += weight * (log_middle + log_norm / m)
        information += weight * (tilted / norm - log_norm)
    return common, spread, complement, term, information
