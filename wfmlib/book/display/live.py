"""What a page computes for a slider: any value, with kernels of the package.

The page's script (`book/_static/live/live.js`) calls the kernels that `tools.wasm` compiled, and
draws. What it says is said here, and what it refuses is refused in the words of the package: the
messages are taken from calls that fail. Without the script the slider is as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from wfmlib.models.activations import Linear
from wfmlib.models.constraints.cross_entropy import SHARPNESS, CrossEntropy
from wfmlib.models.constraints.margin import RANGE, Margin
from wfmlib.models.devices import Perceptron
from wfmlib.models.weights.binary import Binary
from wfmlib.numerics.ranges import POSITIVE, Range, declared
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import cross_entropy, typical
from wfmlib.theory.axes import LOAD
from wfmlib.theory.saddles import pages_gibbs
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
    above : bool
        Whether `low` itself is left out.
    infinite : bool
        Whether infinity is allowed.
    """

    label: str
    low: float | None
    high: float | None
    no_number: str
    outside: str
    above: bool = False
    infinite: bool = False


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
    more : sequence of Moved
        What else the reader sets; one of them is called ``place``, where there is a `table`.
    table : Table, optional
        Fills all curves. The lines then name ``row`` and which one, or ``upright`` and which of
        the table's numbers.
    later : sequence of Later
        What a worker computes; `at`, `shown`, `note`, `last` and `failed` are not asked for then.
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
    more: list[Moved] = field(default_factory=list)
    table: Table | None = None
    later: list[Later] = field(default_factory=list)

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
    said = refusal(parse, "?"), refusal(check, OUTSIDE)
    return Number(label, *ends, *said, range.low_open, float("inf") in range.also)


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


# ------------------------------------------------------------------------------------------------
# The Gibbs measure of the cross-entropy
# ------------------------------------------------------------------------------------------------

SET = {"alpha": 7.25, "gamma": 0.125, "beta": 3e5}  # a point that is too cold
NOWHERE = 1e300  # a beta without a saddle point there


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


def gibbs_measure(lines: list[tuple[str, int]], load: float = 0.4, beta: float = 20.0) -> Live:
    """Return what a slider over sharpnesses of the cross-entropy computes, at any beta and load.

    Parameters
    ----------
    lines : sequence of (str, int)
        As of `Live`: rows of `pages_gibbs.curve`, or its numbers.
    load, beta : float
        Where the reader begins.
    """
    device, told = Perceptron(), {"gamma": "{value}", "beta": "{place}"}

    def point(inverse: float) -> Any:
        return typical.solve(device, SET["alpha"], CrossEntropy(SET["gamma"], inverse))

    def names(inverse: float) -> dict[str, str]:
        written = {"gamma": SET["gamma"], "beta": inverse}
        names = {f"{name}={number!r}": f"{name}={told[name]}" for name, number in written.items()}
        return names | {f"alpha = {SET['alpha']:.6g}": "alpha = {alpha:6}"}

    lost = failure(lambda: point(NOWHERE), names(NOWHERE))
    cold = failure(lambda: point(SET["beta"]), names(SET["beta"]))
    cold = re.sub(r"energy is [^,]+", "energy is {7:3}", cold)
    inexact = failure(lambda: cross_entropy.zero_entropy_beta(device, load, SHARPNESS.low), {})
    inexact = re.sub(r"residual is [^,]+", "residual is {1:3}", inexact)
    most = f"the entropy found, {{2}}, exceeds its bound, {Binary.entropy:.10g}"
    point_failures = {str(ended): lost for ended in (1, 2, 3)}
    point_failures |= {"4": cold, "5": most}
    end_failures = {"1": "no change of sign from 2 to -2", "3": inexact}
    shown = (
        "entropy s = {2}, energy e = {3}, error rate ε = {4}, overlap q = {5}, replicon = {6} "
        "(the load is met to {1:1})"
    )
    ends = {
        "gibbs_zero_entropy": ("The entropy vanishes at β = {2}.", "The entropy stays positive."),
        "gibbs_instability": (
            "Replica symmetry is stable below β = {2}.",
            "Replica symmetry stays stable.",
        ),
    }
    ranges = declared(CrossEntropy)

    def typed(label: str, range: Range, take: Callable[[Any], Any]) -> Number:
        return number(label, range, take, take)

    return Live(
        lines=lines,
        along=pages_gibbs.AXIS,
        value=typed("sharpness γ", SHARPNESS, lambda given: CrossEntropy(given, 1.0)),
        place=typed("β", ranges["beta"][0], lambda given: CrossEntropy(1.0, given)),
        at="",
        shown=[],
        note=("", "", 0),
        last="",
        failed="",
        python="theory.typical.solve(Perceptron(), {alpha}, CrossEntropy({value}, {place}))",
        group="gibbs",
        more=[
            Moved(
                "place",
                typed("inverse temperature β", ranges["beta"][0], lambda b: CrossEntropy(1.0, b)),
                beta,
                (*pages_gibbs.AXIS, 0.01),
                power=True,
            ),
            Moved(
                "alpha",
                typed("load α", POSITIVE, lambda given: POSITIVE.check("alpha", given)),
                load,
                (0.05, 1.5, 0.01),
            ),
        ],
        table=Table("gibbs_curve", ["value", "alpha"], pages_gibbs.ROWS, 151, mark=1),
        later=[
            Later("gibbs_point", ["place", "value", "alpha"], shown, point_failures),
            *(
                Later(kernel, ["value", "alpha"], text, end_failures | {"inf": endless})
                for kernel, (text, endless) in ends.items()
            ),
        ],
    )
