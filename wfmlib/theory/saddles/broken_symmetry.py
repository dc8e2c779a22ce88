"""The saddle point with one step of replica symmetry breaking, for all weights and activations.

Replicas come in groups of m: overlap q1 inside a group, q0 between groups. As at the
replica-symmetric level (`replica_symmetric`) the weights turn conjugates into overlaps, the
activation overlaps into effective ones ``c0 = c(q0)`` and ``c1 = c(q1)``, and the constraint those
into forces. What groups share of a field is ``sqrt(c0) x``, what the members of one share on top
is ``sqrt(c1 - c0) y``, and an average over y carries the weight of the group, ``e^{m f}``
[eq-1rsb-energetic]:

    q0_hat = alpha c'(q0) E <f'>^2,    q1_hat = alpha c'(q1) E <f'^2>    [eq-1rsb-saddle]

with x under E and y under < >. We choose ``q0_hat``, ``q1_hat - q0_hat`` and m, and read off the
load that each of the two equations asks for. Differences between q1 and q0 are never formed by
subtraction: the difference of the two equations is one of variances,

    q1_hat - q0_hat = alpha {c'(q0) E [<f'^2> - <f'>^2] + [c'(q1) - c'(q0)] E <f'^2>},

so that the point where groups dissolve into replica symmetry is as smooth as any other.
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
