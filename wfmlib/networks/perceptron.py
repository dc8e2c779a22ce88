"""The perceptron: one threshold unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.networks import _machines
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array


class Perceptron(_machines.Machine):
    """One threshold unit, ``output = sign(w @ xi)``, with binary or real weights.

    Parameters
    ----------
    w : array_like
        Weights, shape (N,), finite real numbers that are not all zero. Weights that are all
        -1 or +1 make a binary perceptron.

    Attributes
    ----------
    w : numpy.ndarray
        The weights, shape (N,): int64 when they are binary, float64 otherwise.

    Raises
    ------
    TypeError
        If `w` does not hold real numbers.
    ValueError
        If `w` has not one axis, is empty, is not finite, or is zero throughout.
    """

    def __init__(self, w: ArrayLike) -> None:
        self.w = _machines.weights(w, 1)
        if not np.any(self.w):
            raise ValueError("w must not be zero throughout")

    def __repr__(self):
        return f"Perceptron(N={len(self.w)}, {_machines.kind(self.w)} weights)"

    def stabilities(self, xi: ArrayLike, sigma: ArrayLike) -> Array:
        """Return the stability ``sigma (w . xi) / |w|`` of each pattern [eq-stability].

        On the sphere ``|w|^2 = N``, where binary weights lie too, this is the papers'
        ``sigma (w . xi) / sqrt(N)``; any other length of `w` is divided out, as it changes no
        answer of the network. For binary weights the numerator is an exact integer.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.
        sigma : array_like
            Labels, shape (P,), entries -1 and +1.

        Returns
        -------
        numpy.ndarray
            Shape (P,), float64, dimensionless, between -sqrt(N) and sqrt(N).
        """
        xi, sigma = arguments.patterns(xi, sigma)
        fields = self._votes(xi)
        size = np.abs(self.w).max()  # 1 for binary weights: nothing is rounded
        return sigma * (fields / size) / np.linalg.norm(self.w / size)

    def _votes(self, xi):
        """Return ``w . xi`` of each pattern as float64: exact for binary weights."""
        if xi.shape[1] != len(self.w):
            raise ValueError(
                f"xi must have one column per weight: w has {len(self.w)} entries, "
                f"xi has shape {xi.shape}"
            )
        return xi @ self.w.astype(np.float64)
