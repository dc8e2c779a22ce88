"""Colours and lines of the figures: a fixed code, the same on every page.

Every colour has a contrast of at least 3 against white. Within a group the luminances are steps
(13 units of L* between activations, 10 between algorithms), so that a black-and-white print or a
colour-blind eye still tells the members apart. On dark pages `on_dark` takes their place.
"""

from __future__ import annotations

import re
from types import MappingProxyType

import numpy as np

ACTIVATIONS = MappingProxyType(
    {"perceptron": "#332559", "sign": "#004cb1", "relu": "#b75520", "parity": "#08a785"}
)
ALGORITHMS = MappingProxyType(
    {
        "LAL": "#5c0002",
        "eLAL": "#b50044",
        "ceSGD fast": "#ca8504",
        "ceSGD slow": "#034b2b",
        "fBP": "#9864af",
    }
)
#: One colour for each activation and for each algorithm, as ``#rrggbb``.
COLOURS = MappingProxyType({**ACTIVATIONS, **ALGORITHMS})

#: Colours without a fixed meaning, taken in this order: the first three lie farthest apart.
#: From matplotlib's viridis, cut where its contrast against white falls below 3.
CYCLE = ("#450559", "#375b8d", "#20a486", "#46327e", "#277f8e")

#: What a line is, as keyword arguments of matplotlib's `plot` and `errorbar`.
LINES = MappingProxyType(
    {
        "theory": {"linestyle": "-"},
        "archive": {"linestyle": "none", "marker": "o"},
        "bound": {"linestyle": (0, (5, 2.5))},
        "unstable": {"linestyle": (0, (1, 1.8))},
    }
)


def resolve(colour: str) -> str:
    """Return ``#rrggbb`` for a name of `COLOURS` or for such a string itself.

    Raises
    ------
    ValueError
        If `colour` is neither.
    """
    code = COLOURS.get(colour, colour) if isinstance(colour, str) else ""
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", code):
        raise ValueError(
            f"colour must be '#rrggbb' or one of {', '.join(map(repr, COLOURS))}, got {colour!r}"
        )
    return code.lower()


def luminance(colour: str) -> float:
    """Return the relative luminance, 0 for black and 1 for white (WCAG 2.2)."""
    return float(_linear(colour) @ (0.2126, 0.7152, 0.0722))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def on_dark(colour: str) -> str:
    """Return the colour's lighter sister for dark pages: same hue, same order of luminance.

    Lightness moves up by about a quarter of OKLab's scale; hue and chroma stay, as far as
    the screen can show them.
    """
    lightness, a, b = np.cbrt(_linear(colour) @ _LMS.T) @ _OKLAB.T
    return _code(_fitting(0.27 + 0.92 * lightness, a, b))


def tint(colour: str, share: float) -> str:
    """Return the colour mixed with white: `share` 1 is the colour itself, 0 is white."""
    return _code(1 - share * (1 - _linear(colour)))


# OKLab (B. Ottosson, 2020): linear sRGB -> cone responses -> cube root -> lightness, a, b.
_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _fitting(lightness, a, b):
    """Return linear sRGB with as much of the chroma as the screen can show."""
    for chroma in np.linspace(1.0, 0.0, 41):  # the first that fits
        rgb = _show(lightness, chroma * a, chroma * b)
        if rgb.min() >= -1e-6 and rgb.max() <= 1 + 1e-6:
            break
    return rgb


def _show(*lab):
    return np.linalg.solve(_LMS, np.linalg.solve(_OKLAB, np.array(lab)) ** 3)


def _linear(colour):
    code = resolve(colour)
    value = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _code(linear):
    value = np.clip(linear, 0, 1)
    value = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{level:02x}" for level in np.rint(255 * value).astype(int))
