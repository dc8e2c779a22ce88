"""Answers of chapter 6, margins."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy
from scipy.special import erf

from wfmlib.book.exercises.answers import Function, Number
from wfmlib.models import Binary, Margin, Perceptron
from wfmlib.numerics import gaussian
from wfmlib.theory import franz_parisi, teacher_student, typical

PERCEPTRON = Perceptron(Binary())
NO_LOSS = 12.0  # standard deviations beyond which no pattern is lost


@cache
def density(load, margin=0.0):
    """Density of the stabilities of typical solutions at their margin."""
    return typical.solve(PERCEPTRON, load, Margin(margin)).margin_density


@cache
def constant(integrand):
    """Integral from 0 of what a pattern costs, `integrand`, over its stability."""
    return scipy.integrate.quad(integrand, 0.0, NO_LOSS)[0]


def log_loss(u):
    """Cost of a pattern `u` standard deviations from the threshold: ``-ln H(-u)``."""
    return -gaussian.log_H(-u)


def isolation(load, deviation=2.0, integrand=log_loss, linear=1.0):
    """Distance where ``d ln(1/d) + linear d - deviation C load P sqrt(d)`` vanishes."""
    price = deviation * constant(integrand) * load * density(load)
    highest = math.exp(linear - 2.0)  # the first root is below where the number of places wins
    return scipy.optimize.brentq(
        lambda d: d * (linear - math.log(d)) - price * math.sqrt(d), 1e-9, highest, xtol=1e-15
    )


@cache
def student(load):
    """The typical student of a teacher."""
    return teacher_student.solve(PERCEPTRON, load)


def vote(load):
    """Overlap of the vote of all students with the teacher."""
    return 1.0 - 2.0 * gaussian.H(math.sqrt(student(load).q_hat))


@cache
def _densities(load):
    """The density at margins up to 0.15, as a polynomial: a fit of solved points."""
    # Degree 6 leaves less than 1e-5 of a smooth function over so short a range.
    return np.polynomial.Chebyshev.interpolate(
        lambda margins: [density(load, margin) for margin in margins], 6, (0.0, 0.15)
    )


DISTANCES = np.geomspace(1e-5, 0.03, 3000)
STARTS = np.linspace(0.0, NO_LOSS, 4001)
TAIL = scipy.integrate.cumulative_trapezoid(log_loss(STARTS[::-1]), -STARTS[::-1], initial=0.0)


def _potential(load, margin, deviation=2.0, at_margin=True):
    """The estimate of the entropy at `DISTANCES` around a solution of a margin."""
    cut = np.interp(margin / (deviation * np.sqrt(DISTANCES)), STARTS, TAIL[::-1])
    at_margin_density = _densities(load)(margin if at_margin else 0.0)
    cost = deviation * load * at_margin_density * np.sqrt(DISTANCES) * cut
    return DISTANCES * (1.0 - np.log(DISTANCES)) - cost


def _margin(lowest):
    """The margin at which the lowest value of something is zero."""
    return scipy.optimize.brentq(lowest, 1e-3, 0.15, xtol=1e-9)


def shell_closes(load, **estimate):
    """Margin of the reference from which no distance is empty any more."""
    return _margin(lambda kt: np.min(_potential(load, kt, **estimate) / DISTANCES))


def dip_gone(load):
    """Margin of the reference from which the estimate does not fall anywhere."""
    return _margin(lambda kt: np.min(np.diff(_potential(load, kt))))


def only_the_teacher(places=None, together=None):
    """Load from which the mean number of students is below one at each distance."""
    places = places or (lambda d: franz_parisi.geometric_bound(PERCEPTRON, d))
    together = together or (lambda d: 1.0 - math.acos(1.0 - 2.0 * d) / math.pi)
    highest = scipy.optimize.minimize_scalar(
        lambda d: places(d) / math.log(together(d)), bounds=(1e-4, 0.5), method="bounded"
    )
    return -highest.fun


QUESTIONS = {
    "6.1": Function(
        "the distance up to which nothing is counted, at a load",
        "ex-how-isolated",
        isolation,
        [
            (
                lambda load: isolation(load, linear=0.0),
                "The number of places has a second term, of the order of the distance.",
            ),
            (
                lambda load: isolation(load, deviation=1.0),
                "How far is a stability carried? Its variance is four times the distance.",
            ),
            (
                lambda load: isolation(load, integrand=gaussian.H),
                "This adds up how likely patterns are lost. The logarithm of the probability "
                "that all are kept is wanted.",
            ),
        ],
        1e-4,  # four figures; a trapezoid rule with steps of 0.01 leaves 1e-5
        (0.3, 0.4, 0.5),
    ),
    "6.3": Function(
        "the overlap of the vote with the teacher, at a load",
        "ex-nishimori",
        vote,
        [
            (
                lambda load: student(load).q,
                "This is the overlap of one student. The sign of the mean is nearer.",
            ),
            (
                lambda load: 1.0 - gaussian.H(math.sqrt(student(load).q_hat)),
                "This is the share of the weights that are right; how is the overlap made of it?",
            ),
            (
                lambda load: float(erf(math.sqrt(student(load).q_hat))),
                "Which variance does the error function have? That of the book's H is one.",
            ),
        ],
        1e-4,  # four figures, as the chapter prints
        (0.5, 1.0),
    ),
    "6.4": Function(
        "the margin at which the empty shell closes, at a load",
        "ex-shell-closes",
        shell_closes,
        [
            (
                dip_gone,
                "Here the dip is gone. The shell closes before: where the lowest value is zero.",
            ),
            (
                lambda load: shell_closes(load, deviation=1.0),
                "How far is a stability carried? Its variance is four times the distance.",
            ),
            (
                lambda load: shell_closes(load, at_margin=False),
                "Which density counts: that of solutions without a margin, or of the reference?",
            ),
        ],
        1e-3,  # the lowest of values on a grid of distances
        (0.3, 0.5),
    ),
    "6.5": Number(
        "the load from which only the teacher is left",
        "ex-isolation-proved",
        only_the_teacher,
        [
            (
                lambda: teacher_student.perfect_learning(PERCEPTRON),
                "This is what the replicas give. What does the mean number of students prove?",
            ),
            (
                lambda: only_the_teacher(together=lambda d: 1.0 - d),
                "Weights differ in a share of their places, fields by the angle between them.",
            ),
            (
                lambda: only_the_teacher(
                    together=lambda d: 1.0 - math.acos(1.0 - 2.0 * d) / (2.0 * math.pi)
                ),
                "Teacher and student disagree in two sectors, and each has the angle.",
            ),
            (
                lambda: only_the_teacher(together=lambda d: 1.0 - math.acos(1.0 - d) / math.pi),
                "Which overlap has a student at a distance, the share of differing weights?",
            ),
        ],
        1e-4,  # four figures; a maximum on a grid is nearer still
    ),
}
