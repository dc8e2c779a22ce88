"""Slow growth at its first solution, on a tiny committee."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from wfmlib import TreeCommittee, landscape, learning, patterns
from wfmlib.book.experiments import slow_growth, tree_minima
from wfmlib.learning.descent.schedules import SLOW

TASK = slow_growth.EXPERIMENT.as_task("quick", {"schedule": slow_growth.FIRST}, 1)


def test_a_sample_is_the_first_solution_on_the_patterns_of_tree_minima():
    found = TASK.compute()
    seed = tree_minima.EXPERIMENT.seed_sequence({"algorithm": "ceSGD slow"}, 1)
    patterns_seed, algorithm_seed = seed.spawn(2)
    xi, sigma = patterns.random(50, 99, rng=patterns_seed)
    one = learning.cross_entropy_sgd(
        TreeCommittee(9), xi, sigma, schedule=replace(SLOW, stop="errors"), rng=algorithm_seed
    )
    assert one.errors == found["errors"] == 0
    assert found["epochs"] == one.epochs
    assert (found["end_beta"], found["end_gamma"]) == tuple(
        one.history[name][-1] for name in ("beta", "gamma")
    )
    top = landscape.max_eigenvalue(one, xi, sigma, beta=8.0)
    assert found["largest"][1] == pytest.approx(top)
    around = landscape.local_entropy(one, xi, sigma, couplings=(1.0, 10.0), rng=0)
    np.testing.assert_allclose(found["around_excess"], around.excess)
    assert np.all(found["around_excess"] < 1e-6)  # the tolerance of the messages


def test_the_recipe_is_that_of_the_slow_schedule_but_for_its_end():
    settings = slow_growth.EXPERIMENT.scale("paper").settings
    assert settings["schedules"][slow_growth.FIRST] == asdict(SLOW) | {"stop": "errors"}
    assert (settings["N"], settings["units"], settings["P"]) == (999, 9, 1000)
    assert slow_growth.EXPERIMENT.seed == tree_minima.EXPERIMENT.seed
    assert set(slow_growth.COUPLINGS) <= set(tree_minima.COUPLINGS)


def test_a_run_without_a_solution_leaves_nothing_but_says_so(monkeypatch):
    learned = learning.cross_entropy_sgd  # by which committee_algorithms learns

    def cut_short(*args, **options):
        return learned(*args, **options | {"max_epochs": 1})

    monkeypatch.setattr(learning, "cross_entropy_sgd", cut_short)
    found = TASK.compute()
    assert found["errors"] > 0
    assert found["epochs"] == 1
    for name in ("end_beta", "largest", "around_excess"):
        assert np.all(np.isnan(found[name]))


@pytest.mark.parametrize("speed", ["slow", "ten times faster"])
def test_a_run_to_an_end_takes_the_path_of_the_slow_schedule_there(speed):
    schedule = f"{speed} to the soft end"
    found = slow_growth.EXPERIMENT.as_task("quick", {"schedule": schedule}, 0).compute()
    assert found["errors"] == 0
    rate = SLOW.beta_growth * (1 if speed == "slow" else 10)
    assert slow_growth.SOFT <= found["end_beta"] < slow_growth.SOFT * (1 + rate)
    path = SLOW.gamma * (found["end_beta"] / SLOW.beta) ** 2  # gamma grows at twice the rate
    assert found["end_gamma"] == pytest.approx(path, rel=5e-3)
    assert found["epochs"] >= np.log(slow_growth.SOFT / SLOW.beta) / np.log1p(rate)
