"""Focusing belief propagation: message passing that is drawn to where solutions are densest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.learning.messages.belief_propagation import (
    Form,
    Output,
    count_errors,
    iterate,
    prepare,
    rounded,
)
from wfmlib.learning.messages.focusing_protocols import named
from wfmlib.learning.solution import ENDINGS, Best, Solution, advised, outcome
from wfmlib.models.protocols import Device
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Damping, Positive
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Array, Seed

PATIENT, HURRIED = 200, 5  # sweeps a step; few will do where a solution is all that is wanted
SLOW = 0.95  # damping of a second try


@dataclass(frozen=True, eq=False, repr=False)
class FocusingBP(Solution):
    """What focusing found.

    The weights are the rounded centre of the replicas after the step in which it made the fewest
    errors; `converged` says whether that is none. `history` holds one entry per step: `coupling`,
    `replicas`, `sweeps`, `residual` (infinite where messages diverged, which ends the run),
    `settled` (whether the messages did), `errors` (of the rounded centre) and `polarisation` (mean
    square of the centre's means: 1 where the centre is certain).

    Attributes
    ----------
    best : int
        The step, from 1, whose centre was returned.
    messages : dict of numpy.ndarray
        The last messages.
    """

    best: int
    messages: dict[str, Any]

    @property
    def outcome(self) -> str:
        """How focusing ended, one of `ENDINGS`."""
        last = self.history["residual"][-1]
        return outcome(self.errors, self.history["settled"][-1], last < math.inf)

    @property
    def ending(self) -> str:
        """How focusing ended, in words; where it found nothing, also how the messages did."""
        steps = len(self.history["settled"])
        lost = steps - np.count_nonzero(self.history["settled"])
        if self.errors == 0 or lost == 0:
            return super().ending
        diverged = ", and diverged in the last" * (self.outcome == ENDINGS[3])
        return f"{super().ending} (messages did not settle in {lost} of {steps} steps{diverged})"


ADVICE = {
    ENDINGS[1]: "a protocol with more steps, another rng, or fewer patterns",
    ENDINGS[2]: "more damping, form='exact', more max_sweeps, another rng, or fewer patterns",
    ENDINGS[3]: "more damping, another rng, or fewer patterns",
}


@advised(ADVICE)
@arguments.checked
def focusing_bp(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    replicas: Annotated[float, Interval(ge=1.0, lt=math.inf)] = 10,
    protocol: str | ArrayLike = "papers",
    form: Form | None = None,
    output: Output = "exact",
    damping: Damping | None = None,
    tolerance: Positive = 1e-4,
    max_sweeps: Count | None = None,
    stop_at_solution: bool | None = None,
    messages: dict[str, Array] | None = None,
    rng: Seed = None,
    progress: bool | None = None,
) -> FocusingBP:
    """Find weights inside a wide flat region: replicas drawn together, step by step.

    Each weight feels, beside the patterns, the other y - 1 replicas of the network through their
    common centre [eq-fbp-star]. As the coupling grows along the protocol, the replicas that are
    described by the one set of messages close in on a region in which many of them fit.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or Committee
        As for `belief_propagation`.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    replicas : float, optional
        Their number y, at least 1; a protocol with two columns brings its own.
    protocol : {"papers", "solve"} or array_like, optional
        Couplings, one for each step, or pairs of coupling and replicas. By name the papers':
        `exponential` (0.5 to 30) on the sphere, `atanh_steps` (capped at 10) for binary weights,
        30 steps each. Or ``"solve"``, for binary weights, made to find a solution soon:
        `pseudo_reinforcement`, and three other defaults, said below.
        Where neither `form` nor `damping` is given and a protocol by name has found no solution,
        it is gone through once more, in the exact form with a damping of 0.95: slow, and for
        patterns that are alike, or few weights, what helps. `history` goes on.
    form, output
        As for `belief_propagation`; the form is exact where it is not given, and expanded with
        ``protocol="solve"``.
    damping : float, optional
        Share of the old message that is kept, from 0 to below 1; one half where it is not given.
        Without about as much, messages oscillate and lose the region as the coupling grows.
    tolerance : float, optional
        On the residual of each step, positive; see `belief_propagation`.
    max_sweeps : int, optional
        In each step, at least 1: 200 where it is not given, 5 with ``protocol="solve"``. A step
        that has not settled then is recorded, and the next one begins.
    stop_at_solution : bool, optional
        Stop after the first step whose rounded centre makes no error; false where it is not given,
        true with ``protocol="solve"``.
    messages : dict of numpy.ndarray, optional
        The messages of another run on patterns of the same shape, to start from.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first messages and the orders; fresh entropy where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    FocusingBP

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If a message ceases to be a number in the first step already.

    Notes
    -----
    P1, App. D 3; for binary weights P3, App. B 3, and Baldassi et al., PNAS 113, E7655 (2016).

    Examples
    --------
    >>> from wfmlib import Perceptron, patterns
    >>> xi, sigma = patterns.random(P=100, N=201, rng=1)
    >>> focusing_bp(Perceptron(), xi, sigma, stop_at_solution=True, rng=1).errors
    0
    """
    soon = isinstance(protocol, str) and protocol == "solve"
    retry = isinstance(protocol, str) and form is None and damping is None
    form = ("expanded" if soon else "exact") if form is None else form
    damping = 0.5 if damping is None else damping
    max_sweeps = (HURRIED if soon else PATIENT) if max_sweeps is None else max_sweeps
    stop_at_solution = soon if stop_at_solution is None else stop_at_solution
    rng = arguments.generator(rng)
    engine = prepare(device, xi, sigma, form, output, messages, rng)
    if isinstance(protocol, str):
        protocol = named(protocol, device.weights.discrete)
    steps = _steps(protocol, replicas, engine.strongest)
    history = {name: [] for name in (*_RECORD, "coupling", "replicas")}
    best = Best()
    with progress_bar(progress, total=len(steps), unit="step") as bar:
        options = (tolerance, max_sweeps, stop_at_solution)
        _follow(steps, engine, damping, *options, history, best, bar)
        if retry and best.errors > 0:
            engine = prepare(device, xi, sigma, "exact", output, messages, rng)
            bar.reset()
            _follow(steps, engine, SLOW, *options, history, best, bar)
    if best.weights is None:
        reason = "a message was not a number in the first step"
        raise NotConverged(Report(False, math.inf, int(history["sweeps"][0]), reason), history)
    history = {name: np.array(values) for name, values in history.items()}
    return FocusingBP(
        device=device,
        weights=best.weights,
        errors=int(best.errors),
        converged=best.errors == 0,
        epochs=int(history["sweeps"].sum()),
        history=history,
        best=best.place,
        messages=engine.arrays(),
    )


def _follow(steps, engine, damping, tolerance, max_sweeps, stop_at_solution, history, best, bar):
    """Go through the steps of a protocol; fill in the history and the best centre."""
    for coupling, y in steps:
        engine.focus(coupling, y)
        residuals = iterate(engine, damping, True, tolerance, max_sweeps)
        finite = residuals[-1] < math.inf
        if finite:
            center = engine.center() if coupling > 0.0 else engine.means()  # no centre is felt
            weights = rounded(center, engine)
            best.look(weights, count_errors(weights, engine))
        record = (
            len(residuals),
            residuals[-1],
            residuals[-1] <= tolerance,
            best.counts[-1] if finite else -1,
            float(np.mean(engine.center() ** 2)),
            coupling,
            y,
        )
        for name, value in zip(history, record, strict=True):
            history[name].append(value)
        bar.set_postfix(errors=history["errors"][-1])
        bar.update()
        if not finite or (stop_at_solution and best.errors == 0):
            break


_RECORD = ("sweeps", "residual", "settled", "errors", "polarisation")


def _steps(protocol, replicas, strongest):
    """Return a protocol as pairs (coupling, replicas) after checking it."""
    steps = arguments.reals("protocol", protocol)
    if steps.ndim == 1:
        steps = np.column_stack([steps, np.full(len(steps), replicas)])
    if steps.ndim != 2 or steps.shape[1] != 2 or len(steps) == 0:
        raise ValueError(
            "protocol must hold couplings, shape (steps,), or pairs of coupling and replicas, "
            f"shape (steps, 2), got shape {np.shape(protocol)}"
        )
    couplings, numbers = steps.T
    allowed = (couplings >= 0.0) & (couplings <= strongest) & (numbers >= 1.0)
    if not np.all(allowed & np.isfinite(numbers)):
        raise ValueError(
            f"protocol must hold couplings from 0 to {strongest:g} and finite numbers of replicas "
            f">= 1, got {steps[~(allowed & np.isfinite(numbers))][0]}"
        )
    return [(float(coupling), float(y)) for coupling, y in steps]
