"""The deep network of sign units: sums written out, symmetries, ties, matching."""

from itertools import pairwise

import numpy as np
import pytest

from wfmlib import networks, patterns
from wfmlib.landscape import error_profile, noise_robustness
from wfmlib.landscape.overlap import match_layers, overlap
from wfmlib.networks import binary_mlp
from wfmlib.networks.binary_mlp import BinaryMLP
from wfmlib.networks.packed_signs import PackedSigns, unpack

SHAPES = pytest.mark.parametrize(
    "sizes", [(7, 1), (9, 5, 1), (8, 6, 4, 1), (11, 7, 5, 3), (6, 4, 4, 4, 5)], ids=str
)


def make(sizes, P=200, seed=0):
    rng = np.random.default_rng(seed)
    w = [rng.choice([-1, 1], (above, below)) for below, above in pairwise(sizes)]
    xi, sigma = patterns.random(P, sizes[0], rng=seed)
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
    assert [one.dtype for one in sums] == [np.int64] * len(w)
    for layer, found in enumerate(sums):
        np.testing.assert_array_equal(found, [one[layer] for one in plain])
    answers = [plain_answer(one[-1]) for one in plain]
    output = net.output(xi)
    assert output.dtype == np.int64
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
    one = networks.PerceptronNetwork(w[0][0])
    np.testing.assert_array_equal(BinaryMLP(w).output(xi), one.output(xi))
    np.testing.assert_allclose(BinaryMLP(w).stabilities(xi, sigma), one.stabilities(xi, sigma))
    w, xi, sigma = make((9, 5, 1))
    majority = BinaryMLP([w[0], np.ones(5)])  # the last layer may have one axis
    committee = networks.CommitteeNetwork(w[0])
    np.testing.assert_array_equal(majority.output(xi), committee.output(xi))
    assert majority.errors(xi, sigma) == committee.errors(xi, sigma)


def test_patterns_in_pieces(monkeypatch):
    w, xi, sigma = make((11, 7, 5, 3))
    net = BinaryMLP(w)
    whole = net.preactivations(xi), net.stabilities(xi, sigma)
    monkeypatch.setattr(binary_mlp, "ROWS", 7)
    for one, other in zip(whole[0], net.preactivations(xi), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(net.stabilities(xi, sigma), whole[1])
    some = [net.output(xi[:13]), net.output(xi[13:])]
    np.testing.assert_array_equal(net.output(xi), np.concatenate(some))


# ------------------------------------------------------------------------------------------------
# Bits against products in single precision
# ------------------------------------------------------------------------------------------------


def dense(net, xi):
    """Return the answers, and the share of silent hidden units, from products of matrices."""
    *hidden, top = net.preactivations(xi)
    silent = np.mean(np.concatenate([h.ravel() for h in hidden] or [np.ones(1)]) == 0)
    if top.shape[1] == 1:
        return np.sign(top[:, 0]), silent
    shared = np.count_nonzero(top == top.max(axis=1, keepdims=True), axis=1) > 1
    return np.where(shared, -1, top.argmax(axis=1)), silent


@pytest.mark.parametrize(
    ("sizes", "some_silent"),
    [
        ((1, 1), False),
        ((2, 1), False),
        ((1, 1, 1, 3), False),
        ((2, 1, 1, 1), True),
        ((63, 9, 1), False),
        ((64, 64, 64, 64, 1), True),
        ((65, 65, 65, 65, 3), False),
        ((64, 65, 67, 33, 2), True),  # an even number of inputs, then odd ones
        ((127, 128, 129, 10), True),
        ((783, 101, 101, 10), False),
        ((782, 100, 96, 1), True),
        ((257, 31, 127), False),
        ((130, 32, 100), True),
        ((3071, 5, 1), False),
    ],
    ids=str,
)
def test_bits_are_products(sizes, some_silent):
    """Full blocks of 512 patterns, one that is not, one pattern alone."""
    w, xi, _ = make(sizes, P=1100)
    net = BinaryMLP(w)
    expected, silent = dense(net, xi)
    assert (silent > 0) == some_silent
    if sizes[-1] > 1:
        assert np.any(expected == -1)  # outputs tie
        assert np.any(expected >= 0)
    elif some_silent or sizes[-2] % 2 == 0:
        assert set(expected.tolist()) == {-1, 0, 1}
    packed = net.prepared(xi)
    assert packed.shape == xi.shape
    assert net.prepared(packed) is packed
    sigma = np.where(expected < int(sizes[-1] == 1), 1, expected)
    for given in (xi, packed):
        np.testing.assert_array_equal(net.output(given), expected)
        assert net.errors(given, sigma) == np.count_nonzero(sigma != expected)
    for P in (1, 511, 512, 513):
        np.testing.assert_array_equal(net.output(xi[:P]), expected[:P])


def test_bits_of_random_shapes():
    rng = np.random.default_rng(5)
    for _ in range(100):
        sizes = [
            *rng.integers(1, rng.choice([8, 80, 200]), rng.integers(1, 5)),
            rng.integers(1, 9),
        ]
        w, xi, _ = make(sizes, P=60, seed=rng.integers(100))
        net = BinaryMLP(w)
        np.testing.assert_array_equal(net.output(xi), dense(net, xi)[0], err_msg=str(sizes))


@pytest.mark.parametrize("n", [*range(1, 20), 62, 63, 64, 65, 127, 128, 129, 512, 1024, 2049])
def test_every_sum_there_is(n):
    """One unit, and patterns that agree with it in 0, 1, ..., n places, wherever they are."""
    rng = np.random.default_rng(n)
    w = rng.choice([-1, 1], n)
    xi = np.where(rng.permuted(np.tri(n + 1, n, -1), axis=1) == 1, w, -w)
    sums = 2 * np.arange(n + 1) - n
    for net in (BinaryMLP([w]), BinaryMLP([[w], [[1]]]), BinaryMLP([[w], [[1]], [[1]]])):
        np.testing.assert_array_equal(net.output(xi), np.sign(sums))
    two = BinaryMLP([[w, -w]])
    np.testing.assert_array_equal(two.output(xi), np.where(sums == 0, -1, sums < 0))


def test_the_last_of_127_outputs():
    w = -np.ones((127, 9))
    for best in (0, 1, 63, 64, 126):
        w[best] = 1
        assert BinaryMLP([w]).output(np.ones((1, 9))) == [best]
        w[(best + 5) % 127] = 1
        assert BinaryMLP([w]).output(np.ones((1, 9))) == [-1]
        w[:] = -1


def test_packed_signs():
    xi, _ = patterns.random(700, 70, rng=1)
    packed = PackedSigns(xi)
    assert (len(packed), packed.shape) == (700, (700, 70))
    assert packed.words.shape == (2, 128, 8)
    assert repr(packed) == "PackedSigns(P=700, N=70, 0.0164 MB)"
    for a, j in ((0, 0), (63, 1), (64, 69), (511, 3), (512, 64), (699, 69)):
        block, place = divmod(a, 512)
        bit = int(packed.words[block, j, place // 64]) >> place % 64 & 1
        assert 2 * bit - 1 == xi[a, j]
    ones = sum(int(word).bit_count() for word in packed.words.ravel())
    assert ones == np.count_nonzero(xi > 0)  # zeros beyond the last pattern and entry
    numbers = np.arange(-128, 128).astype(np.int8)
    bits = np.zeros((1, 8, 8), dtype=np.uint64)
    for a, number in enumerate(numbers):
        for i in range(8):
            bits[0, i, a // 64] |= np.uint64((int(number) >> i & 1) << a % 64)
    np.testing.assert_array_equal(unpack(bits, 256), numbers)
    with pytest.raises(ValueError, match="xi must hold -1 and"):
        PackedSigns(0 * xi)


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
    found = error_profile(net, xi, sigma, distances=[0.0, 0.2, 1.0], rng=1)
    assert found.attrs["weights"] == "binary"
    # at distance 1 all three layers change sign: so does the answer
    np.testing.assert_array_equal(found["error_rate"][[0, 2]], [0.0, 1.0])
    assert 0.0 < found["error_rate"][1] < 1.0
    assert net.errors(xi, sigma) == 0  # its own weights are as they were
    robust = noise_robustness(net, xi, sigma, noise=[0.0, 1.0], rng=1)
    np.testing.assert_array_equal(robust["accuracy"], [1.0, 0.0])


def test_weights_are_its_own():
    w, xi, _ = make((9, 5, 1))
    given = [one.astype(np.int8) for one in w]
    net = BinaryMLP(tuple(given))
    before = net.output(xi)
    for one in given:
        one *= -1
    np.testing.assert_array_equal(net.output(xi), before)
    assert [one.dtype for one in net.w] == [np.int64] * 2
    assert (net.inputs, net.units, net.classes) == (9, (5,), 2)
    assert repr(net) == "BinaryMLP(9 - 5 - 1)"
    deeper, _, _ = make((8, 6, 4, 3))
    assert repr(BinaryMLP(deeper)) == "BinaryMLP(8 - 6 - 4 - 3)"
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
    for call in (net.output, net.preactivations, net.prepared, many.output):
        with pytest.raises(ValueError, match="xi must have 5 columns"):
            call(np.ones((2, 4)))
        with pytest.raises(ValueError, match="xi must hold"):
            call(0 * xi)
    with pytest.raises(ValueError, match="xi must have 5 columns"):
        net.output(PackedSigns(np.ones((2, 4))))
    for call in (net.errors, net.stabilities):
        with pytest.raises(ValueError, match="sigma must have one label per pattern"):
            call(xi, [1])
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
