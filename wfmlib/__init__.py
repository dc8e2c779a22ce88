"""Wide flat minima: replica theory, learning algorithms and landscape measures.

A problem is made of a device, its weights and activation, and a constraint, all of which stand
here. The parts load when they are first named: ``wfmlib.theory``, ``wfmlib.learning`` and so on.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_PARTS = (
    "book",
    "datasets",
    "landscape",
    "learning",
    "models",
    "networks",
    "numerics",
    "patterns",
    "theory",
)
_MEMBERS = (
    "Activation",
    "Band",
    "Binary",
    "Committee",
    "CrossEntropy",
    "LogPotential",
    "Margin",
    "ParityMachine",
    "Perceptron",
    "ReLU",
    "Sign",
    "Spherical",
    "TreeCommittee",
)

__all__ = [*_MEMBERS, *_PARTS]


def __getattr__(name):
    if name in _PARTS:
        return importlib.import_module(f"wfmlib.{name}")
    if name in _MEMBERS:
        return getattr(importlib.import_module("wfmlib.models"), name)
    raise AttributeError(f"module 'wfmlib' has no attribute {name!r}")


def __dir__():
    return sorted(["__version__", *__all__])
