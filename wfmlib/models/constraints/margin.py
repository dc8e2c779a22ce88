"""Stabilities above a margin: averages over the fields of a pattern."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numba import njit

from wfmlib.models.constraints.log_concave import Averages, Grouped, Limit, LogConcave
from wfmlib.models.constraints.margin_around import NO_TABLE, averages, kernel_arguments
from wfmlib.numerics import arguments, gaussian, portable, tails
from wfmlib.numerics.arguments import Finite
from wfmlib.numerics.types import Array

__all__ = ["Margin"]


RANGE = (-2.0, 1e4)  # of kappa, in units of the activation's scale; see `Margin.within_range`
REACH = 9.0  # how far fields are followed: the normal density beyond weighs 2e-19
GAP = (0.0, 1.0, *tails.GAP_NUMERATOR[::-1]), (1.0, *tails.GAP_DENOMINATOR[::-1])
RULE = gaussian.legendre_rule(12)  # relative errors of all averages below 1e-14
FAR = 10.0  # the same for infinitely many replicas
LIMIT_RULE = gaussian.legendre_rule(14)


@dataclass(frozen=True)
class Margin(LogConcave):
    """Every pattern's stability lies strictly above `kappa`.

    Stability is what each paper calls by that name: ``sigma (w . xi) / sqrt(N)`` for the
    perceptron, ``(sigma / sqrt(K)) sum_l c_l g(.)`` for the tree committee (P2). The theory
    divides both by the standard deviation of a random pattern's stability, the activation's
    `scale`.

    Parameters
    ----------
    kappa : float
        Finite, of either sign.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(Margin(0.0).log_weight(np.array(0.0), 1.0)), 6)  # ln H(0)
    -0.693147
    >>> Margin(0.2).admits(Margin(0.3))
    True
    >>> omega = np.array([-1.0, 1.0])
    >>> Margin(0.0).slope(omega, 1.0).round(4).tolist()
    [1.5251, 0.2876]
    >>> Margin(0.0).curvature(omega, 1.0).round(4).tolist()
    [-0.8009, -0.3703]
    """

    kappa: Finite = 0.0

    pole = 2.816  #: of the hazard: the zero of H that is nearest to the real axis

    def __post_init__(self):
        if arguments.array("kappa", self.kappa).ndim > 0:
            raise TypeError(
                "kappa must be a real number; many margins are a sequence of them, such as "
                f"[Margin(0.0), Margin(0.2)], got {self.kappa!r}"
            )
        arguments.check_fields(self)

    def rescaled(self, scale: float) -> Margin:
        """Return the same constraint on stabilities that were divided by `scale`."""
        return self if scale == 1.0 else Margin(self.kappa / scale)

    def log_weight(self, omega: Array, variance: float) -> Array:
        """Return ``f = ln H((kappa - omega) / sqrt(variance))``  [eq-rs-energetic]."""
        return scipy.special.log_ndtr((omega - self.kappa) / math.sqrt(variance))

    def slope(self, omega: Array, variance: float) -> Array:
        """Return ``f' = h(u) / sqrt(variance)``, u the argument of H, h the hazard [eq-hazard]."""
        width = math.sqrt(variance)
        return _hazard((self.kappa - omega) / width) / width

    def curvature(self, omega: Array, variance: float) -> Array:
        """Return ``f'' = -h (h - u) / variance``."""
        u = np.asarray((self.kappa - omega) / math.sqrt(variance))
        bend, up = np.empty_like(u), u > 0.0
        above, below = np.minimum(u[up], tails.FAR), u[~up]
        p, q = (np.polyval(one, above) for one in GAP)  # their ratio is h(u) - u
        bend[up] = (above * q + p) * p / (q * q)
        h = _hazard(below)
        bend[~up] = h * (h - below)
        return -bend / variance

    def features(self, variance: float) -> Sequence[tuple[float, float]]:
        """Return where in omega these functions bend, and over what width: (centre, scale)."""
        return ((self.kappa, math.sqrt(variance)),)

    @property
    def tilt(self) -> float:  # type: ignore[override]
        """How far below zero a hard-won pattern pulls omega: the range of averages includes it."""
        return min(self.kappa, 0.0)

    def shortfall(self) -> Any:
        """Return ``E (kappa - x)_+^2``, the mean square by which a random pattern falls short.

        It is the limit of ``variance^2 E f'^2`` for variance -> 0, where solutions coincide.
        """
        x, weight = gaussian.grid((self.kappa, 0.0), tilt=self.tilt)
        return weight @ np.maximum(self.kappa - x, 0.0) ** 2

    def within_range(self, scale: float) -> None:
        """Raise ValueError if the margin is not from -2 to 1e4 times the activation's scale.

        From about -2.3 downwards, at loads of hundreds, several replica-symmetric saddle points
        coexist; from -2 on there is one: the load increases with q_hat.
        """
        arguments.real("margin / activation.scale", self.kappa / scale, *RANGE)

    def admits(self, other: Any) -> bool:
        """Return whether all stabilities that another constraint allows are allowed."""
        return isinstance(other, Margin) and other.kappa >= self.kappa

    def grouped(self, c0: Any, gap: Any, variance: Any, m: Any, rule: Any = RULE) -> Any:
        """Average over what groups of m replicas share of a field  [eq-1rsb-energetic]."""
        return Grouped(*pattern_averages(c0, gap, variance, self.kappa, m, rule))

    def limit(self, c: Any, spread: Any, variance: Any) -> Any:
        """Return the same for infinitely many replicas  [eq-ld-infinite]."""
        return Limit(*limit_averages(c, spread, variance, self.kappa, LIMIT_RULE))

    def around_graded(
        self, reference: Any, fields: Any, split: Any, by_parts: Any, forces_only: Any
    ) -> Any:
        """Return what `around` does, from kernels."""
        values = kernel_arguments(self.kappa, reference, fields, split)
        result = Averages(*averages(*values, by_parts, forces_only))
        return result._replace(log_weight=math.nan, pull=math.nan) if forces_only else result

    @property
    def front(self) -> Any:
        """Stability below which a pattern turns bad."""
        return self.kappa

    def lowest(self, left: Any) -> Any:
        """Return the field below which the force no longer grows: NaN, as it always does."""
        return math.nan

    def table(self, split: Any, force: Any) -> Any:
        """Return a table of log-weight and force for kernels: empty, they know formulas."""
        return NO_TABLE


def _hazard(u):
    """Return the hazard of few numbers: what kernels take would be compiled first."""
    return math.sqrt(2.0 / math.pi) / scipy.special.erfcx(u * math.sqrt(0.5))


# ------------------------------------------------------------------------------------------------
# Kernels: groups of replicas
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def most_tilted(level, ratio):
    """Return the zero of ``t + ratio h(t) - level``, h the hazard: where ``m f`` tilts most.

    The function is convex and increases: Newton's method comes down to its zero from `level`.
    """
    t = level
    for _ in range(60):
        step = (t - level + ratio * gaussian.hazard(t)) / (
            1.0 + ratio * gaussian.hazard_derivative(t)
        )
        t -= step
        if abs(step) < 1e-6:  # near enough for a middle
            break
    return t


@njit(cache=True, nogil=True, error_model="numpy")
def pattern_group(short, gap, variance, m, rule):
    """Average over what a group shares of a pattern's field, weighted with ``H^m``.

    The field falls short of the margin by ``short - sqrt(gap) y``. Returns ``<f'>`` and the
    variance of f', in units of ``1 / sqrt(variance)`` and its square, ``ln <e^{m f}> / m`` and the
    information. y is measured from the middle of its tilted Gaussian, `shift`, so that no
    exponential overflows, and the force from that there.
    """
    width, soft = math.sqrt(gap), math.sqrt(variance)
    pull = m / variance  # curvature of -m f, deep in the forbidden region
    narrow = 1.0 / math.sqrt(1.0 + pull * gap)
    features = np.empty((2, 2))
    if m > 1.0:  # more than one force: the middle of the Gaussian is that of the true tilt
        shift = width / soft * m * gaussian.hazard(most_tilted(short / soft, pull * gap))
        u_middle = (short - width * shift) / soft
    else:
        shift = max(short, 0.0) * width * pull * narrow**2
        u_middle = short * (narrow**2 if shift > 0.0 else 1.0) / soft
    count = 0
    if width > 0.3 * soft:
        features[0, 0], features[0, 1] = short / width - shift, soft / width
        count = 1
    if narrow < 0.5:
        features[count, 0], features[count, 1] = 0.0, narrow
        count += 1
    elif shift < 2.0:  # the tilt is slight, and no large numbers shall cancel
        features[0, 0] += shift
        shift, u_middle = 0.0, short / soft
    y, weight = gaussian.fill_grid(features[:count], -REACH, REACH, rule)
    middle, log_middle = gaussian.hazard(u_middle), gaussian.log_H(u_middle)
    u, hazard = np.empty_like(y), np.empty_like(y)
    exponent, growth = np.empty_like(y), np.empty_like(y)
    for j in range(len(y)):  # loops of their own become vector instructions
        u[j] = u_middle - width * y[j] / soft
    tails.fill_hazard(u, hazard)
    tails.fill_log_tail(u, exponent)
    for j in range(len(y)):
        exponent[j] = m * (exponent[j] - log_middle) - shift * y[j]
        growth[j] = portable.expm1(exponent[j])
    excess = first = second = tilted = moved = 0.0
    for j in range(len(y)):
        w, force = weight[j] * (1.0 + growth[j]), hazard[j] - middle
        excess += weight[j] * growth[j]
        first += w * force
        second += w * force * force
        tilted += w * exponent[j]
        moved += w * y[j]
    norm = 1.0 + excess
    first /= norm
    log_norm = math.log1p(excess) - 0.5 * shift * shift
    information = (tilted + shift * moved) / norm - log_norm
    return middle + first, second / norm - first * first, log_middle + log_norm / m, information


@njit(cache=True, nogil=True)
def pattern_averages(c0, gap, variance, kappa, m, rule):
    """Return what a pattern contributes, as in `Grouped`; `gap` is c1 - c0, `variance` 1 - c1."""
    root = math.sqrt(c0)
    features = np.empty((1, 2))
    count = 0
    if root > 0.05:
        features[0, 0], features[0, 1] = kappa / root, math.sqrt(variance + gap) / root
        count = 1
    x, outer = gaussian.fill_grid(features[:count], min(kappa, 0.0) - REACH, REACH, rule)
    common = spread = term = information = 0.0
    for i in range(len(x)):
        group = pattern_group(kappa - root * x[i], gap, variance, m, rule)
        common += outer[i] * group[0] ** 2
        spread += outer[i] * group[1]
        term += outer[i] * group[2]
        information += outer[i] * group[3]
    return common / variance, spread / variance, term, information


# ------------------------------------------------------------------------------------------------
# Kernels: infinitely many replicas
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def shortfall(level, ratio, start):
    """Return the zero of ``t + ratio h(t) - level``, h the hazard; `start` is a guess.

    Newton's method on ``ln [ratio h(t)] - ln(level - t)``, which increases, and is nearly straight
    where `ratio` is large; on the difference itself where it is small. A step that leaves the
    bracket of the signs seen so far is replaced by its middle.
    """
    high = level
    # below -40 the hazard is zero to every digit
    low = max(level - ratio * gaussian.hazard(level), min(-40.0, level))
    t = start if low < start < high else 0.5 * (low + high)
    for _ in range(200):
        h = gaussian.hazard(t)
        slope = gaussian.hazard_derivative(t)
        excess = t + ratio * h - level
        if excess > 0.0:
            high = t
        else:
            low = t
        left = level - t
        if ratio * h > 1e-3 and left > 1e-300:
            step = math.log(ratio * h / left) / (slope / h + 1.0 / left)
        else:
            step = excess / (1.0 + ratio * slope)
        if abs(step) <= 3e-15 * (1.0 + abs(t)):
            return t - step
        t -= step
        if not low < t < high:
            t = 0.5 * (low + high)
            if high - low <= 3e-15 * (1.0 + abs(t)):
                return t
    return t


@njit(cache=True, nogil=True)
def limit_averages(c, spread, variance, kappa, rule):
    """Return what `Limit` holds.

    With ``t = (kappa - w*) / sqrt(variance)``: ``t + ratio h(t)`` is the same of the common field,
    ``ratio = de / variance``.
    """
    root, soft = math.sqrt(c), math.sqrt(variance)
    ratio = spread / variance
    features = np.empty((2, 2))
    count = 0
    if root > 0.05:
        features[0, 0], features[0, 1] = kappa / root, soft / root
        # where the maximum begins to move: ratio h'(t) = 1
        bend = -math.sqrt(2.0 * math.log1p(ratio))
        features[1, 0], features[1, 1] = (kappa - soft * bend) / root, soft / (root * (1.0 - bend))
        count = 2
    x, measure = gaussian.fill_grid(features[:count], min(kappa, 0.0) - FAR, FAR, rule)
    term = force = stretch = 0.0
    t = (kappa - root * x[0]) / soft / (1.0 + ratio)
    for i in range(len(x)):
        t = shortfall((kappa - root * x[i]) / soft, ratio, t)
        hazard = gaussian.hazard(t)
        slope = gaussian.hazard_derivative(t)
        term += measure[i] * (gaussian.log_H(t) - 0.5 * ratio * hazard * hazard)
        force += measure[i] * hazard * hazard
        stretch += measure[i] * slope * (ratio * slope / (1.0 + ratio * slope))
    return term, force / variance, stretch / variance
