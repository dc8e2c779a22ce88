"""Interrupts that arrive while a kernel runs."""

from __future__ import annotations


def is_interrupt(error):
    """Say whether a SystemError is what numba makes of an interrupt while a kernel runs."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None
