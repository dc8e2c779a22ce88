"""Annealing of the potential: a Markov chain that is squeezed into the solutions.

A pattern of stability s weighs ``[tau ln(1 + e^{s / tau})]^b``: at every width tau > 0 all weights
are allowed, and as tau falls to 0 the weight becomes ``s^b`` above zero and nothing below
[eq-soft-potential]. Metropolis moves follow it down: single flips of binary weights, rotations of
two weights on the sphere. What the chain gains and loses whenever the width changes adds up to a
logarithm of a weight, with which averages over runs are exact averages, however fast the width
falls: annealed importance sampling  [eq-annealed-weight].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Interval
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.learning import _devices
from wfmlib.learning.solution import Solution, advised
from wfmlib.models.constraints import LogPotential
from wfmlib.models.devices import Perceptron
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Binary, Spherical
from wfmlib.networks import PerceptronNetwork
from wfmlib.numerics import arguments, portable
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Seed

FURTHEST = 0.5  # share of accepted rotations that their angles are adapted to


@dataclass(frozen=True, eq=False, repr=False)
class PotentialAnnealing(Solution):
    """Where the annealing of a potential ended; a `Solution`.

    `converged` says whether the weights are a solution. `epochs` counts the sweeps, in each of
    which every weight is tried once; `history` holds, for each width, "width", "potential" (the
    mean logarithm of a pattern's weight, at the end of the width) and "accepted" (the share of
    moves).

    Attributes
    ----------
    log_weight : float
        Logarithm of the weight of this run in averages over runs, ``-inf`` without a solution.
        The mean of ``exp(log_weight)`` over runs is the partition function over the number of
        weight vectors, ``sum_w prod_a s_a^b / 2^N``  [eq-annealed-weight].
    """

    log_weight: float


@advised("more sweeps, or a smaller load")
@arguments.checked
def potential_annealing(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    constraint: LogPotential = LogPotential(1.0),
    *,
    sweeps: Count = 1000,
    widths: Annotated[int, Ge(2)] = 50,
    first: Annotated[float, Interval(ge=0.001, le=100.0)] = 3.0,
    last: Annotated[float, Interval(ge=1e-06, le=10.0)] = 0.01,
    rng: Seed = None,
    progress: bool | None = None,
) -> PotentialAnnealing:
    """Draw a solution of a perceptron by a Markov chain in a potential that becomes steep.

    Parameters
    ----------
    device : Perceptron
        With binary or spherical weights.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    constraint : LogPotential, optional
        The measure to end in.
    sweeps : int, optional
        In all, at least 1; each width has its share, and the potential itself the last one.
    widths : int, optional
        Number of widths, at least 2, from `first` to `last` in a geometric series; after them
        comes the width 0.
    first, last : float, optional
        From 1e-3 to 100, and from 1e-6 to 10, in units of the stability; `last` below `first`.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from; None is fresh entropy.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    PotentialAnnealing
        Binary weights are int8, spherical ones have norm sqrt(N).

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    Time: N P additions for a sweep of binary weights, a hundred times as long for spherical ones.

    Source: after D. Straziota, E. Demyanenko, C. Baldassi, C. Lucibello, arXiv:2502.16292, with a
    shape of the soft potential of our own; R. M. Neal, Statistics and Computing 11, 125 (2001).

    Examples
    --------
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(P=100, N=501, rng=1)
    >>> potential_annealing(Perceptron(), xi, sigma, sweeps=200, rng=2).errors
    0
    """
    _devices.checked(device, (Binary, Spherical), (Perceptron,))
    arguments.member("constraint", constraint, (LogPotential,))
    xi, sigma = arguments.patterns(xi, sigma)
    if not last < first:
        raise ValueError(f"first must be above last, got first={first:g} and last={last:g}")
    rng = arguments.generator(rng)
    series = np.append(np.geomspace(first, last, widths), 0.0)
    shares = np.diff(np.round(np.linspace(0, sweeps, len(series) + 1)).astype(int))
    chain = (_Signs if device.weights.discrete else _Sphere)(xi, sigma, constraint, rng)

    log_weight, before = 0.0, 0.0
    history = np.full((3, len(series)), np.nan)
    with progress_bar(progress, total=sweeps, unit="sweep") as bar:
        for k, width in enumerate(series):
            value = chain.potential(width)
            log_weight += value - before
            if value == -math.inf:  # no solution: the last width has nothing to go on with
                before = -math.inf
                break
            accepted = chain.move(width, int(shares[k]))
            before = chain.potential(width)
            history[:, k] = width, before / len(xi), accepted
            bar.update(int(shares[k]))
    weights = chain.weights()
    stability = PerceptronNetwork(weights).stabilities(xi, sigma)
    errors = int(np.count_nonzero(stability <= constraint.kappa))
    return PotentialAnnealing(
        device=device,
        weights=weights,
        errors=errors,
        converged=errors == 0,
        epochs=sweeps,
        history=dict(zip(("width", "potential", "accepted"), history, strict=True)),
        log_weight=float(log_weight) if errors == 0 else -math.inf,
    )


class _Signs:
    """Binary weights: stabilities are integers over sqrt(N), whose weights stand in a table."""

    def __init__(self, xi, sigma, constraint, rng):
        self.columns = np.ascontiguousarray((xi * sigma[:, None]).T)
        self.constraint, self.rng = constraint, rng
        N = xi.shape[1]
        self.w = rng.choice(np.array([-1, 1], dtype=np.int8), size=N)
        self.sums = self.columns.T.astype(np.int64) @ self.w.astype(np.int64)
        self.stability = np.arange(-N, N + 1) / math.sqrt(N) - constraint.kappa

    def _table(self, width):
        return _log_weights(self.stability, width, self.constraint.exponent)

    def potential(self, width):
        """Return the logarithm of the weight of all patterns."""
        return float(np.sum(self._table(width)[self.sums + len(self.w)]))

    def move(self, width, sweeps):
        """Try to flip each weight `sweeps` times; return the share of flips."""
        table = self._table(width)
        done = _flips(self.columns, self.w, self.sums, table, sweeps, self.rng)
        return done / max(sweeps * len(self.w), 1)

    def weights(self):
        """Return the weights."""
        return self.w


class _Sphere:
    """Weights on the sphere: two of them are rotated by a random angle, at every try."""

    def __init__(self, xi, sigma, constraint, rng):
        self.columns = np.ascontiguousarray((xi * sigma[:, None]).T)
        self.constraint, self.rng = constraint, rng
        N = xi.shape[1]
        w = rng.standard_normal(N)
        self.w = w * math.sqrt(N / np.sum(w**2))
        self.angle = 1.0
        self._renew()

    def _renew(self):
        self.stability = self.columns.T @ self.w / math.sqrt(len(self.w))

    def potential(self, width):
        """Return the logarithm of the weight of all patterns."""
        away = self.stability - self.constraint.kappa
        return float(np.sum(_log_weights(away, width, self.constraint.exponent)))

    def move(self, width, sweeps):
        """Try N rotations `sweeps` times; return the share of those made, and adapt the angle."""
        total = 0
        for _ in range(sweeps):
            done = _rotations(
                self.columns,
                self.w,
                self.stability,
                self.constraint.kappa,
                width,
                self.constraint.exponent,
                self.angle,
                self.rng,
            )
            self._renew()  # rounding does not add up
            total += done
            if width > 0.0:  # at the end the chain keeps its law
                grown = self.angle * math.exp(done / len(self.w) - FURTHEST)
                self.angle = min(max(grown, 1e-6), math.pi)
        return total / max(sweeps * len(self.w), 1)

    def weights(self):
        """Return the weights, of norm sqrt(N)."""
        return self.w * math.sqrt(len(self.w) / np.sum(self.w**2))


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _log_weight(s, width, power):
    """Return ``b ln[width ln(1 + e^{s / width})]``; at width 0 ``b ln s`` above 0, else -inf."""
    if width == 0.0:
        return power * portable.log(s) if s > 0.0 else -np.inf
    x = s / width
    if x > 36.0:
        return power * portable.log(s)
    if x < -36.0:
        return power * (portable.log(width) + x)
    fall = portable.exp(-abs(x))
    return power * portable.log(width * (max(x, 0.0) + portable.log1p(fall)))


@njit(cache=True, nogil=True)
def _log_weights(s, width, power):
    """Return the same for an array."""
    out = np.empty(len(s))
    for i in range(len(s)):
        out[i] = _log_weight(s[i], width, power)
    return out


@njit(cache=True, nogil=True)
def _flips(columns, w, sums, table, sweeps, rng):
    """Try to flip weights drawn at random, N in a sweep, in place; return how many were."""
    N, P = columns.shape
    done = 0
    for _ in range(sweeps * N):
        i = int(rng.random() * N)
        column, twice = columns[i], 2 * w[i]
        change = 0.0
        for a in range(P):
            old = sums[a] + N
            change += table[old - twice * column[a]] - table[old]
        if change >= 0.0 or portable.log(max(rng.random(), 1e-300)) < change:
            for a in range(P):
                sums[a] -= twice * column[a]
            w[i] = -w[i]
            done += 1
    return done


@njit(cache=True, nogil=True)
def _rotations(columns, w, stability, kappa, width, power, angle, rng):
    """Try N rotations of two weights, in place; return how many were made."""
    N, P = columns.shape
    root = math.sqrt(N)
    moved, weighed, old = np.empty(P), np.empty(P), np.empty(P)
    for a in range(P):
        old[a] = _log_weight(stability[a] - kappa, width, power)
    done = 0
    for _ in range(N):
        i = int(rng.random() * N)
        j = int(rng.random() * (N - 1))
        if j >= i:
            j += 1
        turn = angle * (2.0 * rng.random() - 1.0)
        cos, sin = math.cos(turn), math.sin(turn)
        step_i = ((cos - 1.0) * w[i] - sin * w[j]) / root
        step_j = (sin * w[i] + (cos - 1.0) * w[j]) / root
        change = 0.0
        for a in range(P):
            moved[a] = stability[a] + step_i * columns[i, a] + step_j * columns[j, a]
            weighed[a] = _log_weight(moved[a] - kappa, width, power)
            if weighed[a] == -np.inf:
                change = -np.inf
                break
            change += weighed[a] - old[a]
        if change >= 0.0 or portable.log(max(rng.random(), 1e-300)) < change:
            stability[:] = moved
            old[:] = weighed
            w[i] += step_i * root
            w[j] += step_j * root
            done += 1
    return done
