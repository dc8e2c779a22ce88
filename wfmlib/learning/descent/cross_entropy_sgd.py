"""Stochastic gradient descent on the cross-entropy of a committee whose units sharpen.

The units are tanh(beta x), the loss of a pattern is [eq-committee-cross-entropy]. What an epoch
does, in plain NumPy, for patterns times labels ``xi``, shape (P, K, M), and weights of unit norm:

    for rows in np.split(rng.permutation(P), range(batch, P, batch)):
        t = np.tanh(beta * np.einsum("pki,ki->pk", xi[rows], w))
        slope = expit(-2.0 * gamma * t.sum(axis=1) / np.sqrt(K)) / np.sqrt(K)
        pull = slope[:, None] * beta * (1.0 - t**2)  # minus d loss / d preactivation
        w += np.einsum("pk,pki->ki", grid(eta * pull), xi[rows])
        w = grid(w / np.linalg.norm(w, axis=1, keepdims=True))

where ``grid(x) = np.rint(x * 2**44) / 2**44`` makes the sums exact, and so the same on every
processor (see `wfmlib.numerics.portable`). In a fully connected machine all units see
``xi[:, 0]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.learning._devices import checked, odd, rows
from wfmlib.learning.descent.schedules import NAMED, Schedule
from wfmlib.learning.descent.soft_committee import LANES, descend, measure, normalise
from wfmlib.learning.solution import Solution, tells
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Seed


@dataclass(frozen=True, eq=False, repr=False)
class CrossEntropySGD(Solution):
    """What gradient descent found.

    `history` holds one entry per epoch: `loss` and `errors` (of sign units) at its end, and the
    `gamma` and `beta` that it used, which are for units of norm one. `converged` says whether the
    schedule's `stop` was met; where that is a loss, see `errors` for whether the sign units make
    any.

    Attributes
    ----------
    schedule : Schedule
        The values it ran with.
    """

    schedule: Schedule


@tells("more max_epochs, a slower schedule, another rng, or fewer patterns")
@arguments.checked
def cross_entropy_sgd(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    schedule: str | Schedule = "fast",
    max_epochs: Count = 20_000,
    rng: Seed = None,
    progress: bool | None = None,
) -> CrossEntropySGD:
    """Train a committee of tanh units by gradient descent on the cross-entropy.

    The norm of every unit is held at one, and the sharpness of loss and units, which the norm
    would otherwise set, grows by a schedule [eq-norm-growth]. Slow growth ends in wide regions.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or Committee
        With weights on the sphere and an odd number K of sign units: those that the tanh units
        become as they sharpen.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    schedule : {"fast", "slow"} or Schedule, optional
        The two are those of P1 for random patterns: `schedules.FAST` and `schedules.SLOW`.
    max_epochs : int, optional
        At least 1; a run that is not done then ends with ``converged = False``.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first weights, uniform and then normalised, and the order of the patterns; fresh
        entropy where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    CrossEntropySGD

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If the loss ceases to be finite: `eta` is far too large.

    Notes
    -----
    P1, Sec. V and App. E; what that leaves open are fields of `Schedule`. The slow schedule can
    end with a pattern that is wrong and whose units have saturated: nothing moves them any more,
    the loss stays, and the run goes on to `max_epochs`.

    Examples
    --------
    >>> from wfmlib import Committee, patterns
    >>> xi, sigma = patterns.random(P=50, N=99, rng=1)
    >>> found = cross_entropy_sgd(Committee(3), xi, sigma, rng=1)
    >>> found.errors, found.weights.shape
    (0, (3, 99))
    """
    odd(checked(device, (Spherical,)))
    xi, sigma = arguments.patterns(xi, sigma)
    units, width = rows(device, xi.shape[1])
    if isinstance(schedule, str):
        schedule = NAMED[arguments.choice("schedule", schedule, tuple(NAMED))]
    if not isinstance(schedule, Schedule):
        raise TypeError(f"schedule must be 'fast', 'slow' or a Schedule, got {schedule!r}")
    rng = arguments.generator(rng)

    descent = _Descent(xi * sigma[:, None], units, width, schedule, rng)
    history = {"loss": [], "errors": [], "gamma": [], "beta": []}
    converged = False
    with progress_bar(progress, total=max_epochs, unit="epoch") as bar:
        while not converged and len(history["loss"]) < max_epochs:
            for name, value in descent.epoch().items():
                history[name].append(value)
            loss, errors = history["loss"][-1], history["errors"][-1]
            if not math.isfinite(loss):
                message = f"the loss was {loss} after epoch {len(history['loss'])}"
                report = Report(False, math.inf, len(history["loss"]), message)
                raise NotConverged(report, descent.weights())
            converged = errors == 0 if schedule.stop == "errors" else loss <= schedule.stop
            bar.set_postfix(errors=errors, loss=f"{loss:.2g}", refresh=False)
            bar.update()
    weights = (math.sqrt(width) * descent.weights()).reshape(device.shape(xi.shape[1]))
    return CrossEntropySGD(
        device=device,
        weights=weights,
        errors=device.network(weights).errors(xi, sigma),
        converged=bool(converged),
        epochs=len(history["loss"]),
        history={name: np.array(values) for name, values in history.items()},
        schedule=schedule,
    )


class _Descent:
    """Weights, patterns times labels, and the sharpness as it stands."""

    def __init__(self, xi, units, width, schedule, rng):
        P, self.width = len(xi), width
        padded = -(-width // LANES) * LANES
        parts = xi.reshape(P, -1, width)  # one a unit, or one for all
        self.xi = np.zeros((*parts.shape[:2], padded), np.int8)
        self.xi[:, :, :width] = parts
        self.w = np.zeros((units, padded))
        self.w[:, : self.width] = rng.uniform(-1.0, 1.0, (units, self.width))
        normalise(self.w)
        self.fields = np.empty((P, units))
        self.everyone = np.arange(P)
        self.gamma, self.beta = schedule.gamma, schedule.beta
        self.schedule, self.rng = schedule, rng

    def weights(self):
        """Return the weights, shape (K, M), of norm one in each unit."""
        return self.w[:, : self.width].copy()

    def epoch(self):
        """Visit all patterns once; return what is recorded."""
        schedule, P = self.schedule, len(self.xi)
        sharpness = self.gamma, self.beta
        scale = 1.0 if schedule.loss == "divided" else 2.0 * self.gamma
        order, batch = self.rng.permutation(P), min(schedule.batch, P)
        mean, each = schedule.step == "mean", schedule.normalise == "batch"
        eta = scale * schedule.eta
        descend(self.w, self.xi, order, *sharpness, eta, mean, batch, each, self.fields)
        loss, errors = measure(self.w, self.xi, self.everyone, *sharpness, self.fields)
        loss *= scale * {"pattern": 1.0, "batch": batch, "epoch": P}[schedule.per] / P
        record = {"loss": loss, "errors": errors, "gamma": self.gamma, "beta": self.beta}
        self.gamma *= 1.0 + schedule.gamma_growth
        self.beta *= 1.0 + schedule.beta_growth
        return record
