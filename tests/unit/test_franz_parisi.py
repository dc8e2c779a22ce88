"""The Franz-Parisi potential: limits, the slope, other ways to the same number, bad input."""

import math

import numpy as np
import pytest
from scipy import integrate

from wfmlib import gaussian, solvers
from wfmlib.theory import (
    Activation,
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    dense_regions,
    franz_parisi,
    typical,
)
from wfmlib.theory.constrained import Constrained, Reference
from wfmlib.theory.replica_symmetric import Stationary
from wfmlib.theory.surroundings import Surroundings

AXES = [
    (Binary(), Perceptron()),
    (Binary(), Sign()),
    (Binary(), ReLU()),
    (Binary(), Activation(np.tanh)),
    (Spherical(), Perceptron()),
    (Spherical(), Sign()),
    (Spherical(), ReLU()),
]
NAMES = [f"{weights}-{activation}" for weights, activation in AXES]


def surroundings(distance, alpha, axes, kt=0.0, kappa=0.0):
    weights, activation = axes
    scale = activation.scale
    return franz_parisi.solve(
        distance,
        alpha,
        weights=weights,
        activation=activation,
        reference=Margin(kt * scale),
        margin=kappa * scale,
    )


@pytest.mark.parametrize("axes", AXES, ids=NAMES)
def test_without_patterns_all_configurations_are_counted(axes):
    for distance in (1e-6, 0.01, 0.3, 0.5):
        point = surroundings(distance, 0.0, axes)
        assert point.local_entropy == pytest.approx(point.bound, abs=1e-14)
        assert point.bound == franz_parisi.geometric_bound(distance, axes[0])
        few = surroundings(distance, 1e-6, axes, 0.3, -0.2)
        assert -1e-5 < few.normalised < 1e-14


def test_bound_counts_weight_vectors():
    n, k = 10_000, 2_000
    exact = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / n
    # Stirling: the next term is ln(n) / n
    assert franz_parisi.geometric_bound(k / n) == pytest.approx(exact, abs=math.log(n) / n)
    assert franz_parisi.geometric_bound(0.5, Spherical()) == Spherical().entropy
    assert franz_parisi.geometric_bound(np.array([0.0, 0.5])).tolist() == [0.0, math.log(2.0)]


@pytest.mark.parametrize("axes", AXES, ids=NAMES)
@pytest.mark.parametrize("distance", [0.02, 0.1, 0.3, 0.45])
def test_slope_is_the_derivative(axes, distance):
    step = 1e-4 * distance
    heights = [
        surroundings(distance + k * step, 0.4, axes, 0.2, 0.1).local_entropy
        for k in (-2, -1, 1, 2)
    ]
    derivative = (heights[0] - 8 * heights[1] + 8 * heights[2] - heights[3]) / (12 * step)
    # the differences amplify the heights' error, 1e-14, by 1 / step
    found = surroundings(distance, 0.4, axes, 0.2, 0.1).slope
    assert found == pytest.approx(derivative, rel=1e-8, abs=1e-13 / step)


@pytest.mark.parametrize("axes", AXES, ids=NAMES)
def test_maximum_is_the_typical_entropy(axes):
    """At the typical distance the constraint costs nothing: all counted solutions are there."""
    weights, activation = axes
    scale = activation.scale
    for kt, kappa in ((0.3, 0.0), (0.0, 0.0), (0.2, 0.2), (0.1, 0.3)):
        distance = franz_parisi.distance_of_maximum(
            0.4,
            weights=weights,
            activation=activation,
            reference=Margin(kt * scale),
            margin=kappa * scale,
        )
        point = surroundings(distance, 0.4, axes, kt, kappa)
        state = typical.solve(0.4, weights, activation, Margin(kappa * scale))
        assert point.local_entropy == pytest.approx(state.entropy, abs=1e-10)
        assert point.p == pytest.approx(state.q, abs=1e-8)
        assert abs(point.slope) < 1e-8
        if kt == kappa:
            assert distance == pytest.approx(state.distance, abs=1e-9)


def test_distance_of_maximum_from_two_correlated_solutions():
    """The overlap of two typical solutions, each of its own measure, by iteration."""
    load, margins = 0.5, (0.4, 0.0)
    states = [typical.solve(load, constraint=Margin(margin)) for margin in margins]
    x, weight = gaussian.grid()
    plane = np.outer(weight, weight)

    def correlated(functions, correlation):
        second = correlation * x[:, None] + math.sqrt(1.0 - correlation**2) * x[None, :]
        return np.sum(plane * functions[0](x)[:, None] * functions[1](second))

    def force(state):
        return lambda z: state.constraint.slope(math.sqrt(state.q) * z, 1.0 - state.q)

    def spin(state):
        return lambda z: np.tanh(math.sqrt(state.q_hat) * z)

    forces, spins = [force(s) for s in states], [spin(s) for s in states]
    q = math.sqrt(states[0].q * states[1].q)
    q_hat = math.sqrt(states[0].q_hat * states[1].q_hat)

    def mapping(overlap):
        t_hat = load * correlated(forces, overlap[0] / q)
        return [correlated(spins, t_hat / q_hat)]

    overlap, _ = solvers.fixed_point(mapping, [0.5 * q], tolerance=1e-11)
    found = franz_parisi.distance_of_maximum(load, reference=Margin(margins[0]))
    assert found == pytest.approx(0.5 * (1.0 - overlap[0]), abs=1e-9)


def test_averages_over_a_pattern_by_adaptive_quadrature():
    """The kernel's averages against SciPy's, from the three independent fields themselves.

    x is shared by all references, z is the reference's own, y what the counted solutions share
    besides: the kernel's variables are a rotation of them.
    """
    state = typical.solve(0.5, constraint=Margin(0.2))
    reference = Reference(Stationary(state.q_hat, Binary(), Perceptron(), Margin(0.2)), 0.5)
    at = Constrained(0.15, 0.7, 0.6, reference, Binary(), Perceptron(), Margin(0.05))
    q, p, t0, t1 = state.q, at.p, at.t0, at.t1
    rest = math.sqrt(p - t0**2 / q - (t1 - t0) ** 2 / (1 - q))
    cut = (0.2 - math.sqrt(q) * np.linspace(-8, 8, 161)) / math.sqrt(1 - q)
    x = np.linspace(-8, 8, 161)
    trapezoid = gaussian.G(x) * 0.1  # exact to rounding for a smooth integrand

    def log_weight(y, z, place):
        omega = t0 / math.sqrt(q) * place + (t1 - t0) / math.sqrt(1 - q) * z + rest * y
        return gaussian.G(y) * gaussian.G(z) * gaussian.log_H((0.05 - omega) / math.sqrt(1 - p))

    total = 0.0
    for place, low, weight in zip(x[::4], cut[::4], 4 * trapezoid[::4], strict=True):
        inner, _ = integrate.dblquad(
            log_weight, max(low, -9), max(low, -9) + 12, -9, 9, args=(place,), epsabs=1e-11
        )
        total += weight * inner / gaussian.H(max(low, -9))
    # the trapezoidal rule with a step of 0.4 is right to 1e-9 here
    assert at.averages.log_weight == pytest.approx(total, abs=1e-7)


def test_entropic_side_by_a_plain_sum():
    """The weights' averages from a dense grid over the two fields and the reference weight."""
    state = typical.solve(0.5, constraint=Margin(0.2))
    reference = Reference(Stationary(state.q_hat, Binary(), Perceptron(), Margin(0.2)), 0.5)
    p_hat, r, distance = 1.3, 0.4, 0.12
    side = Binary().constrained(distance, p_hat, r, reference)
    q_hat, t0_hat = state.q_hat, r * math.sqrt(p_hat * state.q_hat)
    x = np.linspace(-9.0, 9.0, 361)
    g = gaussian.G(x) * (x[1] - x[0])
    weight = g[:, None] * g[None, :]
    p = t0 = t1 = rise = 0.0
    for w in (1, -1):
        density = np.exp(w * math.sqrt(q_hat) * x) / (2 * np.cosh(math.sqrt(q_hat) * x))
        field = math.sqrt(p_hat - t0_hat**2 / q_hat) * x[None, :]
        field = field + t0_hat / math.sqrt(q_hat) * x[:, None] + (side.t1_hat - t0_hat) * w
        m, here = np.tanh(field), weight * density[:, None]
        p += np.sum(here * m**2)
        t1 += np.sum(here * w * m)
        t0 += np.sum(here * m * np.tanh(math.sqrt(q_hat) * x)[:, None])
        rise += np.sum(here * np.logaddexp(field, -field))
    assert t1 == pytest.approx(1 - 2 * distance, abs=1e-12)
    assert (side.p, side.t0) == pytest.approx((p, t0), abs=1e-12)
    term = rise - 0.5 * p_hat * (1 - p) + t0 * t0_hat - t1 * side.t1_hat
    assert side.term == pytest.approx(term, abs=1e-12)


def test_spherical_side_is_stationary():
    """P2's equation C6 at its saddle, by differences in p and t0."""
    state = typical.solve(0.8, Spherical(), ReLU())
    reference = Reference(Stationary(state.q_hat, Spherical(), ReLU(), Margin(0.0)), 0.8)
    distance, p_hat, r = 0.2, 2.0, 0.5
    side = Spherical().constrained(distance, p_hat, r, reference)
    q, t1 = reference.q, 1 - 2 * distance

    def entropic(p, t0):
        tau = 2 * t0 * (t1 - t0) / (1 - q) + (t1 - t0) ** 2 * (1 - 2 * q) / (1 - q) ** 2
        return 0.5 * (math.log(1 - p) + (p - tau) / (1 - p)) + Spherical().entropy

    assert side.term == pytest.approx(entropic(side.p, side.t0), abs=1e-13)
    step = 1e-5
    by_p = entropic(side.p + step, side.t0) - entropic(side.p - step, side.t0)
    by_t0 = entropic(side.p, side.t0 + step) - entropic(side.p, side.t0 - step)
    t0_hat = r * math.sqrt(p_hat * reference.q_hat)
    assert by_p / (2 * step) == pytest.approx(0.5 * p_hat, rel=1e-8)
    assert by_t0 / (2 * step) == pytest.approx(t0_hat, rel=1e-8)


def test_same_saddle_point_from_every_start():
    case = Surroundings(0.6, Binary(), Sign(), Margin(0.3), 0.0)
    for distance in (0.3, 0.05, 0.01):
        states = [
            case.solve(distance, np.array(start))[0]
            for start in ((0.0, 0.5), (3.0, 0.9), (-6.0, 0.1), (1.0, 0.99))
        ]
        assert np.ptp(states, axis=0) == pytest.approx(0.0, abs=1e-8)


def test_bounded_by_all_configurations_and_growing_with_the_reference_margin():
    distances = np.geomspace(1e-3, 0.28, 12)
    curves = [
        franz_parisi.curve(distances, 0.5, reference=Margin(kt)).local_entropy
        for kt in (0.03, 0.1, 0.2, 0.418)
    ]
    assert np.all(np.diff(curves, axis=0) > 0.0)
    assert np.all(curves[-1] < franz_parisi.geometric_bound(distances))


def test_close_to_a_reference_of_larger_margin_all_are_solutions():
    for activation in (Perceptron(), ReLU()):
        reference = Margin(0.3 * activation.scale)
        point = franz_parisi.solve(1e-5, 0.5, activation=activation, reference=reference)
        assert point.normalised == pytest.approx(0.0, abs=1e-12)
        assert point.slope == pytest.approx(math.log((1 - 1e-5) / 1e-5), rel=1e-9)


@pytest.mark.parametrize("kappa", [0.0, 0.2])
def test_references_close_to_the_last_margin(kappa):
    """q near 1: a pattern's field is far below the margin, in units of what is left to it."""
    largest = typical.max_margin(1.0, Spherical())
    axes = {"weights": Spherical(), "reference": Margin(0.9 * largest), "margin": kappa}
    curve = franz_parisi.curve(np.linspace(0.01, 0.5, 10), 1.0, **axes)
    assert curve.converged[:5].all()  # the solutions of margin 0.2 do not reach to d = 1/2
    top = franz_parisi.distance_of_maximum(1.0, **axes)
    entropy = typical.solve(1.0, Spherical(), Perceptron(), Margin(kappa)).entropy
    point = franz_parisi.solve(top, 1.0, **axes)
    assert point.local_entropy == pytest.approx(entropy, abs=1e-9)


def test_point_that_no_single_start_reaches():
    unit = ReLU()
    reference = Margin(0.02 * unit.scale)
    axes = {"weights": Spherical(), "activation": unit, "reference": reference}
    point = franz_parisi.solve(0.1, 1.9, **axes)
    curve = franz_parisi.curve([0.12, 0.1, 0.08], 1.9, **axes)
    assert point.local_entropy == pytest.approx(curve.local_entropy[1], abs=1e-10)


def test_curve_agrees_with_single_points():
    distances = np.array([[0.3, 0.001], [0.5, 0.05]])
    curve = franz_parisi.curve(distances, 0.6, activation=ReLU(), reference=Margin(0.1))
    assert curve.converged.all()
    assert curve.local_entropy.shape == (2, 2)
    for place, distance in np.ndenumerate(distances):
        point = franz_parisi.solve(distance, 0.6, activation=ReLU(), reference=Margin(0.1))
        for name in ("local_entropy", "bound", "slope", "p", "t0", "replicon", "normalised"):
            assert getattr(curve, name)[place] == pytest.approx(getattr(point, name), abs=1e-8)


def test_loads_too_small_to_be_felt():
    assert franz_parisi.distance_of_maximum(1e-200) == 0.5


def test_a_local_entropy_above_the_bound_is_refused(monkeypatch):
    """Whatever the equations say: there are not more solutions than configurations."""
    monkeypatch.setattr(Constrained, "local_entropy", property(lambda self: self.bound + 1e-6))
    with pytest.raises(solvers.NotConverged, match=r"local entropy found, .* exceeds its bound"):
        franz_parisi.solve(0.1, 0.5)
    with pytest.raises(solvers.NotConverged, match="exceeds its bound"):
        franz_parisi.local_entropy(0.1, 0.5)
    found = franz_parisi.curve([0.1, 0.2], 0.5)
    assert not np.any(found.converged)
    assert np.all(np.isnan(found.local_entropy))
    assert all("exceeds its bound" in why for why in found.reason)


def test_equal_margins_branch_ends():
    """Negative close to the reference, unstable below some distance, then nothing."""
    distances = np.geomspace(1e-5, 0.3, 40)
    curve = franz_parisi.curve(distances, 0.5)
    assert not curve.converged[0]
    assert curve.converged[-1]
    first = np.flatnonzero(curve.converged)[0]
    assert curve.converged[first:].all()
    assert curve.local_entropy[first] < 0.0
    assert curve.replicon[first] > 1.0
    with pytest.raises(solvers.NotConverged, match="branch ends") as failure:
        franz_parisi.solve(1e-5, 0.5)
    assert failure.value.residual > 1e-3
    with pytest.warns(RuntimeWarning, match="1 of 2 distances"):
        heights = franz_parisi.local_entropy([1e-5, 0.3], 0.5)
    assert np.isnan(heights[0])
    assert heights[1] > 0.0


def test_at_the_reference_itself():
    assert franz_parisi.local_entropy(0.0, 0.5) == 0.0
    assert franz_parisi.local_entropy(0.0, 0.5, margin=0.1) == -math.inf
    assert franz_parisi.local_entropy(0.0, 0.5, weights=Spherical()) == -math.inf


# --- thresholds ---------------------------------------------------------------------------------


def test_gap_is_where_the_local_entropy_vanishes():
    for kt in (0.02, 0.0):
        inner, outer = franz_parisi.gap(0.5, reference=Margin(kt))
        for edge in (inner, outer)[kt == 0.0 :]:
            point = franz_parisi.solve(edge, 0.5, reference=Margin(kt))
            assert abs(point.local_entropy) < 1e-12
        middle = franz_parisi.solve(0.7 * outer, 0.5, reference=Margin(kt))
        assert middle.local_entropy < 0.0
    assert inner == 0.0
    assert np.isnan(franz_parisi.gap(0.5, reference=Margin(0.2))).all()


@pytest.mark.parametrize("outer", np.linspace(-3.1, -2.0, 8))
def test_the_gap_around_a_loss_begins_below_its_outer_edge(outer):
    """On whichever side of zero rounding leaves that edge; NaN where the branch ends before."""
    inner = outer - 1.7

    def height(place, end=-math.inf):
        if place < end:
            raise solvers.NotConverged(solvers.Report(False, 0.0, 1, "the branch ends"), place)
        return (place - inner) * (place - outer)

    found = dense_regions._gap_of_loss(height, 0.0)
    assert np.log(found) == pytest.approx((inner, outer), abs=1e-10)
    edges = [dense_regions._gap_of_loss(lambda x, y=y: height(x, y), 0.0) for y in (-3.7, -1.5)]
    np.testing.assert_allclose(np.log(edges), [(math.nan, outer), (math.nan, math.nan)], rtol=1e-9)


def test_margin_no_gap_touches_zero():
    margin = franz_parisi.margin_no_gap(0.6)
    inner, outer = franz_parisi.gap(0.6, reference=Margin(0.999 * margin))
    assert inner < outer
    assert np.isnan(franz_parisi.gap(0.6, reference=Margin(1.001 * margin))).all()
    # the dip's depth is linear in the margin, its width goes as the square root
    dips = []
    for share in (0.99, 0.98):
        inner, outer = franz_parisi.gap(0.6, reference=Margin(share * margin))
        dips.append(math.log(outer / inner))
    assert dips[1] / dips[0] == pytest.approx(math.sqrt(2.0), rel=0.05)


def test_margin_monotonic_is_an_inflection():
    margin = franz_parisi.margin_monotonic(0.6)
    places = np.geomspace(5e-4, 5e-3, 30)
    for share, signs in ((1.02, {1.0}), (0.98, {1.0, -1.0})):
        slopes = franz_parisi.curve(places, 0.6, reference=Margin(share * margin)).slope
        assert set(np.sign(slopes)) == signs
    assert margin > franz_parisi.margin_no_gap(0.6)


@pytest.mark.parametrize("activation", [Perceptron(), Sign()])
def test_dense_threshold_separates(activation):
    load = franz_parisi.dense_threshold(activation=activation)
    largest = typical.max_margin(load, Binary(), activation)
    below = franz_parisi.margin_monotonic(0.999 * load, activation=activation)
    assert below < typical.max_margin(0.999 * load, Binary(), activation)
    assert below == pytest.approx(largest, rel=0.02)
    with pytest.raises(ValueError, match="alpha must be below dense_threshold"):
        franz_parisi.margin_monotonic(1.001 * load, activation=activation)


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distance": 0.6}, "distance must be finite and > 0 and <= 0.5, got 0.6"),
        ({"distance": 0.0}, "distance must be finite and > 0"),
        ({"distance": math.nan}, "distance must be finite"),
        ({"alpha": -1.0}, "alpha must be finite and >= 0"),
        ({"margin": math.inf}, "margin must be finite"),
        ({"reference": Margin(0.5)}, "reference must have a margin of at most 0.418"),
        ({"alpha": 0.9}, "reference must have a margin of at most -0.0"),
        ({"reference": Margin(-3.0)}, "margin / activation.scale must be"),
    ],
)
def test_bad_values_are_named(arguments, message):
    arguments = {"distance": 0.1, "alpha": 0.5} | arguments
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        franz_parisi.solve(**arguments)


def test_bad_kinds_are_named():
    with pytest.raises(TypeError, match="reference must be"):
        franz_parisi.solve(0.1, 0.5, reference=0.1)
    with pytest.raises(TypeError, match="weights must be"):
        franz_parisi.local_entropy(0.1, 0.5, weights="binary")
    with pytest.raises(TypeError, match="distance"):
        franz_parisi.local_entropy("near", 0.5)
    with pytest.raises(ValueError, match=r"distance must be finite and from 0 to 0.5.*0\.8"):
        franz_parisi.curve([0.7, 0.8], 0.5)
    with pytest.raises(ValueError, match="distance must be finite"):
        franz_parisi.geometric_bound(-0.1)
    with pytest.raises(ValueError, match="margin must be below the largest one"):
        franz_parisi.margin_no_gap(0.5, margin=0.42)
