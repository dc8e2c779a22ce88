"""Figures and tables of the book: the slider that works on a page, the colours and the style.

Imported by no numerics. `figures` and the print fallback need matplotlib, a live slider needs
ipywidgets (both in the extra ``book``); everything else NumPy and SciPy.
"""

from wfmlib.book.display.curves import Curve, Rule
from wfmlib.book.display.notebook import figures, progress
from wfmlib.book.display.palette import COLOURS, CYCLE, LINES
from wfmlib.book.display.plotting import plot
from wfmlib.book.display.slider import slider, stops_of
from wfmlib.book.display.smoothing import smooth
from wfmlib.book.display.tables import table

__all__ = [
    "COLOURS",
    "CYCLE",
    "LINES",
    "Curve",
    "Rule",
    "figures",
    "plot",
    "progress",
    "slider",
    "smooth",
    "stops_of",
    "table",
]


def __dir__():
    return __all__
