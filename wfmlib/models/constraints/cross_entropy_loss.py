"""Stabilities weighed with a loss: the Gibbs measure of cross-entropy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from annotated_types import Interval
from numba import njit

from wfmlib.models.constraints.log_concave import LogConcave
from wfmlib.numerics import arguments, gaussian, portable, tails
from wfmlib.numerics.arguments import Or
from wfmlib.numerics.tabulated import tabulate
from wfmlib.numerics.types import Array

__all__ = ["CrossEntropy", "Gibbs", "proximal"]


Sharpness: TypeAlias = Annotated[float, Interval(ge=1e-3, le=1e6), Or(math.inf)]
REACH = 8.5  # how far fields are followed: the normal density beyond weighs 2e-17


class Gibbs(NamedTuple):
    """Averages over the field of one pattern, with its Boltzmann factor; each of omega's shape.

    Attributes
    ----------
    log_weight, slope, curvature : ndarray
        Logarithm of the average factor, and its derivatives in omega  [eq-ce-log-weight].
    loss : ndarray
        Mean loss of the pattern  [eq-ce-energy].
    errors : ndarray
        Probability that the field is negative  [eq-ce-error-rate].

    Examples
    --------
    >>> loss = CrossEntropy(1.0, 5.0)
    >>> round(float(loss.gibbs(np.array([0.0]), 0.5).errors[0]), 4)
    0.1064
    """

    log_weight: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    loss: np.ndarray
    errors: np.ndarray


@dataclass(frozen=True)
class CrossEntropy(LogConcave):
    """Every pattern weighs ``exp(-beta f_gamma(stability))``: the Gibbs measure of cross-entropy.

    ``f_gamma(x) = ln(1 + e^{-2 gamma x}) / (2 gamma)``, which is ``max(-x, 0)`` for infinite gamma
    [eq-cross-entropy]. Stability is what `Margin` calls by that name.

    Parameters
    ----------
    gamma : float
        Sharpness of the loss, from 1e-3 to 1e6, or ``math.inf``: how large a stability must be to
        count as safe, in units of 1 / gamma.
    beta : float
        Inverse temperature, from 1e-6 to 1e300: a loss that is exponentially small in gamma
        wants an exponentially large one.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> from wfmlib.theory import typical
    >>> round(typical.solve(Perceptron(), 0.5, CrossEntropy(1.0, 5.0)).energy, 4)
    0.0794
    >>> loss, omega = CrossEntropy(1.0, 5.0), np.array([-1.0, 1.0])
    >>> loss.log_weight(omega, 1.0).round(4).tolist()
    [-2.4226, -0.473]
    >>> loss.slope(omega, 1.0).round(4).tolist(), loss.curvature(omega, 1.0).round(4).tolist()
    ([1.5323, 0.4936], [-0.6156, -0.3868])
    """

    gamma: Sharpness
    beta: Annotated[float, Interval(ge=1e-6, le=1e300)]

    hard = False  #: a pattern costs more or less

    def __post_init__(self):
        arguments.check_fields(self)

    def rescaled(self, scale: float) -> CrossEntropy:
        """Return the same constraint on stabilities that were divided by `scale`.

        ``beta f_gamma(scale x) = (beta scale) f_{gamma scale}(x)``  [eq-ce-committee].
        """
        sharpness, cold = object.__new__(CrossEntropy), self.beta * scale
        object.__setattr__(sharpness, "gamma", self.gamma * scale)
        object.__setattr__(sharpness, "beta", cold)  # may leave the range that users are given
        return sharpness

    def gibbs(self, omega: Any, variance: Any) -> Any:
        """Return all averages over a pattern's field, as `Gibbs`."""
        omega = np.asarray(omega, dtype=float)
        rows = np.empty((5, omega.size))
        if self.gamma == math.inf:
            _sharp_gibbs(omega.ravel(), variance, self.beta, rows)
        else:
            rule = gaussian.legendre_rule(9)  # relative errors below 1e-9
            _gibbs(omega.ravel(), variance, self.gamma, self.beta, rule, rows)
        return Gibbs(*rows.reshape(5, *omega.shape))

    def at(self, omega: Array, variance: float) -> Any:
        """Return what a pattern does at shared fields: all from one quadrature, as `Gibbs`."""
        return self.gibbs(omega, variance)

    def log_weight(self, omega: Array, variance: float) -> Array:
        """Return ``F = ln E exp(-beta f_gamma(omega + sqrt(variance) x))`` [eq-ce-log-weight]."""
        return self.gibbs(omega, variance).log_weight

    def slope(self, omega: Array, variance: float) -> Array:
        """Return ``F'``, between 0 and beta."""
        return self.gibbs(omega, variance).slope

    def curvature(self, omega: Array, variance: float) -> Array:
        """Return ``F''``."""
        return self.gibbs(omega, variance).curvature

    def features(self, variance: float) -> Sequence[tuple[float, float]]:
        """Return where in omega these functions bend, and over what width: (centre, scale)."""
        width = math.hypot(math.sqrt(variance), 0.25 / self.gamma)  # the loss bends over 1 / gamma
        pull = self.beta * variance
        bends = (self.wall, width), (-pull, width)
        if self.gamma == math.inf:
            return bends
        # where the field of largest weight is zero: errors begin
        return *bends, (-0.5 * pull, math.sqrt(variance * (1.0 + 0.5 * self.gamma * pull)))

    @property
    def wall(self) -> Any:
        """Stability below which a pattern costs more than 1, if beta exceeds 2 gamma; else 0."""
        if self.gamma == math.inf or self.beta < 2.0 * self.gamma:
            return 0.0
        return math.log(self.beta / (2.0 * self.gamma)) / (2.0 * self.gamma)

    @property
    def front(self) -> Any:
        """Stability below which a pattern turns bad: `wall`."""
        return self.wall

    def lowest(self, left: Any) -> Any:
        """Return the field below which the force no longer grows."""
        return -self.beta * left

    def table(self, split: Any, force: Any) -> Any:
        """Return a pattern's log-weight and force, given its field but for the variance `left`.

        As `tabulate` does, over all fields that x and y of the split can make; `force` is that at
        the nodes x.
        """

        def functions(omega):
            return np.array(self.gibbs(omega, split.left)[:2])

        # omega is normal but for the pull of the weight on y; what lies outside weighs nothing
        reach = REACH * math.sqrt(max(split.c + split.lean**2, 1e-12))  # a panel at least
        pull = split.lean**2 * float(np.max(force))
        return tabulate(functions, self.features(split.left), -reach, reach + pull)

    tilt = 0.0  #: a hard-won pattern does not pull omega further: no force exceeds beta
    order = 10  #: nodes in a panel, for averages over omega


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _sharp_gibbs(omega, variance, beta, rows):
    """Fill `rows` with what `Gibbs` holds, for the loss ``max(-x, 0)``: in closed form.

    The field's density has two pieces, one normal about omega above zero, and one about
    ``omega + beta variance`` below it.
    """
    width = math.sqrt(variance)
    for i in range(len(omega)):
        near = omega[i] / width
        far = near + beta * width
        right = gaussian.log_H(-near)
        if far >= 0.0:  # beta^2 variance cancels
            hazard = far + gaussian.hazard_gap(far)
            excess = gaussian.hazard_gap(far)
            wrong = -0.5 * near * near - tails.LOG_SQRT_2PI - math.log(hazard)
        else:
            excess = gaussian.hazard(far) - far
            wrong = beta * (omega[i] + 0.5 * beta * variance) + gaussian.log_H(far)
        top = max(right, wrong)
        total = top + math.log1p(math.exp(min(right, wrong) - top))
        share = math.exp(wrong - total)
        at_zero = math.exp(-0.5 * near * near - tails.LOG_SQRT_2PI - total) / width
        rows[0, i] = total
        rows[1, i] = beta * share
        if far >= 0.0:
            bend = near + excess + width * beta * share
            rows[2, i] = -at_zero * beta * bend / hazard
        else:
            rows[2, i] = beta * beta * share * math.exp(right - total) - beta * at_zero
        rows[3, i] = width * excess * share
        rows[4, i] = share


@njit(cache=True, nogil=True)
def _share(x, gamma):
    """Return ``s = -f_gamma'(x) = 1 / (1 + e^{2 gamma x})``, from 0 to 1."""
    fall = math.exp(-2.0 * gamma * abs(x))
    return (fall if x > 0.0 else 1.0) / (1.0 + fall)


@njit(cache=True, nogil=True)
def proximal(omega, variance, gamma, beta):
    """Return the field of largest weight: the zero of ``x - omega - beta variance s(x)``.

    By Newton's steps in ``ln s(x) + ln(beta variance) - ln(x - omega)``, which is nearly linear
    where s is small, kept in a bracket: s is at most 1, and at most ``e^{-2 gamma x}``.

    Examples
    --------
    >>> round(proximal(0.0, 0.5, 1.0, 5.0), 4)  # pushed to the right
    0.5888
    """
    pull = beta * variance
    low, high = omega, omega + pull
    if 2.0 * gamma * pull > 2.0:
        high = min(high, max(omega, 0.0) + math.log1p(2.0 * gamma * pull) / (2.0 * gamma))
    x, log_pull = 0.5 * (low + high), math.log(pull)
    for _ in range(200):
        if not x > omega:  # not to be told from omega
            break
        log_share = min(-2.0 * gamma * x, 0.0) - math.log1p(math.exp(-2.0 * gamma * abs(x)))
        excess = log_pull + log_share - math.log(x - omega)
        if excess > 0.0:
            low = x
        else:
            high = x
        step = excess / (1.0 / (x - omega) + 2.0 * gamma * (1.0 - math.exp(log_share)))
        if abs(step) <= 1e-12 * math.sqrt(variance) or high - low <= 4e-16 * abs(high):
            break
        x += step
        if not low < x < high:
            x = 0.5 * (low + high)
    return x


@njit(cache=True, nogil=True, error_model="numpy")
def _gibbs(omega, variance, gamma, beta, rule, rows):
    """Fill `rows` with what `Gibbs` holds, by panels about the field of largest weight.

    In ``t = (x - mode) / sqrt(variance)`` the weight is a normal density times ``exp(-beta [f(x) -
    f(mode)] - push (x - mode))`` with ``push = (mode - omega) / variance = -beta f'(mode)``, which
    never exceeds 1 as f is convex.
    """
    width = math.sqrt(variance)
    features = np.empty((3, 2))
    ratio = beta / (2.0 * gamma)
    for i in range(len(omega)):
        mode = proximal(omega[i], variance, gamma, beta)
        share, push = _share(mode, gamma), (mode - omega[i]) / variance
        least = math.log1p(math.exp(-2.0 * gamma * abs(mode))) / (2.0 * gamma) + max(-mode, 0.0)
        narrow = 1.0 / math.sqrt(1.0 + 2.0 * gamma * (beta * share) * variance * (1.0 - share))
        features[0, 0], features[0, 1] = 0.0, narrow
        count = 1
        if ratio > 1.0:  # the loss becomes a wall, where a pattern costs 1
            features[count, 0], features[count, 1] = (
                (math.log(ratio) / (2.0 * gamma) - mode) / width,
                0.5 / gamma / width,
            )
            count += 1
        # errors are counted up to zero, where the loss bends: within the width of the weight, if
        # the field of largest weight is there
        features[count, 0], features[count, 1] = (
            -mode / width,
            1.0 / ((2.0 * gamma + beta) * width),
        )
        if ratio > 300.0:
            features[count, 1] = 0.0 if abs(mode) > 40.0 * narrow * width else narrow
        count += 1
        t, weight = gaussian.fill_grid(features[:count], -8.0, 8.0, rule)
        value, wrong = np.empty_like(t), np.empty_like(t)
        for j in range(len(t)):  # apart from the sums: it becomes vector instructions
            x = mode + width * t[j]
            fall = portable.exp(-2.0 * gamma * abs(x))
            loss_there = (0.0 if x > 0.0 else -x) + portable.log1p_of_share(fall) / (2.0 * gamma)
            weight[j] *= portable.exp(-beta * (loss_there - least) - push * (x - mode))
            wrong[j] = (fall if x > 0.0 else 1.0) / (1.0 + fall)
            value[j] = loss_there
        norm = first = square = softness = second = moved = loss = errors = 0.0
        for j in range(len(t)):
            w = weight[j]
            norm += w
            first += w * wrong[j]
            square += w * wrong[j] * wrong[j]
            softness += w * wrong[j] * (1.0 - wrong[j])
            moved += w * t[j]
            second += w * t[j] * t[j]
            loss += w * value[j]
            if mode + width * t[j] < 0.0:
                errors += w
        if norm == 0.0:  # the field of largest weight is narrower than its own rounding
            rows[:, i] = math.nan
            continue
        first /= norm
        moved /= norm
        spread = second / norm - moved * moved  # variance of the field over the prior's
        rows[0, i] = -beta * least - 0.5 * variance * push**2 + math.log(norm)
        rows[1, i] = beta * first
        if spread < 0.999:
            rows[2, i] = (spread - 1.0) / variance
        else:  # the same, without the difference of two numbers close to 1
            varied = square / norm - first * first
            rows[2, i] = beta * (beta * varied - 2.0 * gamma * softness / norm)
        rows[3, i] = loss / norm
        rows[4, i] = errors / norm
