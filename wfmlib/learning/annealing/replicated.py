"""Annealing of replicas that attract each other: it ends where solutions are dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import ArrayLike

from wfmlib.learning.annealing.moves import pulls
from wfmlib.learning.annealing.simulated import (
    Betas,
    Moves,
    Spacing,
    move,
    schedule,
    shares,
)
from wfmlib.learning.annealing.state import Loss, Model
from wfmlib.learning.solution import Solution, advised
from wfmlib.models.protocols import Device
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Positive, Share
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Seed

STRONGEST = 100.0  # coupling: all replicas are then one
WEAKEST = 0.01  # where feedback begins, and below which it does not go


@dataclass(frozen=True, eq=False, repr=False)
class ReplicatedAnnealing(Solution):
    """What annealing of attracting replicas ended with.

    `weights` are the reference: the sign of the sum of the replicas, ties broken at random;
    `errors` are those of the reference. `converged` says whether every replica is a solution and
    the overlap is the one asked for. `epochs` counts sweeps of every replica. `history` holds
    one entry per step, as it ended: `beta`, `coupling`, `target` (of the overlap), `overlap`,
    `errors_mean`, `errors_least`, `errors_most` (over the replicas), `accepted` (share of the
    proposals).

    Attributes
    ----------
    replicas : numpy.ndarray
        Shape (y,) and that of `weights`, int64.
    replica_errors : numpy.ndarray
        Shape (y,): the errors of each, counted by `wfmlib.networks`.
    overlap : float
        Mean overlap of two different replicas.
    """

    replicas: np.ndarray
    replica_errors: np.ndarray
    overlap: float


@advised("more sweeps, a smaller overlap, another rng, or fewer patterns")
@arguments.checked
def replicated_annealing(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    loss: Loss = "errors",
    gamma: Positive = 1.0,
    replicas: Annotated[int, Ge(2)] = 20,
    overlap: Annotated[float, Interval(gt=0.0, lt=1.0)] = 0.85,
    tolerance: Positive = 0.01,
    beta: Betas = (1.0, 6.0),
    spacing: Spacing = "geometric",
    sweeps: Count = 10_000,
    steps: Count | None = None,
    ramp: Share = 0.8,
    gain: Positive = 0.5,
    moves: Moves = "auto",
    stop_early: bool = True,
    rng: Seed = None,
    progress: bool | None = None,
) -> ReplicatedAnnealing:
    """Look for binary weights among many solutions: replicas cooled while drawn together.

    The replicas sample ``exp(-beta sum_a E(W^a) + (coupling / y) sum_{a<b} W^a . W^b)``
    [eq-replicated-energy]. In the first part of the schedule, the ramp, beta grows and so does
    the wanted overlap, from 0 to `overlap`; both then stay. The coupling follows by feedback:
    after each step it is multiplied by ``exp(gain (wanted - measured))``.

    Parameters
    ----------
    device, xi, sigma, loss, gamma
        As for `simulated_annealing`.
    replicas : int, optional
        Their number y, at least 2.
    overlap : float, optional
        Wanted mean overlap of two different replicas, between 0 and 1.
    tolerance : float, optional
        On the overlap, for `converged`; positive.
    beta : pair of float, optional
        First and last inverse temperature, as for `simulated_annealing`.
    spacing : str, optional
        "geometric" or "linear": how beta grows.
    sweeps : int, optional
        Of every replica, in the whole schedule, at least 1: the limit of the run.
    steps : int, optional
        How many steps the sweeps are parted into, at least 1, at most `sweeps`; feedback acts
        after each. By default 1000, or as many as there are sweeps.
    ramp : float, optional
        Share of the steps in which beta and the wanted overlap grow, from 0 to 1; 0 for none.
    gain : float, optional
        Strength of the feedback, positive.
    moves : str, optional
        As for `simulated_annealing`.
    stop_early : bool, optional
        Stop after the first step beyond the ramp with what `converged` asks for.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first weights, the moves and the ties of the reference; fresh entropy where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    ReplicatedAnnealing

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    P2, Fig. 3, and Baldassi et al., PNAS 113, E7655 (2016). Of the schedules the papers say only
    that they are slow; these are ours.

    Examples
    --------
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(20, 101, rng=1)
    >>> solution = replicated_annealing(Perceptron(), xi, sigma, replicas=3, sweeps=50, rng=1)
    >>> solution.device
    Perceptron(weights=Binary())
    """
    model = Model(device, xi, sigma, loss, gamma)
    y = replicas
    steps = min(1000, sweeps) if steps is None else steps
    schedule(beta, spacing, steps, sweeps)  # checks
    growing = round(ramp * steps)
    betas = np.full(steps, float(beta[1]))
    betas[:growing] = schedule(beta, spacing, max(growing, 1), max(growing, 1))[:growing]
    targets = np.full(steps, overlap)
    targets[:growing] *= np.arange(1, growing + 1) / max(growing, 1)
    rng = arguments.generator(rng)
    start = 2 * rng.integers(2, size=(y, *model.shape), dtype=np.int8) - 1
    state = model.state(start)
    coupling = WEAKEST if growing else 1.0
    history = {name: [] for name in _RECORD}
    done, share = 0, 1.0
    with progress_bar(progress, total=sweeps, unit="sweep") as bar:
        for step, count in enumerate(shares(sweeps, steps)):
            pull = pulls(coupling, y)
            _, share = move(moves, share, state, rng, count, betas[step] * model.quantum, pull)
            done += int(count)
            mean = mean_overlap(state.total, y)
            errors = state.errors
            record = betas[step], coupling, targets[step], mean
            record += errors.mean(), errors.min(), errors.max(), share
            for name, value in zip(history, record, strict=True):
                history[name].append(value)
            bar.set_postfix(errors=int(errors.max()), overlap=f"{mean:.3f}")
            bar.update(int(count))
            reached = errors.max() == 0 and abs(mean - overlap) <= tolerance
            if stop_early and step >= growing and reached:
                break
            coupling *= np.exp(gain * (targets[step] - mean))
            coupling = min(max(coupling, WEAKEST), STRONGEST)
    return _result(model, state, overlap, tolerance, done, history, rng)


_RECORD = (
    *("beta", "coupling", "target", "overlap"),
    *("errors_mean", "errors_least", "errors_most", "accepted"),
)


def mean_overlap(total, replicas):
    """Return the mean overlap of two different replicas from their sum."""
    squares = np.mean(total.astype(float) ** 2)
    return float((squares - replicas) / (replicas * (replicas - 1)))


def _result(model, state, overlap, tolerance, done, history, rng):
    """Count everything anew, and return it."""
    ties = 2 * rng.integers(2, size=model.shape, dtype=np.int8) - 1
    reference = np.where(state.total == 0, ties, np.sign(state.total)).astype(np.int8)
    reference, weights = model.device_weights(reference), model.device_weights(state.weights)
    network = model.device.network
    replica_errors = np.array([network(w).errors(model.xi, model.sigma) for w in weights])
    mean = mean_overlap(weights.sum(axis=0, dtype=np.int64), len(weights))
    return ReplicatedAnnealing(
        device=model.device,
        weights=reference,
        errors=network(reference).errors(model.xi, model.sigma),
        converged=bool(not replica_errors.any() and abs(mean - overlap) <= tolerance),
        epochs=done,
        history={name: np.array(values) for name, values in history.items()},
        replicas=weights.astype(np.int64),
        replica_errors=replica_errors,
        overlap=mean,
    )
