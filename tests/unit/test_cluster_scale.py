"""Reinforced messages on packed patterns, and least action with binary weights."""

import numpy as np
import pytest

from wfmlib.book import experiments
from wfmlib.learning import PackedPatterns
from wfmlib.learning.descent.clipped_replicas import clipped_replicas
from wfmlib.learning.messages.packed_reinforced import packed_reinforced
from wfmlib.learning.messages.reinforced import reinforced_message_passing


@pytest.mark.parametrize("load", [0.4, 0.6])
def test_packed_patterns_lead_to_the_same_solution(load):
    """In single precision or double, from plain patterns or packed: the same, sweep by sweep."""
    packed = PackedPatterns.random(round(load * 501), 501, rng=5)
    right = np.ones(packed.P, dtype=np.int8)
    plain = reinforced_message_passing(packed.unpack(), right, rate=0.01, rng=2)
    found = packed_reinforced(packed, rate=0.01, look=1, rng=2, threads=1)
    assert found.errors == plain.errors == 0
    assert found.sweeps == plain.sweeps > 10
    np.testing.assert_array_equal(found.weights, plain.weights)


def test_signs_are_tried_in_some_sweeps_and_in_the_last():
    packed = PackedPatterns.random(200, 501, rng=6)
    first = packed_reinforced(packed, rate=0.02, look=1, rng=3).sweeps
    found = packed_reinforced(packed, rate=0.02, look=4, rng=3)
    assert found.errors == 0
    assert found.sweeps == -(-first // 4) * 4
    short = packed_reinforced(packed, rate=0.02, look=4, max_sweeps=3, rng=3)
    assert short.sweeps == 3
    assert short.errors == packed.errors(short.weights) > 0


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"rate": 0.0}, "rate"),
        ({"lean": 1.0}, "lean"),
        ({"look": 0}, "look"),
        ({"max_sweeps": 0}, "max_sweeps"),
        ({"threads": 0}, "threads"),
        ({"rng": -1}, "rng"),
    ],
)
def test_what_messages_refuse(changes, name):
    packed = PackedPatterns.random(5, 11, rng=0)
    with pytest.raises((TypeError, ValueError), match=name):
        packed_reinforced(packed, **changes)
    with pytest.raises(TypeError, match="packed"):
        packed_reinforced(packed.unpack())


def instance(load, N=101, rng=7):
    packed = PackedPatterns.random(round(load * N), N, rng=rng)
    return packed.unpack(), np.ones(packed.P, dtype=np.int8)


def in_numpy(xi, sigma, y, pull, growth, batch, epochs, rng):
    """The rule, as the module's docstring has it; return the signs at the end."""
    rng, aligned = np.random.default_rng(rng), (xi * sigma[:, None]).astype(float)
    P, N = xi.shape
    h = 2.0 * rng.integers(-2, 2, (y, N)) + 1.0
    center = h.mean(axis=0)
    for _ in range(epochs):
        rows = [rng.permutation(P) for _ in range(y)]
        for b in range(0, P, batch):
            for a in range(y):
                for x in aligned[rows[a][b : b + batch]]:
                    if np.where(h[a] > 0, 1, -1) @ x <= 0:
                        h[a] += 2 * x
                h[a] += pull * (center - h[a])
            center = h.mean(axis=0)
        pull = min(pull * (1 + growth), 1)
    return np.where(np.vstack([h, center]) > 0, 1, -1)


@pytest.mark.parametrize(
    ("y", "pull", "growth", "batch"), [(1, 0.0, 0.0, 100), (3, 0.1, 0.5, 7), (4, 0.01, 0.0, 30)]
)
def test_rule_is_that_of_the_docstring(y, pull, growth, batch):
    xi, sigma = instance(1.5)  # no solutions: all epochs are taken
    sigma[::2] *= -1
    told = {"pull": pull, "growth": growth, "batch": batch, "max_epochs": 6}
    found = clipped_replicas(xi, sigma, replicas=y, rng=4, **told)
    signs = in_numpy(xi, sigma, y, pull, growth, batch, 6, 4)
    np.testing.assert_array_equal(found.weights, signs[-1])
    assert found.epochs == 6
    assert found.errors == np.count_nonzero(sigma * (xi.astype(int) @ found.weights) <= 0) > 0


@pytest.mark.parametrize("replicas", [1, 5])
def test_solutions_are_solutions(replicas):
    xi, sigma = instance(0.3)
    sigma[1::2] *= -1
    found = clipped_replicas(xi, sigma, replicas=replicas, rng=1)
    assert found.errors == 0
    assert np.all(sigma * (xi.astype(int) @ found.weights) > 0)
    assert found.epochs < 1000


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"replicas": 0}, "replicas"),
        ({"pull": 1.5}, "pull"),
        ({"growth": -1.0}, "growth"),
        ({"batch": 0}, "batch"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"rng": -1}, "rng"),
    ],
)
def test_what_least_action_refuses(changes, name):
    xi, sigma = instance(0.1)
    with pytest.raises((TypeError, ValueError), match=name):
        clipped_replicas(xi, sigma, **changes)
    with pytest.raises(ValueError, match="odd"):
        clipped_replicas(xi[:, 1:], sigma)


@pytest.mark.parametrize("name", ["cluster-scale", "cluster-large"])
def test_tiny_cases_are_solved(name):
    for task in experiments.tasks(experiments.get(name), "quick"):
        assert np.all(task.compute()["errors"] == 0)
