"""Devices, weights and constraints that a question of theory takes, checked at its door.

A question takes a device and a constraint, and is solved with two terms: the entropic one of the
weights, and the energetic one of the machine, in which the constraint appears. Each question names
the kinds of devices for which it has a formula, and `checked` refuses all others. It takes the
device apart: weights, energetic term and constraint are what everything behind the door takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, singledispatch
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.activations import Sign
from wfmlib.models.constraints import Band, Margin
from wfmlib.models.constraints.log_concave import LogConcave
from wfmlib.models.devices import (
    PRIOR,
    WEIGHTS,
    Committee,
    ParityMachine,
    Perceptron,
    TreeCommittee,
    accepted,
)
from wfmlib.models.formulas import CONSTRAINTS, check_formulas
from wfmlib.models.weights import Discrete, Entropic
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import NotNegative, Or, Swept
from wfmlib.theory.machines.finite_machines import MOST_UNITS, Parity, SignCommittee

STEP = 1e-3  # of q_hat, at which a prior of one's own is looked at
ACTIVATION = ("effective", "scale", "slope_at_one")  # members that one of one's own needs
OWN_CONSTRAINT = ("rescaled", "log_weight", "slope", "curvature", "features")
HARD = (Margin, Band)  # what is counted are solutions

# Members of weights that a question asks for: with these a class of one's own is a prior.
TYPICAL = PRIOR
GROUPS = (*PRIOR, "broken", "last_split", "largest_split")
AROUND = (*PRIOR, "constrained", "bound", "largest_log_hat")
REPLICAS = (*PRIOR, "broken", "conjugate", "replicas", "unloaded", "implicit")

Load: TypeAlias = NotNegative
Loads: TypeAlias = Annotated[ArrayLike, *NotNegative.__metadata__, Swept()]
#: Loads whose largest margin lies within the range of margins.
ResolvedLoad: TypeAlias = Annotated[float, Interval(ge=1e-7, lt=math.inf), Or(0.0)]
ResolvedLoads: TypeAlias = Annotated[ArrayLike, *ResolvedLoad.__metadata__]
SweptLoads: TypeAlias = Annotated[ArrayLike, *ResolvedLoad.__metadata__, Swept()]


@singledispatch
def energetic(device):
    """Return the energetic term of a device: an activation, or a machine of finite size."""
    raise TypeError(f"device must be one of wfmlib's devices, got {device!r}")


@energetic.register
def _(device: Perceptron) -> Any:
    return device.activation


@energetic.register
def _(device: TreeCommittee) -> Any:
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
def _(device: ParityMachine) -> Any:
    return Parity(arguments.integer("device.units", device.units, 2, 6))


@energetic.register
def _(device: Committee) -> Any:
    raise ValueError(
        "device must be a tree: theory is solved for units with disjoint inputs "
        f"(TreeCommittee), got {device!r}"
    )


# ------------------------------------------------------------------------------------------------
# Kinds of devices
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """The devices that one set of formulas is for.

    Attributes
    ----------
    name : str
        What such a device must be, or have.
    holds : callable
        Whether a device is one of them.
    """

    name: str
    holds: Callable[[Any], bool]

    def of(self, weights):
        """Return those that have weights of one class."""
        return Kind(
            f"{self.name} with {weights.__name__}() weights",
            lambda device: self.holds(device) and isinstance(device.weights, weights),
        )


def odd_signs(most):
    """Return the kind of committees of an odd number of sign units, `most` at most."""
    return Kind(
        f"be a TreeCommittee of 1 to {most} sign units, an odd number",
        lambda device: _few_signs(device) and device.units <= most,
    )


def _few_signs(device):
    return isinstance(device, TreeCommittee) and math.isfinite(device.units)


def _many_units(device):
    return isinstance(device, TreeCommittee) and math.isinf(device.units)


PERCEPTRON = Kind("be a Perceptron", lambda device: isinstance(device, Perceptron))
MANY_UNITS = Kind(
    "have infinitely many units (units=np.inf) with a linear part (E x g(x) must not vanish)",
    lambda device: _many_units(device) and not device.activation.flat,
)
FLAT_UNITS = Kind(
    "have infinitely many units without one",
    lambda device: _many_units(device) and device.activation.flat,
)
ONE_FIELD = (PERCEPTRON, MANY_UNITS)  #: a pattern's stability is one Gaussian field
THREE_UNITS = Kind(
    "be a TreeCommittee of three sign units",
    lambda device: _few_signs(device) and device.units == 3,
)
PARITY = Kind(
    "be a ParityMachine of two to six units", lambda device: isinstance(device, ParityMachine)
)


def checked(
    device,
    constraint,
    constraints=(Margin,),
    *,
    kinds=ONE_FIELD,
    weights=WEIGHTS,
    needs=(),
    by="",
):
    """Return weights, energetic term and constraint after checking what is offered, and ranges.

    Parameters
    ----------
    device : Device
    constraint : Margin, Band, CrossEntropy or LogPotential
    constraints : tuple of type
        Which of them are solved here.
    kinds : tuple of Kind
        The devices for which there is a formula here. Those of finitely many units have one for
        ``Margin(0.0)`` only.
    weights : tuple of type
        With which weights.
    needs : tuple of str
        Members of weights of one's own that are enough, for devices of one field; none are where
        it is empty.
    by : str
        What else was asked, as the message says it: " with ansatz '2RSB'".

    Raises
    ------
    TypeError, ValueError
        The message names what is offered.
    """
    accepted(device)
    if not _is_own(constraint, constraints):
        _refuse_constraint(constraint, constraints)
    for name, part in {"device": device, **vars(device), "constraint": constraint}.items():
        check_formulas(name, part)
    term = energetic(device)
    missing = [name for name in ACTIVATION if term.one_field and not hasattr(term, name)]
    if missing:
        raise TypeError(
            f"activation must have {', '.join(ACTIVATION)} in theory: {term!r} lacks "
            f"{', '.join(missing)}"
        )
    if not any(kind.holds(device) for kind in kinds):
        *names, last = (kind.name for kind in kinds)
        offered = f"{', '.join(names)} or {last}" if names else last
        raise ValueError(f"device must {offered} here, got {device!r}{by}")
    if not isinstance(device.weights, weights):
        own = needs if term.one_field and not isinstance(device.weights, WEIGHTS) else ()
        missing = [name for name in own if not hasattr(device.weights, name)]
        if missing or not own:
            offered = " or ".join(f"{prior.__name__}()" for prior in weights)
            also = f", or with {', '.join(own)}: {', '.join(missing)} is missing" if own else ""
            raise ValueError(f"device must have weights {offered}{also} here, got {device!r}{by}")
        if type(device.weights) is not Discrete:
            _check_prior(device.weights)
    if not term.one_field and constraint != Margin(0.0):
        raise ValueError(
            "constraint must be Margin(0.0) for a device of finitely many units, "
            f"got {constraint!r} with {device!r}"
        )
    constraint.within_range(term.scale)
    return device.weights, term, constraint


def _is_own(constraint, constraints):
    """Say whether a constraint is one of one's own, for a question that takes any."""
    own = isinstance(constraint, LogConcave) and not isinstance(constraint, CONSTRAINTS)
    return own and not _lacks(constraint) and set(CONSTRAINTS) <= set(constraints)


def _refuse_constraint(constraint, constraints):
    """Raise TypeError: say what a constraint of one's own lacks, or which there are."""
    own = hasattr(constraint, "log_weight") and not isinstance(constraint, (type, *CONSTRAINTS))
    if own and set(CONSTRAINTS) <= set(constraints):
        raise TypeError(
            f"constraint {constraint!r} lacks {', '.join(_lacks(constraint))}; "
            "PatternWeight(g) needs the logarithm of a pattern's weight alone"
        )
    arguments.member("constraint", constraint, constraints)


def _lacks(constraint):
    """Return what a constraint of one's own does not have."""
    derived = isinstance(constraint, LogConcave)
    averages = derived and type(constraint).at is not LogConcave.at
    needs = ("rescaled", "features") if averages else OWN_CONSTRAINT
    missing = [name for name in needs if not hasattr(constraint, name)]
    if not derived:
        missing.insert(0, "the base class LogConcave of wfmlib.models.constraints.log_concave")
    elif not constraint.hard and not averages:
        missing.append("at, with the loss, as a constraint that is not hard has it")
    if not getattr(constraint, "hard", True) and not hasattr(constraint, "beta"):
        missing.append("beta")
    return missing


@cache
def _check_prior(weights):
    """Refuse a prior of one's own whose entropic term is none, or none of a saddle point."""
    points = [weights.entropic(q_hat) for q_hat in (1.0 - STEP, 1.0, 1.0 + STEP)]
    for point in points:
        lacks = [name for name in Entropic._fields if not hasattr(point, name)]
        if lacks:
            raise TypeError(
                f"weights.entropic must return {', '.join(Entropic._fields)}, as Entropic of "
                f"wfmlib.models.weights, got {point!r}, which lacks {', '.join(lacks)}"
            )
    low, middle, high = points
    if not abs(middle.q + middle.complement - 1.0) < 1e-9:
        raise ValueError(
            "weights.entropic must return a complement of 1 - q, weights having a mean square of "
            f"one; got q = {middle.q:.9g} and complement = {middle.complement:.9g}"
        )
    start = weights.entropic(1e-9).term
    if not abs(start - weights.entropy) < 1e-6:
        raise ValueError(
            "weights.entropy must be the term of weights.entropic without a field, "
            f"{start:.9g}, got {weights.entropy:.9g}"
        )
    rise, expected = high.term - low.term, 0.5 * (high.q - low.q)
    if not abs(rise - expected) < 1e-3 * STEP:
        raise ValueError(
            "weights.entropic must return a term that is stationary, d term = q_hat dq / 2; "
            f"around q_hat = 1 it changes by {rise:.6g}, and q_hat dq / 2 is {expected:.6g}"
        )


# ------------------------------------------------------------------------------------------------
# Many at a time
# ------------------------------------------------------------------------------------------------


def values_over(function, values):
    """Apply a function of one number to a number, or to every entry of an array."""
    return _over(function, np.asarray(values)) if np.ndim(values) else function(values)


def values_over_constraints(function, constraint):
    """Apply a function of one constraint to one, or to every entry of a sequence."""
    constraints = arguments.array("constraint", constraint)
    return function(constraint) if constraints.ndim == 0 else _over(function, constraints)


def _over(function, values):
    return np.array([function(value) for value in values.flat], dtype=float).reshape(values.shape)
