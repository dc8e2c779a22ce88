"""Protocols of a device, of its parts and of a network: what theory and algorithms ask of them.

A class of one's own that has these members is taken where a signature names the protocol, as far
as the public door does not name the classes that a question is solved for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import ArrayLike

from wfmlib.models.activations import EffectiveOverlap
from wfmlib.models.weights.terms import (
    BrokenEntropic,
    ConstrainedBroken,
    ConstrainedEntropic,
    Entropic,
    LimitEntropic,
    Unloaded,
)
from wfmlib.numerics.solvers import Report
from wfmlib.numerics.types import Array


class Weights(Protocol):
    """A prior of the weights: what one component may be, and the entropic terms that follow."""

    @property
    def discrete(self) -> bool:
        """Whether there are finitely many values: solutions end where the entropy vanishes."""

    @property
    def entropy(self) -> float:
        """Nats per weight without any pattern."""

    @property
    def collapse(self) -> float:
        """Limit of ``q_hat (1 - q)^2`` for q -> 1."""

    def entropic(self, q_hat: float) -> Entropic:
        """Return the term of typical solutions."""

    def constrained(
        self, distance: float, p_hat: float, correlation: float, reference: Any
    ) -> ConstrainedEntropic:
        """Return the term of solutions at a distance from a reference."""

    def broken(self, q0_hat: float, split: float, m: float) -> BrokenEntropic:
        """Return the term of typical solutions in groups."""

    def constrained_broken(
        self,
        distance: float,
        p0_hat: float,
        correlation: float,
        split: float,
        m: float,
        reference: Any,
        rule: Any,
        delta: float | None = None,
    ) -> ConstrainedBroken:
        """Return the term of groups at a distance from a reference."""

    def conjugate(self, overlap: float) -> float:
        """Return the conjugate at which `overlap` is that of typical solutions."""

    def replicas(self, overlap: float, place: float, replicas: float) -> tuple[float, float]:
        """Return q0_hat and the split of real replicas at a mutual overlap."""

    def limit(self, overlap: float, place: float) -> LimitEntropic:
        """Return the term of infinitely many real replicas."""

    def unloaded(self, overlap: float, replicas: float) -> Unloaded:
        """Return the term of replicas that no pattern constrains."""

    def bound(self, distance: ArrayLike) -> Any:
        """Return the entropy of all weights at a distance, of the shape of `distance`."""


class Constraint(Protocol):
    """What a pattern demands: a weight ``exp f`` of the shared part omega of its field."""

    @property
    def hard(self) -> bool:
        """Whether patterns are met or not; a loss weighs them instead."""

    def __hash__(self) -> int:
        """Equal ones share what was solved."""

    def rescaled(self, scale: float) -> Constraint:
        """Return the same constraint on fields that were divided by `scale`."""

    def log_weight(self, omega: Array, variance: float) -> Array:
        """Return f."""

    def slope(self, omega: Array, variance: float) -> Array:
        """Return f'."""

    def curvature(self, omega: Array, variance: float) -> Array:
        """Return f''."""

    def features(self, variance: float) -> Sequence[tuple[float, float]]:
        """Return where these functions bend, and over what widths."""


class Activation(Protocol):
    """What a unit answers: it turns the overlap of weights into one of stabilities."""

    @property
    def scale(self) -> float:
        """Standard deviation of a random pattern's stability."""

    @property
    def slope_at_one(self) -> float:
        """Slope of the effective overlap where two weight vectors are one."""

    def effective(self, q: Any, complement: Any) -> EffectiveOverlap:
        """Return the effective overlap and its derivatives, without a check of the arguments."""


class Network(Protocol):
    """A network of finitely many inputs: it answers patterns."""

    def output(self, xi: Any) -> Array:
        """Return the answer to each pattern."""

    def errors(self, xi: Any, sigma: ArrayLike) -> int:
        """Return the number of patterns whose answer is not their label."""


class Device(Protocol):
    """A machine but for the values of its weights."""

    def __hash__(self) -> int:
        """Equal ones share what was solved."""

    @property
    def units(self) -> int | float:
        """Number of units; infinite in theory alone."""

    @property
    def tree(self) -> bool:
        """Whether the units see disjoint parts of the input."""

    @property
    def weights(self) -> Weights:
        """What a weight may be."""

    def shape(self, N: int) -> tuple[int, ...]:
        """Return the shape of the weights for N inputs."""

    def network(self, w: ArrayLike) -> Network:
        """Return the network that has the weights w."""


class Point(Protocol):
    """What a question of theory gives back at one set of arguments, whatever was asked."""

    def __hash__(self) -> int:
        """Points of equal arguments and numbers are equal."""

    @property
    def device(self) -> Device:
        """What was asked about."""

    @property
    def alpha(self) -> float:
        """At which load."""

    @property
    def report(self) -> Report | None:
        """How the equations were solved."""


class Found(Protocol):
    """What an algorithm gives back, whichever it is."""

    @property
    def device(self) -> Device | None:
        """What the weights are those of; None for deep networks."""

    @property
    def weights(self) -> Any:
        """The weights, an array or one a layer."""

    @property
    def network(self) -> Network:
        """The network that has them."""

    @property
    def errors(self) -> int:
        """Number of patterns that it answers wrongly."""

    @property
    def converged(self) -> bool:
        """Whether the algorithm reached its own aim."""

    @property
    def epochs(self) -> int:
        """How often it went through all patterns."""

    @property
    def history(self) -> dict[str, Any]:
        """What it recorded on its way."""
