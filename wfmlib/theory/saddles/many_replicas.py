"""Averages inside a group of more than one replica: where the strongly tilted measure lies.

With m replicas the variable y that a group shares weighs ``e^{m f}``. For m up to 1 its tilt is
mild, and `broken_symmetry` follows it by the asymptotes of f. For more replicas the measure
gathers about a maximum (two of them for binary weights), at a distance of order ``sqrt(m)``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian
from wfmlib.theory.saddles.infinite_replicas import _magnetisation

LIMIT = 9.0
LEAST = -45.0  # logarithm of what is neglected, relative to the maximum


@njit(cache=True, nogil=True)
def most_tilted(given, ratio):
    """Return the zero of ``t + ratio h(t) - given``, h the hazard: where ``m f`` tilts most.

    The function is convex and increases: Newton's method comes down to its zero from `given`.
    """
    t = given
    for _ in range(60):
        step = (t - given + ratio * gaussian.hazard(t)) / (
            1.0 + ratio * gaussian.hazard_derivative(t)
        )
        t -= step
        if abs(step) < 1e-6:  # near enough for a middle
            break
    return t


@njit(cache=True, nogil=True)
def _log_weight(y, bias, split, m, top):
    """Return ``m ln 2 cosh(bias + split y) - y^2 / 2`` less its largest value."""
    field = abs(bias + split * y)
    return m * (field + math.log1p(math.exp(-2.0 * field))) - 0.5 * y * y - top


@njit(cache=True, nogil=True)
def _range(side, edge, peak, bias, split, m, top):
    """Return from where to where, on one side of field zero, the weight is not negligible.

    It falls beyond the last peak; between that and the `edge`, where the field vanishes, it has
    no other maximum.
    """
    high = peak + 1.0
    while _log_weight(side * high, bias, split, m, top) > LEAST:
        high += 1.0
    if edge > peak - 1.0 or _log_weight(side * edge, bias, split, m, top) > LEAST:
        return edge, high
    low = peak
    while low > edge and _log_weight(side * low, bias, split, m, top) > LEAST:
        low -= 1.0
    return max(low, edge), high


@njit(cache=True, nogil=True)
def weight_averages(width, split, m, rule):
    """Return what a binary weight contributes: `Grouped`, with ``E <sech^2>`` in third place.

    Its field is ``bias + split y``, ``bias = width x``. On either side of field zero ``m ln 2 cosh
    - y^2 / 2`` has one maximum at most, at ``y = m split m*`` with ``m* = tanh(field)``, or falls
    from the edge; on the side of the bias it has one, the largest.
    """
    pull = m * split * split
    features = np.empty((1, 2))
    # <tanh> rises with the bias by 1 + m at most
    features[0] = 0.0, 1.0 / max((1.0 + m) * width, 0.5)
    common = spread = complement = term = information = 0.0
    x, outer = gaussian.fill_grid(features, 0.0, LIMIT, rule)
    if width == 0.0:  # nothing depends on x
        x, outer = x[:1], np.full(1, 0.5)
    for i in range(len(x)):
        bias = width * x[i]
        best, field = _magnetisation(bias, pull, bias + pull)
        place = m * split * best
        highest = m * (field + math.log1p(math.exp(-2.0 * field)))
        top = highest - 0.5 * place * place
        norm = first = second = variance = tilted = 0.0
        for side in (1.0, -1.0):
            edge = -side * bias / split
            peak = place
            if side < 0.0:
                peak = edge
                if pull > 1.0 and pull > bias:
                    other, _ = _magnetisation(-bias, pull, pull - bias)
                    peak = max(edge, m * split * other)
            low, high = _range(side, edge, peak, bias, split, m, top)
            if _log_weight(side * low, bias, split, m, top) < LEAST and high - peak <= 1.0:
                continue
            features[0] = edge, 1.0 / max(split, 0.5)
            # the weight may be far wider than a normal density: the whole exponent at once
            ends = gaussian.edges(features, low, high)
            for k in range(len(ends) - 1):
                centre, half = 0.5 * (ends[k + 1] + ends[k]), 0.5 * (ends[k + 1] - ends[k])
                for j in range(len(rule)):
                    y = centre + half * rule[j, 0]
                    field = abs(bias + side * split * y)
                    decay = math.exp(-2.0 * field)
                    exponent = m * (field + math.log1p(decay)) - highest
                    shift = 0.5 * (place - y) * (place + y)
                    weight = half * rule[j, 1] * math.exp(exponent + shift) / gaussian.SQRT_2PI
                    response = side * (1.0 - decay) / (1.0 + decay) - best
                    norm += weight
                    first += weight * response
                    second += weight * response * response
                    variance += weight * 4.0 * decay / (1.0 + decay) ** 2
                    tilted += weight * exponent
        first /= norm
        log_norm = math.log(norm) - 0.5 * place * place
        measure = 2.0 * outer[i]  # even in x: twice the half line
        common += measure * (best + first) ** 2
        spread += measure * (second / norm - first * first)
        complement += measure * variance / norm
        term += measure * (highest + log_norm) / m
        information += measure * (tilted / norm - log_norm)
    return common, spread, complement, term, information
