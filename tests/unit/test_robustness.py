"""Disturbed patterns and weights: exact counts, exact distributions, enumeration, refusals."""

import importlib
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from wfmlib import (
    Committee,
    ParityMachine,
    Perceptron,
    Spherical,
    TreeCommittee,
    learning,
    networks,
    patterns,
)
from wfmlib.landscape.noise_robustness import error_profile, noise_robustness

robustness = importlib.import_module("wfmlib.landscape.noise_robustness")  # not the function


def network(w, tree=True):
    """Return the perceptron or the committee of real weights."""
    if w.ndim == 1:
        return Perceptron(Spherical()).network(w)
    return (TreeCommittee if tree else Committee)(len(w)).network(w)


def binary(N, seed, units=None):
    return np.random.default_rng(seed).choice([-1, 1], N if units is None else (units, N))


def chance_to_stay_right(sums, N, flips):
    """Chance that a sum of N signs stays positive when `flips` of them change: exact."""
    wrong_if = (sums + 2 * flips) / 4  # of the flipped, so many or more were positive
    return stats.hypergeom.cdf(np.ceil(wrong_if) - 1, N, (N + sums) // 2, flips)


def test_flips_of_a_binary_perceptron_are_hypergeometric():
    N, P = 51, 200
    w = binary(N, 1)
    xi, _ = patterns.random(P, N, rng=2)
    sums = xi @ w
    sigma = np.sign(sums)
    noise = np.array([0.0, 0.02, 0.1, 0.3, 0.5, 1.0])
    found = noise_robustness(network(w), xi, sigma, noise=noise, rng=3, perturbations=40)
    counts = np.rint(noise * N)
    np.testing.assert_array_equal(found.disturbed, counts / N)
    chances = np.array([chance_to_stay_right(np.abs(sums), N, n) for n in counts])
    exact = chances.mean(axis=1)
    deviation = np.sqrt(np.sum(chances * (1 - chances), axis=1) / 40) / P
    assert found.accuracy[0] == exact[0] == 1.0
    assert found.accuracy[-1] == exact[-1] == 0.0
    assert found.error[0] == found.error[-1] == 0.0
    middle = slice(1, -1)
    score = (found.accuracy.values - exact)[middle] / deviation[middle]
    assert np.all(np.abs(score) < 3.5)
    # 200 variances of 40 draws each: the error of the error is some 2 per cent
    np.testing.assert_allclose(found.error[middle], deviation[middle], rtol=0.1)


def test_pixels_against_enumeration():
    """Every choice of 2 of 6 entries, every pair of new values, with its probability."""
    w = np.array([[1.0, -0.3, 0.6], [0.2, 1.0, -0.5], [0.7, 0.4, 0.9]])[:, :2]
    net = network(w)
    xi, _ = patterns.random(9, 6, rng=1)
    sigma = np.where(net.output(xi) == 0, 1, net.output(xi))
    given = np.array([0.9, -0.5, 0.0, 0.3, -1.0, 1.0])
    for bias in (None, given):
        means = xi.mean(axis=0) if bias is None else bias
        right = np.zeros(9)
        places = list(combinations(range(6), 2))
        for pair in places:
            for values in product((-1, 1), repeat=2):
                new = xi.copy()
                new[:, pair] = values
                weight = np.prod((1 + np.array(values) * means[list(pair)]) / 2)
                right += weight / len(places) * (net.output(new) == sigma)
        found = noise_robustness(
            net, xi, sigma, noise=1 / 3, rng=5, perturbations=4000, kind="pixels", bias=bias
        )
        deviation = np.sqrt(np.sum(right * (1 - right)) / 4000) / 9
        assert abs(found.accuracy[0] - right.mean()) < 3.5 * deviation
        assert found.error[0] == pytest.approx(deviation, rel=0.05)
        assert found.attrs == {"kind": "pixels", "perturbations": 4000}


def test_exactly_so_many_entries_change():
    seen = []

    class Watching:
        def output(self, xi):
            seen.append(xi.copy())
            return np.ones(len(xi))

    xi, sigma = patterns.random(7, 30, rng=1)
    found = noise_robustness(Watching(), xi, sigma, noise=[0.25, 0.1], rng=1, perturbations=300)
    assert np.all(found.accuracy == np.mean(sigma == 1))
    rows = np.concatenate(seen).reshape(2, 300, 7, 30)
    changed = rows != xi
    assert np.all(changed[0].sum(axis=-1) == 8)  # 7.5, halves to even
    assert np.all(changed[1].sum(axis=-1) == 3)
    # each entry equally often: 2100 rows, chance 3 / 30
    counts = changed[1].sum(axis=(0, 1))
    assert stats.chisquare(counts).pvalue > 1e-3
    pairs = np.einsum("api,apj->ij", changed[1].astype(int), changed[1].astype(int))
    expected = 2100 * 3 * 2 / (30 * 29)  # two given entries of one row
    assert np.abs(pairs[~np.eye(30, dtype=bool)] - expected).max() < 5 * np.sqrt(expected)


def test_small_batches_give_the_same(monkeypatch):
    w = binary(9, 1, 3)
    xi, sigma = patterns.random(20, 27, rng=2)
    options = {"noise": [0.1, 0.3], "rng": 4}
    whole = noise_robustness(network(w), xi, sigma, **options)
    monkeypatch.setattr(robustness, "ENTRIES", 70)
    assert whole.identical(noise_robustness(network(w), xi, sigma, **options))


@pytest.mark.filterwarnings("ignore::wfmlib.learning.NoSolution")
def test_solutions_and_networks_are_the_same():
    xi, sigma = patterns.random(20, 27, rng=2)
    solutions = [
        learning.least_action(device, xi, sigma, rng=1, max_epochs=2)
        for device in (Perceptron(Spherical()), TreeCommittee(3), Committee(3))
    ]
    solutions.append(learning.binary_sgd(xi, sigma, units=(5,), epochs=2, rng=1))
    for found in solutions:
        for measure, place in ((noise_robustness, "noise"), (error_profile, "distances")):
            one = measure(found, xi, sigma, **{place: [0.0, 0.2]}, rng=7)
            assert one.identical(measure(found.network, xi, sigma, **{place: [0.0, 0.2]}, rng=7))
        assert one.error_rate[0] == pytest.approx(found.errors / 20, rel=1e-14)


def test_a_network_keeps_its_weights():
    xi, sigma = patterns.random(20, 27, rng=2)
    net = ParityMachine(3).network(np.random.default_rng(1).standard_normal((3, 9)))
    before = net.w.copy()
    error_profile(net, xi, sigma, distances=0.1, rng=7)
    np.testing.assert_array_equal(net.w, before)


def test_error_profile_of_a_binary_perceptron():
    N, P = 51, 40
    w = binary(N, 1)
    xi, _ = patterns.random(P, N, rng=2)
    sums = xi @ w
    distances = np.array([0.0, 0.05, 0.2, 1.0])
    found = error_profile(network(w), xi, np.sign(sums), distances=distances, rng=3, samples=400)
    counts = np.rint(distances * N)
    np.testing.assert_allclose(found.realised, counts / N)
    exact = [1 - chance_to_stay_right(np.abs(sums), N, n).mean() for n in counts]
    assert found.error_rate[0] == 0.0
    assert found.error_rate[-1] == 1.0
    middle = slice(1, -1)
    assert np.all(np.abs(found.error_rate - exact)[middle] < 3.5 * found.error[middle])
    assert np.all(found.error[middle] < 0.005)


def test_error_profile_on_the_sphere():
    """What a random direction adds to a field follows Student's distribution."""
    N, P = 41, 40
    w = np.random.default_rng(1).standard_normal(N)
    xi, _ = patterns.random(P, N, rng=2)
    stability = np.abs(network(w).stabilities(xi, np.ones(P, dtype=int)))
    sigma = network(w).output(xi)
    distances = np.array([0.0, 0.025, 0.15, 0.5, 1.0])
    found = error_profile(network(5 * w), xi, sigma, distances=distances, rng=3, samples=400)
    np.testing.assert_array_equal(found.realised, distances)
    np.testing.assert_allclose(found.error_rate[[0, -1]], [0.0, 1.0])
    for i in (1, 2, 3):
        d = distances[i]
        c = (1 - 2 * d) * stability / np.sqrt(4 * d * (1 - d) * (N - stability**2))
        wrong = stats.t.sf(c * np.sqrt((N - 2) / np.maximum(1 - c**2, 1e-300)), N - 2)
        assert abs(found.error_rate[i] - wrong.mean()) < 3.5 * found.error[i]
        assert found.error[i] < 0.006


def test_moved_weights_lie_where_they_should():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((4, 30)) * [[1], [10], [0.1], [3]]
    for d in (0.0, 0.15, 0.85, 1.0):
        moved = robustness._moved(w, d, False, rng)
        size = np.sum(w**2, axis=1)
        np.testing.assert_allclose(np.sum(moved**2, axis=1), size, rtol=1e-13)
        distance = np.sum((moved - w) ** 2, axis=1) / (4 * size)
        np.testing.assert_allclose(distance, d, rtol=0, atol=1e-13)
    w = binary(30, 1, 4)
    moved = robustness._moved(w, 0.2, True, rng)
    np.testing.assert_array_equal(np.sum(moved != w, axis=1), 6)


def test_error_profile_layer_by_layer():
    class Deep:
        def __init__(self, w):
            self.w = w

        def output(self, xi):
            for w in self.w:
                xi = np.sign(xi @ w.T)
            return xi

        def errors(self, xi, sigma):
            return np.count_nonzero(self.output(xi) != sigma)

    xi, _ = patterns.random(30, 15, rng=1)
    net = Deep([binary(15, 1, 7), binary(7, 2)])
    sigma = net.output(xi)
    found = error_profile(net, xi, sigma, distances=[0.0, 0.2], rng=1)
    assert found.error_rate[0] == 0.0
    assert 0.05 < found.error_rate[1] < 0.5
    # round(3) of 15 in 7 units, round(1.4) of 7 in one
    assert found.realised[1] == pytest.approx((7 * 3 + 1) / (7 * 15 + 7))
    assert found.attrs["weights"] == "binary"


def test_error_profile_of_a_network_with_labels():
    rng = np.random.default_rng(2)
    xi, _ = patterns.random(300, 31, rng=1)
    net = networks.BinaryMLP([binary(31, 1, 9), binary(9, 2, 5)])
    options = {"distances": [0.0, 0.1, 0.3], "rng": 4}
    answers = net.output(xi)
    sigma = np.where(answers == -1, rng.integers(5, size=300), answers)
    found = error_profile(net, xi, sigma, **options)
    ties = np.mean(answers == -1)
    assert found.error_rate[0] == pytest.approx(ties, abs=1e-15)
    assert 0.0 < ties < found.error_rate[1] < found.error_rate[2] < 1.0

    class Plain:
        """The same without a way to prepare patterns: products, of layers that move alike."""

        def __init__(self, w):
            self.w = w

        output = None

        def errors(self, xi, sigma):
            hidden = np.sign(xi.astype(int) @ self.w[0].T)
            top = hidden @ self.w[1].T
            own = np.take_along_axis(top, sigma[:, None], axis=1)[:, 0]
            np.put_along_axis(top, sigma[:, None], -100, axis=1)
            return np.count_nonzero(own <= top.max(axis=1))

    assert found.identical(error_profile(Plain(net.w), xi, sigma, **options))
    for error, match, wrong in (
        (ValueError, "sigma must hold labels from 0 to 4, got 5", sigma + 1),
        (ValueError, "sigma must hold labels from 0 to 4, got -1", answers),
        (ValueError, "sigma must have one label per pattern", sigma[1:]),
        (TypeError, "sigma must be an array of integers", sigma + 0.0),
    ):
        with pytest.raises(error, match=match):
            error_profile(net, xi, wrong, **options)


def test_patterns_are_prepared_once():
    calls = []

    class Watching:
        def __init__(self):
            self.w = binary(9, 1)

        def output(self, xi):
            return np.sign(xi @ self.w)

        def prepared(self, xi):
            calls.append("prepared")
            return xi.astype(float)

        def errors(self, xi, sigma):
            assert xi.dtype == float
            calls.append("errors")
            return np.count_nonzero(self.output(xi) != sigma)

    xi, sigma = patterns.random(20, 9, rng=1)
    found = error_profile(Watching(), xi, sigma, distances=[0.1, 0.3], rng=1, samples=3)
    assert calls == ["prepared"] + 6 * ["errors"]
    assert found.identical(
        error_profile(network(binary(9, 1)), xi, sigma, distances=[0.1, 0.3], rng=1, samples=3)
    )


def test_seeds():
    xi, sigma = patterns.random(20, 27, rng=2)
    w = binary(9, 1, 3)
    for measure, place in ((noise_robustness, "noise"), (error_profile, "distances")):
        one, same, other = (
            measure(network(w), xi, sigma, **{place: 0.2}, rng=seed) for seed in (1, 1, 2)
        )
        assert one.identical(same)
        assert not one.identical(other)


def test_refusals():
    xi, sigma = patterns.random(4, 6, rng=1)
    w = np.ones(6)

    class Silent:
        def output(self, xi):
            return np.ones(len(xi))

    one_weight = network(np.full((6, 1), 0.5))
    two_outputs = networks.BinaryMLP([np.ones((3, 6)), np.ones((2, 3))])
    for error, match, options in (
        (ValueError, "noise must be finite and >= 0 and <= 1", {"noise": 1.1}),
        (ValueError, "noise must be finite and >= 0 and <= 1", {"noise": [np.nan]}),
        (ValueError, "noise must be numbers in one row", {"noise": []}),
        (ValueError, "noise must be numbers in one row", {"noise": [[0.1]]}),
        (TypeError, "noise must", {"noise": "much"}),
        (TypeError, "rng must be", {"rng": "0"}),
        (ValueError, "perturbations must be >= 2", {"perturbations": 1}),
        (ValueError, "kind must be one of", {"kind": "blur"}),
        (ValueError, "bias is for kind='pixels' only", {"bias": np.zeros(6)}),
        (ValueError, "bias must be one number per entry", {"kind": "pixels", "bias": np.zeros(5)}),
        (ValueError, "bias must be finite", {"kind": "pixels", "bias": np.full(6, 2.0)}),
        (ValueError, "xi must have one column per weight", {"solution": network(np.ones(5))}),
        (ValueError, "solution must have one output unit, got 2", {"solution": two_outputs}),
        (TypeError, "solution must be a Solution or a network", {"solution": "committee"}),
        (TypeError, r"such as device.network\(w\)", {"solution": w}),
        (ValueError, "sigma must have one label", {"sigma": sigma[1:]}),
    ):
        given = {
            "solution": network(w),
            "xi": xi,
            "sigma": sigma,
            "noise": 0.1,
            "rng": 1,
        } | options
        with pytest.raises(error, match=match):
            noise_robustness(**given)
    for error, match, options in (
        (ValueError, "distances must be finite and >= 0 and <= 1", {"distances": 1.5}),
        (
            ValueError,
            "distances must be finite and >= 0 and <= 1",
            {"solution": network(w + 1.5), "distances": 1.1},
        ),
        (ValueError, "samples must be >= 2", {"samples": 1}),
        (ValueError, "sigma must have one label", {"sigma": sigma[1:]}),
        (ValueError, "sigma must hold -1 and", {"sigma": 0 * sigma}),
        (TypeError, "solution must have weights w and errors", {"solution": Silent()}),
        (ValueError, "solution must have two or more", {"solution": one_weight}),
    ):
        given = {
            "solution": network(w),
            "xi": xi,
            "sigma": sigma,
            "distances": 0.1,
            "rng": 1,
        } | options
        with pytest.raises(error, match=match):
            error_profile(**given)
