"""The argument of the book in one line: patterns, an algorithm, a landscape."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfmlib.book.display.pictures.canvas import INK, arrow, panels, points, words

WIDE, NARROW, EDGE = 0.9, 0.05, 4.0


def landscape(x: np.ndarray) -> np.ndarray:
    """Return a height with one wide minimum at zero and narrow ones beside it, all at height 0."""
    narrow = np.array([-3.2, -2.3, 2.2, 3.1])
    flat = np.minimum((np.abs(x) / WIDE) ** 4, 1.0)
    holes = 1.0 - np.exp(-((x[:, None] - narrow) ** 2) / (2 * NARROW**2))
    return flat * holes.prod(axis=1)


def ways() -> Any:
    """Draw the flow from random patterns through an algorithm to a minimum of the landscape.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (left, middle, right) = panels(
        ("patterns", "algorithm", "landscape"), (7.2, 2.5), equal=False, width_ratios=(1, 1, 2)
    )
    xi = np.random.default_rng(7).choice([-1, 1], (6, 8))
    grid = np.stack(np.meshgrid(np.arange(8), np.arange(6)), axis=-1)
    points(left, grid[xi > 0], marker="s", ms=8, mfc=INK)
    points(left, grid[xi < 0], marker="s", ms=8)
    left.set(xlim=(-1, 9.4), ylim=(-1.2, 6.0))
    arrow(left, (8.1, 2.5), (9.4, 2.5))
    for k, text in enumerate(("loss", "activation", "replicas", "norm")):
        words(middle, (0.5, 3.0 - k), text)
    arrow(middle, (1.4, 1.5), (2.0, 1.5))
    middle.set(xlim=(-1.0, 2.0), ylim=(-0.7, 3.6))
    x = np.linspace(-EDGE, EDGE, 4001)
    right.plot(x, 2.0 * landscape(x), c=INK, lw=1.3)
    points(right, np.array([[0.0, 0.0]]), ms=9, mfc="#b75520")
    words(right, (0.0, -0.55), "wide and flat: rare")
    words(right, (2.75, -0.55), "narrow:\nmost")
    right.set(xlim=(-EDGE, EDGE), ylim=(-1.1, 2.9))
    return figure
