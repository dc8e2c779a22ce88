"""Answers of the exercises, checked: what is right is said to be, and what is not gets a hint.

A file a chapter says how each answer is found; nothing that is printed gives it away. An exercise
that asks for a proof has no check.
"""

from wfmlib.book.exercises.answers import Result, complete
from wfmlib.book.exercises.table import available, check

__all__ = ["Result", "available", "check", "complete"]


def __dir__():
    return __all__
