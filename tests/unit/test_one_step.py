"""One step of symmetry breaking against literal free entropies, limits and brute force."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy import integrate, optimize, special

from wfmlib.solvers import NotConverged
from wfmlib.theory import (
    Activation,
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    typical,
)
from wfmlib.theory.broken_symmetry import Broken
from wfmlib.theory.one_step_capacity import limit

ERF = Activation(special.erf)
TANH = Activation(np.tanh)
UNITS = (Perceptron(), Sign(), ReLU(), ERF, TANH)


@lru_cache
def solve(alpha, weights, unit, margin=0.0):
    return typical.solve_1rsb(alpha, weights, unit, margin)


# ------------------------------------------------------------------------------------------------
# The free entropy as printed, with nothing of the package in it
# ------------------------------------------------------------------------------------------------

# Trapezoids err by exp(-2 pi a / STEP), a the distance of the next singularity from the real line:
# zeros of H, 2.2 or further from it in the argument of H, so a is above 0.5 here.
STEP = 0.05
X = np.arange(-9.0, 9.0 + STEP / 2, STEP)
DX = STEP * np.exp(-0.5 * X**2) / math.sqrt(2.0 * math.pi)


def delta(unit, q):
    """Delta(q), P2 appendix B1, and Delta for erf and tanh units."""
    if isinstance(unit, Perceptron):
        return q
    if isinstance(unit, Sign):
        return 1.0 - 2.0 / math.pi * math.acos(q)
    if isinstance(unit, ReLU):
        if q == 1.0:
            return 0.5
        angle = math.atan(math.sqrt((1.0 + q) / (1.0 - q)))
        return math.sqrt(1.0 - q * q) / (2.0 * math.pi) + q / math.pi * angle
    if unit is ERF:
        return 2.0 / math.pi * math.asin(2.0 * q / 3.0)
    inner = np.tanh(q * X[:, None] + math.sqrt(1.0 - q * q) * X[None, :]) @ DX
    return DX @ (np.tanh(X) * inner)


def energetic(unit, q0, q1, m, kappa=0.0):
    """P2, equation B6, with a margin."""
    rest, zero, one, two = (delta(unit, q) for q in (0.0, q0, q1, 1.0))
    field = math.sqrt(zero - rest) * X[:, None] + math.sqrt(one - zero) * X[None, :]
    f = special.log_ndtr((field - kappa) / math.sqrt(two - one))
    return DX @ np.log(np.exp(m * f) @ DX) / m


def spherical(alpha, unit, kappa, q0, q1, m, q0_hat, q1_hat, diagonal):
    """P2, equations B4 and B6, with all conjugates."""
    total = diagonal + q1_hat
    outer = total - m * (q1_hat - q0_hat)
    entropic = math.log(2.0 * math.pi / total) + math.log(total / outer) / m + q0_hat / outer
    products = diagonal + q1_hat * q1 + m * (q0 * q0_hat - q1 * q1_hat)
    return 0.5 * (products + entropic) + alpha * energetic(unit, q0, q1, m, kappa)


def binary(alpha, unit, kappa, q0, q1, m, q0_hat, q1_hat):
    """P2, equations B5 and B6."""
    field = math.sqrt(q0_hat) * X[:, None] + math.sqrt(q1_hat - q0_hat) * X[None, :]
    entropic = DX @ np.log((2.0 * np.cosh(field)) ** m @ DX) / m
    products = -q1_hat * (1.0 - q1) + m * (q0 * q0_hat - q1 * q1_hat)
    return 0.5 * products + entropic + alpha * energetic(unit, q0, q1, m, kappa)


def derivative(f, x, step):
    """Five-point formula: error of order step^4."""
    return (8.0 * (f(x + step) - f(x - step)) - f(x + 2 * step) + f(x - 2 * step)) / (12.0 * step)


def partials(f, order, steps):
    def along(i):
        return lambda x: f(*order[:i], x, *order[i + 1 :])

    return [derivative(along(i), order[i], steps[i]) for i in range(len(order))]


@pytest.mark.parametrize(
    ("alpha", "unit", "kappa"),
    [
        (2.0, ReLU(), 0.0),
        (3.5, Sign(), 0.0),
        (66.0, Perceptron(), -2.0),
        (1.85, ERF, 0.0),
        (1.87, TANH, 0.0),
        (162.8, Sign(), -2.0),
    ],
)
def test_spherical_free_entropy_is_stationary_at_the_solution(alpha, unit, kappa):
    point = solve(alpha, Spherical(), unit, kappa)
    assert not point.replica_symmetric
    q0, q1, m = point.q0, point.q1, point.m
    diagonal = 1.0 / (1.0 - q1) - point.q1_hat
    order = (q0, q1, m, point.q0_hat, point.q1_hat, diagonal)

    def entropy(*order):
        return spherical(alpha, unit, kappa, *order)

    assert point.entropy == pytest.approx(entropy(*order), rel=1e-11)
    q_step = 0.003 * min(q1 - q0, 1.0 - q1)
    slopes = partials(entropy, order, (q_step, q_step, 1e-3, 1e-2, 1e-2, 1e-2))
    if m == 1.0:  # before the transition: the complexity is not zero there
        assert point.complexity == pytest.approx(-slopes.pop(2), rel=1e-6)
        assert point.complexity > 0.0
    # the formula's own error, and the rounding of an entropy over the step
    assert slopes == pytest.approx([0.0] * len(slopes), abs=3e-8)


@pytest.mark.parametrize(("alpha", "kappa"), [(0.0512, 2.2), (0.0168, 4.0)])
def test_binary_free_entropy_is_stationary_at_the_solution(alpha, kappa):
    point = solve(alpha, Binary(), ReLU(), kappa)
    order = (point.q0, point.q1, point.m, point.q0_hat, point.q1_hat)
    assert point.q0 < point.q1 < 1.0

    def entropy(*order):
        return binary(alpha, ReLU(), kappa, *order)

    assert point.entropy == pytest.approx(entropy(*order), rel=1e-10)
    q_step = 0.01 * (point.q1 - point.q0)
    hat_step = 0.01 * (point.q1_hat - point.q0_hat)
    slopes = partials(entropy, order, (q_step, q_step, 1e-3, hat_step, hat_step))
    assert slopes == pytest.approx([0.0] * 5, abs=3e-8)


def test_energetic_term_by_adaptive_quadrature():
    """The trapezoids and the panels, once against nested `quad`."""
    broken = Broken(20.0, 2.0, 0.4, Spherical(), ReLU(), Margin(0.3))
    q0, complement, difference = broken.overlaps[:3]
    q1 = q0 + difference
    rest, zero, one, two = (delta(ReLU(), q) for q in (0.0, q0, 1.0 - complement, 1.0))

    def gaussian(f):
        def weighted(x):
            return f(x) * math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)

        return integrate.quad(weighted, -9.0, 9.0, epsabs=1e-12, epsrel=1e-11, limit=200)[0]

    def within(x):
        def weight(y):
            field = math.sqrt(zero - rest) * x + math.sqrt(one - zero) * y
            return special.ndtr((field - 0.3) / math.sqrt(two - one)) ** 0.4

        return math.log(gaussian(weight)) / 0.4

    assert broken.pattern.term == pytest.approx(gaussian(within), rel=1e-10)
    assert broken.pattern.term == pytest.approx(energetic(ReLU(), q0, q1, 0.4, 0.3), rel=1e-11)


@pytest.mark.parametrize("weights", [Spherical(), Binary()])
@pytest.mark.parametrize(("split", "m"), [(0.05, 0.7), (3.0, 0.3), (8.0, 0.9)])
def test_complexity_is_the_slope_in_m(weights, split, m):
    """Of the literal free entropy, at fixed overlaps and conjugates, away from any solution."""
    broken = Broken(1.5, split, m, weights, Sign(), Margin(-0.2))
    q0, complement, difference, split_hat = broken.overlaps[:4]
    conjugates = (1.5, 1.5 + split_hat)
    function = binary
    if weights == Spherical():
        function, conjugates = spherical, (*conjugates, 1.0 / complement - 1.5 - split_hat)

    def entropy(m):
        return function(0.8, Sign(), -0.2, q0, q0 + difference, m, *conjugates)

    assert broken.entropy(0.8) == pytest.approx(entropy(m), rel=1e-11)
    slope = -(m**2) * derivative(entropy, m, 1e-3)
    assert broken.complexity(0.8) == pytest.approx(slope, rel=1e-7, abs=1e-10)


# ------------------------------------------------------------------------------------------------
# Limits
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [Spherical(), Binary()])
@pytest.mark.parametrize("unit", UNITS)
def test_groups_of_one_replica_are_replica_symmetric(weights, unit):
    """At m = 1 nothing depends on q1, and q0 is the replica-symmetric overlap."""
    point = typical.solve(0.8, weights, unit, Margin(0.1))
    for split in (0.01, 1.0, 20.0):
        broken = Broken(point.q_hat, split, 1.0, weights, unit, Margin(0.1))
        assert broken.overlaps.q0 == pytest.approx(point.q, rel=1e-12)
        assert broken.load_between == pytest.approx(0.8, rel=1e-11)
        assert broken.entropy(0.8) == pytest.approx(point.entropy, rel=1e-11)


@pytest.mark.parametrize("weights", [Spherical(), Binary()])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("m", [0.2, 0.9])
def test_equal_overlaps_are_replica_symmetric(weights, unit, m):
    """Without a split: the same q; and a split appears by itself where the replicon is 1."""
    point = typical.solve(0.8, weights, unit, Margin(0.1))
    broken = Broken(point.q_hat, 1e-5, m, weights, unit, Margin(0.1))
    assert broken.overlaps.q0 == pytest.approx(point.q, rel=1e-4)
    assert broken.load_between == pytest.approx(0.8, rel=1e-4)
    assert broken.load_within == pytest.approx(0.8 / point.replicon, rel=1e-4)
    assert broken.entropy(0.8) == pytest.approx(point.entropy, rel=1e-4)
    assert broken.complexity(0.8) == pytest.approx(0.0, abs=1e-9)  # second order, times replicon-1


@pytest.mark.parametrize(
    ("unit", "margin", "loads"),
    [
        (Perceptron(), 0.0, (0.0, 1.0, 1.99)),
        (Perceptron(), 0.7, (0.3, 0.75)),
        (Perceptron(), -0.5, (3.9,)),
        (Sign(), 0.0, (1.0, 2.9)),
        (ReLU(), 0.0, (0.4, 0.7, 1.2, 1.7)),
        (TANH, 0.0, (1.7,)),
        (Sign(), -2.0, (150.0, 162.5)),
    ],
)
def test_replica_symmetric_below_the_transition(unit, margin, loads):
    for alpha in loads:
        point = solve(alpha, Spherical(), unit, margin)
        symmetric = typical.solve(alpha, Spherical(), unit, Margin(margin))
        assert point.replica_symmetric
        assert not point.frozen
        assert point.q0 == point.q1 == pytest.approx(symmetric.q, rel=1e-13)
        assert (point.m, point.complexity) == (1.0, 0.0)
        assert point.entropy == pytest.approx(symmetric.entropy, rel=1e-13)


def test_every_split_closes_between_0_615_and_the_instability():
    """ReLU: P2 prints 0.615 for the load at which RS becomes unstable."""
    for alpha in (0.62, 1.0, 1.5, 1.72):
        for m in (0.1, 0.5, 1.0):
            q0_hat, split = typical.solve(alpha, Spherical(), ReLU()).q_hat, 30.0
            for _ in range(12):  # the plain iteration, from far apart
                broken = Broken(q0_hat, split, m, Spherical(), ReLU(), Margin(0.0))
                q0_hat *= alpha / broken.load_between
                assert broken.load_within > alpha
                split *= alpha / broken.load_within


@pytest.mark.parametrize(
    ("weights", "unit", "margin"),
    [
        (Spherical(), ReLU(), 0.0),
        (Spherical(), Sign(), 0.0),
        (Spherical(), Perceptron(), -0.5),
        (Binary(), ReLU(), 2.2),
    ],
)
def test_groups_appear_where_replica_symmetry_becomes_unstable(weights, unit, margin):
    onset = typical.instability(weights, unit, margin)
    loads = onset * (1.0 + np.array([0.0005, 0.001, 0.0015]))
    points = [solve(alpha, weights, unit, margin) for alpha in loads.tolist()]
    gaps = np.array([point.q1 - point.q0 for point in points])
    parabola = np.polynomial.Polynomial.fit(gaps, loads, 2)
    assert np.all(gaps > 0.0)
    assert parabola(0.0) == pytest.approx(onset, rel=1e-7)
    assert all(0.0 < point.m < 1.0 for point in points)


def test_replicon_from_the_curvature_of_the_literal_free_entropy():
    """Along q1 up, q0 down with the sum over replicas fixed, at equal overlaps."""
    m = 0.5

    def curvature(alpha):
        q = typical.solve(alpha, Spherical(), ReLU()).q

        def entropy(step):
            inner, outer = 1.0 - q - step * m, 1.0 - q - step * m + step * m
            q0, q1 = q - step * (1.0 - m), q + step * m
            outer = inner + m * (q1 - q0)
            entropic = math.log(inner) + math.log(outer / inner) / m + q0 / outer
            return 0.5 * entropic + alpha * energetic(ReLU(), q0, q1, m)

        # one-sided, as q1 > q0; the slope at 0 vanishes, the cubic term drops out
        first, second, third = (entropy(k * 1e-2) - symmetric(q, alpha) for k in (1, 2, 3))
        return 9.0 * first - 4.5 * second + third

    def symmetric(q, alpha):
        shared, spread = delta(ReLU(), q) - delta(ReLU(), 0.0), 0.5 - delta(ReLU(), q)
        pattern = DX @ special.log_ndtr(math.sqrt(shared / spread) * X)
        return 0.5 * (math.log(1.0 - q) + q / (1.0 - q)) + alpha * pattern

    found = optimize.brentq(curvature, 1.6, 1.85, xtol=1e-5)
    assert found == pytest.approx(typical.instability(Spherical(), ReLU()), rel=1e-3)
