"""Checks of the claims on the parity machine (chapter 4)."""

from __future__ import annotations

import itertools
import math

import numpy as np

from wfmlib import learning, patterns
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Binary, ParityMachine, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import gaussian
from wfmlib.theory import large_deviation, typical

PARITY = ParityMachine(3, Binary())
HALF = math.log(2.0)  # what one replica pays for one pattern, nats


def parity_energetic_term():
    """The sum over all internal representations at random fields, K = 2 to 6."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for units in range(2, 7):
        signs = np.array(list(itertools.product((-1, 1), repeat=units)))
        right = signs[signs.prod(axis=1) > 0]
        for _ in range(20):
            field = 2.0 * rng.standard_normal(units)
            summed = np.sum(np.prod(gaussian.H(-right * field), axis=1))
            zeta = (-1.0) ** units * np.prod(2.0 * gaussian.H(field) - 1.0)
            worst = max(worst, abs(summed - (1.0 + zeta) / 2.0))
    return bool(worst < 1e-13), (
        f"the two differ by {worst:.0e} at most; ζ is the product of 1 - 2H, the units' mean signs"
    )


def parity_log_ratio_few_units():
    """The log-fraction of pairs (y = 2), three units, closed form at q0 = 0, four overlaps."""
    # q0 = 0 is stable for pairs up to loads above 27 at any overlap (exercise of chapter 4)
    overlaps = (0.3, 0.6, 0.9, 0.99)
    agree = [2.0 / math.pi * math.asin(q1) for q1 in overlaps]  # of two signs
    fractions = [0.5 * math.log1p(rho**3) / HALF - 1.0 for rho in agree]
    return max(abs(fraction + 1.0) for fraction in fractions) < 0.01, (
        f"in units of α ln 2 it is {listed(fractions, 3)} for pairs of three units at "
        f"q1 = {listed(overlaps, 2)}; for groups of y it tends to -1/y as q1 → 1"
    )


def _pairs(q1, units):
    """Return bounds on the log-fraction of pairs, in units of ``alpha ln 2``, plus 1, for each K.

    Above: the annealed value. Below, at any q0: Jensen's inequality for the average over a group,
    ``E ln(1 + p) = -sum_j E p^(2j) / (2j)``, p the product of the units' mean signs.
    """
    width = math.sqrt((1.0 - q1) / q1)
    u, weight = gaussian.grid((0.0, width))
    mean_sign = 1.0 - 2.0 * gaussian.H(u / width)
    j = np.arange(2, 2001, 2)
    moments = np.cumprod(np.tile(mean_sign**2, (len(j), 1)), axis=0) @ weight
    above = [0.5 * math.log1p(moments[0] ** K) for K in units]
    below = [-float(np.sum(moments**K / j)) for K in units]
    return [max(high, -low) / HALF for high, low in zip(above, below, strict=True)]


def parity_log_ratio_many_units():
    """Bounds on the log-fraction of pairs at q1 = 0.9, at any load, for growing K."""
    units = (3, 11, 31, 101)
    gaps = _pairs(0.9, units)
    # the shares must vanish exponentially in K; only the last is in question
    sizes = ", ".join(f"{gap:.1e}" for gap in gaps)
    return gaps[-1] < 0.01, (
        f"at q1 = 0.9 pairs (y = 2) lie within {sizes} α ln 2 of -α ln 2 for "
        f"K = {', '.join(map(str, units))}"
    )


def parity_never_flat():
    """A lower bound around weights of margin κ(Kα), three units, α = 0.25, four overlaps."""
    units, load, overlaps = 3, 0.25, (0.9, 0.95, 0.98, 0.99)
    margin = typical.max_margin(Perceptron(Spherical()), units * load)
    bound = [
        units * load * math.log1p(-2.0 * float(gaussian.H(t * margin / math.sqrt(1.0 - t**2))))
        for t in overlaps
    ]
    flat = bound[-1] > -0.01 * load * HALF  # of what one replica pays
    values = ", ".join(f"{value:.0e}" for value in bound)
    return not flat, (
        f"around some solutions the log-fraction is at least {values} at overlaps "
        f"{listed(overlaps, 2)} with them; -α ln 2 is {-load * HALF:.2f}"
    )


def flat_with_votes_only():
    """The log-fractions of groups of 20 at four overlaps: a committee, K → ∞; parity, K = 1001.

    In one order of limits: many units at given y. Of the committee that of replica theory, at
    α = 0.5; of the parity machine the annealed one, a bound from above at any load.
    """
    gaps, load, committee, y = (0.3, 0.1, 0.03, 0.01), 0.5, TreeCommittee(np.inf), 20
    groups = [large_deviation.solve(committee, load, 1.0 - gap, replicas=y) for gap in gaps]
    votes = [group.local_entropy / (load * HALF) for group in groups]
    product = [_groups(1.0 - gap, 1001, y) for gap in gaps]
    holds = bool(np.all(np.diff(votes) > 0.0)) and votes[-1] > -0.2 and max(product) < 0.01
    return holds, (
        f"in units of α ln 2 groups of {y} committees have {listed(votes, 2)} at 1 - q1 = "
        f"{listed(gaps, 2)}, parity machines of 1001 units at most {max(product):.0e} above -1"
    )


def _groups(q1, units, replicas):
    """Return a bound on the log-fraction of groups, in units of ``alpha ln 2``, plus 1."""
    width = math.sqrt((1.0 - q1) / q1)
    u, weight = gaussian.grid((0.0, width))
    mean_sign = 1.0 - 2.0 * gaussian.H(u / width)
    agree = sum(
        math.comb(replicas, j) * float(mean_sign**j @ weight) ** units
        for j in range(2, replicas + 1, 2)
    )
    return math.log1p(agree) / (replicas * HALF)


def parity_pieces():
    """All solutions of 8 samples, K = 3, N = 9, 15 and 21, α = 0.6: internal representations.

    Different regions must not touch, their number must grow with N, and the region of a typical
    solution must hold less than a hundredth of all, and less at each size.
    """
    crossings, rows = 0, []
    for N, P in ((9, 5), (15, 9), (21, 13)):
        regions = [_regions(N, P, seed) for seed in np.random.SeedSequence(5).spawn(8)]
        crossings += sum(region[0] for region in regions)
        rows.append(np.array([region[1:] for region in regions if region[1]]).mean(axis=0))
    solutions, pieces, share = np.array(rows).T
    holds = crossings == 0 and share[2] < share[1] < share[0] and share[2] < 0.01
    return bool(holds and pieces[2] > pieces[1] > pieces[0] > 1.0), (
        f"at N = 9, 15, 21 on average {listed(solutions, 0)} solutions in {listed(pieces, 0)} "
        f"regions; that of a typical solution holds {listed(share, 4)} of them; {crossings} pairs "
        "one flip apart lie in different regions"
    )


def _regions(N, P, seed, device=PARITY):
    """Return pairs of neighbours in different regions, solutions, regions, and a typical share."""
    xi, sigma = patterns.random(P, N, rng=seed)
    enumeration = learning.enumerate_solutions(device, xi, sigma, keep=2**16, threads=1)
    if not enumeration.count:
        return 0, 0, 0, 0.0
    w = enumeration.solutions.reshape(-1, 3, N // 3).astype(float)
    signs = np.einsum("sli,pli->spl", w, xi.reshape(P, 3, N // 3).astype(float)) > 0
    code = signs.reshape(len(w), -1) @ (1 << np.arange(3 * P, dtype=np.int64))
    flat = w.reshape(len(w), -1)
    near = flat @ flat.T == N - 2.0
    _, sizes = np.unique(code, return_counts=True)
    share = float(np.sum(sizes**2)) / len(w) ** 2
    return int(np.sum(near & (code[:, None] != code))), len(w), len(sizes), share
