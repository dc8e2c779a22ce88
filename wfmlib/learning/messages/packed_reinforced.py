"""Reinforced message passing on packed patterns: one solution of a perceptron of 10^5 weights.

The sweep of `reinforced`, with the products of `packed_patterns`: a bit an entry, so that
N = P = 10^5 fits in 1.3 GB, and sums in double precision.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.learning.messages.reinforced import Rate, Reinforced, reinforced
from wfmlib.learning.solution import Best
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Count, Damping
from wfmlib.numerics.types import Seed


@arguments.checked
def packed_reinforced(
    packed: PackedPatterns,
    *,
    rate: Rate = 0.003,
    max_sweeps: Count = 1000,
    look: Count = 5,
    lean: Damping = 0.1,
    rng: Seed = None,
    threads: Count | None = None,
) -> Reinforced:
    """Look for a solution of the binary perceptron at margin 0.

    Parameters
    ----------
    packed : PackedPatterns
        Patterns times labels.
    rate, max_sweeps, lean, rng
        As for `reinforced_message_passing`.
    look : int
        The signs of the means are tried in every sweep of this number, and in the last; at
        least 1.
    threads : int, optional
        Number of threads, at least 1; all that numba may use where None. The result does not
        depend on it.

    Returns
    -------
    Reinforced
        It ends with the first sweep in which the signs were tried and are a solution.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    """
    packed = arguments.member("packed", packed, (PackedPatterns,))
    root = math.sqrt(packed.N)
    m = lean * arguments.generator(rng).uniform(-1.0, 1.0, packed.N)
    pull, field = np.zeros(packed.P), np.zeros(packed.N)
    sweeps, best = 0, Best()
    while sweeps < max_sweeps and best.errors > 0:
        variance = max(1.0 - float(np.mean(m**2)), 1.0 / packed.N)
        omega = packed.fields(m, threads=threads) / root - variance * pull
        u = -omega / math.sqrt(variance)
        pull = gaussian.hazard(u) / math.sqrt(variance)
        stiffness = float(np.sum(gaussian.hazard_derivative(u))) / (packed.N * variance)
        kept = 1.0 - (1.0 - rate) ** sweeps
        field = packed.pull(pull, threads=threads) / root + stiffness * m + kept * field
        sweeps += 1
        if not np.all(np.isfinite(field)):
            break
        m = np.tanh(field)
        if sweeps % look == 0 or sweeps == max_sweeps:
            weights = np.where(m < 0.0, -1, 1)
            best.look(weights, packed.errors(weights))
    return reinforced(best, m, field, sweeps)
