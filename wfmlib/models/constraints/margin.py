"""Stabilities above a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wfmlib.numerics import _validate, gaussian

__all__ = ["Margin"]


@dataclass(frozen=True)
class Margin:
    """Every pattern's stability lies strictly above `kappa`.

    Stability is what each paper calls by that name: ``sigma (w . xi) / sqrt(N)`` for the
    perceptron, ``(sigma / sqrt(K)) sum_l c_l g(.)`` for the tree committee (P2). The theory
    divides both by the standard deviation of a random pattern's stability, the activation's
    `scale`.

    Parameters
    ----------
    kappa : float
        Finite, of either sign.
    """

    kappa: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "kappa", _validate.real("kappa", self.kappa))

    def rescaled(self, scale):
        """Return the same constraint on stabilities that were divided by `scale`."""
        return Margin(self.kappa / scale)

    def log_weight(self, omega, variance):
        """Return ``f = ln H((kappa - omega) / sqrt(variance))``  [eq-rs-energetic]."""
        return gaussian.log_H((self.kappa - omega) / math.sqrt(variance))

    def slope(self, omega, variance):
        """Return ``f' = h(u) / sqrt(variance)``, u the argument of H, h the hazard [eq-hazard]."""
        width = math.sqrt(variance)
        return gaussian.hazard((self.kappa - omega) / width) / width

    def curvature(self, omega, variance):
        """Return ``f'' = -h (h - u) / variance``."""
        return -gaussian.hazard_derivative((self.kappa - omega) / math.sqrt(variance)) / variance

    def features(self, variance):
        """Return where in omega these functions bend, and over what width: (centre, scale)."""
        return ((self.kappa, math.sqrt(variance)),)

    @property
    def tilt(self):
        """How far below zero a hard-won pattern pulls omega: the range of averages includes it."""
        return min(self.kappa, 0.0)

    order = gaussian.ORDER  #: nodes in a panel, for averages over omega

    def shortfall(self):
        """Return ``E (kappa - x)_+^2``, the mean square by which a random pattern falls short.

        It is the limit of ``variance^2 E f'^2`` for variance -> 0, where solutions coincide.
        """
        x, weight = gaussian.grid((self.kappa, 0.0), tilt=self.tilt)
        return weight @ np.maximum(self.kappa - x, 0.0) ** 2
