"""The tail of the normal density, its logarithm and its hazard, and averages over the density.

`G`, `H`, `log_H`, `hazard` and `hazard_derivative` are NumPy universal functions, which numba
compiles when they are first used: they take scalars and arrays, and kernels call the same
functions inside ``@njit``. Their formulas, and what loops of kernels take, stand in `tails`.

Largest errors in units in the last place (ulp), against mpmath; in brackets SciPy's, by `ndtr`,
`log_ndtr` and `erfcx`, of which h' is a difference:

=========  ==========  =========  ==========  =================
x          H           log_H      hazard      hazard_derivative
=========  ==========  =========  ==========  =================
-30 to -8  1 (1)       250 (900)  250 (1100)  250 (1000)
-8 to 0    1 (1)       16 (80)    16 (80)     16 (80)
0 to 8     15 (50)     2 (3)      2 (5)       8 (150)
8 to 37    450 (1500)  2 (3)      2 (2)       8 (1800)
=========  ==========  =========  ==========  =================

What exceeds 8 ulp is the rounding of x^2 / 2 in an exponential.

Averages use Gauss-Legendre panels, short next to the steps and kinks that the caller names:
Gauss-Hermite nodes are too far apart for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numba import njit

from wfmlib.numerics import arguments, tails
from wfmlib.numerics._universal import universal
from wfmlib.numerics.arguments import Finite
from wfmlib.numerics.tails import SQRT_2PI
from wfmlib.numerics.types import Array

__all__ = [
    "G",
    "H",
    "average",
    "grid",
    "hazard",
    "hazard_derivative",
    "legendre_rule",
    "log_H",
]


def __dir__():
    return __all__


# ------------------------------------------------------------------------------------------------
# The tail of the normal density: functions for scalars and arrays, and inside numba kernels
# ------------------------------------------------------------------------------------------------

# One number at a time, with the platform's exponential: for messages, whose loops are bounded by
# other work, and for whoever needs the gap itself.


@njit(cache=True, nogil=True, error_model="numpy")
def hazard_gap(x):
    """Return ``D(x) = h(x) - x`` for ``x >= 0``; relative error below 2e-15."""
    if x > 1e8:  # D = (1 - 2/x^2 + ...) / x
        return 1.0 / x
    p, q = tails.gap_parts(x)
    return p / q


@njit(cache=True, nogil=True)
def scalar_density(x):
    """Return ``G(x)``."""
    return math.exp(-0.5 * x * x) / SQRT_2PI


@njit(cache=True, nogil=True)
def scalar_tail(x):
    """Return ``H(x)`` for ``x >= 0``."""
    return scalar_density(x) / (x + hazard_gap(x))


@universal("float64(float64)", tails.fill_density)
def G(x):
    """Normal density, ``G(x) = exp(-x^2/2) / sqrt(2 pi)``.

    Parameters
    ----------
    x : float or array_like
        Real; NaN gives NaN.

    Returns
    -------
    float or ndarray
        Of the shape of `x`, float64.

    Notes
    -----
    Relative error below ``1e-15 (1 + x^2)`` for ``|x| < 37``, which is what the rounding of `x`
    itself costs; 0 from ``|x| = 38.6`` on.

    Examples
    --------
    >>> float(G(0.0).round(6))
    0.398942
    """
    return tails.density(x)


@universal("float64(float64)", tails.fill_tail)
def H(x):
    """Tail of the normal density, ``H(x) = erfc(x / sqrt 2) / 2``  [eq-h-function].

    Parameters
    ----------
    x : float or array_like
        Real; NaN gives NaN.

    Returns
    -------
    float or ndarray
        Of the shape of `x`, float64, from 0 to 1.

    Raises
    ------
    TypeError
        If `x` is not real.

    Notes
    -----
    Relative error below ``1e-15 (1 + x^2)`` for ``|x| <= 37``, which is what the rounding of `x`
    itself costs; exactly 1/2 at 0. H loses digits where it is subnormal, above x = 37.5, and is
    exactly 0 from x = 38.6 on: use `log_H` there. It is exactly 1 below x = -8.4.

    Examples
    --------
    >>> H([0.0, 1.0]).round(6).tolist()
    [0.5, 0.158655]
    """
    return tails.tail(x)


@universal("float64(float64)", tails.fill_log_tail)
def log_H(x):
    """Logarithm of the tail, ``ln H(x)``  [eq-h-function].

    Parameters
    ----------
    x : float or array_like
        Real; NaN gives NaN.

    Returns
    -------
    float or ndarray
        Of the shape of `x`, float64, never positive.

    Raises
    ------
    TypeError
        If `x` is not real.

    Notes
    -----
    Finite where H itself underflows: about ``-x^2/2`` for any x up to 1.8e154. Relative error
    below 1e-15 for ``x >= 0`` and below ``1e-15 (1 + x^2)`` for ``-37 <= x < 0``, where
    ``ln H = -H(-x)`` nearly; 0 below x = -38.6.

    Examples
    --------
    >>> float(log_H(40.0).round(4))  # H itself underflows
    -804.6084
    """
    return tails.log_tail(x)


@universal("float64(float64)", tails.fill_hazard)
def hazard(x):
    """Hazard of the normal density, ``h(x) = G(x) / H(x) = -d ln H / dx``  [eq-hazard].

    Parameters
    ----------
    x : float or array_like
        Real; NaN gives NaN.

    Returns
    -------
    float or ndarray
        Of the shape of `x`, float64, positive and increasing: ``x + 1/x`` for large x.

    Raises
    ------
    TypeError
        If `x` is not real.

    Notes
    -----
    Relative error below 1e-15 for every ``x >= 0``, and below ``1e-15 (1 + x^2)`` for
    ``-37 <= x < 0``; 0 below x = -38.6.

    Examples
    --------
    >>> hazard([0.0, 50.0]).round(4).tolist()  # about x for large x
    [0.7979, 50.02]
    """
    return tails.hazard(x)


@universal("float64(float64)", tails.fill_hazard_derivative)
def hazard_derivative(x):
    """Derivative of the hazard, ``h'(x) = h(x) (h(x) - x)``  [eq-hazard].

    Parameters
    ----------
    x : float or array_like
        Real; NaN gives NaN.

    Returns
    -------
    float or ndarray
        Of the shape of `x`, float64, from 0 to 1.

    Raises
    ------
    TypeError
        If `x` is not real.

    Notes
    -----
    For ``x >= 0`` the difference h - x is approximated itself, not subtracted: relative error
    below 2e-15 for every ``x >= 0``, and below ``2e-15 (1 + x^2)`` for ``-37 <= x < 0``. As h'
    tends to 1 (``1 - h' = 1/x^2 - 6/x^4 + ...``), what a caller gets from ``1 - h'`` has an
    absolute error below 2e-15, so a relative one below ``2e-15 x^2``: six digits are left at
    x = 1e4, none at 2e7.

    Examples
    --------
    >>> float(hazard_derivative(0.0).round(6))  # 2 / pi
    0.63662
    """
    return tails.hazard_derivative(x)


# ------------------------------------------------------------------------------------------------
# Averages over the normal density
# ------------------------------------------------------------------------------------------------

#: Nodes in a panel.
ORDER = 16
#: Where averages end: the density beyond weighs 1.5e-23.
LIMIT = 10.0
WIDEST = 2.0  # no panel is longer
FEW = 8  # features that take no compiled loop
TIGHT = 40.0  # minus the logarithm of the error of nodes at equal distances


@arguments.checked
def legendre_rule(order: Annotated[int, Interval(ge=1, le=100)] = ORDER) -> Array:
    """Gauss-Legendre rule on ``[-1, 1]``, as `fill_grid` takes it.

    Parameters
    ----------
    order : int, optional
        Number of nodes, from 1 to 100.

    Returns
    -------
    ndarray, shape (order, 2)
        Nodes and weights; not writeable, since it is kept and shared.

    Raises
    ------
    TypeError, ValueError
        If `order` is not an integer, or is out of range.

    Examples
    --------
    >>> legendre_rule(3).shape
    (3, 2)
    """
    return _legendre_rule(order)


@lru_cache(maxsize=256)
def _legendre_rule(order):
    rule = np.stack(np.polynomial.legendre.leggauss(order), axis=1)
    rule.setflags(write=False)
    return rule


@lru_cache(maxsize=256)
def _lobatto_rule(order):
    """Return the Gauss-Lobatto rule on ``[-1, 1]``: its outer nodes are the ends of a panel.

    The ends are drawn in by 1e-14, so that a jump between two panels is seen from its own side.
    """
    last = np.polynomial.legendre.Legendre.basis(order - 1)
    inner = last.deriv().roots().real  # complex from NumPy 2.5 on
    nodes = np.concatenate(([-1.0], inner, [1.0]))
    weights = 2.0 / (order * (order - 1) * last(nodes) ** 2)
    nodes[[0, -1]] *= 1.0 - 1e-14
    return np.stack((nodes, weights), axis=1)


@njit(cache=True, nogil=True)
def edges(features, low, high):
    """Return the ends of the panels from `low` to `high`, increasing.

    Every centre is an end. A panel is no longer than `WIDEST`, and no longer than its distance
    from a centre unless it lies within that feature's scale: towards a centre panels halve, away
    from it they double. A scale of 0 marks a jump between two smooth pieces; it needs no short
    panels, only the end.
    """
    ends = np.empty(128)
    ends[0] = low
    count = 1
    x = low
    while x < high:
        step = WIDEST
        stop = high
        for i in range(len(features)):
            centre, scale = features[i, 0], features[i, 1]
            if x < centre:
                stop = min(stop, centre)
            if scale > 0.0:
                # shorter panels than the spacing of floating-point numbers would not end
                scale = max(scale, 1e-15 * abs(centre), 1e-30)
                distance = x - centre if x >= centre else 0.5 * (centre - x)
                step = min(step, max(scale, distance))
        x = min(x + step, stop)
        if count == len(ends):
            ends = np.concatenate((ends, np.empty_like(ends)))
        ends[count] = x
        count += 1
    return ends[:count]


@njit(cache=True, nogil=True)
def fill_grid(features, low, high, rule):
    """Nodes and weights of the graded panels: `grid` for numba kernels, unchecked.

    Parameters
    ----------
    features : ndarray, shape (F, 2)
        Centre and scale of every feature; F may be 0.
    low, high : float
        The range, finite, ``low < high``.
    rule : ndarray, shape (order, 2)
        What every panel uses, from `legendre_rule`.

    Returns
    -------
    nodes, weights : ndarray, shape (panels * order,)
        Panel by panel; the weights include the normal density.
    """
    ends = edges(features, low, high)
    order = len(rule)
    nodes = np.empty((len(ends) - 1) * order)
    weights = np.empty_like(nodes)
    for panel in range(len(ends) - 1):
        middle = 0.5 * (ends[panel + 1] + ends[panel])
        half = 0.5 * (ends[panel + 1] - ends[panel])
        for j in range(order):
            nodes[panel * order + j] = middle + half * rule[j, 0]
            weights[panel * order + j] = half * rule[j, 1]
    for i in range(len(nodes)):
        weights[i] *= tails.density(nodes[i])
    return nodes, weights


def panels(features: Array, low: float, high: float, rule: Array) -> tuple[Array, Array]:
    """Nodes and weights of the graded panels: `fill_grid` without the compiler, for few features.

    Parameters and results are those of `fill_grid`, within rounding.
    """
    clipped = [
        (centre, max(scale, 1e-15 * abs(centre), 1e-30) if scale > 0.0 else math.inf)
        for centre, scale in features.tolist()
    ]
    ends = [low]
    x = low
    while x < high:
        step, stop = WIDEST, high
        for centre, scale in clipped:  # comparisons, as calls of min and max take their time
            if x < centre:
                stop = centre if centre < stop else stop
                distance = 0.5 * (centre - x)
            else:
                distance = x - centre
            distance = scale if distance < scale else distance
            step = distance if distance < step else step
        x = stop if x + step > stop else x + step
        ends.append(x)
    last = np.array(ends)
    half = 0.5 * (last[1:] - last[:-1])
    parts = half[:, None, None] * rule.T
    parts[:, 0] += (last[:-1] + half)[:, None]
    nodes, weights = parts[:, 0].ravel(), parts[:, 1].ravel()
    weights *= np.exp(-0.5 * nodes * nodes)
    weights *= 1.0 / SQRT_2PI
    return nodes, weights


def spaced(strip: float, low: float, high: float, most: int = 600) -> tuple[Array, Array] | None:
    """Nodes and weights at equal distances, for functions without sharp features.

    The trapezoidal rule from one tail to the other: for ``f(x)`` that is analytic for ``|Im x| <=
    a`` its relative error is ``exp(a^2 / 2 - 2 pi a / step)``, here ``exp(-40)`` (L. N. Trefethen,
    J. A. C. Weideman, SIAM Review 56, 385 (2014)). Where features lie does not matter.

    Parameters
    ----------
    strip : float
        Distance a of the nearest pole of f from the real axis, positive; infinity is allowed.
    low, high : float
        Where the average ends, in the tails.
    most : int, optional
        Of how many nodes panels are better.

    Returns
    -------
    nodes, weights : ndarray
        As of `grid`; None where there would be more nodes than `most`.
    """
    reach = min(strip, math.sqrt(2.0 * TIGHT))
    step = 2.0 * math.pi * reach / (TIGHT + 0.5 * reach * reach)
    if high - low > most * step:
        return None
    nodes = step * np.arange(math.floor(low / step), math.ceil(high / step) + 1.0)
    return nodes, (step / SQRT_2PI) * np.exp(-0.5 * nodes * nodes)


@arguments.checked
def grid(
    *features: tuple[float, float],
    order: Annotated[int, Interval(ge=1, le=100)] = ORDER,
    limit: Annotated[float, Interval(gt=0.0, le=38.0)] = LIMIT,
    tilt: Finite = 0.0,
) -> tuple[Array, Array]:
    """Nodes and weights for averages over a standard normal variable.

    ``weights @ f(nodes)`` approximates ``E f(x)``, x ~ N(0, 1).

    Parameters
    ----------
    *features : (centre, scale)
        Where f has a kink or a step, and over what width. A scale of 0 is a true jump, with f
        smooth on either side. Infinite values are allowed and stand for "nothing here", so that
        ``(kappa / sqrt(c), sqrt((1 - c) / c))`` may be followed to c = 0. Scales below 1e-15 of
        the centre, or below 1e-30, are taken as that.
    order : int, optional
        Nodes in a panel, from 1 to 100.
    limit : float, optional
        The range is ``-limit`` to ``limit``, above 0, up to 38 (where the density underflows).
    tilt : float, optional
        For f that grows like ``exp(tilt x)``, finite: the range is extended by it on that side,
        since the integrand has its peak at ``x = tilt``. ``limit + |tilt|`` must not exceed 38.

    Returns
    -------
    nodes, weights : ndarray, shape (n,)
        The weights include the normal density.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number, is NaN, or is out of range; it is named.

    See Also
    --------
    average : the same with an estimate of the error.

    Notes
    -----
    Composite Gauss-Legendre: panels at most 2 long, halving towards every feature down to its
    scale. With the default order the averages that the replica theory needs (of ``ln H``,
    ``h^2``, ``h'^2`` at ``(kappa - sqrt(c) x) / sqrt(1 - c)``, c up to 1 - 1e-12; of
    ``ln 2 cosh``, ``tanh^2``, ``sech^4`` at ``sqrt(q_hat) x``, q_hat up to 1e8) have a relative
    error below 1e-13, with their feature named.

    Examples
    --------
    >>> nodes, weights = grid((0.0, 1e-3))
    >>> round(float(weights @ np.tanh(1e3 * nodes) ** 2), 12)
    0.999202115767
    """
    fill = panels if len(features) <= FEW else fill_grid
    low, high = _range(limit, tilt)
    return fill(_table(features), low, high, legendre_rule(order))


@arguments.checked
def average(
    f: Callable[..., Any],
    *features: tuple[float, float],
    order: Annotated[int, Interval(ge=4, le=100)] = ORDER,
    limit: Annotated[float, Interval(gt=0.0, le=38.0)] = LIMIT,
    tilt: Finite = 0.0,
) -> tuple[float, float]:
    """Average ``E f(x)`` over a standard normal variable, with an estimate of its error.

    Parameters
    ----------
    f : callable
        Takes a 1-D array and returns the values of the integrand there, same shape.
    *features : (centre, scale)
    order : int, optional
        Nodes in a panel, from 4 to 100.
    limit, tilt : float, optional
        As for `grid`.

    Returns
    -------
    value : float
    error : float
        Estimate of ``|value - E f|``.

    Raises
    ------
    TypeError, ValueError
        As `grid`; also if f is not a function, or does not return real values, all finite, of
        the shape of its argument.

    Notes
    -----
    The error is the sum of three: panel by panel, the spread of four rules, those of Gauss with
    `order`, ``order - 1`` and ``order - 2`` nodes and that of Lobatto with `order` (two might
    agree by accident on a step that nobody named; Lobatto's sees what lies at the end of a
    panel); the integrand where the range ends; the rounding of the sum. It cannot know of a
    feature so narrow that no node sees it: name such a one.

    Examples
    --------
    >>> value, _ = average(np.cos)
    >>> round(float(value), 6)  # exp(-1/2)
    0.606531
    """
    arguments.function("f", f)
    rules = [*(legendre_rule(order - k) for k in range(3)), _lobatto_rule(order)]
    nodes, weights = fill_grid(_table(features), *_range(limit, tilt), np.concatenate(rules))
    values = _values(f, nodes)

    terms = (weights * values).reshape(-1, sum(map(len, rules)))
    starts = np.cumsum([0] + [len(rule) for rule in rules[:-1]])
    panels = np.add.reduceat(terms, starts, axis=1)
    spread = np.sum(panels.max(axis=1) - panels.min(axis=1))
    ends = sum(abs(values[k]) * scalar_density(nodes[k]) for k in (starts[-1], -1))
    rounding = np.finfo(float).eps * np.sum(np.abs(terms[:, :order]))
    return float(np.sum(panels[:, 0])), float(2.0 * spread + 10.0 * ends + 4.0 * rounding)


def _table(features):
    """Return the features as an array (F, 2) after checking them."""
    if not features:
        return np.empty((0, 2))
    try:
        table = np.array(features)
    except ValueError:  # ragged
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iuf":
        raise TypeError(f"features must be pairs of numbers (centre, scale), got {features!r}")
    table = table.astype(float)
    if np.isnan(table).any() or (table[:, 1] < 0.0).any():
        raise ValueError(
            f"features must hold a centre that is not NaN and a scale >= 0, got {features!r}"
        )
    return table


def _range(limit, tilt):
    """Return the two ends of the range of integration after checking it."""
    tilt = arguments.real("tilt", tilt, limit - 38.0, 38.0 - limit)
    return min(tilt, 0.0) - limit, max(tilt, 0.0) + limit


def _values(f, nodes):
    """Return ``f(nodes)`` as floats after checking them."""
    values = arguments.array("f(x)", f(nodes))
    if values.shape != nodes.shape or values.dtype.kind not in "biuf":
        raise ValueError(
            f"f must return one real number per node, shape {nodes.shape}, "
            f"got shape {values.shape} and dtype {values.dtype}"
        )
    wrong = ~np.isfinite(values)
    if wrong.any():
        raise ValueError(
            f"f must be finite, got {values[wrong][0]} at x = {float(nodes[wrong][0])!r}"
        )
    return values
