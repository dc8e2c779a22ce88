"""Classes of one's own that replace a member of a known class, whose formulas then do not hold.

A class that derives from `Binary`, say, and replaces one method would keep the averages of the
old class in all others. So it is refused, at the door of a question or of an algorithm.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from functools import cache

from wfmlib.models.activations import Activation, ReLU, Sign
from wfmlib.models.constraints import Band, CrossEntropy, LogPotential, Margin
from wfmlib.models.devices import WEIGHTS, Committee, ParityMachine, Perceptron, TreeCommittee

CONSTRAINTS = (Margin, Band, CrossEntropy, LogPotential)
SOLVED = (
    *(Perceptron, TreeCommittee, Committee, ParityMachine),
    *WEIGHTS,
    *(Sign, ReLU, Activation),
    *CONSTRAINTS,
)


def check_formulas(name, part):
    """Refuse a class of one's own that is not what the class is for which formulas are known."""
    changed = _changed(type(part))
    if changed:
        known = next(base for base in type(part).__mro__ if base in SOLVED)
        raise TypeError(
            f"{name} must be a {known.__name__} as it stands: formulas are those of that class, "
            f"and {type(part).__name__} replaces its {', '.join(changed)}"
        )


@cache
def _changed(cls):
    """Return what a class of one's own replaces of the known class that it is derived from."""
    known = next((base for base in cls.__mro__ if base in SOLVED), None)
    if known is None or known is cls:
        return ()
    data = {field.name for field in fields(known)}

    def replaced(name):
        own, old = (inspect.getattr_static(owner, name, None) for owner in (cls, known))
        default = name in data and not hasattr(own, "__get__")
        return own is not old and not default

    names = {name for name in dir(known) if not name.startswith("__")} | data
    return tuple(sorted(filter(replaced, names)))
