"""Checks at the public door: each names the argument, what came and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from wfmlib.numerics.types import Array


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

    Masked arrays are refused: to take the values under the mask for data would be wrong.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a number or an array, got a masked array")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array, got {value!r}") from error


def reals(name: str, value: Any) -> Array:
    """Return `value` as an array of floats, of any shape; NaN and infinity pass."""
    given = array(name, value)
    if given.dtype.kind not in "iuf":
        if given.ndim == 0:
            raise TypeError(f"{name} must be a real number, got {value!r}")
        raise TypeError(f"{name} must hold real numbers, got dtype {given.dtype}")
    return given.astype(float)


def broadcast(**numbers: Any) -> Sequence[Array]:
    """Return named arrays of floats, broadcast against each other."""
    return together({name: reals(name, value) for name, value in numbers.items()})


def together(given: dict[str, Array]) -> Sequence[Array]:
    """Return the arrays of a dict, broadcast against each other."""
    try:
        return np.broadcast_arrays(*given.values())
    except ValueError:
        shapes = " and ".join(str(one.shape) for one in given.values())
        raise ValueError(
            f"{' and '.join(given)} must have shapes that broadcast, got {shapes}"
        ) from None


def signs(name: str, value: Any, ndim: int) -> Array:
    """Return `value` as contiguous int8 after checking that it has `ndim` axes and entries +-1."""
    given = array(name, value)
    if given.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be an array of -1 and +1, got dtype {given.dtype}")
    if given.ndim != ndim or given.size == 0:
        raise ValueError(
            f"{name} must be a non-empty array with {ndim} {'axes' if ndim > 1 else 'axis'}, "
            f"got shape {given.shape}"
        )
    if not np.all(np.abs(given) == 1):
        wrong = given[np.abs(given) != 1].flat[0]
        raise ValueError(f"{name} must hold -1 and +1 only, got an entry {wrong}")
    return np.ascontiguousarray(given, dtype=np.int8)


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
        if isinstance(value, Real) and not isinstance(value, bool):
            hint = f"; write {kinds[0].__name__}({value})"
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
        raise ValueError(
            f"{name} must be one of {', '.join(repr(one) for one in allowed)}, got {value!r}"
        )
    return value


def _interval(low, high, low_open, high_open):
    left = None if low == -math.inf else f"{'>' if low_open else '>='} {low:g}"
    right = None if high == math.inf else f"{'<' if high_open else '<='} {high:g}"
    return " and ".join(part for part in (left, right) if part) or "real"
