"""Each check on training sets holds on the archive, and can fail on another one."""

import numpy as np
import pytest

from wfmlib.book import experiments
from wfmlib.book.claim_checks import training_sets

CHECKS = {
    "flat_minima_generalise_on_each_set": ("ceSGD slow", "LAL"),
    "slow_generalises_better_on_sets": ("ceSGD slow", "ceSGD fast"),
    "replicas_generalise_better_on_sets": ("eLAL", "LAL"),
    "curvatures_ordered_on_sets": ("ceSGD fast", "LAL"),
}


@pytest.fixture
def archive(monkeypatch):
    """Let the checks read what a test makes of the archive."""
    kept = {"data": experiments.complete("image-training-sets").copy(deep=True)}
    monkeypatch.setattr(training_sets.experiments, "complete", lambda name: kept["data"])
    return kept


def swapped(data, variable, one, other):
    """Return the archive with two algorithms' values of a variable exchanged."""
    data = data.copy(deep=True)
    first, second = ({"algorithm": name} for name in (one, other))
    values = data[variable].copy(deep=True)
    data[variable].loc[first] = values.sel(second)
    data[variable].loc[second] = values.sel(first)
    return data


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_holds_and_differs_where_two_algorithms_are_exchanged(archive, name):
    check, (one, other) = getattr(training_sets, name), CHECKS[name]
    assert check().agrees is True
    variable = "largest" if "curvature" in name or "flat" in name else "test_error"
    archive["data"] = swapped(archive["data"], variable, one, other)
    assert check().agrees is not True


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_is_undecided_on_two_sets_that_contradict_each_other(archive, name):
    data = archive["data"]
    variable = "largest" if "curvature" in name or "flat" in name else "test_error"
    turned = swapped(data, variable, *CHECKS[name])
    even = data["sample"] % 2 == 0
    archive["data"] = data.assign({variable: data[variable].where(even, turned[variable])})
    found = getattr(training_sets, name)()
    assert found.agrees is None
    assert found.needed > data.sizes["sample"]


def test_one_error_left_is_seen(archive):
    assert training_sets.all_sets_are_learned()[0] is False  # the slow schedule
    data = archive["data"].copy(deep=True)
    data["errors"][:] = 0
    archive["data"] = data
    assert training_sets.all_sets_are_learned()[0] is True
    data["errors"].loc[{"classes": "dress, coat", "algorithm": "LAL", "sample": 3, "run": 1}] = 1
    agrees, found = training_sets.all_sets_are_learned()
    assert agrees is False
    assert "LAL 19" in found


def test_the_correlation_is_within_each_set(archive):
    """Sets that differ in their errors as a whole make no correlation."""
    data = archive["data"].copy(deep=True)
    rng = np.random.default_rng(1)
    data["largest"][:] = rng.permuted(data["largest"].values, axis=1)
    data["test_error"][:] = rng.random(data["test_error"].shape) + data["sample"].values[:, None]
    archive["data"] = data
    assert training_sets.flat_minima_generalise_on_each_set().agrees is not True
