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

from wfmlib.models.constraints.margin import pattern_group
from wfmlib.numerics import gaussian, portable, tails
from wfmlib.theory.saddles.constrained import FREE, LIMIT, Constrained

RULE = gaussian.legendre_rule(10)  # relative errors of all averages below 1e-11


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
        self.constraint = constraint.rescaled(activation.scale)
        conjugates = distance, self.p_hat, correlation, split, m, reference
        self.overlaps = weights.constrained_broken(*conjugates, rule, delta)
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
                reference.constraint.kappa,
                self.slope,
                self.width,
                self.counted.complement,
                self.gap,
                self.within.complement,
                self.constraint.kappa,
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


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


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


@njit(cache=True, nogil=True, error_model="numpy")
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
        features[count, 0], features[count, 1] = kappa / size, math.sqrt(outer) / size
        count += 1
    if along > 1e-8:
        features[count, 0], features[count, 1] = kt / along, math.sqrt(left + across**2) / along
        count += 1
    u, weight = gaussian.fill_grid(features[:count], ranges[0, 0], ranges[0, 1], rule)
    common = deviation = cross = log_weight = information = 0.0
    for i in range(len(u)):
        count = 0
        if abs(across) > 1e-8:
            features[count, 0], features[count, 1] = (
                (kt - along * u[i]) / across,
                root_left / abs(across),
            )
            count += 1
        if root_c * sigma > 1e-8:
            features[count, 0], features[count, 1] = (
                (kt / root_c - rho * u[i]) / sigma,
                spread / (root_c * sigma),
            )
            count += 1
        v, measure = gaussian.fill_grid(features[:count], ranges[1, 0], ranges[1, 1], rule)
        short, hazard = np.empty_like(v), np.empty_like(v)  # of another reference
        log_above, log_tail = np.empty_like(v), np.empty_like(v)
        for j in range(len(v)):
            short[j] = (kt - along * u[i] - across * v[j]) / root_left
        tails.fill_log_tail(short, log_above)
        for j in range(len(v)):
            short[j] = (kt - root_c * (rho * u[i] + sigma * v[j])) / spread
        tails.fill_hazard(short, hazard)
        tails.fill_log_tail(short, log_tail)
        for j in range(len(v)):
            measure[j] *= portable.exp(log_above[j] - log_tail[j])
        first = second = 0.0
        for j in range(len(v)):
            w = weight[i] * measure[j]
            first += w
            second += w * hazard[j]
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
