"""Algorithms that find solutions."""

from wfmlib.learning.all_fields import all_weights, enumerate_fields
from wfmlib.learning.enumeration import Enumeration, enumerate_solutions
from wfmlib.learning.replica_counts import solution_clusters, surrounding_counts

__all__ = [
    "Enumeration",
    "all_weights",
    "enumerate_fields",
    "enumerate_solutions",
    "solution_clusters",
    "surrounding_counts",
]
