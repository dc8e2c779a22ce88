"""Checks of the claims on pictures and on deep networks (chapter 9).

Means over runs are compared by Welch's test, eigenvalues by their logarithms; `evidence` says when
a comparison is decided. Runs of different algorithms share seeds, and with shuffled pixels the
version of the patterns: these tests make no use of it. All runs are on one training set, so that
what they tell says nothing of other sets; `training_sets` has the claims that ten sets can tell.

*Slight* is a quarter, *hardly* a tenth: of an eigenvalue itself; of the range of all algorithms
where there is a bound, as for accuracies and local entropies. *By far* is farther from the next
algorithm than the others are from each other.
"""

from __future__ import annotations

from itertools import chain, combinations, pairwise

import numpy as np

from wfmlib import landscape
from wfmlib.book import experiments
from wfmlib.book.claim_checks import evidence
from wfmlib.book.claim_checks.words import listed

SLIGHT, HARDLY = 0.25, 0.1
ORDER = ("eLAL", "ceSGD slow", "ceSGD fast", "LAL")
GRADIENTS = ("ceSGD slow", "ceSGD fast")
BETA = 90.0  # at which P1 shows eigenvalues
PLACES = np.array([0.01, 0.025, 0.05])  # distances at which volumes are compared
ALL_PLACES = np.array([*PLACES, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2])  # and those farther out
RUNS = "runs of each algorithm"
VERSIONS = 5  # of the shuffled pixels; runs take them in turn
UNITS = {"original": RUNS, "shuffled": "shuffled versions"}


# ------------------------------------------------------------------------------------------------
# What the archives hold
# ------------------------------------------------------------------------------------------------


def _minima(data="original", **selection):
    return experiments.complete("image-minima").sel(data=data, **selection)


def _eigenvalues(algorithm, data="original"):
    """Return the logarithms of the largest eigenvalues."""
    return np.log(_minima(data, algorithm=algorithm, beta=BETA)["largest"].values)


def _volumes(algorithm, data="original", places=PLACES):
    """Return local entropies minus the bound at `places`, a row for each run; else NaN.

    Of shuffled pixels a row for each version, the mean of its ten runs: they share their patterns.
    It is NaN where messages do not settle around all ten.
    """
    volumes = experiments.complete("image-volume").sel(data=data, algorithm=algorithm)
    curves = volumes["around_distance"], volumes["around_excess"]
    runs = landscape.excess_at(places, *curves, kind="linear")
    if data == "original":
        return runs
    return np.array([runs[k::VERSIONS].mean(axis=0) for k in range(VERSIONS)])


def _rising(values, names, comparisons=None):
    """Compare each algorithm's values with those of the next, which should be larger."""
    pairs = [(values(second), values(first)) for first, second in pairwise(names)]
    number = comparisons or len(pairs)
    return [evidence.compare_groups(*pair, comparisons=number) for pair in pairs]


def _values_of_p(tested):
    return ", ".join(f"{test.p:.1g}" for test in tested)


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
# Curvature and volume (P1, Sec. V, Fig. 7)
# ------------------------------------------------------------------------------------------------


def image_order_as_random():
    """That of P1's Fig. 5: eigenvalues at β = 90 and volumes at three distances.

    The text says *analogous*; that it means this order is our reading.
    """
    steps, number = list(pairwise(ORDER)), 3 * (1 + len(PLACES))
    wider = [_wider(*step, "original", number) for step in steps]
    curved = _rising(_eigenvalues, ORDER, number)
    words = [
        f"{first} > {second} {_values_of_p(p)}"
        for (first, second), p in zip(steps, wider, strict=True)
    ]
    finding = (
        f"eigenvalues {' < '.join(ORDER)}: p = {_values_of_p(curved)}; volumes, p at {_places()}: "
    )
    return evidence.decide(
        [*curved, *chain.from_iterable(wider)], finding + "; ".join(words), RUNS
    )


def _places():
    return f"d = {', '.join(f'{d:g}' for d in PLACES)}"


def _wider(wide, narrow, data, comparisons):
    """Compare local entropies at each of `PLACES`."""
    pairs = zip(_volumes(wide, data).T, _volumes(narrow, data).T, strict=True)
    return [evidence.compare_groups(*pair, comparisons=comparisons) for pair in pairs]


def image_lal_narrowest():
    """Local entropies at three distances, fifty runs: the gap below the next, less the rest."""
    return _lal_by_far("original")


def _lal_by_far(data):
    """Say whether LAL is farther below the next than the others are from each other.

    With the algorithms put in the order of their means; runs are not paired (Welch's test).
    """
    volumes = np.array([_volumes(name, data) for name in ORDER])
    means = np.nanmean(volumes, axis=1)
    tested, words = [], []
    for k, place in enumerate(PLACES):
        rank = np.argsort(means[:3, k])
        low, high = rank[0], rank[-1]
        gap, spread = means[low, k] - means[3, k], means[high, k] - means[low, k]
        wide, number = np.nanstd(volumes[..., k], axis=1, ddof=1), volumes.shape[1]
        twice = 2.0 * means[low, k], 2.0 * wide[low], number
        ends = means[3, k] + means[high, k], np.hypot(wide[3], wide[high]), number
        tested.append(evidence.compare_moments(twice, ends, comparisons=len(PLACES)))
        words.append(f"{gap:.4f} and {spread:.4f} at d = {place:g}")
    finding = f"LAL is below the next by, and the others differ by: {'; '.join(words)}"
    return evidence.decide(tested, finding, UNITS[data])


def image_slow_wider_than_fast():
    """Local entropies at three distances, fifty runs each."""
    return _slow_wider("original")


def _slow_wider(data):
    tested = _wider(*GRADIENTS, data, len(PLACES))
    return evidence.decide(tested, f"p = {_values_of_p(tested)} at {_places()}", UNITS[data])


def image_focusing_does_not_settle():
    """Steps of 30 whose messages do not settle, on the pictures, for two dampings.

    A run that broke off (-1) did not settle either.
    """
    unsettled = experiments.complete("image-focusing")["unsettled"].sel(data="original")
    errors = experiments.complete("image-focusing")["errors"].sel(data="original")
    words = "; ".join(
        f"{d:.0%} kept: {unsettled.sel(damping=d).values.tolist()} unsettled, "
        f"{errors.sel(damping=d).values.tolist()} errors"
        for d in unsettled["damping"].values
    )
    return bool((unsettled != 0).all()), words


# ------------------------------------------------------------------------------------------------
# Shuffled pixels, and noise (P1, App. F)
# ------------------------------------------------------------------------------------------------


def _versions(algorithm):
    """Return mean log eigenvalues of the five shuffled versions, of ten runs each."""
    values = _eigenvalues(algorithm, "shuffled")
    return np.array([np.nanmean(values[k::VERSIONS]) for k in range(VERSIONS)])


def image_eigenvalues_hardly_change():
    """Largest eigenvalues at β = 90, shuffled over original: five versions, 50 runs.

    *Hardly* is less than a tenth, up or down.
    """
    tested, words = [], []
    for a in ORDER[1:]:
        versions, runs = _versions(a), _eigenvalues(a)
        bound = np.log1p(HARDLY)
        tested += [
            evidence.compare_groups(runs + bound, versions, comparisons=6),
            evidence.compare_groups(versions, runs - bound, comparisons=6),
        ]
        words.append(f"{a} {np.exp(versions.mean() - np.nanmean(runs)):.2f}")
    return evidence.decide(
        tested, f"ratio of geometric means: {', '.join(words)}", "shuffled versions"
    )


def image_elal_degrades():
    """Largest eigenvalues at β = 90 of eLAL, shuffled over original: above 1, below 1.25."""
    versions, runs = _versions("eLAL"), _eigenvalues("eLAL")
    larger = evidence.compare_groups(versions, runs, comparisons=2)
    slight = evidence.compare_groups(runs + np.log1p(SLIGHT), versions, comparisons=2)
    ratio = np.exp(versions.mean() - np.nanmean(runs))
    finding = (
        f"{ratio:.2f} times by geometric means, p = {larger.p:.1g} for larger at all; slight is "
        f"less than {1 + SLIGHT:g}, p = {slight.p:.1g} against that"
    )
    return evidence.decide([larger, slight], finding, "shuffled versions")


def image_shuffled_volumes_smaller():
    """Local entropies at three distances: shuffled below original, by a quarter of the range."""
    original = np.array([np.nanmean(_volumes(a), axis=0) for a in ORDER])
    slight = SLIGHT * np.ptp(original, axis=0)
    tested, words, number = [], [], 2 * len(ORDER) * len(PLACES)
    for name in ORDER:
        plain, shuffled = _volumes(name), _volumes(name, "shuffled")
        for k in range(len(PLACES)):
            smaller = evidence.compare_groups(plain[:, k], shuffled[:, k], comparisons=number)
            little = evidence.compare_groups(
                shuffled[:, k] + slight[k], plain[:, k], comparisons=number
            )
            tested += [smaller, little]
        words.append(
            f"{name} by {listed(np.nanmean(plain, axis=0) - np.nanmean(shuffled, axis=0), 4)}"
        )
    finding = f"smaller at {_places()}, {'; '.join(words)}; slight is up to {listed(slight, 4)}"
    return evidence.decide(tested, finding, RUNS)


def image_lal_narrowest_shuffled():
    """Local entropies at three distances, five versions: the gap below the next, less the rest."""
    return _lal_by_far("shuffled")


def image_slow_wider_than_fast_shuffled():
    """Local entropies at three distances, five versions of ten runs each."""
    return _slow_wider("shuffled")


def image_elal_degrades_at_short_distances():
    """Local entropies of eLAL, shuffled, less those of both gradients: near, and far out.

    Near is the smallest of the distances, far the largest at which messages settle around all
    solutions of the three. eLAL must be below both near by, by a slight amount, and above far out.
    """
    elal, *gradients = (_volumes(a, "shuffled", ALL_PLACES) for a in ("eLAL", *GRADIENTS))
    settled = np.all([np.isfinite(volumes).all(axis=0) for volumes in (elal, *gradients)], axis=0)
    far = int(np.flatnonzero(settled)[-1])
    means = [
        np.nanmean(volumes[:, 0]) for volumes in (elal, *gradients, _volumes("LAL", "shuffled"))
    ]
    slight = SLIGHT * np.ptp(means)
    tested, words = [], []
    for name, gradient in zip(GRADIENTS, gradients, strict=True):
        near = evidence.compare_groups(gradient[:, 0], elal[:, 0], comparisons=6)
        little = evidence.compare_groups(elal[:, 0] + slight, gradient[:, 0], comparisons=6)
        beyond = evidence.compare_groups(elal[:, far], gradient[:, far], comparisons=6)
        tested += [near, little, beyond]
        gaps = [np.nanmean(elal[:, k]) - np.nanmean(gradient[:, k]) for k in (0, far)]
        words.append(
            f"{name} {gaps[0]:+.4f} (p = {near.p:.1g}), {gaps[1]:+.4f} (p = {beyond.p:.1g})"
        )
    finding = (
        f"eLAL less the other at d = {ALL_PLACES[0]:g} and {ALL_PLACES[far]:g}: "
        f"{'; '.join(words)}; slight is up to {slight:.4f}"
    )
    return evidence.decide(tested, finding, RUNS)


def image_noise_orders_alike():
    """Accuracies of each pair at all noises, where volumes have one order at all distances.

    Distances are those from 0.02 to 0.2; of a pair whose volumes cross, or cannot be told apart at
    some of them, the volumes say nothing. With shuffled pixels those of LAL end before 0.2.
    """
    noises = [eta for eta in _minima()["noise"].values if 0.0 < eta < 1.0]
    places, words, tested, orders = ALL_PLACES[[0, 1, 2, 4]], [], [], []
    for data in ("original", "shuffled"):
        for pair in combinations(ORDER, 2):
            volumes = [_volumes(a, data, places) for a in pair]
            settled = np.all([np.sum(np.isfinite(v), axis=0) > 1 for v in volumes], axis=0)
            signs = {
                evidence.compare_groups(*(v[:, k] for v in volumes), comparisons=len(places)).sign
                for k in np.flatnonzero(settled)
            }
            if signs in ({1}, {-1}):
                orders.append((data, *(pair if signs == {1} else pair[::-1])))
    for data, wide, narrow in orders:
        accuracies = [_minima(data, algorithm=a)["accuracy"] for a in (wide, narrow)]
        pairs = [[accuracy.sel(noise=eta).values for accuracy in accuracies] for eta in noises]
        number = len(noises) * len(orders)
        tested += [evidence.compare_groups(*pair, comparisons=number) for pair in pairs]
        worst = max(test.p for test in tested[-len(noises) :])
        words.append(f"{data}, {wide} > {narrow}: p ≤ {worst:.1g}")
    finding = f"at {len(noises)} noises, {len(orders)} pairs: {'; '.join(words)}"
    return evidence.decide(tested, finding, RUNS)


def image_elal_and_slow_alike_under_noise():
    """The gap of mean accuracies on the pictures, over the range of the four, at every noise."""
    accuracies = (
        _minima()["accuracy"]
        .sel(noise=slice(0.01, 0.99))
        .transpose("algorithm", "noise", "sample")
    )
    spread = SLIGHT * np.ptp(accuracies.mean("sample").values, axis=0)
    elal, slow = (accuracies.sel(algorithm=a).values for a in ("eLAL", "ceSGD slow"))
    gap, number = elal.mean(axis=1) - slow.mean(axis=1), 2 * len(spread)
    tested = []
    for first, second, bound in zip(elal, slow, spread, strict=True):
        tested.append(evidence.compare_groups(first + bound, second, comparisons=number))
        tested.append(evidence.compare_groups(second + bound, first, comparisons=number))
    share = SLIGHT * np.abs(gap) / spread
    noises = accuracies["noise"].values
    half = noises < 0.55
    most = int(np.argmax(share))
    finding = (
        f"up to half of the pixels replaced at most {share[half].max():.0%} of the range; the "
        f"most is {share[most]:.0%}, {abs(gap[most]):.3f}, at {noises[most]:g} (hardly: a quarter)"
    )
    return evidence.decide(tested, finding, RUNS)


# ------------------------------------------------------------------------------------------------
# Deep networks of binary weights (P3, SM IV)
# ------------------------------------------------------------------------------------------------


def _deep():
    return experiments.complete("binary-networks")


def _learned(networks):
    """Return the sizes that all networks learn without an error."""
    return networks["size"].values[(networks["errors"].max(("solution", "sample")) == 0).values]


def deep_networks_learn_up_to_a_size():
    """The largest size learned without an error by all networks, and errors at the largest."""
    archive, words, good = _deep(), [], True
    for data in archive["dataset"].values:
        networks = archive.sel(dataset=data)
        sizes = _learned(networks)
        last = networks["size"].values[-1]
        left = float(networks["errors"].sel(size=last).mean())
        good &= len(sizes) > 0 and left > 0
        top = int(sizes[-1]) if len(sizes) else 0
        words.append(f"{data} {top}, {left:.0f} errors at {int(last)}")
    return bool(good), "; ".join(words)


def deep_solutions_far_apart():
    """Largest mean overlap after matching, over all sizes: below 1/2. That of random networks."""
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
    """At the largest size learned: errors at 1 % of flips below 1 %, slopes rising up to 10 %.

    The fewest flips of this archive are one in each unit, a hundred or more. Single flips are in
    another, which the chapter shows.
    """
    archive, words, good = _deep(), [], True
    for data in archive["dataset"].values:
        networks = archive.sel(dataset=data)
        sizes = _learned(networks)
        if not len(sizes):
            return False, f"{data} is not learned at any size"
        best = networks.sel(size=sizes[-1])
        curve = best["profile"].mean(("solution", "sample")).values
        d = best["realised"].mean("sample").values
        places = np.array([0.01, 0.05, 0.1])
        error = np.interp(places, d, curve)
        slopes = np.diff(error, prepend=0.0) / np.diff(places, prepend=0.0)
        good &= error[0] < 0.01 and bool(np.all(np.diff(slopes) > 0))
        words.append(
            f"{data} {error[0]:.1%}, {error[1]:.1%} and {error[2]:.1%} at 1, 5 and 10 % of flips"
        )
    return bool(good), "; ".join(words)
