"""Type aliases of public signatures."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: An array whose shape and type the docstring says.
Array: TypeAlias = NDArray[Any]
#: What random numbers are made of: None takes fresh entropy.
Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator | None
