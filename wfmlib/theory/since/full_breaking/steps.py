"""Capacity with k steps of symmetry breaking: the smallest load, overlaps and heights free."""

from __future__ import annotations

import math

import numpy as np
import scipy

from wfmlib.numerics.solvers import accepted
from wfmlib.theory.since.full_breaking.capacity_entropy import bound

MOST = 6  # steps: further ones lower a capacity by less than 1e-4 of itself
TOLERANCE = 1e-6  # of d ln alpha / dx; alpha errs by the square of that
FIRST = (math.log(0.3 / 0.7), 1.0)  # where the search for one step starts
#: Where a step more starts, with the y of the last: its gap, the first that lowers the load.
GAPS = (math.log(0.25 / 0.75), -3.0, -5.0)
LEAST_GAIN = 1e-9  # of ln alpha


def optimum(activation, kappa, k, orthogonal=False):
    """Return gaps, heights, ln alpha and the report for k steps.

    The unknowns are the logits of the ratios of successive gaps ``1 - q``, and the logarithms of
    the increases of y: in them every point is a hierarchy, and a step more starts from the last.
    Of largest groups that are orthogonal the first gap is 1, and its logit infinite.
    """
    x = np.array([math.inf if orthogonal else FIRST[0], FIRST[1]])
    fixed = x[: int(orthogonal)]

    def objective(unknowns):
        load, slopes = _objective(np.concatenate([fixed, unknowns]), activation, kappa)
        return load, slopes[len(fixed) :]

    starts, log_alpha = [x[len(fixed) :]], math.inf
    for n in range(1, k + 1):
        result = _lower(objective, starts, log_alpha)
        log_alpha, place = float(result.fun), np.concatenate([fixed, result.x])
        gaps, heights = hierarchy(place)
        more = [
            np.concatenate([place[:n], [gap], place[n:], np.log(heights[-1:])]) for gap in GAPS
        ]
        starts = [x[len(fixed) :] for x in more]
    residual = float(np.max(np.abs(result.jac)))
    report = accepted(residual, TOLERANCE, result.nfev, f"{k} steps", result.x)
    return gaps, heights, log_alpha, report


def _lower(objective, starts, before):
    """Return the first minimum that lies below a value: else two levels have become one."""
    tried = []
    for start in starts:
        options = {"gtol": 0.1 * TOLERANCE, "maxiter": 500}
        tried.append(
            scipy.optimize.minimize(objective, start, jac=True, method="BFGS", options=options)
        )
        if tried[-1].fun < before - LEAST_GAIN:
            return tried[-1]
    return min(tried, key=lambda result: result.fun)


def hierarchy(x):
    """Return gaps and heights of the unknowns."""
    n = len(x) // 2
    return np.cumprod(scipy.special.expit(x[:n])), np.cumsum(np.exp(x[n:]))


def _objective(x, activation, kappa):
    n = len(x) // 2
    gaps, heights = hierarchy(x)
    lower, none = np.tri(n), np.zeros((n, n))
    by_gap = np.concatenate([gaps[:, None] * lower * scipy.special.expit(-x[:n]), none], axis=1)
    by_height = np.concatenate([none, lower * np.exp(x[n:])], axis=1)
    return bound(activation, kappa, gaps, heights, (by_gap, by_height))
