"""Table of the exercises whose answers can be checked, and the check."""

from __future__ import annotations

from typing import Any

from wfmlib.book.exercises import (
    chapter_1,
    chapter_2,
    chapter_3,
    chapter_4,
    chapter_5,
    chapter_6,
    chapter_7,
    chapter_8,
    chapter_9,
    chapter_10,
    chapter_11,
    chapter_12,
    chapter_13,
)
from wfmlib.book.exercises.answers import Function, Number, Result, compare

QUESTIONS: dict[str, Number | Function] = {
    **chapter_1.QUESTIONS,
    **chapter_2.QUESTIONS,
    **chapter_3.QUESTIONS,
    **chapter_4.QUESTIONS,
    **chapter_5.QUESTIONS,
    **chapter_6.QUESTIONS,
    **chapter_7.QUESTIONS,
    **chapter_8.QUESTIONS,
    **chapter_9.QUESTIONS,
    **chapter_10.QUESTIONS,
    **chapter_11.QUESTIONS,
    **chapter_12.QUESTIONS,
    **chapter_13.QUESTIONS,
}


def available() -> tuple[str, ...]:
    """Return the numbers of the exercises that can be checked, in the order of the book.

    Examples
    --------
    >>> len(available()) > 0
    True
    """
    return tuple(QUESTIONS)


def check(exercise: str, answer: Any) -> Result:
    """Say whether an answer is right, or give a hint.

    Parameters
    ----------
    exercise : str
        Its number in the book, such as ``"1.2"``.
    answer : float or callable
        What the exercise asks for; a function is called at a few points.

    Returns
    -------
    Result
        It prints as one line, and is true where the answer is right.

    Raises
    ------
    ValueError
        If no exercise of this number can be checked.
    TypeError
        If the answer is not of the kind that the exercise asks for.

    Examples
    --------
    >>> check("1.3", 0.471)
    Exercise 1.3: close: within 1 %, but not within 0.01 %. Give more figures.
    """
    if not isinstance(exercise, str) or exercise not in QUESTIONS:
        chapter = str(exercise).partition(".")[0]
        near = [number for number in QUESTIONS if number.partition(".")[0] == chapter]
        these = f"of chapter {chapter}: {', '.join(near)}" if near else f"such as {'1.1'!r}"
        raise ValueError(
            f"exercise must be the number, a string, of one that can be checked, {these}; "
            f"not {exercise!r}"
        )
    return compare(exercise, QUESTIONS[exercise], answer)
