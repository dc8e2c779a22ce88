"""Constraints on a pattern's stability: one file each, with all averages over its field.

A constraint is a weight on the local field of a pattern: an indicator for a margin, a Boltzmann
factor for a loss. Given the part `omega` of the field that all solutions share, and the `variance`
of the part in which they differ, ``f(omega)`` is the logarithm of the weight's average. Its
derivatives drive the saddle point: ``f'`` is the mean force of the pattern on the solutions,
``-f''`` its stiffness.

`log_concave` is what all share; `margin` is the simplest, with kernels of its own (`margin_around`
for what surrounds a reference); `band` has nothing but its weight; `cross_entropy_loss` weighs
with a loss, `log_potential` with a potential on solutions alone, `pattern_weight` with a function
of one's own.
"""

from wfmlib.models.constraints.band import Band
from wfmlib.models.constraints.cross_entropy_loss import CrossEntropy
from wfmlib.models.constraints.log_potential import LogPotential
from wfmlib.models.constraints.margin import Margin
from wfmlib.models.constraints.pattern_weight import PatternWeight

__all__ = ["Band", "CrossEntropy", "LogPotential", "Margin", "PatternWeight"]
