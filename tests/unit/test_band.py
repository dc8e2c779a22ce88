"""Stabilities in a band: its weight, typical solutions, what surrounds them, and real replicas."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from wfmlib import (
    Band,
    Binary,
    CrossEntropy,
    Margin,
    ParityMachine,
    Perceptron,
    ReLU,
    Spherical,
    TreeCommittee,
)
from wfmlib.models.constraints.log_concave import LogConcave
from wfmlib.theory import franz_parisi, large_deviation, typical

BINARY, SPHERE, PARITY = Perceptron(), Perceptron(Spherical()), ParityMachine(2)
KAPPAS = (0.01, 0.3, 1.0, 3.0, 10.0)


def inside(kappa, omega=0.0, variance=1.0):
    """Probability that a normal field lies in the band."""
    width, away = np.sqrt(variance), np.abs(omega)  # lower tails keep their digits
    return special.ndtr((kappa - away) / width) - special.ndtr((-kappa - away) / width)


# ------------------------------------------------------------------------------------------------
# The weight
# ------------------------------------------------------------------------------------------------


def literal(kappa, omega, variance):
    """f, f', f'' and df / dkappa in sixty digits."""
    with mpmath.workdps(60):
        kappa, omega, variance = map(mpmath.mpf, (kappa, omega, variance))
        width = mpmath.sqrt(variance)
        a, b = (kappa - omega) / width, (kappa + omega) / width
        out = (mpmath.erfc(a / mpmath.sqrt(2)) + mpmath.erfc(b / mpmath.sqrt(2))) / 2
        if a < 0:
            weight = (mpmath.erfc(-a / mpmath.sqrt(2)) - mpmath.erfc(b / mpmath.sqrt(2))) / 2
            log_weight = mpmath.log(weight)
        else:
            weight, log_weight = 1 - out, mpmath.log1p(-out)
        near, far = mpmath.npdf(a), mpmath.npdf(b)
        slope = (far - near) / (width * weight)
        curvature = -(a * near + b * far) / (variance * weight) - slope**2
        edge = (near + far) / (width * weight)
    return np.array([log_weight, slope, curvature, edge], dtype=float)


@pytest.mark.parametrize("variance", [1.0, 0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("kappa", KAPPAS)
def test_weight_in_sixty_digits(kappa, variance):
    """Relative errors below 1e-12, of the curvature in units of 1 / variance: for all that
    rounding of the arguments, of order 1e-16 (omega / width)^2, allows."""
    width = math.sqrt(variance)
    places = [1e-6 * kappa, 0.5 * kappa, kappa, kappa + 0.01 * width, kappa + 5.0 * width]
    for omega in places:
        found = np.array(Band(kappa).at(omega, variance))
        expected = literal(kappa, omega, variance)
        for i in (0, 1, 3):
            assert found[i] == pytest.approx(expected[i], rel=1e-12, abs=1e-290)
        assert found[2] == pytest.approx(expected[2], abs=1e-12 / variance, rel=1e-12)


def test_weight_is_even_and_concave():
    omega = np.linspace(-4.0, 4.0, 81)
    at, mirrored = Band(0.7).at(omega, 0.2), Band(0.7).at(-omega, 0.2)
    assert np.array_equal(at.log_weight, mirrored.log_weight)
    assert np.array_equal(at.slope, -mirrored.slope)
    assert np.all((at.curvature < 0.0) & (at.curvature >= -1.0 / 0.2 * (1.0 + 1e-12)))


@pytest.mark.parametrize("m", [0.3, 2.0, 40.0])
@pytest.mark.parametrize("c0", [0.0, 0.4])
def test_groups_by_equidistant_nodes(c0, m):
    """Sums over equidistant nodes: exact to rounding for smooth integrands that vanish at the
    ends, 12 widths away."""
    kappa, gap, variance = 0.8, 0.35, 0.25
    node = np.linspace(-12.0, 12.0, 1201)
    density = stats.norm.pdf(node) * (node[1] - node[0])
    omega = math.sqrt(c0) * node[:, None] + math.sqrt(gap) * node
    at = Band(kappa).at(omega, variance)
    weight = inside(kappa, omega, variance) ** m * density
    norm = weight.sum(axis=1)
    first = (weight * at.slope).sum(axis=1) / norm
    second = (weight * at.slope**2).sum(axis=1) / norm
    found = Band(kappa).grouped(c0, gap, variance, m)
    assert found.term == pytest.approx(density @ np.log(norm) / m, rel=1e-11)
    assert found.common == pytest.approx(density @ first**2, rel=1e-10, abs=1e-25)
    assert found.spread == pytest.approx(density @ (second - first**2), rel=1e-10)
    loss = (weight * m * np.log(inside(kappa, omega, variance))).sum(axis=1) / norm
    assert found.information == pytest.approx(density @ (loss - np.log(norm)), rel=1e-10)


# ------------------------------------------------------------------------------------------------
# What all constraints share, against the kernels of a margin
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kappa", [0.0, 0.7, -0.5])
def test_shared_averages_are_those_of_the_kernels(kappa):
    """Two ways to the same numbers; the worst, at 10^4 replicas, differs by 3e-11."""
    margin = Margin(kappa)
    for c0, gap, m in ((0.3, 0.4, 0.01), (0.0, 0.7, 50.0), (0.5, 0.49, 30.0), (0.4, 0.3, 1e4)):
        given = c0, gap, 1.0 - c0 - gap, m
        assert LogConcave.grouped(margin, *given) == pytest.approx(
            margin.grouped(*given), rel=1e-9, abs=1e-14
        )
    for c, spread in ((0.5, 1.0), (0.9, 1e-3), (0.99, 30.0)):
        assert LogConcave.limit(margin, c, spread, 1.0 - c) == pytest.approx(
            margin.limit(c, spread, 1.0 - c), rel=1e-12
        )


@pytest.mark.parametrize("distance", [0.3, 0.1])
@pytest.mark.parametrize("reference", [Margin(0.1), Margin(0.0), CrossEntropy(2.0, 3.0)])
def test_shared_surroundings_are_those_of_the_kernels(monkeypatch, reference, distance):
    """Kernels' tables of a loss are good to 1e-9."""
    given = {"reference": reference, "constraint": Margin(0.0)}
    expected = franz_parisi.solve(BINARY, 0.4, distance, **given)
    monkeypatch.setattr(Margin, "around", LogConcave.around)
    found = franz_parisi.solve(BINARY, 0.4, distance, **given)
    for name in ("local_entropy", "slope", "p", "t0", "replicon"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-7, abs=1e-9)


# ------------------------------------------------------------------------------------------------
# Typical solutions
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kappa", [0.1, 1.0, 3.0])
def test_typical_solutions_are_orthogonal_and_as_many_as_on_average(kappa):
    """Aubin, Perkins and Zdeborova: ln 2 + alpha ln[1 - 2 H(kappa)]."""
    point = typical.solve(BINARY, 0.2, Band(kappa))
    assert (point.q, point.q_hat, point.distance) == (0.0, 0.0, 0.5)
    log_inside = math.log(inside(kappa))
    assert point.entropy == pytest.approx(math.log(2.0) + 0.2 * log_inside, abs=1e-14)
    capacity = typical.capacity(BINARY, constraint=Band(kappa))
    assert capacity == pytest.approx(-math.log(2.0) / log_inside, rel=1e-13)
    assert typical.capacity(BINARY, constraint=Band(kappa), ansatz="1RSB") == capacity
    step = 1e-5
    wider = typical.solve(BINARY, 0.2, Band(kappa + step)).entropy
    narrower = typical.solve(BINARY, 0.2, Band(kappa - step)).entropy
    growth = (wider - narrower) / (2.0 * step)
    assert 0.2 * point.margin_density == pytest.approx(growth, rel=1e-6)  # (step / kappa)^2


def test_average_number_of_solutions_of_small_instances():
    """Counted one by one; Gaussian patterns, for which the average is 2^N [1 - 2 H]^P."""
    N, P, kappa, samples = 10, 8, 1.0, 2000
    rng = np.random.default_rng(5)
    vectors = 1.0 - 2.0 * ((np.arange(2**N)[:, None] >> np.arange(N)) & 1)
    counts = np.empty(samples)
    for i in range(samples):
        fields = vectors @ rng.standard_normal((N, P)) / math.sqrt(N)
        counts[i] = np.sum(np.all(np.abs(fields) <= kappa, axis=1))
    entropy = typical.solve(BINARY, P / N, Band(kappa)).entropy
    assert abs(counts.mean() - math.exp(N * entropy)) < 4.0 * counts.std() / math.sqrt(samples)


@pytest.mark.parametrize("kappa", KAPPAS)
def test_replica_symmetry_is_stable_up_to_capacity(kappa):
    """f''(0) = -2 kappa G(kappa) / [1 - 2 H(kappa)], and the replicon is alpha f''(0)^2."""
    found = typical.instability(BINARY, constraint=Band(kappa))
    slack = inside(kappa) / (2.0 * kappa * stats.norm.pdf(kappa))
    assert found == pytest.approx(slack**2, rel=1e-12)
    assert found == pytest.approx(typical.instability(SPHERE, constraint=Band(kappa)), rel=1e-12)
    assert found > typical.capacity(BINARY, constraint=Band(kappa))


def test_hidden_units():
    """Their stabilities at overlap 0 are one normal field, too: a band in units of its width."""
    device = TreeCommittee(np.inf, ReLU())
    scaled = Band(1.0 * ReLU().scale)
    assert typical.solve(device, 0.3, scaled).entropy == pytest.approx(0.3 * math.log(inside(1.0)))
    ratio = typical.instability(device, constraint=scaled) / typical.instability(
        SPHERE, constraint=Band(1.0)
    )
    assert ratio == pytest.approx(ReLU().effective_overlap(0.0).slope ** -2, rel=1e-12)


def test_curve_over_loads_and_bands():
    loads, bands = [0.1, 0.4], [Band(0.5), Band(2.0)]
    found = typical.curve(BINARY, loads, bands)
    for i, j in np.ndindex(2, 2):
        point = typical.solve(BINARY, loads[i], bands[j])
        assert float(np.asarray(found.entropy)[i, j]) == point.entropy


# ------------------------------------------------------------------------------------------------
# Around a typical solution
# ------------------------------------------------------------------------------------------------


class Literal:
    """The local entropy as a function of all order parameters, the reference's field first.

    The field v on the reference is normal, cut to its band; what counted solutions share of
    theirs is ``t1 v + sqrt(p - t1^2) z``.
    """

    def __init__(self, alpha, kt, kappa):
        self.alpha, self.kappa = alpha, kappa
        nodes, weight = np.polynomial.legendre.leggauss(120)
        self.v = kt * nodes
        self.weight = kt * weight * stats.norm.pdf(self.v) / inside(kt)
        self.z, measure = np.polynomial.hermite_e.hermegauss(160)
        self.measure = measure / math.sqrt(2.0 * math.pi)

    def __call__(self, p, p_hat, t1, t1_hat):
        field = math.sqrt(p_hat) * self.z + t1_hat
        entropic = self.measure @ np.logaddexp(field, -field)
        entropic -= 0.5 * p_hat * (1.0 - p) + t1_hat * t1
        omega = t1 * self.v[:, None] + math.sqrt(p - t1**2) * self.z
        log_inside = np.log(inside(self.kappa, omega, 1.0 - p))
        return entropic + self.alpha * float(self.weight @ log_inside @ self.measure)


@pytest.mark.parametrize(("kt", "distance"), [(1.0, 0.3), (0.8, 0.15), (1.2, 0.3)])
def test_local_entropy_is_stationary_in_all_order_parameters(kt, distance):
    """Finite differences of an independent quadrature; both err by 1e-7 or so."""
    alpha, kappa = 0.8, 1.0
    point = franz_parisi.solve(BINARY, alpha, distance, reference=Band(kt), constraint=Band(kappa))
    literal = Literal(alpha, kt, kappa)
    t1 = 1.0 - 2.0 * distance

    def stationary(unknowns):
        root, t1_hat = unknowns
        field = root * literal.z + t1_hat
        return [
            literal.measure @ np.tanh(field) - t1,
            literal.measure @ np.tanh(field) ** 2 - point.p,
        ]

    root, t1_hat = optimize.fsolve(stationary, [1.0, 1.0], xtol=1e-13)
    p_hat = root**2
    assert literal(point.p, p_hat, t1, t1_hat) == pytest.approx(point.local_entropy, abs=1e-8)
    step = 1e-4
    by_p = literal(point.p + step, p_hat, t1, t1_hat) - literal(point.p - step, p_hat, t1, t1_hat)
    assert by_p / (2.0 * step) == pytest.approx(0.0, abs=1e-6)
    by_t1 = literal(point.p, p_hat, t1 + step, t1_hat) - literal(point.p, p_hat, t1 - step, t1_hat)
    assert -2.0 * by_t1 / (2.0 * step) == pytest.approx(point.slope, abs=1e-6)
    assert point.t0 == 0.0


@pytest.mark.parametrize("device", [BINARY, SPHERE])
def test_slope_and_maximum(device):
    band = {"reference": Band(0.9), "constraint": Band(1.0)}
    near, at, far = (
        franz_parisi.solve(device, 0.5, d, **band) for d in (0.2 - 1e-4, 0.2, 0.2 + 1e-4)
    )
    growth = (far.local_entropy - near.local_entropy) / 2e-4
    assert at.slope == pytest.approx(growth, rel=1e-6)
    top = franz_parisi.solve(device, 0.5, 0.5, **band)
    expected = typical.solve(device, 0.5, Band(1.0)).entropy
    assert top.local_entropy == pytest.approx(expected, abs=1e-12)
    assert top.slope == pytest.approx(0.0, abs=1e-12)


def test_typical_solutions_are_isolated():
    """No other solutions nearby (Baldassi et al. 2020); there are around one of a smaller band."""
    alone = franz_parisi.curve(
        BINARY, 1.0, [0.0, 0.005, 0.2], reference=Band(1.0), constraint=Band(1.0)
    )
    heights = np.asarray(alone.local_entropy)
    assert heights[0] == 0.0
    assert heights[1] < 0.0 < heights[2]
    given = {"reference": Band(0.8), "constraint": Band(1.0)}
    assert franz_parisi.local_entropy(BINARY, 1.0, 0.005, **given) > 0.0


# ------------------------------------------------------------------------------------------------
# Real replicas
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlap", [0.1, 0.6, 0.95])
def test_two_replicas_are_the_second_moment(overlap):
    """Pairs at an overlap: their entropy, and the chance that both fields lie in the band."""
    alpha, kappa = 0.5, 1.0
    given = {"replicas": 2, "constraint": Band(kappa)}
    point = large_deviation.solve(BINARY, alpha, overlap, **given)

    def both(u):
        return stats.norm.pdf(u) * inside(kappa, overlap * u, 1.0 - overlap**2)

    chance = integrate.quad(both, -kappa, kappa, epsabs=1e-14)[0]
    pairs = math.log(2.0) + stats.bernoulli((1.0 - overlap) / 2.0).entropy()
    assert point.entropy == pytest.approx(0.5 * (pairs + alpha * math.log(chance)), abs=1e-11)
    assert point.local_entropy == pytest.approx(0.5 * alpha * math.log(chance), abs=1e-11)
    assert point.q0 == pytest.approx(0.0, abs=1e-30)


def test_infinitely_many_replicas_without_overlap_between_groups():
    point = large_deviation.solve(BINARY, 0.5, 0.8, constraint=Band(1.0))
    assert (point.q0, point.spread) == (0.0, math.inf)
    expected = 0.5 * math.log(inside(1.0, variance=0.2))
    assert point.local_entropy == pytest.approx(expected, abs=1e-13)
    before = math.inf
    for replicas in (1e2, 1e3, 1e4):
        near = large_deviation.solve(BINARY, 0.5, 0.8, replicas=replicas, constraint=Band(1.0))
        gap = abs(near.local_entropy - point.local_entropy)
        assert gap < 0.2 * before  # 1 / y, with a logarithm
        before = gap


@pytest.mark.parametrize("device", [BINARY, SPHERE])
@pytest.mark.parametrize("replicas", [3.5, 20.0, math.inf])
@pytest.mark.parametrize("alpha", [0.4, 1.7])
def test_slope_is_that_of_the_entropy(device, replicas, alpha):
    """On both sides of the load at which groups begin to overlap."""
    low, at, high = (
        large_deviation.solve(device, alpha, q, replicas=replicas, constraint=Band(1.0))
        for q in (0.8 - 1e-5, 0.8, 0.8 + 1e-5)
    )
    assert at.entropy_slope == pytest.approx((high.entropy - low.entropy) / 2e-5, rel=1e-5)
    assert at.local_entropy < 0.0


def test_many_replicas_tend_to_infinitely_many():
    """Where groups overlap: the difference falls as 1 / y, with a logarithm."""
    given = {"constraint": Band(1.0)}
    limit = large_deviation.solve(BINARY, 1.6, 0.8, **given)
    assert limit.q0 == 0.8
    gaps = [
        abs(large_deviation.solve(BINARY, 1.6, 0.8, replicas=y, **given).entropy - limit.entropy)
        for y in (100.0, 1000.0, 10000.0)
    ]
    assert gaps[1] < 0.2 * gaps[0]
    assert gaps[2] < 0.2 * gaps[1]


def test_curve_of_replicas():
    found = large_deviation.curve(BINARY, 0.5, [0.3, 0.7], replicas=2, constraint=Band(1.0))
    assert large_deviation.overlap_range(BINARY, 0.5, constraint=Band(1.0)) == (0.0, 1.0)
    for q, height in zip((0.3, 0.7), np.asarray(found.local_entropy), strict=True):
        point = large_deviation.solve(BINARY, 0.5, q, replicas=2, constraint=Band(1.0))
        assert height == pytest.approx(point.local_entropy, abs=1e-12)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Band(0.0), "kappa must be"),
        (lambda: typical.solve(BINARY, 0.5, Band(20.0)), "kappa of Band"),
        (lambda: typical.solve(TreeCommittee(3), 0.5, Band(1.0)), "constraint must be Margin"),
        (
            lambda: large_deviation.solve(ParityMachine(2), 0.5, 0.5, constraint=Band(1.0)),
            "Margin",
        ),
        (lambda: typical.capacity(SPHERE, constraint=Band(1.0)), "discrete weights"),
        (lambda: typical.solve_1rsb(BINARY, 0.5, Band(1.0)), "constraint must be Margin"),
        (
            lambda: franz_parisi.solve(BINARY, 0.5, 0.1, constraint=Band(1.0)),
            "reference must be B",
        ),
        (lambda: franz_parisi.solve(BINARY, 0.5, 0.1, reference=Band(1.0)), "reference must be M"),
        (
            lambda: franz_parisi.solve(
                BINARY, 2.0, 0.1, reference=Band(1.0), constraint=Band(1.0)
            ),
            "alpha must be at most 1.8158",
        ),
        (lambda: franz_parisi.gap(BINARY, 0.5, constraint=Band(1.0)), "constraint must be"),
        (
            lambda: large_deviation.dense_threshold(BINARY, constraint=Band(1.0)),
            "constraint must be",
        ),
    ],
)
def test_what_is_not_offered_is_said(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


@pytest.mark.parametrize("replicas", [2.0, math.inf])
def test_a_band_that_no_pattern_feels_leaves_all_replicas(replicas):
    """Its force underflows to zero."""
    point = large_deviation.solve(BINARY, 1.0, 0.999, replicas=replicas, constraint=Band(10.0))
    assert (point.q0, point.local_entropy) == pytest.approx((0.0, 0.0), abs=1e-20)


def test_a_band_that_hardly_any_field_leaves_counts_all():
    """One replica at an overlap of nearly one, where the force underflows: as without patterns."""
    device = TreeCommittee(math.inf, weights=Binary())
    with_patterns, without = (
        large_deviation.solve(device, alpha, 0.999999, replicas=1.0, constraint=Band(10.0))
        for alpha in (1.0, 0.0)
    )
    assert with_patterns.entropy == pytest.approx(without.entropy, abs=1e-12)
    assert with_patterns.energetic == pytest.approx(0.0, abs=1e-12)
