"""The tail of the normal density for many numbers at once: no branch, no call of a library.

Each function is a fixed sequence of additions, products and divisions, chosen between by masks, so
that a compiled loop over an array works on four or eight numbers at a time; a loop in a kernel
that calls several of them of one number computes what they share once. Every step is fixed by
IEEE 754: the values have the same bits on every processor, one by one or in a loop.

They rest on one number, the gap ``D(x) = h(x) - x`` between the hazard and its asymptote at
``x >= 0``, a ratio ``P / Q`` of polynomials. From it ``h = x + D``, ``H = G / h``,
``ln H = ln G - ln h`` and ``h' = h D`` follow without a difference that cancels; negative
arguments follow from ``H(x) = 1 - H(-x)``. Ranges and errors stand in `gaussian`, whose functions
these are.
"""

from __future__ import annotations

import math

from numba import njit

from wfmlib.numerics import portable

__all__ = [
    "LOG_SQRT_2PI",
    "SQRT_2PI",
    "density",
    "fill_density",
    "fill_hazard",
    "fill_hazard_derivative",
    "fill_log_tail",
    "fill_tail",
    "hazard",
    "hazard_derivative",
    "log_tail",
    "tail",
]

SQRT_2PI = math.sqrt(2.0 * math.pi)
LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
FAR = 1e8  # h(x) is x to every digit beyond

# D(x) = P(x) / Q(x) on the whole half-line x >= 0, lowest power first. Best rational
# approximation in relative error (9e-18), by the Remez exchange in 40 digits on
# t = (x - 3) / (x + 3), in the way of W. J. Cody, Math. Comp. 23, 631 (1969), who takes three
# pieces for erfc. All coefficients are positive: no term cancels another. The constant ones are
# rounded such that H(0) is exactly 1/2. The highest power has the coefficient 1 in both.
P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10 = GAP_NUMERATOR = (
    9315191.160387825, 16884797.889601767, 14842275.370960709, 8381291.821396928,
    3373377.198572698, 1014928.9843966619, 232920.35195424512, 40840.38115769652,
    5381.3653393573, 510.7409410192604, 31.76168228346277,
)  # fmt: skip
Q0, Q1, Q2, Q3, Q4, Q5, Q6, Q7, Q8, Q9, Q10, Q11 = GAP_DENOMINATOR = (
    11674860.77311044, 26479032.798494462, 29066351.42499226, 20404400.779695265,
    10187143.274092617, 3808263.756195184, 1093587.2994070295, 243492.51257448,
    41855.86303923979, 5444.888703928428, 512.7409410192419, 31.761682283462797,
)  # fmt: skip


# Inlined before LLVM sees them: it makes no vectors of loops over calls as large as these.
def kernel(function):
    """Compile a function of one number for loops of other kernels."""
    return njit(inline="always", error_model="numpy")(function)


@kernel
def gap_parts(a):
    """Return P and Q of ``D(a) = P / Q``, from 0 to 1e8."""
    p = a + P10  # written out: LLVM makes no vectors of a loop in a loop either
    p = (((p * a + P9) * a + P8) * a + P7) * a + P6
    p = (((p * a + P5) * a + P4) * a + P3) * a + P2
    p = (p * a + P1) * a + P0
    q = (a + Q11) * a + Q10
    q = (((q * a + Q9) * a + Q8) * a + Q7) * a + Q6
    q = (((q * a + Q5) * a + Q4) * a + Q3) * a + Q2
    q = (q * a + Q1) * a + Q0
    return p, q


@kernel
def density(x):
    """Return ``G(x)``.

    Examples
    --------
    >>> round(density(0.0), 6)
    0.398942
    """
    return portable.exp(-0.5 * x * x) / SQRT_2PI


@kernel
def parts(x):
    """Return ``a = |x|``, no larger than 1e8, P and Q at a, and ``G(a)``; NaN stays."""
    a = abs(x)
    a = FAR if a > FAR else a
    p, q = gap_parts(a)
    return a, p, q, density(a)


@kernel
def tail(x):
    """Return ``H(x)``.

    Examples
    --------
    >>> tail(0.0)
    0.5
    """
    a, p, q, g = parts(x)
    beyond = g * q / (a * q + p)
    return beyond if x >= 0.0 else 1.0 - beyond


@kernel
def hazard(x):
    """Return ``h(x) = G(x) / H(x)``.

    Examples
    --------
    >>> round(hazard(0.0), 6)
    0.797885
    """
    a, p, q, g = parts(x)
    above = a * q + p  # h = above / q for x >= 0
    up = x >= 0.0
    value = (above if up else g * above) / (q if up else above - g * q)
    return x if x > FAR else value


@kernel
def hazard_derivative(x):
    """Return ``h'(x) = h(x) (h(x) - x)``.

    Examples
    --------
    >>> round(hazard_derivative(0.0), 6)
    0.63662
    """
    a, p, q, g = parts(x)
    above = a * q + p
    up = x >= 0.0
    value = (above if up else g * above) / (q if up else above - g * q)
    return 1.0 if x > FAR else value * (p / q if up else value + a)


@kernel
def log_tail(x):
    """Return ``ln H(x)``: ``ln G - ln h`` for ``x >= 0``, else ``ln(1 - H(-x))``.

    Examples
    --------
    >>> round(log_tail(40.0), 4)
    -804.6084
    """
    a, p, q, g = parts(x)
    above = a * q + p
    up = x >= 0.0
    ratio = (above if up else g * q) / (q if up else above)  # h(x), or H(-x)
    z = ratio if up else 1.0 - ratio
    lost = 0.0 if up else (1.0 - z) - ratio  # in the difference z
    log_z = portable.log(x if x > FAR else z)
    return -0.5 * x * x - LOG_SQRT_2PI - log_z if up else log_z + lost * (1.0 + ratio)


# ------------------------------------------------------------------------------------------------
# The same over arrays: x and out have shape (n,) and share no memory
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def fill_density(x, out):
    """Set ``out[i] = G(x[i])``.

    Examples
    --------
    >>> import numpy as np
    >>> x, out = np.array([0.0, 1.0]), np.empty(2)
    >>> fill_density(x, out)
    >>> out.round(4).tolist()
    [0.3989, 0.242]
    """
    for i in range(len(x)):
        out[i] = density(x[i])


@njit(cache=True, nogil=True, error_model="numpy")
def fill_tail(x, out):
    """Set ``out[i] = H(x[i])``.

    Examples
    --------
    >>> import numpy as np
    >>> x, out = np.array([0.0, 1.0]), np.empty(2)
    >>> fill_tail(x, out)
    >>> out.round(4).tolist()
    [0.5, 0.1587]
    """
    for i in range(len(x)):
        out[i] = tail(x[i])


@njit(cache=True, nogil=True, error_model="numpy")
def fill_log_tail(x, out):
    """Set ``out[i] = ln H(x[i])``.

    Examples
    --------
    >>> import numpy as np
    >>> x, out = np.array([0.0, 1.0]), np.empty(2)
    >>> fill_log_tail(x, out)
    >>> out.round(4).tolist()
    [-0.6931, -1.841]
    """
    for i in range(len(x)):
        out[i] = log_tail(x[i])


@njit(cache=True, nogil=True, error_model="numpy")
def fill_hazard(x, out):
    """Set ``out[i] = h(x[i])``.

    Examples
    --------
    >>> import numpy as np
    >>> x, out = np.array([0.0, 1.0]), np.empty(2)
    >>> fill_hazard(x, out)
    >>> out.round(4).tolist()
    [0.7979, 1.5251]
    """
    for i in range(len(x)):
        out[i] = hazard(x[i])


@njit(cache=True, nogil=True, error_model="numpy")
def fill_hazard_derivative(x, out):
    """Set ``out[i] = h'(x[i])``.

    Examples
    --------
    >>> import numpy as np
    >>> x, out = np.array([0.0, 1.0]), np.empty(2)
    >>> fill_hazard_derivative(x, out)
    >>> out.round(4).tolist()
    [0.6366, 0.8009]
    """
    for i in range(len(x)):
        out[i] = hazard_derivative(x[i])
