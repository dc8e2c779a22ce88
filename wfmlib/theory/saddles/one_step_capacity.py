"""The capacity of spherical weights with one step of replica symmetry breaking.

At capacity q1 reaches 1 and m reaches 0, the ratio ``r = m / (1 - q1)`` staying finite. A pattern
then weighs a group by ``exp(-mu (kappa - omega)_+^2 / 2)`` with ``mu = r / c'(1)``: by how far the
field that its members share falls short. The average over groups has a closed form, and the free
entropy vanishes to leading order, ``1 / m``, at

    alpha = {ln[1 + r (1 - q0)] + r q0 / [1 + r (1 - q0)]} / (-2 f)    [eq-1rsb-capacity]

which is smallest at the saddle point. Replica symmetry is r -> 0, or q0 -> 1.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from wfmlib.models.weights import Spherical
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory.saddles.replica_symmetric import last_load

# Of the search that comes near the minimum; the second one where the first does not lead there.
PRECISIONS = {"xatol": 1e-2, "fatol": 1e-8}, {"xatol": 1e-5, "fatol": 1e-16}
LEAST_LOGIT = -15.0  # of q0
TOLERANCE = 1e-8  # relative, of the saddle-point equations; the load errs by the square of that


class Limit(NamedTuple):
    """Where q1 reaches 1.

    Attributes
    ----------
    alpha : float
        The load.
    q0 : float
        Overlap between groups there; 1 where replica symmetry holds.
    ratio : float
        Limit of ``m / (1 - q1)``; 0 where replica symmetry holds.
    """

    alpha: float
    q0: float
    ratio: float


def limit(activation, constraint):
    """Return where q1 reaches 1, for spherical weights.

    Infinite where ``c'(1)`` is (sign units): ``1 - c1`` is then of order ``sqrt(1 - q1)``, so that
    m falls as that, f stays finite, and the numerator grows as ``-ln(1 - q1) / 2``.

    Source: P2, equations B7-B8, where the sign of f is lost.
    """
    slope = activation.slope_at_one
    symmetric = last_load(Spherical(), activation, constraint)
    if math.isinf(slope):
        return Limit(math.inf, 1.0, math.inf)
    kappa = constraint.rescaled(activation.scale).kappa
    effective = cache(activation.effective)  # the search starts from many ratios at each q0

    def group(q0, complement, ratio):
        overlap = effective(float(q0), float(complement))
        log_weight, pull, square = _group(overlap, ratio / slope, kappa)
        return log_weight, overlap.slope * pull / slope**2, square / slope

    trials = np.arange(-4.0, 12.1), np.arange(-6.0, 16.1)
    return (smallest_apart if activation.flat else smallest)(group, symmetric, trials)


def smallest_apart(group, symmetric, trials):
    """Return what `smallest` does, or groups `apart` where these have a smaller load."""
    orthogonal = apart(group, trials[0])
    try:
        leaning = smallest(group, symmetric, trials)
    except NotConverged as failure:
        if failure.state[1] >= LEAST_LOGIT:
            raise
        return orthogonal
    return min(orthogonal, leaning, key=lambda limit: limit.alpha)


def apart(group, stretches):
    """Return the `Limit` of groups without any overlap: the ratio alone is free.

    So it is where q0 = 0 is stationary: of an activation without a linear part, and of parity
    machines. The arguments as those of `smallest`.
    """

    def log_load(x):
        stretch = math.exp(x)
        log_weight, _, _ = group(0.0, 1.0, stretch)
        return math.log(math.log1p(stretch) / (-2.0 * log_weight))

    best = min(stretches, key=log_load)
    minimum = scipy.optimize.minimize_scalar(
        log_load, bounds=(best - 1.0, best + 1.0), options={"xatol": 1e-9}
    )
    return Limit(math.exp(minimum.fun), 0.0, math.exp(minimum.x))


def smallest(group, symmetric, trials):
    """Return the `Limit` at which the load is smallest  [eq-1rsb-capacity].

    Parameters
    ----------
    group : callable
        Of q0, ``1 - q0`` and r: averages over patterns of ln <weight>, of <s>^2 and of <s^2>,
        where s is the shortfall, all fields of a pattern added up; in units in which
        ``d ln <weight> / dr = -<s^2> / 2`` and ``d / dq0`` of its average is ``-r^2 E <s>^2 / 2``.
    symmetric : float
        The load without breaking.
    trials : pair of ndarray
        Where the search starts: values of ``ln[r (1 - q0)]`` and of ``logit q0``.
    """

    def loads(x):
        """Return the loads at which phi, and its derivatives by q0 and by the ratio, vanish.

        The unknowns are ``x = ln[r (1 - q0)], logit q0``.
        """
        stretch, q0, complement = (
            math.exp(x[0]),
            scipy.special.expit(x[1]),
            scipy.special.expit(-x[1]),
        )
        ratio, outer = stretch / complement, 1.0 + stretch
        log_weight, pull, square = group(q0, complement, ratio)
        return (
            (math.log1p(stretch) + ratio * q0 / outer) / (-2.0 * log_weight),
            q0 / (outer**2 * pull) if q0 > 0.0 < pull else math.inf,
            (1.0 + stretch * complement) / (outer**2 * square),
        )

    def residuals(x):
        load, by_q0, by_ratio = loads(x)
        return math.log(by_q0 / load), math.log(by_ratio / load)

    start = min(itertools.product(*trials), key=lambda x: loads(x)[0])
    if loads(start)[0] > symmetric:
        return Limit(symmetric, 1.0, 0.0)
    near = start
    for precision in PRECISIONS:
        near = scipy.optimize.minimize(
            lambda x: math.log(loads(x)[0] / symmetric),
            near,
            method="Nelder-Mead",
            options=precision,
        ).x
        if near[1] < LEAST_LOGIT:
            message = "the overlap between groups falls towards 0"
            raise NotConverged(Report(False, math.inf, 1, message), near)
        root = scipy.optimize.root(residuals, near, options={"xtol": 1e-13})
        residual, place = float(np.max(np.abs(root.fun))), root.x
        if residual <= TOLERANCE and np.max(np.abs(place - near)) <= 0.1:
            break
    else:
        if loads(near)[0] < symmetric * (1.0 - 1e-9):
            message = f"no minimum found: residual {residual:.3g}, tolerance {TOLERANCE:g}"
            raise NotConverged(Report(False, residual, root.nfev, message), place)
        place = near  # within rounding of replica symmetry: the load is right, the place vague
    q0, complement = scipy.special.expit(place[1]), scipy.special.expit(-place[1])
    return Limit(float(loads(place)[0]), float(q0), float(math.exp(place[0]) / complement))


def _group(overlap, mu, kappa):
    """Return averages over patterns: of ln <weight>, and of <s>^2 and <s^2>, s the shortfall.

    Inside a group the shortfall is ``short + sqrt(spread) y``; where it is positive, the weight
    makes another Gaussian of it, narrower by the factor `narrow`.
    """
    root, spread = math.sqrt(max(overlap.c, 0.0)), overlap.complement
    width, narrow = math.sqrt(spread), 1.0 / math.sqrt(1.0 + mu * spread)
    x, average = np.zeros(1), np.ones(1)  # groups may share no field
    if root > 0.0:
        x, average = gaussian.grid((kappa / root, width / root), tilt=min(kappa, 0.0))
    u = (kappa - root * x) / width
    v = narrow * u
    satisfied = gaussian.log_H(u)
    short = math.log(narrow) - 0.5 * mu * spread * v**2 + gaussian.log_H(-v)
    log_weight = np.logaddexp(satisfied, short)
    share = np.exp(short - log_weight)
    mean = v + gaussian.hazard(-v)  # of the shortfall where it is positive, in its own width
    pull = average @ (share * mean) ** 2
    square = average @ (share * (1.0 + v * mean))
    scale = spread * narrow**2
    return average @ log_weight, scale * pull, scale * square
