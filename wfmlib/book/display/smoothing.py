"""Curves through few computed points, for a line that bends where the theory does."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.numerics import arguments

BETWEEN = 16  # points drawn from one computed point to the next


def smooth(x: ArrayLike, y: ArrayLike, *, log: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Return more points of a curve, for ``ax.plot(*smooth(x, y))``.

    The cubic between two points rises or falls as they do (PCHIP): nothing is added that was not
    computed, and every computed point is kept. Where `y` is NaN or infinite there is a gap.

    Parameters
    ----------
    x : array_like, shape (points,)
        Rising or falling.
    y : array_like, shape (points,)
        The computed values.
    log : {"", "x", "y", "xy"}
        Which axes are logarithmic.

    Raises
    ------
    TypeError, ValueError
        If `x` or `y` is not a row of real numbers of one length, `x` neither rises nor falls, or
        what is logarithmic is not positive.

    Examples
    --------
    >>> fine, curve = smooth([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    >>> len(fine), float(curve[16])
    (33, 1.0)
    """
    arguments.choice("log", log, ("", "x", "y", "xy"))
    x, y = arguments.reals("x", x), arguments.reals("y", y)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"x and y must be rows of one length, got {x.shape} and {y.shape}")
    steps = np.diff(x)
    if not ((steps > 0).all() or (steps < 0).all()):
        raise ValueError("x must rise or fall from each point to the next")
    good = np.isfinite(y)
    if ("x" in log and (x <= 0).any()) or ("y" in log and (y[good] <= 0).any()):
        raise ValueError(f"what is logarithmic, {log}, must be positive")
    u, v = np.log(x) if "x" in log else x, y.copy()
    if "y" in log:
        v[good] = np.log(y[good])
    parts = [_part(u[one], v[one]) for one in _runs(good)]
    gap = np.array([[np.nan], [np.nan]])
    joined = [block for part in parts for block in (part, gap)][:-1]
    fine = np.concatenate(joined or [np.empty((2, 0))], axis=1)
    return (
        np.exp(fine[0]) if "x" in log else fine[0],
        np.exp(fine[1]) if "y" in log else fine[1],
    )


def _runs(good):
    """Return slices of the stretches where all is good."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]])))
    return [slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _part(u, v):
    from scipy.interpolate import PchipInterpolator

    if len(u) < 3:
        return np.array([u, v])
    at = np.interp(np.arange(BETWEEN * (len(u) - 1) + 1) / BETWEEN, np.arange(len(u)), u)
    order = slice(None) if u[-1] > u[0] else slice(None, None, -1)
    return np.array([at, PchipInterpolator(u[order], v[order])(at)])
