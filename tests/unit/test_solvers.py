"""Solvers: what they find, what they report, and how they fail."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from wfmlib.numerics.solvers import (
    NotConverged,
    NoZero,
    Report,
    accepted,
    bounded,
    continuation,
    first_root,
    fixed_point,
)

# ------------------------------------------------------------------------------------------------
# A scalar root
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "limit"), [(0.0, 100.0), (100.0, 0.0), (0.5, 2.0)])
def test_first_root_is_found_from_either_side(start, limit):
    root, report = first_root(lambda x: x**2 - 2.0, start, limit)
    assert root == pytest.approx(math.sqrt(2.0), abs=2e-14)
    assert report.converged
    assert report.residual == abs(root**2 - 2.0)
    assert 3 <= report.iterations < 30


def test_first_root_counts_every_evaluation():
    calls = []
    _, report = first_root(lambda x: calls.append(x) or math.cos(x), 0.0, 10.0)
    assert report.iterations == len(calls) == len(set(calls))


def test_of_several_roots_the_first_on_the_way_is_found():
    def zeros_at_1_2_3(x):
        return (x - 1.0) * (x - 2.0) * (x - 3.0)

    assert first_root(zeros_at_1_2_3, 0.0, 9.0, step=0.4)[0] == pytest.approx(1.0, abs=2e-14)
    assert first_root(zeros_at_1_2_3, 3.5, 0.0, step=0.4)[0] == pytest.approx(3.0, abs=2e-14)


def test_a_zero_at_the_start_or_at_the_limit_is_a_root():
    assert first_root(lambda x: x, 0.0, 1.0)[0] == 0.0
    assert first_root(lambda x: x - 3.0, 0.0, 3.0)[0] == 3.0


def test_without_a_change_of_sign_first_root_says_so():
    with pytest.raises(NoZero, match="no change of sign from 0 to 5") as failure:
        first_root(lambda x: x**2 + 1.0, 0.0, 5.0)
    assert failure.value.state == 5.0
    assert failure.value.residual == 26.0
    assert not failure.value.report.converged


def test_first_root_does_not_walk_on_over_nan():
    with pytest.raises(NotConverged) as failure:
        first_root(lambda x: math.nan if x > 2.0 else -1.0, 0.0, 5.0)
    assert not isinstance(failure.value, NoZero)  # who knows what is beyond


@pytest.mark.parametrize(
    "jump",
    [
        lambda x: math.copysign(1.0, x - 1.2),
        lambda x: 1.0 / (x - 1.2),
        lambda x: math.copysign(1e-5, x - 1.2) + x - 1.2,
    ],
    ids=["jump", "pole", "small jump"],
)
def test_a_change_of_sign_without_a_zero_is_no_root(jump):
    with pytest.raises(NotConverged, match="residual") as failure:
        first_root(jump, 0.0, 5.0)
    assert not isinstance(failure.value, NoZero)
    assert failure.value.state == pytest.approx(1.2, abs=1e-9)
    assert failure.value.residual > 1e-6
    assert not failure.value.report.converged


def test_the_accuracy_of_a_root_is_the_callers():
    def stepped(x):
        return x - 1.2 + math.copysign(1e-5, x - 1.2)

    root, report = first_root(stepped, 0.0, 5.0, accuracy=1e-4)
    assert root == pytest.approx(1.2, abs=1e-9)
    assert report.residual == pytest.approx(1e-5, rel=1e-6)


def test_a_bracket_may_end_where_the_function_is_infinite():
    root, _ = first_root(lambda x: math.inf if x >= 1.0 else x - 0.3, 0.0, 2.0)
    assert root == pytest.approx(0.3, abs=1e-14)


def test_a_function_that_divides_by_zero_has_no_value_there():
    with pytest.raises(NotConverged, match="NaN at 1"):
        first_root(lambda x: 1.0 / (x - 1.0), 0.0, 5.0)


# ------------------------------------------------------------------------------------------------
# A fixed point
# ------------------------------------------------------------------------------------------------

SLOW = np.array([[0.9, 0.3], [-0.2, 0.95]])  # spectral radius 0.96: 700 plain iterations


def test_acceleration_solves_a_linear_map_in_as_many_steps_as_it_has_dimensions():
    offset = np.array([1.0, -2.0])
    state, report = fixed_point(lambda x: SLOW @ x + offset, [0.0, 0.0])
    np.testing.assert_allclose(state, np.linalg.solve(np.eye(2) - SLOW, offset), rtol=1e-11)
    assert report == Report(True, report.residual, report.iterations, report.message)
    assert report.residual <= 1e-12
    assert report.iterations <= 6
    with pytest.raises(NotConverged):
        fixed_point(lambda x: SLOW @ x + offset, [0.0, 0.0], memory=0, max_iterations=500)


def test_acceleration_stabilises_a_map_that_diverges():
    def steep(x):  # slope -3 at its fixed point
        return 4.0 * np.exp(-x) * math.exp(1.0) - 3.0 * x**0

    state, _ = fixed_point(steep, [1.3])
    assert steep(state)[0] == pytest.approx(state[0], abs=2e-12)
    with pytest.raises(NotConverged):
        fixed_point(steep, [1.3], memory=0)


def test_a_step_out_of_the_domain_is_taken_back():
    def logarithm(x):
        assert np.all(np.isfinite(x))
        return np.log(x) + 3.0 if np.all(x > 0.0) else np.full_like(x, np.nan)

    state, _ = fixed_point(lambda x: 5.0 * logarithm(x) - 4.0 * x, [0.3])
    assert logarithm(state)[0] == pytest.approx(state[0], abs=2e-12)


def test_a_map_undefined_at_its_start_is_refused():
    with pytest.raises(NotConverged, match="not finite at the start") as failure:
        fixed_point(lambda x: np.full_like(x, np.nan), [1.0])
    assert failure.value.residual == math.inf


def test_a_map_that_overflows_is_outside_of_its_domain():
    state, _ = fixed_point(lambda x: np.array([math.exp(-math.exp(float(x[0]) ** 2))]), [5.0])
    assert state[0] == pytest.approx(math.exp(-math.exp(state[0] ** 2)), abs=1e-11)


def test_running_out_of_iterations_carries_the_best_state():
    with pytest.raises(NotConverged, match="after 3 iterations") as failure:
        fixed_point(np.cos, [10.0], max_iterations=3)
    state = failure.value.state
    assert failure.value.residual == pytest.approx(abs(np.cos(state) - state)[0], rel=1e-15)
    assert failure.value.report.iterations == 3


def test_a_failure_survives_the_way_between_processes():
    failure = NotConverged(Report(False, 0.5, 7, "words"), 1.5)
    copy = pickle.loads(pickle.dumps(failure))
    assert (copy.report, copy.state, copy.residual) == (failure.report, 1.5, 0.5)
    assert str(copy) == "words"
    assert isinstance(copy, RuntimeError)


# ------------------------------------------------------------------------------------------------
# What may be called converged
# ------------------------------------------------------------------------------------------------


def test_converged_is_computed_from_the_residual():
    assert accepted(0.5, 0.5, 3, "words") == Report(True, 0.5, 3, "words")
    for residual in 0.6, math.nan, math.inf:
        with pytest.raises(NotConverged, match="words, but the residual is") as failure:
            accepted(residual, 0.5, 3, "words", state=7.0)
        assert not failure.value.report.converged
        assert failure.value.state == 7.0


def test_entropies_stay_below_their_bound():
    assert bounded("entropy", 1.0 + 1e-9, 1.0) == 1.0 + 1e-9
    for value in 1.0 + 1e-7, math.nan:
        with pytest.raises(NotConverged, match=r"the entropy found, .* exceeds its bound, 1"):
            bounded("entropy", value, 1.0)


# ------------------------------------------------------------------------------------------------
# Continuation
# ------------------------------------------------------------------------------------------------


def square_root(value, start):
    """Newton's method for ``x^2 = value``; fails below zero."""
    if value < 0.0:
        raise NotConverged(Report(False, 1.0, 0, "negative"), start)
    for _ in range(60):
        start = 0.5 * (start + value / start)
    return start


def test_each_solution_is_the_start_of_the_next():
    starts = []

    def solve(value, start):
        starts.append(start)
        return square_root(value, start)

    states, converged, reasons = continuation(solve, [1.0, 4.0, 9.0], 0.7)
    np.testing.assert_allclose(states, [1.0, 2.0, 3.0], rtol=1e-15)
    assert converged.tolist() == [True, True, True]
    assert reasons.tolist() == ["", "", ""]
    np.testing.assert_allclose(starts, [0.7, 1.0, 2.0], rtol=1e-15)


def test_a_failed_point_raises_or_leaves_nan_and_a_flag():
    with pytest.raises(NotConverged, match="negative"):
        continuation(square_root, [4.0, -1.0, 9.0], 1.0)
    states, converged, reasons = continuation(square_root, [4.0, -1.0, 9.0], 1.0, failed="nan")
    np.testing.assert_allclose(states, [2.0, np.nan, 3.0], rtol=1e-15)
    assert converged.tolist() == [True, False, True]
    assert [bool(reason) for reason in reasons] == [False, True, False]
    assert "negative" in reasons[1]


def test_a_value_out_of_range_is_a_failed_point_unless_all_are():
    def half(value, start):
        if value > 1.0:
            raise ValueError(f"value must be at most 1, got {value}")
        return value / 2

    states, _, reasons = continuation(half, [1.0, 2.0], 0.0, failed="nan")
    np.testing.assert_array_equal(states, [0.5, np.nan])
    assert reasons.tolist() == ["", "value must be at most 1, got 2.0"]
    with pytest.raises(ValueError, match="at most 1, got 3"):
        continuation(half, [3.0, 2.0], 0.0, failed="nan")
    with pytest.raises(ValueError, match="at most 1, got 2"):
        continuation(half, [1.0, 2.0], 0.0)


def test_states_may_be_arrays_and_a_sweep_may_fail_throughout():
    def pair(value, start):
        root = square_root(value, start[0])
        return [root, -root]

    states, *_ = continuation(pair, [4.0, -1.0], [1.0, 0.0], failed="nan")
    np.testing.assert_allclose(states, [[2.0, -2.0], [np.nan, np.nan]], rtol=1e-15)
    states, converged, _ = continuation(square_root, [-1.0, -2.0], 1.0, failed="nan")
    assert np.all(np.isnan(states))
    assert not np.any(converged)
    assert continuation(square_root, [], 1.0)[0].shape == (0,)


def test_another_way_to_fail_is_refused():
    with pytest.raises(ValueError, match="failed must be one of 'raise', 'nan', got 'skip'"):
        continuation(square_root, [1.0], 1.0, failed="skip")


def test_signs_of_tiny_values_are_seen():
    root, _ = first_root(lambda x: 1e-300 * (x - 4.3), 0.0, 9.0)
    assert root == pytest.approx(4.3, rel=1e-14)
    with pytest.raises(NotConverged, match="no change of sign"):
        first_root(lambda x: 1e-300, 0.0, 9.0)


def test_a_function_that_is_nan_before_its_root():
    with pytest.raises(NotConverged, match=r"the function is NaN at 0\.5"):
        first_root(lambda x: math.nan if 0.0 < x < 1.0 else x - 0.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"start": math.nan}, ValueError, "start must be finite"),
        ({"limit": math.inf}, ValueError, "limit must be finite"),
        ({"step": 0.0}, ValueError, "step must be finite and > 0"),
        ({"tolerance": "0.1"}, TypeError, "tolerance must be a real number"),
        ({"function": 3.0}, TypeError, "function must be a function"),
    ],
)
def test_what_a_root_search_refuses(change, error, message):
    with pytest.raises(error, match=message):
        first_root(**{"function": math.cos, "start": 0.0, "limit": 3.0} | change)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"start": []}, ValueError, "start must hold finite numbers in one row"),
        ({"start": [math.nan]}, ValueError, "start must hold finite numbers in one row"),
        ({"start": [[1.0]]}, ValueError, "start must hold finite numbers in one row"),
        ({"tolerance": -1.0}, ValueError, "tolerance must be finite and >= 0"),
        ({"max_iterations": 0}, ValueError, "max_iterations must be >= 1"),
        ({"memory": 1.5}, TypeError, "memory must be an integer"),
        ({"mapping": None}, TypeError, "mapping must be a function"),
        ({"mapping": lambda x: [0.1, 0.2]}, ValueError, r"mapping must return shape \(1,\)"),
    ],
)
def test_what_an_iteration_refuses(change, error, message):
    with pytest.raises(error, match=message):
        fixed_point(**{"mapping": np.cos, "start": [0.5]} | change)
