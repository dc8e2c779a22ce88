"""Groups of solutions at a distance: against P3's formulas written out, and limits."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from scipy import optimize, special

from wfmlib import Activation, Binary, Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi as symmetric
from wfmlib.theory import franz_parisi_1rsb as broken
from wfmlib.theory import typical

DEVICE = Perceptron()
SIGNS = TreeCommittee(np.inf, Sign(), Binary())
# A spherical machine whose typical solutions come in groups themselves.
SPHERICAL = {
    "device": TreeCommittee(np.inf, ReLU()),
    "alpha": 1.9,
    "distance": 0.3,
    "reference": Margin(0.01),
}

# ------------------------------------------------------------------------------------------------
# P3, equations B16 and B17, hats in place: triple integrals, term by term
# ------------------------------------------------------------------------------------------------

STEP = 1e-30  # of derivatives by a complex step, exact to rounding
NEGLIGIBLE = 1e-17  # nodes that weigh less are left out


def perceptron(q):
    return q


def sign(q):
    return 2.0 / math.pi * cmath.asin(q)


def relu(q):
    delta = (cmath.sqrt(1.0 - q * q) + (math.pi - cmath.acos(q)) * q) / (2.0 * math.pi)
    return (delta - 1.0 / (2.0 * math.pi)) / (0.5 - 1.0 / (2.0 * math.pi))


def panels(low, high, *bends):
    """Nodes and Gaussian weights, one row for each entry of the bends' centres.

    Panels 2 long, with more ends at 0, 1, 2, 4, ... widths from each (centre, width).
    """
    node, weight = np.polynomial.legendre.leggauss(12)
    ends = [np.linspace(low, high, math.ceil((high - low) / 2.0) + 1)[None, :]]
    for centre, width in bends:
        steps = width * np.append(0.0, 2.0 ** np.arange(max(0, math.ceil(math.log2(4 / width)))))
        ends.append(centre[:, None] + np.concatenate((-steps, steps)))
    rows = max(map(len, ends))
    ends = np.hstack([np.broadcast_to(one, (rows, one.shape[1])) for one in ends])
    ends = np.sort(np.clip(ends, low, high), axis=1)  # a panel outside shrinks to length zero
    half = 0.5 * np.diff(ends, axis=1)[:, :, None]
    x = 0.5 * (ends[:, 1:] + ends[:, :-1])[:, :, None] + half * node
    measure = half * weight * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return x.reshape(rows, -1), measure.reshape(rows, -1)


# For the inner average the trapezoidal rule, which for integrands as smooth as these (they bend
# over no less than the width of the Gaussian) is exact to rounding.
Z = np.arange(-8.0, 8.1, 0.5)
DZ = 0.5 * np.exp(-0.5 * Z * Z) / math.sqrt(2.0 * math.pi)


def log_tail(x):
    """Return ln H, with its derivative times the infinitesimal imaginary part."""
    real = special.log_ndtr(-x.real)
    hazard = np.exp(-0.5 * x.real**2 - real) / math.sqrt(2.0 * math.pi)
    return real - 1j * hazard * x.imag


def log_2cosh(x):
    x = np.where(x.real < 0.0, -x, x)
    return x.real + np.log1p(np.exp(-2.0 * x.real)) + 1j * np.tanh(x.real) * x.imag


def log_average(exponent, m):
    """Return ln of the average of e^{m exponent} over z, the last axis, without overflow."""
    top = np.max(exponent.real, axis=-1)
    weight = np.exp(m.real * (exponent.real - top[:, None])) * DZ
    norm = weight.sum(axis=1)
    moved = (weight * (m * exponent).imag).sum(axis=1) / norm
    return m.real * top + np.log(norm) + 1j * moved


class Literal:
    """The potential around a typical reference, as a function of all order parameters."""

    def __init__(self, state, c):
        scale = state.device.activation.scale
        reference = typical.solve(state.device, state.alpha, state.reference)
        self.c, self.q, self.q_hat = c, reference.q, reference.q_hat
        self.t1 = 1.0 - 2.0 * state.distance
        self.kt, self.kappa = state.reference.kappa / scale, state.constraint.kappa / scale

    def energetic(self, p0, p1, t0, m):
        """G_E."""
        kt, kappa = self.kt, self.kappa
        c_q, c_t0, c_t1, c_0, c_1 = map(self.c, map(complex, (self.q, t0, self.t1, p0, p1)))
        c_q, gamma = c_q.real, c_0 - c_t0**2 / c_q
        root, root_gamma, lean = math.sqrt(c_q), cmath.sqrt(gamma), c_t1 - c_t0
        left = cmath.sqrt(gamma * (1.0 - c_q) - lean**2)
        ((x,), (weight_x,)) = panels(-8.0, 8.0)
        step = (root_gamma / lean).real * (kt - root * x), abs(left / lean)
        bend = (
            (kappa - (c_t0 / root).real * x) / root_gamma.real,
            abs(cmath.sqrt((1 - c_0) / gamma)),
        )
        y, weight_y = panels(-8.0, 13.0, step, bend)
        x = x[:, None]
        below = root_gamma * (kt - root * x) - lean * y
        first = log_tail(below / left) - special.log_ndtr((root * x - kt) / math.sqrt(1.0 - c_q))
        measure = weight_x[:, None] * weight_y * np.exp(first)
        omega = c_t0 / root * x + root_gamma * y
        kept = np.abs(measure) > NEGLIGIBLE
        short = kappa - cmath.sqrt(c_1 - c_0) * Z - omega[kept][:, None]
        return measure[kept] @ log_average(log_tail(short / cmath.sqrt(1.0 - c_1)), m) / m

    def weights(self, p0_hat, p1_hat, t0_hat, t1_hat, m):
        """G_S for binary weights."""
        root = math.sqrt(self.q_hat)
        ((x,), (weight_x,)), ((y,), (weight_y,)) = panels(-8.0, 8.0), panels(-8.0, 8.0)
        # the reference's weight w is 1 here: with x and y reversed, -1 gives the same
        measure = (2.0 * weight_x * np.exp(root * x - log_2cosh(root * x).real))[
            :, None
        ] * weight_y
        field = cmath.sqrt(p0_hat - t0_hat**2 / self.q_hat) * y
        field = field + (t0_hat / root * x + t1_hat - t0_hat)[:, None]
        kept = measure > NEGLIGIBLE
        field = field[kept][:, None] + cmath.sqrt(p1_hat - p0_hat) * Z
        return measure[kept] @ log_average(log_2cosh(field), m) / m

    def binary(self, p0, p1, t0, p0_hat, p1_hat, t0_hat, t1_hat, m):
        """B16 without the energetic term."""
        products = t0 * t0_hat - self.t1 * t1_hat - 0.5 * p1_hat * (1.0 - p1)
        products -= 0.5 * m * (p1 * p1_hat - p0 * p0_hat)
        return products + self.weights(p0_hat, p1_hat, t0_hat, t1_hat, m)

    def spherical(self, p0, p1, t0, m):
        """The same for spherical weights: the determinant of all overlaps, n and s -> 0.

        Given the references the overlaps of the counted solutions are less by tau.
        """
        q, total = self.q, self.t1 - t0
        tau = (self.t1**2 - t0**2 - q / (1.0 - q) * total**2) / (1.0 - q)
        wide = 1.0 - p1 + m * (p1 - p0)
        logs = cmath.log(1.0 - p1) + cmath.log(wide / (1.0 - p1)) / m
        return 0.5 * (logs + (p0 - tau) / wide)


def slopes(function, order):
    """Return all first derivatives."""
    moves = 1j * STEP * np.eye(len(order))
    return np.array([function(*(order + move)).imag / STEP for move in moves])


def overlaps_and_m(state):
    return np.array([state.p0, state.p1, state.t0, state.m])


@pytest.mark.parametrize(
    ("keywords", "c"),
    [
        ({"device": DEVICE, "distance": 0.0018, "m": 0.3}, perceptron),  # attracting
        ({"device": SIGNS, "distance": 0.004, "reference": Margin(0.1), "m": 0.6}, sign),
    ],
    ids=["attracting", "repelling"],
)
def test_binary_states_are_stationary_points_of_b16(keywords, c):
    state = broken.search(alpha=0.5, **keywords).states[0]
    assert state.broken
    literal, m = Literal(state, c), state.m
    energetic = state.alpha * slopes(literal.energetic, overlaps_and_m(state))
    # the conjugates at which the derivatives in the overlaps vanish, and the one in t1_hat
    p0_hat, p1_hat = -2.0 / m * energetic[0], -2.0 / (1.0 - m) * energetic[1]
    t0_hat = -energetic[2]

    def excess(t1_hat):
        conjugates = p0_hat, p1_hat, t0_hat, t1_hat + 1j * STEP
        return literal.weights(*conjugates, complex(m)).imag / STEP - literal.t1

    guess = t0_hat - 0.5 * math.log(state.distance)
    t1_hat = optimize.newton(excess, guess, x1=guess + 1.0, tol=1e-11)
    order = [*overlaps_and_m(state)[:3], p0_hat, p1_hat, t0_hat, t1_hat, m]
    left = slopes(literal.binary, order)
    left[[0, 1, 2, 7]] += energetic
    assert left[:7] == pytest.approx(np.zeros(7), abs=1e-10)
    assert -(m**2) * left[7] == pytest.approx(state.complexity, abs=1e-10)
    phi = literal.binary(*np.array(order, dtype=complex))
    phi += state.alpha * literal.energetic(*overlaps_and_m(state).astype(complex))
    assert phi.real == pytest.approx(state.local_entropy, abs=1e-10)


def test_spherical_state_is_stationary_also_in_m():
    state = broken.solve(**SPHERICAL)
    assert state.broken
    assert state.attracting
    assert 0.1 < state.m < 0.7
    assert state.complexity == pytest.approx(0.0, abs=1e-12)
    literal, order = Literal(state, relu), overlaps_and_m(state)
    left = slopes(literal.spherical, order) + state.alpha * slopes(literal.energetic, order)
    assert left == pytest.approx(np.zeros(4), abs=1e-10)
    phi = literal.spherical(*order) + state.alpha * literal.energetic(*order.astype(complex))
    assert phi.real == pytest.approx(state.local_entropy, abs=1e-10)


# ------------------------------------------------------------------------------------------------
# Replica symmetry, and where it is broken
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "device"),
    [(0.4, DEVICE), (1.0, DEVICE), (None, TreeCommittee(np.inf, Sign()))],
)
def test_stable_symmetric_points_are_returned_as_they_are(m, device):
    point = symmetric.solve(device, 0.5, 0.1, reference=Margin(0.1))
    assert point.replicon < 1.0
    state = broken.solve(device, 0.5, 0.1, reference=Margin(0.1), m=m)
    assert (state.device, state.reference) == (device, point.reference)
    assert not state.broken
    assert state.attracting
    assert (state.m, state.complexity) == (m or 1.0, 0.0)
    assert state.p0 == state.p1 == pytest.approx(point.p, rel=1e-12)
    assert state.t0 == pytest.approx(point.t0, rel=1e-12)
    assert state.local_entropy == state.group_entropy
    assert state.local_entropy == pytest.approx(point.local_entropy, rel=1e-12)


@pytest.mark.parametrize(
    "keywords",
    [
        {"device": DEVICE, "distance": 0.03},
        {"device": SIGNS, "distance": 0.01, "reference": Margin(0.3)},
    ],
    ids=str,
)
def test_binary_weights_have_a_repelling_state_without_solutions_inside(keywords):
    """So P3's iterations end in the symmetric point, unless they start beyond the state."""
    point = symmetric.solve(alpha=0.5, **keywords)
    found = broken.search(alpha=0.5, m=[0.4, 1.0], **keywords)
    assert not found.attracting
    assert max(found.reached) < 1e-8
    assert [state.m for state in found.states] == [0.4, 1.0]
    for state in found.states:
        assert state.broken
        assert state.complexity > 0.0
        assert state.group_entropy < -1e-4
    below, whole = found.states
    # groups of all replicas: the symmetric potential, whatever p1 is
    assert whole.local_entropy == pytest.approx(point.local_entropy, abs=1e-11)
    assert whole.p0 == pytest.approx(point.p, rel=1e-10)
    for part, frozen in ((0.5, False), (2.0, True)):
        start = 1.0 - (1.0 - below.p1) / part
        state = broken.solve(alpha=0.5, m=0.4, start=start, **keywords)
        assert state.broken == state.frozen == frozen


def test_spherical_weights_have_no_state_with_groups_where_solutions_are_many():
    relu_units = TreeCommittee(np.inf, ReLU())
    for device, distance in ((Perceptron(Spherical()), 0.2), (relu_units, 0.001)):
        found = broken.search(device, 0.8, distance, reference=Margin(0.1), m=[0.2, 1.0])
        assert found.states == ()
        assert max(found.reached) < 1e-4


@pytest.mark.parametrize(
    ("device", "reference", "low", "high", "unstable"),
    [
        (DEVICE, Margin(0.0), 1.5e-3, 2.5e-3, -1.0),  # below a distance
        (DEVICE, Margin(0.003), 1.3e-6, 2e-6, 1.0),  # above one
        (SIGNS, Margin(0.1), 6e-7, 1e-6, 1.0),
    ],
    ids=["equal", "close", "Sign"],
)
def test_groups_dissolve_where_the_replicon_is_one(device, reference, low, high, unstable):
    def replicon(distance):
        return symmetric.solve(device, 0.5, distance, reference=reference).replicon

    edge = optimize.brentq(lambda x: math.log(replicon(x)), low, high, xtol=1e-9 * low)
    m, ratios = 0.3, []
    for part in (0.004, 0.008):
        distance = edge * (1.0 + unstable * part)
        state = broken.solve(device, 0.5, distance, reference=reference, m=m)
        assert state.broken
        assert state.attracting
        assert not state.frozen
        assert state.complexity > 0.0
        ratios.append(state.difference / (1.0 - state.p0) / math.log(replicon(distance)))
    assert 0.1 < ratios[0] < 10.0
    beyond = edge * (1.0 - unstable * 0.004)
    assert not broken.solve(device, 0.5, beyond, reference=reference, m=m).broken
    assert ratios[1] == pytest.approx(ratios[0], rel=0.15)  # linear, up to squares


def test_where_groups_shrink_to_configurations():
    """Close to m = 1 the split grows without end; then phi = phi_RS / m, negative as phi_RS."""
    point = symmetric.solve(DEVICE, 0.5, 0.0018)
    assert point.replicon > 1.0
    assert point.local_entropy < 0.0
    for m in (0.9, 1.0):
        state = broken.solve(DEVICE, 0.5, 0.0018, m=m)
        assert state.frozen
        assert state.p1 == 1.0
        assert state.local_entropy == pytest.approx(point.local_entropy / m, rel=1e-13)
        assert state.complexity == pytest.approx(point.local_entropy, rel=1e-13)
        assert state.group_entropy == pytest.approx(0.0, abs=1e-15)


def test_groups_of_nearly_one_configuration():
    """Of those that repel, around references of the largest margin."""
    best = Margin(typical.max_margin(DEVICE, 0.5))
    keywords = {"device": DEVICE, "alpha": 0.5, "distance": 0.003, "reference": best}
    entropy = symmetric.solve(**keywords).local_entropy
    for state in broken.search(m=0.6, **keywords).states:
        assert 0.0 < 1.0 - state.p1 < 1e-11
        # what is left of the groups is of the order of 1 - p1, times its logarithm
        assert state.local_entropy == pytest.approx(entropy / state.m, abs=1e-9)
        assert state.complexity == pytest.approx(entropy, abs=1e-9)


@pytest.mark.parametrize(
    "keywords",
    [{"device": DEVICE, "alpha": 0.5, "distance": 0.1}, SPHERICAL],
    ids=["repelling", "attracting"],
)
def test_complexity_is_the_derivative_in_m(keywords):
    h = 0.02
    before, state, after = broken.search(m=[0.6 - h, 0.6, 0.6 + h], **keywords).states
    slope = (after.local_entropy - before.local_entropy) / (2.0 * h)  # error of order h^2
    assert -(0.6**2) * slope == pytest.approx(state.complexity, rel=3e-3)


def test_a_perceptron_written_as_an_activation():
    triple = TreeCommittee(np.inf, Activation(lambda x: 3.0 * x), Binary())
    expected = broken.solve(DEVICE, 0.5, 0.0018, m=0.4)
    state = broken.solve(triple, 0.5, 0.0018, m=0.4)
    assert state.broken
    assert state.difference == pytest.approx(expected.difference, rel=1e-6)
    assert state.local_entropy == pytest.approx(expected.local_entropy, rel=1e-9)


def test_without_patterns_there_is_one_group():
    for device in (DEVICE, Perceptron(Spherical())):
        state = broken.solve(device, 0.0, 0.2, m=0.5)
        assert not state.broken
        bound = symmetric.geometric_bound(device, 0.2)
        assert math.isclose(state.local_entropy, bound, rel_tol=1e-14)
        assert broken.search(device, 0.0, 0.2).states == ()


def test_wrong_arguments():
    for wrong in (0.0, -0.5, 1.1, math.nan):
        with pytest.raises(ValueError, match="m must be"):
            broken.solve(DEVICE, 0.5, 0.1, m=wrong)
        with pytest.raises(ValueError, match="m must be"):
            broken.search(DEVICE, 0.5, 0.1, m=[0.5, wrong])
    with pytest.raises(TypeError, match="m must be"):
        broken.solve(DEVICE, 0.5, 0.1, m="0.5")
    with pytest.raises(ValueError, match="start must be"):
        broken.solve(DEVICE, 0.5, 0.1, m=0.5, start=1.5)
    with pytest.raises(ValueError, match="start must be None"):
        broken.solve(DEVICE, 0.5, 0.1, start=0.5)
    with pytest.raises(ValueError, match="distance"):
        broken.solve(DEVICE, 0.5, 0.0, m=0.5)
    with pytest.raises(TypeError, match="reference"):
        broken.solve(DEVICE, 0.5, 0.1, m=0.5, reference=0.1)
    with pytest.raises(NotConverged, match="symmetric"):  # below the end of the branch
        broken.solve(DEVICE, 0.5, 1e-5, m=0.5)


def test_two_states_close_to_each_other_are_told_apart():
    survey = broken.search(DEVICE, 0.5, 0.0015, m=[0.3])
    assert [state.attracting for state in survey.states] == [True, False]
    assert survey.states[0].p1 < survey.states[1].p1
    assert all(state.report.residual < 1e-8 for state in survey.states)


def test_around_the_dense_threshold_no_state_is_stationary_in_m():
    """At chapter 6's load: what is found repels, and its complexity stays above zero."""
    reference = Margin(typical.max_margin(DEVICE, 0.729))
    found = broken.search(DEVICE, 0.729, 0.01, reference=reference, m=[0.4, 0.5, 1.0])
    assert [(state.m, state.attracting) for state in found.states] == [
        (0.4, False),
        (0.5, False),
        (1.0, False),
    ]
    first, second, last = found.states
    assert first.complexity > second.complexity > last.complexity > 0.0
    # complexity = d phi / d(1 / m): its mean over the interval; a trapezium errs by its bend
    slope = (second.local_entropy - first.local_entropy) / (1.0 / 0.5 - 1.0 / 0.4)
    assert slope == pytest.approx(0.5 * (first.complexity + second.complexity), rel=3e-3)
    assert max(state.report.residual for state in found.states) < 1e-9
