"""Canvas of the pictures: panels without axes, points, boxes and arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

INK, PALE = "0.15", "0.6"


def panels(
    titles: Sequence[str], size: tuple[float, float], rows: int = 1
) -> tuple[Any, list[Any]]:
    """Return a figure and its panels in `rows`, each with a title, equal units and no axes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(rows, len(titles) // rows, figsize=size, squeeze=False)
    for ax, title in zip(axes.flat, titles, strict=True):
        ax.set_title(title)
        ax.set_aspect("equal")
        ax.set_axis_off()
    return figure, list(axes.flat)


def points(ax: Any, places: np.ndarray, **style: Any) -> None:
    """Draw open circles, or what `style` says, at places of shape (n, 2)."""
    look = {"mfc": "white", "mec": INK, "ms": 9, "ls": "none", "marker": "o", "zorder": 3}
    ax.plot(*np.transpose(places), **look | style)


def lines(ax: Any, starts: np.ndarray, ends: np.ndarray, **style: Any) -> None:
    """Draw a line from each start to its end, both of shape (n, 2)."""
    gap = np.full((len(starts), 1, 2), np.nan)
    ends = np.broadcast_to(ends, np.shape(starts))
    path = np.concatenate([np.stack([starts, ends], axis=1), gap], axis=1).reshape(-1, 2)
    ax.plot(*path.T, **{"c": PALE, "lw": 0.9, "zorder": 1} | style)


def row(count: int, height: float, width: float = 1.0, centre: float = 0.0) -> np.ndarray:
    """Return `count` places in a row, shape (count, 2)."""
    x = centre + width * (np.arange(count) - 0.5 * (count - 1))
    return np.stack([x, np.full(count, height)], axis=1)


def words(ax: Any, place: Sequence[float], text: str, **style: Any) -> None:
    """Write a few words, centred at a place."""
    ax.text(*place, text, **{"ha": "center", "va": "center", "color": INK} | style)


def arrow(ax: Any, start: Sequence[float], end: Sequence[float], **style: Any) -> None:
    """Draw an arrow."""
    look = {"arrowstyle": "-|>", "color": INK, "lw": 1.1, "shrinkA": 0, "shrinkB": 0} | style
    ax.annotate("", end, start, arrowprops=look)
