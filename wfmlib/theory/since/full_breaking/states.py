"""The free entropy of a hierarchy below capacity, where the smallest groups are states.

The largest overlap q_k is below 1, and sizes of groups are finite. With ``lambda(q) =
int_q^1 x dq'`` the free entropy is

    phi = [int_0^{q_k} dq / lambda + ln(1 - q_k)] / 2 + alpha f(0, 0)   [eq-full-spherical],

with ``f = ln H[(kappa - h) / sqrt(1 - c_k)]`` at the top  [eq-parisi]. Each interval below is one
average, as in `ladder`. Fields that solutions share at ``c`` lie within some ``sqrt(c)`` of 0, or
of kappa, to which patterns draw them: what is beyond the grid weighs less than rounding.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory.since.full_breaking.capacity_entropy import integrals, intervals
from wfmlib.theory.since.full_breaking.ladder import averaged, tilted

REACH = 8.2  # standard deviations within which fields lie
NODES = 2.5  # a width of the narrowest function: H(z)^m has its nearest zeros at Im z = 2.8
KERNEL = 1.5  # nodes a width of an average: small f magnify its error, exp(-2 pi^2 1.5^2)
MOST_NODES = 3_000_000  # of two grids, one by the other


def free_entropy(activation, kappa, alpha, gaps, sizes):
    """Return phi, and its derivatives by the gaps and by the sizes.

    Parameters
    ----------
    activation
        Energetic term with one field.
    kappa : float
        Margin, in units of the activation's scale.
    alpha : float
        Load.
    gaps : ndarray
        ``1 - q`` of the overlaps, decreasing: shape ``(k + 1,)``.
    sizes : ndarray
        m between successive overlaps, increasing, below 1: shape ``(k,)``.

    Returns
    -------
    tuple of float, ndarray and ndarray

    Raises
    ------
    NotConverged
        If overlaps are too close to each other, or to 1.
    """
    n = len(gaps)
    unit = np.eye(n + len(sizes))
    widths, by_width = intervals(activation, gaps, unit[:n])
    value, change = _climb(kappa, widths, sizes, by_width, unit[n:])
    term, by_size, squares = integrals(1.0 - gaps[0], gaps[:-1] - gaps[1:], sizes, gaps[-1])
    by_gap = -0.5 * weights(sizes) * squares
    phi = term + 0.5 * math.log(gaps[-1]) + alpha * value
    return phi, by_gap + alpha * change[:n], by_size + alpha * change[n:]


def weights(sizes):
    """Return by how much x rises at each overlap: shape ``(k + 1,)``."""
    return np.diff(sizes, prepend=0.0, append=1.0)


def replicons(activation, kappa, alpha, gaps, sizes):
    """Return ``alpha lambda^2 [c'^2 E f''^2 + c'' E f'^2]`` at each overlap: shape ``(k + 1,)``.

    Averages are over the field that a group shares. Above 1 its level splits  [eq-full-marginal].
    """
    widths, _ = intervals(activation, gaps, np.zeros((len(gaps), 0)))
    square, stiffness = [], []
    for density, (force, bend) in levels(kappa, widths, sizes, 2):
        square.append(density @ force**2)
        stiffness.append(density @ bend**2)
    overlaps = [activation.effective(1.0 - float(gap), float(gap)) for gap in gaps]
    slope, curvature = np.array([(overlap.slope, overlap.curvature) for overlap in overlaps]).T
    bends = slope**2 * np.array(stiffness) + curvature * np.array(square)
    return alpha * responses(gaps, sizes) ** 2 * bends


def responses(gaps, sizes):
    """Return lambda at each overlap: shape ``(k + 1,)``."""
    steps = np.append((gaps[:-1] - gaps[1:]) * sizes, gaps[-1])
    return np.cumsum(steps[::-1])[::-1]


def levels(kappa, widths, sizes, order):
    """Yield, from q_0 up, the shares of the fields there, and f', f'' and so on at these fields.

    Arguments are those of `descent`.
    """
    density = np.ones(1)
    for weight, change in reversed(descent(kappa, widths, sizes, order)):
        density = density @ weight
        yield density, change


def descent(kappa, widths, sizes, order):
    """Return the averages from states to all solutions, and derivatives of f above each.

    Parameters
    ----------
    kappa : float
    widths : ndarray
        Of the averages, from 0 to the first overlap, between overlaps and from the last one to 1:
        shape ``(k + 2,)``.
    sizes : ndarray
        As in `capacity_entropy`.
    order : int
        Of the highest derivative, at most 4.

    Returns
    -------
    list of tuple
        For the overlaps from q_k down to q_0 the shares of their fields, one row for each field at
        the overlap below, and f', f'' and so on there.
    """
    h, passed = _fields(kappa, widths, len(sizes)), []
    u = (kappa - h) / math.sqrt(widths[-1])
    value = gaussian.log_H(u)
    change = [
        derivative * (-1.0 / math.sqrt(widths[-1])) ** (n + 1)
        for n, derivative in enumerate(_of_log_H(u)[:order])
    ]
    for i in range(len(sizes), -1, -1):
        below, size = _fields(kappa, widths, i - 1), sizes[i - 1] if i else 0.0
        weight, _, total = tilted(below, h, value, widths[i], size)
        passed.append((weight, change))
        if i:
            total += math.log((h[1] - h[0]) / math.sqrt(2.0 * math.pi * widths[i]))
            value = total / size
            moments = [
                weight @ derivative
                for derivative in _moments([size * derivative for derivative in change])
            ]
            change = [cumulant / size for cumulant in _cumulants(moments)]
        h = below
    return passed


def _of_log_H(u):
    """Return the first four derivatives of ln H."""
    hazard, first = gaussian.hazard(u), gaussian.hazard_derivative(u)
    second = first * (hazard - u) + hazard * (first - 1.0)
    third = second * (hazard - u) + 2.0 * first * (first - 1.0) + hazard * second
    return -hazard, -first, -second, -third


def _moments(change):
    """Return ``g'/g``, ``g''/g`` and so on from the derivatives of ln g, as many as there are."""
    first, second, third, fourth = [*change, 0.0, 0.0, 0.0][:4]
    return (
        first,
        second + first**2,
        third + 3.0 * second * first + first**3,
        fourth + 4.0 * third * first + 3.0 * second**2 + 6.0 * second * first**2 + first**4,
    )[: len(change)]


def _cumulants(moments):
    """Return derivatives of ln g from ``g'/g``, ``g''/g`` and so on."""
    first, second, third, fourth = [*moments, 0.0, 0.0, 0.0][:4]
    return (
        first,
        second - first**2,
        third - 3.0 * second * first + 2.0 * first**3,
        fourth - 4.0 * third * first - 3.0 * second**2 + 12.0 * second * first**2 - 6.0 * first**4,
    )[: len(moments)]


def _climb(kappa, widths, sizes, by_width, by_size):
    """Return f(0, 0) and its derivatives by the unknowns: arrays as of `ladder.climb`."""
    h = _fields(kappa, widths, len(sizes))
    u = (kappa - h) / math.sqrt(widths[-1])
    rows = np.empty((1 + by_width.shape[1], len(h)))
    rows[0] = gaussian.log_H(u)
    rows[1:] = np.multiply.outer(by_width[-1], 0.5 * u * gaussian.hazard(u) / widths[-1])
    for i in range(len(sizes), -1, -1):
        below = _fields(kappa, widths, i - 1)
        if len(below) * len(h) > MOST_NODES:
            message = "overlaps are too close to each other, or to 1, to be resolved"
            raise NotConverged(Report(False, math.nan, 0, message))
        size, by = (sizes[i - 1], by_size[i - 1]) if i else (0.0, 0.0)
        rows = averaged(below, h, rows, widths[i], size, by_width[i], by)
        h = below
    return float(rows[0, 0]), rows[1:, 0]


def _fields(kappa, widths, level):
    """Return nodes for the fields at an overlap; below the smallest one, 0."""
    if level < 0:
        return np.zeros(1)
    common, gap = float(np.sum(widths[: level + 1])), float(np.sum(widths[level + 1 :]))
    spacing = min(math.sqrt(gap) / NODES, math.sqrt(widths[level]) / KERNEL)
    reach = REACH * math.sqrt(common)
    low, high = math.floor(-reach / spacing), math.ceil((max(kappa, 0.0) + reach) / spacing)
    if high - low > MOST_NODES:
        message = "overlaps are too close to each other, or to 1, to be resolved"
        raise NotConverged(Report(False, math.nan, 0, message))
    return spacing * np.arange(low, high + 1)
