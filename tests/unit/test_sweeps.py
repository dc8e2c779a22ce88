"""A sweep goes on where one point of it has no answer, and says why."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib.models import Margin, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import progress
from wfmlib.theory import franz_parisi, large_deviation, typical

PERCEPTRON, COMMITTEE = Perceptron(), TreeCommittee(np.inf)


def test_loads_that_have_no_saddle_point_or_cannot_be_are_told_apart():
    curve = typical.curve(Perceptron(Spherical()), [0.5, -1.0, 3.0, 1.0])
    assert curve.converged.values.tolist() == [True, False, False, True]
    np.testing.assert_array_equal(np.isnan(curve.q), ~curve.converged)
    assert curve.reason[1] == "alpha must be finite and >= 0, got -1.0"
    assert curve.reason.values[2].startswith("above capacity: alpha must be below 2")
    assert curve.reason[0] == curve.reason[3] == ""
    alone = typical.solve(Perceptron(Spherical()), 1.0)
    assert curve.q[3] == alone.q
    assert curve.replicon[3] == alone.replicon


def test_margins_out_of_range_are_points_without_an_answer():
    curve = typical.curve(PERCEPTRON, 0.5, [Margin(0.0), Margin(-3.0)])
    assert curve.converged.values.tolist() == [True, False]
    assert "margin" in curve.reason.values[1]


def test_distances_out_of_range_are_points_without_an_answer():
    curve = franz_parisi.curve(PERCEPTRON, 0.5, [0.0, 0.3, 0.7, np.nan, -0.1])
    assert curve.converged.values.tolist() == [True, True, False, False, False]
    alone = franz_parisi.curve(PERCEPTRON, 0.5, [0.3])
    assert curve.local_entropy[1] == alone.local_entropy[0]
    np.testing.assert_array_equal(np.isnan(curve.local_entropy), ~curve.converged)
    np.testing.assert_array_equal(np.isnan(curve.bound), ~curve.converged)
    assert "distance must be finite and >= 0 and <= 0.5, got 0.7" in curve.reason.values[2]
    assert curve.reason[0] == curve.reason[1] == ""


def test_overlaps_out_of_range_are_points_without_an_answer():
    curve = large_deviation.curve(COMMITTEE, 1.0, [0.5, 1.0, 0.8], replicas=20)
    assert curve.converged.values.tolist() == [True, False, True]
    assert curve.overlap.values.tolist() == [0.5, 1.0, 0.8]
    np.testing.assert_array_equal(np.isnan(curve.local_entropy), ~curve.converged)
    assert curve.reason[1] == "overlap must be finite and >= 1e-09 and < 1, got 1.0"


def test_the_warning_of_an_array_says_why():
    with pytest.warns(RuntimeWarning, match="at 1 of 2 overlaps, .* overlap must be finite"):
        large_deviation.local_entropy(COMMITTEE, 1.0, [0.5, 1.0], replicas=20)
    with pytest.warns(RuntimeWarning, match="at 1 of 2 distances, .* >= 0 and <= 0.5"):
        franz_parisi.local_entropy(PERCEPTRON, 0.5, [0.3, 0.7])


@pytest.mark.parametrize(
    "sweep",
    [
        lambda: typical.curve(PERCEPTRON, [-1.0, -2.0]),
        lambda: franz_parisi.curve(PERCEPTRON, 0.5, [0.7, 0.8]),
        lambda: large_deviation.curve(COMMITTEE, 1.0, [1.0, 2.0]),
    ],
)
def test_a_sweep_that_is_out_of_range_throughout_is_refused(sweep):
    with pytest.raises(ValueError, match="must be"):
        sweep()


@pytest.mark.parametrize(
    "sweep",
    [
        lambda **bar: typical.curve(PERCEPTRON, [0.1, 0.2], **bar),
        lambda **bar: franz_parisi.curve(PERCEPTRON, 0.5, [0.3, 0.4], **bar),
        lambda **bar: large_deviation.curve(COMMITTEE, 1.0, [0.5, 0.8], replicas=20, **bar),
    ],
)
def test_a_sweep_shows_a_bar_where_it_is_asked_to(sweep, monkeypatch, capsys):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    sweep()
    assert capsys.readouterr().err == ""
    sweep(progress=True)
    assert "2/2" in capsys.readouterr().err
    with pytest.raises(ValueError, match="progress must be"):
        sweep(progress="yes")
