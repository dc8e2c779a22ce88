"""Arithmetic that gives the same bits on every processor, for training whose path is chaotic.

Sums of real numbers depend on their order in the last bit, and processors, and versions of a
library, take them in different orders; a training that goes on for thousands of steps makes
another run of that bit. The same holds for the exponential and the logarithm, which every platform
rounds in its own way. What is left is what IEEE 754 fixes: one addition, product, division or
root, and everything that is exact. So

- real numbers that are summed with signs lie on a *grid*, the multiples of ``2^-b``. A sum of
  them, in any order, with or without fused operations, is exact in double precision as long as
  their absolute values sum to less than ``2^(53 - b)``: matrix products may be any library's;
- what is not such a sum, as the square of a norm, is taken in one order that is written down;
- `exp`, `expm1`, `log` and `log1p` are our own, a few fixed operations each.

The functions run inside ``@njit`` kernels. None may be compiled with `fastmath` flags, and numba
fuses no operations without them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = [
    "DELTAS",
    "WEIGHTS",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log1p_of_share",
    "on_grid",
    "scale_of",
    "square",
    "square_distance",
    "step",
]

# ------------------------------------------------------------------------------------------------
# Grids
# ------------------------------------------------------------------------------------------------

# Bits after the point. Weights of norm 1: M of them sum to at most sqrt(M), less than 2^(53 - 44)
# for M up to 262 144; what is lost, 3e-14, is less than a millionth of a millionth of the norm.
WEIGHTS = 44
# What is propagated back to units, of order 1 and less, in front of latent weights in single
# precision: what is lost is 1e-10, sums may reach 2^21.
DELTAS = 32


def step(bits: int) -> float:
    """Return the distance of two neighbours on the grid.

    Examples
    --------
    >>> step(10)  # 2^-10
    0.0009765625
    """
    return 2.0**-bits


def scale_of(bits: int) -> float:
    """Return what `on_grid` takes: a number whose own last bit is the step of the grid.

    Examples
    --------
    >>> on_grid(0.3, scale_of(2))  # in quarters
    0.25
    """
    return 1.5 * 2.0 ** (52 - bits)


@njit(cache=True, nogil=True)
def on_grid(x, scale):
    """Return the nearest number on a grid, ties to even; NaN and infinity stay.

    For ``|x| < scale / 3``, where ``x + scale`` has the bits of the grid and no others; beyond
    that, more or fewer are kept.

    Examples
    --------
    >>> on_grid(0.3, scale_of(2))  # in quarters
    0.25
    """
    return (x + scale) - scale


# ------------------------------------------------------------------------------------------------
# Sums in one order
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def square(x):
    """Return ``x . x``, shape (M,): eight sums side by side, then their sum in pairs.

    Examples
    --------
    >>> import numpy as np
    >>> square(np.array([3.0, 4.0]))
    25.0
    """
    a = b = c = d = e = f = g = h = 0.0
    whole = len(x) // 8 * 8
    for i in range(0, whole, 8):
        a += x[i] * x[i]
        b += x[i + 1] * x[i + 1]
        c += x[i + 2] * x[i + 2]
        d += x[i + 3] * x[i + 3]
        e += x[i + 4] * x[i + 4]
        f += x[i + 5] * x[i + 5]
        g += x[i + 6] * x[i + 6]
        h += x[i + 7] * x[i + 7]
    for i in range(whole, len(x)):
        a += x[i] * x[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@njit(cache=True, nogil=True)
def square_distance(x, y):
    """Return ``|x - y|^2``, four sums side by side.

    Examples
    --------
    >>> import numpy as np
    >>> square_distance(np.array([3.0, 4.0]), np.zeros(2))
    25.0
    """
    a = b = c = d = 0.0
    whole = len(x) // 4 * 4
    for i in range(0, whole, 4):
        p, q, r, s = x[i] - y[i], x[i + 1] - y[i + 1], x[i + 2] - y[i + 2], x[i + 3] - y[i + 3]
        a += p * p
        b += q * q
        c += r * r
        d += s * s
    for i in range(whole, len(x)):
        p = x[i] - y[i]
        a += p * p
    return (a + b) + (c + d)


# ------------------------------------------------------------------------------------------------
# Functions
# ------------------------------------------------------------------------------------------------

PER_E = 1.4426950408889634  # log2(e)
# ln 2 in two parts: the first ends with zeros, so that its products with up to 11 bits are exact.
LN_2_HIGH, LN_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
TO_INTEGER = 1.5 * 2.0**52  # plus this and minus it: the nearest integer
TO_EXPONENT = 2.0**52 + 1023.0  # n plus this holds the exponent bits of 2^n in its last bits
LOWEST, HIGHEST = -746.0, 710.0  # exp is 0 below, infinite above

# 1/2!, 1/3!, ... 1/13!: what the series of exp leaves out for |r| <= ln(2)/2 is 4e-18.
SERIES = tuple(1.0 / math.factorial(n) for n in range(2, 14))

# ln(1 + f) with s = f / (2 + f): ln(1 + f) = 2 s + s R, R = s^2 (L1 + s^2 (L2 + ...)); the
# coefficients are those of fdlibm (Sun Microsystems, 1993), best for sqrt(1/2) <= 1 + f < sqrt(2).
LOGARITHM = (
    0.6666666666666735, 0.3999999999940942, 0.2857142874366239, 0.22222198432149784,
    0.1818357216161805, 0.15313837699209373, 0.14798198605116586,
)  # fmt: skip


@njit(cache=True, nogil=True)
def _power_of_two(n):
    """Return 2^n of an integer from -1022 to 1023, given as a float."""
    return np.int64(np.float64(n + TO_EXPONENT).view(np.int64) << 52).view(np.float64)


@njit(cache=True, nogil=True)
def exp(x):
    """Return ``e^x``; the error is below 1 unit in the last place, of a subnormal result too.

    Without a branch, so that a loop over numbers becomes vector instructions.

    Examples
    --------
    >>> round(exp(1.0), 10)
    2.7182818285
    """
    c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 = SERIES
    x = LOWEST if x < LOWEST else (HIGHEST if x > HIGHEST else x)  # NaN stays
    n = (x * PER_E + TO_INTEGER) - TO_INTEGER
    r = (x - n * LN_2_HIGH) - n * LN_2_LOW
    p = c8 + r * (c9 + r * (c10 + r * (c11 + r * (c12 + r * c13))))
    p = c2 + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * (c7 + r * p)))))
    value = 1.0 + (r + r * r * p)
    half = (0.5 * n + TO_INTEGER) - TO_INTEGER  # 2^n itself may be no normal number
    return value * _power_of_two(half) * _power_of_two(n - half)


@njit(cache=True, nogil=True)
def expm1(x):
    """Return ``e^x - 1`` for ``x <= 700``; the error is below 2 units in the last place.

    Without a branch, as `exp`.

    Examples
    --------
    >>> round(expm1(1e-5), 10)
    1.00001e-05
    """
    c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 = SERIES
    x = -60.0 if x < -60.0 else x  # -1 to every digit; NaN stays
    n = (x * PER_E + TO_INTEGER) - TO_INTEGER
    r = (x - n * LN_2_HIGH) - n * LN_2_LOW
    p = c8 + r * (c9 + r * (c10 + r * (c11 + r * (c12 + r * c13))))
    p = c2 + r * (c3 + r * (c4 + r * (c5 + r * (c6 + r * (c7 + r * p)))))
    power = _power_of_two(n)
    return power * (r + r * r * p) + (power - 1.0)


# For `log`: bits are moved such that the exponent changes at sqrt(1/2) 2^k and not at 2^k.
LOW_HALF = np.uint64(0x3FE6A09E667F3BCD)  # bits of sqrt(1/2)
TO_ONE = np.uint64(0x3FF0000000000000) - LOW_HALF
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
EXPONENT = np.uint64(52)
INTEGER = np.uint64(0x4330000000000000)  # bits of 2^52: an integer put into its last bits is added


@njit(cache=True, nogil=True, error_model="numpy")
def log(x):
    """Return ``ln x`` for normal ``x > 0``; the error is below 1 unit in the last place.

    Without a branch, as `exp`. Infinity gives a number above 709, NaN any: for callers to know.

    Examples
    --------
    >>> round(log(2.0), 10)
    0.6931471806
    """
    l1, l2, l3, l4, l5, l6, l7 = LOGARITHM
    bits = np.float64(x).view(np.uint64) + TO_ONE
    k = np.uint64((bits >> EXPONENT) | INTEGER).view(np.float64) - TO_EXPONENT
    f = np.uint64((bits & MANTISSA) + LOW_HALF).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = z * (l1 + z * (l2 + z * (l3 + z * (l4 + z * (l5 + z * (l6 + z * l7))))))
    square = 0.5 * f * f
    return k * LN_2_HIGH - ((square - (s * (square + rest) + k * LN_2_LOW)) - f)


@njit(cache=True, nogil=True, error_model="numpy")
def log1p_of_share(x):
    """Return ``ln(1 + x)`` for ``0 <= x <= 1``; the error is below 2 units in the last place.

    Without a branch, as `exp`; NaN gives any number.

    Examples
    --------
    >>> round(log1p_of_share(0.5), 10)
    0.4054651081
    """
    u = 1.0 + x
    return log(u) + (x - (u - 1.0)) / u


@njit(cache=True, nogil=True, error_model="numpy")
def log1p(x):
    """Return ``ln(1 + x)`` for ``x >= 0``; the error is below 1 unit in the last place.

    Examples
    --------
    >>> round(log1p(1e-5), 10)
    1e-05
    """
    if not x < 2.0**53:  # NaN and infinity, too: 1 + x is x
        if not x < math.inf:
            return x
        u, lost = x, 0.0
    else:
        u = 1.0 + x
        lost = (x - (u - 1.0) if u < 2.0 else 1.0 - (u - x)) / u  # of x in the sum 1 + x
    bits = np.float64(u).view(np.int64)
    k = (bits >> 52) - 1023
    f = np.int64((bits & 0xFFFFFFFFFFFFF) | (1023 << 52)).view(np.float64)
    if f > 1.4142135623730951:
        f *= 0.5
        k += 1
    f -= 1.0
    if k == 0 and u == 1.0:
        return x
    l1, l2, l3, l4, l5, l6, l7 = LOGARITHM
    s = f / (2.0 + f)
    z = s * s
    rest = z * (l1 + z * (l2 + z * (l3 + z * (l4 + z * (l5 + z * (l6 + z * l7))))))
    square = 0.5 * f * f
    return k * LN_2_HIGH - ((square - (s * (square + rest) + (k * LN_2_LOW + lost))) - f)
