"""A constraint from the logarithm of a pattern's weight: any smooth concave function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wfmlib.models.constraints.cross_entropy_loss import Gibbs
from wfmlib.models.constraints.log_concave import LogConcave
from wfmlib.numerics import arguments

__all__ = ["PatternWeight"]

STEP = 0.02
X = np.arange(-10.0, 10.0, STEP)  # the trapezoidal rule is spectral on the whole line
DENSITY = STEP * np.exp(-0.5 * X**2) / math.sqrt(2.0 * math.pi)
TOLERANCE = 1e-9  # between the rule and that of twice the step


@dataclass(frozen=True)
class PatternWeight(LogConcave):
    """Every pattern weighs ``exp g(stability)``: a measure of one's own.

    Parameters
    ----------
    g : callable
        Of an array of stabilities, elementwise: smooth, concave, and below a parabola.

    Raises
    ------
    TypeError
        If `g` is not a function.
    ValueError
        When it is averaged: if it is not finite, or bends on a scale that the quadrature of 50
        nodes in a standard deviation does not see.

    Examples
    --------
    >>> from wfmlib import Perceptron, theory
    >>> soft = PatternWeight(lambda s: -np.logaddexp(0.0, -5.0 * s))  # 1 / (1 + exp(-5 s))
    >>> round(theory.typical.solve(Perceptron(), 0.5, soft).free_entropy, 4)
    0.3241
    """

    g: Callable[[Any], Any]

    hard = False  #: a pattern costs more or less
    beta = 1.0  #: the energy of a pattern is ``-g``

    def __post_init__(self):
        arguments.function("g", self.g)

    def rescaled(self, scale: float) -> PatternWeight:
        """Return the same constraint on stabilities that were divided by `scale`."""
        return self if scale == 1.0 else PatternWeight(lambda s: self.g(scale * s))

    def features(self, variance: float) -> tuple[tuple[float, float], ...]:
        """Return where these functions bend, and over what widths: nowhere in particular."""
        return ((0.0, math.sqrt(1.0 + variance)),)

    def at(self, omega: Any, variance: float) -> Gibbs:
        """Return the averages over the rest of a field of this variance."""
        width = STEP * math.sqrt(variance)
        stability = np.asarray(omega, dtype=float)[..., None] + math.sqrt(variance) * X
        exponent = np.asarray(self.g(stability), dtype=float)
        if exponent.shape != stability.shape or np.any(np.isnan(exponent)):
            raise ValueError("g must give a number for each stability")
        top = exponent.max(axis=-1, keepdims=True)
        weight = DENSITY * np.exp(exponent - top)
        norm = weight.sum(axis=-1)
        if not np.all(np.abs(2.0 * weight[..., ::2].sum(axis=-1) / norm - 1.0) < TOLERANCE):
            raise ValueError(f"g must be smooth over stabilities of {width:.2g}")
        weight /= norm[..., None]
        force = weight @ X
        return Gibbs(
            log_weight=np.log(norm) + top[..., 0],
            slope=force / math.sqrt(variance),
            curvature=(weight @ X**2 - 1.0 - force**2) / variance,
            loss=-np.sum(weight * np.where(weight > 0.0, exponent, 0.0), axis=-1),
            errors=np.sum(weight * np.clip(0.5 - stability / width, 0.0, 1.0), axis=-1),
        )
