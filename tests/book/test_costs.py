"""The page on clusters: its table is what the archives say of themselves."""

from __future__ import annotations

import pytest

from tools import costs
from wfmlib.runs import archive


def test_the_table_is_that_of_the_archives():
    page = costs.PAGE.read_text()
    between = page[page.index(costs.BEGIN) + len(costs.BEGIN) : page.index(costs.END)]
    assert between.strip() == costs.table(), "python -m tools.costs writes it anew"


def test_samples_are_as_small_as_the_page_says():
    """From 14 bytes to 81 kB, as they stand in the archives."""
    for name in costs.names():
        path = archive.archive_path(name, "paper", costs.RESULTS)
        samples = archive.read_provenance(path)["samples_done"]
        assert 14.0 < path.stat().st_size / samples < 82_000


@pytest.mark.parametrize(
    ("seconds", "workers", "expected"),
    [([4.0, 3.0, 2.0, 1.0], 1, 10.0), ([4.0, 3.0, 2.0, 1.0], 2, 5.0), ([4.0, 1.0], 9, 4.0)],
)
def test_the_last_worker_is_done(seconds, workers, expected):
    assert costs.makespan(seconds, workers) == expected
