"""The local entropy of one configuration on one instance, by belief propagation."""

from __future__ import annotations

import math
import warnings
from typing import Annotated, Literal

import numpy as np
import xarray
from annotated_types import Interval
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from wfmlib.landscape._configuration import Configuration, sign_units
from wfmlib.learning.messages.belief_propagation import (
    Coupling,
    Form,
    Output,
    checked_reference,
    iterate,
    on_sphere,
    plausible,
    prepare,
    too_many,
)
from wfmlib.learning.messages.focusing_protocols import atanh_steps
from wfmlib.learning.solution import NotSettled
from wfmlib.models import Binary, Committee, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Damping, Or, Positive
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Array, Seed

SPHERICAL_COUPLINGS = np.geomspace(200.0, 0.1, 40)
LEAST = {"cubic": 4, "linear": 2}  # points that an interpolation needs


@arguments.checked
def local_entropy(
    solution: Configuration,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    couplings: Annotated[ArrayLike, *Coupling.__metadata__] | None = None,
    form: Form = "exact",
    output: Output = "exact",
    damping: Damping = 0.0,
    tolerance: Positive = 1e-6,
    max_sweeps: Count = 500,
    rng: Seed = None,
    progress: bool | None = None,
) -> xarray.Dataset:
    """Measure how many solutions lie around a given one, against the distance [eq-bp-local].

    Messages are passed on the same patterns with a pull towards the weights. Each strength of
    the pull, a coupling, selects a distance, and the entropy of what is selected is the local
    entropy there. Couplings are visited from the strongest on, each from the messages of the one
    before.

    Parameters
    ----------
    solution : Solution or network
        Weights of a perceptron or of a committee of sign units; ``device.network(w)`` makes a
        network of plain ones. All -1 and +1: solutions with binary weights are counted; otherwise
        solutions on the sphere ``|w_k|^2 = M``, M the weights of a unit, to which the given ones
        are scaled. They need not be a solution.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    couplings : array_like, optional
        Strengths of the pull, from 0 to 1e6, and from 0 to 100 for binary weights. By default the
        49 of P3, App. B 3, without its infinite one, for binary weights; 40 from 200 to 0.1 on the
        sphere.
    form, output, damping, tolerance, max_sweeps, rng
        As for `learning.belief_propagation`.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    xarray.Dataset
        Over `coupling`, from the weakest: `distance` (``(1 - overlap) / 2``), `local_entropy`
        (nats per weight), `excess` (local entropy minus that of all weights at this distance),
        `converged`, `sweeps`, `residual`. Where messages have not settled, or were not numbers, or
        settled on more solutions than there are weights (a residual within the tolerance: so it
        may be around weights that are no solution), `converged` is False and distance and
        entropies are NaN; a warning, `learning.NotSettled`, says so.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    The local entropy at a distance lies between those that the couplings select:
    ``np.interp(distance, found.distance, found.local_entropy)``, or `excess_at`. What it is on
    average over large instances is `theory.franz_parisi.local_entropy`, which takes a distance.

    At distances of some 1/N only a few flips are meant, and the Gaussian step of the messages
    does not hold: exact and expanded form differ there, and neither is to be believed.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> curve = local_entropy(network, xi, network.output(xi), couplings=[0.5, 1.0])
    >>> bool(np.all(curve.distance > 0))
    True
    """
    device, w = _device(solution)
    engine = prepare(device, xi, sigma, form, output, None, rng)
    reference = checked_reference(w, engine, "solution")
    if not device.weights.discrete:
        reference = on_sphere(reference)
    couplings = _couplings(couplings, engine.strongest, device.weights.discrete)
    rows = [
        _point(engine, reference, coupling, damping, tolerance, max_sweeps)
        for coupling in progress_bar(progress, couplings, unit="coupling")
    ]
    if not all(converged for _, _, converged, *_ in rows):
        warnings.warn(
            "local_entropy stopped before its messages settled at some couplings, or they settled "
            "on what no solutions can be: NaN there, and `converged` is False. Try damping=0.5 or "
            "more max_sweeps; around weights that are no solution neither may help.",
            NotSettled,
            stacklevel=3,  # beyond what checks arguments
        )
    return _dataset(couplings, rows, device.weights)


def _device(solution):
    """Return the device that has these weights among others, and the weights."""
    w, tree = sign_units(solution)
    kind = Binary() if w.dtype.kind == "i" else Spherical()
    if w.ndim == 1:
        return Perceptron(kind), w
    return (TreeCommittee if tree else Committee)(len(w), weights=kind), w


def _couplings(couplings, strongest, binary):
    """Return the couplings, from the strongest on."""
    if couplings is None:
        couplings = atanh_steps(50)[1:-1] if binary else SPHERICAL_COUPLINGS
    couplings = np.atleast_1d(couplings)
    good = couplings.ndim == 1 and np.all(couplings <= strongest)
    if not good or couplings.size == 0:
        raise ValueError(
            f"couplings must be numbers from 0 to {strongest:g} in one row, at least one, "
            f"got {couplings!r}"
        )
    return np.sort(couplings)[::-1]


def _point(engine, reference, coupling, damping, tolerance, max_sweeps):
    """Return distance, entropy, whether converged, sweeps and residual at one coupling."""
    before = engine.arrays()
    engine.pull(reference, coupling)
    residuals = iterate(engine, damping, True, tolerance, max_sweeps)
    if residuals[-1] == math.inf:
        engine.load(before)
        return math.nan, math.nan, False, len(residuals), math.inf
    converged = bool(residuals[-1] <= tolerance)
    distance, entropy = engine.distance(), engine.entropy()
    possible = plausible(entropy, engine) and not too_many(entropy, engine, tolerance)
    if not (converged and possible):
        return math.nan, math.nan, False, len(residuals), float(residuals[-1])
    return distance, entropy, True, len(residuals), float(residuals[-1])


def _dataset(couplings, rows, weights):
    distance, entropy, converged, sweeps, residual = map(np.array, zip(*rows[::-1], strict=True))
    excess = np.full(len(entropy), math.nan)
    excess[converged] = entropy[converged] - weights.bound(distance[converged])
    unit = {"units": "nats per weight"}
    return xarray.Dataset(
        {
            "distance": ("coupling", distance, {"long_name": "distance from the reference"}),
            "local_entropy": ("coupling", entropy, {"long_name": "local entropy", **unit}),
            "excess": ("coupling", excess, {"long_name": "local entropy minus its bound", **unit}),
            "converged": ("coupling", converged),
            "sweeps": ("coupling", sweeps),
            "residual": ("coupling", residual),
        },
        coords={"coupling": ("coupling", couplings[::-1], {"long_name": "strength of the pull"})},
    )


# ------------------------------------------------------------------------------------------------
# At given distances
# ------------------------------------------------------------------------------------------------


@arguments.checked
def excess_at(
    places: Annotated[ArrayLike, Interval(gt=0.0, lt=math.inf), Or(math.inf)],
    distance: ArrayLike,
    excess: ArrayLike,
    *,
    kind: Literal["cubic", "linear"] = "cubic",
) -> Array:
    """Return measured excesses at given distances, between those at which they were measured.

    Parameters
    ----------
    places : array_like
        Distances, positive, or ``math.inf``, shape (D,).
    distance, excess : array_like
        What `local_entropy` returns under these names, shape (..., C), in any order along the
        last axis, one curve for each row; NaN where nothing is known.
    kind : {"cubic", "linear"}
        A cubic spline over the logarithm of the distance, through four points or more; or straight
        lines over the distance, for two or more.

    Returns
    -------
    numpy.ndarray
        Shape (..., D); NaN outside of the measured distances and where points are too few.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> excess_at([0.2], [0.1, 0.3], [0.1, 0.2], kind="linear").round(4).tolist()
    [0.15]
    """
    places = np.atleast_1d(places)
    if places.ndim != 1:
        raise ValueError(f"places must be distances in one row, got {places!r}")
    distance, excess = arguments.reals("distance", distance), arguments.reals("excess", excess)
    if distance.shape != excess.shape or distance.ndim == 0:
        raise ValueError(
            f"distance and excess must have the same shape, got {distance.shape}, {excess.shape}"
        )
    between = np.full((*distance.shape[:-1], len(places)), math.nan)
    for row in np.ndindex(distance.shape[:-1]):
        measured = np.isfinite(distance[row]) & np.isfinite(excess[row])
        by = np.argsort(distance[row][measured])
        x, y = distance[row][measured][by], excess[row][measured][by]
        if len(x) >= LEAST[kind]:
            if kind == "cubic":
                spline = CubicSpline(np.log(x), y, extrapolate=False)
                between[row] = spline(np.log(places))
            else:
                between[row] = np.interp(places, x, y, math.nan, math.nan)
    return between
