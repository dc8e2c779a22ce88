"""What samples keep of what the algorithms found: each measure written a second time.

Algorithms answer with weights drawn at random, so that nothing is computed but the measures.
"""

import dataclasses
from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest

from wfmlib import (
    Binary,
    Committee,
    Perceptron,
    ReLU,
    Sign,
    TreeCommittee,
    datasets,
    landscape,
    learning,
    networks,
    patterns,
)
from wfmlib.book import experiments
from wfmlib.book.experiments import (
    annealing_losses,
    binary_networks,
    committee_reach,
    image_minima,
    image_paths,
    image_task,
    replicated_annealing,
    single_flips,
    tree_minima,
)
from wfmlib.book.experiments.replicated_annealing import noisy_errors
from wfmlib.learning.descent.binary_sgd import BinarySGD
from wfmlib.learning.descent.schedules import FAST

RNG = np.random.default_rng(5)


def signs(*shape):
    return RNG.choice([-1, 1], shape).astype(np.int8)


def seed_of(name, sample=0):
    return experiments.get(name).seed_sequence({}, sample)


# --- annealing ----------------------------------------------------------------------------------


def test_annealed_replicas(monkeypatch):
    """The reference makes two errors, the best of seven replicas one."""
    replica_errors = np.array([4, 1, 3, 5, 9, 2, 4])
    found = SimpleNamespace(errors=2, replica_errors=replica_errors, epochs=30)
    monkeypatch.setattr(annealing_losses, "replicated_annealing", lambda *_, **__: found)
    settings = annealing_losses.SETTINGS
    point = {"N": 51, "alpha": 0.5, "loss": "replicated"}
    kept = annealing_losses.sample(settings, point, seed_of("annealing-losses"))
    assert kept == {
        "solved": False,
        "errors": 1,
        "reference_errors": 2,
        "mean_errors": 4.0,  # of the replicas alone
        "sweeps": 30,
        "proposals": 210,
    }
    monkeypatch.setattr(annealing_losses, "simulated_annealing", lambda *_, **__: found)
    kept = annealing_losses.sample(
        settings, point | {"loss": "errors"}, seed_of("annealing-losses")
    )
    alone = {"solved": False, "errors": 2, "mean_errors": 2.0, "proposals": 30}
    assert {name: kept[name] for name in alone} == alone
    found.errors = 0  # of the one
    assert annealing_losses.sample(settings, point, seed_of("annealing-losses"))["solved"]


@pytest.mark.parametrize("wiring", ["tree", "connected"])
@pytest.mark.parametrize(("machine", "units", "inside"), [("sign", 5, 7), ("relu", 4, 6)])
def test_replicas_that_were_found(monkeypatch, machine, units, inside, wiring):
    tree = wiring == "tree"
    found = SimpleNamespace(
        weights=signs(units, inside),
        replicas=signs(3, units, inside),
        replica_errors=np.array([2, 6, 1]),
        history={"coupling": np.array([1.0, 3.0])},
        converged=False,
        overlap=0.5,
        errors=4,
        epochs=11,
    )
    asked = []

    def annealed(device, xi, sigma, **_):
        asked.append((device, xi, sigma))
        return found

    monkeypatch.setattr(replicated_annealing, "replicated_annealing", annealed)
    coordinates = {"stability": np.linspace(-2, 2, 9), "noise": np.array([0.0, 0.25])}
    sizes = {"units": {machine: units}, "inputs": {machine: inside}}
    settings = replicated_annealing.SETTINGS | sizes | coordinates | {"perturbations": 2}
    point = {"machine": machine, "wiring": wiring}
    kept = replicated_annealing.sample(settings, point, np.random.SeedSequence(1))
    ((device, xi, sigma),) = asked
    activation = Sign() if machine == "sign" else ReLU()
    assert device == (TreeCommittee if tree else Committee)(units, activation, Binary())
    assert xi.shape == (round(0.4 * units * inside), units * inside if tree else inside)
    seeds = np.random.SeedSequence(1).spawn(3)
    np.testing.assert_array_equal(xi, patterns.random(*xi.shape, rng=seeds[0])[0])
    ended = ("solved", "overlap", "reference_errors", "worst_errors", "coupling", "sweeps")
    assert [kept[name] for name in ended] == [False, 0.5, 4, 6, 3.0, 11]
    nets = [device.network(w) for w in (found.weights, *found.replicas)]
    first, *others = (net.stabilities(xi, sigma) for net in nets)
    assert kept["reference_stability"] == pytest.approx(np.mean(first))
    assert kept["replica_stability"] == pytest.approx(np.mean(others))
    for name, values in (("reference", first), ("replica", np.concatenate(others))):
        nearest = np.argmin(np.abs(values[:, None] - coordinates["stability"]), axis=1)
        shares = np.bincount(nearest, minlength=9) / len(values)
        np.testing.assert_allclose(kept[f"{name}_stabilities"], shares)
    failures = noisy_errors(
        device, np.array([found.weights, *found.replicas]),
        xi, sigma, settings, np.random.default_rng(seeds[2]),
    )  # fmt: skip
    np.testing.assert_allclose(kept["reference_failures"], failures[:, 0])
    np.testing.assert_allclose(kept["replica_failures"], failures[:, 1:].mean(axis=1))
    assert kept["reference_failures"][0] == nets[0].errors(xi, sigma) / len(sigma)


# --- deep networks ------------------------------------------------------------------------------


def test_deep_networks_that_were_found(monkeypatch):
    train = signs(60, 9), np.arange(60) % 2 * 2 - 1
    test = signs(40, 9), np.arange(40) % 2 * 2 - 1
    monkeypatch.setattr(binary_networks, "images", lambda name: (train, test))
    found, given = [], []

    def trained(xi, sigma, rng, **_):
        given.append((xi, sigma, rng))
        weights = [signs(5, 9), signs(3, 5), signs(1, 3)]
        history = {"errors": np.array([5, 3, 7])}
        found.append(BinarySGD(None, weights, 7 + len(found), False, 3, history))
        return found[-1]

    monkeypatch.setattr(binary_networks, "binary_sgd", trained)
    where = {"solution": np.arange(3), "distance": np.array([0.0, 0.2])}
    seed = np.random.SeedSequence(4)
    kept = binary_networks.sample(
        binary_networks.SETTINGS | where, {"dataset": "mnist", "size": 25}, seed
    )
    again = np.random.SeedSequence(4).spawn(5)
    order = np.random.default_rng(again[1]).permutation(60)[:25]
    for (xi, sigma, one), expected in zip(given, again[4].spawn(3), strict=True):
        np.testing.assert_array_equal(xi, train[0][order])
        np.testing.assert_array_equal(sigma, train[1][order])
        assert one.spawn_key == expected.spawn_key
    assert kept["errors"].tolist() == [7, 8, 9]
    assert kept["fewest"].tolist() == [3, 3, 3]
    nets = [networks.BinaryMLP(one.weights) for one in found]
    assert kept["test_error"] == pytest.approx([net.errors(*test) / 40 for net in nets])
    rng = np.random.default_rng(again[3])
    measures = [
        landscape.error_profile(net, xi, sigma, distances=[0.0, 0.2], rng=rng, samples=10)
        for net in nets
    ]
    np.testing.assert_array_equal(kept["profile"], [one.error_rate for one in measures])
    np.testing.assert_array_equal(kept["realised"], measures[0].realised)
    pairs = list(combinations([one.weights for one in found], 2))
    assert kept["overlap"] == pytest.approx(np.mean([landscape.overlap(a, b) for a, b in pairs]))
    matched = [landscape.overlap(a, b, match=True) for a, b in pairs]
    assert kept["overlap_matched"] == pytest.approx(np.mean(matched))
    layers = [
        [np.mean(a * b) for a, b in zip(one, landscape.match_layers(one, two), strict=True)]
        for one, two in pairs
    ]
    np.testing.assert_allclose(kept["overlap_layers"], [*np.mean(layers, axis=0), np.nan])
    rng = np.random.default_rng(again[2])
    one, two = ([rng.choice([-1, 1], w.shape) for w in found[0].weights] for _ in range(2))
    random = landscape.match_layers(one, two)
    assert kept["overlap_random"] == pytest.approx(landscape.overlap(one, random))


def test_ways_between_networks_on_pictures(monkeypatch):
    """Errors of blends are counted by networks that are built anew; only names come from units."""
    settings = dict(image_paths.QUICK) | experiments.get("image-paths").scale("quick").coordinates
    xi, sigma = patterns.random(60, 21, rng=1)
    monkeypatch.setattr(image_paths, "training_set", lambda *_: ((xi, sigma), None, (xi, sigma)))
    found = []

    def solve(algorithm, device, xi, sigma, rng, **_):
        network = device.network(RNG.standard_normal((3, 21)))
        found.append(SimpleNamespace(network=network, weights=network.w, errors=len(found)))
        return learning.Solution(device, network.w, len(found) - 1, False, 3, {})

    monkeypatch.setattr(image_paths.committee_algorithms, "solve", solve)
    point = {"algorithm": "LAL", "units": 3}
    kept = image_paths.sample(settings, point, seed_of("image-paths"))
    nets = [one.network for one in found]
    assert kept["errors"].tolist() == [0, 1, 2]
    assert kept["test_error"] == pytest.approx([net.errors(xi, sigma) / 60 for net in nets[:3]])
    cosines = [[landscape.overlap(*two) for two in combinations(net.w, 2)] for net in nets[:3]]
    assert kept["unit_overlap"] == pytest.approx(np.mean(cosines, axis=1))
    pairs = list(combinations(nets[:3], 2))
    assert kept["overlap"] == pytest.approx(np.mean([landscape.overlap(a, b) for a, b in pairs]))

    def named(one, two, match):
        """Return the network with its units in the best of all six orders."""
        w, v = one.w, two.w
        if match == "answers":
            w, v = (np.sign(xi @ net.w.T).T for net in (one, two))
        w, v = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (w, v))
        orders = [list(order) for order in permutations(range(3))]
        gains = [np.sum(w * v[order]) for order in orders]
        return two if match == "none" else Committee(3).network(two.w[orders[np.argmax(gains)]])

    def errors(corners, shares):
        return Committee(3).network(landscape.blend(corners, shares)).errors(xi, sigma) / 60

    edges = [(1 - g, g) for g in (0, 0.25, 0.5, 0.75, 1)]
    faces = [(1, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 1, 0), (0, 0.5, 0.5), (0, 0, 1)]
    for k, match in enumerate(settings["match"]):
        ways = [[errors([a, named(a, b, match)], s) for s in edges] for a, b in pairs]
        assert kept["error_rate"][k] == pytest.approx(np.mean(ways, axis=0))
        heights = [max(way) - max(way[0], way[-1]) for way in ways]
        assert kept["barrier"][k] == pytest.approx(heights)
        corners = [nets[0], *(named(nets[0], net, match) for net in nets[1:3])]
        assert kept["triangle"][k] == pytest.approx([errors(corners, s) for s in faces])
        ways = [[errors([nets[3], named(nets[3], b, match)], s) for s in edges] for b in nets[:3]]
        assert kept["centre_error_rate"][k] == pytest.approx(np.mean(ways, axis=0))
        heights = [max(way) - max(way[0], way[-1]) for way in ways]
        assert kept["centre_barrier"][k] == pytest.approx(heights)


def test_single_flips_one_by_one():
    xi, weights = signs(8, 9), [signs(5, 9), signs(3, 5), signs(1, 3)]
    net = networks.BinaryMLP([one.copy() for one in weights])
    sigma = net.output(xi)
    harmless, most = single_flips.flipped(net, xi, sigma)
    for k, layer in enumerate(weights):
        wrong = []
        for place in np.ndindex(layer.shape):
            other = [one.copy() for one in weights]
            other[k][place] *= -1
            wrong.append(np.count_nonzero(networks.BinaryMLP(other).output(xi) != sigma))
        assert harmless[k] == np.mean(np.array(wrong) == 0)
        assert most[k] == max(wrong)
    assert 0.0 < harmless[0] < 1.0
    assert np.isnan([harmless[3], most[3]]).all()
    for one, before in zip(net.w, weights, strict=True):
        np.testing.assert_array_equal(one, before)
    some, _ = single_flips.flipped(net, xi, sigma, 10, np.random.default_rng(0))
    assert np.all(10 * some[:2] == np.round(10 * some[:2]))
    assert some[2] == harmless[2]  # three flips are fewer than ten


@pytest.mark.parametrize("errors", [0, 1])
def test_what_is_kept_of_single_flips(monkeypatch, errors):
    train = signs(60, 9), np.arange(60) % 2 * 2 - 1
    monkeypatch.setattr(binary_networks, "images", lambda name: (train, None))
    given = []

    def trained(xi, sigma, rng, **_):
        given.append((xi, sigma, rng))
        weights = [signs(5, 9), signs(3, 5), signs(1, 3)]
        return BinarySGD(None, weights, errors, False, 3, {})

    monkeypatch.setattr(binary_networks, "binary_sgd", trained)
    kept = single_flips.sample(
        single_flips.SETTINGS, {"dataset": "mnist", "size": 25}, np.random.SeedSequence(4)
    )
    ((xi, sigma, seed),) = given
    again = np.random.SeedSequence(4).spawn(4)
    order = np.random.default_rng(again[1]).permutation(60)[:25]
    np.testing.assert_array_equal(xi, train[0][order])
    np.testing.assert_array_equal(sigma, train[1][order])
    assert seed.spawn_key == again[3].spawn_key
    assert kept["errors"] == errors
    assert kept["weights"].tolist() == [45, 15, 3, 0]
    assert np.isnan(kept["harmless"]).tolist() == ([True] * 4 if errors else [False] * 3 + [True])
    rng = np.random.default_rng(again[2])
    control = networks.BinaryMLP(
        [rng.choice([-1, 1], shape) for shape in ((5, 9), (3, 5), (1, 3))]
    )
    random, _ = single_flips.flipped(control, xi, control.output(xi))
    np.testing.assert_array_equal(kept["harmless_random"], random)


@pytest.mark.parametrize(
    ("name", "reader", "parts"),
    [
        ("mnist", "mnist", ["train", "test"]),
        ("fashion", "fashion_mnist", ["train", "test"]),
        ("cifar10", "cifar10", [1, 2]),
    ],
)
def test_pictures_become_signs(monkeypatch, name, reader, parts):
    """+1 above the median over the training pictures, without the first pixel."""
    rng = np.random.default_rng(3)
    pictures = {part: rng.integers(0, 4, (11, 2, 2)).astype(np.uint8) for part in parts}
    labels = rng.integers(0, 10, 11)
    read = []

    def reads(part):
        read.append(part)
        return pictures[part], labels

    monkeypatch.setattr(datasets, reader, reads)
    binary_networks.images.cache_clear()
    found = binary_networks.images(name)
    binary_networks.images.cache_clear()
    assert read == parts
    middle = np.median(pictures[parts[0]], axis=0).ravel()
    for (xi, sigma), part in zip(found, parts, strict=True):
        expected = np.where(pictures[part].reshape(11, 4) > middle, 1, -1)[:, 1:]
        np.testing.assert_array_equal(xi, expected)
        assert xi.dtype == np.int8
        odd = np.where(labels % 2 == 1, 1, -1)
        np.testing.assert_array_equal(sigma, odd if name == "mnist" else labels)


def test_a_teacher_labels_its_patterns():
    settings = {"inputs": 9, "units": 3, "train": 6, "test": 4}
    found = binary_networks.teacher(settings, np.random.SeedSequence(2))
    rng = np.random.default_rng(np.random.SeedSequence(2))
    hidden, last = rng.choice([-1, 1], (3, 9)), rng.choice([-1, 1], (1, 3))
    for (xi, sigma), size in zip(found, (6, 4), strict=True):
        np.testing.assert_array_equal(xi, patterns.random(size, 9, rng=rng)[0])
        votes = np.sign(xi.astype(int) @ hidden.T) @ last.T
        np.testing.assert_array_equal(sigma, np.sign(votes[:, 0]))


def test_the_quick_teacher_and_its_students():
    settings = experiments.get("binary-networks").scale("quick").settings
    assert settings["teacher"] == {"inputs": 51, "units": 5, "train": 1000, "test": 1000}
    told = (settings["units"], settings["classes"], settings["eta"], settings["gamma"])
    assert told == ({"teacher": [51, 31]}, {"teacher": 2}, {"teacher": 1.0}, {"teacher": 1.0})


# --- committees ---------------------------------------------------------------------------------


def test_how_far_an_algorithm_came(monkeypatch):
    point = {"alpha": 0.5, "algorithm": "LAL, third of a step"}
    settings = committee_reach.SETTINGS | {"N": 99}

    def kept(found):
        monkeypatch.setattr(committee_reach, "solve", lambda *_, **__: found)
        return committee_reach.sample(settings, point, np.random.SeedSequence(1))

    broken = {"solved": False, "errors": -1, "fewest": -1, "epochs": -1}
    assert kept(None) == broken
    for history, errors, fewest in (([5, 2, 3], 4, 2), ([5, 3], 1, 1), ([1, 0, 2], 2, 0)):
        found = SimpleNamespace(history={"errors": np.array(history)}, errors=errors, epochs=8)
        expected = {"solved": fewest == 0, "errors": errors, "fewest": fewest, "epochs": 8}
        assert kept(found) == expected


QUICK = experiments.get("tree-minima").scale("quick").settings | {
    "coupling": np.array([1.0, 10.0]),
    "beta": np.array([2.0, 8.0]),
    "unit": range(9),
    "input": range(11),
    "mode": range(99),
}


@pytest.mark.parametrize("algorithm", ["LAL", "fBP"])
def test_what_is_measured_on_a_tree(monkeypatch, algorithm):
    """Weights twice as long as their directions: these are kept, and measured."""
    right = patterns.random(50, 99, rng=np.random.SeedSequence(7).spawn(2)[0])
    device = TreeCommittee(9)
    solved = learning.cross_entropy_sgd(device, *right, schedule=FAST, rng=1)
    assert solved.errors == 0
    weights = solved.weights
    found = learning.Solution(device, 2.0 * weights, 0, False, 6, {})
    told = []

    def solve(*given, **_):
        told.append(given)
        return found

    monkeypatch.setattr(tree_minima, "solve", solve)
    kept = tree_minima.sample(QUICK, {"algorithm": algorithm}, np.random.SeedSequence(7))
    ((name, asked, xi, sigma, seed),) = told
    drawn, learned = np.random.SeedSequence(7).spawn(2)
    assert (name, asked, seed.spawn_key) == (algorithm, device, learned.spawn_key)
    np.testing.assert_array_equal(xi, patterns.random(50, 99, rng=drawn)[0])
    w = weights / np.sqrt(np.sum(weights**2, axis=1))[:, None]
    np.testing.assert_allclose(kept["weights"], w)
    net = device.network(w)
    assert (kept["errors"], kept["converged"], kept["epochs"]) == (0, False, 6)
    assert kept["smallest_beta"] == pytest.approx(landscape.smallest_beta(net, xi, sigma))
    for k, beta in enumerate(QUICK["beta"]):
        spectrum = landscape.hessian_spectrum(net, xi, sigma, beta=beta)
        np.testing.assert_allclose(kept["spectrum"][k], spectrum, atol=1e-9)
        assert kept["largest"][k] == pytest.approx(max(spectrum))
        for suffix, options in (("tangent", {"tangent": True}), ("cross_entropy", CROSS)):
            top = landscape.max_eigenvalue(net, xi, sigma, beta=beta, **options)
            assert kept[f"largest_{suffix}"][k] == pytest.approx(top)
    around = landscape.local_entropy(net, xi, sigma, couplings=[1.0, 10.0], rng=0)
    for name in ("distance", "local_entropy", "excess", "converged"):
        np.testing.assert_allclose(kept[f"around_{name}"], around[name])


CROSS = {"loss": "cross-entropy"}


def test_nothing_is_measured_where_there_is_no_solution(monkeypatch):
    shapes = {"weights": (9, 11), "smallest_beta": (), "spectrum": (2, 99), "largest": (2,)}
    shapes |= {"largest_tangent": (2,), "largest_cross_entropy": (2,), "around_excess": (2,)}
    for found, ended in (
        (None, [-1, False, -1]),
        (SimpleNamespace(errors=1, converged=True, epochs=5), [1, True, 5]),
    ):
        monkeypatch.setattr(tree_minima, "solve", lambda *_, found=found, **__: found)
        kept = tree_minima.sample(QUICK, {"algorithm": "LAL"}, np.random.SeedSequence(7))
        assert [kept[name] for name in ("errors", "converged", "epochs")] == ended
        for name, shape in shapes.items():
            assert kept[name].shape == shape
            assert np.isnan(kept[name]).all()
        assert not kept["around_converged"].any()


@pytest.mark.parametrize("errors", [0, 1])
def test_what_replicas_found(monkeypatch, errors):
    weights = RNG.standard_normal((9, 11))
    found = learning.Solution(TreeCommittee(9), weights, errors, True, 12, {})
    told = []

    def learned(device, xi, sigma, **options):
        told.append((device, xi, sigma, options))
        return found

    monkeypatch.setattr(learning, "entropic_least_action", learned)
    task = experiments.get("elal-replicas").as_task("quick", {"replicas": 10}, 2)
    kept = task.compute()
    ((device, xi, sigma, options),) = told
    assert (options["replicas"], device) == (10, TreeCommittee(9))
    assert (kept["errors"], kept["collapsed"], kept["epochs"]) == (errors, True, 12)
    if errors:
        assert np.isnan(kept["largest"]).all()
        assert np.isnan(kept["excess"]).all()
        return
    tops = [landscape.max_eigenvalue(found, xi, sigma, beta=beta) for beta in (2.0, 10.0)]
    np.testing.assert_allclose(kept["largest"], tops)
    around = landscape.local_entropy(found, xi, sigma, couplings=(1.0, 10.0), rng=0)
    np.testing.assert_allclose(kept["distance"], around["distance"])


# --- focusing -----------------------------------------------------------------------------------

HISTORY = {"errors": np.array([2, 0]), "settled": np.array([True, False])}


def test_stabilities_of_what_focusing_found(monkeypatch):
    found = learning.Solution(Perceptron(), signs(201), 0, True, 3, HISTORY)
    told = []

    def focused(_, xi, sigma, **options):
        told.append((xi, sigma))
        return found

    monkeypatch.setattr(learning, "focusing_bp", focused)
    task = experiments.get("fbp-perceptron").as_task("quick", {"alpha": 0.5}, 1)
    kept = task.compute()
    ((xi, sigma),) = told
    assert xi.shape == (100, 201)
    stabilities = sigma * (xi.astype(int) @ found.weights.astype(int)) / np.sqrt(201)
    centres = np.arange(40) * 0.1 + 0.05
    inside = np.abs(stabilities[:, None] - centres) < 0.05
    np.testing.assert_allclose(kept["density"], inside.sum(axis=0) / (100 * 0.1))
    around = landscape.local_entropy(found, xi, sigma, couplings=(0.5, 1.0), rng=0)
    np.testing.assert_allclose(kept["local_entropy"], around["local_entropy"])
    assert (kept["errors"], kept["first"], kept["sweeps"], kept["unsettled"]) == (0, 1, 3, 1)
    found = dataclasses.replace(found, errors=1)
    kept = task.compute()
    assert np.isnan(kept["density"]).all()
    assert np.isnan(kept["distance"]).all()


def test_nothing_surrounds_what_is_no_solution(monkeypatch):
    """Weights with errors have no local entropy, though one could be computed."""
    weights = signs(9, 11) * 1.0
    found = learning.Solution(TreeCommittee(9), weights, 2, False, 3, HISTORY)
    monkeypatch.setattr(learning, "focusing_bp", lambda *_, **__: found)
    kept = experiments.get("fbp-local-entropy").as_task("quick", {"alpha": 1.0}, 0).compute()
    assert np.isnan(kept["local_entropy"]).all()
    assert not kept["converged"].any()
    assert (kept["errors"], kept["sweeps"]) == (2, 3)


def test_two_limits_on_the_sweeps(monkeypatch):
    """The overlap of the two solutions, and what each of them was found with."""
    steps = 10
    runs = [
        learning.Solution(
            Perceptron(),
            signs(101),
            k,
            True,
            steps,
            {
                "errors": np.arange(steps) + k,
                "sweeps": np.arange(steps) * (k + 1),
                "settled": np.arange(steps) > k,
            },
        )
        for k in range(2)
    ]
    given = []

    def focused(*_, **options):
        given.append(options)
        return runs[len(given) - 1]

    monkeypatch.setattr(learning, "focusing_bp", focused)
    kept = experiments.get("fbp-sweeps").as_task("quick", {"alpha": 0.5}, 0).compute()
    assert [one["max_sweeps"] for one in given] == [20, 100]
    assert kept["errors"].tolist() == [0, 1]
    one, two = (run.weights.astype(int) for run in runs)
    assert kept["overlap"] == pytest.approx(one @ two / 101)
    for name, of in (("wrong", "errors"), ("sweeps", "sweeps"), ("settled", "settled")):
        np.testing.assert_array_equal(kept[name], [run.history[of] for run in runs])
    assert np.all(np.diff(kept["distance"]) < 0.0)
    assert np.all(kept["local_entropy"] < np.log(2.0))


# --- pictures -----------------------------------------------------------------------------------


def test_errors_of_each_class():
    w = signs(3, 15).astype(float)
    xi, sigma = signs(50, 15), np.where(np.arange(50) < 20, -1, 1)
    found = learning.Solution(Committee(3), w, 0, True, 1, {})
    kept = image_minima._tested(found, xi, sigma)
    right = np.sign(np.sign(xi @ w.T).sum(axis=1)) == sigma
    assert kept["test_error"] == pytest.approx(1 - right.mean())
    assert kept["dress_error"] == pytest.approx(1 - right[:20].mean())
    assert kept["coat_error"] == pytest.approx(1 - right[20:].mean())


def test_focusing_on_pictures(monkeypatch):
    """The centre has weights of its own at the end: errors on the test patterns are theirs."""
    history = {
        "errors": np.arange(30),
        "residual": np.arange(30) / 7,
        "settled": np.ones(30, bool),
    }
    found = learning.Solution(Committee(3), signs(3, 100) * 1.0, 2, False, 5, history)
    monkeypatch.setattr(learning, "focusing_bp", lambda *_, **__: found)
    point = {"data": "original", "damping": 0.5}
    kept = experiments.get("image-focusing").as_task("quick", point, 0).compute()
    np.testing.assert_array_equal(kept["step_errors"], np.arange(30.0))
    np.testing.assert_array_equal(kept["step_residual"], np.arange(30) / 7)
    *_, xi, sigma = image_task.task(image_task.QUICK, "original", None)
    wrong = found.network.errors(xi, sigma)
    assert kept["test_error"] == wrong / len(sigma)
    assert (kept["errors"], kept["sweeps"], kept["unsettled"]) == (2, 5, 0)


def test_volumes_are_kept_with_what_their_messages_did(monkeypatch):
    measures = ("distance", "local_entropy", "excess", "residual")
    around = {name: RNG.random(2) for name in measures}
    around |= {"converged": np.array([True, False]), "sweeps": np.array([3, 9])}
    answer = {name: SimpleNamespace(values=value) for name, value in around.items()}
    monkeypatch.setattr(landscape, "local_entropy", lambda *_, **__: answer)
    point = {"data": "original", "algorithm": "LAL"}
    task = experiments.get("image-volume").as_task("quick", point, 0)
    kept = task.compute()
    for name in ("sweeps", "residual"):
        np.testing.assert_array_equal(kept[name], around[name])
    for name in ("distance", "local_entropy", "excess", "converged"):
        np.testing.assert_array_equal(kept[f"around_{name}"], around[name])


def test_synthetic_pictures():
    """One smooth picture, plus or minus 0.3 times another by class, and one's own in each."""
    grey, labels = image_task.synthetic(400, 1)
    assert grey.shape == (400, 10, 10)
    assert grey.dtype == np.uint8
    assert labels.tolist() == [-1] * 200 + [1] * 200
    rng = np.random.default_rng(1)
    common, difference = (image_task.ndimage.gaussian_filter(one, 2) for one in
                          rng.standard_normal((2, 10, 10)))  # fmt: skip
    own = image_task.ndimage.gaussian_filter(rng.standard_normal((400, 10, 10))[7], 1)
    wanted = 128 + 400 * common - 120 * difference + 60 * own
    np.testing.assert_array_equal(grey[7], np.clip(wanted, 0, 255).astype(np.uint8))
    own = np.std(grey[:200].astype(float), axis=0)
    assert 0.2 < np.median(own) / 60 < 0.35  # a Gaussian of width 1 leaves 0.28 of the noise


def test_synthetic_training_and_test_patterns():
    xi, sigma, test, labels = image_task.task(image_task.QUICK, "original", None)
    grey, classes = image_task.synthetic(240, 2020)
    bits, kept = datasets.binarise(grey, low=0.0, high=1.0)
    np.testing.assert_array_equal(test, bits[1::2])
    np.testing.assert_array_equal(labels, classes[kept][1::2])
    drawn = datasets.draw(bits[::2], classes[kept][::2], 60, rng=0, balanced=True)
    np.testing.assert_array_equal(xi, drawn[0])
    np.testing.assert_array_equal(sigma, drawn[1])
