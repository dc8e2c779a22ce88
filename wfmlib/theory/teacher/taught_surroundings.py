"""Saddle point of solutions around a student with a margin, all of one teacher's labels.

Four kinds of vectors share a pattern: the teacher (label +1 where its field u is positive), the
reference, the other references of its kind, and the solutions counted, with overlaps R (teacher
and reference), q (two references), S (teacher and counted), t1, t0 (reference, other reference and
counted), p (two counted)  [eq-taught-local-entropy]. Given the field x that references share, u
and the reference's own field are independent; what counted solutions share beside is correlated
with both. So the average is done in the order x, reference, counted, and the teacher last, in
closed form.

The names are public in `margin_students`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy
from numba import njit

from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, Report, fixed_point

TOLERANCE = 1e-10  # of the conjugates
LARGEST = 12.0  # logarithm of p_hat, as in `surroundings`
SMALLEST = -45.0  # logarithm of weights that are left out
BEYOND = -10.0  # standard deviations at which a pattern is as good as stored


def _panels(ends, order):
    """Return nodes and weights on panels with these ends; the weights include no density."""
    node, weight = np.polynomial.legendre.leggauss(order)
    half, middle = np.diff(ends) / 2.0, (ends[1:] + ends[:-1]) / 2.0
    return (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()


@lru_cache  # made when first used: at import nothing is compiled
def _normal(limit, panels, order):
    """Return nodes and weights for averages of smooth functions of a normal variable."""
    node, weight = _panels(np.linspace(-limit, limit, panels + 1), order)
    return node, weight * gaussian.G(node)


SHARED = 8.0, 12, 8  # the fields that references share, and those of weights
COUNTED = 7.5, 8, 6


class Turn:
    """The turn of the loop that begins at given conjugates.

    Parameters
    ----------
    distance : float
    state : array_like, shape (3,)
        ``ln p_hat``, ``t0_hat / sqrt(p_hat q_hat)``, and S_hat.
    student : margin_students.Student
        The reference.
    constraint : Margin
        Of the counted solutions.

    Attributes
    ----------
    image : ndarray, shape (3,)
        The state that follows.
    p, t0, teacher : float
        Overlaps of a counted solution with another one, another reference and the teacher.
    local_entropy, slope : float
        Nats per weight, and its derivative with respect to the distance; right at a fixed point.
    """

    def __init__(self, distance, state, student, constraint):
        alpha, q, q_hat = student.alpha, student.q, student.q_hat
        p_hat, s_hat = math.exp(state[0]), float(state[2])
        r = min(max(float(state[1]), 0.0), 1.0)
        t1, t0_hat = 1.0 - 2.0 * distance, r * math.sqrt(p_hat * q_hat)
        entropic, pull, overlaps = _weights(t1, p_hat, r, s_hat, student)
        complement, self.t0, self.teacher = overlaps
        self.p = 1.0 - complement
        gap = t1 - self.t0  # what the reference and a counted solution share beside
        over = self.teacher - self.t0 * student.teacher / q
        free = self.p - self.t0**2 / q - gap**2 / (1.0 - q)
        left = 1.0 - student.teacher**2 / q - over**2 / free if free > 0.0 else -1.0
        if left <= 0.0:  # no Gaussian fields have such overlaps
            raise FloatingPointError("overlaps that no vectors have")
        spread = math.sqrt(free)
        to_teacher = over / spread, math.sqrt(left)
        margins = student.constraint.kappa, constraint.kappa
        own = _own_fields(student, *margins, complement, spread, gap)
        geometry = q, student.teacher, self.t0, gap, spread, *to_teacher, complement
        averages = _patterns(*_normal(*SHARED), *own, *_normal(*COUNTED), *margins, *geometry)
        energetic, square, product, teacher_force, edge = averages
        next_p_hat = max(alpha * square, 1e-14)
        correlation = alpha * product / math.sqrt(next_p_hat * q_hat)
        self.image = np.array([math.log(next_p_hat), min(correlation, 1.0), alpha * teacher_force])
        self.local_entropy = float(
            entropic
            - 0.5 * p_hat * complement
            + self.t0 * t0_hat
            - t1 * (t0_hat + pull)
            - self.teacher * s_hat
            + alpha * energetic
        )
        self.slope = float(2.0 * (t0_hat + pull) - 2.0 * alpha * edge)


def _weights(t1, p_hat, r, s_hat, student):
    """Return the entropic term, ``t1_hat - t0_hat``, and the overlaps ``1 - p, t0, S``."""
    x, weight = _normal(*SHARED)
    field = math.sqrt(student.q_hat) * x + student.teacher_hat
    shared = r * math.sqrt(p_hat) * x[:, None]
    counted = shared + math.sqrt(p_hat * (1.0 - r * r)) * x + s_hat
    up = scipy.special.expit(2.0 * field)[:, None]  # how often the reference's weight is +1
    measure = weight[:, None] * weight

    def overlap(pull):
        return np.sum(
            measure * (up * np.tanh(counted + pull) - (1.0 - up) * np.tanh(counted - pull))
        )

    pull = scipy.optimize.brentq(lambda pull: overlap(pull) - t1, -10.0, 60.0, xtol=1e-14)
    entropic = complement = t0 = teacher = 0.0
    for sign, share in ((1.0, up), (-1.0, 1.0 - up)):
        argument = counted + sign * pull
        m, w = np.tanh(argument), measure * share
        size = np.abs(argument)
        decay = np.exp(-2.0 * size)
        entropic += np.sum(w * (size + np.log1p(decay)))
        complement += np.sum(w * 4.0 * decay / (1.0 + decay) ** 2)
        t0 += np.sum(w * m * np.tanh(field)[:, None])
        teacher += np.sum(w * m)
    return entropic, pull, (complement, t0, teacher)


def _own_fields(student, margin, kappa, complement, spread, gap):
    """Return nodes and weights for the reference's field, short panels next to its margin."""
    width = math.sqrt(complement)
    root, own = math.sqrt(student.q), math.sqrt(1.0 - student.q)
    # where the counted solutions' fields are far beyond their margin
    reach = 10.0 * (width + spread) / max(gap / (1.0 - student.q), 0.2) + 6.0
    last = min(7.0 * root + 8.0 * own, max(margin, kappa) + reach)
    ends, step = [margin], max(0.7 * min(width, 1.0), 1e-9)
    while ends[-1] < last:
        ends.append(ends[-1] + step)
        step = min(max(step, 0.6 * (ends[-1] - margin)), 1.0)
    return _panels(np.array(ends), 8)


@njit(cache=True, nogil=True)
def _patterns(
    x, x_weight, own, own_weight, y, y_weight,
    margin, kappa, q, teacher, t0, gap, spread, over, left, complement,
):  # fmt: skip
    """Return averages over a pattern that the teacher labels and the reference stores.

    The energetic term, ``E f'^2``, ``E g f'`` with the reference's force g, the teacher's force,
    and ``E g f'`` with the reference's field at its margin: the derivatives of the energetic term
    with respect to p (twice), t0, S and t1.
    """
    root, own_width, width = math.sqrt(q), math.sqrt(1.0 - q), math.sqrt(complement)
    energetic = square = product = force = edge = 0.0
    agrees, density = np.empty(len(y)), np.empty(len(y))  # of the teacher: whatever the own field
    for i in range(len(x)):
        for k in range(len(y)):
            lean = (teacher / root * x[i] + over * y[k]) / left
            agrees[k], density[k] = gaussian.H(-lean), gaussian.G(lean)
        least = (margin - root * x[i]) / own_width
        reference = gaussian.hazard(least) / own_width
        for j in range(-1, len(own)):  # -1: at the margin itself
            field = margin if j < 0 else own[j]
            z = (field - root * x[i]) / own_width
            exponent = 0.5 * (least * least - z * z)
            mean = t0 / root * x[i] + gap / (1.0 - q) * (field - root * x[i])
            stored = (kappa - mean) / width < BEYOND and (kappa - mean) / spread < BEYOND
            if exponent < SMALLEST or stored:
                continue
            weight = 2.0 * x_weight[i] * reference * math.exp(exponent)
            if j >= 0:
                weight *= own_weight[j]
            for k in range(len(y)):
                u = (kappa - mean - spread * y[k]) / width
                w = weight * y_weight[k]
                slope = gaussian.hazard(u) / width
                if j < 0:
                    edge += w * agrees[k] * slope
                    continue
                energetic += w * agrees[k] * gaussian.log_H(u)
                square += w * agrees[k] * slope * slope
                product += w * agrees[k] * slope * reference
                force += w * density[k] / left * slope
    return energetic, square, product, force, edge


def solve(distance, student, constraint, start):
    """Return the fixed point's `Turn`, its state, and the report; or NotConverged."""

    def image(state):
        outside = not -45.0 < state[0] < LARGEST or not abs(state[2]) < 30.0
        if outside:
            return np.full(3, np.nan)
        try:
            return Turn(distance, state, student, constraint).image
        except FloatingPointError:
            return np.full(3, np.nan)

    try:
        state, report = fixed_point(image, start, tolerance=TOLERANCE, max_iterations=80)
    except NotConverged as failure:
        message = (
            f"no replica-symmetric saddle point was found at distance = {distance:.6g}, alpha = "
            f"{student.alpha:.6g}, around students of {student.constraint} ({failure})"
        )
        report = Report(False, failure.residual, failure.report.iterations, message)
        raise NotConverged(report, failure.state) from None
    return Turn(distance, state, student, constraint), state, report
