"""Protocols of focusing: the couplings, and the numbers of replicas, of one step after another.

A protocol is an array: of couplings, shape (steps,), or of pairs (coupling, replicas), shape
(steps, 2). The functions here make those of the papers; any other array will do as well.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Interval

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Positive
from wfmlib.numerics.types import Array

NAMES = ("papers", "solve")
# of `pseudo_reinforcement`: beyond, a coupling would be infinite in floating point
LAST = 1.0 - 2.0**-30


def named(name, is_binary):
    """Return the protocol of this name.

    Parameters
    ----------
    name : str
        ``"papers"``: `exponential` on the sphere, `atanh_steps` for binary weights. ``"solve"``:
        `pseudo_reinforcement`, which is made to find a solution; for binary weights.
    is_binary : bool
        What the weights are.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If there is none of this name for these weights.
    """
    arguments.choice("protocol", name, NAMES)
    if name == "papers":
        return atanh_steps() if is_binary else exponential()
    if not is_binary:
        raise ValueError("protocol must be 'papers' or an array on the sphere, got 'solve'")
    return pseudo_reinforcement()


@arguments.checked
def exponential(
    first: Positive = 0.5, last: Positive = 30.0, steps: Annotated[int, Ge(2)] = 30
) -> Array:
    """Return couplings that grow by a constant factor: the protocol of P1, App. E.

    Parameters
    ----------
    first, last : float, optional
        The first and the last coupling, positive.
    steps : int, optional
        How many, at least 2.

    Returns
    -------
    numpy.ndarray
        Shape (steps,).

    Examples
    --------
    >>> exponential(1.0, 4.0, steps=3).round(6).tolist()
    [1.0, 2.0, 4.0]
    """
    last = arguments.real("last", last, first)
    return np.geomspace(first, last, steps)


@arguments.checked
def atanh_steps(steps: Annotated[int, Ge(2)] = 30, cap: Positive = 10.0) -> Array:
    """Return ``arctanh(i / (steps - 1))``, the last one capped: for binary weights, P3, App. B 3.

    Parameters
    ----------
    steps : int, optional
        How many, at least 2; the first coupling is 0.
    cap : float, optional
        The last coupling, where the arctanh diverges. Positive.

    Returns
    -------
    numpy.ndarray
        Shape (steps,).

    Examples
    --------
    >>> atanh_steps(steps=3, cap=10.0).round(4).tolist()
    [0.0, 0.5493, 10.0]
    """
    couplings = np.arctanh(np.arange(steps - 1) / (steps - 1))
    return np.minimum(np.append(couplings, cap), cap)


@arguments.checked
def pseudo_reinforcement(
    steps: Annotated[int, Ge(2)] = 30,
    exponent: Annotated[float, Interval(ge=1e-3, le=0.5)] = 0.5,
    last: Annotated[float, Interval(gt=0.0, le=LAST)] = 0.99,
) -> Array:
    """Return couplings and numbers of replicas that grow together; for binary weights.

    At rate r, ``coupling = arctanh(r^x)`` and ``replicas = 1 + r^(1 - 2 x) / (1 - r)``: the field
    of the other replicas is then ``r / (1 - r)`` times that of the patterns while both are small,
    which is the rule of reinforced message passing [eq-reinforcement].

    Parameters
    ----------
    steps : int, optional
        How many rates, evenly spaced from 0 to `last`; at least 2.
    exponent : float, optional
        The x above, from 1e-3 to 1/2; small for large couplings, many replicas.
    last : float, optional
        The last rate, above 0, up to ``1 - 2^-30``.

    Returns
    -------
    numpy.ndarray
        Shape (steps, 2).

    Examples
    --------
    >>> pseudo_reinforcement(steps=3, exponent=0.5, last=0.5)
    array([[0.        , 2.        ],
           [0.54930614, 2.33333333],
           [0.88137359, 3.        ]])
    """
    x = exponent
    rates = np.linspace(0.0, last, steps)
    return np.column_stack([np.arctanh(rates**x), 1.0 + rates ** (1.0 - 2.0 * x) / (1.0 - rates)])
