"""Messages from one threshold unit to a weight: the Gaussian step of message passing.

Seen from weight i, the sum over the other weights of a unit is nearly Gaussian, with the mean c_i
and the variance v_i of their cavity distributions. Let A and B be the probabilities that the rest
of the network wants this unit at +1 and at -1 (1 and 0 for a perceptron). The weight w_i of a
pattern entry xi_i = +-1 then has the likelihood Z((c_i + xi_i w_i) / sqrt v_i) with

    Z(x) = A H(-x) + B H(x).

All that is ever needed is the logarithm of Z and its slope g = Z'/Z [eq-bp-slope].

An error function and an exponential per edge are too dear. Within one pattern and unit the
arguments x_i lie close together, around x_0 = c / sqrt v of the whole sum, and g satisfies
g' = -(x g + g^2) whatever A and B are: the coefficients of its power series in d = x - x_0 follow
from g(x_0) by a recurrence [eq-bp-series]. `fit` says whether one polynomial may be trusted for
all edges; where not, binary weights take a table of several series, for ln Z, and weights on the
sphere the formula of `direct_slope`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.numerics.gaussian import hazard_gap, scalar_density, scalar_tail
from wfmlib.numerics.tails import LOG_SQRT_2PI

DEGREE = 10  # of the polynomials of the slope
TOLERANCE = 1e-8  # of what is left out, relative to 1 + |slope|
CELL = 0.25  # width of a cell of a table; zeros of Z keep about 2 off the real axis
FARTHEST = 1.0  # edge that one polynomial is tried for
WIDEST = 16.0  # range of a table
SMALL, RAISE = 2.0**-300, 2.0**600  # of the probabilities of both answers

# Loops over the edges of one unit are kept short, with few arrays each: LLVM turns a loop into
# vector instructions only if it needs no more than eight checks that two arrays do not overlap.
# They may assume that there is no NaN: their callers look for it, and that sums may be taken in
# any order. So the last digits depend on how a loop was compiled, and a callee is compiled twice,
# by itself and with its caller: which of the two is called depends on what the process loaded
# before. Inlined, there is only the caller's; what is called by a kernel and calls such a loop
# must be inlined, too, so it is `fast` itself.
fast = njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    forceinline=True,
    fastmath={"reassoc", "contract", "nsz", "nnan"},
)
exact = njit(cache=True, nogil=True, error_model="numpy")


@exact
def slope(x, plus, minus):
    """Return ``d ln Z / dx`` at x, for ``plus >= minus >= 0``, not both 0."""
    if plus < SMALL:  # only their ratio matters, and products with a density would be subnormal
        plus, minus = plus * RAISE, minus * RAISE
    if x >= 0.0:
        tail = scalar_tail(x)
        return (plus - minus) * scalar_density(x) / (plus * (1.0 - tail) + minus * tail)
    inverse_mills = -x + hazard_gap(-x)  # G(x) / H(-x): stays finite where both underflow
    if minus == 0.0:
        return inverse_mills
    return (plus - minus) / (
        plus / inverse_mills + minus * (1.0 - scalar_tail(-x)) / scalar_density(x)
    )


@exact
def log_weight(x, plus, minus):
    """Return ``ln Z`` at x."""
    if x >= 0.0:
        tail = scalar_tail(x)
        return math.log(plus) + math.log1p((minus / plus - 1.0) * tail)
    if minus == 0.0:
        return math.log(plus) - 0.5 * x * x - LOG_SQRT_2PI - math.log(-x + hazard_gap(-x))
    tail = scalar_tail(-x)
    return math.log(plus * tail + minus * (1.0 - tail))


@exact
def series(x, plus, minus, coefficients):
    """Fill in the coefficients of the slope's power series around x."""
    coefficients[0] = slope(x, plus, minus)
    for n in range(DEGREE):
        total = x * coefficients[n]
        if n > 0:
            total += coefficients[n - 1]
        for j in range(n + 1):
            total += coefficients[j] * coefficients[n - j]
        coefficients[n + 1] = -total / (n + 1)


# Slopes at the Chebyshev points of (-1, 1) times this matrix are a polynomial's coefficients.
POINTS = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
TO_COEFFICIENTS = np.linalg.inv(np.vander(POINTS, increasing=True))


@exact
def fit(x, distance, plus, minus, coefficients):
    """Fill in a polynomial in d for the slope at x + d, and return whether it holds its tolerance.

    Where the distance is too large for any, nothing is filled in.

    It is to hold up to `distance` from x, which need not be finite. What is left out is said by
    the last three terms, of which any may be accidentally small: zeros of Z, a complex pair, make
    them oscillate. Each is carried on at the rate at which the last two pairs grow, or at that of
    zeros 1.4 away, whichever is larger (power series), or at that of zeros 1 away (Chebyshev);
    the factors 5 and 2 stand for the terms after the next.
    """
    if not distance < FARTHEST:
        return False
    series(x, plus, minus, coefficients)
    allowed = TOLERANCE * (1.0 + abs(coefficients[0]))
    last, second = abs(coefficients[DEGREE]), abs(coefficients[DEGREE - 1])
    third = abs(coefficients[DEGREE - 2])
    newer, older = max(last, second), max(third, abs(coefficients[DEGREE - 3]))
    rate = math.sqrt(newer / older) if newer > 0.49 * older else 0.7
    next_one = rate * max(last, rate * max(second, rate * third))
    if 5.0 * next_one * distance ** (DEGREE + 1) <= allowed:
        return True
    coefficients[:] = 0.0
    for j in range(DEGREE + 1):
        value = slope(x + distance * POINTS[j], plus, minus)
        for n in range(DEGREE + 1):
            coefficients[n] += TO_COEFFICIENTS[n, j] * value
    last, second = abs(coefficients[DEGREE]), abs(coefficients[DEGREE - 1])
    third = abs(coefficients[DEGREE - 2] + 0.25 * DEGREE * coefficients[DEGREE])
    left_out = distance * max(last, distance * max(second, distance * third))
    power = 1.0
    for n in range(DEGREE + 1):
        coefficients[n] *= power
        power /= distance
    return 2.0 * left_out / 2.0 ** (DEGREE - 1) <= allowed


@exact
def tabulate(center, distance, plus, minus, logs, slopes):
    """Cover the arguments up to `distance` around `center` by cells with a series each.

    `logs`, shape (cells,), is filled with ln Z at the cells' centres, ``low + (j + 1/2) CELL``,
    and `slopes`, shape (cells, DEGREE + 1), with the series there. Returns ``low``.
    """
    low = center - distance
    for j in range(int(2.0 * distance / CELL) + 1):
        x = low + (j + 0.5) * CELL
        logs[j] = log_weight(x, plus, minus)
        series(x, plus, minus, slopes[j])
    return low


@exact
def distance_bound(c, v, largest_shift, largest_spread):
    """Return a bound on ``|(c - shift) / sqrt(v - spread) - c / sqrt v|`` over a unit's edges."""
    rest = v - largest_spread
    if rest <= 0.5 * v:
        return math.inf
    return (largest_shift + abs(c) * (1.0 - math.sqrt(rest / v))) / math.sqrt(rest)


@fast
def expand(xi, g, derivative, shifts):
    """Turn cavity means into the messages of the expanded form [eq-bp-expanded]."""
    for i in range(len(xi)):
        shifts[i] = xi[i] * g - derivative * shifts[i]
