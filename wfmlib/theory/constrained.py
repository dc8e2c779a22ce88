"""Solutions constrained to a distance from a reference: the replica-symmetric saddle point.

The Franz-Parisi potential is stationary in the overlap p of two counted solutions, the overlap t0
of a counted solution with another reference, and their conjugates  [eq-fp-entropy]. Written once
for all weights, activations and margins, like `replica_symmetric`: the weights turn the conjugates
and the distance into overlaps, the activation turns overlaps into effective ones, the constraints
turn those into forces, and the forces are the conjugates again  [eq-fp-saddle]. A saddle point is
a fixed point of that loop.

The unknowns are ``p_hat`` and ``r = t0_hat / sqrt(p_hat q_hat)``, the correlation between the
fields that the patterns exert on a weight of the reference and of a counted solution; r lies
between 0 and 1, and so does its image.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib import gaussian

# Below this p_hat no pattern constrains the counted solutions, and it is set to 0: the saddle
# point is stationary in it, so that the local entropy changes by its square, the slope by itself.
FREE = 1e-10
# Counted solutions that leave open a smaller share than this of the variance of the reference's
# field: its step is too sharp for the direct form of the slope, and differences cancel.
SHARP = 0.1

FAR = 8.0  # cuts beyond this many standard deviations are too small to divide by
LIMIT = 8.5  # how far fields are followed: the normal density beyond weighs 2e-17
RULE = gaussian.legendre_rule(10)  # relative errors of the averages are below 1e-12


class Reference:
    """The reference: a typical solution, or a planted one.

    Parameters
    ----------
    state : Stationary
        Its saddle point; that of ``q_hat = 0`` for a planted reference, whose patterns were drawn
        such that it is a solution and which has no other references beside it.
    alpha : float
        Load of the patterns.
    """

    def __init__(self, state, alpha):
        self.alpha = alpha
        self.q, self.complement, self.q_hat = state.q, state.complement, state.q_hat
        self.c, self.variance = state.overlap.c, state.overlap.complement
        self.kappa = state.constraint.kappa
        self.planted = state.q_hat == 0.0
        self.fields = self._fields(state)

    def _fields(self, state):
        """Return nodes x for what references share of a pattern's field, their weights, the force.

        The force is that of the pattern on another reference.
        """
        root = math.sqrt(self.c)
        x, weight = np.zeros(1), np.ones(1)
        if root > 0.0:
            features = np.array([[self.kappa / root, math.sqrt(self.variance) / root]])
            x, weight = gaussian.fill_grid(features, -LIMIT, LIMIT, RULE)
        return x, weight, state.constraint.slope(root * x, self.variance)


class Averages(NamedTuple):
    """Averages over the fields that one pattern exerts on the reference and on the counted ones.

    Attributes
    ----------
    log_weight : float
        ``E f``: what a pattern costs  [eq-fp-energetic].
    force : float
        ``E f'^2``.
    common : float
        ``E r f'`` with the force r on another reference.
    pull : float
        ``E r f'`` with the force on the reference itself.
    stiffness : float
        ``E f''^2``.
    """

    log_weight: float
    force: float
    common: float
    pull: float
    stiffness: float


class Constrained:
    """One turn of the loop: from ``p_hat``, r and the distance to overlaps and back.

    Parameters
    ----------
    distance : float
        Between counted solution and reference, above 0.
    p_hat, correlation : float
        The conjugates: `correlation` is r.
    reference : Reference
    weights, activation, constraint
        The axes; the constraint is that of the counted solutions, raw.
    """

    def __init__(self, distance, p_hat, correlation, reference, weights, activation, constraint):
        self.distance = distance
        self.p_hat = p_hat if p_hat > FREE else 0.0
        self.correlation = correlation
        self.reference = reference
        self.kappa = constraint.kappa / activation.scale
        self.entropic = weights.constrained(distance, self.p_hat, correlation, reference)
        self.bound = weights.bound(distance)
        self.p, self.complement = self.entropic.p, self.entropic.complement
        self.t0, self.t1 = self.entropic.t0, 1.0 - 2.0 * distance
        self.counted = activation._effective(self.p, self.complement)
        self.other = activation._effective(self.t0, 1.0 - self.t0)
        self.nearest = activation._effective(self.t1, 2.0 * distance)
        self._split()

    def _split(self):
        """Split the fields' covariance: what is shared with all references, with this one, rest.

        The part of the counted field that its solutions share is
        ``omega = slope x + width y``; given x and y the reference's field has the mean
        ``sqrt(c_q) x + lean y`` and the variance `left`.
        """
        c, variance = self.reference.c, self.reference.variance
        self.slope = self.other.c / math.sqrt(c) if c > 0.0 else 0.0
        self.width = math.sqrt(max(self.counted.c - self.slope**2, 0.0))
        if self.width == 0.0:
            self.lean, self.left = 0.0, variance
            return
        self.lean = (self.nearest.c - self.other.c) / self.width
        self.left = variance - self.lean**2
        if self.left < SHARP * variance:
            # variance of what two counted solutions share beyond x and the reference itself, from
            # the small differences 1 - c, so that it keeps its digits at small distances
            gap = self.nearest.complement
            beyond = (2.0 - gap) * gap - self.counted.complement
            if c > 0.0:
                beyond -= (self.other.c - c * self.nearest.c) ** 2 / (c * variance)
            self.left = variance * max(beyond, 0.0) / self.width**2
            self.lean = math.copysign(math.sqrt(max(variance - self.left, 0.0)), self.lean)

    def image(self):
        """Return the conjugates ``(p_hat, r)`` that follow from the overlaps  [eq-fp-saddle]."""
        if self.counted.complement < 1e-14:  # collapsed: nothing is left to resolve
            return math.nan, math.nan
        force, common = _forces(*self._kernel_arguments())
        alpha, q_hat = self.reference.alpha, self.reference.q_hat
        p_hat = alpha * self.counted.slope * force
        if self.reference.planted:
            return p_hat, 0.0
        t0_hat = alpha * self.other.slope * common
        return p_hat, t0_hat / math.sqrt(p_hat * q_hat) if p_hat > 0.0 else 0.0

    @cached_property
    def averages(self):
        """All averages over a pattern's fields, as `Averages`."""
        sharp = self.left < SHARP * self.reference.variance
        return Averages(*_averages(*self._kernel_arguments(), sharp))

    def _kernel_arguments(self):
        reference = self.reference
        return (
            *reference.fields,
            math.sqrt(reference.c),
            reference.variance,
            reference.kappa,
            self.slope,
            self.width,
            self.counted.complement,
            self.kappa,
            self.lean,
            self.left,
            RULE,
        )

    @property
    def local_entropy(self):
        """Local entropy in nats per weight  [eq-fp-entropy]."""
        return self.entropic.term + self.reference.alpha * self.averages.log_weight

    @property
    def derivative(self):
        """Derivative of the local entropy with respect to the distance  [eq-fp-slope]."""
        pull = self.reference.alpha * self.nearest.slope * self.averages.pull
        return 2.0 * (self.entropic.t1_hat - pull)

    @property
    def replicon(self):
        """Stability: counted replicas break up where it is above 1  [eq-fp-replicon]."""
        averages = self.averages
        response = self.counted.slope**2 * averages.stiffness
        response += self.counted.curvature * averages.force
        return self.reference.alpha * self.entropic.fluctuation * response


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _private_fields(x, root_c, variance, kt, slope, width, own, kappa, lean, left, rule):
    """Return nodes and weights for y, given x, from the measure of the reference.

    Given x the reference's field v is normal about ``root_c x``, cut off below kt, and y is
    correlated with it. That density of y is normal times the probability of the cut, a
    log-concave function: it lies within a standard normal's reach of its mean.
    """
    spread = math.sqrt(variance)
    cut = (kt - root_c * x) / spread
    mean = lean * gaussian.hazard(cut) / spread
    # an ordinary cut keeps y's own normal density; a far one is divided out in logarithms
    far = cut > FAR
    centre = mean if far else 0.0
    features = np.empty((2, 2))
    count = 0
    if width > 1e-8:
        features[count, 0] = (kappa - slope * x) / width - centre
        features[count, 1] = math.sqrt(own) / width
        count += 1
    if abs(lean) > 1e-8:
        features[count, 0] = (kt - root_c * x) / lean - centre
        features[count, 1] = math.sqrt(left) / abs(lean)
        count += 1
    y, weight = gaussian.fill_grid(
        features[:count], mean - centre - LIMIT, mean - centre + LIMIT, rule
    )
    root_left = math.sqrt(max(left, 1e-300))
    if not far:
        total = gaussian.H(cut)
        for j in range(len(y)):
            weight[j] /= total
            if weight[j] > 1e-20:
                weight[j] *= gaussian.H((kt - root_c * x - lean * y[j]) / root_left)
        return y, weight
    total = gaussian.log_H(cut)
    for j in range(len(y)):
        shift = y[j]
        y[j] += mean
        argument = (kt - root_c * x - lean * y[j]) / root_left
        # relative to the normal density about the mean, which is in the weight already
        weight[j] *= math.exp(-mean * (shift + 0.5 * mean) + gaussian.log_H(argument) - total)
    return y, weight


@njit(cache=True, nogil=True)
def _forces(
    x, weight, other, root_c, variance, kt, slope, width, own, kappa, lean, left, rule
):  # fmt: skip
    """Return ``E f'^2`` and ``E r f'``, r = `other` the force on another reference."""
    force = common = 0.0
    root_own = math.sqrt(own)
    for i in range(len(x)):
        y, inner = _private_fields(
            x[i], root_c, variance, kt, slope, width, own, kappa, lean, left, rule
        )  # fmt: skip
        first = second = 0.0
        for j in range(len(y)):
            u = (kappa - slope * x[i] - width * y[j]) / root_own
            if u > -9.0 and inner[j] > 1e-20:  # the hazard of -9 is 1e-18
                hazard = gaussian.hazard(u)
                first += inner[j] * hazard
                second += inner[j] * hazard * hazard
        force += weight[i] * second
        common += weight[i] * other[i] * first
    return force / own, common / root_own


@njit(cache=True, nogil=True)
def _averages(
    x, weight, other, root_c, variance, kt, slope, width, own, kappa, lean, left, rule, sharp
):  # fmt: skip
    """Return the averages of f, f'^2, r f' with either r, f''^2: what `Averages` holds.

    Where the cut of the reference's field is `sharp` its force is integrated by parts in y.
    """
    log_weight = force = common = pull = stiffness = 0.0
    root_own, root_left = math.sqrt(own), math.sqrt(max(left, 1e-300))
    for i in range(len(x)):
        y, inner = _private_fields(
            x[i], root_c, variance, kt, slope, width, own, kappa, lean, left, rule
        )  # fmt: skip
        for j in range(len(y)):
            if inner[j] < 1e-20:
                continue
            w = weight[i] * inner[j]
            u = (kappa - slope * x[i] - width * y[j]) / root_own
            if u < -9.0:  # all f is 1e-19 there
                continue
            hazard = gaussian.hazard(u) / root_own
            bend = gaussian.hazard_derivative(u) / own  # - f''
            log_weight += w * gaussian.log_H(u)
            force += w * hazard**2
            common += w * other[i] * hazard
            stiffness += w * bend**2
            if sharp:
                pull += w * (y[j] * hazard + width * bend) / lean
            else:
                nearest = gaussian.hazard((kt - root_c * x[i] - lean * y[j]) / root_left)
                pull += w * nearest * hazard / root_left
    return log_weight, force, common, pull, stiffness
