"""Checks of the claims on least action, slow gradient descent and flatness (chapter 8).

Algorithms are compared sample by sample, on the same patterns, by Student's test of differences,
eigenvalues by their logarithms; `evidence` says when a comparison is decided.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from scipy import stats

from wfmlib import landscape, learning, patterns
from wfmlib.book import experiments
from wfmlib.book.claim_checks import evidence
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import TreeCommittee

COMMITTEE = TreeCommittee(9)
PLACES = np.array([0.01, 0.025, 0.05])  # distances at which volumes are compared
LADDER = (5.0, 10.0)  # sharpnesses at which curvatures are compared besides P1's two
_SIGNS = {1: "so", -1: "the other way round", 0: "not told apart"}
ALL_BUT_LAL = ("fBP", "eLAL", "ceSGD slow", "ceSGD fast")


# ------------------------------------------------------------------------------------------------
# What the archives hold
# ------------------------------------------------------------------------------------------------


def _minima():
    return experiments.complete("tree-minima")


def _volumes(archive, algorithm):
    """Return local entropies minus the bound at `PLACES`, a row for each sample; else NaN."""
    solutions = archive.sel(algorithm=algorithm)
    return landscape.excess_at(PLACES, solutions["around_distance"], solutions["around_excess"])


def _wider_by(first, second, comparisons=3):
    """Compare local entropies of the same samples at each of `PLACES`."""
    return [evidence.compare(gap, comparisons=comparisons) for gap in (first - second).T]


def _places(tested):
    """Put the sign and the p-value at each of `PLACES` into words."""
    return "; ".join(
        f"d = {d:g}: {_SIGNS[test.sign]}, p = {test.p:.1g}"
        for d, test in zip(PLACES, tested, strict=True)
    )


# ------------------------------------------------------------------------------------------------
# Epochs (P1, App. E)
# ------------------------------------------------------------------------------------------------


def _epochs(algorithm):
    """Return the mean number of epochs of the samples that reached their aim."""
    runs = _minima().sel(algorithm=algorithm)
    return float(runs["epochs"].where(runs["converged"] & (runs["errors"] == 0)).mean())


def lal_epochs():
    """Mean over ten samples, N = 999, K = 9, 1000 patterns."""
    return _epochs("LAL")


def elal_epochs():
    """Mean over ten samples, N = 999, K = 9, 1000 patterns; Welch's test against P1's ten.

    The spread is twice that of P1: the quoted one does not tell how far off the mean may be.
    """
    values = _minima()["epochs"].sel(algorithm="eLAL").values
    ours = float(np.mean(values)), float(np.std(values, ddof=1)), len(values)
    apart = evidence.compare_moments(ours, (861.0, 315.0, 10))
    return evidence.Answer(False if apart.sign else None, ours[0], apart.needed)


def fast_epochs():
    """Mean over ten samples with γ constant and β growing, N = 999, K = 9, 1000 patterns."""
    return _epochs("ceSGD fast")


def slow_epochs():
    """Mean over the samples of ten that reached the loss, β growing by 2e-4 an epoch."""
    return _epochs("ceSGD slow")


def fast_gamma_doubles():
    """Errors of two samples after 1000 epochs in which γ doubled each time, P1's other values."""
    schedule = learning.Schedule(eta=1e-2, gamma=3.0, beta=1.0, gamma_growth=1.0, beta_growth=1e-3)
    left = []
    for seed in (1, 2):
        xi, sigma = patterns.random(333, 333, rng=seed)
        result = learning.cross_entropy_sgd(
            COMMITTEE, xi, sigma, schedule=schedule, max_epochs=1000, rng=seed
        )
        left.append(result.errors)
    return max(left) == 0, f"{left[0]} and {left[1]} errors of 333 patterns, N = 333"


def all_solve():
    """Solved samples of ten, N = 999, K = 9, 1000 patterns."""
    archive = _minima()
    solved = (archive["errors"] == 0).sum("sample")
    text = ", ".join(
        f"{name} {int(solved.sel(algorithm=name))}" for name in solved.algorithm.values
    )
    return bool((solved == archive.sizes["sample"]).all()), text


# ------------------------------------------------------------------------------------------------
# Volume and curvature (P1, Fig. 5, 6)
# ------------------------------------------------------------------------------------------------


def _wider(wide, narrow):
    """Answer whether local entropies are larger at all `PLACES`."""
    archive = _minima()
    tested = _wider_by(_volumes(archive, wide), _volumes(archive, narrow))
    return evidence.decide(tested, _places(tested))


def fbp_wider_than_elal():
    """Local entropies of the same ten samples, at three distances."""
    return _wider("fBP", "eLAL")


def elal_wider_than_slow():
    """Local entropies of the same ten samples, at three distances."""
    return _wider("eLAL", "ceSGD slow")


def slow_wider_than_fast():
    """Local entropies of the same ten samples, at three distances."""
    return _wider("ceSGD slow", "ceSGD fast")


def fast_wider_than_lal():
    """Local entropies of the same ten samples, at three distances."""
    return _wider("ceSGD fast", "LAL")


def _sharpness(algorithms=None):
    """Return the smallest β at which the smooth networks of all solutions are right.

    Of all algorithms, or of some: the two at which P1 shows spectra.
    """
    needed = _minima()["smallest_beta"]
    if algorithms is not None:
        needed = needed.sel(algorithm=list(algorithms))
    return float(needed.max())


@cache
def _largest(algorithm, beta):
    """Return the largest eigenvalues of an algorithm's solutions at any β, for each sample."""
    weights, recipe = _minima()["weights"].sel(algorithm=algorithm), experiments.get("tree-minima")
    settings = recipe.scale("paper").settings
    eigenvalues = []
    for k in weights["sample"].values:
        net = COMMITTEE.network(weights.sel(sample=k).values)
        drawn, _ = recipe.seed_sequence({}, int(k)).spawn(2)
        xi, sigma = patterns.random(settings["P"], settings["N"], rng=drawn)
        eigenvalues.append(landscape.max_eigenvalue(net, xi, sigma, beta=beta))
    return np.array(eigenvalues)


def _flatter(flat, sharp, *panels):
    """Answer whether largest eigenvalues are smaller at P1's sharpnesses; p at several.

    `panels` are the algorithms that decide on each of them, see `_sharpness`.
    """
    archive = _minima()["largest"]
    rows = {b: [archive.sel(algorithm=a, beta=b).values for a in (sharp, flat)] for b in LADDER}
    sharpnesses = [_sharpness(panel) for panel in panels]
    rows |= {b: [_largest(a, b) for a in (sharp, flat)] for b in sharpnesses}
    tested = {
        b: evidence.compare(np.log(rows[b][0]) - np.log(rows[b][1]), comparisons=len(sharpnesses))
        for b in sorted(rows)
    }
    words = [f"β = {b:.3g}: {_SIGNS[test.sign]}, p = {test.p:.1g}" for b, test in tested.items()]
    return evidence.decide([tested[b] for b in sharpnesses], "; ".join(words))


def fbp_flatter_than_elal():
    """Largest eigenvalues of the same ten samples, at the lower β of P1's figure."""
    return _flatter("fBP", "eLAL", ALL_BUT_LAL)


def elal_flatter_than_slow():
    """Largest eigenvalues of the same ten samples, at the lower β of P1's figure."""
    return _flatter("eLAL", "ceSGD slow", ALL_BUT_LAL)


def slow_flatter_than_fast():
    """Largest eigenvalues of the same ten samples, at both β of P1's figure."""
    return _flatter("ceSGD slow", "ceSGD fast", ALL_BUT_LAL, None)


def fast_flatter_than_lal():
    """Largest eigenvalues of the same ten samples, at the upper β of P1's figure."""
    return _flatter("ceSGD fast", "LAL", None)


def fbp_narrowest_everywhere():
    """Standard deviations of the spectra, ten samples, at P1's lower sharpness and above.

    At smaller ones networks of solutions make errors: P1 shows none there.
    """
    archive = _minima().sel(beta=slice(_sharpness(ALL_BUT_LAL), None))
    width = np.log(archive["spectrum"].std("mode"))
    gap = width.drop_sel(algorithm="fBP") - width.sel(algorithm="fBP")
    gap = gap.transpose("beta", "algorithm", "sample").values
    number = gap.shape[0] * gap.shape[1]
    tested = [evidence.compare(values, comparisons=number) for row in gap for values in row]
    ratio = np.exp(-gap.mean(axis=2).min(axis=1))
    finding = (
        f"of the next narrowest, at β = {', '.join(f'{b:g}' for b in archive['beta'].values)}: "
        f"{listed(ratio, 2)}; {sum(t.sign > 0 for t in tested)} of {number} comparisons say "
        f"so, {sum(t.sign < 0 for t in tested)} the opposite"
    )
    return evidence.decide(tested, finding)


def lal_widest_at_lower_beta():
    """Standard deviations of the spectra, by how much LAL's is wider than the next, less the rest.

    At the smallest β that serves all but LAL. *By far* is by more than the others differ.
    """
    archive = _minima()
    ladder = archive["beta"].values
    beta = ladder[ladder >= _sharpness(ALL_BUT_LAL)][0]
    width = archive["spectrum"].sel(beta=beta).std("mode")
    rest = width.drop_sel(algorithm="LAL")
    gap = width.sel(algorithm="LAL") - rest.max("algorithm")
    spread = rest.max("algorithm") - rest.min("algorithm")
    return evidence.decide(
        [evidence.compare((gap - spread).values)],
        f"β = {beta:g}: wider than the next by {float(gap.mean()):.2f}, where the others differ "
        f"by {float(spread.mean()):.2f}",
    )


def lal_sets_beta():
    """The smallest β at which the smooth networks of all samples are right, by algorithm."""
    needed = _minima()["smallest_beta"].max("sample")
    text = ", ".join(f"{a} {float(needed.sel(algorithm=a)):.2g}" for a in needed.algorithm.values)
    return str(needed.idxmax("algorithm").values) == "LAL", text


def cross_entropy_curvature_agrees():
    """Rank correlation of the mean largest eigenvalues of both losses, by algorithm, β = 5."""
    archive = _minima().sel(beta=5.0)
    square = archive["largest"].mean("sample").values
    cross_entropy = archive["largest_cross_entropy"].mean("sample").values
    r = stats.spearmanr(square, cross_entropy)[0]  # of five, a perfect one alone has p below 5 %
    return bool(r > 0.99), f"Spearman's {r:.2f} over the five algorithms"


def volume_and_curvature_agree():
    """Rank correlation of mean volumes and mean largest eigenvalues at P1's lower β.

    With five algorithms only a perfect correlation passes a test; a positive one refutes.
    """
    archive = _minima()
    names, ladder = archive["algorithm"].values, archive["beta"].values
    beta = ladder[ladder >= _sharpness(ALL_BUT_LAL)][0]
    volumes = np.array([np.nanmean(_volumes(archive, a), axis=0) for a in names])
    sharp = [float(archive["largest"].sel(algorithm=a, beta=beta).mean()) for a in names]
    correlations = [stats.spearmanr(volume, sharp)[0] for volume in volumes.T]
    agrees = False if max(correlations) > 0.0 else True if max(correlations) < -0.99 else None
    return evidence.Answer(
        agrees,
        f"Spearman's {listed(correlations, 2)} at d = {', '.join(f'{d:g}' for d in PLACES)}, "
        f"β = {beta:g}, over {len(names)} algorithms",
    )


def messages_fail_near_lal():
    """The share of couplings above 10 at which messages settle, by algorithm."""
    archive = _minima().sel(coupling=slice(10.0, None))
    share = archive["around_converged"].mean(("coupling", "sample"))
    text = ", ".join(f"{a} {float(share.sel(algorithm=a)):.0%}" for a in share.algorithm.values)
    least = share.drop_sel(algorithm="LAL").min()
    return bool(share.sel(algorithm="LAL") < least), text


# ------------------------------------------------------------------------------------------------
# Replicas, and reach (P1, Sec. IV)
# ------------------------------------------------------------------------------------------------


def _replica_volumes(y):
    curves = experiments.complete("elal-replicas").sel(replicas=y)
    return landscape.excess_at(PLACES, curves["distance"], curves["excess"])


def _replica_volumes_middle(y):
    return _replica_volumes(y)[:, 1]


def replicas_help_gradually():
    """Local entropies minus the bound at d = 0.025: LAL alone, and each of y = 3 to 100 more."""
    numbers = experiments.complete("elal-replicas")["replicas"].values.tolist()
    rows = [_volumes(_minima(), "LAL")[:, 1], *map(_replica_volumes_middle, numbers)]
    steps = [evidence.compare(b - a, comparisons=len(numbers)) for a, b in pairwise(rows)]
    means = listed([np.nanmean(row) for row in rows], 4)
    words = ", ".join(f"{test.p:.1g}" for test in steps)
    finding = f"y = 1, {', '.join(map(str, numbers))}: {means}; p of each step: {words}"
    return evidence.decide(steps, finding)


def ten_replicas_match_slow():
    """Local entropies of the same ten samples: y = 10 less slow gradient descent, 3 distances."""
    ten, slow = _replica_volumes(10), _volumes(_minima(), "ceSGD slow")
    tested = _wider_by(ten, slow)
    gaps = listed(np.nanmean(ten - slow, axis=0), 4)
    return evidence.decide(tested, f"larger by {gaps}; {_places(tested)}")


def hundred_replicas_closer_to_fbp():
    """Local entropies at d = 0.025: 100 replicas less 20, and how much nearer to focusing."""
    twenty, hundred = map(_replica_volumes_middle, (20, 100))
    fbp = _volumes(_minima(), "fBP")[:, 1]
    nearer = np.abs(fbp - twenty) - np.abs(fbp - hundred)
    tested = [evidence.compare(gap, comparisons=2) for gap in (hundred - twenty, nearer)]
    return evidence.decide(
        tested,
        f"y = 20: {np.nanmean(twenty):.4f}, 100: {np.nanmean(hundred):.4f} (p = {tested[0].p:.1g})"
        f"; fBP {np.nanmean(fbp):.4f} (nearer: p = {tested[1].p:.1g})",
    )


def _solved_samples():
    """Return which samples of ten are solved, by algorithm and load."""
    return experiments.complete("committee-reach")["solved"].astype(bool)


def _counts_by_load(solved):
    counts = solved.sum("sample")
    return ", ".join(
        f"{a:g}: {int(n)}" for a, n in zip(counts["alpha"].values, counts.values, strict=True)
    )


def lal_reaches_beyond_gradients():
    """Samples of ten solved at each load with P1's steps and schedules, K = 9, N = 999.

    Each gradient has one schedule, partly ours and not tuned for reach: it can only refute.
    """
    names = ("LAL", "ceSGD slow", "ceSGD fast")
    solved = _solved_samples().transpose("algorithm", "alpha", "sample")
    lal, *gradients = (solved.sel(algorithm=name) for name in names)
    tested = [evidence.compare_pairs(lal, gradient, comparisons=2) for gradient in gradients]
    words = [
        f"{a} {_counts_by_load(counts)}"
        for a, counts in zip(names, (lal, *gradients), strict=True)
    ]
    finding = f"{'; '.join(words)}; exact sign tests p = {tested[0].p:.1g}, {tested[1].p:.1g}"
    answer = evidence.decide(tested, finding)
    return evidence.Answer(None, finding) if answer.agrees else answer


def lal_reaches_almost_as_far_as_fbp():
    """Samples of ten that LAL solves at 0.9 of the largest load at which fBP solves half of them.

    K = 9, N = 999; LAL with P1's step or a third of it, fBP with expanded messages. *Almost*: it
    still solves half of them there, at the next load that was run.
    """
    solved = _solved_samples().transpose("algorithm", "alpha", "sample")
    names = ["LAL", "LAL, third of a step", "fBP"]
    *lal, fbp = (solved.sel(algorithm=name) for name in names)
    loads, half = fbp["alpha"].values, solved.sizes["sample"] / 2
    end = loads[fbp.sum("sample").values >= half][-1]
    near = loads[loads >= 0.9 * end][0]
    most = max(int(schedule.sel(alpha=near).sum()) for schedule in lal)
    words = [
        f"{name} {_counts_by_load(counts)}"
        for name, counts in zip(names, (*lal, fbp), strict=True)
    ]
    finding = f"{most} of {solved.sizes['sample']} at {near:g}; {'; '.join(words)}"
    return evidence.decide([evidence.compare_shares(most, solved.sizes["sample"])], finding)


# ------------------------------------------------------------------------------------------------
# Norms that are free, three units, and noise (P1, Secs. II.F, III and V)
# ------------------------------------------------------------------------------------------------


def _first_solutions(number):
    """Return local entropies where slow growth has its first solution, of the first samples."""
    first = experiments.complete("slow-growth").sel(schedule="slow, first solution")
    return landscape.excess_at(PLACES, first["around_distance"], first["around_excess"])[:number]


def controlled_norms_wider():
    """Local entropies, slow growth at its first solution less the best of six free descents."""
    free = experiments.complete("free-norms").transpose("start", "eta", "sample", ...)
    solved = int((free["errors"] == 0).sum())
    rows = landscape.excess_at(PLACES, free["around_distance"], free["around_excess"])
    best = np.max(np.where(np.isfinite(rows), rows, -np.inf), axis=(0, 1))
    best[np.isinf(best)] = np.nan
    tested = _wider_by(_first_solutions(len(best)), best)
    return evidence.decide(
        tested, f"{solved} of {free['errors'].size} free runs solve; {_places(tested)}"
    )


def cross_entropy_gains_less_with_three_units():
    """Local entropies, fast gradient descent less LAL: this gain of nine units less that of 3."""
    gains = []
    for archive in (experiments.complete("three-units"), _minima()):
        gains.append(_volumes(archive, "ceSGD fast") - _volumes(archive, "LAL"))
    three, nine = gains[0], gains[1][: len(gains[0])]
    tested = _wider_by(nine, three)
    means = [listed(np.nanmean(gain, axis=0), 3) for gain in (three, nine)]
    return evidence.decide(
        tested, f"three units gain {means[0]}, nine {means[1]} nats per weight; {_places(tested)}"
    )


@cache
def _wrong_under_noise(shares):
    """Return the share of wrong answers by algorithm, sample and share of flipped inputs."""
    archive, recipe = _minima(), experiments.get("tree-minima")
    settings, rates = recipe.scale("paper").settings, []
    for k in archive["sample"].values:
        drawn, _ = recipe.seed_sequence({}, int(k)).spawn(2)
        task = patterns.random(settings["P"], settings["N"], rng=drawn)
        nets = [COMMITTEE.network(w) for w in archive["weights"].sel(sample=k).values]
        options = {"noise": shares, "perturbations": 5, "rng": int(k)}
        rates.append([landscape.noise_robustness(net, *task, **options).accuracy for net in nets])
    return 1.0 - np.array(rates).swapaxes(0, 1)


def fbp_most_robust_to_noise():
    """Wrong answers under flipped inputs, same ten samples: of the next best less those of fBP."""
    shares, names = (0.01, 0.025, 0.05, 0.1), _minima()["algorithm"].values.tolist()
    wrong = dict(zip(names, _wrong_under_noise(shares), strict=True))
    fbp, tested, words = wrong.pop("fBP"), [], []
    for k, share in enumerate(shares):
        name = min(wrong, key=lambda name: wrong[name][:, k].mean())
        tested.append(evidence.compare(wrong[name][:, k] - fbp[:, k], comparisons=len(shares)))
        rates = [f"{100 * rate[:, k].mean():.1f} %" for rate in (fbp, wrong[name])]
        words.append(f"{100 * share:g} % flipped: {rates[0]} against {rates[1]} of {name}")
    return evidence.decide(tested, "; ".join(words))
