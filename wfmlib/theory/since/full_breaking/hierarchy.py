"""The capacity of spherical weights with k steps of replica symmetry breaking, or continuously."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Interval

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import Report, accepted
from wfmlib.numerics.types import Array
from wfmlib.theory.axes import FLAT_UNITS, ONE_FIELD, checked
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.one_step_capacity import limit
from wfmlib.theory.saddles.replica_symmetric import last_load
from wfmlib.theory.since.full_breaking import continuous
from wfmlib.theory.since.full_breaking import steps as few
from wfmlib.theory.since.full_breaking.tabulated_overlap import quick

LEAST_ERROR, STEP_ERROR = 5e-7, 1e-10  # relative, of a continuous hierarchy, of a few steps


@dataclass(frozen=True, repr=False, eq=False)
class Hierarchy(Shown):
    """How solutions are grouped where they end, at capacity.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    constraint : Margin
    steps : int or None
        Of symmetry breaking; None: a continuous hierarchy.
    alpha : float
        The capacity.
    error : float
        Estimate of its absolute error: of a continuous hierarchy half of the difference from a
        coarser description, or 5e-7 of the capacity, whichever is larger.
    overlaps : ndarray
        Where y rises: shape ``(n,)``; empty where replica symmetry holds. Of a continuous
        hierarchy, the ladder that stands for it.
    heights : ndarray
        The breaking function above each overlap, up to the next: shape ``(n,)``. In a unit in
        which ``Lambda(0) = chi + int_0^1 y dq`` is 1.
    chi : float
        Limit of ``Lambda(q)`` as q tends to 1; of a continuous hierarchy it tends to 0 as the
        ladder becomes finer.
    gap : tuple of float or None
        Two overlaps between which a continuous hierarchy has none.
    report : Report
        Residual: of steps the largest derivative of the logarithm of the load, of a continuous
        hierarchy by how much a further step of the search would lower that logarithm.
    """

    printed_arguments = ("device", "constraint", "steps")
    printed_answers = ("alpha", "error", "smallest_overlap", "gap")

    device: Device
    constraint: Margin
    steps: int | None
    alpha: float
    error: float
    overlaps: Array
    heights: Array
    chi: float
    gap: tuple[float, float] | None
    report: Report = field(compare=False)

    @property
    def smallest_overlap(self) -> float:
        """Overlap between the largest groups; 1 where replica symmetry holds."""
        return float(self.overlaps[0]) if len(self.overlaps) else 1.0

    @property
    def responses(self) -> Array:
        """``Lambda`` at each of the overlaps, and at 1: shape ``(n + 1,)``."""
        widths = np.diff(np.append(self.overlaps, 1.0))
        return self.chi + np.append(np.cumsum((widths * self.heights)[::-1])[::-1], 0.0)


@arguments.checked
def solve(
    device: Device,
    constraint: Constraint = Margin(0.0),
    *,
    steps: Annotated[int, Interval(ge=1, le=few.MOST)] | None = None,
) -> Hierarchy:
    """Return the capacity of spherical weights, and the hierarchy of solutions there.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With spherical weights; of a committee's units infinitely many. The activation may be
        even, and must not jump. Where its groups of one step are orthogonal at capacity, a number
        of steps must be named: a continuous hierarchy is not offered.
    constraint : Margin
        A margin from -2 to 1e4 times the activation's scale.
    steps : int, optional
        Of symmetry breaking, from 1 to 6; by default the hierarchy is continuous, which takes a
        few seconds.

    Returns
    -------
    Hierarchy
        The load at which the free entropy vanishes, smallest over all hierarchies of that kind
        [eq-full-capacity]. A kind that includes another one has a smaller load. Replica symmetry
        where one step does not lower the load: then no hierarchy close to it does.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If no minimum is found: for perceptrons at margins just below 0, where the hierarchy is
        too close to replica symmetry.

    Notes
    -----
    Relative errors: below 1e-10 for steps, 1e-5 for a continuous hierarchy.

    Source: B. L. Annesi, E. M. Malatesta, F. Zamponi, SciPost Phys. 18, 118 (2025).

    Examples
    --------
    >>> from wfmlib import ReLU, TreeCommittee
    >>> round(solve(TreeCommittee(math.inf, ReLU()), steps=2).alpha, 6)
    2.653274
    """
    kinds = (*ONE_FIELD, FLAT_UNITS)
    weights, activation, constraint = checked(
        device, constraint, kinds=kinds, weights=(Spherical,)
    )
    if math.isinf(activation.slope_at_one):
        raise ValueError(
            "device must have an activation without jumps: with jumps the capacity is infinite; "
            f"got {device!r}"
        )
    symmetric = last_load(weights, activation, constraint)
    one_step = limit(activation, constraint)
    if one_step.ratio == 0.0:
        none = np.zeros(0)
        report = accepted(0.0, 0.0, 1, "replica symmetric")
        return Hierarchy(device, constraint, steps, symmetric, 0.0, none, none, 1.0, None, report)
    orthogonal = one_step.q0 == 0.0
    if steps is None and orthogonal:
        raise ValueError(
            f"steps must be from 1 to {few.MOST} for a device whose largest groups are orthogonal "
            f"at capacity, not continuous; got {device!r} with {constraint!r}"
        )
    kappa, activation = constraint.rescaled(activation.scale).kappa, quick(activation)
    if steps is not None:
        gaps, heights, log_alpha, report = few.optimum(activation, kappa, steps, orthogonal)
        alpha, gap = math.exp(log_alpha), None
        error = STEP_ERROR * alpha
    else:
        fine, coarse, gapped = continuous.optimum(activation, kappa, one_step.q0)
        gaps, heights, report = fine.gaps, fine.heights, fine.report
        alpha = math.exp(fine.log_alpha)
        error = max(0.5 * abs(math.exp(coarse.log_alpha) - alpha), LEAST_ERROR * alpha)
        gap = (float(1.0 - gaps[0]), float(1.0 - gaps[1])) if gapped else None
    unit = 1.0 + float(np.sum(np.append(gaps[:-1] - gaps[1:], gaps[-1]) * heights))
    return Hierarchy(
        device,
        constraint,
        steps,
        alpha,
        error,
        1.0 - gaps,
        heights / unit,
        1.0 / unit,
        gap,
        report,
    )
