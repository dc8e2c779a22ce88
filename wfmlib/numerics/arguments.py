"""Arguments of public functions: what each may be stands once, in its annotation.

``alpha: Annotated[float, Interval(ge=0, lt=math.inf)]`` has a range; `checked` refuses what lies
outside, before the function begins. An array has the range for its entries. What depends on other
arguments is checked inside, by the functions at the end: each names the argument, what came and
what is allowed.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from annotated_types import BaseMetadata, Ge, Gt, Interval, Le, Lt
from numpy.typing import ArrayLike

from wfmlib.numerics.types import Array

NUMBERS = (float, int, int | float, ArrayLike)
F = TypeVar("F", bound=Callable[..., Any])


# ------------------------------------------------------------------------------------------------
# What an annotation allows
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Or(BaseMetadata):
    """A number that is allowed beside a range: 0, ``math.inf`` or NaN."""

    value: float


@dataclass(frozen=True)
class Swept(BaseMetadata):
    """Entries of an array may lie outside, where there is no result; but not all of them."""


@dataclass(frozen=True)
class Narrower(BaseMetadata):
    """A smaller range, as an annotated type, that holds for some values of another argument.

    Docstrings say it; the function itself checks it.
    """

    where: str  #: for which, after the range: "with three units"
    hint: Any


@dataclass(frozen=True)
class Range:
    """The real numbers, or the integers, from `low` to `high`.

    Parameters
    ----------
    low, high : float
        The ends. An infinite one is none: numbers are finite.
    low_open, high_open : bool
        Whether the end is left out.
    whole : bool
        Whether numbers must be integers.
    also : tuple of float
        What is allowed besides.
    """

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    whole: bool = False
    also: tuple[float, ...] = ()

    @classmethod
    @functools.cache
    def of(cls, hint: Any) -> Range:
        """Return the range of an annotated type, such as `Positive`."""
        kind = next(kind for kind in _annotated(hint) if any(_bounds(kind)))
        ends = {"whole": kind.__origin__ in (int, int | float)}
        for bound in _bounds(kind):
            side = "low" if isinstance(bound, (Ge, Gt)) else "high"
            end = getattr(bound, type(bound).__name__.lower())
            if math.isfinite(end):
                ends |= {side: end, f"{side}_open": isinstance(bound, (Gt, Lt))}
        also = tuple(mark.value for mark in kind.__metadata__ if isinstance(mark, Or))
        return cls(**ends, also=also)

    def check(self, name: str, value: Any) -> float:
        """Return `value` as a float, or as an int where numbers must be integers.

        Raises
        ------
        TypeError
            If it is not a number of that kind.
        ValueError
            If it is out of range; the message names the argument and what is allowed.
        """
        if type(value) is np.ndarray and value.ndim == 0:
            value = value.item()
        if self.also and not isinstance(value, bool) and isinstance(value, Real):
            if any(value == end or (value != value and end != end) for end in self.also):
                return float(value)
            exceptions = " or ".join(map(_formatted, self.also))
            name = f"{name}, if not {exceptions},"
        if self.whole:
            most = None if self.high == math.inf else int(self.high)
            return integer(name, value, int(self.low), most)
        ends = {"low_open": self.low_open, "high_open": self.high_open}
        return real(name, value, self.low, self.high, **ends)

    def check_entries(self, name: str, value: Any, *, swept: bool = False) -> float | Array:
        """Return an array of floats whose entries lie in the range, or a float; see `Swept`.

        A swept DataArray keeps its dimensions.
        """
        numbers = reals(name, value)
        if numbers.ndim == 0:
            return self.check(name, numbers)
        inside = (numbers > self.low) if self.low_open else (numbers >= self.low)
        inside &= (numbers < self.high) if self.high_open else (numbers <= self.high)
        inside &= np.isfinite(numbers)
        for number in self.also:
            inside |= np.isnan(numbers) if math.isnan(number) else numbers == number
        if not (inside.any() or numbers.size == 0 if swept else inside.all()):
            self.check(name, numbers[~inside][0].item())
        return value.copy(data=numbers) if swept and hasattr(value, "dims") else numbers


def declared(function: Any) -> dict[str, tuple[Range, tuple[Narrower, ...]]]:
    """Return the ranges that the signature of a function, or a dataclass, declares.

    By the name of the argument: its range, and where it is narrower.
    """
    ranges = {}
    for name, hint in _hints(function).items():
        kinds = list(_annotated(hint))
        if any(any(_bounds(kind)) for kind in kinds):
            marks = [mark for kind in kinds for mark in kind.__metadata__]
            narrower = dict.fromkeys(mark for mark in marks if isinstance(mark, Narrower))
            ranges[name] = Range.of(hint), tuple(narrower)
    return ranges


def _hints(function):
    """Return the annotations of arguments, resolved."""
    if isinstance(function, type):
        return get_type_hints(function, include_extras=True)
    function = inspect.unwrap(function)
    hints = dict(getattr(function, "__annotations__", {}))
    hints.pop("return", None)  # may be known to checkers of types only
    scope = getattr(function, "__globals__", {})
    return get_type_hints(SimpleNamespace(__annotations__=hints), scope, include_extras=True)


def _formatted(number):
    return "math.inf" if number == math.inf else f"{number:g}".replace("nan", "NaN")


def _annotated(hint: Any) -> Iterator[Any]:
    """Yield a type if it is annotated, and the annotated types inside it."""
    if get_origin(hint) is Annotated:
        yield hint
    for part in get_args(hint):
        yield from _annotated(part)


def _bounds(kind):
    """Yield the ends that annotate a type."""
    for mark in kind.__metadata__:
        if isinstance(mark, Interval):
            yield from mark
        elif isinstance(mark, (Ge, Gt, Le, Lt)):
            yield mark


# ------------------------------------------------------------------------------------------------
# What many arguments share
# ------------------------------------------------------------------------------------------------

Finite: TypeAlias = Annotated[float, Interval(gt=-math.inf, lt=math.inf)]
Positive: TypeAlias = Annotated[float, Interval(gt=0.0, lt=math.inf)]
NotNegative: TypeAlias = Annotated[float, Interval(ge=0.0, lt=math.inf)]
Share: TypeAlias = Annotated[float, Interval(ge=0.0, le=1.0)]
Shares: TypeAlias = Annotated[ArrayLike, Interval(ge=0.0, le=1.0)]
#: (1 - overlap) / 2 of two that differ; along a curve, also of two that do not.
Distance: TypeAlias = Annotated[float, Interval(gt=0.0, le=0.5)]
Distances: TypeAlias = Annotated[ArrayLike, Interval(ge=0.0, le=0.5), Swept()]
Damping: TypeAlias = Annotated[float, Interval(ge=0.0, lt=1.0)]
Count: TypeAlias = Annotated[int, Ge(1)]


# ------------------------------------------------------------------------------------------------
# The door
# ------------------------------------------------------------------------------------------------


def checked(function: F) -> F:
    """Check the arguments that have a range, or a few values, before a function begins.

    Numbers become float or int, arrays arrays of floats. The annotations are read at the first
    call, when all that they name is there. A keyword that the function does not have is refused
    with the one that was meant.
    """
    signature = inspect.signature(function).parameters
    parameters = signature.values()

    @functools.cache
    def read():
        checks, hints = [], _hints(function)
        for place, parameter in enumerate(parameters):
            check = _checker(parameter.name, hints.get(parameter.name))
            if check:
                place = math.inf if parameter.kind is parameter.KEYWORD_ONLY else place
                default = parameter.default
                default = default if default is parameter.empty else check(default)
                checks.append((place, parameter.name, check, default))
        return checks

    @functools.wraps(function)
    def run(*positional, **named):
        for name in named:
            if name not in signature:
                _check_keyword(function.__name__, signature, name, named[name])
        values = list(positional)
        for place, name, check, default in read():
            if place < len(values):
                values[place] = check(values[place])
            elif name in named:
                named[name] = check(named[name])
            elif default is not inspect.Parameter.empty:
                named[name] = default
        return function(*values, **named)

    return run  # type: ignore[return-value]


#: What others call an argument: the argument here, and what to write.
NEAR = {
    "seed": ("rng", "write rng={}"),
    "random_state": ("rng", "write rng={}"),
    "load": ("alpha", "write alpha={}"),
    "margin": ("constraint", "write constraint=Margin({})"),
    "kappa": ("constraint", "write constraint=Margin({})"),
    "steps": ("ansatz", "write ansatz='1RSB', or another of its values"),
    "alpha": ("P", "write P=round({} * N)"),
    "ansatz": (
        "device",
        "typical.capacity does. States of one step of breaking are those of typical.solve_1rsb "
        "and franz_parisi_1rsb.solve, states of all steps those of full_breaking",
    ),
    "distance": (
        "couplings",
        "write couplings=[...], each of which selects a distance, and interpolate what was found: "
        "np.interp(distance, found.distance, found.local_entropy). The average over instances is "
        "theory.franz_parisi.local_entropy(device, alpha, distance)",
    ),
}


def _check_keyword(function, signature, name, value):
    """Raise TypeError where an argument that a function does not have stands for one it has."""
    meant, cure = NEAR.get(name, (None, ""))
    if meant not in signature:
        meant = next(iter(difflib.get_close_matches(name, signature, 1, 0.75)), None)
        cure = f"write {meant}={{}}"
    if meant:
        text = repr(value) if value is None or isinstance(value, Real) else "..."
        if np.ndim(value) == 1:
            cure = cure.replace("Margin({})", "[Margin(k) for k in {}]")
        raise TypeError(f"{function}() takes no {name}: {cure.format(text)}")


def check_fields(instance: Any) -> None:
    """Check and convert the fields of a frozen dataclass, as `checked` does arguments."""
    for name, check in _fields(instance.__class__):
        object.__setattr__(instance, name, check(getattr(instance, name)))


@functools.cache
def _fields(kind):
    checks = [(name, _checker(name, hint)) for name, hint in _hints(kind).items()]
    return [(name, check) for name, check in checks if check]


def _checker(name, hint):
    """Return a function that checks one argument; None where its annotation says too little."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words, numbers, kinds = [], [], []
    for option in options:
        if get_origin(option) is Literal:
            words += get_args(option)
        elif option is bool:
            words += [True, False]
        elif option is type(None):
            words.append(None)
        elif get_origin(option) is Annotated and option.__origin__ in NUMBERS:
            numbers.append(option)
        else:
            kinds.append(option)
    if not numbers:
        named = words not in ([], [None]) and not kinds
        return (lambda value: choice(name, value, words)) if named else None
    if kinds not in ([], [str]):
        return None
    allowed = Range.of(numbers[0])
    check = functools.partial(allowed.check, name)
    if numbers[0].__origin__ == ArrayLike:
        swept = any(isinstance(mark, Swept) for mark in numbers[0].__metadata__)
        check = functools.partial(allowed.check_entries, name, swept=swept)
    if not words and not kinds:
        return check

    def check_or_pass(value):
        if isinstance(value, str) and any(isinstance(word, str) for word in words):
            return choice(name, value, words)
        passes = (value is None and None in words) or (isinstance(value, str) and str in kinds)
        return value if passes else check(value)

    return check_or_pass


# ------------------------------------------------------------------------------------------------
# Single checks
# ------------------------------------------------------------------------------------------------


def real(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> float:
    """Return `value` as a float inside the interval from `low` to `high`.

    Raises
    ------
    TypeError
        If `value` is not a real number (a NumPy scalar counts, a bool or a string does not).
    ValueError
        If it is not finite, or lies outside the interval.
    """
    if type(value) is np.ndarray and value.ndim == 0:
        value = value.item()
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    try:
        value = float(value)
    except OverflowError:
        value = math.inf if value > 0 else -math.inf  # type: ignore[operator]
    too_low = value <= low if low_open else value < low
    too_high = value >= high if high_open else value > high
    if not math.isfinite(value) or too_low or too_high:
        raise ValueError(
            f"{name} must be finite and {_interval(low, high, low_open, high_open)}, got {value}"
        )
    return value


def integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int with ``low <= value`` (``<= high`` where one is given)."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    value = int(value)
    if value < low or (high is not None and value > high):
        allowed = f">= {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {allowed}, got {value}")
    return value


def array(name: str, value: Any) -> Array:
    """Return `value` as a `numpy.ndarray`, which nested lists of different lengths cannot become.

    Masked arrays are refused: to take the values under the mask for data would be wrong. Sparse
    ones are, too: what they do not hold is 0, and whether that is meant is for the caller to say.
    Numbers in an array of objects, such as pandas' integers that may be missing, are numbers.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a number or an array, got a masked array")
    if hasattr(value, "toarray"):
        kind = type(value).__name__
        raise TypeError(
            f"{name} must be a dense array, got a sparse {kind}: write {name}.toarray(), and "
            f"patterns.signs({name}) where its zeros stand for -1"
        )
    try:
        entries = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array, got {value!r}") from error
    if entries.dtype != object:
        return entries
    for kind, wide in ((bool, bool), (Integral, np.int64), (Real, float)):
        if entries.ndim and all(isinstance(entry, kind) for entry in entries.flat):
            try:
                return entries.astype(wide)
            except OverflowError:
                break
    return entries


def reals(name: str, value: Any) -> Array:
    """Return `value` as an array of floats, of any shape; NaN and infinity pass."""
    numbers = array(name, value)
    if numbers.dtype.kind not in "iuf":
        if numbers.ndim == 0:
            raise TypeError(f"{name} must be a real number, got {value!r}")
        raise TypeError(f"{name} must hold real numbers, got dtype {numbers.dtype}")
    return numbers.astype(float)


def broadcast(**numbers: Any) -> Sequence[Array]:
    """Return named arrays of floats, broadcast against each other."""
    arrays = {name: reals(name, value) for name, value in numbers.items()}
    try:
        return np.broadcast_arrays(*arrays.values())
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in arrays.values())
        raise ValueError(
            f"{' and '.join(arrays)} must have shapes that broadcast, got {shapes}: for a grid "
            "make one a column, x[:, None]"
        ) from None


def signs(name: str, value: Any, ndim: int) -> Array:
    """Return `value` as contiguous int8 after checking that it has `ndim` axes and entries +-1."""
    entries = array(name, value)
    if entries.dtype.kind not in "iuf":
        content = f"dtype {entries.dtype}"
        if entries.dtype == bool:
            content += f": write 2 * {name} - 1, or patterns.signs({name})"
        elif entries.dtype.kind == "U":
            content += f": write patterns.signs({name}) where it holds two words"
        elif entries.dtype == object and entries.size:
            odd = next(
                (entry for entry in entries.flat if not isinstance(entry, Real)), entries.flat[0]
            )
            content += f" with an entry {odd!r}"
        raise TypeError(f"{name} must be an array of -1 and +1, got {content}")
    if entries.ndim != ndim or entries.size == 0:
        raise ValueError(
            f"{name} must be a non-empty array with {ndim} {'axes' if ndim > 1 else 'axis'}, "
            f"got shape {entries.shape}"
        )
    if not np.all(np.abs(entries) == 1):
        if np.all((entries == 0) | (entries == 1)):
            wide = f"{name}.astype(int)" if entries.dtype.kind == "u" else name
            raise ValueError(
                f"{name} must hold -1 and +1 only, got 0 and 1: write 2 * {wide} - 1, or "
                f"patterns.signs({name})"
            )
        wrong = entries[np.abs(entries) != 1].flat[0]
        cure = "cut it first, as patterns.signs({} > 0)"
        if len(np.unique(entries)) == 2:
            cure = "write patterns.signs({})"
        if not np.all(np.isfinite(entries)):
            cure = "fill it first"
        raise ValueError(
            f"{name} must hold -1 and +1 only, got an entry {wrong}: {cure.format(name)}"
        )
    return np.ascontiguousarray(entries, dtype=np.int8)


def patterns(xi: Any, sigma: Any) -> tuple[Array, Array]:
    """Return patterns ``(P, N)`` and labels ``(P,)`` as int8 after checking that they match."""
    xi = signs("xi", xi, 2)
    sigma = signs("sigma", sigma, 1)
    if len(sigma) != len(xi):
        raise ValueError(
            f"sigma must have one label per pattern: xi has shape {xi.shape}, "
            f"sigma has shape {sigma.shape}"
        )
    return xi, sigma


def dtype(value: Any, least: Any = np.int8) -> np.dtype:
    """Return `value` as the type of an array of real numbers which holds all of type `least`."""
    try:
        kind = None if value is None else np.dtype(value)
    except TypeError:
        kind = None
    if kind is None or kind.kind not in "iuf" or not np.can_cast(least, kind):
        raise ValueError(
            f"dtype must be a type of real numbers that holds {np.dtype(least)}, such as "
            f"np.int64, got {value!r}"
        )
    return kind


def generator(rng: Any) -> np.random.Generator:
    """Return a `numpy.random.Generator`: the one given, or one of what is given as `rng`.

    None takes fresh entropy: no run with it can be repeated.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or isinstance(rng, np.random.SeedSequence):
        return np.random.default_rng(rng)
    if isinstance(rng, (bool, np.bool_)) or not isinstance(rng, Integral):
        raise TypeError(
            "rng must be None, a non-negative integer, a numpy.random.SeedSequence or a "
            f"numpy.random.Generator, got {rng!r}"
        )
    if rng < 0:
        raise ValueError(f"rng must be a non-negative integer, got {rng}")
    return np.random.default_rng(int(rng))


def member(name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    """Return `value` if it is an instance of one of the classes `kinds`."""
    if not isinstance(value, kinds):
        allowed = " or ".join(f"{kind.__name__}(...)" for kind in kinds)
        hint = "; call the class" if isinstance(value, type) else ""
        if not isinstance(value, bool) and isinstance(value, Real):
            hint = f"; write {kinds[0].__name__}({value})"
        for kind in kinds:
            if isinstance(value, str) and value.lower() == kind.__name__.lower():
                hint = f"; write {kind.__name__}(...), an object"
        raise TypeError(f"{name} must be {allowed}, got {value!r}{hint}")
    return value


def function(name: str, value: Any) -> Any:
    """Return `value` if it can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be a function, got {value!r}")
    return value


def choice(name: str, value: Any, allowed: Collection[Any]) -> Any:
    """Return `value` if it is one of the strings, or of True, False and None, in `allowed`."""
    if not isinstance(value, (str, bool, np.bool_, type(None))) or value not in allowed:
        words = {option.lower(): option for option in allowed if isinstance(option, str)}
        meant = words.get(value.lower()) if isinstance(value, str) else None
        hint = f": write {meant!r}" if meant else ""
        raise ValueError(
            f"{name} must be one of {', '.join(repr(option) for option in allowed)}, "
            f"got {value!r}{hint}"
        )
    return value


def _interval(low, high, low_open, high_open):
    left = None if low == -math.inf else f"{'>' if low_open else '>='} {low:g}"
    right = None if high == math.inf else f"{'<' if high_open else '<='} {high:g}"
    return " and ".join(part for part in (left, right) if part) or "real"
