"""Stochastic localisation: a solution is drawn by following the mean of those that remain.

A field h on the weights starts at zero and moves by ``dh = m(h) dt + dB``: towards the mean m of
the measure that h tilts, ``mu(w) exp(h . w)``, and by a Brownian motion. At time t it has the law
of ``t w + sqrt(t) x`` with w drawn from mu and x normal, so that in the end h points at one w
[eq-localization]. All that the algorithm needs is the mean, which message passing gives for large
systems, and enumeration for small ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.learning import _devices
from wfmlib.learning.messages.packed_patterns import PackedPatterns, packed_together
from wfmlib.learning.sampling.tilted_means import TiltedMeans
from wfmlib.learning.solution import Best, Solution, advised
from wfmlib.models.constraints import LogPotential, Margin
from wfmlib.models.devices import Perceptron
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Binary, Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Damping, Positive
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Array, Seed

END = {True: 30.0, False: 1e4}  # time: of a weight's sign 2e-8 are wrong; 1 - q is about 1e-4
CONSTANT = {True: 4.0, False: 1.0}  # time from which steps grow in proportion to it


@dataclass(frozen=True, eq=False, repr=False)
class Localization(Solution):
    """What stochastic localisation drew; a `Solution`.

    `converged` says whether all messages settled on the way and the drawn weights are a solution.
    `epochs` counts the sweeps through all patterns; `history` holds, after each step, "time",
    "overlap" (``|m|^2 / N``, that of two configurations drawn given the field) and "residual" (of
    the messages).

    Attributes
    ----------
    field : numpy.ndarray
        The field at the end, shape (N,).
    means : numpy.ndarray
        The mean weights given it, shape (N,).
    """

    field: np.ndarray
    means: np.ndarray


@advised("a LogPotential(1.0), a smaller load, shorter steps, or damping=0.5")
@arguments.checked
def stochastic_localization(
    device: Device,
    xi: ArrayLike | PackedPatterns,
    sigma: ArrayLike | None = None,
    constraint: Margin | LogPotential = Margin(0.0),
    *,
    means: Callable[[Array], Array] | None = None,
    end: Positive | None = None,
    step: Annotated[float, Interval(ge=0.0001, le=1.0)] = 0.05,
    tolerance: Positive = 1e-4,
    damping: Damping = 0.0,
    max_sweeps: Count = 100,
    rng: Seed = None,
    progress: bool | None = None,
    threads: Count | None = None,
) -> Localization:
    """Draw a configuration from the solutions of a perceptron, by stochastic localisation.

    Parameters
    ----------
    device : Perceptron
        With binary or spherical weights.
    xi : array_like or PackedPatterns
        Patterns, shape (P, N), entries -1 and +1; or patterns and labels packed together.
    sigma : array_like, optional
        Labels, shape (P,), entries -1 and +1; left out where `xi` is packed.
    constraint : Margin or LogPotential, optional
        The measure: solutions of a margin, all alike, or weighed with a potential.
    means : callable, optional
        Gives the mean weights, shape (N,), for a field on each, shape (N,); message passing where
        None. With the exact means the algorithm is exact but for the length of its steps.
    end : float, optional
        Time at which the weights are read off the mean, positive: by default 30 for binary, 1e4
        for spherical ones.
    step : float, optional
        Length of a step, from 1e-4 to 1; in proportion to the time once that has passed 4 for
        binary, 1 for spherical weights.
    tolerance : float, optional
        Largest change of a mean in a sweep that counts as convergence of the messages; positive.
    damping : float, optional
        Share of the old messages that a sweep keeps, from 0 to below 1.
    max_sweeps : int, optional
        Sweeps for one step at most, at least 1.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from; None is fresh entropy.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.
    threads : int, optional
        As for `approximate_message_passing`.

    Returns
    -------
    Localization
        Weights of norm sqrt(N), along the final mean; binary ones are its signs. Where these are
        no solution, those with the fewest errors on the way, which have no known law.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where a message is not a finite number.

    Notes
    -----
    Where messages do not settle within `max_sweeps` the algorithm goes on with the means that it
    has: what is drawn then has no known law, and may be no solution. `localization.curve` says
    where this must happen.

    Source: A. El Alaoui, A. Montanari, M. Sellke, arXiv:2203.05093; for the perceptron D.
    Straziota and others, arXiv:2502.16292.

    Examples
    --------
    >>> from wfmlib import LogPotential, Perceptron
    >>> packed = PackedPatterns.random(100, 501, rng=1)
    >>> draw = stochastic_localization(Perceptron(), packed, constraint=LogPotential(1.0), rng=2)
    >>> draw.errors, draw.converged
    (0, True)
    """
    _devices.checked(device, (Binary, Spherical), (Perceptron,))
    arguments.member("constraint", constraint, (Margin, LogPotential))
    constraint.within_range(1.0)
    packed = packed_together(xi, sigma)
    discrete = device.weights.discrete
    end = END[discrete] if end is None else end
    rng = arguments.generator(rng)
    passing = None
    if means is None:
        means = passing = TiltedMeans(
            packed,
            device.weights,
            constraint,
            tolerance=tolerance,
            damping=damping,
            max_sweeps=max_sweeps,
            threads=threads,
        )
    else:
        arguments.function("means", means)

    field, mean = np.zeros(packed.N), np.zeros(packed.N)
    times, overlaps, residuals, best = [], [], [], Best()
    time = 0.0

    def look(mean):
        weights = _read_off(mean, discrete)
        best.look(weights, packed.errors(weights, constraint.kappa, threads=threads))
        return weights, best.counts[-1]

    with progress_bar(progress, total=end, unit="time") as bar:
        while time < end:
            mean = _mean(means, field)
            if np.any(mean):
                look(mean)
            length = min(step * max(1.0, time / CONSTANT[discrete]), end - time)
            field = field + length * mean + math.sqrt(length) * rng.standard_normal(packed.N)
            time += length
            times.append(time)
            overlaps.append(float(np.mean(mean**2)))
            residuals.append(passing.residual if passing else 0.0)
            bar.update(length)
        mean = _mean(means, field)
        weights, errors = look(mean)
    if errors > 0:  # nothing was drawn
        weights, errors = best.weights, best.errors
    settled = all(residual <= tolerance for residual in residuals)
    return Localization(
        device=device,
        weights=weights,
        errors=errors,
        converged=bool(settled and errors == 0),
        epochs=passing.sweeps if passing else len(times),
        history={
            "time": np.array(times),
            "overlap": np.array(overlaps),
            "residual": np.array(residuals),
        },
        field=field,
        means=mean,
    )


def _mean(means, field):
    """Return the means that a function gives, checked."""
    mean = np.asarray(means(field), dtype=float)
    if mean.shape != field.shape or not np.all(np.isfinite(mean)):
        raise ValueError(f"means must give {len(field)} finite numbers, got {mean.shape}")
    return mean


def _read_off(mean, discrete):
    """Return weights along the mean."""
    if discrete:
        return np.where(mean < 0.0, -1, 1).astype(np.int8)
    return mean / math.sqrt(float(np.mean(mean**2)))
