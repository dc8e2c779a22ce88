"""Smallest load at which the free entropy of real replicas stops falling with their overlap.

At each overlap, the smallest load at which its slope vanishes  [eq-ld-threshold]: the unknown is
how far apart groups are (`real_replicas`), from which the load follows; for a free number of
replicas that number is the second unknown, the vanishing of the complexity the second equation.
Around a reference that is a solution the same saddle point has a slope of zero in the distance,
with the reference as one more replica; what is counted are then references  [eq-ld-references].
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy

from wfmlib.numerics.solvers import NotConverged, NoZero, Report, first_root
from wfmlib.theory.saddles.mutual_overlap import Finite, Infinite
from wfmlib.theory.saddles.real_replicas import saddle, unbroken_load

FIRST_LOAD, STRIDE = 0.4, 0.05
LOGITS, STEP = (0.0, 9.0), 0.4  # of overlaps that are tried
TOLERANCE = 1e-9  # of slope and complexity
ROUGH = {"step": 0.2, "tolerance": 1e-6, "accuracy": 1e-4}  # to start from


def flat_load(overlap, replicas, axes):
    """Return the smallest load with a slope of zero, infinite where there is none, and the place.

    Loads are walked through by 0.05 from 0.4 to the one at which groups dissolve.
    """

    def make(place):
        if replicas == math.inf:
            return Infinite(overlap, place, axes)
        return Finite(overlap, place, replicas, axes)

    def slope(place):
        state = make(place)
        return state.slope(state.load)

    before = None
    for alpha in np.arange(FIRST_LOAD, unbroken_load(overlap, axes), STRIDE).tolist():
        state, place, _ = saddle(overlap, alpha, replicas, axes, before)
        if state.slope(alpha) >= 0.0:
            if before is None:
                break
            root = scipy.optimize.brentq(slope, before, place, xtol=1e-12)
            return make(root).load, root
        before = place
    return math.inf, None


def flat_load_of_countable_groups(overlap, start, axes, referred):
    """Return the load with zero slope and zero complexity, and the place and logarithm of y.

    `start` holds a guess of the latter two. With a reference y counts it, too.
    """

    def complexity(state):
        of_groups = state.complexity(state.load)
        if not referred:
            return of_groups
        # ln of the number is m V, and y = m - 1: m V - (m - 1) d(m V)/dm
        return state.entropy(state.load) + (1.0 - 1.0 / state.replicas) * of_groups

    def residuals(unknowns):
        place, log_replicas = unknowns.tolist()
        state = Finite(overlap, place, math.exp(log_replicas), axes)
        return [state.slope(state.load), complexity(state)]

    root = scipy.optimize.root(residuals, start, options={"xtol": 1e-11})
    worst = float(np.max(np.abs(root.fun)))
    if worst > TOLERANCE:
        message = f"no load with zero slope and zero complexity at overlap {overlap:.6g}"
        raise NotConverged(Report(False, worst, int(root.nfev), message), root.x)
    place, log_replicas = root.x.tolist()
    return Finite(overlap, place, math.exp(log_replicas), axes).load, root.x


@lru_cache(maxsize=64)
def first_flat_load(replicas, axes, referred=False):
    """Return the smallest load with a slope of zero at some overlap.

    `replicas` is a number, or None for that at which the complexity vanishes: of references where
    these are `referred` to.
    """
    if replicas is None:
        # on that line the slope is largest where replicas hardly differ
        logit, places = 4.6, {}
        places[logit] = _countable_groups(float(scipy.special.expit(logit)), axes)

        def load(logit):
            near = min(places, key=lambda tried: abs(tried - logit))
            overlap = float(scipy.special.expit(logit))
            alpha, places[logit] = flat_load_of_countable_groups(
                overlap, places[near], axes, referred
            )
            return alpha
    else:
        logit = 2.4

        def load(logit):
            return flat_load(float(scipy.special.expit(logit)), replicas, axes)[0]

    loads = [(load(x), x) for x in (logit, logit + STEP)]
    step = STEP if loads[1] < loads[0] else -STEP
    if step < 0.0:
        loads.reverse()
    while loads[-1][0] < loads[-2][0] or not math.isfinite(loads[-1][0]):
        x = loads[-1][1] + step
        if not LOGITS[0] < x < LOGITS[1]:
            message = "the slope of the free entropy does not touch zero at any overlap"
            raise NotConverged(Report(False, math.inf, len(loads), message))
        loads.append((load(x), x))
    ends = sorted((loads[-1][1], loads[-3][1]))
    minimum = scipy.optimize.minimize_scalar(load, bounds=ends, options={"xatol": 1e-3})
    return float(minimum.fun)


def _countable_groups(overlap, axes):
    """Return where the slope first changes sign on the line of zero complexity, at one overlap.

    Up to a step of the load: place and logarithm of the number of replicas.
    """
    place, start = None, math.log(20.0)
    for alpha in np.arange(0.6, unbroken_load(overlap, axes), STRIDE).tolist():
        saddles = {}

        def complexity(log_replicas, alpha=alpha, saddles=saddles, place=place):
            near = min(saddles, key=lambda tried: abs(tried - log_replicas), default=None)
            guess = place if near is None else saddles[near][1]
            saddles[log_replicas] = saddle(overlap, alpha, math.exp(log_replicas), axes, guess)
            return saddles[log_replicas][0].complexity(alpha)

        limit = math.log(1e4) if complexity(start) > 0.0 else math.log(1.5)
        try:
            start, _ = first_root(complexity, start, limit, **ROUGH)
        except NoZero:  # hardly any pattern is felt yet
            continue
        state, place, _ = saddles[start]
        if state.slope(alpha) >= 0.0:
            return np.array([place, start])
    message = f"no load with zero slope and zero complexity at overlap {overlap:.6g}"
    raise NotConverged(Report(False, math.inf, 0, message))
