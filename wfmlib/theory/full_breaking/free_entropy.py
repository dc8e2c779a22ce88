"""The load at which a hierarchy of groups runs out of solutions.

At capacity the largest overlap reaches 1 and the breaking function x(q) vanishes with
``1 - q``, at a finite ratio y(q). With ``Lambda(q) = chi + int_q^1 y dq'`` the free entropy is, to
leading order,

    int_0^1 dq / (2 Lambda) + alpha F(0, 0),   F = -(kappa - h)_+^2 / (2 c'(1) chi) at c = 1,

and is smallest at the right hierarchy. The capacity is the smallest alpha at which that minimum
vanishes, so every y gives an upper bound  [eq-full-capacity].
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.theory.full_breaking.ladder import climb


def bound(activation, kappa, gaps, heights, by_x):
    """Return ln alpha where the free entropy with ``chi = 1`` vanishes, and its derivatives.

    Parameters
    ----------
    activation
        Energetic term with one field; its ``c'(1)`` is finite.
    kappa : float
        Margin, in units of the activation's scale.
    gaps : ndarray
        ``1 - q`` of the overlaps, decreasing from at most 1: shape ``(n,)``.
    heights : ndarray
        y above each overlap, up to the next: shape ``(n,)``; below the first y is 0.
    by_x : pair of ndarray
        Derivatives of gaps and heights by the unknowns, each of shape ``(n, m)``.

    Returns
    -------
    tuple of float and ndarray
        The derivatives have shape ``(m,)``.
    """
    overlaps = activation.effective(1.0 - gaps, gaps)
    complements, slopes = overlaps.complement, np.broadcast_to(overlaps.slope, gaps.shape)
    widths = np.append(complements[:-1] - complements[1:], complements[-1])
    moved = slopes[:, None] * by_x[0]  # of 1 - c
    by_width = np.concatenate([-moved[:1], moved[:-1] - moved[1:], moved[-1:]])
    value, gradient = climb(
        kappa,
        np.append(max(overlaps.c[0], 0.0), widths),
        heights,
        float(activation.slope_at_one),
        (by_width, by_x[1]),
    )
    steps = np.append(gaps[:-1] - gaps[1:], gaps[-1])
    response = 1.0 + np.append(np.cumsum((steps * heights)[::-1])[::-1], 0.0)
    low, high = response[:-1], response[1:]  # Lambda at the two ends of an interval
    logs = np.log(low / high)
    entropic = 0.5 * ((1.0 - gaps[0]) / low[0] + np.sum(logs / heights))
    # int_0^q dq / Lambda^2 up to each overlap, and what an interval itself adds
    inner = np.append(0.0, np.cumsum((1.0 / high - 1.0 / low) / heights)[:-1])
    squares = (1.0 - gaps[0]) / low[0] ** 2 + inner
    inside = (logs + high / low - 1.0) / heights**2
    by_gap = -0.5 * np.diff(heights, prepend=0.0) * squares
    by_height = -0.5 * (steps * squares + inside)
    change = (by_gap @ by_x[0] + by_height @ by_x[1]) / entropic - gradient / value
    return math.log(-entropic / value), change
