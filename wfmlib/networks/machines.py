"""Networks with a binary answer: perceptron, committees of any units, parity machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

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


class PerceptronNetwork(Machine):
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

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(5, 12, rng=1)
    >>> device = Perceptron()
    >>> network = device.network(np.ones(device.shape(12)))
    >>> type(network).__name__, network.output(xi).shape
    ('PerceptronNetwork', (5,))
    >>> network.errors(xi, sigma), network.stabilities(xi, sigma).round(3).tolist()
    (2, [-0.577, -1.155, 1.732, 1.732, 0.577])
    """

    def __init__(self, w: ArrayLike) -> None:
        self.w = weights(w, 1)
        if not np.any(self.w):
            raise ValueError("w must not be zero throughout")

    def __repr__(self):
        return f"PerceptronNetwork(N={len(self.w)}, {kind(self.w)} weights)"

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


class TreeCommitteeNetwork(TreeMachine):
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

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import TreeCommittee, patterns
    >>> xi, sigma = patterns.random(5, 15, rng=1)
    >>> device = TreeCommittee(3)
    >>> network = device.network(np.ones(device.shape(15)))
    >>> type(network).__name__, network.output(xi).shape
    ('TreeCommitteeNetwork', (5,))
    >>> network.inputs, network.fields(xi)[0].round(3).tolist()  # of the units
    (15, [0.447, 0.447, 0.447])
    >>> network.errors(xi, sigma), network.stabilities(xi, sigma).round(3).tolist()
    (3, [-1.732, -1.732, 0.577, 0.577, -0.577])
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


class CommitteeNetwork(TreeCommitteeNetwork):
    """K sign units on the same N inputs; the output is the sign of the sum of their signs.

    All that is said of `TreeCommittee` holds, but for what a unit sees: unit l has N weights and
    its preactivation is ``w_l . xi / sqrt(N)``. Exchanging two units changes no answer.

    Parameters
    ----------
    w : array_like
        Weights, shape (K, N) with any K >= 1, finite real numbers, no unit zero throughout.

    Attributes
    ----------
    w : numpy.ndarray
        The weights, shape (K, N): int64 when they are binary, float64 otherwise.

    Raises
    ------
    TypeError
        If `w` does not hold real numbers.
    ValueError
        If `w` has not two axes, is empty, is not finite, or is zero throughout in a unit.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Committee, patterns
    >>> xi, sigma = patterns.random(5, 12, rng=1)
    >>> device = Committee(3)
    >>> network = device.network(np.ones(device.shape(12)))
    >>> type(network).__name__, network.output(xi).shape
    ('CommitteeNetwork', (5,))
    >>> network.inputs, network.fields(xi)[0].round(3).tolist()  # of the units
    (12, [0.577, 0.577, 0.577])
    >>> network.errors(xi, sigma), network.stabilities(xi, sigma).round(3).tolist()
    (2, [-1.732, -1.732, 1.732, 1.732, 1.732])
    """

    tree = False

    @property
    def inputs(self) -> int:
        """Number N of inputs."""
        return self.w.shape[1]

    def _parts(self, xi):
        return np.broadcast_to(xi[:, None, :], (len(xi), *self.w.shape))


class ParityMachineNetwork(TreeMachine):
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

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import ParityMachine, patterns
    >>> xi, sigma = patterns.random(5, 15, rng=1)
    >>> device = ParityMachine(3)
    >>> network = device.network(np.ones(device.shape(15)))
    >>> type(network).__name__, network.output(xi).shape
    ('ParityMachineNetwork', (5,))
    >>> network.inputs, network.fields(xi)[0].round(3).tolist()  # of the units
    (15, [0.447, 0.447, 0.447])
    >>> network.errors(xi, sigma), network.stabilities(xi, sigma).round(3).tolist()
    (4, [-1.0, -1.0, -1.0, -1.0, 1.0])
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


class ReluCommitteeNetwork(TreeMachine):
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

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import ReLU, TreeCommittee, patterns
    >>> xi, sigma = patterns.random(5, 12, rng=1)
    >>> device = TreeCommittee(4, ReLU())
    >>> network = device.network(np.ones(device.shape(12)))
    >>> type(network).__name__, network.output(xi).shape
    ('ReluCommitteeNetwork', (5,))
    >>> network.inputs, network.votes.tolist(), network.fields(xi)[0].round(3).tolist()
    (12, [1, 1, -1, -1], [0.577, 0.577, -0.577, 0.577])
    >>> network.errors(xi, sigma), network.stabilities(xi, sigma)[[0, 2]].round(3).tolist()
    (3, [-0.289, 0.289])
    """

    def __init__(self, w: ArrayLike, *, tree: bool = True) -> None:
        super().__init__(w)
        if len(self.w) % 2:
            raise ValueError(f"w must have an even number of units, got shape {self.w.shape}")
        self.tree = bool(arguments.choice("tree", tree, (True, False)))

    def __repr__(self):
        wiring = "" if self.tree else ", fully connected"
        name = f"{type(self).__name__}(K={len(self.w)}, N={self.inputs}"
        return f"{name}, {kind(self.w)} weights{wiring})"

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


class ActivationCommitteeNetwork(ReluCommitteeNetwork):
    """K units of any activation g; the output is ``sign(sum_l c_l g(x_l))``, c_l = +1 or -1.

    The ``x_l = w_l . xi_l / sqrt(n)`` are the preactivations of `fields`, n the weights of a unit,
    and the first K/2 units have ``c_l = +1``, the others -1 (P2, eq. 1). Real weights are taken as
    they are. A sum of 0 is a tie, and an error.

    Parameters
    ----------
    w : array_like
        Weights, as of a `ReluCommitteeNetwork`.
    activation : callable
        g, from an array of floats to an array of the same shape.
    tree : bool, optional
        Whether the units see disjoint parts of the input.

    Attributes
    ----------
    w, activation, tree
        As given; the weights int64 when they are binary, float64 otherwise.

    Raises
    ------
    TypeError, ValueError
        As a `ReluCommitteeNetwork`; TypeError if `activation` is not callable.

    Examples
    --------
    >>> net = ActivationCommitteeNetwork([[1.0, -1.0], [1.0, 1.0]], np.tanh)
    >>> net.output([[1, -1, -1, -1]])
    array([1])
    >>> net.inputs, net.votes.tolist()
    (4, [1, -1])
    >>> net.stabilities([[1, -1, -1, -1]], [1]).round(4).tolist()
    [1.2564]
    """

    def __init__(self, w: ArrayLike, activation: Any, *, tree: bool = True) -> None:
        super().__init__(w, tree=tree)
        self.activation = arguments.function("activation", activation)

    def stabilities(self, xi: ArrayLike, sigma: ArrayLike) -> Array:
        """Return ``sigma sum_l c_l g(x_l) / sqrt(K)`` of each pattern.

        This is P2's stability, not divided by the activation's scale. To be compared with the
        theory real weights must lie on the sphere ``|w_l|^2 = n``.

        Parameters
        ----------
        xi : array_like
            Patterns, shape (P, N), entries -1 and +1.
        sigma : array_like
            Labels, shape (P,), entries -1 and +1.

        Returns
        -------
        numpy.ndarray
            Shape (P,), float64, dimensionless; positive exactly where the pattern is right.
        """
        xi, sigma = arguments.patterns(xi, sigma)
        return sigma * self._votes(xi) / np.sqrt(len(self.w))

    def _votes(self, xi):
        fields = self._sums(xi) / np.sqrt(self.w.shape[1])
        return np.asarray(self.activation(fields), dtype=float) @ self.votes
