"""Answers of chapter 2, the cross-entropy."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy

from wfmlib.book.exercises.answers import Function, Number
from wfmlib.models import CrossEntropy, Perceptron
from wfmlib.numerics import gaussian
from wfmlib.theory import cross_entropy, typical

PERCEPTRON = Perceptron()
LOAD, GAMMA, WEIGHTS = 0.4, 1.0, 1001  # of the annealing of exercise 2.5


def mean_square(dq):
    """Mean square of the way to the proximal point of the loss ``max(-x, 0)``.

    A field above zero stays. One between ``-dq`` and 0 moves up to zero, one below by `dq`.
    """
    return _to_the_kink(dq) + dq**2 * gaussian.H(dq)


def _to_the_kink(edge):
    """The mean of ``z^2`` over the fields from ``-edge`` to 0."""
    return 0.5 - gaussian.H(edge) - edge * gaussian.G(edge)


def share_of_weights(d):
    """Share of the weights in which two vectors differ, each at distance `d` from a third."""
    return 2.0 * d * (1.0 - d)


def stability_left(d):
    """Mean stability at distance `d` over that at the centre: a flipped weight counts as -1."""
    return 1.0 - 2.0 * d


@cache
def length():
    """Integral of ``sqrt(-de/d beta)`` up to the lowest temperature of replica symmetry.

    The energy is a cubic spline of ``ln beta``, through points at one third of a unit.
    """
    last = cross_entropy.working_beta(PERCEPTRON, LOAD, GAMMA)
    log_beta = np.linspace(math.log(1e-4 * last), math.log(last), 28)
    energy = [
        typical.solve(PERCEPTRON, LOAD, CrossEntropy(GAMMA, beta)).energy
        for beta in np.exp(log_beta)
    ]
    slope = scipy.interpolate.CubicSpline(log_beta, energy).derivative()
    fine = np.linspace(log_beta[0], log_beta[-1], 2001)
    below = math.sqrt(-slope(fine[0]) * math.exp(fine[0]))  # from 0: de/d beta does not change
    return below + np.trapezoid(np.sqrt(-slope(fine) * np.exp(fine)), fine)


def temperatures(power=0.5):
    """Number of temperatures: the length times the root of the number of weights."""
    return WEIGHTS**power * length()


QUESTIONS = {
    "2.1": Function(
        "the mean square of the way to the proximal point, at a width dq",
        "ex-loss-ends",
        mean_square,
        [
            (
                lambda dq: dq**2 * gaussian.H(dq),
                "Fields nearer to zero than the width move too: up to the kink.",
            ),
            (
                _to_the_kink,
                "Fields farther from zero than the width move too: what is the slope there?",
            ),
            (
                lambda dq: _to_the_kink(0.5 * dq) + dq**2 * gaussian.H(0.5 * dq),
                "The errors at a finite sharpness begin at half the width. Which fields move up "
                "to the kink, and no further?",
            ),
            (
                lambda dq: mean_square(dq) + 2.0 * dq * gaussian.G(dq),
                "Look at the sign of the boundary term in the integral by parts.",
            ),
        ],
        1e-6,  # a closed form, or a student's own integral
        (0.3, 1.0, 3.0),
    ),
    "2.2": Function(
        "the share of the weights in which the two differ, at a distance",
        "ex-common-friends",
        share_of_weights,
        [
            (
                lambda d: 2.0 * d,
                "This is the most that it can be. What of weights that both draws flip?",
            ),
            (
                lambda d: (1.0 - 2.0 * d) ** 2,
                "This is their overlap. What is asked for is the share of differing weights.",
            ),
            (
                lambda d: 1.0 - share_of_weights(d),
                "This is the share of the weights in which they agree.",
            ),
            (
                lambda d: d**2,
                "This is the share that both draws flip.",
            ),
        ],
        1e-9,  # a closed form: what is left is rounding
        (0.05, 0.2, 0.4),
    ),
    "2.4": Function(
        "the mean stability around a reference over its own, at a distance",
        "ex-centre-solution",
        stability_left,
        [
            (
                lambda d: 1.0 - d,
                "A flipped weight does not drop out of the sum; with which sign does it count?",
            ),
            (
                lambda d: (1.0 - 2.0 * d) ** 2,
                "This is the overlap of two such vectors; the reference is one of the two here.",
            ),
            (
                lambda d: 1.0 / (1.0 - 2.0 * d),
                "Which of the two stabilities is divided by which?",
            ),
        ],
        1e-9,  # a closed form: what is left is rounding
        (0.1, 0.2, 0.4),
    ),
    "2.5": Number(
        "the number of temperatures",
        "ex-how-many-temperatures",
        temperatures,
        [
            (
                lambda: temperatures(0.0),
                "This is the length of the curve. How does the number of steps grow with N?",
            ),
            (
                lambda: temperatures(1.0),
                "The mean of the loss grows as N, and so does its variance. And the deviation?",
            ),
            (
                lambda: temperatures(-0.5),
                "Energies are per weight: the loss itself fluctuates N times as much.",
            ),
        ],
        # A sum of roots over eleven temperatures is too large by three parts in a hundred.
        4e-2,
    ),
}
