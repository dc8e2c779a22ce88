"""Approximate message passing: a perceptron's solution space at large N.

Belief propagation sends a message from each pattern to each weight and back: 2 N P numbers. At
large N the message to a neighbour differs from what is sent to all by a little that can be
expanded, which leaves one number a weight and one a pattern, and a correction to each: Onsager's
reaction terms. Patterns are kept at one bit an entry, so N = P = 10^5 fits in 1.3 GB.

With patterns in the frame where every label is +1, ``F_ai = sigma_a xi_ai / sqrt(N)``, mean
weights m and their mean variance ``V = max(1 - |m|^2 / N, 1 / N)`` (that of one undecided sign at
least: a smaller one says nothing of a sum of signs), a sweep is, in plain NumPy::

    omega = F @ m - V * g                                     # field on a pattern; g the old one
    u = (margin - omega) / sqrt(V)
    g = hazard(u) / sqrt(V)                                   # how hard each pattern pulls
    stiffness = sum(hazard_derivative(u)) / (N * V)
    field = F.T @ g + stiffness * m
    m = tanh(field)                                           # Binary
    m = field / D, D = (1 + sqrt(1 + 4 |field|^2 / N)) / 2    # Spherical

D is stiffness plus chi, the multiplier that keeps the norm: ``|m|^2 / N + 1 / D = 1``.

For random patterns the overlap ``|m|^2 / N`` follows `state_evolution` sweep by sweep, and what it
converges to is the replica-symmetric saddle point; it converges where that is stable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.learning import _devices
from wfmlib.learning.messages.belief_propagation import Coupling, refuse
from wfmlib.learning.messages.factor_graph import BinaryMessages, SphericalMessages
from wfmlib.learning.messages.packed_patterns import PackedPatterns, packed_together
from wfmlib.learning.solution import Best, Marginals, advised
from wfmlib.models.constraints import Margin
from wfmlib.models.devices import Perceptron
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Binary, Spherical
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Count, Damping, NotNegative, Positive
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Array, Seed

STRONGEST = {True: BinaryMessages.strongest, False: SphericalMessages.strongest}  # couplings
SLACK = 0.05  # by which the entropy of a few weights may exceed that of all
FLOOR = {True: BinaryMessages.possible[0], False: SphericalMessages.possible[0]}  # of an entropy
CERTAIN = 1e-6  # undecided weights, of all of them
LEAST_COMPLEMENT = 1e-15  # of an overlap that is told from 1


@dataclass(frozen=True, eq=False, repr=False)
class MessagePassing(Marginals):
    """What message passing found; a `Solution` whose weights are rounded means.

    `weights` are the signs of the means (Binary), or the means scaled to norm sqrt(N) (Spherical):
    those with the fewest `errors` after any sweep; all else is as the last sweep left it. `errors`
    counts the patterns whose stability under them is not above the margin: signs may make errors
    where the means make none; on the sphere, with a margin >= 0, there is none at a fixed point.
    `history` holds the "residual" of each sweep, and after it the "errors" and the "overlap", as
    `state_evolution` predicts it.

    Attributes
    ----------
    entropy : float
        Nats per weight. Binary weights: the log of the number of solutions; negative where there
        are none. Weights on the sphere: the log of the share of the sphere that is solutions
        [eq-entropy].
    q : float
        Overlap between two typical solutions, ``|means|^2 / N`` [eq-overlap].
    means, variances : numpy.ndarray
        Of each weight over the solutions, shape (N,).
    distance : float
        Mean distance from the reference, as in `BeliefPropagation`; NaN without one. The entropy
        is that of the solutions there.
    residual : float
        The largest change of a mean that the last sweep called for, damping aside.
    best : int
        After which sweep the weights were the returned ones, from 1.
    sweeps : int
        The same as `epochs`.
    messages : dict of numpy.ndarray
        To go on from: "means", shape (N,), and "pulls", how hard each pattern pulls, shape (P,).
    """

    entropy: float
    q: float
    means: np.ndarray
    variances: np.ndarray
    distance: float
    messages: dict[str, Any]

    def __repr__(self):
        state = "converged" if self.converged else "NOT CONVERGED"
        return (
            f"MessagePassing(N={len(self.means)}: {state} after {self.sweeps} sweeps, "
            f"residual {self.residual:.2g}; entropy {self.entropy:.4f} nats per weight, "
            f"overlap {self.q:.4f}, {self.errors} error{'' if self.errors == 1 else 's'})"
        )


@advised("more max_sweeps, damping=0.5, or fewer patterns")
@arguments.checked
def approximate_message_passing(
    device: Device,
    xi: ArrayLike | PackedPatterns,
    sigma: ArrayLike | None = None,
    constraint: Margin = Margin(0.0),
    *,
    reference: ArrayLike | None = None,
    coupling: Coupling = 0.0,
    damping: Damping = 0.0,
    tolerance: Positive = 1e-6,
    max_sweeps: Count = 1000,
    messages: dict[str, Array] | None = None,
    rng: Seed = None,
    progress: bool | None = None,
    threads: Count | None = None,
) -> MessagePassing:
    """Find the solutions' entropy and mean weights for a perceptron with many inputs.

    A solution has every stability [eq-stability] above the margin. The result is exact in the
    limit of large N for patterns with independent entries, where the replica-symmetric saddle
    point is stable [eq-replicon]. On one set of them, means differ from those of belief
    propagation by about 1 / N (root mean square) and the entropy per weight by less than 1 / N;
    from one set to the next, entropy and overlap vary by some 1 / sqrt(N). Correlated patterns
    need belief propagation.

    Parameters
    ----------
    device : Perceptron
        With binary or spherical weights.
    xi : array_like or PackedPatterns
        Patterns, shape (P, N), entries -1 and +1; or patterns and labels packed together.
    sigma : array_like, optional
        Labels, shape (P,), entries -1 and +1; left out where `xi` is packed.
    constraint : Margin, optional
        What a pattern demands: a stability above the margin.
    reference : array_like, optional
        Weights to be near to, shape (N,), and
    coupling : float, optional
        how strongly, from 0 to 1e6, and from 0 to 100 for binary weights: as for
        `belief_propagation`, whose local entropy this gives where N P messages are too many.
    damping : float, optional
        Share of the old pulls and means that a sweep keeps, from 0 to below 1.
    tolerance : float, optional
        Largest change of a mean in a sweep (damping aside) that counts as convergence;
        positive.
    max_sweeps : int, optional
        Sweeps at most, at least 1.
    messages : dict of numpy.ndarray, optional
        The messages of another run with the same N and P, to start from. A run that is stopped
        and continued gives the same as one that is not.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Start from random means with overlap 1/4 instead of from zero, to see that the end does
        not depend on the start. From zero, where None, nothing is random.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.
    threads : int, optional
        Number of threads, at least 1; all that numba may use where None (``NUMBA_NUM_THREADS``,
        which joblib sets in its workers). The result does not depend on it.

    Returns
    -------
    MessagePassing
        `converged` says whether the residual fell to the tolerance, or all weights were certain
        and right. Where not, means and entropy are as the last sweep left them, and describe no
        solutions.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If an array does not hold signs, shapes do not match, a number is out of range, both
        `messages` and `rng` are given, or a coupling without a reference.
    NotConverged
        Where a message is not a finite number, as may happen far above capacity. Also where
        messages settle on an entropy above that of all weights by more than 0.05, as two weights
        with many patterns do, with a reference above that of all weights at its distance; or below
        its floor, -1 for binary and -20 for spherical weights. `state` holds the messages before
        that sweep, and the "weights" with the fewest "errors" that were seen.

    Notes
    -----
    Memory: N P / 8 bytes of packed patterns, and some arrays of N and of P numbers. Time: two
    passes over the patterns per sweep.

    Source: the messages of P1, appendix D, for one unit, expanded in 1 / sqrt(N) including the
    terms of order 1; the entropy is P1, equations D24 and D28 (signs corrected), likewise.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> packed = PackedPatterns.random(1000, 2001, rng=1)
    >>> marginals = approximate_message_passing(Perceptron(), packed)
    >>> marginals.converged, bool(abs(marginals.entropy - 0.3144) < 0.01)  # the replica value
    (True, True)
    """
    weights, margin = _checked(device, constraint)
    packed = packed_together(xi, sigma)
    coupling = arguments.real("coupling", coupling, 0.0, STRONGEST[weights.discrete])
    if reference is not None:
        reference = _checked_row(reference, "reference", packed.N)
        if not np.any(reference):
            raise ValueError("reference must not be zero throughout")
    elif coupling > 0.0:
        raise ValueError("coupling needs a reference")
    push = 0.0 if reference is None else coupling * reference
    current = _start(packed, messages, rng)

    residuals, overlaps, best, done = [], [], Best(), False
    with progress_bar(progress, total=max_sweeps, unit="sweep") as bar:
        while len(residuals) < max_sweeps and not done:
            sweep = _sweep(packed, current, weights, margin, threads, push)
            bar.update()
            if not sweep.finite:
                residuals.append(math.inf)
                reason = f"a message was not a finite number in sweep {len(residuals)}"
                refuse(reason, residuals, best, **current._asdict())
            residuals.append(float(np.max(np.abs(sweep.means - current.means))))
            current = Messages(
                (1.0 - damping) * sweep.means + damping * current.means,
                (1.0 - damping) * sweep.pulls + damping * current.pulls,
            )
            overlaps.append(_overlap(current.means))
            signs = _rounded(current.means, weights)
            best.look(signs, packed.errors(signs, margin, threads=threads))
            certain = packed.N * (1.0 - overlaps[-1]) < CERTAIN
            done = residuals[-1] <= tolerance or (certain and best.counts[-1] == 0)

    entropy = _entropy(sweep, weights)
    variances = _variances(current.means, weights)
    distance, most = math.nan, weights.entropy if weights.discrete else 0.0
    if reference is not None:
        distance = _distance(current.means, variances, reference, weights)
        with np.errstate(invalid="ignore"):  # beyond 1 of weights of another length
            most = float(weights.bound(distance))
    if done and not FLOOR[weights.discrete] <= entropy <= most + SLACK:
        reason = f"the messages settled on no set of solutions: their entropy is {entropy:.3g}"
        refuse(reason, residuals, best, **current._asdict())
    return MessagePassing(
        device=device,
        weights=best.weights,
        errors=best.errors,
        converged=done,
        epochs=len(residuals),
        history={
            "residual": np.array(residuals),
            "overlap": np.array(overlaps),
            "errors": np.array(best.counts),
        },
        entropy=entropy,
        q=overlaps[-1],
        means=current.means,
        variances=variances,
        distance=distance,
        residual=residuals[-1],
        best=best.place,
        messages=current._asdict(),
    )


@arguments.checked
def state_evolution(
    device: Device,
    alpha: NotNegative,
    sweeps: Count,
    constraint: Margin = Margin(0.0),
) -> Array:
    """Predict the overlap after each sweep, from means of zero and without damping.

    With random patterns at large N the field on a pattern is normal with variance q, and that on
    a weight with variance ``q_hat = alpha E g^2``, where g is the pull of a pattern at the field
    ``sqrt(q) x``. Its fixed point is the saddle point [eq-rs-saddle].

    Parameters
    ----------
    device : Perceptron
        With binary or spherical weights.
    alpha : float
        Load, patterns per weight, not negative.
    sweeps : int
        How many, at least 1.
    constraint : Margin, optional
        What a pattern demands: a stability above the margin.

    Returns
    -------
    numpy.ndarray
        The overlap q after sweeps 1, 2, ..., shape (sweeps,).

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where the overlap reaches 1, to every digit: at so large a load or margin no saddle point
        stops it. `state` holds the overlaps before.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> state_evolution(Perceptron(), 0.5, 3).round(4)
    array([0.2054, 0.2715, 0.2988])
    """
    weights, margin = _checked(device, constraint)
    overlaps = np.empty(sweeps)
    q, V = 0.0, 1.0
    for sweep in range(sweeps):
        step = ((margin / math.sqrt(q), math.sqrt(V / q)),) if q > 0.0 else ()
        x, weight = gaussian.grid(*step)
        with np.errstate(over="ignore"):
            pull = gaussian.hazard((margin - math.sqrt(q) * x) / math.sqrt(V)) / math.sqrt(V)
            q_hat = alpha * float(weight @ pull**2)
        if math.isfinite(q_hat):
            entropic = weights.entropic(q_hat)
            q, V = entropic.q, entropic.complement
        if not (math.isfinite(q_hat) and V >= LEAST_COMPLEMENT):
            message = f"the overlap reaches 1 in sweep {sweep + 1}: alpha = {alpha:g} is too large"
            report = Report(False, math.inf, sweep + 1, message)
            raise NotConverged(report, overlaps[:sweep].copy())
        overlaps[sweep] = q
    return overlaps


# ------------------------------------------------------------------------------------------------
# A sweep
# ------------------------------------------------------------------------------------------------


class Messages(NamedTuple):
    """All that the next sweep needs: mean weights, and how hard each pattern pulls."""

    means: np.ndarray
    pulls: np.ndarray


class _Sweep(NamedTuple):
    """The images of the messages, and what the entropy is made of."""

    means: np.ndarray
    pulls: np.ndarray
    u: np.ndarray
    drift: np.ndarray  # V times the old pulls: fields of the means less fields on the patterns
    V: float
    field: np.ndarray
    finite: bool


def _sweep(packed, messages, weights, margin, threads, push=0.0):
    """Return the image of the messages under one sweep; `push` is a field on each weight."""
    root = math.sqrt(packed.N)
    with np.errstate(all="ignore"):  # what is not finite is found below
        V = np.float64(_variance(messages.means, weights))
        drift = V * messages.pulls
        omega = packed.fields(messages.means, threads=threads) / root - drift
        u = (margin - omega) / np.sqrt(V)
        pulls = gaussian.hazard(u) / np.sqrt(V)
        stiffness = np.sum(gaussian.hazard_derivative(u)) / (packed.N * V)
        field = packed.pull(pulls, threads=threads) / root + stiffness * messages.means + push
        means = np.tanh(field) if weights.discrete else field / _precision(field)
        finite = V > 0.0 and math.isfinite(np.sum(pulls)) and math.isfinite(np.sum(field**2))
    return _Sweep(means, pulls, u, drift, V, field, bool(finite))


def _overlap(means):
    """Return ``|m|^2 / N``, summed by NumPy: BLAS sums in an order that depends on its threads."""
    return float(np.mean(means**2))


def _variance(means, weights):
    """Return the weights' mean variance; of signs, that of one undecided weight at least."""
    least = 1.0 / len(means) if weights.discrete else 0.0
    return max(1.0 - _overlap(means), least)


def _precision(field):
    """Return D, one over each weight's variance: ``|field|^2 / (N D^2) + 1 / D = 1``."""
    return 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * np.mean(field**2)))


def _entropy(sweep, weights):
    """Return the entropy in nats per weight, from the Bethe free entropy of the last sweep.

    Patterns give ``ln H(u) + (F m - omega)^2 / (2 V)``, and ``F m - omega`` is `drift`. A binary
    weight gives the entropy of a spin of mean m, ``ln 2 cosh(field) - field m``. On the sphere
    the multiplier chi of the norm, extremal, and the logarithm of the whole sphere's volume leave
    ``-ln(D) / 2 = ln(1 - q) / 2`` for each weight. A field that pushes towards a reference shifts
    means and changes neither formula: they are the entropies of a spin and of a Gaussian.
    """
    if weights.discrete:
        size = np.abs(sweep.field)
        per_weight = np.mean(size + np.log1p(np.exp(-2.0 * size)) - sweep.field * sweep.means)
    else:
        per_weight = -0.5 * math.log(_precision(sweep.field))
    per_pattern = gaussian.log_H(sweep.u) + 0.5 * sweep.drift**2 / sweep.V
    return float(per_weight + np.sum(per_pattern) / len(sweep.means))


def _variances(means, weights):
    """Return the variance of each weight."""
    if weights.discrete:
        return 1.0 - means**2
    return np.full(len(means), 1.0 - _overlap(means))


def _distance(means, variances, reference, weights):
    """Return the mean ``(1 - overlap) / 2``; on the sphere that of ``|w - reference|^2 / 4 N``."""
    if weights.discrete:
        return 0.5 * (1.0 - float(np.mean(reference * means)))
    return 0.25 * float(np.mean(variances + (means - reference) ** 2))


def _rounded(means, weights):
    """Return the weights closest to the means: their signs, or their direction."""
    if weights.discrete:
        return np.where(means < 0.0, -1, 1).astype(np.int8)
    if not np.any(means):  # opposite patterns cancel: no direction is better than another
        return np.ones(len(means))
    scaled = means / np.abs(means).max()  # its squares do not underflow
    return scaled / math.sqrt(_overlap(scaled))


# ------------------------------------------------------------------------------------------------
# The public door
# ------------------------------------------------------------------------------------------------


def _checked(device, constraint):
    """Return the weights and the margin after checking what is solved: one unit, a margin."""
    _devices.checked(device, (Binary, Spherical), (Perceptron,))
    return device.weights, arguments.member("constraint", constraint, (Margin,)).kappa


def _start(packed, messages, rng):
    """Return the messages before the first sweep."""
    if messages is None:
        means = np.zeros(packed.N)
        if rng is not None:
            means = 0.5 * arguments.generator(rng).choice([-1.0, 1.0], size=packed.N)
        return Messages(means, np.zeros(packed.P))
    if rng is not None:
        raise ValueError("messages and rng must not both be given: each says where to start")
    if not isinstance(messages, dict) or set(messages) != set(Messages._fields):
        raise TypeError(
            "messages must be those of an earlier result, a dict of "
            f"{' and '.join(Messages._fields)}, got {type(messages).__name__}"
            f"{' of ' + ', '.join(map(str, messages)) if isinstance(messages, dict) else ''}"
        )
    lengths = {"means": packed.N, "pulls": packed.P}
    start = Messages(*(_checked_row(messages[n], f"messages[{n!r}]", lengths[n]) for n in lengths))
    if not _overlap(start.means) < 1.0:
        raise ValueError(
            "messages['means'] must have a mean square below 1, got "
            f"{_overlap(start.means)}: are they those of other weights?"
        )
    return start


def _checked_row(value, name, length):
    """Return an array that was given, checked."""
    value = arguments.reals(name, value)
    if value.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},), got {value.shape}")
    if not np.all(np.isfinite(value)):
        raise ValueError(f"{name} must be finite")
    return value
