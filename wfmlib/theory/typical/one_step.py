"""Typical solutions with one step of replica symmetry breaking.

Where the replica-symmetric saddle point is not the right one, solutions come in groups. For every
size m of the groups of replicas `broken_symmetry` has a saddle point; the free entropy is
stationary in m too, a minimum since the number of replicas goes to zero, at

    Sigma = -m^2 d phi / dm = 0    [eq-1rsb-saddle],

where Sigma, the complexity, is the logarithm of the number of groups per weight. If there are
groups at m = 1 with Sigma >= 0, then m = 1: they are exponentially many, and the entropy is the
replica-symmetric one. So it is in a window of loads before a discontinuous transition, and, with
groups of a single configuration, for binary weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, Report, accepted, first_root
from wfmlib.theory.axes import GROUPS, Load, checked
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.one_step_capacity import limit
from wfmlib.theory.saddles.one_step_search import Search
from wfmlib.theory.saddles.replica_symmetric import Stationary, at_load, lowest

ACCURACY = 1e-8  # of the logarithm of the load, and of the complexity


@dataclass(frozen=True, repr=False)
class OneStep(Shown):
    """The saddle point with one step of replica symmetry breaking: the typical solutions.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    constraint : Margin
    q0, q1 : float
        Overlap of two solutions from different groups, and from one group; equal at a
        replica-symmetric point.
    m : float
        Parisi parameter, from 0 to 1: a share ``1 - m`` of all pairs of solutions lies in one
        group. 1 at a replica-symmetric point.
    entropy : float
        Logarithm of the number of solutions (Binary) or of their share of the sphere (Spherical),
        in nats per weight.
    complexity : float
        Logarithm of the number of groups, in nats per weight: 0 unless m = 1.
    q0_hat, q1_hat : float
        Conjugates of the overlaps; ``q1_hat`` is infinite where groups are single configurations.
    report : Report
        Residual: largest relative error of the load in the saddle-point equations, or of the
        complexity if that is larger.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> point = solve_1rsb(Perceptron(), 0.5)
    >>> point.symmetry, point.q1, point.m
    ('frozen', 1.0, 1.0)
    """

    printed_answers = ("symmetry", "q0", "q1", "m", "entropy", "complexity")

    device: Device
    alpha: float
    constraint: Margin
    q0: float
    q1: float
    m: float
    entropy: float
    complexity: float
    q0_hat: float
    q1_hat: float
    report: Report = field(compare=False)

    @property
    def replica_symmetric(self) -> bool:
        """Whether there is one group only, ``q0 = q1``."""
        return self.q0_hat == self.q1_hat

    @property
    def frozen(self) -> bool:
        """Whether groups are single configurations, ``q1 = 1``."""
        return math.isinf(self.q1_hat)

    @property
    def symmetry(self) -> str:
        """The same in words."""
        kind = "replica symmetric" if self.replica_symmetric else "groups of solutions"
        return "frozen" if self.frozen else kind


@arguments.checked
def solve_1rsb(device: Device, alpha: Load, constraint: Constraint = Margin(0.0)) -> OneStep:
    """Solve the saddle-point equations with one step of replica symmetry breaking at one load.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        Of a committee's units infinitely many.
    alpha : float
        Load, patterns per weight; not negative.
    constraint : Margin
        A margin from -2 to 1e4 times the activation's scale.

    Returns
    -------
    OneStep
        Spherical: replica symmetric up to `instability`, or, where the transition is
        discontinuous, up to the lower load at which groups appear (m = 1 at first). Binary:
        frozen, unless RS is unstable (ReLU units at margins above 1.96).

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        At and above the capacity (``capacity(..., ansatz="1RSB")``), where there are no
        solutions, and where q0, q1 and 1 are too close to be resolved: just below it, for sign
        units at loads about ten times that of the instability, and for spherical perceptrons at
        margins from -0.02 to 0. The message says which.

    Notes
    -----
    Rounding is magnified just above a continuous transition, where q1 - q0 vanishes, and close to
    the capacity, where m does. Absolute errors of q0 and q1 are below 5e-9; those of m below 3e-8
    (1e-9 where q1 - q0 exceeds 0.005), but for spherical perceptrons at margins from -0.1 to 0,
    1e-4 just above the transition. That of the entropy is of the order of ``1e-15 / m``. Within a
    relative 1e-6 above the transition the replica-symmetric point is returned.

    Frozen: at ``q1 = 1`` the free entropy is ``phi_RS / m``, smallest at ``m = 1`` as long as the
    RS entropy is positive; all of it is complexity.

    Source: P2, equations B4-B6.

    Examples
    --------
    >>> from wfmlib import ReLU, TreeCommittee
    >>> point = solve_1rsb(TreeCommittee(math.inf, ReLU()), 2.0)
    >>> round(point.q0, 4), round(point.q1, 4), round(point.m, 4)
    (0.7075, 0.8629, 0.3207)
    """
    axes = checked(device, constraint, needs=GROUPS)
    try:
        point = _point(device, alpha, axes)
    except NotConverged as failure:
        raise _no_point(device, alpha, axes, failure.report) from None
    if device.weights.discrete and point.entropy < 0.0:
        negative = Report(False, -point.entropy, point.report.iterations, "entropy below zero")
        raise _no_point(device, alpha, axes, negative)
    return point


def last_load(device, axes, unbroken):
    """Return the load up to which solutions exist, given the replica-symmetric estimate of it."""
    weights, activation, constraint = axes
    if not weights.discrete:
        return limit(activation, constraint).alpha
    if at_load(unbroken, axes)[0].replicon < 1.0:
        return unbroken  # frozen: the entropy is the replica-symmetric one

    def entropy(log_alpha):
        try:
            return _point(device, math.exp(log_alpha), axes).entropy
        except NotConverged:  # at large margins groups end soon after the entropy vanishes
            return -1.0

    start = math.log(unbroken)
    return math.exp(first_root(entropy, start, start - 1.0, step=0.02, tolerance=1e-11)[0])


def _point(device, alpha, axes):
    """Return the saddle point, for binary weights also where its entropy is negative."""
    q_hat, _ = lowest(alpha, axes)
    search = Search(alpha, q_hat, axes)
    broken = search.groups() if alpha > 0.0 else None
    if broken is None:
        return _symmetric(device, alpha, q_hat, axes, search.evaluations)
    complexity = float(broken.complexity(alpha))
    residual = float(np.max(np.abs(search.residuals(broken))))
    if broken.m < 1.0:  # where it vanishes
        residual, complexity = max(residual, abs(complexity)), 0.0
    return OneStep(
        device,
        alpha,
        axes[2],
        q0=float(broken.overlaps.q0),
        q1=float(1.0 - broken.overlaps.complement),
        m=float(broken.m),
        entropy=float(broken.entropy(alpha)),
        complexity=complexity,
        q0_hat=float(broken.q0_hat),
        q1_hat=float(broken.q0_hat + broken.overlaps.split_hat),
        report=accepted(residual, ACCURACY, search.evaluations, "groups of solutions"),
    )


def _symmetric(device, alpha, q_hat, axes, evaluations):
    """Return the replica-symmetric point, as frozen groups if weights are binary."""
    state = Stationary(q_hat, *axes)
    residual = abs(float(state.alpha) / alpha - 1.0) if alpha > 0.0 else 0.0
    frozen = axes[0].discrete and alpha > 0.0
    message = "frozen" if frozen else "replica symmetric"
    return OneStep(
        device,
        alpha,
        axes[2],
        q0=float(state.q),
        q1=1.0 if frozen else float(state.q),
        m=1.0,
        entropy=float(state.entropy),
        complexity=float(state.entropy) if frozen else 0.0,
        q0_hat=float(q_hat),
        q1_hat=math.inf if frozen else float(q_hat),
        report=accepted(residual, ACCURACY, evaluations, message),
    )


def _no_point(device, alpha, axes, report):
    weights, activation, constraint = axes
    reason = f"above capacity, or no saddle point found ({report.message})"
    if not weights.discrete:
        last = limit(activation, constraint).alpha
        reason = f"above capacity: alpha must be below {last:.10g}"
        if alpha < last:
            reason = f"q0, q1 and 1 are too close to be resolved (capacity is {last:.10g})"
    message = f"{reason}; got alpha = {alpha:.10g} with {device!r}, {constraint!r}"
    return NotConverged(Report(False, report.residual, report.iterations, message))
