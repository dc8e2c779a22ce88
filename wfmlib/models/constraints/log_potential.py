"""Stabilities pushed away from the margin: the potential ``U(s) = -log s``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numba import njit

from wfmlib.models.constraints.log_concave import LogConcave
from wfmlib.models.constraints.margin import Margin
from wfmlib.numerics import arguments, gaussian, portable
from wfmlib.numerics.arguments import Finite
from wfmlib.numerics.tabulated import tabulate
from wfmlib.numerics.types import Array

__all__ = ["LogPotential", "Pushed"]

MARGINS = (-2.0, 1e4)  # those of `Margin`
REACH = 8.5  # how far fields are followed: the normal density beyond weighs 2e-17
DEPTH = 42.0  # nats below the largest weight at which the integral is cut: 6e-19
STEP = 0.25  # of the trapezoid rule, in widths of the peak: its error is below 1e-13
LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


class Pushed:
    """Averages over the field of one pattern, weighed by the potential; each of omega's shape.

    Attributes
    ----------
    log_weight, slope, curvature : ndarray
        Logarithm of the average weight, and its derivatives in omega  [eq-log-weight].

    Examples
    --------
    >>> import numpy as np
    >>> isinstance(LogPotential(1.0).at(np.array([0.2]), 0.5), Pushed)
    True
    """

    def __init__(self, omega, width, exponent):
        self._arguments = omega.ravel(), width, exponent
        self._shape = omega.shape
        rows = np.empty((3, omega.size))
        if exponent == 1.0:
            _pushed_once(omega.ravel(), width, rows)
        else:
            _pushed(*self._arguments, rows)
        self.log_weight, self.slope, self.curvature = rows.reshape(3, *omega.shape)

    @cached_property
    def loss(self):
        """Mean of ``-ln(s - kappa)``, the potential itself."""
        out = np.empty(self._arguments[0].size)
        _mean_potential(*self._arguments, out)
        return out.reshape(self._shape)

    @property
    def errors(self):
        """Probability that the stability is below the margin: 0."""
        return np.zeros(self._shape)


@dataclass(frozen=True)
class LogPotential(LogConcave):
    """Every pattern weighs ``(s - kappa)^exponent``, s its stability, above the margin kappa.

    The Gibbs measure on solutions with the potential ``U(s) = -log(s - kappa)`` and the inverse
    temperature `exponent`: only solutions weigh at all, and those least that only just are ones.
    At exponent 0 all solutions weigh alike, which is `Margin`.

    Parameters
    ----------
    exponent : float
        From 0.1 to 100; 1 in the literature.
    kappa : float, optional
        Margin; stability is what `Margin` calls by that name.

    Notes
    -----
    Theory takes it for devices whose stabilities have the scale 1: the perceptron, and trees of
    sign units. `typical.solve` gives a `GibbsPoint`; its energy is ``alpha`` times the mean of
    ``-ln(s - kappa)``, and its entropy that of the solutions that dominate. In `franz_parisi` it
    is a reference.

    Source: D. Straziota, E. Demyanenko, C. Baldassi, C. Lucibello, arXiv:2502.16292.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> from wfmlib.theory import typical
    >>> round(typical.solve(Perceptron(), 0.3, LogPotential(1.0)).entropy, 4)
    0.4098
    >>> push, omega = LogPotential(1.0), np.array([-1.0, 1.0])
    >>> push.log_weight(omega, 1.0).round(4).tolist()
    [-2.4851, 0.08]
    >>> push.slope(omega, 1.0).round(4).tolist(), push.curvature(omega, 1.0).round(4).tolist()
    ([1.9043, 0.7766], [-0.722, -0.3798])
    """

    exponent: Annotated[float, Interval(ge=0.1, le=100.0)] = 1.0
    kappa: Finite = 0.0

    hard = False  #: a solution weighs more or less
    order = 12  #: nodes in a panel, for averages over omega

    def __post_init__(self):
        arguments.check_fields(self)

    @property
    def beta(self) -> float:
        """Inverse temperature of the potential: `exponent`."""
        return self.exponent

    @property
    def support(self) -> Margin:
        """The constraint that all configurations of positive weight satisfy."""
        return Margin(self.kappa)

    @property
    def tilt(self) -> float:  # type: ignore[override]
        """How far below zero a hard-won pattern pulls omega: the range of averages includes it."""
        return min(self.kappa, 0.0)

    def rescaled(self, scale: float) -> LogPotential:
        """Return the same constraint on stabilities that were divided by `scale`, which is 1."""
        return self

    def within_range(self, scale: float) -> None:
        """Raise ValueError if the scale is not 1, or the margin not from -2 to 1e4."""
        if abs(scale - 1.0) > 1e-12:
            raise ValueError(
                "LogPotential must be of stabilities of the scale 1: a Perceptron, or sign units; "
                f"got an activation of scale {scale:g}"
            )
        arguments.real("kappa of LogPotential", self.kappa, *MARGINS)

    def at(self, omega: Array, variance: float) -> Any:
        """Return what a pattern does at shared fields, as `Pushed`."""
        omega = np.asarray(omega, dtype=float) - self.kappa
        return Pushed(omega, math.sqrt(variance), self.exponent)

    def log_weight(self, omega: Array, variance: float) -> Array:
        """Return ``f = ln E (omega + sqrt(variance) x - kappa)_+^exponent``  [eq-log-weight]."""
        return self.at(omega, variance).log_weight

    def slope(self, omega: Array, variance: float) -> Array:
        """Return the mean force ``f'``, positive."""
        return self.at(omega, variance).slope

    def curvature(self, omega: Array, variance: float) -> Array:
        """Return ``f''``, negative."""
        return self.at(omega, variance).curvature

    def features(self, variance: float) -> Sequence[tuple[float, float]]:
        """Return where in omega these functions bend, and over what width: (centre, scale)."""
        return ((self.kappa, math.sqrt(variance)),)

    @property
    def front(self) -> Any:
        """Stability below which a pattern has no weight: the margin."""
        return self.kappa

    def lowest(self, left: Any) -> Any:
        """Return the field below which the force no longer grows: NaN, as it always does."""
        return math.nan

    def table(self, split: Any, force: Any) -> Any:
        """Return a pattern's log-weight and force, given its field but for the variance `left`.

        As `tabulate` does, over all fields that x and y of the split can make; `force` is that at
        the nodes x.
        """

        def functions(omega):
            response = self.at(omega, split.left)
            return np.array([response.log_weight, response.slope])

        reach = REACH * math.sqrt(max(split.c + split.lean**2, 1e-12)) + abs(self.kappa)
        pull = split.lean**2 * float(np.max(force))
        return tabulate(functions, self.features(split.left), -reach, reach + pull)


# ------------------------------------------------------------------------------------------------
# Kernel
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def _pushed_once(omega, width, rows):
    """Fill `rows` for the exponent 1, in closed form.

    With ``a = omega / width`` the average is ``width (G(a) + a H(-a)) = width H(-a) gap``, where
    ``gap = h(-a) + a`` does not cancel.
    """
    for i in range(len(omega)):
        a = omega[i] / width
        gap = gaussian.hazard_gap(-a) if a < 0.0 else a + gaussian.hazard(-a)
        rows[0, i] = math.log(width * gap) + gaussian.log_H(-a)
        rows[1, i] = 1.0 / (gap * width)
        rows[2, i] = (gaussian.hazard_derivative(-a) - 1.0) * rows[1, i] ** 2


@njit(cache=True, nogil=True, error_model="numpy")
def _peak(u, width, power):
    """Return where the integrand in ``y = ln s`` is largest, s0, and how wide its peak is."""
    root = math.sqrt(u * u + 4.0 * (power + 1.0) * width * width)
    s0 = 0.5 * (u + root) if u > 0.0 else 2.0 * (power + 1.0) * width * width / (root - u)
    return s0, width / math.sqrt(s0 * root)


@njit(cache=True, nogil=True, error_model="numpy")
def _pushed(omega, width, power, rows):
    """Fill `rows` with log-weight, force and second derivative.

    By the trapezoid rule in the logarithm of the field, ``y = ln s``: the integrand ``exp(E)``,
    ``E = (b + 1) y - (s - omega)^2 / 2 width^2``, has one peak at s0, with tails that fall at
    least exponentially, so that the rule converges exponentially. The force is ``b <1/s>``, and
    by parts ``(<s> - omega) / width^2``; the second derivative ``-b <(s - <s>)^2 / s> / (<s>
    width^2)``: no two large numbers cancel.
    """
    for i in range(len(omega)):
        s0, narrow = _peak(omega[i], width, power)
        step, shortfall = STEP * narrow, (s0 - omega[i]) / width
        norm = first = inverse = second = third = 0.0
        for side in (-1.0, 1.0):
            y = 0.0 if side < 0.0 else step  # the peak itself belongs to the left side
            while True:
                away = s0 * portable.expm1(y)  # s - s0
                drop = (power + 1.0) * y - away * (shortfall + 0.5 * away / width) / width
                if drop - min(y, 0.0) < -DEPTH:
                    break
                weight = portable.exp(drop)
                over = (
                    weight / max(1.0 + away / s0, 1e-300) if y > -1.0 else portable.exp(drop - y)
                )
                norm += weight
                first += weight * away
                inverse += over
                second += over * away
                third += over * away * away
                y += side * step
        shift = first / norm
        bent = third - 2.0 * shift * second + shift * shift * inverse
        rows[0, i] = (
            (power + 1.0) * math.log(s0)
            - 0.5 * shortfall * shortfall
            + math.log(norm * step / width)
            - LOG_SQRT_2PI
        )
        rows[1, i] = power * inverse / (norm * s0)
        rows[2, i] = -power * bent / (norm * s0 * (s0 + shift) * width * width)


@njit(cache=True, nogil=True, error_model="numpy")
def _mean_potential(omega, width, power, out):
    """Fill `out` with the mean of ``-ln s``, by the same rule."""
    for i in range(len(omega)):
        s0, narrow = _peak(omega[i], width, power)
        step, shortfall = STEP * narrow, (s0 - omega[i]) / width
        norm = logs = 0.0
        for side in (-1.0, 1.0):
            y = 0.0 if side < 0.0 else step
            while True:
                away = s0 * portable.expm1(y)
                drop = (power + 1.0) * y - away * (shortfall + 0.5 * away / width) / width
                if drop < -DEPTH:
                    break
                weight = portable.exp(drop)
                norm += weight
                logs += weight * y
                y += side * step
        out[i] = -math.log(s0) - logs / norm
