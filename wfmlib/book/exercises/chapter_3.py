"""Answers of chapter 3, the committee machine."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy
from scipy.special import ndtr

from wfmlib.book.exercises.answers import Function, Number
from wfmlib.models import ReLU, Sign, TreeCommittee
from wfmlib.numerics import gaussian
from wfmlib.theory import large_deviation, typical

OVERLAP, REPLICAS = 0.5, 3  # of the groups of exercise 3.1
FIELD = np.linspace(-40.0, 40.0, 16_001)
HAZARD = gaussian.hazard(-FIELD)


def _common(q0):
    """The eigenvalue B of the overlaps within a group."""
    return 1.0 - OVERLAP + REPLICAS * (OVERLAP - q0)


def slope_of_groups(q0):
    """Derivative of the spherical term in the overlap of two groups."""
    return 0.5 * REPLICAS * q0 / _common(q0) ** 2


def mean_square(kappa):
    """Mean of ``(kappa - v)_+^2`` over a unit Gaussian v."""
    return (1.0 + kappa**2) * gaussian.H(-kappa) + kappa * gaussian.G(kappa)


def crossing_load(square=mean_square, times=2.0):
    """Load where rectifiers and signs decay alike: ``square(kappa) = times kappa^2``."""
    kappa = scipy.optimize.brentq(lambda k: square(k) - times * k**2, 0.05, 6.0, xtol=1e-12)
    return ReLU().slope_at_one / square(kappa)


@cache
def _votes(load):
    """Chances that all three units are right and that a majority is, on a grid of fields."""
    q = typical.solve(TreeCommittee(3), load).q
    x, weight = gaussian.grid(order=6, limit=7.0)  # the chances vary on the scale of one
    p = ndtr(math.sqrt(q / (1.0 - q)) * x)
    a, b, c = p[:, None, None], p[:, None], p
    weights = weight[:, None, None] * weight[:, None] * weight
    return a * b * c, a * b + a * c + b * c - 2.0 * a * b * c, weights


def unanimous(load):
    """Share of the patterns on which all three units of a typical solution are right."""
    all_right, right, weights = _votes(load)
    return float(np.sum(weights * all_right / right))


def _ratio_of_means(load):
    all_right, right, weights = _votes(load)
    return float(np.sum(weights * all_right) / np.sum(weights * right))


def _any(load):
    all_right, _, weights = _votes(load)
    return float(np.sum(weights * all_right))


@cache
def _group(unit, q1):
    """Field of the replicas, its distribution in the group, and three effective overlaps."""
    spread = large_deviation.solve(TreeCommittee(np.inf, unit), 1.0, q1).spread
    overlap, centre = unit.effective_overlap(q1), unit.effective_overlap(math.sqrt(q1)).c
    shared = FIELD - overlap.slope * spread / overlap.complement * HAZARD
    shared *= math.sqrt(overlap.complement / overlap.c)
    weight = gaussian.G(shared) * np.gradient(shared, FIELD) * (FIELD[1] - FIELD[0])
    return weight, overlap.c, overlap.complement, centre


def centre_errs(q1, unit=Sign(), nearer=True, right=True, root=True):
    """Share of the patterns that the barycentre of a group gets wrong, at load one.

    The last three are true; each of them forgotten is a mistake.
    """
    weight, c, complement, centre = _group(unit, q1)
    mean = math.sqrt(complement) * (FIELD + HAZARD if right else FIELD)
    rest = 1.0 - centre**2 / c
    scaled = (centre / c if nearer else 1.0) * mean / (math.sqrt(rest) if root else rest)
    return float(weight @ gaussian.H(scaled))


QUESTIONS = {
    "3.1": Function(
        "the derivative of the spherical term, at an overlap of two groups",
        "ex-group-of-one",
        slope_of_groups,
        [
            (
                lambda q0: 0.5 / _common(q0),
                "B depends on the overlap of the groups, too.",
            ),
            (
                lambda q0: 0.5 * q0 / _common(q0) ** 2,
                "How fast does B fall with the overlap of the groups?",
            ),
            (
                lambda q0: slope_of_groups(q0) + 0.5 * (1.0 - REPLICAS) / _common(q0),
                "The logarithm of B has a factor of its own: all is per replica.",
            ),
            (
                lambda q0: 1.0 / _common(q0) - slope_of_groups(q0),
                "Does B grow or fall with the overlap of the groups?",
            ),
        ],
        1e-6,  # a closed form, or a student's own derivative
        (0.1, 0.25, 0.4),
    ),
    "3.2": Number(
        "the load at which both are as dense",
        "ex-who-wins",
        crossing_load,
        [
            (
                lambda: crossing_load() * 2.0 / math.pi,
                "This is the load for binary weights.",
            ),
            (
                lambda: crossing_load(lambda k: (1.0 + k**2) * gaussian.H(-k)),
                "A term of the mean square is missing: that of the boundary.",
            ),
            (
                lambda: crossing_load(times=4.0),
                "Each of the two rates has a number below, and they are not the same.",
            ),
            (
                lambda: crossing_load() / ReLU().slope_at_one,
                "The margin has a condition of its own, with the slope of the rectifier in it.",
            ),
        ],
        1e-3,  # three figures
    ),
    "3.4": Function(
        "the share of unanimous votes, at a load",
        "ex-unanimous",
        unanimous,
        [
            (
                _any,
                "This is how often all three are right on any input. Here the answer is right.",
            ),
            (
                _ratio_of_means,
                "Divide at given fields, and average then: the answer is right for each pattern.",
            ),
            (
                lambda load: 1.0 - unanimous(load),
                "This is the share that just two units store.",
            ),
        ],
        1e-2,  # of a sample of the fields; all mistakes are farther away
        (0.4, 1.0),
    ),
    "3.5": Function(
        "the share of the patterns that the barycentre gets wrong, at an overlap",
        "ex-group-centre",
        centre_errs,
        [
            (
                lambda q1: centre_errs(q1, unit=ReLU()),
                "These are rectifiers. The share for signs is wanted.",
            ),
            (
                lambda q1: centre_errs(q1, right=False),
                "In a replica the stability is known to be positive; this raises its mean.",
            ),
            (
                lambda q1: centre_errs(q1, nearer=False),
                "The centre is nearer to each replica than they are to each other.",
            ),
            (
                lambda q1: centre_errs(q1, root=False),
                "Divide by the standard deviation, not by the variance.",
            ),
        ],
        1e-2,  # of a grid of fields, and of a tail
        (0.7, 0.9),
    ),
}
