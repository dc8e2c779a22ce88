"""The two figures that compute in the page: the markup that their scripts find.

Each stands there as it was made. Where scripts run, and `build` had its compiler, the script adds
fields below it and draws anew what the reader asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from wfmlib.book.display import svg
from wfmlib.book.display.curves import Curve, Rule
from wfmlib.book.display.slider import asset, json_text

FOLDER = "../_static/lab"  # of the scripts, seen from a page
SCRIPTS = {
    "calculator": ["kernels-typical", "figure", "formula", "compute", "calculator"],
    "instance": ["kernels-instance", "figure", "instance"],
}
OFF = (
    "Fields to fill in appear here where scripts run, in a book that was built with the compiler "
    "of these figures. What you see is how the figure starts."
)


def calculator(
    marks: Sequence[Curve | Rule],
    *,
    margin: float,
    load: float,
    xlabel: str,
    ylabel: str,
    alt: str,
) -> Figure:
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
    """
    start = {"margin": margin, "load": load}
    return Figure("calculator", tuple(marks), start, xlabel, ylabel, alt, (0, 1), (-0.25, 1))


def instance(
    curves: Sequence[Curve], *, N: int, load: float, seed: int, xlabel: str, alt: str
) -> Figure:
    """Return a figure with an instance of the binary perceptron that the reader may change.

    Parameters
    ----------
    curves : sequence of `Curve`
        Three lines that stand there until the reader runs something: focusing on this instance.
    N, load, seed : int, float, int
        Of the instance: ``patterns.random(P, N, rng=seed)`` with P next to ``load N``.
    xlabel, alt : str
        What the x-axis is, and the figure in words.
    """
    start = {"N": N, "load": load, "seed": seed}
    ylabel = "share, overlap, entropy (nats per weight)"
    last = max(float(curve.x.max()) for curve in curves)
    return Figure("instance", tuple(curves), start, xlabel, ylabel, alt, (0, last), (0, 1))


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure that computes in the page; made by `calculator` or `instance`."""

    kind: str
    marks: tuple[Curve | Rule, ...] = field(repr=False)
    start: dict[str, float]
    xlabel: str = field(repr=False)
    ylabel: str = field(repr=False)
    alt: str = field(repr=False)
    xlim: tuple[float, float] = field(repr=False)
    ylim: tuple[float, float] = field(repr=False)

    @property
    def script_data(self) -> dict[str, Any]:
        """What the page's script is told."""
        panel = svg.Panel(self.xlim, self.ylim)
        names = ("left", "right", "top", "bottom", "xlim", "ylim")
        return self.start | {"panel": {name: getattr(panel, name) for name in names}}

    def html(self) -> str:
        """Return the figure: markup, data, style, and the scripts that it needs."""
        panel = svg.Panel(self.xlim, self.ylim)
        lines, points = panel.strokes(self.marks, 1)
        own = files("wfmlib.book.lab").joinpath("lab.css").read_text(encoding="utf-8")
        style = asset("slider.css").replace(".wfm-slider", ".wfm-lab") + own
        scripts = "".join(
            f'<script src="{FOLDER}/{name}.js" defer="defer"></script>'
            for name in SCRIPTS[self.kind]
        )
        return (
            f'<figure class="wfm-lab wfm-{self.kind}"><style>{style}</style>'
            '<p class="wfm-asleep">Run this cell, or trust the notebook, to see the figure.</p>'
            f'<div hidden="hidden">{svg.key(self.marks)}'
            f'<p class="wfm-ylabel">{escape(self.ylabel)}</p>'
            f"{panel.markup(lines, points, 0, self.alt)}"
            f'<p class="wfm-xlabel">{escape(self.xlabel)}</p><p class="wfm-off">{OFF}</p></div>'
            f'<script type="application/json" class="wfm-{self.kind}-data">'
            f"{json_text(self.script_data)}</script></figure>{scripts}"
        )

    def _repr_html_(self):
        return self.html()
