"""How the claims on pictures and on deep networks are found (chapter 9).

Runs of different algorithms are independent of each other: one-sided rank-sum tests (Mann and
Whitney). A difference counts where p is below `LEVEL`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import stats

from wfmlib import experiments

LEVEL = 0.01
ORDER = ("eLAL", "ceSGD slow", "ceSGD fast", "LAL")
GRADIENTS = ("ceSGD slow", "ceSGD fast")
BETA = 90.0  # at which P1 shows eigenvalues
PLACES = np.array([0.02, 0.05, 0.1])  # squared distances at which volumes are compared
SHORT, FAR = 0, 2  # places among them


# ------------------------------------------------------------------------------------------------
# What the archives hold
# ------------------------------------------------------------------------------------------------


def _minima(data="original", **where):
    return experiments.complete("image-minima").sel(data=data, **where)


def _below(small, large):
    """Return the p-value of `small` being smaller than `large`."""
    small, large = (values[np.isfinite(values)] for values in (small, large))
    return float(stats.mannwhitneyu(small, large, alternative="less").pvalue)


def _chain(values, names):
    """Return whether each algorithm's values are below those of the next, and p for each step."""
    tested = [_below(values(one), values(other)) for one, other in pairwise(names)]
    words = " < ".join(names)
    return bool(max(tested) < LEVEL), f"{words}: p = {', '.join(f'{p:.1g}' for p in tested)}"


def _eigenvalues(algorithm, data="original"):
    return _minima(data, algorithm=algorithm, beta=BETA)["largest"].values


def _volumes(algorithm, data="original"):
    """Return local entropies minus the bound at `PLACES`, a row for each sample; else NaN."""
    one = experiments.complete("image-volume").sel(data=data, algorithm=algorithm)
    rows = []
    for k in one["sample"].values:
        run = one.sel(sample=k)
        good = run["around_converged"].values.astype(bool)
        x, y = run["around_distance"].values[good], run["around_excess"].values[good]
        by = np.argsort(x)
        empty = np.full(len(PLACES), np.nan)
        rows.append(np.interp(PLACES, x[by], y[by], np.nan, np.nan) if good.any() else empty)
    return np.array(rows)


# ------------------------------------------------------------------------------------------------
# Epochs (P1, App. E)
# ------------------------------------------------------------------------------------------------


def _epochs(algorithm):
    return float(_minima(algorithm=algorithm)["epochs"].mean())


def image_lal_epochs():
    """Mean over 50 runs, as many dresses as coats."""
    return _epochs("LAL")


def image_elal_epochs():
    """Mean over 50 runs, as many dresses as coats."""
    return _epochs("eLAL")


def image_fast_epochs():
    """Mean over 50 runs, γ constant and β growing."""
    return _epochs("ceSGD fast")


def image_slow_epochs():
    """Mean over 50 runs."""
    return _epochs("ceSGD slow")


# ------------------------------------------------------------------------------------------------
# Curvature, volume and generalisation (P1, Sec. V, Fig. 7)
# ------------------------------------------------------------------------------------------------


def image_all_learn():
    """Wrong answers on the 500 training patterns in 50 runs of each algorithm."""
    errors = _minima()["errors"]
    text = ", ".join(f"{a} {int(errors.sel(algorithm=a).sum())}" for a in ORDER)
    return bool((errors == 0).all()), text


def wide_minima_generalise():
    """Spearman's correlation of largest eigenvalues and test errors, β = 90, all runs."""
    points = _minima(beta=BETA)
    x, y = points["largest"].values.ravel(), points["test_error"].values.ravel()
    good = np.isfinite(x) & np.isfinite(y)
    ends = stats.bootstrap(
        (x[good], y[good]),
        lambda a, b: stats.spearmanr(a, b)[0],
        paired=True,
        vectorized=False,
        n_resamples=1000,
        method="percentile",
        rng=1,
    ).confidence_interval
    return bool(ends.low > 0), (
        f"{stats.spearmanr(x[good], y[good])[0]:.2f}, 95 %: {ends.low:.2f} to {ends.high:.2f}, "
        f"{good.sum()} runs"
    )


def image_slow_generalises_better_than_fast():
    """Test errors of 50 runs each, rank-sum test."""
    return _chain(lambda a: _minima(algorithm=a)["test_error"].values, GRADIENTS)


def image_replicas_improve_lal():
    """Test errors and largest eigenvalues of 50 runs each, rank-sum tests."""
    both = [
        _chain(values, ("eLAL", "LAL"))
        for values in (lambda a: _minima(algorithm=a)["test_error"].values, _eigenvalues)
    ]
    return all(good for good, _ in both), (
        f"test errors {both[0][1].split(': ')[1]}, eigenvalues {both[1][1].split(': ')[1]}"
    )


def image_curvatures_ordered():
    """Largest eigenvalues at β = 90, 50 runs each, rank-sum tests; slow gradients, too."""
    return _chain(_eigenvalues, ORDER[1:])


def image_lal_narrowest():
    """Local entropies at three distances, ten runs each, rank-sum tests against LAL."""
    return _lal_narrowest("original")


def image_slow_wider_than_fast():
    """Local entropies at three distances, ten runs each, rank-sum tests."""
    return _wider("ceSGD slow", "ceSGD fast", "original")


def _wider(wide, narrow, data):
    one, other = _volumes(wide, data), _volumes(narrow, data)
    tested = [_below(other[:, k], one[:, k]) for k in range(len(PLACES))]
    words = "; ".join(f"D = {D:g}: p = {p:.1g}" for D, p in zip(PLACES, tested, strict=True))
    return bool(max(tested) < LEVEL), words


def _lal_narrowest(data):
    tested = [_wider(name, "LAL", data) for name in ORDER[:3]]
    words = " | ".join(f"{a}: {text}" for a, (_, text) in zip(ORDER, tested, strict=False))
    return all(good for good, _ in tested), words


def image_focusing_does_not_settle():
    """Steps of 30 whose messages do not settle, on the pictures, for two dampings."""
    unsettled = experiments.complete("image-focusing")["unsettled"].sel(data="original")
    errors = experiments.complete("image-focusing")["errors"].sel(data="original")
    words = "; ".join(
        f"{d:.0%} kept: {unsettled.sel(damping=d).values.tolist()} unsettled, "
        f"{errors.sel(damping=d).values.tolist()} errors"
        for d in unsettled["damping"].values
    )
    return bool((unsettled > 0).all()), words


# ------------------------------------------------------------------------------------------------
# Shuffled pixels, and noise (P1, App. F)
# ------------------------------------------------------------------------------------------------


def image_eigenvalues_hardly_change():
    """Mean largest eigenvalue at β = 90, with pixels shuffled over original."""
    ratio = {
        a: np.nanmean(_eigenvalues(a, "shuffled")) / np.nanmean(_eigenvalues(a)) for a in ORDER
    }
    text = ", ".join(f"{a} {r:.2f}" for a, r in ratio.items())
    return bool(max(ratio[a] for a in ORDER[1:]) < 1.25), text


def image_elal_degrades():
    """Largest eigenvalues at β = 90 of eLAL with pixels shuffled, rank-sum test."""
    p = _below(_eigenvalues("eLAL"), _eigenvalues("eLAL", "shuffled"))
    return p < LEVEL, f"larger: p = {p:.1g}"


def image_shuffled_volumes_smaller():
    """Local entropies at three distances, shuffled below original, rank-sum tests."""
    words, good = [], True
    for name in ORDER:
        one, other = _volumes(name), _volumes(name, "shuffled")
        tested = [_below(other[:, k], one[:, k]) for k in range(len(PLACES))]
        good &= max(tested) < LEVEL
        words.append(f"{name} p = {', '.join(f'{p:.1g}' for p in tested)}")
    return bool(good), "; ".join(words)


def image_lal_narrowest_shuffled():
    """Local entropies at three distances, ten runs each, rank-sum tests against LAL."""
    return _lal_narrowest("shuffled")


def image_slow_wider_than_fast_shuffled():
    """Local entropies at three distances, ten runs each, rank-sum tests."""
    return _wider("ceSGD slow", "ceSGD fast", "shuffled")


def image_elal_degrades_at_short_distances():
    """Local entropies with pixels shuffled: eLAL below slow gradients near by, not farther out."""
    elal, slow = _volumes("eLAL", "shuffled"), _volumes("ceSGD slow", "shuffled")
    near, far = (_below(elal[:, k], slow[:, k]) for k in (SHORT, FAR))
    return bool(near < LEVEL and far >= LEVEL), (
        f"below: D = {PLACES[SHORT]:g}: p = {near:.1g}; D = {PLACES[FAR]:g}: p = {far:.1g}"
    )


def image_noise_orders_alike():
    """Mean accuracy under noise from 5 to 50 per cent: LAL lowest, slow above fast, both data."""
    words, good = [], True
    for data in ("original", "shuffled"):
        mean = _minima(data)["accuracy"].sel(noise=slice(0.04, 0.51)).mean("sample")
        rows = {a: mean.sel(algorithm=a).values for a in ORDER}
        others = np.min([rows[a] for a in ORDER[:3]], axis=0)
        one = np.all(rows["LAL"] < others)
        two = np.all(rows["ceSGD slow"] > rows["ceSGD fast"])
        good &= one and two
        gap = np.min(others - rows["LAL"])
        words.append(f"{data}: LAL below by at least {gap:.3f}, slow above fast: {bool(two)}")
    return bool(good), "; ".join(words)


def image_elal_and_slow_alike_under_noise():
    """Largest difference of mean accuracies on the pictures, noise up to 30 per cent."""
    mean = _minima()["accuracy"].sel(noise=slice(0.0, 0.31)).mean("sample")
    gap = np.abs(mean.sel(algorithm="eLAL") - mean.sel(algorithm="ceSGD slow")).max()
    spread = _minima(algorithm="eLAL")["accuracy"].sel(noise=slice(0.0, 0.31)).std("sample").max()
    return bool(gap < spread), f"{float(gap):.3f}, standard deviation of runs {float(spread):.3f}"


# ------------------------------------------------------------------------------------------------
# Deep networks of binary weights (P3, SM IV)
# ------------------------------------------------------------------------------------------------


def _deep():
    return experiments.complete("binary-networks")


def _learned(one):
    """Return the sizes that all networks learn without an error."""
    return one["size"].values[(one["errors"].max(("solution", "sample")) == 0).values]


def deep_networks_learn_up_to_a_size():
    """The largest size learned without an error by all networks, and errors at the largest."""
    archive, words, good = _deep(), [], True
    for data in archive["dataset"].values:
        one = archive.sel(dataset=data)
        sizes = _learned(one)
        last = one["size"].values[-1]
        left = float(one["errors"].sel(size=last).mean())
        good &= len(sizes) > 0 and left > 0
        top = int(sizes[-1]) if len(sizes) else 0
        words.append(f"{data} {top}, {left:.0f} errors at {int(last)}")
    return bool(good), "; ".join(words)


def deep_solutions_far_apart():
    """Largest mean overlap after matching, over all sizes; that of random networks."""
    archive = _deep()
    matched = archive["overlap_matched"].mean("sample").max("size")
    random = archive["overlap_random"].mean(("sample", "size"))
    words = "; ".join(
        f"{data} {float(matched.sel(dataset=data)):.2f} (random "
        f"{float(random.sel(dataset=data)):.2f})"
        for data in archive["dataset"].values
    )
    return bool((matched < 0.5).all()), words


def deep_solutions_not_isolated():
    """Errors at 1 and at 5 per cent of flips, at the largest size that is learned."""
    archive, words, good = _deep(), [], True
    for data in archive["dataset"].values:
        one = archive.sel(dataset=data)
        sizes = _learned(one)
        if not len(sizes):
            return False, f"{data} is not learned at any size"
        best = one.sel(size=sizes[-1])
        curve = best["profile"].mean(("solution", "sample")).values
        d = best["realised"].mean("sample").values
        at = np.interp([0.01, 0.05, 0.1], d, curve)
        good &= at[0] < 0.05 and at[1] <= 0.5 * at[2] + 0.01
        words.append(f"{data} {at[0]:.1%}, {at[1]:.1%} and {at[2]:.1%} at 1, 5 and 10 % of flips")
    return bool(good), "; ".join(words)
