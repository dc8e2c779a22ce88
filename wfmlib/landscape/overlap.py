"""Overlap of two networks, once their units are matched in order and sign."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from wfmlib.landscape import _configuration
from wfmlib.landscape._configuration import Configuration
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array


class Matching(NamedTuple):
    """How the units of one network fit those of another.

    Attributes
    ----------
    permutation : numpy.ndarray
        Shape (K,), int64: unit k of the first network is unit ``permutation[k]`` of the second.
    signs : numpy.ndarray
        Shape (K,), int64: -1 where that unit fits with its sign changed.
    """

    permutation: np.ndarray
    signs: np.ndarray


@arguments.checked
def match_units(
    w1: Configuration | ArrayLike, w2: Configuration | ArrayLike, *, signs: bool = True
) -> Matching:
    """Find the order, and the signs, of the units of `w2` in which they overlap most with `w1`.

    The matched weights are ``signs[:, None] * w2[permutation]``. They make the same network only
    where the device has the symmetry: units may be exchanged in a fully connected layer, not in
    a tree. The sign of a unit is free if its activation is odd and the next layer's weights are
    changed with it, as in `match_layers`; in a `Committee`, which has no such weights, it is
    not: use ``signs=False``.

    Parameters
    ----------
    w1, w2 : array_like, Solution or network
        Weights, shape (K, N), no unit zero throughout.
    signs : bool, optional
        Whether a unit may change its sign.

    Returns
    -------
    Matching
        `permutation` and `signs`, which maximise the mean over units of the cosine between
        matched weights [eq-matching]: an assignment problem, solved exactly.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or shape, or has a unit that is zero; the message
        names it.

    Source: P3, SM IV.

    Examples
    --------
    >>> a = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> match_units(a, a[::-1]).permutation.tolist()
    [1, 0]
    """
    first = _scaled("w1", _configuration.weights(w1))
    second = _scaled("w2", _configuration.weights(w2))
    _check_shapes([first], [second])
    # Products of signs are exact: cosines that are equal stay so, on every processor.
    norms = np.linalg.norm(first, axis=1)[:, None] * np.linalg.norm(second, axis=1)
    cosines = first @ second.T / norms
    free = signs
    gain = np.abs(cosines) if free else cosines
    rows, permutation = linear_sum_assignment(gain, maximize=True)
    chosen = np.ones(len(rows), dtype=np.int64)
    if free:
        chosen[cosines[rows, permutation] < 0.0] = -1
    return Matching(permutation.astype(np.int64), chosen)


@arguments.checked
def match_layers(
    w1: Configuration | Sequence[ArrayLike],
    w2: Configuration | Sequence[ArrayLike],
    *,
    signs: bool = True,
) -> list[Array]:
    """Return the layers of `w2` with hidden units named, and signed, as in `w1`.

    From the first layer on: the units of a hidden layer are matched by `match_units`, and the
    columns of the next layer follow. The units of the last layer are the answers; they keep
    their places and signs. The function that a network with odd activations and no biases
    computes does not change; where activations are not odd, use ``signs=False``.

    Parameters
    ----------
    w1, w2 : sequence of array_like, Solution or network
        Weights of each layer, shape (units, units of the layer before); the last may be one unit
        of shape (units of the layer before,).
    signs : bool, optional
        Whether hidden units may change their signs.

    Returns
    -------
    list of numpy.ndarray
        The layers of `w2`, of the shapes and types given.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or shape; the message names it.

    Examples
    --------
    >>> a = [np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([1.0, 1.0])]
    >>> b = [a[0][::-1], a[1]]  # two hidden units, exchanged
    >>> bool(np.all(match_layers(a, b)[0] == a[0]))
    True
    """
    first = _layers("w1", _configuration.weights(w1))
    second = _layers("w2", _configuration.weights(w2))
    _check_shapes(first, second)
    matched = [np.array(w) for w in second]
    for layer in range(len(matched) - 1):
        order, turned = match_units(first[layer], matched[layer], signs=signs)
        matched[layer] = matched[layer][order]
        matched[layer][turned < 0] *= -1
        matched[layer + 1] = matched[layer + 1][..., order]
        matched[layer + 1][..., turned < 0] *= -1
    return matched


@arguments.checked
def overlap(
    w1: Configuration | Sequence[ArrayLike],
    w2: Configuration | Sequence[ArrayLike],
    *,
    match: bool = False,
    signs: bool = True,
) -> float:
    """Return the overlap of two networks, between -1 and 1.

    Parameters
    ----------
    w1, w2 : array_like, sequence of array_like, Solution or network
        Weights, shape (N,) or (K, N) or (K, N/K); or a list of layers, as for `match_layers`.
    match : bool, optional
        Match the units first: those of the one matrix, or those of the hidden layers of a list.
    signs : bool, optional
        Whether matching may change their signs.

    Returns
    -------
    float
        Mean over units of the cosine between their weights, each unit counted with the number
        of its weights: ``w1 . w2 / N`` over all N weights if they are binary.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or shape, or has a unit that is zero; the message
        names it.

    Examples
    --------
    >>> overlap([1, 1, -1, 1], [1, 1, 1, 1])
    0.5
    """
    w1, w2 = _configuration.weights(w1), _configuration.weights(w2)
    if _is_layers(w1) or _is_layers(w2):
        first, second = _layers("w1", w1), _layers("w2", w2)
        second = match_layers(first, second, signs=signs) if match else second
    else:
        first, second = [arguments.reals("w1", w1)], [arguments.reals("w2", w2)]
        if match and first[0].ndim == 2:
            order, turned = match_units(first[0], second[0], signs=signs)
            second = [turned[:, None] * second[0][order]]
    _check_shapes(first, second)
    total = 0.0
    for a, b in zip(first, second, strict=True):
        cosines = np.sum(_directions("w1", a) * _directions("w2", b), axis=1)
        total += a.shape[-1] * np.sum(cosines)
    return float(total / sum(a.size for a in first))


def _directions(name, w):
    """Return units of norm one, shape (K, N)."""
    w = _scaled(name, w)
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def _scaled(name, w):
    """Return units whose largest weight is one in modulus, shape (K, N)."""
    w = arguments.reals(name, w)
    if w.ndim not in (1, 2) or w.size == 0 or not np.all(np.isfinite(w)):
        raise ValueError(f"{name} must be finite, with 1 axis or 2, got shape {w.shape}")
    w = np.atleast_2d(w)
    size = np.abs(w).max(axis=1, keepdims=True)
    if not np.all(size):
        raise ValueError(f"{name} must not be zero throughout in any unit")
    return w / size


def _is_layers(w):
    """Return whether these are layers: a list of matrices, not a matrix as a list of lists."""
    return isinstance(w, (list, tuple)) and len(w) > 0 and np.ndim(w[0]) == 2


def _layers(name, w):
    """Return checked layers as a list of arrays of the types given."""
    if not _is_layers(w):
        raise TypeError(f"{name} must be a list of weight matrices, layer by layer")
    layers = [arguments.array(name, layer) for layer in w]
    for layer in layers:
        _directions(name, layer)
    for below, above in pairwise(layers):
        if below.ndim != 2 or above.shape[-1] != len(below):
            raise ValueError(
                f"{name} must have as many columns in each layer as there are units below, "
                f"got shapes {[layer.shape for layer in layers]}"
            )
    return layers


def _check_shapes(first, second):
    shapes = [[w.shape for w in network] for network in (first, second)]
    if shapes[0] != shapes[1]:
        shapes_text = " and ".join(
            ", ".join(str(shape) for shape in network) for network in shapes
        )
        raise ValueError(f"w1 and w2 must have the same shape, got {shapes_text}")
