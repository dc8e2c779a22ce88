"""One step of symmetry breaking between the groups of infinitely many real replicas.

Groups form clusters: two groups of one cluster have the overlap ``q1 - d0 / y``, as all groups in
`real_replicas.Infinite`, and two of different clusters the overlap q0. A cluster is m replicas
large, m the Parisi parameter, which stays finite as y grows. Groups take the part of replicas in
`broken_symmetry`: for spherical weights and one field, with ``B2 = 1 - q1 + d0`` and
``B1 = B2 + m (q1 - q0)``, the logarithm of the fraction of solutions is

    min {ln(B1 / B2) / (2 m) + q0 / (2 B1) + (alpha / m) E ln <e^{m F}>}    [eq-ld-broken]

over d0, q0 and m. F is the largest weight of a group, `Maximised`, at the field that its cluster
shares. For q0 -> q1, and for m -> 0, there are no clusters: symmetry between groups. For d0 -> 0
there are no groups: all replicas of a cluster have the overlap q1.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from wfmlib.models.constraints.log_concave import LogConcave, Response
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged, Report, accepted
from wfmlib.theory.saddles.broken_symmetry import balanced

FINE, COARSE = gaussian.legendre_rule(8), gaussian.legendre_rule(5)
# Of ln [d0 / (1 - q1)], ln [(q1 - q0) / q0] and ln m; the search ends at an edge.
EDGES = np.array([(-9.0, 60.0), (-9.0, 9.0), (-9.0, 60.0)])
APART = 0.7  # q0 / q1 where a search begins
SEARCH = {"gtol": 1e-6, "ftol": 1e-13}
ACCURACY = 1e-6  # of logarithms of loads and of the complexity; entropies err by its square
LOWER = 1e-7  # by how much clusters must be, relative to the local entropy

DISSOLVED = (
    "no saddle point: overlap must be above that of replicas in one cluster of typical solutions "
    "(q1 of typical.solve_1rsb); got overlap = {:.10g}, alpha = {:.10g}"
)
FAR = "no saddle point found: patterns hardly matter, and clusters are too large"


class Maximised(LogConcave):
    """The largest weight of a group, that moves its field w at a price: concave, as f is.

    ``F(w) = max_u {-u^2 / 2 + f(w + sqrt(spread) u)}``  [eq-ld-infinite].

    Parameters
    ----------
    constraint : LogConcave
        Whose f it is.
    spread : float
        ``c'(q1) d0``.
    """

    def __init__(self, constraint, spread):
        self._constraint, self._spread = constraint, spread
        self.tilt = constraint.tilt

    def at(self, omega, variance):
        """Return F and its derivatives; the force is that at the field the group moves to."""
        at = self._constraint.at(self._constraint.pushed(omega, self._spread, variance), variance)
        return Response(
            log_weight=at.log_weight - 0.5 * self._spread * at.slope**2,
            slope=at.slope,
            curvature=at.curvature / (1.0 - self._spread * at.curvature),
            edge=at.slope,
        )

    def pushed(self, omega, spread, variance):
        """Return ``w = omega + spread F'(w)``: pushes add up."""
        end = self._constraint.pushed(omega, spread + self._spread, variance)
        return end - self._spread * self._constraint.at(end, variance).slope

    def features(self, variance):
        """Return where f bends, and where the group begins to move."""
        return self._constraint.bends(variance, self._spread / variance)


class Clusters:
    """Clusters of groups of infinitely many replicas, with d0, q0 and m given.

    Parameters
    ----------
    overlap : float
        q1, of the replicas of a group.
    place : sequence of float
        ``ln [d0 / (1 - q1)]``, ``ln [(q1 - q0) / q0]`` and ``ln m``.
    axes : tuple
        Spherical weights, activation of one field, margin.
    rule : ndarray, optional
        From `gaussian.legendre_rule`, for every panel.

    Attributes
    ----------
    q0, spread, m : float
        Overlap between clusters, d0, and the Parisi parameter.
    term : float
        What a pattern contributes to the free entropy.
    """

    def __init__(self, overlap, place, axes, rule=FINE):
        _, activation, constraint = axes
        complement, self.m = 1.0 - overlap, math.exp(place[2])
        self.spread = complement * math.exp(place[0])
        self.q0 = float(overlap * scipy.special.expit(-place[1]))
        self._gap = float(overlap * scipy.special.expit(place[1]))
        self._inner = complement + self.spread  # B2
        self._outer = self._inner + self.m * self._gap  # B1
        self._free, self._d0_hat = (
            0.5 * math.log(complement),
            self.spread / self._inner / complement,
        )
        self._between = activation.effective(self.q0, complement + self._gap)
        self._within = within = activation.effective(overlap, complement)
        gap = self._between.complement - within.complement
        if self._between.c < 0.5:
            gap = within.c - self._between.c
        self._push = within.slope * self.spread
        group = Maximised(constraint.rescaled(activation.scale), self._push)
        self._fields = group.tilted(self._between.c, gap, within.complement, self.m, rule)
        self._pattern = self._fields.grouped()
        self.term = self._pattern.term
        self._force = self._pattern.common + self._pattern.spread  # E <F'^2>

    def local_entropy(self, alpha):
        """Return the logarithm of the fraction of solutions  [eq-ld-broken]."""
        between = math.log(self._outer / self._inner) / self.m
        return 0.5 * (between + self.q0 / self._outer) + alpha * self.term

    def entropy(self, alpha):
        """Return the free entropy per replica."""
        return self._free + self.local_entropy(alpha)

    def conditions(self, alpha):
        """Return what vanishes at a saddle point: of d0 and q0 logarithms of loads, and of m.

        The last one is the complexity of clusters, ``-m^2 dV / dm``, over what it is of second
        order in ``m (q1 - q0) / B2``.
        """
        stretch = self.m * self._gap / self._outer
        common = self.q0 / self._outer**2
        inside = common + self._gap / self._inner / self._outer
        loads = [
            balanced(inside, self._within.slope * self._force),
            balanced(common, self._between.slope * self._pattern.common),
        ]
        count = -math.log1p(-stretch) - stretch + stretch * self.m * common * self._outer
        lack = 0.5 * count - alpha * self._pattern.information
        return np.array([*np.log(np.array(loads) / alpha), lack / stretch**2])

    def gradient(self, alpha):
        """Return the derivatives of the local entropy in the place."""
        inside, between, lack = self.conditions(alpha)
        common = self.q0 / self._outer**2
        stretch = self.m * self._gap / self._outer
        total = common + self._gap / self._inner / self._outer
        return np.array(
            [
                0.5 * self.spread * total * math.expm1(-inside),
                0.5
                * self.m
                * common
                * math.expm1(-between)
                * self._gap
                * self.q0
                / (self._gap + self.q0),
                -lack * stretch**2 / self.m,
            ]
        )

    def slope(self, alpha):
        """Return the derivative of the free entropy in q1  [eq-ld-slope]."""
        give = -self._fields.inside.curvature
        give = self._push * give**2 / (1.0 - self._push * give)  # F'' - f''
        stretch = self._within.slope * self._average(give)
        stretch += self._within.curvature * self.spread * self._force
        return 0.5 * (alpha * stretch - self._d0_hat)

    def replicon(self, alpha):
        """Return the larger of those in clusters and between them: below 1 where it is stable."""
        bend, slope = self._fields.inside.curvature, self._fields.inside.slope
        within = self._within.slope**2 * self._average(bend**2)
        within += self._within.curvature * self._force
        mean = self._fields.mean
        bend = mean(bend) + self.m * (mean(slope**2) - mean(slope) ** 2)
        between = self._between.slope**2 * (self._fields.outer @ bend**2)
        between += self._between.curvature * self._pattern.common
        return float(alpha * max(self._inner**2 * within, self._outer**2 * between))

    def _average(self, values):
        return float(self._fields.outer @ self._fields.mean(values))


def broken_saddle(overlap, alpha, axes, symmetric):
    """Return the minimum over d0, q0 and m, and a report.

    The search begins at the lowest of several spreads; its last steps are Powell's.

    Parameters
    ----------
    overlap, alpha, axes
        As `real_replicas.saddle`, at a positive load.
    symmetric : float
        The local entropy with symmetry between groups.

    Returns
    -------
    state : Clusters or None
        None where clusters are not lower than symmetric groups.
    report : Report

    Raises
    ------
    NotConverged
        Where the minimum is at an edge.
    """
    evaluations = 0

    def at(place, rule=COARSE):
        nonlocal evaluations
        evaluations += 1
        return Clusters(overlap, place, axes, rule)

    sizes = np.arange(-8.0, 30.0, 2.0)
    starts = np.column_stack(
        [
            sizes,
            np.full_like(sizes, math.log(1.0 / APART - 1.0)),
            np.logaddexp(0.0, sizes) - math.log(5.0 * overlap * (1.0 - APART)),
        ]
    )
    start = min(starts, key=lambda place: at(place).local_entropy(alpha))
    scale = -abs(at(start).local_entropy(alpha))

    def height(place):
        """Return the local entropy, linear above `scale` and logarithmic below, and its slope."""
        state = at(place)
        relative = state.local_entropy(alpha) / scale
        slope = -state.gradient(alpha) / scale
        if relative <= 1.0:
            return -relative, slope
        return -1.0 - math.log(relative), slope / relative

    place = scipy.optimize.minimize(
        height, start, jac=True, method="L-BFGS-B", bounds=EDGES, options=SEARCH
    ).x
    if np.any(EDGES[:, 1] - place < 1e-6):
        raise NotConverged(Report(False, math.inf, evaluations, FAR), place)
    if at(place).local_entropy(alpha) > symmetric * (1.0 + LOWER):
        report = accepted(0.0, ACCURACY, evaluations, "no clusters: symmetric groups are lowest")
        return None, report
    if place[0] - EDGES[0, 0] < 1e-6:
        message = DISSOLVED.format(overlap, alpha)
        raise NotConverged(Report(False, math.inf, evaluations, message), place)
    root = scipy.optimize.root(
        lambda place: at(place, FINE).conditions(alpha), place, options={"xtol": 1e-12}
    )
    state = at(root.x, FINE)
    report = accepted(
        np.max(np.abs(state.conditions(alpha))), ACCURACY, evaluations, "all conditions", root.x
    )
    if np.max(np.abs(root.x - place)) > 0.1:
        message = "no minimum found: the conditions lead away from where the search ended"
        raise NotConverged(Report(False, math.inf, evaluations, message), root.x)
    return state, report
