"""Stochastic gradient descent on the cross-entropy of a committee, of sign units that sharpen.

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

Units of any other activation g stand as they are, half of them with the sign ``c_k = -1``: the
output of a pattern without its label is ``sum_k c_k g(x_k) / sqrt(K)``, and the pull on a unit has
``c_k g'(x_k)`` where it has ``beta (1 - t^2)`` above. Their loop is in NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from wfmlib.learning._devices import checked, even, odd, rows
from wfmlib.learning.descent.schedules import NAMED, Schedule
from wfmlib.learning.descent.soft_committee import (
    GRID,
    LANES,
    descend,
    fill,
    measure,
    move,
    normalise,
)
from wfmlib.learning.solution import ENDINGS, Best, Solution, advised, outcome
from wfmlib.models.activations import (
    Activation,
    EnergeticTerm,
    Linear,
    ReLU,
    Sign,
    differences,
    slope,
)
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.portable import on_grid
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Seed


@dataclass(frozen=True, eq=False, repr=False)
class CrossEntropySGD(Solution):
    """What gradient descent found.

    The weights are those with the fewest errors at the end of any epoch, of several such epochs
    the last. `history` holds one entry per epoch: `loss` and `errors` (of sign units) at its end,
    and the `gamma` and `beta` that it used, which are for units of norm one. `converged` says
    whether the schedule's `stop` was met; where that is a loss, see `errors` for whether the sign
    units make any. Units of other activations make the errors themselves, and have no `beta`.

    Attributes
    ----------
    schedule : Schedule
        The values it ran with.
    best : int
        At the end of which epoch the weights were the returned ones, from 1.
    """

    schedule: Schedule
    best: int

    @property
    def outcome(self) -> str:
        """How the descent ended, one of `ENDINGS`; it settled where the loss met its `stop`."""
        return outcome(self.errors, self.converged)


@advised(
    {
        ENDINGS[1]: "a schedule that stops at a lower loss, another rng, or fewer patterns",
        ENDINGS[2]: "more max_epochs, a slower schedule, another rng, or fewer patterns",
    }
)
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
    """Train a committee by gradient descent on the cross-entropy.

    The norm of every unit is held at one, and the sharpness of loss and units, which the norm
    would otherwise set, grows by a schedule [eq-norm-growth]. Slow growth ends in wide regions.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or Committee
        With weights on the sphere. An odd number K of sign units: they are smoothed, tanh(beta x),
        and become signs as they sharpen. Or an even number of units of another activation, which
        stays as it is: `ReLU`, ``Activation(g)``, or one's own with ``__call__``; it must not
        jump. Its slope is its `derivative`, or central differences (see `models.Activation`).
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    schedule : {"fast", "slow"} or Schedule, optional
        The two are those of P1 for random patterns: `schedules.FAST` and `schedules.SLOW`.
    max_epochs : int, optional
        At least 1; a run that is not done then ends with ``converged = False``, and with the best
        weights that it passed through.
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
        If an argument is of the wrong kind or out of range, or the activation has no slope to
        descend, or a wrong one; the message names it.
    NotConverged
        If the loss ceases to be finite: `eta` is far too large.

    Notes
    -----
    P1, Sec. V and App. E; what that leaves open are fields of `Schedule`. The slow schedule can
    end with a pattern that is wrong and whose units have saturated: nothing moves them any more,
    the loss stays, and the run goes on to `max_epochs`. Of activations other than signs and
    rectifiers the last bits are those of g, which may differ between processors. A pattern for
    which all rectifiers are silent, a share of ``2^-K`` at first, is an error that pulls at no
    unit: with few units such patterns stay.

    Examples
    --------
    >>> from wfmlib import Committee, patterns
    >>> xi, sigma = patterns.random(P=50, N=99, rng=1)
    >>> solution = cross_entropy_sgd(Committee(3), xi, sigma, rng=1)
    >>> solution.errors, solution.weights.shape
    (0, (3, 99))
    """
    unit = _unit(
        checked(device, (Spherical,), activations=(Sign, ReLU, Activation, EnergeticTerm))
    )
    xi, sigma = arguments.patterns(xi, sigma)
    units, width = rows(device, xi.shape[1])
    if isinstance(schedule, str):
        schedule = NAMED[arguments.choice("schedule", schedule, tuple(NAMED))]
    if not isinstance(schedule, Schedule):
        raise TypeError(f"schedule must be 'fast', 'slow' or a Schedule, got {schedule!r}")
    rng = arguments.generator(rng)

    settings = xi * sigma[:, None], units, width, schedule, rng
    descent = Descent(*settings) if unit is None else _OtherUnits(*settings, unit, sigma)
    history: dict[str, Any] = {"loss": [], "errors": []}
    best, converged = Best(), False
    with progress_bar(progress, total=max_epochs, unit="epoch") as bar:
        while not converged and len(history["loss"]) < max_epochs:
            for name, value in descent.epoch().items():
                history.setdefault(name, []).append(value)
            loss, errors = history["loss"][-1], history["errors"][-1]
            if not math.isfinite(loss):
                message = f"the loss was {loss} after epoch {len(history['loss'])}"
                report = Report(False, math.inf, len(history["loss"]), message)
                raise NotConverged(report, descent.weights())
            best.look(descent.weights(), errors)
            converged = errors == 0 if schedule.stop == "errors" else loss <= schedule.stop
            bar.set_postfix(errors=errors, loss=f"{loss:.2g}", refresh=False)
            bar.update()
    weights = (math.sqrt(width) * best.weights).reshape(device.shape(xi.shape[1]))
    return CrossEntropySGD(
        device=device,
        weights=weights,
        errors=device.network(weights).errors(xi, sigma),
        converged=bool(converged),
        epochs=len(history["loss"]),
        history={name: np.array(values) for name, values in history.items()},
        schedule=schedule,
        best=best.place,
    )


class Descent:
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
        scale = 1.0 if schedule.loss == "divided" else 2.0 * self.gamma
        batch = min(schedule.batch, P)
        self._descend(self.rng.permutation(P), scale * schedule.eta, batch)
        loss, errors = self._measure()
        loss *= scale * {"pattern": 1.0, "batch": batch, "epoch": P}[schedule.per] / P
        record = {"loss": loss, "errors": errors, **self._sharpness()}
        self.gamma *= 1.0 + schedule.gamma_growth
        self.beta *= 1.0 + schedule.beta_growth
        return record

    def _sharpness(self):
        return {"gamma": self.gamma, "beta": self.beta}

    def _descend(self, order, eta, batch):
        """Take one step for each mini-batch."""
        mean, per_batch = self.schedule.step == "mean", self.schedule.normalise == "batch"
        sharpness = self.gamma, self.beta
        descend(self.w, self.xi, order, *sharpness, eta, mean, batch, per_batch, self.fields)

    def _measure(self):
        """Return the sum of the losses, and the errors."""
        return measure(self.w, self.xi, self.everyone, self.gamma, self.beta, self.fields)


class _OtherUnits(Descent):
    """Units of any activation with a slope, half of them subtracted."""

    def __init__(self, xi, units, width, schedule, rng, unit, sigma):
        super().__init__(xi, units, width, schedule, rng)
        self.unit, self.sigma = unit, sigma[:, None]
        self.votes = np.repeat([1.0, -1.0], units // 2) / math.sqrt(units)

    def stabilities(self, rows):
        """Return preactivations and stabilities of some patterns."""
        fields = self.fields[: len(rows)]
        fill(self.w, self.xi, rows, fields)
        fields *= self.sigma[rows]
        answers = np.asarray(self.unit(fields), dtype=float)
        return fields, self.sigma[rows, 0] * (answers @ self.votes)

    def pulls(self, rows):
        """Return minus the gradient of the loss, times labels, with respect to preactivations."""
        fields, stability = self.stabilities(rows)
        wrong = special.expit(-2.0 * self.gamma * stability)
        return wrong[:, None] * self.votes * slope(self.unit, fields)

    def _sharpness(self):
        return {"gamma": self.gamma}

    def _descend(self, order, eta, batch):
        heard, four = np.empty(batch, np.int64), np.empty((4, 3))
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            step = eta / len(rows) if self.schedule.step == "mean" else eta
            move(self.w, self.xi, rows, on_grid(step * self.pulls(rows), GRID), heard, four)
            if self.schedule.normalise == "batch" or start + batch >= len(order):
                normalise(self.w)

    def _measure(self):
        _, stability = self.stabilities(self.everyone)
        errors = int(np.count_nonzero(~(stability > 0.0)))
        double = 2.0 * self.gamma
        return np.sum(np.logaddexp(0.0, -double * stability)) / double, errors


def _unit(device):
    """Return the activation that is descended, None for signs; or refuse what has no slope."""
    unit = device.activation
    if isinstance(unit, (Linear, Sign)):
        odd(device)
        return None
    even(device)
    if not callable(unit):
        raise ValueError(
            f"device must have an activation with __call__, which answers preactivations; "
            f"{unit!r} lacks it"
        )
    x = np.linspace(-3.0, 3.0, 200)
    own, numeric = slope(unit, x), differences(unit, x)
    if math.isinf(getattr(unit, "slope_at_one", 1.0)) or not np.any(own):
        raise ValueError(
            f"device must have an activation that does not jump, as its slope is to be descended, "
            f"got {unit!r}. Sign() is trained smoothed; smooth another step in the same way, such "
            "as Activation(lambda x: np.tanh(5 * x))"
        )
    off = np.abs(own - numeric) > 1e-3 * (1.0 + np.abs(numeric))
    if off.mean() > 0.05:  # differences are no slopes at a few corners
        place = np.argmax(off)
        raise ValueError(
            f"device must have an activation whose derivative is its slope, got {unit!r}: at "
            f"{x[place]:.4g} it is {own[place]:.4g}, and differences are {numeric[place]:.4g}"
        )
    return unit
