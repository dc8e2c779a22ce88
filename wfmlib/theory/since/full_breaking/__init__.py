"""Full replica symmetry breaking: groups inside groups of solutions, at the capacity and below.

To read in this order: `ladder`, Parisi's equation as a chain of Gaussian averages;
`capacity_entropy`, the load that a hierarchy bounds; `steps` and `continuous`, the smallest one;
`hierarchy`, the public door; `fields`, the distribution of local fields and marginal stability;
`jamming`, the exponents where the hierarchy ends. Below capacity: `states`, the free entropy;
`below`, its minimum, and with it the distribution of overlaps; `slopes`, where a gap opens in
them. One step for finitely many sign units: `votes`, what a pattern contributes; `few_units`,
their capacity; `many_units`, how it grows with their number.
"""

from wfmlib.theory.since.full_breaking.below import at_load
from wfmlib.theory.since.full_breaking.few_units import finite_capacity
from wfmlib.theory.since.full_breaking.fields import fields
from wfmlib.theory.since.full_breaking.hierarchy import solve
from wfmlib.theory.since.full_breaking.jamming import exponents
from wfmlib.theory.since.full_breaking.many_units import wide_capacity
from wfmlib.theory.since.full_breaking.slopes import gap_onset, slope

__all__ = [
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
