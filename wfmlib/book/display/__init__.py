"""What notebooks show: the slider that works on a page, and the book's colours and style.

Imported by no numerics. `figures` and the print fallback need matplotlib, a live slider needs
ipywidgets (both in the extra ``book``); everything else NumPy and SciPy.
"""

from wfmlib.book.display.calculator import Calculator, calculator
from wfmlib.book.display.followed import Followed, committees, replicas, surroundings
from wfmlib.book.display.gibbs import gibbs_measure
from wfmlib.book.display.instance import Instance, instance
from wfmlib.book.display.live import Live, typical_solutions
from wfmlib.book.display.marks import Curve, Rule
from wfmlib.book.display.notebook import figures, progress
from wfmlib.book.display.palette import COLOURS, CYCLE, LINES
from wfmlib.book.display.plotting import plot
from wfmlib.book.display.slider import Slider, slider, stops_of

__all__ = [
    "COLOURS",
    "CYCLE",
    "LINES",
    "Calculator",
    "Curve",
    "Followed",
    "Instance",
    "Live",
    "Rule",
    "Slider",
    "calculator",
    "committees",
    "figures",
    "gibbs_measure",
    "instance",
    "plot",
    "progress",
    "replicas",
    "slider",
    "stops_of",
    "surroundings",
    "typical_solutions",
]


def __dir__():
    return __all__
