"""What pages compute about typical solutions is what the package solves."""

from __future__ import annotations

import math

import pytest

from wfmlib import Binary, Margin, Perceptron, Spherical
from wfmlib.numerics.zeros import FOUND, NO_ZERO
from wfmlib.theory import typical
from wfmlib.theory.saddles import pages

DEVICES = {
    "binary": (Perceptron(Binary()), pages.binary_point, pages.binary_last_load),
    "spherical": (Perceptron(Spherical()), pages.spherical_point, pages.spherical_capacity),
}
FOUND_BY_SOLVE = ("q", "complement", "entropy", "replicon", "margin_density")


@pytest.mark.parametrize("kappa", [-2.0, -0.7, 0.0, 0.4, 3.0])
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("name", DEVICES)
def test_a_point_is_that_of_solve(name, share, kappa):
    """At shares of the load where q reaches 1.

    The load, met to rounding 1e-15, fixes 1 - q to about that over the distance from the last
    load: 1e-12 is enough at 0.99. In the entropy terms of order alpha cancel.
    """
    device, point, last = DEVICES[name]
    alpha = share * last(kappa)
    wanted = typical.solve(device, alpha, Margin(kappa))
    ended, residual, *found = point(alpha, kappa)
    assert ended == FOUND
    assert residual < 1e-12
    for what, value in zip(FOUND_BY_SOLVE, found, strict=True):
        given = 2.0 * wanted.distance if what == "complement" else getattr(wanted, what)
        rounding = 1e-13 * (1.0 + alpha) if what == "entropy" else 0.0
        assert value == pytest.approx(given, rel=1e-12, abs=rounding), what


@pytest.mark.parametrize("name", DEVICES)
def test_past_the_last_load_it_says_so(name):
    _, point, last = DEVICES[name]
    ended, _, *found = point(1.001 * last(0.3), 0.3)
    assert ended == NO_ZERO
    assert all(map(math.isnan, found))


@pytest.mark.parametrize("kappa", [-1.5, 0.0, 0.25, 1.7])
def test_capacities_are_those_of_the_package(kappa):
    """Both searches end within 1e-14 in ln q_hat, which changes the load by no more."""
    ended, _, found = pages.binary_capacity(kappa)
    assert ended == FOUND
    wanted = typical.capacity(Perceptron(), constraint=Margin(kappa))
    assert found == pytest.approx(wanted, rel=1e-12)
    wanted = typical.capacity(Perceptron(Spherical()), constraint=Margin(kappa))
    assert pages.spherical_capacity(kappa) == pytest.approx(wanted, rel=1e-12)
