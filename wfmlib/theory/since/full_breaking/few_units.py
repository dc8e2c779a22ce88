"""The capacity of a few sign units and spherical weights with one step of symmetry breaking.

As in `one_step_capacity`: the load at which the free entropy vanishes is smallest at the saddle
point  [eq-1rsb-capacity]. What a pattern contributes is the vote of a group  [eq-few-votes], from
`votes`. For three units other integrals (`three_units_capacity`) give the same.

The stability of a pattern counts votes: with n units right it is ``(2 n - K) / sqrt(K)``. So a
margin says how many units must be right, and not how far a field is from its threshold. If all
must be, each unit is a perceptron for itself, and the capacity is ``2 / K``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import Report, accepted
from wfmlib.theory.axes import checked, odd_signs
from wfmlib.theory.machines.finite_committee import rs_capacity
from wfmlib.theory.points import Shown
from wfmlib.theory.since.full_breaking import votes

MOST_UNITS = 11
START = (2.0, 0.5)  # ln[r (1 - q0)], logit q0
WITHIN = ((-4.0, 9.0), (-4.0, 3.0))
SEARCH = 1.0  # step of the grid of shared fields
# With which the load is found at the end, up to so many units: a check, and the answer.
STEPS = {5: (0.6, 0.4), 9: (0.8, 0.6), MOST_UNITS: (1.0, 0.8)}
PRECISION, TOLERANCE = 1e-5, 1e-3  # of d ln alpha / dx; alpha errs by the square of that
FAR = 10.0  # how much more a part that is left out contributes than its share
LEAST_ERROR = 1e-7  # relative


@dataclass(frozen=True, repr=False)
class FiniteCapacity(Shown):
    """Where the solutions of a few sign units end, with one step of symmetry breaking.

    Attributes
    ----------
    device : TreeCommittee
    constraint : Margin
    needed : int
        How many units must be right.
    alpha : float
        The capacity, patterns per weight.
    error : float
        Estimate of its absolute error: the difference from a coarser grid, and what was left out.
    symmetric : float
        The replica-symmetric capacity.
    q0 : float
        Overlap between groups; 1 where replica symmetry holds.
    ratio : float
        Limit of ``m / (1 - q1)``; 0 where replica symmetry holds.
    report : Report
        Residual: largest derivative of the logarithm of the load.
    """

    printed_arguments = ("device", "constraint")
    printed_answers = ("needed", "alpha", "error", "symmetric", "q0", "ratio")

    device: Device
    constraint: Margin
    needed: int
    alpha: float
    error: float
    symmetric: float
    q0: float
    ratio: float
    report: Report = field(compare=False)


@arguments.checked
def finite_capacity(device: Device, constraint: Constraint = Margin(0.0)) -> FiniteCapacity:
    """Return the capacity of a few sign units with one step of symmetry breaking.

    Parameters
    ----------
    device : TreeCommittee
        Of an odd number of sign units, from 1 to 11, with spherical weights. Up to 11 units
        take one or two seconds.
    constraint : Margin
        A margin that some votes of the units exceed and others do not, at least ``-sqrt(K)`` and
        below ``sqrt(K)``. It says how many units must be right: the fewest, n, for which the
        stability ``(2 n - K) / sqrt(K)`` exceeds the margin.

    Returns
    -------
    FiniteCapacity
        The smallest load at which the free entropy of one step vanishes  [eq-few-votes]. Further
        steps lower it: for three units a second one by 0.4 %. If all units must be right, each is
        a perceptron, of which replica symmetry holds.

    Raises
    ------
    TypeError, ValueError
        If the device is another one, or the constraint is no such margin; the message names it.
    NotConverged
        If no minimum is found.

    Notes
    -----
    Relative errors: below 1e-6 up to 7 units, 1e-5 beyond.

    Source: E. Barkai, D. Hansel, H. Sompolinsky, Phys. Rev. A 45, 4146 (1992), and A. Engel et
    al., Phys. Rev. A 45, 7590 (1992), for three units.

    Examples
    --------
    >>> from wfmlib import TreeCommittee
    >>> round(finite_capacity(TreeCommittee(5)).alpha, 4)
    3.6193
    """
    margin: Margin = arguments.member("constraint", constraint, (Margin,))
    checked(device, Margin(0.0), kinds=(odd_signs(MOST_UNITS),), weights=(Spherical,))
    units = device.units
    needed = votes_needed(units, margin)
    symmetric = rs_capacity(units, needed)
    if needed == units:
        report = accepted(0.0, 0.0, 1, "replica symmetric")
        return FiniteCapacity(device, margin, needed, symmetric, 0.0, symmetric, 1.0, 0.0, report)
    x, evaluations = minimum(units, needed=needed)
    check, fine = next(steps for most, steps in STEPS.items() if units <= most)
    coarse, slopes, _ = log_load(x, units, check, needed=needed)
    log_alpha, _, left_out = log_load(x, units, fine, needed=needed, slopes=False)
    alpha = math.exp(log_alpha)
    q0, complement = _overlap(x)
    error = alpha * (abs(log_alpha - coarse) + FAR * abs(left_out) + LEAST_ERROR)
    residual = float(np.max(np.abs(slopes)))
    report = accepted(residual, TOLERANCE, evaluations, "one step", x)
    ratio = math.exp(x[0]) / complement
    return FiniteCapacity(device, margin, needed, alpha, error, symmetric, q0, ratio, report)


def votes_needed(units, margin):
    """Return how many units must be right for the stability to exceed a margin."""
    stabilities = (2 * np.arange(units + 1) - units) / np.sqrt(units)  # as networks round them
    needed = int(np.searchsorted(stabilities, margin.kappa, side="right"))
    if not 1 <= needed <= units:
        raise ValueError(
            "constraint must have a margin that some votes exceed and others do not, from "
            f"{stabilities[0]:.6g} to below {stabilities[-1]:.6g} for {units} units, "
            f"got {margin!r}"
        )
    return needed


def minimum(units, kappa=0.0, needed=None):
    """Return the place of the smallest load, ``ln[r (1 - q0)], logit q0``, and how often asked."""
    result = scipy.optimize.minimize(
        lambda x: log_load(x, units, SEARCH, kappa, needed)[:2],
        START,
        jac=True,
        method="L-BFGS-B",
        bounds=WITHIN,
        options={"gtol": PRECISION, "ftol": 1e-14},
    )
    return result.x, result.nfev


def log_load(x, units, step, kappa=0.0, needed=None, slopes=True):
    """Return the logarithm of the load, its derivatives by x, and the measure left out.

    The arguments behind x as those of `votes.averages`.
    """
    q0, complement = _overlap(x)
    stretch = math.exp(x[0])
    ratio, outer = stretch / complement, 1.0 + stretch
    averages = votes.averages(units, q0, complement, ratio, step, kappa, needed, slopes)
    entropic = math.log1p(stretch) + ratio * q0 / outer
    by_ratio = (
        complement / outer + q0 / outer**2
    ) / entropic - averages.by_ratio / averages.log_weight
    by_q0 = ratio**2 * q0 / outer**2 / entropic - averages.by_q0 / averages.log_weight
    gradient = np.array([ratio * by_ratio, q0 * (complement * by_q0 + ratio * by_ratio)])
    return math.log(entropic / (-2.0 * averages.log_weight)), gradient, averages.left_out


def _overlap(x):
    return float(scipy.special.expit(x[1])), float(scipy.special.expit(-x[1]))
