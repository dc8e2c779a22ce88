"""Typical solutions: the replica-symmetric saddle point, for all weights, units and constraints.

Ansatz: any two replicas have the overlap q, with the conjugate q_hat. The free entropy per weight
at load alpha is *entropic term + load x energetic term* (P3, A9-A10; P2, B1-B3),

    phi = G_S + alpha G_E                                                  [eq-rs-entropy]
    G_S = -q_hat (1 - q) / 2 + E ln 2 cosh(sqrt(q_hat) x)   (binary)       [eq-rs-entropic]
    G_S = [ln(1 - q) + q / (1 - q)] / 2                     (spherical)
    G_E = E f(sqrt(c) x),   c = c(q),   x normal                           [eq-rs-energetic]

The weights are asked for G_S (`models.weights`), the activation for the effective overlap c(q) of
stabilities (q itself for a perceptron), the constraint for f, the logarithm of a pattern's average
weight where its field has the mean omega and the variance 1 - c: for a margin
``ln H[(kappa - omega) / sqrt(1 - c)]``. phi is stationary in q and q_hat at

    q = E tanh^2(sqrt(q_hat) x)  (binary),   q_hat = q / (1 - q)^2  (spherical)
    q_hat = alpha c'(q) E f'^2                                             [eq-rs-saddle]

Instead of solving for q at a given load we choose q_hat and read off everything else, the load
included, ``alpha = q_hat / (c' E f'^2)``: `Stationary`. A saddle point at a given load, the
capacity, the largest margin and the loss of stability are then zeros of one function of one
variable, for `solvers.first_root`. Averages are taken at the nodes of `field_nodes`.

For the binary perceptron all of it is short in plain NumPy, with Gauss-Hermite nodes and
iteration:

>>> import numpy as np
>>> from scipy.special import log_ndtr
>>> x, weight = np.polynomial.hermite_e.hermegauss(200)
>>> weight = weight / weight.sum()
>>> alpha, kappa, q_hat = 0.5, 0.0, 0.1
>>> for _ in range(100):
...     q = weight @ np.tanh(np.sqrt(q_hat) * x) ** 2
...     short = (kappa - np.sqrt(q) * x) / np.sqrt(1 - q)
...     log_H = log_ndtr(-short)
...     force = np.exp(-(short**2) / 2 - log_H) / np.sqrt(2 * np.pi * (1 - q))
...     q_hat = alpha * (weight @ force**2)
>>> entropic = weight @ np.log(2 * np.cosh(np.sqrt(q_hat) * x)) - q_hat * (1 - q) / 2
>>> print(f"{q:.8f} {entropic + alpha * (weight @ log_H):.8f}")
0.32238536 0.31439007
>>> from wfmlib import Margin, Perceptron
>>> device = Perceptron()
>>> state, _ = at_load(alpha, (device.weights, device.activation, Margin(kappa)))
>>> print(f"{state.q:.8f} {state.entropy:.8f}")
0.32238536 0.31439007
"""

from __future__ import annotations

import math
from functools import cached_property

import scipy

from wfmlib.models.constraints import Margin
from wfmlib.models.constraints.margin import RANGE as MARGINS
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, NoZero, Report, accepted, first_root
from wfmlib.theory.saddles.field_nodes import field_nodes

LOG_Q_HAT = (-700.0, 70.0)  # where saddle points are looked for: 1 - q from 1 down to 1e-15
COLDEST = 1e6  # of beta times the energy; the entropy's error is 1e-10 of it


# ------------------------------------------------------------------------------------------------
# Free entropy, and the saddle-point equations, at a given conjugate
# ------------------------------------------------------------------------------------------------


class Stationary:
    """The replica-symmetric saddle point whose conjugate overlap is `q_hat`.

    Parameters
    ----------
    q_hat : float
        Not negative.
    weights, activation, constraint
        The axes; the constraint is raw, in the units of each paper.
    alpha : float, optional
        The load, where solutions are orthogonal at any load: without a force, `q_hat` is 0.

    Attributes
    ----------
    q, complement : float
        Overlap between two solutions, and 1 - q.
    alpha : float
        The load at which this is the saddle point; `entropy` and `replicon` are at that load.
    """

    def __init__(self, q_hat, weights, activation, constraint, alpha=None):
        self.q_hat = q_hat
        self.scale = activation.scale
        self.constraint = constraint.rescaled(activation.scale)
        self.entropic = weights.entropic(q_hat)
        self.q, self.complement = self.entropic.q, self.entropic.complement
        self.overlap = activation.effective(self.q, self.complement)
        if alpha is None:
            alpha = q_hat / (self.overlap.slope * self.force)
        self.alpha = alpha

    @cached_property
    def _fields(self):
        """Nodes: the part of a field that all solutions share, and its Gaussian weights."""
        low, high = self.constraint.tilt - gaussian.LIMIT, gaussian.LIMIT
        order = self.constraint.order
        x, weight = field_nodes(self.constraint, self.overlap, low, high, order)
        return math.sqrt(self.overlap.c) * x, weight

    @cached_property
    def _pattern(self):
        """What a pattern does to the solutions at each node, as `log_concave.Response`."""
        return self.constraint.at(self._fields[0], self.overlap.complement)

    @cached_property
    def _slope(self):
        return self._pattern.slope

    @cached_property
    def force(self):
        """``E f'^2``: the mean square force of a pattern on the solutions  [eq-rs-saddle]."""
        _, weight = self._fields
        return weight @ self._slope**2

    @cached_property
    def energetic(self):
        """``E f``: what a pattern costs in entropy, not above zero  [eq-rs-energetic]."""
        _, weight = self._fields
        return weight @ self._pattern.log_weight

    @property
    def entropy(self):
        """Free entropy in nats per weight  [eq-rs-entropy]."""
        return self.entropic.term + self.alpha * self.energetic

    @property
    def replicon(self):
        """Stability: a small difference between replicas grows where this is above 1.

        ``alpha (1 - q)^2 [c'^2 E f''^2 + c'' E f'^2]``  [eq-replicon], with the mean square of a
        weight's variance, ``E sech^4(sqrt(q_hat) x)``, for ``(1 - q)^2`` if weights are binary.
        """
        _, weight = self._fields
        stiffness = weight @ self._pattern.curvature**2
        slope, curvature = self.overlap.slope, self.overlap.curvature
        response = slope**2 * stiffness + curvature * self.force
        return self.alpha * self.entropic.fluctuation * response

    @cached_property
    def thermal(self):
        """Mean loss of a pattern, stabilities in units of `scale`, and how likely it is wrong.

        For a Gibbs measure  [eq-ce-energy], [eq-ce-error-rate].
        """
        _, weight = self._fields
        return weight @ self._pattern.loss, weight @ self._pattern.errors

    @property
    def edge_density(self):
        """Density of stabilities at the constraint's edge  [eq-stability-derivative]."""
        _, weight = self._fields
        return weight @ self._pattern.edge / self.scale


def gibbs_averages(state, alpha, loss):
    """Return energy, entropy and error rate of the Gibbs measure of a loss at a load.

    ``entropy = free entropy + beta energy``  [eq-ce-entropy], [eq-ce-energy].
    """
    mean_loss, errors = state.thermal
    energy = float(alpha * state.scale * mean_loss)
    if loss.beta * energy > COLDEST:
        message = (
            f"{loss} is too cold at alpha = {alpha:.6g}: beta times the energy is "
            f"{loss.beta * energy:.3g}, and the entropy is lost in rounding above {COLDEST:g}"
        )
        raise NotConverged(Report(False, math.inf, 1, message), state.q_hat)
    return energy, float(state.entropy) + loss.beta * energy, float(errors)


# ------------------------------------------------------------------------------------------------
# The saddle point at a given load
# ------------------------------------------------------------------------------------------------


def at_load(alpha, axes):
    """Return the saddle point at a load, the one with the smallest q_hat, and the report.

    Where a constraint has no sign that is q = 0, stationary at any load.

    Raises
    ------
    NotConverged
        Above the load at which q reaches 1; the message says which.
    """
    if axes[2].even:
        return Stationary(0.0, *axes, alpha=alpha), accepted(0.0, 0.0, 1, "orthogonal by symmetry")
    try:
        q_hat, report = lowest(alpha, axes)
    except NotConverged as failure:
        message = _why_none(alpha, axes)
        report = Report(False, failure.residual, failure.report.iterations, message)
        raise NotConverged(report, failure.state) from None
    return Stationary(q_hat, *axes), report


def _why_none(alpha, axes):
    """Return in words why there is no saddle point at a load."""
    weights, _, constraint = axes
    if not constraint.hard:
        return (
            f"no saddle point was found for {constraint} at alpha = {alpha:.6g}: at so large a "
            "beta q may be too close to 1 to be resolved"
        )
    last = last_load(*axes)
    if alpha < last:
        reason = (
            f"the overlap is too close to 1 to be resolved (q reaches 1 at alpha = {last:.10g})"
        )
    elif weights.discrete:
        reason = (
            "past the last margin with a saddle point (see last_margin): at this margin alpha "
            f"must be below {last:.10g}"
        )
    else:
        reason = f"above capacity: alpha must be below {last:.10g}"
    return f"{reason}; got alpha = {alpha:.10g} with {constraint!r}"


def lowest(alpha, axes):
    """Return the smallest q_hat whose saddle point has load `alpha`, and the report."""
    # Every step of the iteration q_hat -> alpha c' E f'^2 from q_hat = 0 goes up, towards the
    # smallest fixed point: one step ends below it, and, for small loads, on it.
    free = Stationary(0.0, *axes)
    below = alpha * free.overlap.slope * free.force
    if below < 1e-30:
        return below, accepted(0.0, 0.0, 1, "q_hat is proportional to the load")

    def excess(log_q_hat):
        return math.log(Stationary(math.exp(log_q_hat), *axes).alpha / alpha)

    start = min(math.log(below) - 1e-3, LOG_Q_HAT[1] - 1.0)
    root, report = first_root(excess, start, LOG_Q_HAT[1], step=0.5)
    return math.exp(root), report


# ------------------------------------------------------------------------------------------------
# The ends of the line: capacity, largest margins, loss of stability
# ------------------------------------------------------------------------------------------------


def first(quantity, axes):
    """Return the saddle point at which a quantity, positive at load 0, first vanishes."""

    def at(log_q_hat):
        return quantity(Stationary(math.exp(log_q_hat), *axes))

    middle = 0.0  # where the thresholds at zero margin lie, within one or two
    below, above = LOG_Q_HAT
    root, _ = first_root(at, middle, above if at(middle) > 0.0 else below)
    return Stationary(math.exp(root), *axes)


def last_stable(axes):
    """Return the load at which the replicon reaches 1; infinite where it does not before q = 1."""
    try:
        return float(first(lambda point: 1.0 - point.replicon, axes).alpha)
    except NoZero:
        return math.inf


def last_load(weights, activation, constraint):
    """Return the load at which q reaches 1, infinite where ``c'(1)`` is.

    There ``q_hat (1 - q)^2`` tends to 1 (spherical) or 2 / pi (binary), ``1 - c`` to
    ``c'(1) (1 - q)``, and ``(1 - c)^2 E f'^2`` to the mean square shortfall of a random pattern
    [eq-capacity-spherical].
    """
    shortfall = constraint.rescaled(activation.scale).shortfall()
    return float(weights.collapse * activation.slope_at_one / shortfall)


def capacity(axes):
    """Return the load up to which solutions exist, with replica symmetry.

    Where the entropy vanishes for discrete weights  [eq-capacity-binary], and q reaches 1 for
    continuous ones  [eq-capacity-spherical].
    """
    if axes[2].even:  # solutions at overlap 0 run out  [eq-annealed]
        free = Stationary(0.0, *axes, alpha=0.0)
        return float(-free.entropic.term / free.energetic)
    if not axes[0].discrete:
        return last_load(*axes)
    return float(first(lambda point: point.entropy, axes).alpha)


def largest_margin(alpha, weights, activation):
    """Return the margin at which a load is the capacity  [eq-max-margin]."""
    if not weights.discrete:
        return collapse_margin(alpha, weights, activation)
    if alpha == 0.0:
        return math.inf
    scale = activation.scale

    def excess(kappa):
        return math.log(capacity((weights, activation, Margin(kappa * scale))) / alpha)

    # Typically there are not more solutions than on average, 2^N H(kappa)^P  [eq-annealed].
    bound = min(-scipy.special.ndtri_exp(-weights.entropy / alpha), MARGINS[1])
    return _margin_root(excess, bound, MARGINS[0], 0.5, alpha) * scale


def collapse_margin(alpha, weights, activation):
    """Return the margin at which q reaches 1 at a load."""
    if alpha == 0.0 or math.isinf(activation.slope_at_one):
        return math.inf
    scale = activation.scale

    def excess(kappa):
        return math.log(last_load(weights, activation, Margin(kappa * scale)) / alpha)

    return _margin_root(excess, *MARGINS, 10.0, alpha) * scale


def _margin_root(excess, start, limit, step, alpha):
    """Return the margin, in units of scale, at which the logarithm of a load ratio vanishes."""
    lowest_margin, highest_margin = MARGINS
    beyond = f"times the activation's scale, got {alpha:.6g}"
    if start < lowest_margin or excess(lowest_margin) < 0.0:
        raise ValueError(
            f"alpha must be so small that the margin is above {lowest_margin:g} {beyond}"
        )
    try:
        return first_root(excess, start, limit, step=step, tolerance=1e-13)[0]
    except NoZero:  # still positive at the other end: a large slope c'(1) does that
        raise ValueError(
            f"alpha must be so large that the margin is below {highest_margin:g} {beyond}"
        ) from None
