"""Solutions that algorithms return, and the warnings where they found none."""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from wfmlib.models.protocols import Device, Network


class NoSolution(UserWarning):
    """An algorithm ended with weights that are not a solution.

    Examples
    --------
    >>> issubclass(NoSolution, UserWarning)
    True
    """


class NotSettled(UserWarning):
    """Messages still changed when an algorithm stopped.

    Examples
    --------
    >>> issubclass(NotSettled, UserWarning)
    True
    """


WORDS = {
    NoSolution: "ended without a solution: `errors` counts the patterns that are answered wrongly",
    NotSettled: "stopped before its messages settled: `residual` says how much they still changed",
}
#: How an iteration may end. What helps differs: more sweeps, more damping, or another instance.
ENDINGS = ("a solution", "settled without a solution", "did not settle", "diverged")


def outcome(errors, settled, finite=True):
    """Return which of `ENDINGS` an iteration has come to."""
    if errors == 0:
        return ENDINGS[0]
    if not finite:
        return ENDINGS[3]
    return ENDINGS[1] if settled else ENDINGS[2]


class Best:
    """The weights with the fewest errors that an iteration has seen: what it returns.

    Attributes
    ----------
    weights : numpy.ndarray or None
        The last of those with the fewest errors.
    errors : int or float
        How many they make; infinite before the first look.
    place : int
        At which look they were seen, from 1.
    counts : list of int
        The errors at every look.
    """

    def __init__(self):
        self.weights, self.errors, self.place, self.counts = None, math.inf, 0, []

    def look(self, weights, errors):
        """Compare weights with the best ones so far."""
        self.counts.append(errors)
        if errors <= self.errors:  # later ones have gone further
            self.weights, self.errors, self.place = weights, errors, len(self.counts)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """The weights that an algorithm ended with, and how it ended.

    It prints as a few lines, the first of which says whether the weights are a solution. It equals
    itself alone: whether two runs found the same is a question about their `weights`.

    Attributes
    ----------
    device : Device or None
        What the weights are those of; None for deep networks, which are no device.
    weights : numpy.ndarray
        In the shape of the device: (N,) for a perceptron, (K, N/K) for a tree, (K, N) fully
        connected. Binary ones are int64; real ones have ``|w_k|^2`` equal to the number of
        weights of each unit.
    errors : int
        Number of patterns that a network with these weights answers wrongly, counted by
        `wfmlib.networks`.
    converged : bool
        Whether the algorithm reached its own aim.
    epochs : int
        How often it went through all patterns.
    history : dict of numpy.ndarray
        What it recorded on its way.

    Examples
    --------
    >>> from wfmlib import Perceptron, learning, patterns
    >>> xi, sigma = patterns.random(20, 101, rng=1)
    >>> solution = learning.focusing_bp(Perceptron(), xi, sigma, rng=1)
    >>> solution.errors, solution.network.errors(xi, sigma)
    (0, 0)
    >>> solution.ending, solution.warning
    ('a solution', None)
    """

    device: Device | None
    weights: np.ndarray
    errors: int
    converged: bool
    epochs: int
    history: dict[str, Any]

    def __post_init__(self):
        object.__setattr__(self, "weights", wide(self.weights))

    @property
    def network(self) -> Network:
        """The network of the device that has these weights."""
        assert self.device is not None, "a deep network says what its own is"
        return self.device.network(self.weights)

    @property
    def ending(self) -> str:
        """How the algorithm ended, in words."""
        if self.errors == 0:
            return "a solution" + ("" if self.converged else ", short of the algorithm's own aim")
        wrong = "1 pattern is" if self.errors == 1 else f"{self.errors} patterns are"
        return f"NO SOLUTION, {wrong} answered wrongly"

    @property
    def warning(self) -> type[UserWarning] | None:
        """What kind of warning the ending calls for, None where all is well."""
        return NoSolution if self.errors else None

    def __repr__(self):
        layers = self.weights if isinstance(self.weights, list) else [self.weights]
        shapes = ", ".join(f"{layer.shape} {layer.dtype}" for layer in layers)
        return (
            f"{type(self).__name__}: {self.ending}\n"
            f"  device: {self.device!r}\n"
            f"  weights: {shapes}\n"
            f"  errors: {self.errors}, converged: {self.converged}, epochs: {self.epochs}\n"
            f"  history: {', '.join(self.history)}"
        )


def wide(weights):
    """Return weights in a type in which products with patterns do not overflow."""
    if isinstance(weights, list):
        return [wide(layer) for layer in weights]
    return weights.astype(np.int64) if weights.dtype == np.int8 else weights


@dataclass(frozen=True, eq=False, repr=False)
class Marginals(Solution):
    """A `Solution` from messages whose aim is to settle: on the marginals of all solutions.

    Attributes
    ----------
    residual : float
        How much messages still changed in the last sweep.
    best : int
        After which sweep the weights were the returned ones, from 1.
    """

    residual: float
    best: int

    @property
    def sweeps(self) -> int:
        """How often all messages were renewed."""
        return self.epochs

    @property
    def outcome(self) -> str:
        """How the messages ended, one of `ENDINGS`."""
        return outcome(self.errors, self.converged)

    @property
    def ending(self) -> str:
        """How the messages ended, in words: their aim is not a solution, but to settle."""
        sweeps = "1 sweep" if self.epochs == 1 else f"{self.epochs} sweeps"
        if self.converged:
            return f"messages that settled in {sweeps}"
        return f"messages that did NOT SETTLE in {sweeps} (residual {self.residual:.2g})"

    @property
    def warning(self) -> type[UserWarning] | None:
        """`NotSettled` where the messages did not settle."""
        return None if self.converged else NotSettled


def advised(advice):
    """Return a decorator: an algorithm that ends badly warns, in words that say what to try.

    The words hold no numbers, so that Python shows them once for each place of a call: in a loop
    over many instances, once. Advice may be a dict by the `outcome` of what was found.
    """

    def decorate(algorithm):
        @functools.wraps(algorithm)
        def run(*arguments, **options):
            solution = algorithm(*arguments, **options)
            if solution.warning:
                cure = advice[solution.outcome] if isinstance(advice, dict) else advice
                message = f"{algorithm.__name__} {WORDS[solution.warning]}. Try {cure}."
                warnings.warn(message, solution.warning, stacklevel=2)
            return solution

        return run

    return decorate
