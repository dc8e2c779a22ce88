"""The deep network of sign units: layers of binary weights, no biases."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.networks.packed_mlp import answers
from wfmlib.networks.packed_signs import PackedSigns
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array

ROWS = 4096  # patterns at a time: some 10 MB a layer of 500 units
LARGEST = 1 << 24  # single precision holds the integers up to here: sums of signs are exact


class BinaryMLP:
    """Layers of sign units with binary weights, each on the answers of the last  [eq-deep-signs].

    There are no biases, and a unit's sign is an odd function: to exchange hidden units, or to
    change the sign of all that a hidden unit sees and of all that sees it, changes no answer.

    The last layer is the answer. One unit answers a label -1 or +1 with its sign; a sum of 0 is
    a tie. C >= 2 units answer a label from 0 to C - 1, the place of the largest sum; that two or
    more share it is a tie. Ties are errors. A hidden unit with a sum of 0 is silent: it answers
    0, as the sign does in BinaryNet. Where the number of inputs and those of the hidden units
    are odd, no hidden unit is silent and one output unit never ties.

    `output` and `errors` work on bits (see `packed_mlp`), `preactivations` and `stabilities` with
    products of matrices in single precision; both are exact.

    Parameters
    ----------
    w : sequence of array_like
        The weights of each layer from the inputs on, entries -1 and +1, shape (units, units of
        the layer before); the last may be one unit of shape (units of the layer before,).

    Attributes
    ----------
    w : list of numpy.ndarray
        The weights, int64, each with two axes.

    Raises
    ------
    TypeError
        If `w` is not a sequence of arrays of numbers.
    ValueError
        If `w` is empty, or a layer holds anything but signs, or does not fit the one below.

    Examples
    --------
    >>> network = BinaryMLP([np.ones((3, 5)), np.ones((1, 3))])
    >>> network.inputs, network.units
    (5, (3,))
    >>> xi = np.array([[1, 1, 1, -1, -1], [-1, -1, -1, -1, 1]])
    >>> network.output(xi).tolist(), network.errors(xi, [1, 1]), network.classes
    ([1, -1], 1, 2)
    >>> network.preactivations(xi)[0][0].round(3).tolist()
    [1, 1, 1]
    >>> network.stabilities(xi, [1, 1]).round(3).tolist()
    [1.732, -1.732]
    >>> network.prepared(xi).shape
    (2, 5)
    """

    def __init__(self, w: ArrayLike) -> None:
        self.w = _layers(w)

    def __repr__(self):
        sizes = " - ".join(str(n) for n in (self.inputs, *self.units, len(self.w[-1])))
        return f"BinaryMLP({sizes})"

    @property
    def inputs(self) -> int:
        """Number N of inputs."""
        return self.w[0].shape[1]

    @property
    def units(self) -> tuple[int, ...]:
        """Number of units in each hidden layer, a tuple."""
        return tuple(len(layer) for layer in self.w[:-1])

    @property
    def classes(self) -> int:
        """Number of labels that it tells apart: 2 where it has one output unit."""
        return max(2, len(self.w[-1]))

    def preactivations(self, xi: ArrayLike) -> list[Array]:
        """Return the sum ``w . a`` of each unit for each pattern, layer by layer.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.

        Returns
        -------
        list of numpy.ndarray
            Exact integers, int64, shape (P, units); not divided by a root of the number of
            weights.

        Raises
        ------
        TypeError, ValueError
            If `xi` does not hold signs, or has not one column per weight of the first layer.
        """
        xi = self._checked(xi)
        parts = [[x.astype(np.int64) for x in sums] for sums in self._passes(xi)]
        return [np.concatenate(layer) for layer in zip(*parts, strict=True)]

    def prepared(self, xi: ArrayLike | PackedSigns) -> PackedSigns:
        """Return patterns as `output` and `errors` read them: at one bit an entry.

        Worth it where the same patterns are given more than once, to this network or to others
        with as many inputs: they are checked and packed here, which takes longer than many a
        network takes to answer.

        Parameters
        ----------
        xi : array_like or PackedSigns
            Patterns, shape (P, N), entries -1 and +1; what is packed already is checked alone.

        Returns
        -------
        PackedSigns

        Raises
        ------
        TypeError, ValueError
            If `xi` does not hold signs, or has not one column per weight of the first layer.
        """
        packed = xi if isinstance(xi, PackedSigns) else PackedSigns(xi)
        self._check_columns(packed)
        return packed

    def output(self, xi: ArrayLike | PackedSigns) -> Array:
        """Return the answer to each pattern.

        Parameters
        ----------
        xi : array_like or PackedSigns
            Patterns, shape (P, N), entries -1 and +1, or what `prepared` made of them.

        Returns
        -------
        numpy.ndarray
            Shape (P,), int64. One output unit: -1, +1, or 0 for a tie. Several: the label, or -1
            for a tie. No label equals the answer of a tie: it is an error.

        Raises
        ------
        TypeError, ValueError
            As `prepared` does.
        """
        return answers(self.w, self.prepared(xi)).astype(np.int64)

    def errors(self, xi: ArrayLike | PackedSigns, sigma: ArrayLike) -> int:
        """Return the number of patterns whose output is not their label: ties are errors.

        Parameters
        ----------
        xi : array_like or PackedSigns
            Patterns, shape (P, N), entries -1 and +1, or what `prepared` made of them.
        sigma : array_like
            Labels, shape (P,): -1 and +1 where there is one output unit, else integers from 0
            to C - 1.

        Returns
        -------
        int
            From 0 to P.

        Raises
        ------
        TypeError, ValueError
            As `prepared` does, or if `sigma` does not hold labels, one per pattern.
        """
        packed = self.prepared(xi)
        sigma = _labels(packed.shape, sigma, len(self.w[-1]))
        return int(np.count_nonzero(answers(self.w, packed) != sigma))

    def stabilities(self, xi: ArrayLike, sigma: ArrayLike) -> Array:
        """Return by how much the last layer is right, ``sigma w . a / sqrt(M)``.

        M is the number of weights of an output unit. With several of them it is the sum of the
        label's own, less the largest of the others. Positive exactly where the pattern is right.
        It says nothing of how close a hidden unit is to changing its sign.

        Parameters
        ----------
        xi, sigma : array_like
            As for `errors`, but `xi` not packed.

        Returns
        -------
        numpy.ndarray
            Shape (P,), float64, dimensionless.
        """
        xi, sigma = labelled(xi, sigma, len(self.w[-1]))
        top = self._top(self._checked(xi)).astype(np.float64)
        if top.shape[1] == 1:
            ahead = sigma * top[:, 0]
        else:
            places = np.arange(len(top)), sigma
            own = top[places]
            top[places] = -np.inf
            ahead = own - top.max(axis=1)
        return ahead / np.sqrt(self.w[-1].shape[1])

    def _checked(self, xi):
        xi = arguments.signs("xi", xi, 2)
        self._check_columns(xi)
        return xi

    def _check_columns(self, xi):
        if xi.shape[1] != self.inputs:
            raise ValueError(
                f"xi must have {self.inputs} columns, one per weight of a unit of the first "
                f"layer, got shape {xi.shape}"
            )

    def _top(self, xi):
        """Return the sums of the last layer, shape (P, output units): exact, float32."""
        return np.concatenate([sums[-1] for sums in self._passes(xi)])

    def _passes(self, xi):
        """Yield the sums of every layer, for some patterns after the others.

        Products in single precision, which is exact for sums of signs and of zeros.
        """
        columns = [layer.T.astype(np.float32) for layer in self.w]
        for first in range(0, len(xi), ROWS):
            inputs, sums = xi[first : first + ROWS].astype(np.float32), []
            for weights in columns:
                if sums:
                    inputs = np.sign(sums[-1])
                sums.append(inputs @ weights)
            yield sums


def labelled(xi, sigma, outputs):
    """Return patterns and labels as int8 after checking them against the number of outputs.

    Raises
    ------
    TypeError, ValueError
        If they do not hold what they should, or do not match; the message names the argument.
    """
    xi = arguments.signs("xi", xi, 2)
    return xi, _labels(xi.shape, sigma, outputs)


def _labels(shape, sigma, outputs):
    """Return labels as int8 after checking them against the shape of the patterns."""
    if outputs == 1:
        labels = arguments.signs("sigma", sigma, 1)
    else:
        labels = arguments.array("sigma", sigma)
        if labels.dtype.kind not in "iu":
            raise TypeError(f"sigma must be an array of integers, got dtype {labels.dtype}")
    if labels.shape != shape[:1]:
        raise ValueError(
            f"sigma must have one label per pattern: xi has shape {shape}, "
            f"sigma has shape {labels.shape}"
        )
    if outputs > 1 and (labels.min() < 0 or labels.max() >= outputs):
        wrong = labels[(labels < 0) | (labels >= outputs)][0]
        raise ValueError(f"sigma must hold labels from 0 to {outputs - 1}, got {wrong}")
    return labels.astype(np.int8)


def _layers(w):
    """Return checked layers: new int64 arrays with two axes."""
    if not isinstance(w, (list, tuple)) or not w:
        raise TypeError(f"w must be a list of weight matrices, layer by layer, got {type(w)}")
    axes = [2] * (len(w) - 1) + [np.ndim(arguments.array(f"w[{len(w) - 1}]", w[-1]))]
    if axes[-1] != 1:
        axes[-1] = 2
    layers = [
        np.atleast_2d(arguments.signs(f"w[{i}]", layer, ndim)).astype(np.int64)
        for i, (layer, ndim) in enumerate(zip(w, axes, strict=True))
    ]
    for i, (below, above) in enumerate(pairwise(layers)):
        if above.shape[1] != len(below):
            raise ValueError(
                f"w[{i + 1}] must have {len(below)} columns, one per unit of the layer below, "
                f"got shape {above.shape}"
            )
    widest = max(layer.shape[1] for layer in layers)
    if widest >= LARGEST or len(layers[-1]) > np.iinfo(np.int8).max:
        raise ValueError(
            f"w must have fewer than {LARGEST} weights in a unit and at most 127 output units, "
            f"got {widest} and {len(layers[-1])}"
        )
    return layers
