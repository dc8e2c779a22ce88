"""Counted solutions in groups, at a distance from a reference: one turn of the 1RSB loop.

What `constrained` is for replica symmetry  [eq-fp-1rsb]: the conjugates and the distance become
overlaps, overlaps become forces, and forces are the conjugates again. Each average gets an inner
one, over what the members of a group share.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.models.weights import _reference_spin
from wfmlib.numerics import gaussian
from wfmlib.theory.saddles.broken_symmetry import log_tail, pattern_group
from wfmlib.theory.saddles.constrained import FREE, LIMIT, Constrained

RULE = gaussian.legendre_rule(10)  # relative errors of all averages below 1e-11


class Overlaps(NamedTuple):
    """The entropic side, given the conjugates, the split and the distance.

    Attributes
    ----------
    p0, outer : float
        Overlap between groups, and ``1 - p0``.
    complement, difference : float
        ``1 - p1`` and ``p1 - p0``.
    t0 : float
        Overlap with another reference.
    split_hat : float
        ``p1_hat - p0_hat``.
    term : float
        What the weights contribute to the local entropy  [eq-fp-1rsb], in nats per weight.
    complexity : float
        What they contribute to ``-m^2 d phi / dm``.
    delta : float or None
        ``t1_hat - t0_hat``, for binary weights.
    """

    p0: float
    outer: float
    complement: float
    difference: float
    t0: float
    split_hat: float
    term: float
    complexity: float
    delta: float | None = None


class Pattern(NamedTuple):
    """Averages over the fields that one pattern exerts; z under < >.

    Attributes
    ----------
    common : float
        ``E <f'>^2``.
    spread : float
        ``E [<f'^2> - <f'>^2]``.
    cross : float
        ``E r <f'>``, r the force on another reference.
    log_weight : float
        ``(1/m) E ln < e^{m f} >``.
    information : float
        ``E [m <f> - ln < e^{m f} >]``, not negative.
    """

    common: float
    spread: float
    cross: float
    log_weight: float
    information: float


class Groups(Constrained):
    """One turn of the loop: from ``p0_hat``, r, the split and the distance to overlaps and back.

    What `Constrained` calls p is p0 here: the fields' covariance splits in the same way.
    """

    def __init__(
        self,
        distance,
        p0_hat,
        correlation,
        split,
        m,
        reference,
        weights,
        activation,
        constraint,
        rule=RULE,
        delta=None,
    ):
        self.distance, self.correlation, self.m, self.rule = distance, correlation, m, rule
        self.p_hat = p0_hat if p0_hat > FREE else 0.0
        self.reference = reference
        self.kappa = constraint.kappa / activation.scale
        entropic = _binary if weights.discrete else _spherical
        given = distance, self.p_hat, correlation, split, m, reference
        self.overlaps = entropic(*given, rule, delta)
        self.p, self.complement = self.overlaps.p0, self.overlaps.outer
        self.t0, self.t1 = self.overlaps.t0, 1.0 - 2.0 * distance
        self.counted = activation.effective(self.p, self.complement)
        within = 1.0 - self.overlaps.complement, self.overlaps.complement
        self.within = activation.effective(*within)
        self.other = activation.effective(self.t0, 1.0 - self.t0)
        self.nearest = activation.effective(self.t1, 2.0 * distance)
        self._split()
        # c(p1) - c(p0): a difference of two numbers that are both below 1/2 loses least
        self.gap = self.counted.complement - self.within.complement
        if self.counted.c < 0.5:
            self.gap = self.within.c - self.counted.c

    @cached_property
    def pattern(self):
        """Averages over a pattern's fields, as `Pattern`; NaN where nothing can be resolved."""
        if not self.gap > 0.0 or not self.within.complement > 0.0:
            return Pattern(*[math.nan] * 5)
        reference = self.reference
        return Pattern(
            *_pattern_averages(
                math.sqrt(reference.c),
                reference.variance,
                reference.kappa,
                self.slope,
                self.width,
                self.counted.complement,
                self.gap,
                self.within.complement,
                self.kappa,
                self.lean,
                self.left,
                self.m,
                self.rule,
            )
        )

    def image(self):
        """Return ``(ln p0_hat, r)`` as they follow from the overlaps; r stays if no field is."""
        alpha, q_hat = self.reference.alpha, self.reference.q_hat
        p0_hat = alpha * self.counted.slope * self.pattern.common
        if math.isnan(p0_hat):
            return np.full(2, np.nan)
        if p0_hat <= FREE:
            return np.array([math.log(FREE), self.correlation])
        t0_hat = alpha * self.other.slope * self.pattern.cross
        return np.array([math.log(p0_hat), min(t0_hat / math.sqrt(p0_hat * q_hat), 1.0)])

    @property
    def log_growth(self):
        """Logarithm of the factor by which ``p1_hat - p0_hat`` changes in one turn.

        The difference of the two equations is one of variances: for small splits no digit is lost.
        """
        common, spread = self.pattern[:2]
        slopes = self.counted.slope, self.within.slope - self.counted.slope
        image = self.reference.alpha * (slopes[0] * spread + slopes[1] * (common + spread))
        if image == 0.0:
            return -math.inf
        return float(np.log(image / self.overlaps.split_hat))

    @property
    def log_narrow(self):
        """Logarithm of ``(1 - p1) / (1 - p0)``: how narrow groups are."""
        return math.log(self.overlaps.complement / self.overlaps.outer)

    @property
    def local_entropy(self):
        """Local entropy in nats per weight  [eq-fp-1rsb]."""
        return self.overlaps.term + self.reference.alpha * self.pattern.log_weight

    @property
    def complexity(self):
        """``-m^2 d phi / dm``: logarithm of the number of groups, per weight."""
        return self.overlaps.complexity - self.reference.alpha * self.pattern.information

    @property
    def relative_complexity(self):
        """The complexity in units in which it is linear in a small split."""
        scale = self.m**2 * self.overlaps.split_hat * self.overlaps.difference
        return self.complexity / scale


def _spherical(distance, p0_hat, correlation, split, m, reference, *_):
    """Return the entropic side, conjugates eliminated.

    With ``X = 1 - p1`` and ``Y = X + m (p1 - p0)``: ``p0_hat Y^2 = p0 - t1^2 + u^2`` with ``u =
    (t0 - q t1) / (1 - q) = (1 - q) Y t0_hat``, and ``p1_hat - p0_hat = (p1 - p0) / (X Y)``, solved
    here for the overlaps. The local entropy gains ``[ln X + ln(Y / X) / m + p0_hat Y] / 2``.
    """
    t1, q = 1.0 - 2.0 * distance, reference.q
    free = 4.0 * distance * (1.0 - distance)  # 1 - t1^2
    t0_hat = correlation * math.sqrt(p0_hat * reference.q_hat)
    stretch = p0_hat * (1.0 - correlation**2 * q)
    ratio = (1.0 + m * split) / (1.0 + split)  # Y / (1 - p0)
    wide = 2.0 * free * ratio / (1.0 + math.sqrt(1.0 + 4.0 * stretch * free * ratio**2))
    inner = wide / (1.0 + m * split)
    outer = wide / ratio
    log_ratio, share = math.log1p(m * split), m * split / (1.0 + m * split)
    return Overlaps(
        p0=1.0 - outer,
        outer=outer,
        complement=inner,
        difference=split * inner,
        t0=q * t1 + reference.complement**2 * wide * t0_hat,
        split_hat=split / wide,
        term=0.5 * (math.log(inner) + log_ratio / m + p0_hat * wide),
        complexity=0.5 * (log_ratio - share + m * share * p0_hat * wide),
    )


def _binary(distance, p0_hat, correlation, split, m, reference, rule, delta):
    """Return the entropic side.

    As in `Binary.constrained` the reference weight is taken to be +1, and ``delta = t1_hat -
    t0_hat`` is solved for such that its overlap with the counted weight is ``1 - 2 distance``.
    """
    widths = math.sqrt(p0_hat), math.sqrt(split), math.sqrt(reference.q_hat)
    if delta is None:
        delta = 0.5 * math.log((1.0 - distance) / distance)
    delta, averages = _weight_averages(distance, delta, *widths, correlation, m, rule)
    spread, complement, t0, log_weight, information = averages
    t0_hat = correlation * widths[0] * widths[2]
    t1 = 1.0 - 2.0 * distance
    # p1 p1_hat - p0 p0_hat
    product = spread * p0_hat + (1.0 - complement) * split
    products = (t0 - t1) * t0_hat - t1 * delta - 0.5 * (p0_hat + split) * complement
    return Overlaps(
        p0=1.0 - (complement + spread),
        outer=complement + spread,
        complement=complement,
        difference=spread,
        t0=t0,
        split_hat=split,
        term=log_weight + products - 0.5 * m * product,
        complexity=0.5 * m**2 * product - information,
        delta=delta,
    )


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _weight_averages(distance, delta, width, inner, reference_width, correlation, m, rule):
    """Return delta, given a guess, and ``E [<tanh^2> - <tanh>^2]``, 1 - p1, t0, and the two terms.

    Newton's method for delta as in `weights._delta`, with the group's average at every field.
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
                features[0] = -delta / width, 1.0 / width
            u, weight = gaussian.fill_grid(features[:count], -9.0, 9.0, rule)
            first, second = _reference_spin(u, reference_width, correlation, rule)
        near = far = slope = spread = complement = t0 = log_weight = information = 0.0
        for i in range(len(u)):
            w = weight[i] * first[i]
            if w < 1e-20:
                continue
            group = _weight_group(width * u[i] + delta, inner, m, rule)
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
        if excess > 0.0:  # too far away: pull harder
            low = delta
        else:
            high = delta
        if delta + step <= low or delta + step >= high:
            step = 0.5 * (low + high) - delta
        delta += step
    else:
        complement = math.nan  # refused by whoever asks for an image
    return delta, (spread, complement, t0, log_weight, information)


@njit(cache=True, nogil=True)
def _weight_group(bias, width, m, rule):
    """Average over the field ``bias + width z`` of one weight, weighted with ``(2 cosh)^m``.

    Returns the shares of +1 and of -1, ``<sech^2>``, the variance of tanh, ``ln <(2 cosh)^m> / m``
    and the information. On either side of zero ``(2 cosh)^m`` is ``e^{+-m field}`` but for a
    bounded factor, and z is measured from the middle of the Gaussian that this makes of it, unless
    that is close to zero. Responses are measured from that at z = 0: small widths lose no digits.
    """
    shift = m * width if m * width > 2.0 else 0.0
    size = abs(bias)
    middle = math.tanh(size)
    log_middle = size + math.log1p(math.exp(-2.0 * size))  # ln 2 cosh
    features = np.empty((1, 2))
    norm = 1.0 if shift == 0.0 else 0.0
    excess = near = far = first = second = variance = tilted = 0.0
    for side in (1.0, -1.0):
        zero = -side * size / width - shift
        edge = max(zero, -9.0)
        if edge >= 9.0:
            continue
        features[0] = zero, 1.0 / max(width, 0.5)
        z, weight = gaussian.fill_grid(features, edge, 9.0, rule)
        for j in range(len(z)):
            field = abs(size + side * width * (z[j] + shift))
            decay = math.exp(-2.0 * field)
            exponent = m * (field + math.log1p(decay) - log_middle)
            growth = math.expm1(exponent - shift * (z[j] + shift))
            w = weight[j] * (1.0 + growth)
            large, small = w / (1.0 + decay), w * decay / (1.0 + decay)
            near += large if side > 0.0 else small
            far += small if side > 0.0 else large
            variance += 4.0 * large * decay / (1.0 + decay)
            response = side * (1.0 - decay) / (1.0 + decay) - middle
            first += w * response
            second += w * response * response
            tilted += w * exponent
            excess += weight[j] * growth
            if shift > 0.0:
                norm += weight[j]
    log_norm = math.log1p(excess + (norm - 1.0)) + 0.5 * shift * shift
    norm += excess
    if bias < 0.0:
        near, far = far, near
    spread = max(second / norm - (first / norm) ** 2, 0.0)
    log_weight = log_middle + log_norm / m
    return near / norm, far / norm, variance / norm, spread, log_weight, tilted / norm - log_norm


@njit(cache=True, nogil=True)
def _reach(root_c, spread, kt, lean, rho, sigma):
    """Return the ranges of u and v outside of which the measure of the reference is negligible.

    x is normal, and y, given x, within a standard normal's reach of its mean.
    """
    ranges = np.zeros((2, 2))
    for k in range(69):
        x = LIMIT * (k / 34.0 - 1.0)
        mean = lean * gaussian.hazard((kt - root_c * x) / spread) / spread
        for side in (-1.0, 1.0):
            y = mean + side * math.sqrt(LIMIT**2 - x * x)
            for row, place in enumerate((rho * x + sigma * y, sigma * x - rho * y)):
                ranges[row, 0] = min(ranges[row, 0], place)
                ranges[row, 1] = max(ranges[row, 1], place)
    return ranges


@njit(cache=True, nogil=True)
def _pattern_averages(
    root_c, variance, kt, slope, width, outer, gap, own, kappa, lean, left, m, rule
):  # fmt: skip
    """Return what `Pattern` holds; `outer` is ``1 - c(p0)``, `own` is ``1 - c(p1)``.

    Of x and y a group sees only ``slope x + width y``. So they are turned into u along that and v
    at a right angle: for each u one average over v, of the measure of the reference, and one over
    z, instead of three nested ones.
    """
    spread, root_left = math.sqrt(variance), math.sqrt(max(left, 1e-300))
    size = math.hypot(slope, width)
    rho, sigma = (slope / size, width / size) if size > 0.0 else (1.0, 0.0)
    # the reference's field, given u and v, has the mean `along` u + `across` v
    along, across = root_c * rho + lean * sigma, root_c * sigma - lean * rho
    ranges = _reach(root_c, spread, kt, lean, rho, sigma)
    features = np.empty((2, 2))
    count = 0
    if size > 1e-8:
        features[count] = kappa / size, math.sqrt(outer) / size
        count += 1
    if along > 1e-8:
        features[count] = kt / along, math.sqrt(left + across**2) / along
        count += 1
    u, weight = gaussian.fill_grid(features[:count], ranges[0, 0], ranges[0, 1], rule)
    common = deviation = cross = log_weight = information = 0.0
    for i in range(len(u)):
        count = 0
        if abs(across) > 1e-8:
            features[count] = (kt - along * u[i]) / across, root_left / abs(across)
            count += 1
        if root_c * sigma > 1e-8:
            features[count] = (kt / root_c - rho * u[i]) / sigma, spread / (root_c * sigma)
            count += 1
        v, measure = gaussian.fill_grid(features[:count], ranges[1, 0], ranges[1, 1], rule)
        first = second = 0.0
        for j in range(len(v)):
            short = (kt - root_c * (rho * u[i] + sigma * v[j])) / spread
            hazard = gaussian.hazard(short)  # of another reference
            above = gaussian.log_H((kt - along * u[i] - across * v[j]) / root_left)
            exponent = above - log_tail(short, hazard)
            if exponent > -100.0:
                w = weight[i] * measure[j] * math.exp(exponent)
                first += w
                second += w * hazard
        if first < 1e-24:
            continue
        group = pattern_group(kappa - size * u[i], gap, own, m, rule)
        common += first * group[0] ** 2
        deviation += first * group[1]
        cross += second * group[0]
        log_weight += first * group[2]
        information += first * group[3]
    return (
        common / own,
        deviation / own,
        cross / (spread * math.sqrt(own)),
        log_weight,
        information,
    )
