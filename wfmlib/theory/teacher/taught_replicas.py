"""Saddle point of infinitely many real replicas at one overlap, of one teacher's labels.

As `log_concave` says, with one more overlap, S of a replica with the teacher. In the frame where
the teacher's weights are all +1 its conjugate adds a constant field to every weight; a pattern's
common field w0 is weighted with the probability that the teacher's answer is right,
``2 H(-S w0 / sqrt(q1 (q1 - S^2)))``  [eq-taught-replicas].

The names are public in `margin_students`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy
from numba import njit

from wfmlib.models.constraints.margin import FAR as LIMIT
from wfmlib.models.constraints.margin import LIMIT_RULE as RULE
from wfmlib.models.constraints.margin import shortfall
from wfmlib.models.weights.spin import magnetisation
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, Report, accepted, first_root

TOLERANCE = 1e-9  # of both equations, relative
STRONGEST = 1e5  # d0_hat


class Turn:
    """Replicas at overlap `overlap`, at a place and with a field from the teacher that are chosen.

    Parameters
    ----------
    overlap : float
        q1.
    alpha : float
    place : float
        ``logit`` of q1_hat as a share of what it is where all replicas are one group.
    s_hat : float
        The teacher's field.

    Attributes
    ----------
    load : float
        At which this is stationary in q1_hat.
    teacher_force : float
        What s_hat should be.
    teacher : float
        Overlap S with the teacher.
    entropy, slope : float
        Free entropy per replica, and its derivative in q1; right where `load` is `alpha` and
        `teacher_force` is `s_hat`.
    """

    def __init__(self, overlap, alpha, place, s_hat):
        q1_hat = _one_group(overlap, s_hat) * float(scipy.special.expit(place))
        root, complement = math.sqrt(q1_hat), 1.0 - overlap

        def excess(pull):
            return math.log(complement / max(_weight(root, pull, s_hat, RULE)[0], 1e-300))

        pull, high = 0.0, 1.0
        if excess(0.0) < 0.0:
            while excess(high) <= 0.0 and high < STRONGEST:
                high *= 2.0
            pull = scipy.optimize.brentq(excess, 0.0, high, xtol=1e-15, rtol=1e-14)
        _, lean, self.teacher, entropic = _weight(root, pull, s_hat, RULE)
        spread = lean / root - complement
        overlaps = overlap, self.teacher, spread, complement
        energetic, force, stretch, teacher_force = _pattern(*overlaps, RULE)
        self.load = q1_hat / force
        self.teacher_force = alpha * teacher_force
        products = q1_hat * (complement + spread) + overlap * pull
        self.entropy = float(entropic - 0.5 * products - self.teacher * s_hat + alpha * energetic)
        self.slope = float(0.5 * (alpha * stretch - pull))


@lru_cache(maxsize=4096)
def _one_group(overlap, s_hat):
    """Return the q1_hat at which one group of replicas without a pull has this overlap."""

    def excess(log_q1_hat):
        complement = _weight(math.exp(0.5 * log_q1_hat), 0.0, s_hat, RULE)[0]
        return math.log(max(complement, 1e-300) / (1.0 - overlap))

    return math.exp(first_root(excess, -20.0, 40.0, step=2.0)[0])


@njit(cache=True, nogil=True)
def _weight(width, pull, s_hat, rule):
    """Return ``E (1 - m*^2), E u m*, E m*`` and the entropic term, at ``width = sqrt(q1_hat)``."""
    features = np.empty((1, 2))
    scale = max(abs(1.0 - pull) ** 1.5, 1e-10) / max(width, 1e-3)
    features[0, 0], features[0, 1] = -s_hat / width, min(scale, 1.0 / max(width, 0.5))
    u, measure = gaussian.fill_grid(features, -LIMIT, LIMIT, rule)
    complement = lean = teacher = term = 0.0
    for i in range(len(u)):
        push = width * u[i] + s_hat
        sign = 1.0 if push >= 0.0 else -1.0
        m, field = magnetisation(abs(push), pull, abs(push) + pull)
        decay = math.exp(-2.0 * field)
        complement += measure[i] * 4.0 * decay / (1.0 + decay) ** 2
        lean += measure[i] * u[i] * sign * m
        teacher += measure[i] * sign * m
        term += measure[i] * (field + math.log1p(decay) - 0.5 * pull * m * m)
    return complement, lean, teacher, term


@njit(cache=True, nogil=True)
def _pattern(overlap, teacher, spread, variance, rule):
    """Return the averages that `log_concave.Limit` has, and the teacher's force."""
    root, soft = math.sqrt(overlap), math.sqrt(variance)
    ratio, doubt = spread / variance, math.sqrt(1.0 - teacher * teacher / overlap)
    features = np.empty((3, 2))
    features[0, 0], features[0, 1] = 0.0, soft / root
    bend = -math.sqrt(2.0 * math.log1p(ratio))  # as in `margin.limit_averages`
    features[1, 0], features[1, 1] = -soft * bend / root, soft / (root * (1.0 - bend))
    features[2, 0], features[2, 1] = 0.0, doubt * root / max(teacher, 1e-3)
    x, measure = gaussian.fill_grid(features, -LIMIT, LIMIT, rule)
    term = force = stretch = teacher_force = 0.0
    t = -root * x[0] / soft / (1.0 + ratio)
    for i in range(len(x)):
        t = shortfall(-root * x[i] / soft, ratio, t)
        hazard = gaussian.hazard(t)
        slope = gaussian.hazard_derivative(t)
        lean = teacher / root * x[i] / doubt
        weight = 2.0 * measure[i] * gaussian.H(-lean)
        term += weight * (gaussian.log_H(t) - 0.5 * ratio * hazard * hazard)
        force += weight * hazard * hazard
        stretch += weight * slope * (ratio * slope / (1.0 + ratio * slope))
        teacher_force += 2.0 * measure[i] * gaussian.G(lean) / doubt * hazard / soft
    return term, force / variance, stretch / variance, teacher_force


def solve(overlap, alpha, start):
    """Return the saddle point's `Turn`, the unknowns ``(place, ln s_hat)`` and the report."""

    def residuals(unknowns):
        place, log_s_hat = unknowns
        try:
            turn = Turn(overlap, alpha, float(place), math.exp(log_s_hat))
            return [math.log(turn.load / alpha), math.log(turn.teacher_force) - log_s_hat]
        # the teacher's field alone brings replicas closer, or nothing is left to resolve
        except (NotConverged, ArithmeticError, ValueError):
            return [30.0, 30.0]  # turns the solver back

    root = scipy.optimize.root(residuals, start, options={"xtol": 1e-12})
    residual = float(np.max(np.abs(root.fun)))
    if not residual < TOLERANCE:
        message = f"no saddle point was found at overlap = {overlap:.6g}, alpha = {alpha:.6g}"
        raise NotConverged(Report(False, residual, int(root.nfev), message), root.x)
    message = f"both equations within {TOLERANCE:g}"
    report = accepted(residual, TOLERANCE, int(root.nfev), message)
    place, log_s_hat = root.x.tolist()
    return Turn(overlap, alpha, place, math.exp(log_s_hat)), root.x, report
