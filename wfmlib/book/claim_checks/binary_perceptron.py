"""Checks of the claims on the binary perceptron, its margins and losses (chapters 1, 2)."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import optimize
from scipy.special import gammaln

from wfmlib import learning, patterns
from wfmlib.book.claim_checks import evidence
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Margin, Perceptron, Spherical
from wfmlib.theory import franz_parisi, typical

FIGURE_2_LOADS = (0.2, 0.3, 0.4, 0.6, 0.8)  # of P3
LOADS = (0.1, *FIGURE_2_LOADS)
PERCEPTRON = Perceptron()  # of binary weights


def _solve(load, margin=0.0):
    """Return the replica-symmetric saddle point of the binary perceptron."""
    return typical.solve(PERCEPTRON, load, Margin(margin))


def _margins(load, share=1.0, number=9):
    """Return margins from 0 to a share of the maximal one."""
    return np.linspace(0.0, share * typical.max_margin(PERCEPTRON, load), number)


# ------------------------------------------------------------------------------------------------
# Chapter 1: how many patterns binary weights can store
# ------------------------------------------------------------------------------------------------


def binary_perceptron_capacity():
    """The load at which the replica-symmetric entropy vanishes."""
    return typical.capacity(PERCEPTRON)


def spherical_volume_bound():
    """The load at which the solutions on the sphere have the volume 2^-N."""
    sphere = Perceptron(Spherical())

    def excess(load):
        return typical.solve(sphere, load).entropy + math.log(2.0)

    return optimize.brentq(excess, 0.5, 1.5)


def solvable_then_not():
    """The share of 300 samples with a solution, counted exactly, at N = 9, 15, 21.

    Counts can refute it. They cannot confirm it: 21 weights do not show at which load a jump is.
    """
    sizes, samples = (9, 15, 21), 300

    def shares(load):
        solvable = []
        for N in sizes:
            seeds = np.random.SeedSequence(1).spawn(samples)
            drawn = (patterns.random(round(load * N), N, rng=seed) for seed in seeds)
            counts = [
                learning.enumerate_solutions(PERCEPTRON, *instance, threads=1).count
                for instance in drawn
            ]
            solvable.append(np.count_nonzero(counts) / samples)
        return solvable

    below, above = shares(1 / 3), shares(4 / 3)
    # Away from the threshold the share must have come close to its limit, and not leave it.
    possible = below[-1] > 0.99 and above[-1] < 0.05 and above[0] > above[1] > above[2]
    return evidence.Answer(
        None if possible else False,
        f"at N = {', '.join(map(str, sizes))} the share with a solution is {listed(below, 3)} at "
        f"α = 1/3, and {listed(above, 3)} at α = 4/3",
    )


def exponentially_many_solutions():
    """The replica-symmetric entropy at six loads, margins up to 0.99 of the largest."""
    entropy, load, margin = min(
        (_solve(load, margin).entropy, load, margin)
        for load in LOADS
        for margin in _margins(load, 0.99)
    )
    return entropy > 0.0, (
        f"φ > 0 throughout; the smallest is {entropy:.4f}, at α = {load} and κ = {margin:.3f}"
    )


def solution_count_fluctuates():
    """The entropy against ln⟨Z⟩/N = (1-α) ln 2, which is exact."""
    loads = (*LOADS, typical.capacity(PERCEPTRON))
    gaps = [(1.0 - load) * math.log(2.0) - _solve(load).entropy for load in loads]
    return min(gaps) > 0.0, (
        f"(ln⟨Z⟩ - ⟨ln Z⟩)/N grows from {gaps[0]:.4f} at α = 0.1 to {gaps[-1]:.4f} at α_c: the "
        "mean is carried by exponentially rare samples"
    )


def labels_gauged_away():
    """Exact counts of 20 samples with N = 15 and P = 7, with the labels and without."""
    equal = 0
    for seed in np.random.SeedSequence(2).spawn(20):
        xi, sigma = patterns.random(7, 15, rng=seed)
        labelled = learning.enumerate_solutions(PERCEPTRON, xi, sigma, threads=1)
        gauged = sigma[:, None] * xi, np.ones_like(sigma)
        turned = learning.enumerate_solutions(PERCEPTRON, *gauged, threads=1)
        equal += np.array_equal(labelled.counts_by_margin, turned.counts_by_margin)
    return equal == 20, f"in {equal} of 20 samples the same number of solutions at every margin"


def replica_symmetry_stable():
    """The replicon at loads up to α_c and margins up to κ_max (local stability only)."""
    capacity = typical.capacity(PERCEPTRON)
    points = [(load, margin) for load in LOADS for margin in _margins(load)] + [(capacity, 0.0)]
    largest, load, margin = max((_solve(*point).replicon, *point) for point in points)
    return largest < 1.0, (
        f"nothing against it: the replicon, which must stay below 1, is at most {largest:.3f}, "
        f"at α = {load:.3f} and κ = {margin:.3f}; a discontinuous breaking would not show"
    )


# ------------------------------------------------------------------------------------------------
# Chapter 1: margins
# ------------------------------------------------------------------------------------------------


def max_margin_half_load():
    """The margin at which the replica-symmetric entropy vanishes at α = 0.5."""
    return typical.max_margin(PERCEPTRON, 0.5)


def entropy_decreases_with_margin():
    """The entropy at nine margins from 0 to κ_max, at six loads."""
    curves = [[_solve(load, margin).entropy for margin in _margins(load)] for load in LOADS]
    holds = all(np.all(np.diff(curve) < 0.0) and abs(curve[-1]) < 1e-8 for curve in curves)
    ends = "; ".join(
        f"from {curve[0]:.4f} at α = {load}" for load, curve in zip(LOADS, curves, strict=True)
    )
    return holds, f"decreasing at every load, to 0 at κ_max, {ends}"


def max_margin_decreases_with_load():
    """κ_max at six loads."""
    margins = [typical.max_margin(PERCEPTRON, load) for load in LOADS]
    return bool(np.all(np.diff(margins) < 0.0)), (
        f"κ_max is {listed(margins, 3)} at α = {listed(LOADS, 1)}"
    )


def max_margin_vanishes_at_capacity():
    """κ_max just below the capacity."""
    capacity = typical.capacity(PERCEPTRON)
    steps = (1e-2, 1e-3, 1e-4)
    margins = [typical.max_margin(PERCEPTRON, capacity - step) for step in steps]
    # To first order κ_max is proportional to the step, so each is a tenth of the one before.
    holds = all(abs(a / b / 10.0 - 1.0) < 0.1 for a, b in itertools.pairwise(margins))
    return holds, f"κ_max is {listed(margins, 6)} at α_c - α = {', '.join(map(str, steps))}"


def robust_within_radius():
    """All 2^15 weights of 20 samples with N = 15, P = 4: those around solutions of κ > 1.04."""
    N, P, margin = 15, 4, 1.04
    radius = math.floor(margin * math.sqrt(N) / 2.0)  # a flip costs at most 2 / sqrt(N)
    bits = np.arange(2**N, dtype=np.int64)
    weights = 1 - 2 * (bits[:, None] >> np.arange(N) & 1)
    flips = [sum(1 << i for i in some) for some in itertools.combinations(range(N), radius)]
    beyond = [sum(1 << i for i in some) for some in itertools.combinations(range(N), radius + 1)]
    robust, inside, outside = 0, [], []
    for seed in np.random.SeedSequence(3).spawn(20):
        xi, sigma = patterns.random(P, N, rng=seed)
        smallest = (weights @ (sigma[:, None] * xi).T).min(axis=1) / math.sqrt(N)
        centres = bits[smallest > margin]
        robust += len(centres)
        inside.append((smallest > 0.0)[centres[:, None] ^ flips])
        outside.append((smallest > 0.0)[centres[:, None] ^ beyond])
    inside, outside = np.concatenate(inside), np.concatenate(outside)
    return bool(inside.all()) and robust > 0, (
        f"{robust} solutions with margin; of the configurations {radius} flips away all are "
        f"solutions ({np.mean(inside):.0%}), {radius + 1} flips away {np.mean(outside):.1%}"
    )


def distance_decreases_with_margin():
    """(1-q)/2 at nine margins from 0 to κ_max, at the five loads."""
    curves = [
        [_solve(load, margin).distance for margin in _margins(load)] for load in FIGURE_2_LOADS
    ]
    ends = "; ".join(
        f"{curve[0]:.4f} to {curve[-1]:.4f} at α = {load}"
        for load, curve in zip(FIGURE_2_LOADS, curves, strict=True)
    )
    return all(np.all(np.diff(curve) < 0.0) for curve in curves), (
        f"decreasing at every load, from κ = 0 to κ_max: {ends}"
    )


def distance_decreases_with_load():
    """(1-q)/2 at the five loads, at margins from 0 to 0.3."""
    margins = np.linspace(0.0, 0.3, 7)
    curves = np.array(
        [[_solve(load, margin).distance for margin in margins] for load in FIGURE_2_LOADS]
    )
    return bool(np.all(np.diff(curves, axis=0) < 0.0)), (
        f"in that order at every margin: {listed(curves[:, 0], 3)} at κ = 0, "
        f"{listed(curves[:, -1], 3)} at κ = 0.3"
    )


def dashed_past_max_margin():
    """The saddle point at κ_max + 0.05, at the five loads."""
    states = [_solve(load, typical.max_margin(PERCEPTRON, load) + 0.05) for load in FIGURE_2_LOADS]
    entropies = [state.entropy for state in states]
    return max(entropies) < 0.0, (
        f"at κ_max + 0.05 the saddle points are there, with entropies {listed(entropies, 4)}"
    )


def closest_at_max_margin():
    """(1-q)/2 at κ_max against that at smaller margins, at six loads."""
    nearest = []
    for load in LOADS:
        distances = [_solve(load, margin).distance for margin in _margins(load)]
        nearest.append(int(np.argmin(distances)) == len(distances) - 1)
    return all(nearest), f"the smallest distance is that at κ_max at {sum(nearest)} of 6 loads"


def typical_solutions_far_apart():
    """(1-q)/2 at loads up to α_c, margin 0 and κ_max; counted at N = 15 and 21, all pairs.

    Of order N: at least a twentieth of the weights. The counts, 20 samples at α = 0.4, must come
    within three per cent of the weights of the theory, and closer at the larger size.
    """
    capacity = typical.capacity(PERCEPTRON)
    plain = [_solve(load).distance for load in (*LOADS, capacity)]
    robust = [_solve(load, _margins(load)[-1]).distance for load in LOADS]
    off = []
    for N, P in ((15, 6), (21, 8)):
        counted = [_mean_distance(P, N, seed) for seed in np.random.SeedSequence(4).spawn(20)]
        off.append(abs(float(np.nanmean(counted)) - _solve(P / N).distance))
    holds = min(plain + robust) > 0.05 and off[1] < off[0] < 0.03
    return holds, (
        f"at margin 0 from {plain[0]:.3f} N flips at α = 0.1 down to {plain[-1]:.3f} N at α_c; at "
        f"κ_max {listed(robust, 3)} N at α = {listed(LOADS, 1)}; counted means of all pairs are "
        f"off by {listed(off, 3)} N at N = 15, 21"
    )


def _mean_distance(P, N, seed):
    """Return the mean distance of two different solutions, all of them counted."""
    drawn = patterns.random(P, N, rng=seed)
    counted = learning.enumerate_solutions(PERCEPTRON, *drawn, threads=1)
    return (1.0 - counted.overlap_distinct) / 2.0


def frozen_1rsb():
    """The local entropy around typical solutions at nine distances up to its edge, three loads.

    A cluster would be a place near by where it is not negative.
    """
    rows = []
    for load in (0.2, 0.5, 0.8):
        _, edge = franz_parisi.gap(PERCEPTRON, load)
        near = np.linspace(0.1, 0.99, 9) * edge
        largest = float(np.max(franz_parisi.local_entropy(PERCEPTRON, load, near)))
        rows.append((largest, edge))
    return all(largest < 0.0 < edge for largest, edge in rows), (
        f"at α = 0.2, 0.5, 0.8 the local entropy is negative up to d = "
        f"{', '.join(f'{edge:.2g}' for _, edge in rows)}: at most "
        f"{', '.join(f'{largest:.1g}' for largest, _ in rows)}"
    )


def more_local_minima():
    """Strict local minima with errors against solutions, all 2^N weights, N = 9, 15, 21.

    Eight samples at α = 1/3 and 2/3: the ratio of their logarithms must have passed 1 at the
    largest size. Where it is below, and grows, larger sizes would tell.
    """
    sizes, words, answers, needed = (9, 15, 21), [], [], 0
    for load in (1 / 3, 2 / 3):
        seeds = np.random.SeedSequence(7).spawn(8)
        counts = np.array([[_minima(round(load * N), N, s) for s in seeds] for N in sizes])
        means = counts.mean(axis=1)
        gap = np.log(means[:, 1] + 1e-300) - np.log(means[:, 0])
        growth = (gap[2] - gap[1]) / (sizes[2] - sizes[1])
        answers.append(True if gap[2] > 0.0 else None if growth > 0.0 else False)
        if answers[-1] is None:
            needed = math.ceil(sizes[2] - gap[2] / growth)
        rows = [f"{minima:.0f} and {solved:.0f}" for solved, minima in means]
        words.append(f"{', '.join(rows)} at α = {load:.2f}")
    agrees = False if False in answers else None if None in answers else True
    finding = f"minima and solutions, means at N = 9, 15, 21: {'; '.join(words)}"
    return evidence.Answer(agrees, finding, needed, "weights")


def _minima(P, N, seed):
    """Return the number of solutions, and of strict local minima of the errors that are none."""
    xi, sigma = patterns.random(P, N, rng=seed)
    half = N // 2
    low, high = (_fields(part) for part in np.split(sigma[:, None] * xi, [half], axis=1))
    fields = (high[:, None] + low[None]).reshape(2**N, P)
    errors = np.count_nonzero(fields < 0, axis=1).astype(np.int8)
    strict = errors > 0
    for i in range(N):
        pairs = errors.reshape(-1, 2, 2**i)  # along the axis of 2 one weight is flipped
        strict &= (pairs[:, ::-1] > pairs).ravel()
    return np.count_nonzero(errors == 0), np.count_nonzero(strict)


def _fields(rows):
    """Return the sums of rows, shape (P, n), over all 2^n signs: shape (2^n, P)."""
    n = rows.shape[1]
    signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
    return (signs @ rows.T).astype(np.int8)


# ------------------------------------------------------------------------------------------------
# Chapter 2: cross-entropy
# ------------------------------------------------------------------------------------------------


def geometric_bound_binary():
    """The logarithm of the binomial coefficient at N = 10^6, at nine distances."""
    N, D = 10**6, np.linspace(0.1, 0.9, 9)
    counted = (gammaln(N + 1) - gammaln(D * N + 1) - gammaln((1 - D) * N + 1)) / N
    gap = -D * np.log(D) - (1 - D) * np.log(1 - D) - counted
    # Stirling: the gap is ln(2 pi N D (1-D)) / (2N), 7e-6 at most
    return bool(np.all((gap > 0.0) & (gap < 1e-5))), (
        f"the number of weights at distance D stays below it, by {gap.max():.0e} at most"
    )


def cross_entropy_limit():
    """f_γ(x) on a grid of x, γ = 1, 10, 100, 1000."""
    x = np.linspace(-5.0, 5.0, 2001)
    gammas = (1.0, 10.0, 100.0, 1000.0)

    def f(gamma, x):
        return -x / 2.0 + np.logaddexp(gamma * x, -gamma * x) / (2.0 * gamma)

    gaps = [np.abs(f(gamma, x) - np.maximum(-x, 0.0)).max() for gamma in gammas]
    # The gap is largest at x = 0, where it is ln 2 / (2 gamma).
    holds = all(
        abs(gap * 2.0 * gamma / math.log(2.0) - 1.0) < 1e-9
        for gap, gamma in zip(gaps, gammas, strict=True)
    )
    return holds and f(1.0, 0.5) > 0.1, (
        f"the largest difference to max(-x, 0) is {listed(gaps, 4)} at γ = 1, 10, 100, 1000; at "
        f"γ = 1, f(0.5) = {f(1.0, 0.5):.3f}"
    )
