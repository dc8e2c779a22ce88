"""The weights: what one component may be, and the entropic terms that follow.

The entropic term knows nothing of the patterns. Given the conjugate overlaps that the patterns
exert on a weight, it says how much solutions overlap and how many there are. Every prior is one
file; the saddle points of `theory` call its methods:

- `entropic`: typical solutions; `broken`: groups of them;
- `constrained`, `constrained_broken`: the same at a distance from a reference;
- `conjugate`, `replicas`, `limit`, `unloaded`: real replicas at a given mutual overlap, any number
  of them and infinitely many;
- `bound`, `entropy`, `collapse`: without patterns, and where solutions become one.
"""

from wfmlib.models.weights.binary import Binary
from wfmlib.models.weights.discrete import Discrete
from wfmlib.models.weights.spherical import Spherical
from wfmlib.models.weights.terms import ConstrainedEntropic, Entropic

__all__ = ["Binary", "ConstrainedEntropic", "Discrete", "Entropic", "Spherical"]
