"""Capacity with continuous symmetry breaking: the smallest load of a hierarchy.

From an overlap q1 on, y grows smoothly up to q = 1, where it diverges as a power of ``1 - q``.
With ``s = ln[(1 - q1) / (1 - q)]`` the logarithm of dy/ds is a linear function of s and a
polynomial in ``exp(-s / 2)``, so that y never decreases. Below q1 lies either
nothing but the smallest overlap, ``q0 = q1``, or a gap, with y constant from q0 to q1, and a jump
at each end. In a ladder y is a constant on equal intervals of s, up to an s beyond which only the
mean of y matters. Of both families the one with the smaller load is right, every load being an
upper bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from wfmlib.numerics.solvers import Report, accepted
from wfmlib.theory.since.full_breaking.capacity_entropy import bound
from wfmlib.theory.since.full_breaking.lowest_point import lowest_point


class Resolution(NamedTuple):
    """How finely a continuous hierarchy is described."""

    intervals: int
    span: float  # of s
    terms: int  # of the polynomial
    precision: float  # of d ln alpha / dx, that a search goes for


COARSE, FINE = Resolution(18, 8.0, 3, 1e-6), Resolution(32, 12.0, 5, 1e-7)
TOLERANCE = 1e-5  # of d ln alpha / dx; alpha errs by the square of that
RESTARTS = 4
ROUNDING = 1e-8  # of ln alpha, in a flat direction: where the hierarchy is nearly symmetric
WIDER = 1.3  # the power of q0 of one step at which the search starts
FLAT = 0.02  # of the largest growth of ln y: with less of it a gap is tried
MOST_FLAT = 12  # intervals among which y may stay constant


class Continuous(NamedTuple):
    """A continuous hierarchy, as a ladder has it."""

    log_alpha: float
    gaps: np.ndarray
    heights: np.ndarray
    x: np.ndarray
    report: Report


def optimum(activation, kappa, q0):
    """Return the hierarchy, the same with less resolution, and whether there is an overlap gap.

    The search starts from the smallest overlap of one step, q0.
    """
    coarse = _minimise(activation, kappa, COARSE, False, _start(COARSE, q0))
    fine = _minimise(activation, kappa, FINE, False, _refined(coarse.x))
    growth = np.diff(np.log(fine.heights))
    if growth[0] < FLAT * np.max(growth[:MOST_FLAT]):  # y stops growing above q0
        first = int(np.argmax(growth > 0.5 * np.max(growth[:MOST_FLAT])))
        starts = [_gapped(fine, start) for start in (first, first + 1)]
        candidates = [_minimise(activation, kappa, FINE, True, x, last=True) for x in starts]
        gapped = min(candidates, key=lambda hierarchy: hierarchy.log_alpha)
        if gapped.log_alpha < fine.log_alpha:
            return gapped, coarse, True
    return _minimise(activation, kappa, FINE, False, fine.x, last=True), coarse, False


def _spacing(resolution):
    return resolution.span / (resolution.intervals - 1)


def _start(resolution, q0):
    """Return a rough guess: the growth of the scaling law."""
    x = np.zeros(resolution.terms + 5)
    first = np.log(0.3) + 0.3 * resolution.span
    x[0], x[1], x[2], x[3] = (
        scipy.special.logit(1.0 - q0**WIDER),
        first,
        first + np.log(0.72 * _spacing(resolution)),
        0.72,
    )
    x[-1] = first + x[3] * resolution.span + 1.0
    return x


def _refined(x):
    """Return the start with the finer resolution: chi = 1 is a new unit of y."""
    growth, more = x[3], FINE.span - COARSE.span
    unit = max(1.0 - growth, 0.0) * more
    shorter = np.log(_spacing(FINE) / _spacing(COARSE))
    levels = [x[1] + unit, x[2] + unit + shorter]
    new_terms = np.zeros(FINE.terms - COARSE.terms)
    return np.concatenate([x[:1], levels, x[3:-1], new_terms, [x[-1] + unit + growth * more]])


def _gapped(plain, first):
    """Return the start with a gap up to where y grows in a hierarchy without: chi = 1 again."""
    further = np.log(plain.gaps[0] / plain.gaps[first])
    y, growth = np.log(plain.heights[0]) + 0.3 * further, 0.7
    x = np.zeros(FINE.terms + 7)
    x[:4] = plain.x[0], scipy.special.logit(plain.gaps[first] / plain.gaps[0]), y, y + np.log(0.25)
    x[4:6] = y + np.log(0.25 * _spacing(FINE)), growth
    x[-1] = plain.x[-1] + further
    return x


def _basis(resolution):
    """Return ln of the increases of y by the unknowns; that to the last interval is free."""
    n, terms = resolution.intervals, resolution.terms
    s = _spacing(resolution) * np.arange(1, n)
    u = 2.0 * np.exp(-0.5 * s) - 1.0
    powers = np.polynomial.chebyshev.chebvander(u, terms)[:, 1:] - (-1.0) ** np.arange(
        1, terms + 1
    )
    basis = np.column_stack([np.ones(n - 1), s, powers, np.zeros(n - 1)])
    basis[-1] = 0.0
    basis[-1, -1] = 1.0
    return basis


def _minimise(activation, kappa, resolution, gap, start, last=False):
    """Return the hierarchy of a kind with the smallest load; to all digits if it is the last."""
    basis = _basis(resolution)
    fall = np.exp(-_spacing(resolution) * np.arange(resolution.intervals))
    levels = 2 if gap else 1
    n, m = resolution.intervals + levels - 1, len(start)

    def hierarchy(x):
        gaps = scipy.special.expit(x[0]) * fall
        increases = np.exp(np.concatenate([x[levels : 2 * levels], basis @ x[2 * levels :]]))
        by_gap, by_increase = np.zeros((n, m)), np.zeros((n, m))
        if gap:
            gaps = np.append(gaps[0], gaps * scipy.special.expit(x[1]))
            by_gap[1:, 1] = gaps[1:] * scipy.special.expit(-x[1])
        by_gap[:, 0] = gaps * scipy.special.expit(-x[0])
        by_increase[np.arange(levels), levels + np.arange(levels)] = increases[:levels]
        by_increase[levels:, 2 * levels :] = increases[levels:, None] * basis
        return gaps, np.cumsum(increases), by_gap, np.cumsum(by_increase, axis=0)

    def objective(x):
        gaps, heights, *by_x = hierarchy(x)
        return bound(activation, kappa, gaps, heights, by_x)

    result, evaluations = None, 0
    for _ in range(RESTARTS):  # rounding ends a search early; its memory starts anew
        result = scipy.optimize.minimize(
            objective,
            start if result is None else result.x,
            jac=True,
            method="BFGS",
            options={"gtol": resolution.precision, "maxiter": 300},
        )
        evaluations += result.nfev
        residual = float(np.max(np.abs(result.jac)))
        if residual <= TOLERANCE:
            break
    report = accepted(residual, TOLERANCE, evaluations, "continuous hierarchy", result.x)
    x, log_alpha = result.x, float(result.fun)
    if last:
        x, log_alpha, report = lowest_point(objective, x, "continuous hierarchy", ROUNDING)
    gaps, heights, _, _ = hierarchy(x)
    return Continuous(log_alpha, gaps, heights, x, report)
