"""Errors at the points between several networks, units matched or not."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import Committee, Perceptron, Spherical, TreeCommittee, landscape, networks, patterns
from wfmlib.landscape import barrier, blend, simplex

RNG = np.random.default_rng(7)


def committee(units, N):
    return Committee(units).network(RNG.standard_normal((units, N)))


def deep(*sizes):
    shapes = zip(sizes[1:], sizes, strict=False)
    return networks.BinaryMLP([RNG.choice([-1, 1], shape) for shape in shapes])


def twin(net):
    """Return the same network with its hidden units exchanged and signed anew."""
    w = [one.copy() for one in net.w]
    for layer in range(len(w) - 1):
        place, sign = RNG.permutation(len(w[layer])), RNG.choice([-1, 1], len(w[layer]))
        w[layer] = sign[:, None] * w[layer][place]
        w[layer + 1] = w[layer + 1][:, place] * sign
    return networks.BinaryMLP(w)


@pytest.mark.parametrize("match", [False, True])
def test_two_corners_have_the_way_that_barrier_measures(match):
    a, b = committee(5, 60), committee(5, 60)
    xi, sigma = patterns.random(300, 60, rng=1)
    way = barrier(a, b, xi, sigma, positions=11, match=match)
    found = simplex([a, b], xi, sigma, steps=10, match="weights" if match else "none")
    np.testing.assert_array_equal(found.error_rate.values, way.error_rate.values)
    np.testing.assert_allclose(found.share.values[:, 1], way.position.values)
    assert found.attrs["barrier"] == way.attrs["barrier"]


def test_points_of_a_triangle_are_blends():
    device = Perceptron(Spherical())
    corners = [device.network(w) for w in RNG.standard_normal((3, 41))]
    xi, sigma = patterns.random(200, 41, rng=2)
    found = simplex(corners, xi, sigma, steps=4)
    shares = found.share.values
    assert len(shares) == 15  # 5 choose 2, and 5 more on the last edge
    assert len({tuple(one) for one in shares}) == 15
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert [tuple(shares[k]) for k in (0, 1, -1)] == [(1, 0, 0), (0.75, 0.25, 0), (0, 0, 1)]
    for share, rate in zip(shares, found.error_rate.values, strict=True):
        assert rate == device.network(blend(corners, share)).errors(xi, sigma) / 200


@pytest.mark.parametrize("classes", [2, 4])
def test_corners_answer_as_the_binary_networks_do(classes):
    """A sum of signs that is zero is silent, and an undecided answer an error, here and there."""
    nets = [deep(8, 6, 4, 1 if classes == 2 else classes) for _ in range(2)]
    xi = RNG.choice([-1, 1], (400, 8)).astype(np.int8)
    sigma = RNG.choice([-1, 1], 400) if classes == 2 else RNG.integers(classes, size=400)
    found = simplex(nets, xi, sigma, steps=2)
    for net, rate in zip(nets, found.error_rate.values[[0, -1]], strict=True):
        assert rate == net.errors(xi, sigma) / 400


def test_the_middle_of_two_deep_networks_in_plain_words():
    a, b = deep(9, 5, 3), deep(9, 5, 3)
    xi, sigma = RNG.choice([-1, 1], (300, 9)).astype(np.int8), RNG.integers(3, size=300)
    first, last = (x.astype(float) + y for x, y in zip(a.w, b.w, strict=True))
    scale = np.sqrt(np.sum(last**2, axis=1))
    wrong = 0
    for x, label in zip(xi, sigma, strict=True):
        h = last @ np.sign(first @ x) / scale
        others = np.delete(h, label)
        wrong += not h[label] > others.max() + 1e-9
    assert simplex([a, b], xi, sigma, steps=2).error_rate.values[1] == wrong / 300


@pytest.mark.parametrize("match", ["weights", "answers"])
def test_a_network_and_its_twin_have_no_barrier_once_matched(match):
    one = committee(5, 60)
    other = Committee(5).network(one.w[[3, 1, 4, 0, 2]])
    xi, _ = patterns.random(300, 60, rng=5)
    sigma = one.output(xi)
    assert simplex([one, other], xi, sigma).attrs["barrier"] > 0.0
    assert simplex([one, other], xi, sigma, match=match).attrs["barrier"] == 0.0
    one = deep(61, 9, 7, 1)
    xi, _ = patterns.random(300, 61, rng=6)
    sigma = one.output(xi)
    corners = [one, twin(one), twin(one)]
    assert simplex(corners[:2], xi, sigma).attrs["barrier"] > 0.0
    assert not np.any(simplex(corners, xi, sigma, steps=3, match=match).error_rate)


def test_answers_match_units_that_weights_do_not():
    """On patterns in a plane units agree whose weights outside of it are opposite."""
    N = 40
    xi = np.ones((60, N), np.int8)
    xi[:, :2] = RNG.choice([-1, 1], (60, 2))
    w = np.zeros((2, 2, N))
    w[:, 0, 0] = w[:, 1, 1] = 10.0  # first inputs alone decide
    w[0, 0, 2:], w[0, 1, 2:] = 0.2, -0.2
    w[1] = w[1][::-1]
    w[1, 0, 2:], w[1, 1, 2:] = 0.2, -0.2
    a, b = (Committee(2).network(one) for one in w)
    cosines = [landscape.overlap(a, b, match=False), landscape.overlap(a, b, match=True)]
    assert cosines[1] > cosines[0]
    sigma = np.where(a.output(xi) == 0, 1, a.output(xi)).astype(np.int8)
    decided = a.output(xi) != 0
    found = simplex([a, b], xi[decided], sigma[decided], match="answers")
    assert found.attrs["barrier"] == 0.0


def test_bad_arguments_are_named():
    a, b = committee(3, 9), committee(3, 11)
    xi, sigma = patterns.random(5, 9, rng=1)
    tree = TreeCommittee(3).network(RNG.standard_normal((3, 3)))
    for given, error, word in (
        (a, TypeError, "solutions"),
        ([a], TypeError, "solutions"),
        ([a, b], ValueError, "shape"),
        ([a, deep(9, 3, 1)], ValueError, "kind"),
        ([a.w, a.w], TypeError, r"solutions\[0\]"),
        ([tree, tree], TypeError, "fully connected"),
    ):
        with pytest.raises(error, match=word):
            simplex(given, xi, sigma)
    with pytest.raises(ValueError, match="xi must have 9 columns"):
        simplex([a, a], xi[:, :7], sigma)
    with pytest.raises(ValueError, match="steps"):
        simplex([a, a], xi, sigma, steps=0)
    with pytest.raises(ValueError, match="at most 100000 points"):
        simplex([a, a, a], xi, sigma, steps=500)
    with pytest.raises(ValueError, match="match"):
        simplex([a, a], xi, sigma, match="yes")


def test_a_unit_that_vanishes_on_the_way_is_silent():
    device, w = Perceptron(Spherical()), RNG.standard_normal(9)
    xi, _ = patterns.random(20, 9, rng=1)
    ends = [device.network(w), device.network(-w)]
    rates = simplex(ends, xi, ends[0].output(xi), steps=2).error_rate.values
    np.testing.assert_array_equal(rates, [0.0, 1.0, 1.0])  # in the middle nothing is decided
    body, top = RNG.standard_normal((2, 9)), RNG.standard_normal(9)
    ends = [Committee(3).network(np.vstack([sign * top, body])) for sign in (1, -1)]
    a, b = np.sign(xi @ body.T).T
    rates = simplex(ends, xi, np.ones(20, int), steps=2).error_rate.values
    assert rates[1] == np.mean(a + b <= 0)
