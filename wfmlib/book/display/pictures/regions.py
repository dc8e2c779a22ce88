"""Pictures of a solution's surroundings: the ball of radius D, and the five phases of margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfmlib.book.display.pictures.canvas import INK, PALE, arrow, panels, points, words

SHARES = {  # of places at a small, middle and large distance that are solutions, in the drawing
    "isolated": (0.0, 0.0, 0.3),
    "isolated ball": (1.0, 0.0, 0.3),
    "ball with an edge": (1.0, 0.25, 0.6),
    "no edge": (1.0, 0.85, 0.6),
}
RINGS = 0.3, 0.7, 1.1


def balls(solutions: int = 60, radius: float = 0.55, seed: int = 3) -> Any:
    """Draw an isolated solution and one in a dense region, each with the ball of radius D.

    Parameters
    ----------
    solutions : int, optional
        How many solutions of the dense region are drawn.
    radius : float, optional
        D.
    seed : int, optional
        Of their places.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = balls()
    >>> type(figure).__name__
    'Figure'
    """
    rng = np.random.default_rng(seed)
    figure, (left, right) = panels(("an isolated solution", "in a dense region"), (4.8, 2.7))
    far = np.array([[-1.0, 0.75], [0.95, 0.85], [-0.85, -0.9], [1.05, -0.7]])
    dense = 0.75 * np.sqrt(rng.random((solutions, 1)))
    angle = 2 * np.pi * rng.random((solutions, 1))
    near = dense * np.hstack([np.cos(angle), np.sin(angle)])
    for ax, neighbours in ((left, far), (right, near)):
        _circle(ax, radius)
        inside = np.hypot(*neighbours.T) <= radius
        points(ax, neighbours[~inside], ms=4, mfc="white", mec=PALE)
        if inside.any():
            points(ax, neighbours[inside], ms=4, mfc=INK)
        points(ax, np.zeros((1, 2)), ms=9, mfc="#b75520", mec=INK)
        arrow(ax, (0, 0), (radius * np.cos(0.6), radius * np.sin(0.6)))
        words(ax, (1.5 * radius * np.cos(0.6), 1.5 * radius * np.sin(0.6)), "$D$")
        count = int(inside.sum())
        text = "no other in the ball" if not count else f"{count} others in the ball"
        words(ax, (0, -1.25), text)
        ax.set(xlim=(-1.3, 1.3), ylim=(-1.4, 1.2))
    return figure


def phases(places: int = 28, seed: int = 5) -> Any:
    """Draw what surrounds a reference as its margin grows, from isolated to without an edge.

    Each ring stands for a distance. Of the `places` on it as many are solutions, full circles, as
    the phase says: none where there is an empty shell, fewer where there is a dip.

    Parameters
    ----------
    places : int, optional
        On the outermost ring; rings inside have fewer, in proportion to their radius.
    seed : int, optional
        Of which places are solutions.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = phases()
    >>> type(figure).__name__
    'Figure'
    """
    rng = np.random.default_rng(seed)
    figure, axes = panels(tuple(SHARES), (4.8, 5.0), rows=2)
    for ax, shares in zip(axes, SHARES.values(), strict=True):
        for radius, share in zip(RINGS, shares, strict=True):
            count = max(round(places * radius / RINGS[-1]), 6)
            angle = 2 * np.pi * (np.arange(count) + rng.random()) / count
            ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            full = rng.permutation(count) < round(share * count)
            points(ax, ring[~full], ms=3, mec="0.75")
            points(ax, ring[full], ms=4.5, mfc=INK)
        points(ax, np.zeros((1, 2)), ms=8, mfc="#b75520")
        ax.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
    return figure


def _circle(ax, radius):
    angle = np.linspace(0, 2 * np.pi, 100)
    ax.plot(radius * np.cos(angle), radius * np.sin(angle), c=INK, lw=1, ls=(0, (5, 2.5)))
