"""The configuration at which a landscape measure is taken: a solution, or any network."""

from __future__ import annotations

from typing import TypeAlias

from wfmlib.learning.solution import Solution
from wfmlib.models.protocols import Network
from wfmlib.networks import PerceptronNetwork, TreeCommitteeNetwork

Configuration: TypeAlias = Solution | Network


def network(configuration, name="solution"):
    """Return the network of a `Solution`, or the network that is given itself.

    A network is whatever answers patterns with its ``output``. Weights alone do not say what
    their units see, nor what they answer: they are refused.
    """
    if isinstance(configuration, Solution):
        return configuration.network
    if not hasattr(configuration, "output"):
        raise TypeError(
            f"{name} must be a Solution or a network, such as device.network(w) makes of weights, "
            f"got {type(configuration).__name__}"
        )
    return configuration


def sign_units(configuration, name="solution"):
    """Return the weights of sign units that vote, and whether they see disjoint inputs.

    Shape (N,), (K, N/K) or (K, N); int64 where weights are binary.
    """
    net = network(configuration, name)
    if not isinstance(
        net, (PerceptronNetwork, TreeCommitteeNetwork)
    ):  # CommitteeNetwork is one of the latter
        raise TypeError(f"{name} must be a perceptron or a committee of sign units, got {net!r}")
    return net.w, net.tree


def weights(configuration):
    """Return the weights of a `Solution` or of a network, and anything else as it is."""
    if isinstance(configuration, Solution):
        return configuration.weights
    return configuration.w if hasattr(configuration, "output") else configuration
