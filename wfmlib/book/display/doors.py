"""Which functions of the package a page may be asked for: `window.wfm.compute` and its table.

A `Door` says how a kernel answers for a public function: what it takes of the arguments, which of
its numbers are the answer, and what the package says where there is none. A page gets the table
as data (`tools.live` writes it), and `book/_static/live/compute.js` reads it: a kernel joins by a
line in `DOORS`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from wfmlib.book.display.live import OUTSIDE, Number, refusal
from wfmlib.models import sampled
from wfmlib.models.activations import Activation, Linear, ReLU, Sign
from wfmlib.models.constraints.margin import RANGE, Margin
from wfmlib.models.devices import Perceptron, TreeCommittee, accepted
from wfmlib.models.weights import Binary, Spherical
from wfmlib.numerics.arguments import Range
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory.axes import Load, ResolvedLoad
from wfmlib.theory.typical import entropy, pages, thresholds

POINT = ("q", "q_hat", "distance", "entropy", "replicon", "margin_density")
LOADS, LASTS = 7.25, 0.125  # stand for a load and a last load while a message is made
ANY = Margin(0.0625)


@dataclass(frozen=True)
class Door:
    """How a kernel answers for a function of the package.

    Parameters
    ----------
    group, kernel : str
        In `tools.wasm`; the kernel's first number is 0 where all is well.
    takes : tuple of str
        Its arguments: ``weights`` and ``activation`` of the device, the number in ``constraint``,
        or a name of `numbers`.
    gives : dict of (str, int), or int
        Which of its numbers are the answer.
    numbers : dict of (str, `Number`)
        Arguments that are numbers, and the messages that refuse them.
    defaults : dict of (str, str)
        Arguments that may be left out, as text in Python.
    failures : dict of (str, str)
        The package's message by the kernel's first number, ``"else"`` for any other; of a point
        by what the load is, too. Braces stand for what was asked.
    last : str
        The kernel that gives the last load, for messages; empty if none needs it.
    """

    group: str
    kernel: str
    takes: tuple[str, ...]
    gives: dict[str, int] | int
    numbers: dict[str, Number]
    defaults: dict[str, str]
    failures: dict[str, str]
    last: str = ""


def told() -> dict[str, Any]:
    """Return what pages are told, as JSON takes it."""
    return {
        "doors": {name: asdict(door) for name, door in doors().items()},
        "words": {
            one.__name__: [
                [field.name, None if field.default is dataclasses.MISSING else str(field.default)]
                for field in dataclasses.fields(one)
                if field.init
            ]
            for one in (
                Perceptron,
                TreeCommittee,
                Margin,
                Binary,
                Spherical,
                Sign,
                ReLU,
                Activation,
            )
        },
        "weights": {"Binary": pages.BINARY, "Spherical": pages.SPHERICAL},
        "activations": {
            type(one).__name__: [
                *sampled.menu(one)[:2].tolist(),
                one.slope_at_one if math.isfinite(one.slope_at_one) else None,
            ]
            for one in (Linear(), Sign(), ReLU())
        },
        "margin": asdict(number("kappa", Range(), Margin)),
        "range": asdict(
            Number("", *RANGE, "", refusal(lambda x: Margin(x).within_range(1.0), OUTSIDE))
        ),
        "device": refusal(accepted, "?"),
        "g": {name: said(g) for name, g in REFUSED.items()},
        "sampling": {
            "head": sampled.HEAD,
            "room": sampled.ROOM,
            "limit": sampled.LIMIT,
            "points": len(sampled.POINTS),
            "narrow": sampled.correlation.NARROW,
            "longest": sampled.LONGEST,
            "end": sampled.END,
            "piece": sampled.LENGTH,
        },
    }


def number(name: str, allowed: Range, parse: Callable | None = None) -> Number:
    """Return an argument of a range, with the messages that refuse it."""

    def check(given):
        return allowed.check(name, given)

    ends = [None if math.isinf(end) else end for end in (allowed.low, allowed.high)]
    far = math.nan if ends == [None, None] else OUTSIDE
    return Number(name, *ends, refusal(parse or check, "?"), refusal(parse or check, far))


def doors() -> dict[str, Door]:
    """Return the table: the functions by name."""
    device = ("weights", "activation")
    constraint = {"constraint": "Margin(0.0)"}
    load, resolved = (
        {"alpha": number("alpha", Range.of(Load))},
        {"alpha": number("alpha", Range.of(ResolvedLoad))},
    )
    point = {name: 2 + k for k, name in enumerate(POINT)}
    given = ("alpha", "constraint", *device)
    found = {
        "solve": Door(
            "typical",
            "typical_solve",
            given,
            point,
            load,
            constraint,
            points(),
            "typical_last_load",
        )
    }
    for name in ("capacity", "instability"):
        given = ("constraint", *device)
        found[name] = Door("typical", f"typical_{name}", given, 2, {}, constraint, {})
    for name in ("max_margin", "last_margin"):
        given = ("alpha", *device)
        found[name] = Door("typical", f"typical_{name}", given, 2, resolved, {}, margins())
    return {f"typical.{name}": door for name, door in found.items()}


def points() -> dict[str, str]:
    """Return what `typical.solve` says without a saddle point, by weights and by the load."""
    nothing = NotConverged(Report(False, math.nan, 0, ""))
    made = {}
    for weights in (Binary(), Spherical()):
        name = type(weights).__name__
        axes = weights, Linear(), ANY
        last = float(thresholds.last_load(*axes))
        for where, load in ((name, LOADS), ("else", 0.5 * last)):
            device = Perceptron(weights)
            text = str(entropy._no_saddle_point(device, load, axes, nothing))
            for shown, stands in (
                (f"{last:.10g}", "{last}"),
                (f"{load:.10g}", "{alpha}"),
                (repr(device), "{device}"),
                (repr(ANY), "{constraint}"),
            ):
                text = text.replace(shown, stands)
            made[where] = text
    return made


def margins() -> dict[str, str]:
    """Return what `typical.max_margin` says of margins out of range."""
    made = {}
    for code, sign in ((pages.BELOW_RANGE, -1.0), (pages.ABOVE_RANGE, 1.0)):

        def excess(kappa, sign=sign):
            return sign

        try:
            thresholds._margin_root(excess, *RANGE, 10.0, LOADS)
        except ValueError as refused:
            made[f"{code:g}"] = str(refused).replace(f"{LOADS:g}", "{alpha6}")
    return made


def said(g: Callable) -> str:
    """Return what the package says of an activation that it refuses, or that no solver takes."""
    try:
        entropy.solve(TreeCommittee(math.inf, Activation(g)), 0.5)
    except ValueError as refused:
        return str(refused).partition(", got TreeCommittee")[0]
    raise AssertionError("it is taken")


REFUSED: dict[str, Callable] = {
    "grows": lambda x: 2.0 ** (0.5 * x * x),
    "constant": lambda x: 0.0 * x + 1.0,
    "oscillates": lambda x: x + ((x * 1e4) % 1.0),
    "even": lambda x: x * x,
}
