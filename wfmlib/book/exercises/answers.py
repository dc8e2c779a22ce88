"""Compare an answer with what is right, and with what usual mistakes give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

OTHERWISE = "not yet. It is none of the usual mistakes; go through the steps one at a time."
COARSEST = 0.01  # relative: usual slips are told apart by no more
SIZES = (15, 21, 25, 101, 999, 1001)  # numbers of weights in the book's instances


@dataclass(frozen=True)
class Result:
    """What a check says of an answer; it is true where the answer is right.

    Attributes
    ----------
    exercise : str
        Its number, such as ``"1.2"``; empty for lines to complete in a lecture.
    right : bool
        Whether the answer is right, within the tolerance of the exercise.
    said : str
        "right", or a hint. The right answer is not in it.

    Examples
    --------
    >>> Result("1.2", True, "right")
    Exercise 1.2: right
    """

    exercise: str
    right: bool
    said: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"Exercise {self.exercise}: {self.said}" if self.exercise else self.said


@dataclass(frozen=True)
class Number:
    """An exercise whose answer is one number.

    Attributes
    ----------
    asked : str
        What the answer is, for messages.
    label : str
        Of the exercise in its chapter.
    right : callable
        Returns the right number.
    mistakes : sequence of (callable, str)
        What a usual mistake gives, and the hint for it; the first that fits is taken.
    tolerance : float
        Largest difference, relative to the right number: that of the figures asked for.
    nats : bool
        Whether the answer is a logarithm, and could be taken to another base.
    """

    asked: str
    label: str
    right: Callable[[], float]
    mistakes: Sequence[tuple[Callable[[], float], str]]
    tolerance: float
    nats: bool = False

    def values(self, answer: Any) -> np.ndarray:
        """Return the answer as an array of one number."""
        value = _real(answer)
        if value is None or value.size != 1:
            raise TypeError(f"answer must be a number, {self.asked}, not {answer!r}")
        return value.reshape(1)

    def at_points(self, function: Callable[[], float]) -> np.ndarray:
        """Return what is right, or a mistake, to compare the answer with."""
        return np.array([function()], dtype=float)


@dataclass(frozen=True)
class Function:
    """An exercise whose answer is a function of one number; it is compared at points.

    Attributes are those of `Number`; `right` and the mistakes take a number, one of `points`.
    """

    asked: str
    label: str
    right: Callable[[float], float]
    mistakes: Sequence[tuple[Callable[[float], float], str]]
    tolerance: float
    points: tuple[float, ...]
    nats: bool = False

    def values(self, answer: Any) -> np.ndarray:
        """Return the values of the answer at the points."""
        if not callable(answer):
            raise TypeError(f"answer must be a function, {self.asked}, not {answer!r}")
        numbers = []
        for point in self.points:
            try:
                value = _real(answer(point))
            except Exception as error:
                error.add_note(f"This is your function's own error, at {point}.")
                raise
            if value is None or value.size != 1:
                raise TypeError(f"answer must be a function that returns a number at {point}")
            numbers.append(value.item())
        return np.array(numbers)

    def at_points(self, function: Callable[[float], float]) -> np.ndarray:
        """Return what is right, or a mistake, at the points."""
        return np.array([function(point) for point in self.points], dtype=float)


def complete(value: Any, wanted: Any, tolerance: float = COARSEST) -> Result:
    """Say whether lines that a reader completes give what they should.

    Parameters
    ----------
    value : number, array, or sequence of these
        What the lines give. An Ellipsis stands where nothing has been filled in.
    wanted : number, array, or sequence of these
        What they should give.
    tolerance : float
        Largest difference, relative to what is wanted.

    Returns
    -------
    Result
        It prints as one word or two, and is true where the value is right.

    Examples
    --------
    >>> complete(..., 0.833)
    not yet
    >>> complete((0.5, 0.8331), (0.5, 0.833))
    right
    """
    several = isinstance(value, list | tuple)
    parts, expected = (value, wanted) if several else ((value,), (wanted,))
    agree = not any(np.asarray(part).dtype == object for part in parts) and all(
        np.allclose(part, one, rtol=tolerance, atol=0.0)
        for part, one in zip(parts, expected, strict=True)
    )
    return Result("", agree, "right" if agree else "not yet")


def compare(exercise: str, question: Number | Function, answer: Any) -> Result:
    """Return whether an answer is right, or the hint for the mistake that gives it."""
    values, right = question.values(answer), question.at_points(question.right)
    tolerance = question.tolerance
    if _equal(values, right, tolerance):
        return Result(exercise, True, f"right, within {_percent(tolerance)}.")
    for mistake, hint in question.mistakes:
        if _equal(values, question.at_points(mistake), tolerance):
            return Result(exercise, False, f"not yet. {hint}")
    near = max(COARSEST, 2.0 * tolerance)
    if _equal(values, right, near):
        said = f"close: within {_percent(near)}, but not within {_percent(tolerance)}."
        return Result(exercise, False, f"{said} Give more figures.")
    for slip, hint in slips(question, right):
        if _equal(values, slip, min(tolerance, COARSEST)):
            return Result(exercise, False, f"not yet. {hint}")
    return Result(exercise, False, OTHERWISE)


def slips(question: Number | Function, right: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Return what slips that are possible in any exercise give, each with its hint."""
    twice = "A factor of two is missing, or is there twice."
    wrong = [(-right, "Look at the sign."), (0.5 * right, twice), (2.0 * right, twice)]
    if "distance" in question.asked or "overlap" in question.asked:
        hint = "Overlap or distance? q = 1 - 2d."
        wrong += [(1.0 - 2.0 * right, hint), (0.5 - 0.5 * right, hint)]
    wrong += [
        (100.0 * right, "In per cent? A share of one is asked for."),
        (1.0 - right, "This is one minus the answer."),
        (np.divide(1.0, right, out=np.full_like(right, np.inf), where=right != 0), "Inverted."),
        (right**2, "This is the square of the answer."),
        (np.sqrt(np.abs(right)), "This is the root of the answer."),
    ]
    wrong += [(size * right, "It is asked for per weight.") for size in SIZES]
    if question.nats:
        wrong.append((right / np.log(2.0), "Which logarithm? The book counts in nats."))
    return wrong


def _percent(share):
    return f"{100.0 * share:.2g} %".replace("e-0", "e-")


def _equal(values, expected, tolerance):
    return bool(np.all(np.abs(values - expected) <= tolerance * np.abs(expected)))


def _real(value):
    """Return a value as an array of finite or infinite real numbers, None if it is not one."""
    if isinstance(value, Fraction | Decimal):
        value = float(value)
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    if array.dtype.kind not in "iuf":
        return None
    return array.astype(float)
