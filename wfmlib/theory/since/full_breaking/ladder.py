"""The energetic term of a hierarchy of groups: Gaussian averages, one inside the other.

Between two overlaps the breaking function is a constant y, and Parisi's equation

    dF/dc = -(F'' + y F'^2) / 2

is solved by an average, ``F(c, h) = ln E exp[y F(c + d, h + sqrt(d) z)] / y``  [eq-parisi-step].
At c = 1 a pattern costs the square of its shortfall, ``F = -(kappa - h)_+^2 / (2 L)``, and the
first average has a closed form. Far below kappa all F are parabolas, ``-(kappa - h)^2 / (2 L) +
const``, in which only L grows, by y d; far above they vanish. So only the fields about kappa need
a grid, as wide as ``sqrt(1 - c)`` asks for. Integrands are analytic and fall like Gaussians:
equidistant nodes sum them to rounding.

Derivatives by the unknowns of a hierarchy are carried along: rows of an array, below F itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, Report

REACH = 8.2  # widths beyond which a Gaussian is left out: 2e-15 of its centre
NODES = 3.5  # a width, of the narrowest function on the grid
MOST_NODES = 20_000_000  # of two grids, one by the other
KERNEL = 1.3  # nodes a width of an average: its error is exp(-2 pi^2 1.3^2), 3e-15


class _Rung(NamedTuple):
    """F and its derivatives on a grid, and what continues them to the left."""

    h: np.ndarray
    rows: np.ndarray  # F, then derivatives: shape (rows, nodes)
    cost: np.ndarray  # L, then derivatives
    level: np.ndarray  # the constant, then derivatives


def climb(kappa, widths, heights, cost, by_x):
    """Return F(0, 0), which is negative, and its derivatives by the unknowns.

    Parameters
    ----------
    kappa : float
        Margin, in units of the activation's scale.
    widths : ndarray
        Of the intervals of c, from 0 up to 1: shape ``(n + 1,)``; the first may be 0.
    heights : ndarray
        y in all of them but the first, positive: shape ``(n,)``; in the first it is 0.
    cost : float
        L at c = 1, positive; not an unknown.
    by_x : pair of ndarray
        Derivatives of widths and heights by the unknowns: shapes ``(n + 1, m)``, ``(n, m)``.

    Returns
    -------
    tuple of float and ndarray
        The derivatives have shape ``(m,)``.
    """
    by_width, by_height = by_x
    gaps = np.cumsum(widths[::-1])[::-1]
    spread, rung = 0.0, None  # integral of dc / L^2: how far below kappa a parabola is reached
    for i in range(len(heights), 0, -1):
        top = cost if rung is None else rung.cost[0]
        bottom = top + heights[i - 1] * widths[i]
        spread += widths[i] / (top * bottom)
        h = np.zeros(1)
        if i > 1 or widths[0] > 0.0:
            h = _grid(kappa, gaps[i], bottom * math.sqrt(spread), widths[i - 1])
        step = widths[i], heights[i - 1], by_width[i], by_height[i - 1]
        rung = _first(kappa, h, cost, *step) if rung is None else _step(kappa, h, rung, *step)
    if widths[0] > 0.0:
        rung = _step(kappa, np.zeros(1), rung, widths[0], 0.0, by_width[0], 0.0)
    return float(rung.rows[0, 0]), rung.rows[1:, 0]


def _grid(kappa, gap, left, next_width):
    """Return nodes about kappa that resolve F at ``1 - c = gap``, and the next average."""
    width = math.sqrt(gap)
    spacing = min(width / NODES, math.sqrt(next_width) / KERNEL)
    low, high = math.ceil(REACH * max(left, width) / spacing), math.ceil(REACH * width / spacing)
    return kappa + spacing * np.arange(-low, high + 1)


def _first(kappa, h, cost, width, y, by_width, by_height):
    """Return F below the last interval, in closed form  [eq-last-step]."""
    stretch = 1.0 + y * width / cost
    d = kappa - h
    v = d / math.sqrt(width * stretch)
    satisfied = gaussian.log_H(d / math.sqrt(width))
    short = -0.5 * math.log(stretch) - 0.5 * y * d**2 / (cost * stretch) + gaussian.log_H(-v)
    log_weight = np.logaddexp(satisfied, short)
    share = np.exp(short - log_weight)
    square = share * (width / stretch) * (1.0 + v * (v + gaussian.hazard(-v)))
    value = log_weight / y
    rows = np.empty((1 + len(by_width), len(h)))
    rows[0] = value
    rows[1:] = np.multiply.outer(by_height, (-0.5 * square / cost - value) / y)
    rows[1:] += np.multiply.outer(by_width, 0.5 * (y * square / cost - share) / cost)
    bare, level = np.zeros(len(rows)), np.zeros(len(rows))
    bare[0] = cost
    return _Rung(h, rows, *_parabola(bare, level, width, y, by_width, by_height))


def _step(kappa, h, above, width, y, by_width, by_height):
    """Return F below an interval, from F above it."""
    x, rows = _continued(kappa, h, above, width)
    new = averaged(h, x, rows, width, y, by_width, by_height)
    return _Rung(h, new, *_parabola(above.cost, above.level, width, y, by_width, by_height))


def averaged(h, x, rows, width, y, by_width, by_height):
    """Return F, and below it its derivatives, one interval down  [eq-parisi-step].

    Parameters
    ----------
    h, x : ndarray
        Fields below and above the interval, shapes ``(n,)``, ``(nodes,)``; x is equidistant.
    rows : ndarray
        F above, then its derivatives by the unknowns: shape ``(1 + m, nodes)``.
    width, y : float
        Of the interval; y may be 0.
    by_width, by_height : ndarray or float
        Derivatives of both by the unknowns: shape ``(m,)``, or 0.

    Returns
    -------
    ndarray, shape (1 + m, n)
    """
    weight, square, log_total = tilted(h, x, rows[0], width, y)
    new = rows @ weight.T
    if y > 0.0:
        log_total += math.log((x[1] - x[0]) / math.sqrt(2.0 * math.pi * width))
        mean, new[0] = new[0].copy(), log_total / y
        new[1:] += np.multiply.outer(by_height, (mean - new[0]) / y)
        wider = 0.5 * (np.sum(weight * square, axis=1) - 1.0) / (width * y)
    else:
        wider = 0.5 * ((weight * (square - 1.0)) @ rows[0]) / width
    new[1:] += np.multiply.outer(by_width, wider)
    return new


def tilted(h, x, values, width, y):
    """Return what an average at each h consists of.

    Parameters
    ----------
    h, x, width, y
        As in `averaged`.
    values : ndarray
        F above the interval, at x.

    Returns
    -------
    weight : ndarray
        Shares of the fields x, in proportion to ``exp[y F - (x - h)^2 / (2 width)]``: shape
        ``(n, nodes)``.
    square : ndarray
        ``(x - h)^2 / width``, of the same shape.
    log_total : ndarray
        Logarithm of the sum of what the shares are in proportion to: shape ``(n,)``.
    """
    square = (x - h[:, None]) ** 2 / width
    exponent = y * values - 0.5 * square
    peak = np.max(exponent, axis=1, keepdims=True)
    weight = np.exp(exponent - peak)
    total = np.sum(weight, axis=1, keepdims=True)
    weight /= total
    return weight, square, (np.log(total) + peak)[:, 0]


def _continued(kappa, h, above, width):
    """Return the grid above an interval, with F, so far out that averages at all h lie on it."""
    spacing = above.h[1] - above.h[0]
    beyond = (REACH + 1.0) * math.sqrt(width)
    left = math.ceil((max(above.h[0] - h[0], 0.0) + beyond) / spacing)
    right = math.ceil((max(h[-1] - above.h[-1], 0.0) + beyond) / spacing)
    if len(h) * (len(above.h) + left + right) > MOST_NODES:
        message = "the overlaps of a hierarchy are too close to be resolved"
        raise NotConverged(Report(False, math.nan, 0, message))
    x = above.h[0] + spacing * np.arange(-left, len(above.h) + right)
    rows = np.zeros((len(above.rows), len(x)))
    rows[:, left : left + len(above.h)] = above.rows
    half = 0.5 * (kappa - x[:left]) ** 2
    parabola = np.multiply.outer(above.cost, half) / above.cost[0] ** 2
    parabola[0] *= -1.0
    rows[:, :left] = above.level[:, None] + parabola
    return x, rows


def _parabola(cost, level, width, y, by_width, by_height):
    """Return L and the constant below an interval: ``L + y d``, ``- ln(1 + y d / L) / (2 y)``."""
    top, bottom = cost[0], cost[0] + y * width
    cost, level, by_cost = cost.copy(), level.copy(), cost[1:]
    if y > 0.0:
        logarithm = math.log1p(y * width / top)
        level[0] -= 0.5 * logarithm / y
        level[1:] += 0.5 * by_cost * width / (top * bottom) - 0.5 * by_width / bottom
        level[1:] += 0.5 * by_height * (logarithm / y - width / bottom) / y
    else:
        level[0] -= 0.5 * width / top
        level[1:] += 0.5 * by_cost * width / top**2 - 0.5 * by_width / top
    cost[0] = bottom
    cost[1:] += by_height * width + y * by_width
    return cost, level
