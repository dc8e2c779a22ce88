"""Every experiment's sample is computed on a tiny case."""

import numpy as np
import pytest

from wfmlib.book import experiments

THEORY = ("full-capacities", "full-margins")  # which draw nothing
NAMES = tuple(name for name in experiments.names() if name != "toy")


def first_samples(name):
    """Return the tasks of the first sample at every point of the quick scale."""
    one = experiments.get(name)
    return [task for task in experiments.tasks(one, "quick") if task.sample == 0]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_as_declared_and_repeats_itself(name):
    if name == "picture-optimisers":
        pytest.importorskip("torch", reason="picture-optimisers needs the extra torch")
    found = [task.compute() for task in first_samples(name)]
    for values in found:
        assert set(values) == set(experiments.get(name).variables)
        numbers = [one[np.isfinite(one)].size for one in values.values()]
        assert sum(numbers) > len(numbers) / 2
    if name in THEORY:
        return
    again = first_samples(name)[0].compute()
    for variable, value in found[0].items():
        np.testing.assert_array_equal(value, again[variable], err_msg=variable)


SOLVED = {
    "band-reach": ("solved", 0.5),
    "cluster-reach": ("solved", 0.5),
    "bp-entropy": ("converged", 0.5),
    "committee-reach": ("solved", 0.5),
    "fbp-committee": ("solved", 0.75),
    "fbp-perceptron": ("solved", 1.0),
    "fbp-local-entropy": ("solved", 1.0),
    "fbp-perceptron-success": ("solved", 0.5),
    "fbp-solve": ("solved", 0.5),
}


@pytest.mark.parametrize("name", SOLVED)
def test_tiny_cases_are_solved(name):
    """Far below capacity most runs succeed: a wrong sign, load or label would have none do."""
    variable, share = SOLVED[name]
    found = [float(task.compute()[variable]) for task in first_samples(name)]
    assert np.mean(found) >= share
