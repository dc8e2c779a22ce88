"""A figure in which the reader draws an instance and has algorithms run on it, in the page.

The page's script (`book/_static/live/instance.js`) runs the kernels of `wfmlib.learning.pages`,
as `tools.wasm` compiled them, in a worker. Without the script the figure stands as it was made.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from wfmlib.book.display import svg
from wfmlib.book.display.live import OUTSIDE, Number, refusal
from wfmlib.book.display.marks import Curve, label
from wfmlib.book.display.slider import asset, json_text
from wfmlib.learning.messages.protocols import atanh_steps
from wfmlib.learning.pages import counted
from wfmlib.numerics import arguments, pcg64
from wfmlib.numerics.arguments import Range

SIZE, LOADS = Range(1, 201, whole=True), Range(0.0, 3.0)
SEEDS = Range(0, pcg64.LARGEST, whole=True)
COUPLING = 1.2  # to the weights around which solutions are counted
STYLE = """
.wfm-instance .wfm-fields { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1rem;
  margin: .5rem 0 0; }
.wfm-instance .wfm-fields label { display: flex; align-items: center; gap: .5rem; margin: 0; }
.wfm-instance select, .wfm-instance button { height: 1.8rem; font: inherit; max-width: 100%; }
.wfm-instance select { min-width: 0; flex: 0 1 auto; }
.wfm-instance progress { flex: 1 1 8rem; min-width: 6rem; }
.wfm-instance .wfm-python code { display: block; white-space: pre-wrap; overflow-wrap: anywhere;
  margin: 0 0 .3rem; }
.wfm-instance [hidden] { display: none !important; }
@media print { .wfm-instance .wfm-fields, .wfm-instance .wfm-python { display: none; } }
"""


def instance(
    curves: Sequence[Curve], *, N: int, load: float, seed: int, xlabel: str, alt: str
) -> Instance:
    """Return a figure with an instance of the binary perceptron that the reader may change.

    Parameters
    ----------
    curves : sequence of `Curve`
        Three lines that stand there until the reader runs something: focusing on this instance.
    N, load, seed : int, float, int
        Of the instance: ``patterns.random(P, N, rng=seed)`` with P next to ``load N``.
    xlabel, alt : str
        What the x-axis is, and the figure in words.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    """
    curves = tuple(curves)
    for curve in curves:
        arguments.member("each of curves", curve, (Curve,))
    if len(curves) != 3:
        raise ValueError(f"curves must hold 3 lines, got {len(curves)}")
    label("xlabel", xlabel)
    label("alt", alt)
    start = SIZE.check("N", N), LOADS.check("load", load), SEEDS.check("seed", seed)
    return Instance(curves, start, xlabel, alt)


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """A figure that runs algorithms; made by `instance`, which checks the arguments."""

    marks: tuple[Curve, ...]
    start: tuple[float, float, float]
    xlabel: str
    alt: str

    ylabel = "share, overlap, entropy (nats per weight)"
    ylim = (0.0, 1.0)
    # what `printed.pdf` asks of a slider
    parameter, values, knots, texts = "", np.zeros(1), np.zeros(1), ("",)

    @cached_property
    def xlim(self) -> tuple[float, float]:
        """From 0 to where the longest curve ends."""
        return 0.0, max(float(mark.x.max()) for mark in self.marks)

    @cached_property
    def told(self) -> dict[str, Any]:
        """What the page's script is told."""
        size, load, seed = self.start
        fields = [
            field("weights N", SIZE, "N", size),
            field("load α", LOADS, "load", load),
            field("seed", SEEDS, "seed", seed),
        ]
        panel = svg.Panel(self.xlim, self.ylim)
        return {
            "fields": fields,
            "panel": {
                name: getattr(panel, name)
                for name in ("left", "right", "top", "bottom", "xlim", "ylim")
            },
            "protocol": atanh_steps().tolist(),
            "coupling": COUPLING,
            "counted": counted.LARGEST,
            "near": counted.NEAR,
        }

    def html(self) -> str:
        """Return the figure: markup, data and style."""
        panel = svg.Panel(self.xlim, self.ylim)
        lines, points = panel.strokes(self.marks, 1)
        style = asset("slider.css").replace(".wfm-slider", ".wfm-instance") + STYLE
        return (
            f'<figure class="wfm-instance"><style>{style}</style>'
            '<p class="wfm-asleep">Run this cell, or trust the notebook, to see the figure.</p>'
            f'<div hidden="hidden">{svg.key(self.marks)}'
            f'<p class="wfm-ylabel">{escape(self.ylabel)}</p>'
            f"{panel.markup(lines, points, 0, self.alt)}"
            f'<p class="wfm-xlabel">{escape(self.xlabel)}</p></div>'
            '<script type="application/json" data-kernels="instance" class="wfm-instance-data">'
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
        size, load, seed = self.start
        return f"Instance(N={size}, load={load:g}, seed={seed})"


def field(text: str, allowed: Range, name: str, value: float) -> dict[str, Any]:
    """Return what the script is told of a number that the reader types."""

    def check(given):
        return allowed.check(name, given)

    outside = int(OUTSIDE) if allowed.whole else OUTSIDE
    told = Number(text, allowed.low, allowed.high, refusal(check, "?"), refusal(check, outside))
    return asdict(told) | {"whole": allowed.whole, "value": value}
