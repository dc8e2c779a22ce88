"""Checks of the claims on belief propagation and focusing (chapter 7).

What was measured at paper scale is read from archives; formulas and small instances are computed.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.interpolate import CubicSpline

from wfmlib import landscape, learning, patterns
from wfmlib.book import experiments
from wfmlib.book.claim_checks import evidence
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Margin, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import comparisons
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi, large_deviation, typical

PERCEPTRON, COMMITTEE = Perceptron(), TreeCommittee(3)  # binary weights; spherical ones
QUOTED_END = 1.76  # P1 Sec. III: the load up to which BP converges
CAP = 500  # sweeps that `bp-entropy` allows
CLOSE = 0.03  # of an entropy
NEARLY = 0.9  # of a capacity
INSTANCES = 6  # all of six are more than half of all, by the exact test at 5 %
ERRORS = 4.0  # standard errors of ten samples: one load in 300 is further off by chance
RELIABLE = (0.02, 0.27)  # distances: above some 1/N, below where most solutions are


# ------------------------------------------------------------------------------------------------
# Belief propagation, three units (P1, Sec. III)
# ------------------------------------------------------------------------------------------------


@cache
def _replica_entropy(load):
    """Return the log of the solutions' share of the sphere, three units, replica symmetry."""
    return typical.solve(COMMITTEE, load).entropy


def _entropies():
    """Return loads at which all samples converged, their entropies, and those of the theory."""
    archive = experiments.complete("bp-entropy")
    settled = archive["converged"].all("sample").values
    loads = archive["alpha"].values[settled]
    entropies = archive["entropy"].values[settled]
    return loads, entropies, np.array([_replica_entropy(float(load)) for load in loads])


def _converging():
    """Return the loads, and the share of samples at each whose messages settled."""
    archive = experiments.complete("bp-entropy")
    return archive["alpha"].values, archive["converged"].astype(float).mean("sample").values


def _standard_error(values):
    return values.std(axis=-1, ddof=1) / math.sqrt(values.shape[-1])


def bp_entropy_agrees():
    """The mean entropy of ten samples minus the replica-symmetric one, in standard errors."""
    loads, entropies, theory = _entropies()
    off = (entropies.mean(axis=1) - theory) / _standard_error(entropies)
    holds = len(loads) > 5 and np.max(np.abs(off)) < ERRORS
    return holds, (
        f"at α = {', '.join(f'{load:g}' for load in loads)}, where all samples converge, the mean "
        f"is off by {listed(off, 1)} standard errors"
    )


def bp_size_suffices():
    """The mean of ten samples less the theory, within three per cent, by Student's test."""
    loads, entropies, theory = _entropies()
    share = entropies / theory[:, None] - 1.0
    tested = []
    for row in share:
        tested.append(evidence.compare(CLOSE - row, comparisons=2 * len(loads)))
        tested.append(evidence.compare(row + CLOSE, comparisons=2 * len(loads)))
    answer = evidence.decide(
        tested,
        f"the mean of ten samples is within {100 * np.max(np.abs(share.mean(axis=1))):.1f} % of "
        f"the replica theory at loads from {loads[0]:g} to {loads[-1]:g}",
    )
    return answer._replace(agrees=False) if len(loads) < 6 else answer


def bp_last_load():
    """The load at which half of the samples converge, between those that were run.

    Samples that stopped at the largest number of sweeps may converge with more of them: where the
    quoted load is reached if all of these do, nothing is decided.
    """
    archive = experiments.complete("bp-entropy")
    settled = archive["converged"].transpose("alpha", "sample").values.astype(bool)
    capped = ~settled & (archive["sweeps"].transpose("alpha", "sample").values >= CAP)
    loads, share = archive["alpha"].values, settled.mean(axis=1)
    last = _last_half(loads, share)
    if last >= QUOTED_END or _last_half(loads, (settled | capped).mean(axis=1)) < QUOTED_END:
        return last
    below = capped[loads <= QUOTED_END]
    return evidence.Answer(None, last, int(below.sum()), "longer runs")


def _last_half(loads, share):
    return _crossing(loads, share, np.flatnonzero(share >= 0.5)[-1])


def bp_fails_above():
    """The share of samples that converge within 500 sweeps at each load above 1.76."""
    loads, share = _converging()
    above = loads > QUOTED_END
    samples = experiments.complete("bp-entropy").sizes["sample"]
    counts = np.round(samples * share[above]).astype(int)
    _, most = comparisons.share_interval(counts.sum(), samples * len(counts))
    return not np.any(counts), (
        f"at α = {', '.join(f'{load:g}' for load in loads[above])} of ten samples converge "
        f"{', '.join(map(str, counts))} within {CAP} sweeps (95 %: at most {most:.0%} of all)"
    )


def _crossing(loads, share, last):
    """Return where a share falls through 1/2 after a place, on a straight line."""
    if last + 1 == len(loads):
        return float(loads[last])
    drop = (share[last] - 0.5) / (share[last] - share[last + 1])
    return float(loads[last] + drop * (loads[last + 1] - loads[last]))


@cache
def _focused(seed):
    """Return patterns with N = 201, α = 2, and what focusing finds there for three units."""
    xi, sigma = patterns.random(402, 201, rng=seed)
    options = {"protocol": learning.exponential(steps=15), "max_sweeps": 40, "rng": seed}
    return xi, sigma, learning.focusing_bp(COMMITTEE, xi, sigma, form="expanded", **options)


def bp_settles_around_wide_minimum():
    """Six instances with N = 201, α = 2: messages without a reference, and around a solution."""
    free, around, solved = [], [], []
    for seed in range(INSTANCES):
        xi, sigma, solution = _focused(seed)
        options = {"form": "expanded", "tolerance": 1e-4, "max_sweeps": 200}
        solved.append(solution.converged)
        plain = learning.belief_propagation(COMMITTEE, xi, sigma, rng=seed, **options)
        free.append(plain.converged)
        couplings = (3.0, 10.0, 30.0, 100.0)
        curve = landscape.local_entropy(solution, xi, sigma, couplings=couplings, rng=0, **options)
        around.append(bool(curve["converged"].all()))
    return all(solved) and all(around) and not any(free), (
        f"without a reference {sum(free)} of {INSTANCES} converge, around a solution of focusing "
        f"{sum(around)}, at each of four distances"
    )


# ------------------------------------------------------------------------------------------------
# Around a reference (P1, App. D)
# ------------------------------------------------------------------------------------------------


def local_entropy_without_patterns():
    """The local entropy with a single pattern, N = 1001: from below within ln 2 / N."""
    N, rng = 1001, np.random.default_rng(1)
    net = Perceptron(Spherical()).network(rng.standard_normal(N))
    xi, _ = patterns.random(1, N, rng=1)
    sigma, couplings = net.output(xi), (0.2, 0.5, 2.0, 20.0, 1000.0)
    around = landscape.local_entropy(net, xi, sigma, couplings=couplings, form="expanded", rng=0)
    excess = around["excess"].values
    holds = np.all((excess > -math.log(2.0) / N) & (excess < 1e-12))
    return holds, (
        f"one pattern, which leaves at least half of the weights at any distance, takes at most "
        f"{-excess.min():.1e} nats per weight at d = {listed(around['distance'].values, 4)}; "
        f"ln 2 / N is {math.log(2.0) / N:.1e}"
    )


def bp_fails_around_no_solution():
    """Six instances with N = 201, α = 2, pulls of 30 and 100: random weights, and a solution."""
    couplings, settled = (30.0, 100.0), []
    for seed in range(INSTANCES):
        xi, sigma, solution = _focused(seed)
        w = solution.weights
        random = np.random.default_rng(seed).standard_normal(w.shape)
        settled.append([_settles(xi, sigma, reference, couplings) for reference in (random, w)])
    counts = np.sum(settled, axis=(0, 2))
    number = 2 * INSTANCES
    return counts.tolist() == [0, number], (
        f"at couplings 30 and 100 {counts[0]} of {number} converge around random weights, "
        f"{counts[1]} around a solution"
    )


def _settles(xi, sigma, reference, couplings):
    """Return at which couplings messages settle around a reference, the strongest last."""
    settles = []
    for coupling in couplings:
        try:
            settled = learning.belief_propagation(
                COMMITTEE, xi, sigma, reference=reference, coupling=coupling, form="expanded",
                tolerance=1e-4, max_sweeps=200, rng=0,
            ).converged  # fmt: skip
        except NotConverged:
            settled = False
        settles.append(settled)
    return settles


# ------------------------------------------------------------------------------------------------
# Focusing, weights on the sphere (P1, Sec. III, V and App. D)
# ------------------------------------------------------------------------------------------------


def _solved(form):
    """Return the loads, and which of ten samples are solved at each."""
    solved = experiments.complete("fbp-committee")["solved"].sel(form=form)
    return solved["alpha"].values, solved.transpose("alpha", "sample").values.astype(bool)


def _solved_at(form, load):
    """Return how many samples are solved at a load, and in words of how many, with an interval."""
    loads, solved = _solved(form)
    row = solved[int(np.argmin(np.abs(loads - load)))]
    low, high = comparisons.share_interval(row.sum(), len(row))
    return int(row.sum()), f"{row.sum()} of {len(row)} ({low:.0%} to {high:.0%}) at {load:g}"


def fbp_reach_exact():
    """Samples of ten that are solved at α = 2.7 with exact messages; intervals of 95 %."""
    solved, words = _solved_at("exact", 2.7)
    return solved > 0, words


def fbp_reach_expanded():
    """Samples of ten that are solved at α = 2.6 and 2.7, expanded messages; intervals of 95 %."""
    (first, words), (further, more) = (_solved_at("expanded", load) for load in (2.6, 2.7))
    if first == 0:
        return False, f"{words}, {more}"
    return evidence.Answer(True if further == 0 else None, f"{words}, {more}")


def fbp_exact_reaches_further():
    """How many of the same instances either form solves, over all loads: exact sign test."""
    (loads, exact), (_, expanded) = (_solved(form) for form in ("exact", "expanded"))
    only = int(np.sum(exact & ~expanded)), int(np.sum(expanded & ~exact))
    rows = [
        f"{load:g}: {a}, {b}"
        for load, a, b in zip(loads, exact.sum(axis=1), expanded.sum(axis=1), strict=True)
    ]
    tested = evidence.compare_pairs(exact, expanded)
    finding = (
        f"of ten instances at each load, exact and expanded form solve {'; '.join(rows)}; "
        f"{only[0]} only the exact one, {only[1]} only the other, p = {tested.p:.2f}"
    )
    return evidence.decide([tested], finding, "instances at these loads")


def fbp_nearly_capacity():
    """Samples solved at 0.9 of the capacity, or at the next load that was run: at least half.

    The capacity is that of one step of replica symmetry breaking, found here and not P1's.
    """
    (loads, exact), (_, expanded) = (_solved(form) for form in ("exact", "expanded"))
    capacity = typical.capacity(COMMITTEE, ansatz="1RSB")
    most = np.maximum(exact.sum(axis=1), expanded.sum(axis=1))
    number = exact.shape[1]
    words = ", ".join(f"{n} at {load:g}" for load, n in zip(loads, most, strict=True))
    finding = f"{words}, of {number} samples by the better form; the capacity is {capacity:.3f}"
    near = np.flatnonzero(loads >= NEARLY * capacity)
    if not len(near):
        return evidence.Answer(None, finding, number, f"samples at α = {NEARLY * capacity:.2f}")
    return evidence.decide([evidence.compare_shares(most[near[0]], number)], finding)


def fbp_regions_like_theory():
    """The normalised local entropy of ten solutions, nine units, and the densest of K → ∞."""
    archive = experiments.complete("fbp-local-entropy")
    settled = archive["converged"].astype(bool).all("sample").values[0]
    distance = archive["distance"].mean("sample").values[0][settled]
    excess = archive["excess"].values[0][:, settled]
    near = np.argsort(distance)
    distance, excess = distance[near], excess[:, near]
    mean, error = excess.mean(axis=0), _standard_error(excess.T)
    places = np.array([0.01, 0.025, 0.05, 0.1])
    k = np.array([np.argmin(np.abs(distance - place)) for place in places])
    overlaps = (1.0 - 2.0 * distance[k]) ** 2
    densest = large_deviation.local_entropy(TreeCommittee(np.inf), 1.0, overlaps)
    falls = np.all(np.diff(mean[k]) < 0.0)
    dense = mean[k][0] > -0.1
    near_theory = np.all(mean[k][1:] > 2.0 * densest[1:])
    return bool(falls and dense and near_theory), (
        f"{listed(mean[k], 3)} ± {listed(error[k], 3)} at d = {listed(distance[k], 3)}; the "
        f"densest regions of infinitely many units have {listed(densest, 3)}"
    )


# ------------------------------------------------------------------------------------------------
# Focusing, binary weights (P3; P1, Sec. II)
# ------------------------------------------------------------------------------------------------


def focusing_bp_solves():
    """How many of ten runs end with weights that make no error."""
    archive = experiments.complete("fbp-perceptron")
    solved = int(np.sum(archive["errors"].values == 0))
    return solved == archive.sizes["sample"], (
        f"{solved} of {archive.sizes['sample']} end with no error"
    )


def focusing_bp_peaked():
    """The mean square of the centre's means at the last step, ten instances with N = 501.

    *Very strongly* is 0.95 in each, which is our reading.
    """
    ends = []
    for seed in range(10):
        xi, sigma = patterns.random(250, 501, rng=seed)
        options = {"replicas": 20, "form": "expanded", "rng": seed}
        end = learning.focusing_bp(PERCEPTRON, xi, sigma, **options)
        ends.append((float(end.history["polarisation"][-1]), end.errors))
    peaks, solved = [peak for peak, _ in ends], sum(errors == 0 for _, errors in ends)
    return min(peaks) > 0.95 and solved == len(ends), (
        f"{sum(peak > 0.95 for peak in peaks)} of {len(ends)} above 0.95, the least "
        f"{min(peaks):.2f}, where 1 is a single solution; {solved} end on one"
    )


def bp_overlap_grows():
    """Whether the distance falls with the coupling in each of ten samples."""
    archive = experiments.complete("fbp-perceptron")
    rows = archive["distance"].values[0]
    settled = archive["converged"].values[0].astype(bool)
    rising = [
        bool(np.all(np.diff(row[good]) < 0.0)) for row, good in zip(rows, settled, strict=True)
    ]
    return all(rising), (
        f"in {sum(rising)} of {len(rising)} samples at α = 0.5, at all of the "
        f"{settled.sum(axis=1).min()} or more couplings at which messages settle"
    )


def _above_max_margin():
    """Return distances, how far ten curves lie above that of maximal margin, and its height."""
    archive = experiments.complete("fbp-perceptron")
    load = float(archive["alpha"].values[0])
    settled = archive["converged"].values[0].astype(bool).all(axis=0)
    distance = archive["distance"].values[0][:, settled]
    entropy = archive["local_entropy"].values[0][:, settled]
    inside = np.all((distance > RELIABLE[0]) & (distance < RELIABLE[1]), axis=0)
    distance, entropy = distance[:, inside], entropy[:, inside]
    grid = np.linspace(RELIABLE[0], RELIABLE[1], 51)
    reference = Margin(typical.max_margin(PERCEPTRON, load))
    theory = franz_parisi.local_entropy(PERCEPTRON, load, grid, reference=reference)
    height = CubicSpline(grid, theory)(distance)
    return distance.mean(axis=0), entropy - height, height.mean(axis=0)


def focusing_bp_above_max_margin():
    """The curves of ten solutions minus that of maximal margin, at d from 0.02 to 0.27."""
    distance, above, height = _above_max_margin()
    mean, error = above.mean(axis=0), _standard_error(above.T)
    share = mean / height
    most = int(np.argmax(share))
    never_below = np.all(mean > -2.0 * error)
    somewhere = np.any(mean > 2.0 * error)
    slight = share[most] < 0.1
    places = [int(np.argmin(np.abs(distance - d))) for d in (0.03, 0.1, 0.2)]
    rows = "; ".join(f"{mean[i]:.4f} ± {error[i]:.4f} at {distance[i]:.2f}" for i in places)
    return bool(never_below and somewhere and slight), (
        f"mean and standard error of ten: {rows}; at most {100 * share[most]:.1f} % of the "
        f"height, at d = {distance[most]:.2f} (slight: below a tenth)"
    )


def _clipped_rule(xi, sigma, seed, epochs=1000):
    """Return weights by a perceptron rule on hidden states that are clipped to signs, and epochs.

    A wrong pattern moves all hidden states; one that is right by the smallest stability moves,
    three times in ten, those that already agree (Baldassi 2009, cited by P1). -1 epochs: unsolved.
    """
    rng = np.random.default_rng(seed)
    rows = sigma[:, None] * xi.astype(np.int64)
    hidden = 2 * rng.integers(-2, 2, rows.shape[1]) + 1
    for epoch in range(epochs):
        wrong = 0
        for k in rng.permutation(len(rows)):
            agrees = np.sign(hidden) * rows[k]
            stability = agrees.sum()
            if stability <= 0:
                hidden += 2 * rows[k]
                wrong += 1
            elif stability == 1 and rng.random() < 0.3:
                hidden += 2 * rows[k] * (agrees > 0)
        if not wrong and np.all(rows @ np.sign(hidden) > 0):
            return np.sign(hidden), epoch + 1
    return np.sign(hidden), -1


@cache
def _clipped(seed):
    xi, sigma = patterns.random(251, 501, rng=seed)
    weights, epochs = _clipped_rule(xi, sigma, seed)
    return xi, sigma, PERCEPTRON.network(weights), epochs


def binary_algorithms_succeed():
    """A clipped perceptron rule on six instances, N = 501, α = 1/2; ten of focusing up to 0.7."""
    loads, share = _binary_shares()
    epochs = [_clipped(seed)[3] for seed in range(6)]
    low = share[:, loads <= 0.7]
    return bool(np.all(low >= 0.5) and min(epochs) > 0), (
        f"the rule solves {sum(count > 0 for count in epochs)} of {len(epochs)}, in at most "
        f"{max(epochs)} epochs; focusing, of ten samples at α = "
        f"{', '.join(f'{load:g}' for load in loads[loads <= 0.7])}: "
        + "; ".join(", ".join(f"{10 * part:.0f}" for part in row) for row in low)
        + " for N = 1001; 2001"
    )


def algorithms_find_dense():
    """The local entropy around solutions of focusing and of a clipped rule, and typical ones.

    α = 1/2: ten solutions of focusing, N = 2001, four of the rule, N = 501, each at a distance.
    """
    archive = experiments.complete("fbp-perceptron")
    load = float(archive["alpha"].values[0])
    distance = archive["distance"].values[0]
    entropy = archive["local_entropy"].values[0]
    nearest = int(np.argmin(np.abs(np.nanmean(distance, axis=0) - 0.03)))
    place, lowest = (
        float(np.mean(distance[:, nearest])),
        float(np.min(entropy[:, nearest])),
    )
    rows = [(place, lowest, "focusing")]
    for seed in range(4):
        xi, sigma, net, _ = _clipped(seed)
        near = landscape.local_entropy(net, xi, sigma, couplings=(1.2,), rng=0)
        rows.append((float(near["distance"][0]), float(near["local_entropy"][0]), "the rule"))
    typical_ones = [franz_parisi.local_entropy(PERCEPTRON, load, d) for d, _, _ in rows]
    bounds = [franz_parisi.geometric_bound(PERCEPTRON, d) for d, _, _ in rows]
    words = [
        f"{value:.3f} (typical {plain:.3f}, all weights {bound:.3f}) at d = {d:.3f}, {name}"
        for (d, value, name), plain, bound in zip(rows, typical_ones, bounds, strict=True)
    ]
    denser = [e > max(0.0, t) for (_, e, _), t in zip(rows, typical_ones, strict=True)]
    return all(denser), f"nats per weight: {'; '.join(words)}"


def dense_threshold_bounds():
    """Samples that focusing solves above α_u, N = 1001 and 2001: their share must fall with N.

    One algorithm cannot confirm what is said of all; it could refute it.
    """
    loads, share = _binary_shares()
    threshold = large_deviation.dense_threshold(PERCEPTRON)
    crossings = []
    for row in share:
        good = np.flatnonzero(row >= 0.5)
        crossings.append(_crossing(loads, row, good[-1]) if len(good) else float(loads[0]))
    solved = experiments.complete("fbp-perceptron-success")["solved"].astype(bool)
    above = solved.sel(alpha=loads[loads > threshold]).transpose("N", ...).values
    small, large = (samples.ravel() for samples in above)
    finding = (
        f"half are solved up to {listed(crossings, 3)} for N = 1001 and 2001; above α_u = "
        f"{threshold:.3f}, at {', '.join(f'{load:g}' for load in loads[loads > threshold])}, "
        f"{small.sum()} and {large.sum()} of {len(large)}"
    )
    more_than_half = evidence.compare_shares(large.sum(), len(large))
    falls = evidence.compare_groups(small, large)
    if more_than_half.sign > 0 or falls.sign < 0:
        return False, finding
    return evidence.Answer(None, finding, falls.needed, "instances above α_u")


def _binary_shares():
    solved = experiments.complete("fbp-perceptron-success")["solved"].astype(float)
    share = solved.mean("sample").transpose("N", "alpha")
    return share["alpha"].values, share.values
