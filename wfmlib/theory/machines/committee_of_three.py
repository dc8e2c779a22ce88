"""Energetic term of a tree committee of three sign units.

The preactivations, times the label, are normal around ``omega_l`` with variance C; a unit is right
with probability ``P_l = H(-omega_l / sqrt(C))``, wrong with ``Q_l = 1 - P_l``, and the majority is
right with probability  [eq-ld-committee]

    Sigma = P_1 P_2 + P_1 P_3 + P_2 P_3 - 2 P_1 P_2 P_3
          = P_1 P_2 [1 + (P_3 / P_1) Q_1 + (P_3 / P_2) Q_2].

The second form loses no digits and never underflows as long as unit 3 has the smallest omega: the
bracket lies between 1 and 3. Sigma is symmetric in the units, so averages over the shared fields
are taken over ``v_1 >= v_2 >= v_3`` only, times 6, in the variables ``v_2``, ``v_1 - v_2`` and
``v_2 - v_3``: nothing has a kink inside that region, and each unit knows its rank.

Everything here is in units of ``sqrt(C)``: ``z = omega / sqrt(C)``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.models.constraints.log_concave import Grouped, Limit
from wfmlib.numerics import gaussian, tails
from wfmlib.theory.machines import three_units
from wfmlib.theory.machines.three_units import (
    NEGLIGIBLE,
    REACH,
    middle_grid,
    neighbour_grid,
    neighbours,
    row_sums,
)

NARROW = 1e-7  # groups with a smaller variance, over that of fields, times m: to first order
MOST_NODES = 160  # of a common grid: beyond, groups are narrow and have nodes of their own


@njit(cache=True, nogil=True)
def _unit(z):
    """Return ``ln P``, its derivative in z, and ``Q = 1 - P``, for ``P = H(-z)``."""
    density = math.exp(-0.5 * z * z) / tails.SQRT_2PI
    if z > 0.0:
        wrong = density / (z + gaussian.hazard_gap(z))
        return math.log1p(-wrong), density / (1.0 - wrong), wrong
    hazard = gaussian.hazard_gap(-z) - z
    log_right = -0.5 * z * z - tails.LOG_SQRT_2PI - math.log(hazard)
    return log_right, hazard, 1.0 - density / hazard


@njit(cache=True, nogil=True)
def _log_sigma(z, slope, curvature):
    """Return ``ln Sigma`` at ``z_0 >= z_1 >= z_2``; fill in its first and second derivatives."""
    l0, h0, q0 = _unit(z[0])
    l1, h1, q1 = _unit(z[1])
    l2, h2, q2 = _unit(z[2])
    near, far = math.exp(l2 - l1), math.exp(l2 - l0)
    bracket = 1.0 + far * q0 + near * q1
    # share of the ways to be right for which a unit is needed
    w0 = (q2 + near * q1) / bracket
    w1 = (q2 + far * q0) / bracket
    w2 = (near * q1 + far * q0) / bracket
    slope[0], slope[1], slope[2] = h0 * w0, h1 * w1, h2 * w2
    for i in range(3):
        curvature[i, i] = -slope[i] * (z[i] + slope[i])
    c01 = h0 * h1 * ((2.0 * q2 - 1.0) / bracket - w0 * w1)
    c02 = h0 * h2 * (near * (2.0 * q1 - 1.0) / bracket - w0 * w2)
    c12 = h1 * h2 * (far * (2.0 * q0 - 1.0) / bracket - w1 * w2)
    curvature[0, 1] = curvature[1, 0] = c01
    curvature[0, 2] = curvature[2, 0] = c02
    curvature[1, 2] = curvature[2, 1] = c12
    return l0 + l1 + math.log(bracket)


@njit(cache=True, nogil=True)
def _sort(z):
    for i, j in ((0, 1), (1, 2), (0, 1)):
        if z[i] < z[j]:
            z[i], z[j] = z[j], z[i]


@njit(cache=True, nogil=True)
def _solve(a, b, shift, step):
    """Solve ``(shift - a) step = b`` for a symmetric a; False if not positive definite."""
    d0 = shift - a[0, 0]
    if d0 <= 0.0:
        return False
    l10, l20 = -a[1, 0] / d0, -a[2, 0] / d0
    d1 = shift - a[1, 1] - l10 * l10 * d0
    if d1 <= 0.0:
        return False
    l21 = (-a[2, 1] - l20 * l10 * d0) / d1
    d2 = shift - a[2, 2] - l20 * l20 * d0 - l21 * l21 * d1
    if d2 <= 0.0:
        return False
    y0 = b[0]
    y1 = b[1] - l10 * y0
    y2 = b[2] - l20 * y0 - l21 * y1
    step[2] = y2 / d2
    step[1] = y1 / d1 - l21 * step[2]
    step[0] = y0 / d0 - l10 * step[1] - l20 * step[2]
    return True


@njit(cache=True, nogil=True)
def _climb(x, spread, z, slope, curvature, trial, step):
    """Climb to a maximum of ``-|z - x|^2 / (2 spread) + ln Sigma(z)`` from z; return its height.

    Newton's method; where the function is not concave the step is shortened by a shift. A state
    out of order is put in order, which raises the function: x is in order.
    """
    value = -1e300
    shift = 1.0 / spread
    gradient = np.empty(3)
    height = _log_sigma(z, slope, curvature)
    for i in range(3):
        height -= 0.5 * (z[i] - x[i]) ** 2 / spread
    for _ in range(100):
        value = height
        size = 0.0
        for i in range(3):
            gradient[i] = slope[i] - (z[i] - x[i]) / spread
            size = max(size, abs(gradient[i]))
        if size * min(spread, 1.0) < 1e-9:
            break
        extra = 0.0
        accepted = False
        for _ in range(40):
            if _solve(curvature, gradient, shift + extra, step):
                for i in range(3):
                    trial[i] = z[i] + step[i]
                _sort(trial)
                height = _log_sigma(trial, slope, curvature)
                for i in range(3):
                    height -= 0.5 * (trial[i] - x[i]) ** 2 / spread
                if height >= value - 1e-13 * (1.0 + abs(value)):
                    accepted = True
                    break
                _log_sigma(z, slope, curvature)
            extra = max(4.0 * extra, 0.25 * shift)
        if not accepted:
            break
        for i in range(3):
            z[i] = trial[i]
    return value


@njit(cache=True, nogil=True)
def _best(x, spread, z, slope, curvature):
    """Return the global maximum of ``-|z - x|^2 / (2 spread) + ln Sigma(z)``; z is where.

    Three starts: nobody is pushed, the two foremost units are, all three are; the first leads to
    another maximum than the second only near the threshold, and alone to one where two units are
    safe. What is left in `slope` and `curvature` belongs to z.
    """
    trial, step, start = np.empty(3), np.empty(3), np.empty(3)
    best = -1e300
    for pushed in (0, 2, 3):
        if (pushed == 0 and x[1] < -2.0) or (pushed > 0 and x[1] > 2.5):
            continue
        for i in range(3):
            start[i] = x[i]
            if i < pushed and x[i] < 1.0:
                # beyond the threshold by about one width
                start[i] = max(x[i] / (1.0 + spread), min(1.0, x[i] + spread))
        _sort(start)
        height = _climb(x, spread, start, slope, curvature, trial, step)
        if height > best:
            best = height
            for i in range(3):
                z[i] = start[i]
    _log_sigma(z, slope, curvature)
    return best


# ------------------------------------------------------------------------------------------------
# Averages over the shared fields
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _limit_averages(start, stop, root, spread, scale, middle, middle_weight, rule, rows):
    """Add to `rows` E of the maximum, of the squared force, and of ``force (z + v / root)``.

    Of the middle fields from `start` to `stop`. `root` is ``sqrt(q1 / C)``, `spread` d0 / C;
    forces are derivatives in z.
    """
    x, z, slope = np.empty(3), np.empty(3), np.empty(3)
    curvature = np.empty((3, 3))
    for i in range(start, stop):
        x[1] = root * middle[i]
        fields = neighbours(middle[i], middle_weight[i], scale, rule)
        for j in range(len(fields)):
            x[0], x[2], weight = root * fields[j, 0], root * fields[j, 1], fields[j, 2]
            if weight < 1e-13:
                continue
            rows[i, 0] += weight * _best(x, spread, z, slope, curvature)
            for unit in range(3):
                rows[i, 1] += weight * slope[unit] ** 2
                rows[i, 2] += weight * slope[unit] * (z[unit] + x[unit] / root**2)


@njit(cache=True, nogil=True)
def _symmetric_averages(root, scale, middle, middle_weight, rule):
    """Return E of ln Sigma, of the force squared, and of the squared second derivatives.

    At ``z = root v``. Of the third: the diagonal, and everything.
    """
    z, slope = np.empty(3), np.empty(3)
    curvature = np.empty((3, 3))
    term = force = diagonal = whole = 0.0
    for i in range(len(middle)):
        z[1] = root * middle[i]
        fields = neighbours(middle[i], middle_weight[i], scale, rule)
        for j in range(len(fields)):
            z[0], z[2], weight = root * fields[j, 0], root * fields[j, 1], fields[j, 2]
            term += weight * _log_sigma(z, slope, curvature)
            for unit in range(3):
                force += weight * slope[unit] ** 2
                diagonal += weight * curvature[unit, unit] ** 2
                for partner in range(3):
                    whole += weight * curvature[unit, partner] ** 2
    return term, force, diagonal, whole


def limit_averages(q1, spread, order=5):
    """Return what a pattern contributes with infinitely many replicas  [eq-ld-infinite].

    Parameters
    ----------
    q1 : float
        Overlap, above 0 and below 1.
    spread : float
        ``d0 = y (q1 - q0)``, positive.
    order : int, optional
        Nodes in a panel. With 5, relative errors are below 1e-5.

    Returns
    -------
    log_concave.Limit
        By the maximum's envelope, with fields ``omega_l`` and forces ``s_l`` there: `term` changes
        in q1 as half of ``E sum_l s_l [v_l / sqrt(q1) + omega_l / (1 - q1)]``.
    """
    complement = 1.0 - q1
    root = math.sqrt(q1 / complement)
    rule = gaussian.legendre_rule(order)
    grid = middle_grid(1.0 / root, rule)
    arguments = root, spread / complement, 1.0 / root, *grid, rule
    term, force, outward = row_sums(_limit_averages, len(grid[0]), 3, arguments)
    return Limit(term, force / complement, (force + outward) / complement)


def symmetric_averages(q, complement, order=8):
    """Return the averages of a pattern at the replica-symmetric level  [eq-rs-committee].

    Returns
    -------
    term : float
        ``E ln Sigma(sqrt(q) v)``.
    force : float
        ``E sum_l s_l^2``.
    diagonal, whole : float
        ``E sum_l (d s_l / d omega_l)^2``, and the same over all pairs of units.
    """
    root = math.sqrt(q / complement)
    rule = gaussian.legendre_rule(order)
    scale = 1.0 / max(root, 1e-3)
    grid = middle_grid(scale, rule)
    term, force, diagonal, whole = _symmetric_averages(root, scale, *grid, rule)
    return term, force / complement, diagonal / complement**2, whole / complement**2


def pattern_averages(q0, difference, complement, m, order=4, step=1.2):
    """Return what a pattern contributes with m replicas, as in `log_concave.Grouped`.

    Parameters
    ----------
    q0, difference, complement : float
        Overlap between groups, ``q1 - q0``, ``1 - q1``.
    m : float
        Number of replicas, positive.
    order : int, optional
        Nodes in a panel of the shared fields.
    step : float, optional
        Of the grid of `three_units`, in units of the narrowest width.
    """
    root, width = math.sqrt(q0 / complement), math.sqrt(difference / complement)
    if m * width**2 < NARROW:  # to first order in the difference
        term, common, _, whole = symmetric_averages(q0, complement + difference)
        return Grouped(common, difference * whole, term, 0.5 * m**2 * difference * common)
    node, cell = three_units.grid(q0, difference, complement, m, step)
    if len(node) <= MOST_NODES:
        count = min(int(np.searchsorted(node, three_units.TOP)) + 1, len(node))
        tables = _tables(node[:count], m)
        order += 1  # of panels that are as wide as the groups
        return Grouped(
            *three_units.averages(*tables, node, cell, q0, difference, complement, m, order)
        )
    scale = 1.0 / max(root, 1e-3)
    rule = gaussian.legendre_rule(order)
    middle, weight = middle_grid(scale, rule)
    arguments = root, width, m, step, scale, middle, weight, rule
    common, spread, term, information = row_sums(_narrow_averages, len(middle), 4, arguments)
    return Grouped(common / complement, spread / complement, term, information)


@njit(cache=True, nogil=True)
def _fill_row(x, width, m, step, row):
    """Fill in a unit's own nodes: deviation u, logarithm of weight, ln P, hazard, Q."""
    pull = m * width * width
    push = min(pull / (1.0 + pull) * max(-x, 0.0), pull * 4.0) + min(pull, 1.5)
    narrow = step / math.sqrt(1.0 + pull)
    count = min(int((2.0 * REACH + push / width) / narrow) + 1, row.shape[1])
    shift = math.log(narrow) - tails.LOG_SQRT_2PI
    for i in range(count):
        u = -REACH + i * narrow
        row[0, i] = u
        row[1, i] = shift - 0.5 * u * u
        row[2, i], row[3, i], row[4, i] = _unit(x + width * u)
    return count


@njit(cache=True, nogil=True)
def _point(first, second, third, i, j, k, force):
    """Return ln Sigma at one node of each unit; fill in the forces, in any order of the units."""
    a, b, c = first, second, third
    pb, pc, pa = 1, 2, 0
    if b[2, j] < c[2, k]:
        b, c, j, k, pb, pc = c, b, k, j, pc, pb
    if a[2, i] < c[2, k]:
        a, c, i, k, pa, pc = c, a, k, i, pc, pa
    near = math.exp(c[2, k] - b[2, j]) * b[4, j]
    far = math.exp(c[2, k] - a[2, i]) * a[4, i]
    bracket = 1.0 + far + near
    force[pa] = a[3, i] * (c[4, k] + near) / bracket
    force[pb] = b[3, j] * (c[4, k] + far) / bracket
    force[pc] = c[3, k] * (near + far) / bracket
    return a[2, i] + b[2, j] + math.log(bracket)


@njit(cache=True, nogil=True)
def _narrow_group(first, second, third, count, m, result):
    """Sum over the fields of a group, as `three_units` does over its common grid.

    But for the forces, which are averaged themselves: a narrow group hardly moves its fields.
    """
    peak = -1e300
    force = np.empty(3)
    for i in range(0, count[0], 2):
        for j in range(0, count[1], 2):
            outer = first[1, i] + second[1, j]
            if outer < peak:
                continue
            for k in range(0, count[2], 2):
                value = _point(first, second, third, i, j, k, force)
                peak = max(peak, outer + third[1, k] + m * value)
    result[:] = 0.0
    for i in range(count[0]):
        for j in range(count[1]):
            outer = first[1, i] + second[1, j] - peak
            # Sigma is not larger than with the third unit right
            bound = m * math.log(max(1.0 - first[4, i] * second[4, j], 1e-300))
            if outer + bound < -NEGLIGIBLE:
                continue
            for k in range(count[2]):
                if outer + third[1, k] + bound < -NEGLIGIBLE:
                    continue
                value = _point(first, second, third, i, j, k, force)
                exponent = outer + third[1, k] + m * value
                if exponent > -NEGLIGIBLE:
                    weight = math.exp(exponent)
                    result[0] += weight
                    result[1] += weight * m * value
                    for unit in range(3):
                        result[2] += weight * force[unit] ** 2
                        result[3 + unit] += weight * force[unit]
    for i in range(1, 6):
        result[i] /= result[0]
    result[0] = peak + math.log(result[0])


@njit(cache=True, nogil=True)
def _narrow_averages(start, stop, root, width, m, step, scale, middle, middle_weight, rule, sums):
    """Add to `sums` what `Grouped` holds, forces in z, where groups are narrow next to all fields.

    Of the middle fields from `start` to `stop`.
    """
    rows = np.empty((3, 5, 400))
    count = np.empty(3, np.int64)
    result = np.empty(6)
    for i in range(start, stop):
        above, above_weight = neighbour_grid(middle[i], 1.0, scale, rule)
        below, below_weight = neighbour_grid(middle[i], -1.0, scale, rule)
        count[1] = _fill_row(root * middle[i], width, m, step, rows[1])
        for j in range(len(above)):
            count[0] = _fill_row(root * above[j], width, m, step, rows[0])
            for k in range(len(below)):
                weight = 6.0 * middle_weight[i] * above_weight[j] * below_weight[k]
                if weight < 1e-9:
                    continue
                count[2] = _fill_row(root * below[k], width, m, step, rows[2])
                _narrow_group(rows[0], rows[1], rows[2], count, m, result)
                square = 0.0
                for unit in range(3):
                    square += result[3 + unit] ** 2
                sums[i, 0] += weight * square
                sums[i, 1] += weight * (result[2] - square)
                sums[i, 2] += weight * result[0] / m
                sums[i, 3] += weight * (result[1] - result[0])


@njit(cache=True, nogil=True)
def _tables(node, m):
    """Return ``m ln Sigma`` and the sum of the squared forces at all triples of nodes."""
    count = len(node)
    table, forces = np.empty((count, count, count)), np.empty((count, count, count))
    log_right, hazard, wrong = np.empty(count), np.empty(count), np.empty(count)
    for i in range(count):
        log_right[i], hazard[i], wrong[i] = _unit(node[i])
    for i in range(count):
        for j in range(i + 1):
            for k in range(j + 1):
                near = math.exp(log_right[k] - log_right[j]) * wrong[j]
                far = math.exp(log_right[k] - log_right[i]) * wrong[i]
                bracket = 1.0 + far + near
                value = m * (log_right[i] + log_right[j] + math.log(bracket))
                square = (
                    (hazard[i] * (wrong[k] + near)) ** 2
                    + (hazard[j] * (wrong[k] + far)) ** 2
                    + (hazard[k] * (near + far)) ** 2
                ) / bracket**2
                for a, b, c in ((i, j, k), (i, k, j), (j, i, k), (j, k, i), (k, i, j), (k, j, i)):
                    table[a, b, c] = value
                    forces[a, b, c] = square
    return table, forces
