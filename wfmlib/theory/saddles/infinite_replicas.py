"""Infinitely many real replicas at fixed mutual overlap: what a pattern contributes.

For y real replicas the overlap q0 between groups tends to their own overlap q1 as y grows: only
``d0 = y (q1 - q0)``, the spread, stays in the equations. What a group shares on top of the common
field is of order ``1 / sqrt(y)`` and weighs ``y f``: its average becomes a maximum
[eq-ld-infinite].

A pattern. With w0 the common field, normal of variance ``c = c(q1)``, ``de = c'(q1) d0`` and f as
in `constraints` (at the variance 1 - c),

    term = E max_u {-u^2 / 2 + f(w0 + sqrt(de) u)},   w* = w0 + de f'(w*) at the maximum,

and every derivative follows from the fields w*: ``d term / d de = E f'(w*)^2 / 2``.

A finite machine (`finite_machines`) has averages of its own. As an activation it offers

    pattern_averages(q0, difference, complement, kappa, m) -> broken_symmetry.Grouped
    limit_averages(q1, spread, kappa) -> Limit

at the overlap q0 of the weights, the difference q1 - q0, the complement 1 - q1 and m replicas; or
at q1 and ``spread = d0``. Both are per pattern, with responses summed over units; the effective
overlap of such an activation is q itself and its scale 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian

LIMIT = 10.0  # how far fields are followed
RULE = gaussian.legendre_rule(14)


class Limit(NamedTuple):
    """What a pattern contributes with infinitely many replicas, at fixed q1 and d0.

    The fields of a finite machine: w*_l of unit l, ``f' = d ln Sigma / d w_l``, sums over l.

    Attributes
    ----------
    term : float
        ``E max_u {-u^2 / 2 + f}``, not above zero  [eq-ld-infinite].
    force : float
        ``E f'(w*)^2 = E u*^2 / de``, twice the derivative of `term` in de.
    spread : float
        Limit of ``y E [<f'^2> - <f'>^2]``, y times `Grouped.spread`:
        ``E de f''^2 / (1 - de f'')`` for one field. It is ``force + 2 d term / d c`` at fixed de,
        and so, for a finite machine, ``force + 2 d term / d q1`` at fixed d0.
    """

    term: float
    force: float
    spread: float


def pattern(c, spread, variance, kappa):
    """Return the `Limit` of one field: `c` shared, `spread` is ``c'(q1) d0``, `variance` 1 - c."""
    return Limit(*_pattern(c, spread, variance, kappa, RULE))


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def shortfall(given, ratio, start):
    """Return the zero of ``t + ratio h(t) - given``, h the hazard; `start` is a guess.

    Newton's method on ``ln [ratio h(t)] - ln(given - t)``, which increases, and is nearly straight
    where `ratio` is large; on the difference itself where it is small. A step that leaves the
    bracket of the signs seen so far is replaced by its middle.
    """
    high = given
    # below -40 the hazard is zero to every digit
    low = max(given - ratio * gaussian.hazard(given), min(-40.0, given))
    t = start if low < start < high else 0.5 * (low + high)
    for _ in range(200):
        h = gaussian.hazard(t)
        slope = gaussian.hazard_derivative(t)
        excess = t + ratio * h - given
        if excess > 0.0:
            high = t
        else:
            low = t
        left = given - t
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
def _pattern(c, spread, variance, kappa, rule):
    """Return what `Limit` holds.

    With ``t = (kappa - w*) / sqrt(variance)``: ``t + ratio h(t)`` is the same of the common field,
    ``ratio = de / variance``.
    """
    root, soft = math.sqrt(c), math.sqrt(variance)
    ratio = spread / variance
    features = np.empty((2, 2))
    count = 0
    if root > 0.05:
        features[0] = kappa / root, soft / root
        # where the maximum begins to move: ratio h'(t) = 1
        bend = -math.sqrt(2.0 * math.log1p(ratio))
        features[1] = (kappa - soft * bend) / root, soft / (root * (1.0 - bend))
        count = 2
    x, measure = gaussian.fill_grid(features[:count], min(kappa, 0.0) - LIMIT, LIMIT, rule)
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
