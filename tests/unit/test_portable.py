"""Grids, sums in one order, and our own exponential and logarithms against mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from wfmlib.numerics import portable


def worst(function, exact, arguments):
    """Return the largest error in units in the last place, against 60 digits."""
    with mpmath.workdps(60):
        errors = []
        for x in map(float, arguments):
            right = exact(mpmath.mpf(x))
            errors.append(abs(mpmath.mpf(function(x)) - right) / math.ulp(float(right)))
        return float(max(errors))


@pytest.mark.parametrize(
    ("low", "high"), [(-1e-5, 1e-5), (-1, 1), (-40, 0), (-707, 709.7), (-745, -707)]
)
def test_exp(low, high):
    x = np.random.default_rng(1).uniform(low, high, 3000)
    # 0.35 of the polynomial's last three operations, 0.5 of its last: below 1
    assert worst(portable.exp, mpmath.exp, x) < 1.0


def test_exp_at_its_ends():
    assert portable.exp(0.0) == portable.exp(-0.0) == 1.0
    assert portable.exp(709.782712893384) < math.inf == portable.exp(709.7827128933841)
    assert portable.exp(-745.13) == 5e-324
    assert portable.exp(-745.2) == 0.0 == portable.exp(-math.inf)
    assert portable.exp(math.inf) == math.inf
    assert math.isnan(portable.exp(math.nan))


@pytest.mark.parametrize(("low", "high"), [(-300, -16), (-16, -1), (-1, 1), (1, 17), (17, 308)])
def test_log1p(low, high):
    x = 10.0 ** np.random.default_rng(2).uniform(low, high, 3000)
    assert worst(portable.log1p, mpmath.log1p, x) < 1.0


def test_log1p_between_0_and_1():
    """What the loss of a pattern takes it of."""
    x = np.random.default_rng(3).uniform(0, 1, 5000)
    assert worst(portable.log1p, mpmath.log1p, x) < 1.0


@pytest.mark.parametrize(("low", "high"), [(-1e-5, 1e-5), (-0.4, 0.4), (-3, 1), (-60, -3)])
def test_expm1(low, high):
    x = np.random.default_rng(6).uniform(low, high, 3000)
    assert worst(portable.expm1, mpmath.expm1, x) < 2.0


def test_expm1_at_its_ends():
    assert portable.expm1(0.0) == 0.0
    assert portable.expm1(-1e-320) == -1e-320
    assert portable.expm1(-math.inf) == -1.0
    assert math.isnan(portable.expm1(math.nan))


@pytest.mark.parametrize(("low", "high"), [(-307, -16), (-1, 1), (-1e-4, 1e-4), (1, 308)])
def test_log(low, high):
    x = 10.0 ** np.random.default_rng(7).uniform(low, high, 3000)
    assert worst(portable.log, mpmath.log, x) < 1.0
    assert portable.log(1.0) == 0.0


def test_log1p_of_a_share():
    x = np.random.default_rng(8).uniform(0, 1, 3000)
    assert worst(portable.log1p_of_share, mpmath.log1p, [*x, *x**40, *x**800]) < 2.0
    assert portable.log1p_of_share(0.0) == 0.0
    assert portable.log1p_of_share(1.0) == math.log(2.0)


def test_log1p_at_its_ends():
    assert portable.log1p(0.0) == 0.0
    assert portable.log1p(5e-324) == 5e-324
    assert portable.log1p(math.inf) == math.inf
    assert math.isnan(portable.log1p(math.nan))


@pytest.mark.parametrize("bits", [portable.WEIGHTS, portable.DELTAS, 0, 52])
def test_grid(bits):
    """The nearest multiple of a step, ties to even, the same on both sides of zero."""
    step, scale = portable.step(bits), portable.scale_of(bits)
    x = np.random.default_rng(4).uniform(-1, 1, 1000) * scale / 3
    x = np.concatenate([x, step * np.arange(-4, 4.25, 0.25)])  # among them the ties
    found = np.array([portable.on_grid(one, scale) for one in x])
    np.testing.assert_array_equal(found, np.rint(x / step) * step)
    np.testing.assert_array_equal(found, [-portable.on_grid(-one, scale) for one in x])
    np.testing.assert_array_equal(found, [portable.on_grid(one, scale) for one in found])
    assert math.isnan(portable.on_grid(math.nan, scale))
    assert portable.on_grid(-math.inf, scale) == -math.inf


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3000))
def test_sums_on_the_grid_are_exact_in_any_order(seed, M):
    """Weights of norm 1 times signs: forwards, backwards, by a library, and with fractions."""
    rng = np.random.default_rng(seed)
    w = rng.uniform(-1, 1, M)
    w /= np.linalg.norm(w)
    scale = portable.scale_of(portable.WEIGHTS)
    w = np.array([portable.on_grid(one, scale) for one in w])
    signs = rng.choice([-1.0, 1.0], M)
    exact = math.fsum(w * signs)
    assert np.cumsum(w * signs)[-1] == np.cumsum((w * signs)[::-1])[-1] == w @ signs == exact
    assert (signs[None] @ w[:, None])[0, 0] == exact


def test_sums_off_the_grid_are_not():
    """Else the test above would say nothing."""
    terms = np.random.default_rng(5).normal(size=3000)
    assert np.cumsum(terms)[-1] != np.cumsum(terms[::-1])[-1]


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 40))
def test_squares(seed, M):
    x, y = np.random.default_rng(seed).normal(size=(2, M))
    # a sum of M positive terms, each rounded twice or thrice
    bound = {"rel": (M + 3) * 2.0**-53, "abs": 0.0}
    assert portable.square(x) == pytest.approx(math.fsum(x * x), **bound)
    assert portable.square_distance(x, y) == pytest.approx(math.fsum((x - y) ** 2), **bound)


def test_order_of_the_squares():
    """Eight sums, and their sum in pairs: as written, whatever the compiler could do."""
    x = np.random.default_rng(6).normal(size=1003)
    lanes = [0.0] * 8
    for i, one in enumerate(x[:1000].tolist()):
        lanes[i % 8] += one * one
    for one in x[1000:].tolist():
        lanes[0] += one * one
    a, b, c, d, e, f, g, h = lanes
    assert portable.square(x) == ((a + b) + (c + d)) + ((e + f) + (g + h))

    y = np.random.default_rng(7).normal(size=1003)
    lanes = [0.0] * 4
    for i, one in enumerate((x - y).tolist()):
        lanes[i % 4 if i < 1000 else 0] += one * one
    a, b, c, d = lanes
    assert portable.square_distance(x, y) == (a + b) + (c + d)


def test_nothing_is_fused():
    """numba keeps ``a b + c`` two operations: a fused one would keep the last bits of ``a b``."""

    @njit
    def both(a, b, c):
        return a * b + c

    assert both(1.0 + 2.0**-27, 1.0 - 2.0**-27, -1.0) == 0.0
