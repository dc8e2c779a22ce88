"""The task that the experiments with images share, on synthetic images."""

import numpy as np
import pytest

from wfmlib.book.experiments import image_minima, image_task, image_volume


def seed(sample):
    return image_minima.EXPERIMENT.seed_sequence({}, sample)


def test_every_sample_has_the_same_original_patterns():
    first, other = (image_task.task(image_task.QUICK, "original", seed(n)) for n in (0, 1))
    for one, another in zip(first, other, strict=True):
        np.testing.assert_array_equal(one, another)
    xi, sigma, xi_test, sigma_test = first
    assert xi.shape == (60, 100)
    assert sigma.sum() == 0
    together = {pattern.tobytes() for pattern in xi} & {pattern.tobytes() for pattern in xi_test}
    assert not together
    assert len(np.unique(sigma_test)) == 2


def test_shuffled_versions_come_in_turn():
    settings = image_task.QUICK | {"shuffles": 3}
    found = [image_task.task(settings, "shuffled", seed(n))[0] for n in range(4)]
    np.testing.assert_array_equal(found[0], found[3])
    assert not np.array_equal(found[0], found[1])
    xi, sigma, *_ = image_task.task(settings, "original", seed(0))
    np.testing.assert_array_equal(found[1].mean(axis=0), xi.mean(axis=0))
    np.testing.assert_array_equal(image_task.task(settings, "shuffled", seed(1))[1], sigma)


def test_subsets_differ():
    one, other = (
        image_task.task(image_task.QUICK | {"subset": n}, "original", seed(0))[0] for n in (0, 1)
    )
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("algorithm", image_task.ALGORITHMS)
def test_both_experiments_measure_the_same_solutions(algorithm):
    point = {"data": "original", "algorithm": algorithm}
    minima, volume = (
        module.EXPERIMENT.as_task("quick", point, 0).compute()
        for module in (image_minima, image_volume)
    )
    for name in ("errors", "converged", "epochs"):
        assert minima[name] == volume[name]
    assert minima["errors"] == 0
    assert minima["test_error"] < 0.4  # chance is 0.5, with a width of 0.05
    both = 0.5 * (minima["dress_error"] + minima["coat_error"])  # as many of each
    assert minima["test_error"] == pytest.approx(both)
    assert minima["accuracy"][0] == 1.0
    assert minima["smallest_beta"] >= 0.0
    assert np.all(volume["around_converged"])
    assert np.all(volume["around_excess"] < 1e-4)  # the tolerance of the messages


def test_broken_runs_leave_nothing_but_say_so(monkeypatch):
    monkeypatch.setattr(image_task.committee_algorithms, "solve", lambda *_, **__: None)
    point = {"data": "shuffled", "algorithm": "LAL"}
    for module in (image_minima, image_volume):
        found = module.EXPERIMENT.as_task("quick", point, 0).compute()
        assert (found["errors"], found["epochs"], found["converged"]) == (-1, -1, False)
        missing = [one for one in found.values() if one.dtype == float]
        assert missing
        assert np.all(np.isnan(np.concatenate([one.ravel() for one in missing])))
