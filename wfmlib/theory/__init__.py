"""Replica theory of storage in the limit of infinitely many weights.

The axes are values that vary independently: what a weight may be, how hidden units respond, what a
pattern demands. Each question takes one of each: `typical` (how many solutions, how far apart, up
to which load and margin), `stabilities` (of their patterns), `franz_parisi` (what surrounds them),
`large_deviation` (where they lie densest), `teacher_student` and `margin_students` (the same where
a rule is behind the labels).
"""

from wfmlib.models.activations import Activation, Linear, ReLU, Sign
from wfmlib.models.constraints import CrossEntropy, Margin
from wfmlib.models.weights import Binary, Spherical
from wfmlib.theory import (
    cross_entropy,
    finite_committee,
    franz_parisi,
    franz_parisi_1rsb,
    large_deviation,
    margin_students,
    stabilities,
    teacher_student,
    typical,
)
from wfmlib.theory.finite_machines import Parity, SignCommittee

__all__ = [
    "Activation",
    "Binary",
    "CrossEntropy",
    "Margin",
    "Parity",
    "Perceptron",
    "ReLU",
    "Sign",
    "SignCommittee",
    "Spherical",
    "cross_entropy",
    "finite_committee",
    "franz_parisi",
    "franz_parisi_1rsb",
    "large_deviation",
    "margin_students",
    "stabilities",
    "teacher_student",
    "typical",
]
