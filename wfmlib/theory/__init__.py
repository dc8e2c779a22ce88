"""Replica theory of storage in the limit of infinitely many weights.

The axes are values that vary independently: what a weight may be, how hidden units respond, what a
pattern demands. Each question (`typical` so far) takes one of each.
"""

from wfmlib.theory import typical
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
    "typical",
]
