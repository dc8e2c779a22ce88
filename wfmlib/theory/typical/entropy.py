"""Entropy and overlap of typical solutions, replica symmetric: points and curves.

The configurations counted are solutions (`Margin`), or weighed by a loss (`CrossEntropy`).
Replica symmetry, but for `solve_1rsb` and what `capacity` offers beyond it. For binary weights it
gives the right entropy and capacity: solutions are isolated points (frozen 1RSB), and the RS
entropy counts them down to where it vanishes. The saddle point goes on beyond, with negative
entropy, and is still returned: it describes no solutions, and is what P3 draws dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from wfmlib.models.constraints import CrossEntropy, Margin
from wfmlib.models.formulas import CONSTRAINTS
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Narrower, Range
from wfmlib.numerics.solvers import Report
from wfmlib.theory.axes import HARD, TYPICAL, Load, Loads, checked
from wfmlib.theory.machines.finite_committee import Symmetric
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.replica_symmetric import at_load, gibbs_averages
from wfmlib.theory.sweeps import sweep
from wfmlib.theory.typical.one_step import OneStep, solve_1rsb
from wfmlib.theory.typical.thresholds import KINDS, capacity, instability, last_margin, max_margin

if TYPE_CHECKING:
    import xarray as xr


__all__ = [
    "GibbsPoint",
    "OneStep",
    "SaddlePoint",
    "capacity",
    "curve",
    "instability",
    "last_margin",
    "max_margin",
    "solve",
    "solve_1rsb",
]


# ------------------------------------------------------------------------------------------------
# The saddle point at a given load
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class SaddlePoint(Shown):
    """The replica-symmetric saddle point: the typical solutions.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    constraint : Margin
    q, q_hat : float
        Overlap between two typical solutions, and its conjugate.
    distance : float
        ``(1 - q) / 2``; for binary weights the fraction that differs  [eq-typical-distance].
    entropy : float
        Logarithm of the number of solutions (Binary) or of their share of the sphere (Spherical),
        in nats per weight.
        Negative for binary weights: there are none. Terms of order ``1 / (1 - q)`` cancel in it:
        its absolute error is of the order of ``1e-16 / (1 - q)``.
    replicon : float
        RS is stable while it is below 1  [eq-replicon].
    margin_density : float
        Density of stabilities P(kappa) just above the margin, in the margin's unit:
        ``d entropy / d kappa = -alpha P(kappa)``  [eq-stability-derivative]. NaN where units are
        finitely many: there is margin 0 only. For a band the density of ``|stability|`` just
        inside, ``d entropy / d kappa = alpha P(kappa)``.
    report : Report
        Residual: relative error of the load.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> point = solve(Perceptron(), 0.5)
    >>> round(point.q, 4), round(point.replicon, 4), round(point.margin_density, 4)
    (0.3224, 0.2336, 1.0316)
    """

    printed_answers = ("q", "q_hat", "distance", "entropy", "replicon")

    device: Device
    alpha: float
    constraint: Constraint
    q: float
    q_hat: float
    distance: float
    entropy: float
    replicon: float
    margin_density: float
    report: Report = field(compare=False)


@dataclass(frozen=True, repr=False)
class GibbsPoint(Shown):
    """The replica-symmetric saddle point of a Gibbs measure: its typical configurations.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    constraint : CrossEntropy
    q, q_hat : float
        Overlap between two typical configurations, and its conjugate  [eq-ce-saddle].
    distance : float
        ``(1 - q) / 2``.
    free_entropy : float
        Logarithm of the partition function, in nats per weight.
    energy : float
        Mean loss of all patterns, per weight: alpha times the mean loss of one  [eq-ce-energy].
    entropy : float
        ``free_entropy + beta energy``, in nats per weight  [eq-ce-entropy]; absolute error about
        ``1e-10 beta energy``. Negative for binary weights: so low an energy has no configurations,
        and the saddle point describes none.
    error_rate : float
        Share of the patterns whose stability is negative  [eq-ce-error-rate].
    replicon : float
        RS is stable while it is below 1  [eq-ce-replicon].
    report : Report
        Residual: relative error of the load.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> point = solve(Perceptron(), 0.5, CrossEntropy(1.0, 5.0))
    >>> round(point.energy, 4), round(point.entropy, 4)
    (0.0794, 0.4441)
    """

    printed_answers = ("q", "q_hat", "distance", "energy", "entropy", "error_rate", "replicon")

    device: Device
    alpha: float
    constraint: CrossEntropy
    q: float
    q_hat: float
    distance: float
    free_entropy: float
    energy: float
    entropy: float
    error_rate: float
    replicon: float
    report: Report = field(compare=False)


@arguments.checked
def solve(
    device: Device,
    alpha: Annotated[Load, Narrower("with three units", Symmetric)],
    constraint: Constraint = Margin(0.0),
) -> SaddlePoint | GibbsPoint:
    """Solve the replica-symmetric saddle-point equations at one load.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        Of a committee's units infinitely many, or three sign units with spherical weights.
    alpha : float
        Load, patterns per weight; not negative, and from 0 to 3.9 with three units.
    constraint : Margin, Band or CrossEntropy
        A margin from -2 to 1e4 times the activation's `scale`, a band from 0.01 to 10 times it, or
        a loss and its temperature; ``Margin(0.0)`` with three units.

    Returns
    -------
    SaddlePoint or GibbsPoint
        Of solutions, or of the Gibbs measure of the loss.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        For spherical weights at or above capacity, where q reaches 1; for binary weights past the
        last margin with a saddle point (see `last_margin`). For a loss at so low a temperature
        that the entropy cannot be resolved. The message says which.

    Notes
    -----
    For the perceptron, sign and ReLU units there is one saddle point at most, since the load
    increases with q_hat. If another activation has several, the one with the smallest q is meant;
    two that differ by less than half a unit in ``ln q_hat`` may be overlooked.

    In a band solutions come in pairs, w and -w, and typical ones are orthogonal: the saddle point
    is q = 0 at any load, also above the capacity and the loss of its stability.

    Three units: relative errors of q, of the entropy and of the replicon below 1e-5 up to q = 0.9
    [eq-rs-committee].

    Source: P3, equations A9-A10; P2, equations B1-B3; P1, appendices B1 (cross-entropy, corrected)
    and C (three units, a single overlap).

    Examples
    --------
    >>> from wfmlib import CrossEntropy, Perceptron
    >>> point = solve(Perceptron(), 0.5)
    >>> round(point.distance, 4), round(point.entropy, 4)
    (0.3388, 0.3144)
    >>> point = solve(Perceptron(), 0.5, CrossEntropy(gamma=1.0, beta=5.0))
    >>> round(point.energy, 4), round(point.entropy, 4), round(point.error_rate, 4)
    (0.0794, 0.4441, 0.1159)
    """
    return solved(device, alpha, constraint)[0]


def solved(device, alpha, constraint):
    """Return the point of `solve`, and the equations' state of which it is made."""
    axes = checked(device, constraint, CONSTRAINTS, kinds=KINDS, needs=TYPICAL)
    state, report = _saddle_point(device, alpha, axes)
    if not constraint.hard:
        return thermal_point(device, alpha, state, axes, report), state
    return SaddlePoint(device, alpha, constraint, **_order_parameters(state), report=report), state


def thermal_point(device, alpha, state, axes, report=None):
    """Return the saddle point of a Gibbs measure from the equations' state."""
    energy, entropy, errors = gibbs_averages(state, alpha, axes[2])
    return GibbsPoint(
        device,
        alpha,
        axes[2],
        q=float(state.q),
        q_hat=float(state.q_hat),
        distance=float(0.5 * state.complement),
        free_entropy=float(state.entropy),
        energy=energy,
        entropy=entropy,
        error_rate=errors,
        replicon=float(state.replicon),
        report=report,
    )


def _saddle_point(device, alpha, axes):
    """Return the saddle point at a load, the one with the smallest q_hat, and the report."""
    _, term, _ = axes
    if not term.one_field:
        return term.typical.saddle_point(alpha)
    return at_load(alpha, axes)


def _order_parameters(state):
    return {
        "q": float(state.q),
        "q_hat": float(state.q_hat),
        "distance": float(0.5 * state.complement),
        "entropy": float(state.entropy),
        "replicon": float(state.replicon),
        "margin_density": float(state.edge_density),
    }


# ------------------------------------------------------------------------------------------------
# Curves
# ------------------------------------------------------------------------------------------------


@arguments.checked
def curve(
    device: Device,
    alpha: Loads,
    constraint: Constraint | Sequence[Constraint] = Margin(0.0),
    *,
    progress: bool | None = None,
) -> xr.Dataset:
    """Solve at every combination of loads and margins.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        As `solve`.
    alpha : float or array_like
        Loads, not negative: a number, a row of them, or a DataArray.
    constraint : Margin, Band, or sequence of either
        One, a row of them, or a DataArray. DataArrays keep their dimensions, so that pairs of load
        and margin are two of them along one dimension.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    xarray.Dataset
        Coordinates `alpha` and `kappa` (`constraint`, as text, where bands and margins mix): a
        dimension each where they are rows. Variables `q`, `q_hat`, `distance`, `entropy`,
        `replicon`, `margin_density` as in `SaddlePoint`, with their units: NaN,
        ``converged = False`` and a `reason` past the last saddle point and where a load or margin
        is out of range.

    Raises
    ------
    TypeError
        As `solve`.
    ValueError
        If every load or margin is out of range, or one has more than one axis.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> curve(Perceptron(), [0.2, 0.4, 0.6], [Margin(0.0), Margin(0.1)]).entropy.sizes
    Frozen({'alpha': 3, 'kappa': 2})
    """
    names = ("q", "q_hat", "distance", "entropy", "replicon", "margin_density")

    def begin(constraint):
        axes = checked(device, constraint, HARD, kinds=KINDS, needs=TYPICAL)

        def step(load, _):  # no saddle point needs its neighbour as a start
            Range.of(Load).check("alpha", load)
            state, report = _saddle_point(device, load, axes)
            point = SaddlePoint(
                device, load, constraint, **_order_parameters(state), report=report
            )
            return [getattr(point, name) for name in names], None

        return step

    coordinates = {"alpha": alpha, "constraint": constraint}
    return sweep(coordinates, begin, names, along="alpha", progress=progress, device=device)
