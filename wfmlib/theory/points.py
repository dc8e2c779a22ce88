"""Base class of the points of theory: a bound of their entropies, and how they print.

What was asked stands in one line, then a line for each answer.
"""

from __future__ import annotations

import html
import math
from typing import Any, ClassVar

from wfmlib.numerics.solvers import bounded
from wfmlib.theory.sweeps import MEANING

UNITS = {"energy": "per weight"} | {
    name: unit for name, (unit, _) in MEANING.items() if unit != "1"
}


class Shown:
    """What points inherit: they print in ten lines at most, in a notebook as a table.

    None is made with an entropy that is infinite, NaN or larger than that of all configurations:
    no saddle point is behind such numbers, and `NotConverged` says so.

    A class of points is a frozen dataclass, made with ``repr=False``. Points of equal arguments
    and numbers are equal and have the same hash; their reports are not compared.
    """

    device: Any  #: a `Device`; each class says of which kind
    report: Any  #: a `Report`, or None
    printed_arguments: ClassVar[tuple[str, ...]] = (
        "device",
        "alpha",
        "constraint",
    )  #: arguments that print
    printed_answers: ClassVar[tuple[str, ...]]  #: answers that print; one that is None does not
    counted: ClassVar[tuple[str, ...]] = ("entropy",)  #: logarithms of numbers of configurations

    def __post_init__(self) -> None:
        for name, most in self._most().items():
            value = getattr(self, name)
            value = value if math.isfinite(value) else math.nan
            bounded(name.replace("_", " "), value, most, self.report)

    def _most(self) -> dict[str, float]:
        """Return the entropies that are bounded, and those of all configurations."""
        return {"entropy": self.device.weights.entropy} if hasattr(self, "entropy") else {}

    def _title(self) -> str:
        arguments = (_argument(name, getattr(self, name)) for name in self.printed_arguments)
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _rows(self) -> list[tuple[str, str]]:
        values = [(name, getattr(self, name)) for name in self.printed_answers]
        return [
            (name, self._formatted(name, value)) for name, value in values if value is not None
        ]

    def _formatted(self, name: str, value: Any) -> str:
        """Return a value with its unit, and in words what it means."""
        text = f"{value:.10g}" if isinstance(value, float) else str(value)
        if name == "replicon":
            return f"{text} (RS {'stable' if value < 1.0 else 'unstable'})"
        unit = UNITS.get(name)
        text = f"{text} {unit}" if unit else text
        if name in self.counted and value < 0.0 and self.device.weights.discrete:
            return f"{text} (negative: there are none)"
        return text

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join([self._title(), *(f"  {name:{width}}  {text}" for name, text in rows)])

    def _repr_html_(self) -> str:
        """Return the same as a table, in the colours of the page that it is on."""
        left = 'style="text-align: left"'
        rows = "".join(
            f'<tr><th scope="row" {left}>{name}</th><td {left}>{html.escape(text)}</td></tr>'
            for name, text in self._rows()
        )
        caption = f"<caption>{html.escape(self._title())}</caption>"
        return f"<table>{caption}<tbody>{rows}</tbody></table>"


def _argument(name: str, value: Any) -> str:
    if name == "device":
        return repr(value)
    return f"{name}={value:g}" if isinstance(value, float | int) else f"{name}={value!r}"
