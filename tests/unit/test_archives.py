"""The archives of the book: whole, of the experiments as they are, and verified by this code."""

from pathlib import Path

import pytest

from wfmlib.book import experiments

RESULTS = Path(__file__).resolve().parents[2] / "book" / "results"
ARCHIVED = [name for name in experiments.names() if (RESULTS / f"{name}.nc").exists()]


@pytest.mark.parametrize("name", ARCHIVED)
def test_archive_is_of_the_experiment(name):
    data = experiments.load(name, RESULTS)
    assert experiments.is_current(data, experiments.get(name), "paper"), (
        f"{name}.nc belongs to another definition: `wfm run {name} --scale paper` makes it anew"
    )


@pytest.mark.parametrize("name", ARCHIVED)
def test_archive_is_made_or_verified_by_this_code(name):
    state = experiments.state(name, RESULTS)
    assert state in ("made", "verified"), (
        f"{name}.nc is {state} by the code that is here: run `wfm verify {name}`, and commit its "
        "provenance; if it differs, find out why"
    )
