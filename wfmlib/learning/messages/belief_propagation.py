"""Belief propagation: the marginals of all solutions of one instance, and their entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.learning import _devices
from wfmlib.learning.messages.factor_graph import BinaryMessages, SphericalMessages
from wfmlib.learning.solution import Best, Marginals, advised
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Binary, Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Damping, Narrower, Positive
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Array, Seed

Form: TypeAlias = Literal["exact", "expanded"]
Output: TypeAlias = Literal["exact", "gaussian"]
Coupling: TypeAlias = Annotated[
    float,
    Interval(ge=0.0, le=SphericalMessages.strongest),
    Narrower(
        "for binary weights", Annotated[float, Interval(ge=0.0, le=BinaryMessages.strongest)]
    ),
]
MOST_UNITS = 35  # counted exactly: products of their probabilities do not underflow


@dataclass(frozen=True, eq=False, repr=False)
class BeliefPropagation(Marginals):
    """What message passing found; a `Solution` whose weights are rounded marginals.

    Marginals and entropies are those of the last sweep. `weights` are those with the fewest
    `errors` after any sweep; `history` holds the "residual" and the "errors" of each.

    Attributes
    ----------
    entropy : float
        Nats per weight. Binary weights: the log of the number of solutions. Weights on the
        sphere: the log of the share of the sphere that is solutions, never positive. With a
        reference, of the solutions around it.
    free_entropy : float
        The same with the energies of the reference and the norm field: the Bethe free entropy,
        nats per weight, which is stationary in the messages.
    means, variances : numpy.ndarray
        Of each weight, in the shape of `weights`.
    distance : float
        Mean distance from the reference, ``(1 - overlap) / 2``: of binary weights the fraction
        that differs, on the sphere ``|w - reference|^2 / 4 N``. NaN without a reference.
    residual : float
        The largest change of the messages in the last sweep.
    sweeps : int
        The same as `epochs`.
    messages : dict of numpy.ndarray
        To start from another time.
    """

    entropy: float
    free_entropy: float
    means: np.ndarray
    variances: np.ndarray
    distance: float
    messages: dict[str, Any]

    def __repr__(self):
        return f"{super().__repr__()}\n  entropy: {self.entropy:.6g} nats per weight"


@advised("more max_sweeps, damping=0.5, another rng, or fewer patterns")
@arguments.checked
def belief_propagation(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    reference: ArrayLike | None = None,
    coupling: Coupling = 0.0,
    form: Form = "exact",
    output: Output = "exact",
    order: Literal["random", "parallel"] = "random",
    damping: Damping = 0.0,
    tolerance: Positive = 1e-6,
    max_sweeps: Count = 1000,
    messages: dict[str, Array] | None = None,
    rng: Seed = None,
    progress: bool | None = None,
) -> BeliefPropagation:
    """Pass messages between the patterns and the weights of a device until they settle.

    At the fixed point they hold the marginals of all weight vectors that answer every pattern
    rightly, drawn uniformly, and the logarithm of their number: exactly on a tree, and up to
    corrections that vanish with N for random patterns where replica symmetry holds
    [eq-bp-equations].

    Parameters
    ----------
    device : Perceptron, TreeCommittee or Committee
        Of sign units, with binary or spherical weights. An odd number of units has no ties among
        them; at most 35 with the exact output.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    reference : array_like, optional
        Weights to be near to, in the shape of the device, and
    coupling : float, optional
        how strongly, from 0 to 1e6, and from 0 to 100 for binary weights: the measure gets a
        factor ``exp(coupling w . reference)`` for binary weights,
        ``exp(-coupling |w - reference|^2 / 2)`` on the sphere [eq-bp-reference].
    form : {"exact", "expanded"}, optional
        Cavity messages edge by edge, or from an expansion around each unit's whole sum, which is
        faster and differs by terms that vanish with N.
    output : {"exact", "gaussian"}, optional
        How the units' answers are counted: exactly, in O(K^2), or as a Gaussian sum.
    order : {"random", "parallel"}, optional
        Pattern after pattern in a fresh random order each sweep, or all at once.
    damping : float, optional
        Share of the old message that is kept, from 0 to below 1.
    tolerance : float, optional
        On the residual, positive: the root mean square change of the messages of a pattern and
        unit, the largest of them, and the relative change of the norm field.
    max_sweeps : int, optional
        After how many sweeps to stop, at least 1.
    messages : dict of numpy.ndarray, optional
        The messages of another run on patterns of the same shape, to start from.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first messages and the orders; fresh entropy where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    BeliefPropagation
        `converged` says whether the residual fell below the tolerance. Where it did not,
        marginals and entropies are as the last sweep left them.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If a message ceases to be a number, or if the messages settle where no solutions can be:
        with an entropy below -1 or above ln 2 for binary weights, below -20 or above 0 on the
        sphere (the upper ones by more than 0.05), or above that of all weights at the distance
        from the reference (by more than 1/N). So ends many a search around a reference that is no
        solution; small instances, of some ten weights, end so now and then, although they have
        solutions.
        `state` holds the "weights" with the fewest "errors" that were seen.

    Notes
    -----
    P1, App. D 1 and 2, with the corrections that the book states; P3, App. B 3.

    Examples
    --------
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(P=250, N=501, rng=1)
    >>> marginals = belief_propagation(Perceptron(), xi, sigma, rng=1)
    >>> marginals.converged, round(marginals.entropy, 1)
    (True, 0.3)
    """
    engine = prepare(device, xi, sigma, form, output, messages, rng)
    coupling = arguments.real("coupling", coupling, 0.0, engine.strongest)
    in_place = order == "random"
    if reference is not None:
        engine.pull(checked_reference(reference, engine), coupling)
    elif coupling > 0.0:
        raise ValueError("coupling needs a reference")
    best = Best()
    with progress_bar(progress, total=max_sweeps, unit="sweep") as bar:
        residuals = iterate(engine, damping, in_place, tolerance, max_sweeps, bar, best)
    return report(engine, residuals, tolerance, best)


def prepare(device, xi, sigma, form="exact", output="exact", messages=None, rng=None):
    """Check what describes an instance and return its `Messages`."""
    _devices.checked(device, (Binary, Spherical))
    xi, sigma = arguments.patterns(xi, sigma)
    expanded = form == "expanded"
    gaussian = output == "gaussian"
    if not gaussian and device.units > MOST_UNITS:
        raise ValueError(f"output='exact' takes up to {MOST_UNITS} units, got {device!r}")
    kind = BinaryMessages if device.weights.discrete else SphericalMessages
    engine = kind(device, xi * sigma[:, None], expanded, gaussian, arguments.generator(rng))
    if messages is not None:
        engine.load(messages)
    return engine


def checked_reference(reference, engine, name="reference"):
    """Return a reference as (K, M) after checking its shape."""
    reference = arguments.reals(name, reference)
    units, width = engine.shape
    allowed = [(units, width)] + [(width,)] * (units == 1)
    if reference.shape not in allowed or not np.all(np.isfinite(reference)):
        raise ValueError(
            f"{name} must hold finite weights of shape {' or '.join(map(str, allowed))}, "
            f"got shape {reference.shape}"
        )
    if not np.any(reference):
        raise ValueError(f"{name} must not be zero throughout")
    return reference.reshape(units, width)


def iterate(engine, damping, in_place, tolerance, max_sweeps, bar=None, best=None):
    """Sweep until the residual is below the tolerance; return the residuals.

    The last one is infinite where a message ceased to be a number. `best` looks at the rounded
    weights after every sweep.
    """
    residuals = []
    while len(residuals) < max_sweeps:
        residuals.append(engine.sweep(damping=damping, in_place=in_place))
        if bar is not None:
            bar.update()
        if not math.isfinite(residuals[-1]):
            residuals[-1] = math.inf
            break
        if best is not None:
            with np.errstate(invalid="ignore"):  # means may be infinite
                weights = rounded(engine.means(), engine)
            if np.all(np.isfinite(weights)):
                best.look(weights, engine.errors(weights))
        if residuals[-1] <= tolerance:
            break
    return np.array(residuals)


def report(engine, residuals, tolerance, best):
    """Return the `BeliefPropagation` of messages that have settled, or not."""
    if residuals[-1] == math.inf:
        refuse(f"a message was not a number in sweep {len(residuals)}", residuals, best)
    with np.errstate(divide="ignore", invalid="ignore"):  # a precision may be zero: refused below
        means = engine.means()
        entropy, free_entropy = engine.entropy(), engine.free_entropy()
    done = bool(residuals[-1] <= tolerance)
    if not plausible(entropy, engine) or (done and too_many(entropy, engine, tolerance)):
        reason = f"the messages settled on no set of solutions: their entropy is {entropy:.3g}"
        refuse(reason, residuals, best)
    shape = best.weights.shape
    return BeliefPropagation(
        device=engine.device,
        weights=best.weights,
        errors=count_errors(best.weights, engine),
        converged=done,
        epochs=len(residuals),
        history={"residual": residuals, "errors": np.array(best.counts)},
        entropy=entropy,
        free_entropy=free_entropy,
        means=means.reshape(shape),
        variances=np.array(engine.variances()).reshape(shape),
        distance=engine.distance() if np.any(engine.reference) else math.nan,
        residual=float(residuals[-1]),
        best=best.place,
        messages=engine.arrays(),
    )


def refuse(reason, residuals, best, **messages):
    """Say that the messages describe no solutions, and hand out the best weights seen."""
    state = {"residual": residuals, "weights": best.weights, "errors": best.errors, **messages}
    raise NotConverged(Report(False, float(residuals[-1]), len(residuals), reason), state)


def plausible(entropy, engine):
    """Return whether an entropy may be one of solutions.

    Small or contradictory sets of patterns have fixed points at which all weights are frozen,
    many patterns are wrong, and the free entropy means nothing.
    """
    low, high = engine.possible
    return low <= entropy <= high  # NaN is not


def too_many(entropy, engine, tolerance):
    """Return whether more solutions are counted near a reference than there are weights.

    Patterns can only take weights away. The Gaussian step of the messages errs by some 1/N,
    messages that are settled within `tolerance` by about as much.
    """
    if not np.any(engine.reference):
        return False
    with np.errstate(invalid="ignore"):
        most = engine.device.weights.bound(engine.distance())
    return not entropy <= most + 1.0 / engine.reference.size + 10.0 * tolerance  # NaN is too many


def rounded(means, engine):
    """Return the weights that means stand for: their signs, or their direction in each unit."""
    if engine.device.weights.discrete:
        weights = np.where(means < 0.0, -1, 1).astype(np.int8)
    else:
        weights = on_sphere(means)
    return weights.reshape(engine.device.shape(engine.xi.shape[1]))


def on_sphere(weights):
    """Return each unit's weights, shape (K, M), with ``|w_k|^2 = M``; zeros stay zeros."""
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    return weights * (math.sqrt(weights.shape[1]) / np.maximum(lengths, 1e-300))


def count_errors(weights, engine):
    """Return the number of patterns that the network with these weights answers wrongly."""
    right = np.ones(len(engine.xi), dtype=np.int8)  # labels are multiplied into the patterns
    return engine.device.network(weights).errors(engine.xi, right)
