"""Full replica symmetry breaking: groups inside groups of solutions, at the capacity and below.

To read in this order: `ladder`, Parisi's equation as a chain of Gaussian averages;
`capacity_entropy`, the load that a hierarchy bounds; `steps` and `continuous`, the smallest one;
`hierarchy`, the public door; `fields`, the distribution of local fields and marginal stability;
`jamming`, the exponents where the hierarchy ends. Below capacity: `states`, the free entropy;
`below`, its minimum, and with it the distribution of overlaps; `slopes`, where a gap opens in
them. One step for finitely many sign units: `votes`, what a pattern contributes; `few_units`,
their capacity; `many_units`, how it grows with their number.
"""

from wfmlib.theory.since.full_breaking.below import LoadHierarchy, at_load
from wfmlib.theory.since.full_breaking.few_units import FiniteCapacity, finite_capacity
from wfmlib.theory.since.full_breaking.fields import Fields, fields
from wfmlib.theory.since.full_breaking.hierarchy import Hierarchy, solve
from wfmlib.theory.since.full_breaking.jamming import Exponents, exponents
from wfmlib.theory.since.full_breaking.many_units import WideCapacity, wide_capacity
from wfmlib.theory.since.full_breaking.slopes import gap_onset, slope
from wfmlib.theory.since.full_breaking.steps import MOST as MOST_STEPS

__all__ = [
    "MOST_STEPS",
    "Exponents",
    "Fields",
    "FiniteCapacity",
    "Hierarchy",
    "LoadHierarchy",
    "WideCapacity",
    "at_load",
    "exponents",
    "fields",
    "finite_capacity",
    "gap_onset",
    "slope",
    "solve",
    "wide_capacity",
]


def __dir__():
    return __all__
