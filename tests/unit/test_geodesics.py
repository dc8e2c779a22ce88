"""Geodesics between networks, and the errors along them."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import Committee, Margin, Perceptron, Spherical, TreeCommittee, landscape, patterns
from wfmlib.landscape import barrier, blend, geodesic

SPHERE = Perceptron(Spherical())
RNG = np.random.default_rng(1)


def network(device, shape):
    return device.network(RNG.standard_normal(shape))


def test_the_middle_is_as_far_from_both_ends_and_ends_are_the_ends():
    a, b = network(SPHERE, 99), network(SPHERE, 99)
    middle = Perceptron(Spherical()).network(geodesic(a, b, 0.5))
    assert np.mean(middle.w**2) == pytest.approx(1.0)
    both = [landscape.overlap(middle, one) for one in (a, b)]
    assert both[0] == pytest.approx(both[1])
    cosine = landscape.overlap(a, b)
    assert both[0] == pytest.approx(np.sqrt((1.0 + cosine) / 2.0))
    assert landscape.overlap(SPHERE.network(geodesic(a, b, 0.0)), a) == pytest.approx(1.0)
    three = [a, b, network(SPHERE, 99)]
    np.testing.assert_allclose(blend(three, [1.0, 1.0, 0.0]), geodesic(a, b, 0.5))


def test_a_convex_set_has_no_barrier_and_a_margin_below_zero_may_have_one():
    rng = np.random.default_rng(2)
    N = 51
    a, b = (SPHERE.network(w) for w in rng.standard_normal((2, N)))
    xi, _ = patterns.random(4000, N, rng=3)
    sigma = np.ones(len(xi), dtype=int)
    for kappa in (0.0, -0.5):
        good = [net.stabilities(xi, sigma) > kappa for net in (a, b)]
        both = xi[good[0] & good[1]]
        ones = np.ones(len(both), dtype=int)
        way = barrier(a, b, both, ones, constraint=Margin(kappa), positions=11)
        assert way.error_rate.values[[0, -1]] == pytest.approx(0.0)
        assert (way.attrs["barrier"] > 0.0) is (kappa < 0.0)


def test_errors_are_those_of_the_network_in_between():
    device = TreeCommittee(3)
    a, b = network(device, (3, 33)), network(device, (3, 33))
    xi, sigma = patterns.random(200, 99, rng=4)
    way = barrier(a, b, xi, sigma, positions=5)
    for g, rate in zip(way.position.values, way.error_rate.values, strict=True):
        assert rate == device.network(geodesic(a, b, g)).errors(xi, sigma) / 200


def test_matched_units_meet_the_same_network_without_a_barrier():
    device = Committee(5)
    a = network(device, (5, 60))
    b = device.network(a.w[[3, 1, 4, 0, 2]])
    xi, _ = patterns.random(300, 60, rng=5)
    sigma = a.output(xi)
    assert barrier(a, b, xi, sigma).attrs["barrier"] > 0.0
    assert barrier(a, b, xi, sigma, match=True).attrs["barrier"] == 0.0


def test_bad_arguments_are_named():
    a, b = network(SPHERE, 9), network(SPHERE, 11)
    xi, sigma = patterns.random(5, 9, rng=1)
    with pytest.raises(ValueError, match="shape"):
        geodesic(a, b, 0.5)
    with pytest.raises(ValueError, match="position"):
        geodesic(a, a, 1.5)
    with pytest.raises(ValueError, match="opposite"):
        geodesic(a, SPHERE.network(-a.w), 0.5)
    with pytest.raises(TypeError, match="solutions"):
        blend(a, [1.0])
    with pytest.raises(ValueError, match="shares"):
        blend([a, a], [1.0, -1.0])
    with pytest.raises(TypeError, match="a must be"):
        barrier(a.w, a, xi, sigma)
    tree = network(TreeCommittee(3), (3, 3))
    with pytest.raises(ValueError, match="match"):
        barrier(tree, tree, xi, sigma, match=True)
    with pytest.raises(ValueError, match="positions"):
        barrier(a, a, xi, sigma, positions=2)
