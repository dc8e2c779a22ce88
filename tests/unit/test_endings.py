"""What algorithms say where they end without a solution, or with messages that did not settle."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from wfmlib import landscape, learning, patterns

# More patterns than any perceptron, committee or network of these sizes can answer.
XI, SIGMA = patterns.random(400, 21, 1)
ENDINGS = {
    "focusing_bp": {"max_sweeps": 3},
    "least_action": {"units": 3, "max_epochs": 2},
    "entropic_least_action": {"units": 3, "max_epochs": 2},
    "cross_entropy_sgd": {"units": 3, "max_epochs": 2},
    "binary_sgd": {"units": (3,), "epochs": 2},
    "simulated_annealing": {"sweeps": 10, "steps": 2},
    "replicated_annealing": {"sweeps": 10, "steps": 2, "replicas": 3},
}
MESSAGES = ("belief_propagation", "approximate_message_passing")


@pytest.mark.parametrize("name", ENDINGS)
def test_no_solution_is_told(name):
    with pytest.warns(
        learning.NoSolution, match=rf"^{name} ended with NO SOLUTION.* Try "
    ) as told:
        found = getattr(learning, name)(XI, SIGMA, **ENDINGS[name])
    assert len(told) == 1
    assert told[0].filename == __file__  # where the caller stands
    assert f"{found.errors} patterns are answered wrongly" in str(told[0].message)
    assert found.ending in str(told[0].message)
    assert repr(found).splitlines()[0] == f"{type(found).__name__}: {found.ending}"


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_that_did_not_settle_are_told(name):
    xi, sigma = patterns.random(60, 101, 1)
    with pytest.warns(
        learning.NotSettled, match=rf"^{name} ended .* NOT SETTLE in 2 sweeps"
    ) as told:
        found = getattr(learning, name)(xi, sigma, max_sweeps=2)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert f"residual {found.residual:.2g}" in str(told[0].message)


def test_an_end_that_is_well_is_silent():
    xi, sigma = patterns.random(20, 99, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved = learning.least_action(xi, sigma, units=3)
        settled = learning.belief_propagation(xi, sigma)
    assert repr(solved).startswith("LeastAction: a solution\n")
    assert repr(settled).startswith("BeliefPropagation: messages that settled in ")


def test_a_solution_short_of_its_aim_says_so():
    found = learning.Solution(np.ones(3), 0, False, 7, {"loss": np.ones(7)})
    assert found.warning is None
    assert repr(found).splitlines() == [
        "Solution: a solution, short of the algorithm's own aim",
        "  weights: (3,) float64",
        "  errors: 0, converged: False, epochs: 7",
        "  history: loss",
    ]


def test_focusing_counts_the_steps_that_did_not_settle():
    with pytest.warns(learning.NoSolution) as told:
        found = learning.focusing_bp(XI, SIGMA, max_sweeps=1, protocol=[0.1, 0.2, 0.3])
    lost = int(np.sum(~found.history["settled"]))
    assert lost > 0
    assert f"did not settle in {lost} of 3 steps" in str(told[0].message)


def test_local_entropy_counts_the_couplings_without_a_number():
    xi, sigma = patterns.random(40, 101, 1)
    weights = np.ones(101)
    with pytest.warns(learning.NotSettled, match="^local_entropy ended .* couplings: NaN") as told:
        around = landscape.local_entropy(weights, xi, sigma, couplings=[0.1, 1.0], max_sweeps=1)
    lost = int(np.sum(~around.converged))
    assert lost == int(np.sum(np.isnan(around.local_entropy))) > 0
    assert f"at {lost} of 2 couplings" in str(told[0].message)
    assert told[0].filename == __file__


def test_python_shows_it_once_for_a_place():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            learning.least_action(XI, SIGMA, units=3, max_epochs=1)
    assert len(told) == 1


def test_the_algorithms_keep_their_names_and_arguments():
    assert learning.focusing_bp.__name__ == "focusing_bp"
    with pytest.raises(TypeError, match="unexpected keyword"):
        learning.focusing_bp(XI, SIGMA, sweeps=3)
    assert isinstance(learning.focusing_bp.__doc__, str)
