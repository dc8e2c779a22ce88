"""Drawings that explain: devices, overlaps of replicas, what surrounds a solution.

Each function draws one picture with matplotlib and returns its figure. Numbers in a picture are
arguments: what is drawn is counted, not painted.
"""

from wfmlib.book.display.pictures.device_pictures import devices
from wfmlib.book.display.pictures.overlaps import overlaps
from wfmlib.book.display.pictures.regions import balls, phases
from wfmlib.book.display.pictures.ways import ways

__all__ = ["balls", "devices", "overlaps", "phases", "ways"]


def __dir__():
    return __all__
