"""How findings are put into words."""

from __future__ import annotations


def listed(numbers, decimals):
    """Return numbers as text, separated by commas."""
    return ", ".join(f"{number:.{decimals}f}" for number in numbers)
