"""Text of findings: lists of numbers, rounded, for the answers of checks."""

from __future__ import annotations


def listed(numbers, decimals):
    """Return numbers as text, separated by commas; what rounds to zero has no sign."""
    return ", ".join(f"{number:z.{decimals}f}" for number in numbers)
