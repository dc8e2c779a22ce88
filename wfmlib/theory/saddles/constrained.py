"""The Franz-Parisi potential: solutions at a distance from a reference, replica-symmetric.

Ansatz: references have the overlap q with each other (`replica_symmetric`). Counted solutions have
the overlap ``t1 = 1 - 2 distance`` with their own reference, t0 with another one, and p with each
other. The local entropy per weight (P3, B12-B13; P2, appendix C; P1, appendix B2) is

    phi = G_S(p_hat, t0_hat, t1_hat) + alpha G_E(p, t0, t1)                    [eq-fp-entropy]
    G_S = -p_hat (1 - p) / 2 + t0 t0_hat - t1 t1_hat + E <ln 2 cosh(...)>      [eq-fp-entropic]
    G_E = E <f(slope x + width y)>                                             [eq-fp-energetic]

where ``sqrt(c_q) x`` is what references share of a pattern's field, and < > an average over y and
the reference, weighted with the reference's own constraint, `Reference` and `Constrained._split`.
As in `replica_symmetric` the weights are asked for G_S (`models.weights`, `constrained`; binary
ones above, spherical ones below), the activation for effective overlaps, the constraints for
averages over fields (`around`). phi is stationary in p, t0 and their conjugates at

    p_hat = alpha c'(p) E <f'^2>,   t0_hat = alpha c'(t0) E r <f'>             [eq-fp-saddle]

with r the force on another reference. A saddle point is a fixed point of the loop from conjugates
to overlaps to forces, `Constrained`, which `solvers.fixed_point` finds. Its unknowns are ``p_hat``
and ``r = t0_hat / sqrt(p_hat q_hat)``, the correlation between the fields that the patterns exert
on a weight of the reference and of a counted solution; r lies between 0 and 1, and so does its
image.

On the sphere, with ``u = (t0 - q t1) / (1 - q)``, conjugates can be eliminated:
``G_S = [ln(1 - p) + (p - t1^2 + u^2) / (1 - p)] / 2``. For a perceptron all of it is short in
plain NumPy, and the fast state is stationary in it:

>>> import numpy as np
>>> from scipy.special import log_ndtr
>>> x, weight = np.polynomial.hermite_e.hermegauss(150)
>>> weight, x = weight / weight.sum(), x[:, None]
>>> def phi(p, t0, alpha, q, t1):
...     u, slope = (t0 - q * t1) / (1 - q), t0 / np.sqrt(q)
...     width = np.sqrt(p - slope**2)
...     lean = (t1 - t0) / width
...     left, y = 1 - q - lean**2, x.T
...     measure = log_ndtr((np.sqrt(q) * x + lean * y) / np.sqrt(left))
...     measure = np.exp(measure - log_ndtr(np.sqrt(q / (1 - q)) * x))
...     f = log_ndtr((slope * x + width * y) / np.sqrt(1 - p))
...     entropic = (np.log(1 - p) + (p - t1**2 + u**2) / (1 - p)) / 2
...     return entropic + alpha * (weight @ (measure * f) @ weight)
>>> from wfmlib import Perceptron, Spherical
>>> from wfmlib.theory import franz_parisi, typical
>>> device, alpha, distance = Perceptron(Spherical()), 0.5, 0.2
>>> point = franz_parisi.solve(device, alpha, distance)
>>> others = alpha, typical.solve(device, alpha).q, 1 - 2 * distance
>>> print(f"{point.local_entropy:.6f} {phi(point.p, point.t0, *others):.6f}")
-0.454472 -0.454472
>>> place = np.array([point.p, point.t0])
>>> for step in 1e-4 * np.eye(2):
...     print(f"{abs(phi(*place + step, *others) - phi(*place - step, *others)) / 2e-4:.5f}")
0.00000
0.00000
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from wfmlib.models.constraints.log_concave import Split
from wfmlib.theory.saddles.field_nodes import field_nodes

# Below this p_hat no pattern constrains the counted solutions, and it is set to 0: the saddle
# point is stationary in it, so that the local entropy changes by its square, the slope by itself.
FREE = 1e-10
# Counted solutions that leave open a smaller share than this of the variance of the reference's
# field: its step is too sharp for the direct form of the slope, and differences cancel.
SHARP = 0.1

LIMIT = 8.5  # how far fields are followed: the normal density beyond weighs 2e-17
FEW = 120  # nodes at equal distances; panels take about as many
ORDER = 10  # nodes in a panel: relative errors of the averages are below 1e-12


class Reference:
    """The reference: a typical solution, a typical configuration of a loss, or a planted solution.

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
        self.constraint = state.constraint
        self.planted = state.q_hat == 0.0
        self.fields = self._fields(state.overlap)

    def _fields(self, overlap):
        """Return nodes x for what references share of a pattern's field, their weights, the force.

        The force is that of the pattern on another reference; last comes the logarithm of the
        pattern's weight.
        """
        root = math.sqrt(self.c)
        x, weight = np.zeros(1), np.ones(1)
        if root > 0.0:
            grid = {"most": FEW, "flat": 0.0}
            x, weight = field_nodes(self.constraint, overlap, -LIMIT, LIMIT, ORDER, **grid)
        force = self.constraint.slope(root * x, self.variance)
        return x, weight, force, self.constraint.log_weight(root * x, self.variance)


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
        self.constraint = constraint.rescaled(activation.scale)
        self.entropic = weights.constrained(distance, self.p_hat, correlation, reference)
        self.bound = weights.bound(distance)
        self.p, self.complement = self.entropic.p, self.entropic.complement
        self.t0, self.t1 = self.entropic.t0, 1.0 - 2.0 * distance
        self.counted = activation.effective(self.p, self.complement)
        self.other = activation.effective(self.t0, 1.0 - self.t0)
        self.nearest = activation.effective(self.t1, 2.0 * distance)
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
        averages = self._around(forces_only=True)
        alpha, q_hat = self.reference.alpha, self.reference.q_hat
        p_hat = alpha * self.counted.slope * averages.force
        if self.reference.planted:
            return p_hat, 0.0
        t0_hat = alpha * self.other.slope * averages.common
        product = p_hat * q_hat  # may underflow
        return p_hat, t0_hat / math.sqrt(product) if product > 0.0 else 0.0

    @cached_property
    def averages(self):
        """All averages over a pattern's fields, as `log_concave.Averages`."""
        steep = self.reference.constraint.hard and self.left < SHARP * self.reference.variance
        return self._around(by_parts=steep)

    def _around(self, **asked):
        """Return averages over a pattern's fields, all or those that are asked for."""
        reference = self.reference
        split = Split(
            c=reference.c,
            variance=reference.variance,
            slope=self.slope,
            width=self.width,
            own=self.counted.complement,
            lean=self.lean,
            left=max(self.left, 1e-300),
        )
        return self.constraint.around(reference.constraint, reference.fields, split, **asked)

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
