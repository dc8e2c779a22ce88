"""The density of stabilities: against the literal formula, the entropy, limits and enumeration."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from wfmlib import learning, patterns
from wfmlib.solvers import NotConverged
from wfmlib.theory import (
    Activation,
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    large_deviation,
    typical,
)
from wfmlib.theory.dense_stabilities import at_many
from wfmlib.theory.replica_symmetric import last_load
from wfmlib.theory.stabilities import cumulative, density

UNITS = (Perceptron(), Sign(), ReLU())
AXES = [(weights, unit) for weights in (Binary(), Spherical()) for unit in UNITS]
CASES = [  # weights, unit, alpha, kappa; 1 - q from 0.99 down to 3e-5
    (Binary(), Perceptron(), 0.4, 0.0),
    (Binary(), Perceptron(), 0.01, 3.0),
    (Binary(), Sign(), 0.9, 0.0),
    (Binary(), ReLU(), 0.4, 0.3),
    (Spherical(), Perceptron(), 1.9999, 0.0),
    (Spherical(), Sign(), 5.0, 0.2),
    (Spherical(), ReLU(), 2.0, -0.5),
]


def deltas(unit, q):
    """Delta(q) - Delta_{-1} and Delta_2 - Delta(q) of P2, appendix B1."""
    if isinstance(unit, Perceptron):
        return q, 1.0 - q
    if isinstance(unit, Sign):
        delta = 1.0 - 2.0 / math.pi * math.acos(q)
        return delta, 1.0 - delta
    angle = math.atan(math.sqrt((1.0 + q) / (1.0 - q)))
    delta = math.sqrt(1.0 - q * q) / (2.0 * math.pi) + q / math.pi * angle
    return delta - 1.0 / (2.0 * math.pi), 0.5 - delta


def panels(*centres, width):
    """Breakpoints for mpmath: around each centre, and to the ends of the normal density."""
    steps = [0.0, *(width * 4.0**k for k in range(8))]
    points = {centre + sign * step for centre in centres for sign in (-1, 1) for step in steps}
    low, high = -10.0 + min(*centres, 0.0), 10.0 + max(*centres, 0.0)
    return sorted({point for point in points if low < point < high} | {low, high})


def literal(stability, q, unit, kappa):
    """P2, equation E3 as corrected, raw units, and its integral from the margin."""
    shared, spread = (mp.sqrt(part) for part in deltas(unit, q))
    stability, kappa = mp.mpf(stability), mp.mpf(kappa)

    def tail(x):
        return mp.erfc(x / mp.sqrt(2)) / 2

    def pattern(z):
        below = tail((kappa - z * shared) / spread)
        return mp.npdf(z) * mp.npdf((stability - z * shared) / spread) / spread / below

    def up_to(z):
        ratio = tail((stability - z * shared) / spread) / tail((kappa - z * shared) / spread)
        return mp.npdf(z) * (1 - ratio)

    where = panels(float(kappa / shared), float(stability / shared), width=float(spread / shared))
    return float(mp.quad(pattern, where)), float(mp.quad(up_to, where))


def settings_of(case):
    weights, unit, alpha, kappa = case
    keywords = {"weights": weights, "activation": unit, "constraint": Margin(kappa)}
    return alpha, keywords, typical.solve(alpha, **keywords)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("beyond", [1e-6, 2.5])
def test_literal_formula(case, beyond):
    _, unit, _, kappa = case
    alpha, keywords, point = settings_of(case)
    stability = kappa + beyond * unit.scale
    with mp.workdps(20):
        expected, expected_share = literal(stability, point.q, unit, kappa)
    # 1 - q is computed here from q: at 3e-5 that costs 1e-11
    found = density(stability, alpha, **keywords)
    assert found == pytest.approx(expected, rel=1e-10)
    assert cumulative(stability, alpha, **keywords) == pytest.approx(expected_share, rel=1e-10)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cumulative_is_the_integral_and_ends_at_one(case):
    _, unit, _, kappa = case
    alpha, keywords, _ = settings_of(case)
    node, weight = np.polynomial.legendre.leggauss(20)
    ends = np.concatenate(([0.0], np.geomspace(1e-4, 14.0, 60)))  # graded towards the margin
    half = 0.5 * np.diff(ends)
    x = kappa + unit.scale * ((ends[:-1] + half)[:, None] + half[:, None] * node)
    pieces = unit.scale * half * (density(x, alpha, **keywords) @ weight)
    found = cumulative(kappa + unit.scale * ends[1:], alpha, **keywords)
    assert found == pytest.approx(np.cumsum(pieces), abs=1e-11)
    assert found[-1] == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(("weights", "unit"), AXES)
@pytest.mark.parametrize("kappa", [-0.6, 0.0, 0.5])
def test_just_above_the_margin_it_is_what_the_entropy_loses(weights, unit, kappa):
    alpha, step = 0.3, 1e-3
    point = typical.solve(alpha, weights, unit, Margin(kappa))
    axes = {"weights": weights, "activation": unit, "constraint": Margin(kappa)}
    above = density(math.nextafter(kappa, math.inf), alpha, **axes)
    assert above == pytest.approx(point.margin_density, rel=1e-13)
    near, far = (
        typical.solve(alpha, weights, unit, Margin(kappa + step)).entropy
        - typical.solve(alpha, weights, unit, Margin(kappa - step)).entropy
        for step in (step, 2.0 * step)
    )
    slope = (8.0 * near - far) / (12.0 * step)  # error of order step^4
    assert slope == pytest.approx(-alpha * above, rel=1e-9)


@pytest.mark.parametrize("kappa", [-0.5, 0.0, 0.7])
def test_zero_at_the_margin_and_below(kappa):
    where = np.array([kappa - 3.0, kappa - 1e-12, kappa, kappa + 1e-12, kappa + 1.0])
    found = density(where, 0.2, constraint=Margin(kappa))
    share = cumulative(where, 0.2, constraint=Margin(kappa))
    assert found[:3].tolist() == share[:3].tolist() == [0.0, 0.0, 0.0]
    assert np.all(found[3:] > 0.0)
    assert np.all(share[3:] > 0.0)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kappa", [-0.4, 0.0, 1.0])
def test_without_patterns_a_normal_density_is_cut_off(unit, kappa):
    stability = kappa + unit.scale * np.array([0.01, 0.5, 2.0, 5.0])
    cut = stats.truncnorm(kappa / unit.scale, np.inf, scale=unit.scale)
    for alpha in (0.0, 1e-12):
        axes = {"activation": unit, "constraint": Margin(kappa)}
        assert density(stability, alpha, **axes) == pytest.approx(cut.pdf(stability), rel=1e-10)
        found = cumulative(stability, alpha, **axes)
        assert found == pytest.approx(cut.cdf(stability), rel=1e-10)


@pytest.mark.parametrize("kappa", [0.0, 0.8])
def test_at_capacity_the_patterns_that_fell_short_lie_at_the_margin(kappa):
    """Spherical perceptron (Gardner 1988): a delta peak of weight H(-kappa), then the normal."""
    keywords = {"weights": Spherical(), "constraint": Margin(kappa)}
    alpha = typical.capacity(Spherical(), Perceptron(), kappa) * (1.0 - 1e-8)
    width = math.sqrt(2.0 * typical.solve(alpha, **keywords).distance)  # of order 1e-4
    assert width < 1e-3
    at_peak = cumulative(kappa + 0.05, alpha, **keywords)
    # 0.05 of the normal lies to the right of the margin; corrections vanish like the width
    assert at_peak == pytest.approx(special.ndtr(kappa + 0.05), abs=2.0 * width)
    above = kappa + np.array([0.5, 1.5, 4.0])
    expected = stats.norm.pdf(above)
    assert density(above, alpha, **keywords) == pytest.approx(expected, rel=1e-5)


def test_number_in_number_out_and_arrays_keep_their_shape():
    grid = np.array([[-1.0, 0.0, 0.2], [0.5, 1.0, 30.0]])
    for function in (density, cumulative):
        found = function(grid, 0.4)
        assert found.shape == grid.shape
        one = function(0.5, 0.4)
        assert type(one) is float
        assert one == found[1, 0]
        assert function([], 0.4).shape == (0,)
        assert function(np.float32(0.5), 0.4) == one
    assert 1e-230 < density(30.0, 0.4) < 1e-190  # a normal density there is 1e-196


def test_units():
    """A perceptron written as an activation in another unit; ReLU written as one."""
    triple = Activation(lambda x: 3.0 * x)
    found = density(1.5, 0.4, activation=triple, constraint=Margin(0.3))
    assert found == pytest.approx(density(0.5, 0.4, constraint=Margin(0.1)) / 3.0, rel=1e-10)
    same = Activation(lambda x: np.maximum(x, 0.0))
    for function in (density, cumulative):
        found = function([0.1, 0.9], 0.4, activation=same, constraint=Margin(0.05))
        expected = function([0.1, 0.9], 0.4, activation=ReLU(), constraint=Margin(0.05))
        assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("function", [density, cumulative])
def test_wrong_arguments(function):
    for wrong in (math.nan, math.inf, [0.0, -math.inf]):
        with pytest.raises(ValueError, match="stability must be finite"):
            function(wrong, 0.4)
    with pytest.raises(TypeError, match="stability"):
        function("0.5", 0.4)
    with pytest.raises(ValueError, match="alpha"):
        function(0.5, -0.4)
    with pytest.raises(TypeError, match="weights"):
        function(0.5, 0.4, weights=Binary)
    with pytest.raises(NotConverged, match="capacity"):
        function(0.5, 2.1, weights=Spherical())


# ------------------------------------------------------------------------------------------------
# Where the mode lies
# ------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(AXES), st.floats(0.001, 0.98), st.floats(0.0, 3.0))
def test_at_margins_from_zero_on_the_density_falls(pair, fraction, kappa):
    weights, unit = pair
    kappa *= unit.scale
    alpha = fraction * min(last_load(weights, unit, Margin(kappa)), 100.0)
    axes = {"weights": weights, "activation": unit, "constraint": Margin(kappa)}
    where = kappa + unit.scale * np.geomspace(1e-6, 8.0, 200)
    assert np.all(np.diff(density(where, alpha, **axes)) < 0.0)
    assert np.all(np.diff(cumulative(where, alpha, **axes)) > -1e-14)


@pytest.mark.parametrize(("weights", "unit"), AXES)
def test_below_margin_zero_it_rises_at_small_loads_and_falls_at_large_ones(weights, unit):
    kappa = -unit.scale
    axes = {"weights": weights, "activation": unit, "constraint": Margin(kappa)}
    near = kappa + unit.scale * np.array([1e-6, 1e-3])
    few = density(near, 0.1, **axes)
    many = density(near, 0.97 * min(last_load(weights, unit, Margin(kappa)), 1e3), **axes)
    assert few[0] < few[1]
    assert many[0] > many[1]


# ------------------------------------------------------------------------------------------------
# Exact enumeration
# ------------------------------------------------------------------------------------------------

SIZES = {9: 2500, 15: 1000, 21: 150}  # weights: samples
LOAD = 1.0 / 3.0


@pytest.fixture(scope="module")
def counted():
    """Share of the patterns at each stability, over all solutions, one row per sample."""
    found = {}
    for N, samples in SIZES.items():
        rows = []
        for child in np.random.SeedSequence(2024).spawn(samples):
            xi, sigma = patterns.random(N // 3, N, child)
            w = learning.enumerate_solutions(xi, sigma, keep=2**N).solutions
            if len(w) == 0:
                continue
            sums = (sigma[:, None] * xi).astype(np.float32) @ w.T.astype(np.float32)
            agreements = ((sums + N) / 2).astype(np.int64)
            rows.append(np.bincount(agreements.ravel(), minlength=N + 1) / agreements.size)
        found[N] = np.array(rows)
    return found


@pytest.mark.parametrize(
    "function", [lambda x: x, lambda x: x**2, lambda x: np.exp(-x)], ids=["x", "x^2", "e^-x"]
)
def test_averages_tend_to_those_over_all_solutions(counted, function):
    """At margin 0, midway between two stabilities at odd N, the corrections are of order 1 / N."""
    expected = integrate.quad(lambda x: function(x) * density(x, LOAD), 1e-300, 12.0)[0]
    sizes = np.array(list(counted))
    mean, error = [], []
    for N, rows in counted.items():
        values = rows @ function((2 * np.arange(N + 1) - N) / math.sqrt(N))
        mean.append(values.mean())
        error.append(values.std(ddof=1) / math.sqrt(len(values)))
    mean, error = np.array(mean), np.array(error)
    design = np.stack((np.ones(3), 1.0 / sizes), axis=1) / error[:, None]
    covariance = np.linalg.inv(design.T @ design)
    limit, _ = covariance @ design.T @ (mean / error)
    spread = math.sqrt(covariance[0, 0])
    assert spread < 0.02
    # what is left out, of order 1 / N^2, has a coefficient of size 1 and shifts the limit by that
    # over 9 x 21
    assert abs(limit - expected) < 4.0 * spread + 0.005
    assert abs(mean[0] - expected) > 5.0 * error[0]  # so there is something to extrapolate


def test_cumulative_between_the_stabilities_of_all_solutions(counted):
    for N, rows in counted.items():
        between = (2 * np.arange(N + 1) + 1 - N) / math.sqrt(N)
        shares = np.cumsum(rows, axis=1)
        error = shares.std(axis=0, ddof=1) / math.sqrt(len(shares))
        excess = shares.mean(axis=0) - cumulative(between, LOAD)
        assert np.all(np.abs(excess) < 0.5 / N + 4.0 * error)
        assert np.all(shares[:, between <= 0.0] == 0.0)


def test_far_beyond_every_stability():
    assert density([1e8, 1e300], 0.4).tolist() == [0.0, 0.0]
    assert cumulative(1e300, 0.4) == 1.0


# ------------------------------------------------------------------------------------------------
# Dense regions
# ------------------------------------------------------------------------------------------------

DENSE = [  # weights, unit, alpha, kappa, overlap, replicas
    (Binary(), ReLU(), 0.4, 0.0, 0.85, 20.0),
    (Spherical(), Sign(), 1.0, 0.2, 0.9, 3.0),
    (Spherical(), ReLU(), 1.0, 0.0, 0.9, math.inf),
    (Binary(), Perceptron(), 0.4, -0.3, 0.8, math.inf),
]


def dense_axes(case):
    weights, unit, alpha, kappa, overlap, replicas = case
    device = {"weights": weights, "activation": unit}
    return alpha, kappa, {**device, "overlap": overlap, "replicas": replicas}


def dense_literal(case, stability):
    """P2, E4 and E5 as corrected, on trapezoids, at the saddle point's overlaps."""
    weights, unit, alpha, kappa, overlap, replicas = case
    point = large_deviation.solve(
        overlap, alpha, weights=weights, activation=unit, replicas=replicas, margin=kappa
    )
    step = 0.02
    x = np.arange(-10.0, 10.0, step)
    measure = step * stats.norm.pdf(x)
    (shared, spread) = deltas(unit, overlap)
    soft = math.sqrt(spread)
    if replicas == math.inf:
        h = 1e-5
        slope = (deltas(unit, overlap + h)[0] - deltas(unit, overlap - h)[0]) / (2.0 * h)
        spread_d0 = slope * point.spread

        def field(z):
            w0 = math.sqrt(shared) * z

            def falls(w):
                return (w - w0) ** 2 / (2.0 * spread_d0) - special.log_ndtr((w - kappa) / soft)

            bracket = (w0, w0 + 3.0 * abs(w0) + 3.0)
            options = {"xatol": 1e-11}
            return optimize.minimize_scalar(falls, bounds=bracket, options=options).x

        w = np.array([field(z) for z in x])
        tilted = np.ones_like(w)
    else:
        between, _ = deltas(unit, point.q0)
        z = np.arange(-12.0, 20.0, step)
        w = math.sqrt(between) * x[:, None] + math.sqrt(shared - between) * z
        log_weight = replicas * special.log_ndtr((w - kappa) / soft) - 0.5 * z**2
        tilted = special.softmax(log_weight, axis=1)
    ratio = stats.norm.pdf((stability - w) / soft) / special.ndtr((w - kappa) / soft) / soft
    inner = ratio * tilted
    return measure @ (inner if inner.ndim == 1 else inner.sum(axis=1))


@pytest.mark.parametrize("case", DENSE, ids=str)
def test_dense_regions_by_the_literal_formula(case):
    alpha, kappa, axes = dense_axes(case)
    stability = kappa + axes["activation"].scale * np.array([1e-3, 0.7, 2.0])
    found = density(stability, alpha, constraint=Margin(kappa), **axes)
    expected = [dense_literal(case, one) for one in stability]
    # E5 is evaluated at a maximum located to 1e-8, with a slope by differences
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("case", DENSE, ids=str)
@pytest.mark.parametrize("function", [density, cumulative])
def test_many_stabilities_are_those_one_by_one(case, function):
    alpha, kappa, axes = dense_axes(case)
    where = kappa + axes["activation"].scale * np.linspace(-0.5, 4.0, 181)
    some = where[::36]  # six: not worth a polynomial
    found = function(where, alpha, constraint=Margin(kappa), **axes)
    one_by_one = function(some, alpha, constraint=Margin(kappa), **axes)
    assert found[::36] == pytest.approx(one_by_one, rel=1e-9, abs=0.0)


@pytest.mark.parametrize(
    ("rate", "most"),
    [(1.0, 200), (30.0, 5000)],  # at the second the density underflows half-way
)
def test_many_stabilities_take_few_evaluations(rate, most):
    """Of the stabilities ``|x| / rate`` above a margin of 0.5, x normal."""
    asked = []

    def kernel(places):
        beyond = rate * (places - 0.5)
        asked.append(len(places))
        inside = beyond > 0.0
        share = np.where(inside, special.erf(beyond / math.sqrt(2.0)), 0.0)
        return np.where(inside, 2.0 * rate * stats.norm.pdf(beyond), 0.0), share

    rng = np.random.default_rng(0)
    places = np.concatenate([rng.uniform(0.0, 3.0, 5000), [0.5, 0.5 + 1e-9, 99.0], [0.7] * 500])
    found = at_many(kernel, places, 0.5)
    assert sum(asked) < most
    for values, expected in zip(found, kernel(places), strict=True):
        assert values == pytest.approx(expected, rel=1e-10, abs=0.0)


@pytest.mark.parametrize("case", DENSE, ids=str)
def test_dense_regions_cumulative_is_the_integral(case):
    alpha, kappa, axes = dense_axes(case)
    node, weight = np.polynomial.legendre.leggauss(12)
    ends = np.concatenate(([0.0], np.geomspace(0.02, 9.0, 12)))
    half, scale = 0.5 * np.diff(ends), axes["activation"].scale
    x = kappa + scale * ((ends[:-1] + half)[:, None] + half[:, None] * node)
    pieces = scale * half * (density(x, alpha, constraint=Margin(kappa), **axes) @ weight)
    found = cumulative(kappa + scale * ends[1:], alpha, constraint=Margin(kappa), **axes)
    assert found == pytest.approx(np.cumsum(pieces), abs=1e-8)
    assert found[-1] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("case", DENSE, ids=str)
def test_dense_regions_lose_entropy_at_the_margin(case):
    """At fixed overlap, as typical solutions do: d phi / d kappa = -alpha P(kappa)."""
    alpha, kappa, axes = dense_axes(case)
    above = density(math.nextafter(kappa, math.inf), alpha, constraint=Margin(kappa), **axes)
    overlap = axes.pop("overlap")
    step = 2e-3
    values = [
        large_deviation.solve(overlap, alpha, margin=kappa + k * step, **axes).entropy
        for k in (-2, -1, 1, 2)
    ]
    slope = (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / (12.0 * step)
    assert slope == pytest.approx(-alpha * above, rel=1e-7)


def test_one_replica_is_typical_and_many_are_further_from_the_margin():
    where = np.array([1e-6, 0.3, 1.0, 4.0])
    typical_ones = density(where, 0.4)
    assert density(where, 0.4, overlap=0.85, replicas=1) == pytest.approx(typical_ones, rel=1e-9)
    many = density(where, 0.4, overlap=0.85, replicas=20)
    assert many[0] < 0.5 * typical_ones[0]
    assert many[1] > many[0]  # the mode has left the margin
    most = density(where, 0.4, overlap=0.85)
    assert most == pytest.approx(density(where, 0.4, overlap=0.85, replicas=1e4), rel=5e-3)


def test_wrong_replicas():
    with pytest.raises(ValueError, match="replicas need an overlap"):
        density(0.5, 0.4, replicas=3)
    with pytest.raises(ValueError, match="overlap must be finite and >= 1e-09 and < 1"):
        density(0.5, 0.4, overlap=1.0)
    with pytest.raises(NotConverged, match="infinite"):
        density(0.5, 0.0, overlap=0.5)
