"""Curves, points and reference lines: what a figure with a slider can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.book.display.palette import LINES, resolve
from wfmlib.numerics import arguments


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve, or points with error bars, that the slider moves.

    Parameters
    ----------
    name : str
        What the legend says.
    x, y : array_like, shape (points,) or (frames, points)
        In the units of the axes. One row for each value of the slider, or one for all. NaN and
        infinity leave a gap.
    line : {"theory", "archive", "bound", "unstable"}
        What it is: solid, points, dashed, dotted (`LINES`).
    colour : str, optional
        A name of `COLOURS` or ``#rrggbb``; by default the next of `CYCLE`.
    error : array_like, shape (points,) or (frames, points), optional
        Half the length of the error bars, for ``line="archive"``.
    only : (float, float), optional
        Draw only what lies between these two values of y, cut exactly there: the part of an
        entropy that is positive, ``(0, np.inf)``.
    smooth : bool
        Draw the line as a cubic through its points that keeps their rises and falls, so that few
        points look smooth; False: straight from point to point.

    Raises
    ------
    TypeError, ValueError
        If `x`, `y` or `error` does not hold real numbers, shapes do not match, or `line`,
        `colour`, `only` or `smooth` is not one of those allowed.

    Examples
    --------
    >>> Curve("entropy", [0.0, 1.0], [0.5, 0.2]).name
    'entropy'
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    line: str = "theory"
    colour: str | None = None
    error: ArrayLike | None = None
    only: tuple[float, float] | None = None
    smooth: bool = True

    def __post_init__(self):
        label("name", self.name)
        arguments.choice("line", self.line, LINES)
        arguments.choice("smooth", self.smooth, (False, True))
        if self.only is not None:
            ends = arguments.reals("only", self.only)
            if ends.shape != (2,) or not ends[0] < ends[1]:
                raise ValueError(f"only must be two numbers, low < high, got {self.only!r}")
            object.__setattr__(self, "only", (float(ends[0]), float(ends[1])))
        if self.colour is not None:
            resolve(self.colour)
        if self.error is not None and self.line != "archive":
            raise ValueError(f"error bars need line='archive', got line={self.line!r}")
        for axis in ("x", "y") if self.error is None else ("x", "y", "error"):
            object.__setattr__(self, axis, _rows(f"{axis} of {self.name!r}", getattr(self, axis)))

    def on(self, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return x, y and error, each with shape (frames, points) or (1, points) where fixed."""
        points = self.y.shape[1]
        error = np.full((1, points), np.nan) if self.error is None else self.error
        for axis, rows in (("x", self.x), ("y", self.y), ("error", error)):
            if rows.shape[1] != points or rows.shape[0] not in (1, frames):
                raise ValueError(
                    f"{axis} of {self.name!r} must have shape ({points},) or ({frames}, {points}) "
                    f"({frames} values of the slider, {points} points in y), got {rows.shape}"
                )
        return self.x, self.y, error


@dataclass(frozen=True, eq=False)
class Rule:
    """A reference line across the whole panel: upright at `x`, or level at `y`.

    Parameters
    ----------
    name : str
        What the legend says.
    x, y : float or array_like, shape (frames,)
        Exactly one of the two, in the units of its axis. One position for each value of the
        slider, or one for all; where it is NaN there is no line.

    Raises
    ------
    TypeError, ValueError
        If not exactly one of `x` and `y` is given, or it does not hold real numbers.

    Examples
    --------
    >>> Rule("capacity", x=0.833).name
    'capacity'
    """

    name: str
    x: ArrayLike | None = None
    y: ArrayLike | None = None

    def __post_init__(self):
        label("name", self.name)
        if (self.x is None) == (self.y is None):
            raise ValueError(f"{self.name!r} must have exactly one of x and y")
        axis = "y" if self.x is None else "x"
        place = np.atleast_1d(arguments.reals(f"{axis} of {self.name!r}", getattr(self, axis)))
        if place.ndim != 1:
            raise ValueError(f"{axis} of {self.name!r} must be a number or a list of numbers")
        object.__setattr__(self, axis, place)

    def on(self, frames: int, xlim: Any, ylim: Any) -> Any:
        """Return the ends of the line, x and y, with shape (frames or 1, 2)."""
        axis, place = ("x", self.x) if self.y is None else ("y", self.y)
        if len(place) not in (1, frames):
            raise ValueError(
                f"{axis} of {self.name!r} must be one number or {frames} of them "
                f"(one for each value of the slider), got {len(place)}"
            )
        ends = np.repeat(place[:, None], 2, axis=1)
        across = np.broadcast_to(ylim if axis == "x" else xlim, ends.shape)
        return (ends, across) if axis == "x" else (across, ends)


def label(name: str, value) -> str:
    """Return `value` if it is text that says something."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a non-empty string, got {value!r}")
    return value


def _rows(name, value):
    rows = arguments.reals(name, value)
    if rows.ndim not in (1, 2) or rows.size == 0:
        raise ValueError(f"{name} must have shape (points,) or (frames, points), got {rows.shape}")
    return np.atleast_2d(rows)
