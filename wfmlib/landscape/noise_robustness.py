"""Robustness: how many patterns stay right when the patterns, or the weights, are disturbed."""

from __future__ import annotations

import copy
from typing import Annotated, Literal

import numpy as np
import xarray
from annotated_types import Ge, Interval
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.landscape import _configuration
from wfmlib.landscape._configuration import Configuration
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Shares
from wfmlib.numerics.types import Seed

ENTRIES = (
    4_000_000  # of disturbed patterns at a time: some 40 MB with what a network makes of them
)


@arguments.checked
def noise_robustness(
    solution: Configuration,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    noise: Shares = (0.0, 0.1, 0.2, 0.3, 0.4),
    perturbations: Annotated[int, Ge(2)] = 50,
    kind: Literal["flips", "pixels"] = "flips",
    bias: Annotated[ArrayLike, Interval(ge=-1.0, le=1.0)] | None = None,
    rng: Seed = None,
) -> xarray.Dataset:
    """Measure the accuracy on patterns of which a share of the entries is disturbed.

    Parameters
    ----------
    solution : Solution or network
        With one output unit; a network is anything with ``output(xi)`` that answers each pattern
        with -1, +1 or 0.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    noise : float or array_like, optional
        Shares eta of the entries, from 0 to 1, a number or one row of them. Exactly
        ``round(eta N)`` entries (halves to even) are chosen at random, for each pattern and
        perturbation anew.
    perturbations : int, optional
        Per pattern and share, at least 2.
    kind : {"flips", "pixels"}, optional
        "flips": the chosen entries change sign [eq-noise]. "pixels": each is drawn anew, with
        the mean that this entry has over the patterns [eq-pixel-noise]; it may stay as it is.
    bias : array_like, optional
        For "pixels": the means, shape (N,), from -1 to 1, if not those of `xi`.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from; a generator is advanced, None is fresh entropy.

    Returns
    -------
    xarray.Dataset
        Over `noise`, in the order given: `accuracy`, the share of answers that are the label (a
        tie is none); `error`, its standard error with respect to the perturbations, for these
        patterns; `disturbed`, ``round(eta N) / N``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: P2, Fig. 3 (flips); P1, App. F (pixels).

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> noise_robustness(network, xi, sigma, noise=[0.1], perturbations=3, rng=1).sizes["noise"]
    1
    """
    xi, sigma = arguments.patterns(xi, sigma)
    net = _configuration.network(solution)
    layers = getattr(net, "w", None)
    if isinstance(layers, (list, tuple)) and len(layers[-1]) > 1:  # its answers are class numbers
        raise ValueError(f"solution must have one output unit, got {len(layers[-1])}")
    noise = _row("noise", noise)
    rng = arguments.generator(rng)
    P, N = xi.shape
    if kind == "flips":
        if bias is not None:
            raise ValueError("bias is for kind='pixels' only")
        chances = np.empty(0)
    else:
        chances = 0.5 * (1.0 + _bias(bias, xi))
    counts = np.rint(noise * N).astype(np.int64)
    right = np.array([_right(net, xi, sigma, n, chances, perturbations, rng) for n in counts])
    share = right / perturbations
    spread = np.sqrt(np.sum(share * (1.0 - share), axis=1) / (perturbations - 1)) / P
    return xarray.Dataset(
        {
            "accuracy": ("noise", share.mean(axis=1), {"long_name": "share of right answers"}),
            "error": ("noise", spread, {"long_name": "standard error of the accuracy"}),
            "disturbed": ("noise", counts / N, {"long_name": "share of entries disturbed"}),
        },
        coords={"noise": ("noise", noise, {"long_name": "noise"})},
        attrs={"kind": kind, "perturbations": perturbations},
    )


@arguments.checked
def error_profile(
    solution: Configuration,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    distances: Shares = (0.0, 0.05, 0.1, 0.2, 0.3),
    samples: Annotated[int, Ge(2)] = 20,
    rng: Seed = None,
) -> xarray.Dataset:
    """Measure the training error of weights at a distance from given ones  [eq-error-profile].

    Parameters
    ----------
    solution : Solution or network
        A network holds its weights as `w` (an array, or a list of them, layer by layer; the last
        axis of each belongs to one unit) and has ``errors(xi, sigma)``. Where it has
        ``prepared(xi)``, too, as `networks.BinaryMLP`, the patterns that ``errors`` gets are what
        this made of them, once.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), as ``errors`` takes them: entries -1 and +1, or the integers that a
        network with several output units tells apart.
    distances : float or array_like, optional
        ``(1 - overlap) / 2``, a number from 0 to 1 or one row of them. Binary weights: exactly
        ``round(d M)`` weights (halves to even) of each unit are flipped, M their number in the
        unit. Real weights: a random direction for each unit, each keeping its norm.
    samples : int, optional
        Weights drawn at each distance, at least 2.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        As for `noise_robustness`.

    Returns
    -------
    xarray.Dataset
        Over `distance`, in the order given: `error_rate`, the mean share of patterns that are
        wrong; `error`, its standard error with respect to the samples; `realised`, the mean
        distance over all weights, each unit counted with the number of its weights.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: P3, SM IV.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> error_profile(network, xi, sigma, distances=[0.1], samples=3, rng=1).sizes["distance"]
    1
    """
    xi, sigma = arguments.signs("xi", xi, 2), arguments.array("sigma", sigma)
    if sigma.shape != xi.shape[:1]:
        raise ValueError(
            f"sigma must have one label per pattern: xi has shape {xi.shape}, "
            f"sigma has shape {sigma.shape}"
        )
    net = copy.copy(_configuration.network(solution))
    if not hasattr(net, "w") or not hasattr(net, "errors"):
        raise TypeError(f"solution must have weights w and errors(xi, sigma), got {net!r}")
    layers = net.w if isinstance(net.w, (list, tuple)) else None
    start = [np.asarray(w) for w in (layers or [net.w])]
    binary = all(np.all(np.abs(w) == 1) for w in start)
    if not binary and any(w.shape[-1] < 2 for w in start):
        raise ValueError("solution must have two or more weights in a unit to move on a sphere")
    distances = _row("distances", distances)
    rng = arguments.generator(rng)
    prepared = net.prepared(xi) if hasattr(net, "prepared") else xi
    wrong = np.empty((len(distances), samples))
    for i, distance in enumerate(distances):
        for j in range(samples):
            moved = [_moved(w, distance, binary, rng) for w in start]
            net.w = moved[0] if layers is None else type(layers)(moved)
            wrong[i, j] = net.errors(prepared, sigma)
    rate = wrong / len(xi)
    realised = distances
    if binary:
        flipped = sum(w.size * np.rint(distances * w.shape[-1]) / w.shape[-1] for w in start)
        realised = flipped / sum(w.size for w in start)
    spread = rate.std(axis=1, ddof=1) / np.sqrt(samples)
    return xarray.Dataset(
        {
            "error_rate": ("distance", rate.mean(axis=1), {"long_name": "training error"}),
            "error": ("distance", spread, {"long_name": "standard error of the training error"}),
            "realised": ("distance", realised, {"long_name": "mean distance of the weights"}),
        },
        coords={"distance": ("distance", distances, {"long_name": "distance"})},
        attrs={"weights": "binary" if binary else "real", "samples": samples},
    )


def _row(name, value):
    """Return numbers as an array with one axis."""
    row = np.atleast_1d(value)
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f"{name} must be numbers in one row, at least one, got {value!r}")
    return row


def _bias(bias, xi):
    """Return the mean of each entry."""
    if bias is None:
        return xi.mean(axis=0)
    if np.shape(bias) != xi.shape[1:]:
        raise ValueError(
            f"bias must be one number per entry of a pattern: xi has shape {xi.shape}, "
            f"got shape {np.shape(bias)}"
        )
    return bias


def _right(net, xi, sigma, count, chances, perturbations, rng):
    """Return how often each pattern is answered with its label, shape (P,)."""
    P, N = xi.shape
    rows = max(1, ENTRIES // N)  # patterns at a time, counted through all perturbations
    order = np.arange(N)
    right = np.zeros(P, dtype=np.int64)
    for first in range(0, P * perturbations, rows):
        index = np.arange(first, min(first + rows, P * perturbations)) % P
        disturbed = xi[index]
        _disturb(disturbed, count, chances, order, rng)
        good = np.asarray(net.output(disturbed)) == sigma[index]
        right += np.bincount(index[good], minlength=P)
    return right


def _moved(w, distance, binary, rng):
    """Return weights at a distance from those given, in each unit (last axis)."""
    units = w.reshape(-1, w.shape[-1])
    if binary:
        moved = units.astype(np.int8)
        count = int(np.rint(distance * units.shape[1]))
        _disturb(moved, count, np.empty(0), np.arange(units.shape[1]), rng)
        return moved.reshape(w.shape)
    norms = np.linalg.norm(units, axis=1, keepdims=True)
    along = units / norms
    away = rng.standard_normal(units.shape)
    away -= np.sum(away * along, axis=1, keepdims=True) * along
    reach = 2.0 * np.sqrt(distance * (1.0 - distance))
    away *= reach / np.linalg.norm(away, axis=1, keepdims=True)
    return (norms * ((1.0 - 2.0 * distance) * along + away)).reshape(w.shape)


# ------------------------------------------------------------------------------------------------
# Kernel. In NumPy, for each row: chosen = rng.permutation(N)[:count];
# row[chosen] *= -1, or, where chances are given, +1 with probability chances[chosen], else -1.
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _disturb(rows, count, chances, order, rng):
    """Disturb `count` entries of each row, in place; `order` is a permutation, and stays one."""
    N = rows.shape[1]
    for r in range(rows.shape[0]):
        for j in range(count):  # the first steps of Fisher and Yates, from any permutation on
            place = j + int(rng.random() * (N - j))
            i = order[place]
            order[place] = order[j]
            order[j] = i
            if len(chances) == 0:
                rows[r, i] = -rows[r, i]
            else:
                rows[r, i] = 1 if rng.random() < chances[i] else -1
