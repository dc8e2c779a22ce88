"""The axes at the public door: which devices and constraints there are, in which ranges.

A question takes a device and a constraint, and is solved with two terms: the entropic one of the
weights, and the energetic one of the machine, in which the constraint appears. `checked` takes the
device apart: weights, energetic term and constraint are what everything behind the door takes.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.activations import Sign
from wfmlib.models.constraints import Band, CrossEntropy, LogPotential, Margin
from wfmlib.models.devices import (
    WEIGHTS,
    Committee,
    ParityMachine,
    Perceptron,
    TreeCommittee,
    accepted,
)
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import NotNegative, Or, Swept
from wfmlib.theory.machines.finite_machines import MOST_UNITS, Parity, SignCommittee

CONSTRAINTS = (Margin, Band, CrossEntropy, LogPotential)
HARD = (Margin, Band)  # what is counted are solutions

Load: TypeAlias = NotNegative
Loads: TypeAlias = Annotated[ArrayLike, *NotNegative.__metadata__, Swept()]
#: Loads whose largest margin lies within the range of margins.
ResolvedLoad: TypeAlias = Annotated[float, Interval(ge=1e-7, lt=math.inf), Or(0.0)]
ResolvedLoads: TypeAlias = Annotated[ArrayLike, *ResolvedLoad.__metadata__]


@singledispatch
def energetic(device):
    """Return the energetic term of a device: an activation, or a machine of finite size."""
    raise TypeError(f"device must be one of wfmlib's devices, got {device!r}")


@energetic.register
def _(device: Perceptron):
    return device.activation


@energetic.register
def _(device: TreeCommittee):
    if math.isinf(device.units):
        return device.activation
    if device.activation != Sign():
        raise ValueError(
            "device must have sign units where their number is finite, or infinitely many "
            f"(units=np.inf); got {device!r}"
        )
    units = arguments.integer("device.units", device.units, 1, MOST_UNITS)
    if units % 2 == 0:
        raise ValueError(f"device must have an odd number of units, got {device!r}")
    return SignCommittee(units)


@energetic.register
def _(device: ParityMachine):
    return Parity(arguments.integer("device.units", device.units, 2, 6))


@energetic.register
def _(device: Committee):
    raise ValueError(
        "device must be a tree: theory is solved for units with disjoint inputs "
        f"(TreeCommittee), got {device!r}"
    )


def checked(
    device,
    constraint,
    constraints=(Margin,),
    *,
    weights=WEIGHTS,
    finite=False,
    odd=False,
    flat=False,
):
    """Return weights, energetic term and constraint after checking what is offered, and ranges.

    Parameters
    ----------
    device : Device
    constraint : Margin, Band or CrossEntropy
    constraints, weights : tuple of type
        Which of each are solved here.
    finite : bool
        Whether machines of finitely many units are: committees of three sign units, and parity
        machines of two to six.
    odd : bool
        Whether committees of any odd number of sign units are.
    flat : bool
        Whether activations without a linear part are, with spherical weights and a margin.

    Raises
    ------
    TypeError, ValueError
        The message names what is offered.
    """
    accepted(device)
    arguments.member("constraint", constraint, constraints)
    if not isinstance(device.weights, weights):
        offered = " or ".join(f"{one.__name__}()" for one in weights)
        raise ValueError(f"device must have weights {offered} here, got {device!r}")
    term = energetic(device)
    if not term.one_field:
        _check_finite(device, term, constraint, finite, odd)
    if term.flat and not (
        flat and type(device.weights) is Spherical and type(constraint) is Margin
    ):
        raise ValueError(
            "device must have an activation with a linear part (E x g(x) must not vanish)"
            f"{' unless weights are Spherical() and the constraint is a Margin' if flat else ''}"
            f" here, got {device!r} with {constraint!r}"
        )
    constraint.within_range(term.scale)
    return device.weights, term, constraint


def _check_finite(device, term, constraint, finite, odd):
    if not finite:
        raise ValueError(
            "device must be a Perceptron or have infinitely many units (units=np.inf) here, "
            f"got {device!r}"
        )
    if not (odd or term.solved):
        raise ValueError(
            "device must have three units where their number is finite, or infinitely many "
            f"(units=np.inf), here; got {device!r}"
        )
    if constraint != Margin(0.0):
        raise ValueError(
            "constraint must be Margin(0.0) for a device of finitely many units, "
            f"got {constraint!r} with {device!r}"
        )


# ------------------------------------------------------------------------------------------------
# Many at a time
# ------------------------------------------------------------------------------------------------


def each(function, values):
    """Apply a function of one number to a number, or to every entry of an array."""
    return _over(function, np.asarray(values)) if np.ndim(values) else function(values)


def each_constraint(function, constraint):
    """Apply a function of one constraint to one, or to every entry of a sequence."""
    given = arguments.array("constraint", constraint)
    return function(constraint) if given.ndim == 0 else _over(function, given)


def _over(function, values):
    return np.array([function(one) for one in values.flat], dtype=float).reshape(values.shape)


def broadcast(constraint, **numbers):
    """Return an array of constraints and named arrays of floats, broadcast against each other."""
    given = {name: arguments.reals(name, value) for name, value in numbers.items()}
    given["constraint"] = arguments.array("constraint", constraint)
    *arrays, constraints = arguments.together(given)
    return constraints, *arrays
