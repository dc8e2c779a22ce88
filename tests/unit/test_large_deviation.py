"""Real replicas at fixed overlap: against literal free entropies, limits and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, interpolate, optimize, special

from wfmlib import Binary, Margin, ParityMachine, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.models.activations import Linear
from wfmlib.numerics.solvers import NotConverged, increasing_root
from wfmlib.theory import large_deviation, typical
from wfmlib.theory.large_deviation import curve, solve
from wfmlib.theory.large_deviation import real_replicas_entropy as module
from wfmlib.theory.saddles import real_replicas
from wfmlib.theory.saddles.broken_replicas import Clusters
from wfmlib.theory.saddles.broken_symmetry import Broken
from wfmlib.theory.saddles.real_replicas import Finite, Infinite

PERCEPTRON = Perceptron()
SIGNS = TreeCommittee(np.inf, Sign())
CASES = [  # device, load, overlap
    (SIGNS, 1.0, 0.9),
    (TreeCommittee(np.inf, ReLU()), 1.0, 0.85),
    (PERCEPTRON, 0.4, 0.8),
    (TreeCommittee(np.inf, ReLU(), Binary()), 0.4, 0.85),
]


def at(case, replicas, **changed):
    device, alpha, overlap = case
    given = {"alpha": alpha, "overlap": overlap} | changed
    return solve(device, **given, replicas=replicas)


def axes_of(device):
    return device.weights, device.activation, Margin(0.0)


# ------------------------------------------------------------------------------------------------
# The free entropy as printed (P2, B4-B6 and D1-D6), with nothing of the package in it
# ------------------------------------------------------------------------------------------------


def effective(unit, q):
    """c(q) and c'(q) from Delta of P2, appendix B1."""
    if isinstance(unit, Linear):
        return q, 1.0
    if isinstance(unit, Sign):
        return 1.0 - 2.0 / math.pi * math.acos(q), 2.0 / math.pi / math.sqrt(1.0 - q * q)
    norm = 0.5 - 0.5 / math.pi
    angle = math.atan(math.sqrt((1.0 + q) / (1.0 - q)))
    delta = math.sqrt(1.0 - q * q) / (2.0 * math.pi) + q / math.pi * angle
    return (delta - 0.5 / math.pi) / norm, angle / math.pi / norm


STEP = 0.05  # trapezoids on smooth integrands: exponentially small errors
X = np.arange(-10.0, 10.0 + STEP / 2, STEP)
DX = STEP * np.exp(-0.5 * X**2) / math.sqrt(2.0 * math.pi)


def energetic(unit, q0, q1, y, kappa=0.0):
    (c0, _), (c1, _) = effective(unit, q0), effective(unit, q1)
    z = np.arange(-12.0, 30.0, STEP)
    field = math.sqrt(c0) * X[:, None] + math.sqrt(c1 - c0) * z
    exponent = y * special.log_ndtr((field - kappa) / math.sqrt(1.0 - c1)) - 0.5 * z**2
    return DX @ special.logsumexp(exponent + math.log(STEP / math.sqrt(2.0 * math.pi)), axis=1) / y


def entropic_binary(q0_hat, q1_hat, q0, q1, y):
    step = 0.15
    x, z = np.arange(-9.0, 9.0, step), np.arange(-30.0, 30.0, step)
    field = math.sqrt(q0_hat) * x[:, None] + math.sqrt(q1_hat - q0_hat) * z
    exponent = y * np.logaddexp(field, -field) - 0.5 * z**2
    log_average = special.logsumexp(exponent + math.log(step / math.sqrt(2.0 * math.pi)), axis=1)
    products = 0.5 * y * (q0 * q0_hat - q1 * q1_hat) - 0.5 * q1_hat * (1.0 - q1)
    measure = step * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    return products + measure @ log_average / y


def entropic_spherical(q0, q1, y):
    inner, outer = 1.0 - q1, 1.0 - q1 + y * (q1 - q0)
    log = math.log(inner) + math.log(outer / inner) / y + q0 / outer
    return 0.5 * log


@pytest.mark.parametrize("case", CASES[:2], ids=str)
@pytest.mark.parametrize("y", [1.5, 20.0])
def test_spherical_entropy_is_the_minimum_over_q0(case, y):
    device, alpha, q1 = case
    unit = device.activation
    found = optimize.minimize_scalar(
        lambda q0: entropic_spherical(q0, q1, y) + alpha * energetic(unit, q0, q1, y),
        bounds=(0.05, q1 - 1e-4),
        options={"xatol": 1e-9},
    )
    point = at(case, y)
    assert point.entropy == pytest.approx(found.fun, abs=1e-11)
    assert point.q0 == pytest.approx(found.x, abs=1e-5)  # the minimum is flat
    assert point.energetic == pytest.approx(alpha * energetic(unit, point.q0, q1, y), abs=1e-11)
    free = entropic_spherical(0.0, q1, y)
    assert point.local_entropy == pytest.approx(found.fun - free, abs=1e-11)


@pytest.mark.parametrize("y", [1.5, 20.0])
def test_binary_entropy_is_stationary_and_smallest_in_q0(y):
    case = device, alpha, q1 = CASES[3]
    axes = axes_of(device)
    point = at(case, y)

    def value(q0):
        """The saddle of the conjugates: Legendre transforms, whose values need no accuracy."""

        def gradient(x):
            h = 1e-4
            q0_hat, split = np.exp(x)

            def entropy(a, b):
                return entropic_binary(a, b, q0, q1, y)

            q1_hat = q0_hat + split
            first = entropy(q0_hat + h, q1_hat) - entropy(q0_hat - h, q1_hat)
            second = entropy(q0_hat, q1_hat + h) - entropy(q0_hat, q1_hat - h)
            return first / (2 * h), second / (2 * h)

        state = Finite(q1, start, y, axes)
        guess = np.log([state.broken.q0_hat, state.broken.split])
        x = optimize.root(gradient, guess, tol=1e-10).x
        q0_hat, split = np.exp(x)
        return entropic_binary(q0_hat, q0_hat + split, q0, q1, y)

    _, start = module._point(device, alpha, q1, y, axes)

    def free_entropy(q0):
        return value(q0) + alpha * energetic(device.activation, q0, q1, y)

    here = free_entropy(point.q0)
    assert point.entropy == pytest.approx(here, abs=1e-9)
    assert free_entropy(point.q0 - 0.01) > here + 1e-7
    assert free_entropy(point.q0 + 0.01) > here + 1e-7


def literal_limit(unit, q1, d0, kappa=0.0):
    """P2, D3 by brute force in one variable, D6 for the spread."""
    c, slope = effective(unit, q1)

    def best(x):
        def falls(u):
            w = math.sqrt(c) * x + math.sqrt(slope * d0) * u
            return 0.5 * u * u - special.log_ndtr((w - kappa) / math.sqrt(1.0 - c))

        return -optimize.minimize_scalar(falls, bracket=(0.0, 1.0), tol=1e-12).fun

    coarse = np.arange(-9.0, 9.0, 0.1)
    weight = 0.1 * np.exp(-0.5 * coarse**2) / math.sqrt(2.0 * math.pi)
    return weight @ np.array([best(x) for x in coarse])


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_infinitely_many_replicas_by_brute_force(case):
    """P2, D2 with the constant that it drops."""
    device, alpha, q1 = case
    unit = device.activation

    def value(d0):
        entropic = math.log(1.0 - q1) + q1 / (1.0 - q1 + d0)
        return 0.5 * entropic + alpha * literal_limit(unit, q1, d0)

    point = at(case, math.inf)
    here = value(point.spread)
    assert point.entropy == pytest.approx(here, abs=1e-9)
    assert value(0.9 * point.spread) > here + 1e-7
    assert value(1.1 * point.spread) > here + 1e-7
    assert point.energetic == pytest.approx(
        alpha * literal_limit(unit, q1, point.spread), abs=1e-9
    )


@pytest.mark.parametrize("pull", [0.3, 0.98, 1.7])
def test_binary_weight_among_infinitely_many(pull):
    """P2, D1, on either side of where the field becomes bistable."""
    width = 0.8

    def best(u):
        v = np.linspace(-1.0, 6.0, 20001)
        field = width * u + math.sqrt(pull) * v
        place = v[np.argmax(np.logaddexp(field, -field) - 0.5 * v * v)]
        fine = optimize.minimize_scalar(
            lambda v: (
                0.5 * v * v
                - np.logaddexp(width * u + math.sqrt(pull) * v, -width * u - math.sqrt(pull) * v)
            ),
            bounds=(place - 1e-3, place + 1e-3),
            options={"xatol": 1e-12},
        )
        return -fine.fun, fine.x / math.sqrt(pull)

    node, weight = np.polynomial.legendre.leggauss(12)
    ends = np.concatenate(([0.0], np.geomspace(1e-4, 9.0, 14)))
    half = 0.5 * np.diff(ends)[:, None]
    u = ends[:-1, None] + half + half * node
    measure = 2.0 * half * weight * np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    term, m = np.vectorize(best)(u)
    found = Binary().limit_group(width**2, pull)
    assert found.term == pytest.approx(np.sum(measure * term), abs=1e-7)
    assert found.overlap == pytest.approx(np.sum(measure * m * m), abs=1e-5)
    assert found.lean == pytest.approx(np.sum(measure * u * m), abs=1e-5)
    assert found.overlap + found.complement == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("m", [1.5, 20.0, 1000.0])
def test_pattern_averages_for_many_replicas(m):
    """One value of the common field at a time, by scipy's adaptive quadrature."""
    gap, variance, kappa = 1.1 / m, 0.3, 0.2
    common, spread, term, _ = Margin(kappa).grouped(0.0, gap, variance, m)

    def exponent(z):
        return m * special.log_ndtr((math.sqrt(gap) * z - kappa) / math.sqrt(variance)) - z * z / 2

    top = optimize.minimize_scalar(lambda z: -exponent(z), bracket=(0.0, math.sqrt(m)))

    def average(f):
        def weighted(z):
            return f((math.sqrt(gap) * z - kappa) / math.sqrt(variance)) * math.exp(
                exponent(z) + top.fun
            )

        return integrate.quad(weighted, top.x - 9, top.x + 9, epsabs=1e-13, epsrel=1e-12)[0]

    def force(u):
        return math.exp(-0.5 * u * u - special.log_ndtr(u)) / math.sqrt(2.0 * math.pi * variance)

    norm = average(lambda u: 1.0)
    first = average(force) / norm
    second = average(lambda u: (force(u) - first) ** 2) / norm
    assert common == pytest.approx(first**2, rel=1e-10)
    assert spread == pytest.approx(second, rel=1e-9)
    log_norm = math.log(norm / math.sqrt(2.0 * math.pi)) - top.fun
    assert term == pytest.approx(log_norm / m, rel=1e-11)


# ------------------------------------------------------------------------------------------------
# Limits
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_replica_is_a_typical_solution(case):
    device, alpha, _ = case
    usual = typical.solve(device, alpha)
    for overlap in (0.7, 0.95):
        point = at(case, 1.0, overlap=overlap)
        assert point.entropy == pytest.approx(usual.entropy, abs=1e-11)
        assert point.q0 == pytest.approx(usual.q, rel=1e-9)
        assert point.slope == 0.0


@pytest.mark.parametrize(
    ("device", "alpha", "overlap", "y"),
    [
        (PERCEPTRON, 0.7, 0.85, 3.0),
        (PERCEPTRON, 0.7, 0.98, 100.0),
        (TreeCommittee(np.inf, Sign(), Binary()), 0.5, 0.7, 1.1),
        (TreeCommittee(np.inf, ReLU(), Binary()), 0.5, 0.6, 50.0),
    ],
)
def test_two_roots_at_once_are_those_found_one_in_the_other(
    device, alpha, overlap, y, monkeypatch
):
    """The joint Newton's root, and the nested bracketed ones that it replaces where it can."""
    found = solve(device, alpha, overlap, replicas=y)
    assert "both equations" in found.report.message
    monkeypatch.setattr(real_replicas, "_joint_saddle", lambda *given: None)
    nested = solve(device, alpha, overlap, replicas=y)
    for name in ("entropy", "local_entropy", "energetic", "q0"):
        assert getattr(found, name) == pytest.approx(getattr(nested, name), abs=1e-10)


@pytest.mark.parametrize("root", [-1.99, -0.1, 0.3, 2.99])
@pytest.mark.parametrize("start", [None, -1.5, 0.4, 2.5, -2.0, 3.0, 7.0])
def test_an_increasing_root_from_any_start(root, start):
    """Within the limits, beyond which there is nothing to ask, and no farther at once than told.

    The slope that is given is too small: the first steps are too long.
    """
    asked = []

    def function(x):
        assert -2.0 <= x <= 3.0
        asked.append(x)
        return math.expm1(3.0 * (x - root))

    found = increasing_root(function, start, (-2.0, 3.0), step=0.5, slope=0.1)
    assert found == pytest.approx(root, abs=1e-12)
    within = start is not None and -2.0 < start < 3.0
    assert asked[0] == (start if within else 0.0)
    if within and abs(start - root) < 0.15:  # the secant method is quick where it starts close by
        assert len(asked) < 10


@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_replicas_tend_to_infinitely_many(case):
    """With corrections of order 1 / y, whose coefficient is the complexity."""
    limit, many, more = at(case, math.inf), at(case, 1e4), at(case, 4e4)
    assert abs(many.local_entropy - limit.local_entropy) > 3e-7  # so there is something to mend
    extrapolated = (4.0 * more.entropy - many.entropy) / 3.0
    assert extrapolated == pytest.approx(limit.entropy, abs=1e-7)  # order 1 / y^2
    assert more.spread == pytest.approx(limit.spread, rel=0.02)
    assert more.slope == pytest.approx(limit.slope, rel=0.02)
    # d V / d (1/y) tends to the complexity
    assert (many.entropy - more.entropy) / (1e-4 - 0.25e-4) == pytest.approx(
        more.complexity, rel=0.1, abs=2e-3
    )


def test_overlaps_of_machines_begin_where_groups_dissolve():
    """At the replica-symmetric overlap of a committee; a parity machine has groups at any q1."""

    for weights in (Binary(), Spherical()):
        three, parity = TreeCommittee(3, weights=weights), ParityMachine(3, weights)
        assert large_deviation.overlap_range(three, 0.0) == (0.0, 1.0)
        assert large_deviation.overlap_range(parity, 0.5) == (0.0, 1.0)
    three = TreeCommittee(3)
    low, high = large_deviation.overlap_range(three, 0.5)
    assert low == pytest.approx(typical.solve(three, 0.5).q, rel=1e-6)
    assert high == 1.0


def test_a_committee_of_three_has_a_limit_where_its_averages_jump():
    """The slope there is that of local entropies beside it, where they do not jump."""
    overlaps = 0.9175, 0.92, 0.9225
    low, at, high = (large_deviation.solve(TreeCommittee(3), 0.5, q1) for q1 in overlaps)
    assert 1e-8 < at.report.residual < 1e-3
    assert at.slope == pytest.approx((high.local_entropy - low.local_entropy) / 0.005, rel=5e-3)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("y", [2.0, 20.0, math.inf])
def test_groups_dissolve_at_the_replica_symmetric_overlap(case, y):
    device, alpha, _ = case
    usual = typical.solve(device, alpha)
    low, high = large_deviation.overlap_range(device, alpha)
    assert (low, high) == (usual.q, 1.0)
    near = at(case, y, overlap=low + 1e-4)
    assert near.entropy == pytest.approx(usual.entropy, abs=1e-6)
    assert near.entropy_slope == pytest.approx(0.0, abs=1e-3)
    assert near.q0 == pytest.approx(low, abs=2e-4)
    with pytest.raises(NotConverged, match="above the replica-symmetric overlap"):
        at(case, y, overlap=low - 1e-3)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("y", [3.0, math.inf])
def test_without_patterns(case, y):
    few, none = at(case, y, alpha=1e-4, overlap=0.5), at(case, y, alpha=0.0, overlap=0.5)
    assert none.local_entropy == none.energetic == none.slope == 0.0
    assert few.entropy == pytest.approx(none.entropy, abs=1e-4)
    assert -1e-4 < few.local_entropy <= 0.0
    if y == math.inf:
        assert none.spread == math.inf
    else:
        assert few.complexity == pytest.approx(none.complexity, abs=1e-3)


def test_free_replicas_in_closed_form():
    """Infinitely many about a centre of magnetisation sqrt(q1); two with overlap q1."""
    infinite_many = solve(PERCEPTRON, 0.0, 0.6)
    share = 0.5 * (1.0 + math.sqrt(0.6))
    assert infinite_many.entropy == pytest.approx(
        special.entr(share) + special.entr(1.0 - share), abs=1e-13
    )
    pair = solve(PERCEPTRON, 0.0, 0.6, replicas=2)
    different = special.entr(0.2) + special.entr(0.8)
    assert 2.0 * pair.entropy == pytest.approx(math.log(2.0) + different, abs=1e-12)
    sphere = solve(SIGNS, 0.0, 0.6, replicas=2)
    assert sphere.entropy == pytest.approx(0.25 * math.log(0.64), abs=1e-13)


# ------------------------------------------------------------------------------------------------
# Slopes, complexity, equilibrium
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("y", [1.7, 30.0, math.inf])
def test_slopes_are_derivatives(case, y):
    h = 1e-3
    overlap = case[2]
    points = [at(case, y, overlap=overlap + k * h) for k in (-2, -1, 1, 2)]
    here = at(case, y)
    for name, slope in (("entropy", "entropy_slope"), ("local_entropy", "slope")):
        values = [getattr(point, name) for point in points]
        expected = (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / (12.0 * h)
        assert getattr(here, slope) == pytest.approx(expected, abs=1e-7)  # of order h^4 / q^4


@pytest.mark.parametrize("case", CASES, ids=str)
def test_complexity_is_a_derivative_in_the_number_of_replicas(case):
    y, h = 5.0, 0.02
    values = [at(case, y + k * h).entropy for k in (-2, -1, 1, 2)]
    slope = (8.0 * (values[2] - values[1]) - (values[3] - values[0])) / (12.0 * h)
    assert at(case, y).complexity == pytest.approx(-(y**2) * slope, abs=1e-7)


def test_equilibrium_is_one_step_of_symmetry_breaking():
    """At y = m, where neither the overlap nor m changes the entropy; m below 1, so privately."""
    device = TreeCommittee(np.inf, ReLU())
    usual, axes = typical.solve_1rsb(device, 2.0), axes_of(device)
    place = math.log(usual.q0 / (usual.q1 - usual.q0))
    state = Finite(usual.q1, place, usual.m, axes)
    assert state.load == pytest.approx(2.0, rel=1e-8)
    assert state.entropy(2.0) == pytest.approx(usual.entropy, abs=1e-10)
    assert state.slope(2.0) == pytest.approx(0.0, abs=1e-7)
    assert state.complexity(2.0) == pytest.approx(0.0, abs=1e-8)
    assert isinstance(state.broken, Broken)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("y", [2.0, math.inf])
def test_the_load_increases_with_q0_so_there_is_one_minimum(case, y):
    axes = axes_of(case[0])
    for overlap in (0.5, 0.97):
        places = np.linspace(-12.0, 6.0, 25)
        if y == math.inf:
            loads = [Infinite(overlap, place, axes).load for place in places]
        else:
            loads = [Finite(overlap, place, y, axes).load for place in places]
        assert np.all(np.diff(loads) > 0.0)


def test_where_the_complexity_vanishes():
    y = large_deviation.zero_complexity_replicas(PERCEPTRON, 0.4, 0.9)
    point = solve(PERCEPTRON, 0.4, 0.9, replicas=y)
    assert point.complexity == pytest.approx(0.0, abs=1e-8)
    other = solve(PERCEPTRON, 0.4, 0.9, replicas=1.2 * y)
    assert other.entropy > point.entropy  # V is smallest where it vanishes
    with pytest.raises(NotConverged):
        large_deviation.zero_complexity_replicas(PERCEPTRON, 0.0, 0.9)


@pytest.mark.parametrize(
    ("device", "digits"),
    [(PERCEPTRON, "0.7553"), (TreeCommittee(np.inf, Sign(), Binary()), "0.7151")],
    ids=str,
)
def test_entropy_touches_a_slope_of_zero_at_the_threshold(device, digits):
    load = large_deviation.dense_threshold(device)
    assert f"{load:.4f}" == digits
    overlaps = np.linspace(0.8, 0.96, 33)
    for alpha, rises in ((load - 0.003, False), (load + 0.003, True)):
        found = curve(device, alpha, overlaps)
        assert np.any(np.diff(found.entropy) > 0.0) == rises


def test_entropy_of_countable_groups_touches_a_slope_of_zero_at_the_threshold():
    load = large_deviation.dense_threshold(PERCEPTRON, replicas="zero complexity")
    for alpha, rises in ((load - 0.003, False), (load + 0.003, True)):
        entropies = []
        for overlap in special.expit([4.7, 5.2, 5.7]).tolist():
            y = large_deviation.zero_complexity_replicas(PERCEPTRON, alpha, overlap)
            entropies.append(solve(PERCEPTRON, alpha, overlap, replicas=y).entropy)
        assert np.any(np.diff(entropies) > 0.0) == rises


# ------------------------------------------------------------------------------------------------
# Curves, and at the door
# ------------------------------------------------------------------------------------------------


def test_a_curve_holds_the_points_and_nan_where_there_are_none():
    overlaps = np.array([[0.95, 0.2], [0.5, 0.8]])
    found = curve(SIGNS, 1.0, overlaps.ravel(), replicas=20)
    assert found.converged.values.tolist() == [True, False, True, True]
    assert (found.device, found.alpha, found.replicas) == (repr(SIGNS), 1.0, 20.0)
    assert found.constraint == repr(Margin(0.0))
    assert math.isnan(found.entropy[1])
    point = solve(SIGNS, 1.0, 0.8, replicas=20)
    for name in ("entropy", "local_entropy", "energetic", "q0", "spread", "slope", "complexity"):
        assert getattr(found, name)[3] == pytest.approx(getattr(point, name), rel=1e-9)
    with pytest.warns(RuntimeWarning, match="no saddle point at 1 of 4 overlaps"):
        values = large_deviation.local_entropy(SIGNS, 1.0, overlaps, replicas=20)
    assert np.array_equal(values.ravel(), found.local_entropy, equal_nan=True)
    assert values.shape == (2, 2)
    assert large_deviation.energetic_term(SIGNS, 1.0, 0.8, replicas=20) == point.energetic
    assert curve(SIGNS, 1.0, []).entropy.shape == (0,)


def test_close_overlaps_at_small_loads_are_free():
    point = solve(SIGNS, 0.1, 0.999)
    assert -1e-12 < point.local_entropy <= 0.0
    assert point.energetic <= 0.0


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        ({"overlap": 0.0}, ValueError, "overlap must be finite and >= 1e-09 and < 1, got 0.0"),
        ({"overlap": 1.0}, ValueError, "overlap must be finite and >= 1e-09 and < 1, got 1.0"),
        ({"overlap": "1"}, TypeError, "overlap must be a real number"),
        (
            {"overlap": 1 - 1e-7, "device": TreeCommittee(3)},
            ValueError,
            "overlap must be finite and >= 1e-09 and <= 0.999999, got 0.9999999",
        ),
        ({"alpha": -1.0}, ValueError, "alpha, if not 0, must be finite and >= 1e-07, got -1.0"),
        ({"replicas": 0.5}, ValueError, "replicas, if not math.inf, must be finite and >= 1"),
        ({"replicas": -math.inf}, ValueError, "replicas"),
        ({"replicas": "many"}, TypeError, "replicas"),
        (
            {"constraint": Margin(-3.0)},
            ValueError,
            "margin / activation.scale must be finite and >= -2",
        ),
        ({"constraint": 0.1}, TypeError, "constraint must be Margin"),
        (
            {"device": ParityMachine(3), "constraint": Margin(0.1)},
            ValueError,
            "constraint must be Margin.* for a device of finitely many units",
        ),
        ({"device": Perceptron}, TypeError, "device must be .* call the class"),
        ({"device": TreeCommittee(5)}, ValueError, "be a TreeCommittee of three sign units or"),
        (
            {"device": ParityMachine(4), "replicas": 60},
            ValueError,
            r"replicas must be from 1 to 50 for ParityMachine\(units=4",
        ),
    ],
)
def test_what_is_wrong_is_named(chosen, error, message):
    with pytest.raises(error, match=message):
        solve(**({"device": SIGNS, "alpha": 1.0, "overlap": 0.9} | chosen))


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (large_deviation.dense_threshold, ()),
        (large_deviation.zero_complexity_replicas, (0.4, 0.9)),
    ],
)
def test_what_machines_of_few_units_are_not_asked(question, given):
    with pytest.raises(ValueError, match="device must be a Perceptron or have infinitely many"):
        question(TreeCommittee(3, weights=Binary()), *given)


@pytest.mark.parametrize(
    ("device", "alpha", "overlap", "y"),
    [
        (TreeCommittee(np.inf, ReLU(), Binary()), 0.7, 0.3, 1e5),
        (SIGNS, 0.3, 2e-6, 2.0),
        (PERCEPTRON, 0.7, 0.005, 1e5),
        (TreeCommittee(np.inf, ReLU(), Binary()), 0.83, 1e-9, 1.0),
        (TreeCommittee(np.inf, ReLU()), 0.7, 0.1, math.inf),
    ],
)
def test_below_the_replica_symmetric_overlap_nothing_is_found(device, alpha, overlap, y):
    """Where averages lose their digits load jumps: a change of sign there is no saddle point."""
    low, _ = large_deviation.overlap_range(device, alpha)
    assert overlap < low
    with pytest.raises(NotConverged, match="must be above the replica-symmetric overlap"):
        solve(device, alpha, overlap, replicas=y)
    here = solve(device, alpha, low * (1 + 1e-3), replicas=y)
    assert here.report.residual < 1e-8


def test_a_saddle_point_is_judged_by_its_residual(monkeypatch):
    """A place that is none, from whatever search, is refused."""
    monkeypatch.setattr(real_replicas, "_single", lambda excess, *_: 0.7 + 0 * excess(0.7))
    with pytest.raises(NotConverged, match="residual"):
        solve(SIGNS, 1.0, 0.9)


def test_a_curve_goes_on_past_overlaps_without_a_saddle_point():
    found = curve(PERCEPTRON, 0.7, [0.005, 0.2, 0.6], replicas=1e5)
    np.testing.assert_array_equal(found.converged, [False, False, True])
    assert all("must be above" in why for why in found.reason.values[:2])
    with pytest.raises(NotConverged, match="must be above"):
        large_deviation.zero_complexity_replicas(CASES[3][0], 0.83, 1e-9)


def test_a_local_entropy_above_zero_is_refused(monkeypatch):
    monkeypatch.setattr(Infinite, "entropy", lambda self, alpha: 5.0)
    with pytest.raises(NotConverged, match=r"local entropy found, .* exceeds its bound"):
        solve(SIGNS, 1.0, 0.9)


def test_a_threshold_needs_replicas_that_feel_one_another():
    with pytest.raises(ValueError, match=r"if not math\.inf, must be finite and > 1 "):
        large_deviation.dense_threshold(PERCEPTRON, replicas=1.0)
    with pytest.raises(ValueError, match="replicas must be one of 'zero complexity'"):
        large_deviation.dense_threshold(PERCEPTRON, replicas="all")
    with pytest.raises(ValueError, match=r"device must have weights Binary\(\) here"):
        large_deviation.dense_threshold(SIGNS)


def test_a_point_reads_well():
    text = str(solve(PERCEPTRON, 0.4, 0.9, replicas=20))
    start = "Point(Perceptron(weights=Binary()), alpha=0.4, overlap=0.9, replicas=20, constraint="
    assert text.startswith(start + "Margin(kappa=0.0), steps=0)")
    assert "complexity" in text
    assert "complexity" not in str(solve(PERCEPTRON, 0.4, 0.9))


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_energetic_term_counts_each_pattern(alpha):
    """The entropy is stationary in all else, so that its slope in the load is that term."""
    step = 1e-4
    low, point, high = (solve(SIGNS, alpha + shift, 0.9) for shift in (-step, 0.0, step))
    slope = (high.entropy - low.entropy) / (2.0 * step)
    assert point.energetic / alpha == pytest.approx(slope, rel=1e-6)


# ------------------------------------------------------------------------------------------------
# One step of breaking between groups
# ------------------------------------------------------------------------------------------------


def bisected(field, push, variance):
    """Where a field comes to rest that a pattern pushes, between it and where it is pushed at."""
    width = math.sqrt(variance)

    def slope(w):
        t = w / width
        return np.exp(-0.5 * t**2 - special.log_ndtr(t)) / math.sqrt(2.0 * math.pi) / width

    low, high = field, field + push * slope(field)
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = middle - field > push * slope(middle)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    force = slope(low)
    bend = -force * (force + low / variance)
    term = special.log_ndtr(low / width) - 0.5 * push * force**2
    return term, force, bend / (1.0 - push * bend)


def as_written(device, alpha, q1, d0, q0, m):
    """The local entropy of eq-ld-broken, and the replicons in clusters and between them."""
    (c0, slope0), (c1, slope1) = (effective(device.activation, q) for q in (q0, q1))
    x, z = X[::2], np.arange(-10.0, 25.0, 2.0 * STEP)
    field = math.sqrt(c0) * x[:, None] + math.sqrt(c1 - c0) * z
    at = np.arange(np.min(field) - 0.1, np.max(field) + 0.1, 0.02)
    table = np.column_stack(bisected(at, slope1 * d0, 1.0 - c1))
    term, force, bend = np.moveaxis(interpolate.CubicSpline(at, table)(field), -1, 0)
    exponent = m * term - 0.5 * z**2 + math.log(2.0 * STEP / math.sqrt(2.0 * math.pi))
    log_norm, measure = special.logsumexp(exponent, axis=1), 2.0 * DX[::2]
    share = np.exp(exponent - log_norm[:, None])
    inner, outer = 1.0 - q1 + d0, 1.0 - q1 + d0 + m * (q1 - q0)
    entropy = math.log(outer / inner) / (2.0 * m) + q0 / (2.0 * outer)
    curved0, curved1 = (
        (effective(device.activation, q + 1e-6)[1] - effective(device.activation, q - 1e-6)[1])
        / 2e-6
        for q in (q0, q1)
    )
    mean, square = np.sum(share * force, axis=1), np.sum(share * force**2, axis=1)
    within = slope1**2 * np.sum(share * bend**2, axis=1) + curved1 * square
    between = slope0**2 * (np.sum(share * bend, axis=1) + m * (square - mean**2)) ** 2
    between += curved0 * mean**2
    replicons = alpha * inner**2 * (measure @ within), alpha * outer**2 * (measure @ between)
    return entropy + alpha / m * (measure @ log_norm), replicons


@pytest.mark.parametrize(
    ("unit", "alpha", "q1"),
    [(Sign(), 1.0, 0.9), (Sign(), 4.0, 0.98), (ReLU(), 1.0, 0.9)],
)
def test_clusters_of_groups_are_the_minimum_of_what_is_written(unit, alpha, q1):
    """Plain sums, bisection and Nelder-Mead from one start for all."""
    device = TreeCommittee(np.inf, unit)

    def height(x):
        q0, m = q1 * special.expit(x[1]), math.exp(x[2])
        return as_written(device, alpha, q1, (1.0 - q1) * math.exp(x[0]), q0, m)[0]

    given = {"xatol": 1e-4, "fatol": 1e-11, "maxiter": 400}
    found = optimize.minimize(height, [1.0, 1.0, 1.0], method="Nelder-Mead", options=given)
    point = solve(device, alpha, q1, steps=1)
    assert point.local_entropy == pytest.approx(found.fun, rel=1e-8)
    spread, q0, m = (1.0 - q1) * math.exp(found.x[0]), q1 * special.expit(found.x[1]), found.x[2]
    assert point.spread == pytest.approx(spread, rel=2e-3)
    assert point.q0 == pytest.approx(q0, rel=2e-4)
    assert point.m == pytest.approx(math.exp(m), rel=2e-3)
    _, replicons = as_written(device, alpha, q1, point.spread, point.q0, point.m)
    assert point.replicon == pytest.approx(max(replicons), rel=1e-6)
    assert point.replicon > 1.0  # a further step is lower still


@pytest.mark.parametrize(
    ("alpha", "q1", "symmetric", "broken"),
    [
        (0.5, 0.9, -0.0021, -0.0030),
        (1.0, 0.7, -0.2667, -0.2668),
        (1.0, 0.8, -0.1700, -0.1734),
        (1.0, 0.95, -0.0062, -0.0172),
        (2.0, 0.95, -0.166, -0.299),
        (4.0, 0.98, -0.42, -1.48),
    ],
)
def test_clusters_of_groups_of_sign_units_as_in_a_calculation_of_its_own(
    alpha, q1, symmetric, broken
):
    """Another code, another search, by another hand; to the digits that it printed."""
    digits = 2 if alpha == 4.0 else 3 if alpha == 2.0 else 4
    for steps, value in ((0, symmetric), (1, broken)):
        found = solve(SIGNS, alpha, q1, steps=steps)
        assert found.local_entropy == pytest.approx(value, abs=0.6 * 10.0**-digits)
    assert found.q0 < q1
    assert found.m > 0.0


@pytest.mark.parametrize("case", CASES[:2])
def test_without_clusters_groups_are_symmetric(case):
    device, alpha, q1 = case
    symmetric = solve(device, alpha, q1)
    spread = math.log(symmetric.spread / (1.0 - q1))
    for place in ((spread, -25.0, 1.0), (spread, -0.5, -18.0)):  # q0 = q1, m = 0
        at = Clusters(q1, place, axes_of(device))
        assert at.local_entropy(alpha) == pytest.approx(symmetric.local_entropy, abs=1e-8)
        assert at.slope(alpha) == pytest.approx(symmetric.entropy_slope, abs=1e-6)


def test_without_groups_clusters_are_groups_of_m_replicas():
    q1, m = 0.9, 3.0
    point = solve(SIGNS, 1.0, q1, replicas=m)
    at = Clusters(q1, (-30.0, math.log((q1 - point.q0) / point.q0), math.log(m)), axes_of(SIGNS))
    assert at.entropy(1.0) == pytest.approx(point.entropy, abs=1e-12)


def test_clusters_begin_where_typical_solutions_have_them():
    """At loads where replica symmetry is unstable: below the overlap in a cluster are none."""
    typical_groups = typical.solve_1rsb(SIGNS, 4.0)
    with pytest.raises(NotConverged, match="cluster of typical solutions"):
        solve(SIGNS, 4.0, typical_groups.q1 - 1e-3, steps=1)
    point = solve(SIGNS, 4.0, typical_groups.q1 + 1e-4, steps=1)
    assert point.entropy == pytest.approx(typical_groups.entropy, abs=1e-5)
    assert point.m == pytest.approx(typical_groups.m, rel=1e-3)
    assert point.q0 == pytest.approx(typical_groups.q0, rel=1e-3)


@pytest.mark.parametrize(("alpha", "device"), [(0.2, SIGNS), (1.0, TreeCommittee(np.inf, ReLU()))])
def test_clusters_begin_where_symmetric_groups_lose_their_stability(alpha, device):
    def replicon(q1):
        near = math.log(solve(device, alpha, q1).spread / (1.0 - q1))
        return Clusters(q1, (near, -30.0, 0.0), axes_of(device)).replicon(alpha)

    onset = optimize.brentq(lambda q1: replicon(q1) - 1.0, 0.6, 0.9, xtol=1e-6)
    if device == SIGNS:
        assert onset < 1.0 / math.sqrt(2.0)
    below, above = (solve(device, alpha, onset + step, steps=1) for step in (-0.03, 0.03))
    assert below.m is None
    assert below.q0 == onset - 0.03
    assert below.replicon == pytest.approx(replicon(onset - 0.03))
    assert above.m is not None
    assert above.local_entropy < solve(device, alpha, onset + 0.03).local_entropy


def test_the_slope_with_clusters_is_that_of_the_free_entropy():
    step = 1e-4
    ends = [solve(SIGNS, 1.0, 0.9 + x, steps=1).entropy for x in (-step, step)]
    point = solve(SIGNS, 1.0, 0.9, steps=1)
    assert point.entropy_slope == pytest.approx((ends[1] - ends[0]) / (2.0 * step), rel=1e-6)
    found = curve(SIGNS, 1.0, [0.6, 0.9], steps=1)
    assert found.local_entropy[1] == pytest.approx(point.local_entropy, rel=1e-12)
    assert found.m.values[1] == pytest.approx(point.m)
    assert math.isnan(found.m[0])
    assert found.attrs["steps"] == 1


def test_groups_of_a_convex_set_form_no_clusters():
    device = Perceptron(Spherical())
    point, symmetric = (solve(device, 1.0, 0.9, steps=steps) for steps in (1, 0))
    assert point.local_entropy == symmetric.local_entropy
    assert point.m is None
    assert point.replicon < 1.0
    assert "(stable)" in repr(point)
    assert solve(device, 0.0, 0.9, steps=1).local_entropy == 0.0


@pytest.mark.parametrize(
    ("device", "given", "message"),
    [
        (SIGNS, {"replicas": 20.0}, "replicas must be math.inf with steps=1"),
        (TreeCommittee(3), {}, "steps=1"),
        (PERCEPTRON, {}, "must have weights Spherical"),
        (SIGNS, {"steps": 2}, "steps"),
    ],
)
def test_clusters_are_refused_where_there_is_no_formula(device, given, message):
    with pytest.raises(ValueError, match=message):
        solve(device, 1.0, 0.9, **{"steps": 1} | given)
