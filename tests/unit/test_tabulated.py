"""Functions on panels against themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wfmlib import CrossEntropy
from wfmlib.numerics import gaussian
from wfmlib.numerics.tabulated import ORDER, evaluate, panel_of, tabulate

NOWHERE = np.empty((0, 2))  # no feature


def looked_up(table, x):
    ends, coefficients = table
    return np.array(
        [[evaluate(ends, one, panel_of(ends, at), at) for at in x] for one in coefficients]
    )


def test_polynomials_are_exact():
    rng = np.random.default_rng(5)
    powers = rng.normal(size=(2, ORDER))  # of the highest degree that a panel holds

    def functions(x):
        return np.array([np.polyval(one, x / 7.0) for one in powers])

    table = tabulate(functions, [(0.5, 0.1)], -5.0, 7.0)
    x = np.concatenate((rng.uniform(-5.0, 7.0, 200), table[0]))
    assert looked_up(table, x) == pytest.approx(functions(x), rel=1e-12, abs=1e-12)


def test_a_degree_more_is_not_exact():
    table = tabulate(lambda x: x[None, :] ** ORDER, NOWHERE, 0.0, 2.0)
    assert np.abs(looked_up(table, [0.01])[0, 0]) > 1e-12


def test_kinks_at_ends_and_steep_steps():
    centre, scale = 0.3, 1e-3

    def functions(x):
        return np.array([np.abs(x - centre), np.tanh((x - centre) / scale)])

    table = tabulate(functions, [(centre, scale)], -4.0, 4.0)
    x = centre + np.concatenate((np.geomspace(1e-5, 3.0, 60), -np.geomspace(1e-5, 3.0, 60)))
    assert looked_up(table, x) == pytest.approx(functions(x), rel=1e-12, abs=1e-8)
    flat = tabulate(functions, NOWHERE, -4.0, 4.0)  # it is the feature that does it
    assert np.abs(looked_up(flat, x) - functions(x)).max() > 1e-3


def test_panels_hold_their_points():
    ends = np.array([-1.0, -0.5, 0.25, 2.0])
    for x, panel in ((-1.0, 0), (-0.51, 0), (-0.5, 1), (0.2, 1), (0.25, 2), (1.9, 2), (2.0, 2)):
        assert panel_of(ends, x) == panel


def test_the_shape_of_a_table():
    ends, coefficients = tabulate(lambda x: np.array([x, x * x, np.sin(x)]), NOWHERE, -3.0, 3.0)
    assert (ends[0], ends[-1]) == (-3.0, 3.0)
    assert coefficients.shape == (3, len(ends) - 1, ORDER)
    assert np.diff(ends).max() <= gaussian.WIDEST


@pytest.mark.parametrize("gamma", [0.5, 5.0, math.inf])
@pytest.mark.parametrize(("beta", "variance"), [(5.0, 0.6), (200.0, 0.02), (1e4, 0.3)])
def test_the_log_weight_and_force_of_cross_entropy(gamma, beta, variance):
    constraint = CrossEntropy(gamma, beta)
    low, high = -6.0, 6.0

    def functions(omega):
        return np.array(constraint.gibbs(omega, variance)[:2])

    table = tabulate(functions, constraint.features(variance), low, high)
    x = np.random.default_rng(2).uniform(low, high, 300)
    expected = functions(x)
    scale = np.maximum(1.0, np.abs(expected).max(axis=1, keepdims=True))
    # one part in 1e9 of the largest; the force steepens with beta
    assert np.abs((looked_up(table, x) - expected) / scale).max() < 1e-9
