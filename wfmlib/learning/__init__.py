"""Algorithms that find solutions: message passing, descent, annealing, sampling, enumeration."""

from wfmlib.learning.annealing.replicated import replicated_annealing
from wfmlib.learning.annealing.simulated import simulated_annealing
from wfmlib.learning.descent.binary_sgd import binary_sgd
from wfmlib.learning.descent.cross_entropy_sgd import cross_entropy_sgd
from wfmlib.learning.descent.entropic_least_action import entropic_least_action
from wfmlib.learning.descent.least_action import least_action
from wfmlib.learning.descent.schedules import Schedule
from wfmlib.learning.exact.all_fields import all_weights, enumerate_fields
from wfmlib.learning.exact.enumeration import enumerate_solutions
from wfmlib.learning.exact.replica_counts import solution_clusters, surrounding_counts
from wfmlib.learning.messages.approximate import approximate_message_passing, state_evolution
from wfmlib.learning.messages.belief_propagation import belief_propagation
from wfmlib.learning.messages.focusing_bp import focusing_bp
from wfmlib.learning.messages.focusing_protocols import (
    atanh_steps,
    exponential,
    pseudo_reinforcement,
)
from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.learning.sampling.potential_annealing import potential_annealing
from wfmlib.learning.sampling.stochastic_localization import stochastic_localization
from wfmlib.learning.solution import ENDINGS, NoSolution, NotSettled, Solution

__all__ = [
    "ENDINGS",
    "NoSolution",
    "NotSettled",
    "PackedPatterns",
    "Schedule",
    "Solution",
    "all_weights",
    "approximate_message_passing",
    "atanh_steps",
    "belief_propagation",
    "binary_sgd",
    "cross_entropy_sgd",
    "entropic_least_action",
    "enumerate_fields",
    "enumerate_solutions",
    "exponential",
    "focusing_bp",
    "least_action",
    "potential_annealing",
    "pseudo_reinforcement",
    "replicated_annealing",
    "simulated_annealing",
    "solution_clusters",
    "state_evolution",
    "stochastic_localization",
    "surrounding_counts",
]


def __dir__():
    return __all__
