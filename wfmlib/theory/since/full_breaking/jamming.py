"""Exponents of jamming: gaps, forces and overlaps at the end of a continuous hierarchy.

With ``tau = 1 - q`` small, ``Lambda ~ tau^rho`` and ``y ~ tau^(rho - 1)``. A field h is pushed to
the margin by ``M sqrt(tau)``, a function of ``t = (h - kappa) / sqrt(tau)`` alone, and fields have
the density ``tau^(-s) p(t)``. Parisi's equations become

    M'' = M - t M' - 2 rho M (1 + M'),      p'' / 2 = rho (M p)' + s p + t p' / 2  [eq-scaling]

with ``M -> -t`` on the left and 0 on the right, and p a power on both sides: ``t^(-2 s)`` on the
right, where patterns are satisfied, ``|t|^theta`` on the left. Marginal stability, differentiated
once, is the last equation: ``rho E 2 M'^2 (1 + M') = E M''^2``  [eq-scaling-marginal]. Nothing of
the model is left in them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
import scipy

from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import Report, accepted
from wfmlib.theory.points import Shown

LEFT, RIGHT = -13.0, 9.0  # where M has become -t, and 0, to 1e-15
TERMS = 8  # of the series of p beyond
TOLERANCE = 1e-9  # relative, of the differential equations


@dataclass(frozen=True, repr=False)
class Exponents(Shown):
    """The exponents at jamming.

    Attributes
    ----------
    gaps : float
        gamma: the density of small gaps, ``stability - kappa``, is ``gap^-gamma``.
    forces : float
        theta: the density of small contact forces is ``force^theta``.
    overlaps : float
        kappa_J: ``1 - q ~ x^-kappa_J``, x the breaking function in units of its size; y grows as
        ``(1 - q)^(-1 / kappa_J)``.
    report : Report
        Residual: largest relative one of the differential equations.
    """

    printed_arguments = ()
    printed_answers = ("gaps", "forces", "overlaps")

    gaps: float
    forces: float
    overlaps: float
    report: Report = field(compare=False)


@functools.cache
def exponents() -> Exponents:
    """Return the exponents of the gaps, of the forces and of the overlaps.

    Returns
    -------
    Exponents
        Absolute errors are below 1e-7.

    Raises
    ------
    NotConverged
        If the differential equations are not solved.

    Notes
    -----
    Source: P. Charbonneau, J. Kurchan, G. Parisi, P. Urbani, F. Zamponi, J. Stat. Mech. (2014)
    P10009, for spheres in infinite dimension; S. Franz, G. Parisi, J. Phys. A 49, 145001 (2016),
    for the perceptron.

    Examples
    --------
    >>> jamming = exponents()
    >>> round(jamming.gaps, 5), round(jamming.forces, 5), round(jamming.overlaps, 5)
    (0.41269, 0.42311, 1.41574)
    """
    t = np.linspace(LEFT, RIGHT, 200)
    push = gaussian.G(t) - t * gaussian.H(t)
    start = np.zeros((6, len(t)))
    start[0], start[1], start[2] = push, -gaussian.H(t), 1.0
    solved = scipy.integrate.solve_bvp(
        _equations, _ends, t, start, p=[0.3, 0.2], tol=TOLERANCE, max_nodes=100_000
    )
    residual = float(np.max(solved.rms_residuals)) if solved.success else float("nan")
    report = accepted(residual, 10.0 * TOLERANCE, solved.niter, "scaling equations")
    rho, s = (float(value) for value in solved.p)
    return Exponents(2.0 * s, _force_exponent(rho, s), 1.0 / (1.0 - rho), report)


def _force_exponent(rho, s):
    return (rho - s) / (0.5 - rho)


def _equations(t, state, parameters):
    rho, s = parameters
    push, slope, density, change = state[:4]
    bend = push - t * slope - 2.0 * rho * push * (1.0 + slope)
    drift = rho * (slope * density + push * change)
    return np.stack(
        [
            slope,
            bend,
            change,
            2.0 * (drift + s * density) + t * change,
            density * bend**2,
            2.0 * density * slope**2 * (1.0 + slope),
        ]
    )


def _ends(left, right, parameters):
    """Return by how much the conditions at both ends are missed."""
    rho, s = parameters
    return np.array(
        [
            left[0] + LEFT,
            right[0],
            left[3] - left[2] * _left_slope(rho, s),
            right[3] - right[2] * _right_slope(s),
            right[2] - 1.0,
            left[4],
            left[5],
            rho * right[5] - right[4],
        ]
    )


def _right_slope(s):
    """Return ``p' / p`` where M = 0, from p as a series: ``t^(-2 s) sum_n a_n t^(-2 n)``."""
    term, total, slope = 1.0, 0.0, 0.0
    for n in range(TERMS):
        total += term
        slope -= 2.0 * (s + n) * term / RIGHT
        term *= -(s + n) * (2.0 * s + 2.0 * n + 1.0) / ((n + 1.0) * RIGHT**2)
    return slope / total


def _left_slope(rho, s):
    """Return ``p' / p`` where M = -t, from p as a series: ``|t|^theta sum_n b_n t^(-2 n)``."""
    theta = _force_exponent(rho, s)
    term, total, slope = 1.0, 0.0, 0.0
    for n in range(TERMS):
        total += term
        slope += (theta - 2.0 * n) * term / LEFT
        power = theta - 2.0 * n
        term *= -0.25 * power * (power - 1.0) / ((0.5 - rho) * (n + 1.0) * LEFT**2)
    return slope / total
