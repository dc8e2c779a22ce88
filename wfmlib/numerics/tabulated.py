"""A function of one variable on graded panels, for kernels that need it in a hot loop.

On every panel the function is a polynomial in the panel's own coordinate, through its values at
Chebyshev's nodes. Panels are as short as the function's bends ask for (see `gaussian.edges`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wfmlib.numerics import gaussian

ORDER = 12  # coefficients on a panel: relative errors are mostly below 1e-9
_NODES = np.polynomial.chebyshev.chebpts1(ORDER)
_TO_COEFFICIENTS = np.linalg.inv(np.polynomial.chebyshev.chebvander(_NODES, ORDER - 1))


def tabulate(functions, features, low, high):
    """Return the ends of the panels and the coefficients of several functions on each.

    Parameters
    ----------
    functions : callable
        From an array ``(n,)`` to an array ``(F, n)``: all functions at once.
    features : sequence of (centre, scale)
        Where they bend, and over what width.
    low, high : float
        The range.

    Returns
    -------
    ends : ndarray, shape (panels + 1,)
    coefficients : ndarray, shape (F, panels, ORDER)
        Of Chebyshev's polynomials.
    """
    ends = gaussian.edges(np.array(features, dtype=float).reshape(-1, 2), low, high)
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    values = functions((middle[:, None] + half[:, None] * _NODES).ravel())
    values = values.reshape(len(values), len(middle), ORDER)
    return ends, np.ascontiguousarray(values @ _TO_COEFFICIENTS.T)


@njit(cache=True, nogil=True)
def panel_of(ends, x):
    """Return the panel that holds x; x shall lie between the first and the last end."""
    low, high = 0, len(ends) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x < ends[middle]:
            high = middle
        else:
            low = middle
    return low


@njit(cache=True, nogil=True)
def evaluate(ends, coefficients, panel, x):
    """Return one function, coefficients ``(panels, ORDER)``, at an x in a panel."""
    row = coefficients[panel]
    s = 2.0 * (x - ends[panel]) / (ends[panel + 1] - ends[panel]) - 1.0
    first = second = 0.0  # Clenshaw's recurrence
    for k in range(len(row) - 1, 0, -1):
        first, second = 2.0 * s * first - second + row[k], first
    return s * first - second + row[0]
