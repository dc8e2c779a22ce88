"""Right answers of the exercises of chapter 10, found otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wfmlib.book.exercises.table import QUESTIONS
from wfmlib.models import Band, Perceptron
from wfmlib.theory import clusters, franz_parisi, typical

PERCEPTRON, BAND = Perceptron(), Band(1.0)


def right(number, *at):
    """The right answer."""
    return QUESTIONS[number].right(*at)


def test_each_has_two_hints():
    mine = [one for number, one in QUESTIONS.items() if number.startswith("10.")]
    assert len(mine) >= 3
    assert min(len(one.mistakes) for one in mine) >= 2


def test_pairs_by_the_integral():
    for q in (0.3, 0.9):
        assert right("10.1", q) == pytest.approx(
            clusters.last_load(PERCEPTRON, q, replicas=2), abs=1e-10
        )


def test_alone_by_random_fields():
    """The probability of a pair from ten million pairs of correlated fields."""
    load, d = 1.2, right("10.2", 1.2)
    rng = np.random.default_rng(7)
    one, other = rng.standard_normal((2, 10_000_000), dtype=np.float32)
    q = 1.0 - 2.0 * d
    other = q * one + math.sqrt(1.0 - q * q) * other
    inside = np.abs(one) <= 1.0
    given = np.mean(np.abs(other[inside]) <= 1.0)
    places = -d * math.log(d) - (1.0 - d) * math.log(1.0 - d)
    assert places + load * math.log(given) == pytest.approx(0.0, abs=5e-4)
    bound = franz_parisi.local_entropy(PERCEPTRON, load, d, reference=BAND, constraint=BAND)
    assert bound < 0.0


def test_capacity_of_a_band_is_that_of_its_entropy():
    for kappa in (0.1, 1.0):
        found = typical.capacity(PERCEPTRON, constraint=Band(kappa))
        assert right("10.3", kappa) == pytest.approx(found, abs=1e-10)
