"""Replica theory of storage in the limit of infinitely many weights.

The axes are values that vary independently: what a weight may be, how hidden units respond, what a
pattern demands. Each question takes one of each: `typical` (how many solutions, how far apart, up
to which load and margin), `stabilities` (of their patterns), `franz_parisi` (what surrounds them),
`teacher_student` (the same where a rule is behind the labels).
"""

from wfmlib.theory import (
    finite_committee,
    franz_parisi,
    franz_parisi_1rsb,
    stabilities,
    teacher_student,
    typical,
)
from wfmlib.theory.activations import Activation, Perceptron, ReLU, Sign
from wfmlib.theory.constraints import Margin
from wfmlib.theory.weights import Binary, Spherical

__all__ = [
    "Activation",
    "Binary",
    "Margin",
    "Perceptron",
    "ReLU",
    "Sign",
    "Spherical",
    "finite_committee",
    "franz_parisi",
    "franz_parisi_1rsb",
    "stabilities",
    "teacher_student",
    "typical",
]
