"""Gradient descent whose norms are free, against plain NumPy; and the recipes of three units."""

import numpy as np
import pytest
from scipy.special import expit

from wfmlib import TreeCommittee, patterns
from wfmlib.book.experiments import committee_algorithms, free_norms, three_units, tree_minima
from wfmlib.learning.descent.cross_entropy_sgd import Descent
from wfmlib.learning.descent.schedules import Schedule


def test_an_epoch_descends_both_norms():
    """Four mini-batches of ten patterns, units of eleven inputs."""
    xi, sigma = patterns.random(40, 99, rng=1)
    made = Descent(xi * sigma[:, None], 9, 11, Schedule(eta=0.1, beta=1, gamma=1), rng=RNG())
    w, gamma, eta = made.weights(), 0.7, 0.05
    order = np.random.default_rng(2).permutation(40)
    ended = free_norms._epoch(made.w, made.xi, order, gamma, eta, 10, made.fields)
    signed = (xi * sigma[:, None]).reshape(40, 9, 11).astype(float)
    for rows in np.split(order, 4):
        t = np.tanh(np.einsum("pki,ki->pk", signed[rows], w))
        u = t.sum(axis=1) / 3.0
        wrong = 2.0 * expit(-2.0 * gamma * u)
        pull = gamma * wrong[:, None] / 3.0 * (1.0 - t**2)
        w += eta * np.einsum("pk,pki->ki", pull, signed[rows])
        gamma += eta * np.sum(u * wrong)
    np.testing.assert_allclose(made.weights(), w, atol=1e-10)
    assert ended == pytest.approx(gamma)


def RNG():
    return np.random.default_rng(3)


def test_a_sample_ends_at_a_solution_with_its_norms():
    task = free_norms.EXPERIMENT.as_task("quick", {"start": "one", "eta": 0.01}, 0)
    found = task.compute()
    assert found["errors"] == 0
    assert found["end_gamma"] > 1.0
    assert np.all(found["around_converged"])


def test_a_network_that_is_turned_round_is_the_same(monkeypatch):
    """A step that turns output and weights leaves the answers, and gamma positive."""

    def turn(w, xi, order, gamma, *_):
        w *= -1.0
        return -gamma

    monkeypatch.setattr(free_norms, "_epoch", turn)
    settings = free_norms.EXPERIMENT.scale("quick").settings | {"max_epochs": 1}
    seed = free_norms.EXPERIMENT.seed_sequence({}, 0)
    point = {"start": "one", "eta": 0.01}
    found = free_norms.sample(settings | {"coupling": [1.0]}, point, seed)
    patterns_seed, algorithm_seed = free_norms.EXPERIMENT.seed_sequence({}, 0).spawn(2)
    xi, sigma = patterns.random(50, 99, rng=patterns_seed)
    first = Descent(
        xi, 9, 11, Schedule(eta=1, beta=1, gamma=1), np.random.default_rng(algorithm_seed)
    )
    assert found["errors"] == TreeCommittee(9).network(first.weights()).errors(xi, sigma)
    assert found["end_gamma"] == 1.0


def test_three_units_take_a_third_of_the_steps():
    steps = committee_algorithms.RECIPES
    for name in ("LAL", "eLAL"):
        assert three_units.CHOSEN[name]["eta"] == pytest.approx(steps[name]["eta"] / 3)
    for name in ("ceSGD slow", "ceSGD fast"):
        ours, theirs = three_units.CHOSEN[name]["schedule"], steps[name]["schedule"]
        assert ours["eta"] == pytest.approx(theirs["eta"] / 3)
    assert three_units.EXPERIMENT.seed == tree_minima.EXPERIMENT.seed
