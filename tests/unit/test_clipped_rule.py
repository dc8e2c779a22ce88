"""The clipped rule against its text in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import Perceptron, patterns
from wfmlib.learning.descent.clipped_rule import clipped_rule


def naive(xi, sigma, seed, epochs):
    rng = np.random.default_rng(seed)
    aligned = sigma[:, None] * xi
    h = 2 * rng.integers(-2, 2, xi.shape[1]) + 1
    for epoch in range(epochs):
        if np.all(aligned @ np.sign(h) > 0):
            return np.sign(h), epoch
        for x in aligned[rng.permutation(len(aligned))]:
            agrees = np.sign(h) * x > 0
            stability = agrees.sum() - (~agrees).sum()
            if stability <= 0:
                h += 2 * x
            elif stability == 1 and rng.random() < 0.3:
                h += 2 * x * agrees
    return np.sign(h), epochs


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("P", "N", "epochs"), [(8, 21, 100), (40, 101, 100), (90, 101, 20)])
def test_it_is_the_rule_in_numpy(P, N, epochs, seed):
    xi, sigma = patterns.random(P, N, rng=seed)
    weights, taken = clipped_rule(xi, sigma, seed=seed, epochs=epochs)
    wanted, count = naive(xi, sigma, seed, epochs)
    assert taken == count
    assert np.array_equal(weights, wanted)
    assert (Perceptron().network(weights).errors(xi, sigma) == 0) == (taken < epochs)


def test_arguments_are_checked():
    xi, sigma = patterns.random(3, 5, rng=0)
    with pytest.raises(ValueError, match="seed"):
        clipped_rule(xi, sigma, seed=-1)
    with pytest.raises(ValueError, match="epochs"):
        clipped_rule(xi, sigma, seed=1, epochs=0)
