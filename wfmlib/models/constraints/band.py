"""Stabilities in a band: the symmetric perceptron."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from wfmlib.models.constraints.log_concave import LogConcave, Response
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Positive
from wfmlib.numerics.types import Array

__all__ = ["Band"]

RANGE = (0.01, 10.0)  # of kappa, in units of the activation's scale


@dataclass(frozen=True)
class Band(LogConcave):
    """Every pattern's stability lies between ``-kappa`` and `kappa`.

    The constraint of the symmetric perceptron. If w is a solution, so is -w: typical solutions
    have overlap 0, and their entropy is that of the average number of solutions, ``ln 2 + alpha
    ln[1 - 2 H(kappa)]`` for binary weights of a perceptron.

    Parameters
    ----------
    kappa : float
        Positive; stability is what `Margin` calls by that name.

    Notes
    -----
    Source: B. Aubin, W. Perkins, L. Zdeborova, J. Phys. A 52, 294003 (2019); C. Baldassi, R.
    Della Vecchia, C. Lucibello, R. Zecchina, J. Stat. Mech. (2020) 073303.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(Band(1.0).log_weight(np.array(0.0), 1.0)), 6)  # ln [1 - 2 H(1)]
    -0.381715
    >>> omega = np.array([-1.0, 1.0])
    >>> Band(1.0).slope(omega, 1.0).round(4).tolist()
    [0.7228, -0.7228]
    >>> Band(1.0).curvature(omega, 1.0).round(4).tolist()
    [-0.7487, -0.7487]
    """

    kappa: Positive

    even = True  #: the weight has no sign

    def __post_init__(self):
        arguments.check_fields(self)

    def rescaled(self, scale: float) -> Band:
        """Return the same constraint on stabilities that were divided by `scale`."""
        return Band(self.kappa / scale)

    def within_range(self, scale: float) -> None:
        """Raise ValueError if the band is not from 0.01 to 10 times the activation's scale."""
        arguments.real("kappa of Band / activation.scale", self.kappa / scale, *RANGE)

    def admits(self, other: Any) -> bool:
        """Return whether all stabilities that another constraint allows are allowed."""
        return isinstance(other, Band) and other.kappa <= self.kappa

    def at(self, omega: Array, variance: float) -> Any:
        """Return what a pattern does at shared fields, as `Response`.

        ``f = ln[H((-kappa - omega) / s) - H((kappa - omega) / s)]``, ``s = sqrt(variance)``.
        """
        omega = np.asarray(omega, dtype=float)
        rows = np.empty((4, omega.size))
        _band(omega.ravel(), math.sqrt(variance), self.kappa, rows)
        return Response(*rows.reshape(4, *omega.shape))

    def log_weight(self, omega: Array, variance: float) -> Array:
        """Return f, even in omega."""
        return self.at(omega, variance).log_weight

    def slope(self, omega: Array, variance: float) -> Array:
        """Return the mean force ``f'``, towards zero."""
        return self.at(omega, variance).slope

    def curvature(self, omega: Array, variance: float) -> Array:
        """Return ``f''``, between ``-1 / variance`` and 0."""
        return self.at(omega, variance).curvature

    def features(self, variance: float) -> Sequence[tuple[float, float]]:
        """Return where in omega these functions bend, and over what width: (centre, scale)."""
        width = math.sqrt(variance)
        return (-self.kappa, width), (self.kappa, width)


@njit(cache=True, nogil=True)
def _band(omega, width, kappa, rows):
    """Fill `rows` with what `Response` holds, without a difference that cancels.

    With ``a = (kappa - |omega|) / s`` and ``b = (kappa + |omega|) / s`` the weight is ``1 - H(a) -
    H(b)``; where a is negative, ``H(-a) - H(b)``: H(-a) times ``1 - ratio``. Densities are to each
    other as ``G(b) / G(a) = fall``.
    """
    for i in range(len(omega)):
        a, b = (kappa - abs(omega[i])) / width, (kappa + abs(omega[i])) / width
        log_fall = -2.0 * kappa * abs(omega[i]) / width**2
        fall = math.exp(log_fall)
        if a >= 0.0:
            out = gaussian.H(a) + gaussian.H(b)
            weight = 1.0 - out
            if out > 0.5:
                weight = 0.5 * (math.erf(a / math.sqrt(2.0)) + math.erf(b / math.sqrt(2.0)))
                rows[0, i] = math.log(weight)
            else:
                rows[0, i] = math.log1p(-out)
            near = gaussian.G(a) / weight
        else:
            hazard = gaussian.hazard(-a)
            log_ratio = log_fall + math.log(hazard / gaussian.hazard(b))
            rows[0, i] = gaussian.log_H(-a) + math.log(-math.expm1(log_ratio))
            near = -hazard / math.expm1(log_ratio)
        force = near * math.expm1(log_fall) / width
        rows[1, i] = math.copysign(force, -omega[i]) if force != 0.0 else 0.0
        rows[2, i] = -near * (a + b * fall) / width**2 - force**2
        rows[3, i] = near * (1.0 + fall) / width
