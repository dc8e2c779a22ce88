"""Parts of a problem: one vocabulary for theory, algorithms, landscape and experiments.

A device is a function of the inputs; it holds what a weight may be (`weights`) and what a hidden
unit answers (`activations`). A constraint says what a pattern demands. Each member is one small
frozen value that compares and hashes, and theory finds its formulas in the member's file.
"""

from wfmlib.models.activations import Activation, ReLU, Sign
from wfmlib.models.constraints import Band, CrossEntropy, LogPotential, Margin, PatternWeight
from wfmlib.models.devices import Committee, ParityMachine, Perceptron, TreeCommittee
from wfmlib.models.weights import Binary, Discrete, Spherical

__all__ = [
    "Activation",
    "Band",
    "Binary",
    "Committee",
    "CrossEntropy",
    "Discrete",
    "LogPotential",
    "Margin",
    "ParityMachine",
    "PatternWeight",
    "Perceptron",
    "ReLU",
    "Sign",
    "Spherical",
    "TreeCommittee",
]


def __dir__():
    return __all__
