"""Answers of chapter 10, groups of solutions and the overlap gap."""

from __future__ import annotations

import math

import scipy

from wfmlib.book.exercises.answers import Function
from wfmlib.models import Band, Perceptron
from wfmlib.theory import clusters

BAND = Band(1.0)


def _places(d):
    """The entropy of all vectors at a distance, nats per weight."""
    return -d * math.log(d) - (1.0 - d) * math.log(1.0 - d)


def _aligned(q):
    """The probability that two fields of covariance q are positive."""
    return 0.25 + math.asin(q) / (2.0 * math.pi)


def pairs_gap(q):
    """The last load of pairs of the binary perceptron at an overlap, annealed."""
    return -(math.log(2.0) + _places((1.0 - q) / 2.0)) / math.log(_aligned(q))


def alone_band(load):
    """The distance up to which a planted solution of the band is alone, by a first moment."""
    return _alone(load, lambda d: 1.0 - 2.0 * d)


def _alone(load, overlap):
    """The distance at which the average number of solutions around one vanishes."""
    planted = clusters.entropy(Perceptron(), load, 0.5, replicas=1, constraint=BAND)

    def exponent(d):
        pairs = clusters.solve(Perceptron(), 1.0, overlap(d), replicas=2, constraint=BAND).entropy
        pairs -= clusters.entropy(Perceptron(), 0.0, overlap(d), replicas=2)
        return math.log(2.0) + _places(d) + load * pairs - planted

    return scipy.optimize.brentq(exponent, 1e-6, 0.2, xtol=1e-12)


def narrow_band(kappa):
    """The capacity of a band."""
    return -math.log(2.0) / math.log(math.erf(kappa / math.sqrt(2.0)))


def _alone_fresh(load):
    """As if the second vector were right independently of the first."""
    right = math.erf(math.sqrt(0.5))
    return scipy.optimize.brentq(lambda d: _places(d) + load * math.log(right), 1e-6, 0.5)


QUESTIONS = {
    "10.1": Function(
        "the last load of pairs",
        "ex-pairs-gap",
        pairs_gap,
        [
            (
                lambda q: -_places((1.0 - q) / 2.0) / math.log(_aligned(q)),
                "The second vector has been counted; how many choices has the first one?",
            ),
            (
                lambda q: (
                    -(math.log(2.0) + _places((1.0 - q) / 2.0)) / math.log(2.0 * _aligned(q))
                ),
                "This is the probability for the second vector, given the first: take both.",
            ),
            (
                lambda q: -2.0 * math.log(2.0) / math.log(_aligned(q)),
                "Not all pairs of vectors have this overlap: count those that do.",
            ),
        ],
        1e-9,  # a closed form: what is left is rounding
        (0.3, 0.8, 0.99),
    ),
    "10.2": Function(
        "the distance up to which a planted solution is alone",
        "ex-alone-band",
        alone_band,
        [
            (
                lambda load: _alone(load, lambda d: 1.0 - d),
                "The distance is the fraction that differs: which overlap belongs to it?",
            ),
            (
                _alone_fresh,
                "The two vectors are close: their fields are correlated, with covariance q.",
            ),
        ],
        1e-5,  # of a student's own root search
        (0.9, 1.2, 1.5),
    ),
    "10.3": Function(
        "the capacity of a band",
        "ex-narrow-band",
        narrow_band,
        [
            (
                lambda kappa: -math.log(2.0) / math.log(math.sqrt(2.0 / math.pi) * kappa),
                "This is the leading order for narrow bands; the exact capacity is wanted.",
            ),
            (
                lambda kappa: -math.log(2.0) / math.log(0.5 * math.erf(kappa / math.sqrt(2.0))),
                "The band lies on both sides of zero: this is the probability of one side.",
            ),
        ],
        1e-9,
        (0.1, 0.5, 1.0),
    ),
}
