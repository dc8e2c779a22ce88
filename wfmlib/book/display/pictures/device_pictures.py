"""The devices: a perceptron, committees on a tree and fully connected, a parity machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfmlib.book.display.pictures.canvas import INK, arrow, lines, panels, points, row, words

HEIGHTS = 0.0, 1.5, 3.0  # of inputs, units, and the output


def devices(units: int = 3, inputs: int = 9) -> Any:
    """Draw the four devices.

    Parameters
    ----------
    units : int, optional
        Hidden units, at least 2.
    inputs : int, optional
        Inputs, a multiple of `units`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the inputs cannot be divided among the units.

    Examples
    --------
    >>> figure = devices()
    >>> type(figure).__name__
    'Figure'
    """
    if units < 2 or inputs % units:
        raise ValueError(f"inputs must be a multiple of units, at least 2, got {inputs}, {units}")
    titles = "perceptron", "tree committee", "full committee", "parity machine"
    figure, axes = panels(titles, (4.8, 5.4), rows=2)
    below = row(inputs, HEIGHTS[0], 0.45)
    hidden = row(units, HEIGHTS[1], 0.45 * inputs / units)
    top = np.array([0.0, HEIGHTS[2]])
    owner = np.arange(inputs) // (inputs // units)
    for ax, title in zip(axes, titles, strict=True):
        points(ax, below, ms=5, mfc=INK)
        if title == "perceptron":
            lines(ax, below, top)
        elif title == "full committee":
            for unit in hidden:
                lines(ax, below, unit)
        else:
            lines(ax, below, hidden[owner])
        if title != "perceptron":
            lines(ax, hidden, top)
            points(ax, hidden)
        points(ax, top[None], ms=17)
        words(ax, top, r"$\Pi$" if title == "parity machine" else r"$\Sigma$")
        arrow(ax, (0.0, HEIGHTS[2] + 0.35), (0.0, HEIGHTS[2] + 0.85))
        words(ax, (0.0, HEIGHTS[2] + 1.1), r"$\sigma_{\mathrm{out}}$")
        words(ax, [0.0, HEIGHTS[0] - 0.55], r"inputs $\xi_i$")
        ax.set(xlim=(-2.3, 2.3), ylim=(-0.9, 4.4))
    return figure
