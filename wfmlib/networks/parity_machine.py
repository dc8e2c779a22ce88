"""The parity machine: the product of sign units on disjoint parts of the input."""

from __future__ import annotations

from numpy.typing import ArrayLike

from wfmlib.networks._machines import TreeMachine
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array


class ParityMachine(TreeMachine):
    """K sign units on disjoint inputs; the output is the product of their signs.

    This is [eq-parity-output]. To change the sign of every weight in two units changes no
    answer. A tie is an error: a preactivation that is exactly 0 (binary weights with even N/K
    have them).

    Parameters
    ----------
    w : array_like
        Weights, shape (K, N/K) with any K >= 1, finite real numbers, no unit zero throughout.
        Weights that are all -1 or +1 make a binary machine.

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
        """Return ``sigma prod_l sign(w_l . xi_l)`` of each pattern: -1, +1, or 0 for a tie.

        A product of signs has no size: the stability only says right (+1) or wrong (-1 and 0),
        so +1 is the only margin a solution can have.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.
        sigma : array_like
            Labels, shape (P,), entries -1 and +1.

        Returns
        -------
        numpy.ndarray
            Shape (P,), float64, dimensionless.
        """
        xi, sigma = arguments.patterns(xi, sigma)
        return (sigma * self._votes(xi)).astype(float)

    def _votes(self, xi):
        return self._signs(xi).prod(axis=1)
