"""Networks of finite size: what they answer, where they err, how stably."""

from wfmlib.networks.binary_mlp import BinaryMLP
from wfmlib.networks.committee import Committee
from wfmlib.networks.parity_machine import ParityMachine
from wfmlib.networks.perceptron import Perceptron
from wfmlib.networks.relu_committee import ReluCommittee
from wfmlib.networks.tree_committee import TreeCommittee

__all__ = [
    "BinaryMLP",
    "Committee",
    "ParityMachine",
    "Perceptron",
    "ReluCommittee",
    "TreeCommittee",
]


def __dir__():
    return __all__
