"""Mean weights under a constraint and a field: message passing for any log-concave constraint.

The sweep is that of `learning.messages.approximate`, with two changes: a pattern pulls as its
constraint says, ``g = f'(omega)`` with the stiffness ``-f''``, and a field h acts on each weight.
In the frame where every label is +1, ``F_ai = sigma_a xi_ai / sqrt(N)``::

    omega = F @ m - V * g
    g, stiffness = f'(omega; V), -sum(f''(omega; V)) / N
    field = F.T @ g + stiffness * m + h
    m = tanh(field)                                           # Binary
    m = field / D, D = (1 + sqrt(1 + 4 |field|^2 / N)) / 2    # Spherical
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.learning.messages.approximate import Messages
from wfmlib.numerics.solvers import NotConverged, Report

LEAST_VARIANCE = 1e-13  # of weights on the sphere: below, all of them are known


class TiltedMeans:
    """Mean weights given a field, from messages that go on where they were left.

    Parameters
    ----------
    packed : PackedPatterns
    weights : Binary or Spherical
    constraint : Margin or LogPotential
    tolerance, damping : float
    max_sweeps : int
        Of one call.
    threads : int, optional

    Attributes
    ----------
    messages : Messages
        Of the last sweep.
    residual : float
        The largest change of a mean in it, damping aside.
    sweeps : int
        Of all calls.
    """

    def __init__(
        self, packed, weights, constraint, *, tolerance, damping, max_sweeps, threads=None
    ):
        self.packed, self.weights, self.constraint = packed, weights, constraint
        self.tolerance, self.damping, self.max_sweeps = tolerance, damping, max_sweeps
        self.threads = threads
        self.messages = Messages(np.zeros(packed.N), np.zeros(packed.P))
        self.residual, self.sweeps = math.inf, 0

    def __call__(self, field):
        """Return the means, shape (N,), given a field on each weight, shape (N,)."""
        for _ in range(self.max_sweeps):
            means, pulls = self._sweep(field)
            self.sweeps += 1
            if not (np.all(np.isfinite(means)) and np.all(np.isfinite(pulls))):
                message = f"a message was not a finite number in sweep {self.sweeps}"
                report = Report(False, math.nan, self.sweeps, message)
                raise NotConverged(report, self.messages._asdict())
            old, keep = self.messages, self.damping
            self.residual = float(np.max(np.abs(means - old.means)))
            self.messages = Messages(
                (1.0 - keep) * means + keep * old.means, (1.0 - keep) * pulls + keep * old.pulls
            )
            if self.residual <= self.tolerance:
                break
        return self.messages.means

    def _sweep(self, field):
        """Return new means and pulls."""
        packed, messages = self.packed, self.messages
        root = math.sqrt(packed.N)
        least = 1.0 / packed.N if self.weights.discrete else LEAST_VARIANCE  # one undecided sign
        V = max(1.0 - float(np.mean(messages.means**2)), least)
        with np.errstate(all="ignore"):  # what is not finite is found by the caller
            omega = packed.fields(messages.means, threads=self.threads) / root - V * messages.pulls
            response = self.constraint.at(omega, V)
            pulls = response.slope
            stiffness = -np.sum(response.curvature) / packed.N
            total = (
                packed.pull(pulls, threads=self.threads) / root
                + stiffness * messages.means
                + field
            )
            if self.weights.discrete:
                return np.tanh(total), pulls
            precision = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * np.mean(total**2)))
            return total / precision, pulls
