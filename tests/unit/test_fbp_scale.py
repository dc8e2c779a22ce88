"""Focusing at the papers' scale: what a sample hands to the algorithm, and what it keeps of it."""

import numpy as np
import pytest

from wfmlib import Perceptron, TreeCommittee, learning, patterns
from wfmlib.book import experiments
from wfmlib.book.experiments import fbp_reach, fbp_sweeps


@pytest.fixture
def calls(monkeypatch):
    """Record what focusing is given."""
    seen, run = [], learning.focusing_bp

    def recorded(device, xi, sigma, **options):
        seen.append(options | {"device": device, "xi": xi, "sigma": sigma})
        return run(device, xi, sigma, **options)

    monkeypatch.setattr(learning, "focusing_bp", recorded)
    return seen


@pytest.mark.parametrize("units", [3, 9])
def test_reach_is_that_of_ten_replicas_with_expanded_messages(calls, units):
    point, settings = {"units": units, "alpha": 1.0}, fbp_reach.SETTINGS | {"N": 99}
    found = fbp_reach.EXPERIMENT.sample(settings, point, np.random.SeedSequence(1))
    (given,) = calls
    assert given["xi"].shape == (99, 99)
    assert given["device"] == TreeCommittee(units)
    wanted = {"form": "expanded", "replicas": 10, "max_sweeps": 200}
    assert {name: given[name] for name in wanted} == wanted
    assert given["tolerance"] == 1e-4
    assert given["stop_at_solution"] is True
    assert "protocol" not in given  # the papers', 0.5 to 30 in 30 steps
    again = learning.focusing_bp(
        TreeCommittee(units),
        *patterns.random(99, 99, rng=np.random.SeedSequence(1).spawn(2)[0]),
        form="expanded",
        replicas=10,
        stop_at_solution=True,
        rng=np.random.SeedSequence(1).spawn(2)[1],
    )
    assert found["solved"] == again.converged
    assert (found["errors"], found["sweeps"]) == (again.errors, again.epochs)


def test_sweeps_are_compared_on_one_instance(calls):
    settings = fbp_sweeps.SETTINGS | {
        "N": 51,
        "steps": 6,
        "limit": np.array([5, 40]),
        "coupling": np.array([0.5]),
    }
    found = fbp_sweeps.sample(settings, {"alpha": 0.5}, np.random.SeedSequence(3))
    few, many = calls
    assert (few["max_sweeps"], many["max_sweeps"]) == (5, 40)
    np.testing.assert_array_equal(few["xi"], many["xi"])
    assert few["rng"].spawn_key == many["rng"].spawn_key
    assert few["rng"].entropy == many["rng"].entropy
    for given in calls:
        assert given["device"] == Perceptron()
        assert (given["replicas"], given["form"]) == (20, "expanded")
        strengths = [*np.arctanh([0.0, 0.2, 0.4, 0.6, 0.8]), 10.0]  # the last one is capped
        np.testing.assert_allclose(given["protocol"], strengths)
    sweeps, settled = np.array(found["sweeps"]), np.array(found["settled"])
    assert sweeps.shape == (2, 6)
    assert np.all(sweeps[0] <= 5)
    assert np.all(settled[sweeps < [[5], [40]]])
    # until a step is cut off, the two runs are one
    first = int(np.argmin(settled[0]))
    np.testing.assert_array_equal(sweeps[0, :first], sweeps[1, :first])
    assert -1.0 <= found["overlap"] <= 1.0
    assert fbp_sweeps.unsettled({"settled": settled}) == (not settled.all())


@pytest.mark.parametrize("name", ["fbp-reach", "fbp-sweeps"])
def test_quick_scale_differs_from_the_papers_in_size_alone(name):
    quick, paper = (experiments.get(name).scale(one).settings for one in ("quick", "paper"))
    changed = {key for key in paper if quick[key] != paper[key]}
    assert changed <= {"N", "max_sweeps", "steps"}
