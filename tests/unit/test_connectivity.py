"""The error along geodesics: theory against sampled fields, geometry and instances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from wfmlib import Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee, landscape, patterns
from wfmlib.learning import PackedPatterns, stochastic_localization
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import connectivity, franz_parisi, typical

SPHERE, TREE = Perceptron(Spherical()), TreeCommittee(np.inf)
POSITIONS = np.array([0.0, 0.15, 0.5, 0.8])


@pytest.mark.parametrize(
    ("device", "margins"), [(SPHERE, (-0.5, 0.1)), (TREE, (0.0, 0.3)), (SPHERE, (-0.5, -0.5))]
)
def test_overlap_is_where_the_franz_parisi_potential_is_largest(device, margins):
    first, second = map(Margin, margins)
    found = connectivity.overlap(device, 1.0, first, second)
    assert found == pytest.approx(connectivity.overlap(device, 1.0, second, first), abs=1e-8)
    place = franz_parisi.distance_of_maximum(device, 1.0, reference=second, constraint=first)
    assert found == pytest.approx(1.0 - 2.0 * place, abs=1e-7)


def sampled(device, alpha, positions, first, second, margin, number, rng):
    """Error rates by sampling the joint law: shared fields, both ends, and then what is between.

    The field between is drawn by regression on all four, solved as one linear system.
    """
    effective = device.activation.effective
    q = [typical.solve(device, alpha, one).q for one in (first, second)]
    t0 = connectivity.overlap(device, alpha, first, second)

    def c(value):
        return effective(value, 1.0 - value).c if value < 1.0 else 1.0

    shared = np.array([[c(q[0]), c(t0)], [c(t0), c(q[1])]])
    fields = rng.standard_normal((number, 2)) @ np.linalg.cholesky(shared + 1e-13 * np.eye(2)).T
    ends = []
    for k, one in enumerate((first, second)):
        cut = (one.kappa / device.activation.scale - fields[:, k]) / math.sqrt(1.0 - c(q[k]))
        tail = stats.norm.isf(rng.random(number) * stats.norm.sf(cut))
        ends.append(fields[:, k] + math.sqrt(1.0 - c(q[k])) * tail)
    seen = np.column_stack([fields, *ends])
    rates = []
    for g in positions:
        n = math.sqrt((1 - g) ** 2 + g**2 + 2 * g * (1 - g) * t0)
        cross = [((1 - g) * q[0] + g * t0) / n, ((1 - g) * t0 + g * q[1]) / n]
        cross += [(1 - g + g * t0) / n, (g + (1 - g) * t0) / n]
        cross = np.array([c(value) for value in cross])
        law = np.block([[shared, shared], [shared, np.eye(2) + (1 - np.eye(2)) * c(t0)]])
        weights = np.linalg.lstsq(law, cross, rcond=1e-10)[0]
        rest = max(1.0 - weights @ cross, 0.0)
        field = seen @ weights + math.sqrt(rest) * rng.standard_normal(number)
        rates.append(np.mean(field < margin.kappa / device.activation.scale))
    return np.array(rates)


@pytest.mark.parametrize(
    ("device", "alpha", "first", "second", "margin"),
    [
        (SPHERE, 1.5, -0.5, -0.5, -0.5),
        (SPHERE, 1.5, -0.45, -0.5, -0.5),
        (TREE, 1.0, 0.0, 0.0, 0.0),
        (TREE, 1.0, 0.3, 0.0, 0.0),
        (TreeCommittee(np.inf, ReLU()), 0.8, 0.0, 0.1, 0.0),
    ],
)
def test_error_is_that_of_sampled_fields(device, alpha, first, second, margin):
    first, second, margin = map(Margin, (first, second, margin))
    number = 100_000
    rng = np.random.default_rng(3)
    found = connectivity.error(device, alpha, POSITIONS, first, second, constraint=margin)
    rates = sampled(device, alpha, POSITIONS, first, second, margin, number, rng)
    error = np.sqrt(np.maximum(found * (1 - found), 1e-5) / number)
    assert np.all(np.abs(found - rates) < 4.5 * error), (found, rates)


def test_ends_are_solutions_and_the_curve_is_symmetric():
    found = connectivity.error(TREE, 1.0, np.array([0.0, 0.3, 0.7, 1.0]))
    assert found[[0, 3]] == pytest.approx(0.0, abs=1e-6)
    assert found[1] == pytest.approx(found[2], rel=1e-4)
    assert connectivity.error(SPHERE, 1.0, 0.5) == pytest.approx(0.0, abs=1e-12), "convex"


def test_least_margins_close_the_barriers():
    """At the margin of [eq-convex-margin] the middle of an edge just has no errors left."""
    least = connectivity.convex_margin(SPHERE, 1.5)
    wanted = Margin(-0.5)
    for change, closed in ((0.003, True), (-0.02, False)):
        one = Margin(least + change)
        middle = connectivity.error(SPHERE, 1.5, 0.5, one, one, constraint=wanted)
        assert (middle < 1e-12) is closed
    edge, face, all_of_them = (
        connectivity.convex_margin(SPHERE, 1.5, corners=p) for p in (2, 3, math.inf)
    )
    star = connectivity.star_margin(SPHERE, 1.5)
    assert -0.5 < edge < face < all_of_them < star < 0.0
    near = connectivity.error(
        SPHERE, 1.5, np.linspace(0, 1, 9), Margin(star + 1e-3), wanted, constraint=wanted
    )
    assert np.all(near < 1e-9)
    with pytest.raises(NotConverged):
        connectivity.star_margin(SPHERE, 3.8)


def test_instances_follow_the_theory():
    """Pairs of typical solutions of one set of patterns, N = 501."""
    N, alpha, wanted = 501, 1.5, Margin(-0.5)
    packed = PackedPatterns.random(round(alpha * N), N, rng=4)
    drawn = [
        stochastic_localization(SPHERE, packed, constraint=wanted, rng=seed) for seed in range(3)
    ]
    assert all(one.converged for one in drawn)
    xi, sigma = packed.unpack(), np.ones(packed.P, dtype=int)
    pairs = [(0, 1), (0, 2), (1, 2)]
    rates, overlaps = [], []
    for i, j in pairs:
        way = landscape.barrier(drawn[i], drawn[j], xi, sigma, constraint=wanted, positions=5)
        rates.append(way.error_rate.values)
        overlaps.append(landscape.overlap(drawn[i], drawn[j]))
    theory = connectivity.error(
        SPHERE, alpha, np.linspace(0, 1, 5), wanted, wanted, constraint=wanted
    )
    # of 3 x 751 patterns, which three pairs share
    error = np.sqrt(theory / packed.P) + 1e-3
    assert np.all(np.abs(np.mean(rates, axis=0) - theory) < 3.0 * error)
    q = typical.solve(SPHERE, alpha, wanted).q
    assert np.mean(overlaps) == pytest.approx(q, abs=4.0 / math.sqrt(N))


def test_a_tree_of_many_units_follows_the_effective_overlaps():
    """The stability between two random networks, K = 501 units: covariance with either end."""
    rng = np.random.default_rng(5)
    K, M, P = 501, 9, 3000
    a, b = (TreeCommittee(K).network(rng.standard_normal((K, M))) for _ in range(2))
    xi, sigma = patterns.random(P, K * M, rng=6)
    middle = TreeCommittee(K).network(landscape.geodesic(a, b, 0.3))
    one, between = (net.stabilities(xi, sigma) for net in (a, middle))
    share = np.mean(np.sum(a.w * middle.w, axis=1) / np.linalg.norm(a.w, axis=1) / math.sqrt(M))
    wanted = Sign().effective(share, 1.0 - share).c
    assert np.mean(one * between) == pytest.approx(wanted, abs=4.0 / math.sqrt(P))


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="device"):
        connectivity.overlap(Perceptron(), 0.5)
    with pytest.raises(ValueError, match="position"):
        connectivity.error(SPHERE, 0.5, 1.5)
    with pytest.raises(ValueError, match="negative margin"):
        connectivity.star_margin(SPHERE, 0.5, constraint=Margin(0.0))
    with pytest.raises(ValueError, match="device"):
        connectivity.convex_margin(TREE, 0.5)
    with pytest.raises(ValueError, match="corners"):
        connectivity.convex_margin(SPHERE, 0.5, corners=1)
    with pytest.raises(TypeError, match="second"):
        connectivity.overlap(SPHERE, 0.5, Margin(0.0), 0.3)
