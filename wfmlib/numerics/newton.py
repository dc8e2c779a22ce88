"""Newton's method in a bracket, for kernels that solve for one number where it stands."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def bracketed(x, step, beyond, low, high):
    """Return the next place, and the bracket of the one zero there is.

    Parameters
    ----------
    x, step : float
        The place, and Newton's step from it.
    beyond : bool
        Whether the zero lies below the place.
    low, high : float
        Two places with the zero between them. A step that leaves them is replaced by one to their
        middle.

    Returns
    -------
    x, low, high : float
    """
    if beyond:
        high = x
    else:
        low = x
    if x + step <= low or x + step >= high:
        step = 0.5 * (low + high) - x
    return x + step, low, high
