"""The smallest load of k steps: overlaps and heights free."""

from __future__ import annotations

import math

import numpy as np
import scipy

from wfmlib.numerics.solvers import accepted
from wfmlib.theory.full_breaking.free_entropy import bound

MOST = 6  # steps: further ones lower a capacity by less than 1e-4 of itself
TOLERANCE = 1e-6  # of d ln alpha / dx; alpha errs by the square of that
FIRST = (math.log(0.3 / 0.7), 1.0)  # where the search for one step starts
NEXT = (math.log(0.25 / 0.75), 0.0)  # where a step more starts: its gap, the increase of ln y


def optimum(activation, kappa, k):
    """Return gaps, heights, ln alpha and the report for k steps.

    The unknowns are the logits of the ratios of successive gaps ``1 - q``, and the logarithms of
    the increases of y: in them every point is a hierarchy, and a step more starts from the last.
    """
    x = np.array(FIRST)
    for n in range(1, k + 1):
        found = scipy.optimize.minimize(
            lambda x: _objective(x, activation, kappa),
            x,
            jac=True,
            method="BFGS",
            options={"gtol": 0.1 * TOLERANCE, "maxiter": 500},
        )
        gaps, heights = hierarchy(found.x)
        x = np.concatenate([found.x[:n], NEXT[:1], found.x[n:], [np.log(heights[-1]) + NEXT[1]]])
    residual = float(np.max(np.abs(found.jac)))
    report = accepted(residual, TOLERANCE, found.nfev, f"{k} steps", found.x)
    return gaps, heights, float(found.fun), report


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
