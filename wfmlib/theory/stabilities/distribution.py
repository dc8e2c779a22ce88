"""Density of the patterns' stabilities: how far typical solutions keep them from the margin.

A pattern's field in a solution is normal about ``sqrt(c) z``, with variance ``1 - c``: z is what
all solutions share. In a typical solution that normal density is cut off at the margin and
normalised again; the average over z is the density of stabilities  [eq-stability-density]. In one
of many replicas at a fixed mutual overlap z has another distribution  [eq-dense-stability]. With
``b = (kappa - sqrt(c) z) / sqrt(1 - c)`` and ``step = (stability - kappa) / sqrt(1 - c)``,

    density = E[G(b + step) / H(b)] / sqrt(1 - c),   share above = E[H(b + step) / H(b)].

As functions of z, times the normal density, both integrands are log-concave with at least its
curvature: they lie within a standard normal's reach of their mode.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Narrower
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.theory import large_deviation
from wfmlib.theory.axes import Load, ResolvedLoad, checked
from wfmlib.theory.large_deviation.real_replicas_entropy import Overlap, Replicas
from wfmlib.theory.stabilities import dense_stabilities
from wfmlib.theory.stabilities.dense_stabilities import at_many, ratios, supported
from wfmlib.theory.typical.entropy import solved

__all__ = ["cumulative", "density"]


@arguments.checked
def density(
    device: Device,
    alpha: Annotated[Load, Narrower("with an overlap", ResolvedLoad)],
    stability: ArrayLike,
    constraint: Constraint = Margin(0.0),
    *,
    overlap: Overlap | None = None,
    replicas: Replicas | None = None,
) -> Any:
    """Return the density of the patterns' stabilities in typical solutions, or in dense regions.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        A committee of infinitely many units.
    alpha : float
        Load, patterns per weight; not negative, and 0, or at least 1e-7 with an overlap.
    stability : float or array_like
        Where, in the unit of each paper: a random pattern's stability has the standard deviation
        ``device.activation.scale``.
    constraint : Margin
        From -2 to 1e4 times the activation's `scale`.
    overlap : float, optional
        Mutual overlap of real replicas, one of which is meant  [eq-dense-stability], in the range
        of `large_deviation.solve`; typical solutions if it is not given.
    replicas : float, optional
        Their number, in the range of `large_deviation.solve`; infinite if it is not given.

    Returns
    -------
    float or ndarray
        Of the shape of `stability`, per unit of stability; it integrates to 1
        [eq-stability-density]. Zero at the margin and below, as stabilities lie strictly above
        it; just above, ``SaddlePoint.margin_density``  [eq-stability-derivative].

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        As `typical.solve` or `large_deviation.solve`: where there is no saddle point. Also for
        infinitely many replicas whose spread is infinite: as it grows, stabilities do without
        bound.

    Notes
    -----
    At margins from 0 on the density falls all the way from the margin, whatever the load, the
    weights and the activation: it is ``G(x) E_y 1 / H(u)`` at the stability x (over `scale`), with
    ``u = (kappa - c x) / sqrt(1 - c) - sqrt(c) y``, and each factor falls with x. At margins below
    0 it rises from the margin at small loads; at larger ones, where ``E b h(b) > 0`` (h the
    hazard), it falls from it, and may have a second maximum.

    Replica symmetry throughout: see `typical` for what it describes. Relative error below 1e-11
    where ``1 - q > 1e-6`` and the density is not below 1e-250.

    What is said here of the shape holds for typical solutions. In dense regions the relative error
    is below 1e-9 where the density is above 1e-100, and the mode may lie above the margin.

    Source: P2, equation E3, with the prefactor ``1 / sqrt(Delta_2 - Delta)`` and Delta_{-1} in
    the place of Delta_1; E4 and E5 with the argument ``stability - w`` of the Gaussian.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> density(Perceptron(), 0.4, [-0.5, 0.0, 1e-9, 1.0]).round(4).tolist()
    [0.0, 0.0, 0.9681, 0.4522]
    >>> dense = density(Perceptron(), 0.4, [1e-9, 0.5, 1.0], overlap=0.85, replicas=20)
    >>> dense.round(4).tolist()
    [0.1694, 0.6453, 0.7582]
    """
    stabilities = _checked(stability)
    axes = checked(device, constraint)
    heights, _ = _sweep(device, alpha, stabilities, axes, overlap, replicas)
    return _shaped(heights / axes[1].scale, stabilities)


@arguments.checked
def cumulative(
    device: Device,
    alpha: Annotated[Load, Narrower("with an overlap", ResolvedLoad)],
    stability: ArrayLike,
    constraint: Constraint = Margin(0.0),
    *,
    overlap: Overlap | None = None,
    replicas: Replicas | None = None,
) -> Any:
    """Return the share of the patterns whose stability is at most that.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        A committee of infinitely many units.
    alpha : float
        Load, patterns per weight; not negative, and 0, or at least 1e-7 with an overlap.
    stability : float or array_like
        Where, in the unit of each paper, as in `density`.
    constraint : Margin
        From -2 to 1e4 times the activation's `scale`.
    overlap : float, optional
        Mutual overlap of real replicas, one of which is meant  [eq-dense-stability], in the range
        of `large_deviation.solve`; typical solutions if it is not given.
    replicas : float, optional
        Their number, in the range of `large_deviation.solve`; infinite if it is not given.

    Returns
    -------
    float or ndarray
        Of the shape of `stability`, from 0 at the margin and below to 1: the integral of
        `density`  [eq-stability-density].

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `density`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> cumulative(Perceptron(), 0.4, [0.0, 0.5, 1.0, 2.0]).round(4).tolist()
    [0.0, 0.4338, 0.7324, 0.967]
    """
    stabilities = _checked(stability)
    axes = checked(device, constraint)
    _, shares = _sweep(device, alpha, stabilities, axes, overlap, replicas)
    return _shaped(shares, stabilities)


def _checked(stability):
    stabilities = arguments.reals("stability", stability)
    if not np.all(np.isfinite(stabilities)):
        wrong = stabilities[~np.isfinite(stabilities)].flat[0]
        raise ValueError(f"stability must be finite, got {wrong}")
    return stabilities


def _sweep(device, alpha, stabilities, axes, overlap, replicas):
    """Return density and share at each stability, over the activation's scale."""
    if overlap is not None:
        return _dense_sweep(device, alpha, stabilities, axes, overlap, replicas)
    if replicas is not None:
        raise ValueError(f"replicas need an overlap: give both or neither, got {replicas!r}")
    _, state = solved(device, alpha, axes[2])
    kappa, tilt = state.constraint.kappa, state.constraint.tilt
    parameters = kappa, tilt, state.overlap.c, state.overlap.complement, gaussian.legendre_rule()
    places = np.ravel(stabilities) / state.scale
    return supported(lambda some: _density_and_share(some, *parameters), places, kappa)


def _dense_sweep(device, alpha, stabilities, axes, overlap, replicas):
    """Return the same in one of several replicas."""
    _, term, constraint = axes
    replicas = math.inf if replicas is None else replicas
    point = large_deviation.solve(device, alpha, overlap, replicas=replicas, constraint=constraint)
    places = np.ravel(stabilities) / term.scale
    kappa, rule = constraint.rescaled(term.scale).kappa, gaussian.legendre_rule(12)
    within = term.effective(point.overlap, 1.0 - point.overlap)
    if point.replicas == math.inf:
        if point.spread == math.inf:
            message = "the spread of the replicas is infinite, and so are the stabilities"
            raise NotConverged(Report(False, math.inf, 0, message))
        spread = within.slope * point.spread
        kernel, parameters = dense_stabilities.infinite, (within.c, spread, within.complement)
    else:
        difference = point.spread / point.replicas
        between = term.effective(point.q0, 1.0 - point.overlap + difference)
        gap = between.complement - within.complement
        kernel = dense_stabilities.finite
        parameters = between.c, gap, within.complement, point.replicas

    def averages(some):
        return kernel(some, kappa, *parameters, rule)

    return supported(lambda some: at_many(averages, some, kappa), places, kappa)


def _shaped(values, stabilities):
    return float(values[0]) if stabilities.ndim == 0 else values.reshape(stabilities.shape)


# ------------------------------------------------------------------------------------------------
# Kernel
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _density_and_share(stabilities, kappa, tilt, c, variance, rule):
    """Return the density at each stability above kappa, and the share of the patterns up to it.

    Plain NumPy, at one stability above kappa, z and weight being nodes of the Gaussian measure::

        b = (kappa - np.sqrt(c) * z) / np.sqrt(variance)
        step = (stability - kappa) / np.sqrt(variance)
        density = weight @ (G(b + step) / H(b)) / np.sqrt(variance)
        share = 1 - weight @ (H(b + step) / H(b))
    """
    density, share = np.zeros(len(stabilities)), np.zeros(len(stabilities))
    root, width = math.sqrt(c), math.sqrt(variance)
    features = np.empty((2, 2))
    count = 2 if root > 0.05 else 0  # else nothing bends within the width of the Gaussian
    for i in range(len(stabilities)):
        beyond = stabilities[i] - kappa
        step = beyond / width
        if count:
            features[0, 0], features[1, 0] = kappa / root, stabilities[i] / root
            features[:, 1] = width / root
        # upper bounds of the density's mode, one for each side of b = 0
        high = max(min(root * beyond / variance, root * stabilities[i]), 0.0)
        z, weight = gaussian.fill_grid(
            features[:count], tilt - gaussian.LIMIT, high + gaussian.LIMIT, rule
        )
        for j in range(len(z)):
            height, below = ratios((kappa - root * z[j]) / width, step)
            density[i] += weight[j] * height
            share[i] += weight[j] * below
        density[i] /= width
        share[i] = min(share[i], 1.0)
    return density, share
