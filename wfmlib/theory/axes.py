"""The axes at the public door: which devices and constraints there are, in which ranges.

A question takes a device and a constraint, and is solved with three terms: the entropic one of the
weights, the energetic one of the machine, in which the constraint appears. `checked` takes the
device apart.
"""

from __future__ import annotations

import math
from functools import singledispatch

from wfmlib import _validate
from wfmlib.models.activations import Activation, Linear, ReLU, Sign
from wfmlib.models.constraints import CrossEntropy, Margin
from wfmlib.models.devices import (
    Committee,
    Device,
    ParityMachine,
    Perceptron,
    TreeCommittee,
)
from wfmlib.models.weights import Binary, Spherical

WEIGHTS = (Binary, Spherical)
EFFECTIVE = (Linear, Sign, ReLU, Activation)  # solved through an effective overlap
CONSTRAINTS = (Margin, CrossEntropy)

# In units of the activation's scale. From about -2.3 downwards, at loads of hundreds, several
# replica-symmetric saddle points coexist; from -2 on there is one: the load increases with q_hat.
MARGINS = (-2.0, 1e4)
LEAST_LOAD = 1e-7  # other than 0; its largest margin lies within the range


@singledispatch
def energetic(device):
    """Return the energetic term of a device: an activation, or a machine of finite size."""
    raise TypeError(f"device must be one of wfmlib's devices, got {device!r}")


@energetic.register
def _(device: Perceptron):
    return Linear()


@energetic.register
def _(device: TreeCommittee):
    if math.isinf(device.units):
        return device.activation
    if device.activation != Sign():
        raise ValueError(
            "device must have sign units where their number is finite, or infinitely many "
            f"(units=np.inf); got {device!r}"
        )
    from wfmlib.theory.finite_machines import SignCommittee

    return SignCommittee(device.units)


@energetic.register
def _(device: ParityMachine):
    from wfmlib.theory.finite_machines import Parity

    return Parity(device.units)


@energetic.register
def _(device: Committee):
    raise ValueError(
        "device must be a tree: theory is solved for units with disjoint inputs "
        f"(TreeCommittee), got {device!r}"
    )


def checked(device, constraint, constraints=(Margin,), *, weights=WEIGHTS, finite=False):
    """Return weights, energetic term and constraint after checking what is offered, and ranges.

    Parameters
    ----------
    device : Device
    constraint : Margin or CrossEntropy
    constraints, weights : tuple of type
        Which of each are solved here.
    finite : bool
        Whether machines of finitely many units are.

    Raises
    ------
    TypeError, ValueError
        The message names what is offered.
    """
    if not isinstance(device, Device):
        hint = "; call the class" if isinstance(device, type) else ""
        raise TypeError(
            "device must be a device, such as Perceptron() or TreeCommittee(np.inf), "
            f"got {device!r}{hint}"
        )
    _validate.member("constraint", constraint, constraints)
    if not isinstance(device.weights, weights):
        offered = " or ".join(f"{one.__name__}()" for one in weights)
        raise ValueError(f"device must have weights {offered} here, got {device!r}")
    term = energetic(device)
    if not (finite or isinstance(term, EFFECTIVE)):
        raise ValueError(
            "device must be a Perceptron or have infinitely many units (units=np.inf) here, "
            f"got {device!r}"
        )
    if isinstance(constraint, Margin):
        _validate.real("margin / activation.scale", constraint.kappa / term.scale, *MARGINS)
    return device.weights, term, constraint


def checked_load(alpha, least=0.0):
    """Return a load as a float: 0, or from `least` upwards."""
    alpha = _validate.real("alpha", alpha, 0.0)
    return alpha and _validate.real("alpha, if not 0,", alpha, least)
