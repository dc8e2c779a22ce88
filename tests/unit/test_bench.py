"""What is known of the instances is known two ways, and estimators are held against it."""

import math

import numpy as np
import pytest

from wfmlib import Committee, ParityMachine, bench, learning
from wfmlib.bench import truths
from wfmlib.numerics.solvers import NotConverged, Report

COUNTED = [name for name, made in bench.INSTANCES.items() if not made.distances]
SMALL = [name for name in COUNTED if int(name.split("-")[2]) <= 17]
ON_SPHERE = ["spherical-tree-9-typical", "spherical-committee-15-typical"]


@pytest.mark.parametrize("name", bench.names())
def test_an_instance_is_what_it_says(name):
    one = bench.load(name)
    network = one.device.network(one.weights)
    assert network.errors(one.xi, one.sigma) == 0
    assert one.weights.size == int(name.split("-")[2])
    assert one.truth.distance.to_index().is_monotonic_increasing
    assert np.isfinite(one.truth.local_entropy).all()
    bound = one.device.weights.bound(one.truth.distance.values)
    assert (one.truth.local_entropy <= bound + 5 * one.truth.error + 1e-12).all()
    assert ((one.truth.error == 0) == (one.truth.origin == "enumeration")).all()
    assert (one.truth.error * one.weights.size).max() < 1.0  # nats
    if one.teacher is not None:
        assert one.device.network(one.teacher).errors(one.xi, one.sigma) == 0
        known = one.device.weights.discrete or one.device.units == 1
        assert ("generalisation" in one.truth.attrs) == known
        if known:  # of a parity machine one half where the product tells nothing of the teacher's
            assert 0 <= one.truth.generalisation <= 0.5
            assert (one.truth.generalisation == 0) == np.array_equal(one.weights, one.teacher)
    if not one.device.weights.discrete:
        assert np.sum(one.weights**2, axis=-1) == pytest.approx(one.weights.shape[-1])


def answers(device, w, xi):
    """Return the answers of many weights, (count, K, M), to all patterns, plainly."""
    units, width = w.shape[1:]
    votes = []
    for unit in range(units):
        part = slice(None) if isinstance(device, Committee) else slice(unit * width, None)
        votes.append(np.sign(w[:, unit] @ xi[:, part][:, :width].T))
    return np.prod(votes, axis=0) if isinstance(device, ParityMachine) else np.sum(votes, axis=0)


@pytest.mark.parametrize("name", SMALL)
def test_small_ones_are_counted_plainly_and_made_anew(name):
    one = bench.load(name)
    shape = (one.device.units, -1)
    every = learning.all_weights(one.weights.size)
    right = one.sigma * answers(one.device, every.reshape(len(every), *shape), one.xi) > 0
    solutions = every[right.all(axis=1)]
    N = one.weights.size
    flips = np.count_nonzero(solutions != one.weights.ravel(), axis=1)
    counts = np.bincount(flips, minlength=N + 1)
    assert one.truth.solutions.values.tolist() == counts.tolist()
    at = np.rint(one.truth.distance.values * N).astype(int)
    assert one.truth.local_entropy.values == pytest.approx(np.log(counts[at]) / N)
    assert one.truth.entropy == pytest.approx(math.log(len(solutions)) / N)
    assert one.truth.overlap == pytest.approx(np.mean(solutions @ one.weights.ravel()) / N)

    kept = {key: value for key, value in bench._kept()["instances"][name].items() if key != "made"}
    assert truths.make(name) == kept


def test_generalisation_is_counted_two_ways():
    one = bench.load("binary-perceptron-21-flat")
    made = bench.INSTANCES[one.name]
    xi = learning.all_weights(made.inputs, dtype=np.int8)
    wrong = np.mean(xi @ one.weights * (xi @ one.teacher) < 0)
    assert one.truth.generalisation == pytest.approx(wrong)


@pytest.mark.parametrize("name", ON_SPHERE)
def test_a_shell_of_the_sphere_has_the_share_of_the_distance(name):
    one = bench.load(name)
    rng, width, hits, all_ = np.random.default_rng(1), one.weights.shape[1], 0, 0
    for _ in range(10):
        w = rng.standard_normal((200_000, *one.weights.shape))
        w *= math.sqrt(width) / np.linalg.norm(w, axis=2, keepdims=True)
        distance = 0.5 - np.mean(w * one.weights, axis=(1, 2)) / 2
        near = w[np.abs(distance - 0.3) < 0.01]
        all_ += len(near)
        hits += np.count_nonzero((one.sigma * answers(one.device, near, one.xi) > 0).all(axis=1))
    found = math.log(hits / all_) + one.weights.size * 0.5 * math.log(4 * 0.3 * 0.7)
    told = one.weights.size * float(one.truth.local_entropy.sel(distance=0.3))
    assert found == pytest.approx(told, abs=4 / math.sqrt(hits) + 0.02)  # the shell is not thin


def test_nested_angles_agree_with_independent_draws():
    one = bench.load("spherical-perceptron-9-centre")
    distances = one.truth.distance.values
    aligned = (one.xi * one.sigma[:, None]).astype(float)
    runs = [
        truths.angles(aligned, one.weights, distances, np.random.default_rng(seed), 2000, 10)
        for seed in range(4)
    ]
    found = np.mean(runs, axis=0) / 9 + one.device.weights.bound(distances)
    off = np.abs(found - one.truth.local_entropy.values)
    assert np.all(off < 0.1 / 9 + 3 * one.truth.error.values)
    assert found[-1] < one.device.weights.bound(distances)[-1] - 0.1  # there is something to find


def test_annealed_populations_agree_with_counting():
    one = bench.load("binary-perceptron-25-flat")
    aligned = (one.xi * one.sigma[:, None] * one.weights).T.astype(np.int32)
    for flips in (2, 6, 10):
        rng = np.random.default_rng(flips)
        found = np.mean([truths.cooled(aligned, flips, rng, 4000, 10) for _ in range(3)])
        share = int(one.truth.solutions[flips]) / math.comb(25, flips)
        assert found == pytest.approx(math.log(share), abs=0.15)
        assert math.log(share) < -0.5


def test_a_sampled_binary_truth_agrees_with_independent_draws():
    one = bench.load("binary-perceptron-201-teacher")
    aligned = one.xi * one.sigma[:, None] * one.weights
    rng, whole, right, count = np.random.default_rng(1), aligned.sum(axis=1), 0, 100_000
    for _ in range(count):
        flipped = rng.choice(201, 4, replace=False, shuffle=False)
        right += np.all(whole > 2 * aligned[:, flipped].sum(axis=1))
    found = math.log(right / count * math.comb(201, 4))
    assert one.truth.distance[0] == 4 / 201
    told = 201 * float(one.truth.local_entropy[0])
    assert found == pytest.approx(told, abs=4 / math.sqrt(right))
    assert right > 500


@pytest.mark.parametrize(
    "name", [name for name in bench.names() if "messages" in bench.load(name).truth]
)
def test_sampled_truths_agree_with_messages(name):
    """Messages leave out what vanishes with N: a few nats."""
    one = bench.load(name)
    off = one.weights.size * (one.truth.messages - one.truth.local_entropy)
    assert np.isfinite(off).any()
    assert np.nanmax(np.abs(off)) < 3.0
    free = one.device.weights.bound(one.truth.distance)
    assert one.weights.size * (free - one.truth.local_entropy).max() > 5.0  # nats, by the patterns


# ------------------------------------------------------------------------------------------------
# Score
# ------------------------------------------------------------------------------------------------


def by_counting(instance, distance):
    found = learning.enumerate_solutions(
        instance.device, instance.xi, instance.sigma, reference=instance.weights
    )
    number = found.counts_by_distance[round(distance * found.N)]
    return math.log(number) / found.N, 0.0


def test_an_exact_estimator_has_no_error_and_refusals_are_told():
    some = ["binary-perceptron-17-flat", "binary-parity-15-typical", "spherical-tree-9-typical"]
    found = bench.score(by_counting, some, progress=False)
    assert found.instance.values.tolist() == some
    there = found.distance.notnull()
    assert there.sum("place").values.tolist() == [
        bench.load(name).truth.sizes["distance"] for name in some
    ]
    counted = found.sel(instance=some[:2])
    assert np.nanmax(np.abs(counted.total)) < 1e-12
    assert (counted.estimate_error.where(there) == 0).sum() == there.sel(instance=some[:2]).sum()
    assert (counted.refusal == "").all()
    refused = found.sel(instance=some[2])
    assert np.isnan(refused.error).all()
    assert all("device" in str(told) for told in refused.refusal[:5].values)
    assert (refused.seconds[:5] >= 0).all()


def test_an_error_is_in_nats_per_weight_and_in_all():
    name = "binary-tree-15-typical"
    truth = bench.load(name).truth

    def more(instance, distance):
        assert not instance.truth
        return float(truth.local_entropy.sel(distance=distance)) + 0.1

    found = bench.score(more, [name])
    assert found.error.values == pytest.approx(0.1)
    assert found.total.values == pytest.approx(1.5)
    assert np.isnan(found.estimate_error).all()


def test_what_does_not_converge_is_no_estimate():
    def lost(instance, distance):
        if distance > 0.1:
            raise NotConverged(Report(False, 1.0, 3, "three steps are too few"))
        return 0.0

    found = bench.score(lost, ["spherical-tree-9-typical"])
    assert np.isnan(found.estimate[0]).values.tolist() == [False, False, True, True, True]
    assert found.refusal[0, 2] == "NotConverged: three steps are too few"

    def slipped(instance, distance):
        raise KeyError("a slip")

    with pytest.raises(KeyError, match="a slip"):
        bench.score(slipped, ["spherical-tree-9-typical"])


@pytest.mark.parametrize(
    ("estimator", "names", "error", "told"),
    [
        (by_counting, ["binary"], ValueError, "each of names must be one of"),
        (by_counting, "binary-perceptron-17-flat", TypeError, "names must be a sequence"),
        (by_counting, [], ValueError, "names must hold"),
        (3, None, TypeError, "estimator"),
        (lambda instance, distance: "much", ["binary-perceptron-17-flat"], ValueError, "much"),
    ],
)
def test_what_cannot_be_scored_is_refused(estimator, names, error, told):
    with pytest.raises(error, match=told):
        bench.score(estimator, names)
