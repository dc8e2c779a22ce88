"""Every experiment's sample is computed on a tiny case."""

from functools import lru_cache

import numpy as np
import pytest

from wfmlib.book import experiments

# Two draw nothing: `test_runs` computes a sample of theirs, and has it in the archive to repeat.
THEORY = ("full-capacities", "full-margins")
NAMES = tuple(name for name in experiments.names() if name not in ("toy", *THEORY))


def first_samples(name):
    """Return the tasks of the first sample at every point of the quick scale."""
    one = experiments.get(name)
    return [task for task in experiments.tasks(one, "quick") if task.sample == 0]


@lru_cache
def computed(name):
    """Return what these tasks come to."""
    return [task.compute() for task in first_samples(name)]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_as_declared_and_repeats_itself(name):
    if name == "picture-optimisers":
        pytest.importorskip("torch", reason="picture-optimisers needs the extra torch")
    found = computed(name)
    for values in found:
        assert set(values) == set(experiments.get(name).variables)
        numbers = [one[np.isfinite(one)].size for one in values.values()]
        assert sum(numbers) > len(numbers) / 2
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
    found = [float(values[variable]) for values in computed(name)]
    assert np.mean(found) >= share
