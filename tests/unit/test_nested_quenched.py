"""A typical number of groups of groups: one level, other quadratures, numerical derivatives."""

import math

import numpy as np
import pytest

from wfmlib import Band, Binary, Margin, Perceptron, ReLU, TreeCommittee, theory
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory.axes import HARD, checked
from wfmlib.theory.saddles import real_replicas
from wfmlib.theory.since.clusters import arrangements, nested_quenched

clusters = theory.clusters
PERCEPTRON = Perceptron()
AXES = checked(PERCEPTRON, Margin(0.0), HARD)
QUENCHED = {"average": "quenched"}
BANDED = {"constraint": Band(1.0)}
ASKED = {"replicas": (3, 4), **BANDED}


# ------------------------------------------------------------------------------------------------
# The terms, otherwise
# ------------------------------------------------------------------------------------------------


def nested_sum(v0, v1, v2, m1, m2, f):
    """Three quadratures, one inside the other, on panels instead of an even grid."""
    x, outer = gaussian.grid(order=16)
    z, inner = gaussian.grid(order=24)
    field = math.sqrt(v0) * x[:, None, None] + math.sqrt(v1) * z[:, None] + math.sqrt(v2) * z
    groups = np.exp(m2 * f(field)) @ inner
    return outer @ np.log(groups**m1 @ inner)


@pytest.mark.parametrize("constraint", [Margin(0.3), Band(1.0)])
def test_patterns_against_other_quadratures(constraint):
    axes = checked(PERCEPTRON, constraint, HARD)
    q0, q1, q2, m1, m2 = 0.4, 0.75, 0.9, 2.5, 3.0

    def f(field):
        return constraint.log_weight(field.ravel(), 1.0 - q2).reshape(field.shape)

    expected = nested_sum(q0, q1 - q0, q2 - q1, m1, m2, f)
    found, _ = arrangements.energetic(q0, q1, q2, m1, m2, axes)
    assert found.term == pytest.approx(expected, abs=1e-8)


def test_weights_against_other_quadratures():
    found = arrangements.entropic(0.2, 0.15, 0.4, 2.0, 3.0)
    expected = nested_sum(0.2, 0.15, 0.4, 2.0, 3.0, lambda field: np.log(2.0 * np.cosh(field)))
    assert found.term == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("shared", [-0.3, 0.4])
def test_a_pattern_against_random_stabilities(shared):
    """Two pairs, given what all arrangements share: how often four stabilities are positive."""
    q0, q1, q2, count = 0.5, 0.8, 0.9, 400_000
    covariance = np.full((4, 4), q1 - q0)
    for pair in (slice(0, 2), slice(2, 4)):
        covariance[pair, pair] = q2 - q0
    np.fill_diagonal(covariance, 1.0 - q0)
    drawn = np.random.default_rng(4).multivariate_normal(np.full(4, shared), covariance, count)
    right = np.mean(np.all(drawn > 0.0, axis=1))

    def f(field):
        at = Margin(0.0).at(shared + field, 1.0 - q2)
        return at.log_weight, at.slope, at.curvature

    roots = 0.0, math.sqrt(q1 - q0), math.sqrt(q2 - q1)
    far = (8.0, 12.0), (8.0, 12.0)
    found = arrangements.averages(roots, (1.0, 0.1, 0.1), far, (2.0, 2.0), f, False)
    error = math.sqrt(right * (1.0 - right) / count)
    assert math.exp(found.term) == pytest.approx(right, abs=4.0 * error)


# ------------------------------------------------------------------------------------------------
# One level
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "overlap"), [((1, 4), 0.98), ((1, 2.5), 0.96), ((3, 1), 0.95), ((2.5, 1), 0.96)]
)
def test_one_group_or_groups_of_one_are_one_level(sizes, overlap):
    overlaps = (0.8, overlap) if sizes[0] == 1 else (overlap, 0.985)
    found = clusters.nested_entropy(PERCEPTRON, 0.77, overlaps, replicas=sizes, **QUENCHED)
    expected = clusters.entropy(PERCEPTRON, 0.77, overlap, replicas=max(sizes), **QUENCHED)
    assert found == pytest.approx(expected, abs=1e-10)
    first = clusters.first_nested_gap(PERCEPTRON, sizes, **QUENCHED)
    assert first.alpha == clusters.threshold(PERCEPTRON, max(sizes), **QUENCHED)
    assert math.isnan(first.q1 if sizes[0] == 1 else first.q2)


def test_groups_at_their_typical_overlap_are_independent():
    """At q1 = q0 each group is counted on its own."""
    alpha, q2, m1, m2 = 0.7, 0.97, 3.0, 2.0
    state, *_ = real_replicas.saddle(q2, alpha, m2, AXES)
    broken = state.broken
    at = arrangements.Arrangement(broken.q0_hat, 1e-9, broken.split, m1, m2, AXES)
    one = clusters.entropy(PERCEPTRON, alpha, q2, replicas=m2, **QUENCHED)
    assert at.q1 == pytest.approx(at.q0, abs=1e-8)
    assert at.loads[0] == pytest.approx(alpha, rel=1e-7)
    assert at.entropy(alpha) == pytest.approx(m1 * one, abs=1e-8)
    with pytest.raises(NotConverged):  # below there is no saddle point
        clusters.nested_entropy(
            PERCEPTRON, alpha, (at.q0 - 0.05, q2), replicas=(m1, m2), **QUENCHED
        )


def test_a_band_has_one_average_at_the_threshold():
    annealed, quenched = (
        clusters.first_nested_gap(PERCEPTRON, (2, 3), average=average, **BANDED)
        for average in ("annealed", "quenched")
    )
    assert (annealed.alpha, annealed.q0) == (quenched.alpha, 0.0)
    counted = [
        clusters.nested_entropy(PERCEPTRON, 1.1, (0.7, 0.95), average=average, **ASKED)
        for average in ("annealed", "quenched")
    ]
    assert counted[0] == counted[1]


def test_arrangements_in_a_band_may_have_an_overlap():
    """The entropy falls with q0 and rises again; one replica-symmetric equation is met there."""
    axes, overlaps, alpha = checked(PERCEPTRON, Band(1.0), HARD), (0.97, 0.995), 1.6
    at = nested_quenched.saddle(overlaps, alpha, (3.0, 4.0), axes)
    assert 0.05 < at.q0 < 0.1
    assert at.loads[0] == pytest.approx(alpha, rel=1e-9)
    assert (at.q1, at.q2) == pytest.approx(overlaps, abs=1e-9)
    counted = [
        clusters.nested_entropy(PERCEPTRON, alpha, overlaps, average=average, **ASKED)
        for average in ("annealed", "quenched")
    ]
    assert counted[1] == at.entropy(alpha)
    assert 1e-6 < counted[0] - counted[1] < 1e-4


def test_typical_numbers_are_below_average_ones():
    asked = {"replicas": (2, 3)}
    counted = [
        clusters.nested_entropy(PERCEPTRON, 0.6, (0.9, 0.98), average=average, **asked)
        for average in ("annealed", "quenched")
    ]
    assert counted[1] < counted[0]
    empty = [
        clusters.nested_entropy(PERCEPTRON, 0.0, (0.9, 0.98), average=average, **asked)
        for average in ("annealed", "quenched")
    ]
    assert empty[0] == empty[1]


# ------------------------------------------------------------------------------------------------
# The saddle point
# ------------------------------------------------------------------------------------------------


def free_entropy(unknowns, alpha, m1, m2, axes):
    """The free entropy at any overlaps and conjugates  [eq-nested-quenched]."""
    q0, q1, q2, h0, split1, split2 = unknowns
    h1, h2 = h0 + split1, h0 + split1 + split2
    own = h2 + (m2 - 1) * q2 * h2 + (m1 - 1) * m2 * q1 * h1 - m1 * m2 * q0 * h0
    weights = arrangements.entropic(h0, split1, split2, m1, m2).term
    pattern = arrangements.energetic(q0, q1, q2, m1, m2, axes)[0].term
    return weights - 0.5 * m1 * m2 * own + alpha * pattern


@pytest.mark.parametrize(
    "device", [PERCEPTRON, TreeCommittee(np.inf, ReLU(), weights=Binary())], ids=["one", "many"]
)
def test_numerical_derivatives_vanish_at_the_threshold(device):
    axes = checked(device, Margin(0.0), HARD)
    sizes = 2.0, 3.0
    first = clusters.first_nested_gap(device, sizes, **QUENCHED)
    at, _ = nested_quenched.gap(sizes, axes)
    place = np.array([at.q0, at.q1, at.q2, *at.conjugates])
    assert free_entropy(place, first.alpha, *sizes, axes) == pytest.approx(0.0, abs=1e-9)
    for i in range(6):
        step = np.zeros(6)
        step[i] = 1e-4 * min(place[i], 1.0 - place[2])
        high, low = (free_entropy(place + s * step, first.alpha, *sizes, axes) for s in (1, -1))
        assert (high - low) / (2.0 * step[i]) == pytest.approx(0.0, abs=1e-5)


def test_derivatives_in_the_sizes():
    given = 0.15, 0.18, 1.1
    at = arrangements.Arrangement(*given, 2.0, 3.0, AXES)
    place = at.q0, at.q1, at.q2, *given
    for i, found in enumerate(at.leanings(0.7)):
        sizes = np.array([2.0, 3.0])
        step = 1e-4 * np.eye(2)[i]
        high, low = (free_entropy(place, 0.7, *(sizes + s * step), AXES) for s in (1, -1))
        assert found == pytest.approx((high - low) / 2e-4, abs=1e-6)


def test_it_is_a_minimum_over_both_overlaps():
    """And over q0 where the overlaps are kept; no other way leads to the threshold first."""
    sizes = 2, 3
    first = clusters.first_nested_gap(PERCEPTRON, sizes, **QUENCHED)
    asked = {"replicas": sizes, **QUENCHED}
    at = clusters.nested_entropy(PERCEPTRON, first.alpha, (first.q1, first.q2), **asked)
    assert at == pytest.approx(0.0, abs=1e-9)
    for outer in (0.9, 1.0, 1.1):
        for inner in (0.9, 1.0, 1.1):
            q1, q2 = 1.0 - outer * (1.0 - first.q1), 1.0 - inner * (1.0 - first.q2)
            around = clusters.nested_entropy(PERCEPTRON, first.alpha, (q1, q2), **asked)
            assert around > 1e-6 or outer == inner == 1.0


def test_free_sizes_are_best():
    free = clusters.first_nested_gap(PERCEPTRON, None, **QUENCHED)
    whole = clusters.nested_threshold(PERCEPTRON, (3, 4), **QUENCHED)
    assert 0.0 < whole - free.alpha < 1e-4
    at, _ = nested_quenched.gap(None, AXES)
    assert np.allclose(at.leanings(free.alpha), 0.0, atol=1e-8)
    assert free.alpha < clusters.threshold(PERCEPTRON, None, **QUENCHED)
    assert "q0" in repr(free)


def test_large_groups_are_out_of_range():
    with pytest.raises(NotConverged):
        clusters.nested_threshold(PERCEPTRON, (12, 12), **QUENCHED)
    with pytest.raises(ValueError, match="average"):
        clusters.nested_threshold(PERCEPTRON, (2, 2), average="typical")
