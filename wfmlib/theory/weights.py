"""The weights: what one component may be, and the entropic term that follows.

The entropic term knows nothing of the patterns. Given the conjugate overlap ``q_hat`` that the
patterns exert on a weight, it says how much two solutions overlap and how many there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib import gaussian

__all__ = ["Binary", "Entropic", "Spherical"]


class Entropic(NamedTuple):
    """The entropic side of a replica-symmetric saddle point, at a given ``q_hat``.

    Attributes
    ----------
    q : float
        Overlap between two solutions.
    complement : float
        ``1 - q``, without the rounding of q.
    term : float
        What the weights contribute to the free entropy, the ``q_hat (1 - q) / 2`` of the Legendre
        transform included; nats per weight.
    fluctuation : float
        Mean square of a weight's variance over the solutions: the weights' factor of the replicon.
    """

    q: float
    complement: float
    term: float
    fluctuation: float


@dataclass(frozen=True)
class Binary:
    """Weights ``w_i = +1`` or ``-1``; entropies count configurations, ``ln 2`` at load 0."""

    discrete = True  #: solutions run out where the entropy vanishes, not where q -> 1
    entropy = math.log(2.0)  #: nats per weight without any pattern
    collapse = 2.0 / math.pi  #: limit of q_hat (1 - q)^2 for q -> 1

    def entropic(self, q_hat):
        """Return the entropic side of the saddle point  [eq-rs-entropic].

        A weight feels the field ``sqrt(q_hat) x``, x normal: ``q = E tanh^2(sqrt(q_hat) x)``, and
        the free entropy gains ``-q_hat (1 - q) / 2 + E ln 2 cosh(sqrt(q_hat) x)``.

        Source: P3, equation A10a.
        """
        width = math.sqrt(q_hat)
        q, complement, log_2cosh, fluctuation = _field_averages(width, gaussian.legendre_rule())
        return Entropic(q, complement, log_2cosh - 0.5 * q_hat * complement, fluctuation)


@dataclass(frozen=True)
class Spherical:
    """Weights on the sphere ``sum_i w_i^2 = N`` (of each hidden unit, in a committee).

    Entropies are logarithms of volumes in the weights' own coordinates: ``ln(2 pi e) / 2`` per
    weight for the whole sphere. Subtract `entropy` for the logarithm of the fraction of it.
    """

    discrete = False  #: solutions run out where q -> 1
    entropy = 0.5 * math.log(2.0 * math.pi * math.e)  #: nats per weight without any pattern
    collapse = 1.0  #: limit of q_hat (1 - q)^2 for q -> 1

    def entropic(self, q_hat):
        """Return the entropic side of the saddle point  [eq-spherical-entropic].

        ``q_hat = q / (1 - q)^2``  [eq-spherical-saddle], solved here for q; the free entropy gains
        ``[ln(1 - q) + q / (1 - q) + ln(2 pi e)] / 2``.

        Source: P2, equation B1 with the conjugates eliminated.
        """
        complement = 2.0 / (1.0 + math.sqrt(1.0 + 4.0 * q_hat))
        q = q_hat * complement**2
        return Entropic(
            q=q,
            complement=complement,
            term=0.5 * (math.log(complement) + q / complement) + self.entropy,
            fluctuation=complement**2,
        )


# ------------------------------------------------------------------------------------------------
# Kernel
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _field_averages(width, rule):
    """Return the averages of tanh^2, sech^2, ln 2 cosh, sech^4 at ``width x``, x normal.

    In exponentials of ``-2 |field|``, so that nothing overflows or cancels.
    """
    # the averages are even: twice the half line, its panels graded towards 0
    features = np.array([[0.0, 1.0 / max(width, 0.5)]])
    x, weight = gaussian.fill_grid(features, 0.0, gaussian.LIMIT, rule)
    q = complement = log_2cosh = fluctuation = 0.0
    for i in range(len(x)):
        field = width * x[i]
        decay = math.exp(-2.0 * field)
        variance = 4.0 * decay / (1.0 + decay) ** 2
        q += 2.0 * weight[i] * (math.expm1(-2.0 * field) / (1.0 + decay)) ** 2
        complement += 2.0 * weight[i] * variance
        log_2cosh += 2.0 * weight[i] * (field + math.log1p(decay))
        fluctuation += 2.0 * weight[i] * variance**2
    if q > 0.5:  # the smaller of the two keeps its digits, and their sum is 1
        q = 1.0 - complement
    else:
        complement = 1.0 - q
    return q, complement, log_2cosh, fluctuation
