"""Text of findings: lists of numbers, rounded, for the answers of checks."""

from __future__ import annotations


def listed(numbers, decimals):
    """Return numbers as text, separated by commas."""
    return ", ".join(f"{number:.{decimals}f}" for number in numbers)
