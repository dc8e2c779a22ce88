"""Real replicas at a fixed mutual overlap: ansatz, free entropy and saddle-point equation.

Ansatz: y replicas of the device are kept at the mutual overlap q1. Such groups are typical, and
replicas of two different groups have the overlap q0. This is one step of symmetry breaking
(`broken_symmetry`) whose group size is y and whose q1 is given; q1_hat only keeps q1 where it is.
The free entropy per weight and replica (P1, section II.D and appendix C; P2, appendix D) is

    V = G_S(q0_hat, q1_hat) + alpha (1 / y) E ln <e^{y f}>                     [eq-ld-entropy]

with E over the field ``sqrt(c(q0)) x`` that all groups share and < > over what one group shares on
top. V is smallest in q0, the only unknown, where

    load(q0) = q0_hat / (c'(q0) E <f'>^2) = alpha,   < > weighted with e^{y f}  [eq-ld-saddle]

At a fixed q1 we choose how far apart the groups are, and read off that load: `Finite`. The
derivative of V in q0 is ``(y / 2) q0_hat (1 - alpha / load)``: where load increases with q0 this
is a minimum, as it must be. For infinitely many replicas q0 tends to q1 while ``d0 = y (q1 - q0)``
stays, and the average over a group becomes a maximum: `Infinite`,

    V = G_S + alpha E max_u {-u^2 / 2 + f(sqrt(c) x + sqrt(c'(q1) d0) u)}      [eq-ld-infinite]

`real_replicas` finds where load is alpha. For spherical weights
``G_S = [ln(1 - q1) + q1 / (1 - q1 + d0)] / 2``, and a perceptron is short in plain NumPy:

>>> import numpy as np
>>> from scipy.optimize import minimize_scalar
>>> from scipy.special import log_ndtr
>>> x, weight = np.polynomial.hermite_e.hermegauss(100)
>>> weight = weight / weight.sum()
>>> alpha, q1, u = 1.2, 0.9, np.linspace(0, 8, 1601)
>>> def V(d0):
...     field = np.sqrt(q1) * x[:, None] + np.sqrt(d0) * u
...     pattern = np.max(log_ndtr(field / np.sqrt(1 - q1)) - u**2 / 2, axis=1)
...     return (np.log(1 - q1) + q1 / (1 - q1 + d0)) / 2 + alpha * (weight @ pattern)
>>> lowest = minimize_scalar(V, bounds=(0, 20), method="bounded")
>>> print(f"{lowest.fun:.4f}")
-1.3041
>>> from wfmlib import Margin, Perceptron, Spherical
>>> device = Perceptron(Spherical())
>>> axes = device.weights, device.activation, Margin(0.0)
>>> state = Infinite(q1, np.log((1 - q1) / lowest.x), axes)
>>> print(f"{state.entropy(alpha):.4f}, at load {state.load:.3f}")
-1.3041, at load 1.200
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from wfmlib.theory.saddles.broken_symmetry import Broken, balanced


class Finite:
    """Groups of y replicas at overlap q1, at a distance from one another that is chosen.

    Parameters
    ----------
    overlap : float
        q1.
    place : float
        ``ln [q0 / (q1 - q0)]`` for spherical weights. For discrete ones the same with q0_hat, and
        the conjugate at which q1 is the replica-symmetric overlap, in the place of q0 and q1.
        ``-inf`` at q0 = 0.
    replicas : float
        y, finite and positive.
    axes : tuple
        Weights, activation, constraint.
    split : float, optional
        Of the conjugates, for discrete weights: for others to judge whether q1 is right. Otherwise
        it is solved for.

    Attributes
    ----------
    load : float
        At which this is stationary  [eq-ld-saddle].
    broken : Broken
        The same as a saddle point of groups.
    q0, spread : float
        Overlap between groups, and ``y (q1 - q0)``.
    term : float
        What a pattern contributes to the free entropy.
    """

    def __init__(self, overlap, place, replicas, axes, split=None):
        if split is not None:
            q0_hat = axes[0].conjugate(overlap) * scipy.special.expit(place)
        else:
            q0_hat, split = axes[0].replicas(overlap, place, replicas)
        self.broken = Broken(float(q0_hat), float(split), replicas, *axes)
        self.replicas = replicas
        self.load = self.broken.load_between
        self.q0 = self.broken.overlaps.q0
        self.spread = replicas * self.broken.overlaps.difference
        self.term = self.broken.pattern.term

    def entropy(self, alpha):
        """Return the free entropy per replica  [eq-ld-entropy]."""
        return self.broken.entropy(alpha)

    def slope(self, alpha):
        """Return its derivative in q1, ``(y - 1) / 2 [alpha c'(q1) E <f'^2> - q1_hat]``.

        The equation for q0 turns this into a difference of the two loads  [eq-ld-slope].
        """
        if self.replicas == 1.0:  # nobody to keep an overlap with
            return 0.0
        at = self.broken
        lack = alpha / at.load_within - 1.0
        return 0.5 * (self.replicas - 1.0) * at.overlaps.split_hat * lack

    def complexity(self, alpha):
        """Return the logarithm of the number of groups per weight  [eq-ld-complexity]."""
        return self.broken.complexity(alpha)


class Infinite:
    """The same with infinitely many replicas: q0 tends to q1  [eq-ld-infinite].

    Parameters
    ----------
    overlap : float
        q1.
    place : float
        ``ln [(1 - q1) / d0]``, d0 the spread, for spherical weights; for discrete ones as
        `Finite`, with q1_hat.
    axes : tuple
        Weights, activation, constraint.
    coarse : bool, optional
        For finite machines: on few nodes, to begin with.

    Attributes
    ----------
    load, q0, spread, term : float
        As `Finite`.
    """

    replicas = math.inf

    def __init__(self, overlap, place, axes, coarse=False):
        weights, activation, constraint = axes
        complement = 1.0 - overlap
        q1_hat, self._d0_hat, spread, self._entropic = weights.limit(overlap, place)
        self.q0, self.spread = overlap, spread
        effective = activation.effective(overlap, complement)
        constraint = constraint.rescaled(activation.scale)
        if not activation.one_field:
            pattern = activation.limit_averages(overlap, spread, constraint.kappa, coarse)
        else:
            c, variance, slope, _ = effective
            pattern = constraint.limit(c, slope * spread, variance)
        self.term = pattern.term
        self._stretch = effective.slope * pattern.spread
        self._stretch += effective.curvature * spread * pattern.force
        force = effective.slope * pattern.force  # 0 where no pattern is felt
        self.load = balanced(q1_hat, force)

    def entropy(self, alpha):
        """Return the free entropy per replica  [eq-ld-infinite]."""
        return self._entropic + alpha * self.term

    def slope(self, alpha):
        """Return its derivative in q1  [eq-ld-slope]."""
        return 0.5 * (alpha * self._stretch - self._d0_hat)


class Orthogonal:
    """Infinitely many replicas in groups without any overlap, of a constraint without a sign.

    The field of a group is then free to be 0, where f is largest: the term is f(0). From the heat
    equation ``df/dv = (f'' + f'^2) / 2``, its derivative in q1 is ``-c'(q1) f''(0) / 2``.

    Attributes
    ----------
    q0, spread, term : float
        As `Finite`.
    """

    q0, spread = 0.0, math.inf

    def __init__(self, overlap, axes):
        weights, activation, constraint = axes
        effective = activation.effective(overlap, 1.0 - overlap)
        at = constraint.rescaled(activation.scale).at(np.zeros(1), effective.complement)
        self._free = weights.unloaded(overlap, math.inf)
        self._stretch = -float(effective.slope * at.curvature[0])
        self.term = float(at.log_weight[0])

    def entropy(self, alpha):
        """Return the free entropy per replica."""
        return self._free.entropy + alpha * self.term

    def slope(self, alpha):
        """Return its derivative in q1."""
        return self._free.slope + 0.5 * alpha * self._stretch
