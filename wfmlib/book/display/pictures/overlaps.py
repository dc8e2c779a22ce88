"""Overlaps of replicas: the matrix, and the tree of clusters, for each pattern of breaking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wfmlib.book.display.pictures.canvas import INK, lines, panels, words


def matrix(sizes: Sequence[int]) -> np.ndarray:
    """Return at which level each pair of replicas parts, the diagonal at the last.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of replicas in all, in a group, in a group of a group, ...; each a multiple of the
        next.

    Returns
    -------
    array of int, shape (sizes[0], sizes[0])
    """
    place = np.arange(sizes[0])
    level = np.zeros((sizes[0], sizes[0]), dtype=int)
    for size in (*sizes[1:], 1):
        level += place[:, None] // size == place // size
    return level


def overlaps(replicas: int = 16) -> Any:
    """Draw overlap matrix and tree, replica symmetric, with one step, with many.

    Parameters
    ----------
    replicas : int, optional
        A power of two, at least 8.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> figure = overlaps()
    >>> type(figure).__name__
    'Figure'
    """
    if replicas < 8 or replicas & (replicas - 1):
        raise ValueError(f"replicas must be a power of two, at least 8, got {replicas}")
    sizes_by_title = {
        "replica symmetric": [replicas],
        "one step": [replicas, replicas // 4],
        "full": [replicas >> k for k in range(replicas.bit_length() - 1)],
    }
    figure, axes = panels(tuple(sizes_by_title), (4.8, 3.4))
    for ax, sizes in zip(axes, sizes_by_title.values(), strict=True):
        level = matrix(sizes)
        span = 0.5, replicas + 0.5
        ax.imshow(level / level.max(), cmap="Greys", vmin=-0.15, vmax=1.15, extent=(*span, *span))
        _tree(ax, sizes, top=replicas * 1.85, bottom=replicas * 1.1)
        ax.set(xlim=(0, replicas + 1), ylim=(-0.14 * replicas, replicas * 2.0))
        names = {1: "$q$", 2: "$q_0 < q_1$"}.get(len(sizes), "$q(x)$")
        words(ax, [replicas / 2 + 0.5, -0.07 * replicas], names)
    return figure


def _tree(ax, sizes, top, bottom):
    """Draw what parts at each level: a root, groups, replicas."""
    count = sizes[0]
    steps = [*sizes, 1]
    heights = np.linspace(top, bottom, len(steps))

    def centres(size):
        return (np.arange(count // size) + 0.5) * size + 0.5

    for upper, lower, high, low in zip(
        steps[:-1], steps[1:], heights[:-1], heights[1:], strict=True
    ):
        x = centres(lower)
        parents = centres(upper)[np.arange(len(x)) * lower // upper]
        starts = np.stack([parents, np.full(len(x), high)], axis=1)
        ends = np.stack([x, np.full(len(x), low)], axis=1)
        lines(ax, starts, ends, c=INK)
