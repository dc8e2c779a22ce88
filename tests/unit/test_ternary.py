"""Weights of -1, 0 and +1: against plain sums, counting, other priors and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special

from wfmlib import Binary, Margin, Perceptron, Ternary, TreeCommittee, learning, patterns
from wfmlib.models.weights import ternary
from wfmlib.numerics import gaussian
from wfmlib.theory import franz_parisi, franz_parisi_1rsb, large_deviation, typical

THIRD = Perceptron(Ternary(1 / 3))
FEW = 1e-6  # share of zeros; what it changes is of order FEW ln(1 / FEW) = 1.4e-5
X = np.arange(-12.0, 12.0, 0.01)  # the trapezoidal rule is spectral on the line
DENSITY = 0.01 * np.exp(-0.5 * X**2) / math.sqrt(2.0 * math.pi)


def plain(q_hat, zeros):
    """Return overlap, complement and entropic term by sums over a fine grid."""
    a = (1.0 - zeros) ** -0.5
    field = a * math.sqrt(q_hat) * X

    def states(log_z):
        total = math.exp(log_z) + 2.0 * np.cosh(field)
        return total, math.exp(log_z) / total

    log_z = optimize.brentq(lambda y: DENSITY @ states(y)[1] - zeros, -40, 40, xtol=1e-14)
    total, none = states(log_z)
    mean = a * 2.0 * np.sinh(field) / total
    complement = DENSITY @ (a * a * (1.0 - none) - mean**2)
    term = DENSITY @ np.log(total) - zeros * log_z - 0.5 * q_hat * complement
    return DENSITY @ mean**2, complement, term


@pytest.mark.parametrize("zeros", [0.01, 1 / 3, 0.9])
@pytest.mark.parametrize("q_hat", [1e-3, 0.7, 6.0])
def test_averages_in_a_field(zeros, q_hat):
    found = Ternary(zeros).entropic(q_hat)
    assert (found.q, found.complement, found.term) == pytest.approx(plain(q_hat, zeros), rel=1e-10)


def test_capacity_solves_the_equations_as_they_stand():
    """Overlap, force and entropy of sign-constrained fields, in plain sums."""

    def point(q_hat):
        q, complement, term = plain(q_hat, 1 / 3)
        short = -math.sqrt(q / complement) * X
        force = np.exp(-0.5 * short**2 - special.log_ndtr(-short)) / math.sqrt(2.0 * math.pi)
        alpha = q_hat * complement / (DENSITY @ force**2)
        return alpha, term + alpha * (DENSITY @ special.log_ndtr(-short))

    q_hat = optimize.brentq(lambda y: point(y)[1], 0.5, 10.0, xtol=1e-13)
    assert typical.capacity(THIRD) == pytest.approx(point(q_hat)[0], rel=1e-9)


@pytest.mark.parametrize("zeros", [0.05, 1 / 3, 0.8])
def test_without_patterns_configurations_are_counted(zeros):
    """The multinomial numbers of pairs of N weights: their logarithm over N errs by ln N / N."""
    weights, N = Ternary(zeros), 200_000
    none = round(zeros * N)
    some = N - none
    assert weights.entropy == pytest.approx(
        (special.gammaln(N + 1) - special.gammaln(none + 1) - special.gammaln(some + 1)) / N
        + some / N * math.log(2.0),
        abs=1e-4,
    )
    for distance in (0.02, 0.2, 0.5):
        moved = np.arange(1, none)
        same, opposite = some * (1 - distance) - 0.5 * moved, some * distance - 0.5 * moved
        good = (opposite > 0) & (same > 0)
        moved, same, opposite = moved[good], same[good], opposite[good]
        log_count = special.gammaln(some + 1) - sum(
            special.gammaln(n + 1) for n in (same, opposite, moved)
        )
        log_count += special.gammaln(none + 1) - sum(
            special.gammaln(n + 1) for n in (moved, none - moved)
        )
        log_count += moved * math.log(2.0)
        assert weights.bound(distance) == pytest.approx(log_count.max() / N, abs=2e-4)
    assert weights.bound(0.0) == 0.0
    assert weights.bound(0.5) == pytest.approx(weights.entropy, rel=1e-12)


@pytest.mark.parametrize("zeros", [0.05, 1 / 3, 0.8])
@pytest.mark.parametrize("overlap", [0.1, 0.7, 0.99])
def test_two_replicas_without_patterns_are_pairs(zeros, overlap):
    weights = Ternary(zeros)
    pairs = 0.5 * (weights.entropy + weights.bound(0.5 * (1.0 - overlap)))
    found = weights.unloaded(overlap, 2.0)
    assert found.entropy == pytest.approx(pairs, rel=1e-9)
    assert weights.unloaded(overlap, 1.0).entropy == pytest.approx(weights.entropy, rel=1e-9)


@pytest.mark.parametrize("zeros", [0.05, 1 / 3, 0.8])
@pytest.mark.parametrize("overlap", [0.1, 0.7, 0.99])
def test_replicas_without_patterns_change_with_their_overlap_as_stated(zeros, overlap):
    """Also where, with infinitely many, some weights are in no field."""
    weights, step = Ternary(zeros), 1e-4 * (1.0 - overlap)
    for replicas in (3.0, math.inf):
        high, low = (weights.unloaded(overlap + s, replicas).entropy for s in (step, -step))
        slope = weights.unloaded(overlap, replicas).slope
        assert (high - low) / (2.0 * step) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("q_hat", [1e6, 1e9, 1e12, 1e20])
def test_weights_collapse_as_stated(q_hat):
    """Below and above the width at which the averages are replaced by their limit."""
    for zeros in (0.01, 1 / 3, 0.9):
        weights = Ternary(zeros)
        at = weights.entropic(q_hat)
        assert q_hat * at.complement**2 == pytest.approx(weights.collapse, rel=20.0 / q_hat**0.5)


@pytest.mark.parametrize("margin", [-0.5, 0.0, 0.3])
def test_hardly_any_zeros_are_binary_weights(margin):
    few, none = Perceptron(Ternary(FEW)), Perceptron(Binary())
    given = {"constraint": Margin(margin)}
    near = {"abs": 4e-5}
    assert typical.capacity(few, **given) == pytest.approx(typical.capacity(none, **given), **near)
    for distance in (0.02, 0.3):
        found, known = (
            franz_parisi.solve(one, 0.3, distance, reference=Margin(0.4), **given)
            for one in (few, none)
        )
        for name in ("local_entropy", "slope", "p", "t0"):
            assert getattr(found, name) == pytest.approx(getattr(known, name), abs=3e-4)
    for replicas in (1.0, 2.5, math.inf):
        found, known = (
            large_deviation.solve(one, 0.3, 0.8, replicas=replicas, **given) for one in (few, none)
        )
        for name in ("entropy", "local_entropy", "slope", "q0"):
            assert getattr(found, name) == pytest.approx(getattr(known, name), abs=1e-4)


def test_the_maximum_of_the_surroundings_is_typical():
    typ = typical.solve(THIRD, 0.5)
    found = franz_parisi.solve(THIRD, 0.5, typ.distance)
    assert found.local_entropy == pytest.approx(typ.entropy, rel=1e-9)
    assert found.slope == pytest.approx(0.0, abs=1e-9)
    assert (found.p, found.t0) == pytest.approx((typ.q, typ.q), rel=1e-8)
    one = large_deviation.solve(THIRD, 0.5, 0.8, replicas=1.0)
    assert one.entropy == pytest.approx(typ.entropy, rel=1e-9)
    assert one.q0 == pytest.approx(typ.q, rel=1e-7)


@pytest.mark.parametrize("distance", [0.005, 0.1, 0.3])
def test_slope_of_the_local_entropy(distance):
    step = 1e-3 * distance

    def height(at):
        return franz_parisi.solve(THIRD, 0.6, at, reference=Margin(0.3)).local_entropy

    found = franz_parisi.solve(THIRD, 0.6, distance, reference=Margin(0.3))
    rise = (height(distance + step) - height(distance - step)) / (2.0 * step)
    assert found.slope == pytest.approx(rise, rel=1e-5)
    assert found.local_entropy < found.bound


@pytest.mark.parametrize("replicas", [2.0, 6.5, math.inf])
@pytest.mark.parametrize("overlap", [0.4, 0.9])
def test_slope_of_real_replicas(replicas, overlap):
    step = 1e-3 * (1.0 - overlap)

    def height(at):
        return large_deviation.solve(THIRD, 0.5, at, replicas=replicas).entropy

    found = large_deviation.solve(THIRD, 0.5, overlap, replicas=replicas)
    rise = (height(overlap + step) - height(overlap - step)) / (2.0 * step)
    assert found.entropy_slope == pytest.approx(rise, rel=1e-5)
    assert found.local_entropy < 0.0


@pytest.mark.parametrize(
    "case", [(0.3, 0.2, 0.5), (1.0, 2.0, 1.0), (2.0, 0.3, 20.0), (0.5, 4.0, 2.0), (5.0, 5.0, 20.0)]
)
def test_a_finer_rule_changes_no_group(case):
    fine = gaussian.legendre_rule(24)
    for zeros in (0.05, 1 / 3, 0.8):
        weights = Ternary(zeros)
        found, known = weights.group(*case), weights.group(*case, rule=fine)
        np.testing.assert_allclose(found, known, rtol=1e-8, atol=1e-11)
    for pull, log_z in ((0.5, 0.0), (3.0, 2.5), (2.0, 6.0)):
        found, known = (
            ternary._limit(0.7, pull, log_z, 1.2, rule) for rule in (ternary.RULE, fine)
        )
        np.testing.assert_allclose(found, known, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(
    ("zeros", "q0_hat", "split"),
    [(1 / 3, 0.8, 0.6), (0.95, 3.0, 20.0)],  # the second so strong that zeros cost exp(400)
)
def test_a_group_of_two_is_a_pair_of_weights_in_one_field(zeros, q0_hat, split):
    """Z^2, averaged over what two replicas share, as a sum over their nine states."""
    a = Ternary(zeros).size
    s = np.array([-a, 0.0, a])
    pair = s[:, None] + s[None, :]

    def states(log_z):
        chance = np.array([0.0, log_z, 0.0])
        field = math.sqrt(q0_hat) * X[:, None, None] * pair
        exponent = chance[:, None] + chance + 0.5 * split * pair**2 + field
        total = special.logsumexp(exponent, axis=(1, 2))
        return total, np.exp(exponent - total[:, None, None])

    def lack(log_z):
        return DENSITY @ states(log_z)[1][:, 1, :].sum(axis=1) - zeros

    log_z = optimize.brentq(lack, -10.0, 2000.0, xtol=1e-13)
    total, share = states(log_z)
    mean = np.einsum("xij,i->x", share, s)
    both = np.einsum("xij,i,j->x", share, s, s)
    found = Ternary(zeros).group(q0_hat, split, 2.0)
    assert found.common == pytest.approx(DENSITY @ mean**2, rel=1e-9)
    assert found.common + found.spread == pytest.approx(DENSITY @ both, rel=1e-9)
    assert found.complement == pytest.approx(1.0 - DENSITY @ both, rel=1e-9)
    term = 0.5 * (DENSITY @ total) - zeros * log_z
    assert found.term == pytest.approx(term, rel=1e-9)


def test_replicas_without_patterns_where_their_overlap_is_the_share_of_weights():
    """The field that all weights would be in diverges there; the entropy goes on smoothly."""
    step = 1e-5
    low, at, high = (
        large_deviation.solve(Perceptron(Ternary(0.25)), 0.0, 0.75 + shift).entropy
        for shift in (-step, 0.0, step)
    )
    assert at == pytest.approx(0.5 * (low + high), abs=1e-8)


def test_what_is_not_offered_is_refused():
    for zeros in (0.0, 1.0, math.nan, -0.2):
        with pytest.raises(ValueError, match="zeros"):
            Ternary(zeros)
    with pytest.raises(TypeError, match="zeros"):
        Ternary("many")
    with pytest.raises(ValueError, match="replicas"):
        large_deviation.solve(THIRD, 0.5, 0.8, replicas=51.0)
    with pytest.raises(ValueError, match="weights Binary"):
        franz_parisi_1rsb.search(THIRD, 0.5, 0.1)
    with pytest.raises(ValueError, match="weights Binary"):
        THIRD.network([1, 0, -1])
    with pytest.raises(ValueError, match="weights Binary"):
        typical.capacity(TreeCommittee(3, weights=Ternary()))
    with pytest.raises(ValueError, match="weights Binary"):
        learning.belief_propagation(THIRD, *patterns.random(5, 10, rng=1))
