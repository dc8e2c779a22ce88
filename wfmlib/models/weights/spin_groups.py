"""A weight of +1 or -1 in groups of replicas: averages that carry the weight ``(2 cosh)^m``.

With m replicas the variable y that a group shares weighs ``(2 cosh field)^m``. For m up to 1 its
tilt is mild, and `mild` follows it by the asymptotes. For more replicas the measure gathers about
two maxima, at a distance of order ``sqrt(m)``, and `strong` looks for them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.models.weights.spin import magnetisation, reference_spin
from wfmlib.numerics import gaussian, portable, tails
from wfmlib.numerics.newton import bracketed

LIMIT = 9.0  # how far fields are followed: the normal density beyond weighs 2e-19
LEAST = -45.0  # logarithm of what is neglected, relative to the maximum


@njit(cache=True, nogil=True, error_model="numpy")
def tilts(y, bias, split, shift, m, log_middle):
    """Return what weighs the fields ``bias + split (y + shift)`` of one sign, for y of any length.

    First ``exp(-2 |field|)``, then the exponent ``m ln 2 cosh`` less that in the middle, and
    ``e^exponent - 1`` relative to the normal density about `shift`.
    """
    decay, exponent, growth = np.empty_like(y), np.empty_like(y), np.empty_like(y)
    for j in range(len(y)):
        field = abs(bias + split * (y[j] + shift))
        decay[j] = portable.exp(-2.0 * field)
        exponent[j] = m * (field + portable.log1p_of_share(decay[j]) - log_middle)
        growth[j] = portable.expm1(exponent[j] - shift * (y[j] + shift))
    return decay, exponent, growth


@njit(cache=True, nogil=True)
def mild(width, split, m, rule):
    """Return what a binary weight contributes, with ``E <sech^2>`` after the two responses.

    Its field is ``width x + split y``. On either side of zero ``(2 cosh field)^m`` is
    ``e^{+-m field}`` but for a bounded factor, and y is measured from the middle of the Gaussian
    that this makes of it, unless that is close to zero.
    """
    shift = m * split if m * split > 2.0 else 0.0
    end = LIMIT if shift > 0.0 else LIMIT + 2.0  # the middle of the Gaussian may be as far as 2
    features = np.empty((1, 2))
    features[0, 0], features[0, 1] = 0.0, 1.0 / max(width, 0.5)
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
            edge = max(-side * bias / split - shift, -end)
            if edge >= end:
                continue
            features[0, 0], features[0, 1] = -side * bias / split - shift, 1.0 / max(split, 0.5)
            y, inner = gaussian.fill_grid(features, edge, end, rule)
            decay, exponent, growth = tilts(y, bias, side * split, shift, m, log_middle)
            for j in range(len(y)):
                weight = inner[j] * (1.0 + growth[j])
                response = side * (1.0 - decay[j]) / (1.0 + decay[j]) - middle
                if shift > 0.0:
                    norm += inner[j]
                excess += inner[j] * growth[j]
                first += weight * response
                second += weight * response * response
                variance += weight * 4.0 * decay[j] / (1.0 + decay[j]) ** 2
                tilted += weight * exponent[j]
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
def strong(width, split, m, rule):
    """Return what a binary weight contributes: `Grouped`, with ``E <sech^2>`` in third place.

    Its field is ``bias + split y``, ``bias = width x``. On either side of field zero ``m ln 2 cosh
    - y^2 / 2`` has one maximum at most, at ``y = m split m*`` with ``m* = tanh(field)``, or falls
    from the edge; on the side of the bias it has one, the largest.
    """
    pull = m * split * split
    features = np.empty((1, 2))
    # <tanh> rises with the bias by 1 + m at most
    features[0, 0], features[0, 1] = 0.0, 1.0 / max((1.0 + m) * width, 0.5)
    common = spread = complement = term = information = 0.0
    x, outer = gaussian.fill_grid(features, 0.0, LIMIT, rule)
    if width == 0.0:  # nothing depends on x
        x, outer = x[:1], np.full(1, 0.5)
    for i in range(len(x)):
        bias = width * x[i]
        best, field = magnetisation(bias, pull, bias + pull)
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
                    saturated, _ = magnetisation(-bias, pull, pull - bias)
                    peak = max(edge, m * split * saturated)
            low, high = _range(side, edge, peak, bias, split, m, top)
            if _log_weight(side * low, bias, split, m, top) < LEAST and high - peak <= 1.0:
                continue
            features[0, 0], features[0, 1] = edge, 1.0 / max(split, 0.5)
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
                    weight = half * rule[j, 1] * math.exp(exponent + shift) / tails.SQRT_2PI
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


@njit(cache=True, nogil=True)
def constrained_groups(distance, delta, width, inner, reference_width, correlation, m, rule):
    """Return delta, given a guess, and ``E [<tanh^2> - <tanh>^2]``, 1 - p1, t0, and the two terms.

    Newton's method for delta as in `spin._delta`, with the group's average at every field.
    """
    target = math.log(distance / (1.0 - distance))
    reach = 10.0 * math.hypot(width, inner) + 5.0
    low, high = min(delta, -0.5 * target) - reach, max(delta, -0.5 * target) + reach
    features = np.empty((1, 2))
    count = 1 if width > 0.5 else 0
    gridded = math.inf  # the delta for which the panels were made
    for _ in range(100):
        if abs(gridded - delta) > (0.5 if count else math.inf) or gridded == math.inf:
            gridded = delta
            if count:  # short panels where the counted weight changes sign
                features[0, 0], features[0, 1] = -delta / width, 1.0 / width
            u, weight = gaussian.fill_grid(features[:count], -9.0, 9.0, rule)
            first, second = reference_spin(u, reference_width, correlation, rule)
        near = far = slope = spread = complement = t0 = log_weight = information = 0.0
        for i in range(len(u)):
            w = weight[i] * first[i]
            if w < 1e-20:
                continue
            group = _one_group(width * u[i] + delta, inner, m, rule)
            near += w * group[0]
            far += w * group[1]
            slope += w * (group[2] + m * group[3])
            spread += w * group[3]
            complement += w * group[2]
            t0 += weight[i] * second[i] * (group[0] - group[1])
            log_weight += w * group[4]
            information += w * group[5]
        excess = math.log(far / near) - target
        step = excess * 2.0 * far * near / slope
        if abs(step) <= 1e-13 * max(1.0, abs(delta)):
            break
        delta, low, high = bracketed(delta, step, excess <= 0.0, low, high)
    else:
        complement = math.nan  # refused by whoever asks for an image
    return delta, (spread, complement, t0, log_weight, information)


@njit(cache=True, nogil=True)
def _one_group(bias, width, m, rule):
    """Average over the field ``bias + width z`` of one weight, weighted with ``(2 cosh)^m``.

    Returns the shares of +1 and of -1, ``<sech^2>``, the variance of tanh, ``ln <(2 cosh)^m> / m``
    and the information. On either side of zero ``(2 cosh)^m`` is ``e^{+-m field}`` but for a
    bounded factor, and z is measured from the middle of the Gaussian that this makes of it, unless
    that is close to zero. Responses are measured from that at z = 0: small widths lose no digits.
    """
    shift = m * width if m * width > 2.0 else 0.0
    end = LIMIT if shift > 0.0 else LIMIT + 2.0
    size = abs(bias)
    middle = math.tanh(size)
    log_middle = size + math.log1p(math.exp(-2.0 * size))  # ln 2 cosh
    features = np.empty((1, 2))
    norm = 1.0 if shift == 0.0 else 0.0
    excess = near = far = first = second = variance = tilted = 0.0
    for side in (1.0, -1.0):
        zero = -side * size / width - shift
        edge = max(zero, -end)
        if edge >= end:
            continue
        features[0, 0], features[0, 1] = zero, 1.0 / max(width, 0.5)
        z, weight = gaussian.fill_grid(features, edge, end, rule)
        decay, exponent, growth = tilts(z, size, side * width, shift, m, log_middle)
        for j in range(len(z)):
            w = weight[j] * (1.0 + growth[j])
            large = w / (1.0 + decay[j])
            small = large * decay[j]
            near += large if side > 0.0 else small
            far += small if side > 0.0 else large
            variance += 4.0 * small / (1.0 + decay[j])
            response = side * (1.0 - decay[j]) / (1.0 + decay[j]) - middle
            first += w * response
            second += w * response * response
            tilted += w * exponent[j]
            excess += weight[j] * growth[j]
            if shift > 0.0:
                norm += weight[j]
    log_norm = math.log1p(excess + (norm - 1.0)) + 0.5 * shift * shift
    norm += excess
    if bias < 0.0:
        near, far = far, near
    spread = max(second / norm - (first / norm) ** 2, 0.0)
    log_weight = log_middle + log_norm / m
    return near / norm, far / norm, variance / norm, spread, log_weight, tilted / norm - log_norm
