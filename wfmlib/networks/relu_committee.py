"""The committee of rectified units: half of them vote for, half of them against."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.networks._machines import TreeMachine, kind
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array


class ReluCommittee(TreeMachine):
    """K rectified units; the output is ``sign(sum_l c_l max(x_l, 0))``, c_l = +1 or -1.

    The first K/2 units have ``c_l = +1``, the others -1 (P2, eq. 1). A unit sees its own part of
    the input or, fully connected, all of it. A sum of 0 is a tie, and an error; a preactivation
    of 0 is none: such a unit is silent, as at any negative one.

    Parameters
    ----------
    w : array_like
        Weights, finite real numbers, no unit zero throughout: shape (K, N/K), or (K, N) where
        fully connected, with even K. Weights that are all -1 or +1 make a binary committee.
    tree : bool, optional
        Whether the units see disjoint parts of the input.

    Attributes
    ----------
    w : numpy.ndarray
        The weights: int64 when they are binary, float64 otherwise.
    tree : bool
        As given.

    Raises
    ------
    TypeError
        If `w` does not hold real numbers.
    ValueError
        If `w` has not two axes, is empty, is not finite, is zero throughout in a unit, or has an
        odd number of units.
    """

    def __init__(self, w: ArrayLike, *, tree: bool = True) -> None:
        super().__init__(w)
        if len(self.w) % 2:
            raise ValueError(f"w must have an even number of units, got shape {self.w.shape}")
        self.tree = bool(arguments.choice("tree", tree, (True, False)))

    def __repr__(self):
        how = "" if self.tree else ", fully connected"
        name = f"ReluCommittee(K={len(self.w)}, N={self.inputs}"
        return f"{name}, {kind(self.w)} weights{how})"

    @property
    def inputs(self) -> int:
        """Number N of inputs."""
        return self.w.size if self.tree else self.w.shape[1]

    @property
    def votes(self) -> Array:
        """The c_l, shape (K,), int64: +1 for the first half of the units, -1 for the second."""
        return np.repeat(np.array([1, -1]), len(self.w) // 2)

    def stabilities(self, xi: ArrayLike, sigma: ArrayLike) -> Array:
        """Return ``sigma sum_l c_l max(x_l, 0) / sqrt(K)`` of each pattern.

        The ``x_l = w_l . xi_l / sqrt(n)`` are the preactivations of `fields`, n the weights of a
        unit. This is P2's stability, not divided by the activation's scale. Real weights are
        taken as they are: to be compared with the theory they must lie on the sphere
        ``|w_l|^2 = n``, where binary ones do.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.
        sigma : array_like
            Labels, shape (P,), entries -1 and +1.

        Returns
        -------
        numpy.ndarray
            Shape (P,), float64, dimensionless; positive exactly where the pattern is right. For
            binary weights it is an exact integer divided by ``sqrt(n K)``.
        """
        xi, sigma = arguments.patterns(xi, sigma)
        return sigma * self._votes(xi) / np.sqrt(self.w.size)

    def _votes(self, xi):
        return np.maximum(self._sums(xi), 0.0) @ self.votes

    def _parts(self, xi):
        if self.tree:
            return super()._parts(xi)
        return np.broadcast_to(xi[:, None, :], (len(xi), *self.w.shape))
