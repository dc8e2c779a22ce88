"""Least action with binary weights: signs of hidden weights, alone or in replicas that attract.

A perceptron has one hidden unit, so that least action is the perceptron rule. With binary weights
the rule moves hidden weights h, and what answers are their signs. Replicas learn apart and are
drawn to the mean of their hidden weights, the centre, as in `entropic_least_action`. One epoch,
for ``aligned`` patterns, each times its label, in plain NumPy::

    for b in range(mini_batches):
        for a in range(y):
            for x in aligned[rows[a, b]]:
                if np.sign(h[a]) @ x <= 0:
                    h[a] += 2 * x
            h[a] += pull * (center - h[a])
        center = h.mean(axis=0)
    pull = min(pull * (1 + growth), 1)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, NotNegative, Share
from wfmlib.numerics.types import Seed


@dataclass(frozen=True, eq=False)
class Clipped:
    """What least action with binary weights ended with.

    Attributes
    ----------
    weights : numpy.ndarray
        Signs, shape (N,), int8: of a solution, or of the centre where none was found.
    errors : int
        Their wrong answers.
    epochs : int
        How often all patterns were gone through.
    """

    weights: np.ndarray
    errors: int
    epochs: int


@arguments.checked
def clipped_replicas(
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    replicas: Count = 1,
    pull: Share = 1e-4,
    growth: NotNegative = 0.01,
    batch: Count = 100,
    max_epochs: Count = 1000,
    rng: Seed = None,
) -> Clipped:
    """Look for a solution of the binary perceptron by least action on hidden weights.

    Parameters
    ----------
    xi, sigma : array_like
        Patterns, shape (P, N), N odd, and labels, shape (P,), entries -1 and +1.
    replicas : int
        Their number y, at least 1. One alone is the clipped perceptron rule.
    pull : float
        Share of the way to the centre that a replica goes after a mini-batch, from 0 to 1, in the
        first epoch.
    growth : float
        After each epoch the pull is multiplied by ``1 + growth``, up to 1; not negative.
    batch : int
        Patterns between two pulls, at least 1.
    max_epochs : int
        Where to stop without a solution, at least 1.
    rng : None, int, SeedSequence or Generator
        For the first hidden weights and the orders.

    Returns
    -------
    Clipped
        After the first epoch at whose end the signs of the centre, or of a replica, are a
        solution.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    """
    xi, sigma = arguments.patterns(xi, sigma)
    if xi.shape[1] % 2 == 0:
        raise ValueError(f"xi must have an odd number of columns, got {xi.shape[1]}")
    rng = arguments.generator(rng)
    P, N = xi.shape
    aligned = xi * sigma[:, None]
    single = aligned.astype(np.float32)  # sums of signs are exact
    h = 2.0 * rng.integers(-2, 2, (replicas, N)) + 1.0
    center = h.mean(axis=0)
    edges = np.append(np.arange(0, P, batch), P)
    best, epochs = replicas, 0
    while epochs < max_epochs:
        orders = np.array([rng.permutation(P) for _ in range(replicas)])
        _epoch(aligned, orders, edges, h, center, pull)
        weights = np.where(np.vstack([h, center]) > 0.0, 1, -1).astype(np.int8)
        errors = np.count_nonzero(single @ weights.T.astype(np.float32) <= 0.0, axis=0)
        pull, epochs = min(pull * (1.0 + growth), 1.0), epochs + 1
        if np.min(errors) == 0:
            best = int(np.argmin(errors))
            break
    return Clipped(weights[best], int(errors[best]), epochs)


@njit(cache=True, nogil=True)
def _clip(h, signs):
    """Take the signs of hidden weights."""
    for i in range(len(h)):
        signs[i] = 1 if h[i] > 0.0 else -1


@njit(cache=True, nogil=True)
def _field(x, signs):
    """Return the sum of the products of two arrays of signs."""
    total = np.int32(0)
    for i in range(len(x)):
        total += np.int32(x[i]) * np.int32(signs[i])
    return total


@njit(cache=True, nogil=True)
def _epoch(aligned, orders, edges, h, center, pull):
    """Let every replica learn all its mini-batches, and be drawn to the centre after each."""
    y, N = h.shape
    signs = np.empty((y, N), dtype=np.int8)
    for a in range(y):
        _clip(h[a], signs[a])
    for b in range(len(edges) - 1):
        for a in range(y):
            for k in range(edges[b], edges[b + 1]):
                x = aligned[orders[a, k]]
                if _field(x, signs[a]) <= 0:
                    for i in range(N):
                        h[a, i] += 2.0 * x[i]
                    _clip(h[a], signs[a])
            if y > 1:
                for i in range(N):
                    h[a, i] += pull * (center[i] - h[a, i])
                _clip(h[a], signs[a])
        for i in range(N):
            total = 0.0
            for a in range(y):
                total += h[a, i]
            center[i] = total / y
