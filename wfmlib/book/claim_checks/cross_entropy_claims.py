"""Checks of the claims on the minima of the cross-entropy (chapter 2)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from wfmlib import learning, patterns
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Binary, CrossEntropy, Margin, Perceptron, TreeCommittee
from wfmlib.theory import cross_entropy, franz_parisi, typical

PERCEPTRON = Perceptron()  # of binary weights
COMMITTEE = TreeCommittee(np.inf, weights=Binary())
LOW, HIGH = 0.4, 0.6  # loads of P1, Figs. 3 and 4
NEAR, FAR = 0.005, 0.02  # distances of P1, Fig. 4


@cache
def _minimum(load, gamma):
    """Return the loss at the lowest temperature at which replica symmetry is consistent."""
    return CrossEntropy(gamma, cross_entropy.working_beta(PERCEPTRON, load, gamma))


@cache
def _normalised(load, reference, distance):
    return franz_parisi.solve(PERCEPTRON, load, distance, reference=reference).normalised


def _errors(load, gamma):
    return typical.solve(PERCEPTRON, load, _minimum(load, gamma)).error_rate


def _largest(load):
    return Margin(typical.max_margin(PERCEPTRON, load))


def cross_entropy_minima_solve():
    """The error rate at the end of replica symmetry, for soft and sharp losses."""
    soft, sharp = (_errors(LOW, 1.0), _errors(HIGH, 1.0)), (_errors(LOW, 2.0), _errors(HIGH, 3.0))
    holds = soft[0] < 1e-3 and sharp[1] < 1e-3 and sharp[0] < soft[0] and sharp[1] < soft[1]
    return holds, (
        f"at α = 0.4 it is {soft[0]:.0e} with γ = 1 and {sharp[0]:.0e} with γ = 2, at α = 0.6 "
        f"{soft[1]:.0e} with γ = 1 and {sharp[1]:.0e} with γ = 3"
    )


def cross_entropy_large_gamma_solves():
    """The exact minimum of the loss of 60 instances with N = 15, at γ = 1 and 30."""
    N, P, samples = 15, 9, 60
    steps = np.arange(-N, N + 1) / math.sqrt(N)
    solved = {1.0: 0, 30.0: 0}
    solvable = 0
    for seed in np.random.SeedSequence(2).spawn(samples):
        fields = learning.enumerate_fields(PERCEPTRON, *patterns.random(P, N, rng=seed))
        right = np.all(fields > 0, axis=1)
        if not right.any():
            continue
        solvable += 1
        for gamma in solved:
            table = cross_entropy.loss(gamma, steps)
            loss = sum(table[column + N] for column in fields.T)
            solved[gamma] += int(right[loss.argmin()])
    return solved[30.0] == solvable > solved[1.0], (
        f"of {solvable} instances with solutions at N = 15, α = 0.6 the minimum is one in "
        f"{solved[1.0]} with γ = 1, and in {solved[30.0]} with γ = 30"
    )


def cross_entropy_dense_low_load():
    """The normalised local entropy around minima at d = 0.005, γ = 1 and 2."""
    soft, sharp = (_normalised(LOW, _minimum(LOW, gamma), NEAR) for gamma in (1.0, 2.0))
    bound = franz_parisi.geometric_bound(PERCEPTRON, NEAR)
    return soft < sharp and -soft < 0.01 * bound, (
        f"at d = 0.005 it is below the bound, {bound:.4f}, by {-soft:.1e} with γ = 1 and by "
        f"{-sharp:.1e} with γ = 2"
    )


def cross_entropy_infinite_gamma_isolated():
    """The local entropy at d = 0.001 around the minima at γ = ∞, and their limit from finite γ.

    At γ = ∞ all solutions are minima, and typical ones have margin 0. Along the line of zero
    entropy minima of finite γ tend to the solutions of maximal margin: the order matters.
    """
    ends = [
        franz_parisi.solve(PERCEPTRON, LOW, 1e-3, reference=reference).local_entropy
        for reference in (Margin(0.0), _largest(LOW))
    ]
    return ends[0] < 0.0, (
        f"{ends[0]:.4f} around typical solutions, the minima at γ = ∞; {ends[1]:.4f} around "
        "maximal margin, where minima of growing γ tend to along the line of zero entropy"
    )


def cross_entropy_gap_high_load():
    """The local entropy at d = 0.02 and 0.004, α = 0.6, γ = 1 and 3, and the curve at 0.4."""
    lower = _normalised(HIGH, _minimum(HIGH, 1.0), FAR) < _normalised(LOW, _minimum(LOW, 1.0), FAR)
    soft, sharp = (
        franz_parisi.solve(PERCEPTRON, HIGH, 0.004, reference=_minimum(HIGH, gamma)).local_entropy
        for gamma in (1.0, 3.0)
    )
    return lower and soft < 0.0 < sharp, (
        f"at d = 0.004 it is {soft:.4f} with γ = 1 and {sharp:.4f} with γ = 3"
    )


def cross_entropy_best_gamma():
    """The normalised local entropy at d = 0.02 for γ = 1 to 8, and in the limit."""
    gammas = (1.0, 2.0, 4.0, 8.0)
    entropies = [_normalised(LOW, _minimum(LOW, gamma), FAR) for gamma in gammas]
    entropies.append(_normalised(LOW, _largest(LOW), FAR))
    flat = abs(entropies[2] - entropies[1]) < 0.1 * abs(entropies[0])
    return flat and max(entropies) == entropies[2], (
        f"{listed(entropies, 5)} at γ = 1, 2, 4, 8, and maximal margin, the limit γ → ∞"
    )


def cross_entropy_plateau():
    """The normalised local entropy at d = 0.005 for γ = 2, 4 and 8."""
    values = [_normalised(LOW, _minimum(LOW, gamma), NEAR) for gamma in (2.0, 4.0, 8.0)]
    return min(values) > -1e-5, (
        f"{', '.join(f'{value:.0e}' for value in values)} nats at γ = 2, 4, 8; the bound is "
        f"{franz_parisi.geometric_bound(PERCEPTRON, NEAR):.4f}"
    )


def cross_entropy_near_still_growing():
    """The normalised local entropy at d = 0.005 for γ = 2, 4 and 8, and in the limit."""
    values = [_normalised(LOW, _minimum(LOW, gamma), NEAR) for gamma in (2.0, 4.0, 8.0)]
    last = _normalised(LOW, _largest(LOW), NEAR)
    return values == sorted(values), (
        f"{', '.join(f'{value:.1e}' for value in values)} at γ = 2, 4, 8; its limit {last:.1e} is "
        "lower, so that it has a maximum at some γ"
    )


def cross_entropy_limit_far():
    """The normalised local entropy around typical solutions at d = 0.02."""
    return _normalised(LOW, Margin(0.0), FAR)


def cross_entropy_limit_near():
    """The normalised local entropy around typical solutions at d = 0.005."""
    return _normalised(LOW, Margin(0.0), NEAR)


def cross_entropy_replica_symmetric():
    """Entropy, replicon and energy at four loads, with γ and β near the end."""
    places = ((0.2, 2.0, 5000.0), (0.4, 3.0, 700.0), (0.6, 3.0, 90.0), (0.8, 8.0, 50.0))
    states = [typical.solve(PERCEPTRON, a, CrossEntropy(gamma, b)) for a, gamma, b in places]
    holds = all(
        state.entropy > 0.0 and state.replicon < 1.0 and state.energy < 0.01 for state in states
    )
    return holds, (
        f"at α = 0.2, 0.4, 0.6, 0.8: entropy {listed([state.entropy for state in states], 4)}, "
        f"replicon {listed([state.replicon for state in states], 2)}, energy "
        f"{listed([state.energy for state in states], 4)}"
    )


def cross_entropy_two_layers():
    """The local entropy around minima of a sign committee at d = 0.005, γ = 1 and 2.

    As for one layer: at a small load, 0.2, it nearly reaches the bound, with γ = 2 slightly
    better; at a larger one, 0.4, it is lower, and still positive.
    """
    entropies = []
    for load, gamma in ((0.2, 1.0), (0.2, 2.0), (LOW, 2.0)):
        loss = CrossEntropy(gamma, cross_entropy.working_beta(COMMITTEE, load, gamma))
        around = franz_parisi.solve(COMMITTEE, load, NEAR, reference=loss)
        entropies.append(around.local_entropy)
    bound = franz_parisi.geometric_bound(PERCEPTRON, NEAR)
    holds = (
        0.99 * bound < entropies[0] < entropies[1] < bound and 0.0 < entropies[2] < entropies[1]
    )
    return bool(holds), (
        f"for sign units, K → ∞, at d = 0.005 below the bound {bound:.4f} by "
        f"{bound - entropies[0]:.1e} and {bound - entropies[1]:.1e} at α = 0.2, γ = 1 and 2, by "
        f"{bound - entropies[2]:.1e} at α = 0.4, γ = 2"
    )
