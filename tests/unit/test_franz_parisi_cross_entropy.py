"""What surrounds a typical configuration of cross-entropy: the literal potential, enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from tests import naive_cross_entropy, naive_franz_parisi
from wfmlib import (
    Binary,
    CrossEntropy,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
    learning,
    patterns,
)
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import cross_entropy, franz_parisi, typical

DEVICE = Perceptron()
OVERLAPS = {"Linear()": naive_franz_parisi.perceptron}
OVERLAPS |= {"Sign()": naive_franz_parisi.sign, "ReLU()": naive_franz_parisi.relu}


def derivative(f, x, step):
    """Central difference: error of order step^2."""
    return (f(x + step) - f(x - step)) / (2.0 * step)


# ------------------------------------------------------------------------------------------------
# P1's potential, written out
# ------------------------------------------------------------------------------------------------

CASES = [  # device, load, distance, reference, margin
    (DEVICE, 0.4, 0.2, CrossEntropy(1.0, 5.0), 0.0),
    (DEVICE, 0.4, 0.08, CrossEntropy(3.0, 12.0), 0.1),
    (DEVICE, 0.6, 0.15, CrossEntropy(math.inf, 6.0), 0.0),
    (TreeCommittee(np.inf, ReLU(), Binary()), 0.5, 0.15, CrossEntropy(2.0, 6.0), 0.0),
    (TreeCommittee(np.inf, Sign()), 0.7, 0.25, CrossEntropy(2.0, 5.0), 0.0),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_literal_potential_is_stationary_and_equal(case):
    device, alpha, distance, reference, margin = case
    weights, unit = device.weights, device.activation
    point = franz_parisi.solve(
        device, alpha, distance, reference=reference, constraint=Margin(margin)
    )
    state = typical.solve(device, alpha, reference)
    c, both = OVERLAPS[repr(unit)], (reference.gamma, reference.beta)
    measure = naive_cross_entropy.Measure(alpha, *both, c, unit.scale, weights == Spherical())
    literal = naive_cross_entropy.Around(
        measure, distance, margin / unit.scale, state.q, state.q_hat
    )
    s, t, p = point.p, point.t0, 1.0 - 2.0 * distance
    step = 1e-4
    by_s = derivative(lambda s: literal.pattern(s, t, p), s, step)
    by_t = derivative(lambda t: literal.pattern(s, t, p), t, step)
    by_p = derivative(lambda p: literal.pattern(s, t, p), p, step)
    if weights == Spherical():
        ends = naive_franz_parisi.entropic_spherical(s, t, p, state.q).real
        slopes = [
            naive_franz_parisi.slope_of(
                naive_franz_parisi.entropic_spherical, (s, t, p, state.q), i
            )
            for i in range(3)
        ]
        left = slopes[0] + alpha * by_s, slopes[1] + alpha * by_t
        assert left == pytest.approx((0.0, 0.0), abs=1e-6)
        slope = -2.0 * (slopes[2] + alpha * by_p)
    else:
        conjugates = literal.conjugates(s, t, by_s, by_t)
        assert literal.overlaps(conjugates) == pytest.approx((s, t), abs=1e-6)
        ends = literal.weights(s, t, p, conjugates)
        slope = 2.0 * (conjugates[2] - alpha * by_p)
    assert point.local_entropy == pytest.approx(ends + alpha * literal.pattern(s, t, p), abs=1e-8)
    assert point.slope == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_slope_is_the_derivative(case):
    device, alpha, distance, reference, margin = case
    both = {"reference": reference, "constraint": Margin(margin)}
    at = distance + 0.02 * distance * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    found = franz_parisi.curve(device, alpha, at, **both)
    y, h = found.local_entropy.values, 0.02 * distance
    by_differences = (8.0 * (y[3] - y[1]) - y[4] + y[0]) / (12.0 * h)
    assert found.slope.values[2] == pytest.approx(by_differences, abs=1e-6)
    alone = franz_parisi.local_entropy(device, alpha, distance, **both)
    assert y[2] == pytest.approx(alone, abs=1e-11)


@pytest.mark.parametrize(
    "device",
    [DEVICE, *(TreeCommittee(np.inf, unit, Binary()) for unit in (Sign(), ReLU()))],
    ids=str,
)
def test_the_coldest_sharpest_loss_is_a_margin_of_zero(device):
    distances = np.array([0.02, 0.1, 0.3, 0.5])
    loss = franz_parisi.curve(device, 0.5, distances, reference=CrossEntropy(math.inf, 1e8))
    margin = franz_parisi.curve(device, 0.5, distances)
    both = (loss.converged & margin.converged).values
    assert both[1:].all()
    for name, error in (("local_entropy", 1e-6), ("slope", 1e-5)):
        assert loss[name].values[both] == pytest.approx(margin[name].values[both], abs=error)


def test_no_patterns_leave_all_places():
    distances = np.array([1e-3, 0.1, 0.5])
    found = franz_parisi.curve(DEVICE, 0.0, distances, reference=CrossEntropy(1.0, 20.0))
    assert found.converged.all()
    assert found.local_entropy.values == pytest.approx(
        franz_parisi.geometric_bound(DEVICE, distances), abs=1e-13
    )


def test_patterns_and_margins_leave_fewer_solutions():
    distances = np.array([5e-3, 0.1, 0.5])
    reference, above = CrossEntropy(1.0, 20.0), franz_parisi.geometric_bound(DEVICE, distances)
    for alpha in (0.1, 0.4):
        found = franz_parisi.curve(DEVICE, alpha, distances, reference=reference)
        assert found.converged.all()
        assert np.all(found.local_entropy < above)
        above = found.local_entropy
    stricter = franz_parisi.curve(
        DEVICE, 0.4, distances[1:], reference=reference, constraint=Margin(0.1)
    )
    assert np.all(stricter.local_entropy < above[1:])


def test_no_solutions_next_to_a_reference_that_makes_errors():
    """The branch ends at a small distance, where p_hat runs away."""
    alpha, reference = 0.5, CrossEntropy(1.0, 20.0)
    assert typical.solve(DEVICE, alpha, reference).error_rate > 1e-3
    distances = np.array([1e-3, 3e-3, 0.01])
    found = franz_parisi.curve(DEVICE, alpha, distances, reference=reference)
    assert found.converged.values.tolist() == [False, True, True]
    assert found.local_entropy[1] < 0.0 < found.local_entropy[2]
    assert found.replicon[1] > 1.0 > found.replicon[2]
    with pytest.raises(NotConverged, match="no replica-symmetric saddle point"):
        franz_parisi.solve(DEVICE, alpha, 1e-3, reference=reference)


def test_a_cold_loss_has_more_solutions_around_it_than_solutions_have():
    """P1's point: low cross-entropy at a small gamma selects dense regions."""
    distances, alpha = np.array([0.05, 0.1, 0.2]), 0.4
    wide = franz_parisi.local_entropy(DEVICE, alpha, distances, reference=CrossEntropy(1.0, 80.0))
    warm = franz_parisi.local_entropy(DEVICE, alpha, distances, reference=CrossEntropy(1.0, 5.0))
    solutions = franz_parisi.local_entropy(DEVICE, alpha, distances)
    assert np.all(wide > solutions)
    assert np.all(wide > warm)


def test_hot_references_are_any_configuration():
    """Around one that knows nothing of the patterns, all solutions are at the distance 1/2."""
    alpha = 0.4
    free = franz_parisi.solve(DEVICE, alpha, 0.5, reference=CrossEntropy(1.0, 1e-6))
    solutions = typical.solve(DEVICE, alpha)
    assert free.local_entropy == pytest.approx(solutions.entropy, abs=1e-6)
    assert free.p == pytest.approx(solutions.q, abs=1e-5)
    near = franz_parisi.solve(DEVICE, alpha, 0.2, reference=CrossEntropy(1.0, 1e-6))
    assert near.t0 == pytest.approx(0.0, abs=1e-5)


def test_nothing_is_counted_at_distance_zero():
    reference = CrossEntropy(1.0, 50.0)
    assert franz_parisi.local_entropy(DEVICE, 0.3, 0.0, reference=reference) == -math.inf
    assert (
        franz_parisi.curve(DEVICE, 0.3, [0.0], reference=reference).local_entropy[0] == -math.inf
    )


# ------------------------------------------------------------------------------------------------
# All weight vectors of small instances
# ------------------------------------------------------------------------------------------------

SIZES = ((9, 2, 250), (13, 3, 100), (17, 4, 12))  # weights, patterns, samples
REFERENCES = (CrossEntropy(1.0, 8.0), CrossEntropy(math.inf, 3.0))
WINDOW = (0.2, 0.42)  # distances looked at


def transformed(values):
    """Walsh-Hadamard transform of 2^N values."""
    values, width = values.copy(), 1
    while width < values.size:
        pairs = values.reshape(-1, 2, width)
        even, odd = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = even, odd
        width *= 2
    return values


def excess(size):
    """Counted minus predicted local entropy, as a fraction of all places, for each reference.

    Returns means and errors over instances, and the predictions. Counts at three neighbouring
    distances are averaged with the weights 1, 2, 1: they zigzag. The part that follows the
    overlaps of the patterns, whose mean is zero, is taken out.
    """
    N, P, samples = size
    h = np.arange(1, N // 2 + 1)
    centre = np.flatnonzero((WINDOW[0] < h / N) & (h / N < WINDOW[1]))
    needed = range(centre[0] - 1, centre[-1] + 2)
    places = special.gammaln(N + 1) - special.gammaln(h + 1) - special.gammaln(N - h + 1)
    flips = np.bitwise_count(np.arange(2**N, dtype=np.uint32))
    shells = {k: transformed((flips == h[k]).astype(float)) for k in needed}
    lattice = np.arange(-N, N + 1) / math.sqrt(N)
    tables = [naive_cross_entropy.loss(one.gamma, lattice) for one in REFERENCES]
    found = np.full((samples, len(REFERENCES), len(h)), np.nan)
    controls, empty = [], 0.0
    for i, seed in enumerate(np.random.SeedSequence(23).generate_state(samples)):
        xi, sigma = patterns.random(P, N, rng=seed)
        place = (
            np.ascontiguousarray(learning.enumerate_fields(DEVICE, xi, sigma).T).astype(np.intp)
            + N
        )
        costs = [
            -one.beta * sum(table[row] for row in place)
            for one, table in zip(REFERENCES, tables, strict=True)
        ]
        gibbs = np.array([np.exp(cost - special.logsumexp(cost)) for cost in costs])
        solutions = transformed(np.all(place > N, axis=0).astype(float))
        for k in needed:
            number = np.rint(transformed(solutions * shells[k]) / 2.0**N)
            found[i, :, k] = gibbs @ np.log(np.maximum(number, 0.5)) - places[k]
            empty = max(empty, np.max(gibbs @ (number == 0.0)) / samples)
        aligned = sigma[:, None] * xi.astype(float)
        r = aligned @ aligned.T / math.sqrt(N)
        np.fill_diagonal(r, 0.0)
        controls.append((1.0, r.sum(), np.sum(r * r) - P * (P - 1)))
    assert empty < 0.01  # so that it makes no difference what stands for ln 0
    theory = [
        franz_parisi.curve(DEVICE, P / N, h / N, reference=one).normalised for one in REFERENCES
    ]
    found = found / N - np.array(theory)
    before, here, after = (found[:, :, centre + k] for k in (-1, 0, 1))
    even = np.mean(before + 2.0 * here + after, axis=2) / 4.0
    controls = np.array(controls)
    fitted = np.linalg.lstsq(controls, even, rcond=None)[0]
    left = np.sum((even - controls @ fitted) ** 2, axis=0) / (samples - controls.shape[1])
    return fitted[0], np.sqrt(left / samples), np.array(theory)[:, centre].mean(axis=1)


def test_counts_tend_to_the_local_entropy():
    """The excess is a correction of order 1 / N, and vanishes with it."""
    means, errors, theory = (np.array(one) for one in zip(*map(excess, SIZES), strict=True))
    for mean, error, predicted in zip(means.T, errors.T, theory.T, strict=True):
        design = np.stack((np.ones(len(SIZES)), [1.0 / size[0] for size in SIZES]), axis=1)
        design /= error[:, None]
        covariance = np.linalg.inv(design.T @ design)
        limit, precision = (covariance @ design.T @ (mean / error))[0], math.sqrt(covariance[0, 0])
        assert precision < 0.003
        assert abs(limit) < 4.0 * precision
        assert np.abs(mean).max() < 0.06 * np.abs(predicted).min()


# ------------------------------------------------------------------------------------------------
# What is refused
# ------------------------------------------------------------------------------------------------


def test_references_that_do_not_exist_are_refused():
    cold = CrossEntropy(1.0, 1.5 * cross_entropy.zero_entropy_beta(DEVICE, 0.4, 1.0))
    for refused in (franz_parisi.solve, franz_parisi.local_entropy, franz_parisi.curve):
        with pytest.raises(ValueError, match=r"^reference must have a beta at which its entropy"):
            refused(DEVICE, 0.4, 0.1, reference=cold)
    point = franz_parisi.solve(Perceptron(Spherical()), 0.4, 0.1, reference=cold)
    assert np.isfinite(point.local_entropy)  # spherical weights have no such limit


@pytest.mark.parametrize("reference", [1.0, "cross-entropy", None, CrossEntropy])
def test_references_of_the_wrong_kind(reference):
    with pytest.raises(TypeError, match=r"^reference must be"):
        franz_parisi.solve(DEVICE, 0.4, 0.1, reference=reference)


def test_margins_as_references_are_still_margins():
    assert franz_parisi.solve(DEVICE, 0.4, 0.1, reference=Margin(0.1)).reference == Margin(0.1)
