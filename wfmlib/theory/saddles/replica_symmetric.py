"""The replica-symmetric saddle point, written once for all weights, activations and constraints.

Every free entropy of the book at this level reads *entropic term + load x energetic term*,

    phi = -q_hat (1 - q) / 2 + G_S(q_hat) + alpha E f(sqrt(c) x),    c = c(q),  x normal,

and is stationary in q and q_hat  [eq-rs-entropy], [eq-rs-saddle]. Instead of solving for q at a
given load we choose q_hat and read off everything else, the load included: q from the weights, c
from the activation, the force ``E f'^2`` from the constraint, and ``alpha = q_hat / (c' E f'^2)``.
A saddle point at a given load, a capacity, a loss of stability are then zeros of one function of
one variable.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NoZero, accepted, first_root

LOG_Q_HAT = (-700.0, 70.0)  # where saddle points are looked for: 1 - q from 1 down to 1e-15


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
        c, variance = self.overlap.c, self.overlap.complement
        root = math.sqrt(c)
        low, high = self.constraint.tilt - gaussian.LIMIT, gaussian.LIMIT
        strip = self.constraint.pole * math.sqrt(variance) / root if root else math.inf
        found = gaussian.spaced(strip, low, high)
        if found is None:
            features = np.empty((0, 2))
            if root > 0.05:  # else the constraint bends over more than the width of the Gaussian
                features = np.array(self.constraint.features(variance)) / root
            rule = gaussian.legendre_rule(self.constraint.order)
            found = gaussian.panels(features, low, high, rule)
        x, weight = found
        return root * x, weight

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


def at_load(alpha, axes):
    """Return the saddle point at a load, the one with the smallest q_hat, and the report.

    Where a constraint has no sign that is q = 0, stationary at any load.
    """
    if axes[2].even:
        return Stationary(0.0, *axes, alpha=alpha), accepted(0.0, 0.0, 1, "orthogonal by symmetry")
    q_hat, report = lowest(alpha, axes)
    return Stationary(q_hat, *axes), report


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
