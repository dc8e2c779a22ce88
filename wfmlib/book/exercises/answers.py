"""Compare an answer with what is right, and with what usual mistakes give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

OTHERWISE = "not yet. It is none of the usual mistakes; go through the steps one at a time."


@dataclass(frozen=True)
class Result:
    """What a check says of an answer.

    Attributes
    ----------
    exercise : str
        Its number, such as ``"1.2"``.
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

    def __repr__(self) -> str:
        return f"Exercise {self.exercise}: {self.said}"


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
        Largest difference, relative to the right number.
    """

    asked: str
    label: str
    right: Callable[[], float]
    mistakes: Sequence[tuple[Callable[[], float], str]]
    tolerance: float

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

    def values(self, answer: Any) -> np.ndarray:
        """Return the values of the answer at the points."""
        if not callable(answer):
            raise TypeError(f"answer must be a function, {self.asked}, not {answer!r}")
        found = []
        for point in self.points:
            value = _real(answer(point))
            if value is None or value.size != 1:
                raise TypeError(f"answer must be a function that returns a number at {point}")
            found.append(value.item())
        return np.array(found)

    def at_points(self, function: Callable[[float], float]) -> np.ndarray:
        """Return what is right, or a mistake, at the points."""
        return np.array([function(point) for point in self.points], dtype=float)


def compare(exercise: str, question: Number | Function, answer: Any) -> Result:
    """Return whether an answer is right, or the hint for the mistake that gives it."""
    given, right = question.values(answer), question.at_points(question.right)
    if _equal(given, right, question.tolerance):
        return Result(exercise, True, "right.")
    for mistake, hint in question.mistakes:
        if _equal(given, question.at_points(mistake), question.tolerance):
            return Result(exercise, False, f"not yet. {hint}")
    if _equal(given, -right, question.tolerance):
        return Result(exercise, False, "not yet. Look at the sign.")
    if any(_equal(given, factor * right, question.tolerance) for factor in (0.5, 2.0)):
        return Result(exercise, False, "not yet. A factor of two is missing, or is there twice.")
    if _equal(given, right / np.log(2.0), question.tolerance):
        return Result(exercise, False, "not yet. Which logarithm? The book counts in nats.")
    return Result(exercise, False, OTHERWISE)


def _equal(given, wanted, tolerance):
    return bool(np.all(np.abs(given - wanted) <= tolerance * np.abs(wanted)))


def _real(value):
    """Return a value as an array of finite or infinite real numbers, None if it is not one."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    if found.dtype.kind not in "iuf":
        return None
    return found.astype(float)
