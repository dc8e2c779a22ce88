"""The effective overlap of any activation, looked up: a search asks for it thousands of times."""

from __future__ import annotations

import numpy as np

from wfmlib.models.activations import Activation, EffectiveOverlap

SMALLEST = -24.0  # of ln(1 - q); closer to 1 the slope is that at 1
DEGREE = 100  # of the polynomial


class Tabulated:
    """``ln(1 - c)`` as a Chebyshev series in ``ln(1 - q)``; relative errors are below 1e-10."""

    def __init__(self, activation):
        self.slope_at_one = float(activation.slope_at_one)

        def log_complement(u):
            gaps = np.exp(u)
            return np.log(activation.effective(1.0 - gaps, gaps).complement)

        interpolate = np.polynomial.Chebyshev.interpolate
        self._series = interpolate(log_complement, DEGREE, domain=[SMALLEST, 0.0])
        self._slope = self._series.deriv()

    def effective(self, q, complement):
        """Return c, 1 - c and c' at overlaps from 0 to 1; no curvature."""
        u = np.maximum(np.log(complement), SMALLEST)
        beyond = complement / np.exp(u)
        rest = np.exp(self._series(u))
        return EffectiveOverlap(
            1.0 - rest * beyond, rest * beyond, rest / np.exp(u) * self._slope(u), np.nan
        )


def quick(activation):
    """Return an activation with an effective overlap that is quickly had."""
    return Tabulated(activation) if isinstance(activation, Activation) else activation
