"""Typical solutions against literal free entropies, closed forms, the literature and bounds."""

from __future__ import annotations

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from wfmlib.gaussian import hazard, log_H
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
from wfmlib.theory.replica_symmetric import Stationary, last_load

WEIGHTS = (Binary(), Spherical())
UNITS = (Perceptron(), Sign(), ReLU())
AXES = [(weights, unit) for weights in WEIGHTS for unit in UNITS]

# ------------------------------------------------------------------------------------------------
# The free entropy as printed, with nothing of the package in it
# ------------------------------------------------------------------------------------------------


def effective(unit, q):
    """Delta(q) - Delta_{-1} and Delta_2 - Delta(q) of P2, appendix B1."""
    if isinstance(unit, Perceptron):
        return q, 1.0 - q
    if isinstance(unit, Sign):
        delta = 1.0 - 2.0 / math.pi * math.acos(q)
        return delta, 1.0 - delta
    angle = math.atan(math.sqrt((1.0 + q) / (1.0 - q)))
    delta = math.sqrt(1.0 - q * q) / (2.0 * math.pi) + q / math.pi * angle
    return delta - 1.0 / (2.0 * math.pi), 0.5 - delta


def quad(f):
    density = 1.0 / math.sqrt(2.0 * math.pi)
    return integrate.quad(
        lambda x: f(x) * density * math.exp(-0.5 * x * x),
        -11.0,
        11.0,
        points=(-4.0, -1.0, 1.0, 4.0),
        epsabs=1e-14,
        epsrel=1e-13,
        limit=200,
    )[0]


def energetic(unit, q, kappa):
    shared, spread = (math.sqrt(part) for part in effective(unit, q))
    return quad(lambda x: special.log_ndtr(-(kappa - shared * x) / spread))


def binary_entropy(q, q_hat, alpha, unit, kappa):
    """P3, equations A9-A10."""
    entropic = quad(lambda x: np.logaddexp(math.sqrt(q_hat) * x, -math.sqrt(q_hat) * x))
    return -0.5 * q_hat * (1.0 - q) + entropic + alpha * energetic(unit, q, kappa)


def spherical_entropy(q, q_hat, diagonal, alpha, unit, kappa):
    """P2, equations B1 and B3, with both conjugates."""
    total = diagonal + q_hat
    entropic = diagonal + q * q_hat + math.log(2.0 * math.pi / total) + q_hat / total
    return 0.5 * entropic + alpha * energetic(unit, q, kappa)


def derivative(f, x, step):
    """Five-point formula: error of order step^4."""
    return (8.0 * (f(x + step) - f(x - step)) - f(x + 2 * step) + f(x - 2 * step)) / (12.0 * step)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("alpha", "kappa"), [(0.7, 0.0), (0.3, 0.4), (1.5, -0.5)])
def test_binary_free_entropy_is_stationary_at_the_solution(unit, alpha, kappa):
    point = typical.solve(alpha, Binary(), unit, Margin(kappa))
    q, q_hat = point.q, point.q_hat
    assert point.entropy == pytest.approx(
        binary_entropy(q, q_hat, alpha, unit, kappa), rel=1e-12, abs=1e-12
    )
    by_q = derivative(lambda q: binary_entropy(q, q_hat, alpha, unit, kappa), q, 1e-3)
    by_q_hat = derivative(lambda y: binary_entropy(q, y, alpha, unit, kappa), q_hat, 1e-3)
    # the formula's own error: 1e-12 times a fifth derivative, and 1e-13 / 1e-3 of rounding
    assert (by_q, by_q_hat) == pytest.approx((0.0, 0.0), abs=2e-9)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("alpha", "kappa"), [(0.7, 0.0), (0.3, 0.4), (1.5, -0.5)])
def test_spherical_free_entropy_is_stationary_at_the_solution(unit, alpha, kappa):
    point = typical.solve(alpha, Spherical(), unit, Margin(kappa))
    q, q_hat = point.q, point.q_hat
    diagonal = 1.0 / (1.0 - q) - q_hat
    order = (q, q_hat, diagonal)
    assert point.entropy == pytest.approx(
        spherical_entropy(*order, alpha, unit, kappa), rel=1e-12, abs=1e-12
    )
    for i in range(3):

        def along(x, i=i):
            moved = (*order[:i], x, *order[i + 1 :])
            return spherical_entropy(*moved, alpha, unit, kappa)

        assert derivative(along, order[i], 1e-3) == pytest.approx(0.0, abs=2e-9)


@pytest.mark.parametrize(("weights", "unit"), AXES)
def test_replicon_from_its_literal_formula(weights, unit):
    """c', c'' and the curvature of f by differences of the printed c and of ln H."""
    alpha, kappa = 0.4, 0.2
    point = typical.solve(alpha, weights, unit, Margin(kappa))
    q = point.q
    scale2 = sum(effective(unit, q))

    def c(q):
        return effective(unit, q)[0] / scale2

    step = 1e-3
    slope = derivative(c, q, step)
    curvature = derivative(lambda x: derivative(c, x, step), q, step)
    kappa /= math.sqrt(scale2)
    variance = 1.0 - c(q)

    def f(omega):
        return special.log_ndtr((omega - kappa) / math.sqrt(variance))

    def force(x):
        return derivative(f, math.sqrt(c(q)) * x, step) ** 2

    def stiffness(x):
        at = math.sqrt(c(q)) * x
        second = (f(at + step) - 2.0 * f(at) + f(at - step)) / step**2
        return second**2

    x = np.arange(-9.0, 9.0, 0.05)
    density = 0.05 * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    response = slope**2 * density @ stiffness(x) + curvature * density @ force(x)
    fluctuation = (1.0 - q) ** 2
    if weights == Binary():
        fluctuation = density @ np.cosh(math.sqrt(point.q_hat) * x) ** -4.0
    # the second difference of f: step^2 / 12 times its fourth derivative, a few of its size
    assert point.replicon == pytest.approx(alpha * fluctuation * response, rel=3e-6)


# ------------------------------------------------------------------------------------------------
# The binary perceptron, once more in mpmath
# ------------------------------------------------------------------------------------------------

PANELS = (-10, -6, -3, -1, 1, 3, 6, 10)


def average(f):
    integrand = lambda x: f(x) * mp.npdf(x)  # noqa: E731
    return mp.quad(integrand, PANELS, method="gauss-legendre", maxdegree=4)


def mp_tail(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def mp_load(q_hat, kappa=0):
    """q and the load at q_hat, from the saddle point written out."""
    q = average(lambda x: mp.tanh(mp.sqrt(q_hat) * x) ** 2)

    def force(x):
        u = (kappa - mp.sqrt(q) * x) / mp.sqrt(1 - q)
        return (mp.npdf(u) / mp_tail(u)) ** 2 / (1 - q)

    return q, q_hat / average(force)


def mp_entropy(q, q_hat, alpha, kappa=0):
    entropic = average(lambda x: mp.log(2 * mp.cosh(mp.sqrt(q_hat) * x)))
    root, width = mp.sqrt(q), mp.sqrt(1 - q)
    pattern = average(lambda x: mp.log(mp_tail((kappa - root * x) / width)))
    return -q_hat * (1 - q) / 2 + entropic + alpha * pattern


def test_capacity_of_the_binary_perceptron():
    def entropy(q_hat):
        q, alpha = mp_load(q_hat)
        return mp_entropy(q, q_hat, alpha)

    with mp.workdps(20):
        q_hat = mp.findroot(entropy, (2.57, 2.58), tol=1e-14)
        _, alpha = mp_load(q_hat)
    found = typical.capacity(Binary(), Perceptron())
    assert found == pytest.approx(float(alpha), rel=1e-13)
    assert f"{found:.10f}" == "0.8330785997"


def test_half_filled_binary_perceptron():
    with mp.workdps(18):
        q_hat = mp.findroot(lambda x: mp_load(x)[1] - mp.mpf(0.5), (0.66, 0.67), tol=1e-13)
        q, alpha = mp_load(q_hat)
        entropy = mp_entropy(q, q_hat, alpha)
    point = typical.solve(0.5)
    assert point.q_hat == pytest.approx(float(q_hat), rel=1e-12)
    assert point.q == pytest.approx(float(q), rel=1e-12)
    assert point.entropy == pytest.approx(float(entropy), rel=1e-12)


# ------------------------------------------------------------------------------------------------
# Numbers of the papers and of the literature
# ------------------------------------------------------------------------------------------------


def test_committee_capacities():
    """P2: 0.9469(5) and 0.9039(9), the digit in brackets being the last one computed."""
    assert typical.capacity(Binary(), Sign()) == pytest.approx(0.94695, abs=5e-6)
    assert typical.capacity(Binary(), ReLU()) == pytest.approx(0.90399, abs=5e-6)


def test_spherical_capacities():
    assert typical.capacity(Spherical(), Perceptron()) == pytest.approx(2.0, rel=1e-14)
    expected = 2.0 / (1.0 - 1.0 / math.pi)
    assert typical.capacity(Spherical(), ReLU()) == pytest.approx(expected, rel=1e-14)
    assert typical.capacity(Spherical(), Sign()) == math.inf


def test_gardner_capacity_with_a_margin():
    kappas = np.array([-2.0, -1.0, -0.2, 0.0, 0.5, 2.0, 10.0])
    found = typical.capacity(Spherical(), Perceptron(), kappas)
    for kappa, alpha in zip(kappas, found, strict=True):
        with mp.workdps(20):
            gardner = mp.quad(lambda t, k=kappa: (t + k) ** 2 * mp.npdf(t), [-kappa, 5, mp.inf])
        assert alpha == pytest.approx(float(1 / gardner), rel=1e-13)


def test_largest_margin_at_half_load():
    """P3: kappa_max = 0.418 at alpha = 0.5."""
    assert typical.max_margin(0.5) == pytest.approx(0.418, abs=5e-4)


def test_loads_where_replica_symmetry_ends():
    """Binary perceptron 1.015 (Krauth and Mezard 1989); sign committee 2.988 (P2)."""
    assert typical.instability(Binary(), Perceptron()) == pytest.approx(1.015, abs=5e-4)
    assert typical.instability(Spherical(), Sign()) == pytest.approx(2.988, abs=5e-4)


def test_replica_symmetry_holds_up_to_the_binary_capacity():
    for unit in UNITS:
        assert typical.instability(Binary(), unit) > typical.capacity(Binary(), unit)
    kappas = np.linspace(-1.0, 3.0, 9)
    stable_to = typical.instability(Binary(), Perceptron(), kappas)
    assert np.all(stable_to > typical.capacity(Binary(), Perceptron(), kappas))
    # not so for ReLU units at large margins, as `capacity` says
    assert typical.instability(Binary(), ReLU(), 2.2) < typical.capacity(Binary(), ReLU(), 2.2)


def test_the_spherical_perceptron_is_stable_exactly_for_margins_from_zero():
    assert typical.instability(Spherical(), Perceptron(), [0.0, 0.5]).tolist() == [math.inf] * 2
    assert typical.instability(Spherical(), Perceptron(), -0.2) < typical.capacity(
        Spherical(), Perceptron(), -0.2
    )


# ------------------------------------------------------------------------------------------------
# Relations between what comes out
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weights", "unit"), AXES)
@pytest.mark.parametrize("kappa", [-0.6, 0.0, 0.5])
def test_entropy_falls_with_the_margin_by_the_density_of_stabilities(weights, unit, kappa):
    alpha = 0.3
    slope = derivative(
        lambda k: typical.solve(alpha, weights, unit, Margin(k)).entropy, kappa, 1e-3
    )
    density = typical.solve(alpha, weights, unit, Margin(kappa)).margin_density
    assert slope == pytest.approx(-alpha * density, rel=1e-9)


@pytest.mark.parametrize(("weights", "unit"), AXES)
def test_entropy_falls_with_the_load_by_the_cost_of_a_pattern(weights, unit):
    alpha, kappa = 0.3, 0.2
    margin = Margin(kappa)
    slope = derivative(lambda a: typical.solve(a, weights, unit, margin).entropy, alpha, 1e-3)
    q = typical.solve(alpha, weights, unit, margin).q
    assert slope == pytest.approx(energetic(unit, q, kappa), rel=1e-9)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("alpha", [0.01, 0.5, 0.83, 2.0])
def test_largest_margin_is_where_the_binary_entropy_vanishes(unit, alpha):
    kappa = typical.max_margin(alpha, Binary(), unit)
    assert typical.capacity(Binary(), unit, kappa) == pytest.approx(alpha, rel=1e-12)
    point = typical.solve(alpha, Binary(), unit, Margin(kappa))
    assert point.entropy == pytest.approx(0.0, abs=1e-12)
    assert typical.last_margin(alpha, Binary(), unit) > kappa


@pytest.mark.parametrize("unit", [Perceptron(), ReLU()])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 5.0])
def test_largest_spherical_margin_is_the_last_one(unit, alpha):
    kappa = typical.max_margin(alpha, Spherical(), unit)
    assert kappa == typical.last_margin(alpha, Spherical(), unit)
    assert typical.capacity(Spherical(), unit, kappa) == pytest.approx(alpha, rel=1e-12)


@pytest.mark.parametrize(("weights", "unit"), AXES)
def test_at_the_instability_the_replicon_is_one(weights, unit):
    kappa = -0.3
    alpha = typical.instability(weights, unit, kappa)
    assert typical.solve(alpha, weights, unit, Margin(kappa)).replicon == pytest.approx(1.0)
    assert typical.solve(0.9 * alpha, weights, unit, Margin(kappa)).replicon < 1.0


@pytest.mark.parametrize(("weights", "unit"), AXES)
def test_small_loads_leave_patterns_independent(weights, unit):
    """q = alpha c'(0) h^2 and entropy = free + alpha ln H, up to order alpha^2."""
    alpha, kappa = 1e-7, 0.3
    point = typical.solve(alpha, weights, unit, Margin(kappa))
    k = kappa / unit.scale
    overlap = alpha * unit.effective_overlap(0.0).slope * hazard(k) ** 2
    assert point.q == pytest.approx(overlap, rel=1e-5)
    assert point.entropy - weights.entropy == pytest.approx(alpha * log_H(k), rel=1e-5)
    assert point.margin_density == pytest.approx(hazard(k) / unit.scale, rel=1e-5)


@pytest.mark.parametrize(("weights", "unit"), AXES)
@pytest.mark.parametrize("alpha", [0, 0.0, 1e-300])
def test_no_load(weights, unit, alpha):
    point = typical.solve(alpha, weights, unit)
    assert (point.q, point.q_hat) == pytest.approx((0.0, 0.0), abs=1e-299)
    assert point.distance == 0.5
    assert point.entropy == pytest.approx(weights.entropy, rel=1e-15)
    assert point.report.converged
    if alpha == 0:
        assert typical.max_margin(alpha, weights, unit) == math.inf
        assert typical.last_margin(alpha, weights, unit) == math.inf


def test_any_activation_may_take_the_place_of_one_with_a_closed_form():
    for g, unit in ((np.sign, Sign()), (lambda x: np.maximum(x, 0.0), ReLU())):
        same = Activation(g)
        for weights in WEIGHTS:
            ours = typical.solve(0.6, weights, same, Margin(0.1))
            theirs = typical.solve(0.6, weights, unit, Margin(0.1))
            for name in ("q", "q_hat", "entropy", "replicon", "margin_density"):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-10)
            assert typical.capacity(weights, same, 0.1) == pytest.approx(
                typical.capacity(weights, unit, 0.1), rel=1e-10
            )
    identity = Activation(lambda x: 3.0 * x)  # a perceptron in another unit
    assert typical.capacity(Binary(), identity, 1.5) == pytest.approx(
        typical.capacity(Binary(), Perceptron(), 0.5), rel=1e-12
    )


# ------------------------------------------------------------------------------------------------
# Bounds and monotonicity
# ------------------------------------------------------------------------------------------------

axes = st.sampled_from(AXES)
fractions = st.floats(0.001, 0.98)  # of the last load
margins = st.floats(-2.0, 3.0)  # in units of the scale


def load(fraction, weights, unit, kappa):
    last = last_load(weights, unit, Margin(kappa))
    return fraction * min(last, 1e3)


@settings(max_examples=60, deadline=None)
@given(axes, fractions, margins)
def test_the_average_number_of_solutions_bounds_the_typical_one(pair, fraction, kappa):
    weights, unit = pair
    kappa *= unit.scale
    alpha = load(fraction, weights, unit, kappa)
    point = typical.solve(alpha, weights, unit, Margin(kappa))
    annealed = weights.entropy + alpha * log_H(kappa / unit.scale)
    assert point.entropy <= annealed + 1e-12 * (1.0 + alpha)
    assert 0.0 <= point.q < 1.0
    assert point.distance == pytest.approx(0.5 * (1.0 - point.q), rel=1e-9)
    assert point.replicon > 0.0
    assert point.margin_density > 0.0
    assert point.report.residual < 1e-12


@settings(max_examples=40, deadline=None)
@given(axes, fractions, margins, st.floats(0.01, 0.5), st.sampled_from(["load", "margin"]))
def test_more_patterns_or_more_margin_leave_fewer_and_closer_solutions(
    pair, fraction, kappa, more, which
):
    weights, unit = pair
    kappa *= unit.scale
    alpha = load(fraction, weights, unit, kappa)
    point = typical.solve(alpha, weights, unit, Margin(kappa))
    harder = (alpha * (1.0 + more), kappa) if which == "load" else (alpha, kappa + more)
    assume(harder[0] < 0.999 * last_load(weights, unit, Margin(harder[1])))
    other = typical.solve(harder[0], weights, unit, Margin(harder[1]))
    assert other.entropy < point.entropy
    assert other.distance < point.distance


@settings(max_examples=40, deadline=None)
@given(axes, st.floats(-20.0, 33.0), st.floats(-2.0, 10.0))
def test_the_load_increases_with_q_hat(pair, exponent, kappa):
    """So there is one saddle point at most, as `solve` says, for margins from -2 scales."""
    margin = Margin(kappa * pair[1].scale)
    near, far = (
        Stationary(math.exp(exponent + shift), *pair, margin).alpha for shift in (0.0, 0.1)
    )
    assert near < far < last_load(*pair, margin)


# ------------------------------------------------------------------------------------------------
# Where there is no saddle point
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [Perceptron(), ReLU()])
def test_the_last_margin_is_the_last(unit):
    alpha = 0.4
    last = typical.last_margin(alpha, Binary(), unit)
    point = typical.solve(alpha, Binary(), unit, Margin(last - 1e-3))
    assert point.entropy < 0.0
    with pytest.raises(NotConverged, match="past the last margin with a saddle point") as failure:
        typical.solve(alpha, Binary(), unit, Margin(last + 1e-9))
    assert failure.value.residual > 0.0
    assert not failure.value.report.converged


@pytest.mark.parametrize("unit", [Perceptron(), ReLU()])
def test_above_the_spherical_capacity(unit):
    capacity = typical.capacity(Spherical(), unit, 0.3)
    typical.solve(0.999 * capacity, Spherical(), unit, Margin(0.3))
    with pytest.raises(NotConverged, match="above capacity: alpha must be below"):
        typical.solve(capacity, Spherical(), unit, Margin(0.3))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_overlaps_too_close_to_one_are_not_guessed(weights):
    with pytest.raises(NotConverged, match="too close to 1 to be resolved"):
        typical.solve(1e15, weights, Sign())
    with pytest.raises(NotConverged):
        typical.solve(1e300, weights, Perceptron())


def test_the_sign_committee_has_a_saddle_point_at_any_margin():
    assert typical.last_margin(0.5, Binary(), Sign()) == math.inf
    assert typical.solve(0.5, Binary(), Sign(), Margin(30.0)).entropy < 0.0


# ------------------------------------------------------------------------------------------------
# Arrays
# ------------------------------------------------------------------------------------------------


def test_a_curve_is_what_solve_gives_point_by_point():
    margins = np.array([0.0, 0.3, 0.6, 0.9])
    curve = typical.curve(0.5, margins)
    assert curve.converged.tolist() == [True, True, True, False]
    assert np.isnan(curve.entropy[3])
    for i in range(3):
        point = typical.solve(0.5, constraint=Margin(margins[i]))
        for name in ("q", "q_hat", "distance", "entropy", "replicon", "margin_density"):
            assert getattr(curve, name)[i] == getattr(point, name)
    assert curve.alpha.tolist() == [0.5] * 4
    assert curve.margin.tolist() == margins.tolist()


def test_curves_broadcast():
    curve = typical.curve(np.array([[0.2], [0.4]]), [0.0, 0.1, 9.0], Spherical(), ReLU())
    assert curve.entropy.shape == curve.converged.shape == (2, 3)
    assert curve.converged[:, 2].tolist() == [False, False]
    single = typical.curve(0.3, 0.1)
    assert single.q.shape == ()
    assert float(single.q) == typical.solve(0.3, constraint=Margin(0.1)).q


def test_thresholds_take_arrays_and_keep_their_shape():
    margins = np.array([[0.0, 0.5]])
    for function in (typical.capacity, typical.instability):
        found = function(Binary(), Perceptron(), margins)
        assert found.shape == (1, 2)
        assert found[0, 1] == function(Binary(), Perceptron(), 0.5)
        assert isinstance(function(Binary(), Perceptron(), np.float64(0.5)), float)
    for function in (typical.max_margin, typical.last_margin):
        found = function([0.2, 0.4])
        assert found.shape == (2,)
        assert found[0] == function(0.2) > found[1]
        assert isinstance(function(0.2), float)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize(
    "question", [typical.solve, typical.curve, typical.max_margin, typical.last_margin]
)
def test_loads_out_of_range(question, alpha):
    with pytest.raises(ValueError, match="alpha must be finite and >= 0, got"):
        question(alpha)


@pytest.mark.parametrize("alpha", ["0.5", None, 1j, True])
@pytest.mark.parametrize(
    "question", [typical.solve, typical.curve, typical.max_margin, typical.last_margin]
)
def test_loads_that_are_no_numbers(question, alpha):
    with pytest.raises(TypeError, match="alpha must be a real number"):
        question(alpha)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_loads_whose_margin_is_out_of_range(weights):
    for question in (typical.max_margin, typical.last_margin):
        with pytest.raises(ValueError, match=r"alpha, if not 0, must be .* >= 1e-07"):
            question(1e-9, weights)
        with pytest.raises(ValueError, match="alpha must be so small that the margin"):
            question(1e3, weights, ReLU())
        assert question(25.0, weights, ReLU()) < 0.0
        assert question(1e-7, weights, ReLU()) > 0.0


@pytest.mark.parametrize("margin", [math.nan, math.inf, -2.1, 1e5])
@pytest.mark.parametrize("question", [typical.capacity, typical.instability])
def test_margins_out_of_range(question, margin):
    with pytest.raises(ValueError, match="margin"):
        question(Binary(), Perceptron(), margin)


@pytest.mark.parametrize("margin", ["0", None, False])
def test_margins_that_are_no_numbers(margin):
    with pytest.raises(TypeError, match="margin must be a real number"):
        typical.capacity(Binary(), Perceptron(), margin)
    with pytest.raises(TypeError, match="kappa must be a real number"):
        Margin(margin)
    with pytest.raises(TypeError, match="margin must be a real number"):
        typical.curve(0.5, margin)


def test_arrays_that_are_no_arrays_of_numbers():
    ragged = [[0.1], [0.2, 0.3]]
    for question in (typical.curve, typical.max_margin, typical.last_margin):
        with pytest.raises(ValueError, match="alpha must be a rectangular array"):
            question(ragged)
        with pytest.raises(TypeError, match="alpha must hold real numbers, got dtype complex128"):
            question([0.1, 1j])
    for question in (typical.capacity, typical.instability):
        with pytest.raises(ValueError, match="margin must be a rectangular array"):
            question(Binary(), Perceptron(), ragged)
    with pytest.raises(ValueError, match=r"alpha and margin must .* got \(2,\) and \(3,\)"):
        typical.curve([0.1, 0.2], [0.0, 0.1, 0.2])


def test_a_margin_above_the_range():
    steep = Activation(lambda x: np.clip(x, -1e-3, 1e-3))  # c'(1) = 800
    with pytest.raises(ValueError, match="alpha must be so large that the margin is below 10000"):
        typical.last_margin(1e-6, Spherical(), steep)


@pytest.mark.parametrize("kappa", [math.nan, -math.inf])
def test_margins_are_finite(kappa):
    with pytest.raises(ValueError, match="kappa must be finite"):
        Margin(kappa)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"weights": Binary},
            r"weights must be Binary\(...\) or Spherical\(...\).*call the class",
        ),
        ({"weights": "binary"}, "weights must be"),
        ({"activation": ReLU}, "activation must be .*call the class"),
        ({"activation": np.tanh}, "activation must be"),
        ({"constraint": 0.5}, r"constraint must be Margin\(...\) or CrossEntropy\(...\), got 0.5"),
        ({"constraint": Margin}, "constraint must be .*call the class"),
    ],
)
def test_axes_must_be_axes(change, message):
    with pytest.raises(TypeError, match=message):
        typical.solve(0.5, **change)
    if "constraint" not in change:
        chosen = {"weights": Binary(), "activation": Perceptron()} | change
        for question in (typical.capacity, typical.instability):
            with pytest.raises(TypeError, match=message):
                question(**chosen)
        for question in (typical.max_margin, typical.last_margin, typical.curve):
            with pytest.raises(TypeError, match=message):
                question(0.5, **chosen)


def test_a_solution_reads_well_and_is_frozen():
    point = typical.solve(0.5)
    assert repr(point).splitlines()[0] == (
        "SaddlePoint(alpha=0.5, Binary(), Perceptron(), Margin(kappa=0.0))"
    )
    assert "nats per weight" in repr(point)
    assert "(RS stable)" in repr(point)
    assert "(RS unstable)" in repr(typical.solve(1.1))
    assert point == typical.solve(0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.q = 0.0
    assert hash(point) == hash(typical.solve(0.5))


# ------------------------------------------------------------------------------------------------
# The constraint
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", [1.0, 0.3, 1e-4])
def test_derivatives_of_the_constraint(variance):
    margin = Margin(0.4)
    step = 1e-3 * math.sqrt(variance)
    omega = 0.4 + math.sqrt(variance) * np.linspace(-5.0, 5.0, 21)
    slope = derivative(lambda w: margin.log_weight(w, variance), omega, step)
    np.testing.assert_allclose(margin.slope(omega, variance), slope, rtol=1e-8)
    curvature = derivative(lambda w: margin.slope(w, variance), omega, step)
    np.testing.assert_allclose(margin.curvature(omega, variance), curvature, rtol=1e-7)


@pytest.mark.parametrize("kappa", [-2.0, 0.0, 1.3])
def test_shortfall_is_the_limit_of_the_force(kappa):
    """``variance^2 E f'^2`` for variance -> 0, with a correction of order variance."""
    margin = Margin(kappa)
    q_hat = Spherical().collapse / 1e-5**2
    force = Stationary(q_hat, Spherical(), Perceptron(), margin).force
    assert 1e-5**2 * force == pytest.approx(margin.shortfall(), rel=1e-4)
    closed = (1.0 + kappa**2) * special.ndtr(kappa) + kappa * math.exp(
        -0.5 * kappa**2
    ) / math.sqrt(2.0 * math.pi)
    assert margin.shortfall() == pytest.approx(closed, rel=1e-13)
