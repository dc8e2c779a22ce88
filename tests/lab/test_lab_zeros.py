"""The search for a zero inside kernels."""

from __future__ import annotations

import math

import pytest
from numba import njit

from wfmlib.book.lab.kernels import zeros
from wfmlib.numerics.solvers import first_root


@njit
def cubic(x, given):
    return (x - given) ** 3 + 1e-3 * (x - given)


@njit
def wave(x, given):
    return math.cos(given * x)


@njit
def positive(x, given):
    return 1.0 + given * x * x


@njit
def steep(x, given):
    return math.expm1(given * (x - 1.0))


@njit
def pole(x, given):
    return 1.0 / (x - given)


@njit
def undefined(x, given):
    return math.log(given - x) + 2.0 if x < given else math.nan


@pytest.mark.parametrize(
    ("function", "given", "root"),
    [(cubic, 2.0, 2.0), (wave, 0.5, math.pi), (steep, 60.0, 1.0), (steep, -60.0, 1.0)],
)
def test_it_finds_the_zero_that_first_root_finds(function, given, root):
    x, residual, ended = zeros.first_zero(function, given, 0.0, 50.0, 0.5, 1e-14, 1e-6)
    wanted, _ = first_root(lambda x: function(x, given), 0.0, 50.0, step=0.5)
    assert ended == zeros.FOUND
    assert x == pytest.approx(root, abs=1e-13)
    assert x == pytest.approx(wanted, abs=1e-13)
    assert residual == abs(function(x, given))


def test_a_zero_at_the_start_is_met():
    assert zeros.first_zero(cubic, 0.0, 0.0, 5.0, 0.5, 1e-14, 1e-6) == (0.0, 0.0, zeros.FOUND)


@pytest.mark.parametrize(
    ("function", "given", "ended"),
    [
        (positive, 1.0, zeros.NO_ZERO),
        (undefined, 0.1, zeros.NOT_A_NUMBER),
        (pole, math.sqrt(2.0), zeros.INEXACT),
    ],
)
def test_it_says_why_there_is_none(function, given, ended):
    x, _, why = zeros.first_zero(function, given, 0.0, 5.0, 0.5, 1e-14, 1e-6)
    assert why == ended
    assert math.isnan(x) or ended == zeros.INEXACT


def test_few_evaluations_suffice():
    """Brent's method takes some ten for a smooth function; twice as many would cost a curve."""
    calls = [0]

    def counted(x, given):
        calls[0] += 1
        return math.expm1(given * (x - 1.0))

    zeros.first_zero.py_func(counted, 3.0, 0.0, 50.0, 0.5, 1e-14, 1e-6)
    assert calls[0] <= 20
