"""Energetic term of a parity machine for any real number of replicas.

`parity` knows integer numbers of them. What lies between is interpolated: ``ln < Sigma^m >`` is
the logarithm of a moment of a probability, an analytic function of m in a half-plane that contains
``m > 0``, with its nearest singularity on the real axis at about ``m = -(1 - q1) / q1``. In the
square root of the distance from there a polynomial through a few integers does: above two replicas
it is nearly as good as the integers themselves.

Many replicas, m above 50, are interpolated in 1/m at a fixed spread ``m (q1 - q0)``, between few
replicas and infinitely many (`parity_limit`): Laplace's method makes a power series of it.

Interpolated are three functions that are smooth everywhere: m times the term, the mean force
squared (`common`), and ``(m - 1) (common + spread)``, which is 0 for one replica.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.models.constraints.log_concave import Grouped
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory.machines import parity, parity_limit

MOST_INTEGER = 50  # replicas for which powers are expanded
# below how many replicas how many integers are taken
COUNTS = ((4.0, 10), (8.0, 8), (math.inf, 6))
# numbers of replicas beside infinity; the second set where groups of the first would be too wide
FAMILIES = ((10, 12, 16, 20, 25), (25, 29, 34, 41, 50))


def pattern_averages(units, q0, difference, complement, m):
    """Return what a pattern contributes with m replicas, as in `log_concave.Grouped`.

    Parameters
    ----------
    units : int
        From 2 to 6; 2 or 3 for more than 50 replicas.
    q0, difference, complement : float
        Overlap between groups, ``q1 - q0``, ``1 - q1``.
    m : float
        Number of replicas, at least 1.

    Returns
    -------
    log_concave.Grouped
        `information` is NaN.

    Raises
    ------
    NotConverged
        For more than 50 replicas, if their spread is above ``25 q1`` and q0 is not 0.
    """
    if q0 < 1e-15 * difference:  # rounding
        q0 = 0.0
    if m <= MOST_INTEGER or q0 == 0.0:
        return _between(units, q0, difference, complement, m)
    return _many(units, q0 + difference, m * difference, complement, m)


def _between(units, q0, difference, complement, m):
    """Interpolate in ``sqrt(m + (1 - q1) / q1)``, at fixed overlaps, on one grid for all."""
    count = next(count for most, count in COUNTS if m < most)
    low = max(1, math.floor(m) - count // 2 + 1)
    if m <= MOST_INTEGER:
        low = min(low, MOST_INTEGER + 1 - count)
    few = np.arange(low, low + count)
    if m in few:
        return parity.pattern_averages(units, q0, difference, complement, int(m))
    rows = [
        _smooth(parity.pattern_averages(units, q0, difference, complement, int(k), few[-1]), k)
        for k in few
    ]
    # where fields are wide, ln Sigma is exponentially distributed, with this rate
    shift = min(complement / (q0 + difference), 100.0)
    node, place = np.sqrt(few + shift), math.sqrt(m + shift)
    return _grouped(_interpolate(node, np.array(rows), place), m)


def _many(units, q1, spread, complement, m):
    """Interpolate in 1/m, at a fixed spread and q1."""
    few = next((few for few in FAMILIES if spread < few[0] * q1), None)
    if few is None:
        message = (
            f"groups of {m:g} replicas are too wide for a parity machine of {units} units: the "
            f"spread must be below {FAMILIES[-1][0]} q1, got {spread:.6g} at q1 = {q1:.6g}; take "
            "a larger load, at most 50 replicas, or infinitely many"
        )
        raise NotConverged(Report(False, math.inf, 0, message), spread)
    limit = parity_limit.limit_averages(units, q1, spread)
    rows = [(limit.term, limit.force, limit.spread)]
    for k in few:
        averages = parity.pattern_averages(units, q1 - spread / k, spread / k, complement, k)
        rows.append((averages.term, averages.common, k * averages.spread))
    inverse = np.array([0.0, *(1.0 / k for k in few)])
    term, common, wide = _interpolate(inverse, np.array(rows), 1.0 / m)
    return Grouped(float(common), float(wide) / m, float(term), math.nan)


def _smooth(averages, m):
    """Return the three functions of m that are interpolated."""
    total = 0.0 if m == 1 else (m - 1) * (averages.common + averages.spread)
    return m * averages.term, averages.common, total


def _grouped(smooth, m):
    term, common, total = (float(value) for value in smooth)
    return Grouped(common, total / (m - 1.0) - common, term / m, math.nan)


def _interpolate(node, rows, x):
    """Return Lagrange's polynomials through `rows` at x, not a node."""
    away = node[:, None] - node
    np.fill_diagonal(away, 1.0)
    share = 1.0 / (away.prod(axis=1) * (x - node))
    return share @ rows / share.sum()
