"""How the claims on least action, slow gradient descent and flatness are found (chapter 8).

Algorithms are compared sample by sample, on the same patterns: Wilcoxon's signed ranks, one-sided.
With ten samples the smallest p is 0.001. A difference counts where p is below `LEVEL`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import stats

from wfmlib import experiments, landscape, learning, patterns
from wfmlib.claim_checks.words import listed

LEVEL = 0.01
PLACES = np.array([0.02, 0.05, 0.1])  # squared distances at which volumes are compared
LADDER = (5.0, 10.0)  # sharpnesses at which curvatures are compared besides P1's two
ALL_BUT_LAL = ("fBP", "eLAL", "ceSGD slow", "ceSGD fast")


# ------------------------------------------------------------------------------------------------
# What the archives hold
# ------------------------------------------------------------------------------------------------


def _minima():
    return experiments.complete("tree-minima")


def _volumes(archive, algorithm):
    """Return local entropies minus the bound at `PLACES`, a row for each sample; else NaN."""
    one = archive.sel(algorithm=algorithm)
    return landscape.excess_at(PLACES, one["around_distance"], one["around_excess"])


def _greater(one, other):
    """Return the p-value of `one` exceeding `other`, pair by pair, and the number of pairs."""
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < 5:
        return np.nan, int(both.sum())
    return float(stats.wilcoxon(one[both], other[both], alternative="greater").pvalue), both.sum()


# ------------------------------------------------------------------------------------------------
# Epochs (P1, App. E)
# ------------------------------------------------------------------------------------------------


def _epochs(algorithm):
    """Return the mean number of epochs of the samples that reached their aim."""
    one = _minima().sel(algorithm=algorithm)
    return float(one["epochs"].where(one["converged"] & (one["errors"] == 0)).mean())


def lal_epochs():
    """Mean over ten samples, N = 999, K = 9, 1000 patterns."""
    return _epochs("LAL")


def elal_epochs():
    """Mean over ten samples, N = 999, K = 9, 1000 patterns."""
    return _epochs("eLAL")


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
        xi, sigma = patterns.random(333, 333, seed)
        found = learning.cross_entropy_sgd(
            xi, sigma, units=9, schedule=schedule, max_epochs=1000, seed=seed
        )
        left.append(found.errors)
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
    """Return whether local entropies are larger at all `PLACES` where five pairs exist, and p."""
    archive = _minima()
    one, other = _volumes(archive, wide), _volumes(archive, narrow)
    tested = [_greater(one[:, k], other[:, k]) for k in range(len(PLACES))]
    words = [
        f"D = {place:g}: p = {p:.3f} ({pairs} pairs)" if np.isfinite(p) else f"D = {place:g}: none"
        for place, (p, pairs) in zip(PLACES, tested, strict=True)
    ]
    found = [p for p, _ in tested if np.isfinite(p)]
    return bool(found) and max(found) < LEVEL, "; ".join(words)


def fbp_wider_than_elal():
    """Local entropies sample by sample, signed-rank test."""
    return _wider("fBP", "eLAL")


def elal_wider_than_slow():
    """Local entropies sample by sample, signed-rank test."""
    return _wider("eLAL", "ceSGD slow")


def slow_wider_than_fast():
    """Local entropies sample by sample, signed-rank test."""
    return _wider("ceSGD slow", "ceSGD fast")


def fast_wider_than_lal():
    """Local entropies sample by sample, signed-rank test."""
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
    return np.array(
        [
            landscape.max_eigenvalue(
                w, *patterns.random(settings["P"], settings["N"], seed.spawn(2)[0]), beta=beta
            )
            for w, seed in (
                (weights.sel(sample=k).values, recipe.seed_sequence({}, int(k)))
                for k in weights["sample"].values
            )
        ]
    )


def _flatter(flat, sharp, *panels):
    """Return whether largest eigenvalues are smaller at P1's sharpnesses, and p at several.

    `panels` are the algorithms that decide on each of them, see `_sharpness`.
    """
    archive = _minima()["largest"]
    rows = {b: [archive.sel(algorithm=a, beta=b).values for a in (sharp, flat)] for b in LADDER}
    shown = [_sharpness(panel) for panel in panels]
    rows |= {b: [_largest(a, b) for a in (sharp, flat)] for b in shown}
    tested = {b: _greater(*rows[b])[0] for b in sorted(rows)}
    return bool(max(tested[b] for b in shown) < LEVEL), (
        f"β = {', '.join(f'{b:.3g}' for b in tested)}: p = {listed(tested.values(), 3)}"
    )


def fbp_flatter_than_elal():
    """Largest eigenvalues sample by sample, signed-rank test, at the lower β of P1's figure."""
    return _flatter("fBP", "eLAL", ALL_BUT_LAL)


def elal_flatter_than_slow():
    """Largest eigenvalues sample by sample, signed-rank test, at the lower β of P1's figure."""
    return _flatter("eLAL", "ceSGD slow", ALL_BUT_LAL)


def slow_flatter_than_fast():
    """Largest eigenvalues sample by sample, signed-rank test, at both β of P1's figure."""
    return _flatter("ceSGD slow", "ceSGD fast", ALL_BUT_LAL, None)


def fast_flatter_than_lal():
    """Largest eigenvalues sample by sample, signed-rank test, at the upper β of P1's figure."""
    return _flatter("ceSGD fast", "LAL", None)


def fbp_narrowest_everywhere():
    """The standard deviation of the spectra, mean over samples, at each sharpness from 2 on."""
    archive = _minima().sel(beta=slice(2.0, None))
    width = archive["spectrum"].std("mode").mean("sample")
    others = width.drop_sel(algorithm="fBP").min("algorithm")
    ratio = width.sel(algorithm="fBP") / others
    return bool((ratio < 1).all()), (
        f"of the next narrowest, at β = {', '.join(f'{b:g}' for b in archive['beta'].values)}: "
        f"{listed(ratio.values, 2)}"
    )


def lal_widest_at_lower_beta():
    """The standard deviation of the spectra at the smallest β that serves all but LAL."""
    archive = _minima()
    ladder = archive["beta"].values
    beta = ladder[ladder >= _sharpness(ALL_BUT_LAL)][0]
    width = archive["spectrum"].sel(beta=beta).std("mode")
    others = width.drop_sel(algorithm="LAL").max("algorithm")
    ratio = (width.sel(algorithm="LAL") / others).values
    return bool(np.nanmin(ratio) > 1), (
        f"β = {beta:g}: {np.nanmin(ratio):.2f} to {np.nanmax(ratio):.2f} times the next widest"
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
    other = archive["largest_cross_entropy"].mean("sample").values
    r = stats.spearmanr(square, other)[0]
    return bool(r > 0.85), f"Spearman's {r:.2f} over the five algorithms"


def volume_and_curvature_agree():
    """Rank correlation of mean volumes and mean largest eigenvalues at P1's lower β."""
    archive = _minima()
    names, ladder = archive["algorithm"].values, archive["beta"].values
    beta = ladder[ladder >= _sharpness(ALL_BUT_LAL)][0]
    volumes = np.array([np.nanmean(_volumes(archive, a), axis=0) for a in names])
    sharp = [float(archive["largest"].sel(algorithm=a, beta=beta).mean()) for a in names]
    found = [stats.spearmanr(volume, sharp)[0] for volume in volumes.T]
    return bool(max(found) < -0.85), (
        f"Spearman's {listed(found, 2)} at D = {', '.join(f'{D:g}' for D in PLACES)}, "
        f"β = {beta:g}, over {len(names)} algorithms"
    )


def messages_fail_near_lal():
    """The share of couplings above 10 at which messages settle, by algorithm."""
    archive = _minima().sel(coupling=slice(10.0, None))
    share = archive["around_converged"].mean(("coupling", "sample"))
    text = ", ".join(f"{a} {float(share.sel(algorithm=a)):.0%}" for a in share.algorithm.values)
    others = share.drop_sel(algorithm="LAL").min()
    return bool(share.sel(algorithm="LAL") < others), text


# ------------------------------------------------------------------------------------------------
# Replicas, and reach (P1, Sec. IV)
# ------------------------------------------------------------------------------------------------


def _replica_volumes(y):
    one = experiments.complete("elal-replicas").sel(replicas=y)
    return landscape.excess_at(PLACES, one["distance"], one["excess"])[:, 1]


def replicas_help_gradually():
    """Mean local entropies minus the bound at D = 0.05, y = 3 to 100."""
    archive = experiments.complete("elal-replicas")
    means = [np.nanmean(_replica_volumes(y)) for y in archive["replicas"].values]
    p, _ = _greater(_replica_volumes(100), _replica_volumes(3))
    return bool(np.all(np.diff(means) > 0) and p < LEVEL), (
        f"y = {', '.join(str(y) for y in archive['replicas'].values)}: {listed(means, 3)}"
    )


def ten_replicas_match_slow():
    """Local entropies at D = 0.05: y = 10 below slow gradient descent, signed-rank test."""
    ten, slow = _replica_volumes(10), _volumes(_minima(), "ceSGD slow")[:, 1]
    p, pairs = _greater(slow, ten)
    return bool(p >= LEVEL), (
        f"{np.nanmean(ten):.3f} and {np.nanmean(slow):.3f}; p = {p:.3f} ({pairs} pairs)"
    )


def hundred_replicas_closer_to_fbp():
    """Local entropies at D = 0.05: 20 and 100 replicas, and focusing."""
    twenty, hundred = _replica_volumes(20), _replica_volumes(100)
    fbp = _volumes(_minima(), "fBP")[:, 1]
    p, _ = _greater(hundred, twenty)
    return p < LEVEL, (
        f"y = 20: {np.nanmean(twenty):.3f}, 100: {np.nanmean(hundred):.3f} (p = {p:.3f}); fBP "
        f"{np.nanmean(fbp):.3f}"
    )


def _reached():
    """Return the samples solved of ten, by algorithm and load."""
    archive = experiments.complete("committee-reach")
    return archive["solved"].sum("sample")


def _told(solved):
    return ", ".join(
        f"{a:g}: {int(n)}" for a, n in zip(solved["alpha"].values, solved, strict=True)
    )


def lal_reaches_beyond_gradients():
    """Samples of ten solved at each load with P1's steps and schedules, K = 9, N = 999."""
    solved = _reached()
    lal, best = solved.sel(algorithm="LAL"), solved.sel(algorithm=["ceSGD slow", "ceSGD fast"])
    words = [f"{a} {_told(solved.sel(algorithm=a))}" for a in ("LAL", "ceSGD slow", "ceSGD fast")]
    return bool(lal.sum() > best.sum("alpha").max()), "; ".join(words)


def lal_reaches_almost_as_far_as_fbp():
    """The largest load at which half of ten samples are solved, within ten per cent: LAL and fBP.

    K = 9, N = 999; LAL with P1's step or a third of it, fBP with expanded messages.
    """
    solved = _reached()
    names = ["LAL", "LAL, third of a step", "fBP"]
    ends = [
        float(one["alpha"].where(one >= 5).max())
        for one in (solved.sel(algorithm=name) for name in names)
    ]
    words = [f"{name} {_told(solved.sel(algorithm=name))}" for name in names]
    return max(ends[:2]) > 0.9 * ends[2], "; ".join(words)
