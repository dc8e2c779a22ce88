"""What a page computes for several sliders: curves that are followed from point to point.

The page's script (`book/_static/live/follow.js`) has the kernels that `tools.wasm` compiled solve
for saddle points in a worker, and draws. As in `live`, what it says is said here, in the words of
the package. Without the script the figure's own slider is as it stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from wfmlib.book.display.live import OUTSIDE, Number, refusal
from wfmlib.models.activations import Sign
from wfmlib.models.constraints.margin import RANGE, Margin
from wfmlib.models.devices import Perceptron, TreeCommittee
from wfmlib.numerics.arguments import Distance, Range
from wfmlib.numerics.solvers import NotConverged
from wfmlib.numerics.zeros import NO_ZERO
from wfmlib.theory import franz_parisi, large_deviation
from wfmlib.theory.axes import Load, ResolvedLoad
from wfmlib.theory.large_deviation.free_entropy import Overlap, Replicas
from wfmlib.theory.saddles import pages_reference, pages_replicas
from wfmlib.theory.saddles.pages_reference import ABOVE, COLLAPSED, EMPTY, UNSETTLED
from wfmlib.theory.saddles.pages_replicas import APART as DISSOLVED


@dataclass(frozen=True)
class Setting:
    """A value that the reader sets, with a slider or by typing.

    Parameters
    ----------
    name : str
        The kernels' argument.
    number : Number
        What may be typed.
    start : float
        Its first value; may be infinite.
    slider : (float, float, float)
        Where the slider begins and ends, and its step.
    power : bool
        Whether the slider sets the logarithm to base 10.
    infinite : bool
        Whether the end of the slider, and the word ``inf``, stand for infinity.
    also : sequence of float
        What is allowed outside of the number's range.
    """

    name: str
    number: Number
    start: float
    slider: tuple[float, float, float]
    power: bool = False
    infinite: bool = False
    also: tuple[float, ...] = ()


@dataclass(frozen=True)
class Line:
    """A curve or rule that moves.

    Parameters
    ----------
    given : dict
        Values that are its own, such as ``{"replicas": 5}``; the others are those that are set.
    rule : int, optional
        For a rule: which number of `Followed.begun` is its place on the x-axis.
    x, y, slope : int
        For a curve: which of the place (0) and the numbers of `Followed.around` (1, 2, ...) are
        drawn, and the slope of one in the other.
    """

    given: dict[str, float] = field(default_factory=dict)
    rule: int | None = None
    x: int = 0
    y: int = 0
    slope: int = 0


@dataclass(frozen=True)
class Followed:
    """What the page's script is told; made by `surroundings`, `replicas` or `committees`.

    Parameters
    ----------
    group : str
        The kernels' group in `tools.wasm`.
    own : str
        The setting that the figure's own slider moves.
    settings : list of Setting
        In the order of the kernels' arguments.
    place : Setting
        Of which numbers are told.
    lines : list of Line
        One for each curve or rule that moves, in their order.
    begun, around, at : str
        The kernels that begin a curve, go on along it, and solve from nothing: ``begun(*settings,
        state)``, ``around(*settings, place, coarse, state)``, ``at(*settings, place)``.
    state : int
        How many numbers they keep.
    ends : list of float
        Between which places a curve is followed, from far to near; NaN for the third number of
        `begun`. Of ``1 - place`` if `complement`.
    coarse, fine : list of int
        How many places there are between each two of the ends.
    found : list of (str, int)
        Names of numbers of `at`, and which.
    shown, python : str
        What is told of them, and the call of the package.
    failures : dict
        What is said for each way in which `at` may end.
    why : (str, str)
        What ``{why}`` stands for there: close to the start of the curve, or far.
    extra : list of dict
        What messages need besides: name, kernel, its arguments, which number, and what is said
        where there is none.
    note : str or None
        What is looked for once the curve is drawn; else `brief` is said.
    added : dict or None
        A curve besides those of the figure, and its name in the key.
    """

    group: str
    own: str
    settings: list[Setting]
    place: Setting
    lines: list[Line]
    begun: str
    around: str
    at: str
    state: int
    ends: list[float]
    coarse: list[int]
    fine: list[int]
    found: list[tuple[str, int]]
    shown: str
    python: str
    failures: dict[int, str]
    complement: bool = False
    why: tuple[str, str] = ("", "")
    extra: list[dict[str, Any]] = field(default_factory=list)
    note: str | None = None
    brief: str = ""
    added: dict[str, Any] | None = None

    mark = "wfm-followed"  #: class of the element that holds its data
    later = ()  #: calls of a worker that `live.js` makes; here `follow.js` does

    def data(self) -> dict[str, Any]:
        """Return the same as JSON takes it: None for infinity and NaN."""
        return _plain(asdict(self))


def _plain(value: Any) -> Any:
    """Return data without infinities and NaN."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def setting(
    name: str,
    label: str,
    allowed: Range,
    start: float,
    slider: tuple[float, float, float] = (0.0, 1.0, 0.1),
    *,
    check: Callable[[float], Any] | None = None,
    argument: str | None = None,
    power: bool = False,
) -> Setting:
    """Return a setting with the range and the messages of an argument of the package.

    Parameters
    ----------
    name, label : str
    allowed : Range
    start, slider : float, (float, float, float)
        As of `Setting`.
    check : callable, optional
        What refuses a number outside of the range; by default that of `allowed`.
    argument : str, optional
        The argument's name in the package, if it is not `name`.
    power : bool, optional
        As of `Setting`.
    """

    def refuse(given):
        return allowed.check(argument or name, given)

    low, high = allowed.low, allowed.high
    if allowed.low_open:
        low = math.nextafter(low, math.inf)
    if allowed.high_open:
        high = math.nextafter(high, -math.inf)
    ends = (None if math.isinf(end) else end for end in (low, high))
    number = Number(label, *ends, refusal(refuse, "?"), refusal(check or refuse, OUTSIDE))
    also = tuple(one for one in allowed.also if math.isfinite(one))
    return Setting(name, number, start, slider, power, math.inf in allowed.also, also)


def _margin(name: str, label: str, start: float, slider: tuple[float, float, float]) -> Setting:
    """Return the setting of a margin, in raw stability where the activation's scale is 1."""

    def within(given):
        return Margin(given).within_range(1.0)

    one = setting(name, label, Range(*RANGE), start, slider, check=within, argument="kappa")
    return one


def _failure(call: Callable[[], Any], places: dict[str, str]) -> str:
    """Return what the package says where a call fails, with names for its numbers."""
    try:
        call()
    except (ValueError, NotConverged) as failure:
        message = str(failure)
    else:
        raise AssertionError(f"{call} does not fail")
    for number, name in places.items():
        message, count = re.subn(rf"(?<![\w.]){re.escape(number)}(?![\w.])", name, message)
        if count != 1:
            raise AssertionError(f"{number} stands {count} times in {message!r}")
    return message


# ------------------------------------------------------------------------------------------------
# The figures
# ------------------------------------------------------------------------------------------------


def surroundings(
    curves: int,
    *,
    load: float,
    farthest: float,
    margins: tuple[float, float, float],
    place: float,
) -> Followed:
    """Return what a slider over reference margins computes at any load and counted margin.

    Parameters
    ----------
    curves : int
        How many curves move: all show the local entropy.
    load : float
        The load at which the figure stands.
    farthest : float
        The largest distance on its x-axis.
    margins : (float, float, float)
        First and last margin of the slider, and its step.
    place : float
        The distance of which numbers are told first.
    """
    device = Perceptron()
    collapsed = _failure(
        lambda: franz_parisi.solve(device, 0.5, 0.0001),
        {"0.0001": "{place:6}", "0.5": "{alpha:6}"},
    )
    before, near = collapsed.split("); ")
    stem = before.rpartition("(")[0]
    far = "the solutions counted may not reach that far, or there may be none"
    unsettled = f"residual {{residual:3}} after {pages_reference.STEPS} iterations, above 1e-11"
    empty = _failure(
        lambda: franz_parisi.solve(device, 0.5, 0.1, reference=Margin(0.625)),
        {"0.4180624988": "{largest:10}", "0.5": "{alpha:6}", "0.625": "{kt}"},
    )
    return Followed(
        group="surroundings",
        own="kt",
        settings=[
            setting("alpha", "load α", Range.of(Load), load, (0.05, 1.0, 0.005)),
            _margin("kt", "reference margin κ̃", margins[0], margins),
            _margin("kappa", "counted margin κ", 0.0, (-0.5, 0.4, 0.005)),
        ],
        place=setting("place", "distance d", Range.of(Distance), place, argument="distance"),
        lines=[Line(y=4, slope=6)] * curves,
        begun="binary_begun",
        around="binary_around",
        at="binary_surroundings",
        state=pages_reference.STATE,
        ends=[0.45, farthest, 1e-7],
        coarse=[1, 7],
        fine=[7, 30],
        found=[("y", 3), ("bound", 4), ("slope", 5), ("p", 6), ("t0", 7), ("replicon", 8)],
        shown=(
            "local entropy φ = {y:10}, slope {slope:6}, overlaps p = {p:6}, t₀ = {t0:6}, replicon "
            "{replicon:4} (the equations are met to {residual:1})"
        ),
        python=(
            "theory.franz_parisi.solve(Perceptron(), {alpha}, {place}, reference=Margin({kt}), "
            "constraint=Margin({kappa}))"
        ),
        failures={
            NO_ZERO: empty,
            EMPTY: empty,
            COLLAPSED: f"{before}); {{why}}",
            UNSETTLED: f"{stem}({unsettled}); {{why}}",
            ABOVE: "the local entropy found, {y:10}, exceeds its bound, {bound:10}",
        },
        why=(near, far),
        extra=[
            {
                "name": "largest",
                "kernel": "binary_largest",
                "takes": ["alpha"],
                "which": 2,
                "lost": _failure(
                    lambda: franz_parisi.solve(device, 1e5, 0.1), {"100000": "{alpha:6}"}
                ),
            }
        ],
        note="surroundings",
    )


def _replicas(device, curves, kernels, load, place, loads, python, **more):
    """Return what a slider over loads computes at any number of replicas."""
    apart = _failure(
        lambda: large_deviation.solve(device, 7.25, 0.125),
        {"7.25": "{alpha:10}", "0.125": "{place:10}"},
    )
    again = "the equations for the overlap and the load are not met: {residual:3} is left"
    above = "the local entropy found, {residual:10}, exceeds its bound, 0"
    return Followed(
        own="alpha",
        settings=[
            setting("alpha", "load α", Range.of(ResolvedLoad), load, loads),
            _margin("kappa", "margin κ", 0.0, (-0.5, 1.0, 0.01)),
            setting(
                "replicas", "replicas y", Range.of(Replicas), 3.0, (0.0, 3.05, 0.05), power=True
            ),
        ],
        place=setting("place", "overlap q₁", Range.of(Overlap), place, argument="overlap"),
        lines=curves,
        begun=f"{kernels}_replicas_begun",
        around=f"{kernels}_replicas_around",
        at=f"{kernels}_replicas",
        state=pages_replicas.STATE,
        python=(
            f"theory.large_deviation.solve({python}, {{alpha}}, {{place}}, replicas={{replicas}}, "
            "constraint=Margin({kappa}))"
        ),
        failures={NO_ZERO: apart, DISSOLVED: apart, UNSETTLED: again, ABOVE: above},
        complement=True,
        brief="Typical solutions have the overlap {typical:6}.",
        **more,
    )


def replicas(curves: Sequence[float], *, load: float, place: float) -> Followed:
    """Return what a slider over loads computes of real replicas of the binary perceptron.

    Parameters
    ----------
    curves : sequence of float
        Of each curve that moves the number of replicas, may be infinite: their free entropy
        against the distance from the barycentre.
    load, place : float
        The load at which the figure stands, and the overlap of which numbers are told first.
    """
    line = {"x": 11, "y": 3, "slope": 12}
    return _replicas(
        Perceptron(),
        [Line(given={"replicas": y}, **line) for y in curves],
        "binary",
        load,
        place,
        (0.05, 0.83, 0.005),
        "Perceptron()",
        group="replicas",
        ends=[math.nan, 0.1, 1e-4],
        coarse=[1, 2],
        fine=[10, 14],
        found=[("y", 2), ("fraction", 3), ("q0", 5), ("complexity", 9), ("x", 10)],
        shown=(
            "V = {y:10} at distance {x:6} from the barycentre, log fraction {fraction:6}, "
            "q₀ = {q0:6}, complexity {complexity:6} (the load is met to {residual:1})"
        ),
        added={"label": "y = {replicas:6}", "like": 0, **asdict(Line(**line))},
    )


def committees(curves: Sequence[float], *, load: float, place: float) -> Followed:
    """Return what a slider over loads computes of real replicas of a committee of many signs.

    Parameters
    ----------
    curves : sequence of float
        Of each curve that moves the number of replicas, may be infinite: their log fraction
        against the mutual overlap. After them comes a rule, at the overlap of typical solutions.
    load, place : float
        As of `replicas`.
    """
    line = {"x": 0, "y": 4, "slope": 8}
    scale = Sign.scale
    if scale != 1.0:
        raise AssertionError("margins are those of a perceptron where the scale is 1")
    return _replicas(
        TreeCommittee(math.inf),
        [*(Line(given={"replicas": y}, **line) for y in curves), Line(rule=2)],
        "signs",
        load,
        place,
        (0.05, 6.0, 0.05),
        "TreeCommittee(np.inf)",
        group="committees",
        ends=[math.nan, 2e-3],
        coarse=[6],
        fine=[24],
        found=[("y", 3), ("entropy", 2), ("slope", 7), ("q0", 5), ("complexity", 9)],
        shown=(
            "log fraction {y:10}, slope {slope:6}, free entropy V = {entropy:6}, q₀ = {q0:6}, "
            "complexity {complexity:6} (the load is met to {residual:1})"
        ),
        added={"label": "y = {replicas:6}", "like": 0, **asdict(Line(**line))},
    )
