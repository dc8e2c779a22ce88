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

from wfmlib import (
    Activation,
    Binary,
    Committee,
    CrossEntropy,
    Margin,
    ParityMachine,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
)
from wfmlib.models.activations import Linear
from wfmlib.numerics.gaussian import hazard, log_H
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical
from wfmlib.theory.saddles.replica_symmetric import Stationary, last_load

WEIGHTS = (Binary(), Spherical())
BINARY = [Perceptron(), *(TreeCommittee(np.inf, unit, Binary()) for unit in (Sign(), ReLU()))]
SPHERICAL = [Perceptron(Spherical()), *(TreeCommittee(np.inf, unit) for unit in (Sign(), ReLU()))]
DEVICES = BINARY + SPHERICAL

# ------------------------------------------------------------------------------------------------
# The free entropy as printed, with nothing of the package in it
# ------------------------------------------------------------------------------------------------


def effective(unit, q):
    """Delta(q) - Delta_{-1} and Delta_2 - Delta(q) of P2, appendix B1."""
    if unit == Linear():
        return q, 1.0 - q
    if unit == Sign():
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
    """P2, equations B1 and B3, with both conjugates; less the sphere's ln(2 pi e) / 2."""
    total = diagonal + q_hat
    entropic = diagonal + q * q_hat - math.log(total) - 1.0 + q_hat / total
    return 0.5 * entropic + alpha * energetic(unit, q, kappa)


def derivative(f, x, step):
    """Five-point formula: error of order step^4."""
    return (8.0 * (f(x + step) - f(x - step)) - f(x + 2 * step) + f(x - 2 * step)) / (12.0 * step)


@pytest.mark.parametrize("device", BINARY)
@pytest.mark.parametrize(("alpha", "kappa"), [(0.7, 0.0), (0.3, 0.4), (1.5, -0.5)])
def test_binary_free_entropy_is_stationary_at_the_solution(device, alpha, kappa):
    point = typical.solve(device, alpha, Margin(kappa))
    q, q_hat = point.q, point.q_hat
    assert point.entropy == pytest.approx(
        binary_entropy(q, q_hat, alpha, device.activation, kappa), rel=1e-12, abs=1e-12
    )
    by_q = derivative(lambda q: binary_entropy(q, q_hat, alpha, device.activation, kappa), q, 1e-3)
    by_q_hat = derivative(
        lambda y: binary_entropy(q, y, alpha, device.activation, kappa), q_hat, 1e-3
    )
    # the formula's own error: 1e-12 times a fifth derivative, and 1e-13 / 1e-3 of rounding
    assert (by_q, by_q_hat) == pytest.approx((0.0, 0.0), abs=2e-9)


@pytest.mark.parametrize("device", SPHERICAL)
@pytest.mark.parametrize(("alpha", "kappa"), [(0.7, 0.0), (0.3, 0.4), (1.5, -0.5)])
def test_spherical_free_entropy_is_stationary_at_the_solution(device, alpha, kappa):
    point = typical.solve(device, alpha, Margin(kappa))
    q, q_hat = point.q, point.q_hat
    diagonal = 1.0 / (1.0 - q) - q_hat
    order = (q, q_hat, diagonal)
    assert point.entropy == pytest.approx(
        spherical_entropy(*order, alpha, device.activation, kappa), rel=1e-12, abs=1e-12
    )
    for i in range(3):

        def along(x, i=i):
            moved = (*order[:i], x, *order[i + 1 :])
            return spherical_entropy(*moved, alpha, device.activation, kappa)

        assert derivative(along, order[i], 1e-3) == pytest.approx(0.0, abs=2e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_replicon_from_its_literal_formula(device):
    """c', c'' and the curvature of f by differences of the printed c and of ln H."""
    alpha, kappa = 0.4, 0.2
    point = typical.solve(device, alpha, Margin(kappa))
    q = point.q
    scale2 = sum(effective(device.activation, q))

    def c(q):
        return effective(device.activation, q)[0] / scale2

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
    if device.weights == Binary():
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
    found = typical.capacity(Perceptron())
    assert found == pytest.approx(float(alpha), rel=1e-13)
    assert f"{found:.10f}" == "0.8330785997"


def test_half_filled_binary_perceptron():
    with mp.workdps(18):
        q_hat = mp.findroot(lambda x: mp_load(x)[1] - mp.mpf(0.5), (0.66, 0.67), tol=1e-13)
        q, alpha = mp_load(q_hat)
        entropy = mp_entropy(q, q_hat, alpha)
    point = typical.solve(Perceptron(), 0.5)
    assert point.q_hat == pytest.approx(float(q_hat), rel=1e-12)
    assert point.q == pytest.approx(float(q), rel=1e-12)
    assert point.entropy == pytest.approx(float(entropy), rel=1e-12)


# ------------------------------------------------------------------------------------------------
# Numbers of the papers and of the literature
# ------------------------------------------------------------------------------------------------


def test_committee_capacities():
    """P2: 0.9469(5) and 0.9039(9), the digit in brackets being the last one computed."""
    assert typical.capacity(TreeCommittee(np.inf, Sign(), Binary())) == pytest.approx(
        0.94695, abs=5e-6
    )
    assert typical.capacity(TreeCommittee(np.inf, ReLU(), Binary())) == pytest.approx(
        0.90399, abs=5e-6
    )


def test_spherical_capacities():
    assert typical.capacity(Perceptron(Spherical())) == pytest.approx(2.0, rel=1e-14)
    expected = 2.0 / (1.0 - 1.0 / math.pi)
    assert typical.capacity(TreeCommittee(np.inf, ReLU())) == pytest.approx(expected, rel=1e-14)
    assert typical.capacity(TreeCommittee(np.inf)) == math.inf


def test_gardner_capacity_with_a_margin():
    kappas = np.array([-2.0, -1.0, -0.2, 0.0, 0.5, 2.0, 10.0])
    found = typical.capacity(Perceptron(Spherical()), constraint=[Margin(k) for k in kappas])
    for kappa, alpha in zip(kappas, found, strict=True):
        with mp.workdps(20):
            gardner = mp.quad(lambda t, k=kappa: (t + k) ** 2 * mp.npdf(t), [-kappa, 5, mp.inf])
        assert alpha == pytest.approx(float(1 / gardner), rel=1e-13)


def test_largest_margin_at_half_load():
    """P3: kappa_max = 0.418 at alpha = 0.5."""
    assert typical.max_margin(Perceptron(), 0.5) == pytest.approx(0.418, abs=5e-4)


def test_loads_where_replica_symmetry_ends():
    """Binary perceptron 1.015 (Krauth and Mezard 1989); sign committee 2.988 (P2)."""
    assert typical.instability(Perceptron()) == pytest.approx(1.015, abs=5e-4)
    assert typical.instability(TreeCommittee(np.inf)) == pytest.approx(2.988, abs=5e-4)


def test_replica_symmetry_holds_up_to_the_binary_capacity():
    for device in BINARY:
        assert typical.instability(device) > typical.capacity(device)
    margins = [Margin(k) for k in np.linspace(-1.0, 3.0, 9)]
    stable_to = typical.instability(Perceptron(), constraint=margins)
    assert np.all(stable_to > typical.capacity(Perceptron(), constraint=margins))
    # not so for ReLU units at large margins, as `capacity` says
    relu, large = TreeCommittee(np.inf, ReLU(), Binary()), Margin(2.2)
    assert typical.instability(relu, constraint=large) < typical.capacity(relu, constraint=large)


def test_the_spherical_perceptron_is_stable_exactly_for_margins_from_zero():
    device, negative = Perceptron(Spherical()), Margin(-0.2)
    for kappa in (0.0, 0.5):
        assert typical.instability(device, constraint=Margin(kappa)) == math.inf
    assert typical.instability(device, constraint=negative) < typical.capacity(
        device, constraint=negative
    )


# ------------------------------------------------------------------------------------------------
# Relations between what comes out
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kappa", [-0.6, 0.0, 0.5])
def test_entropy_falls_with_the_margin_by_the_density_of_stabilities(device, kappa):
    alpha = 0.3
    slope = derivative(lambda k: typical.solve(device, alpha, Margin(k)).entropy, kappa, 1e-3)
    density = typical.solve(device, alpha, Margin(kappa)).margin_density
    assert slope == pytest.approx(-alpha * density, rel=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_entropy_falls_with_the_load_by_the_cost_of_a_pattern(device):
    alpha, kappa = 0.3, 0.2
    margin = Margin(kappa)
    slope = derivative(lambda a: typical.solve(device, a, margin).entropy, alpha, 1e-3)
    q = typical.solve(device, alpha, margin).q
    assert slope == pytest.approx(energetic(device.activation, q, kappa), rel=1e-9)


@pytest.mark.parametrize("device", BINARY)
@pytest.mark.parametrize("alpha", [0.01, 0.5, 0.83, 2.0])
def test_largest_margin_is_where_the_binary_entropy_vanishes(device, alpha):
    kappa = typical.max_margin(device, alpha)
    assert typical.capacity(device, constraint=Margin(kappa)) == pytest.approx(alpha, rel=1e-12)
    point = typical.solve(device, alpha, Margin(kappa))
    assert point.entropy == pytest.approx(0.0, abs=1e-12)
    assert typical.last_margin(device, alpha) > kappa


@pytest.mark.parametrize("device", SPHERICAL[::2])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 5.0])
def test_largest_spherical_margin_is_the_last_one(device, alpha):
    kappa = typical.max_margin(device, alpha)
    assert kappa == typical.last_margin(device, alpha)
    assert typical.capacity(device, constraint=Margin(kappa)) == pytest.approx(alpha, rel=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_at_the_instability_the_replicon_is_one(device):
    kappa = -0.3
    alpha = typical.instability(device, constraint=Margin(kappa))
    assert typical.solve(device, alpha, Margin(kappa)).replicon == pytest.approx(1.0)
    assert typical.solve(device, 0.9 * alpha, Margin(kappa)).replicon < 1.0


@pytest.mark.parametrize("device", DEVICES)
def test_small_loads_leave_patterns_independent(device):
    """q = alpha c'(0) h^2 and entropy = free + alpha ln H, up to order alpha^2."""
    alpha, kappa = 1e-7, 0.3
    point = typical.solve(device, alpha, Margin(kappa))
    k = kappa / device.activation.scale
    overlap = alpha * device.activation.effective_overlap(0.0).slope * hazard(k) ** 2
    assert point.q == pytest.approx(overlap, rel=1e-5)
    assert point.entropy - device.weights.entropy == pytest.approx(alpha * log_H(k), rel=1e-5)
    assert point.margin_density == pytest.approx(hazard(k) / device.activation.scale, rel=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("alpha", [0, 0.0, 1e-300])
def test_no_load(device, alpha):
    point = typical.solve(device, alpha)
    assert (point.q, point.q_hat) == pytest.approx((0.0, 0.0), abs=1e-299)
    assert point.distance == 0.5
    assert point.entropy == pytest.approx(device.weights.entropy, rel=1e-15)
    assert point.report.converged
    if alpha == 0:
        assert typical.max_margin(device, alpha) == math.inf
        assert typical.last_margin(device, alpha) == math.inf


def test_any_activation_may_take_the_place_of_one_with_a_closed_form():
    for g, unit in ((np.sign, Sign()), (lambda x: np.maximum(x, 0.0), ReLU())):
        for weights in WEIGHTS:
            same = TreeCommittee(np.inf, Activation(g), weights)
            closed = TreeCommittee(np.inf, unit, weights)
            ours = typical.solve(same, 0.6, Margin(0.1))
            theirs = typical.solve(closed, 0.6, Margin(0.1))
            for name in ("q", "q_hat", "entropy", "replicon", "margin_density"):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-10)
            assert typical.capacity(same, constraint=Margin(0.1)) == pytest.approx(
                typical.capacity(closed, constraint=Margin(0.1)), rel=1e-10
            )
    # a perceptron in another unit
    identity = TreeCommittee(np.inf, Activation(lambda x: 3.0 * x), Binary())
    assert typical.capacity(identity, constraint=Margin(1.5)) == pytest.approx(
        typical.capacity(Perceptron(), constraint=Margin(0.5)), rel=1e-12
    )


# ------------------------------------------------------------------------------------------------
# Bounds and monotonicity
# ------------------------------------------------------------------------------------------------

devices = st.sampled_from(DEVICES)
fractions = st.floats(0.001, 0.98)  # of the last load
margins = st.floats(-2.0, 3.0)  # in units of the scale


def last(device, kappa):
    return last_load(device.weights, device.activation, Margin(kappa))


def load(fraction, device, kappa):
    return fraction * min(last(device, kappa), 1e3)


@settings(max_examples=60, deadline=None)
@given(devices, fractions, margins)
def test_the_average_number_of_solutions_bounds_the_typical_one(device, fraction, kappa):
    kappa *= device.activation.scale
    alpha = load(fraction, device, kappa)
    point = typical.solve(device, alpha, Margin(kappa))
    annealed = device.weights.entropy + alpha * log_H(kappa / device.activation.scale)
    assert point.entropy <= annealed + 1e-12 * (1.0 + alpha)
    assert 0.0 <= point.q < 1.0
    assert point.distance == pytest.approx(0.5 * (1.0 - point.q), rel=1e-9)
    assert point.replicon > 0.0
    assert point.margin_density > 0.0
    assert point.report.residual < 1e-12


@settings(max_examples=40, deadline=None)
@given(devices, fractions, margins, st.floats(0.01, 0.5), st.sampled_from(["load", "margin"]))
def test_more_patterns_or_more_margin_leave_fewer_and_closer_solutions(
    device, fraction, kappa, more, which
):
    kappa *= device.activation.scale
    alpha = load(fraction, device, kappa)
    point = typical.solve(device, alpha, Margin(kappa))
    harder = (alpha * (1.0 + more), kappa) if which == "load" else (alpha, kappa + more)
    assume(harder[0] < 0.999 * last(device, harder[1]))
    other = typical.solve(device, harder[0], Margin(harder[1]))
    assert other.entropy < point.entropy
    assert other.distance < point.distance


@settings(max_examples=40, deadline=None)
@given(devices, st.floats(-20.0, 33.0), st.floats(-2.0, 10.0))
def test_the_load_increases_with_q_hat(device, exponent, kappa):
    """So there is one saddle point at most, as `solve` says, for margins from -2 scales."""
    axes = device.weights, device.activation, Margin(kappa * device.activation.scale)
    near, far = (Stationary(math.exp(exponent + shift), *axes).alpha for shift in (0.0, 0.1))
    assert near < far < last_load(*axes)


# ------------------------------------------------------------------------------------------------
# Where there is no saddle point
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", BINARY[::2])
def test_the_last_margin_is_the_last(device):
    alpha = 0.4
    last = typical.last_margin(device, alpha)
    point = typical.solve(device, alpha, Margin(last - 1e-3))
    assert point.entropy < 0.0
    with pytest.raises(NotConverged, match="past the last margin with a saddle point") as failure:
        typical.solve(device, alpha, Margin(last + 1e-9))
    assert failure.value.residual > 0.0
    assert not failure.value.report.converged


@pytest.mark.parametrize("device", SPHERICAL[::2])
def test_above_the_spherical_capacity(device):
    capacity = typical.capacity(device, constraint=Margin(0.3))
    typical.solve(device, 0.999 * capacity, Margin(0.3))
    with pytest.raises(NotConverged, match="above capacity: alpha must be below"):
        typical.solve(device, capacity, Margin(0.3))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_overlaps_too_close_to_one_are_not_guessed(weights):
    with pytest.raises(NotConverged, match="too close to 1 to be resolved"):
        typical.solve(TreeCommittee(np.inf, Sign(), weights), 1e15)
    with pytest.raises(NotConverged):
        typical.solve(Perceptron(weights), 1e300)


def test_the_sign_committee_has_a_saddle_point_at_any_margin():
    assert typical.last_margin(TreeCommittee(np.inf, Sign(), Binary()), 0.5) == math.inf
    assert typical.solve(TreeCommittee(np.inf, Sign(), Binary()), 0.5, Margin(30.0)).entropy < 0.0


# ------------------------------------------------------------------------------------------------
# Arrays
# ------------------------------------------------------------------------------------------------


def test_a_curve_is_what_solve_gives_point_by_point():
    margins = np.array([0.0, 0.3, 0.6, 0.9])
    curve = typical.curve(Perceptron(), 0.5, [Margin(k) for k in margins])
    assert curve.converged.values.tolist() == [True, True, True, False]
    assert np.isnan(curve.entropy[3])
    for i in range(3):
        point = typical.solve(Perceptron(), 0.5, Margin(margins[i]))
        for name in ("q", "q_hat", "distance", "entropy", "replicon", "margin_density"):
            assert getattr(curve, name)[i] == getattr(point, name)
    assert (float(curve.alpha), curve.kappa.values.tolist()) == (0.5, margins.tolist())
    assert curve.q.dims == ("kappa",)


def test_curves_are_solved_at_every_combination():
    device, margins = TreeCommittee(np.inf, ReLU()), [Margin(0.0), Margin(0.1), Margin(9.0)]
    curve = typical.curve(device, [0.2, 0.4], margins)
    assert curve.device == repr(device)
    assert curve.q.dims == ("alpha", "kappa")
    assert curve.alpha.values.tolist() == [0.2, 0.4]
    assert curve.kappa.values.tolist() == [0.0, 0.1, 9.0]
    assert curve.entropy.attrs["units"] == "nats per weight"
    assert curve.entropy.shape == curve.converged.shape == (2, 3)
    assert curve.converged[:, 2].values.tolist() == [False, False]
    single = typical.curve(Perceptron(), 0.3, Margin(0.1))
    assert single.q.shape == ()
    assert float(single.q) == typical.solve(Perceptron(), 0.3, Margin(0.1)).q


def test_thresholds_take_arrays_and_keep_their_shape():
    device, margins = Perceptron(), [[Margin(0.0), Margin(0.5)]]
    for function in (typical.capacity, typical.instability):
        found = function(device, constraint=margins)
        assert found.shape == (1, 2)
        assert found[0, 1] == function(device, constraint=Margin(0.5))
        assert function(device, constraint=[]).shape == (0,)
        assert isinstance(function(device), float)
    for function in (typical.max_margin, typical.last_margin):
        found = function(device, [0.2, 0.4])
        assert found.shape == (2,)
        assert found[0] == function(device, 0.2) > found[1]
        assert isinstance(function(device, 0.2), float)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------

OF_LOADS = [typical.solve, typical.curve, typical.max_margin, typical.last_margin]
OF_CONSTRAINTS = [typical.capacity, typical.instability]


@pytest.mark.parametrize("alpha", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize("question", [*OF_LOADS, typical.solve_1rsb])
def test_loads_out_of_range(question, alpha):
    name = r"alpha( must be finite and >= 0|, if not 0, must be finite and >= 1e-07)"
    with pytest.raises(ValueError, match=f"^{name}, got"):
        question(Perceptron(), alpha)


@pytest.mark.parametrize("alpha", ["0.5", None, 1j, True, Binary()])
@pytest.mark.parametrize("question", [*OF_LOADS, typical.solve_1rsb])
def test_loads_that_are_no_numbers(question, alpha):
    with pytest.raises(TypeError, match="alpha must be a real number"):
        question(Perceptron(), alpha)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_loads_whose_margin_is_out_of_range(weights):
    device = TreeCommittee(np.inf, ReLU(), weights)
    for question in (typical.max_margin, typical.last_margin):
        with pytest.raises(ValueError, match=r"alpha, if not 0, must be .* >= 1e-07"):
            question(device, 1e-9)
        with pytest.raises(ValueError, match="alpha must be so small that the margin"):
            question(device, 1e3)
        assert question(device, 25.0) < 0.0
        assert question(device, 1e-7) > 0.0


@pytest.mark.parametrize("margin", [-2.1, 1e5])
@pytest.mark.parametrize("question", OF_CONSTRAINTS)
def test_margins_out_of_range(question, margin):
    with pytest.raises(ValueError, match=r"margin / activation\.scale must be"):
        question(Perceptron(), constraint=Margin(margin))


@pytest.mark.parametrize("margin", ["0", None, False])
def test_margins_that_are_no_numbers(margin):
    with pytest.raises(TypeError, match="kappa must be a real number"):
        Margin(margin)


def test_arrays_that_are_no_arrays_of_numbers():
    device, ragged = Perceptron(), [[0.1], [0.2, 0.3]]
    for question in (typical.curve, typical.max_margin, typical.last_margin):
        with pytest.raises(ValueError, match="alpha must be a rectangular array"):
            question(device, ragged)
        with pytest.raises(TypeError, match="alpha must hold real numbers, got dtype complex128"):
            question(device, [0.1, 1j])
    for question in OF_CONSTRAINTS:
        with pytest.raises(ValueError, match="constraint must be a rectangular array"):
            question(device, constraint=[[Margin()], [Margin(), Margin()]])
    with pytest.raises(ValueError, match=r"alpha must be one row at most, got shape \(2, 1\)"):
        typical.curve(device, [[0.1], [0.2]])


def test_a_margin_above_the_range():
    steep = Activation(lambda x: np.clip(x, -1e-3, 1e-3))  # c'(1) = 800
    with pytest.raises(ValueError, match="alpha must be so large that the margin is below 10000"):
        typical.last_margin(TreeCommittee(np.inf, steep), 1e-6)


@pytest.mark.parametrize("kappa", [math.nan, -math.inf])
def test_margins_are_finite(kappa):
    with pytest.raises(ValueError, match="kappa must be finite"):
        Margin(kappa)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (Perceptron, r"device must be a device, such as Perceptron\(\).*call the class"),
        (Binary(), "device must be a device"),
        (ReLU(), "device must be a device"),
        (0.5, "device must be a device"),
    ],
)
def test_devices_must_be_devices(device, message):
    for question in (typical.solve, typical.max_margin, typical.last_margin, typical.curve):
        with pytest.raises(TypeError, match=message):
            question(device, 0.5)
    for question in OF_CONSTRAINTS:
        with pytest.raises(TypeError, match=message):
            question(device)


@pytest.mark.parametrize("constraint", [0.5, Margin, "0", None, [0.1, 0.2]])
def test_constraints_must_be_constraints(constraint):
    hard = r"constraint must be Margin\(...\) or Band\(...\)"
    with pytest.raises(
        TypeError, match=hard + r" or CrossEntropy\(...\) or LogPotential\(...\), got"
    ):
        typical.solve(Perceptron(), 0.5, constraint)
    for question in OF_CONSTRAINTS:
        with pytest.raises(TypeError, match=hard + ", got"):
            question(Perceptron(), constraint=constraint)
    with pytest.raises(TypeError, match=hard + ", got"):
        typical.curve(Perceptron(), 0.5, constraint)
    with pytest.raises(TypeError, match=r"constraint must be Margin\(...\), got"):
        typical.solve_1rsb(Perceptron(), 0.5, constraint)


def test_losses_have_no_capacity():
    hard = r"constraint must be Margin\(...\) or Band\(...\), got CrossEntropy"
    with pytest.raises(TypeError, match=hard):
        typical.capacity(Perceptron(), constraint=CrossEntropy(1.0, 5.0))


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (Committee(3), "device must be a tree"),
        (TreeCommittee(3, ReLU()), "device must have sign units where their number is finite"),
        (TreeCommittee(4), "device must have an odd number of units"),
        (TreeCommittee(3, weights=Binary()), r"device must be .* Spherical\(\) weights here"),
        (ParityMachine(3), "device must be a Perceptron, have infinitely many units"),
        (ParityMachine(7), "device.units must be from 2 to 6, got 7"),
    ],
)
def test_devices_that_are_not_solved(device, message):
    for question in (typical.solve, typical.curve):
        with pytest.raises(ValueError, match=message):
            question(device, 0.5)
    for question in OF_CONSTRAINTS:
        with pytest.raises(ValueError, match=message):
            question(device)


def test_a_solution_reads_well_and_is_frozen():
    point = typical.solve(Perceptron(), 0.5)
    assert repr(point).splitlines()[0] == (
        "SaddlePoint(Perceptron(weights=Binary()), alpha=0.5, constraint=Margin(kappa=0.0))"
    )
    assert "nats per weight" in repr(point)
    assert "(RS stable)" in repr(point)
    assert "(RS unstable)" in repr(typical.solve(Perceptron(), 1.1))
    assert point == typical.solve(Perceptron(), 0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.q = 0.0
    assert hash(point) == hash(typical.solve(Perceptron(), 0.5))


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
    force = Stationary(q_hat, Spherical(), Linear(), margin).force
    assert 1e-5**2 * force == pytest.approx(margin.shortfall(), rel=1e-4)
    closed = (1.0 + kappa**2) * special.ndtr(kappa) + kappa * math.exp(
        -0.5 * kappa**2
    ) / math.sqrt(2.0 * math.pi)
    assert margin.shortfall() == pytest.approx(closed, rel=1e-13)
