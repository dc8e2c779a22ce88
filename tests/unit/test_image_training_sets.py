"""Training sets as the unit of replication: the sets, and one sample on synthetic images."""

import dataclasses
from dataclasses import asdict

import numpy as np
import pytest

from wfmlib import Committee, landscape, learning
from wfmlib.book.experiments import image_training_sets as experiment
from wfmlib.book.experiments.image_task import ALGORITHMS
from wfmlib.learning.descent.schedules import FAST_IMAGES, SLOW_IMAGES

SETTINGS = experiment.EXPERIMENT.scale("quick").settings
PAPER = experiment.EXPERIMENT.scale("paper")


def rows(xi):
    return {pattern.tobytes() for pattern in xi}


def test_sets_share_no_pattern_while_there_are_enough():
    """The synthetic classes have 120 patterns each to draw from: four sets of 30 of each."""
    sets = [experiment.training_set(SETTINGS, "synthetic", n)[0] for n in range(5)]
    for n in range(4):
        assert len(rows(sets[n][0])) == 60
        assert sets[n][1].sum() == 0
        assert not any(rows(sets[n][0]) & rows(sets[m][0]) for m in range(n))
    assert rows(sets[4][0]) == rows(sets[0][0])  # from the start again
    assert not np.array_equal(sets[4][0], sets[0][0])  # in another order


def test_what_is_unseen_is_all_that_a_set_leaves():
    (xi, _), (unseen, labels), (test, _) = experiment.training_set(SETTINGS, "synthetic", 1)
    assert not rows(xi) & rows(unseen)
    assert rows(test) <= rows(unseen)
    assert len(unseen) == len(labels) == 2 * 120 - 60 + len(test)


def test_half_of_an_odd_number_is_refused():
    with pytest.raises(ValueError, match="P must be even"):
        experiment.training_set(SETTINGS | {"P": 61}, "synthetic", 0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_sample_is_what_it_says(algorithm):
    task = experiment.EXPERIMENT.as_task(
        "quick", {"classes": "synthetic", "algorithm": algorithm}, 1
    )
    found = task.compute()
    seed = experiment.EXPERIMENT.seed_sequence({}, 1)
    (xi, sigma), (unseen, labels), test = experiment.training_set(SETTINGS, "synthetic", 1)
    first = seed.spawn(2)[0]
    device, options = Committee(3), {"max_epochs": 1000, "rng": first}
    if algorithm == "LAL":
        one = learning.least_action(device, xi, sigma, eta=1e-4, **options)
    elif algorithm == "eLAL":
        pull = {"eta": 2e-3, "coupling": 30.0, "growth": 5e-3}
        one = learning.entropic_least_action(device, xi, sigma, **pull, **options)
    else:
        schedule = SLOW_IMAGES if "slow" in algorithm else FAST_IMAGES
        one = learning.cross_entropy_sgd(device, xi, sigma, schedule=schedule, **options)
    assert (found["errors"][0], found["epochs"][0]) == (one.errors, one.epochs)
    net = one.network
    wrong = net.output(unseen) != labels
    for column, label in enumerate((-1, 1)):
        assert found["unseen_error"][0, column] == wrong[labels == label].mean()
    assert found["test_error"][0] == np.mean(net.output(test[0]) != test[1])
    top = landscape.max_eigenvalue(one, xi, sigma, beta=10.0)
    assert found["largest"][0, 1] == pytest.approx(top)
    if algorithm == "ceSGD slow" and one.errors > 0:  # stopped after all its epochs
        assert found["around_run"] != 0
        return
    assert one.errors == found["around_run"] == 0
    assert np.all(found["around_converged"])
    assert np.all(np.diff(found["around_distance"]) < 0)  # a stronger pull, a smaller distance
    assert np.all(found["around_excess"] < 1e-4)  # the tolerance of the messages


def test_the_recipe_is_that_of_the_paper():
    """P1, App. E, as it stands in the settings of the archive."""
    recipes = PAPER.settings["recipes"]
    assert set(recipes) == set(ALGORITHMS)
    assert {"eta": 2e-3, "coupling": 30.0, "growth": 5e-3}.items() <= recipes["eLAL"].items()
    assert recipes["LAL"]["eta"] == 1e-4
    assert recipes["ceSGD slow"] == {"schedule": asdict(SLOW_IMAGES)}
    assert recipes["ceSGD fast"] == {"schedule": asdict(FAST_IMAGES)}
    assert {"P": 500, "units": 9, "max_epochs": 5000}.items() <= PAPER.settings.items()
    assert PAPER.samples >= 10


def test_a_run_that_broke_off_leaves_nothing_but_says_so(monkeypatch):
    monkeypatch.setattr(experiment.committee_algorithms, "solve", lambda *_, **__: None)
    point = {"classes": "synthetic", "algorithm": "LAL"}
    found = experiment.EXPERIMENT.as_task("quick", point, 0).compute()
    assert found["errors"].tolist() == found["epochs"].tolist() == [-1, -1]
    for name in ("test_error", "unseen_error", "largest", "around_excess"):
        assert np.all(np.isnan(found[name]))
    assert not found["around_converged"].any()
    assert found["around_run"] == -1


def test_volumes_are_those_around_the_first_run_that_solved(monkeypatch):
    """Two runs of which the first is given a wrong answer: the second is measured."""
    found = []

    def solve(*args, **options):
        one = learning.least_action(*args[1:4], rng=args[4], eta=1e-4)
        found.append(one)
        return one if len(found) > 1 else dataclasses.replace(one, errors=1)

    monkeypatch.setattr(experiment.committee_algorithms, "solve", solve)
    point = {"classes": "synthetic", "algorithm": "LAL"}
    seen = experiment.EXPERIMENT.as_task("quick", point, 0).compute()
    assert seen["errors"].tolist() == [1, 0]
    assert seen["around_run"] == 1
    (xi, sigma), *_ = experiment.training_set(SETTINGS, "synthetic", 0)
    messages = {"form": "expanded", "damping": 0.5, "tolerance": 1e-4}
    around = landscape.local_entropy(
        found[1], xi, sigma, couplings=(3.0, 30.0), max_sweeps=200, rng=0, **messages
    )
    np.testing.assert_array_equal(seen["around_excess"], around.excess)
