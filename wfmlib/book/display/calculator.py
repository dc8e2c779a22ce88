"""A figure that computes typical solutions of a device that the reader chooses, types or draws.

The page's script (`book/_static/live/calculator.js`) asks the kernels of `theory.typical.pages`
through `compute.js`. Without the script the figure stands as it was made.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from wfmlib.book.display import doors, svg
from wfmlib.book.display.instance import STYLE
from wfmlib.book.display.marks import Curve, Rule, label
from wfmlib.book.display.slider import asset, json_text
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Range
from wfmlib.theory.axes import Load
from wfmlib.theory.saddles.pages import LOWEST

CURVES, RULES = 3, 2
FARTHEST = 38.0  # of ln q_hat: 1 - q is 1e-8, and the entropy has eight digits left
MORE = """
.wfm-instance .wfm-formula.wfm-formula { width: 14em; max-width: 100%; font-weight: 400; }
.wfm-instance .wfm-key li:last-child path, .wfm-instance svg[role=img] > svg > path:last-child {
  stroke-dasharray: 3 4; }
.wfm-instance p.wfm-found { margin: 0 0 .6rem; }
.wfm-instance .wfm-pad { display: block; width: 100%; max-width: 26rem; margin: .5rem 0 0;
  touch-action: none; cursor: crosshair; border: 1px solid; border-radius: .25rem; }
.wfm-instance .wfm-pad path { stroke-width: 1.5px; }
.wfm-instance .wfm-pad circle { fill: currentColor; stroke: none; }
.wfm-instance .wfm-pad circle:focus { outline: none; stroke: currentColor; stroke-width: 4px;
  stroke-opacity: .4; }
.wfm-instance .wfm-numbers { display: grid; gap: .1rem 1.5rem; margin: .6rem 0 .2rem !important;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
.wfm-instance .wfm-numbers div { display: flex; justify-content: space-between; gap: .8rem; }
.wfm-instance .wfm-numbers dt { font-weight: 400; margin: 0; }
.wfm-instance .wfm-numbers dd { margin: 0 !important; font-weight: 600; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
@media print { .wfm-instance .wfm-pad, .wfm-instance .wfm-numbers, .wfm-instance .wfm-found,
  .wfm-instance .wfm-control { display: none; } }
"""


def calculator(
    marks: Sequence[Curve | Rule],
    *,
    margin: float,
    load: float,
    xlabel: str,
    ylabel: str,
    alt: str,
) -> Calculator:
    """Return a figure with the typical solutions of a device that the reader may change.

    Parameters
    ----------
    marks : sequence of `Curve` and `Rule`
        What stands there first, of ``Perceptron()``: overlap, entropy and replicon against the
        load, the capacity, and the load below.
    margin, load : float
        The margin of these curves, and the load of which numbers are told first.
    xlabel, ylabel, alt : str
        What the axes are, and the figure in words.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    """
    marks = tuple(marks)
    for mark in marks:
        arguments.member("each of marks", mark, (Curve, Rule))
    kinds = [isinstance(mark, Rule) for mark in marks]
    if kinds != [False] * CURVES + [True] * RULES:
        raise ValueError(f"marks must hold {CURVES} curves and then {RULES} rules, got {marks}")
    for name, text in {"xlabel": xlabel, "ylabel": ylabel, "alt": alt}.items():
        label(name, text)
    start = arguments.real("margin", margin), Range.of(Load).check("load", load)
    return Calculator(marks, start, xlabel, ylabel, alt)


@dataclass(frozen=True, eq=False, repr=False)
class Calculator:
    """A figure that computes; made by `calculator`, which checks the arguments."""

    marks: tuple[Curve | Rule, ...]
    start: tuple[float, float]
    xlabel: str
    ylabel: str
    alt: str

    xlim, ylim = (0.0, 1.0), (-0.25, 1.0)
    # what `printed.pdf` asks of a slider
    parameter, values, knots, texts = "", np.zeros(1), np.zeros(1), ("",)

    @cached_property
    def told(self) -> dict[str, Any]:
        """What the page's script is told."""
        margin, load = self.start
        panel = svg.Panel(self.xlim, self.ylim)
        return {
            "panel": {
                name: getattr(panel, name)
                for name in ("left", "right", "top", "bottom", "xlim", "ylim")
            },
            "margin": margin,
            "load": load,
            "load_range": asdict(doors.number("alpha", Range.of(Load))),
            "along": (LOWEST, FARTHEST),
        }

    def html(self) -> str:
        """Return the figure: markup, data and style."""
        panel = svg.Panel(self.xlim, self.ylim)
        lines, points = panel.strokes(self.marks, 1)
        style = asset("slider.css").replace(".wfm-slider", ".wfm-instance") + STYLE + MORE
        style = style.replace(".wfm-instance", ".wfm-calculator")
        return (
            f'<figure class="wfm-calculator"><style>{style}</style>'
            '<p class="wfm-asleep">Run this cell, or trust the notebook, to see the figure.</p>'
            f'<div hidden="hidden">{svg.key(self.marks)}'
            f'<p class="wfm-ylabel">{escape(self.ylabel)}</p>'
            f"{panel.markup(lines, points, 0, self.alt)}"
            f'<p class="wfm-xlabel">{escape(self.xlabel)}</p></div>'
            '<script type="application/json" data-kernels="typical" class="wfm-calculator-data">'
            f"{json_text(self.told)}</script></figure>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        from wfmlib.book.display.printed import pdf

        return {
            "text/html": self.html(),
            "application/pdf": base64.b64encode(pdf(self)).decode(),
            "text/plain": repr(self),
        }

    def __repr__(self):
        margin, load = self.start
        return f"Calculator(margin={margin:g}, load={load:g})"
