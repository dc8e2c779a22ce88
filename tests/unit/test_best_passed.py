"""Messages keep what they find, the weights with the fewest errors, and say how they ended."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from wfmlib import Binary, Committee, Perceptron, Spherical, TreeCommittee, learning, patterns
from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.learning.messages.reinforced import reinforced_message_passing
from wfmlib.numerics.solvers import NotConverged

pytestmark = pytest.mark.filterwarnings(
    "ignore::wfmlib.learning.NoSolution", "ignore::wfmlib.learning.NotSettled"
)
WAYS = {
    "amp": (learning.approximate_message_passing, {}),
    "exact": (learning.belief_propagation, {}),
    "expanded": (learning.belief_propagation, {"form": "expanded"}),
    "focusing": (learning.focusing_bp, {"protocol": "solve"}),
}
BY_WAY = pytest.mark.parametrize("way", WAYS)


@BY_WAY
@pytest.mark.parametrize("load", [2.0, 3.0, 5.0])
def test_a_teacher_is_found_and_kept(way, load):
    """Above the load at which the teacher is the only solution that messages see."""
    algorithm, options = WAYS[way]
    for seed in range(3):
        xi, sigma, teacher = patterns.teacher_student(round(load * 301), 301, rng=seed)
        found = algorithm(Perceptron(), xi, sigma, rng=seed, **options)
        assert found.errors == 0
        assert found.converged
        assert found.epochs <= 15
        assert found.outcome == learning.ENDINGS[0]
        np.testing.assert_array_equal(found.weights, teacher)


@BY_WAY
@pytest.mark.parametrize("load", [0.3, 0.7, 1.2, 4.0])
def test_the_fewest_errors_are_returned(way, load):
    """Whatever happens to the messages: nothing overflows, and the history holds what is said."""
    algorithm, options = WAYS[way]
    for N in (1, 2, 5, 21, 61):
        xi, sigma = patterns.random(max(round(load * N), 1), N, rng=N)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                found = algorithm(Perceptron(), xi, sigma, rng=1, **options)
            except NotConverged as failure:
                weights, errors = failure.state["weights"], failure.state["errors"]
            else:
                weights, errors = found.weights, found.errors
                assert errors == min(found.history["errors"])
                assert errors == found.history["errors"][found.best - 1]
                assert (found.outcome == learning.ENDINGS[0]) == (errors == 0)
        assert errors == Perceptron().network(weights).errors(xi, sigma)


@BY_WAY
def test_certain_weights_go_on(way):
    """A pattern shown a thousand times makes weights certain: messages stay numbers."""
    algorithm, options = WAYS[way]
    xi, sigma = patterns.random(1, 31, rng=3)
    xi, sigma = np.tile(xi, (1000, 1)), np.tile(sigma, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            errors = algorithm(Perceptron(), xi, sigma, rng=1, **options).errors
        except NotConverged as failure:  # patterns that are alike have no entropy in AMP
            errors = failure.state["errors"]
    assert errors == 0


@pytest.mark.parametrize("protocol", ["papers", "solve"])
@pytest.mark.parametrize(
    "device",
    [Perceptron(), Committee(3, weights=Binary()), Committee(5, weights=Binary())],
    ids=repr,
)
def test_few_patterns_of_few_entries_are_solved(device, protocol):
    xi, sigma = patterns.random(10, 21, rng=2)
    for seed in range(2):
        found = learning.focusing_bp(device, xi, sigma, protocol=protocol, rng=seed)
        assert found.errors == 0
        assert found.device.network(found.weights).errors(xi, sigma) == 0


@pytest.mark.parametrize("device", [Perceptron(), TreeCommittee(3, weights=Binary())], ids=repr)
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_tables_cut_at_their_quantiles(name, device):
    """Patterns that are alike, some with both labels: never far worse than annealing."""
    table = getattr(pytest.importorskip("sklearn.datasets"), f"load_{name}")()
    cuts = np.quantile(table.data, [0.25, 0.5, 0.75], axis=0)
    xi = np.where(table.data > cuts[:, None, :], 1, -1).transpose(1, 0, 2)
    xi = xi.reshape(len(xi), -1)[:, : 9 if name == "iris" else 39]
    for label in (0, 1):
        sigma = np.where(table.target == label, 1, -1)
        annealed = learning.simulated_annealing(device, xi, sigma, rng=1).errors
        found = learning.focusing_bp(device, xi, sigma, protocol="solve", rng=1)
        assert found.errors <= annealed + 0.03 * len(sigma)


@pytest.mark.parametrize("N", [201, 401])
def test_reinforcement_beyond_its_reach_stays_near(N):
    """Weights that became certain without a solution leave a few errors, not half of them all."""
    xi, sigma = patterns.random(round(0.8 * N), N, rng=4)
    found = reinforced_message_passing(xi, sigma, rate=0.01, max_sweeps=400, rng=1)
    assert found.errors < 0.1 * len(xi)
    assert found.outcome != learning.ENDINGS[3]


def test_spherical_entropies_have_a_floor():
    """Two hundred patterns of nine entries leave no solutions: no entropy is made of that."""
    with pytest.raises(NotConverged, match="settled on no set of solutions"):
        learning.belief_propagation(
            Perceptron(Spherical()), *patterns.random(200, 9, rng=1), rng=0
        )


def test_packed_patterns_count_errors_of_signs_by_their_bits():
    rng = np.random.default_rng(0)
    for N in (1, 63, 64, 65, 201):
        packed = PackedPatterns.random(300, N, rng=rng)
        w = rng.choice([-1, 1], N)
        for margin in (0.0, 0.5, -0.3):
            wrong = np.count_nonzero(packed.unpack() @ w / np.sqrt(N) <= margin)
            assert packed.errors(w, margin) == wrong == packed.errors(2.0 * w, margin)
