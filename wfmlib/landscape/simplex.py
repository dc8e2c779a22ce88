"""Simplices of solutions: training errors between two networks, three and more.

A network of sign units with any number of layers is taken as layers of real weights: a perceptron
has one, a committee two, the second being ones. Between networks each unit is blended with those
in its place, on its sphere, as in `geodesics`. Hidden units have no order that networks share:
those of all networks are first named as in the first network, if asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
import xarray
from annotated_types import Interval
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from wfmlib.landscape import _configuration
from wfmlib.landscape._configuration import Configuration
from wfmlib.landscape.overlap import match_layers, match_units
from wfmlib.networks import BinaryMLP, CommitteeNetwork, PerceptronNetwork
from wfmlib.networks.binary_mlp import labelled
from wfmlib.numerics import arguments

ROUNDING = 1e-9  # over the number of weights: smaller sums of blended weights are zero
MOST = 100_000  # points

Steps = Annotated[int, Interval(ge=1, le=10000)]


@arguments.checked
def simplex(
    solutions: Sequence[Configuration],
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    steps: Steps = 20,
    match: Literal["none", "weights", "answers"] = "none",
) -> xarray.Dataset:
    """Measure the training error at points of the simplex between several networks.

    Parameters
    ----------
    solutions : sequence of Solution or network
        At least two of one kind and shape, the corners: perceptrons, fully connected committees
        of sign units, or deep networks of binary weights.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,): -1 and +1, or integers from 0 where there are several output units.
    steps : int, optional
        From 1 to 1e4: shares are multiples of ``1 / steps``, ``steps + 1`` points between two
        networks; at most 100000 points in all.
    match : {"none", "weights", "answers"}, optional
        How hidden units are named as in the first network: not at all; by their weights, as
        `match_units` and `match_layers` do; or by their answers to the patterns, layer by layer,
        such that the mean product of answers is largest. In deep networks a unit may change its
        sign, in committees not.

    Returns
    -------
    xarray.Dataset
        Over `point`: `error_rate`, the share of patterns that are answered wrongly, and over
        `corner` also `share`, what each network contributes [eq-geodesic]. Points are sorted, the
        first network first. Attributes: `barrier`, the largest error rate less the largest of the
        corners.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or shapes differ; the message names
        it.

    Notes
    -----
    Between binary weights the blended ones are real. A hidden unit whose sum is 0 is silent, as in
    `networks.BinaryMLP`, and so is one where opposite units meet; an undecided answer is an error.

    Source: S. K. Ainsworth, J. Hayase, S. Srinivasa, Git Re-Basin, ICLR 2023, for both ways to
    match units.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 9, rng=1)
    >>> network = Perceptron().network(np.ones(9))
    >>> sorted(simplex([network] * 2, xi, sigma, steps=2).sizes)
    ['corner', 'point']
    """
    if not isinstance(solutions, (list, tuple)) or len(solutions) < 2:
        raise TypeError("solutions must be a list of Solutions or networks, at least two")
    nets = [
        _configuration.network(solution, f"solutions[{r}]") for r, solution in enumerate(solutions)
    ]
    layers = [_layers(f"solutions[{r}]", net) for r, net in enumerate(nets)]
    shapes = [[w.shape for w in network] for network in layers]
    if any(type(net) is not type(nets[0]) for net in nets) or any(s != shapes[0] for s in shapes):
        raise ValueError(f"solutions must be networks of one kind and shape, got {nets!r}")
    xi, sigma = labelled(xi, sigma, len(layers[0][-1]))
    if xi.shape[1] != layers[0][0].shape[1]:
        raise ValueError(
            f"xi must have {layers[0][0].shape[1]} columns, one per input, got shape {xi.shape}"
        )
    if math.comb(steps + len(nets) - 1, steps) > MOST:
        raise ValueError(f"steps must be so few that there are at most {MOST} points, got {steps}")
    inputs = xi.astype(float)
    if match != "none":
        free = isinstance(nets[0], BinaryMLP)
        layers[1:] = [_matched(layers[0], second, inputs, match, free) for second in layers[1:]]
    shares = _lattice(len(nets), steps)
    rate = np.array(
        [np.mean(_answers(_mixed(layers, point), inputs) != sigma) for point in shares]
    )
    corners = rate[np.any(shares == 1.0, axis=1)]
    return xarray.Dataset(
        {
            "error_rate": ("point", rate, {"long_name": "training error"}),
            "share": (("point", "corner"), shares, {"long_name": "share of a network"}),
        },
        attrs={"barrier": float(np.max(rate) - np.max(corners))},
    )


def _layers(name, net):
    """Return a network as layers of real weights, shape (units, units of the layer before)."""
    if isinstance(net, BinaryMLP):
        return [w.astype(float) for w in net.w]
    if isinstance(net, PerceptronNetwork):
        return [np.array(net.w, dtype=float)[None]]
    if isinstance(net, CommitteeNetwork):
        return [np.array(net.w, dtype=float), np.ones((1, len(net.w)))]
    raise TypeError(
        f"{name} must be a perceptron, a fully connected committee of sign units or a BinaryMLP, "
        f"got {net!r}"
    )


def _lattice(corners, steps):
    """Return all shares that are multiples of ``1 / steps``, the first network first."""
    places = range(steps + corners - 1)
    bars = np.array(list(combinations(places, corners - 1)))[::-1]
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, steps + corners - 1)))
    return (np.diff(edges, axis=1) - 1) / steps


# ------------------------------------------------------------------------------------------------
# Names of hidden units
# ------------------------------------------------------------------------------------------------


def _matched(first, second, inputs, by, free):
    """Return the layers of `second` with hidden units named, and if free signed, as in `first`."""
    if by == "weights":
        if free:
            return match_layers(first, second)
        if len(first) == 1:
            return second
        return [second[0][match_units(first[0], second[0], signs=False).permutation], second[1]]
    second = list(second)
    answered = zip(_hidden(first, inputs), _hidden(second, inputs), strict=True)
    for layer, (a, b) in enumerate(answered):
        products = a.T @ b  # of signs: exact
        _, order = linear_sum_assignment(abs(products) if free else products, maximize=True)
        chosen = products[np.arange(len(order)), order]
        turned = np.where(chosen < 0.0, -1.0, 1.0) if free else np.ones(len(order))
        second[layer] = turned[:, None] * second[layer][order]
        second[layer + 1] = second[layer + 1][:, order] * turned
    return second


# ------------------------------------------------------------------------------------------------
# Answers of real weights
# ------------------------------------------------------------------------------------------------


def _mixed(layers, shares):
    """Return the layers at a point: each unit blended, normalised before and after."""
    mixed = []
    for units in zip(*layers, strict=True):
        w = sum(share * _unit(w) for share, w in zip(shares, units, strict=True))
        w[np.mean(w**2, axis=1) < ROUNDING**2] = 0.0
        mixed.append(_unit(w))
    return mixed


def _unit(w):
    """Return units of norm ``sqrt(M)``, M the number of their weights; zero stays zero."""
    size = np.sqrt(np.mean(w**2, axis=1, keepdims=True))
    return w / np.where(size > 0.0, size, 1.0)


def _sums(w, a):
    """Return the sums of a layer; those that only rounding tells from zero are zero."""
    h = a @ w.T
    h[abs(h) < ROUNDING * w.shape[1]] = 0.0
    return h


def _hidden(layers, inputs):
    """Return the answers of each hidden layer, shape (P, units)."""
    answers = []
    for w in layers[:-1]:
        inputs = np.sign(_sums(w, inputs))
        answers.append(inputs)
    return answers


def _answers(layers, inputs):
    """Return a label for each pattern; 0, or -1 with several output units, is undecided."""
    hidden = _hidden(layers, inputs)
    h = _sums(layers[-1], hidden[-1] if hidden else inputs)
    if h.shape[1] == 1:
        return np.sign(h[:, 0])
    top = np.max(h, axis=1, keepdims=True)
    tied = np.sum(h > top - ROUNDING * layers[-1].shape[1], axis=1) > 1
    return np.where(tied, -1, np.argmax(h, axis=1))
