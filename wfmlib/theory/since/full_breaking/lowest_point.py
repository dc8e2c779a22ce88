"""Newton's method for the smallest value of a function of a hierarchy."""

from __future__ import annotations

import math

import numpy as np

from wfmlib.numerics.solvers import NotConverged, accepted

PRECISION, TOLERANCE = 1e-14, 1e-11  # by how much the value could still fall
NUDGE = 1e-4  # of an unknown, in differences of derivatives
LEAST_BEND = 1e-10  # second derivatives below this are rounding
LONGEST, ITERATIONS, HALVINGS = 1.0, 80, 20
CUTS = 3  # steps in a row that end where overlaps are not resolved: the value falls on beyond


def lowest_point(objective, x, message, tolerance=TOLERANCE):
    """Return where a function is smallest near a start, its value there, and the report.

    Newton's method, since successive levels differ little: along some directions the function
    bends a million times less than along others, and a search by slopes alone would end where its
    rounding lets it. Directions that bend down are reversed.

    Parameters
    ----------
    objective : callable
        Of an array of n unknowns; returns the value and its n derivatives.
    x : ndarray, shape (n,)
        The start.
    message : str
        Of the report, whose residual is by how much a further step would lower the value.
    tolerance : float, optional
        Of that.

    Raises
    ------
    NotConverged
        If the residual is larger: where the value falls on to where it is not known, too.
    """
    value, slope = objective(x)
    evaluations, gain, cuts = 1, math.inf, 0
    for _ in range(ITERATIONS):
        shifts = NUDGE * np.eye(len(x))
        bend = np.array([objective(x + shift)[1] - objective(x - shift)[1] for shift in shifts])
        evaluations += 2 * len(x)
        curvatures, directions = np.linalg.eigh(bend + bend.T)
        curvatures = np.maximum(np.abs(curvatures) / (4.0 * NUDGE), LEAST_BEND)
        along = directions.T @ slope
        gain = 0.5 * float(np.sum(along**2 / curvatures))
        if gain <= PRECISION:
            break
        step = -directions @ np.clip(along / curvatures, -LONGEST, LONGEST)
        cut = 0
        for _ in range(HALVINGS):
            evaluations += 1
            try:
                new, new_slope = objective(x + step)
            except NotConverged:  # too far: overlaps that are not resolved
                new, cut = math.inf, 1
            if new < value:
                break
            step *= 0.5
        else:
            break
        x, value, slope = x + step, new, new_slope
        cuts = cut * (cuts + 1)
        if cuts == CUTS:
            break
    return x, float(value), accepted(gain, tolerance, evaluations, message, x)
