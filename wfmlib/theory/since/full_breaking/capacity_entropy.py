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

from wfmlib.theory.since.full_breaking.ladder import climb


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
    by_gap, by_height = by_x
    widths, by_width = intervals(activation, gaps, by_gap)
    value, gradient = climb(
        kappa, widths, heights, float(activation.slope_at_one), (by_width, by_height)
    )
    steps = np.append(gaps[:-1] - gaps[1:], gaps[-1])
    entropic, change, squares = integrals(1.0 - gaps[0], steps, heights, 1.0)
    bend = -0.5 * np.diff(heights, prepend=0.0) * squares[:-1]
    change = (bend @ by_gap + change @ by_height) / entropic - gradient / value
    return math.log(-entropic / value), change


def intervals(activation, gaps, by_gap):
    """Return the widths in c of the intervals from ``c = 0`` to 1, and their derivatives.

    Parameters
    ----------
    activation
        Energetic term with one field.
    gaps : ndarray
        ``1 - q`` of the overlaps, decreasing: shape ``(n,)``.
    by_gap : ndarray
        Derivatives of the gaps by the unknowns: shape ``(n, m)``.

    Returns
    -------
    tuple of ndarray
        Shapes ``(n + 1,)`` and ``(n + 1, m)``.
    """
    overlaps = activation.effective(1.0 - gaps, gaps)
    complements, slopes = overlaps.complement, np.broadcast_to(overlaps.slope, gaps.shape)
    widths = np.append(complements[:-1] - complements[1:], complements[-1])
    moved = slopes[:, None] * by_gap  # of 1 - c
    by_width = np.concatenate([-moved[:1], moved[:-1] - moved[1:], moved[-1:]])
    first = max(overlaps.c[0], 0.0) if gaps[0] < 1.0 else 0.0
    return np.append(first, widths), by_width


def integrals(smallest, steps, heights, end):
    """Return the integral of ``1 / (2 Lambda)``, its derivatives by heights, and of ``Lambda^-2``.

    Parameters
    ----------
    smallest : float
        The overlap below which the breaking function is 0.
    steps, heights : ndarray
        Widths in q of the intervals above, and the breaking function there: shape ``(n,)``.
    end : float
        Lambda where they end.

    Returns
    -------
    tuple
        A float, an ndarray ``(n,)``, and an ndarray ``(n + 1,)``: the second integral, from 0 up
        to the ends of each interval.
    """
    response = end + np.append(np.cumsum((steps * heights)[::-1])[::-1], 0.0)
    low, high = response[:-1], response[1:]  # Lambda at the two ends of an interval
    logs = np.log(low / high)
    value = 0.5 * (smallest / response[0] + np.sum(logs / heights))
    inner = np.append(0.0, np.cumsum((1.0 / high - 1.0 / low) / heights))
    squares = smallest / response[0] ** 2 + inner
    inside = (logs + high / low - 1.0) / heights**2  # what an interval itself adds
    return value, -0.5 * (steps * squares[:-1] + inside), squares
