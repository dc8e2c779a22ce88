"""The Franz-Parisi potential: how many solutions surround a typical reference, at every distance.

The reference is a typical solution, or a typical configuration of the cross-entropy. Replica
symmetry throughout. For binary weights a negative local entropy says that a typical
reference has no solution at that distance: the branch is still followed, as P2 and P3 do.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.devices import accepted
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Distance, Distances, Range
from wfmlib.numerics.solvers import Report
from wfmlib.theory.axes import HARD, Load, Loads
from wfmlib.theory.franz_parisi.dense_regions import (
    dense_threshold,
    distance_of_maximum,
    gap,
    gapless_threshold,
    margin_monotonic,
    margin_no_gap,
)
from wfmlib.theory.franz_parisi.surroundings import Surroundings
from wfmlib.theory.points import Shown
from wfmlib.theory.sweeps import explained, sweep

if TYPE_CHECKING:
    import xarray as xr


__all__ = [
    "Point",
    "curve",
    "dense_threshold",
    "distance_of_maximum",
    "gap",
    "gapless_threshold",
    "geometric_bound",
    "local_entropy",
    "margin_monotonic",
    "margin_no_gap",
    "solve",
]

# ------------------------------------------------------------------------------------------------
# One distance
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Point(Shown):
    """The surroundings of a typical reference at one distance.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    distance : float
        Between the reference and the solutions counted, ``(1 - overlap) / 2``.
    reference, constraint : Margin or CrossEntropy; Margin
        What the reference is drawn from, and the margin of the solutions counted.
    local_entropy : float
        Logarithm of the number (Binary) or share (Spherical) of solutions at that distance, in
        nats per weight  [eq-franz-parisi]. Negative for binary weights: there are none.
    bound : float
        The same for all configurations at that distance  [eq-geometric-bound].
    slope : float
        Derivative of `local_entropy` with respect to the distance  [eq-fp-slope].
    p, t0 : float
        Overlaps of a counted solution with another one and with another reference.
    replicon : float
        RS is stable for the counted solutions while it is below 1  [eq-fp-replicon].
    report : Report
        Residual: relative error of the conjugates.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> point = solve(Perceptron(), 0.5, 0.1)
    >>> round(point.normalised, 4), round(point.replicon, 4)
    (-0.1604, 0.188)
    """

    printed_arguments = ("device", "alpha", "distance", "reference", "constraint")
    counted = ("local_entropy",)
    printed_answers = ("local_entropy", "bound", "slope", "p", "t0", "replicon")

    device: Device
    alpha: float
    distance: float
    reference: Constraint
    constraint: Constraint
    local_entropy: float
    bound: float
    slope: float
    p: float
    t0: float
    replicon: float
    report: Report = field(compare=False)

    def _most(self) -> dict[str, float]:
        return {"local_entropy": self.bound}

    @property
    def normalised(self) -> float:
        """Logarithm of the fraction of configurations that are solutions, per weight."""
        return self.local_entropy - self.bound


@arguments.checked
def solve(
    device: Device,
    alpha: Load,
    distance: Distance,
    constraint: Constraint = Margin(0.0),
    *,
    reference: Constraint = Margin(0.0),
) -> Point:
    """Solve for the solutions at one distance from a typical reference.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        A committee of infinitely many units.
    alpha : float
        Load, patterns per weight; not negative.
    distance : float
        ``(1 - overlap) / 2`` between reference and counted solution, above 0, up to 1/2: the
        fraction of weights that differ, for binary ones.
    constraint : Margin or Band
        What the counted solutions satisfy.
    reference : Margin, CrossEntropy or Band
        What the reference is drawn from: typical solutions of a margin, up to `max_margin`, or
        typical configurations of a loss at a temperature at which their entropy is not negative
        [eq-ce-franz-parisi]. A `Band` if `constraint` is one, and only then.

    Returns
    -------
    Point

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
        Also if there are no typical solutions of the reference's margin.
    NotConverged
        Where the equations have no solution: around a reference of the same margin, below some
        small distance, where replica symmetry has failed before (see `Point.replicon`); with
        spherical weights, beyond the distance that solutions reach.

    Notes
    -----
    The saddle point is found by Anderson's iteration to 1e-11. Several starts were tried at many
    places; where there is a saddle point, all led to the same.

    Source: P3, equations B12-B13; P2, appendix C; P1, appendix B2 (corrected).

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron
    >>> point = solve(Perceptron(), 0.5, 0.1, reference=Margin(0.2))
    >>> round(point.local_entropy, 4), round(point.slope, 4)
    (0.196, 1.1947)
    """
    case = Surroundings(device, alpha, reference, constraint, constraints=HARD)
    state, report = case.reach(distance)
    return _point(case, distance, state, report)


def _point(case, distance, state, report=None):
    """Return the point of a state at a distance."""
    turn = case.at(distance, state)
    return Point(
        device=case.device,
        alpha=case.alpha,
        distance=float(turn.distance),
        reference=case.drawn_from,
        constraint=case.constraint,
        local_entropy=float(turn.local_entropy),
        bound=float(turn.bound),
        slope=float(turn.derivative),
        p=float(turn.p),
        t0=float(turn.t0),
        replicon=float(turn.replicon),
        report=report,
    )


# ------------------------------------------------------------------------------------------------
# Many distances
# ------------------------------------------------------------------------------------------------


COLUMNS = ("local_entropy", "slope", "p", "t0", "replicon")


@arguments.checked
def curve(
    device: Device,
    alpha: Loads,
    distance: Distances,
    constraint: Constraint | Sequence[Constraint] = Margin(0.0),
    *,
    reference: Constraint | Sequence[Constraint] = Margin(0.0),
    progress: bool | None = None,
) -> xr.Dataset:
    """Solve at every combination of loads, distances and margins.

    Along the distances each saddle point is the start of the next smaller one.

    Parameters
    ----------
    device
        As `solve`.
    alpha : float or array_like
        Loads, not negative: a number, a row of them, or a DataArray.
    distance : float or array_like
        From 0 to 1/2, in any order.
    constraint : Margin, Band, or sequence of either, optional
        What the counted solutions satisfy.
    reference : Margin, Band, CrossEntropy, LogPotential, or sequence of them, optional
        What the solution that they surround satisfies: around one of the largest margin it is
        ``Margin(typical.max_margin(device, alpha))``. DataArrays keep their dimensions, so that
        pairs of load and reference are two of them along one dimension.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    xarray.Dataset
        Coordinates `alpha`, `distance`, `kappa` and `reference_kappa` (`constraint` and
        `reference`, as text, where they are not all margins): a dimension each where they are
        rows. Variables `local_entropy`, `bound`, `slope`, `p`, `t0`, `replicon` as in `Point`, and
        `normalised`, the local entropy less the bound, with their units: NaN,
        ``converged = False`` and a `reason` where there is no saddle point or an argument is out
        of range. At distance 0 only `local_entropy` and `bound` have a meaning.

    Raises
    ------
    TypeError, ValueError
        As `solve`; of what is swept, only if all of it is out of range.

    Notes
    -----
    At distance 0 there is but the reference itself: for binary weights the local entropy is 0 if
    the reference has the margin that is counted, and ``-inf`` if not; for spherical weights the
    share vanishes, ``-inf``.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> entropy = curve(Perceptron(), 0.5, [0.1, 0.3]).local_entropy
    >>> entropy.values.round(4).tolist()
    [0.1647, 0.3106]
    """

    def around(alpha, constraint, reference):
        alpha = Range.of(Load).check("alpha", alpha)
        return Surroundings(device, alpha, reference, constraint, constraints=HARD)

    asked = {
        "alpha": alpha,
        "distance": distance,
        "constraint": constraint,
        "reference": reference,
    }
    return along(device, asked, around, progress)


def along(device, asked, around, progress=False):
    """Return the curve of the arguments asked; ``around(**others)`` sets up the surroundings."""

    def begin(**others):
        case = around(**others)
        follow = case.follow()

        def step(distance, start):
            Range.of(Distances).check("distance", distance)
            if distance == 0.0:
                return [case.at_reference, *[np.nan] * (len(COLUMNS) - 1)], start
            state = follow(distance, case.start if start is None else start)
            point = _point(case, distance, state)
            return [getattr(point, name) for name in COLUMNS], state

        return step

    curves = sweep(asked, begin, COLUMNS, along="distance", progress=progress, device=device)
    distances = curves.distance.values
    inside = (distances >= 0.0) & (distances <= 0.5)
    bound = np.full(distances.shape, np.nan)
    bound[inside] = device.weights.bound(distances[inside])
    curves["bound"] = (curves.distance.dims, bound)
    curves["normalised"] = curves.local_entropy - curves.bound
    return explained(curves)


@arguments.checked
def local_entropy(
    device: Device,
    alpha: Load,
    distance: Distances,
    constraint: Constraint = Margin(0.0),
    *,
    reference: Constraint = Margin(0.0),
) -> Any:
    """Return the local entropy around a typical reference, not normalised  [eq-franz-parisi].

    Parameters
    ----------
    device, alpha, reference, constraint
        As `solve`.
    distance : float or array_like
        From 0 to 1/2.

    Returns
    -------
    float or ndarray
        Of the shape of `distance`, in nats per weight. At distance 0: see `curve`.

    Raises
    ------
    TypeError, ValueError
        As `solve`.
    NotConverged
        As `solve`, for a single distance. In an array NaN is left there, with a RuntimeWarning.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(local_entropy(Perceptron(), 0.5, 0.1), 4)
    0.1647
    """
    return heights(distance, Surroundings(device, alpha, reference, constraint, constraints=HARD))


def heights(distance, case):
    """Return the local entropy of surroundings that are set up already; warn of NaN in arrays."""
    if np.ndim(distance) == 0:
        if distance == 0.0:
            return case.at_reference
        state, _ = case.reach(distance)
        return _point(case, distance, state).local_entropy
    curves = along(case.device, {"distance": np.ravel(distance)}, lambda: case)
    failed = ~curves.converged.values
    if np.any(failed):
        largest = np.max(curves.distance.values[failed])
        warnings.warn(
            f"no replica-symmetric saddle point at {np.sum(failed)} of "
            f"{curves.distance.size} distances, the largest {largest:.6g}: NaN there. There, "
            f"{curves.reason.values[curves.distance.values == largest][0]}",
            RuntimeWarning,
            stacklevel=4,  # beyond what checks arguments
        )
    return curves.local_entropy.values.reshape(np.shape(distance))


@arguments.checked
def geometric_bound(
    device: Device, distance: Annotated[ArrayLike, Interval(ge=0.0, le=0.5)]
) -> Any:
    """Return the entropy of all configurations at a distance  [eq-geometric-bound].

    It is what `local_entropy` is at load 0, and an upper bound at every load (up to the rounding
    of the latter, 1e-14).

    Parameters
    ----------
    device : Perceptron, TreeCommittee, Committee or ParityMachine
        Its weights alone matter.
    distance : float or array_like
        From 0 to 1/2.

    Returns
    -------
    float or ndarray
        ``-d ln d - (1 - d) ln(1 - d)`` (Binary), or ``ln(4 d (1 - d)) / 2``
        (Spherical), in nats per weight.

    Raises
    ------
    TypeError, ValueError
        As `solve`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(geometric_bound(Perceptron(), 0.1), 4)
    0.3251
    """
    bound = accepted(device).weights.bound(np.asarray(distance))
    return float(bound) if np.ndim(distance) == 0 else bound
