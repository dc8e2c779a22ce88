"""Geodesics between solutions on the sphere, and the errors along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import xarray
from annotated_types import Ge
from numpy.typing import ArrayLike

from wfmlib.landscape import _configuration
from wfmlib.landscape._configuration import Configuration
from wfmlib.landscape.overlap import match_units
from wfmlib.models.constraints import Margin
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import NotNegative, Share
from wfmlib.numerics.types import Array

Positions = Annotated[int, Ge(3)]
Shares = Annotated[ArrayLike, *NotNegative.__metadata__]


@arguments.checked
def geodesic(a: Configuration, b: Configuration, position: Share) -> Array:
    """Return the weights at a position on the geodesic between two networks  [eq-geodesic].

    Parameters
    ----------
    a, b : Solution or network
        Of the same shape: perceptrons, or committees of one kind.
    position : float
        g from 0 to 1: ``(1 - g) a + g b``, each unit normalised before and after to the norm
        ``sqrt(M)``, M its number of weights. Equal steps of g are not equal steps of the angle.

    Returns
    -------
    numpy.ndarray
        float64, of the shape of the weights.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, shapes differ, a unit is zero, or units are opposite
        and meet at zero; the message names it.

    Examples
    --------
    >>> from wfmlib import Perceptron, Spherical
    >>> a, b = (Perceptron(Spherical()).network(w) for w in ([1.0, 0.0], [0.0, 1.0]))
    >>> geodesic(a, b, 0.5).round(6).tolist()
    [1.0, 1.0]
    """
    return _blended([_sphere("a", a), _sphere("b", b)], [1.0 - position, position], "a and b")


@arguments.checked
def blend(solutions: Sequence[Configuration], shares: Shares) -> Array:
    """Return the weights at a point of the simplex between several networks, on the sphere.

    Parameters
    ----------
    solutions : sequence of Solution or network
        At least one, of the same shape.
    shares : array_like
        One for each, not negative, not all zero: ``sum_r shares_r w_r``, each unit normalised
        before and after.

    Returns
    -------
    numpy.ndarray
        float64, of the shape of the weights.

    Raises
    ------
    TypeError, ValueError
        As `geodesic`.

    Examples
    --------
    >>> from wfmlib import Perceptron, Spherical
    >>> a, b = (Perceptron(Spherical()).network(w) for w in ([1.0, 0.0], [0.0, 1.0]))
    >>> blend([a, b], [0.5, 0.5]).round(6).tolist()
    [1.0, 1.0]
    """
    w = [_sphere(f"solutions[{r}]", solution) for r, solution in enumerate(_several(solutions))]
    shares = np.asarray(shares)
    if shares.shape != (len(w),):
        raise ValueError(f"shares must be one for each of {len(w)} solutions, got {shares.shape}")
    if not np.any(shares):
        raise ValueError(f"shares must not be all zero, got {shares}")
    return _blended(w, shares, "solutions")


@arguments.checked
def barrier(
    a: Configuration,
    b: Configuration,
    xi: ArrayLike,
    sigma: ArrayLike,
    constraint: Margin = Margin(0.0),
    *,
    positions: Positions = 51,
    match: bool = False,
) -> xarray.Dataset:
    """Measure the training error along the geodesic between two networks.

    Parameters
    ----------
    a, b : Solution or network
        As `geodesic`.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    constraint : Margin, optional
        A pattern is wrong where its stability is not above the margin.
    positions : int, optional
        At least 3, from a to b at equal steps.
    match : bool, optional
        Match the units of `b` to those of `a` first, by `match_units` without signs: for fully
        connected committees, whose units may be exchanged.

    Returns
    -------
    xarray.Dataset
        Over `position`: `error_rate`, the share of patterns that are wrong, and `overlap` with a.
        Attributes: `barrier`, the largest error rate less the larger of both ends.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: B. L. Annesi and others, Phys. Rev. Lett. 131, 227301 (2023).

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> barrier(network, network, xi, sigma, positions=3).sizes["position"]
    3
    """
    xi, sigma = arguments.patterns(xi, sigma)
    arguments.member("constraint", constraint, (Margin,))
    first, second = _configuration.network(a, "a"), _configuration.network(b, "b")
    w1, w2 = _sphere("a", first), _sphere("b", second)
    if w1.shape != w2.shape or type(first) is not type(second):
        raise ValueError(
            f"a and b must be networks of one kind and shape, got {first!r} and {second!r}"
        )
    if match:
        if first.tree:
            raise ValueError("match must be False: units of a tree cannot be exchanged")
        w2 = w2[match_units(w1, w2, signs=False).permutation]
    kind = type(first)
    place = np.linspace(0.0, 1.0, positions)
    rate, overlap = np.empty(positions), np.empty(positions)
    start, end = kind(w1), kind(w2)
    for k, g in enumerate(place):
        w = blend([start, end], [1.0 - g, g])
        stability = kind(w).stabilities(xi, sigma)
        rate[k] = np.mean(stability <= constraint.kappa)
        overlap[k] = np.mean(w * w1)
    return xarray.Dataset(
        {
            "error_rate": ("position", rate, {"long_name": "training error"}),
            "overlap": ("position", overlap, {"long_name": "overlap with the first"}),
        },
        coords={"position": ("position", place, {"long_name": "position"})},
        attrs={"barrier": float(np.max(rate) - max(rate[0], rate[-1]))},
    )


def _blended(w, shares, names):
    """Return the blend of weights whose units are of norm sqrt(M)."""
    if any(layer.shape != w[0].shape for layer in w):
        raise ValueError(f"{names} must have one shape, got {[layer.shape for layer in w]}")
    mixed = np.tensordot(shares / np.sum(shares), np.array(w), axes=1)
    norms = np.sqrt(np.mean(mixed**2, axis=-1, keepdims=True))
    if np.any(norms < 1e-12):
        raise ValueError(f"{names} must not have opposite units that meet at zero")
    return mixed / norms


def _several(solutions):
    if not isinstance(solutions, (list, tuple)) or not solutions:
        raise TypeError("solutions must be a list of Solutions or networks, at least one")
    return solutions


def _sphere(name, configuration):
    """Return the weights of a network, each unit of norm sqrt(M)."""
    w, _ = _configuration.sign_units(configuration, name)
    w = np.asarray(w, dtype=float)
    size = np.sqrt(np.mean(w**2, axis=-1, keepdims=True))
    return w / size
