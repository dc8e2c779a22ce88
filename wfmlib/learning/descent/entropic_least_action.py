"""Entropic least action learning: replicas that learn apart and are drawn to their mean.

Each of y networks learns by the rule of `least_action`, from its own first weights and in its own
orders, and after every mini-batch is pulled towards the mean of all, the centre. Where they agree
on a region that all of them can stay in, it is a wide one [eq-entropic-least-action]. One epoch,
in plain NumPy around the mini-batch of `least_action` (without its normalisation)::

    for b in range(mini_batches):
        for a in range(y):
            learn(w[a], rows[a, b])
            w[a] += coupling * eta * (center - w[a])
        center = w.mean(axis=0)
    w /= np.linalg.norm(w, axis=2, keepdims=True)
    center = w.mean(axis=0)
    spread = np.sum((w - center) ** 2)
    coupling *= 1 + growth

After each line that sets them, replicas and centre are brought back to the grid on which sums over
patterns are exact (see `least_action`); the spread is summed in one order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike

from wfmlib.learning.descent.least_action import choose, present, workspace
from wfmlib.learning.descent.mini_batches import (
    GRID,
    Step,
    check_no_zeros,
    normalise,
    prepare,
    uniform_weights,
)
from wfmlib.learning.messages.channel import exact
from wfmlib.learning.solution import Solution, advised
from wfmlib.models.protocols import Device
from wfmlib.numerics import arguments, portable
from wfmlib.numerics.arguments import Count, NotNegative, Positive
from wfmlib.numerics.portable import on_grid
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Seed

LARGEST_COUPLING = 1e300  # growth goes on for as many epochs as are asked for


@dataclass(frozen=True, eq=False, repr=False)
class EntropicLeastAction(Solution):
    """Where the replicas have met.

    The weights are the centre's; `converged` says whether the replicas have collapsed onto it,
    `errors` whether it is a solution. `history` holds one entry per epoch: `spread`, the sum of
    the squared distances from the centre at its end, for units of norm 1; `overlap`, the mean
    ``w_k^a . w_k^b`` of these over units and pairs of replicas, ``1 - spread / ((y - 1) K)``;
    `errors`, of the centre then; `replica_errors`, their mean over the replicas, counted while
    patterns are presented; `coupling`, during the epoch.

    Attributes
    ----------
    replicas : numpy.ndarray
        The weights of each replica, shape (y,) and that of `weights`.
    snapshots : dict of int to numpy.ndarray
        The same at the end of the epochs that were asked for, as far as they were reached.
    """

    replicas: np.ndarray
    snapshots: dict[int, Any]


@advised("more max_epochs, more replicas, a smaller growth or eta, another rng, or fewer patterns")
@arguments.checked
def entropic_least_action(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    replicas: Annotated[int, Ge(2)] = 20,
    eta: Step = 1e-2,
    coupling: NotNegative = 0.5,
    growth: NotNegative = 1e-4,
    batch: Count = 100,
    collapse: Positive = 1e-7,
    max_epochs: Count = 10_000,
    snapshots: Sequence[Count] = (),
    rng: Seed = None,
    progress: bool | None = None,
) -> EntropicLeastAction:
    """Learn with replicas that attract each other, until they have become one.

    The elastic force is that of the replicated loss [eq-replicated-loss]: what is learned is not
    one solution, but the centre of a region of them.

    Parameters
    ----------
    device, xi, sigma, batch
        As for `least_action`.
    replicas : int, optional
        Their number y, at least 2. More of them find wider regions.
    eta : float, optional
        Step of a correction, from 2^-44 to 1e6, against weights of norm 1.
    coupling : float, optional
        Strength lambda of the pull in the first epoch, not negative: after a mini-batch
        ``coupling * eta`` of the way to the centre, or all of it where that is above 1.
    growth : float, optional
        The coupling is multiplied by ``1 + growth`` after each epoch; not negative.
    collapse : float, optional
        Stop once the sum of the squared distances of the replicas from their centre, at the end of
        an epoch, is at most this; positive [eq-collapse].
    max_epochs : int, optional
        Where to stop without a collapse, at least 1.
    snapshots : sequence of int, optional
        Epochs, at least 1, at whose end the replicas are kept as well.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first weights and the orders; fresh entropy where None. Each replica draws from a
        child of its own.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    EntropicLeastAction

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If all weights of a unit cancel.

    Notes
    -----
    P1, Sec. IV and App. E, whose arguments for images are ``eta=2e-3, coupling=30, growth=5e-3``.
    Replicas that no longer err contract by ``1 - coupling * eta`` a mini-batch: at the default
    values 10 mini-batches an epoch take about 160 epochs to bring a spread of 1 to 1e-7. A
    collapse does not say that the centre is a solution: a strong coupling forces it.

    Examples
    --------
    >>> from wfmlib import Perceptron, Spherical, patterns
    >>> xi, sigma = patterns.random(20, 101, rng=1)
    >>> solution = entropic_least_action(Perceptron(Spherical()), xi, sigma, replicas=3, rng=1)
    >>> solution.errors
    0
    """
    instance = prepare(device, xi, sigma, batch)
    eta = on_grid(eta, GRID)
    if arguments.array("snapshots", snapshots).ndim != 1:
        raise TypeError(f"snapshots must be a sequence of epochs, got {snapshots!r}")
    epochs_kept = {arguments.integer("snapshots", epoch, 1) for epoch in snapshots}
    children = arguments.generator(rng).spawn(replicas)
    w = np.array([uniform_weights(child, instance.shape) for child in children])
    center = np.empty(instance.shape)
    _average(w, center)
    orders = np.empty((replicas, len(instance.aligned)), dtype=np.int64)
    wrong = np.empty((replicas, instance.shape[0]), dtype=np.int64)
    space = workspace(instance)
    everything = np.arange(len(instance.aligned))
    history = {name: [] for name in ("spread", "errors", "replica_errors", "coupling")}
    kept = {}
    with progress_bar(progress, total=max_epochs, unit="epoch") as bar:
        while len(history["spread"]) < max_epochs:
            for order, child in zip(orders, children, strict=True):
                order[:] = child.permutation(len(order))
            wrong[:] = 0
            pull = min(coupling * eta, 1.0)
            learned = (instance.edges, instance.aligned, instance.starts, eta)
            spread = _epoch(orders, *learned, pull, w, center, wrong, *space)
            errors = choose(everything, instance.aligned, instance.starts, center, *space)
            record = (spread, errors, wrong.sum() / replicas, coupling)
            for name, value in zip(history, record, strict=True):
                history[name].append(value)
            epoch = len(history["spread"])
            if epoch in epochs_kept:
                kept[epoch] = instance.device_weights(w)
            bar.set_postfix(spread=f"{spread:.1e}", errors=errors, refresh=False)
            bar.update()
            if spread <= collapse:
                break
            coupling = min(coupling * (1.0 + growth), LARGEST_COUPLING)
    history = {name: np.array(values) for name, values in history.items()}
    history["overlap"] = 1.0 - history["spread"] / ((replicas - 1) * instance.shape[0])
    normal = center.copy()
    normalise(normal)
    check_no_zeros(normal, len(history["spread"]))
    weights = instance.device_weights(normal)
    return EntropicLeastAction(
        device=device,
        weights=weights,
        errors=instance.errors(weights),
        converged=bool(history["spread"][-1] <= collapse),
        epochs=len(history["spread"]),
        history=history,
        replicas=instance.device_weights(w),
        snapshots=kept,
    )


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@exact
def _draw(w, center, pull):
    """Move one replica a part of the way to the centre."""
    for k in range(w.shape[0]):
        for i in range(w.shape[1]):
            w[k, i] = on_grid(w[k, i] + pull * (center[k, i] - w[k, i]), GRID)


@exact
def _average(w, center):
    """Set the centre to the mean of the replicas."""
    y, K, M = w.shape
    for k in range(K):
        center[k] = 0.0
        for a in range(y):
            for i in range(M):
                center[k, i] += w[a, k, i]
        for i in range(M):
            center[k, i] = on_grid(center[k, i] / y, GRID)


@exact
def _epoch(
    orders, edges, aligned, starts, eta, pull, w, center, updates, single, bounds, sums, chosen
):
    """Let every replica learn all its mini-batches; return the spread at the end."""
    y, K, _ = w.shape
    for b in range(len(edges) - 1):
        for a in range(y):
            rows = orders[a, edges[b] : edges[b + 1]]
            present(rows, aligned, starts, eta, w[a], updates[a], single, bounds, sums, chosen)
            _draw(w[a], center, pull)
        _average(w, center)
    for a in range(y):
        normalise(w[a])
    _average(w, center)
    spread = 0.0
    for a in range(y):
        for k in range(K):
            spread += portable.square_distance(w[a, k], center[k])
    return spread
