"""A sweep goes on where one point of it has no answer, and says why."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import xarray as xr

from wfmlib.models import Band, CrossEntropy, Margin, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import progress
from wfmlib.theory import clusters, franz_parisi, large_deviation, typical

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


CURVES = {
    "typical": (lambda **at: typical.curve(PERCEPTRON, **at), typical.solve, {}, "q"),
    "surroundings": (
        lambda **at: franz_parisi.curve(PERCEPTRON, **at),
        franz_parisi.solve,
        {"distance": [0.3, 0.1], "reference": [Margin(0.2), CrossEntropy(1.0, 2.0)]},
        "local_entropy",
    ),
    "real replicas": (
        lambda **at: large_deviation.curve(PERCEPTRON, **at, replicas=20),
        functools.partial(large_deviation.solve, replicas=20),
        {"overlap": [0.9, 0.8]},
        "local_entropy",
    ),
    "groups": (
        lambda **at: clusters.curve(PERCEPTRON, **at, replicas=4),
        functools.partial(clusters.solve, replicas=4),
        {"overlap": [0.9, 0.8]},
        "entropy",
    ),
    "groups, quenched": (
        lambda **at: clusters.curve(PERCEPTRON, **at, replicas=4, average="quenched"),
        functools.partial(clusters.solve, replicas=4, average="quenched"),
        {"overlap": [0.9, 0.8]},
        "entropy",
    ),
}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_solved_at_every_combination_and_names_its_dimensions(name):
    curve, solve, more, variable = CURVES[name]
    asked = {"alpha": [0.4, 0.2], **more, "constraint": [Margin(0.0), Margin(-0.1)]}
    dims = ["kappa" if one == "constraint" else one for one in asked]
    found = curve(**asked)[variable]
    assert set(found.dims) == set(dims)
    found = found.transpose(*dims)
    assert found.kappa.values.tolist() == [0.0, -0.1]
    for at in np.ndindex(found.shape):
        point = {one: row[i] for (one, row), i in zip(asked.items(), at, strict=True)}
        alone = getattr(solve(PERCEPTRON, **point), variable)
        assert float(found[at]) == pytest.approx(alone, abs=1e-8)
    single = curve(**{one: row[0] for one, row in asked.items()})[variable]
    assert single.dims == ()
    assert float(single) == pytest.approx(float(found[(0,) * found.ndim]), abs=1e-8)


def test_arrays_that_share_a_dimension_are_pairs_along_it():
    margins = xr.DataArray([Margin(0.1), Margin(0.2)], dims="pair")
    loads = xr.DataArray([0.3, 0.5], dims="pair")
    found = franz_parisi.curve(PERCEPTRON, loads, [0.1, 0.3], reference=margins)
    assert found.local_entropy.dims == ("pair", "distance")
    assert found.reference_kappa.dims == found.alpha.dims == ("pair",)
    for i, j in np.ndindex(2, 2):
        alone = franz_parisi.local_entropy(
            PERCEPTRON, [0.3, 0.5][i], [0.1, 0.3][j], reference=margins.values[i]
        )
        assert float(found.local_entropy[i, j]) == pytest.approx(alone, abs=1e-8)
    with pytest.raises(ValueError, match="pair"):
        franz_parisi.curve(PERCEPTRON, loads[:1], [0.1], reference=margins)


def test_constraints_that_are_not_all_margins_are_told_as_text():
    found = typical.curve(PERCEPTRON, 0.3, [Margin(0.1), Band(1.0)])
    assert found.entropy.dims == ("constraint",)
    assert found.constraint.values.tolist() == ["Margin(kappa=0.1)", "Band(kappa=1.0)"]
    assert typical.curve(PERCEPTRON, 0.3, Band(1.0)).constraint == "Band(kappa=1.0)"


def test_references_that_there_are_not_are_points_without_an_answer():
    found = franz_parisi.curve(PERCEPTRON, [0.5, 0.9], [0.3, 0.1])
    assert found.converged.values.tolist() == [[True, True], [False, False]]
    assert "no solutions of a larger one" in found.reason.values[1, 0]
    with pytest.raises(ValueError, match="no solutions of a larger one"):
        franz_parisi.curve(PERCEPTRON, 0.9, [0.3, 0.1])


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
