"""Groups of m solutions with one mutual overlap: how many there are.

The average number of such groups is known exactly  [eq-groups-annealed]: the number of groups of
binary vectors times the probability that one pattern is right for all m, to the power of the
number of patterns. Both are the terms of the saddle point of real replicas at q0 = 0. A typical
number of groups is what `large_deviation` computes, with replica symmetry between the groups
[eq-groups-quenched].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Binary
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Range, Swept
from wfmlib.numerics.solvers import Report, accepted
from wfmlib.theory import large_deviation
from wfmlib.theory.axes import HARD, ResolvedLoad, SweptLoads, checked
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.real_replicas import saddle
from wfmlib.theory.since.clusters.arrangements import Arrangement
from wfmlib.theory.sweeps import NATS, explained, sweep

if TYPE_CHECKING:
    import xarray as xr

Average: TypeAlias = Literal["annealed", "quenched"]

GroupOverlap: TypeAlias = Annotated[float, Interval(ge=1e-6, le=1.0 - 1e-6)]
GroupOverlaps: TypeAlias = Annotated[ArrayLike, *GroupOverlap.__metadata__, Swept()]
GroupSize: TypeAlias = Annotated[float, Interval(ge=1.0, le=1000.0)]


@dataclass(frozen=True, repr=False)
class Groups(Shown):
    """Groups of solutions at one mutual overlap.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    overlap : float
        Mutual overlap of the solutions of a group.
    replicas : float
        m, how many solutions there are in a group.
    constraint : Margin or Band
        What every pattern demands.
    average : str
        "annealed" or "quenched".
    entropy : float
        Logarithm of the number of groups, in nats per weight  [eq-groups-annealed],
        [eq-groups-quenched]. Negative: there are none.
    slope : float
        Its derivative in the overlap.
    complexity : float
        ``entropy - m d entropy / dm``.
    q0 : float
        Overlap of solutions of different groups; 0 where the average is annealed.
    report : Report
    """

    printed_arguments = ("device", "alpha", "overlap", "replicas", "constraint", "average")
    printed_answers = ("entropy", "slope", "complexity", "q0", "replicon")

    device: Device
    alpha: float
    overlap: float
    replicas: float
    constraint: Constraint
    average: str
    entropy: float
    slope: float
    complexity: float
    q0: float
    report: Report = field(compare=False)

    def _most(self) -> dict[str, float]:
        return {"entropy": self.replicas * self.device.weights.entropy}

    @property
    def replicon(self) -> float | None:
        """That of groups, all solutions of one together: RS between groups is stable below 1.

        None where the average is annealed, or there are no patterns.
        """
        if self.average == "annealed" or self.alpha == 0.0:
            return None
        axes = check_axes(self.device, self.constraint)
        return replicon(self.overlap, self.alpha, self.replicas, axes)


def replicon(overlap, alpha, m, axes):
    """Return that of groups of m: of arrangements of m groups of one, of any q2."""
    at = saddle(overlap, alpha, m, axes)[0].broken
    return Arrangement(at.q0_hat, at.split, 1.0, m, 1.0, axes).replicon(alpha)


class Annealed(NamedTuple):
    """The two terms of the average number of groups, at one overlap and one size.

    Attributes
    ----------
    entropic, energetic : float
        ``ln`` of the number of groups of vectors per weight, of the probability of a pattern.
    entropic_slope, energetic_slope : float
        Their derivatives in the overlap.
    complexity, information : float
        What weights add to ``entropy - m d entropy / dm``, and what a pattern takes from it.
    """

    entropic: float
    energetic: float
    entropic_slope: float
    energetic_slope: float
    complexity: float
    information: float

    @property
    def load(self):
        """At which the average number is no longer exponentially large."""
        return -self.entropic / self.energetic

    def slope(self, alpha):
        """Return the derivative of the entropy in the overlap."""
        return self.entropic_slope + alpha * self.energetic_slope

    def leaning(self, alpha):
        """Return ``entropy - m d entropy / dm``: at the load above, that derivative times -m."""
        return self.complexity - alpha * self.information


def annealed(overlap, m, axes):
    """Return `Annealed`.

    The derivative of ``ln E p^m`` in the overlap follows from the heat equation
    [eq-groups-slope]: it is ``m (m - 1) / 2 c'(q) <f'^2>``, tilted by ``p^m = e^{m f}``.
    """
    weights, activation, constraint = axes
    free = weights.unloaded(overlap, m)
    effective = activation.effective(overlap, 1.0 - overlap)
    scaled = constraint.rescaled(activation.scale)
    pattern = scaled.grouped(0.0, effective.c, effective.complement, m)
    force = pattern.common + pattern.spread
    return Annealed(
        entropic=m * free.entropy,
        energetic=m * pattern.term,
        entropic_slope=m * free.slope,
        energetic_slope=0.5 * m * (m - 1.0) * effective.slope * force,
        complexity=free.complexity,
        information=pattern.information,
    )


@arguments.checked
def solve(
    device: Device,
    alpha: ResolvedLoad,
    overlap: GroupOverlap,
    constraint: Constraint = Margin(0.0),
    *,
    replicas: GroupSize,
    average: Average = "annealed",
) -> Groups:
    """Count the groups of m solutions at one mutual overlap.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    alpha : float
        Load, patterns per weight: 0, or at least 1e-7.
    overlap : float
        Mutual overlap of the solutions of a group, from 1e-6 to ``1 - 1e-6``.
    constraint : Margin or Band
        What every pattern demands: a margin from -2 to 1e4 times the activation's `scale`, or a
        band from 0.01 to 10 times it.
    replicas : float
        Solutions in a group, from 1 to 1000; not necessarily an integer.
    average : {"annealed", "quenched"}
        The logarithm of the average number, or the average of the logarithm.

    Returns
    -------
    Groups

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Quenched: where the overlap is not above that of typical solutions.

    Notes
    -----
    For an integer m the annealed entropy is an upper bound by Markov's inequality: where it is
    negative there is no group, with probability tending to one. In a band typical solutions have
    overlap 0, and both averages agree where groups have, too. In wide ones groups may lean to one
    side together, q0 above 0: then their typical number is smaller than the average.

    Source: D. Gamarnik, E. Kizildag, W. Perkins, C. Xu, arXiv:2203.15667; C. Baldassi, R. Della
    Vecchia, C. Lucibello, R. Zecchina, J. Stat. Mech. (2020) 073303.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> point = solve(Perceptron(), 1.7, 0.98, replicas=4, constraint=Band(1.0))
    >>> round(point.entropy, 4)
    -0.0203
    """
    axes = check_axes(device, constraint)
    return _point(device, alpha, overlap, replicas, axes, average)


def check_axes(device, constraint):
    """Return the axes after checking what is offered."""
    return checked(device, constraint, HARD, weights=(Binary,))


def _point(device, alpha, overlap, m, axes, average):
    problem = device, alpha, overlap, m, axes[2], average
    if average == "quenched":
        point = large_deviation.solve(device, alpha, overlap, replicas=m, constraint=axes[2])
        return Groups(
            *problem,
            entropy=m * point.entropy,
            slope=m * point.entropy_slope,
            complexity=float(point.complexity or 0.0),
            q0=point.q0,
            report=point.report,
        )
    groups = annealed(overlap, m, axes)
    return Groups(
        *problem,
        entropy=float(groups.entropic + alpha * groups.energetic),
        slope=float(groups.slope(alpha)),
        complexity=float(groups.leaning(alpha)),
        q0=0.0,
        report=accepted(0.0, 0.0, 1, "an integral"),
    )


COLUMNS = ("entropy", "slope", "complexity", "q0")
MEANING = {
    "entropy": (NATS, "logarithm of the number of groups"),
    "slope": (NATS, "slope of that logarithm in the overlap"),
    "complexity": (NATS, "entropy - m d entropy / dm"),
}


@arguments.checked
def curve(
    device: Device,
    alpha: SweptLoads,
    overlap: GroupOverlaps,
    constraint: Constraint | Sequence[Constraint] = Margin(0.0),
    *,
    replicas: GroupSize,
    average: Average = "annealed",
    progress: bool | None = None,
) -> xr.Dataset:
    """Count the groups at every combination of loads, mutual overlaps and margins.

    Parameters
    ----------
    device, replicas, average
        As `solve`.
    alpha, overlap : float or array_like
        As `solve`, in any order: a number, a row of them, or a DataArray, which keeps its
        dimensions.
    constraint : Margin, Band, or sequence of either
        One, a row of them, or a DataArray.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    xarray.Dataset
        Coordinates `alpha`, `overlap` and `kappa` (`constraint`, as text, where bands and margins
        mix): a dimension each where they are rows. Variables `entropy`, `slope`, `complexity`,
        `q0` as in `Groups`, with their units: NaN, ``converged = False`` and a `reason` where
        there is no saddle point or an argument is out of range.

    Raises
    ------
    TypeError, ValueError
        As `solve`; of what is swept, only if all of it is out of range.

    Examples
    --------
    >>> from wfmlib import Band, Perceptron
    >>> groups = curve(Perceptron(), 1.7, [0.95, 0.98], Band(1.0), replicas=4)
    >>> groups.entropy.round(4).values.tolist()  # no group of four
    [-0.0033, -0.0203]
    """
    m = replicas
    if average == "quenched":
        check_axes(device, Margin(0.0))
        settings: Any = {"replicas": m, "constraint": constraint, "progress": progress}
        entropies = large_deviation.curve(device, alpha, overlap, **settings)
        entropies = entropies.assign(
            entropy=m * entropies.entropy, slope=m * entropies.entropy_slope
        )
        entropies = entropies[[*COLUMNS, "converged", "reason"]].assign_attrs(average=average)
        return explained(entropies, MEANING)

    def begin(alpha, constraint):
        alpha = Range.of(ResolvedLoad).check("alpha", alpha)
        axes = check_axes(device, constraint)

        def step(overlap, _):
            checked_overlap = Range.of(GroupOverlap).check("overlap", overlap)
            point = _point(device, alpha, checked_overlap, m, axes, average)
            return [getattr(point, name) for name in COLUMNS], None

        return step

    coordinates = {"alpha": alpha, "overlap": overlap, "constraint": constraint}
    options = {"device": device, "replicas": m, "average": average, "progress": progress}
    return sweep(coordinates, begin, COLUMNS, along="overlap", meaning=MEANING, **options)


@arguments.checked
def entropy(
    device: Device,
    alpha: ResolvedLoad,
    overlap: GroupOverlaps,
    constraint: Constraint = Margin(0.0),
    *,
    replicas: GroupSize,
    average: Average = "annealed",
) -> Any:
    """Return the logarithm of the number of groups of m solutions, in nats per weight.

    Parameters
    ----------
    device, alpha, replicas, constraint, average
        As `solve`.
    overlap : float or array_like
        As `solve`.

    Returns
    -------
    float or ndarray
        Of the shape of `overlap`. In an array NaN where there is no saddle point.

    Raises
    ------
    TypeError, ValueError
        As `solve`.
    NotConverged
        As `solve`, for a single overlap.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(entropy(Perceptron(), 0.8, 0.98, replicas=4, average="quenched"), 4)
    -0.0243
    """
    options: Any = {"replicas": replicas, "constraint": constraint, "average": average}
    if np.ndim(overlap) == 0:
        return solve(device, alpha, overlap, **options).entropy  # type: ignore[arg-type]
    entropies = curve(device, alpha, np.ravel(overlap), **options)
    return entropies.entropy.values.reshape(np.shape(overlap))
