"""A figure with a slider: on a page without kernel or network, or on a live kernel.

On a page, the figure stands in the markup at its first value; curves of all stops wait beside it
as text, and a short script swaps them when the reader moves a native range input or types a value.
With a live kernel, ipywidgets' controls ask the same drawing code for the same picture, and may
have curves computed where the page has them interpolated.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.book.display import between, svg, ticks
from wfmlib.book.display.curves import Curve, Rule, label
from wfmlib.book.display.notebook import is_live
from wfmlib.numerics import arguments


def slider(
    parameter: str,
    values: ArrayLike,
    curves: Sequence[Curve | Rule],
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    start: int = 0,
    note: Callable[[float], str] | Sequence[str] | None = None,
    stops: ArrayLike | None = None,
    compute: Callable[[float], Sequence[ArrayLike]] | None = None,
) -> Slider:
    """Return a figure in which a slider moves curves.

    Parameters
    ----------
    parameter : str
        Name and symbol of what the slider changes, such as ``"load α"``.
    values : array_like, shape (frames,)
        Its values, rising or falling; at least two.
    curves : sequence of `Curve` and `Rule`
        What is drawn, in this order.
    xlabel, ylabel : str
        Quantity, symbol and unit of the axes, such as ``"entropy φ (nats per weight)"``.
    alt : str
        The figure in words, for those who do not see it: what is drawn and what moving the
        slider changes.
    xlim, ylim : (float, float), optional
        Ends of the axes; by default wide enough for all frames.
    start : int
        Index of the value shown first, and in print.
    note : callable or sequence of str, optional
        A short sentence for each value, shown below the slider: a list, or a function of the
        value. With `stops` a function, or a sentence for each stop (`stops_of` lists them).
    stops : array_like, optional
        Where the slider stops besides the `values`: there, curves and rules with a row for each
        value are linear in what the slider changes between the rows of its two neighbours. The
        figure says so, and about how far off that is, from leaving out each value in its turn.
    compute : callable, optional
        With a live kernel, what is drawn at a stop that is not one of `values`: a function of it
        that returns y of each curve with a row for each value, or a pair of x and y, in their
        order.

    Returns
    -------
    Slider
        Put it at the end of a cell. It shows an ipywidgets control where a kernel is live, and
        the page's own slider where the environment variable WFMLIB_DISPLAY is ``static``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, shapes do not match, values are not finite or not
        monotonic, or a text is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib.book import display
    >>> x, alpha = np.linspace(0, 1, 101), np.linspace(0.1, 0.8, 8)
    >>> display.slider("load α", alpha,
    ...     [display.Curve("straight", x, np.outer(alpha, x), colour="perceptron")],
    ...     xlabel="x", ylabel="y", alt="A straight line that steepens with the load.")
    Slider(load α: 8 values from 0.1 to 0.8; straight)
    """
    texts = {"parameter": parameter, "xlabel": xlabel, "ylabel": ylabel, "alt": alt}
    for name, text in texts.items():
        label(name, text)
    values = arguments.reals("values", values)
    steps = np.diff(values) if values.ndim == 1 else np.empty(0)
    if len(steps) == 0 or not (np.all(steps > 0) or np.all(steps < 0)):
        raise ValueError(
            "values must hold at least two finite numbers, rising or falling, in one row; "
            f"got shape {values.shape}: {values}"
        )
    if not np.all(np.isfinite(values)):
        raise ValueError(f"values must be finite, got {values}")
    frames, knots = len(values), values
    marks = _several("curves", curves)
    for mark in marks:
        arguments.member("each of curves", mark, (Curve, Rule))
    if compute is not None and not callable(compute):
        raise TypeError(f"compute must be a function of the value, got {compute!r}")
    start = arguments.integer("start", start, 0, frames - 1)
    xlim, ylim = _limits(marks, frames, xlim, ylim)
    off = None
    if stops is not None:
        values = stops_of(knots, stops)
        off = between.error(knots, marks, xlim, ylim)
        marks = between.marks(knots, marks, values)
        start = int(np.argmin(np.abs(values - knots[start])))
        frames = len(values)
    if callable(note):
        notes = [note(float(value)) for value in values]
    else:
        notes = () if note is None else _several("note", note)
    if notes and len(notes) != frames:
        raise ValueError(f"note must hold one text per value ({frames}), got {len(notes)}")
    for text in notes:
        arguments.member("each of note", text, (str,))
    notes = tuple(typeset(text) for text in notes)
    settings = parameter, values, marks, xlabel, ylabel, alt, xlim, ylim, start, notes
    return Slider(*settings, knots=knots, off=off, compute=compute)


def stops_of(values: ArrayLike, stops: ArrayLike) -> np.ndarray:
    """Return all places where a slider with these values and stops stops: both together.

    Parameters
    ----------
    values, stops : array_like
        As `slider` takes them.

    Returns
    -------
    numpy.ndarray
        In the order of `values`.

    Examples
    --------
    >>> stops_of([0.1, 0.2, 0.3], [0.25]).tolist()
    [0.1, 0.2, 0.25, 0.3]
    """
    return between.check(np.asarray(values, dtype=float), stops)


def typeset(text: str) -> str:
    """Return a sentence with numbers as they are printed: a true minus, powers of ten raised."""
    power = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    def raised(match):
        return f"{match[1]} × 10{str(int(match[2])).translate(power)}"

    text = re.sub(r"(\d)e([+-]?\d+)", raised, text)
    return re.sub(r"(?<![\w.-])-(?=\.?\d)", ticks.MINUS, text)


@dataclass(frozen=True, eq=False, repr=False)
class Slider:
    """A figure with a slider; made by `slider`, which checks the arguments."""

    parameter: str
    values: np.ndarray
    marks: tuple[Curve | Rule, ...]
    xlabel: str
    ylabel: str
    alt: str
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    start: int
    notes: tuple[str, ...]
    knots: np.ndarray
    off: float | None
    compute: Callable[[float], Sequence[ArrayLike]] | None
    mode: str | None = None

    def static(self) -> Slider:
        """Return the figure as the page shows it, kernel or not."""
        return replace(self, mode="static")

    def live(self) -> Slider:
        """Return the figure with the ipywidgets control, whatever the environment says."""
        return replace(self, mode="live")

    @cached_property
    def texts(self) -> list[str]:
        """The values as the reader sees them."""
        return ticks.written(self.values)

    @cached_property
    def made(self) -> str:
        """Which curves were computed, and how far off the others are; empty where all were."""
        if self.off is None:
            return ""
        percent = f"{100 * self.off:.1g}" if self.off < 0.095 else f"{100 * self.off:.0f}"
        many = f"off by about {percent} % of an axis at most"
        rest = many if self.off > 0.003 else "off by less than the lines are wide"
        return f"Computed at {len(self.knots)} values, linear between them ({rest})."

    def figure(self, frame: int, exact: bool = False) -> str:
        """Return legend, labels and panel of one frame as HTML, without a control.

        With `exact`, curves are computed where the page would interpolate them, if they can be.
        """
        panel, lines, points = self._drawing
        place = frame
        if exact and self.compute and self.values[frame] not in self.knots:
            lines, points = panel.strokes(self._computed(frame), 1)
            place = 0
        return (
            f"{svg.key(self.marks)}"
            f'<p class="wfm-ylabel">{escape(self.ylabel)}</p>'
            f"{panel.markup(lines, points, place, self.alt)}"
            f'<p class="wfm-xlabel">{escape(self.xlabel)}</p>'
        )

    def html(self) -> str:
        """Return the static figure: markup, data, style and script, about 10 KB plus curves."""
        _, lines, points = self._drawing
        notes = self.notes or [""] * len(self.values)
        moving = [stroke.frames for stroke in lines + points if len(stroke.frames) > 1]
        # One curve in two looks, cut at a level, is told once.
        paths = [
            moving.index(frames) if frames in moving[:i] else frames
            for i, frames in enumerate(moving)
        ]
        data = {"paths": paths, "values": self.texts, "notes": notes}
        spoken = "; ".join(filter(None, (self.texts[self.start], notes[self.start])))
        name, text = escape(self.parameter), self.texts[self.start]
        # JupyterLab takes style and svg from a notebook that it does not trust: then everything
        # is hidden but one sentence. It also takes keys from inputs, unless told not to.
        keys = 'autocomplete="off" data-lm-suppress-shortcuts="true"'
        return (
            f'<figure class="wfm-slider"><style>{asset("slider.css")}</style>'
            '<p class="wfm-asleep">Run this cell, or trust the notebook, to see the figure.</p>'
            f'<div hidden="hidden">{self.figure(self.start)}'
            f'<div class="wfm-control"><label><span>{name}</span>'
            f'<input type="range" min="0" max="{len(self.values) - 1}" value="{self.start}" '
            f'{keys} aria-valuetext="{escape(spoken)}"></label>'
            f'<input type="text" inputmode="decimal" value="{text}" {keys} '
            f'aria-label="{name}, to type"><output aria-live="off">{text}</output></div>'
            f'<p class="wfm-said" role="status"></p>'
            f"{self._below(self.start)}</div>"
            f'<script type="application/json">{json_text(data)}</script>'
            f"<script>{asset('slider.js')}</script></figure>"
        )

    def widget(self) -> Any:
        """Return the ipywidgets control with the same picture, drawn anew for each value."""
        import ipywidgets

        def picture(frame):
            style = f"<style>{asset('slider.css')}</style>"
            body = self.figure(frame, exact=True) + self._below(frame, exact=True)
            return f'<figure class="wfm-slider">{style}<div>{body}</div></figure>'

        drawing = ipywidgets.HTML(picture(self.start))
        choice = ipywidgets.SelectionSlider(
            options=[(text, frame) for frame, text in enumerate(self.texts)],
            value=self.start,
            description=self.parameter,
            style={"description_width": "initial"},
            layout={"flex": "1 1 auto"},
            continuous_update=self.compute is None,
        )
        typed = ipywidgets.Text(self.texts[self.start], continuous_update=False)
        typed.layout.width = "6rem"
        typed.tooltip = f"{self.parameter}, to type"
        message_below = ipywidgets.HTML()

        def move(change):
            drawing.value = picture(change["new"])
            typed.value, message_below.value = self.texts[change["new"]], ""

        def go(change):
            if change["new"] != self.texts[choice.value]:
                frame, message = self.nearest(change["new"])
                if frame is not None:
                    choice.value = frame
                    typed.value = self.texts[frame]
                message_below.value = escape(message)

        choice.observe(move, "value")
        typed.observe(go, "value")
        layout = {"width": "100%", "max_width": "45rem", "margin": "0 auto"}
        control = ipywidgets.HBox([choice, typed], layout=layout)
        return ipywidgets.VBox([drawing, control, message_below])

    def nearest(self, text: str) -> tuple[int | None, str]:
        """Return the stop nearest to a value that was typed, and what to say of it.

        Returns
        -------
        tuple of (int or None, str)
            None where the text is no number, or one that the slider does not reach. The page's
            script says the same.
        """
        ends = f"{self.texts[0]} to {self.texts[-1]}"
        try:
            value = float(text.strip().replace(ticks.MINUS, "-").replace(",", "."))
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            return None, f"“{text}” is not a number: type one from {ends}."
        numbers = np.array([float(text.replace(ticks.MINUS, "-")) for text in self.texts])
        if not numbers.min() <= value <= numbers.max():
            return None, f"{text} is out of range: type a number from {ends}."
        frame = int(np.argmin(np.abs(numbers - value)))
        if numbers[frame] == value:
            return frame, ""
        return frame, f"{self.texts[frame]} is the stop nearest to {text}."

    def _below(self, frame, exact=False):
        """Return the sentences below the slider."""
        note = f'<p class="wfm-note">{escape(self.notes[frame])}</p>' if self.notes else ""
        sentence = "" if exact and self.compute else self.made
        return note + (f'<p class="wfm-made">{escape(sentence)}</p>' if sentence else "")

    def _computed(self, frame):
        """Return the marks at a stop, its curves computed."""
        moving = [
            mark
            for mark in self.marks
            if isinstance(mark, Curve) and max(len(mark.x), len(mark.y)) > 1
        ]
        curves = _several("what compute returns", self.compute(float(self.values[frame])))
        if len(curves) != len(moving):
            raise ValueError(
                f"compute must return {len(moving)} curves, as many as move, got {len(curves)}"
            )
        new = dict(zip(map(id, moving), curves, strict=True))
        marks = []
        for mark in self.marks:
            if id(mark) in new:
                y = new[id(mark)]
                x, y = y if isinstance(y, tuple) else (mark.x, y)
                marks.append(replace(mark, x=x, y=y))
            else:
                names = [
                    name for name in ("x", "y", "error") if getattr(mark, name, None) is not None
                ]
                fixed = {
                    name: getattr(mark, name)[frame : frame + 1]
                    for name in names
                    if len(getattr(mark, name)) > 1
                }
                marks.append(replace(mark, **fixed))
        return marks

    @cached_property
    def _drawing(self):
        panel = svg.Panel(self.xlim, self.ylim)
        return panel, *panel.strokes(self.marks, len(self.values))

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.mode == "live" or (self.mode is None and is_live()):
            # its own method is another one in ipywidgets 7, as Colab has it
            widget = self.widget()
            view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
            return {"text/plain": repr(widget), "application/vnd.jupyter.widget-view+json": view}
        from wfmlib.book.display.printed import png

        return {
            "text/html": self.html(),
            "image/png": base64.b64encode(png(self)).decode(),
            "text/plain": repr(self),
        }

    def __repr__(self):
        ends = f"{len(self.values)} values from {self.texts[0]} to {self.texts[-1]}"
        return f"Slider({self.parameter}: {ends}; {', '.join(m.name for m in self.marks)})"


def _several(name, values):
    """Return a sequence as a tuple; a text is not meant as one."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence, got {values!r}")
    return tuple(values)


def _limits(marks, frames, xlim, ylim):
    """Check the ends of the axes; find those that were not given."""
    xs, ys, dots = [], [], False
    for mark in marks:
        if isinstance(mark, Curve):
            x, y, error = mark.on(frames)
            dots |= mark.line == "archive"
            xs.append(x.ravel())
            bar = np.nan_to_num(error, posinf=0.0)
            ys += [(y - bar).ravel(), (y + bar).ravel()]
        else:
            mark.on(frames, (0, 0), (0, 0))
            (ys if mark.x is None else xs).append(mark.y if mark.x is None else mark.x)
    if not any(isinstance(mark, Curve) for mark in marks):
        raise ValueError("curves must hold at least one Curve, got none")
    limits = []
    for name, asked, values, pad in (
        ("xlim", xlim, xs, 0.03 if dots else 0.0),
        ("ylim", ylim, ys, 0.05),
    ):
        if asked is None:
            limits.append(ticks.limits(np.concatenate(values), pad))
            continue
        ends = arguments.reals(name, asked)
        if ends.shape != (2,) or not np.all(np.isfinite(ends)) or not ends[0] < ends[1]:
            raise ValueError(f"{name} must be two finite numbers, low < high, got {asked!r}")
        limits.append((float(ends[0]), float(ends[1])))
    return limits


def json_text(data):
    """Return JSON that no markup parser can leave early."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def asset(name):
    return files("wfmlib.book.display").joinpath(name).read_text(encoding="utf-8").strip()
