"""Capacity, largest margins and the end of replica symmetry of typical solutions.

The equations are those of `saddles.replica_symmetric` and, with one step of its breaking, of
`saddles.one_step_capacity`. The names are public in `typical`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from wfmlib.models.constraints import Margin
from wfmlib.models.devices import WEIGHTS
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Binary, Spherical
from wfmlib.numerics import arguments
from wfmlib.theory.axes import (
    FLAT_UNITS,
    HARD,
    ONE_FIELD,
    PARITY,
    THREE_UNITS,
    TYPICAL,
    ResolvedLoads,
    checked,
    odd_signs,
    values_over,
    values_over_constraints,
)
from wfmlib.theory.machines import parity_capacity
from wfmlib.theory.machines.finite_machines import MOST_UNITS, Parity
from wfmlib.theory.saddles import replica_symmetric as symmetric
from wfmlib.theory.since import full_breaking
from wfmlib.theory.since.full_breaking import few_units
from wfmlib.theory.since.full_breaking.steps import MOST as MOST_STEPS
from wfmlib.theory.typical import one_step

SYMMETRIES = ("RS", "1RSB", "2RSB", "full")  # by name; or by the number of steps
#: What has a saddle point below capacity.
KINDS = (*ONE_FIELD, THREE_UNITS.of(Spherical))
#: Besides devices of one field, what has a capacity.
FEW_UNITS = {
    "RS": (odd_signs(MOST_UNITS).of(Spherical),),
    "1RSB": (odd_signs(few_units.MOST_UNITS).of(Spherical), PARITY.of(Spherical)),
    "2RSB": (THREE_UNITS.of(Spherical),),
}


@arguments.checked
def capacity(
    device: Device,
    constraint: Constraint | Sequence[Constraint] = Margin(0.0),
    *,
    ansatz: str | int = "RS",
) -> Any:
    """Return the load up to which solutions exist.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or ParityMachine
        Of a committee's units infinitely many; or an odd number, up to 1000001, of sign units
        with spherical weights. A parity machine of two to six units and spherical weights, with
        "1RSB".
    constraint : Margin or Band, or array_like of them
        A margin from -2 to 1e4 times the activation's scale; 0 if units are finitely many. A band
        from 0.01 to 10 times the scale, with discrete weights.
    ansatz : {"RS", "1RSB", "2RSB", "full"} or int
        How replicas are assumed to be organised: replica symmetry, or one step of its breaking
        (see `solve_1rsb`), or as many as an integer from 1 to 6 says, or "full", a continuous
        hierarchy, which takes a few seconds (see `full_breaking.solve`, also for activations
        without a linear part, some of which have none). Of finitely many units up
        to 11 are solved with "1RSB" (`full_breaking.finite_capacity`, which takes other margins),
        and three with "2RSB", in half a minute; more than one step only with spherical weights.

    Returns
    -------
    float or ndarray
        Of the shape of `constraint`. Binary: where the RS entropy vanishes  [eq-capacity-binary].
        Spherical: where q reaches 1, ``c'(1) / E (kappa - x)_+^2``  [eq-capacity-spherical],
        infinite where ``c'(1)`` is (Sign). Where `instability` lies below, RS gives but an upper
        bound: spherical weights with hidden units or a negative margin, binary weights with ReLU
        units at margins above 1.96. 1RSB is lower there  [eq-1rsb-capacity], itself a bound only,
        and equal to RS elsewhere, but for spherical weights and a discontinuous transition below
        the RS capacity. More steps are lower still where one is, and "full" is the limit
        [eq-full-capacity]. Of finitely many units: ``1 / E D^2``, D the least distance by which a
        pattern's fields must move  [eq-nearest-solution], which grows like
        ``sqrt(72 K / pi) - 9`` with their number K  [eq-sign-rs-scaling]; every step of symmetry
        breaking lowers it. Of a parity machine D is the distance of the unit nearest to its
        threshold, where an odd number of units is wrong.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or the device or the
        ansatz is not offered; the message names it.

    Notes
    -----
    Where an activation has several saddle points (see `solve`), one may still be returned above
    this load; it describes no solutions.

    In a band: where the average number of solutions falls below one, for binary weights ``-ln 2 /
    ln[1 - 2 H(kappa)]`` with a perceptron, below the loss of stability for any kappa, so that 1RSB
    is the same.

    Relative errors for finitely many units: below 1e-11; with one step 1e-6 up to 7 units and 1e-5
    beyond; with two 2e-4. For parity machines 1e-7.

    Source: P2, main text and appendix B; P3, appendix A; for three units E. Barkai, D. Hansel, H.
    Sompolinsky, Phys. Rev. A 45, 4146 (1992), and A. Engel et al., Phys. Rev. A 45, 7590 (1992);
    for parity machines E. Barkai, D. Hansel, I. Kanter, Phys. Rev. Lett. 65, 2312 (1990).

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import ParityMachine, Perceptron, ReLU, TreeCommittee
    >>> round(capacity(Perceptron()), 10)
    0.8330785997
    >>> round(capacity(TreeCommittee(np.inf, ReLU()), ansatz="1RSB"), 8)
    2.66428006
    >>> round(capacity(TreeCommittee(3)), 4)
    4.0252
    >>> round(capacity(ParityMachine(3), ansatz="1RSB"), 4)
    4.9975
    """
    ansatz = _ansatz(ansatz)

    def load(constraint):
        axes = _, term, _ = _door(device, constraint, ansatz)
        if not term.one_field:
            if isinstance(term, Parity):
                return parity_capacity.one_step(term.units).alpha
            if ansatz == "1RSB":
                return full_breaking.finite_capacity(device).alpha
            return term.typical.capacity(ansatz)
        if ansatz in SYMMETRIES[:2]:
            unbroken = symmetric.capacity(axes)
            return unbroken if ansatz == "RS" else one_step.last_load(device, axes, unbroken)
        if math.isinf(term.slope_at_one):
            return math.inf
        steps = {"full": None, "2RSB": 2}.get(ansatz, ansatz)
        return full_breaking.solve(device, constraint, steps=steps).alpha

    return values_over_constraints(load, constraint)


@arguments.checked
def instability(
    device: Device,
    constraint: Constraint | Sequence[Constraint] = Margin(0.0),
) -> Any:
    """Return the load at which the replica-symmetric saddle point loses stability.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        Of a committee's units infinitely many, or three sign units with spherical weights.
    constraint : Margin or Band, or array_like of them
        A margin from -2 to 1e4 times the activation's scale; 0 if units are finitely many. A band
        from 0.01 to 10 times the scale.

    Returns
    -------
    float or ndarray
        Of the shape of `constraint`: where the replicon reaches 1  [eq-replicon]; infinite where
        it does not before q = 1. For binary weights it may lie above the capacity: then RS is
        stable as long as there are solutions.

    Raises
    ------
    TypeError, ValueError
        As `capacity`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(instability(Perceptron()), 4)
    1.0147
    """

    def load(constraint):
        axes = _, term, _ = checked(device, constraint, HARD, kinds=KINDS, needs=TYPICAL)
        if not term.one_field:
            return term.typical.instability()
        if axes[2].even:  # the replicon is proportional to the load
            return float(1.0 / symmetric.Stationary(0.0, *axes, alpha=1.0).replicon)
        return symmetric.last_stable(axes)

    return values_over_constraints(load, constraint)


@arguments.checked
def max_margin(device: Device, alpha: ResolvedLoads) -> Any:
    """Return the largest margin that solutions can have: the one at which `alpha` is the capacity.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        Of a committee's units infinitely many.
    alpha : float or array_like
        Load, patterns per weight: 0, or at least 1e-7.

    Returns
    -------
    float or ndarray
        In raw stability, of the shape of `alpha`  [eq-max-margin]. Negative above the capacity at
        zero margin; infinite at alpha = 0, and where the capacity is (spherical weights, Sign).

    Raises
    ------
    TypeError, ValueError
        As `capacity`; also for a load whose margin would lie below the range.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(max_margin(Perceptron(), 0.5), 3)
    0.418
    """
    weights, activation, _ = checked(device, Margin(0.0), needs=(*TYPICAL, "collapse"))

    return values_over(lambda load: symmetric.largest_margin(load, weights, activation), alpha)


@arguments.checked
def last_margin(device: Device, alpha: ResolvedLoads) -> Any:
    """Return the margin at which the saddle point disappears, q reaching 1.

    For binary weights it lies beyond `max_margin`, at negative entropy, and is where P3's dashed
    curves end; for spherical weights the two are one.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        Of a committee's units infinitely many.
    alpha : float or array_like
        Load, patterns per weight: 0, or at least 1e-7.

    Returns
    -------
    float or ndarray
        In raw stability, of the shape of `alpha`; infinite at alpha = 0, and for Sign.

    Raises
    ------
    TypeError, ValueError
        As `max_margin`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(last_margin(Perceptron(), 0.5), 4)
    0.6547
    """
    weights, activation, _ = checked(device, Margin(0.0))

    return values_over(lambda load: symmetric.collapse_margin(load, weights, activation), alpha)


def _door(device, constraint, ansatz):
    """Return the axes after checking what has a capacity with an ansatz."""
    arguments.member("constraint", constraint, HARD)
    constraints, weights = (Margin,), (Spherical,)
    kinds = (*ONE_FIELD, FLAT_UNITS.of(Spherical), *FEW_UNITS.get(ansatz, ()))
    if ansatz in SYMMETRIES[:2]:
        constraints, weights = HARD, WEIGHTS
    by = f" with ansatz {ansatz!r}"
    if constraint.even:
        kinds, weights = ONE_FIELD, (Binary,)
        by += (
            ": a band has a capacity with discrete weights; on the sphere the typical overlap is "
            "0 up to `instability`, and replica symmetry is broken beyond"
        )
    needs = TYPICAL if ansatz == "RS" else ()
    return checked(
        device, constraint, constraints, kinds=kinds, weights=weights, needs=needs, by=by
    )


def _ansatz(ansatz):
    """Return the name of an ansatz, or how many steps it has: more than two."""
    if isinstance(ansatz, str):
        return arguments.choice("ansatz", ansatz, SYMMETRIES)
    allowed = f"ansatz, if not {', '.join(map(repr, SYMMETRIES))},"
    steps = arguments.integer(allowed, ansatz, 1, MOST_STEPS)
    return {1: "1RSB", 2: "2RSB"}.get(steps, steps)
