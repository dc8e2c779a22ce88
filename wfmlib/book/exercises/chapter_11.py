"""Answers of chapter 11, full replica symmetry breaking."""

from __future__ import annotations

import math

from wfmlib.book.exercises.answers import Function, Number


def capacity_of_degree(k):
    """RS capacity of units that are a Hermite polynomial: twice the slope of ``q^k`` at one."""
    return 2.0 * k


def onset():
    """The load at which the replicon at q = 0 is one, for squares: ``2 (2 / pi) alpha``."""
    return math.pi / 4.0


def forces(kappa):
    """The exponent of the forces, from that of the overlaps."""
    return 2.0 / (2.0 - kappa) - 3.0


QUESTIONS = {
    "11.1": Function(
        "the capacity, at a degree k",
        "ex-pure-degree",
        capacity_of_degree,
        [
            (
                lambda k: 2.0 * k * math.gamma(k + 1.0),
                "Divide by the variance of the polynomial: c(1) is one.",
            ),
            (
                lambda k: 2.0 * k**2,
                "The square of the derivative of one degree has which mean, relative to its own?",
            ),
        ],
        1e-6,  # a closed form
        (2.0, 3.0, 5.0),
    ),
    "11.2": Number(
        "the load at which q = 0 loses stability",
        "ex-even-onset",
        onset,
        [
            (
                lambda: 0.5,
                "What is the force on a field zero? A Gaussian density over a half.",
            ),
            (
                lambda: math.sqrt(math.pi / 8.0),
                "The force enters by its square.",
            ),
        ],
        1e-3,  # three figures
    ),
    "11.3": Function(
        "the exponent of the forces, at an exponent of the overlaps",
        "ex-one-exponent",
        forces,
        [
            (
                lambda kappa: 2.0 / (2.0 - kappa) - 2.0,
                "Solve for the exponent, not for one more than it.",
            ),
            (
                lambda kappa: (4.0 - kappa) / (kappa - 2.0),
                "Lambda is the integral of y: which power of 1 - q is it?",
            ),
        ],
        1e-6,  # a closed form
        (1.3, 1.4157, 1.5),
    ),
}
