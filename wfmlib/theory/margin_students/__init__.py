"""Students that ask a margin of a teacher's examples.

`students` holds the questions; `taught_surroundings` and `taught_replicas` their saddle points
around one student, and of many.
"""

from wfmlib.theory.margin_students.students import (
    Replicas,
    Student,
    Surroundings,
    dense_threshold,
    max_margin,
    replica_threshold,
    replicas,
    solve,
    surroundings,
)

__all__ = [
    "Replicas",
    "Student",
    "Surroundings",
    "dense_threshold",
    "max_margin",
    "replica_threshold",
    "replicas",
    "solve",
    "surroundings",
]


def __dir__():
    return __all__
