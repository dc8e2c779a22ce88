"""What a page computes on one instance is what the package computes."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import Perceptron, learning, patterns
from wfmlib.learning.pages import counted as counting
from wfmlib.learning.pages.counted import counted
from wfmlib.learning.pages.drawn import drawn


def instance(P, N, seed):
    """Return patterns times labels, and the labels, as a page draws them."""
    held, labels = np.zeros((P, N), dtype=np.int8), np.zeros(P, dtype=np.int8)
    assert drawn(float(seed), held, labels) == P
    return held, labels


@pytest.mark.parametrize(("P", "N", "seed"), [(1, 1, 0), (15, 21, 3), (169, 201, 2**32 - 1)])
def test_patterns_are_those_of_the_package(P, N, seed):
    held, labels = instance(P, N, seed)
    xi, sigma = patterns.random(P, N, rng=seed)
    assert np.array_equal(held, xi * sigma[:, None])
    assert np.array_equal(labels, sigma)


def listed(held):
    """Return what `counted` returns and fills in."""
    N = held.shape[1]
    around, densest, weights = np.ones(N + 1), np.ones(N + 1), np.ones(N, dtype=np.int8)
    return *counted(held, around, densest, weights), around, densest, weights


@pytest.mark.parametrize(("P", "N"), [(1, 1), (3, 2), (5, 9), (8, 13), (9, 12), (14, 17)])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_the_package(P, N, seed):
    """Means over centres are sums of integers over one: equal but for the division's rounding."""
    held, labels = instance(P, N, seed)
    count, centres, around, densest, weights = listed(held)
    xi = held * labels[:, None]
    kept = learning.enumerate_solutions(Perceptron(), xi, labels, keep=2**N)
    assert count == centres == kept.count
    if not count:
        assert not around.any() and not densest.any() and not weights.any()
        return
    each = [
        learning.enumerate_solutions(Perceptron(), xi, labels, reference=w).counts_by_distance
        for w in kept.solutions
    ]
    np.testing.assert_allclose(around, np.mean(each, axis=0), rtol=1e-14)
    near = np.sum(np.array(each)[:, : counting.NEAR + 1], axis=1)
    assert np.array_equal(weights, kept.solutions[np.argmax(near)])
    assert np.array_equal(densest, each[np.argmax(near)])


def test_of_many_solutions_some_are_centres():
    """Two patterns leave a quarter of 2^17 vectors: every so-many-th is a centre."""
    held, labels = instance(2, 17, 5)
    count, centres, around, densest, _ = listed(held)
    kept = learning.enumerate_solutions(Perceptron(), held, np.ones(2), keep=2**17)
    step = -(-(kept.count**2) // counting.PAIRS)
    assert step > 2
    assert centres == len(kept.solutions[::step])
    assert around.sum() == pytest.approx(count, rel=1e-12)
    assert densest.sum() == count
