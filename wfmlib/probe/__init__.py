"""Flatness of a network of one's own: local energy, curvature, volume, margins."""

from wfmlib.probe.calibration import calibrate
from wfmlib.probe.curvature import curvature, learning_coefficient
from wfmlib.probe.energy import local_energy, margins
from wfmlib.probe.model import Model, ModelWarning
from wfmlib.probe.volume import local_volume

__all__ = [
    "Model",
    "ModelWarning",
    "calibrate",
    "curvature",
    "learning_coefficient",
    "local_energy",
    "local_volume",
    "margins",
]


def __dir__():
    return __all__
