"""How steeply the breaking function rises, and where a gap opens: by other ways to the same."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from wfmlib import Band, Margin, Perceptron, ReLU, Spherical, TreeCommittee
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import full_breaking, typical
from wfmlib.theory.since.full_breaking import states

PERCEPTRON = Perceptron(Spherical())
RELU = TreeCommittee(math.inf, ReLU())


def symmetric(alpha, kappa, q):
    """The slope where replica symmetry holds, with 20 digits: derivatives by mpmath."""
    with mpmath.workdps(20):
        width = mpmath.sqrt(1 - mpmath.mpf(q))

        def f(h):
            return mpmath.log(mpmath.erfc((kappa - h) / (width * mpmath.sqrt(2))) / 2)

        def average(g):
            def weighted(z):
                bend = [mpmath.diff(f, mpmath.sqrt(q) * z, n) for n in (2, 3, 4)]
                return g(*bend) * mpmath.npdf(z)

            return mpmath.quad(weighted, [-9, -3, 0, 3, 9], maxdegree=4)

        scale = 2 * ((1 - q) ** -3 + alpha * average(lambda a, b, c: a**3))
        x = alpha * average(lambda a, b, c: b**2) / scale
        change = average(lambda a, b, c: c**2 - 12 * x * a * b**2 + 6 * x**2 * a**4)
        return float((alpha * change - 6 * x**2 / (1 - q) ** 4) / scale)


@pytest.mark.parametrize("kappa", [-2.0, -1.0])
def test_where_symmetry_ends(kappa):
    """No level yet: fields are Gaussian, and f is the logarithm of a tail."""
    alpha = typical.instability(PERCEPTRON, constraint=Margin(kappa))
    found = full_breaking.at_load(PERCEPTRON, alpha, Margin(kappa))
    assert found.steps == 0
    expected = symmetric(alpha, kappa, found.overlaps[0])
    assert full_breaking.slope(found) == pytest.approx([expected], rel=1e-7)


def test_derivatives_are_those_of_differences():
    """Of f, f', f'' and f''' at each overlap but the largest, on its grid of fields."""
    kappa, sizes = -1.0, np.array([0.3, 0.35])
    widths = np.array([0.65, 0.11, 0.08, 0.16])
    passed = states.descent(kappa, widths, sizes, 4)
    for level, (_, bend) in zip((1, 0), passed[1:], strict=True):
        h = states._fields(kappa, widths, level)
        step = h[1] - h[0]
        middle = slice(2 * len(h) // 5, 3 * len(h) // 5)
        for lower, higher in itertools.pairwise(bend):
            one, two, three = (
                (np.roll(lower, -n) - np.roll(lower, n)) / (2 * n * step) for n in (1, 2, 3)
            )
            sixth = 1.5 * one - 0.6 * two + 0.1 * three
            assert sixth[middle] == pytest.approx(higher[middle], abs=3e-3 * np.ptp(higher))


def test_slope_is_that_of_the_sizes():
    """x is the size of groups between two levels: it rises from step to step."""
    found = full_breaking.at_load(PERCEPTRON, 9.0, Margin(-1.0), steps=8)
    between = 0.5 * (found.overlaps[2:] - found.overlaps[:-2])
    rises = np.diff(found.sizes) / between
    assert full_breaking.slope(found)[1:-1] == pytest.approx(rises, rel=0.01)


def test_few_steps_are_enough():
    first = [
        full_breaking.slope(full_breaking.at_load(PERCEPTRON, 20.0, Margin(-1.45), steps=k))[0]
        for k in (1, 2, 3, 6)
    ]
    assert np.abs(np.diff(first))[1:] == pytest.approx(0.0, abs=3e-4)
    assert first == pytest.approx([first[-1]] * 4, abs=2e-3)


def test_one_step_is_stable_where_the_slope_is_negative():
    """Beyond the loss of symmetry two overlaps or many, by the sign of the slope there."""
    for kappa, stable in ((-1.5, True), (-1.45, False)):
        alpha = typical.instability(PERCEPTRON, constraint=Margin(kappa))
        at = full_breaking.at_load(PERCEPTRON, alpha, Margin(kappa))
        assert (full_breaking.slope(at)[0] < 0.0) == stable
        one = full_breaking.at_load(PERCEPTRON, 1.02 * alpha, Margin(kappa), steps=1)
        assert (one.replicon.max() < 1.0) == stable


def test_smallest_overlap_stops_splitting_where_the_gap_opens():
    """Its replicon is below one beyond, and at one before, as far as five steps show."""
    opens = full_breaking.gap_onset(PERCEPTRON, Margin(-1.45))
    assert opens == pytest.approx(18.3256, abs=2e-3)
    assert opens > typical.instability(PERCEPTRON, constraint=Margin(-1.45))
    beyond = full_breaking.at_load(PERCEPTRON, 25.0, Margin(-1.45), steps=5)
    assert beyond.replicon[0] < 0.9999 < beyond.replicon[1:].min()


def test_no_gap_and_always_a_gap():
    assert full_breaking.gap_onset(PERCEPTRON) == math.inf
    assert full_breaking.gap_onset(PERCEPTRON, Margin(-1.0)) == math.inf
    onset = typical.instability(PERCEPTRON, constraint=Margin(-1.6))
    assert full_breaking.gap_onset(PERCEPTRON, Margin(-1.6)) == onset


def test_at_capacity():
    """The slope below capacity, divided by x, tends to the one there, divided by y."""
    end = full_breaking.solve(PERCEPTRON, Margin(-1.0), steps=2)
    expected = full_breaking.slope(end) / end.heights
    near = full_breaking.at_load(PERCEPTRON, 0.999 * end.alpha, Margin(-1.0), steps=2)
    found = full_breaking.slope(near)[0] / near.sizes[0]
    assert found == pytest.approx(expected[0], abs=0.05)


def test_a_gap_that_opens_at_capacity_is_not_resolved(monkeypatch):
    monkeypatch.setattr("wfmlib.theory.since.full_breaking.slopes.NEAREST", (0.3,))
    with pytest.raises(NotConverged, match="opens close to capacity: above 15"):
        full_breaking.gap_onset(PERCEPTRON, Margin(-1.3))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((RELU,), TypeError, "device must be"),
        ((Perceptron(),), ValueError, "weights Spherical"),
        ((PERCEPTRON, Band(1.0)), TypeError, "constraint must be"),
        ((PERCEPTRON, Margin(-3.0)), ValueError, "margin / activation"),
    ],
)
def test_what_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        full_breaking.gap_onset(*arguments)


def test_what_has_no_slope():
    with pytest.raises(TypeError, match="hierarchy must be"):
        full_breaking.slope(2.0)
    with pytest.raises(ValueError, match="of a perceptron"):
        full_breaking.slope(full_breaking.at_load(RELU, 1.0))
    with pytest.raises(ValueError, match="at least one step"):
        full_breaking.slope(full_breaking.solve(PERCEPTRON, steps=1))
