"""Reinforced message passing: what it is without reinforcement, what it finds, what it refuses."""

import math

import numpy as np
import pytest

from wfmlib import Band, CrossEntropy, Margin, Perceptron, learning, patterns
from wfmlib.learning.messages.reinforced import reinforced_message_passing


def test_without_reinforcement_it_is_message_passing():
    xi, sigma = patterns.random(600, 1001, rng=3)
    plain = learning.approximate_message_passing(Perceptron(), xi, sigma, max_sweeps=60, rng=0)
    found = reinforced_message_passing(xi, sigma, rate=1e-12, lean=0.0, max_sweeps=60, rng=0)
    assert plain.converged
    strong = np.abs(plain.means) > 1e-3  # rounding in single precision turns no other sign
    assert np.mean(strong) > 0.99
    np.testing.assert_array_equal(found.weights[strong], plain.weights[strong])


@pytest.mark.parametrize(("constraint", "P"), [(Margin(0.0), 300), (Margin(0.2), 150)])
def test_solutions_of_a_margin(constraint, P):
    xi, sigma = patterns.random(P, 501, rng=4)
    found = reinforced_message_passing(xi, sigma, constraint=constraint, rate=0.01, rng=1)
    stabilities = sigma * (xi.astype(int) @ found.weights) / math.sqrt(501)
    assert found.errors == np.count_nonzero(stabilities <= constraint.kappa) == 0


def test_solutions_of_a_band():
    xi, sigma = patterns.random(600, 501, rng=5)
    found = reinforced_message_passing(xi, sigma, constraint=Band(1.0), rate=0.01, rng=1)
    assert found.errors == 0
    assert np.max(np.abs(xi.astype(int) @ found.weights)) <= math.sqrt(501)
    again = reinforced_message_passing(xi, sigma, constraint=Band(1.0), rate=0.01, rng=1)
    np.testing.assert_array_equal(found.weights, again.weights)


def test_errors_are_counted():
    xi, sigma = patterns.random(400, 101, rng=6)  # far too many
    found = reinforced_message_passing(xi, sigma, max_sweeps=50, rng=0)
    assert found.errors == np.count_nonzero(sigma * (xi.astype(int) @ found.weights) <= 0) > 0
    assert found.outcome in learning.ENDINGS[1:]
    found = reinforced_message_passing(xi, sigma, constraint=Band(0.5), max_sweeps=50, rng=0)
    out = np.abs(xi.astype(int) @ found.weights) > 0.5 * math.sqrt(101)
    assert found.errors == np.count_nonzero(out) > 0


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"rate": 0.0}, "rate"),
        ({"rate": 1.0}, "rate"),
        ({"lean": 1.0}, "lean"),
        ({"max_sweeps": 0}, "max_sweeps"),
        ({"constraint": CrossEntropy(1.0, 1.0)}, "constraint"),
        ({"constraint": Band(50.0)}, "kappa"),
    ],
)
def test_refusals(changes, name):
    xi, sigma = patterns.random(5, 11, rng=0)
    with pytest.raises((TypeError, ValueError), match=name):
        reinforced_message_passing(xi, sigma, **changes)
