"""The Franz-Parisi potential: limits, the slope, other ways to the same number, bad input."""

import math

import numpy as np
import pytest
from scipy import integrate

from wfmlib import (
    Activation,
    Binary,
    Committee,
    Margin,
    ParityMachine,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
)
from wfmlib.models.activations import Linear
from wfmlib.numerics import gaussian, solvers
from wfmlib.theory import franz_parisi, typical
from wfmlib.theory.franz_parisi import dense_regions
from wfmlib.theory.franz_parisi.surroundings import Surroundings
from wfmlib.theory.saddles.constrained import Constrained, Reference
from wfmlib.theory.saddles.replica_symmetric import Stationary

BINARY, SPHERICAL = Perceptron(), Perceptron(Spherical())
DEVICES = [
    BINARY,
    TreeCommittee(np.inf, Sign(), Binary()),
    TreeCommittee(np.inf, ReLU(), Binary()),
    TreeCommittee(np.inf, Activation(np.tanh), Binary()),
    SPHERICAL,
    TreeCommittee(np.inf, Sign()),
    TreeCommittee(np.inf, ReLU()),
]


def margins(device, kt, kappa):
    """Both constraints, of margins in units of the activation's scale."""
    scale = device.activation.scale
    return {"reference": Margin(kt * scale), "constraint": Margin(kappa * scale)}


def surroundings(device, alpha, distance, kt=0.0, kappa=0.0):
    return franz_parisi.solve(device, alpha, distance, **margins(device, kt, kappa))


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_without_patterns_all_configurations_are_counted(device):
    for distance in (1e-6, 0.01, 0.3, 0.5):
        point = surroundings(device, 0.0, distance)
        assert point.local_entropy == pytest.approx(point.bound, abs=1e-14)
        assert point.bound == franz_parisi.geometric_bound(device, distance)
        few = surroundings(device, 1e-6, distance, 0.3, -0.2)
        assert -1e-5 < few.normalised < 1e-14


def test_bound_counts_weight_vectors():
    n, k = 10_000, 2_000
    exact = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / n
    # Stirling: the next term is ln(n) / n
    for device in (BINARY, ParityMachine(3, Binary())):  # whatever is made of the weights
        bound = franz_parisi.geometric_bound(device, k / n)
        assert bound == pytest.approx(exact, abs=math.log(n) / n)
        ends = franz_parisi.geometric_bound(device, np.array([0.0, 0.5]))
        assert ends.tolist() == [0.0, math.log(2.0)]
    for device in (SPHERICAL, TreeCommittee(9), Committee(5)):
        assert franz_parisi.geometric_bound(device, 0.5) == 0.0


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("distance", [0.02, 0.1, 0.3, 0.45])
def test_slope_is_the_derivative(device, distance):
    step = 1e-4 * distance
    heights = [
        surroundings(device, 0.4, distance + k * step, 0.2, 0.1).local_entropy
        for k in (-2, -1, 1, 2)
    ]
    derivative = (heights[0] - 8 * heights[1] + 8 * heights[2] - heights[3]) / (12 * step)
    # the differences amplify the heights' error, 1e-14, by 1 / step
    found = surroundings(device, 0.4, distance, 0.2, 0.1).slope
    assert found == pytest.approx(derivative, rel=1e-8, abs=1e-13 / step)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_maximum_is_the_typical_entropy(device):
    """At the typical distance the constraint costs nothing: all counted solutions are there."""
    for kt, kappa in ((0.3, 0.0), (0.0, 0.0), (0.2, 0.2), (0.1, 0.3)):
        both = margins(device, kt, kappa)
        distance = franz_parisi.distance_of_maximum(device, 0.4, **both)
        point = surroundings(device, 0.4, distance, kt, kappa)
        state = typical.solve(device, 0.4, both["constraint"])
        assert point.local_entropy == pytest.approx(state.entropy, abs=1e-10)
        assert point.p == pytest.approx(state.q, abs=1e-8)
        assert abs(point.slope) < 1e-8
        if kt == kappa:
            assert distance == pytest.approx(state.distance, abs=1e-9)


def test_distance_of_maximum_from_two_correlated_solutions():
    """The overlap of two typical solutions, each of its own measure, by iteration."""
    load, constraints = 0.5, (Margin(0.4), Margin(0.0))
    states = [typical.solve(BINARY, load, one) for one in constraints]
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
    found = franz_parisi.distance_of_maximum(BINARY, load, reference=constraints[0])
    assert found == pytest.approx(0.5 * (1.0 - overlap[0]), abs=1e-9)


def test_averages_over_a_pattern_by_adaptive_quadrature():
    """The kernel's averages against SciPy's, from the three independent fields themselves.

    x is shared by all references, z is the reference's own, y what the counted solutions share
    besides: the kernel's variables are a rotation of them.
    """
    state = typical.solve(BINARY, 0.5, Margin(0.2))
    reference = Reference(Stationary(state.q_hat, Binary(), Linear(), Margin(0.2)), 0.5)
    at = Constrained(0.15, 0.7, 0.6, reference, Binary(), Linear(), Margin(0.05))
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
    state = typical.solve(BINARY, 0.5, Margin(0.2))
    reference = Reference(Stationary(state.q_hat, Binary(), Linear(), Margin(0.2)), 0.5)
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
    state = typical.solve(TreeCommittee(np.inf, ReLU()), 0.8)
    reference = Reference(Stationary(state.q_hat, Spherical(), ReLU(), Margin(0.0)), 0.8)
    distance, p_hat, r = 0.2, 2.0, 0.5
    side = Spherical().constrained(distance, p_hat, r, reference)
    q, t1 = reference.q, 1 - 2 * distance

    def entropic(p, t0):
        tau = 2 * t0 * (t1 - t0) / (1 - q) + (t1 - t0) ** 2 * (1 - 2 * q) / (1 - q) ** 2
        return 0.5 * (math.log(1 - p) + (p - tau) / (1 - p))

    assert side.term == pytest.approx(entropic(side.p, side.t0), abs=1e-13)
    step = 1e-5
    by_p = entropic(side.p + step, side.t0) - entropic(side.p - step, side.t0)
    by_t0 = entropic(side.p, side.t0 + step) - entropic(side.p, side.t0 - step)
    t0_hat = r * math.sqrt(p_hat * reference.q_hat)
    assert by_p / (2 * step) == pytest.approx(0.5 * p_hat, rel=1e-8)
    assert by_t0 / (2 * step) == pytest.approx(t0_hat, rel=1e-8)


def test_same_saddle_point_from_every_start():
    signs = TreeCommittee(np.inf, Sign(), Binary())
    case = Surroundings(signs, 0.6, Margin(0.3), Margin(0.0))
    for distance in (0.3, 0.05, 0.01):
        states = [
            case.solve(distance, np.array(start))[0]
            for start in ((0.0, 0.5), (3.0, 0.9), (-6.0, 0.1), (1.0, 0.99))
        ]
        assert np.ptp(states, axis=0) == pytest.approx(0.0, abs=1e-8)


def test_bounded_by_all_configurations_and_growing_with_the_reference_margin():
    distances = np.geomspace(1e-3, 0.28, 12)
    curves = [
        franz_parisi.curve(BINARY, 0.5, distances, reference=Margin(kt)).local_entropy
        for kt in (0.03, 0.1, 0.2, 0.418)
    ]
    assert np.all(np.diff(curves, axis=0) > 0.0)
    assert np.all(curves[-1] < franz_parisi.geometric_bound(BINARY, distances))


def test_close_to_a_reference_of_larger_margin_all_are_solutions():
    for device in (BINARY, TreeCommittee(np.inf, ReLU(), Binary())):
        point = surroundings(device, 0.5, 1e-5, kt=0.3)
        assert point.normalised == pytest.approx(0.0, abs=1e-12)
        assert point.slope == pytest.approx(math.log((1 - 1e-5) / 1e-5), rel=1e-9)


@pytest.mark.parametrize("kappa", [0.0, 0.2])
def test_references_close_to_the_last_margin(kappa):
    """q near 1: a pattern's field is far below the margin, in units of what is left to it."""
    largest = typical.max_margin(SPHERICAL, 1.0)
    both = {"reference": Margin(0.9 * largest), "constraint": Margin(kappa)}
    curve = franz_parisi.curve(SPHERICAL, 1.0, np.linspace(0.01, 0.5, 10), **both)
    assert curve.converged[:5].all()  # the solutions of margin 0.2 do not reach to d = 1/2
    top = franz_parisi.distance_of_maximum(SPHERICAL, 1.0, **both)
    entropy = typical.solve(SPHERICAL, 1.0, Margin(kappa)).entropy
    point = franz_parisi.solve(SPHERICAL, 1.0, top, **both)
    assert point.local_entropy == pytest.approx(entropy, abs=1e-9)


def test_point_that_no_single_start_reaches():
    device = TreeCommittee(np.inf, ReLU())
    reference = Margin(0.02 * device.activation.scale)
    point = franz_parisi.solve(device, 1.9, 0.1, reference=reference)
    curve = franz_parisi.curve(device, 1.9, [0.12, 0.1, 0.08], reference=reference)
    assert point.local_entropy == pytest.approx(float(curve.local_entropy[1]), abs=1e-10)


def test_curve_agrees_with_single_points():
    distances, device = [0.3, 0.001, 0.5, 0.05], TreeCommittee(np.inf, ReLU(), Binary())
    curve = franz_parisi.curve(device, 0.6, distances, reference=Margin(0.1))
    assert curve.converged.all()
    assert curve.local_entropy.shape == (4,)
    assert (curve.device, curve.alpha) == (repr(device), 0.6)
    assert (curve.reference, curve.constraint) == (repr(Margin(0.1)), repr(Margin(0.0)))
    for place, distance in enumerate(distances):
        point = franz_parisi.solve(device, 0.6, distance, reference=Margin(0.1))
        for name in ("local_entropy", "bound", "slope", "p", "t0", "replicon", "normalised"):
            assert float(curve[name][place]) == pytest.approx(getattr(point, name), abs=1e-8)


def test_loads_too_small_to_be_felt():
    assert franz_parisi.distance_of_maximum(BINARY, 1e-200) == 0.5


def test_a_local_entropy_above_the_bound_is_refused(monkeypatch):
    """Whatever the equations say: there are not more solutions than configurations."""
    monkeypatch.setattr(Constrained, "local_entropy", property(lambda self: self.bound + 1e-6))
    with pytest.raises(solvers.NotConverged, match=r"local entropy found, .* exceeds its bound"):
        franz_parisi.solve(BINARY, 0.5, 0.1)
    with pytest.raises(solvers.NotConverged, match="exceeds its bound"):
        franz_parisi.local_entropy(BINARY, 0.5, 0.1)
    found = franz_parisi.curve(BINARY, 0.5, [0.1, 0.2])
    assert not np.any(found.converged)
    assert np.all(np.isnan(found.local_entropy))
    assert all("exceeds its bound" in why for why in found.reason.values)


def test_equal_margins_branch_ends():
    """Negative close to the reference, unstable below some distance, then nothing."""
    distances = np.geomspace(1e-5, 0.3, 40)
    curve = franz_parisi.curve(BINARY, 0.5, distances)
    assert not curve.converged[0]
    assert curve.converged[-1]
    first = np.flatnonzero(curve.converged)[0]
    assert curve.converged[first:].all()
    assert curve.local_entropy[first] < 0.0
    assert curve.replicon[first] > 1.0
    with pytest.raises(solvers.NotConverged, match="branch ends") as failure:
        franz_parisi.solve(BINARY, 0.5, 1e-5)
    assert failure.value.residual > 1e-3
    with pytest.warns(RuntimeWarning, match="1 of 2 distances"):
        heights = franz_parisi.local_entropy(BINARY, 0.5, [1e-5, 0.3])
    assert np.isnan(heights[0])
    assert heights[1] > 0.0


def test_at_the_reference_itself():
    assert franz_parisi.local_entropy(BINARY, 0.5, 0.0) == 0.0
    assert franz_parisi.local_entropy(BINARY, 0.5, 0.0, constraint=Margin(0.1)) == -math.inf
    assert franz_parisi.local_entropy(SPHERICAL, 0.5, 0.0) == -math.inf


def test_a_point_says_of_what_it_is():
    point = surroundings(DEVICES[2], 0.5, 0.1, 0.2, 0.1)
    assert point.device == DEVICES[2]
    assert margins(point.device, 0.2, 0.1) == {
        "reference": point.reference,
        "constraint": point.constraint,
    }
    start = "Point(TreeCommittee(units=inf, activation=ReLU(), weights=Binary()), alpha=0.5, "
    assert repr(point).startswith(start + "distance=0.1, reference=Margin(kappa=0.1")


# --- thresholds ---------------------------------------------------------------------------------


def test_gap_is_where_the_local_entropy_vanishes():
    for kt in (0.02, 0.0):
        inner, outer = franz_parisi.gap(BINARY, 0.5, reference=Margin(kt))
        for edge in (inner, outer)[kt == 0.0 :]:
            point = franz_parisi.solve(BINARY, 0.5, edge, reference=Margin(kt))
            assert abs(point.local_entropy) < 1e-12
        middle = franz_parisi.solve(BINARY, 0.5, 0.7 * outer, reference=Margin(kt))
        assert middle.local_entropy < 0.0
    assert inner == 0.0
    assert np.isnan(franz_parisi.gap(BINARY, 0.5, reference=Margin(0.2))).all()


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
    margin = franz_parisi.margin_no_gap(BINARY, 0.6)
    inner, outer = franz_parisi.gap(BINARY, 0.6, reference=Margin(0.999 * margin))
    assert inner < outer
    assert np.isnan(franz_parisi.gap(BINARY, 0.6, reference=Margin(1.001 * margin))).all()
    # the dip's depth is linear in the margin, its width goes as the square root
    dips = []
    for share in (0.99, 0.98):
        inner, outer = franz_parisi.gap(BINARY, 0.6, reference=Margin(share * margin))
        dips.append(math.log(outer / inner))
    assert dips[1] / dips[0] == pytest.approx(math.sqrt(2.0), rel=0.05)


def test_margin_monotonic_is_an_inflection():
    margin = franz_parisi.margin_monotonic(BINARY, 0.6)
    places = np.geomspace(5e-4, 5e-3, 30)
    for share, signs in ((1.02, {1.0}), (0.98, {1.0, -1.0})):
        curve = franz_parisi.curve(BINARY, 0.6, places, reference=Margin(share * margin))
        assert set(np.sign(curve.slope.values)) == signs
    assert margin > franz_parisi.margin_no_gap(BINARY, 0.6)


@pytest.mark.parametrize("device", DEVICES[:2], ids=str)
def test_dense_threshold_separates(device):
    load = franz_parisi.dense_threshold(device)
    largest = typical.max_margin(device, load)
    below = franz_parisi.margin_monotonic(device, 0.999 * load)
    assert below < typical.max_margin(device, 0.999 * load)
    assert below == pytest.approx(largest, rel=0.02)
    with pytest.raises(ValueError, match="alpha must be below dense_threshold"):
        franz_parisi.margin_monotonic(device, 1.001 * load)


def test_gapless_threshold_is_the_load_at_which_the_best_references_get_a_gap():
    load = franz_parisi.gapless_threshold(BINARY)
    assert load > franz_parisi.dense_threshold(BINARY)
    for alpha, gapped in ((0.999 * load, False), (1.001 * load, True)):
        best = Margin(typical.max_margin(BINARY, alpha))
        found = franz_parisi.gap(BINARY, alpha, reference=best)
        assert np.isfinite(found).all() == gapped


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distance": 0.6}, "distance must be finite and > 0 and <= 0.5, got 0.6"),
        ({"distance": 0.0}, "distance must be finite and > 0"),
        ({"distance": math.nan}, "distance must be finite"),
        ({"alpha": -1.0}, "alpha must be finite and >= 0"),
        ({"reference": Margin(0.5)}, "reference must have a margin of at most 0.418"),
        ({"alpha": 0.9}, "reference must have a margin of at most -0.0"),
        ({"reference": Margin(-3.0)}, "margin / activation.scale must be"),
        ({"constraint": Margin(-3.0)}, "margin / activation.scale must be"),
        ({"device": TreeCommittee(3)}, "device must be a Perceptron or have infinitely many"),
        ({"device": Committee(3)}, "device must be a tree"),
    ],
)
def test_bad_values_are_named(arguments, message):
    arguments = {"device": BINARY, "alpha": 0.5, "distance": 0.1} | arguments
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        franz_parisi.solve(**arguments)


def test_bad_kinds_are_named():
    with pytest.raises(TypeError, match="reference must be"):
        franz_parisi.solve(BINARY, 0.5, 0.1, reference=0.1)
    with pytest.raises(TypeError, match="constraint must be Margin"):
        franz_parisi.solve(BINARY, 0.5, 0.1, constraint=0.1)
    for refused in (franz_parisi.local_entropy, franz_parisi.curve):
        with pytest.raises(TypeError, match="device must be"):
            refused(Binary(), 0.5, 0.1)
    with pytest.raises(TypeError, match=r"device must be .*; call the class"):
        franz_parisi.geometric_bound(Perceptron, 0.1)
    with pytest.raises(TypeError, match="distance"):
        franz_parisi.local_entropy(BINARY, 0.5, "near")
    with pytest.raises(ValueError, match=r"distance must be .*>= 0 and <= 0\.5, got 0\.7"):
        franz_parisi.curve(BINARY, 0.5, [0.7, 0.8])
    with pytest.raises(ValueError, match="distance must be finite"):
        franz_parisi.geometric_bound(BINARY, -0.1)
    with pytest.raises(ValueError, match="constraint must be a margin below the largest one"):
        franz_parisi.margin_no_gap(BINARY, 0.5, constraint=Margin(0.42))


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (franz_parisi.gap, (0.5,)),
        (franz_parisi.margin_no_gap, (0.5,)),
        (franz_parisi.margin_monotonic, (0.5,)),
        (franz_parisi.dense_threshold, ()),
        (franz_parisi.gapless_threshold, ()),
    ],
)
def test_what_is_asked_of_binary_weights_alone(question, given):
    with pytest.raises(ValueError, match=r"device must have weights Binary\(\) here"):
        question(SPHERICAL, *given)
