"""Picture of the book's argument: patterns, an algorithm, a landscape."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfmlib.book.display.pictures.canvas import INK, arrow, points, words

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

    Examples
    --------
    >>> figure = ways()
    >>> type(figure).__name__
    'Figure'
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplot_mosaic(
        [["patterns", "algorithm"], ["landscape"] * 2], figsize=(4.8, 4.4)
    )
    for title, ax in axes.items():
        ax.set_title(title)
        ax.set_axis_off()
    xi = np.random.default_rng(7).choice([-1, 1], (6, 8))
    grid = np.stack(np.meshgrid(np.arange(8), np.arange(6)), axis=-1)
    first = axes["patterns"]
    points(first, grid[xi > 0], marker="s", ms=8, mfc=INK)
    points(first, grid[xi < 0], marker="s", ms=8)
    first.set(xlim=(-1, 9.8), ylim=(-0.8, 5.8))
    arrow(first, (8.2, 2.5), (9.8, 2.5))
    second = axes["algorithm"]
    for k, text in enumerate(("loss", "activation", "replicas", "norm")):
        words(second, (0.5, 3.0 - k), text)
    arrow(second, (0.5, -0.7), (0.5, -1.5))
    second.set(xlim=(-0.5, 1.5), ylim=(-1.5, 3.5))
    third = axes["landscape"]
    x = np.linspace(-EDGE, EDGE, 4001)
    third.plot(x, 2.0 * landscape(x), c=INK, lw=1.3)
    points(third, np.array([[0.0, 0.0]]), ms=9, mfc="#b75520")
    words(third, (0.0, -0.55), "wide and flat: rare")
    words(third, (2.7, -0.55), "narrow: most")
    third.set(xlim=(-EDGE, EDGE), ylim=(-1.0, 2.2))
    return figure
