"""Answers of chapter 7, message passing."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy

from wfmlib.book.exercises.answers import Function
from wfmlib.models import Binary, Perceptron
from wfmlib.numerics import gaussian
from wfmlib.theory import typical


def precision(pull):
    """Root of the norm equation without patterns: ``1/zeta + (pull/zeta)^2 = 1``."""
    return 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * pull**2))


def distance(pull):
    """Distance to the reference at a pull, on the empty sphere."""
    return 0.5 * (1.0 - pull / precision(pull))


def widens_below(p):
    """The x below which a pattern of a committee of three widens a message."""
    return _widens(1.0 - (1.0 - p) ** 2, p**2)


def _widens(lone, both, norm=1.0):
    """Root of ``(A - B) G(x) = -x Z(x)``; `lone` is A, `both` is B, and G is divided by `norm`."""

    def excess(x):
        z = lone * gaussian.H(-x) + both * gaussian.H(x)
        return (lone - both) * gaussian.G(x) / norm + x * z

    return scipy.optimize.brentq(excess, -12.0, 0.0, xtol=1e-12)


@cache
def typical_point(load):
    """The typical solutions of the binary perceptron."""
    return typical.solve(Perceptron(Binary()), load)


def growth(load):
    """Factor by which the variance of small changes grows in a sweep: the replicon."""
    return typical_point(load).replicon


def star_over_field(y):
    """The star field over the own field where the coupling damps nothing: ``f(h) = h``."""
    return y - 1.0


def _of_mean_variance(load):
    """The factor with the square of the mean variance of a weight, not the mean square."""
    point = typical_point(load)
    x, weight = gaussian.grid((0.0, 0.5))
    variance = 1.0 - np.tanh(math.sqrt(point.q_hat) * x) ** 2
    return point.replicon * (weight @ variance) ** 2 / (weight @ variance**2)


QUESTIONS = {
    "7.2": Function(
        "the distance at a pull",
        "ex-empty-sphere",
        distance,
        [
            (
                lambda pull: 0.5 * (1.0 - pull / (1.0 - precision(pull))),
                "The norm equation has two roots; which of them can be an inverse variance?",
            ),
            (
                lambda pull: 0.25 * (pull / precision(pull) - 1.0) ** 2,
                "This is the distance of the mean; the variance adds to it.",
            ),
            (
                lambda pull: 0.5 * (1.0 - pull / (precision(pull) - pull)),
                "The pull adds to the inverse variance, beside the multiplier of the norm.",
            ),
        ],
        1e-6,  # a closed form, or a student's own root search
        (0.3, 3.0, 30.0),
    ),
    "7.3": Function(
        "the x below which V is negative, at a probability",
        "ex-negative-v",
        widens_below,
        [
            (
                lambda p: _widens(1.0 - p**2, (1.0 - p) ** 2),
                "Of the two others, how many answer +1 if one is enough, and if both are needed?",
            ),
            (
                lambda p: _widens(2.0 * p * (1.0 - p), p**2),
                "One of the others is enough, but both may answer +1.",
            ),
            (
                lambda p: _widens(1.0 - (1.0 - p) ** 2, p**2, 1.0 / math.sqrt(2.0 * math.pi)),
                "Look at the normalisation of the Gaussian.",
            ),
        ],
        2e-3,  # the x are beyond one half: half of it is a step of 0.001 on a grid
        (0.1, 0.3, 0.6),
    ),
    "7.4": Function(
        "the factor of the variance in a sweep, at a load",
        "ex-replicon-heard",
        growth,
        [
            (
                lambda load: math.sqrt(growth(load)),
                "This is the factor of the amplitudes; what is that of the variance?",
            ),
            (
                lambda load: growth(load) / load,
                "Over how many patterns does the sum for a field run, in units of N?",
            ),
            (
                _of_mean_variance,
                "The mean of a square is wanted: weights differ in how certain they are.",
            ),
        ],
        1e-4,  # four figures
        (0.3, 0.5, 0.7),
    ),
    "7.5": Function(
        "the star field over the own field for an infinite coupling, at y replicas",
        "ex-star-limits",
        star_over_field,
        [
            (
                lambda y: y,
                "This is the total field. The star field comes from the other replicas only.",
            ),
            (
                lambda y: 1.0,
                "The fields of several replicas add up at the centre.",
            ),
        ],
        1e-9,  # a closed form: what is left is rounding
        (3, 5, 10),
    ),
}
