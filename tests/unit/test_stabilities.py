"""The density of stabilities: against the literal formula, the entropy, limits and enumeration."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from wfmlib import (
    Activation,
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
    learning,
    patterns,
)
from wfmlib.models.activations import Linear
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import large_deviation, typical
from wfmlib.theory.saddles.replica_symmetric import last_load
from wfmlib.theory.stabilities import cumulative, density
from wfmlib.theory.stabilities.dense_stabilities import at_many, supported

PERCEPTRON, SPHERICAL = Perceptron(), Perceptron(Spherical())
BINARY_DEVICES = [
    PERCEPTRON,
    TreeCommittee(np.inf, Sign(), Binary()),
    TreeCommittee(np.inf, ReLU(), Binary()),
]
SIGNS, RELUS = TreeCommittee(np.inf, Sign()), TreeCommittee(np.inf, ReLU())
DEVICES = [*BINARY_DEVICES, SPHERICAL, SIGNS, RELUS]
CASES = [  # device, alpha, constraint; 1 - q from 0.99 down to 3e-5
    (PERCEPTRON, 0.4, Margin(0.0)),
    (PERCEPTRON, 0.01, Margin(3.0)),
    (BINARY_DEVICES[1], 0.9, Margin(0.0)),
    (BINARY_DEVICES[2], 0.4, Margin(0.3)),
    (SPHERICAL, 1.9999, Margin(0.0)),
    (SIGNS, 5.0, Margin(0.2)),
    (RELUS, 2.0, Margin(-0.5)),
]


def deltas(unit, q):
    """Delta(q) - Delta_{-1} and Delta_2 - Delta(q) of P2, appendix B1."""
    if isinstance(unit, Linear):
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


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("beyond", [1e-6, 2.5])
def test_literal_formula(case, beyond):
    device, alpha, constraint = case
    unit, point = device.activation, typical.solve(*case)
    stability = constraint.kappa + beyond * unit.scale
    with mp.workdps(20):
        expected, expected_share = literal(stability, point.q, unit, constraint.kappa)
    # 1 - q is computed here from q: at 3e-5 that costs 1e-11
    found = density(device, alpha, stability, constraint=constraint)
    assert found == pytest.approx(expected, rel=1e-10)
    share = cumulative(device, alpha, stability, constraint=constraint)
    assert share == pytest.approx(expected_share, rel=1e-10)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cumulative_is_the_integral_and_ends_at_one(case):
    device, alpha, constraint = case
    scale, kappa = device.activation.scale, constraint.kappa
    node, weight = np.polynomial.legendre.leggauss(20)
    ends = np.concatenate(([0.0], np.geomspace(1e-4, 14.0, 60)))  # graded towards the margin
    half = 0.5 * np.diff(ends)
    x = kappa + scale * ((ends[:-1] + half)[:, None] + half[:, None] * node)
    pieces = scale * half * (density(device, alpha, x, constraint=constraint) @ weight)
    found = cumulative(device, alpha, kappa + scale * ends[1:], constraint=constraint)
    assert found == pytest.approx(np.cumsum(pieces), abs=1e-11)
    assert found[-1] == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("kappa", [-0.6, 0.0, 0.5])
def test_just_above_the_margin_it_is_what_the_entropy_loses(device, kappa):
    alpha, step = 0.3, 1e-3
    point = typical.solve(device, alpha, Margin(kappa))
    nearest = math.nextafter(kappa, math.inf)
    above = density(device, alpha, nearest, constraint=Margin(kappa))
    assert above == pytest.approx(point.margin_density, rel=1e-13)
    near, far = (
        typical.solve(device, alpha, Margin(kappa + step)).entropy
        - typical.solve(device, alpha, Margin(kappa - step)).entropy
        for step in (step, 2.0 * step)
    )
    slope = (8.0 * near - far) / (12.0 * step)  # error of order step^4
    assert slope == pytest.approx(-alpha * above, rel=1e-9)


@pytest.mark.parametrize("kappa", [-0.5, 0.0, 0.7])
def test_zero_at_the_margin_and_below(kappa):
    where = np.array([kappa - 3.0, kappa - 1e-12, kappa, kappa + 1e-12, kappa + 1.0])
    found = density(PERCEPTRON, 0.2, where, constraint=Margin(kappa))
    share = cumulative(PERCEPTRON, 0.2, where, constraint=Margin(kappa))
    assert found[:3].tolist() == share[:3].tolist() == [0.0, 0.0, 0.0]
    assert np.all(found[3:] > 0.0)
    assert np.all(share[3:] > 0.0)


@pytest.mark.parametrize("device", BINARY_DEVICES, ids=str)
@pytest.mark.parametrize("kappa", [-0.4, 0.0, 1.0])
def test_without_patterns_a_normal_density_is_cut_off(device, kappa):
    scale, constraint = device.activation.scale, Margin(kappa)
    stability = kappa + scale * np.array([0.01, 0.5, 2.0, 5.0])
    cut = stats.truncnorm(kappa / scale, np.inf, scale=scale)
    for alpha in (0.0, 1e-12):
        found = density(device, alpha, stability, constraint=constraint)
        assert found == pytest.approx(cut.pdf(stability), rel=1e-10)
        found = cumulative(device, alpha, stability, constraint=constraint)
        assert found == pytest.approx(cut.cdf(stability), rel=1e-10)


@pytest.mark.parametrize("kappa", [0.0, 0.8])
def test_at_capacity_the_patterns_that_fell_short_lie_at_the_margin(kappa):
    """Spherical perceptron (Gardner 1988): a delta peak of weight H(-kappa), then the normal."""
    constraint = Margin(kappa)
    alpha = typical.capacity(SPHERICAL, constraint=constraint) * (1.0 - 1e-8)
    width = math.sqrt(2.0 * typical.solve(SPHERICAL, alpha, constraint).distance)  # some 1e-4
    assert width < 1e-3
    at_peak = cumulative(SPHERICAL, alpha, kappa + 0.05, constraint=constraint)
    # 0.05 of the normal lies to the right of the margin; corrections vanish like the width
    assert at_peak == pytest.approx(special.ndtr(kappa + 0.05), abs=2.0 * width)
    above = kappa + np.array([0.5, 1.5, 4.0])
    expected = stats.norm.pdf(above)
    found = density(SPHERICAL, alpha, above, constraint=constraint)
    assert found == pytest.approx(expected, rel=1e-5)


def test_number_in_number_out_and_arrays_keep_their_shape():
    grid = np.array([[-1.0, 0.0, 0.2], [0.5, 1.0, 30.0]])
    for function in (density, cumulative):
        found = function(PERCEPTRON, 0.4, grid)
        assert found.shape == grid.shape
        one = function(PERCEPTRON, 0.4, 0.5)
        assert type(one) is float
        assert one == found[1, 0]
        assert function(PERCEPTRON, 0.4, []).shape == (0,)
        assert function(PERCEPTRON, 0.4, np.float32(0.5)) == one
    assert 1e-230 < density(PERCEPTRON, 0.4, 30.0) < 1e-190  # a normal density there is 1e-196


def test_units():
    """A perceptron written as an activation in another unit; ReLU written as one."""
    triple = TreeCommittee(np.inf, Activation(lambda x: 3.0 * x), Binary())
    found = density(triple, 0.4, 1.5, constraint=Margin(0.3))
    expected = density(PERCEPTRON, 0.4, 0.5, constraint=Margin(0.1)) / 3.0
    assert found == pytest.approx(expected, rel=1e-10)
    same = TreeCommittee(np.inf, Activation(lambda x: np.maximum(x, 0.0)), Binary())
    for function in (density, cumulative):
        found = function(same, 0.4, [0.1, 0.9], constraint=Margin(0.05))
        expected = function(BINARY_DEVICES[2], 0.4, [0.1, 0.9], constraint=Margin(0.05))
        assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("function", [density, cumulative])
def test_wrong_arguments(function):
    for wrong in (math.nan, math.inf, [0.0, -math.inf]):
        with pytest.raises(ValueError, match="stability must be finite"):
            function(PERCEPTRON, 0.4, wrong)
    with pytest.raises(TypeError, match="stability"):
        function(PERCEPTRON, 0.4, "0.5")
    with pytest.raises(ValueError, match="alpha"):
        function(PERCEPTRON, -0.4, 0.5)
    for dense in ({}, {"overlap": 0.85}):
        with pytest.raises(TypeError, match="device"):
            function(Binary(), 0.4, 0.5, **dense)
        with pytest.raises(ValueError, match="device must be a Perceptron or have infinitely"):
            function(TreeCommittee(3), 0.4, 0.5, **dense)
        with pytest.raises(TypeError, match="constraint must be Margin"):
            function(PERCEPTRON, 0.4, 0.5, constraint=0.1, **dense)
    with pytest.raises(NotConverged, match="capacity"):
        function(SPHERICAL, 2.1, 0.5)


# ------------------------------------------------------------------------------------------------
# Where the mode lies
# ------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(DEVICES), st.floats(0.001, 0.98), st.floats(0.0, 3.0))
def test_at_margins_from_zero_on_the_density_falls(device, fraction, kappa):
    unit = device.activation
    constraint = Margin(kappa * unit.scale)
    alpha = fraction * min(last_load(device.weights, unit, constraint), 100.0)
    where = constraint.kappa + unit.scale * np.geomspace(1e-6, 8.0, 200)
    assert np.all(np.diff(density(device, alpha, where, constraint=constraint)) < 0.0)
    assert np.all(np.diff(cumulative(device, alpha, where, constraint=constraint)) > -1e-14)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_below_margin_zero_it_rises_at_small_loads_and_falls_at_large_ones(device):
    unit = device.activation
    constraint = Margin(-unit.scale)
    near = constraint.kappa + unit.scale * np.array([1e-6, 1e-3])
    few = density(device, 0.1, near, constraint=constraint)
    large = 0.97 * min(last_load(device.weights, unit, constraint), 1e3)
    many = density(device, large, near, constraint=constraint)
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
            xi, sigma = patterns.random(N // 3, N, rng=child)
            w = learning.enumerate_solutions(PERCEPTRON, xi, sigma, keep=2**N).solutions
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
    expected = integrate.quad(lambda x: function(x) * density(PERCEPTRON, LOAD, x), 1e-300, 12.0)[
        0
    ]
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
        excess = shares.mean(axis=0) - cumulative(PERCEPTRON, LOAD, between)
        assert np.all(np.abs(excess) < 0.5 / N + 4.0 * error)
        assert np.all(shares[:, between <= 0.0] == 0.0)


def test_far_beyond_every_stability():
    assert density(PERCEPTRON, 0.4, [1e8, 1e300]).tolist() == [0.0, 0.0]
    assert cumulative(PERCEPTRON, 0.4, 1e300) == 1.0


# ------------------------------------------------------------------------------------------------
# Dense regions
# ------------------------------------------------------------------------------------------------

DENSE = [  # device, alpha, kappa, overlap, replicas
    (BINARY_DEVICES[2], 0.4, 0.0, 0.85, 20.0),
    (SIGNS, 1.0, 0.2, 0.9, 3.0),
    (RELUS, 1.0, 0.0, 0.9, math.inf),
    (PERCEPTRON, 0.4, -0.3, 0.8, math.inf),
]


def dense(function, case, stability):
    device, alpha, kappa, overlap, replicas = case
    asked = {"constraint": Margin(kappa), "overlap": overlap, "replicas": replicas}
    return function(device, alpha, stability, **asked)


def dense_literal(case, stability):
    """P2, E4 and E5 as corrected, on trapezoids, at the saddle point's overlaps."""
    device, alpha, kappa, overlap, replicas = case
    unit = device.activation
    point = large_deviation.solve(
        device, alpha, overlap, replicas=replicas, constraint=Margin(kappa)
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
    device, _, kappa, *_ = case
    stability = kappa + device.activation.scale * np.array([1e-3, 0.7, 2.0])
    found = dense(density, case, stability)
    expected = [dense_literal(case, one) for one in stability]
    # E5 is evaluated at a maximum located to 1e-8, with a slope by differences
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("case", DENSE, ids=str)
@pytest.mark.parametrize("function", [density, cumulative])
def test_many_stabilities_are_those_one_by_one(case, function):
    device, _, kappa, *_ = case
    where = kappa + device.activation.scale * np.linspace(-0.5, 4.0, 181)
    some = where[::36]  # six: not worth a polynomial
    found = dense(function, case, where)
    assert found[::36] == pytest.approx(dense(function, case, some), rel=1e-9, abs=0.0)


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
        return 2.0 * rate * stats.norm.pdf(beyond), special.erf(beyond / math.sqrt(2.0))

    rng = np.random.default_rng(0)
    places = np.concatenate([rng.uniform(0.0, 3.0, 5000), [0.5, 0.5 + 1e-9, 99.0], [0.7] * 500])
    found = supported(lambda some: at_many(kernel, some, 0.5), places, 0.5)
    assert sum(asked) < most
    for values, expected in zip(found, kernel(places), strict=True):
        expected = np.where(places > 0.5, expected, 0.0)
        assert values == pytest.approx(expected, rel=1e-10, abs=0.0)


@pytest.mark.parametrize("case", DENSE, ids=str)
def test_dense_regions_cumulative_is_the_integral(case):
    device, _, kappa, *_ = case
    node, weight = np.polynomial.legendre.leggauss(12)
    ends = np.concatenate(([0.0], np.geomspace(0.02, 9.0, 12)))
    half, scale = 0.5 * np.diff(ends), device.activation.scale
    x = kappa + scale * ((ends[:-1] + half)[:, None] + half[:, None] * node)
    pieces = scale * half * (dense(density, case, x) @ weight)
    found = dense(cumulative, case, kappa + scale * ends[1:])
    assert found == pytest.approx(np.cumsum(pieces), abs=1e-8)
    assert found[-1] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("case", DENSE, ids=str)
def test_dense_regions_lose_entropy_at_the_margin(case):
    """At fixed overlap, as typical solutions do: d phi / d kappa = -alpha P(kappa)."""
    device, alpha, kappa, overlap, replicas = case
    above, step = dense(density, case, math.nextafter(kappa, math.inf)), 2e-3
    values = [
        large_deviation.solve(
            device, alpha, overlap, replicas=replicas, constraint=Margin(kappa + k * step)
        ).entropy
        for k in (-2, -1, 1, 2)
    ]
    slope = (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / (12.0 * step)
    assert slope == pytest.approx(-alpha * above, rel=1e-7)


def test_one_replica_is_typical_and_many_are_further_from_the_margin():
    where = np.array([1e-6, 0.3, 1.0, 4.0])
    typical_ones = density(PERCEPTRON, 0.4, where)

    def of_several(replicas):
        return density(PERCEPTRON, 0.4, where, overlap=0.85, replicas=replicas)

    assert of_several(1) == pytest.approx(typical_ones, rel=1e-9)
    many = of_several(20)
    assert many[0] < 0.5 * typical_ones[0]
    assert many[1] > many[0]  # the mode has left the margin
    most = density(PERCEPTRON, 0.4, where, overlap=0.85)
    assert most == pytest.approx(of_several(1e4), rel=5e-3)


def test_wrong_replicas():
    with pytest.raises(ValueError, match="replicas need an overlap"):
        density(PERCEPTRON, 0.4, 0.5, replicas=3)
    with pytest.raises(ValueError, match="overlap must be finite and >= 1e-09 and < 1"):
        density(PERCEPTRON, 0.4, 0.5, overlap=1.0)
    with pytest.raises(NotConverged, match="infinite"):
        density(PERCEPTRON, 0.0, 0.5, overlap=0.5)
