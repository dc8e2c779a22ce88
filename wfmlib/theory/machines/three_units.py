"""Averages over a pattern's fields in a machine of three units, for any real number of replicas.

A machine is a table: on a grid of ``z = omega / sqrt(C)``, C = 1 - q1, the same for all three
units, ``m ln Sigma`` and the sum of the squared forces. What a group shares of a unit's field is
``x + width u`` in this unit, u normal. All averages over the three u are then sums over the grid,
each point weighted by three normal densities: no function is evaluated twice.

The grid is uniform in t, ``z = stretch sinh(t / stretch)``, so that the sums converge faster than
any power of its step: on a scale below that of the narrowest weight near the threshold, and wide
far from it. Above `TOP` a unit is right, and all further nodes are lumped into one.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.numerics import _threads, gaussian, tails

LIMIT = 6.0  # how far the shared fields are followed
TOP = 7.0  # a unit so far above its threshold is right, but for 1e-12
REACH = 6.0  # how far a group's own fields are followed, in standard deviations
NEGLIGIBLE = 22.0  # exponents this far below the largest are left out
STEP = 1.1  # of the grid, in units of the narrowest width


def grid(q0, difference, complement, m, step=STEP):
    """Return the nodes z, increasing, and the widths of their cells.

    Parameters
    ----------
    q0, difference, complement : float
        Overlap between groups, ``q1 - q0``, ``1 - q1``.
    m : float
        Replicas in a group.
    step : float, optional

    Returns
    -------
    node, cell : ndarray, shape (n,)
    """
    width = math.sqrt(difference / complement)
    narrow = width / math.sqrt(1.0 + m * width**2)
    extent = LIMIT * math.sqrt(q0 / complement) + REACH * width
    stretch = max(4.0, extent / math.sqrt(m * width**2))
    low = stretch * math.asinh(extent / stretch)
    high = stretch * math.asinh(max(extent, TOP) / stretch)
    fine = step * narrow
    t = fine * np.arange(-math.ceil(low / fine), math.ceil(high / fine) + 1)
    return stretch * np.sinh(t / stretch), fine * np.cosh(t / stretch)


def averages(table, forces, node, cell, q0, difference, complement, m, order):
    """Return what a pattern contributes, as in `log_concave.Grouped`.

    Parameters
    ----------
    table, forces : ndarray, shape (n, n, n)
        ``m ln Sigma`` and ``sum_l s_l^2`` (in units of ``1 / complement``) at the nodes not above
        `TOP`.
    node, cell : ndarray
        From `grid`.
    q0, difference, complement, m : float
    order : int
        Nodes in a panel of the shared fields.
    """
    root, width = math.sqrt(q0 / complement), math.sqrt(difference / complement)
    # a unit is safe where no member of a group is near its threshold
    scale = math.sqrt(1.0 + width * width) / max(root, 1e-3)
    rule = gaussian.legendre_rule(order)
    middle, weight = middle_grid(scale, rule)
    arguments = table, forces, node, cell, root, width, m, scale, middle, weight, rule
    common, spread, term, information = row_sums(_averages, len(middle), 4, arguments)
    return common / complement, spread / complement, term, information


def row_sums(kernel, count, columns, arguments):
    """Return the sums over the rows that ``kernel(start, stop, *given, rows)`` fills in.

    Its shares run in threads; a sum over whole rows does not depend on how they were dealt.
    """
    rows = np.zeros((count, columns))
    _threads.run(
        lambda start, stop: kernel(start, stop, *arguments, rows), count, 1, _threads.available()
    )
    return rows.sum(axis=0)


def middle_grid(scale, rule):
    """Nodes and weights of ``v_2``; `scale` is the width, in v, of a group at its threshold.

    Where two units are safe nothing is left to average.
    """
    high = min(LIMIT, TOP * scale)
    return gaussian.fill_grid(np.array([[0.0, scale]]), -LIMIT, high, rule)


@njit(cache=True, nogil=True)
def neighbour_grid(middle, side, scale, rule):
    """Nodes and weights of ``v_1`` (`side` +1) or ``v_3`` (-1), given ``v_2``.

    A unit that is safe, or so far behind that only the other two count, matters no more: one last
    node, with the weight of all beyond, stands for it.
    """
    x = middle / scale
    if side > 0.0:
        last = max(TOP, x + 0.5) * scale
    else:
        last = -math.sqrt(x * x + TOP**2) * scale
        if x > 0.0:
            last = -TOP * scale
    low, high = min(middle, last), max(middle, last)
    beyond = gaussian.H(side * last)
    if high > LIMIT:
        high = LIMIT
    if low < -LIMIT:
        low = -LIMIT
    features = np.empty((2, 2))
    features[0, 0], features[0, 1] = middle, scale
    features[1, 0], features[1, 1] = 0.0, scale
    count = 2 if side * middle < 0.0 else 1  # is the threshold on the way?
    if high <= low:
        return np.array([last]), np.array([beyond])
    node, weight = gaussian.fill_grid(features[:count], low, high, rule)
    return np.append(node, last), np.append(weight, beyond)


@njit(cache=True, nogil=True)
def neighbours(middle, middle_weight, scale, rule):
    """Return rows of ``v_1``, ``v_3`` and the weight of all three, the six orders counted."""
    above, above_weight = neighbour_grid(middle, 1.0, scale, rule)
    below, below_weight = neighbour_grid(middle, -1.0, scale, rule)
    rows = np.empty((len(above) * len(below), 3))
    row = 0
    for j in range(len(above)):
        outer = 6.0 * middle_weight * above_weight[j]
        for k in range(len(below)):
            rows[row, 0], rows[row, 1] = above[j], below[k]
            rows[row, 2] = outer * below_weight[k]
            row += 1
    return rows


@njit(cache=True, nogil=True)
def _row(x, width, node, cell, count, logs, mean):
    """Fill in the logarithms of a unit's weights on the grid, and what stands for z at each node.

    Returns the first and the last node that count. The last of all, `count - 1`, stands for all
    nodes from there on.
    """
    shift = math.log(width) + tails.LOG_SQRT_2PI
    for j in range(count):
        logs[j] = math.log(cell[j]) - 0.5 * ((node[j] - x) / width) ** 2 - shift
        mean[j] = node[j] - x
    total = first = 0.0
    for j in range(count - 1, len(node)):
        deviation = (node[j] - x) / width
        if abs(deviation) < 9.0:
            mass = cell[j] * math.exp(-0.5 * deviation * deviation - shift)
            total += mass
            first += mass * (node[j] - x)
    if total > 0.0:
        logs[count - 1] = math.log(total)
        mean[count - 1] = first / total
    low = 0
    while low < count - 1 and node[low] < x - REACH * width:
        low += 1
    high = count - 1
    top = max(x + REACH * width, 4.0)
    while high > low and node[high - 1] > top:
        high -= 1
    return low, high + 1


@njit(cache=True, nogil=True)
def _peak(table, rows, low, high, stride):
    """Return the largest exponent on every `stride`-th node."""
    best = -1e300
    for i in range(low[0], high[0], stride):
        for j in range(low[1], high[1], stride):
            outer = rows[0, i] + rows[1, j]
            if outer < best:
                continue
            for k in range(low[2], high[2], stride):
                best = max(best, outer + rows[2, k] + table[i, j, k])
    return best


@njit(cache=True, nogil=True)
def _group(table, forces, rows, mean, low, high, result):
    """Sum over the fields of a group: fill in `result`.

    ``ln < e^{m f} >`` first; then tilted averages: m f, the squared forces, and z - x of each.
    """
    peak = _peak(table, rows, low, high, 3)
    cut = peak - NEGLIGIBLE
    third = rows[2, low[2]]
    for k in range(low[2], high[2]):
        third = max(third, rows[2, k])
    result[:] = 0.0
    for i in range(low[0], high[0]):
        for j in range(low[1], high[1]):
            outer = rows[0, i] + rows[1, j]
            # Sigma is not larger than where the third unit is right, or wrong
            if outer + third + max(table[i, j, high[2] - 1], table[i, j, low[2]]) < cut:
                continue
            total = 0.0
            for k in range(low[2], high[2]):
                tilt = table[i, j, k]
                exponent = outer + rows[2, k] + tilt - peak
                if exponent > -NEGLIGIBLE:
                    weight = math.exp(exponent)
                    total += weight
                    result[1] += weight * tilt
                    result[2] += weight * forces[i, j, k]
                    result[5] += weight * mean[2, k]
            result[0] += total
            result[3] += total * mean[0, i]
            result[4] += total * mean[1, j]
    for i in range(1, 6):
        result[i] /= result[0]
    result[0] = peak + math.log(result[0])


@njit(cache=True, nogil=True)
def _averages(
    start,
    stop,
    table,
    forces,
    node,
    cell,
    root,
    width,
    m,
    scale,
    middle,
    middle_weight,
    rule,
    sums,
):
    """Add to `sums` what `Grouped` holds, forces in z, of the middle fields `start` to `stop`."""
    count = len(table)
    rows, mean = np.empty((3, count)), np.empty((3, count))
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    result = np.empty(6)
    for i in range(start, stop):
        above, above_weight = neighbour_grid(middle[i], 1.0, scale, rule)
        below, below_weight = neighbour_grid(middle[i], -1.0, scale, rule)
        low[1], high[1] = _row(root * middle[i], width, node, cell, count, rows[1], mean[1])
        for j in range(len(above)):
            low[0], high[0] = _row(root * above[j], width, node, cell, count, rows[0], mean[0])
            outer = 6.0 * middle_weight[i] * above_weight[j]
            for k in range(len(below)):
                weight = outer * below_weight[k]
                if weight < 1e-11:
                    continue
                low[2], high[2] = _row(root * below[k], width, node, cell, count, rows[2], mean[2])
                _group(table, forces, rows, mean, low, high, result)
                square = 0.0
                for unit in range(3):
                    square += (result[3 + unit] / (m * width * width)) ** 2
                sums[i, 0] += weight * square
                sums[i, 1] += weight * (result[2] - square)
                sums[i, 2] += weight * result[0] / m
                sums[i, 3] += weight * (result[1] - result[0])
