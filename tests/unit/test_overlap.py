"""Matching of units and layers: planted symmetries, exhaustive search, functions kept."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from wfmlib import Committee, TreeCommittee, learning, networks, patterns
from wfmlib.landscape.overlap import match_layers, match_units, overlap


@pytest.mark.parametrize("binary", [True, False])
def test_a_planted_permutation_is_found(binary):
    rng = np.random.default_rng(1)
    w = rng.choice([-1, 1], (9, 50)) if binary else rng.standard_normal((9, 50))
    order = rng.permutation(9)
    turned = rng.choice([-1, 1], 9)
    scale = 1 if binary else rng.uniform(0.1, 10, (9, 1))
    other = np.empty_like(w)
    other[order] = turned[:, None] * w * scale  # unit k of w became unit order[k]
    found = match_units(w, other)
    np.testing.assert_array_equal(found.permutation, order)
    np.testing.assert_array_equal(found.signs, turned)
    assert overlap(w, other, match=True) == pytest.approx(1.0, abs=1e-14)
    assert overlap(w, other) < 0.5
    # without signs, as for a committee of which all units count alike
    other[order] = w
    permutation, signs = match_units(w, other, signs=False)
    np.testing.assert_array_equal(permutation, order)
    assert np.all(signs == 1)
    assert overlap(w, other, match=True, signs=False) == pytest.approx(1.0, abs=1e-14)
    xi, _ = patterns.random(40, 50, rng=1)
    matched, net = (Committee(9).network(one) for one in (other[permutation], w))
    np.testing.assert_array_equal(matched.output(xi), net.output(xi))


@pytest.mark.parametrize("signs", [True, False])
def test_the_best_of_all(signs):
    rng = np.random.default_rng(2)
    for _ in range(6):
        one, two = rng.standard_normal((2, 4, 6))
        best = max(
            overlap(one, np.array(s)[:, None] * two[list(order)])
            for order in permutations(range(4))
            for s in product((1, -1) if signs else (1,), repeat=4)
        )
        assert overlap(one, two, match=True, signs=signs) == pytest.approx(best, abs=1e-14)


def test_equal_overlaps_of_signs_stay_equal():
    """Which of many best matchings is found must not hang on the last bits of cosines."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b = rng.choice([-1, 1], (2, 30, 9))
        order = linear_sum_assignment(np.abs(a @ b.T), maximize=True)[1]
        found = match_units(a, b)
        gain = np.abs(a @ b.T)
        assert gain[range(30), found.permutation].sum() == gain[range(30), order].sum()
        np.testing.assert_array_equal(found.permutation, match_units(-2.0 * a, b).permutation)


def test_overlap_is_what_it_says():
    rng = np.random.default_rng(3)
    one, two = rng.choice([-1, 1], (2, 3, 7))
    assert overlap(one, two) == pytest.approx(np.sum(one * two) / 21)
    assert overlap(one.tolist(), two.tolist()) == overlap(one, two)
    assert overlap(one[0], two[0], match=True) == pytest.approx(one[0] @ two[0] / 7)
    assert overlap(one, -one) == pytest.approx(-1.0)
    assert overlap(1e200 * one, 1e-200 * two) == pytest.approx(overlap(one, two))
    one, two = rng.standard_normal((2, 5))
    cosine = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
    assert overlap(one, 3 * two) == pytest.approx(cosine)
    layers = [[np.ones((2, 3)), np.ones((1, 2))], [np.ones((2, 3)), -np.ones((1, 2))]]
    assert overlap(*layers) == pytest.approx((6 - 2) / 8)  # each weight counts


def answer(layers, x):
    for w in layers[:-1]:
        x = np.tanh(x @ w.T)
    return x @ layers[-1].T


def scrambled(layers, rng, signs=True):
    """Return the same network with hidden units in another order and with other signs."""
    layers = [w.copy() for w in layers]
    for i in range(len(layers) - 1):
        order = rng.permutation(len(layers[i]))
        turned = np.ones(len(order), dtype=np.int8)
        if signs:
            turned = rng.choice(np.array([-1, 1], dtype=np.int8), len(order))
        layers[i] = turned[:, None] * layers[i][order]
        layers[i + 1] = layers[i + 1][..., order] * turned
    return layers


@pytest.mark.parametrize("last", [(3,), ()])
@pytest.mark.parametrize("binary", [True, False])
def test_layers(binary, last):
    rng = np.random.default_rng(4)
    shapes = [(20, 31), (15, 20), (*last, 15)]
    layers = [
        rng.choice([-1, 1], s).astype(np.int8) if binary else rng.standard_normal(s)
        for s in shapes
    ]
    other = scrambled(layers, rng)
    x = rng.standard_normal((8, 31))
    np.testing.assert_allclose(answer(layers, x), answer(other, x), atol=1e-12)
    matched = match_layers(layers, other)
    for one, two in zip(layers, matched, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    assert overlap(layers, other, match=True) == pytest.approx(1.0, abs=1e-14)
    assert overlap(layers, other) < 0.3
    # a network far away: matched as well as may be, and still the same function
    stranger = [rng.standard_normal(s) for s in shapes]
    again = match_layers(layers, stranger)
    np.testing.assert_allclose(answer(again, x), answer(stranger, x), atol=1e-12)
    assert overlap(layers[0], again[0]) > overlap(layers[0], stranger[0])
    unturned = scrambled(layers, rng, signs=False)
    assert overlap(layers, unturned, match=True, signs=False) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.filterwarnings("ignore::wfmlib.learning.NoSolution")
def test_solutions_and_networks_are_taken_for_their_weights():
    xi, sigma = patterns.random(20, 27, rng=1)
    a, b = (learning.least_action(TreeCommittee(3), xi, sigma, rng=rng) for rng in (1, 2))
    assert overlap(a, b) == overlap(a.network, b.weights) == overlap(a.weights, b.weights)
    assert overlap(a, b) < 1.0
    for found, expected in zip(match_units(a, b), match_units(a.network, b.weights), strict=True):
        np.testing.assert_array_equal(found, expected)
    a, b = (learning.binary_sgd(xi, sigma, units=(5, 3), epochs=2, rng=rng) for rng in (1, 2))
    assert isinstance(a.network, networks.BinaryMLP)
    for one, two in zip(match_layers(a, b), match_layers(a.network, b.weights), strict=True):
        np.testing.assert_array_equal(one, two)
    matched = overlap(a, b, match=True)
    assert matched == overlap(a.weights, b.network, match=True) > overlap(a, b)


def test_refusals():
    w = np.ones((2, 3))
    layers = [w, np.ones((1, 2))]
    for error, match, one, two in (
        (ValueError, "w1 and w2 must have the same shape", w, np.ones((3, 3))),
        (ValueError, "w1 must be finite, with 1 axis or 2", w[None], w[None]),
        (ValueError, "w2 must be finite", w, w * np.inf),
        (ValueError, "w2 must not be zero throughout", w, w * [[0], [1]]),
        (TypeError, "w1 must", "weights", w),
    ):
        with pytest.raises(error, match=match):
            match_units(one, two)
        with pytest.raises(error, match=match):
            overlap(one, two)
    for error, match, one, two in (
        (TypeError, "w2 must be a list of weight matrices", layers, w),
        (ValueError, "w1 and w2 must have the same shape", layers, [w, np.ones((3, 2))]),
        (ValueError, "w1 must have as many columns", [w, w], [w, w]),
    ):
        with pytest.raises(error, match=match):
            match_layers(one, two)
        with pytest.raises(error, match=match):
            overlap(one, two, match=True)
    with pytest.raises(ValueError, match="match must be one of"):
        overlap(w, w, match="yes")
    with pytest.raises(ValueError, match="signs must be one of"):
        match_units(w, w, signs="yes")
