"""Where solutions of three sign units end: a literal distance, whole groups, many fields."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special

from tests.naive_groups import over_groups
from wfmlib import TreeCommittee
from wfmlib.theory import typical
from wfmlib.theory.machines import committee_of_three, three_units_capacity
from wfmlib.theory.machines.three_units_capacity import averages, nested_load, one_step

PLACE = 0.64, 21.2  # q0 and ratio, close to the saddle point
SYMMETRIC = typical.capacity(TreeCommittee(3))


def literal(q0, ratio, step):
    """The same of exp(-r D^2 / 2), where D^2 is found case by case."""

    def weight(w):
        squares = np.sort(np.where(w < 0.0, w**2, 0.0), axis=0)
        return np.exp(-0.5 * ratio * (squares[0] + squares[1]))  # the two that cost least

    return over_groups(weight, q0, 1.0 - q0, step)


def machines(q0, complement, m, step):
    """The same of Sigma^m, the probability that the majority is right."""

    def weight(w):
        right = special.log_ndtr(-np.sort(-w, axis=0) / math.sqrt(complement))
        wrong = -np.expm1(right)
        near, far = np.exp(right[2] - right[1]), np.exp(right[2] - right[0])
        sigma = right[0] + right[1] + np.log1p(near * wrong[1] + far * wrong[0])
        return np.exp(m * sigma)

    return over_groups(weight, q0, 1.0 - q0 - complement, step)


def test_average_of_the_literal_distance():
    """The kinks of D^2 leave an error of second order in the step: extrapolated."""
    coarse, fine = literal(*PLACE, 0.16), literal(*PLACE, 0.08)
    assert abs(coarse - fine) < 3e-3
    assert averages(PLACE[0], 1.0 - PLACE[0], PLACE[1])[0] == pytest.approx(
        fine + (fine - coarse) / 3.0, abs=2e-4
    )


def test_forces_are_derivatives():
    """By the ratio, and by q0 at a fixed sum of variances."""
    (q0, ratio), step = PLACE, 1e-4
    _, pull, square = averages(q0, 1.0 - q0, ratio)

    def term(dq, dr):
        return averages(q0 + dq, 1.0 - q0 - dq, ratio + dr)[0]

    by_ratio = (term(0.0, step) - term(0.0, -step)) / (2.0 * step)
    assert by_ratio == pytest.approx(-0.5 * square, rel=1e-5)
    by_q0 = (term(step, 0.0) - term(-step, 0.0)) / (2.0 * step)
    assert by_q0 == pytest.approx(-0.5 * ratio**2 * pull, rel=1e-5)


def test_a_finer_grid_changes_nothing(monkeypatch):
    found = averages(PLACE[0], 1.0 - PLACE[0], PLACE[1])
    monkeypatch.setattr(three_units_capacity, "STEP", 0.3)
    assert averages(PLACE[0], 1.0 - PLACE[0], PLACE[1]) == pytest.approx(found, rel=1e-6)


def test_groups_of_machines_tend_to_it():
    """``m ln Sigma`` averaged at 1 - q1 -> 0 with m = r (1 - q1): no distance enters.

    What is left is of order ``m ln m``, from the factor before the Gaussian tails, and m. Both
    sides have the same grid, whose error cancels.
    """
    q0, ratio = PLACE
    complements = np.array([2e-3, 5e-4, 1.25e-4])
    terms = [machines(q0, one, ratio * one, 0.16) for one in complements]
    basis = np.stack([np.ones(3), complements * np.log(complements), complements], axis=1)
    limit = np.linalg.solve(basis, terms)[0]
    assert abs(terms[0] - limit) > 0.01  # there is something to extrapolate
    assert literal(q0, ratio, 0.16) == pytest.approx(limit, abs=1e-3)


@pytest.mark.parametrize("complement", [0.03, 0.003])
def test_averages_over_wide_groups(complement):
    """Groups wider than the threshold: a unit is safe only where all of their members are."""
    q0, m = PLACE[0], PLACE[1] * complement
    found = committee_of_three.pattern_averages(q0, 1.0 - q0 - complement, complement, m)
    expected = machines(q0, complement, m, 0.08)
    assert m * found.term == pytest.approx(expected, rel=5e-3)


def test_the_load_is_the_smallest():
    """By the value alone, from another start, at the place where both derivatives vanish."""

    def load(x):
        q0, ratio = special.expit(x[0]), math.exp(x[1])
        outer = 1.0 + ratio * (1.0 - q0)
        entropic = math.log(outer) + ratio * q0 / outer
        return entropic / (-2.0 * averages(q0, 1.0 - q0, ratio)[0])

    found = optimize.minimize(load, [-0.5, 2.0], method="BFGS", options={"eps": 1e-5})
    at = one_step(SYMMETRIC)
    assert found.fun == pytest.approx(at.alpha, abs=1e-8)
    assert special.expit(found.x[0]) == pytest.approx(at.q0, abs=1e-3)
    assert math.exp(found.x[1]) == pytest.approx(at.ratio, rel=1e-2)
    other = typical.capacity(TreeCommittee(3), ansatz="1RSB")  # by the integrals of any number
    assert other == pytest.approx(at.alpha, rel=3e-7)
    assert other < SYMMETRIC


def test_no_breaking_is_replica_symmetry():
    """At r -> 0 the load is that of the nearest solution  [eq-nearest-solution]."""
    ratio = 1e-5
    log_weight, _, square = averages(0.5, 0.5, ratio)
    outer = 1.0 + 0.5 * ratio
    load = (math.log(outer) + 0.5 * ratio / outer) / (-2.0 * log_weight)
    assert load == pytest.approx(SYMMETRIC, rel=1e-4)
    assert 1.0 / square == pytest.approx(SYMMETRIC, rel=1e-4)


def test_two_equal_steps_are_one():
    at = one_step(SYMMETRIC)
    for q1 in (0.7, 0.9):
        assert nested_load(at.q0, q1, at.ratio, at.ratio) == pytest.approx(at.alpha, abs=2e-5)


def test_a_second_step_lowers_it_a_little():
    """At a point found by another program; every point is an upper bound of two steps."""
    once = one_step(SYMMETRIC).alpha
    twice = nested_load(0.6067, 0.9747, 29.63, 77.46)
    assert once - 0.013 < twice < once - 0.011


def test_one_step_is_solved_once():
    assert one_step(SYMMETRIC) is one_step(SYMMETRIC)


def test_two_steps_start_from_the_symmetric_capacity(monkeypatch):
    """Half a minute; here only that they are what the ansatz asks for."""
    monkeypatch.setattr(three_units_capacity, "two_steps", lambda symmetric: symmetric - 1.0)
    assert typical.capacity(TreeCommittee(3), ansatz="2RSB") == SYMMETRIC - 1.0
