"""Ranges of public arguments: each stands once, for the check, the docstring and the tests.

A signature carries it, ``alpha: Annotated[float, Range(0.0)]``. An array has it for its entries.
"""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from numbers import Real
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.numerics import _validate

__all__ = ["Narrower", "Range", "declared"]


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
        What is allowed besides: 0, ``math.inf`` or NaN.
    """

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    whole: bool = False
    also: tuple[float, ...] = ()

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
        if self.also and isinstance(value, Real) and not isinstance(value, bool):
            if any(value == one or (value != value and one != one) for one in self.also):
                return float(value)
            name = f"{name}, if not {' or '.join(map(_number, self.also))},"
        if self.whole:
            most = None if self.high == math.inf else int(self.high)
            return _validate.integer(name, value, int(self.low), most)
        ends = {"low_open": self.low_open, "high_open": self.high_open}
        return _validate.real(name, value, self.low, self.high, **ends)

    def __str__(self) -> str:
        """Say the range as docstrings do: "positive", "from 0 to 1/2", "at least 1"."""
        words = self._words()
        for one in self.also:
            words = f"0, or {words}" if one == 0.0 else f"{words}, or {_number(one)}"
        return words

    def _words(self):
        low, high = _number(self.low), _number(self.high)
        if math.isinf(self.high):
            if math.isinf(self.low):
                return "finite"
            if self.low == 0.0:
                return "positive" if self.low_open else "not negative"
            return f"above {low}" if self.low_open else f"at least {low}"
        if self.low_open:
            return f"between {low} and {high}" if self.high_open else f"above {low}, up to {high}"
        return f"from {low} to below {high}" if self.high_open else f"from {low} to {high}"

    @property
    def interval(self) -> str:
        """The same in symbols, "(0, 1/2]", as the API reference shows it."""
        left = "(" if self.low_open or math.isinf(self.low) else "["
        right = ")" if self.high_open or math.isinf(self.high) else "]"
        symbols = {math.inf: "∞", -math.inf: "-∞"}
        low, high = (symbols.get(end, _number(end)) for end in (self.low, self.high))
        ends = f"{left}{low}, {high}{right}"
        if self.whole:
            ends = f"{{{low}, ..., {high}}}"
            if high == "∞":
                ends = f"{{{low}, {int(self.low) + 1}, ...}}"
        for one in self.also:
            ends = f"{{0}} ∪ {ends}" if one == 0.0 else f"{ends} ∪ {{{symbols.get(one, 'NaN')}}}"
        return ends


@dataclass(frozen=True)
class Narrower:
    """A smaller range that holds for some values of another argument.

    Parameters
    ----------
    where : str
        For which, after the range: "with three units".
    range : Range
    """

    where: str
    range: Range

    def __str__(self) -> str:
        """Say the range and where it holds."""
        return f"{self.range} {self.where}"


def declared(function: Any) -> dict[str, tuple[Range, tuple[Narrower, ...]]]:
    """Return the ranges that a signature declares, by the name of the argument.

    Parameters
    ----------
    function : callable
        A function, or a dataclass.

    Returns
    -------
    dict
        The range, and where it is narrower.
    """
    if isinstance(function, type):
        hints = get_type_hints(function, include_extras=True)
    else:
        function = inspect.unwrap(function)
        told = dict(getattr(function, "__annotations__", {}))
        told.pop("return", None)  # may be known to checkers of types only
        scope = getattr(function, "__globals__", {})
        hints = get_type_hints(SimpleNamespace(__annotations__=told), scope, include_extras=True)
    found = {}
    for name, hint in hints.items():
        marks = [mark for mark in _marks(hint) if isinstance(mark, (Range, Narrower))]
        if marks:
            whole = next(mark for mark in marks if isinstance(mark, Range))
            found[name] = whole, tuple(mark for mark in marks if isinstance(mark, Narrower))
    return found


def _marks(hint):
    """Yield what annotates a type, or a type inside it."""
    yield from getattr(hint, "__metadata__", ())
    for one in get_args(hint):
        yield from _marks(one)


def _number(value):
    if math.isinf(value):
        return "math.inf"
    if math.isnan(value):
        return "NaN"
    if value == 0.5:
        return "1/2"
    gap = 1.0 - value
    if 0.0 < gap < 1e-4:
        return f"1 - {_number(gap)}"
    if 0.0 < value < 1e-6 and math.frexp(value)[0] == 0.5:
        return f"2^{math.frexp(value)[1] - 1}"
    size = f"{value:.10g}" if 1e-2 <= abs(value) < 1e4 or value == 0.0 else f"{value:.10e}"
    mantissa, _, power = size.partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(power)}" if power else mantissa


# ------------------------------------------------------------------------------------------------
# What many arguments share
# ------------------------------------------------------------------------------------------------

FINITE = Range()
POSITIVE = Range(0.0, low_open=True)
NOT_NEGATIVE = Range(0.0)
SHARE = Range(0.0, 1.0)
DISTANCE = Range(0.0, 0.5)  #: (1 - overlap) / 2
APART = Range(0.0, 0.5, low_open=True)  #: the same between two that differ
COUNT = Range(1, whole=True)

Finite: TypeAlias = Annotated[float, FINITE]
Positive: TypeAlias = Annotated[float, POSITIVE]
NotNegative: TypeAlias = Annotated[float, NOT_NEGATIVE]
Share: TypeAlias = Annotated[float, SHARE]
Shares: TypeAlias = Annotated[ArrayLike, SHARE]
Distance: TypeAlias = Annotated[float, APART]
Distances: TypeAlias = Annotated[ArrayLike, DISTANCE]
Damping: TypeAlias = Annotated[float, Range(0.0, 1.0, high_open=True)]
Count: TypeAlias = Annotated[int, COUNT]
