"""Dense regions of solutions: y real replicas of a device at a fixed mutual overlap.

The configurations of y solutions with mutual overlaps q1 are counted, ``N y V(q1)`` being the
logarithm of their number, or share of the sphere  [eq-mutual-replicas], [eq-ld-entropy]. With many
replicas the count is ruled by regions in which solutions lie densest. Symmetry between the groups
of y, or one step of its breaking.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
import scipy
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Binary, Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Narrower, Or, Range, Swept
from wfmlib.numerics.solvers import (
    NotConverged,
    NoZero,
    Report,
    accepted,
    first_root,
)
from wfmlib.theory import typical
from wfmlib.theory.axes import (
    HARD,
    ONE_FIELD,
    PARITY,
    REPLICAS,
    THREE_UNITS,
    ResolvedLoad,
    SweptLoads,
    checked,
)
from wfmlib.theory.large_deviation.flat_slope import first_flat_load
from wfmlib.theory.machines.finite_machines import MOST_POWERS
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.broken_replicas import FAR, Clusters, broken_saddle
from wfmlib.theory.saddles.real_replicas import saddle, unbroken_load
from wfmlib.theory.sweeps import sweep

if TYPE_CHECKING:
    import xarray as xr


__all__ = [
    "Point",
    "curve",
    "dense_threshold",
    "energetic_term",
    "local_entropy",
    "overlap_range",
    "solve",
    "zero_complexity_replicas",
]

KINDS = (*ONE_FIELD, THREE_UNITS, PARITY)
ROUNDING = 1e-15  # over 1 - overlap: of an entropy
LEAST_FELT = 1e-12  # of a local entropy, for clusters to be compared with
NO_CLUSTERS = -30.0  # ln [(q1 - q0) / q0]: two clusters are one, to every digit
MOST = 1e5  # replicas; beyond, the complexity is lost in rounding

Overlap: TypeAlias = Annotated[
    float,
    Interval(ge=1e-9, lt=1.0),
    Narrower("for a committee of three", Annotated[float, Interval(ge=1e-9, le=1.0 - 1e-6)]),
]
Overlaps: TypeAlias = Annotated[ArrayLike, *Overlap.__metadata__, Swept()]
Replicas: TypeAlias = Annotated[
    float,
    Interval(ge=1.0, le=MOST),
    Or(math.inf),
    Narrower(
        "for a parity machine of more than three units",
        Annotated[float, Interval(ge=1.0, le=float(MOST_POWERS))],
    ),
]
#: With one, V does not depend on the overlap.
Several: TypeAlias = Annotated[float, Interval(gt=1.0, le=MOST), Or(math.inf)]


# ------------------------------------------------------------------------------------------------
# One overlap
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Point(Shown):
    """The saddle point of real replicas at one mutual overlap.

    Attributes
    ----------
    device : Perceptron, TreeCommittee or ParityMachine
    alpha : float
        Load: patterns per weight.
    overlap : float
        Mutual overlap q1 of the replicas.
    replicas : float
        y, at least 1; may be infinite.
    constraint : Margin
        What every pattern demands.
    steps : int
        Of symmetry breaking between groups: 0 or 1.
    entropy : float
        Free entropy V: logarithm of the number (Binary) or share (Spherical) of configurations of
        the replicas, in nats per weight and replica  [eq-ld-entropy]. Not normalised.
    local_entropy : float
        `entropy` minus its value at load 0 with as many replicas: logarithm of the fraction of
        configurations that are solutions  [eq-ld-normalised]. Not above zero, but for rounding.
    energetic : float
        ``alpha G_E``, what the patterns contribute to `entropy` at the saddle point: the other way
        to normalise.
    q0 : float
        Overlap of replicas from different groups. If `replicas` is infinite it equals `overlap`,
        or 0 for a band, where groups without any overlap are the lowest minimum. With clusters of
        groups, of replicas from different clusters.
    spread : float
        ``y (q1 - q0)``; infinite with infinitely many replicas at load 0, or if q0 is 0. With
        clusters of groups, of the overlap between two groups of one cluster.
    m : float or None
        With one step, the Parisi parameter: replicas in a cluster of groups  [eq-ld-broken]. None
        where there are no clusters, as groups that are symmetric to each other are the minimum.
    replicon : float or None
        With one step, the larger of those in clusters and between them: a further step lowers
        `entropy` where it is above 1. None without patterns.
    slope : float
        Derivative of `local_entropy` in the overlap  [eq-ld-slope].
    entropy_slope : float
        Derivative of `entropy` in the overlap.
    complexity : float or None
        Logarithm of the number of groups, ``-y^2 dV / dy``, in nats per weight
        [eq-ld-complexity]; None for infinitely many replicas, and for finite machines.
    report : Report
        Residual: relative error of the load.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> point = solve(Perceptron(), 0.5, 0.9, replicas=3.0)
    >>> round(point.local_entropy, 4), round(point.complexity, 4)
    (-0.1818, 0.239)
    """

    printed_arguments = ("device", "alpha", "overlap", "replicas", "constraint", "steps")
    counted = ()
    printed_answers = (
        *("entropy", "local_entropy", "energetic", "slope"),
        *("q0", "spread", "m", "replicon", "complexity"),
    )

    device: Device
    alpha: float
    overlap: float
    replicas: float
    constraint: Constraint
    steps: int
    entropy: float
    local_entropy: float
    energetic: float
    q0: float
    spread: float
    slope: float
    entropy_slope: float
    complexity: float | None
    m: float | None
    replicon: float | None
    report: Report = field(compare=False)

    def _most(self) -> dict[str, float]:
        return {"local_entropy": ROUNDING / (1.0 - self.overlap)} | super()._most()

    def _formatted(self, name: str, value: Any) -> str:
        return super()._formatted(name, value).replace("RS ", "")  # it is symmetry of groups here


@arguments.checked
def solve(
    device: Device,
    alpha: ResolvedLoad,
    overlap: Overlap,
    constraint: Constraint = Margin(0.0),
    *,
    replicas: Replicas = math.inf,
    steps: int = 0,
) -> Point:
    """Solve for real replicas at one mutual overlap.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or ParityMachine
        A committee of infinitely many units, or of three sign units; a parity machine of two to
        six.
    alpha : float
        Load, patterns per weight: 0, or at least 1e-7.
    overlap : float
        Mutual overlap q1 of the replicas, from 1e-9 to below 1 (from 1e-9 to ``1 - 1e-6`` for a
        committee of three), and above the lower end of `overlap_range`.
    constraint : Margin or Band
        What every pattern demands: a margin from -2 to 1e4 times the activation's `scale`, 0 for
        finitely many units; or a band from 0.01 to 10 times it.
    replicas : float
        Number y of replicas, not necessarily an integer: from 1 to 1e5, or ``math.inf``; from 1 to
        50 for a parity machine of more than three units. With 1 they are typical solutions,
        whatever the overlap.
    steps : {0, 1}
        Of symmetry breaking between groups. One step: infinitely many replicas with spherical
        weights, of a perceptron or of infinitely many units, at a margin.

    Returns
    -------
    Point

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where the overlap is not above the replica-symmetric overlap: there is no saddle point with
        groups there. With one step, where it is not above the overlap inside a cluster of typical
        solutions with one step (`typical.solve_1rsb`), and where patterns hardly matter: where the
        local entropy is above -1e-12, and no lower one is found.

    Notes
    -----
    The free entropy is stationary in q0, the only unknown left, and a minimum. At all places
    looked at there was one minimum, above the replica-symmetric overlap, and none below.

    With infinitely many units, errors of the entropies are below 1e-11, but for terms of order
    ``1e-16 / (1 - overlap)``; those of the slope below 1e-9, of the complexity below ``1e-12 y``.

    As a number of groups the complexity has a meaning for discrete weights; a centre of spherical
    ones is known to a precision of order ``1 / sqrt(y)``, which counts in it.

    Infinitely many replicas: where patterns hardly matter, q1 close to 1 at small loads, the
    spread grows exponentially. Beyond ``e^300 (1 - overlap)`` it is returned as infinite, and the
    local entropy, below 1e-100 there, as 0.

    For a committee of three units averages jump there by up to 1e-3, at nodes where another
    maximum becomes the highest: `report.residual` is the jump at the saddle point. Slopes err by
    as much, entropies by its square.

    One step: the minimum over q0, spread and m, which is not above that of symmetric groups; where
    it is lower by less than 1e-7 of the local entropy, these are returned. It begins where the
    replicon of symmetric groups exceeds 1. Relative errors of the local entropy are below 1e-9. A
    committee of three units asks for six-fold integrals here, and is refused.

    Source: P2, appendix D; P1, section II.D and appendix C.

    Examples
    --------
    >>> from wfmlib import TreeCommittee
    >>> point = solve(TreeCommittee(np.inf), 1.0, 0.9)
    >>> round(point.local_entropy, 4), round(point.spread, 4)
    (-0.0529, 3.0501)
    >>> broken = solve(TreeCommittee(np.inf), 1.0, 0.9, steps=1)
    >>> round(broken.local_entropy, 4), round(broken.q0, 3), round(broken.m, 2)
    (-0.0666, 0.66, 8.56)
    """
    axes = _checked(device, constraint, replicas, steps)
    overlap = _checked_overlap(overlap, axes)
    replicas = _checked_replicas(replicas, device, axes)
    point, place = _point(device, alpha, overlap, replicas, axes)
    return _broken(point, place, axes) if steps else point


def _broken(point, place, axes):
    """Return the `Point` with one step of breaking, given the symmetric one and its place."""
    alpha, overlap = point.alpha, point.overlap
    if alpha == 0.0:
        return replace(point, steps=1)
    state, report = broken_saddle(overlap, alpha, axes, point.local_entropy)
    if state is None:
        if point.local_entropy > -LEAST_FELT:
            raise NotConverged(Report(False, math.inf, report.iterations, FAR))
        near = Clusters(overlap, (-place, NO_CLUSTERS, 0.0), axes)
        return replace(point, steps=1, replicon=near.replicon(alpha), report=report)
    free = axes[0].unloaded(overlap, math.inf)
    slope = float(state.slope(alpha))
    return replace(
        point,
        steps=1,
        entropy=state.entropy(alpha),
        local_entropy=state.local_entropy(alpha),
        energetic=alpha * state.term,
        q0=state.q0,
        spread=state.spread,
        slope=slope - free.slope,
        entropy_slope=slope,
        m=state.m,
        replicon=state.replicon(alpha),
        report=report,
    )


def _point(device, alpha, overlap, replicas, axes, start=None):
    """Return a `Point` with symmetric groups, and its place to start from nearby."""
    settings = device, alpha, overlap, replicas, axes[2], 0
    free = axes[0].unloaded(overlap, replicas)
    state, place = None, None
    report = accepted(0.0, 0.0, 0, "no patterns")
    if alpha > 0.0:
        state, place, report = saddle(overlap, alpha, replicas, axes, start)
    if state is None:  # no patterns, or none that is felt
        infinite = replicas == math.inf
        return Point(
            *settings,
            entropy=free.entropy,
            local_entropy=0.0,
            energetic=0.0,
            q0=overlap if infinite else 0.0,
            spread=math.inf if infinite else replicas * overlap,
            slope=0.0,
            entropy_slope=free.slope,
            complexity=free.complexity,
            m=None,
            replicon=None,
            report=report,
        ), place
    slope = float(state.slope(alpha))
    entropy = float(state.entropy(alpha))
    counted = replicas < math.inf and axes[1].one_field
    return Point(
        *settings,
        entropy=entropy,
        local_entropy=entropy - free.entropy,
        energetic=float(alpha * state.term),
        q0=float(state.q0),
        spread=float(state.spread),
        slope=slope - free.slope,
        entropy_slope=slope,
        complexity=float(state.complexity(alpha)) if counted else None,
        m=None,
        replicon=None,
        report=report,
    ), place


# ------------------------------------------------------------------------------------------------
# Many overlaps
# ------------------------------------------------------------------------------------------------


COLUMNS = (
    "entropy",
    "local_entropy",
    "energetic",
    "q0",
    "spread",
    "slope",
    "entropy_slope",
    "complexity",
    "m",
    "replicon",
)


@arguments.checked
def curve(
    device: Device,
    alpha: SweptLoads,
    overlap: Overlaps,
    constraint: Constraint | Sequence[Constraint] = Margin(0.0),
    *,
    replicas: Replicas = math.inf,
    steps: int = 0,
    progress: bool | None = None,
) -> xr.Dataset:
    """Solve at every combination of loads, overlaps and margins.

    Along the overlaps each saddle point is the start of the next smaller one.

    Parameters
    ----------
    device, replicas, steps
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
        mix): a dimension each where they are rows. Variables `entropy`, `local_entropy`,
        `energetic`, `q0`, `spread`, `slope`, `entropy_slope`, `complexity`, `m`, `replicon` as in
        `Point`, with their units: NaN, ``converged = False`` and a `reason` where there is no
        saddle point or an argument is out of range; what a `Point` does not have is NaN, too.

    Raises
    ------
    TypeError, ValueError
        As `solve`; of what is swept, only if all of it is out of range.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> entropy = curve(Perceptron(), 0.5, [0.8, 0.9], replicas=3.0).local_entropy
    >>> entropy.values.round(4).tolist()
    [-0.2118, -0.1818]
    """

    def begin(alpha, constraint):
        alpha = Range.of(ResolvedLoad).check("alpha", alpha)
        axes = _checked(device, constraint, replicas, steps)
        number = _checked_replicas(replicas, device, axes)

        def step(overlap, start):
            checked_overlap = _checked_overlap(overlap, axes)
            point, place = _point(device, alpha, checked_overlap, number, axes, start)
            if steps:
                point = _broken(point, place, axes)
            values = [getattr(point, name) for name in COLUMNS]
            return [math.nan if value is None else value for value in values], place

        return step

    coordinates = {"alpha": alpha, "overlap": overlap, "constraint": constraint}
    options = {"progress": progress, "device": device, "replicas": replicas, "steps": steps}
    return sweep(coordinates, begin, COLUMNS, along="overlap", **options)


@arguments.checked
def local_entropy(
    device: Device,
    alpha: ResolvedLoad,
    overlap: Overlaps,
    constraint: Constraint = Margin(0.0),
    *,
    replicas: Replicas = math.inf,
) -> Any:
    """Return the logarithm of the fraction of configurations that are solutions.

    Per weight and replica, with as many replicas at load 0 for reference  [eq-ld-normalised].

    Parameters
    ----------
    device, alpha, replicas, constraint
        As `solve`.
    overlap : float or array_like
        As `solve`.

    Returns
    -------
    float or ndarray
        Of the shape of `overlap`, in nats, not above zero.

    Raises
    ------
    TypeError, ValueError
        As `solve`.
    NotConverged
        As `solve`, for a single overlap. In an array NaN is left there, with a RuntimeWarning.

    Examples
    --------
    >>> from wfmlib import TreeCommittee
    >>> round(local_entropy(TreeCommittee(np.inf), 1.0, 0.9, replicas=20), 4)
    -0.1706
    """
    return _column("local_entropy", device, alpha, overlap, replicas, constraint)


@arguments.checked
def energetic_term(
    device: Device,
    alpha: ResolvedLoad,
    overlap: Overlaps,
    constraint: Constraint = Margin(0.0),
    *,
    replicas: Replicas = math.inf,
) -> Any:
    """Return ``alpha G_E`` at the saddle point, the other normalised curve  [eq-ld-normalised].

    Parameters
    ----------
    device, alpha, replicas, constraint
        As `solve`.
    overlap : float or array_like
        As `solve`.

    Returns
    -------
    float or ndarray
        Of the shape of `overlap`, in nats per weight and replica.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `local_entropy`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(energetic_term(Perceptron(), 0.5, 0.9, replicas=3.0), 4)
    -0.22
    """
    return _column("energetic", device, alpha, overlap, replicas, constraint)


def _column(name, device, alpha, overlap, replicas, constraint):
    settings = {"replicas": replicas, "constraint": constraint}
    if np.ndim(overlap) == 0:
        return getattr(solve(device, alpha, overlap, **settings), name)
    points = curve(device, alpha, np.ravel(overlap), **settings)
    lost = ~points.converged.values
    if np.any(lost):
        largest = np.max(points.overlap.values[lost])
        warnings.warn(
            f"no saddle point at {np.sum(lost)} of {points.overlap.size} overlaps, "
            f"the largest {largest:.6g}: NaN there. There, "
            f"{points.reason.values[points.overlap.values == largest][0]}",
            RuntimeWarning,
            stacklevel=4,  # beyond what checks arguments
        )
    return points[name].values.reshape(np.shape(overlap))


# ------------------------------------------------------------------------------------------------
# Ranges and thresholds
# ------------------------------------------------------------------------------------------------


@arguments.checked
def overlap_range(
    device: Device,
    alpha: ResolvedLoad,
    constraint: Constraint = Margin(0.0),
) -> tuple[float, float]:
    """Return the mutual overlaps at which there is a saddle point, for any number of replicas.

    At the lower end groups dissolve, ``q0 = q1``: it is the replica-symmetric overlap of typical
    solutions, for whatever number of replicas above 1.

    Parameters
    ----------
    device, alpha, constraint
        As `solve`.

    Returns
    -------
    low, high : float
        Both ends excluded; `high` is 1.

    Raises
    ------
    TypeError, ValueError
        As `solve`.
    NotConverged
        Where there is no replica-symmetric saddle point: above the load at which its overlap
        reaches 1.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> low, high = overlap_range(Perceptron(), 0.5)
    >>> round(low, 4), high
    (0.3224, 1.0)
    """
    axes = checked(device, constraint, HARD, kinds=KINDS, needs=REPLICAS)
    if axes[1].one_field:
        return typical.solve(device, alpha, constraint).q, 1.0
    if alpha == 0.0:
        return 0.0, 1.0

    def excess(logit):
        return math.log(unbroken_load(float(scipy.special.expit(logit)), axes) / alpha)

    if excess(-15.0) > 0.0:  # a parity machine: groups without overlap exist at any q1
        return 0.0, 1.0
    try:
        return float(scipy.special.expit(first_root(excess, -15.0, 12.0)[0])), 1.0
    except NotConverged:
        message = f"alpha must be so small that overlaps stay below 1 - 6e-6, got {alpha:.6g}"
        raise NotConverged(Report(False, math.inf, 1, message)) from None


@arguments.checked
def zero_complexity_replicas(
    device: Device,
    alpha: ResolvedLoad,
    overlap: Overlap,
    constraint: Constraint = Margin(0.0),
) -> float:
    """Return the number of replicas at which the number of groups is no longer exponential.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        A committee of infinitely many units.
    alpha, overlap, constraint
        As `solve`.

    Returns
    -------
    float
        Where the complexity vanishes  [eq-ld-complexity], going up from one replica, or from two
        where it is negative with one.

    Raises
    ------
    TypeError, ValueError
        As `solve`.
    NotConverged
        As `solve`, and where the complexity keeps its sign up to 1e5 replicas.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(zero_complexity_replicas(Perceptron(), 0.5, 0.9), 3)
    28.981
    """
    axes = checked(device, constraint)
    overlap = _checked_overlap(overlap, axes)
    places = [None]

    def complexity(log_replicas):
        replicas = math.exp(log_replicas)
        point, place = _point(device, alpha, overlap, replicas, axes, places[-1])
        places.append(place)
        return point.complexity

    start = 0.0 if complexity(0.0) > 0.0 else math.log(2.0)
    try:
        return math.exp(first_root(complexity, start, math.log(MOST), step=0.5, tolerance=1e-9)[0])
    except NoZero as failure:
        message = (
            f"the complexity keeps its sign up to {MOST:g} replicas: overlap = "
            f"{overlap:.6g}, alpha = {alpha:.6g}"
        )
        report = Report(False, failure.residual, failure.report.iterations, message)
        raise NotConverged(report, failure.state) from None


@arguments.checked
def dense_threshold(
    device: Device,
    constraint: Constraint = Margin(0.0),
    *,
    replicas: Several | Literal["zero complexity"] = math.inf,
    reference: bool = False,
) -> float:
    """Return the load at which the free entropy stops being monotonic in the overlap.

    Below it V, the logarithm of the number of configurations and not of a fraction, falls all the
    way as replicas are drawn together  [eq-ld-threshold]; above it there are overlaps at which it
    rises with q1, as if solutions a little further apart were fewer: the replica-symmetric dense
    region breaks up.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    constraint : Margin
        As `solve`.
    replicas : float or "zero complexity"
        Their number, above 1, up to 1e5, or ``math.inf``; or, at each overlap, the number at
        which the complexity vanishes.
    reference : bool, optional
        Whether they surround a reference that is a solution, at a distance (1 - overlap) / 2, as
        `around_reference` solves for. Around one that may be any configuration V never falls with
        the distance.

    Returns
    -------
    float
        The smallest load at which the slope of V touches zero at some overlap between 0.5 and
        0.9998, the first minimum met from 0.92, or 0.99 on the line of zero complexity.

    Raises
    ------
    TypeError, ValueError
        As `solve`.
    NotConverged
        Where the slope does not vanish.

    Notes
    -----
    On the line of zero complexity the slope along the line is that at a fixed number of replicas,
    as V is stationary in it there. Where the slope vanishes, a reference that is a solution is
    one more replica: y around a reference have the threshold of y + 1 without one.

    Source: P1 quotes 0.76 for the perceptron.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(dense_threshold(Perceptron()), 3)
    0.755
    """
    axes = checked(device, constraint, weights=(Binary,))
    if isinstance(replicas, str):
        return first_flat_load(None, axes, reference)
    replicas = _checked_replicas(replicas, device, axes)
    return first_flat_load(replicas + reference, axes)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


def _checked(device, constraint, replicas, steps):
    if arguments.integer("steps", steps, 0, 1) == 0:
        return checked(device, constraint, HARD, kinds=KINDS, needs=REPLICAS)
    if replicas != math.inf:
        raise ValueError(f"replicas must be math.inf with steps=1, got {replicas!r}")
    return checked(device, constraint, weights=(Spherical,), by=" with steps=1")


def _checked_overlap(overlap, axes):
    most = axes[1].most_overlap
    return arguments.real("overlap", overlap, 1e-9, most, high_open=most == 1.0)


def _checked_replicas(replicas, device, axes):
    replicas = Range.of(Replicas).check("replicas", replicas)
    if math.isinf(replicas) and not hasattr(axes[0], "limit"):
        raise ValueError(f"replicas must be finite: weights {axes[0]!r} have no limit")
    most = axes[1].most_replicas
    if replicas > most:
        raise ValueError(
            f"replicas must be from 1 to {most} for {device!r} (more, and infinitely many, with "
            f"fewer units), got {replicas:g}"
        )
    return replicas
