"""The deep network of sign units: sums written out, symmetries, ties, matching."""

from itertools import pairwise

import numpy as np
import pytest

from wfmlib import networks, patterns
from wfmlib.landscape import error_profile, noise_robustness
from wfmlib.landscape.overlap import match_layers, overlap
from wfmlib.networks import binary_mlp
from wfmlib.networks.binary_mlp import BinaryMLP

SHAPES = pytest.mark.parametrize(
    "sizes", [(7, 1), (9, 5, 1), (8, 6, 4, 1), (11, 7, 5, 3), (6, 4, 4, 4, 5)], ids=str
)


def make(sizes, P=200, seed=0):
    rng = np.random.default_rng(seed)
    w = [rng.choice([-1, 1], (above, below)) for below, above in pairwise(sizes)]
    xi, sigma = patterns.random(P, sizes[0], seed)
    if sizes[-1] > 1:
        sigma = rng.integers(sizes[-1], size=P)
    return w, xi, sigma


def plain_sums(w, xi):
    """Return the sums of each layer for one pattern, in integers."""
    seen, found = [int(x) for x in xi], []
    for layer in w:
        sums = [sum(int(a) * b for a, b in zip(unit, seen, strict=True)) for unit in layer]
        found.append(sums)
        seen = [(x > 0) - (x < 0) for x in sums]
    return found


def plain_answer(top):
    if len(top) == 1:
        return (top[0] > 0) - (top[0] < 0)
    return top.index(max(top)) if top.count(max(top)) == 1 else -1


@SHAPES
def test_against_sums_written_out(sizes):
    w, xi, sigma = make(sizes)
    net = BinaryMLP(w)
    plain = [plain_sums(w, one) for one in xi]
    sums = net.preactivations(xi)
    assert [one.dtype for one in sums] == [np.int32] * len(w)
    for layer, found in enumerate(sums):
        np.testing.assert_array_equal(found, [one[layer] for one in plain])
    answers = [plain_answer(one[-1]) for one in plain]
    output = net.output(xi)
    assert output.dtype == np.int8
    np.testing.assert_array_equal(output, answers)
    wrong = sum(a != s for a, s in zip(answers, sigma, strict=True))
    assert net.errors(xi, sigma) == wrong > 0
    ahead = []
    for (*_, top), s in zip(plain, sigma, strict=True):
        others = [x for c, x in enumerate(top) if c != s]
        ahead.append(s * top[0] if len(top) == 1 else top[s] - max(others))
    found = net.stabilities(xi, sigma)
    np.testing.assert_allclose(found, np.array(ahead) / np.sqrt(sizes[-2]), rtol=1e-15)
    assert np.count_nonzero(found <= 0) == wrong
    if len(sizes) > 4 or sizes[-1] == 3:
        assert np.any(output == -1)  # ties occur
    if len(sizes) > 3 and sizes[0] % 2 == 0:
        assert np.any(sums[0] == 0)  # and silent units


def test_what_it_reduces_to():
    w, xi, sigma = make((9, 1))
    one = networks.Perceptron(w[0][0])
    np.testing.assert_array_equal(BinaryMLP(w).output(xi), one.output(xi))
    np.testing.assert_allclose(BinaryMLP(w).stabilities(xi, sigma), one.stabilities(xi, sigma))
    w, xi, sigma = make((9, 5, 1))
    majority = BinaryMLP([w[0], np.ones(5)])  # the last layer may have one axis
    committee = networks.Committee(w[0])
    np.testing.assert_array_equal(majority.output(xi), committee.output(xi))
    assert majority.errors(xi, sigma) == committee.errors(xi, sigma)


def test_patterns_in_pieces(monkeypatch):
    w, xi, sigma = make((11, 7, 5, 3))
    net = BinaryMLP(w)
    whole = net.preactivations(xi), net.output(xi), net.errors(xi, sigma)
    monkeypatch.setattr(binary_mlp, "ROWS", 7)
    for one, other in zip(whole[0], net.preactivations(xi), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(net.output(xi), whole[1])
    assert net.errors(xi, sigma) == whole[2]


def twin(w, rng):
    """Return the layers with hidden units in another order and with other signs."""
    w = [one.copy() for one in w]
    for below, above in pairwise(w):
        order = rng.permutation(len(below))
        signs = rng.choice([-1, 1], len(below))
        below[:] = signs[:, None] * below[order]
        above[:] = above[:, order] * signs
    return w


@pytest.mark.parametrize("sizes", [(31, 9, 7, 1), (30, 8, 9, 3), (31, 9, 9, 9, 1)], ids=str)
def test_symmetries_and_matching(sizes):
    w, xi, sigma = make(sizes)
    other = twin(w, np.random.default_rng(3))
    assert any(np.any(a != b) for a, b in zip(w, other, strict=True))
    net, same = BinaryMLP(w), BinaryMLP(other)
    np.testing.assert_array_equal(net.output(xi), same.output(xi))  # silent units too
    np.testing.assert_array_equal(net.stabilities(xi, sigma), same.stabilities(xi, sigma))
    assert overlap(net.w, same.w) < 0.5
    assert overlap(net.w, same.w, match=True) == pytest.approx(1.0, abs=1e-12)
    for one, found in zip(net.w, match_layers(net.w, same.w), strict=True):
        np.testing.assert_array_equal(found, one)
    np.testing.assert_array_equal(-net.preactivations(-xi)[-1], net.preactivations(xi)[-1])


def test_the_landscape_takes_it():
    w, xi, _ = make((31, 9, 7, 1), P=50)
    net = BinaryMLP(w)
    sigma = net.output(xi)
    found = error_profile(net, xi, sigma, distances=[0.0, 0.2, 1.0], seed=1)
    assert found.attrs["weights"] == "binary"
    # at distance 1 all three layers change sign: so does the answer
    np.testing.assert_array_equal(found["error_rate"][[0, 2]], [0.0, 1.0])
    assert 0.0 < found["error_rate"][1] < 1.0
    assert net.errors(xi, sigma) == 0  # its own weights are as they were
    robust = noise_robustness(net, xi, sigma, noise=[0.0, 1.0], seed=1)
    np.testing.assert_array_equal(robust["accuracy"], [1.0, 0.0])


def test_weights_are_its_own():
    w, xi, _ = make((9, 5, 1))
    given = [one.astype(np.int8) for one in w]
    net = BinaryMLP(tuple(given))
    before = net.output(xi)
    for one in given:
        one *= -1
    np.testing.assert_array_equal(net.output(xi), before)
    assert [one.dtype for one in net.w] == [np.int8] * 2
    assert (net.inputs, net.units, net.classes) == (9, (5,), 2)
    assert repr(net) == "BinaryMLP(9 - 5 - 1)"
    assert BinaryMLP(make((9, 5, 3))[0]).classes == 3


ONES = np.ones((3, 5))


@pytest.mark.parametrize(
    ("error", "match", "w"),
    [
        (TypeError, "w must be a list of weight matrices", ONES),
        (TypeError, "w must be a list of weight matrices", []),
        (TypeError, "w must be a list of weight matrices", None),
        (TypeError, r"w\[0\] must be an array", [np.array([["a"]])]),
        (ValueError, r"w\[0\] must be a non-empty array with 2 axes", [np.ones(5), ONES]),
        (ValueError, r"w\[0\] must hold -1 and \+1 only", [0 * ONES]),
        (ValueError, r"w\[1\] must hold -1 and \+1 only", [ONES, [[1, 1, 0.5]]]),
        (ValueError, r"w\[1\] must have 3 columns", [ONES, np.ones((1, 4))]),
        (ValueError, r"w\[1\] must have 3 columns", [ONES, np.ones(4)]),
        (ValueError, r"w\[1\] must be a non-empty array", [ONES, np.ones((1, 3, 1))]),
        (ValueError, "at most 127 output units", [np.ones((128, 2))]),
    ],
)
def test_refused_weights(error, match, w):
    with pytest.raises(error, match=match):
        BinaryMLP(w)


def test_refused_patterns():
    net, many = BinaryMLP(make((5, 3, 1))[0]), BinaryMLP(make((5, 3, 4))[0])
    xi = np.ones((2, 5))
    for call in (net.output, net.preactivations, many.output):
        with pytest.raises(ValueError, match="xi must have 5 columns"):
            call(np.ones((2, 4)))
        with pytest.raises(ValueError, match="xi must hold"):
            call(0 * xi)
    for call in (net.errors, net.stabilities):
        with pytest.raises(ValueError, match="sigma must hold -1"):
            call(xi, [0, 1])
    for call in (many.errors, many.stabilities):
        with pytest.raises(ValueError, match="sigma must hold labels from 0 to 3, got 4"):
            call(xi, [0, 4])
        with pytest.raises(ValueError, match="sigma must hold labels from 0 to 3, got -1"):
            call(xi, [0, -1])
        with pytest.raises(ValueError, match="sigma must have one label per pattern"):
            call(xi, [0, 1, 2])
        with pytest.raises(TypeError, match="sigma must be an array of integers"):
            call(xi, [0.0, 1.0])
