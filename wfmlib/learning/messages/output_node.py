"""Output node of a committee's factor graph: what it asks of each hidden unit.

Every unit l answers +1 with probability p_l, by its own Gaussian sum. The output is right when
more than half of the units say +1 (labels are multiplied into the patterns). The node tells unit
k the probabilities that the output is right if k says +1, and if it says -1 [eq-bp-output].
"""

from __future__ import annotations

import math

from wfmlib.learning.messages.channel import exact
from wfmlib.numerics.gaussian import H, log_H

MOST_SIGMA = 37.0  # H underflows beyond


@exact
def _tail_probability(x):
    """Return ``H(-x)``, never quite 0."""
    return H(-max(x, -MOST_SIGMA))


@exact
def output_messages(x, gaussian, prefix, tails, plus, minus):
    """Fill in what the node asks of each unit, and return the log-probability of a right output.

    Parameters
    ----------
    x : ndarray, shape (K,)
        Mean over standard deviation of each unit's sum.
    gaussian : bool
        Take the sum of the other units' answers as Gaussian (any K, error of order 1/K) instead
        of adding up its distribution exactly, in O(K^2).
    prefix, tails : ndarray, shape (K + 1, K + 2)
        Work space.
    plus, minus : ndarray, shape (K,)
        Filled with the two probabilities, up to a common factor for each unit.
    """
    if len(x) == 1:
        plus[0], minus[0] = 1.0, 0.0
        return log_H(-x[0])
    return _by_moments(x, plus, minus) if gaussian else _by_counting(x, prefix, tails, plus, minus)


@exact
def _by_counting(x, prefix, tails, plus, minus):
    """Count: prefix[k, j] = P(j of the first k say +1), tails[k, j] = P(j or more of the rest).

    Only positive terms are added, so that nothing cancels where a right output is unlikely.
    """
    units = len(x)
    half = units // 2
    least = 1e-300 ** (1.0 / (half + 1))  # products of half + 1 such factors do not underflow
    prefix[:] = 0.0
    prefix[0, 0] = 1.0
    for k in range(units - 1):
        p, q = max(_tail_probability(x[k]), least), max(_tail_probability(-x[k]), least)
        for j in range(k + 2):
            prefix[k + 1, j] = q * prefix[k, j] + (p * prefix[k, j - 1] if j > 0 else 0.0)
    tails[units] = 0.0
    tails[:, 0] = 1.0
    for k in range(units - 1, -1, -1):
        p, q = max(_tail_probability(x[k]), least), max(_tail_probability(-x[k]), least)
        for j in range(1, units + 2):
            tails[k, j] = p * tails[k + 1, j - 1] + q * tails[k + 1, j]
    for k in range(units):
        up = down = 0.0
        for j in range(k + 1):
            up += prefix[k, j] * tails[k + 1, max(half - j, 0)]
            down += prefix[k, j] * tails[k + 1, max(half + 1 - j, 0)]
        plus[k], minus[k] = up, down
    return math.log(tails[0, half + 1])


@exact
def _by_moments(x, plus, minus):
    mean = variance = 0.0
    for k in range(len(x)):
        p, q = _tail_probability(x[k]), _tail_probability(-x[k])
        mean += p - q
        variance += 4.0 * p * q
    for k in range(len(x)):
        p, q = _tail_probability(x[k]), _tail_probability(-x[k])
        rest = max(variance - 4.0 * p * q, 1e-12)
        lower = (mean - (p - q) - 1.0) / math.sqrt(rest)
        upper = (mean - (p - q) + 1.0) / math.sqrt(rest)
        plus[k] = max(_tail_probability(upper), 1e-300)
        minus[k] = _tail_probability(lower)
    return log_H(-mean / math.sqrt(max(variance, 1e-12)))
