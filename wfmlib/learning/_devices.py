"""Devices that an algorithm takes: checked once, at its door."""

from __future__ import annotations

import math

from wfmlib.models.activations import Linear, Sign
from wfmlib.models.devices import Committee, Perceptron, TreeCommittee, accepted
from wfmlib.models.formulas import check_formulas

VOTING = (Perceptron, TreeCommittee, Committee)  # they answer with the sign of a sum


def checked(device, weights, kinds=VOTING, activations=(Sign,)):
    """Return a device that an algorithm is there for.

    Parameters
    ----------
    device : Device
    weights, kinds, activations : tuple of type
        Which weights, devices and activations of hidden units the algorithm takes.

    Raises
    ------
    TypeError, ValueError
        If it is none, or not one of those; the message names `device` and what is offered.
    """
    activation = getattr(
        accepted(device), "activation", Sign()
    )  # a parity machine says none: signs
    fits = isinstance(device, kinds) and isinstance(device.weights, weights)
    fits = fits and isinstance(activation, (Linear, *activations))
    if not fits or math.isinf(device.units):
        cure = ""
        if not isinstance(activation, (Linear, *activations)):
            cure = (
                "; cross_entropy_sgd trains real weights of units of any activation with a slope"
            )
        raise ValueError(
            f"device must be a {_names(kinds)} of finitely many units, with weights "
            f"{_names(weights, '()')} and, in hidden units, {_names(activations, '()')}; "
            f"got {device!r}{cure}"
        )
    for name, part in {"device": device, **vars(device)}.items():
        check_formulas(name, part)
    return device


def even(device):
    """Return the device if its units are even in number: half of the answers are subtracted."""
    if device.units % 2:
        raise ValueError(f"device must have an even number of units, got {device!r}")
    return device


def odd(device):
    """Return the device if its units are odd in number: the votes of an even one could tie."""
    if device.units % 2 == 0:
        raise ValueError(f"device must have an odd number of units, got {device!r}")
    return device


def rows(device, N):
    """Return the shape (K, M) of the weights for N inputs, one row a unit, and one at least."""
    return (1, *device.shape(N))[-2:]


def _names(kinds, call=""):
    return " or ".join(f"{kind.__name__}{call}" for kind in kinds)
