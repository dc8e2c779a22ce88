"""The surroundings of a reference: everything but the distance, and the solver at a distance."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from wfmlib.models.constraints import Band, CrossEntropy, LogPotential, Margin
from wfmlib.models.devices import WEIGHTS
from wfmlib.models.formulas import CONSTRAINTS
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, Report, accepted, bounded, fixed_point
from wfmlib.theory.axes import AROUND, checked
from wfmlib.theory.saddles.constrained import FREE, Constrained, Reference
from wfmlib.theory.saddles.replica_symmetric import (
    Stationary,
    at_load,
    capacity,
    gibbs_averages,
    largest_margin,
)

TOLERANCE = 1e-11
LOOSE = 1e-9  # around configurations of a loss, whose table is good to that
# What rounding may leave where the fields on reference and counted solutions become one and the
# same (margins equal or nearly so, at the typical distance). The local entropy is stationary: its
# error is of the order of the square.
ROUNDING = 1e-8
PATIENCE = 6  # steps beyond the largest p_hat, where the iteration runs away


class Surroundings:
    """Solutions of one margin around a reference: a typical solution, or a loss's configuration.

    Parameters
    ----------
    device : Device
    alpha : float
    reference : Margin, Band or CrossEntropy
        What the reference is drawn from; a band if and only if `constraint` is one.
    constraint : Margin or Band
        What the counted solutions satisfy.
    planted : bool
        Whether the patterns were drawn for the reference, or the reference among the solutions.
    constraints, weights : tuple of type
        Which of each are offered.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; also if there are no
        typical solutions of the reference's margin.
    """

    def __init__(
        self,
        device,
        alpha,
        reference,
        constraint,
        planted=False,
        constraints=(Margin,),
        weights=WEIGHTS,
    ):
        self.device, self.alpha = device, alpha
        self.drawn_from, self.constraint = reference, constraint
        arguments.member("constraint", constraint, constraints)
        offered = (Band,) if constraint.even else (Margin, CrossEntropy, LogPotential)
        arguments.member("reference", reference, offered)
        needs = AROUND if weights is WEIGHTS else ()
        drawn = checked(device, reference, CONSTRAINTS, weights=weights, needs=needs)
        self.axes = checked(device, constraint, constraints, weights=weights, needs=needs)
        weights, term, _ = self.axes
        if planted or self.alpha == 0.0:  # there are no other references
            state = Stationary(0.0, weights, term, reference, alpha=self.alpha)
        else:
            state = _typical(self.alpha, drawn)
        self.reference = Reference(state, self.alpha)
        self.largest = weights.largest_log_hat
        self.tolerance = TOLERANCE if reference.hard else LOOSE
        self.start = self._start()
        self.last = None  # turn of the loop, and where it began
        # whether the branch ends at a small distance, and there is nothing below
        self.ends = not reference.hard or reference == self.constraint
        drawn_from = getattr(reference, "support", reference)
        counts_itself = weights.discrete and self.constraint.admits(drawn_from)
        self.at_reference = 0.0 if counts_itself else -math.inf  # local entropy at distance 0

    def _start(self):
        """Return conjugates to begin with: those at the maximum, with some correlation."""
        p_hat = 1.0
        if self.drawn_from == self.constraint and not self.reference.planted:
            p_hat = self.reference.q_hat
        elif self.alpha > 0.0:
            with contextlib.suppress(NotConverged):  # no solutions of that margin: any start
                p_hat = at_load(self.alpha, self.axes)[0].q_hat
        log_p_hat = min(max(math.log(max(p_hat, FREE)), -5.0), self.largest - 1.0)
        return np.array([log_p_hat] if self.reference.planted else [log_p_hat, 0.5])

    def at(self, distance, state):
        """Return the turn of the loop that begins at `state`, ``(ln p_hat, r)``."""
        arguments_of_turn = distance, *state
        if (
            self.last is None or self.last[0] != arguments_of_turn
        ):  # the saddle point is asked for again
            correlation = 0.0 if self.reference.planted else min(max(state[1], 0.0), 1.0)
            p_hat = math.exp(state[0])
            turn = Constrained(distance, p_hat, correlation, self.reference, *self.axes)
            self.last = arguments_of_turn, turn
        return self.last[1]

    def solve(self, distance, start):
        """Return the saddle point's state at a distance, and the report; or NotConverged."""
        away = []

        def image(state):
            outside = np.full_like(state, np.nan)
            if state[0] > self.largest:
                away.append(state)
                if len(away) == PATIENCE:
                    words = "two counted solutions become one"
                    report = Report(False, math.inf, PATIENCE, words)
                    raise NotConverged(report, state)
                return outside
            p_hat, correlation = self.at(distance, state).image()
            if not math.isfinite(p_hat) or not math.isfinite(correlation):
                return outside
            if p_hat <= FREE:  # the correlation of a field that is not there stays as it is
                return np.array([math.log(FREE), *state[1:]])
            if self.reference.planted:
                return np.array([math.log(p_hat)])
            return np.array([math.log(p_hat), min(correlation, 1.0)])

        try:
            return fixed_point(image, start, tolerance=self.tolerance, max_iterations=60)
        except NotConverged as failure:
            if failure.residual < ROUNDING:
                message = f"fixed point within {failure.residual:.1g}, which is rounding"
                report = accepted(failure.residual, ROUNDING, failure.report.iterations, message)
                return failure.state, report
            why = "the solutions counted may not reach that far, or there may be none"
            if distance < 0.25 * self.reference.complement:  # half of the typical distance
                why = (
                    "around references whose margin is equal or close to the margin that is "
                    "counted, and around those that make errors, the branch ends at a small "
                    "distance"
                )
            message = (
                f"no replica-symmetric saddle point was found at distance = {distance:.6g}, "
                f"alpha = {self.alpha:.6g} ({failure}); {why}"
            )
            report = Report(False, failure.residual, failure.report.iterations, message)
            raise NotConverged(report, failure.state) from None

    def reach(self, distance):
        """Return the saddle point's state and the report, if need be from the typical distance."""
        try:
            return self.solve(distance, self.start)
        except NotConverged as failure:
            state = self.start
            try:
                for place in np.geomspace(0.5 * self.reference.complement, distance, 8):
                    state, report = self.solve(float(place), state)
            except NotConverged:
                raise failure from None
            return state, report

    def solve_from(self, distance, start):
        """Return the saddle point's state from a guess, or where that fails from `start`."""
        try:
            return self.solve(distance, start)[0]
        except NotConverged:
            return self.solve(distance, self.start)[0]

    def follow(self):
        """Return a solver for `continuation`, which starts where the last two points lead."""
        points, failures = [], []  # the last two, and the first

        def step(distance, start):
            if self.ends and points and failures:
                raise failures[0]
            place = math.log(distance)
            if len(points) == 2 and points[1][0] != points[0][0]:
                (before, state_before), (last, state_last) = points
                stride = max(-2.0, min((place - last) / (last - before), 2.0))
                start = state_last + stride * (state_last - state_before)
                start[0] = min(start[0], self.largest - 1.0)
                start[1:] = np.clip(start[1:], 0.0, 1.0)
            try:
                state = self.solve_from(distance, start)
            except NotConverged as failure:
                if points:
                    failures.append(failure)
                raise
            points.append((place, state))
            del points[:-2]
            return state

        return step


def _typical(alpha, axes):
    """Return the saddle point of typical references; ValueError where there are none."""
    weights, _, reference = axes
    entropy = -math.inf
    try:
        state, report = at_load(alpha, axes)
        entropy = state.entropy
        if not reference.hard:
            _, entropy, _ = gibbs_averages(state, alpha, reference)
        bounded("entropy", float(entropy), weights.entropy, report)
        if not weights.discrete or entropy >= -1e-9:
            return state
    except NotConverged:
        if not reference.hard:
            raise
    raise ValueError(_no_references(alpha, axes, entropy))


def _no_references(alpha, axes, entropy):
    """Return in words what is allowed where there are no references."""
    weights, activation, reference = axes
    if not reference.hard:
        return (
            "reference must have a beta at which its entropy is not negative (see cross_entropy."
            f"zero_entropy_beta): at alpha = {alpha:g} {reference} has {entropy:.6g}"
        )
    if reference.even:
        return (
            f"alpha must be at most {capacity(axes):.10g}, above which there are no solutions of "
            f"{reference}, got {alpha:g}"
        )
    largest = largest_margin(alpha, weights, activation)
    return (
        f"reference must have a margin of at most {largest:.10g}: at alpha = {alpha:g} there "
        f"are no solutions of a larger one (see typical.max_margin), got {reference}"
    )
