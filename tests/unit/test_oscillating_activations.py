"""Activations that oscillate, jump, bend and rise steeply, against quadrature of the definition.

The quadrature knows where g bends and jumps, and asks for nothing but its values: Gauss-Legendre
panels in the plane of two normal variables of correlation q, whose density is derived in q.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import integrate

from wfmlib import Activation, TreeCommittee
from wfmlib.theory import typical

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def panels(breaks, longest):
    ends = np.unique(np.concatenate([np.arange(-9.5, 9.6, longest), breaks]))
    half = 0.5 * np.diff(ends)[:, None]
    return (ends[:-1, None] + half * (1.0 + NODES)).ravel(), (half * WEIGHTS).ravel()


def in_the_plane(g, q, breaks=(), longest=0.25):
    """Return c, 1 - c, c', c''."""
    x, weight = panels(breaks, longest)
    density = np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    values = g(x) - (weight * density) @ g(x)
    variance = (weight * density) @ values**2
    a, b, s = x[:, None], x, 1.0 - q * q
    square = a * a - 2.0 * q * a * b + b * b
    density = np.exp(-0.5 * square / s) / (2.0 * math.pi * math.sqrt(s))
    first = a * b / s - q * square / s**2 + q / s  # of the density's logarithm
    second = 4.0 * q * a * b / s**2 - (s + 4.0 * q * q) * square / s**3 + (1.0 + q * q) / s**2
    values = weight * values / math.sqrt(variance)
    c, slope, curvature = (
        values @ (density * factor) @ values for factor in (1.0, first, first**2 + second)
    )
    return c, 1.0 - c, slope, curvature


def assert_close(activation, q, expected):
    found = activation.effective_overlap(q)
    steepest = min(activation.slope_at_one, 1e3)
    assert found.c == pytest.approx(expected[0], rel=1e-9, abs=1e-11)
    assert found.complement == pytest.approx(expected[1], rel=1e-9)
    assert found.slope == pytest.approx(expected[2], rel=1e-9, abs=1e-11 * steepest)
    assert found.curvature == pytest.approx(expected[3], rel=1e-9, abs=1e-11 * steepest**2)


def test_the_capacity_of_units_that_oscillate():
    """Twice ``E g'^2 / Var g``, which is ``k^2 coth(k^2)`` of ``sin(k x)``."""
    for k, capacity in ((3.0, 18.0), (4.0, 32.0)):
        tree = TreeCommittee(math.inf, Activation(lambda x, k=k: np.sin(k * x)))
        assert typical.capacity(tree) == pytest.approx(capacity, rel=1e-6)


@pytest.mark.parametrize("k", [4.0, 20.0, 50.0])
def test_sines(k):
    """``Delta(q) = exp(-k^2) sinh(k^2 q)``."""
    activation = Activation(lambda x: np.sin(k * x))
    square = k * k
    assert activation.slope_at_one == pytest.approx(square, rel=1e-9)
    for gap in (0.3, 0.1, 1e-3, 1e-6, 1e-12):
        found = activation.effective_overlap(1.0 - gap, gap)
        c = math.exp(-square * gap)  # up to exp(-2 k^2 q)
        assert found.c == pytest.approx(c, rel=1e-9, abs=1e-12)
        assert found.complement == pytest.approx(-math.expm1(-square * gap), rel=1e-9)
        assert found.slope == pytest.approx(square * c, rel=1e-9, abs=1e-12)
        assert found.curvature == pytest.approx(square**2 * c, rel=1e-9, abs=1e-9)


WAVE = st.tuples(st.floats(0.2, 1.0), st.floats(0.5, 12.0), st.floats(0.0, 6.3))


@settings(max_examples=10, deadline=None)
@given(st.lists(WAVE, min_size=1, max_size=3), st.floats(0.0, 1.0), st.floats(-2.0, 2.0))
@example([(1.0, 4.0, 0.0)], 0.0, 0.0)
def test_waves_under_a_gaussian(waves, narrow, centre):
    def g(x):
        waved = sum(height * np.cos(k * x + phase) for height, k, phase in waves)
        return waved * np.exp(-0.5 * narrow * (x - centre) ** 2)

    def steepness(x):
        slopes = sum(-height * k * np.sin(k * x + phase) for height, k, phase in waves)
        return slopes * np.exp(-0.5 * narrow * (x - centre) ** 2) - narrow * (x - centre) * g(x)

    x, weight = panels((), 0.25)
    weight = weight * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    variance = weight @ g(x) ** 2 - (weight @ g(x)) ** 2
    activation = Activation(g)
    assert activation.scale == pytest.approx(math.sqrt(variance), rel=1e-9)
    expected = weight @ steepness(x) ** 2 / variance
    assert activation.slope_at_one == pytest.approx(expected, rel=1e-9)
    for q in (0.4, -0.9):
        assert_close(activation, q, in_the_plane(g, q))


@settings(max_examples=5, deadline=None)
@given(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.floats(0.1, 1.0), st.floats(1.0, 12.0))
@example(0.3, 1e-3, 0.1, 4.0)
def test_waves_with_a_corner_and_a_jump(place, jump, bend, k):
    def g(x):
        return np.sin(k * x) + bend * np.maximum(x + 1.0, 0.0) + jump * (x > place)

    activation = Activation(g)
    assert math.isinf(activation.slope_at_one) == (abs(jump) > 1e-8)
    assert_close(activation, 0.6, in_the_plane(g, 0.6, (place, -1.0)))


@pytest.mark.parametrize(
    "g",
    [
        np.sign,
        lambda x: np.floor(3.3 * x) + np.sin(4.0 * x),
        lambda x: x + 1e-3 * np.sign(x),
        lambda x: x + 1e-6 * np.sign(x - 0.3),
        lambda x: x + np.sign(x - 7.0),
        lambda x: np.sign(np.sin(5.0 * x)),
        lambda x: np.sign(x.astype(np.float32) - np.float32(0.3)),
        lambda x: (x + 1e-3 * np.sign(x)).astype(np.float32),
    ],
)
def test_jumps_are_seen(g):
    assert Activation(g).slope_at_one == math.inf


def variance_of(g, breaks):
    x, weight = panels(breaks, 0.25)
    weight = weight * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    return weight @ g(x) ** 2 - (weight @ g(x)) ** 2


def test_corners_are_no_jumps():
    def zigzag(x):
        return np.abs((3.0 * x) % 2.0 - 1.0)

    inside = math.erf(1.0 / math.sqrt(2.0))
    for g, square, breaks in (
        (np.abs, 1.0, (0.0,)),
        (lambda x: np.clip(x, -1.0, 1.0), inside, (-1.0, 1.0)),
        (zigzag, 9.0, np.arange(-30, 31) / 3.0),
        (lambda x: np.sin(4.0 * x) + np.abs(x), 9.0 + 8.0 * math.exp(-32.0), (0.0,)),
    ):
        expected = square / variance_of(g, breaks)
        assert Activation(g).slope_at_one == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("steepness", [100.0, 1e4])
def test_steep_rises_are_no_jumps(steepness):
    """``E g'^2 = s E cosh(s x)^-4`` in the variable ``u = s x``, and ``E g^2`` likewise."""

    def over(f):
        density = math.sqrt(2.0 * math.pi)
        part = integrate.quad(lambda u: f(u) * math.exp(-0.5 * (u / steepness) ** 2), 0, 40)
        return 2.0 * part[0] / density

    slope = steepness * over(lambda u: np.cosh(u) ** -4.0)
    variance = 1.0 - over(lambda u: np.cosh(u) ** -2.0) / steepness
    activation = Activation(lambda x: np.tanh(steepness * x))
    assert activation.slope_at_one == pytest.approx(slope / variance, rel=1e-9)


def test_a_narrow_bump_is_seen():
    """``E g'^2`` of ``x + exp(-((x - a) / w)^2) / 10``, products of Gaussians."""
    a, w = 0.7, 0.003
    activation = Activation(lambda x: x + 0.1 * np.exp(-(((x - a) / w) ** 2)))
    x, weight = panels(a + w * np.arange(-8.0, 9.0), 0.25)
    weight = weight * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    bump = 0.1 * np.exp(-(((x - a) / w) ** 2))
    variance = weight @ (x + bump) ** 2 - (weight @ bump) ** 2
    slope = weight @ (1.0 - 2.0 * bump * (x - a) / w**2) ** 2
    assert activation.slope_at_one == pytest.approx(slope / variance, rel=1e-9)


@pytest.mark.parametrize(
    ("single", "double"),
    [
        (lambda x: np.tanh(x).astype(np.float32), np.tanh),
        (lambda x: np.tanh(x.astype(np.float32)), np.tanh),
        (lambda x: np.sin(20.0 * x.astype(np.float32)), lambda x: np.sin(20.0 * x)),
        (lambda x: np.maximum(x - 0.3, 0.0).astype(np.float32), lambda x: np.maximum(x - 0.3, 0)),
    ],
)
def test_single_precision(single, double):
    """To 1e-5; derivatives in q are not those of the rounding."""
    single, double = Activation(single), Activation(double)
    assert single.slope_at_one == pytest.approx(double.slope_at_one, rel=1e-5)
    for gap in (0.5, 0.1, 1e-3, 1e-6):
        rounded, exact = (each.effective_overlap(1.0 - gap, gap) for each in (single, double))
        assert rounded.c == pytest.approx(exact.c, abs=1e-5)
        assert rounded.complement == pytest.approx(exact.complement, rel=1e-5)
        assert rounded.slope == pytest.approx(exact.slope, rel=1e-5, abs=1e-5)
        assert rounded.curvature == pytest.approx(exact.curvature, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("g", "error", "message"),
    [
        (lambda x: np.sin(1000.0 * x), ValueError, r"about sin\(200 x\) is the limit"),
        (lambda x: np.tanh(x).astype(np.float16), TypeError, "double or single precision"),
    ],
)
def test_what_is_refused(g, error, message):
    with pytest.raises(error, match=message):
        Activation(g)
