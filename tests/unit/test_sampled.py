"""Effective overlaps from samples, as pages take them: those of `Activation`, and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from wfmlib import Activation, ReLU, Sign
from wfmlib.models import sampled
from wfmlib.models.activations import Linear

OVERLAPS = [0.0, 1e-6, 0.1, 0.5, 0.9, 0.98, 0.995, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9, 1 - 1e-11]


def hard(x):
    return np.clip(x, -1.0, 1.0)


def elu(x):
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))


def step(x):
    return np.where(x > 0.3, 1.0, 0.0)


def compared(about, activation, nearest=1.0):
    """Hold an array to `effective_overlap`, to the errors that both state.

    1e-11 in c, relative in 1 - c and c'; in c'' 1e-10, or 1e-13 / (1 - q),
    for q up to `nearest`.
    """
    assert about[sampled.SCALE] == pytest.approx(activation.scale, rel=1e-11)
    assert about[sampled.SLOPE_AT_ONE] == pytest.approx(activation.slope_at_one, rel=1e-11)
    for q in OVERLAPS:
        found = sampled.effective(q, 1.0 - q, about)
        wanted = activation.effective_overlap(q, 1.0 - q)
        assert found.c == pytest.approx(wanted.c, abs=1e-11), q
        assert found.complement == pytest.approx(wanted.complement, rel=1e-11), q
        assert found.slope == pytest.approx(wanted.slope, rel=1e-11), q
        error = max(2e-10, 1e-13 / (1.0 - q))
        if q > nearest:
            continue
        assert found.curvature == pytest.approx(wanted.curvature, rel=error, abs=error), q


@pytest.mark.parametrize("activation", [Linear(), Sign(), ReLU()])
def test_the_menu_is_the_package_s_formulas(activation):
    about = sampled.menu(activation)
    for q in [*OVERLAPS[:-1], 1.0 - 1e-13]:
        wanted = activation.effective(q, 1.0 - q)
        found = sampled.effective(q, 1.0 - q, about)
        assert tuple(found) == pytest.approx(tuple(wanted), rel=1e-15), q


@pytest.mark.parametrize("g", [np.tanh, hard, step, lambda x: x * scipy.special.ndtr(x)])
def test_a_formula_is_what_activation_makes_of_it(g):
    compared(sampled.described(g), Activation(g))


def test_a_formula_with_a_bend_that_is_not_straight():
    """Its corner lies in the second derivative: c''(1) is ``E g''^2 = e^2 H(2)`` of its variance.

    Of that `Correlation` leaves nothing at 1 - q = 1e-11.
    """
    activation, about = Activation(elu), sampled.described(elu)
    compared(about, activation, nearest=1 - 1e-6)
    bent = math.e**2 * scipy.special.ndtr(-2.0) / activation.scale**2
    assert sampled.effective(1 - 1e-11, 1e-11, about).curvature == pytest.approx(bent, rel=1e-2)


def test_an_error_function_has_its_closed_form():
    """For ``erf(x / w)``: ``arcsin(r q) / arcsin(r)``, ``r = 2 / (2 + w^2)``."""
    width = 0.7
    about, r = sampled.described(lambda x: scipy.special.erf(x / width)), 2.0 / (2.0 + width**2)
    for q in OVERLAPS:
        found = sampled.effective(q, 1.0 - q, about)
        assert found.c == pytest.approx(math.asin(r * q) / math.asin(r), abs=1e-13)
        slope = r / math.sqrt(1.0 - (r * q) ** 2) / math.asin(r)
        assert found.slope == pytest.approx(slope, rel=1e-11)


@pytest.mark.parametrize("more", [0, 3])
def test_a_drawn_line_is_what_activation_makes_of_it(more):
    """Two knots of a ramp; knots between them that bend nothing change nothing."""
    t = np.linspace(-1.0, 1.0, 2 + more)
    compared(sampled.between(t, t), Activation(hard))


def test_a_drawn_line_with_several_bends():
    t, v = np.array([-2.0, -0.75, 0.5, 2.25]), np.array([-0.5, -1.0, 1.5, 0.75])
    compared(sampled.between(t, v), Activation(lambda x: np.interp(x, t, v)))


def test_a_formula_that_oscillates_is_refused():
    with pytest.raises(ValueError, match="oscillate"):
        sampled.described(lambda x: np.sin(1e5 * x))
