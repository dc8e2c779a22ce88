"""The capacity of many sign units with one step of symmetry breaking: what grows with ln K.

Of K units about ``sqrt(K)`` have to change sides if the vote, ``omega = sum_l sign(w_l) /
sqrt(K)``, is negative, and those nearest to their thresholds cost

    D^2 = (pi / 12) |omega|^3 / sqrt(K).

So the ratio ``r = m / (1 - q1)`` grows as ``b sqrt(K)``, and the average over a group is one
over its vote, normal with the effective overlap ``c0 = (2 / pi) arcsin q0``. The number of units
enters the load only through ln r: it grows as ``(8 / pi) sqrt(ln K)``  [eq-many-signs-one-step].
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.models.activations import Sign
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.solvers import accepted

NODE, WEIGHT = np.polynomial.legendre.leggauss(80)
REACH = 9.0  # how far votes are followed, in widths of their weight
NEGLIGIBLE = 40.0  # exponents this far below the largest are left out
STEP = 0.05  # of the grid of votes that groups share, in widths of a group
PRECISION = {"xatol": 1e-4, "fatol": 1e-10, "maxiter": 1000}


class WideCapacity(NamedTuple):
    """Where the solutions of many sign units end, with one step of symmetry breaking.

    Attributes
    ----------
    alpha : float
        Load, patterns per weight.
    q0 : float
        Overlap between groups.
    hardness : float
        ``b``, the limit of ``m / [(1 - q1) sqrt(K)]``.
    """

    alpha: float
    q0: float
    hardness: float


@arguments.checked
def wide_capacity(log_units: Annotated[float, Interval(ge=4.0, le=1e4)]) -> WideCapacity:
    """Return the capacity of many sign units with one step of symmetry breaking.

    Parameters
    ----------
    log_units : float
        ln K, the logarithm of the number of units: from 4 to 1e4. The vote of the units is taken
        to be normal, which for a thousand units overestimates the load by 6 %.

    Returns
    -------
    WideCapacity
        The smallest load at which the free entropy vanishes  [eq-many-signs-one-step]. A second
        step lowers it, from 12.3 to 7.7 at ln K = 32  [eq-many-signs-two-steps].

    Raises
    ------
    TypeError, ValueError
        If the argument is not a number or out of range; the message names it.

    Notes
    -----
    Relative errors of this limit's load: below 1e-6.

    Examples
    --------
    >>> round(wide_capacity(32.0).alpha, 2)
    12.32
    """
    start = [math.log(0.5 * log_units), 6.0 + math.log(log_units)]
    result = scipy.optimize.minimize(
        lambda x: math.log(_load(x, log_units)),
        start,
        method="Nelder-Mead",
        options=PRECISION,
    )
    accepted(0.0 if result.success else math.inf, 0.0, result.nfev, "many units", result.x)
    return WideCapacity(
        _load(result.x, log_units), float(scipy.special.expit(result.x[0])), math.exp(result.x[1])
    )


def _load(x, log_units):
    q0, complement = scipy.special.expit(x[0]), scipy.special.expit(-x[0])
    log_ratio = x[1] + 0.5 * log_units
    entropic = np.logaddexp(0.0, log_ratio + math.log(complement))
    entropic += q0 / (math.exp(-log_ratio) + complement)
    return float(entropic / (-2.0 * log_weight(complement, math.exp(x[1]))))


def log_weight(complement, hardness):
    """Return the average over patterns of ``ln <exp(-b pi |omega|^3 / 24)>``, omega negative."""
    overlap = Sign().effective(1.0 - complement, complement)
    variance = overlap.complement
    step = STEP * min(math.sqrt(variance / overlap.c), 1.0)
    x = step * np.arange(-math.ceil(REACH / step), math.ceil(REACH / step) + 1)
    share = np.exp(-0.5 * x**2)
    return float(share @ group_log_weight(math.sqrt(overlap.c) * x, variance, hardness)) / float(
        share.sum()
    )


def group_log_weight(vote, variance, hardness):
    """Return ``ln <exp(-b pi |omega|^3 / 24)>`` of groups whose members share a vote.

    Beside the votes that are right it is an integral over ``t = -omega > 0``, of a function whose
    logarithm is concave.
    """
    curved = 0.125 * math.pi * hardness  # the slope of the cost is this times t^2
    pull = np.maximum(-vote, 0.0) / variance
    middle = 2.0 * pull / (1.0 / variance + np.sqrt(1.0 / variance**2 + 4.0 * curved * pull))
    width = 1.0 / np.sqrt(1.0 / variance + 2.0 * curved * middle)
    low = np.maximum(middle - REACH * width, 0.0)
    high = REACH * width
    high = np.minimum(high, (3.0 * NEGLIGIBLE / curved) ** (1.0 / 3.0))
    steep = np.maximum(vote, 0.0) / variance
    high = middle + np.minimum(high, NEGLIGIBLE / np.maximum(steep, 1e-300))
    t = low + 0.5 * (high - low) * (1.0 + NODE[:, None])
    exponent = -0.5 * (t + vote) ** 2 / variance - curved * t**3 / 3.0
    peak = exponent.max(axis=0)
    total = 0.5 * (high - low) * (WEIGHT @ np.exp(exponent - peak))
    wrong = peak + np.log(total) - 0.5 * math.log(2.0 * math.pi * variance)
    return np.logaddexp(gaussian.log_H(-vote / math.sqrt(variance)), wrong)
