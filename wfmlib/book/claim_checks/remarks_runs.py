"""Checks of the papers' remarks in passing, on archives and small instances.

On pictures all runs are on one training set, and shuffled ones on five versions of it.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from wfmlib import datasets, landscape, learning, patterns
from wfmlib.book import experiments
from wfmlib.book.claim_checks.evidence import (
    Answer,
    compare,
    compare_moments,
    compare_pairs,
    decide,
)
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Perceptron, TreeCommittee
from wfmlib.theory import stabilities

COMMITTEE = TreeCommittee(3)
GRADIENTS = ("ceSGD slow", "ceSGD fast")
OWN_STEPS = ("eLAL", "ceSGD slow", "ceSGD fast", "LAL")  # with the settings of P1
ALIKE = 0.1  # relative: what a figure does not show


# ------------------------------------------------------------------------------------------------
# Belief propagation (P1, App. D)
# ------------------------------------------------------------------------------------------------


def _around_solution(couplings, load=2.0, N=201, seed=0):
    """Return a solution of focusing, its instance, and how messages do around it."""
    xi, sigma = patterns.random(round(load * N), N, rng=seed)
    options = {"protocol": learning.exponential(steps=15), "max_sweeps": 40, "rng": seed}
    solution = learning.focusing_bp(COMMITTEE, xi, sigma, form="expanded", **options)
    options = {"tolerance": 1e-4, "max_sweeps": 200, "rng": 0}
    curve = landscape.local_entropy(
        solution, xi, sigma, couplings=couplings, form="expanded", **options
    )
    return solution.errors, curve["converged"].values.astype(bool)


def bp_fails_with_a_weak_pull():
    """Messages around a solution of focusing, K = 3, N = 201, α = 2: pulls from weak to strong."""
    couplings = (0.003, 0.01, 10.0, 30.0)
    errors, settled = _around_solution(couplings)
    finding = ", ".join(
        f"{coupling:g}: {'yes' if settles else 'no'}"
        for coupling, settles in zip(couplings, settled, strict=True)
    )
    return errors == 0 and not settled[:2].any() and settled[2:].all(), (
        f"do messages settle at coupling {finding}"
    )


def expanded_messages_lose_far():
    """The price of the patterns by expanded messages over that by exact ones, K = 3, N = 501."""
    xi, sigma = patterns.random(501, 501, rng=0)
    options = {"protocol": learning.exponential(steps=15), "max_sweeps": 40, "rng": 0}
    solution = learning.focusing_bp(COMMITTEE, xi, sigma, form="expanded", **options)
    couplings = (0.5, 3.0, 30.0)
    rows = [_price(solution, xi, sigma, couplings, form) for form in ("exact", "expanded")]
    off = np.abs(rows[1] / rows[0] - 1.0)
    return bool(off[0] < 0.05 and off[1] < 0.05 and off[2] > 0.1), (
        f"off by {', '.join(f'{100 * error:.1f} %' for error in off)} at couplings "
        f"{', '.join(f'{c:g}' for c in couplings)}, α = 1, around a solution of focusing"
    )


def _price(solution, xi, sigma, couplings, form):
    options = {"form": form, "tolerance": 1e-5, "max_sweeps": 200, "rng": 0}
    return landscape.local_entropy(solution, xi, sigma, couplings=couplings, **options)[
        "excess"
    ].values


# ------------------------------------------------------------------------------------------------
# Algorithms on random patterns (P1, Sec. III to V)
# ------------------------------------------------------------------------------------------------


def fbp_reaches_furthest():
    """Instances that only one of two algorithms solves, K = 9, loads 1.4 to 2.2."""
    solved = experiments.complete("committee-reach")["solved"].astype(bool)
    first = solved.sel(algorithm="fBP").values
    tested = [
        compare_pairs(first, solved.sel(algorithm=name).values, comparisons=len(OWN_STEPS))
        for name in OWN_STEPS
    ]
    counts = ", ".join(f"{name} {int(solved.sel(algorithm=name).sum())}" for name in OWN_STEPS)
    return decide(
        tested,
        f"of {first.size} instances fBP solves {int(first.sum())}; with P1's steps {counts}. With "
        "a third of its step eLAL solves as many as fBP, up to the largest load that was run",
        "instances",
    )


def fbp_widest_of_all():
    """Local entropies, sample by sample, of fBP less those of the next, at three distances."""
    archive, places = experiments.complete("tree-minima"), np.array([0.01, 0.025, 0.05])

    def volumes(name):
        solutions = archive.sel(algorithm=name)
        return landscape.excess_at(
            places, solutions["around_distance"], solutions["around_excess"]
        )

    first, rest = volumes("fBP"), [volumes(name) for name in OWN_STEPS]
    lead, tested = [], []
    for k in range(len(places)):
        means = [np.nanmean(volume[:, k]) for volume in rest]
        next_best = rest[int(np.nanargmax(means))][:, k]
        gap = first[:, k] - next_best
        lead.append(float(np.nanmean(gap)))
        tested.append(compare(gap, comparisons=len(places)))
    return decide(
        tested,
        f"fBP is ahead of the next best by {listed(lead, 4)} nats per weight at d = "
        f"{', '.join(f'{place:g}' for place in places)}",
    )


def lal_needs_fewest_epochs():
    """Epochs of the same ten instances, LAL less each other algorithm."""
    epochs = experiments.complete("tree-minima")["epochs"]
    own = epochs.sel(algorithm="LAL").values
    rest = [name for name in epochs["algorithm"].values if name != "LAL"]
    tested = [
        compare(epochs.sel(algorithm=name).values - own, comparisons=len(rest)) for name in rest
    ]
    means = ", ".join(f"{name} {float(epochs.sel(algorithm=name).mean()):.0f}" for name in rest)
    return decide(tested, f"LAL {own.mean():.0f} on average; {means} (of fBP: sweeps)")


def spectra_alike_at_high_sharpness():
    """Mean largest eigenvalues of three algorithms at the β that LAL asks for, pair by pair."""
    archive = experiments.complete("tree-minima")
    needed = float(archive["smallest_beta"].max())
    ladder = archive["beta"].values
    beta = float(ladder[ladder >= needed][0])
    rows = {name: _largest(archive, name, beta) for name in ("fBP", "eLAL", "ceSGD slow")}
    names, worst = list(rows), []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        gap = (rows[names[i]] - rows[names[j]]) / np.mean([rows[names[i]], rows[names[j]]])
        reach = stats.t.ppf(0.95, len(gap) - 1) * gap.std(ddof=1) / math.sqrt(len(gap))
        worst.append((abs(gap.mean()), reach, gap.std(ddof=1)))
    words = ", ".join(
        f"{name} {row.mean():.0f} ± {row.std(ddof=1):.0f}" for name, row in rows.items()
    )
    finding = f"{words} at β = {beta:g} (alike: means within a tenth)"
    if all(gap + reach < ALIKE for gap, reach, _ in worst):
        return Answer(True, finding)
    if any(gap - reach > ALIKE for gap, reach, _ in worst):
        return Answer(False, finding)
    wide = max(spread for _, _, spread in worst)
    room = min(abs(ALIKE - gap) for gap, _, _ in worst)
    return Answer(None, finding, math.ceil((2.5 * wide / max(room, 0.01)) ** 2))


def _largest(archive, name, beta):
    return archive["largest"].sel(algorithm=name, beta=beta).values


# ------------------------------------------------------------------------------------------------
# Quoted spreads (P1, App. E)
# ------------------------------------------------------------------------------------------------

SPREADS = {"ceSGD fast": 150.0, "ceSGD slow": 70.0, "LAL": 15.0, "eLAL": 315.0}
IMAGE_SPREADS = {"ceSGD fast": 334.0, "ceSGD slow": 50.0, "LAL": 21.0, "eLAL": 40.0}


def _spreads(epochs, quoted, number):
    """Compare standard deviations with quoted ones of as many runs: Fisher's F, four of them."""
    off, words = [], []
    for name, spread in quoted.items():
        row = epochs.sel(algorithm=name).values
        deviation = float(np.std(row, ddof=1))
        ratio = (deviation / spread) ** 2
        tail = stats.f.sf(max(ratio, 1.0 / ratio), len(row) - 1, number - 1)
        off.append(2.0 * tail < 0.05 / len(quoted))
        words.append(f"{name} {deviation:.0f} (quoted {spread:.0f})")
    return not any(off), "; ".join(words)


def epochs_spread_as_quoted():
    """Standard deviations of epochs over ten samples, against those quoted: F-test at 5 %."""
    return _spreads(experiments.complete("tree-minima")["epochs"], SPREADS, 10)


def image_epochs_spread_as_quoted():
    """Standard deviations of epochs over 50 runs, against those quoted: F-test at 5 %."""
    archive = experiments.complete("image-minima").sel(data="original")
    return _spreads(archive["epochs"], IMAGE_SPREADS, 50)


# ------------------------------------------------------------------------------------------------
# Shuffled pixels (P1, App. F)
# ------------------------------------------------------------------------------------------------


def shuffling_keeps_the_bias():
    """Means of pixels, and what the best single pixel knows of the label, 500 made-up pictures."""
    rng = np.random.default_rng(1)
    sigma = rng.choice([-1, 1], 500)
    bias = rng.uniform(-0.8, 0.8, 200)
    chance = 0.5 * (1.0 + np.clip(bias + 0.5 * sigma[:, None] * (np.arange(200) < 40), -1, 1))
    xi = np.where(rng.random((500, 200)) < chance, 1, -1)
    shuffled = datasets.shuffle_pixels(xi, rng=2)
    same = np.array_equal(xi.mean(axis=0), shuffled.mean(axis=0))
    knows = [float(np.max(np.abs(np.cov(x.T, sigma)[-1, :-1]))) for x in (xi, shuffled)]
    return bool(same and knows[1] < 0.25 < knows[0]), (
        f"means are {'the same' if same else 'changed'}; the largest covariance of a pixel with "
        f"the label falls from {knows[0]:.2f} to {knows[1]:.2f}, chance for 200 pixels"
    )


def shuffled_does_not_generalise():
    """Test errors after training on shuffled pictures, means of five versions, against 1/2."""
    errors = experiments.complete("image-minima").sel(data="shuffled")["test_error"]
    rows = errors.values.reshape(errors.sizes["algorithm"], -1, 5).mean(axis=1)
    better = [compare(0.5 - row, comparisons=len(rows)) for row in rows]
    words = ", ".join(
        f"{name} {row.mean():.2f} ± {row.std(ddof=1) / math.sqrt(5):.2f}"
        for name, row in zip(errors["algorithm"].values, rows, strict=True)
    )
    return all(test.sign <= 0 for test in better), f"{words}, mean and error of five versions"


def shuffled_needs_more_epochs():
    """Epochs on five shuffled versions and on the pictures, three algorithms, equal settings."""
    epochs = experiments.complete("image-minima")["epochs"]
    tested, words = [], []
    for name in ("ceSGD slow", "ceSGD fast", "LAL"):
        own = epochs.sel(data="original", algorithm=name).values
        versions = epochs.sel(data="shuffled", algorithm=name).values.reshape(-1, 5).mean(axis=0)
        groups = [(row.mean(), row.std(ddof=1), len(row)) for row in (versions, own)]
        tested.append(compare_moments(*groups, comparisons=3))
        words.append(f"{name} {versions.mean():.0f} against {own.mean():.0f}")
    return decide(tested, f"{'; '.join(words)} epochs, shuffled against original", "versions")


# ------------------------------------------------------------------------------------------------
# Stabilities of focusing (P3)
# ------------------------------------------------------------------------------------------------


def focusing_keeps_off_the_threshold():
    """The density of stabilities of ten solutions of focusing, N = 2001, and of typical ones."""
    density = experiments.complete("fbp-perceptron")["density"].mean("sample").isel(alpha=0)
    places = density["stability"].values
    load = float(density["alpha"])
    typical_ones = stabilities.density(Perceptron(), load, places[:1])[0]
    peak = float(places[int(np.argmax(density.values))])
    return bool(peak > 0.1 and density.values[0] < 0.1 * typical_ones), (
        f"{density.values[0]:.3f} next to 0, where typical solutions have {typical_ones:.3f}, and "
        f"largest at {peak:.2f}"
    )
