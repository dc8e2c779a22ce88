"""Mini-batches of patterns: what algorithms share that train real weights on them.

While they learn, each hidden unit's weights have norm 1, and its preactivation is ``w_k . xi_k``,
not divided by a root of their number (P1, App. E); what is returned lies on the device's sphere.
Patterns come multiplied by their labels, *aligned*: a unit is right about a pattern where its
preactivation is positive, a tie is an error.

Weights and steps lie on the grid of `wfmlib.numerics.portable`. A preactivation is exact, in
whatever order it is summed, as long as the absolute weights of its unit sum to less than 512: at
norm 1 that is so for up to 262 144 weights. Where a step as large as a norm makes them more, sums
are rounded as any others, and may be so in another way by another processor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Interval

from wfmlib.learning._devices import checked, odd, rows
from wfmlib.learning.messages.channel import exact, fast
from wfmlib.models.devices import Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments, portable
from wfmlib.numerics.portable import on_grid
from wfmlib.numerics.solvers import NotConverged, Report

GRID = portable.scale_of(portable.WEIGHTS)
SMALLEST_STEP = portable.step(portable.WEIGHTS)  # of eta: less is nothing on the grid
LARGEST_STEP = 1e6  # single precision holds the sums, and less has long forgotten w
Step: TypeAlias = Annotated[float, Interval(ge=SMALLEST_STEP, le=LARGEST_STEP)]


@dataclass(frozen=True)
class Instance:
    """Patterns and labels to be learned, checked, and how they are cut into mini-batches.

    Attributes
    ----------
    device : Device
        What learns them.
    aligned : numpy.ndarray
        Patterns times labels, int8, shape (P, N).
    shape : tuple of int
        (K, M): the number of units, and of the weights of one.
    starts : numpy.ndarray
        The first column that each unit sees, shape (K,).
    edges : numpy.ndarray
        Mini-batch b of an order of the patterns is ``order[edges[b]:edges[b + 1]]``.
    """

    device: Device
    aligned: np.ndarray
    shape: tuple[int, int]
    starts: np.ndarray
    edges: np.ndarray

    @property
    def batch(self):
        """Patterns in the largest mini-batch."""
        return int(self.edges[1])

    def device_weights(self, weights):
        """Return weights (..., K, M) of norm 1 as the device takes them: ``|w_k|^2 = M``."""
        shape = weights.shape[:-2] + self.device.shape(self.aligned.shape[1])
        return (math.sqrt(self.shape[1]) * weights).reshape(shape)

    def errors(self, weights):
        """Count the wrong answers of weights as the device takes them."""
        right = np.ones(len(self.aligned), dtype=np.int8)  # labels are in the patterns
        return self.device.network(weights).errors(self.aligned, right)


def prepare(device, xi, sigma, batch):
    """Return the `Instance` of arguments that are checked here."""
    odd(checked(device, (Spherical,)))
    xi, sigma = arguments.patterns(xi, sigma)
    P, N = xi.shape
    units, width = rows(device, N)
    batch = min(batch, P)
    return Instance(
        device=device,
        aligned=xi * sigma[:, None],
        shape=(units, width),
        starts=np.arange(units) * (width if device.tree else 0),
        edges=np.append(np.arange(0, P, batch), P),
    )


def uniform_weights(rng, shape):
    """Draw weights uniformly from [-1, 1), then give each unit norm 1."""
    w = rng.uniform(-1.0, 1.0, shape)
    normalise(w)
    return w


def first_weights(start, instance, rng):
    """Return a new array (K, M) of norm 1 in each unit: what is given, checked, or random."""
    if start is None:
        return uniform_weights(rng, instance.shape)
    w = arguments.reals("start", start)
    shape = instance.device.shape(instance.aligned.shape[1])
    if w.shape != shape or not np.all(np.isfinite(w)):
        raise ValueError(f"start must hold finite numbers of shape {shape}, got shape {w.shape}")
    w = w.reshape(instance.shape)
    largest = np.max(np.abs(w), axis=1, keepdims=True)
    if not np.all(largest):
        raise ValueError(f"start must not be zero throughout in unit {np.argmin(largest)}")
    # Squares neither overflow nor vanish, and a power of two leaves weights of norm 1 as they are.
    w = np.ldexp(w, -np.frexp(largest)[1])
    normalise(w)
    return w


def check_no_zeros(weights, epochs):
    """Raise `NotConverged` where a unit has lost all its weights, as one weight alone can."""
    zeros = np.flatnonzero(~np.any(weights, axis=-1))
    if len(zeros):
        message = f"the weights of unit {zeros[0]} have cancelled to zero"
        raise NotConverged(Report(False, math.inf, epochs, message), weights)


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@fast
def dot(w, x):
    """Return ``w . x`` for a pattern, or part of one, in int8."""
    total = 0.0
    for i in range(len(w)):
        total += w[i] * x[i]
    return total


@fast
def add(w, x, factor):
    """Add ``factor x`` to w."""
    for i in range(len(w)):
        w[i] += factor * x[i]


@exact
def normalise(w):
    """Give each unit of w, shape (K, M), norm 1, on the grid; a unit of zeros stays as it is."""
    for k in range(len(w)):
        square = portable.square(w[k])
        if square > 0.0:
            factor = 1.0 / math.sqrt(square)
            for i in range(w.shape[1]):
                w[k, i] = on_grid(w[k, i] * factor, GRID)
