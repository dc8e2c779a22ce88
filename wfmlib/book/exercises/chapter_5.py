"""Answers of chapter 5, the capacity of a hidden layer."""

from __future__ import annotations

from functools import cache

import scipy

from wfmlib.book.exercises.answers import Function, Number
from wfmlib.models import TreeCommittee
from wfmlib.numerics import gaussian
from wfmlib.theory import typical


def capacity_of_mixture(b):
    """Capacity of units ``x + b (x^2 - 1)``: twice the slope; the second term has variance 2."""
    return 2.0 * (1.0 + 4.0 * b**2) / (1.0 + 2.0 * b**2)


def exponent(a):
    """Exponent of ``1 - c`` in ``1 - q`` of units ``sign(x) |x|^a``."""
    return min(1.0, a + 0.5)


@cache
def mean_square_distance():
    """Mean squared distance of the fields of three sign units from a right answer."""
    return 1.0 / typical.capacity(TreeCommittee(3))


def _distance_if(probability):
    """The mean squared distance if a unit at ``-x`` has to cross with a probability."""
    return 3.0 * _half_line(lambda x: x**2 * probability(gaussian.H(x)))


def _half_line(function):
    """Integral of a function over the positive half of a unit Gaussian."""
    return scipy.integrate.quad(lambda x: gaussian.G(x) * function(x), 0.0, 12.0, epsabs=1e-13)[0]


def last_replicon(b):
    """Replicon at capacity of units ``x + b (x^2 - 1)``: ``c' + c''/c'`` at one."""
    slope, curvature = 0.5 * capacity_of_mixture(b), 4.0 * b**2 / (1.0 + 2.0 * b**2)
    return slope + curvature / slope


def slope_of_silent(threshold):
    """Slope at one of units ``max(0, x - threshold)``: active share over variance."""
    return gaussian.H(threshold) / _variance_of_silent(threshold, _mean_of_silent(threshold))


def _mean_of_silent(threshold):
    return gaussian.G(threshold) - threshold * gaussian.H(threshold)


def _variance_of_silent(threshold, mean):
    square = (1.0 + threshold**2) * gaussian.H(threshold) - threshold * gaussian.G(threshold)
    return square - mean**2


QUESTIONS = {
    "5.1": Function(
        "the capacity, at a coefficient b",
        "ex-mean-degree",
        capacity_of_mixture,
        [
            (
                lambda b: 2.0 * (1.0 + 2.0 * b**2) / (1.0 + b**2),
                "What is the variance of the second Hermite polynomial?",
            ),
            (
                lambda b: 2.0 * (1.0 + 2.0 * b**2) / (1.0 + 2.0 * b**2),
                "The power of the overlap comes down when it is differentiated.",
            ),
            (
                lambda b: 2.0 * (1.0 + 4.0 * b**2),
                "The effective overlap of equal weights is one: divide by the variance.",
            ),
            (
                lambda b: 2.0 * (1.0 + 2.0 * b) / (1.0 + b),
                "Coefficients enter the overlap of two outputs by their squares.",
            ),
        ],
        1e-6,  # a closed form, or a student's own derivative
        (0.5, 1.0, 4.0),
    ),
    "5.2": Function(
        "the exponent x, at a power a",
        "ex-exponent",
        exponent,
        [
            (
                lambda a: a + 0.5,
                "Near zero this is right. Which part is larger for large powers: that near zero, "
                "or the rest?",
            ),
            (
                lambda a: min(1.0, a),
                "How probable is it that an argument is so near to zero?",
            ),
            (
                lambda a: min(1.0, 0.5 * (a + 1.0)),
                "The difference of the outputs is squared.",
            ),
            (
                lambda a: min(2.0, 2.0 * a + 1.0),
                "A factor of two: in which variable, the difference of the arguments or 1 - q?",
            ),
        ],
        1e-2,  # two figures: of a student's own fit
        (-0.25, 0.25, 0.75, 1.5),
    ),
    "5.3": Number(
        "the mean squared distance",
        "ex-three-signs",
        mean_square_distance,
        [
            (
                lambda: mean_square_distance() / 3.0,
                "This is one unit. The squared distance is a sum over the units.",
            ),
            (
                lambda: _distance_if(lambda h: 2.0 * h),
                "Where both others are below, the unit is counted twice.",
            ),
            (
                lambda: _distance_if(lambda h: h**2),
                "This is as if both others had to be below; one is enough.",
            ),
            (
                lambda: _distance_if(lambda h: 2.0 * h * (1.0 - h)),
                "This is as if just one of the others had to be below; both may be.",
            ),
            (
                lambda: 1.0 / mean_square_distance(),
                "This is the capacity. What is asked for is its inverse.",
            ),
        ],
        1e-4,  # four figures
    ),
    "5.4": Function(
        "the replicon at capacity, at a coefficient b",
        "ex-never-stable",
        last_replicon,
        [
            (
                lambda b: last_replicon(b) / (0.5 * capacity_of_mixture(b)),
                "The load at capacity is larger for a larger slope.",
            ),
            (
                lambda b: last_replicon(b) + 1.0,
                "The second derivative has k(k - 1), not the square of the degree.",
            ),
            (
                lambda b: 0.5 * capacity_of_mixture(b) + 4.0 * b**2 / (1.0 + 2.0 * b**2),
                "1 - c is the slope times 1 - q, here to which power?",
            ),
            (
                lambda b: 0.5 * capacity_of_mixture(b),
                "The second derivative of the effective overlap contributes, too.",
            ),
        ],
        1e-6,  # a closed form, or a student's own derivatives
        (0.5, 1.0, 4.0),
    ),
    "5.5": Function(
        "the slope of the effective overlap at one, at a threshold",
        "ex-rectifier-threshold",
        slope_of_silent,
        [
            (
                lambda h: gaussian.H(h) / _variance_of_silent(h, 0.0),
                "The mean of the output has to be taken from its square.",
            ),
            (
                lambda h: gaussian.H(h) / _variance_of_silent(h, gaussian.G(h)),
                "This is the mean of the input where the unit is active; its output is less.",
            ),
            (
                lambda h: 1.0 / _variance_of_silent(h, _mean_of_silent(h)),
                "The derivative of the output is zero where the unit is silent.",
            ),
            (
                lambda h: gaussian.H(h) ** 2 / _variance_of_silent(h, _mean_of_silent(h)),
                "The mean of the squared derivative is wanted, not the square of its mean.",
            ),
        ],
        1e-4,  # four figures
        (0.5, 1.0, 2.0),
    ),
}
