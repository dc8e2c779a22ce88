"""The Gibbs measure of cross-entropy, written out: P1's appendices B1 and B2, corrected.

Slow and obvious, and without anything of the package: no closed forms for one pattern, no saddle
points, only the free entropies as integrals over the fields. Stabilities are in units of the
activation's scale; `scale` turns them back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from tests import naive_franz_parisi as naive


def loss(gamma, x):
    """ln(1 + e^{-2 gamma x}) / (2 gamma), max(-x, 0) for infinite gamma."""
    if gamma == math.inf:
        return np.maximum(-x, 0.0)
    return np.logaddexp(0.0, -2.0 * gamma * x) / (2.0 * gamma)


def line(step=0.2, reach=9.0):
    """Equidistant nodes and Gaussian weights: for smooth integrands."""
    z = np.arange(-reach, reach + 0.5 * step, step)
    return z, step * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class Measure:
    """Which: load, sharpness, inverse temperature, the activation's c and scale, the weights."""

    alpha: float
    gamma: float
    beta: float
    c: object = naive.perceptron
    scale: float = 1.0
    spherical: bool = False

    def fields(self, q, z):
        """Fields of a pattern around sqrt(c) z, one row per z: x, stability, weight, its sum.

        Panels end where the stability is zero, where the loss has its kink.
        """
        c = complex(self.c(q)).real
        root, width = math.sqrt(c), math.sqrt(1.0 - c)
        bend = 1.0 / (self.gamma * self.scale * width)
        centre = -root * z / width
        # a field can be pushed past the kink by some bends, and by at most beta times its variance
        past = 9.0 * root / width + bend * math.log1p(self.beta)
        high = 9.0 + min(self.beta * self.scale * width, past)
        widths = (min(bend, 1.0) or 1.0,)
        x, weight = naive.panels(-9.0, high, 2.0, (centre,), widths)
        stability = self.scale * (root * z[:, None] + width * x)
        weight = weight * np.exp(-self.beta * loss(self.gamma, stability))
        return x, stability, weight, weight.sum(axis=1)

    def free_entropy(self, q, q_hat):
        """Of one pair of order parameters; spherical weights with both conjugates."""
        z, weight = line()
        pattern = self.alpha * weight @ np.log(self.fields(q, z)[3])
        if self.spherical:
            total = 1.0 / (1.0 - q)  # q_hat and the conjugate of the norm
            diagonal = total - q_hat
            ends = diagonal + q * q_hat - math.log(total) - 1.0 + q_hat / total
            return 0.5 * ends + pattern
        z, weight = line(0.05)
        spins = weight @ naive.log_2cosh(math.sqrt(q_hat) * z)
        return -0.5 * q_hat * (1.0 - q) + spins + pattern

    def averages(self, q):
        """Energy per weight, error rate, and E[(1 - variance of x)^2] / (1 - c)^2."""
        z, weight = line()
        x, stability, inner, norm = self.fields(q, z)
        energy = weight @ ((inner * loss(self.gamma, stability)).sum(axis=1) / norm)
        errors = weight @ ((inner * (stability < 0.0)).sum(axis=1) / norm)
        mean = (inner * x).sum(axis=1) / norm
        variance = (inner * (x - mean[:, None]) ** 2).sum(axis=1) / norm
        stiffness = weight @ (1.0 - variance) ** 2 / (1.0 - complex(self.c(q)).real) ** 2
        return self.alpha * energy, errors, stiffness


@dataclass(frozen=True)
class Around:
    """Solutions at a distance from a typical configuration of a measure, whose q, q_hat are given.

    P1's potential: s, t are the overlaps of a counted solution with another one and with another
    reference, p = 1 - 2 distance that with its own.
    """

    measure: Measure
    distance: float
    margin: float
    q: float
    q_hat: float

    def pattern(self, s, t, p, step=0.4):
        """The average of ln H over z, the reference's x and u: three sums in a row."""
        c = self.measure.c
        c_q, c_s, c_t, c_p = (complex(c(overlap)).real for overlap in (self.q, s, t, p))
        (z, weight), (u, weight_u) = line(step, 8.5), line(step, 8.5)
        x, _, inner, norm = self.measure.fields(self.q, z)
        omega = c_s - c_t**2 / c_q - (c_p - c_t) ** 2 / (1.0 - c_q)
        mean = (c_t / math.sqrt(c_q)) * z[:, None] + (c_p - c_t) / math.sqrt(1.0 - c_q) * x
        share = weight[:, None] * inner / norm[:, None]
        mean, share = mean[share > 1e-15], share[share > 1e-15]
        total = 0.0
        for one, part in zip(u, weight_u, strict=True):
            argument = (mean + math.sqrt(omega) * one - self.margin) / math.sqrt(1.0 - c_s)
            total += part * (share @ special.log_ndtr(argument))
        return total

    def weights(self, s, t, p, conjugates):
        """What binary weights contribute, with their conjugates (s_hat, t_hat, p_hat)."""
        s_hat, t_hat, p_hat = conjugates
        spins = naive.entropic_binary(s_hat, t_hat, p_hat, self.q_hat, 2.0)
        return (-0.5 * s_hat * (1.0 - s) + t * t_hat - p * p_hat + spins).real

    def conjugates(self, s, t, by_s, by_t):
        """s_hat, t_hat from the pattern's derivatives, p_hat from the distance."""
        s_hat, t_hat = -2.0 * self.measure.alpha * by_s, -self.measure.alpha * by_t
        p = 1.0 - 2.0 * self.distance

        def excess(p_hat):
            return self._slope((s_hat, t_hat, p_hat), 2) - p

        return s_hat, t_hat, optimize.brentq(excess, -20.0, 20.0, xtol=1e-13)

    def overlaps(self, conjugates):
        """s and t as the spins have them: where the derivatives in s_hat, t_hat vanish."""
        return 1.0 - 2.0 * self._slope(conjugates, 0), -self._slope(conjugates, 1)

    def _slope(self, conjugates, i):
        def spins(*moved):
            return naive.entropic_binary(*moved, self.q_hat, 2.0)

        return naive.slope_of(spins, conjugates, i)
