"""Groups of solutions: closed forms, exact counts at finite N, other quadratures, refusals."""

import itertools
import math
from functools import lru_cache

import mpmath
import numpy as np
import pytest
import scipy
from scipy.special import gammaln, logsumexp

from wfmlib import (
    Band,
    Binary,
    CrossEntropy,
    Margin,
    Perceptron,
    Spherical,
    TreeCommittee,
    learning,
    patterns,
    theory,
)
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory.axes import HARD, checked
from wfmlib.theory.since.clusters import arrangements

clusters = theory.clusters
PERCEPTRON, BAND = Perceptron(), Band(1.0)
BANDED = {"constraint": BAND}
QUENCHED = {"average": "quenched"}
LN2 = math.log(2.0)


# ------------------------------------------------------------------------------------------------
# The two terms, otherwise
# ------------------------------------------------------------------------------------------------


def binomial_entropic(m, q):
    """The number of groups of vectors, from the sum over how many of m spins are down."""
    k = np.arange(m + 1)
    log_ways = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)

    def bound(h):
        products = 0.5 * m * h + 0.5 * m * (m - 1) * q * h
        return logsumexp(log_ways + 0.5 * h * (m - 2 * k) ** 2) - products

    return scipy.optimize.minimize_scalar(bound, bounds=(0, 30), options={"xatol": 1e-12}).fun


def direct_energetic(m, q, constraint):
    """One pattern right for all m: an integral over the field that they share."""
    root, own = math.sqrt(q), math.sqrt(1.0 - q)
    features = [(c / root, own / root) for c, _ in constraint.features(1.0 - q)]
    z, weight = gaussian.grid(*features, order=24)
    if isinstance(constraint, Band):
        low, high = (-BAND.kappa - root * z) / own, (BAND.kappa - root * z) / own
        right = scipy.special.ndtr(high) - scipy.special.ndtr(low)
    else:
        right = scipy.special.ndtr((root * z - constraint.kappa) / own)
    return math.log(weight @ right**m)


@pytest.mark.parametrize("m", [2, 3, 7])
@pytest.mark.parametrize("q", [0.2, 0.9, 0.99])
def test_groups_of_vectors_are_counted(m, q):
    found = clusters.entropy(PERCEPTRON, 0.0, q, replicas=m)
    assert found == pytest.approx(binomial_entropic(m, q), abs=1e-10)


def test_pairs_of_vectors_in_closed_form():
    d = (1 - 0.7) / 2
    expected = LN2 - d * math.log(d) - (1 - d) * math.log(1 - d)
    assert clusters.entropy(PERCEPTRON, 0.0, 0.7, replicas=2) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("m", "of"), [(2, (1 / 4, 1 / 2)), (3, (1 / 8, 3 / 4))])
def test_orthants(m, of):
    """Probability that 2 or 3 correlated fields are positive: Sheppard's formulas."""
    for device, c in (
        (PERCEPTRON, 0.6),
        (TreeCommittee(np.inf, weights=Binary()), 2 / math.pi * math.asin(0.6)),
    ):
        free, loaded = (clusters.entropy(device, a, 0.6, replicas=m) for a in (0.0, 1.0))
        expected = math.log(of[0] + of[1] * math.asin(c) / math.pi)
        assert loaded - free == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("constraint", [Margin(0.0), Margin(0.4), Margin(-0.5), BAND])
@pytest.mark.parametrize(("m", "q"), [(1.7, 0.5), (4, 0.98), (12, 0.95)])
def test_the_energetic_term_by_another_quadrature(constraint, m, q):
    free, loaded = (
        clusters.entropy(PERCEPTRON, a, q, replicas=m, constraint=constraint) for a in (0.0, 1.0)
    )
    assert loaded - free == pytest.approx(direct_energetic(m, q, constraint), abs=1e-10)


def test_the_energetic_term_with_many_digits():
    m, q = mpmath.mpf("3.5"), mpmath.mpf("0.97")

    def weight(z):
        low, high = (mpmath.ncdf((s - mpmath.sqrt(q) * z) / mpmath.sqrt(1 - q)) for s in (-1, 1))
        return mpmath.npdf(z) * (high - low) ** m

    expected = float(mpmath.log(2 * mpmath.quad(weight, [0, 0.6, 0.8, 0.9, 1, 1.1, 1.3, 2, 5])))
    free, loaded = (clusters.entropy(PERCEPTRON, a, 0.97, replicas=3.5, **BANDED) for a in (0, 1))
    assert loaded - free == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("average", ["annealed", "quenched"])
@pytest.mark.parametrize("constraint", [Margin(0.1), BAND])
def test_slopes_are_differences(average, constraint):
    asked = {"replicas": 3, "constraint": constraint, "average": average}
    step = 1e-5
    low, at, high = (
        clusters.solve(PERCEPTRON, 0.6, 0.95 + s, **asked) for s in (-step, 0.0, step)
    )
    assert at.slope == pytest.approx((high.entropy - low.entropy) / (2 * step), rel=1e-6)
    entropies = [
        clusters.entropy(PERCEPTRON, 0.6, 0.95, **(asked | {"replicas": 3 + s}))
        for s in (-1e-4, 1e-4)
    ]
    leaning = at.entropy - 3 * (entropies[1] - entropies[0]) / 2e-4
    assert at.complexity == pytest.approx(leaning, rel=1e-5)


# ------------------------------------------------------------------------------------------------
# Exact counts
# ------------------------------------------------------------------------------------------------


def pair_probability(N, d, limit):
    """Two vectors that differ in d of N places: whether a random pattern is right for both.

    Their fields are a + b and a - b, sums of N - d and of d signs. A band if `limit` is given.
    """

    def signs(n):
        k = np.arange(n + 1)
        return 2 * k - n, np.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * LN2)

    (a, p_a), (b, p_b) = signs(N - d), signs(d)
    size = np.abs(b)[None, :]
    right = a[:, None] > size if limit is None else np.abs(a)[:, None] + size <= limit
    return float(p_a @ right @ p_b)


def log_pairs(N, d, P, limit=None):
    """The logarithm of the average number of pairs of solutions that differ in d places."""
    ways = N * LN2 + gammaln(N + 1) - gammaln(d + 1) - gammaln(N - d + 1)
    return ways + P * math.log(pair_probability(N, d, limit))


@pytest.mark.parametrize("limit", [None, 1.0])
def test_average_pairs_of_all_solutions(limit):
    """All solutions of 100 instances of 13 weights, pairs by distance, against the average."""
    N, P, instances = 13, 6, 100
    w = learning.all_weights(N)
    bound = None if limit is None else limit * math.sqrt(N)
    pairs = np.zeros((instances, N + 1))
    rng = np.random.default_rng(10)
    for i in range(instances):
        xi, sigma = patterns.random(P, N, rng=rng)
        fields = learning.enumerate_fields(PERCEPTRON, xi, sigma)
        right = fields > 0 if bound is None else np.abs(fields) <= bound
        found = w[np.all(right, axis=1)].astype(int)
        apart = (N - found @ found.T) // 2
        pairs[i] = np.bincount(apart.ravel(), minlength=N + 1)
    tested = 0
    for d in range(N):
        expected = math.exp(log_pairs(N, d, P, bound))
        if expected > 20.0:  # of fewer, 100 instances hold none
            error = np.std(pairs[:, d], ddof=1) / math.sqrt(instances)
            assert abs(np.mean(pairs[:, d]) - expected) < 4.0 * error
            tested += 1
    assert tested >= 5


@pytest.mark.parametrize("constraint", [Margin(0.0), BAND])
def test_finite_averages_tend_to_the_entropy(constraint):
    """The exact average of pairs at N differs from the entropy by a term of order ln N / N.

    Fields are odd numbers: the edge of the band, sqrt(N), lies half way between two of them.
    """
    lacks = []
    for N in (32**2 - 1, 64**2 - 1):  # a distance of about 1/20
        d = 2 * round(N / 40)
        limit = math.sqrt(N) if constraint is BAND else None
        P = N // 2
        theirs = log_pairs(N, d, P, limit) / N
        ours = clusters.entropy(
            PERCEPTRON, P / N, 1 - 2 * d / N, replicas=2, constraint=constraint
        )
        lacks.append(abs(theirs - ours) * N)
    assert lacks[1] < math.log(64**2)  # of order ln N, not of order N
    assert lacks[1] < 1.5 * lacks[0] + 1.0


# ------------------------------------------------------------------------------------------------
# Thresholds
# ------------------------------------------------------------------------------------------------


def direct_threshold(m, constraint):
    """Minimise over overlaps with the terms of this file."""

    def load(place):
        q = scipy.special.expit(place)
        return -binomial_entropic(m, q) / direct_energetic(m, q, constraint)

    found = scipy.optimize.minimize_scalar(load, bounds=(2.0, 8.0), options={"xatol": 1e-8})
    return found.fun, scipy.special.expit(found.x)


@pytest.mark.parametrize("constraint", [Margin(0.0), Margin(0.3), BAND])
@pytest.mark.parametrize("m", [2, 4])
def test_thresholds_by_another_way(m, constraint):
    load, overlap = direct_threshold(m, constraint)
    found = clusters.first_gap(PERCEPTRON, m, constraint=constraint)
    assert found.alpha == pytest.approx(load, abs=1e-9)
    assert found.overlap == pytest.approx(overlap, abs=1e-5)
    assert clusters.threshold(PERCEPTRON, m, constraint=constraint) == found.alpha


def test_thresholds_of_one_solution_are_capacities():
    band = -LN2 / math.log(math.erf(1 / math.sqrt(2)))
    for average in ("annealed", "quenched"):
        found = clusters.threshold(PERCEPTRON, 1, average=average, **BANDED)
        assert found == pytest.approx(band, abs=1e-12)
    assert clusters.threshold(PERCEPTRON, 1) == pytest.approx(1.0, abs=1e-12)
    capacity = theory.typical.capacity(PERCEPTRON)
    assert clusters.threshold(PERCEPTRON, 1, **QUENCHED) == pytest.approx(capacity, abs=1e-9)


def test_the_thresholds_of_the_symmetric_perceptron_that_are_printed():
    """arXiv:2604.19712: 1.6578 with whole numbers, 1.6576 at its third level of lifting."""
    loads = [clusters.threshold(PERCEPTRON, m, **BANDED) for m in range(2, 9)]
    assert min(loads) == pytest.approx(1.6578, abs=1e-4)
    free = clusters.first_gap(PERCEPTRON, None, **BANDED)
    assert free.alpha == pytest.approx(1.6576, abs=1e-4)
    assert free.alpha <= min(loads)
    at = clusters.solve(PERCEPTRON, free.alpha, free.overlap, replicas=free.replicas, **BANDED)
    assert np.allclose([at.entropy, at.slope, at.complexity], 0.0, atol=1e-6)


@pytest.mark.parametrize("m", [2, 4, None])
def test_quenched_thresholds_solve_the_equations(m):
    """The saddle point of real replicas, solved otherwise, has no entropy and no slope there."""
    found = clusters.first_gap(PERCEPTRON, m, **QUENCHED)
    point = theory.large_deviation.solve(
        PERCEPTRON, found.alpha, found.overlap, replicas=found.replicas
    )
    assert point.entropy == pytest.approx(0.0, abs=1e-8)
    assert point.entropy_slope == pytest.approx(0.0, abs=1e-6)
    assert point.q0 == pytest.approx(found.q0, abs=1e-6)
    assert found.alpha < theory.typical.capacity(PERCEPTRON)
    if m is None:
        assert point.complexity == pytest.approx(0.0, abs=1e-7)
        least = min(clusters.threshold(PERCEPTRON, one, **QUENCHED) for one in (4, 5))
        assert 0.0 < least - found.alpha < 1e-3


def test_a_band_has_one_average():
    asked = {"replicas": 4, "constraint": BAND}
    for alpha, overlap in ((1.2, 0.9), (1.7, 0.98)):
        one, other = (
            clusters.solve(PERCEPTRON, alpha, overlap, average=average, **asked)
            for average in ("annealed", "quenched")
        )
        assert other.q0 < 1e-12
        assert one.entropy == pytest.approx(other.entropy, abs=1e-10)
        assert one.slope == pytest.approx(other.slope, abs=1e-8)
    annealed, quenched = (
        clusters.threshold(PERCEPTRON, 3, average=average, **BANDED)
        for average in ("annealed", "quenched")
    )
    assert annealed == quenched


def leaning_entropy(unknowns, alpha, m, kappa):
    """Groups of m at q0 and q1, by sums on even grids: the logarithm of their typical number.

    Of the overlaps and their conjugates, and no formula for a derivative.
    """
    q0, q1, q0_hat, q1_hat = unknowns
    x, y = np.linspace(-8.0, 8.0, 101), np.linspace(-12.0, 12.0, 301)
    outer, inner = (np.exp(-0.5 * one**2) / np.sum(np.exp(-0.5 * one**2)) for one in (x, y))

    def averaged(log_weight, common, own):
        field = math.sqrt(common) * x[:, None] + math.sqrt(own) * y
        return outer @ np.log(np.exp(m * log_weight(field)) @ inner)

    def inside(field):
        right = scipy.special.ndtr((kappa - field) / math.sqrt(1.0 - q1))
        left = scipy.special.ndtr((-kappa - field) / math.sqrt(1.0 - q1))
        return np.log(np.maximum(right - left, 1e-300))

    weights = averaged(lambda h: np.log(2.0 * np.cosh(h)), q0_hat, q1_hat - q0_hat)
    products = 0.5 * m * (m * q0 * q0_hat - (m - 1.0) * q1 * q1_hat - q1_hat)
    return weights + products + alpha * averaged(inside, q0, q1 - q0)


def test_groups_in_a_wide_band_lean_to_one_side():
    """The typical number is stationary and 1 there, and below it where groups are orthogonal."""
    asked = {"constraint": Band(1.5), "average": "quenched"}
    found = clusters.first_gap(PERCEPTRON, None, **asked)
    assert found.alpha == pytest.approx(4.30834, abs=5e-6)
    assert found.alpha < clusters.threshold(PERCEPTRON, None, constraint=Band(1.5)) - 1e-3
    assert 0.15 < found.q0 < 0.16
    at = found.alpha, found.replicas, 1.5

    def slopes(hats, which):
        given, step = np.array([found.q0, found.overlap, *hats]), 1e-4 * np.eye(4)
        return [
            (leaning_entropy(given + one, *at) - leaning_entropy(given - one, *at)) / 2e-4
            for one in step[which]
        ]

    def by_hats(logs):
        return slopes(np.cumsum(np.exp(logs)), slice(2, 4))

    logs = scipy.optimize.root(by_hats, [-4.3, -0.2]).x
    hats = np.cumsum(np.exp(logs))
    given = [found.q0, found.overlap, *hats]
    assert leaning_entropy(given, *at) == pytest.approx(0.0, abs=1e-9)
    assert slopes(hats, slice(2)) == pytest.approx([0.0, 0.0], abs=1e-4)
    more, less = (leaning_entropy(given, at[0], at[1] + one, 1.5) for one in (1e-3, -1e-3))
    assert more - less == pytest.approx(0.0, abs=1e-6)
    last = clusters.last_load(PERCEPTRON, found.overlap, replicas=found.replicas, **asked)
    assert last == pytest.approx(found.alpha, abs=1e-8)


@pytest.mark.parametrize(("alpha", "asked"), [(1.7, BANDED), (0.8, QUENCHED)])
def test_the_gap_is_where_the_entropy_is_negative(alpha, asked):
    low, high = clusters.overlap_gap(PERCEPTRON, alpha, replicas=4, **asked)
    first = clusters.first_gap(PERCEPTRON, 4, **asked)
    assert low < first.overlap < high
    for overlap in (low, high):
        assert clusters.entropy(PERCEPTRON, alpha, overlap, replicas=4, **asked) == pytest.approx(
            0.0, abs=1e-7
        )
        load = clusters.last_load(PERCEPTRON, overlap, replicas=4, **asked)
        assert load == pytest.approx(alpha, abs=1e-6)
    with pytest.raises(NotConverged, match="no gap"):
        clusters.overlap_gap(PERCEPTRON, 0.99 * first.alpha, replicas=4, **asked)


def test_above_capacity_there_is_no_end_of_the_gap():
    with pytest.raises(NotConverged, match="ends of the overlaps"):
        clusters.overlap_gap(PERCEPTRON, 1.9, replicas=4, **BANDED)


def test_groups_may_dissolve_first():
    with pytest.raises(NotConverged, match="dissolve"):
        clusters.last_load(PERCEPTRON, 0.5, replicas=3, **QUENCHED)
    loads = clusters.last_load(PERCEPTRON, [0.5, 0.98], replicas=3, **QUENCHED)
    assert math.isnan(loads[0])
    assert loads[1] >= clusters.threshold(PERCEPTRON, 3, **QUENCHED)


@lru_cache
def monotonic(alpha):
    """Whether the local entropy of countable groups in the band falls with their overlap."""
    entropies = []
    for place in np.linspace(4.0, 6.0, 15):
        q = float(scipy.special.expit(place))

        def complexity(log_m, q=q):
            at = clusters.solve(PERCEPTRON, alpha, q, replicas=math.exp(log_m), **BANDED)
            return at.complexity

        m = math.exp(scipy.optimize.brentq(complexity, math.log(1.5), math.log(80)))
        entropies.append(clusters.entropy(PERCEPTRON, alpha, q, replicas=m, **BANDED) / m)
    return bool(np.all(np.diff(entropies) < 0))


def test_the_local_entropy_breaks_up():
    load = clusters.breakup(PERCEPTRON, **BANDED)
    assert monotonic(load - 0.003)
    assert not monotonic(load + 0.003)
    dense = theory.large_deviation.dense_threshold(PERCEPTRON, replicas="zero complexity")
    assert clusters.breakup(PERCEPTRON) == dense


# ------------------------------------------------------------------------------------------------
# Groups of groups
# ------------------------------------------------------------------------------------------------


def test_nested_vectors_against_all_of_them():
    """Two pairs: the sum over all 16 arrangements of four spins."""
    h1, split = 0.3, 0.5
    spins = np.array(list(itertools.product((-1, 1), repeat=4)))
    pairs = spins.reshape(-1, 2, 2).sum(axis=2)
    log_weight = 0.5 * (h1 * spins.sum(axis=1) ** 2 + split * np.sum(pairs**2, axis=1))
    weight = np.exp(log_weight - logsumexp(log_weight))
    at = arrangements.Arrangement(0.0, h1, split, 2.0, 2.0, checked(PERCEPTRON, BAND, HARD))
    assert at.q1 == pytest.approx(weight @ (spins[:, 0] * spins[:, 2]), abs=1e-12)
    assert at.q2 == pytest.approx(weight @ (spins[:, 0] * spins[:, 1]), abs=1e-12)
    assert at.entropic == pytest.approx(-weight @ np.log(weight), abs=1e-11)


@pytest.mark.parametrize("constraint", [Margin(0.2), BAND])
def test_nested_fields_against_other_quadratures(constraint):
    axes = checked(PERCEPTRON, constraint, HARD)
    q1, q2, m1, m2 = 0.8, 0.93, 2.0, 3.0
    x, outer = gaussian.grid(order=48)
    y, inner = gaussian.grid(order=48)
    omega = math.sqrt(q1) * x[:, None] + math.sqrt(q2 - q1) * y
    f = constraint.log_weight(omega.ravel(), 1 - q2).reshape(omega.shape)
    expected = math.log(outer @ (np.exp(m2 * f) @ inner) ** m1)
    found, _ = arrangements.energetic(0.0, q1, q2, m1, m2, axes)
    assert found.term == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("sizes", "place"), [((1, 3), 1), ((3, 1), 0)])
def test_one_group_or_groups_of_one_are_one_level(sizes, place):
    overlaps = (0.7, 0.95)
    found = clusters.nested_entropy(PERCEPTRON, 1.1, overlaps, replicas=sizes, **BANDED)
    if place:
        expected = clusters.entropy(PERCEPTRON, 1.1, 0.95, replicas=3, **BANDED)
    else:
        expected = clusters.entropy(PERCEPTRON, 1.1, 0.7, replicas=3, **BANDED)
    assert found == pytest.approx(expected, abs=1e-7)


def test_nested_thresholds_of_the_symmetric_perceptron_that_are_printed():
    """arXiv:2604.19712: 1.6219 with two levels of whole numbers."""
    found = clusters.first_nested_gap(PERCEPTRON, (3, 4), **BANDED)
    assert found.alpha == pytest.approx(1.6219, abs=1e-4)
    overlaps = found.q1, found.q2
    left = clusters.nested_entropy(PERCEPTRON, found.alpha, overlaps, replicas=(3, 4), **BANDED)
    assert left == pytest.approx(0.0, abs=1e-7)
    near = clusters.nested_threshold(PERCEPTRON, (3, 3), **BANDED)
    assert near > found.alpha
    assert "q1" in repr(found)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"alpha": -0.1}, "alpha"),
        ({"overlap": 1.0}, "overlap"),
        ({"overlap": 0.0}, "overlap"),
        ({"replicas": 0.5}, "replicas"),
        ({"replicas": math.inf}, "replicas"),
        ({"average": "typical"}, "average"),
        ({"constraint": CrossEntropy(1.0, 1.0)}, "constraint"),
        ({"constraint": Band(100.0)}, "kappa"),
        ({"device": Perceptron(Spherical())}, "device"),
        ({"device": TreeCommittee(3, weights=Binary())}, "device"),
    ],
)
def test_refusals(changes, name):
    asked = {"device": PERCEPTRON, "alpha": 0.5, "overlap": 0.9, "replicas": 3} | changes
    device, alpha, overlap = (asked.pop(one) for one in ("device", "alpha", "overlap"))
    with pytest.raises((TypeError, ValueError), match=name):
        clusters.solve(device, alpha, overlap, **asked)


def test_more_refusals():
    with pytest.raises(ValueError, match="replicas"):
        clusters.threshold(PERCEPTRON, 0)
    with pytest.raises(TypeError, match="overlaps must be two numbers"):
        clusters.nested_entropy(PERCEPTRON, 0.5, 0.9, replicas=(2, 2))
    with pytest.raises(ValueError, match="grow inwards"):
        clusters.nested_entropy(PERCEPTRON, 0.5, (0.9, 0.8), replicas=(2, 2))
    with pytest.raises(ValueError, match=r"replicas\[1\]"):
        clusters.nested_entropy(PERCEPTRON, 0.5, (0.8, 0.9), replicas=(2, 99))


@pytest.mark.parametrize("average", ["annealed", "quenched"])
def test_a_curve_says_what_it_holds(average):
    asked = {"replicas": 3, "average": average}
    found = clusters.curve(PERCEPTRON, 0.7, [0.9, 0.99, 0.95], **asked)
    assert found.entropy.dims == ("overlap",)
    assert found.entropy.attrs["units"] == "nats per weight"
    for overlap, one in zip(found.overlap.values, found.entropy.values, strict=True):
        assert one == pytest.approx(
            clusters.entropy(PERCEPTRON, 0.7, float(overlap), **asked), abs=1e-9
        )
    assert bool(found.converged.all())
    assert "entropy" in repr(clusters.solve(PERCEPTRON, 0.7, 0.9, **asked))
