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

from wfmlib.models.constraints import Margin
from wfmlib.numerics import gaussian
from wfmlib.theory.saddles.tabulated import ORDER, evaluate, panel_of, tabulate

# Below this p_hat no pattern constrains the counted solutions, and it is set to 0: the saddle
# point is stationary in it, so that the local entropy changes by its square, the slope by itself.
FREE = 1e-10
# Counted solutions that leave open a smaller share than this of the variance of the reference's
# field: its step is too sharp for the direct form of the slope, and differences cancel.
SHARP = 0.1

FAR = 8.0  # cuts beyond this many standard deviations are too small to divide by
LIMIT = 8.5  # how far fields are followed: the normal density beyond weighs 2e-17
RULE = gaussian.legendre_rule(10)  # relative errors of the averages are below 1e-12


NO_TABLE = np.zeros(0), np.zeros((2, 0, ORDER))


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
        self.sharp = isinstance(self.constraint, Margin)
        self.kappa = self.constraint.kappa if self.sharp else self.constraint.wall
        self.planted = state.q_hat == 0.0
        self.fields = self._fields()

    def _fields(self):
        """Return nodes x for what references share of a pattern's field, their weights, the force.

        The force is that of the pattern on another reference; last comes the logarithm of the
        pattern's weight.
        """
        root = math.sqrt(self.c)
        x, weight = np.zeros(1), np.ones(1)
        if root > 0.0:
            features = np.array(self.constraint.features(self.variance)) / root
            x, weight = gaussian.fill_grid(features, -LIMIT, LIMIT, RULE)
        force = self.constraint.slope(root * x, self.variance)
        return x, weight, force, self.constraint.log_weight(root * x, self.variance)

    def table(self, lean, left):
        """Return a pattern's log-weight and force, given its field but for the variance `left`.

        As `tabulate` does, over all fields that x and y can make, for a Gibbs measure: a margin
        has closed forms.
        """
        if self.sharp:
            return NO_TABLE

        def functions(omega):
            return np.array(self.constraint.gibbs(omega, left)[:2])

        # omega is normal but for the pull of the weight on y; what lies outside weighs nothing
        reach = LIMIT * math.sqrt(max(self.c + lean**2, 1e-12))  # a panel at least
        pull = lean**2 * float(np.max(self.fields[2]))
        features = self.constraint.features(left)
        return tabulate(functions, features, -reach, reach + pull)


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
        force, common = _forces(*self._kernel_arguments())
        alpha, q_hat = self.reference.alpha, self.reference.q_hat
        p_hat = alpha * self.counted.slope * force
        if self.reference.planted:
            return p_hat, 0.0
        t0_hat = alpha * self.other.slope * common
        product = p_hat * q_hat  # may underflow
        return p_hat, t0_hat / math.sqrt(product) if product > 0.0 else 0.0

    @cached_property
    def averages(self):
        """All averages over a pattern's fields, as `Averages`."""
        sharp = self.reference.sharp and self.left < SHARP * self.reference.variance
        return Averages(*_averages(*self._kernel_arguments(), sharp))

    def _kernel_arguments(self):
        reference = self.reference
        left = max(self.left, 1e-300)
        split = Split(
            root_c=math.sqrt(reference.c),
            variance=reference.variance,
            kt=reference.kappa,
            slope=self.slope,
            width=self.width,
            own=self.counted.complement,
            kappa=self.kappa,
            lean=self.lean,
            left=left,
            lowest=math.nan if reference.sharp else -reference.constraint.beta * left,
        )
        return *reference.fields, split, *reference.table(self.lean, left), RULE

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


class Split(NamedTuple):
    """How the fields of one pattern are split, for the kernels.

    Given x and y the reference's field has the mean ``root_c x + lean y`` and the variance
    `left`; the counted one has ``slope x + width y`` and `own`. `variance` is that of the
    reference's field given x. References turn bad below kt, counted solutions below kappa; the
    force on a reference no longer grows below `lowest` (NaN: it always does).
    """

    root_c: float
    variance: float
    kt: float
    slope: float
    width: float
    own: float
    kappa: float
    lean: float
    left: float
    lowest: float


@njit(cache=True, nogil=True)
def _private_fields(x, force, log_weight, split, ends, table, rule):
    """Return nodes and weights for y, given x, from the measure of the reference.

    Given x the reference's field v is normal about ``root_c x``, weighed by the pattern, and y is
    correlated with it. That density of y is normal times a log-concave function, the pattern's
    weight given y: it lies within a standard normal's reach of its mean.
    """
    mean = split.lean * force
    spread = math.sqrt(split.variance)
    cut = (split.kt - split.root_c * x) / spread
    margin = len(ends) == 0
    # an ordinary cut keeps y's own normal density; a far one is divided out in logarithms
    direct = margin and cut <= FAR
    centre = 0.0 if direct else mean
    root_left = math.sqrt(split.left)
    features = np.empty((3, 2))
    count = 0
    if split.width > 1e-8:
        features[count, 0] = (split.kappa - split.slope * x) / split.width - centre
        features[count, 1] = math.sqrt(split.own) / split.width
        count += 1
    if abs(split.lean) > 1e-8:
        features[count, 0] = (split.kt - split.root_c * x) / split.lean - centre
        features[count, 1] = root_left / abs(split.lean)
        count += 1
        if not math.isnan(split.lowest):
            features[count, 0] = (split.lowest - split.root_c * x) / split.lean - centre
            features[count, 1] = features[count - 1, 1]
            count += 1
    low, high = mean - centre - LIMIT, mean - centre + LIMIT
    y, weight = gaussian.fill_grid(features[:count], low, high, rule)
    if direct:
        total = gaussian.H(cut)
        for j in range(len(y)):
            weight[j] /= total
            if weight[j] > 1e-20:
                field = split.root_c * x + split.lean * y[j]
                weight[j] *= gaussian.H((split.kt - field) / root_left)
        return y, weight
    for j in range(len(y)):
        shift = y[j]
        y[j] += mean
        field = split.root_c * x + split.lean * y[j]
        if margin:
            given = gaussian.log_H((split.kt - field) / root_left)
        else:
            field = min(max(field, ends[0]), ends[-1])
            given = evaluate(ends, table[0], panel_of(ends, field), field)
        # relative to the normal density about the mean, which is in the weight already
        weight[j] *= math.exp(-mean * (shift + 0.5 * mean) + given - log_weight)
    return y, weight


@njit(cache=True, nogil=True)
def _forces(x, weight, other, log_weight, split, ends, table, rule):
    """Return ``E f'^2`` and ``E r f'``, r = `other` the force on another reference."""
    force = common = 0.0
    root_own = math.sqrt(split.own)
    for i in range(len(x)):
        y, inner = _private_fields(x[i], other[i], log_weight[i], split, ends, table, rule)
        first = second = 0.0
        for j in range(len(y)):
            u = (split.kappa - split.slope * x[i] - split.width * y[j]) / root_own
            if u > -9.0 and inner[j] > 1e-20:  # the hazard of -9 is 1e-18
                hazard = gaussian.hazard(u)
                first += inner[j] * hazard
                second += inner[j] * hazard * hazard
        force += weight[i] * second
        common += weight[i] * other[i] * first
    return force / split.own, common / root_own


@njit(cache=True, nogil=True)
def _averages(x, weight, other, log_weight, split, ends, table, rule, sharp):
    """Return the averages of f, f'^2, r f' with either r, f''^2: what `Averages` holds.

    Where the cut of the reference's field is `sharp` its force is integrated by parts in y.
    """
    cost = force = common = pull = stiffness = 0.0
    root_own, root_left = math.sqrt(split.own), math.sqrt(split.left)
    for i in range(len(x)):
        y, inner = _private_fields(x[i], other[i], log_weight[i], split, ends, table, rule)
        for j in range(len(y)):
            if inner[j] < 1e-20:
                continue
            w = weight[i] * inner[j]
            u = (split.kappa - split.slope * x[i] - split.width * y[j]) / root_own
            if u < -9.0:  # all f is 1e-19 there
                continue
            hazard = gaussian.hazard(u) / root_own
            bend = gaussian.hazard_derivative(u) / split.own  # - f''
            cost += w * gaussian.log_H(u)
            force += w * hazard**2
            common += w * other[i] * hazard
            stiffness += w * bend**2
            field = split.root_c * x[i] + split.lean * y[j]
            if sharp:
                pull += w * (y[j] * hazard + split.width * bend) / split.lean
            elif len(ends) == 0:
                pull += w * gaussian.hazard((split.kt - field) / root_left) / root_left * hazard
            else:
                field = min(max(field, ends[0]), ends[-1])
                pull += w * evaluate(ends, table[1], panel_of(ends, field), field) * hazard
    return cost, force, common, pull, stiffness
