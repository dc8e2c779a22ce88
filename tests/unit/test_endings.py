"""What algorithms say where they end without a solution, or with messages that did not settle."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest

from wfmlib import landscape, learning, networks, patterns
from wfmlib.models import Committee, Perceptron, TreeCommittee

# More patterns than any perceptron, committee or network of these sizes can answer.
XI, SIGMA = patterns.random(400, 21, rng=1)
PERCEPTRON, COMMITTEE = Perceptron(), TreeCommittee(3)
ENDINGS = {
    "focusing_bp": ([PERCEPTRON], {"max_sweeps": 3}),
    "least_action": ([COMMITTEE], {"max_epochs": 2}),
    "entropic_least_action": ([COMMITTEE], {"max_epochs": 2}),
    "cross_entropy_sgd": ([COMMITTEE], {"max_epochs": 2}),
    "binary_sgd": ([], {"units": (3,), "epochs": 2}),
    "simulated_annealing": ([PERCEPTRON], {"sweeps": 10, "steps": 2}),
    "replicated_annealing": ([PERCEPTRON], {"sweeps": 10, "steps": 2, "replicas": 3}),
}
MESSAGES = ("belief_propagation", "approximate_message_passing")


@pytest.mark.parametrize("name", ENDINGS)
def test_no_solution_is_told(name):
    device, options = ENDINGS[name]
    with pytest.warns(
        learning.NoSolution, match=f"^{name} ended without a solution.* Try "
    ) as told:
        found = getattr(learning, name)(*device, XI, SIGMA, **options, rng=0)
    assert len(told) == 1
    assert told[0].filename == __file__  # where the caller stands
    first = repr(found).splitlines()[0]
    assert first.startswith(f"{type(found).__name__}: NO SOLUTION, {found.errors} patterns are ")


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_that_did_not_settle_are_told(name):
    xi, sigma = patterns.random(60, 101, rng=1)
    told = f"^{name} stopped before its messages settled.* Try "
    with pytest.warns(learning.NotSettled, match=told) as told:
        found = getattr(learning, name)(PERCEPTRON, xi, sigma, max_sweeps=2, rng=0)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert found.ending == (
        f"messages that did NOT SETTLE in 2 sweeps (residual {found.residual:.2g})"
    )


SETTINGS = ("epochs", "max_epochs", "sweeps", "max_sweeps", "eta", "growth", "replicas", "overlap")
SETTINGS += ("protocol", "schedule", "beta", "rng", "damping")


@pytest.mark.parametrize("name", [*ENDINGS, *MESSAGES])
def test_the_advice_names_arguments_that_there_are(name):
    algorithm = getattr(learning, name)
    instance = patterns.random(60, 101, rng=1) if name in MESSAGES else (XI, SIGMA)
    device, options = ENDINGS.get(name, ([PERCEPTRON], {"max_sweeps": 1}))
    with pytest.warns(UserWarning, match="Try ") as told:
        algorithm(*device, *instance, **options, rng=0)
    advice = re.findall(r"[a-z_]+", str(told[0].message).partition("Try ")[2])
    assert set(advice) & set(SETTINGS) <= set(inspect.signature(algorithm).parameters)


def test_an_end_that_is_well_is_silent():
    xi, sigma = patterns.random(20, 99, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved = learning.least_action(COMMITTEE, xi, sigma, rng=0)
        settled = learning.belief_propagation(PERCEPTRON, xi, sigma, rng=0)
    assert repr(solved).startswith("LeastAction: a solution\n")
    assert repr(settled).startswith("BeliefPropagation: messages that settled in ")


def test_a_solution_short_of_its_aim_says_so():
    found = learning.Solution(PERCEPTRON, np.ones(3), 0, False, 7, {"loss": np.ones(7)})
    assert found.warning is None
    assert repr(found).splitlines() == [
        "Solution: a solution, short of the algorithm's own aim",
        "  device: Perceptron(weights=Binary())",
        "  weights: (3,) float64",
        "  errors: 0, converged: False, epochs: 7",
        "  history: loss",
    ]


def test_a_solution_makes_its_network():
    found = learning.Solution(Committee(1), np.ones((1, 3)), 0, True, 7, {})
    assert type(found.network) is networks.CommitteeNetwork
    np.testing.assert_array_equal(found.network.w, found.weights)


def test_focusing_counts_the_steps_that_did_not_settle():
    found = learning.focusing_bp(
        PERCEPTRON, XI, SIGMA, max_sweeps=1, protocol=[0.1, 0.2, 0.3], rng=0
    )
    lost = int(np.sum(~found.history["settled"]))
    assert lost > 0
    assert found.ending.endswith(f"(messages did not settle in {lost} of 3 steps)")


def test_local_entropy_tells_of_couplings_without_a_number():
    xi, sigma = patterns.random(40, 101, rng=1)
    told = "^local_entropy stopped before its messages settled at some couplings"
    with pytest.warns(learning.NotSettled, match=told) as told:
        around = landscape.local_entropy(
            PERCEPTRON.network(np.ones(101)), xi, sigma, couplings=[0.1, 1.0], max_sweeps=1, rng=0
        )
    assert np.sum(~around.converged) == np.sum(np.isnan(around.local_entropy)) > 0
    assert told[0].filename == __file__


def test_python_shows_it_once_for_a_place():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        found = [
            learning.least_action(COMMITTEE, XI, SIGMA, max_epochs=n, rng=0) for n in (1, 2, 3)
        ]
    assert len({one.errors for one in found}) > 1
    assert len(told) == 1


def test_the_algorithms_keep_their_names_and_arguments():
    assert learning.focusing_bp.__name__ == "focusing_bp"
    assert "replicas drawn together" in learning.focusing_bp.__doc__
    with pytest.raises(TypeError, match="takes no sweeps: write max_sweeps=3"):
        learning.focusing_bp(PERCEPTRON, XI, SIGMA, sweeps=3)
