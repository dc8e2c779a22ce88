"""What a page computes for a slider: any value, with kernels of the package.

The page's script (`book/_static/live/live.js`) calls the kernels that `tools.wasm` compiled, and
draws. What it says is said here, and what it refuses is refused in the words of the package: the
messages are taken from calls that fail. Without the script the slider is as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from wfmlib.models.activations import Linear
from wfmlib.models.constraints.margin import RANGE, Margin
from wfmlib.models.devices import Perceptron
from wfmlib.models.weights.binary import Binary
from wfmlib.numerics.ranges import Range
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import typical
from wfmlib.theory.axes import LOAD
from wfmlib.theory.saddles.pages import HIGHEST, LOWEST
from wfmlib.theory.saddles.replica_symmetric import last_load

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
    """

    label: str
    low: float | None
    high: float | None
    no_number: str
    outside: str


@dataclass(frozen=True)
class Live:
    """What the page's script is told.

    Parameters
    ----------
    lines : sequence of (str, int)
        Of each curve or rule that moves, in their order: the kernel, and which of its numbers is
        drawn. For a rule the kernel takes the slider's value. For a curve it takes a parameter
        and the value, and its first number is the place on the x-axis, which increases.
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
    group : str
        The kernels' group in `tools.wasm`.
    """

    lines: list[tuple[str, int]]
    along: tuple[float, float]
    value: Number
    place: Number
    at: str
    shown: list[tuple[str, int]]
    note: tuple[str, str, int]
    last: str
    failed: str
    python: str
    group: str = "typical"

    mark = "wfm-live"  #: class of the element that holds its data

    def told(self) -> dict[str, Any]:
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


def number(label: str, range: Range, parse: Callable[[Any], Any], check: Callable) -> Number:
    """Return a field for numbers of a range, with the messages of `parse` and of `check`."""
    ends = (None if abs(end) == float("inf") else end for end in (range.low, range.high))
    return Number(label, *ends, refusal(parse, "?"), refusal(check, OUTSIDE))


def typical_solutions(lines: list[tuple[str, int]]) -> Live:
    """Return what a slider over margins of the binary perceptron computes at any margin and load.

    Parameters
    ----------
    lines : sequence of (str, int)
        As of `Live`.
    """
    device = Perceptron()
    alpha, kappa = PLACES["{alpha}"], PLACES["{value}"]
    try:
        typical.solve(device, alpha, Margin(kappa))
    except NotConverged as failure:
        failed = str(failure)
    last = f"{last_load(Binary(), Linear(), Margin(kappa)):.10g}"
    for name, given in {"{last}": last, "{alpha}": f"{alpha:g}", "{value}": str(kappa)}.items():
        failed = failed.replace(given, name)
    return Live(
        lines=lines,
        along=(LOWEST, HIGHEST),
        value=number(
            "margin κ", Range(*RANGE), Margin, lambda given: Margin(given).within_range(1.0)
        ),
        place=number("load α", LOAD, *[lambda given: LOAD.check("alpha", given)] * 2),
        at="binary_point",
        shown=[("entropy φ", 4), ("overlap q", 2)],
        note=("Capacity", "binary_capacity", 2),
        last="binary_last_load",
        failed=failed,
        python="theory.typical.solve(Perceptron(), {alpha}, Margin({value}))",
    )
