"""Each check that reads an archive comes out otherwise where the archive is otherwise.

A check that cannot fail says nothing. A row is a check, the experiments whose archives it reads,
and a change to each: a function that takes a copy of the dataset and returns it, or None where it
changed it in place. The verdict must be another one then.
"""

import pathlib
import sys

import numpy as np
import pytest

from wfmlib.book import claim_checks, claims, experiments
from wfmlib.book.claim_checks import remarks_runs

RESULTS = pathlib.Path(__file__).parents[2] / "book" / "results"
CLAIMS = {}
for _claim in claims.load():
    if _claim.compute:
        CLAIMS.setdefault(_claim.compute, []).append(_claim)


def put(**values):
    """Return a change that gives variables one value everywhere."""

    def change(data):
        for name, value in values.items():
            data[name][:] = value

    return change


def scaled(name, factor, **where):
    """Return a change that multiplies a variable, everywhere or at some coordinates."""

    def change(data):
        chosen = data[name].loc[where]
        data[name].loc[where] = (chosen * factor).astype(chosen.dtype)

    return change


def swapped(one, other, axis="algorithm"):
    """Return a change that puts each of two places in the other's."""

    def change(data):
        names = {one: other, other: one}
        labels = [names.get(name, name) for name in data[axis].values.tolist()]
        return data.assign_coords({axis: labels})

    return change


def copied(name, source, target, factor=1.0, shift=0.0, **where):
    """Return a change that makes a variable at `target` what it is at `source`, scaled."""

    def change(data):
        data[name].loc[where | target] = (
            data[name].sel(where | source, drop=True).values * factor + shift
        )

    return change


def spread_as(quoted):
    """Return a change that gives the epochs of each algorithm the spread that is quoted."""

    def change(data):
        for name, spread in quoted.items():
            x = np.linspace(-1.0, 1.0, data["epochs"].sizes["sample"])
            data["epochs"].loc[{"algorithm": name}] = 1000.0 + spread * x / x.std(ddof=1)

    return change


def algorithm(name):
    """Return the coordinate of an algorithm."""
    return {"algorithm": name}


def reference_and_replicas(data):
    """Let the reference fail as its replicas do, and they as it does."""
    reference = data["reference_failures"].copy(deep=True)
    data["reference_failures"][:] = data["replica_failures"].values
    data["replica_failures"][:] = reference.values


def fewer_failures(data):
    """Let rectifiers fail less at every noise."""
    failures = data["reference_failures"]
    failures.loc[{"machine": "relu"}] = 0.5 * failures.sel(machine="sign").values
    data["solved"][:] = True


def growing(data):
    """Let each number of replicas be clearly better than the one before."""
    for k in range(1, data.sizes["replicas"]):
        data["excess"][{"replicas": k}] = data["excess"][{"replicas": 0}].values * 0.7**k


def converging(data):
    """Let messages settle up to a load of 1.78."""
    data["converged"][:] = (data["alpha"] < 1.78).broadcast_like(data["converged"]).values


def unsolved_farther_out(data):
    """Let no sample be solved at loads that reach beyond the capacity."""
    data["solved"][:] = False
    return data.assign_coords(alpha=data["alpha"].values + 1.0)


def first_of_pictures(name):
    """Return a change that puts eLAL far ahead of slow gradient descent on the pictures."""
    return copied(name, algorithm("ceSGD slow"), algorithm("eLAL"), 0.1, data="original")


def shuffled_by(factor):
    """Return a change that gives all runs one eigenvalue, larger by a factor when shuffled."""

    def change(data):
        data["largest"][:] = 100.0
        data["largest"].loc[{"data": "shuffled"}] *= factor

    return change


def a_little_smaller(data):
    """Let volumes of all runs be equal, and those of shuffled pixels a little smaller."""
    for name in ("around_distance", EXCESS):
        mean = data[name].sel(data="original").mean("sample")
        data[name][:] = mean.broadcast_like(data[name]).transpose(*data[name].dims).values
    one = data[EXCESS].sel(data="original", drop=True)
    less = 0.1 * (one.max("algorithm") - one.min("algorithm")).broadcast_like(one)
    data[EXCESS].loc[{"data": "shuffled"}] = (one - less).transpose(*one.dims).values


def like_volumes(data):
    """Give all runs of an algorithm the same accuracy, in the order of their volumes."""
    for value, name in enumerate((LAL, FAST, "eLAL", SLOW)):
        data["accuracy"].loc[algorithm(name)] = 0.6 + 0.1 * value


def all_but_fbp_are_lal(data):
    for name in ("eLAL", SLOW, FAST):
        data["weights"].loc[algorithm(name)] = data["weights"].sel(algorithm=LAL).values


TREE, IMAGES, VOLUMES = "tree-minima", "image-minima", "image-volume"
LAL, SLOW, FAST = "LAL", "ceSGD slow", "ceSGD fast"
EXCESS = "around_excess"


def tree(change):
    return {TREE: change}


def images(change):
    return {IMAGES: change}


def sets(change):
    return {"image-training-sets": change}


def volumes(change):
    return {VOLUMES: change}


ROWS = {
    # chapters 2 and 5: annealing
    "annealing_cross_entropy_succeeds": {
        "annealing-losses": swapped("errors", "cross-entropy", "loss")
    },
    "replicated_annealing_solves": {"replicated-annealing": put(solved=True)},
    "relu_more_robust_simulated": {"replicated-annealing": fewer_failures},
    "reference_more_robust": {"replicated-annealing": reference_and_replicas},
    "connected_same_phenomenology": {"replicated-annealing-connected": reference_and_replicas},
    # chapter 7
    "bp_entropy_agrees": {"bp-entropy": scaled("entropy", 1.05)},
    "bp_size_suffices": {"bp-entropy": scaled("entropy", 1.2)},
    "bp_last_load": {"bp-entropy": converging},
    "bp_fails_above": {"bp-entropy": put(converged=True)},
    "fbp_reach_exact": {"fbp-committee": put(solved=False)},
    "fbp_reach_expanded": {"fbp-committee": scaled("solved", False, alpha=2.7)},
    "fbp_exact_reaches_further": {"fbp-committee": scaled("solved", False, form="expanded")},
    "fbp_nearly_capacity": {"fbp-committee": unsolved_farther_out},
    "fbp_regions_like_theory": {"fbp-local-entropy": scaled("excess", 4.0)},
    "binary_algorithms_succeed": {"fbp-perceptron-success": put(solved=False)},
    "algorithms_find_dense": {"fbp-perceptron": put(local_entropy=0.0)},
    "dense_threshold_bounds": {"fbp-perceptron-success": put(solved=True)},
    "focusing_bp_solves": {"fbp-perceptron": put(errors=1)},
    "focusing_bp_above_max_margin": {"fbp-perceptron": scaled("local_entropy", 0.9)},
    "bp_overlap_grows": {"fbp-perceptron": scaled("distance", -1.0)},
    # chapter 8
    "lal_epochs": tree(scaled("epochs", 3)),
    "elal_epochs": tree(put(epochs=861)),
    "fast_epochs": tree(scaled("epochs", 3)),
    "slow_epochs": tree(scaled("epochs", 3)),
    "all_solve": tree(put(errors=1)),
    "fbp_wider_than_elal": tree(copied(EXCESS, algorithm("eLAL"), algorithm("fBP"), 0.5)),
    "elal_wider_than_slow": tree(swapped("eLAL", SLOW)),
    "slow_wider_than_fast": tree(copied(EXCESS, algorithm(FAST), algorithm(SLOW), 0.5)),
    "fast_wider_than_lal": tree(swapped(FAST, LAL)),
    "fbp_narrowest_everywhere": tree(scaled("spectrum", 0.1, algorithm="fBP")),
    "lal_sets_beta": tree(swapped("fBP", LAL)),
    "lal_widest_at_lower_beta": tree(scaled("spectrum", 0.5, algorithm=LAL)),
    "cross_entropy_curvature_agrees": tree(scaled("largest_cross_entropy", -1.0)),
    "volume_and_curvature_agree": tree(scaled("largest", -1.0)),
    "messages_fail_near_lal": tree(scaled("around_converged", False, algorithm=LAL)),
    "replicas_help_gradually": {"elal-replicas": growing},
    "ten_replicas_match_slow": {"elal-replicas": scaled("excess", 10.0)},
    "hundred_replicas_closer_to_fbp": {"elal-replicas": scaled("excess", 1.5, replicas=100)},
    "lal_reaches_beyond_gradients": {"committee-reach": swapped(LAL, FAST)},
    "lal_reaches_almost_as_far_as_fbp": {"committee-reach": swapped(LAL, "fBP")},
    # chapter 9
    "image_lal_epochs": images(scaled("epochs", 3)),
    "image_elal_epochs": images(put(epochs=190)),
    "image_fast_epochs": images(scaled("epochs", 3)),
    "image_slow_epochs": images(put(epochs=3570)),
    "all_sets_are_learned": sets(put(errors=0)),
    "flat_minima_generalise_on_each_set": sets(scaled("test_error", -1.0)),
    "slow_generalises_better_on_sets": sets(swapped(SLOW, FAST)),
    "replicas_generalise_better_on_sets": sets(swapped("eLAL", LAL)),
    "curvatures_ordered_on_sets": sets(swapped(SLOW, LAL)),
    "image_order_as_random": {
        IMAGES: first_of_pictures("largest"),
        VOLUMES: first_of_pictures(EXCESS),
    },
    "image_lal_narrowest": volumes(swapped(LAL, FAST)),
    "image_slow_wider_than_fast": volumes(swapped(SLOW, FAST)),
    "image_focusing_does_not_settle": {"image-focusing": put(unsettled=0)},
    "image_eigenvalues_hardly_change": images(shuffled_by(1.0)),
    "image_elal_degrades": images(shuffled_by(1.1)),
    "image_shuffled_volumes_smaller": volumes(a_little_smaller),
    "image_lal_narrowest_shuffled": volumes(swapped(LAL, FAST)),
    "image_slow_wider_than_fast_shuffled": volumes(swapped(SLOW, FAST)),
    "image_elal_degrades_at_short_distances": volumes(
        copied(EXCESS, algorithm(SLOW), algorithm("eLAL"), 0.5, -0.002, data="shuffled")
    ),
    "image_noise_orders_alike": images(like_volumes),
    "image_elal_and_slow_alike_under_noise": images(
        copied("accuracy", algorithm(SLOW), algorithm("eLAL"))
    ),
    "deep_networks_learn_up_to_a_size": {"binary-networks": put(errors=5)},
    "deep_solutions_far_apart": {"binary-networks": put(overlap_matched=0.9)},
    "deep_solutions_not_isolated": {"binary-networks": put(profile=0.5)},
    # chapter 10
    "solvers_reach": {"cluster-reach": put(solved=True)},
    # chapter 11
    "overlap_gap_for_some_margins": {"full-margins": put(gap_low=0.5)},
    "full_breaking_lowers_every_capacity": {"full-capacities": put(two_steps=0.0)},
    # chapter 12
    "annealed_potential_solves": {"sampling": put(errors=5)},
    # curvatures, and statements made in passing
    "fbp_flatter_than_elal": tree(swapped("fBP", "eLAL")),
    "elal_flatter_than_slow": tree(swapped("eLAL", SLOW)),
    "slow_flatter_than_fast": tree(copied("weights", algorithm("fBP"), algorithm(SLOW))),
    "fast_flatter_than_lal": tree(swapped(FAST, LAL)),
    "spectra_alike_at_high_sharpness": tree(scaled("largest", 5.0, algorithm="fBP")),
    "epochs_spread_as_quoted": tree(spread_as(remarks_runs.SPREADS)),
    "image_epochs_spread_as_quoted": images(spread_as(remarks_runs.IMAGE_SPREADS)),
    "fbp_reaches_furthest": {"committee-reach": scaled("solved", 0, algorithm="fBP")},
    "fbp_widest_of_all": {"tree-minima": scaled("around_excess", 0.1, algorithm="fBP")},
    "fbp_most_robust_to_noise": tree(all_but_fbp_are_lal),
    "controlled_norms_wider": {"free-norms": scaled("around_excess", 0.1)},
    "cross_entropy_gains_less_with_three_units": {
        "three-units": scaled("around_excess", 0.1, algorithm=FAST)
    },
    "lal_needs_fewest_epochs": {"tree-minima": scaled("epochs", 1000, algorithm="LAL")},
    "shuffled_does_not_generalise": {"image-minima": scaled("test_error", 0.1, data="shuffled")},
    "shuffled_needs_more_epochs": {"image-minima": scaled("epochs", 3, data="shuffled")},
    "focusing_keeps_off_the_threshold": {"fbp-perceptron": scaled("density", 0)},
}


@pytest.fixture(autouse=True)
def forget():
    """Let no check keep what it found in another archive."""

    def clear():
        modules = {sys.modules[getattr(claim_checks, check).__module__] for check in CLAIMS}
        for kept in (value for module in modules for value in vars(module).values()):
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()

    clear()
    yield
    clear()


def test_every_check_of_an_archive_has_a_row():
    archived = {check for check, named in CLAIMS.items() if any(one.archive for one in named)}
    # the theory that it compares its archive with takes a minute
    assert archived == set(ROWS) | {"simulated_stabilities_agree"}


@pytest.mark.parametrize("check", ROWS)
def test_another_archive_another_verdict(check, monkeypatch):
    monkeypatch.setenv("WFMLIB_RESULTS", str(RESULTS))
    complete, changes = experiments.complete, ROWS[check]

    def changed(name):
        data = complete(name)
        if name not in changes:
            return data
        data = data.copy(deep=True)
        other = changes[name](data)
        return data if other is None else other

    monkeypatch.setattr(experiments, "complete", changed)
    verdicts = [claims.check(claim.id) for claim in CLAIMS[check]]
    assert all(one.verdict != claims.NOT_CHECKED for one in verdicts), verdicts
    assert any(one.verdict != one.claim.expected for one in verdicts)
