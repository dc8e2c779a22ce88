"""Newton's method in a bracket."""

from __future__ import annotations

import math

from wfmlib.numerics.newton import bracketed


def test_a_step_inside_is_taken():
    assert bracketed(1.0, -0.25, True, 0.0, 3.0) == (0.75, 0.0, 1.0)
    assert bracketed(1.0, 0.5, False, 0.0, 3.0) == (1.5, 1.0, 3.0)


def test_a_step_that_leaves_is_halved():
    assert bracketed(1.0, -2.0, True, 0.0, 3.0) == (0.5, 0.0, 1.0)
    assert bracketed(1.0, 9.0, False, 0.0, 3.0) == (2.0, 1.0, 3.0)
    assert bracketed(1.0, math.inf, False, 0.0, 3.0) == (2.0, 1.0, 3.0)


def test_it_finds_a_zero_where_newton_alone_runs_away():
    """arctan from 2: plain steps grow without bound."""
    x, low, high = 2.0, -7.0, 4.0
    for _ in range(60):
        step = -math.atan(x) * (1.0 + x * x)
        x, low, high = bracketed(x, step, x > 0.0, low, high)
        assert low <= 0.0 <= high
        assert low <= x <= high
    assert abs(x) < 1e-12
