"""Answers of chapter 9, deep networks."""

from __future__ import annotations

import math

import scipy
from scipy.special import comb, gammaln

from wfmlib.book.exercises.answers import Function
from wfmlib.numerics import gaussian

INPUTS = 51  # of a unit, in the second layer of the chapter's networks


def log_twins(units):
    """Logarithm of the number of twins of a network with two hidden layers of so many units."""
    return 2.0 * (gammaln(units + 1.0) + units * math.log(2.0))


def best_overlap(others):
    """Mean of the largest modulus of so many overlaps, Gaussian of variance ``1/INPUTS``."""
    return _mean_largest(lambda x: 1.0 - 2.0 * gaussian.H(x), others)


def _mean_largest(below, others):
    """Mean of the largest of positive numbers, each below x with probability ``below(x)``."""
    mean = scipy.integrate.quad(lambda x: 1.0 - below(x) ** others, 0.0, 12.0, epsabs=1e-12)[0]
    return mean / math.sqrt(INPUTS)


def _largest_signed(others):
    """Mean of the largest overlap itself, without its modulus."""
    negative = scipy.integrate.quad(lambda x: gaussian.H(x) ** others, 0.0, 12.0)[0]
    return _mean_largest(lambda x: gaussian.H(-x), others) - negative / math.sqrt(INPUTS)


def open_share(inputs):
    """Probability that a sum of an odd number of random signs is one or minus one."""
    return 2.0 * comb(inputs, (inputs - 1) // 2, exact=True) / 2.0**inputs


QUESTIONS = {
    "9.2": Function(
        "the logarithm of the number of twins, at a number of units in each of two hidden layers",
        "ex-twins",
        log_twins,
        [
            (
                lambda units: 0.5 * log_twins(units),
                "This is one hidden layer. The choices in the two are independent.",
            ),
            (
                lambda units: 2.0 * gammaln(units + 1.0),
                "Units can change places. What else leaves every answer as it is?",
            ),
            (
                lambda units: 2.0 * (gammaln(units + 1.0) + math.log(2.0)),
                "Each unit has a sign of its own, not each layer.",
            ),
            (
                lambda units: gammaln(2.0 * units + 1.0) + 2.0 * units * math.log(2.0),
                "Units change places within their layer only.",
            ),
        ],
        1e-6,  # a closed form, or a sum of logarithms
        (3, 51, 101),
        nats=True,
    ),
    "9.3": Function(
        "the mean of the best overlap, at a number of others",
        "ex-chance",
        best_overlap,
        [
            (
                lambda others: math.sqrt(2.0 * math.log(2.0 * others) / INPUTS),
                "This is the leading order. What is the mean of the largest modulus, exactly?",
            ),
            (
                lambda others: math.sqrt(2.0 * math.log(others) / INPUTS),
                "This is a leading order, and without the modulus; the exact mean is wanted.",
            ),
            (
                _largest_signed,
                "This is the largest overlap. A twin can be opposite: take the modulus.",
            ),
            (
                lambda others: best_overlap(others) * math.sqrt(INPUTS),
                "In which units? The overlap of two units has a variance.",
            ),
        ],
        1e-4,  # four figures; the trapezoid rule of the solution leaves less
        (5, 51, 201),
    ),
    "9.5": Function(
        "the share of the units that learn at the start, at an odd number of inputs",
        "ex-box",
        open_share,
        [
            (
                lambda inputs: 1.0 - 2.0 * gaussian.H(1.0 / math.sqrt(inputs)),
                "This is half of it. Which values can a sum of an odd number of signs take?",
            ),
            (
                lambda inputs: 1.0 - 2.0 * gaussian.H(1.0),
                "This is the share with the root.",
            ),
            (
                lambda inputs: 1.0 - open_share(inputs),
                "This is the share that does not learn.",
            ),
        ],
        2e-2,  # the Gaussian estimate is 3/(4N) too large: 0.015 at the smallest N
        (51, 63, 101),
    ),
}
