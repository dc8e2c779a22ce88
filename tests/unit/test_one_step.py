"""One step of symmetry breaking against literal free entropies, limits and brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, optimize, special

from wfmlib import Activation, Binary, Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.models.activations import Linear
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical
from wfmlib.theory.saddles.broken_symmetry import Broken
from wfmlib.theory.saddles.one_step_capacity import limit
from wfmlib.theory.saddles.one_step_search import Search

SPHERE, SIGN, RELU = Perceptron(Spherical()), TreeCommittee(np.inf), TreeCommittee(np.inf, ReLU())
ERF, TANH = (TreeCommittee(np.inf, Activation(g)) for g in (special.erf, np.tanh))
SPHERICAL = [SPHERE, SIGN, RELU, ERF, TANH]
BINARY = [replace(device, weights=Binary()) for device in SPHERICAL]
BINARY_RELU = BINARY[2]


@lru_cache
def solve(device, alpha, margin=0.0):
    return typical.solve_1rsb(device, alpha, Margin(margin))


# ------------------------------------------------------------------------------------------------
# The free entropy as printed, with nothing of the package in it
# ------------------------------------------------------------------------------------------------

# Trapezoids err by exp(-2 pi a / STEP), a the distance of the next singularity from the real line:
# zeros of H, 2.2 or further from it in the argument of H, and of cosh, pi / 2 from it. a is above
# 0.5 here. The range includes the shift of a Gaussian by the weight of a group.
STEP = 0.08
X = np.arange(-13.0, 13.0 + STEP / 2, STEP)
DX = STEP * np.exp(-0.5 * X**2) / math.sqrt(2.0 * math.pi)


def delta(unit, q):
    """Delta(q), P2 appendix B1, and Delta for erf and tanh units."""
    if unit == Linear():
        return q
    if unit == Sign():
        return 1.0 - 2.0 / math.pi * math.acos(q)
    if unit == ReLU():
        if q == 1.0:
            return 0.5
        angle = math.atan(math.sqrt((1.0 + q) / (1.0 - q)))
        return math.sqrt(1.0 - q * q) / (2.0 * math.pi) + q / math.pi * angle
    if unit == ERF.activation:
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
    """P2, equations B4 and B6, with all conjugates; less the sphere's ln(2 pi e) / 2."""
    total = diagonal + q1_hat
    outer = total - m * (q1_hat - q0_hat)
    entropic = -math.log(total) - 1.0 + math.log(total / outer) / m + q0_hat / outer
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
    ("alpha", "device", "kappa"),
    [
        (2.0, RELU, 0.0),
        (3.5, SIGN, 0.0),
        (66.0, SPHERE, -2.0),
        (1.85, ERF, 0.0),
        (1.87, TANH, 0.0),
        (162.8, SIGN, -2.0),
    ],
)
def test_spherical_free_entropy_is_stationary_at_the_solution(alpha, device, kappa):
    point = solve(device, alpha, kappa)
    assert not point.replica_symmetric
    q0, q1, m = point.q0, point.q1, point.m
    diagonal = 1.0 / (1.0 - q1) - point.q1_hat
    order = (q0, q1, m, point.q0_hat, point.q1_hat, diagonal)

    def entropy(*order):
        return spherical(alpha, device.activation, kappa, *order)

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
    point = solve(BINARY_RELU, alpha, kappa)
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


@pytest.mark.parametrize("device", SPHERICAL + BINARY)
def test_groups_of_one_replica_are_replica_symmetric(device):
    """At m = 1 nothing depends on q1, and q0 is the replica-symmetric overlap."""
    point = typical.solve(device, 0.8, Margin(0.1))
    for split in (0.01, 1.0, 20.0):
        broken = Broken(point.q_hat, split, 1.0, device.weights, device.activation, Margin(0.1))
        assert broken.overlaps.q0 == pytest.approx(point.q, rel=1e-12)
        assert broken.load_between == pytest.approx(0.8, rel=1e-11)
        assert broken.entropy(0.8) == pytest.approx(point.entropy, rel=1e-11)


@pytest.mark.parametrize("device", SPHERICAL + BINARY)
@pytest.mark.parametrize("m", [0.2, 0.9])
def test_equal_overlaps_are_replica_symmetric(device, m):
    """Without a split: the same q; and a split appears by itself where the replicon is 1."""
    point = typical.solve(device, 0.8, Margin(0.1))
    broken = Broken(point.q_hat, 1e-5, m, device.weights, device.activation, Margin(0.1))
    assert broken.overlaps.q0 == pytest.approx(point.q, rel=1e-4)
    assert broken.load_between == pytest.approx(0.8, rel=1e-4)
    assert broken.load_within == pytest.approx(0.8 / point.replicon, rel=1e-4)
    assert broken.entropy(0.8) == pytest.approx(point.entropy, rel=1e-4)
    assert broken.complexity(0.8) == pytest.approx(0.0, abs=1e-9)  # second order, times replicon-1


@pytest.mark.parametrize(
    ("device", "margin", "loads"),
    [
        (SPHERE, 0.0, (0.0, 1.0, 1.99)),
        (SPHERE, 0.7, (0.3, 0.73)),
        (SPHERE, -0.5, (3.9,)),
        (SIGN, 0.0, (1.0, 2.9)),
        (RELU, 0.0, (0.4, 0.7, 1.2, 1.7)),
        (TANH, 0.0, (1.7,)),
        (SIGN, -2.0, (150.0, 162.5)),
    ],
)
def test_replica_symmetric_below_the_transition(device, margin, loads):
    for alpha in loads:
        point = solve(device, alpha, margin)
        symmetric = typical.solve(device, alpha, Margin(margin))
        assert point.replica_symmetric
        assert not point.frozen
        assert point.q0 == point.q1 == pytest.approx(symmetric.q, rel=1e-13)
        assert (point.m, point.complexity) == (1.0, 0.0)
        assert point.entropy == pytest.approx(symmetric.entropy, rel=1e-13)


def test_every_split_closes_between_0_615_and_the_instability():
    """ReLU: P2 prints 0.615 for the load at which RS becomes unstable."""
    for alpha in (0.62, 1.0, 1.5, 1.72):
        for m in (0.1, 0.5, 1.0):
            q0_hat, split = typical.solve(RELU, alpha).q_hat, 30.0
            for _ in range(12):  # the plain iteration, from far apart
                broken = Broken(q0_hat, split, m, Spherical(), ReLU(), Margin(0.0))
                q0_hat *= alpha / broken.load_between
                assert broken.load_within > alpha
                split *= alpha / broken.load_within


@pytest.mark.parametrize(
    ("device", "margin"),
    [
        (RELU, 0.0),
        (SIGN, 0.0),
        (SPHERE, -0.5),
        (BINARY_RELU, 2.2),
    ],
)
def test_groups_appear_where_replica_symmetry_becomes_unstable(device, margin):
    onset = typical.instability(device, constraint=Margin(margin))
    loads = onset * (1.0 + np.array([0.0005, 0.001, 0.0015]))
    points = [solve(device, alpha, margin) for alpha in loads.tolist()]
    gaps = np.array([point.q1 - point.q0 for point in points])
    parabola = np.polynomial.Polynomial.fit(gaps, loads, 2)
    assert np.all(gaps > 0.0)
    assert parabola(0.0) == pytest.approx(onset, rel=1e-7)
    assert all(0.0 < point.m < 1.0 for point in points)


def test_replicon_from_the_curvature_of_the_literal_free_entropy():
    """Where replicas with equal overlaps become unstable, with nothing of the package in it.

    In the direction ``q1 = q + m s, q0 = q - (1 - m) s``, along which no replica's overlaps change
    on average.
    """
    m, step = 0.5, 4e-3

    def entropy(alpha, q, s):
        q0, q1 = q - (1.0 - m) * s, q + m * s
        outer = 1.0 - q1 + m * s
        entropic = math.log(1.0 - q1) + math.log(outer / (1.0 - q1)) / m + q0 / outer
        return 0.5 * entropic + alpha * energetic(ReLU(), q0, q1, m)

    def curvature(alpha):
        q = typical.solve(RELU, alpha).q
        values = np.array([entropy(alpha, q, k * step) for k in range(4)])
        # the slope is zero, and the orders s^3 and s^4 drop out
        return (values[1:] - values[0]) @ (27.0, -6.75, 1.0) / (4.5 * step**2)

    found = optimize.brentq(curvature, 1.6, 1.85, xtol=1e-8)
    assert found == pytest.approx(typical.instability(RELU), rel=1e-6)
    assert f"{found:.4f}" == "1.7212"


# ------------------------------------------------------------------------------------------------
# The solution itself
# ------------------------------------------------------------------------------------------------


def test_free_entropy_is_smallest_in_m():
    """With the overlaps solved for at every m."""
    point = solve(RELU, 2.0)

    def at(m):
        def residuals(x):
            broken = Broken(*np.exp(x), m, Spherical(), ReLU(), Margin(0.0))
            return np.log([broken.load_between / 2.0, broken.load_within / 2.0])

        start = math.log(point.q0_hat), math.log((point.q1 - point.q0) / (1.0 - point.q1))
        state = optimize.root(residuals, start, tol=1e-11).x
        return Broken(*np.exp(state), m, Spherical(), ReLU(), Margin(0.0)).entropy(2.0)

    assert at(point.m) == pytest.approx(point.entropy, rel=1e-12)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert at(factor * point.m) > point.entropy


def test_symmetry_breaking_lowers_the_entropy():
    for device, alpha, margin in (
        (RELU, 2.0, 0.0),
        (SIGN, 3.5, 0.0),
        (SIGN, 165.0, -2.0),
        (BINARY_RELU, 0.0512, 2.2),
    ):
        point = solve(device, alpha, margin)
        symmetric = typical.solve(device, alpha, Margin(margin))
        assert point.entropy < symmetric.entropy
        assert point.q0 < symmetric.q < point.q1
        assert 0.0 < point.m < 1.0
        assert point.complexity == 0.0


def test_entropy_falls_with_the_load_by_the_cost_of_a_pattern():
    slope = derivative(lambda a: solve(RELU, a).entropy, 2.0, 0.01)
    point = solve(RELU, 2.0)
    assert slope == pytest.approx(energetic(ReLU(), point.q0, point.q1, point.m), rel=1e-7)


def test_sign_units_at_margin_minus_two_break_discontinuously():
    """Groups appear while replica symmetry is stable, at m = 1 and far from one another."""
    before, after = (
        solve(SIGN, 162.8, -2.0),
        solve(SIGN, 165.0, -2.0),
    )
    for point in (before, after):
        symmetric = typical.solve(SIGN, point.alpha, Margin(-2.0))
        assert symmetric.replicon < 1.0
        assert point.q1 - point.q0 > 0.4
    assert before.m == 1.0
    symmetric = typical.solve(SIGN, 162.8, Margin(-2.0))
    assert before.entropy == pytest.approx(symmetric.entropy, rel=1e-12)
    assert before.q0 == pytest.approx(symmetric.q, rel=1e-12)
    assert 0.0 < before.complexity < 0.01
    assert 0.95 < after.m < 1.0


@pytest.mark.parametrize("device", BINARY[:3])
def test_binary_weights_freeze(device):
    for alpha in (0.01, 0.5, 0.83):
        point = solve(device, alpha)
        symmetric = typical.solve(device, alpha)
        assert point.frozen
        assert not point.replica_symmetric
        assert (point.q1, point.m, point.q1_hat) == (1.0, 1.0, math.inf)
        assert point.q0 == pytest.approx(symmetric.q, rel=1e-12)
        assert point.entropy == point.complexity == pytest.approx(symmetric.entropy, rel=1e-11)
    for alpha in (1.01 * typical.capacity(device), 30.0):
        with pytest.raises(NotConverged, match="above capacity, or no saddle point found"):
            solve(device, alpha)


def test_without_patterns():
    for device in (BINARY_RELU, RELU):
        point = solve(device, 0.0)
        assert point.replica_symmetric
        assert point.q0 == 0.0
        assert point.entropy == pytest.approx(device.weights.entropy, rel=1e-15)


def test_any_activation_may_take_the_place_of_one_with_a_closed_form():
    ours = solve(TreeCommittee(np.inf, Activation(lambda x: np.maximum(x, 0.0))), 2.0)
    theirs = solve(RELU, 2.0)
    for name in ("q0", "q1", "m", "entropy"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9)


# ------------------------------------------------------------------------------------------------
# Capacity
# ------------------------------------------------------------------------------------------------


def literal_capacity(unit, kappa=0.0):
    """P2, equations B7-B8, with the sign of f and a margin, minimised by brute force."""
    rest, two = delta(unit, 0.0), delta(unit, 1.0)
    slopes = {Linear(): 1.0, ReLU(): 0.5, ERF.activation: 4.0 / (math.pi * math.sqrt(5.0))}
    variation = slopes[unit]  # Delta'(1), what the paper calls the variation of Delta

    def log_load(x):
        q0, ratio = special.expit(x[0]), math.exp(x[1])
        shared, spread = delta(unit, q0) - rest, two - delta(unit, q0)
        total = variation + spread * ratio

        def log_weight(z):
            short = kappa - math.sqrt(shared) * z
            first = math.sqrt(variation / total) * math.exp(-0.5 * ratio * short**2 / total)
            tail = special.ndtr(short * math.sqrt(variation / (spread * total)))
            return math.log(first * tail + special.ndtr(-short / math.sqrt(spread)))

        f = integrate.quad(
            lambda z: log_weight(z) * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi),
            -9.0,
            9.0,
            epsabs=1e-13,
            epsrel=1e-12,
            limit=200,
        )[0]
        stretch = 1.0 + ratio * (1.0 - q0)
        return math.log((math.log(stretch) + ratio * q0 / stretch) / (-2.0 * f))

    best = optimize.minimize(
        log_load, (1.0, 2.5), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-13}
    )
    return math.exp(best.fun), special.expit(best.x[0]), math.exp(best.x[1])


@pytest.mark.parametrize(
    ("device", "kappa", "digits"),
    [
        (RELU, 0.0, "2.66428006"),
        (RELU, 0.5, "0.86481935"),
        (SPHERE, -0.5, "4.70013949"),
        (ERF, 0.0, "2.37499919"),
    ],
)
def test_capacity_by_brute_force(device, kappa, digits):
    found = typical.capacity(device, constraint=Margin(kappa), ansatz="1RSB")
    alpha, q0, ratio = literal_capacity(device.activation, kappa)
    assert found == pytest.approx(alpha, rel=1e-10)
    assert found < typical.capacity(device, constraint=Margin(kappa))
    at = limit(device.activation, Margin(kappa))
    assert at.alpha == found
    # the minimum is flat: places to the root of the accuracy of the value
    assert (at.q0, at.ratio) == pytest.approx((q0, ratio), rel=1e-4)
    assert f"{found:.8f}" == digits


def test_solutions_tend_to_the_capacity():
    """The second way: q1 -> 1 and m -> 0 come out where the limit says."""
    end = limit(ReLU(), Margin(0.0))
    errors = []
    for shortfall in (3e-2, 1e-3):
        point = solve(RELU, end.alpha * (1.0 - shortfall))
        ratio = point.m / (1.0 - point.q1)
        errors.append((1.0 - point.q1, abs(point.q0 - end.q0), abs(ratio / end.ratio - 1.0)))
    assert np.all(np.array(errors[1]) < 0.25 * np.array(errors[0]))
    assert errors[1] == pytest.approx((0.0, 0.0, 0.0), abs=0.1)
    with pytest.raises(NotConverged, match=r"above capacity: alpha must be below 2\.664280057"):
        solve(RELU, end.alpha * (1.0 + 1e-9))


def test_capacity_where_nothing_breaks():
    margins = [Margin(0.0), Margin(0.3), Margin(2.0)]
    broken = typical.capacity(SPHERE, constraint=margins, ansatz="1RSB")
    assert broken == pytest.approx(typical.capacity(SPHERE, constraint=margins), rel=1e-14)
    for device in BINARY:
        frozen = typical.capacity(device, constraint=Margin(0.3), ansatz="1RSB")
        assert frozen == typical.capacity(device, constraint=Margin(0.3))


def test_capacity_of_binary_relu_units_at_a_large_margin():
    """Replica symmetry is unstable below it: groups cost entropy."""
    symmetric = typical.capacity(BINARY_RELU, constraint=Margin(3.0))
    broken = typical.capacity(BINARY_RELU, constraint=Margin(3.0), ansatz="1RSB")
    assert typical.instability(BINARY_RELU, constraint=Margin(3.0)) < broken < symmetric
    assert solve(BINARY_RELU, broken * (1.0 - 1e-7), 3.0).entropy == pytest.approx(0.0, abs=1e-6)


def test_sign_units_have_no_finite_capacity():
    """1 - c1 is of order sqrt(1 - q1): at a load, whatever it is, q1 stays below 1."""
    assert typical.capacity(SIGN, ansatz="1RSB") == math.inf
    before, after = solve(SIGN, 3.5), solve(SIGN, 8.0)
    assert 0.0 < after.m < 0.1 < before.m
    assert before.q1 < after.q1
    assert after.q1_hat < math.inf


def test_what_cannot_be_resolved_is_not_returned():
    """Just above the transition of a spherical perceptron at a margin just below zero."""
    with pytest.raises(NotConverged, match="q0, q1 and 1 are too close to be resolved"):
        solve(SPHERE, 2.00957744, -0.003)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        ({"alpha": -0.1}, ValueError, "alpha must be finite and >= 0, got -0.1"),
        ({"alpha": "1"}, TypeError, "alpha must be a real number, got '1'"),
        ({"constraint": 0.5}, TypeError, r"constraint must be Margin\(...\), got 0.5"),
        ({"constraint": Margin(-3.0)}, ValueError, r"margin / activation\.scale must be"),
        ({"device": Perceptron}, TypeError, "device must be a device.* call the class"),
        ({"device": TreeCommittee(3)}, ValueError, "device must be a Perceptron or have infin"),
    ],
)
def test_what_is_wrong_is_named(chosen, error, message):
    given = {"device": SPHERE, "alpha": 1.0, "constraint": Margin(0.0)}
    with pytest.raises(error, match=message):
        typical.solve_1rsb(**(given | chosen))


def test_groups_too_narrow_to_be_told_apart_do_not_grow(monkeypatch):
    axes = Spherical(), Sign(), Margin(0.0)
    search = Search(0.5, typical.solve(SIGN, 0.5).q_hat, axes)
    monkeypatch.setattr(search, "_at", lambda *_: SimpleNamespace(load_within=math.inf))
    assert search.groups() is None


def test_a_saddle_point_is_judged_by_its_residual(monkeypatch):
    residuals = Search.residuals
    monkeypatch.setattr(Search, "residuals", lambda *given: residuals(*given) + 1e-7)
    monkeypatch.setattr(Search, "groups", lambda self: self._at(self.q_hat, 0.1, 1.0))
    with pytest.raises(NotConverged, match=r"too close to be resolved|above capacity"):
        typical.solve_1rsb(RELU, 0.5)


def test_an_ansatz_must_be_one_of_four_or_a_number_of_steps():
    with pytest.raises(
        ValueError, match="ansatz must be one of 'RS', '1RSB', '2RSB', 'full', got '3RSB'"
    ):
        typical.capacity(RELU, ansatz="3RSB")


def test_a_solution_reads_well_and_reports():
    point = solve(RELU, 2.0)
    assert str(point) == (
        "OneStep(TreeCommittee(units=inf, activation=ReLU(), weights=Spherical()), alpha=2, "
        "constraint=Margin(kappa=0.0))\n"
        "  symmetry    groups of solutions\n"
        "  q0          0.7074539885\n"
        "  q1          0.8628761774\n"
        "  m           0.3206534852\n"
        "  entropy     -1.927901207 nats per weight\n"
        "  complexity  0 nats per weight"
    )
    assert "frozen" in str(solve(BINARY_RELU, 0.5))
    assert "replica symmetric" in str(solve(RELU, 0.4))
    assert point.report.converged
    assert point.report.residual < 1e-12
    assert 30 < point.report.iterations < 300
    with pytest.raises(AttributeError):
        point.q0 = 0.0
