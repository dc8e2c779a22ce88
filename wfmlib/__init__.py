"""Wide flat minima: replica theory, learning algorithms and landscape measures.

A problem is made of a device, its weights and activation, and a constraint, all of which stand
here. The parts load when they are first named: ``wfmlib.theory``, ``wfmlib.learning`` and so on.
"""

from __future__ import annotations

import importlib
import os
import sys

__version__ = "0.1.0"

_PARTS = (
    "bench",
    "book",
    "datasets",
    "landscape",
    "learning",
    "models",
    "networks",
    "numerics",
    "patterns",
    "probe",
    "theory",
)
_MEMBERS = (
    "Activation",
    "Band",
    "Binary",
    "Committee",
    "CrossEntropy",
    "Discrete",
    "LogPotential",
    "Margin",
    "ParityMachine",
    "PatternWeight",
    "Perceptron",
    "ReLU",
    "Sign",
    "Spherical",
    "TreeCommittee",
)

__all__ = [*_MEMBERS, *_PARTS]

if _cache := os.environ.get("NUMBA_CACHE_DIR"):  # numba itself would name a kernel, not the folder
    import tempfile

    try:
        os.makedirs(_cache, exist_ok=True)
        with tempfile.TemporaryFile(dir=_cache):
            pass
    except OSError as error:
        raise OSError(
            f"NUMBA_CACHE_DIR must name a folder that can be written to, got {_cache!r} "
            f"({error.strerror}): make it one, name another, or unset it"
        ) from None


def __getattr__(name):
    if name in _PARTS:
        return importlib.import_module(f"wfmlib.{name}")
    if name in _MEMBERS:
        return getattr(importlib.import_module("wfmlib.models"), name)
    message = f"module 'wfmlib' has no attribute {name!r}"
    raise AttributeError(message, name=name, obj=sys.modules[__name__])


def __dir__():
    return sorted(["__version__", *__all__])
