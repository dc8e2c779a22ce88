"""SVG panels: from arrays to markup, in whole numbers and few of them.

Everything that moves is the ``d`` of a path, one string a frame. The same code writes the frame
that stands in the page, the frames that the page's script swaps in, and those of a live kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from wfmlib.book.display.curves import Curve, Rule
from wfmlib.book.display.palette import CYCLE, on_dark, resolve
from wfmlib.book.display.ticks import ticks

WIDTH, HEIGHT = 6400, 3900  # a ninth of a pixel in a column of 720
DIGIT = 128  # the room for a digit of the largest tick label
FINE = 40  # the longest straight piece of a smooth curve: less than five pixels
TOLERANCE = 1.5  # how far a simplified curve may run from the given points


@dataclass(frozen=True)
class Stroke:
    """Paths that share one look: `frames` holds one ``d``, or one for each frame.

    What lies outside of `window` (left, top, width, height) is cut off.
    """

    kind: str
    style: str
    frames: list[str]
    window: tuple[int, int, int, int] | None = None

    def markup(self, frame: int) -> str:
        """Return the path element of one frame."""
        moves = " wfm-moves" if len(self.frames) > 1 else ""
        d = self.frames[frame if moves else 0]
        style = f' style="{self.style}"' if self.style else ""
        path = f'<path class="wfm-{self.kind}{moves}"{style} d="{d}"/>'
        return f"{_window(*self.window)}{path}</svg>" if self.window else path


class Panel:
    """The axes, and how values become places on them.

    Parameters
    ----------
    xlim, ylim : tuple of float
        The values at the edges.
    """

    def __init__(self, xlim, ylim):
        self.xlim, self.ylim = xlim, ylim
        self.xticks, self.yticks = ticks(*xlim, 7), ticks(*ylim, 6)
        self.left = 110 + DIGIT * max(map(len, self.yticks[1]))
        self.right, self.top, self.bottom = WIDTH - 190, 60, HEIGHT - 300

    def place(self, x, y):
        """Return where the values are, in the units of the drawing."""
        u, v = (
            (np.asarray(value, dtype=float) - low) / (high - low)
            for value, (low, high) in ((x, self.xlim), (y, self.ylim))
        )
        u, v = (np.where(np.isfinite(t), np.clip(t, -50, 50), np.nan) for t in (u, v))
        return (
            self.left + u * (self.right - self.left),
            self.bottom - v * (self.bottom - self.top),
        )

    def strokes(self, marks, frames: int) -> tuple[list[Stroke], list[Stroke]]:
        """Return the strokes that the panel's edge cuts, and the points, which it does not."""
        lines, points = [], []
        cycle = iter(CYCLE * len(marks))
        for mark in marks:
            if isinstance(mark, Rule):
                rows = self._rows(*mark.on(frames, self.xlim, self.ylim))
                lines.append(Stroke("rule", "", [_line(*row) for row in rows]))
                continue
            x, y, error = mark.on(frames)
            style = ink(mark.colour or next(cycle))
            if mark.line != "archive":
                rows = self._rows(x, y)
                draw = _curve if mark.smooth else _line
                window = self._window(mark.only) if mark.only else None
                lines.append(Stroke(mark.line, style, [draw(*row) for row in rows], window))
                continue
            if mark.only is not None:
                y = np.where((y >= mark.only[0]) & (y <= mark.only[1]), y, np.nan)
            inside = np.isfinite(x) & (x >= self.xlim[0]) & (x <= self.xlim[1])
            if mark.error is not None:
                ends = (np.clip(y + side * error, *self.ylim) for side in (-1, 1))
                rows = self._rows(np.where(inside, x, np.nan), *ends)
                lines.append(Stroke("error", style, [_bars(*row) for row in rows]))
            inside = inside & (y >= self.ylim[0]) & (y <= self.ylim[1])
            rows = self._rows(np.where(inside, x, np.nan), y)
            points.append(Stroke("archive", style, [_dots(*row) for row in rows]))
        return lines, points

    def _window(self, only):
        """Return the part of the panel between two values of y."""
        low, high = (np.clip(end, *self.ylim) for end in only)
        top, bottom = (round(self.place(self.xlim[0], y)[1].item()) for y in (high, low))
        return self.left, top, self.right - self.left, bottom - top

    def _rows(self, x, *ys):
        """Return one tuple of places a frame; one in all if nothing moves."""
        places = [self.place(x, ys[0])[0]] + [self.place(x, y)[1] for y in ys]
        return list(zip(*np.broadcast_arrays(*places), strict=True))

    def markup(self, lines, points, frame: int, alt: str) -> str:
        """Return the SVG element of one frame."""
        width, height = self.right - self.left, self.bottom - self.top
        parts = [f'<svg role="img" aria-label="{escape(alt)}" viewBox="0 0 {WIDTH} {HEIGHT}">']
        xs = self.place(self.xticks[0], self.ylim[0])[0]
        ys = self.place(self.xlim[0], self.yticks[0])[1]
        grid = "".join(f"M{x:.0f} {self.top}v{height}" for x in xs)
        grid += "".join(f"M{self.left} {y:.0f}h{width}" for y in ys)
        parts.append(f'<path class="wfm-grid" d="{grid}"/>')
        parts.append(f'<path class="wfm-axes" d="M{self.left} {self.top}v{height}h{width}"/>')
        for x, text in zip(xs, self.xticks[1], strict=True):
            parts.append(f'<text x="{x:.0f}" y="{self.bottom + 85}" class="wfm-x">{text}</text>')
        for y, text in zip(ys, self.yticks[1], strict=True):
            parts.append(f'<text x="{self.left - 70}" y="{y:.0f}" class="wfm-y">{text}</text>')
        parts.append(_window(self.left, self.top, width, height))
        parts += [stroke.markup(frame) for stroke in lines]
        parts += ["</svg>", *(stroke.markup(frame) for stroke in points), "</svg>"]
        return "".join(parts)


def _window(left, top, width, height):
    """Return the start of an inner svg: it cuts at its edges, without an id that could collide."""
    return (
        f'<svg x="{left}" y="{top}" width="{width}" height="{height}" '
        f'viewBox="{left} {top} {width} {height}" overflow="hidden">'
    )


def ink(colour: str) -> str:
    """Return a style with the colour for light and for dark pages."""
    code = resolve(colour)
    return f"--wfm-light:{code};--wfm-dark:{on_dark(code)}"


def key(marks) -> str:
    """Return the legend: a list with a sample of each line."""
    items = []
    cycle = iter(CYCLE * len(marks))
    for mark in marks:
        if isinstance(mark, Curve):
            kind, style = mark.line, f' style="{ink(mark.colour or next(cycle))}"'
            d = "M16 7h0" if kind == "archive" else "M1 7h30"
        else:
            kind, style = "rule", ""
            d = "M1 7h30" if mark.x is None else "M16 0v14"
        items.append(
            f'<li><svg aria-hidden="true" viewBox="0 0 32 14" width="32" height="14">'
            f'<path class="wfm-{kind}"{style} d="{d}"/></svg>{escape(mark.name)}</li>'
        )
    return f'<ul class="wfm-key">{"".join(items)}</ul>'


def _line(x, y):
    """Return a path through the points, broken where one is missing."""
    parts = []
    for run in _runs(np.isfinite(x) & np.isfinite(y)):
        keep = simplified(x[run], y[run], TOLERANCE)
        px, py = (np.rint(values[run][keep]).astype(int) for values in (x, y))
        steps = np.column_stack([np.diff(px), np.diff(py)])
        steps = steps[np.any(steps != 0, axis=1)]
        if len(steps):
            tail = " ".join(map(str, steps.ravel())).replace(" -", "-")
            parts.append(f"M{px[0]} {py[0]}l{tail}")
    return "".join(parts)


def _curve(x, y):
    """Return a path along a smooth curve through the points, broken where one is missing."""
    xs, ys = [], []
    for run in _runs(np.isfinite(x) & np.isfinite(y)):
        fine = smoothed(x[run], y[run])
        xs += [*fine[0], np.nan]
        ys += [*fine[1], np.nan]
    return _line(np.array(xs), np.array(ys))


def smoothed(x, y) -> tuple[np.ndarray, np.ndarray]:
    """Return points no farther apart than `FINE` on a curve through the points.

    Cubics that rise and fall where the points do (Fritsch and Carlson): no new extremum appears.
    Where x does not rise or fall throughout, the points are returned as they are.
    """
    if len(x) < 3 or not (np.all(np.diff(x) > 0) or np.all(np.diff(x) < 0)):
        return x, y
    from scipy.interpolate import PchipInterpolator

    if x[0] > x[-1]:
        x, y = x[::-1], y[::-1]
    parts = np.ceil(np.hypot(np.diff(x), np.diff(y)) / FINE).clip(1, 60).astype(int)
    near = np.abs(y - HEIGHT / 2) < 3 * HEIGHT
    parts[~(near[1:] & near[:-1])] = 1  # towards a point far outside nobody sees the curve
    fine = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(x[:-1], x[1:], parts, strict=True)]
    places = np.append(np.concatenate(fine), x[-1])
    return places, PchipInterpolator(x, y)(places)


def _dots(x, y):
    finite = np.isfinite(x) & np.isfinite(y)
    return "".join(f"M{u:.0f} {v:.0f}h0" for u, v in zip(x[finite], y[finite], strict=True))


def _bars(x, low, high):
    finite = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    ends = zip(x[finite], low[finite], high[finite], strict=True)
    return "".join(f"M{u:.0f} {v:.0f}V{w:.0f}" for u, v, w in ends)


def _runs(good):
    """Return the index arrays of the unbroken stretches where `good` holds."""
    places = np.flatnonzero(good)
    return [run for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if run.size]


def simplified(x, y, tolerance: float) -> np.ndarray:
    """Return which points a polygon needs to stay within `tolerance` of all of them.

    Ramer, Douglas and Peucker: keep the point farthest from the chord, on both sides of it again.
    """
    keep = np.zeros(len(x), dtype=bool)
    keep[[0, -1]] = True
    todo = [(0, len(x) - 1)]
    while todo:
        first, last = todo.pop()
        if last - first < 2:
            continue
        along = np.array([x[last] - x[first], y[last] - y[first]])
        u, v = x[first + 1 : last] - x[first], y[first + 1 : last] - y[first]
        foot = np.clip((u * along[0] + v * along[1]) / max(along @ along, 1e-9), 0, 1)
        away = np.hypot(u - foot * along[0], v - foot * along[1])
        worst = int(np.argmax(away))
        if away[worst] > tolerance:
            middle = first + 1 + worst
            keep[middle] = True
            todo += [(first, middle), (middle, last)]
    return keep
