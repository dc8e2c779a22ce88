"""A figure with a slider: on a page without kernel or network, or on a live kernel.

On a page, the figure stands in the markup at its first value; curves of all values wait beside it
as text, and a script of twenty lines swaps them when the reader moves a native range input. With
a live kernel, ipywidgets' slider asks the same drawing code for the same picture.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike

from wfmlib import _validate
from wfmlib.display import axes, svg
from wfmlib.display.marks import Curve, Rule, label
from wfmlib.display.notebook import is_live


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
        value.

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
    >>> from wfmlib import display
    >>> x, alpha = np.linspace(0, 1, 101), np.linspace(0.1, 0.8, 8)
    >>> display.slider("load α", alpha,
    ...     [display.Curve("straight", x, np.outer(alpha, x), colour="perceptron")],
    ...     xlabel="x", ylabel="y", alt="A straight line that steepens with the load.")
    Slider(load α: 8 values from 0.1 to 0.8; straight)
    """
    texts = {"parameter": parameter, "xlabel": xlabel, "ylabel": ylabel, "alt": alt}
    for name, text in texts.items():
        label(name, text)
    values = _validate.reals("values", values)
    steps = np.diff(values) if values.ndim == 1 else np.empty(0)
    if len(steps) == 0 or not (np.all(steps > 0) or np.all(steps < 0)):
        raise ValueError(
            "values must hold at least two finite numbers, rising or falling, in one row; "
            f"got shape {values.shape}: {values}"
        )
    if not np.all(np.isfinite(values)):
        raise ValueError(f"values must be finite, got {values}")
    frames = len(values)
    marks = _several("curves", curves)
    for mark in marks:
        _validate.member("each of curves", mark, (Curve, Rule))
    if callable(note):
        notes = [note(float(value)) for value in values]
    else:
        notes = () if note is None else _several("note", note)
    if notes and len(notes) != frames:
        raise ValueError(f"note must hold one text per value ({frames}), got {len(notes)}")
    for text in notes:
        _validate.member("each of note", text, (str,))
    start = _validate.integer("start", start, 0, frames - 1)
    xlim, ylim = _limits(marks, frames, xlim, ylim)
    return Slider(parameter, values, marks, xlabel, ylabel, alt, xlim, ylim, start, tuple(notes))


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
        return axes.written(self.values)

    def figure(self, frame: int) -> str:
        """Return legend, labels and panel of one frame as HTML, without a control."""
        panel, lines, points = self._drawing
        return (
            f"{svg.key(self.marks)}"
            f'<p class="wfm-ylabel">{escape(self.ylabel)}</p>'
            f"{panel.markup(lines, points, frame, self.alt)}"
            f'<p class="wfm-xlabel">{escape(self.xlabel)}</p>'
        )

    def html(self) -> str:
        """Return the static figure: markup, data, style and script, about 10 KB plus curves."""
        _, lines, points = self._drawing
        notes = self.notes or [""] * len(self.values)
        data = {
            "paths": [stroke.frames for stroke in lines + points if len(stroke.frames) > 1],
            "values": self.texts,
            "notes": notes,
        }
        said = "; ".join(filter(None, (self.texts[self.start], notes[self.start])))
        # JupyterLab takes style and svg from a notebook that it does not trust: then everything
        # is hidden but one sentence. It also takes arrow keys from inputs, unless told not to.
        return (
            f'<figure class="wfm-slider"><style>{_asset("slider.css")}</style>'
            '<p class="wfm-asleep">Run this cell, or trust the notebook, to see the figure.</p>'
            f'<div hidden="hidden">{self.figure(self.start)}'
            f'<div class="wfm-control"><label><span>{escape(self.parameter)}</span>'
            f'<input type="range" min="0" max="{len(self.values) - 1}" value="{self.start}" '
            f'autocomplete="off" data-lm-suppress-shortcuts="true" '
            f'aria-valuetext="{escape(said)}"></label>'
            f'<output aria-live="off">{self.texts[self.start]}</output></div>'
            f"{self._note(self.start)}</div>"
            f'<script type="application/json">{_json(data)}</script>'
            f"<script>{_asset('slider.js')}</script></figure>"
        )

    def widget(self):
        """Return the ipywidgets control with the same picture, drawn anew for each value."""
        import ipywidgets

        def picture(frame):
            style = f"<style>{_asset('slider.css')}</style>"
            body = self.figure(frame) + self._note(frame)
            return f'<figure class="wfm-slider">{style}<div>{body}</div></figure>'

        shown = ipywidgets.HTML(picture(self.start))
        choice = ipywidgets.SelectionSlider(
            options=[(text, frame) for frame, text in enumerate(self.texts)],
            value=self.start,
            description=self.parameter,
            style={"description_width": "initial"},
            layout={"width": "100%", "max_width": "45rem", "margin": "0 auto"},
        )
        choice.observe(lambda change: shown.set_trait("value", picture(change["new"])), "value")
        return ipywidgets.VBox([shown, choice])

    def _note(self, frame):
        return f'<p class="wfm-note">{escape(self.notes[frame])}</p>' if self.notes else ""

    @cached_property
    def _drawing(self):
        panel = svg.Panel(self.xlim, self.ylim)
        return panel, *panel.strokes(self.marks, len(self.values))

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.mode == "live" or (self.mode is None and is_live()):
            return self.widget()._repr_mimebundle_()
        from wfmlib.display.printed import pdf

        return {
            "text/html": self.html(),
            "application/pdf": base64.b64encode(pdf(self)).decode(),
            "text/plain": repr(self),
        }

    def __repr__(self):
        ends = f"{len(self.values)} values from {self.texts[0]} to {self.texts[-1]}"
        return f"Slider({self.parameter}: {ends}; {', '.join(m.name for m in self.marks)})"


def _several(name, given):
    """Return a sequence as a tuple; a text is not meant as one."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a sequence, got {given!r}")
    return tuple(given)


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
    found = []
    for name, given, values, pad in (
        ("xlim", xlim, xs, 0.03 if dots else 0.0),
        ("ylim", ylim, ys, 0.05),
    ):
        if given is None:
            found.append(axes.limits(np.concatenate(values), pad))
            continue
        ends = _validate.reals(name, given)
        if ends.shape != (2,) or not np.all(np.isfinite(ends)) or not ends[0] < ends[1]:
            raise ValueError(f"{name} must be two finite numbers, low < high, got {given!r}")
        found.append((float(ends[0]), float(ends[1])))
    return found


def _json(data):
    """Return JSON that no markup parser can leave early."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _asset(name):
    return files("wfmlib.display").joinpath(name).read_text(encoding="utf-8").strip()
