"""The drawings that explain: what is drawn is what was asked for."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from wfmlib.book.display import pictures
from wfmlib.book.display.pictures.overlaps import matrix
from wfmlib.book.display.pictures.regions import RINGS, SHARES
from wfmlib.book.display.pictures.ways import landscape


@pytest.fixture(autouse=True)
def closed():
    with plt.style.context("wfmlib.wfm"):
        yield
    plt.close("all")


def strokes(ax) -> int:
    """How many separate straight lines a panel has."""
    lines = [line for line in ax.lines if np.isnan(line.get_xdata()).any()]
    return sum(int(np.isnan(line.get_xdata()).sum()) for line in lines)


def test_devices_are_wired_as_their_names_say():
    titles, lines = [], []
    for ax in pictures.devices(units=3, inputs=12).axes:
        titles.append(ax.get_title())
        lines.append(strokes(ax))
    assert titles == ["perceptron", "tree committee", "full committee", "parity machine"]
    assert lines == [12, 12 + 3, 3 * 12 + 3, 12 + 3]
    with pytest.raises(ValueError, match="inputs must be a multiple of units"):
        pictures.devices(units=3, inputs=10)


def test_matrix_of_overlaps_is_ultrametric():
    level = matrix([8, 4, 2])
    assert np.array_equal(np.diag(level), np.full(8, 3))
    assert [level[0, k] for k in (1, 2, 4)] == [2, 1, 0]
    lowest = np.minimum(level[:, :, None], level[None, :, :])  # through any third replica
    assert np.all(level[:, None, :] >= lowest)
    assert np.array_equal(matrix([6]), np.eye(6))


def test_trees_have_a_leaf_a_replica():
    symmetric, one_step, full = pictures.overlaps(16).axes
    assert [strokes(ax) for ax in (symmetric, one_step, full)] == [16, 4 + 16, 2 + 4 + 8 + 16]
    with pytest.raises(ValueError, match="replicas must be a power of two"):
        pictures.overlaps(12)


def test_balls_say_how_many_solutions_they_hold():
    left, right = pictures.balls(solutions=40, radius=0.6, seed=1).axes
    assert left.texts[-1].get_text() == "no other in the ball"
    full = [line for line in right.lines if line.get_markersize() == 4]
    inside = sum(int(np.sum(np.hypot(*line.get_data()) <= 0.6)) for line in full)
    assert right.texts[-1].get_text() == f"{inside} others in the ball"
    assert inside > 10


def test_rings_have_the_share_of_solutions_of_their_phase():
    for ax, shares in zip(pictures.phases(places=40).axes, SHARES.values(), strict=True):
        counts = [len(line.get_xdata()) for line in ax.lines[:-1]]
        open_, full = counts[::2], counts[1::2]
        for k, share in enumerate(shares):
            assert full[k] == round(share * (open_[k] + full[k]))
        assert len(full) == len(RINGS)


def test_every_minimum_has_the_same_height_and_one_is_wide():
    x = np.linspace(-4, 4, 80001)
    low = landscape(x) < 0.05
    starts = np.flatnonzero(np.diff(low.astype(int)) == 1)
    widths = np.sort([np.sum(low[start + 1 :].cumprod()) for start in starts])
    assert len(widths) == 5
    assert widths[-1] > 20 * widths[-2]
    assert pictures.ways().axes[2].get_title() == "landscape"
