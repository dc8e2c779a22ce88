"""Least action learning: the perceptron rule, for the one hidden unit that is easiest to correct.

A committee answers a pattern wrongly where a majority of its units is wrong. Least action learning
(Mitchison and Durbin 1989) corrects one of them, the one whose preactivation is closest to the
threshold, and leaves the others alone [eq-least-action]. One mini-batch ``rows`` of patterns times
labels, in plain NumPy, for a tree:

    parts = aligned[rows].reshape(-1, K, M)
    x = np.einsum("pki,ki->pk", parts, w)                     # before anything is changed
    wrong = (np.sign(x).sum(axis=1) <= 0) | np.any(x == 0, axis=1)
    chosen = np.argmax(np.where(x <= 0, x, -np.inf), axis=1)  # the largest that is not positive
    for p in np.flatnonzero(wrong):
        w[chosen[p]] += eta * parts[p, chosen[p]]
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    w = np.rint(w * 2**44) / 2**44                            # so that all sums x are exact

All choices are made at the weights that the mini-batch found, so that its patterns may come in any
order. A wrong pattern always has a wrong unit and changes exactly one, which several patterns may
choose: their corrections add up.

In time only the preactivations count. Sums in single precision, with a bound on their rounding
error, take half of it and settle nearly all patterns. Where a unit is too close to the threshold,
or two units are too close to each other, the pattern is summed again in double precision, which is
exact: no choice depends on the short cut, nor on the processor (see `wfmlib.numerics.portable`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.learning.descent.mini_batches import (
    GRID,
    Step,
    add,
    check_no_zeros,
    dot,
    first_weights,
    normalise,
    prepare,
)
from wfmlib.learning.messages.channel import exact, fast
from wfmlib.learning.solution import Solution, advised
from wfmlib.models.protocols import Device
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.portable import on_grid
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Seed


@dataclass(frozen=True, eq=False, repr=False)
class LeastAction(Solution):
    """What least action learning found.

    `converged` says whether the weights make no error. `history` holds one entry per epoch:
    `errors`, counted while patterns are presented, each before its own mini-batch has changed the
    weights, and `updates`, shape (epochs, K): how often each unit was corrected. A wrong pattern
    is one correction: the updates of an epoch sum to its errors.
    """


@advised("more max_epochs, a smaller eta, another rng, or fewer patterns")
@arguments.checked
def least_action(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    eta: Step = 5e-3,
    batch: Count = 100,
    max_epochs: Count = 10_000,
    start: ArrayLike | None = None,
    rng: Seed = None,
    progress: bool | None = None,
) -> LeastAction:
    """Correct, for each wrong pattern, the hidden unit that is closest to being right.

    Quick, and a good solver; but what it finds is narrow. `entropic_least_action` looks for
    solutions in wide flat regions.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or Committee
        With weights on the sphere and an odd number K of sign units; of a perceptron this is the
        perceptron rule [eq-perceptron-rule].
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    eta : float, optional
        Step of a correction, from 2^-44 to 1e6, against weights of norm 1. P1 takes 5e-3 for
        random patterns, N = 999 and K = 9, and 1e-4 for images.
    batch : int, optional
        Patterns in a mini-batch, at least 1 [eq-mini-batch]; the last one of an epoch holds what
        is left. 1 is the original rule, patterns one at a time.
    max_epochs : int, optional
        Where to stop without a solution, at least 1.
    start : array_like, optional
        Weights to start from, in the shape of those returned; each unit is normalised. By default
        drawn uniformly, then normalised.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first weights and the orders; fresh entropy where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    LeastAction
        After the first epoch without an error, which is one of `epochs`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If all weights of a unit cancel, as a single weight may.

    Notes
    -----
    P1, Sec. IV and App. E. Of units with equal preactivations the first is corrected. A unit whose
    preactivation is exactly 0 makes the answer an error, as in `networks`, and is the one that is
    corrected. Weights that a mini-batch has changed are normalised after it.

    Examples
    --------
    >>> from wfmlib import TreeCommittee, patterns
    >>> xi, sigma = patterns.random(P=50, N=99, rng=1)
    >>> least_action(TreeCommittee(3), xi, sigma, rng=1).errors
    0
    """
    instance = prepare(device, xi, sigma, batch)
    eta = on_grid(eta, GRID)
    rng = arguments.generator(rng)
    w = first_weights(start, instance, rng)
    space = workspace(instance)
    updates = []
    with progress_bar(progress, total=max_epochs, unit="epoch") as bar:
        while len(updates) < max_epochs:
            count = np.zeros(len(w), dtype=np.int64)
            order = rng.permutation(len(instance.aligned))
            _epoch(order, instance.edges, instance.aligned, instance.starts, eta, w, count, *space)
            updates.append(count)
            bar.update()
            if not np.any(count):
                break
            bar.set_postfix(errors=count.sum(), refresh=False)
    check_no_zeros(w, len(updates))
    weights = instance.device_weights(w)
    errors = instance.errors(weights)
    updates = np.array(updates)
    return LeastAction(
        device=device,
        weights=weights,
        errors=errors,
        converged=errors == 0,
        epochs=len(updates),
        history={"errors": updates.sum(axis=1), "updates": updates},
    )


def workspace(instance):
    """Return the arrays that `choose` and `present` work in: single, bounds, sums and chosen."""
    return (
        np.empty(instance.shape, dtype=np.float32),
        np.empty(instance.shape[0]),
        np.empty((2, instance.shape[0]), dtype=np.float32),
        np.empty(len(instance.aligned), dtype=np.int64),
    )


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------

_RIGHT, _OPEN = -1, -2  # instead of the unit that a pattern corrects: none; not yet decided
_ROUNDING = 1.01 * 2.0**-24  # of one operation in single precision, and a little for the squares


@fast
def _narrow(w, single):
    """Copy one unit to single precision; return a bound on the error of its sums.

    In whatever order M terms are summed, and whether or not they were rounded before, the error
    is at most M + 1 roundings, to first order, of the sum of their absolute values.
    """
    total = 0.0
    for i in range(len(w)):
        single[i] = np.float32(w[i])
        total += abs(w[i])
    return (len(w) + 1) * _ROUNDING * total


@fast
def _dots(w, x, y):
    """Return ``w . x`` and ``w . y`` in single precision."""
    first = second = np.float32(0.0)
    for i in range(len(w)):
        first += w[i] * np.float32(x[i])
        second += w[i] * np.float32(y[i])
    return first, second


@exact
def _settle(sums, bounds):
    """Return the unit to correct, or that none is, as far as rounding leaves no doubt."""
    unit, least, rest, votes = _RIGHT, -np.inf, -np.inf, 0
    for k in range(len(sums)):
        if abs(sums[k]) <= bounds[k]:
            return _OPEN
        if sums[k] > 0.0:
            votes += 1
        elif sums[k] > least:
            if unit >= 0:
                rest = max(rest, least + bounds[unit])
            unit, least = k, sums[k]
        else:
            rest = max(rest, sums[k] + bounds[k])
    if 2 * votes > len(sums):
        return _RIGHT
    return unit if least - bounds[unit] > rest else _OPEN


@exact
def _screen(rows, aligned, starts, single, bounds, sums, chosen):
    """Choose for the patterns of a mini-batch in single precision, two at a time."""
    K, M = single.shape
    for r in range(0, len(rows), 2):
        s = min(r + 1, len(rows) - 1)  # an odd one out is its own partner
        for k in range(K):
            columns = slice(starts[k], starts[k] + M)
            x, y = aligned[rows[r], columns], aligned[rows[s], columns]
            sums[0, k], sums[1, k] = _dots(single[k], x, y)
        chosen[r] = _settle(sums[0], bounds)
        chosen[s] = _settle(sums[1], bounds)


@exact
def _culprit(x, starts, w):
    """Return the unit to correct for one pattern, -1 if the answer is right."""
    K, M = w.shape
    unit, least, votes = -1, -np.inf, 0
    for k in range(K):
        field = dot(w[k], x[starts[k] : starts[k] + M])
        if field > 0.0:
            votes += 1
        elif field > least:
            unit, least = k, field
    return -1 if 2 * votes > K and least < 0.0 else unit


@exact
def choose(rows, aligned, starts, w, single, bounds, sums, chosen):
    """Find for each pattern of a mini-batch the unit to correct; return how many are wrong.

    Parameters
    ----------
    rows : ndarray
        The patterns of the mini-batch.
    aligned : ndarray, shape (P, N), int8
        Patterns times labels.
    starts : ndarray, shape (K,)
        The first column that each unit sees.
    w : ndarray, shape (K, M)
        The weights.
    single : ndarray, shape (K, M), float32
        Work space, for the weights in single precision.
    bounds : ndarray, shape (K,)
        Work space, for what that costs each unit's sums.
    sums : ndarray, shape (2, K), float32
        Work space, for the sums of two patterns.
    chosen : ndarray
        At least as long as `rows`; filled with units, and -1 for a pattern that is right.
    """
    for k in range(len(w)):
        bounds[k] = _narrow(w[k], single[k])
    _screen(rows, aligned, starts, single, bounds, sums, chosen)
    wrong = 0
    for r in range(len(rows)):
        if chosen[r] == _OPEN:
            chosen[r] = _culprit(aligned[rows[r]], starts, w)
        wrong += chosen[r] >= 0
    return wrong


@exact
def present(rows, aligned, starts, eta, w, updates, single, bounds, sums, chosen):
    """Learn one mini-batch; add to the updates of each unit, return how many were wrong."""
    wrong = choose(rows, aligned, starts, w, single, bounds, sums, chosen)
    if wrong:
        for r in range(len(rows)):
            k = chosen[r]
            if k >= 0:
                add(w[k], aligned[rows[r], starts[k] : starts[k] + w.shape[1]], eta)
                updates[k] += 1
    return wrong


@exact
def _epoch(order, edges, aligned, starts, eta, w, updates, single, bounds, sums, chosen):
    """Learn all mini-batches in turn, and normalise after each that changes anything."""
    for b in range(len(edges) - 1):
        rows = order[edges[b] : edges[b + 1]]
        if present(rows, aligned, starts, eta, w, updates, single, bounds, sums, chosen):
            normalise(w)
