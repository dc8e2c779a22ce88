"""The tail against mpmath and SciPy; the averages against closed forms and mpmath."""

from __future__ import annotations

import math
import re

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import special

from wfmlib import Margin
from wfmlib.numerics import gaussian, tails
from wfmlib.numerics.gaussian import (
    G,
    H,
    average,
    fill_grid,
    grid,
    hazard,
    hazard_derivative,
    legendre_rule,
    log_H,
    panels,
)

mp.mp.dps = 50
TAIL = (G, H, log_H, hazard, hazard_derivative)

# ------------------------------------------------------------------------------------------------
# The tail: an independent statement of each function
# ------------------------------------------------------------------------------------------------


def exact_gap(x):
    """h(x) - x; beyond 1000 by its continued fraction 1/(x + 2/(x + 3/...)): nothing cancels."""
    if x > 1000:
        rest = mp.mpf(0)
        for k in range(20, 1, -1):
            rest = k / (x + rest)
        return 1 / (x + rest)
    return exact_hazard(x) - x


def exact_H(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def exact_log_H(x):
    if x > 1000:
        return -x * x / 2 - mp.log(2 * mp.pi) / 2 - mp.log(exact_hazard(x))
    return mp.log1p(-exact_H(-x)) if x < 0 else mp.log(exact_H(x))


def exact_hazard(x):
    return x + exact_gap(x) if x > 1000 else mp.npdf(x) / exact_H(x)


def exact_derivative(x):
    return exact_hazard(x) * exact_gap(x)


EXACT = {
    G: mp.npdf,
    H: exact_H,
    log_H: exact_log_H,
    hazard: exact_hazard,
    hazard_derivative: exact_derivative,
}

RNG = np.random.default_rng(20)
NEAR = np.concatenate((RNG.uniform(0.0, 3.0, 150), RNG.uniform(0.0, 37.0, 150), [0.0, 1.0, 37.0]))
FAR = 10.0 ** RNG.uniform(-9.0, 4.0, 150)
HUGE = np.array([1e4, 2e5, 3e7, 9.9e7, 1.1e8, 1e12])


def relative_errors(function, points):
    found = function(points)
    exact = [EXACT[function](mp.mpf(float(x))) for x in points]
    return np.array(
        [float(abs(mp.mpf(float(f)) / e - 1)) for f, e in zip(found, exact, strict=True)]
    )


@pytest.mark.parametrize("function", [G, H], ids=lambda f: f.__name__)
def test_density_and_tail_against_mpmath(function):
    points = np.concatenate((NEAR, -NEAR))
    assert np.all(relative_errors(function, points) < 1e-15 * (1 + points**2))


@pytest.mark.parametrize(
    ("function", "bound"),
    [(log_H, 1e-15), (hazard, 1e-15), (hazard_derivative, 2e-15)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_logarithm_and_hazard_against_mpmath(function, bound):
    assert np.all(relative_errors(function, np.concatenate((NEAR, FAR, HUGE))) < bound)
    assert np.all(relative_errors(function, -NEAR) < bound * (1 + NEAR**2))


def test_what_is_left_of_one_minus_the_derivative():
    points = np.concatenate((NEAR, FAR, HUGE))
    for x, found in zip(points, hazard_derivative(points), strict=True):
        assert abs(mp.mpf(float(found)) - exact_derivative(mp.mpf(float(x)))) < 2e-15
    for x in (1e2, 1e3, 1e4):
        assert 1.0 - hazard_derivative(x) == pytest.approx(
            1 / x**2 - 6 / x**4 + 50 / x**6, rel=2e-15 * x**2
        )


def test_rational_approximation_of_the_gap():
    """Its own error is 9e-18; the rounding of the coefficients adds at most 2 * 2^-53."""
    for x in np.concatenate((NEAR, FAR, HUGE)):
        x = mp.mpf(float(x))
        above, below = (
            mp.fsum(mp.mpf(c) * x**k for k, c in enumerate((*coefficients, 1)))
            for coefficients in (tails.GAP_NUMERATOR, tails.GAP_DENOMINATOR)
        )
        assert abs(above / below / exact_gap(x) - 1) < 2.0**-52 + 1e-17


def test_tail_against_scipy():
    x = np.linspace(-37.0, 37.0, 20001)
    # both sides carry the error that the rounding of the argument costs
    assert np.all(np.abs(H(x) / special.ndtr(-x) - 1) < 2e-15 * (1 + x**2))
    x = np.concatenate((np.linspace(0.0, 40.0, 20001), np.geomspace(40.0, 1e4, 2001)))
    np.testing.assert_allclose(log_H(x), special.log_ndtr(-x), rtol=1e-14)
    mills = math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2))
    np.testing.assert_allclose(hazard(x), 1 / mills, rtol=1e-14)


def test_exact_values_at_zero():
    assert H(0.0) == 0.5
    assert H(-0.0) == 0.5
    assert log_H(0.0) == pytest.approx(-math.log(2), rel=2e-16)
    assert hazard(0.0) == pytest.approx(math.sqrt(2 / math.pi), rel=2e-16)
    assert hazard_derivative(0.0) == pytest.approx(2 / math.pi, rel=4e-16)


def test_where_the_tail_underflows():
    assert H(37.5) > np.finfo(float).tiny
    assert 0.0 < H(37.6) < np.finfo(float).tiny
    assert H(38.6) == 0.0
    assert H(-8.4) == 1.0
    assert log_H(38.6) == pytest.approx(float(exact_log_H(mp.mpf(38.6))), rel=1e-15)
    assert log_H(1e154) == pytest.approx(-5e307, rel=1e-15)


@pytest.mark.parametrize("size", [None, 1, 3, 8])
def test_infinities_and_nan_pass_without_a_warning(size):
    limits = {G: (0, 0), H: (1, 0), log_H: (0, -np.inf), hazard: (0, np.inf)}
    limits[hazard_derivative] = (0, 1)
    for function in TAIL:
        for x, expected in zip(
            (-np.inf, np.inf, np.nan), (*limits[function], np.nan), strict=True
        ):
            found = function(x if size is None else np.full(size, x))
            np.testing.assert_array_equal(found, np.full(np.shape(found), expected))


@pytest.mark.parametrize("function", TAIL, ids=lambda f: f.__name__)
def test_shapes_and_types(function):
    assert isinstance(function(0.3), float)
    assert function(1) == function(1.0)
    assert function(np.float32(0.5)) == function(0.5)
    table = function(np.linspace(-2, 2, 6).reshape(2, 3))
    assert table.shape == (2, 3)
    assert table.dtype == np.float64
    assert table[1, 2] == function(2.0)
    assert function([]).shape == (0,)
    for wrong in (1j, "one", None):
        with pytest.raises(TypeError):
            function(wrong)


@njit
def every_function(x):
    return G(x), H(x), log_H(x), hazard(x), hazard_derivative(x)


@njit
def sum_of_hazards(x):
    total = 0.0
    for k in range(len(x)):
        total += hazard(x[k])
    return total


@pytest.mark.parametrize("x", [-40.0, -3.0, -0.1, 0.0, 0.7, 5.0, 50.0, 1e9, np.inf, 2])
def test_the_same_functions_inside_kernels(x):
    assert every_function(x) == tuple(function(x) for function in TAIL)


@pytest.mark.parametrize("function", TAIL, ids=lambda f: f.__name__)
def test_arrays_have_the_bits_of_numbers(function):
    """In vectors, one by one, and in the universal function's own loop, which takes strides."""
    x = np.concatenate((NEAR, -NEAR, FAR, HUGE))
    found = function(x)
    np.testing.assert_array_equal(found, [function(float(one)) for one in x])
    np.testing.assert_array_equal(found[::2], function(x[::2]))
    np.testing.assert_array_equal(found.reshape(-1, 3), function(x.reshape(-1, 3)))
    np.testing.assert_array_equal(x, np.concatenate((NEAR, -NEAR, FAR, HUGE)))


def test_loops_over_the_tail_are_vector_instructions():
    """What makes them fast; where a processor has vectors of two float64 and more."""
    fill = njit(error_model="numpy")(tails.fill_hazard.py_func)  # kept code cannot be inspected
    fill(np.ones(4), np.empty(4))
    (code,) = fill.inspect_llvm().values()
    assert re.search(r"fdiv <\d+ x double>", code)


def test_a_kernel_over_an_array():
    x = np.linspace(-5, 5, 11)
    assert sum_of_hazards(x) == pytest.approx(hazard(x).sum(), rel=1e-15)


@given(st.floats(-30, 30), st.floats(0, 5))
@settings(deadline=None)
def test_properties_of_the_tail(x, step):
    assert abs(H(x) + H(-x) - 1) <= 2.3e-16
    slack = 1 + 2e-15 * (1 + x**2)
    assert H(x + step) <= H(x) * slack
    assert hazard(x) <= hazard(x + step) * slack
    assert hazard(x) > max(x, 0)
    assert 0 <= hazard_derivative(x) < 1
    assert hazard_derivative(x) <= hazard_derivative(x + step) * slack  # the hazard is convex


# ------------------------------------------------------------------------------------------------
# The grid
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [12, 16, 24, 100])
def test_moments(order):
    nodes, weights = grid(order=order)
    for k, moment in enumerate((1, 0, 1, 0, 3, 0, 15, 0, 105)):
        # the part of E x^8 beyond x = 10 is 2e-15 of it
        assert weights @ nodes**k == pytest.approx(moment, rel=4e-15, abs=1e-14)


def test_low_order_misses_what_high_order_finds():
    _, weights = grid(order=3)
    assert abs(weights.sum() - 1) > 1e-6


scales = st.one_of(st.just(0.0), st.floats(-14, 2).map(lambda e: 10.0**e), st.just(np.inf))
feature_lists = st.lists(st.tuples(st.floats(-12, 12), scales), max_size=4)


@given(feature_lists)
@settings(deadline=None)
def test_panels_follow_the_features(features):
    table = np.array(features).reshape(-1, 2)
    edges = gaussian.edges(table, -10.0, 10.0)
    assert edges[0] == -10.0
    assert edges[-1] == 10.0
    lengths = np.diff(edges)
    assert np.all(lengths > 0)
    assert lengths.max() <= 2.0 * (1 + 1e-15)
    for centre, scale in features:
        if -10 < centre < 10:
            assert centre in edges
        if scale > 0:
            scale = max(scale, 1e-15 * abs(centre), 1e-30)
            distance = np.maximum(edges[:-1] - centre, centre - edges[1:])
            spacing = 4e-16 * np.abs(edges).max()
            assert np.all(lengths <= np.maximum(scale, distance) + spacing)


@given(feature_lists)
@settings(deadline=None)
def test_features_never_spoil_a_smooth_average(features):
    nodes, weights = grid(*features)
    assert np.all(weights >= 0)
    assert weights.sum() == pytest.approx(1, rel=3e-15)
    assert weights @ np.cos(nodes) == pytest.approx(math.exp(-0.5), rel=3e-15)


def test_infinite_features_change_nothing():
    for feature in [(np.inf, np.inf), (0.0, np.inf), (-np.inf, 3.0), (1e300, 1e300)]:
        found = grid(feature)[0]
        assert len(found) == len(grid((0.0, 0.0))[0])


@njit
def mean_square(centre, scale, rule):
    nodes, weights = fill_grid(np.array([[centre, scale]]), -10.0, 10.0, rule)
    return np.sum(weights * nodes**2)


def test_grid_inside_a_kernel():
    assert mean_square(0.3, 1e-3, legendre_rule()) == pytest.approx(1, rel=3e-15)


# ------------------------------------------------------------------------------------------------
# The averages of the replica theory
# ------------------------------------------------------------------------------------------------


def exact_average(f, centre, scale):
    """E f by mpmath's tanh-sinh rule on pieces that triple in length away from the feature."""
    ends = {mp.mpf(k) for k in range(-12, 13, 3)}
    if abs(centre) < 12:
        ends.add(mp.mpf(centre))
    while scale < 6:
        ends |= {end for end in (centre - scale, centre + scale) if abs(end) < 12}
        scale *= 3
    with mp.workdps(28):
        return mp.quad(lambda x: f(x) * mp.npdf(x), sorted(ends), maxdegree=5)


@pytest.mark.parametrize("pole", [0.1, 0.5, 1.0, 3.0, 30.0])
def test_equal_distances_next_to_a_pole(pole):
    x, weight = gaussian.spaced(pole, -10.0, 10.0, 2000)
    exact = math.sqrt(math.pi / 2.0) / pole * special.erfcx(pole / math.sqrt(2.0))
    assert weight @ (1.0 / (pole**2 + x**2)) == pytest.approx(exact, rel=1e-14)
    assert gaussian.spaced(pole, -10.0, 10.0, len(x) - 3) is None


ENERGETIC = {
    "ln H": (exact_log_H, log_H),
    "h^2": (lambda u: exact_hazard(u) ** 2, lambda u: hazard(u) ** 2),
    "h'^2": (lambda u: exact_derivative(u) ** 2, lambda u: hazard_derivative(u) ** 2),
}


@pytest.mark.parametrize("name", ENERGETIC)
@pytest.mark.parametrize(("variance", "kappa"), [(0.5, 0.5), (1e-4, 0.0), (2.0**-40, 0.3)])
def test_energetic_averages_against_mpmath(name, variance, kappa):
    exact, compiled = ENERGETIC[name]
    c = 1 - mp.mpf(variance)  # exact also as a float
    want = exact_average(
        lambda x: exact((mp.mpf(kappa) - mp.sqrt(c) * x) / mp.sqrt(variance)),
        kappa / mp.sqrt(c),
        mp.sqrt(variance / c),
    )
    root, width = math.sqrt(1 - variance), math.sqrt(variance)
    value, error = average(
        lambda x: compiled((kappa - root * x) / width), (kappa / root, width / root)
    )
    assert abs(value - want) <= 1e-13 * abs(want)
    assert abs(value - want) <= error <= 1e-13 * abs(want)


@pytest.mark.parametrize("name", ENERGETIC)
def test_energetic_averages_without_overlap(name):
    compiled = ENERGETIC[name][1]
    value, _ = average(lambda x: compiled(0.5 - 0.0 * x), (np.inf, np.inf))
    assert value == pytest.approx(compiled(0.5), rel=4e-15)


def sech4(u):
    tail = np.exp(-2 * np.abs(u))
    return (4 * tail / (1 + tail) ** 2) ** 2


ENTROPIC = {
    "ln 2cosh": (
        lambda u: abs(u) + mp.log1p(mp.exp(-2 * abs(u))),
        lambda u: np.abs(u) + np.log1p(np.exp(-2 * np.abs(u))),
    ),
    "tanh^2": (lambda u: mp.tanh(u) ** 2, lambda u: np.tanh(u) ** 2),
    "sech^4": (lambda u: mp.sech(u) ** 4, sech4),
}


@pytest.mark.parametrize("name", ENTROPIC)
@pytest.mark.parametrize("q_hat", [0.25, 4.0, 1e4, 1e8])
def test_entropic_averages_against_mpmath(name, q_hat):
    exact, compiled = ENTROPIC[name]
    root = math.sqrt(q_hat)  # exact
    want = exact_average(lambda x: exact(root * x), 0, mp.mpf(1) / root)
    value, error = average(lambda x: compiled(root * x), (0.0, 1 / root))
    assert abs(value - want) <= 1e-13 * abs(want)
    assert abs(value - want) <= error <= 1e-13 * abs(want)


def test_entropic_averages_without_field():
    assert average(lambda x: ENTROPIC["ln 2cosh"][1](0 * x), (0.0, np.inf))[0] == pytest.approx(
        math.log(2), rel=2e-15
    )


# ------------------------------------------------------------------------------------------------
# The estimate of the error
# ------------------------------------------------------------------------------------------------

EULER = 0.5772156649015329
CLOSED_FORMS = {
    "step, named": (lambda x: 1.0 * (x > 1.234), [(1.234, 0.0)], H(1.234)),
    "step, not named": (lambda x: 1.0 * (x > 1.234), [], H(1.234)),
    "kink, named": (lambda x: np.abs(x - 0.6), [(0.6, 0.0)], 2 * G(0.6) + 0.6 * (1 - 2 * H(0.6))),
    "kink, not named": (lambda x: np.abs(x - 0.6), [], 2 * G(0.6) + 0.6 * (1 - 2 * H(0.6))),
    "exponential": (lambda x: np.exp(3 * x), [], math.exp(4.5)),
    "oscillation": (lambda x: np.cos(20 * x) ** 2, [], 0.5 + 0.5 * math.exp(-800)),
    "too fast an oscillation": (lambda x: np.cos(200 * x) ** 2, [], 0.5),
    "singularity": (lambda x: np.log(np.abs(x)), [(0.0, 1e-18)], -(EULER + math.log(2)) / 2),
    "H of a sharp argument": (
        lambda x: H((0.3 - 0.6 * x) / 1e-5),
        [(0.5, 1e-5 / 0.6)],
        H(0.3 / math.hypot(0.6, 1e-5)),
    ),
    "the same, not named": (
        lambda x: H((0.3 - 0.6 * x) / 1e-5), [], H(0.3 / math.hypot(0.6, 1e-5))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_the_estimate_bounds_the_error(name):
    f, features, exact = CLOSED_FORMS[name]
    for order in (6, 10, 16, 40):
        value, error = average(f, *features, order=order)
        assert abs(value - exact) <= error


def test_the_estimate_is_not_idle():
    for name in ("step, named", "kink, named", "H of a sharp argument"):
        f, features, exact = CLOSED_FORMS[name]
        _, error = average(f, *features)
        assert error < 1e-13 * exact


def test_the_estimate_keeps_the_rounding_of_the_sum():
    """One panel matters, so the four rules agree to the last digit or nearly so."""
    value, error = average(lambda x: 1.0 * ((x > 0) & (x < 1)), (0.0, 0.0), (1.0, 0.0))
    assert value == pytest.approx(0.5 - H(1.0), rel=1e-15)
    assert 4 * np.finfo(float).eps * value <= error < 1e-15


def test_the_estimate_bounds_the_error_of_a_step_anywhere():
    """Also between the end of a panel and its first Gauss node, where those rules all agree."""
    places = np.concatenate((RNG.uniform(-3, 3, 300), RNG.uniform(-0.01, 0.01, 30)))
    for order in (8, 16):
        for place in places:
            value, error = average(lambda x, a=place: 1.0 * (x > a), order=order)
            assert abs(value - H(place)) <= error


@pytest.mark.parametrize("sharpness", [10.0, 1e3, 1e6])
def test_a_narrow_peak_that_nobody_named_is_noticed_at_the_end_of_a_panel(sharpness):
    named, _ = average(lambda x: sech4(sharpness * x), (0.0, 1 / sharpness))
    value, error = average(lambda x: sech4(sharpness * x))
    assert abs(value - named) <= error


@pytest.mark.parametrize("slope", [-20.0, -6.0, 2.0, 12.0, 20.0])
def test_the_range_follows_a_tilt(slope):
    exact = math.exp(slope**2 / 2)
    value, error = average(lambda x: np.exp(slope * x), tilt=slope)
    # the rounding of an exponent as large as slope^2 is the integrand's own, not the rule's
    assert abs(value / exact - 1) < 2e-16 * slope**2 + 2e-15
    value, error = average(lambda x: np.exp(6.0 * x))
    assert math.exp(18) * 1e-6 < abs(value - math.exp(18)) <= error


# ------------------------------------------------------------------------------------------------
# What is refused
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "options", "error", "words"),
    [
        ([0.5], {}, TypeError, r"features .* got \(0.5,\)"),
        ([(0.0, 1.0, 2.0)], {}, TypeError, "features"),
        ([(0.0, 1.0), (2.0,)], {}, TypeError, "features"),
        ([("0", "1")], {}, TypeError, "features"),
        ([(np.nan, 1.0)], {}, ValueError, "features .* not NaN"),
        ([(0.0, np.nan)], {}, ValueError, "features .* not NaN"),
        ([(0.0, -1.0)], {}, ValueError, "scale >= 0"),
        ([], {"order": 0}, ValueError, "order .* got 0"),
        ([], {"order": 101}, ValueError, "order .* got 101"),
        ([], {"order": 8.0}, TypeError, "order"),
        ([], {"order": 16.0}, TypeError, "order"),  # equal to an order that was asked for before
        ([], {"order": [8]}, TypeError, "order must be an integer"),
        ([], {"limit": 0.0}, ValueError, "limit .* got 0"),
        ([], {"limit": 39.0}, ValueError, "limit"),
        ([], {"limit": np.inf}, ValueError, "limit"),
        ([], {"tilt": 30.0}, ValueError, "tilt .* 28"),
        ([], {"tilt": "up"}, TypeError, "tilt"),
    ],
)
def test_bad_arguments_are_named(features, options, error, words):
    with pytest.raises(error, match=words):
        grid(*features, **options)
    with pytest.raises(error, match=words):
        average(np.cos, *features, **options)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: 1.0, r"f must return one real number per node.* got shape \(\)"),
        (lambda x: x[:-1], "f must return one real number per node"),
        (lambda x: x + 1j, "complex"),
        (lambda x: np.where(x > 1, np.nan, x), "f must be finite, got nan at x = 1"),
    ],
)
def test_bad_integrands_are_named(f, words):
    with pytest.raises(ValueError, match=words):
        average(f)
    with pytest.raises(ValueError, match="order"):
        average(np.cos, order=3)
    with pytest.raises(TypeError, match=r"f must be a function, got 0\.5"):
        average(0.5)


def test_rules_are_shared_and_protected():
    assert legendre_rule(12) is legendre_rule(12)
    with pytest.raises(ValueError, match="read-only"):
        legendre_rule(12)[0, 0] = 0.0


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-15.0, 15.0), st.floats(0.0, 3.0)), max_size=4),
    st.floats(-9.0, 0.0),
)
def test_panels_without_the_compiler_are_the_same(features, low):
    table = np.array(features, dtype=float).reshape(-1, 2)
    found, wanted = (fill(table, low, 10.0, legendre_rule(12)) for fill in (panels, fill_grid))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-14)


def test_a_margin_has_the_values_of_the_kernels():
    """To the rounding of u, from the far tails to where the hazard is u itself."""
    u = np.concatenate([np.linspace(-36.0, 10.0, 400), np.geomspace(1e-3, 1e12, 400)])
    error = 2e-15 * (1.0 + np.minimum(u, 0.0) ** 2)
    one = Margin(0.0)
    for found, wanted in (
        (one.log_weight(-u, 1.0), log_H(u)),
        (one.slope(-u, 1.0), hazard(u)),
        (-one.curvature(-u, 1.0), hazard_derivative(u)),
    ):
        assert np.all(np.abs(found - wanted) <= error * np.abs(wanted))
