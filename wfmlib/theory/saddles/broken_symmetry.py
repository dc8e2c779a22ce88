"""Groups of solutions: one step of replica symmetry breaking, for all weights and activations.

Ansatz: replicas come in groups of m, overlap q1 inside a group, q0 between groups, conjugates
q1_hat and q0_hat. The free entropy per weight (P2, B4-B6) is

    phi = G_S(q0_hat, q1_hat, m) + alpha (1 / m) E ln <e^{m f}>               [eq-1rsb-entropy]

As at the replica-symmetric level (`replica_symmetric`) the weights are asked for G_S and the
overlaps, the activation turns overlaps into effective ones ``c0 = c(q0)`` and ``c1 = c(q1)``, and
the constraint those into forces (`grouped`). What all share of a field is ``sqrt(c0) x``, under E;
what the members of one group share on top is ``sqrt(c1 - c0) y``, under < >, and in the equations
an average over y carries the weight of the group, ``e^{m f}``  [eq-1rsb-energetic]:

    q0_hat = alpha c'(q0) E <f'>^2,    q1_hat = alpha c'(q1) E <f'^2>          [eq-1rsb-saddle]

phi is stationary in m where the complexity, ``-m^2 d phi / dm``, vanishes. We choose ``q0_hat``,
``q1_hat - q0_hat`` and m, and read off the load that each of the two equations asks for, `Broken`;
`one_step_search` finds where they are one. Differences between q1 and q0 are never formed by
subtraction: the difference of the two equations is one of variances,

    q1_hat - q0_hat = alpha {c'(q0) E [<f'^2> - <f'>^2] + [c'(q1) - c'(q0)] E <f'^2>},

so that the point where groups dissolve into replica symmetry is as smooth as any other.

On the sphere conjugates can be eliminated; with ``X = 1 - q1`` and ``Y = X + m (q1 - q0)``,
``G_S = [ln X + ln(Y / X) / m + q0 / Y] / 2``. For infinitely many sign units all of it is short in
plain NumPy, and the fast state is stationary in it:

>>> import numpy as np
>>> from scipy.special import log_ndtr
>>> x, weight = np.polynomial.hermite_e.hermegauss(120)
>>> weight, x = weight / weight.sum(), x[:, None]
>>> def phi(q0, q1, m, alpha):
...     c0, c1 = (2 / np.pi * np.arcsin(q) for q in (q0, q1))
...     field = np.sqrt(c0) * x + np.sqrt(c1 - c0) * x.T
...     group = np.exp(m * log_ndtr(field / np.sqrt(1 - c1))) @ weight
...     X, Y = 1 - q1, 1 - q1 + m * (q1 - q0)
...     entropic = (np.log(X) + np.log(Y / X) / m + q0 / Y) / 2
...     return entropic + alpha * (weight @ np.log(group)) / m
>>> from wfmlib import TreeCommittee
>>> from wfmlib.theory import typical
>>> point = typical.solve_1rsb(TreeCommittee(np.inf), 4.0)
>>> place = np.array([point.q0, point.q1, point.m])
>>> print(f"{point.entropy:.6f} {phi(*place, 4.0):.6f}")
-3.433912 -3.433912
>>> for step in 1e-4 * np.eye(3):
...     print(f"{abs(phi(*place + step, 4.0) - phi(*place - step, 4.0)) / 2e-4:.5f}")
0.00000
0.00000
0.00000
"""

from __future__ import annotations

import math

LEAST = 1e-300  # of a force, relative to what it makes


def balanced(conjugate, force):
    """Return the load at which a pattern's force makes a conjugate; infinite if there is none.

    Nor is there one where it underflows, as in a band that hardly any field leaves.
    """
    return conjugate / force if force > LEAST * conjugate else math.inf


class Broken:
    """The saddle point with one step of symmetry breaking whose conjugates are given.

    Parameters
    ----------
    q0_hat : float
        Positive.
    split : float
        How far the symmetry is broken; positive, 0 in the limit where it is not. For spherical
        weights ``(q1 - q0) / (1 - q1)``, for discrete ones ``q1_hat - q0_hat``.
    m : float
        Parisi parameter, positive.
    weights, activation, constraint
        The axes; the constraint is raw, in the units of each paper.

    Attributes
    ----------
    overlaps : BrokenEntropic
    pattern : log_concave.Grouped
    load_between, load_within : float
        The loads at which the saddle-point equations hold for q0, and for the difference between
        q1 and q0. This is a saddle point where the two are equal.
    """

    def __init__(self, q0_hat, split, m, weights, activation, constraint):
        self.q0_hat, self.split, self.m = q0_hat, split, m
        self.overlaps = weights.broken(q0_hat, split, m)
        q0, complement, difference = self.overlaps[:3]
        between = activation.effective(q0, complement + difference)
        within = activation.effective(1.0 - complement, complement)
        constraint = constraint.rescaled(activation.scale)
        if not activation.one_field:
            kappa = constraint.kappa
            self.pattern = activation.pattern_averages(q0, difference, complement, kappa, m)
        else:
            # a difference of two numbers that are both below 1/2 loses least
            gap = between.complement - within.complement
            if between.c < 0.5:
                gap = within.c - between.c
            self.pattern = constraint.grouped(between.c, gap, within.complement, m)
        common, spread = self.pattern[:2]
        # no force at q0 = 0 for parity machines
        self.load_between = balanced(q0_hat, between.slope * common)
        response = between.slope * spread + (within.slope - between.slope) * (common + spread)
        # none, or less, where groups are too narrow to be told apart
        self.load_within = balanced(self.overlaps.split_hat, response)

    def entropy(self, alpha):
        """Free entropy in nats per weight  [eq-1rsb-entropy]."""
        return self.overlaps.term + alpha * self.pattern.term

    def complexity(self, alpha):
        """``-m^2 d phi / dm``: logarithm of the number of groups, per weight."""
        return self.overlaps.complexity - alpha * self.pattern.information
