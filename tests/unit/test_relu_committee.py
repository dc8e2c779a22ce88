"""The committee of rectified units, against sums written out, and P2's stability for signs."""

import math

import numpy as np
import pytest

from wfmlib import networks, patterns
from wfmlib.networks import ReluCommitteeNetwork

TREE = pytest.mark.parametrize("tree", [True, False])


def make(K, n, P, tree, seed=0):
    xi, sigma = patterns.random(P, K * n if tree else n, rng=seed)
    w = np.random.default_rng(seed).choice([-1, 1], (K, n))
    return xi, sigma, w


def plain_sum(w, xi, tree):
    """Return sum_l c_l relu(w_l . xi_l) of one pattern, in integers."""
    K, n = len(w), len(w[0])
    total = 0
    for unit in range(K):
        seen = xi[unit * n : (unit + 1) * n] if tree else xi
        field = sum(int(a) * int(b) for a, b in zip(w[unit], seen, strict=True))
        total += max(field, 0) * (1 if unit < K // 2 else -1)
    return total


@TREE
@pytest.mark.parametrize(("K", "n"), [(2, 4), (4, 5), (6, 8)])
def test_against_sums_written_out(K, n, tree):
    xi, sigma, w = make(K, n, 200, tree)
    net = ReluCommitteeNetwork(w, tree=tree)
    total = np.array([plain_sum(w, one, tree) for one in xi])
    assert np.any(total == 0)  # ties occur
    np.testing.assert_array_equal(net.output(xi), np.sign(total))
    assert net.errors(xi, sigma) == np.count_nonzero(np.sign(total) != sigma)
    expected = [s * t / math.sqrt(K * n) for s, t in zip(sigma, total, strict=True)]
    np.testing.assert_allclose(net.stabilities(xi, sigma), expected, rtol=1e-15)


@TREE
def test_real_weights(tree):
    xi, sigma, w = make(4, 5, 50, tree)
    w = w * np.random.default_rng(1).uniform(0.1, 2.0, w.shape)
    net = ReluCommitteeNetwork(w, tree=tree)
    x = np.maximum(net.fields(xi), 0) @ [1, 1, -1, -1] / 2
    np.testing.assert_allclose(net.stabilities(xi, sigma), sigma * x, rtol=1e-12, atol=1e-14)
    assert net.errors(xi, sigma) == np.count_nonzero(sigma * x <= 0)
    scaled = ReluCommitteeNetwork(3 * w, tree=tree)
    np.testing.assert_array_equal(scaled.output(xi), net.output(xi))


@TREE
def test_exchanging_the_halves_changes_the_sign(tree):
    xi, _, w = make(4, 5, 100, tree)
    net, other = (ReluCommitteeNetwork(one, tree=tree) for one in (w, w[[2, 3, 0, 1]]))
    seen = np.roll(xi, 10, axis=1) if tree else xi  # a tree's halves go along
    np.testing.assert_array_equal(other.output(seen), -net.output(xi))


def test_silent_units_do_not_tie():
    net = ReluCommitteeNetwork([[1, 1], [1, 1]])
    assert net.output([[1, 1, 1, -1]])[0] == 1  # 2 - 0
    assert net.output([[1, -1, 1, -1]])[0] == 0  # 0 - 0
    assert net.errors([[1, -1, 1, -1]], [1]) == 1


@pytest.mark.parametrize("K", [3, 4])
def test_sign_stabilities_are_the_ones_of_the_paper(K):
    # P2: Xi = sigma K^(-1/2) sum_l c_l g(x_l), c_l = 1 and g the sign for sign units
    xi, sigma, w = make(K, 5, 100, True)
    signs = np.sign(np.einsum("pkn,kn->pk", xi.reshape(100, K, 5), w))
    expected = sigma * signs.sum(axis=1) / math.sqrt(K)
    found = networks.TreeCommitteeNetwork(w).stabilities(xi, sigma)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_reads_well():
    assert (
        repr(ReluCommitteeNetwork(np.ones((2, 3))))
        == "ReluCommitteeNetwork(K=2, N=6, binary weights)"
    )
    found = repr(ReluCommitteeNetwork([[0.5, 1], [1, 1]], tree=False))
    assert found == "ReluCommitteeNetwork(K=2, N=2, real weights, fully connected)"


@pytest.mark.parametrize(
    ("w", "word"),
    [
        (np.ones((3, 5)), "even number of units"),
        (np.ones(4), "2 axes"),
        ([[1, 1], [0, 0]], "zero throughout"),
        ([[1, math.nan], [1, 1]], "finite"),
    ],
)
def test_bad_weights_are_named(w, word):
    with pytest.raises(ValueError, match=word):
        ReluCommitteeNetwork(w)


def test_bad_tree_is_named():
    with pytest.raises(ValueError, match="tree"):
        ReluCommitteeNetwork(np.ones((2, 3)), tree="yes")
