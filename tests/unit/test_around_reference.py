"""Replicas around a reference: limits, derivatives, and where a reference is one more replica."""

import math

import numpy as np
import pytest

from wfmlib import Margin, Perceptron
from wfmlib.models.activations import Linear
from wfmlib.models.weights import Binary
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi, large_deviation
from wfmlib.theory.large_deviation import around_reference, flat_slope
from wfmlib.theory.large_deviation.around_reference import _at
from wfmlib.theory.saddles.real_replicas import Finite

PERCEPTRON = Perceptron()


def test_few_replicas_surround_a_typical_reference():
    typical = franz_parisi.solve(PERCEPTRON, 0.5, 0.1, Margin(0.0))
    near = [around_reference(PERCEPTRON, 0.5, 0.1, replicas=y) for y in (0.004, 0.002)]
    limit = 2.0 * near[1].local_entropy - near[0].local_entropy
    assert limit == pytest.approx(typical.local_entropy, abs=1e-6)
    assert near[1].slope == pytest.approx(typical.slope, abs=1e-3)


def test_two_replicas_around_any_configuration_are_an_average_of_pairs():
    # the identity of chapter 2 gives the same number
    point = around_reference(PERCEPTRON, 0.4, 0.05, reference=None, replicas=2.0)
    assert point.entropy == pytest.approx(0.343176, abs=1e-6)
    assert point.overlap == pytest.approx(0.831793, abs=1e-6)


@pytest.mark.parametrize("reference", [None, Margin(0.0)])
def test_slope_and_complexity_are_derivatives(reference):
    def free_entropy(distance, y):
        asked = {"reference": reference, "replicas": y}
        return around_reference(PERCEPTRON, 0.7, distance, **asked).entropy

    point = around_reference(PERCEPTRON, 0.7, 0.06, reference=reference, replicas=6.0)
    step = (free_entropy(0.062, 6.0) - free_entropy(0.058, 6.0)) / 0.004
    assert point.slope == pytest.approx(step, abs=2e-3)
    step = (free_entropy(0.06, 6.1) - free_entropy(0.06, 5.9)) / 0.2
    assert point.complexity == pytest.approx(-36.0 * step, abs=2e-4)


def test_at_zero_complexity_a_reference_of_any_kind_has_more_around_it():
    solution = around_reference(PERCEPTRON, 0.7, 0.06)
    free = around_reference(PERCEPTRON, 0.7, 0.06, reference=None)
    assert abs(solution.complexity) + abs(free.complexity) < 1e-6
    assert solution.local_entropy == pytest.approx(solution.entropy, abs=1e-6)
    assert (
        solution.local_entropy
        < free.local_entropy
        < franz_parisi.geometric_bound(PERCEPTRON, 0.06)
    )


def test_where_the_slope_vanishes_a_solution_as_reference_is_one_more_replica():
    axes = Binary(), Linear(), Margin(0.0)
    start = flat_slope._countable_groups(0.994, axes)
    load, (place, log_m) = flat_slope.flat_load_of_countable_groups(0.994, start, axes, True)
    groups = Finite(0.994, place, math.exp(log_m), axes).broken
    between, within = groups.q0_hat, groups.q0_hat + groups.split
    y = math.exp(log_m) - 1.0
    state = _at((between, within, between, between, within), load, y, (0.0, 0.0), Linear())
    overlaps = state.overlaps
    assert [overlaps.q1, overlaps.t1] == pytest.approx([0.994, 0.994], abs=1e-8)
    assert [overlaps.t0, overlaps.r0] == pytest.approx([overlaps.q0, overlaps.q0], abs=1e-7)
    assert state.made == pytest.approx((between, within, between, between), rel=1e-5)
    assert abs(state.lean) < 1e-6
    assert abs(state.exponent - y * state.derivative) < 1e-6


def test_threshold_around_solutions():
    found = large_deviation.dense_threshold(PERCEPTRON, replicas="zero complexity", reference=True)
    assert found == pytest.approx(0.77567, abs=1e-5)
    one_more = large_deviation.dense_threshold(PERCEPTRON, replicas=21.0)
    around = large_deviation.dense_threshold(PERCEPTRON, replicas=20.0, reference=True)
    assert around == one_more


def test_without_a_saddle_point_it_says_so():
    with pytest.raises(NotConverged, match="no saddle point: distance"):
        around_reference(PERCEPTRON, 0.95, 0.001, reference=None)
    assert np.isfinite(around_reference(PERCEPTRON, 0.7, 0.1, replicas=2.0).entropy)
