"""What an algorithm returns, and what it says where it found nothing."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass

import numpy as np

from wfmlib.models.protocols import Device, Network


class NoSolution(UserWarning):
    """An algorithm ended with weights that are not a solution."""


class NotSettled(UserWarning):
    """Messages still changed when an algorithm stopped."""


WORDS = {
    NoSolution: "ended without a solution: `errors` counts the patterns that are answered wrongly",
    NotSettled: "stopped before its messages settled: `residual` says how much they still changed",
}


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
        connected. Binary ones are int8; real ones have ``|w_k|^2`` equal to the number of weights
        of each unit.
    errors : int
        Number of patterns that a network with these weights answers wrongly, counted by
        `wfmlib.networks`.
    converged : bool
        Whether the algorithm reached its own aim.
    epochs : int
        How often it went through all patterns.
    history : dict of numpy.ndarray
        What it recorded on its way.
    """

    device: Device | None
    weights: np.ndarray
    errors: int
    converged: bool
    epochs: int
    history: dict

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
        shapes = ", ".join(f"{one.shape} {one.dtype}" for one in layers)
        return (
            f"{type(self).__name__}: {self.ending}\n"
            f"  device: {self.device!r}\n"
            f"  weights: {shapes}\n"
            f"  errors: {self.errors}, converged: {self.converged}, epochs: {self.epochs}\n"
            f"  history: {', '.join(self.history)}"
        )


def settled(found):
    """Say in words how the messages of a `Solution` with a ``residual`` ended."""
    sweeps = "1 sweep" if found.epochs == 1 else f"{found.epochs} sweeps"
    if found.converged:
        return f"messages that settled in {sweeps}"
    return f"messages that did NOT SETTLE in {sweeps} (residual {found.residual:.2g})"


def tells(advice):
    """Return a decorator: an algorithm that ends badly warns, in words that say what to try.

    The words hold no numbers, so that Python shows them once for each place of a call: in a loop
    over many instances, once.
    """

    def decorate(algorithm):
        @functools.wraps(algorithm)
        def run(*arguments, **options):
            if "seed" in options:
                name, seed = algorithm.__name__, options["seed"]
                raise TypeError(f"{name}() takes randomness as rng: write rng={seed!r}")
            found = algorithm(*arguments, **options)
            if found.warning:
                told = f"{algorithm.__name__} {WORDS[found.warning]}. Try {advice}."
                warnings.warn(told, found.warning, stacklevel=2)
            return found

        return run

    return decorate
