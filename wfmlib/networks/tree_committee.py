"""The tree committee: the majority of sign units on disjoint parts of the input."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.networks._machines import TreeMachine
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array


class TreeCommittee(TreeMachine):
    """K sign units on disjoint inputs; the output is the sign of the sum of their signs.

    This is [eq-tree-committee]. A tie is an error: a sum of 0, which only an even K can have, and
    also a pattern for which any unit's preactivation is exactly 0, whatever the others say
    (binary weights with even N/K have such patterns).

    Parameters
    ----------
    w : array_like
        Weights, shape (K, N/K) with any K >= 1, finite real numbers, no unit zero throughout.
        Weights that are all -1 or +1 make a binary committee.

    Attributes
    ----------
    w : numpy.ndarray
        The weights, shape (K, N/K): int64 when they are binary, float64 otherwise.

    Raises
    ------
    TypeError
        If `w` does not hold real numbers.
    ValueError
        If `w` has not two axes, is empty, is not finite, or is zero throughout in a unit.
    """

    def stabilities(self, xi: ArrayLike, sigma: ArrayLike) -> Array:
        """Return ``sigma sum_l sign(w_l . xi_l) / sqrt(K)`` of each pattern, 0 for a tie.

        This is P2's stability for the sign activation, in P2's unit: not divided by the
        activation's scale. Positive exactly where the pattern is right. It counts votes and
        says nothing of how close a unit is to changing its own.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.
        sigma : array_like
            Labels, shape (P,), entries -1 and +1.

        Returns
        -------
        numpy.ndarray
            Shape (P,), float64, dimensionless, between -sqrt(K) and sqrt(K).
        """
        xi, sigma = arguments.patterns(xi, sigma)
        return sigma * self._votes(xi) / np.sqrt(len(self.w))

    def _votes(self, xi):
        return self._signs(xi).sum(axis=1)
