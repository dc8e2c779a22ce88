"""Networks of finite size: what they answer, where they err, how stably.

`machines` are those that a device makes of weights; `binary_mlp` has any number of layers.
"""

from wfmlib.networks.binary_mlp import BinaryMLP
from wfmlib.networks.machines import (
    ActivationCommitteeNetwork,
    CommitteeNetwork,
    ParityMachineNetwork,
    PerceptronNetwork,
    ReluCommitteeNetwork,
    TreeCommitteeNetwork,
)

__all__ = [
    "ActivationCommitteeNetwork",
    "BinaryMLP",
    "CommitteeNetwork",
    "ParityMachineNetwork",
    "PerceptronNetwork",
    "ReluCommitteeNetwork",
    "TreeCommitteeNetwork",
]


def __dir__():
    return __all__
