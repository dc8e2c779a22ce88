"""Picture of a slider where nothing moves: frames over each other, from light to dark."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from wfmlib.book.display.curves import Rule
from wfmlib.book.display.palette import CYCLE, LINES, resolve, tint
from wfmlib.book.display.smoothing import smooth

MOST = 5


def png(slider) -> bytes:
    """Return the static figure as a picture; the same bytes for the same figure.

    Parameters
    ----------
    slider : Slider or Instance
        At most five of its frames are drawn, from the first value (light) to the last (dark); all
        of them are computed ones.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    count, knots = len(slider.values), len(slider.knots)
    chosen = np.unique(np.linspace(0, knots - 1, min(MOST, knots)).round().astype(int))
    frames = [int(np.argmin(np.abs(slider.values - knot))) for knot in slider.knots[chosen]]
    with style.context("wfmlib.wfm"):
        figure = Figure(figsize=(6.4, 4.5))
        axes = figure.subplots()
        cycle = iter(CYCLE * len(slider.marks))
        for mark in slider.marks:
            if isinstance(mark, Rule):
                rows = mark.on(count, slider.xlim, slider.ylim)
                look, colour, error = {"linewidth": 0.9}, "#555555", None
            else:
                *rows, error = mark.on(count)
                look, colour = LINES[mark.line], resolve(mark.colour or next(cycle))
                if mark.smooth and mark.line != "archive":
                    rows = _finer(*rows)
                if mark.only is not None:
                    inside = (rows[1] >= mark.only[0]) & (rows[1] <= mark.only[1])
                    rows[1] = np.where(inside, rows[1], np.nan)
            fixed = all(len(row) == 1 for row in rows)
            for frame, share in zip(frames, np.linspace(0.35, 1.0, len(frames)), strict=True):
                if fixed and frame != frames[-1]:
                    continue
                x, y = (row[frame if len(row) > 1 else 0] for row in rows)
                name = mark.name if frame == frames[-1] else None
                ink = tint(colour, share) if len(frames) > 1 else colour
                if error is not None and np.isfinite(error).any():
                    bar = error[frame if len(error) > 1 else 0]
                    axes.errorbar(x, y, bar, color=ink, label=name, **look)
                else:
                    axes.plot(x, y, color=ink, label=name, **look)
        steps = ", ".join(slider.texts[frame] for frame in frames)
        if len(frames) > 1:
            axes.set_title(f"{slider.parameter} = {steps} (light to dark)")
        axes.set(xlabel=slider.xlabel, ylabel=slider.ylabel, xlim=slider.xlim, ylim=slider.ylim)
        figure.legend(loc="outside upper center", ncols=2)
        file = BytesIO()
        figure.savefig(file, format="png", dpi=96, metadata={"Software": None})
    return file.getvalue()


def _finer(x, y):
    """Return more points of the curves that the page draws through these points.

    Where x neither rises nor falls, or points are few, they are returned as they are.
    """
    steps = np.diff(x)
    if x.shape[1] < 3 or not ((steps > 0).all(axis=1) | (steps < 0).all(axis=1)).all():
        return [x, y]
    count = max(len(x), len(y))
    rows = (np.broadcast_to(z, (count, z.shape[1])) for z in (x, y))
    fine = [smooth(*row) for row in zip(*rows, strict=True)]
    longest = max(len(u) for u, _ in fine)
    filled = [
        [np.pad(z, (0, longest - len(z)), constant_values=np.nan) for z in pair] for pair in fine
    ]
    return [np.array(z) for z in zip(*filled, strict=True)]
