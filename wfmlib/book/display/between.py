"""Interpolation between computed curves, linear in what the slider changes, and its error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wfmlib.book.display.curves import Curve, Rule
from wfmlib.numerics import arguments


def check(values: np.ndarray, stops) -> np.ndarray:
    """Return the places where a slider may stop: those that are given, and all `values`.

    Raises
    ------
    TypeError, ValueError
        If `stops` are not numbers from the first of `values` to the last.
    """
    stops = arguments.reals("stops", stops)
    low, high = min(values[0], values[-1]), max(values[0], values[-1])
    if stops.ndim != 1 or not np.all((stops >= low) & (stops <= high)):
        raise ValueError(f"stops must be numbers from {low:g} to {high:g} in a row, got {stops}")
    gap = np.abs(np.diff(values)).min() * 1e-6
    new = [stop for stop in np.unique(stops) if np.abs(values - stop).min() > gap]
    all_stops = np.sort(np.concatenate([values, new]))
    return all_stops if values[0] < values[-1] else all_stops[::-1]


def rows(values: np.ndarray, computed: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return rows at `stops`, linear between the rows `computed` at `values`; NaN stays NaN."""
    if values[0] > values[-1]:
        values, computed = values[::-1], computed[::-1]
    left = np.clip(np.searchsorted(values, stops, "right") - 1, 0, len(values) - 2)
    share = (stops - values[left]) / (values[left + 1] - values[left])
    share = share.reshape(-1, *[1] * (computed.ndim - 1))
    between = (1 - share) * computed[left] + share * computed[left + 1]
    # At a computed value the other neighbour, which may be NaN, has no say.
    between = np.where(share == 0, computed[left], between)
    return np.where(share == 1, computed[left + 1], between)


def marks(values: np.ndarray, computed, stops: np.ndarray) -> tuple:
    """Return curves and rules with a row for each stop where they had one for each value."""
    frames, interpolated = len(values), []
    for mark in computed:
        names = ("x", "y", "error") if isinstance(mark, Curve) else ("x", "y")
        changed = {
            name: rows(values, array, stops)
            for name in names
            if (array := getattr(mark, name)) is not None and len(array) == frames > 1
        }
        interpolated.append(replace(mark, **changed) if changed else mark)
    return tuple(interpolated)


def error(values: np.ndarray, computed, xlim, ylim) -> float:
    """Return about how far curves that are linear between `values` are off, as drawn.

    Each computed row is left out in its turn, and compared with the straight line between its
    neighbours. The error of a straight line goes with the product of the distances to them, which
    tells how large it is half-way between two that are computed.

    Returns
    -------
    float
        In units of the panel: as a share of its width, or of its height.
    """
    worst = 0.0
    for mark in computed:
        if isinstance(mark, Rule) or max(len(mark.x), len(mark.y)) < 3:
            continue
        low, high = np.clip(mark.only or ylim, *ylim)
        xs, ys = np.broadcast_arrays(*mark.on(len(values))[:2])
        u, v = ((z - a) / (b - a) for z, (a, b) in ((xs, xlim), (ys, ylim)))
        inside = (ys >= low) & (ys <= high) & (u >= 0) & (u <= 1)
        for k in range(1, len(values) - 1):
            around = values[[k - 1, k + 1]]
            line = [rows(around, z[[k - 1, k + 1]], values[[k]])[0] for z in (u, v)]
            off = _apart(np.column_stack([u[k], v[k]])[inside[k]], np.column_stack(line))
            h = np.abs(np.diff(values[k - 1 : k + 2]))
            worst = max(worst, off * h.max() ** 2 / (4 * h[0] * h[1]))
    return worst


def _apart(points, line):
    """Return how far the points are from a polygonal line at most, 0 where it is missing."""
    start, side = line[:-1], np.diff(line, axis=0)
    good = np.isfinite(start).all(axis=1) & np.isfinite(side).all(axis=1)
    if not good.any() or not len(points):
        return 0.0
    start, side = start[good], side[good]
    away = points[:, None] - start
    share = np.sum(away * side, axis=-1) / np.maximum(np.sum(side**2, axis=-1), 1e-300)
    foot = np.clip(share, 0, 1)[..., None] * side
    return float(np.linalg.norm(away - foot, axis=-1).min(axis=1).max())
