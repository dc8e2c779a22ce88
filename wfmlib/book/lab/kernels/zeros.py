"""The zero that is met first, for kernels: what `solvers.first_root` is for Python."""

from __future__ import annotations

import math

from numba import njit

FOUND, NO_ZERO, NOT_A_NUMBER, INEXACT = range(4)  #: how a search ended


@njit(error_model="numpy")
def first_zero(function, parameters, start, limit, step, tolerance, accuracy):
    """Find the zero that is met first on the way from `start` to a higher `limit`.

    The walk is that of `solvers.first_root`. The change of sign is closed in upon by chords whose
    far end is pulled in (the Anderson and Bjorck rule), and by halves where chords shrink it too
    slowly.

    Parameters
    ----------
    function : compiled function
        ``function(x, parameters)``, a float.
    parameters : any
        Passed on to the function.
    start, limit : float
        Where the walk begins, and the last place that it tries.
    step : float
        Length of the first stride; each is longer than the last by half.
    tolerance : float
        Absolute error allowed in the zero.
    accuracy : float
        Largest absolute value of the function that is accepted there.

    Returns
    -------
    x : float
        The zero; NaN unless it was found.
    residual : float
        Absolute value of the function there.
    ended : int
        `FOUND`, `NO_ZERO` (no change of sign), `NOT_A_NUMBER` (the function is NaN on the way), or
        `INEXACT` (the sign changes without a zero).
    """
    low, below = start, function(start, parameters)
    high, above = low, below
    while not (below <= 0.0 <= above or above <= 0.0 <= below):
        if math.isnan(below) or math.isnan(above):
            return math.nan, math.nan, NOT_A_NUMBER
        if high >= limit:
            return math.nan, abs(above), NO_ZERO
        low, below = high, above
        high = min(low + step, limit)
        above = function(high, parameters)
        step *= 1.5
    x, value = (low, below) if abs(below) < abs(above) else (high, above)
    width = high - low
    for count in range(200):
        if value == 0.0 or high - low <= tolerance:
            break
        middle = 0.5 * (low + high)
        chord = (low * above - high * below) / (above - below)
        x = chord if low < chord < high else middle
        if count % 3 == 2:  # three evaluations must shrink the bracket to an eighth
            x = middle if high - low > 0.125 * width else x
            width = high - low
        value = function(x, parameters)
        if math.isnan(value):
            return math.nan, math.nan, NOT_A_NUMBER
        if (value > 0.0) == (above > 0.0):
            pulled = 1.0 - value / above
            below *= pulled if pulled > 0.0 else 0.5
            high, above = x, value
        else:
            pulled = 1.0 - value / below
            above *= pulled if pulled > 0.0 else 0.5
            low, below = x, value
    residual = abs(function(x, parameters))
    return x, residual, FOUND if residual <= accuracy else INEXACT
