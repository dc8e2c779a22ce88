"""Effective overlaps against the papers' closed forms, and one way to compute them by another."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special

from wfmlib import Activation, ReLU, Sign
from wfmlib.models.activations import Linear

OVERLAPS = (-0.9, -0.3, 0.0, 1e-9, 0.3, 0.9, 0.999)


def relu(x):
    return np.maximum(x, 0.0)


# ------------------------------------------------------------------------------------------------
# Closed forms, at 60 digits
# ------------------------------------------------------------------------------------------------


def linear_delta(q):
    return q


def sign_delta(q):  # P2, appendix B1
    return 1 - 2 / mp.pi * mp.acos(q)


def relu_delta(q):  # P2, appendix B1
    return mp.sqrt(1 - q**2) / (2 * mp.pi) + q / mp.pi * mp.atan2(mp.sqrt(1 + q), mp.sqrt(1 - q))


def erf_delta(q):  # g = erf(3 x / sqrt 2)
    return 2 / mp.pi * mp.asin(mp.mpf(9) / 10 * q)


def square_delta(q):  # g = x |x|
    return 2 / mp.pi * (3 * q * mp.sqrt(1 - q**2) + (1 + 2 * q**2) * mp.asin(q))


def exact(delta, complement):
    """c, 1 - c, c', c'' at 1 - complement from Delta(q), derivatives by differences."""
    with mp.workdps(60):
        q = 1 - mp.mpf(complement)
        zero = delta(mp.mpf(0))
        norm = delta(mp.mpf(1)) - zero
        c = (delta(q) - zero) / norm
        step = min(mp.mpf(complement), 1) * mp.mpf(10) ** -15  # error step, relative to 1 - q
        slope, curvature = (mp.diff(delta, q, n, h=step) / norm for n in (1, 2))
        return [float(value) for value in (c, 1 - c, slope, curvature)]


CLOSED = {
    "linear": (Linear(), linear_delta),
    "sign": (Sign(), sign_delta),
    "relu": (ReLU(), relu_delta),
}


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("q", OVERLAPS)
def test_closed_forms(name, q):
    activation, delta = CLOSED[name]
    complement = 1.0 - q
    c, gap, slope, curvature = exact(delta, complement)
    found = activation.effective_overlap(1.0 - complement)
    assert found.c == pytest.approx(c, rel=1e-14, abs=1e-16)
    assert found.complement == pytest.approx(gap, rel=1e-14)
    assert found.slope == pytest.approx(slope, rel=1e-14)
    assert found.curvature == pytest.approx(curvature, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("complement", [1e-6, 1e-12, 1e-20])
def test_closed_forms_keep_their_digits_towards_one(name, complement):
    activation, delta = CLOSED[name]
    c, gap, slope, curvature = exact(delta, complement)
    found = activation.effective_overlap(1.0 - complement, complement)
    assert found.c == pytest.approx(c, rel=1e-15)  # not magnified by the arcsine's slope
    assert found.complement == pytest.approx(gap, rel=1e-14)
    assert found.slope == pytest.approx(slope, rel=1e-14)
    assert found.curvature == pytest.approx(curvature, rel=1e-13)


def test_ends_of_the_range():
    for activation in (Linear(), Sign(), ReLU(), Activation(relu), Activation(np.tanh)):
        one = activation.effective_overlap(1.0)
        assert (one.c, one.complement) == pytest.approx((1.0, 0.0), abs=1e-12)
        assert one.slope == pytest.approx(activation.slope_at_one, rel=1e-11)
        assert activation.effective_overlap(0.0).c == pytest.approx(0.0, abs=1e-15)
    assert Sign().slope_at_one == Sign().effective_overlap(1.0).curvature == math.inf
    assert Sign().effective_overlap(-1.0).c == -1.0


def test_scales():
    assert ReLU().scale == pytest.approx(math.sqrt(0.5 - 0.5 / math.pi), rel=1e-15)
    assert Linear().scale == Sign().scale == 1.0


def test_arrays_in_arrays_out():
    q = np.array([[0.0, 0.5], [0.9, -0.2]])
    for activation in (Linear(), Sign(), ReLU(), Activation(np.tanh)):
        found = activation.effective_overlap(q)
        for name in ("c", "complement", "slope", "curvature"):
            part = getattr(found, name)
            assert part.shape == q.shape
            single = getattr(activation.effective_overlap(0.9), name)
            assert isinstance(single, float)
            assert part[1, 0] == pytest.approx(single, rel=1e-15)


# ------------------------------------------------------------------------------------------------
# Any g
# ------------------------------------------------------------------------------------------------

KNOWN = {
    "sign": (np.sign, sign_delta),
    "relu": (relu, relu_delta),
    "erf": (lambda x: special.erf(3.0 * x / math.sqrt(2.0)), erf_delta),
    "x |x|": (lambda x: x * np.abs(x), square_delta),
    "exp": (np.exp, lambda q: mp.exp(1 + q)),
    "sin": (np.sin, lambda q: mp.exp(-1) * mp.sinh(q)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_any_activation_against_closed_forms(name):
    """With the errors that `Activation` states."""
    g, delta = KNOWN[name]
    activation = Activation(g)
    for complement in (1.95, 1.2, 1.0, 0.7, 0.1, 1e-2, 5e-3, 1e-4, 1e-6):
        c, gap, slope, curvature = exact(delta, complement)
        found = activation.effective_overlap(1.0 - complement, complement)
        assert found.c == pytest.approx(c, abs=1e-11)
        assert found.complement == pytest.approx(gap, rel=1e-11)
        assert found.slope == pytest.approx(slope, rel=1e-11)
        error = max(1e-10, 1e-14 / complement)
        assert found.curvature == pytest.approx(curvature, rel=error, abs=error)


def test_scale_and_slope_at_one_of_any_activation():
    for g, scale, slope in (
        (relu, ReLU().scale, ReLU().slope_at_one),
        (np.sign, 1.0, math.inf),
        (lambda x: x * np.abs(x), math.sqrt(3.0), 4.0 / 3.0),  # E (2 |x|)^2 / 3
        (lambda x: x**3, math.sqrt(15.0), 27.0 / 15.0),
        (lambda x: np.floor(x) + x, None, math.inf),
    ):
        activation = Activation(g)
        if scale is not None:
            assert activation.scale == pytest.approx(scale, rel=1e-11)
        assert activation.slope_at_one == pytest.approx(slope, rel=1e-10)


def test_a_step_away_from_zero_is_found():
    """g = 1 above k: Delta'(q) is the normal density of two variables at (k, k)."""
    k = 0.3141592653589793
    activation = Activation(lambda x: np.where(x > k, 1.0, 0.0))
    tail = special.ndtr(-k)
    assert activation.scale == pytest.approx(math.sqrt(tail * (1.0 - tail)), rel=1e-12)
    assert activation.slope_at_one == math.inf
    for q in (-0.5, 0.0, 0.5, 0.95, 0.999):
        density = math.exp(-(k**2) / (1.0 + q)) / (2.0 * math.pi * math.sqrt(1.0 - q**2))
        expected = density / (tail * (1.0 - tail))
        assert activation.effective_overlap(q).slope == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("width", [0.1, 0.01, 0.002])
def test_a_narrow_step_is_found(width):
    """g = x, raised by 1 from a to b: Delta' from E g'(x) g'(y), g' = 1 + delta_a - delta_b."""
    a, b = 0.7 - 0.5 * width, 0.7 + 0.5 * width
    activation = Activation(lambda x: x + ((x > a) & (x < b)))
    inside = special.ndtr(b) - special.ndtr(a)
    rise = (math.exp(-0.5 * a**2) - math.exp(-0.5 * b**2)) / math.sqrt(2.0 * math.pi)
    variance = 1.0 + inside * (1.0 - inside) + 2.0 * rise
    assert activation.scale == pytest.approx(math.sqrt(variance), rel=1e-12)
    for q in (-0.5, 0.0, 0.5, 0.95):

        def density(x, y, q=q):
            exponent = (x**2 - 2.0 * q * x * y + y**2) / (2.0 * (1.0 - q**2))
            return math.exp(-exponent) / (2.0 * math.pi * math.sqrt(1.0 - q**2))

        slope = 1.0 + 2.0 * rise + density(a, a) + density(b, b) - 2.0 * density(a, b)
        found = activation.effective_overlap(q).slope
        assert found == pytest.approx(slope / variance, rel=1e-11)


def test_tanh_against_the_trapezoidal_rule_in_the_plane():
    """Spectral: tanh is analytic in a strip of half-width pi/2, and so is the integrand."""
    x, y = np.meshgrid(np.arange(-12.0, 12.0, 0.1), np.arange(-12.0, 12.0, 0.1))
    weight = 0.01 * np.exp(-0.5 * (x**2 + y**2)) / (2.0 * math.pi)
    activation = Activation(np.tanh)
    for q in (0.1, 0.6, 0.97):
        delta = np.sum(weight * np.tanh(x) * np.tanh(q * x + math.sqrt(1.0 - q**2) * y))
        found = activation.effective_overlap(q).c * activation.scale**2
        assert found == pytest.approx(delta, rel=1e-13)


def test_a_steep_rise_on_one_side_against_the_trapezoidal_rule_in_the_plane():
    """Near -1 the second field has its rise where the first has none."""

    def g(x):
        return np.tanh(30.0 * (x - 0.7))  # analytic in a strip of half-width pi / 60

    x, y = np.meshgrid(np.arange(-10.0, 10.0, 0.01), np.arange(-9.0, 9.0, 0.1))
    weight = 1e-3 * np.exp(-0.5 * (x**2 + y**2)) / (2.0 * math.pi)
    activation = Activation(g)
    mean = np.sum(weight * g(x))
    for q in (-0.9999, -0.999):
        second = np.sum(weight * g(x) * g(q * x + math.sqrt(1.0 - q**2) * y))
        found = activation.effective_overlap(q).c * activation.scale**2
        assert found == pytest.approx(second - mean**2, rel=1e-10)


@pytest.mark.parametrize("g", [np.tanh, relu, np.sign], ids=["tanh", "relu", "sign"])
@pytest.mark.parametrize("q", [-0.8, 0.4, 0.95])
def test_series_and_conditioning_agree(g, q):
    correlation = Activation(g)._correlation
    series = correlation._series(q, 1.0 - q)
    conditioned = correlation._conditioned(q, 1.0 - q)
    np.testing.assert_allclose(conditioned, series, rtol=1e-12, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.2, 3.0), st.floats(-1.0, 1.0), st.floats(-0.9, 0.9))
@example(width=1.0, centre=0.0, leak=7.031552871535234e-06)  # a corner that is hardly one
def test_effective_overlap_of_random_ramps(width, centre, leak):
    """c runs from 0 to 1 as a power series with positive coefficients: convex, and below q."""
    activation = Activation(lambda x: np.clip(x - centre, -width, width) + leak * relu(x))
    q = np.linspace(0.0, 1.0, 21)
    found = activation.effective_overlap(q)
    assert np.all(found.c <= q + 1e-12)
    assert np.all(np.diff(found.c) > 0.0)
    assert np.all(found.slope > 0.0)
    assert np.all(found.curvature >= 0.0)
    np.testing.assert_allclose(found.c + found.complement, 1.0, rtol=1e-11)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("g", "error", "message"),
    [
        (3.0, TypeError, "g must be a function"),
        (math.tanh, TypeError, "g must accept an array"),
        (lambda x: 1.0, TypeError, "argument's shape"),
        (lambda x: x + 1j, TypeError, "real numbers"),
        (lambda x: np.where(x > 3.0, np.nan, x), ValueError, "finite, got nan"),
        (lambda x: np.exp(x**2 / 4.0), ValueError, "slowly"),
        (lambda x: 0.0 * x + 2.0, ValueError, "constant"),
        (lambda x: x + np.sin(1e4 * x), ValueError, "oscillate"),
        (np.cbrt, ValueError, "smooth"),
        (lambda x: np.tanh(1e7 * x), ValueError, "smooth"),
    ],
)
def test_what_an_activation_refuses(g, error, message):
    with pytest.raises(error, match=message):
        Activation(g)


@pytest.mark.parametrize("q", [1.0000001, -1.1, math.nan, math.inf, [0.1, 2.0]])
@pytest.mark.parametrize("activation", [Linear(), Sign(), ReLU()])
def test_overlaps_out_of_range_are_refused(activation, q):
    with pytest.raises(ValueError, match="q must be finite and from -1 to 1, got"):
        activation.effective_overlap(q)


@pytest.mark.parametrize("q", ["half", None, 1j, True])
def test_overlaps_that_are_no_numbers_are_refused(q):
    with pytest.raises(TypeError, match="q must be a real number"):
        Sign().effective_overlap(q)
    with pytest.raises(TypeError, match="q must hold real numbers"):
        Sign().effective_overlap([q, q])


@pytest.mark.parametrize("complement", [-1e-9, 0.4, 3.0, math.nan, "0.5", [0.5]])
@pytest.mark.parametrize("activation", [Linear(), Sign(), ReLU(), Activation(np.tanh)])
def test_complements_that_are_not_one_minus_q_are_refused(activation, complement):
    with pytest.raises((TypeError, ValueError), match="complement must be"):
        activation.effective_overlap(0.5, complement)


def test_activations_are_values():
    assert Activation(np.tanh) == Activation(np.tanh)
    assert Activation(np.tanh) != Activation(np.sin)
    assert len({Linear(), Sign(), ReLU(), ReLU(), Activation(relu), Activation(relu)}) == 4
    assert repr(Activation(np.tanh)) == "Activation(tanh)"
    assert repr([Linear(), Sign(), ReLU()]) == "[Linear(), Sign(), ReLU()]"
