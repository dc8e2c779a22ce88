"""Typical solutions: how many there are, how far apart, and up to which load and margin.

The configurations counted are solutions (`Margin`), or weighed by a loss (`CrossEntropy`).
Replica symmetry, but for `solve_1rsb` and ``capacity(..., ansatz="1RSB")``. For binary weights it
gives the right entropy and capacity: solutions are isolated points (frozen 1RSB), and the RS
entropy counts them down to where it vanishes. The saddle point goes on beyond, with negative
entropy, and is still returned: it describes no solutions, and is what P3 draws dashed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np

from wfmlib import _validate
from wfmlib.models.activations import Activation, Linear, ReLU, Sign
from wfmlib.models.constraints import CrossEntropy, Margin
from wfmlib.models.weights import Binary, Spherical
from wfmlib.solvers import NotConverged, Report, bounded, continuation
from wfmlib.theory.axes import CONSTRAINTS, checked, checked_load, checked_margin
from wfmlib.theory.one_step import OneStep, solve_1rsb
from wfmlib.theory.replica_symmetric import Stationary, last_load, lowest
from wfmlib.theory.thresholds import capacity, instability, last_margin, max_margin

__all__ = [
    "Curve",
    "GibbsPoint",
    "OneStep",
    "SaddlePoint",
    "capacity",
    "curve",
    "instability",
    "last_margin",
    "max_margin",
    "solve",
    "solve_1rsb",
]


COLDEST = 1e6  # of beta times the energy; the entropy's error is 1e-10 of it


# ------------------------------------------------------------------------------------------------
# The saddle point at a given load
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SaddlePoint:
    """The replica-symmetric saddle point: the typical solutions.

    Attributes
    ----------
    alpha : float
        Load: patterns per weight.
    weights, activation, constraint
        The axes.
    q, q_hat : float
        Overlap between two typical solutions, and its conjugate.
    distance : float
        ``(1 - q) / 2``; for binary weights the fraction that differs  [eq-typical-distance].
    entropy : float
        Logarithm of the number (Binary) or volume (Spherical) of solutions, in nats per weight.
        Negative for binary weights: there are none. Terms of order ``1 / (1 - q)`` cancel in it:
        its absolute error is of the order of ``1e-16 / (1 - q)``.
    replicon : float
        RS is stable while it is below 1  [eq-replicon].
    margin_density : float
        Density of stabilities P(kappa) just above the margin, in the margin's unit:
        ``d entropy / d kappa = -alpha P(kappa)``  [eq-stability-derivative].
    report : Report
        Residual: relative error of the load.
    """

    alpha: float
    weights: Binary | Spherical
    activation: Perceptron | Sign | ReLU | Activation
    constraint: Margin
    q: float
    q_hat: float
    distance: float
    entropy: float
    replicon: float
    margin_density: float
    report: Report = field(compare=False)

    def __repr__(self):
        stable = "stable" if self.replicon < 1.0 else "unstable"
        return (
            f"SaddlePoint(alpha={self.alpha:g}, {self.weights}, {self.activation}, "
            f"{self.constraint})\n"
            f"  q         {self.q:.10g}\n"
            f"  q_hat     {self.q_hat:.10g}\n"
            f"  distance  {self.distance:.10g}\n"
            f"  entropy   {self.entropy:.10g} nats per weight\n"
            f"  replicon  {self.replicon:.10g} (RS {stable})"
        )


@dataclass(frozen=True)
class GibbsPoint:
    """The replica-symmetric saddle point of a Gibbs measure: its typical configurations.

    Attributes
    ----------
    alpha : float
        Load: patterns per weight.
    weights, activation, constraint
        The axes; the constraint is a `CrossEntropy`.
    q, q_hat : float
        Overlap between two typical configurations, and its conjugate  [eq-ce-saddle].
    distance : float
        ``(1 - q) / 2``.
    free_entropy : float
        Logarithm of the partition function, in nats per weight.
    energy : float
        Mean loss of all patterns, per weight: alpha times the mean loss of one  [eq-ce-energy].
    entropy : float
        ``free_entropy + beta energy``, in nats per weight  [eq-ce-entropy]; absolute error about
        ``1e-10 beta energy``. Negative for binary weights: so low an energy has no configurations,
        and the saddle point describes none.
    error_rate : float
        Share of the patterns whose stability is negative  [eq-ce-error-rate].
    replicon : float
        RS is stable while it is below 1  [eq-ce-replicon].
    report : Report
        Residual: relative error of the load.
    """

    alpha: float
    weights: Binary | Spherical
    activation: Perceptron | Sign | ReLU | Activation
    constraint: CrossEntropy
    q: float
    q_hat: float
    distance: float
    free_entropy: float
    energy: float
    entropy: float
    error_rate: float
    replicon: float
    report: Report = field(compare=False)

    def __repr__(self):
        stable = "stable" if self.replicon < 1.0 else "unstable"
        return (
            f"GibbsPoint(alpha={self.alpha:g}, {self.weights}, {self.activation}, "
            f"{self.constraint})\n"
            f"  q           {self.q:.10g}\n"
            f"  q_hat       {self.q_hat:.10g}\n"
            f"  energy      {self.energy:.10g} per weight\n"
            f"  entropy     {self.entropy:.10g} nats per weight\n"
            f"  error_rate  {self.error_rate:.10g}\n"
            f"  replicon    {self.replicon:.10g} (RS {stable})"
        )


def solve(alpha, weights=Binary(), activation=Linear(), constraint=Margin(0.0)):
    """Solve the replica-symmetric saddle-point equations at one load.

    Parameters
    ----------
    alpha : float
        Load, patterns per weight; not negative.
    weights : Binary or Spherical
    activation : Perceptron, Sign, ReLU or Activation
    constraint : Margin or CrossEntropy
        A margin from -2 to 1e4 times the activation's `scale`, or a loss and its temperature.

    Returns
    -------
    SaddlePoint or GibbsPoint
        Of solutions, or of the Gibbs measure of the loss.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, not finite or out of range; the message names it.
    NotConverged
        For spherical weights at or above capacity, where q reaches 1; for binary weights past the
        last margin with a saddle point (see `last_margin`). For a loss at so low a temperature
        that the entropy cannot be resolved. The message says which.

    Notes
    -----
    For the perceptron, sign and ReLU units there is one saddle point at most, since the load
    increases with q_hat. If another activation has several, the one with the smallest q is meant;
    two that differ by less than half a unit in ``ln q_hat`` may be overlooked.

    Source: P3, equations A9-A10; P2, equations B1-B3; P1, appendix B1 (cross-entropy, corrected).

    Examples
    --------
    >>> point = solve(0.5)
    >>> round(point.distance, 4), round(point.entropy, 4)
    (0.3388, 0.3144)
    >>> from wfmlib.theory import CrossEntropy
    >>> point = solve(0.5, constraint=CrossEntropy(gamma=1.0, beta=5.0))
    >>> round(point.energy, 4), round(point.entropy, 4), round(point.error_rate, 4)
    (0.0794, 0.4441, 0.1159)
    """
    alpha = checked_load(alpha)
    axes = checked(weights, activation, constraint, CONSTRAINTS)
    q_hat, report = _q_hat(alpha, axes)
    if isinstance(constraint, CrossEntropy):
        return thermal_point(alpha, axes, q_hat, report)
    return SaddlePoint(
        alpha=alpha,
        weights=weights,
        activation=activation,
        constraint=constraint,
        report=report,
        **_order_parameters(Stationary(q_hat, *axes), weights),
    )


def thermal_point(alpha, axes, q_hat, report=None):
    """Return the saddle point of a Gibbs measure whose q_hat is known."""
    at = Stationary(q_hat, *axes)
    loss, errors = at.thermal
    energy = float(alpha * at.scale * loss)
    if axes[2].beta * energy > COLDEST:
        message = (
            f"{axes[2]} is too cold at alpha = {alpha:.6g}: beta times the energy is "
            f"{axes[2].beta * energy:.3g}, and the entropy is lost in rounding above {COLDEST:g}"
        )
        raise NotConverged(Report(False, math.inf, 1, message), q_hat)
    entropy = float(at.entropy) + axes[2].beta * energy
    return GibbsPoint(
        alpha,
        *axes,
        q=float(at.q),
        q_hat=float(at.q_hat),
        distance=float(0.5 * at.complement),
        free_entropy=float(at.entropy),
        energy=energy,
        entropy=bounded("entropy", entropy, axes[0].entropy, report),
        error_rate=float(errors),
        replicon=float(at.replicon),
        report=report,
    )


def _q_hat(alpha, axes):
    """Return the smallest q_hat whose saddle point has load `alpha`, and the report."""
    try:
        return lowest(alpha, axes)
    except NotConverged as failure:
        raise _no_saddle_point(alpha, axes, failure) from None


def _order_parameters(at, weights):
    return {
        "q": float(at.q),
        "q_hat": float(at.q_hat),
        "distance": float(0.5 * at.complement),
        "entropy": bounded("entropy", float(at.entropy), weights.entropy),
        "replicon": float(at.replicon),
        "margin_density": float(at.mean_force),
    }


def _no_saddle_point(alpha, axes, failure):
    if not isinstance(axes[2], Margin):
        message = (
            f"no saddle point was found for {axes[2]} at alpha = {alpha:.6g}: at so large a beta "
            "q may be too close to 1 to be resolved"
        )
        report = Report(False, failure.residual, failure.report.iterations, message)
        return NotConverged(report, failure.state)
    last = last_load(*axes)
    if alpha < last:
        reason = (
            f"the overlap is too close to 1 to be resolved (q reaches 1 at alpha = {last:.10g})"
        )
    elif axes[0].discrete:
        reason = (
            "past the last margin with a saddle point (see last_margin): at this margin alpha "
            f"must be below {last:.10g}"
        )
    else:
        reason = f"above capacity: alpha must be below {last:.10g}"
    message = f"{reason}; got alpha = {alpha:.10g} with {', '.join(map(repr, axes))}"
    report = Report(False, failure.residual, failure.report.iterations, message)
    return NotConverged(report, failure.state)


# ------------------------------------------------------------------------------------------------
# Curves
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curve:
    """Saddle points along a sweep, arrays of one shape.

    Attributes
    ----------
    alpha, margin : ndarray
        Where.
    q, q_hat, distance, entropy, replicon, margin_density : ndarray
        As in `SaddlePoint`; NaN where there is no saddle point.
    converged : ndarray of bool
        Whether there is one.
    reason : ndarray of str
        Why there is none; empty where there is one.
    """

    alpha: np.ndarray
    margin: np.ndarray
    q: np.ndarray
    q_hat: np.ndarray
    distance: np.ndarray
    entropy: np.ndarray
    replicon: np.ndarray
    margin_density: np.ndarray
    converged: np.ndarray
    reason: np.ndarray


def curve(alpha, margin=0.0, weights=Binary(), activation=Linear(), *, progress=False):
    """Solve at many loads and margins.

    Parameters
    ----------
    alpha, margin : float or array_like
        Loads and margins, broadcast against each other.
    weights : Binary or Spherical
    activation : Perceptron, Sign, ReLU or Activation
    progress : bool, optional
        Show a bar, once two seconds have passed.

    Returns
    -------
    Curve
        Arrays of the broadcast shape, with NaN, ``converged = False`` and a reason past the last
        saddle point and where a load or margin is out of range.

    Raises
    ------
    TypeError
        As `solve`.
    ValueError
        If every load or margin is out of range, or shapes do not fit.
    """
    alphas, margins = _validate.broadcast(alpha=alpha, margin=margin)
    points = list(zip(alphas.ravel().tolist(), margins.ravel().tolist(), strict=True))
    names = [f.name for f in fields(Curve)][2:-2]
    values = np.full((len(points), len(names)), np.nan)

    def solved(i, _):  # no saddle point needs its neighbour as a start
        load, margin = points[i]
        load, axes = checked_load(load), checked(weights, activation, checked_margin(margin))
        found = _order_parameters(Stationary(_q_hat(load, axes)[0], *axes), weights)
        values[i] = [found[name] for name in names]
        return values[i]

    _, converged, reasons = continuation(
        solved, range(len(points)), None, failed="nan", progress=progress
    )
    columns = dict(zip(names, values.T, strict=True))
    return Curve(
        alpha=alphas.copy(),
        margin=margins.copy(),
        converged=converged.reshape(alphas.shape),
        reason=reasons.reshape(alphas.shape),
        **{name: column.reshape(alphas.shape) for name, column in columns.items()},
    )
