"""Answers of chapter 4, the parity machine."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.special import comb, xlogy

from wfmlib.book.exercises.answers import Function
from wfmlib.numerics import gaussian

TAUGHT = 0.5  # load of exercise 4.5
GAPS = np.geomspace(0.9, 1e-3, 80)  # 1 - q1, in exercise 4.4


def rho(q):
    """Correlation of the signs of two Gaussians."""
    return 2.0 / math.pi * math.asin(q)


def pair(q1):
    """Log fraction of pairs of two units at load one, with two uncorrelated pairs."""
    return 0.5 * math.log1p(rho(q1) ** 2) - math.log(2.0)


@cache
def moments(q1):
    """The mean square of the sign of a unit in a group, and its answer to a shift squared."""
    width = math.sqrt((1.0 - q1) / q1)
    u, weight = gaussian.grid((0.0, width))
    square = (1.0 - 2.0 * gaussian.H(u / width)) ** 2
    return weight @ square, weight @ ((u**2 - 1.0) * square) / q1


def leaning(q1, units=3, others=2, within=1.0, over=1.0):
    """Load at which pairs of three units begin to lean to each other.

    `others` is how many moments the curvature is multiplied by, `within` the weight of the
    overlap in B, `over` what the curvature is multiplied by besides.
    """
    moment, curvature = moments(q1)
    force = moment**others * curvature * over * (1.0 + within * q1)
    return 4.0 * (1.0 + moment**3) ** 2 / (units * force**2)


def _coefficient(degree):
    """Coefficient of one product of so many of five signs, in their majority."""
    minus = np.arange(6)
    i = np.arange(degree + 1)
    chosen = comb(degree, i) * comb(5 - degree, minus[:, None] - i)
    return float(np.sign(5 - 2 * minus) @ chosen @ (-1.0) ** i) / 2.0**5


def weight_of_degree(degree):
    """Weight of a degree in the majority of five signs: over all products of that degree."""
    return comb(5, degree) * _coefficient(degree) ** 2


def _arcsine(degree):
    """The same for many units."""
    j = (degree - 1) // 2
    return 2.0 / math.pi * comb(2 * j, j) / (4.0**j * degree)


@cache
def _table():
    """Cost of the overlaps, and the even moments of the sign of a unit in a group."""
    powers = np.arange(2, 1001, 2)
    even_moments = np.empty((len(GAPS), len(powers)))
    for row, gap in zip(even_moments, GAPS, strict=True):
        width = math.sqrt(gap / (1.0 - gap))
        u, weight = gaussian.grid((0.0, width))
        square = (1.0 - 2.0 * gaussian.H(u / width)) ** 2
        row[:] = np.cumprod(np.tile(square, (len(powers), 1)), axis=0) @ weight
    return -0.5 * (np.log(GAPS) + 1.0 - GAPS), even_moments, powers


def _cost_and_gain(units, orders=None):
    """What an overlap costs, and what it gains at load one, over the overlaps."""
    cost, even_moments, powers = _table()
    terms = even_moments**units / (powers * (powers - 1.0))
    return cost, np.sum(terms[:, :orders], axis=1)


def in_pieces(units, orders=None, linear=0.0):
    """Load from which W has a second maximum: the least slope of cost over gain.

    The gain has so many `orders`, or all; `linear` of the overlap is left out of the cost.
    """
    cost, gain = _cost_and_gain(units, orders)
    lost = linear * 0.5 * (1.0 - GAPS)
    return float(np.min(np.diff(cost + lost) / np.diff(gain)))


def few_pieces(units):
    """Load from which the second maximum is positive."""
    cost, gain = _cost_and_gain(units)
    return float(np.min(cost / gain))


def log_share(q):
    """Logarithm, over N, of the share of binary vectors at an overlap."""
    up, down = 0.5 * (1.0 + q), 0.5 * (1.0 - q)
    return -xlogy(up, up) - xlogy(down, down) - math.log(2.0)


def students(q, share=log_share, agree=lambda q: rho(q) ** 3, all_of_them=1.0 - TAUGHT):
    """Exponent of the mean number of students whose units all have one overlap."""
    return all_of_them * math.log(2.0) + share(q) + TAUGHT * math.log1p(agree(q))


QUESTIONS = {
    "4.1": Function(
        "the log fraction of pairs of two units at load one, at an overlap",
        "ex-two-units",
        pair,
        [
            (
                lambda q1: math.log1p(rho(q1) ** 2) - math.log(2.0),
                "The log fraction is per replica.",
            ),
            (
                lambda q1: 0.5 * math.log1p(rho(q1)) - math.log(2.0),
                "Each of the units gives a factor.",
            ),
            (
                lambda q1: 0.5 * math.log1p(q1**2) - math.log(2.0),
                "Fields have the overlap of the weights. And their signs?",
            ),
            (
                lambda q1: 0.5 * (math.log1p(rho(q1) ** 2) - math.log(2.0)),
                "Each of the two replicas has to be right: how often are they without overlap?",
            ),
        ],
        1e-6,  # a closed form, or a student's own integral
        (0.3, 0.7, 0.99),
        nats=True,
    ),
    "4.2": Function(
        "the load at which pairs of three units begin to lean, at an overlap",
        "ex-groups-lean",
        leaning,
        [
            (
                lambda q1: leaning(q1, units=1),
                "The force is that of all units; each of them adds a square.",
            ),
            (
                lambda q1: leaning(q1, others=3),
                "One unit is shifted: how many others keep their moments?",
            ),
            (
                lambda q1: leaning(q1, within=0.0),
                "The weights hold q0 back with the B of the group.",
            ),
            (
                lambda q1: leaning(q1, over=q1),
                "The shift is one of the field, not of its unit Gaussian.",
            ),
            (
                lambda q1: leaning(q1) / 4.0,
                "The free entropy is per replica; the number of replicas enters by its square.",
            ),
        ],
        1e-4,  # four figures
        (0.3, 0.5, 0.9),
    ),
    "4.3": Function(
        "the weight of a degree in the majority of five",
        "ex-larger-vote",
        weight_of_degree,
        [
            (
                lambda degree: _coefficient(degree) ** 2,
                "This is one product of signs. How many are there of this degree?",
            ),
            (
                lambda degree: comb(5, degree) * abs(_coefficient(degree)),
                "Coefficients are squared: the weights add up to one.",
            ),
            (
                _arcsine,
                "This is the vote of many units.",
            ),
        ],
        1e-4,  # four figures
        (1, 3, 5),
    ),
    "4.4": Function(
        "the load at which the solutions fall into pieces, at a number of units",
        "ex-falling",
        in_pieces,
        [
            (
                few_pieces,
                "Here a few pieces dominate. There are many of them before: where is W first "
                "stationary?",
            ),
            (
                lambda units: in_pieces(units, orders=1),
                "Higher moments do not fall off near one; more terms of the sum are wanted.",
            ),
            (
                lambda units: in_pieces(units, linear=1.0),
                "A term of the weights is missing, linear in the overlap.",
            ),
        ],
        5e-3,  # a minimum on a grid, and a sum that ends
        (3, 5),
    ),
    "4.5": Function(
        "the exponent of the mean number of students of three units, at their overlap",
        "ex-all-or-nothing",
        students,
        [
            (
                lambda q: students(q, all_of_them=0.0),
                "This is over the number of all solutions. How many are there?",
            ),
            (
                lambda q: students(q, agree=rho),
                "Machines agree as a product of the units does.",
            ),
            (
                lambda q: students(q, agree=lambda overlap: overlap**3),
                "Fields have the overlap of the weights. And their signs?",
            ),
            (
                lambda q: students(q, share=lambda overlap: 0.5 * math.log1p(-(overlap**2))),
                "These are real weights. How many binary vectors are at an overlap?",
            ),
            (
                lambda q: students(q, share=lambda overlap: log_share(overlap) / math.log(2.0)),
                "The entropy of the overlap is in bits here, all else in nats.",
            ),
        ],
        1e-6,  # a closed form: what is left is rounding
        (0.3, 0.6, 0.9),
        nats=True,
    ),
}
