"""Approximate message passing with reinforcement: one solution of a binary perceptron.

Message passing [eq-amp] gives each weight's mean over all solutions, and typical solutions are
isolated: rounding the means solves nothing. Reinforcement adds to each weight's field a share of
the field of the sweep before, and lets that share grow to one. Means are pulled to the side on
which they are, until they are signs. In the frame where every label is +1, ``F = xi sigma``::

    omega = F @ m / sqrt(N) - V * pull           # V = 1 - |m|^2 / N, pull of the sweep before
                                                 # V is 1 / N at least: one undecided weight
    pull, give = f'(omega), -f''(omega)          # of the constraint, at variance V
    field = F.T @ pull / sqrt(N) + mean(give) * P / N * m + share * field
    m = tanh(field)

The constraint may be a margin or a band: only f' and f'' differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.learning.solution import Best, outcome
from wfmlib.models.constraints import Band, Margin
from wfmlib.models.protocols import Constraint
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Damping
from wfmlib.numerics.types import Seed

Rate: TypeAlias = Annotated[float, Interval(gt=0.0, lt=1.0)]


@dataclass(frozen=True, eq=False)
class Reinforced:
    """What reinforced message passing ended with.

    Attributes
    ----------
    weights : numpy.ndarray
        Signs of the means after the sweep with the fewest errors, shape (N,).
    errors : int
        How many patterns do not meet the constraint with these weights.
    sweeps : int
        How often all messages were renewed.
    outcome : str
        How it ended, one of `learning.ENDINGS`: means are certain where they settled.
    """

    weights: np.ndarray
    errors: int
    sweeps: int
    outcome: str


@arguments.checked
def reinforced_message_passing(
    xi: ArrayLike,
    sigma: ArrayLike,
    constraint: Constraint = Margin(0.0),
    *,
    rate: Rate = 0.003,
    max_sweeps: Count = 1000,
    lean: Damping = 0.1,
    rng: Seed = None,
) -> Reinforced:
    """Look for a solution of a perceptron with weights of +1 and -1.

    Parameters
    ----------
    xi, sigma : array_like
        Patterns, shape (P, N), and labels, shape (P,), entries -1 and +1.
    constraint : Margin or Band
        What every pattern demands: a margin, or a band from 0.01 to 10.
    rate : float
        In sweep t the share of the old field that is kept is ``1 - (1 - rate)^t``; between 0
        and 1. Slower is better and takes longer, in proportion.
    max_sweeps : int
        The most, at least 1.
    lean : float
        Means begin uniform between -lean and lean, from 0 to below 1. In a band w and -w are
        alike, and means of 0 would stay 0.
    rng : None, int, SeedSequence or Generator
        For the first means.

    Returns
    -------
    Reinforced
        It ends with the first sweep after which the signs are a solution.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    Source: A. Braunstein, R. Zecchina, Phys. Rev. Lett. 96, 030201 (2006), for the reinforcement.
    """
    xi, sigma = arguments.patterns(xi, sigma)
    constraint = arguments.member("constraint", constraint, (Margin, Band))
    constraint.within_range(1.0)
    N = xi.shape[1]
    root = math.sqrt(N)
    F = (xi * sigma[:, None]).astype(np.float32)  # sums of signs are exact
    m: Any = lean * arguments.generator(rng).uniform(-1.0, 1.0, N)
    pull: Any = np.zeros(len(F))
    field: Any = np.zeros(N)
    best = Best()
    for sweep in range(max_sweeps):
        variance = max(1.0 - float(m @ m) / N, 1.0 / N)
        response: Any = constraint.at(
            F @ m.astype(np.float32) / root - variance * pull,
            variance,
        )
        pull, give = response.slope, -response.curvature
        kept = 1.0 - (1.0 - rate) ** sweep
        field = F.T @ pull.astype(np.float32) / root + (np.sum(give) / N) * m + kept * field
        if not np.all(np.isfinite(field)):
            break
        m = np.tanh(field)
        weights = np.where(m < 0.0, -1, 1)
        best.look(weights, _violations(F @ weights.astype(np.float32), N, constraint))
        if best.errors == 0:
            break
    return reinforced(best, m, field, sweep + 1)


def reinforced(best, m, field, sweeps):
    """Return how reinforced messages ended: certain, undecided or not a number."""
    certain = len(m) * (1.0 - float(np.mean(m**2))) < 1.0
    ending = outcome(best.errors, certain, bool(np.all(np.isfinite(field))))
    return Reinforced(best.weights, best.errors, sweeps, ending)


def _violations(fields, N, constraint):
    """Return how many patterns do not meet a constraint; fields are sums of N signs."""
    limit = constraint.kappa * math.sqrt(N)
    return int(np.count_nonzero(np.abs(fields) > limit if constraint.even else fields <= limit))
