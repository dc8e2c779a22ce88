"""The slope in one formula, against many digits and against the exact one, over all arguments."""

import math
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from wfmlib.learning.messages import channel
from wfmlib.learning.messages.direct_slope import (
    FARTHEST,
    GAP_DENOMINATOR,
    GAP_NUMERATOR,
    HIGHEST,
    POWER_OF_TWO,
    direct_slope,
    powers,
)

ERROR = 2e-10  # relative, stated in the module
LEAST = 2.0**-HIGHEST  # slopes below are not told from one another
RATIOS = [0.0, 5e-324, 1e-300, 1e-120, 1e-30, 1e-12, 1e-6, 0.01, 0.3, 0.9, 1 - 1e-9, 1.0]


@njit
def slopes(x, plus, minus):
    """Return the slope at each x."""
    found = np.empty(len(x))
    rest, below, above = powers(plus, minus)
    for i in range(len(x)):
        found[i] = direct_slope(x[i], rest, below, above)
    return found


def test_the_gap_errs_as_stated():
    """Relative error 6.1e-11 on the whole half-line, and reached: a best approximation."""
    t = np.concatenate(([0.0], np.geomspace(1e-4, 1e8, 400)))
    with mpmath.workdps(40):
        exact = np.array(
            [float(mpmath.npdf(x) / mpmath.ncdf(-x) - mpmath.mpf(x)) for x in t[:300]]
        )
    exact = np.concatenate((exact, 1 / t[300:] - 2 / t[300:] ** 3 + 10 / t[300:] ** 5))
    assert t[300] > 1e4
    powers_of = np.polynomial.polynomial.polyval
    error = powers_of(t, GAP_NUMERATOR) / powers_of(t, GAP_DENOMINATOR) / exact - 1
    assert 5.9e-11 < np.abs(error).max() < 6.1e-11
    assert min(*GAP_NUMERATOR, *GAP_DENOMINATOR) > 0.0


def test_the_power_of_two_errs_as_stated():
    f = np.linspace(-0.5, 0.5, 2001)
    error = np.polynomial.polynomial.polyval(f, POWER_OF_TWO) / 2**f - 1
    assert 3.9e-11 < np.abs(error).max() < 4.1e-11


@pytest.mark.parametrize("ratio", RATIOS)
def test_in_forty_digits(ratio):
    """Also where the one answer is all but excluded, and the slope drops from |x| to nothing."""
    plus, minus = 0.7, 0.7 * ratio
    edge = math.sqrt(-2 * math.log(ratio)) if 0.0 < ratio < 1.0 else 0.0
    x = np.concatenate((np.linspace(-45, 45, 31), -edge + np.linspace(-3, 3, 25), [-1e-300, 0.0]))
    found = slopes(x, plus, minus)
    with mpmath.workdps(40):
        r = mpmath.mpf(minus) / mpmath.mpf(plus)
        for at, value in zip(x.tolist(), found, strict=True):
            z = mpmath.ncdf(at) + r * mpmath.ncdf(-at)
            expected = float((1 - r) * mpmath.npdf(at) / z)
            # the exponent is rounded, up to x^2 / 2
            assert value == pytest.approx(expected, rel=ERROR + 1e-15 * at * at, abs=2 * LEAST)


@settings(deadline=None)
@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1.0), st.one_of(st.just(0.0), st.floats(1e-200, 1.0)))
def test_beside_the_exact_slope(x, plus, share):
    minus = plus * share
    expected = channel.slope(x, plus, minus)
    value = slopes(np.array([x]), plus, minus)[0]
    lost = sys.float_info.min / minus if minus else 0.0  # the other's density is no normal number
    least = max(2 * LEAST, lost)
    assert value == pytest.approx(expected, rel=ERROR + 1e-15 * x * x, abs=least)


@settings(deadline=None)
@given(
    st.floats(-FARTHEST, FARTHEST),
    st.floats(1e-300, 1.0),
    st.one_of(st.just(0.0), st.just(1.0), st.floats(0.0, 1.0), st.floats(0.0, 1e-200)),
)
def test_slopes_stay_ordinary_numbers(x, plus, share):
    """None is negative, infinite or so small that processors slow down."""
    value = slopes(np.array([x]), plus, plus * share)[0]
    assert 0.0 <= value <= (1 + ERROR) * (1.0 + abs(x))
    assert value == 0.0 or value > 1e-170 or share == 1.0


def test_far_from_anywhere():
    x = np.array([-FARTHEST, -1e8, -300.0, 300.0, FARTHEST])
    np.testing.assert_allclose(slopes(x, 1.0, 0.0)[:3], -x[:3], rtol=2e-5)
    assert np.all(slopes(x, 1.0, 0.0)[3:] < 1e-150)
    assert np.all(slopes(x, 1.0, 1e-300) < 1e-150)
    np.testing.assert_array_equal(slopes(x, 0.3, 0.3), 0.0)
