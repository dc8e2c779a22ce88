"""What the networks share: the check of their weights, their answers, and what a tree sees."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array


def weights(w, ndim):
    """Return weights as a new array with `ndim` axes: int64 when binary, float64 otherwise."""
    w = arguments.array("w", w)
    if w.dtype.kind not in "iuf":
        raise TypeError(f"w must be an array of real numbers, got dtype {w.dtype}")
    if w.ndim != ndim or w.size == 0:
        axes = "1 axis" if ndim == 1 else f"{ndim} axes"
        raise ValueError(f"w must be a non-empty array with {axes}, got shape {w.shape}")
    if not np.all(np.isfinite(w)):
        raise ValueError(f"w must be finite, got an entry {w[~np.isfinite(w)][0]}")
    return w.astype(np.int64 if np.all(np.abs(w) == 1) else np.float64)


def kind(w):
    """Return the word for checked weights."""
    return "binary" if w.dtype.kind == "i" else "real"


class Machine(ABC):
    """A machine with a binary answer: the sign of a number that a subclass finds."""

    tree = True  #: whether the units see disjoint parts of the input; True for a single one

    def output(self, xi: ArrayLike) -> Array:
        """Return the answer to each pattern.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.

        Returns
        -------
        numpy.ndarray
            Shape (P,), int64: -1, +1, or 0 for a tie, which no label equals: a tie is an error.
        """
        return np.sign(self._votes(arguments.signs("xi", xi, 2))).astype(np.int64)

    def errors(self, xi: ArrayLike, sigma: ArrayLike) -> int:
        """Return the number of patterns whose output is not their label: ties are errors.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.
        sigma : array_like
            Labels, shape (P,), entries -1 and +1.

        Returns
        -------
        int
            From 0 to P.
        """
        xi, sigma = arguments.patterns(xi, sigma)
        return int(np.count_nonzero(sigma * self._votes(xi) <= 0))

    @abstractmethod
    def _votes(self, xi):
        """Return a number for each pattern, exact for binary weights; its sign is the output."""


class TreeMachine(Machine):
    """Sign units on disjoint parts of the input; a subclass says what their signs decide.

    Attributes
    ----------
    w : numpy.ndarray
        The weights, shape (K, N/K): int64 when they are binary, float64 otherwise.
    """

    def __init__(self, w: ArrayLike) -> None:
        self.w = weights(w, 2)
        silent = np.flatnonzero(~np.any(self.w, axis=1))
        if len(silent):
            raise ValueError(f"w must not be zero throughout in any unit, unit {silent[0]} is")

    def __repr__(self):
        name = f"{type(self).__name__}(K={len(self.w)}, N={self.inputs}"
        return f"{name}, {kind(self.w)} weights)"

    @property
    def inputs(self) -> int:
        """Number N of inputs."""
        return self.w.size

    def fields(self, xi: ArrayLike) -> Array:
        """Return the preactivation ``w_l . xi_l / sqrt(N/K)`` of each unit l for each pattern.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1: unit l sees the columns from ``l N/K`` up
            to, and without, ``(l + 1) N/K``.

        Returns
        -------
        numpy.ndarray
            Shape (P, K), float64, dimensionless: of order 1 for units on the sphere
            ``|w_l|^2 = N/K``, where binary weights lie too. For binary weights the numerator is
            an exact integer.

        Raises
        ------
        TypeError, ValueError
            If `xi` does not hold signs, or has not one column per weight.
        """
        return self._sums(arguments.signs("xi", xi, 2)) / np.sqrt(self.w.shape[1])

    def _sums(self, xi):
        """Return ``w_l . xi_l``, shape (P, K), as float64: exact for binary weights."""
        if xi.shape[1] != self.inputs:
            raise ValueError(
                f"xi must have {self.inputs} columns: w has shape {self.w.shape}, "
                f"xi has shape {xi.shape}"
            )
        return np.einsum("pki,ki->pk", self._parts(xi), self.w.astype(np.float64))

    def _parts(self, xi):
        """Return what each unit sees of each pattern, shape (P,) and that of the weights."""
        return xi.reshape(len(xi), *self.w.shape)

    def _signs(self, xi):
        """Return the units' signs, int64, shape (P, K); all 0 where any unit is undecided."""
        signs = np.sign(self._sums(xi)).astype(np.int64)
        return signs * np.all(signs, axis=1, keepdims=True)
