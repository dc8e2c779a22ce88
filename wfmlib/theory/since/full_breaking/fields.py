"""The distribution of local fields in a hierarchy, and how marginal it is.

Parisi's equation is solved once more, by finite differences on one grid of fields: backward for
the force ``u = F'``, forward for the density P(q, h) of the field that a group shares,

    du/dc = -u''/2 - y u u',      dP/dc = P''/2 - y (u P)'  [eq-parisi-density].

Where the hierarchy is continuous, two replicas that differ a little neither join nor part:
``alpha Lambda^2 [c'^2 E u'^2 + c'' E u^2] = 1`` at every q  [eq-full-marginal].
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.types import Array
from wfmlib.theory.axes import energetic
from wfmlib.theory.since.full_breaking.hierarchy import Hierarchy

WIDEST = 9.0  # how far fields are followed beyond 0 and kappa
STEPS = 8  # of finite differences in an interval of the ladder, at least


class Fields(NamedTuple):
    """Fields that groups share, at the overlaps of a hierarchy but the last ones.

    Attributes
    ----------
    overlaps : ndarray
        Shape ``(n,)``.
    stability : ndarray
        Fields h in units of the activation's scale: shape ``(nodes,)``.
    density : ndarray
        P(q, h): shape ``(n, nodes)``.
    force : ndarray
        ``u = F'``: shape ``(n, nodes)``.
    replicon : ndarray
        ``alpha Lambda^2 [c'^2 E u'^2 + c'' E u^2]``, 1 where the hierarchy is continuous: shape
        ``(n,)``.
    pull : ndarray
        ``alpha c' E u^2 / int_0^q dq / Lambda^2``, 1 at the ends of every interval: shape
        ``(n,)``.
    """

    overlaps: Array
    stability: Array
    density: Array
    force: Array
    replicon: Array
    pull: Array


@arguments.checked
def fields(
    hierarchy: Hierarchy, *, nodes: Annotated[int, Interval(ge=200, le=9999)] = 1200
) -> Fields:
    """Return the distribution of local fields at the capacity.

    Parameters
    ----------
    hierarchy : Hierarchy
        From `solve`, with at least one step.
    nodes : int
        Of the grid of fields, from 200 to 9999; they lie densest about the margin.

    Returns
    -------
    Fields

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or replica symmetry holds.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron, Spherical
    >>> from wfmlib.theory import full_breaking
    >>> hierarchy = full_breaking.solve(Perceptron(Spherical()), Margin(-0.5), steps=1)
    >>> local = fields(hierarchy)
    >>> np.trapezoid(local.density, local.stability).round(6).tolist()  # one row for each overlap
    [1.0]
    """
    arguments.member("hierarchy", hierarchy, (Hierarchy,))
    if not len(hierarchy.overlaps):
        raise ValueError("hierarchy must have at least one step, got a replica-symmetric one")
    activation = energetic(hierarchy.device)
    kappa = hierarchy.constraint.rescaled(activation.scale).kappa
    gaps = 1.0 - hierarchy.overlaps
    effective = [activation.effective(1.0 - gap, gap) for gap in gaps]
    complement = np.array([overlap.complement for overlap in effective])
    h = _nodes(kappa, math.sqrt(complement[-1]), nodes)
    slope = activation.slope_at_one
    widths, cost = complement[:-1] - complement[1:], slope * hierarchy.chi
    force = [_last_force(kappa - h, complement[-1], hierarchy.heights[-1], cost)]
    cost += complement[-1] * hierarchy.heights[-1]
    back: list[Any] = [None] * len(widths)
    for i in range(len(widths) - 1, -1, -1):
        back[i] = _backward(h, force[0], widths[i], hierarchy.heights[i], cost)
        cost += widths[i] * hierarchy.heights[i]
        force.insert(0, back[i][-1])
    density = [_gaussian(h, effective[0].c)]
    for i, passed in enumerate(back):
        density.append(_forward(h, density[-1], passed, widths[i], hierarchy.heights[i]))
    density, force = np.array(density), np.array(force)
    weight = density * np.gradient(h)
    square = np.sum(weight * force**2, axis=1)
    stiffness = np.sum(weight * np.gradient(force, h, axis=1) ** 2, axis=1)
    slopes, bends = (
        np.array([overlap.slope for overlap in effective]),
        np.array([overlap.curvature for overlap in effective]),
    )
    low, high = hierarchy.responses[:-1], hierarchy.responses[1:]
    inner = np.append(0.0, np.cumsum((1.0 / high - 1.0 / low) / hierarchy.heights)[:-1])
    squares = hierarchy.overlaps[0] / low[0] ** 2 + inner
    return Fields(
        hierarchy.overlaps,
        h,
        density,
        force,
        hierarchy.alpha * low**2 * (slopes**2 * stiffness + bends * square),
        hierarchy.alpha * slopes * square / squares,
    )


def _nodes(kappa, narrowest, nodes):
    """Return fields from far below 0 and kappa to far above, densest at kappa."""
    low, high = min(kappa, 0.0) - WIDEST - kappa, max(kappa, 0.0) + WIDEST - kappa
    t = np.linspace(math.asinh(low / narrowest), math.asinh(high / narrowest), nodes)
    return kappa + narrowest * np.sinh(t)


def _gaussian(h, variance):
    if variance <= 0.0:
        raise ValueError("hierarchy must start at a positive overlap")
    density = gaussian.G(h / math.sqrt(variance))
    return density / np.sum(density * np.gradient(h))


def _last_force(d, width, y, cost):
    """Return F' below the last interval, in closed form; d is kappa - h."""
    stretch = 1.0 + y * width / cost
    v = d / math.sqrt(width * stretch)
    short = -0.5 * math.log(stretch) - 0.5 * y * d**2 / (cost * stretch) + gaussian.log_H(-v)
    share = np.exp(short - np.logaddexp(gaussian.log_H(d / math.sqrt(width)), short))
    return share * math.sqrt(width / stretch) * (v + gaussian.hazard(-v)) / cost


def _operators(h):
    """Return first and second derivatives as three diagonals; none at the ends."""
    left, right = np.diff(h)[:-1], np.diff(h)[1:]
    total = left + right
    first = np.stack(
        [-right / (left * total), (right - left) / (left * right), left / (right * total)]
    )
    second = np.stack([2.0 / (left * total), -2.0 / (left * right), 2.0 / (right * total)])
    return first, second


def _backward(h, force, width, y, cost):
    """Return u at each small step below an interval, the first being that above it."""
    first, second = _operators(h)
    step = width / STEPS
    passed = [force]
    far = force[0] * cost  # kappa - h: u is that over L far below kappa
    for _ in range(STEPS):
        guess, cost = passed[-1], cost + y * step
        for _ in range(4):  # Crank-Nicolson; the drift at the middle
            middle = 0.5 * (guess + passed[-1])[1:-1]
            generator = 0.5 * second + y * middle * first
            guess = _crank_nicolson(generator, passed[-1], step, (far / cost, 0.0))
        passed.append(guess)
    return passed


def _crank_nicolson(generator, old, step, ends):
    """Return u after a step of ``du/ds = generator u``."""
    applied = generator[0] * old[:-2] + generator[1] * old[1:-1] + generator[2] * old[2:]
    right = np.concatenate([[ends[0]], old[1:-1] + 0.5 * step * applied, [ends[1]]])
    bands = np.zeros((3, len(old)))
    bands[1] = 1.0
    bands[0, 2:], bands[1, 1:-1] = -0.5 * step * generator[2], 1.0 - 0.5 * step * generator[1]
    bands[2, :-2] = -0.5 * step * generator[0]
    return scipy.linalg.solve_banded((1, 1), bands, right)


def _forward(h, density, passed, width, y):
    """Return P above an interval: each step is the transpose of that of u, and keeps the mass."""
    first, second = _operators(h)
    step = width / STEPS
    mass = density * np.gradient(h)
    for below, above in zip(passed[:0:-1], passed[-2::-1], strict=True):
        drift = y * 0.5 * (below + above)[1:-1]
        generator = 0.5 * second + drift * first
        bands = np.zeros((3, len(h)))  # of the transposed matrix 1 - step/2 generator
        bands[1] = 1.0
        bands[1, 1:-1] -= 0.5 * step * generator[1]
        bands[2, 1:-1] = -0.5 * step * generator[2]
        bands[0, 1:-1] = -0.5 * step * generator[0]
        half = scipy.linalg.solve_banded((1, 1), bands, mass)
        mass = half.copy()
        mass[1:-1] += 0.5 * step * generator[1] * half[1:-1]
        mass[2:] += 0.5 * step * generator[2] * half[1:-1]
        mass[:-2] += 0.5 * step * generator[0] * half[1:-1]
    return mass / np.gradient(h)
