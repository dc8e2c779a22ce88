"""What a page computes for a slider: any value, with kernels of the package.

The page's script (`book/_static/live/live.js`) calls the kernels that `tools.wasm` compiled, and
draws. What it says is said here, and what it refuses is refused in the words of the package: the
messages are taken from calls that fail. Without the script the slider is as it stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from wfmlib.models.constraints.margin import RANGE, Margin
from wfmlib.models.devices import Perceptron, TreeCommittee
from wfmlib.numerics.arguments import Range
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical
from wfmlib.theory.axes import Load
from wfmlib.theory.saddles.pages import HIGHEST, LOWEST
from wfmlib.theory.saddles.replica_symmetric import last_load
from wfmlib.theory.typical import pages

OUTSIDE = -1e3  # of every range below
PLACES = {"{alpha}": 7.25, "{value}": 0.125}  # a load and a margin without a saddle point


@dataclass(frozen=True)
class Number:
    """A number that the reader types, and the messages that refuse it.

    Parameters
    ----------
    label : str
        What stands beside the field.
    low, high : float or None
        The ends of what is allowed; None where there is none.
    no_number, outside : str
        The package's messages; ``{got}`` stands for what was typed.
    above : bool
        Whether `low` itself is left out.
    infinite : bool
        Whether infinity is allowed.
    unit : float
        By which it is divided in the second.
    """

    label: str
    low: float | None
    high: float | None
    no_number: str
    outside: str
    above: bool = False
    infinite: bool = False
    unit: float = 1.0


@dataclass(frozen=True)
class Moved:
    """A number with a slider of its own, beside the one of the figure.

    Parameters
    ----------
    name : str
        By which kernels and the call of the package know it.
    number : Number
        What may be typed.
    start : float
        Its first value.
    slider : (float, float, float)
        Ends and step of the slider.
    power : bool
        Whether the slider gives its logarithm to the base 10.
    """

    name: str
    number: Number
    start: float
    slider: tuple[float, float, float]
    power: bool = False


@dataclass(frozen=True)
class Table:
    """A kernel that fills all curves of a figure at once, and gives numbers for what is upright.

    Parameters
    ----------
    kernel : str
    takes : sequence of str
        The numbers that it takes, before the array that it fills.
    rows, points : int
        Shape of the array. Its first row is the place on the x-axis.
    mark : int
        The row on which the place that the reader sets is marked.
    """

    kernel: str
    takes: list[str]
    rows: int
    points: int
    mark: int


@dataclass(frozen=True)
class Later:
    """A call that takes longer than a frame: made in a worker, told when it is there.

    Parameters
    ----------
    kernel : str
        0 as its first number says that all is well, its second is the residual.
    takes : sequence of str
        The numbers that it takes.
    shown : str
        What is told then; ``{2}`` stands for its third number, with ten digits.
    failures : dict of str to str
        What is told where the first number is the key, with the placeholders of `Live.python`;
        ``{2:3}`` stands for its third number with three digits.
    """

    kernel: str
    takes: list[str]
    shown: str
    failures: dict[str, str]


@dataclass(frozen=True)
class Live:
    """What the page's script is told.

    Parameters
    ----------
    lines : sequence of (str, int, int or None)
        Of each curve or rule that moves, in their order: the kernel, which of its numbers is
        drawn, and which of `devices` it takes. For a rule the kernel takes the slider's value. For
        a curve it takes a parameter and the value, and its first number is the place on the
        x-axis, which increases.
    along : (float, float)
        The ends of the parameter of curves. The page takes as many of its values as a smooth line
        needs.
    value, place : Number
        What the slider changes, and the place on the x-axis that the reader may ask for.
    at : str
        The kernel that is called there; 0 as its first number says that all is well, its second
        is the residual.
    shown : sequence of (str, int)
        What is told of that place: a name, and which number.
    note : (str, str, int)
        What is told of the slider's value: a name, a kernel, and which of its numbers.
    last : str
        The kernel that gives the last place with a solution.
    failed : str
        The package's message where there is none.
    python : str
        The call of the package.
    devices : sequence of (float, sequence of float or None)
        What kernels take of a device: its weights and its activation, as in
        `theory.typical.pages`; None for infinity.
    told : int or None
        Which of them `at`, `note` and `last` take.
    group : str
        The kernels' group in `tools.wasm`.
    more : sequence of Moved
        What else the reader sets; one of them is called ``place``, where there is a `table`.
    table : Table, optional
        Fills all curves. The lines then name ``row`` and which one, or ``upright`` and which of
        the table's numbers.
    later : sequence of Later
        What a worker computes; `at`, `shown`, `note`, `last` and `failed` are not asked for then.
    """

    lines: list[tuple[str, int, int | None]]
    along: tuple[float, float]
    value: Number
    place: Number
    at: str
    shown: list[tuple[str, int]]
    note: tuple[str, str, int]
    last: str
    failed: str
    python: str
    devices: list[tuple[float, list[float | None]]] = field(default_factory=list)
    told: int | None = None
    group: str = "typical"
    more: list[Moved] = field(default_factory=list)
    table: Table | None = None
    later: list[Later] = field(default_factory=list)

    mark = "wfm-live"  #: class of the element that holds its data

    def data(self) -> dict[str, Any]:
        """Return the same as JSON takes it."""
        return asdict(self)


def refusal(call: Callable[[Any], Any], given: Any) -> str:
    """Return what the package says of a value that it refuses, ``{got}`` in its place.

    Raises
    ------
    AssertionError
        If it takes the value.
    """
    try:
        call(given)
    except (TypeError, ValueError) as refused:
        before, _, after = str(refused).rpartition(repr(given))
        return f"{before}{{got}}{after}"
    raise AssertionError(f"{call} takes {given!r}")


def failure(call: Callable[[], Any], names: dict[str, str]) -> str:
    """Return what the package says where it finds nothing, with names for what was given.

    Raises
    ------
    AssertionError
        If it finds something.
    """
    try:
        call()
    except NotConverged as failed:
        text = str(failed)
        for was, name in names.items():
            text = text.replace(was, name)
        return text
    raise AssertionError(f"{call} finds something")


def number(label: str, range: Range, parse: Callable[[Any], Any], check: Callable) -> Number:
    """Return a field for numbers of a range, with the messages of `parse` and of `check`."""
    ends = (None if abs(end) == float("inf") else end for end in (range.low, range.high))
    said = refusal(parse, "?"), refusal(check, OUTSIDE)
    return Number(label, *ends, *said, range.low_open, float("inf") in range.also)


def typical_solutions(
    lines: Sequence[tuple[Any, ...]], device: Perceptron | TreeCommittee | None = None
) -> Live:
    """Return what a slider over margins computes of typical solutions at any margin and load.

    Parameters
    ----------
    lines : sequence of (str, int) or (str, int, device)
        As of `Live`; with a device, kernels of `theory.typical.pages`.
    device : Perceptron or TreeCommittee, optional
        Of which numbers are told; by default the binary perceptron. Its activation is one of the
        menu, and its solutions end at some load.
    """
    devices = list(dict.fromkeys([one[2] for one in lines if len(one) > 2]))
    if device is not None and device not in devices:
        devices.append(device)
    drawn = [(one[0], one[1], devices.index(one[2]) if len(one) > 2 else None) for one in lines]
    shown = device or Perceptron()
    scale = shown.activation.scale
    alpha, kappa = PLACES["{alpha}"], PLACES["{value}"]
    try:
        typical.solve(shown, alpha, Margin(kappa))
    except NotConverged as failure:
        failed = str(failure)
    last = f"{last_load(shown.weights, shown.activation, Margin(kappa)):.10g}"
    for name, given in {"{last}": last, "{alpha}": f"{alpha:g}", "{value}": str(kappa)}.items():
        failed = failed.replace(given, name)
    return Live(
        lines=drawn,
        along=(LOWEST, HIGHEST),
        value=replace(
            number(
                "margin κ",
                Range(*(scale * end for end in RANGE)),
                Margin,
                lambda given: Margin(given).within_range(1.0),
            ),
            unit=scale,
        ),
        place=number(
            "load α", Range.of(Load), *[lambda given: Range.of(Load).check("alpha", given)] * 2
        ),
        at="typical_solve" if device else "binary_point",
        shown=[("entropy φ", 5), ("overlap q", 2)]
        if device
        else [("entropy φ", 4), ("overlap q", 2)],
        note=("Capacity", "typical_capacity" if device else "binary_capacity", 2),
        last="typical_last_load" if device else "binary_last_load",
        failed=failed,
        python=f"theory.typical.solve({written(shown)}, {{alpha}}, Margin({{value}}))",
        devices=[taken(one) for one in devices],
        told=devices.index(device) if device else None,
    )


def written(device: Perceptron | TreeCommittee) -> str:
    """Return a device as a reader would write it."""
    if device == Perceptron():
        return "Perceptron()"
    return re.sub(r"\b(?:units|activation|weights)=", "", repr(device))


def taken(device: Perceptron | TreeCommittee) -> tuple[float, list[float | None]]:
    """Return what kernels take of a device, as JSON takes it."""
    weights, about = pages.described(device)
    return weights, [one if math.isfinite(one) else None for one in about.tolist()]
