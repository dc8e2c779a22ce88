"""Limits and ticks of an axis, and how numbers are written under them."""

from __future__ import annotations

import math

import numpy as np

MINUS = "\N{MINUS SIGN}"


def ticks(low: float, high: float, most: int) -> tuple[np.ndarray, list[str]]:
    """Return round positions between `low` and `high`, at most `most`, and their labels.

    Positions are multiples of 1, 2, 2.5 or 5 times a power of ten.
    """
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 2.5, 5, 10, 20, 25):
        step = factor * power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    values = np.arange(first, last + 1) * step
    return values, written(values)


def limits(values: np.ndarray, pad: float) -> tuple[float, float]:
    """Return an interval that holds all finite `values` and a margin of `pad` times its width."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        raise ValueError("curves must hold at least one finite point, got none")
    low, high = float(finite.min()), float(finite.max())
    margin = pad * (high - low) if high > low else 0.5 * max(abs(high), 1.0)
    return low - margin, high + margin


def written(values: np.ndarray) -> list[str]:
    """Return `values` as text, all with the decimals that tell neighbours apart, at most six."""
    gaps = np.diff(np.unique(values))
    gap = gaps.min() if gaps.size else max(abs(values[0]), 1.0)
    largest = np.abs(values).max()
    if largest >= 1e6 or gap < 1e-5:
        digits = int(np.clip(np.ceil(np.log10(largest / gap)) + 2, 2, 15))
        return [f"{value:.{digits}g}".replace("-", MINUS) for value in values]
    # Rounding may move a value by one per cent of the gap to its neighbour.
    decimals = next(
        (d for d in range(6) if np.all(np.abs(np.round(values, d) - values) <= 0.01 * gap)), 6
    )
    rounded = np.round(values, decimals) + 0.0  # no minus before a zero
    return [f"{value:.{decimals}f}".replace("-", MINUS) for value in rounded]
