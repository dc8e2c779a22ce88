"""Answers of chapter 1, the binary perceptron."""

from __future__ import annotations

import math

import scipy
from scipy.special import ndtri

from wfmlib.book.exercises.answers import Function, Number
from wfmlib.models import Perceptron, Spherical
from wfmlib.numerics import gaussian
from wfmlib.theory import typical


def small_load(alpha):
    """The entropy to second order in the load, nats per weight."""
    return (1.0 - alpha) * math.log(2.0) - (alpha / math.pi) ** 2


def annealed_margin(alpha):
    """The margin at which the annealed entropy of `alpha` patterns per weight is zero."""
    return -ndtri(2.0 ** (-1.0 / alpha))


def margin_of_load_one():
    """The margin at which the capacity of the spherical perceptron is one."""
    return typical.max_margin(Perceptron(Spherical()), 1.0)


def _load_one(integral):
    """Return the margin at which an integral, taken for Gardner's, is one."""
    return scipy.optimize.brentq(lambda kappa: integral(kappa) - 1.0, 0.0, 3.0, xtol=1e-12)


QUESTIONS = {
    "1.1": Function(
        "the entropy to second order in the load",
        "ex-small-load",
        small_load,
        [
            (
                lambda alpha: (1.0 - alpha) * math.log(2.0),
                "This is the annealed entropy; which term comes next?",
            ),
            (
                lambda alpha: (1.0 - alpha) * math.log(2.0) + (alpha / math.pi) ** 2,
                "Look at the sign of the second order: can it exceed the annealed entropy?",
            ),
            (
                lambda alpha: (1.0 - alpha) * math.log(2.0) - 2.0 * (alpha / math.pi) ** 2,
                "The second order is twice too large: the slope was not integrated.",
            ),
        ],
        1e-9,  # a closed form: what is left is rounding
        (0.1, 0.3, 0.7),
        nats=True,
    ),
    "1.2": Function(
        "the bound on the margin at a load",
        "ex-annealed-margin",
        annealed_margin,
        [
            (
                lambda alpha: math.sqrt(2.0 * math.log(2.0) / alpha),
                "This is how it behaves at small loads; the bound itself is wanted.",
            ),
            (
                lambda alpha: -ndtri(math.exp(-1.0 / alpha)),
                "There are 2^N vectors of weights: which logarithm is taken?",
            ),
            (
                lambda alpha: math.sqrt(2.0 / (math.pi * alpha)),
                "This bounds the mean stability; the annealed entropy bounds it otherwise.",
            ),
        ],
        1e-6,  # of a student's own root search
        (0.1, 0.3, 0.5),
    ),
    "1.3": Number(
        "the margin at load one",
        "ex-gardner",
        margin_of_load_one,
        [
            (
                lambda: _load_one(lambda k: (1.0 + k**2) * gaussian.H(-k)),
                "A term of the integral is missing: that of the boundary.",
            ),
            (
                lambda: _load_one(lambda k: (1.0 + k**2) * gaussian.H(-k) - k * gaussian.G(k)),
                "Look at the sign of the term of the boundary.",
            ),
            (
                lambda: _load_one(lambda k: gaussian.H(-k) + k * gaussian.G(k)),
                "The square of the margin has been left out of the integral.",
            ),
        ],
        1e-4,  # four figures
    ),
}
