"""How the claims on belief propagation and focusing are found (chapter 7).

What was measured at paper scale is read from archives; formulas and small instances are computed.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import CubicSpline

from wfmlib import experiments, landscape, learning, patterns
from wfmlib.claim_checks.words import listed
from wfmlib.solvers import NotConverged
from wfmlib.theory import (
    Margin,
    Perceptron,
    Spherical,
    finite_committee,
    franz_parisi,
    large_deviation,
    typical,
)

QUOTED_CAPACITY = 3.02  # of three units, P1 Sec. II.C
ERRORS = 4.0  # standard errors of ten samples: one load in 300 is further off by chance
RELIABLE = (0.02, 0.27)  # distances: above some 1/N, below where most solutions are


# ------------------------------------------------------------------------------------------------
# Belief propagation, three units (P1, Sec. III)
# ------------------------------------------------------------------------------------------------


def _replica_entropy(load):
    """Return the log of the solutions' share of the sphere, three units, replica symmetry."""
    whole = 0.5 * math.log(2.0 * math.pi * math.e)
    return finite_committee.solve(load, units=3).entropy - whole


def _entropies():
    """Return loads at which all samples converged, their entropies, and those of the theory."""
    archive = experiments.complete("bp-entropy")
    settled = archive["converged"].all("sample").values
    loads = archive["alpha"].values[settled]
    found = archive["entropy"].values[settled]
    return loads, found, np.array([_replica_entropy(float(load)) for load in loads])


def _converging():
    """Return the loads, and the share of samples at each whose messages settled."""
    archive = experiments.complete("bp-entropy")
    return archive["alpha"].values, archive["converged"].astype(float).mean("sample").values


def _standard_error(found):
    return found.std(axis=-1, ddof=1) / math.sqrt(found.shape[-1])


def bp_entropy_agrees():
    """The mean entropy of ten samples minus the replica-symmetric one, in standard errors."""
    loads, found, theory = _entropies()
    off = (found.mean(axis=1) - theory) / _standard_error(found)
    holds = len(loads) > 5 and np.max(np.abs(off)) < ERRORS
    return holds, (
        f"at α = {', '.join(f'{load:g}' for load in loads)}, where all samples converge, the mean "
        f"is off by {listed(off, 1)} standard errors"
    )


def bp_size_suffices():
    """The largest distance of a mean from the theory, and of a single sample from the mean."""
    loads, found, theory = _entropies()
    means = found.mean(axis=1)
    bias = np.max(np.abs(means / theory - 1.0))
    spread = np.max(found.std(axis=1, ddof=1) / -theory)
    return len(loads) > 5 and bias < 0.03, (
        f"the mean over ten samples is within {100 * bias:.1f} % of the replica theory at all "
        f"loads from {loads[0]:g} to {loads[-1]:g}; one sample spreads by up to "
        f"{100 * spread:.1f} %"
    )


def bp_last_load():
    """The load at which half of the samples converge, between those that were run."""
    loads, share = _converging()
    last = np.flatnonzero(share >= 0.5)[-1]
    return _crossing(loads, share, last)


def bp_fails_above():
    """The share of samples that converge at each load above 1.76."""
    loads, share = _converging()
    above = loads > 1.76
    return not np.any(share[above]), (
        f"at α = {', '.join(f'{load:g}' for load in loads[above])} of ten samples converge "
        f"{', '.join(f'{10 * one:.0f}' for one in share[above])}"
    )


def _crossing(loads, share, last):
    """Return where a share falls through 1/2 after a place, on a straight line."""
    if last + 1 == len(loads):
        return float(loads[last])
    drop = (share[last] - 0.5) / (share[last] - share[last + 1])
    return float(loads[last] + drop * (loads[last + 1] - loads[last]))


def bp_settles_around_wide_minimum():
    """Two instances with N = 201, α = 2: messages without a reference, and around a solution."""
    free, around, solved, N = [], [], [], 201
    for seed in range(2):
        xi, sigma = patterns.random(2 * N, N, seed)
        options = {"form": "expanded", "tolerance": 1e-4, "max_sweeps": 200}
        found = learning.focusing_bp(
            xi,
            sigma,
            units=3,
            weights=Spherical(),
            form="expanded",
            protocol=learning.exponential(steps=15),
            max_sweeps=40,
            seed=seed,
        )
        solved.append(found.converged)
        plain = learning.belief_propagation(
            xi, sigma, units=3, weights=Spherical(), seed=seed, **options
        )
        free.append(plain.converged)
        curve = landscape.local_entropy(
            found.weights, xi, sigma, couplings=(3.0, 10.0, 30.0, 100.0), **options
        )
        around.append(bool(curve["converged"].all()))
    return all(solved) and all(around) and not any(free), (
        f"without a reference {sum(free)} of 2 converge, around a solution of focusing "
        f"{sum(around)} of 2, at each of four distances"
    )


# ------------------------------------------------------------------------------------------------
# Around a reference (P1, App. D)
# ------------------------------------------------------------------------------------------------


def local_entropy_without_patterns():
    """The local entropy with a single pattern, N = 1001: from below within ln 2 / N."""
    N, rng = 1001, np.random.default_rng(1)
    weights = rng.standard_normal(N)
    xi, _ = patterns.random(1, N, 1)
    sigma = np.where(xi @ weights < 0.0, -1, 1)
    couplings = (0.2, 0.5, 2.0, 20.0, 1000.0)
    around = landscape.local_entropy(weights, xi, sigma, couplings=couplings, form="expanded")
    excess = around["excess"].values
    holds = np.all((excess > -math.log(2.0) / N) & (excess < 1e-12))
    return holds, (
        f"one pattern, which leaves at least half of the weights at any distance, takes at most "
        f"{-excess.min():.1e} nats per weight at D = {listed(around['distance'].values, 4)}; "
        f"ln 2 / N is {math.log(2.0) / N:.1e}"
    )


def bp_fails_around_no_solution():
    """Random weights as the reference, N = 200, α = 1/2, pulls from weak to strong."""
    xi, sigma = patterns.random(100, 200, 1)
    reference = np.random.default_rng(3).choice([-1, 1], 200)
    found = []
    for coupling in (0.1, 1.0, 5.0):
        try:
            settled = learning.belief_propagation(
                xi, sigma, reference=reference, coupling=coupling, max_sweeps=200
            ).converged
        except NotConverged:
            settled = False
        found.append(settled)
    said = ["converge" if one else "do not" for one in found]
    return found == [True, True, False], (
        f"with binary weights messages {', '.join(said)} at coupling 0.1, 1 and 5"
    )


# ------------------------------------------------------------------------------------------------
# Focusing, weights on the sphere (P1, Sec. III, V and App. D)
# ------------------------------------------------------------------------------------------------


def _reach(form):
    """Return the largest load at which half of the samples are solved, and all the shares."""
    solved = experiments.complete("fbp-committee")["solved"].sel(form=form)
    share = solved.astype(float).mean("sample").values
    loads = solved["alpha"].values
    return float(loads[np.flatnonzero(share >= 0.5)[-1]]) if np.any(share >= 0.5) else 0.0, share


def fbp_reach_exact():
    """The largest load, of those that were run, at which at least half of ten are solved."""
    return _reach("exact")[0]


def fbp_reach_expanded():
    """The largest load, of those that were run, at which at least half of ten are solved."""
    return _reach("expanded")[0]


def fbp_exact_reaches_further():
    """How many of the same instances either form solves, over all loads."""
    solved = experiments.complete("fbp-committee")["solved"].astype(bool)
    exact, expanded = (solved.sel(form=form).values for form in ("exact", "expanded"))
    only = int(np.sum(exact & ~expanded)), int(np.sum(expanded & ~exact))
    loads = solved["alpha"].values
    rows = [
        f"{load:g}: {a}, {b}"
        for load, a, b in zip(loads, exact.sum(axis=1), expanded.sum(axis=1), strict=True)
    ]
    return only[0] > only[1] + 2.0 * math.sqrt(sum(only)), (
        f"of ten instances at each load, exact and expanded form solve {'; '.join(rows)}; "
        f"{only[0]} only the exact one, {only[1]} only the other"
    )


def fbp_nearly_capacity():
    """The largest load at which half of ten samples are solved, beside the quoted capacity."""
    load = max(_reach(form)[0] for form in ("exact", "expanded"))
    return load > 0.85 * QUOTED_CAPACITY, (
        f"at least half of ten samples are solved at α = {load:g}, "
        f"{100 * load / QUOTED_CAPACITY:.0f} % of the capacity {QUOTED_CAPACITY} of the paper"
    )


def fbp_regions_like_theory():
    """The normalised local entropy of ten solutions, nine units, and the densest of K → ∞."""
    archive = experiments.complete("fbp-local-entropy")
    settled = archive["converged"].astype(bool).all("sample").values[0]
    distance = archive["distance"].mean("sample").values[0][settled]
    found = archive["excess"].values[0][:, settled]
    near = np.argsort(distance)
    distance, found = distance[near], found[:, near]
    mean, error = found.mean(axis=0), _standard_error(found.T)
    places = np.array([0.02, 0.05, 0.1, 0.2])
    at = np.array([np.argmin(np.abs(distance - one)) for one in places])
    densest = large_deviation.local_entropy((1.0 - distance[at]) ** 2, 1.0)
    falls = np.all(np.diff(mean[at]) < 0.0)
    dense = mean[at][0] > -0.1
    near_theory = np.all(mean[at][1:] > 2.0 * densest[1:])
    return bool(falls and dense and near_theory), (
        f"{listed(mean[at], 3)} ± {listed(error[at], 3)} at D = {listed(distance[at], 3)}; the "
        f"densest regions of infinitely many units have {listed(densest, 3)}"
    )


# ------------------------------------------------------------------------------------------------
# Focusing, binary weights (P3; P1, Sec. II)
# ------------------------------------------------------------------------------------------------


def focusing_bp_solves():
    """How many of ten runs end with weights that make no error."""
    archive = experiments.complete("fbp-perceptron")
    ended = int(np.sum(archive["errors"].values == 0))
    return ended == archive.sizes["sample"], (
        f"{ended} of {archive.sizes['sample']} end with no error"
    )


def focusing_bp_peaked():
    """The mean square of the centre's means at the last step, two instances with N = 501."""
    found = []
    for seed in range(2):
        xi, sigma = patterns.random(250, 501, seed)
        end = learning.focusing_bp(xi, sigma, replicas=20, form="expanded", seed=seed)
        found.append((float(end.history["polarisation"][-1]), end.errors))
    return all(peak > 0.95 and errors == 0 for peak, errors in found), (
        f"{listed([peak for peak, _ in found], 4)} where 1 is a single solution; its signs make "
        f"{' and '.join(str(errors) for _, errors in found)} errors"
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
    reference = Margin(typical.max_margin(load))
    theory = franz_parisi.local_entropy(grid, load, reference=reference)
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


def binary_algorithms_succeed():
    """The share of ten samples that focusing solves at loads up to 0.7, N = 1001 and 2001."""
    loads, share = _binary_shares()
    low = share[:, loads <= 0.7]
    return bool(np.all(low >= 0.5)), (
        f"of ten samples at α = {', '.join(f'{one:g}' for one in loads[loads <= 0.7])}: "
        + "; ".join(", ".join(f"{10 * one:.0f}" for one in row) for row in low)
        + " for N = 1001; 2001"
    )


def algorithms_find_dense():
    """The local entropy around ten solutions of focusing, and around typical ones, α = 0.5."""
    archive = experiments.complete("fbp-perceptron")
    load = float(archive["alpha"].values[0])
    distance = archive["distance"].values[0]
    entropy = archive["local_entropy"].values[0]
    at = int(np.argmin(np.abs(np.nanmean(distance, axis=0) - 0.03)))
    lowest, where = float(np.min(entropy[:, at])), float(np.mean(distance[:, at]))
    typical_ones = franz_parisi.local_entropy(where, load)
    return lowest > max(0.0, typical_ones), (
        f"at d = {where:.3f} at least {lowest:.3f} nats per weight, of "
        f"{franz_parisi.geometric_bound(where):.3f} for all weights; {typical_ones:.3f} around "
        "typical solutions"
    )


def dense_threshold_bounds():
    """The load at which focusing solves half of ten samples, N = 1001 and 2001, and α_u."""
    loads, share = _binary_shares()
    threshold = large_deviation.dense_threshold(activation=Perceptron())
    reached = []
    for row in share:
        good = np.flatnonzero(row >= 0.5)
        reached.append(_crossing(loads, row, good[-1]) if len(good) else float(loads[0]))
    falling = np.all(share[:, -1] < 0.5)
    return bool(falling and max(reached) < threshold), (
        f"{listed(reached, 3)} for N = 1001 and 2001; α_u is {threshold:.3f}"
    )


def _binary_shares():
    solved = experiments.complete("fbp-perceptron-success")["solved"].astype(float)
    share = solved.mean("sample").transpose("N", "alpha")
    return share["alpha"].values, share.values
