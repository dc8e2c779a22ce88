"""The share of a sphere around the weights on which the training error stays low."""

from __future__ import annotations

import math
from typing import Annotated, Literal, TypeAlias

import numpy as np
import xarray
from annotated_types import Ge, Interval
from numpy.typing import ArrayLike
from scipy import special, stats

from wfmlib.models import Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Positive, Share
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Seed
from wfmlib.probe.calibration import dataset
from wfmlib.probe.model import Model

Method: TypeAlias = Literal["rays", "importance", "splitting", "annealing"]
LONGEST = 40  # steps of a trajectory
LEVELS = 10_000
PATIENCE = 32
RAYS = 100
LEAST = -20.0  # nats per weight: whatever is less is taken for nothing
TILTS = np.geomspace(0.1, 3.0, 16)  # pulls of the proposals, in weights of a unit


@arguments.checked
def local_volume(
    model: Model,
    *,
    distance: Annotated[ArrayLike, Interval(gt=0.0, lt=1.0)],
    most: Share = 0.0,
    method: Method | None = None,
    per: Literal["unit", "layer"] = "unit",
    particles: Annotated[int, Ge(8)] = 64,
    runs: Annotated[int, Ge(2)] = 4,
    moves: Count | None = None,
    tolerance: Positive = 0.02,
    rng: Seed = None,
) -> xarray.Dataset:
    """Measure which share of all weights at a distance keeps the training error low.

    Each unit's weights move on the sphere of their own norm, at the distance (1 - overlap) / 2
    from where they are, so that layers of rectifiers may be rescaled without any change. Units
    with fewer than three weights, or none but zeros, stay. Binary weights stay binary:
    ``round(d M)`` of the M of each unit are flipped.

    Parameters
    ----------
    model : Model
        With an `error`. Its own error may exceed `most`.
    distance : float or array_like
        (1 - overlap) / 2, between 0 and 1, a number or one row of them.
    most : float, optional
        The largest training error that is counted as low, from 0 to 1.
    method : {"rays", "importance", "splitting", "annealing"}, optional
        "rays": random directions, counted. "importance": directions tilted against the gradient at
        the weights, and weighted. "splitting": one level of the error after the other, with moves
        along great circles whose length is found by slice sampling (swaps for binary weights); it
        needs the error alone. "annealing": from all directions to those without errors, by
        sharpening the outputs, with Hamiltonian moves on the spheres; it needs `loss`, the mean
        cross-entropy, `gradient` and `examples`, an output that is linear in its layer's weights,
        and ``most=0``. By default annealing where it can be, otherwise splitting.
    per : {"unit", "layer"}, optional
        What moves on a sphere of its own.
    particles : int, optional
        Directions at a time in each run, at least 8; rays and tilted directions are
        ``particles * moves``, of which there are 100.
    runs : int, optional
        Independent runs, at least 2, from whose spread the interval comes.
    moves : int, optional
        Moves at each level, at least 1: by default 5 for annealing; half the weights, at least 20,
        for splitting.
    tolerance : float, optional
        Largest standard error, in nats per weight, positive.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from; a generator is advanced, None is fresh entropy.

    Returns
    -------
    xarray.Dataset
        Over `distance`: `log_share` (nats), its standard error `error`, and `low` and `high`, the
        ends of its 95 per cent interval (Student's t over runs); `local_entropy`, nats per weight,
        ``log_share / weights`` plus the bound, which is that of all weights at the distance;
        `levels`; `acceptance` of the last moves; `cost`, evaluations of loss, error or gradient.

    Raises
    ------
    NotConverged
        If no direction is left with an error as low, or the runs differ too much.
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    The interval says how much runs differ, not whether all miss the same part: a set of solutions
    in many pieces, or a share that a few rare directions decide, lowers all runs alike. Rays and
    importance sampling do so far below one direction in their number. Annealing was within 2 nats
    of belief propagation on perceptrons of up to 1000 weights, most often on the low side: its
    interval may miss the truth by a nat where the share is hundreds of nats below one, and more
    `particles` and `moves` help. Splitting agreed within its intervals up to 200 weights.

    A run's cost is ``particles`` times the levels, times about ``4 moves`` errors for splitting,
    where the moves needed grow with the square of the number of examples; or times up to ``40
    moves`` gradients for annealing. The table of `calibrate` took 14 (200 weights, 77 nats below
    zero) and 1160 seconds (1000 weights, 378 nats) at the defaults, on one core of a busy machine.

    Source: Scherlis and Belrose, arXiv 2501.18812, for the question; splitting after Kahn and
    Harris, slice sampling after Neal, annealing after Jarzynski, Neal, and Del Moral et al.

    Examples
    --------
    >>> import numpy as np
    >>> half = Model(np.array([1.0, 0.0, 0.0, 0.0]), error=lambda w: float(w[1] < 0.0))
    >>> volume = local_volume(half, distance=0.2, method="rays", rng=1)
    >>> bool(abs(volume.log_share[0] - np.log(0.5)) < 0.05)
    True
    """
    arguments.member("model", model, (Model,)).needs("error")
    method = method or ("annealing" if _why_not(model, most) is None else "splitting")
    if method == "annealing" and (reason := _why_not(model, most)):
        raise ValueError(f"method must be another one, not 'annealing': {reason}")
    if method == "importance":
        if model.binary:
            raise ValueError("method='importance' is for real weights: take 'splitting'")
        model.needs("gradient")
    distances = np.atleast_1d(distance)
    if distances.ndim != 1 or distances.size == 0:
        raise ValueError(f"distance must be numbers in one row, got {distance!r}")
    rng = arguments.generator(rng)
    rows = []
    for d in distances:
        shell = (_Flips if model.binary else _Shell)(model, per, float(d))
        before = model.cost
        if method in ("rays", "importance"):
            sample = _tilted if method == "importance" else _rays
            ends = [sample(shell, most, particles * (moves or RAYS), rng) for _ in range(runs)]
        elif method == "splitting":
            number = moves or max(20, shell.number // 2)
            ends = [_split(shell, most, particles, number, rng) for _ in range(runs)]
        else:
            ends = [_anneal(shell, particles, moves or 5, rng) for _ in range(runs)]
        logs, levels, acceptance = np.array(ends).T
        rays = particles * (moves or RAYS) * runs if method == "rays" else None
        mean, error = _mean(logs, shell.number, tolerance, method, d, rays)
        half = stats.t.isf(0.025, runs - 1) * error
        entropy = mean / shell.number + shell.bound
        row = [shell.distance, mean, error, mean - half, min(mean + half, 0.0), entropy]
        rows.append([*row, levels.mean(), acceptance.mean(), model.cost - before])
    table = np.array(rows).T
    names = ["log_share", "error", "low", "high", "local_entropy", "levels", "acceptance", "cost"]
    units = dict.fromkeys(names[:4], "nats") | {"local_entropy": "nats per weight"}
    settings = {"method": method, "per": per, "runs": runs, "particles": particles, "most": most}
    values = dict(zip(names, table[1:], strict=True))
    columns = {name: ("distance", value) for name, value in values.items()}
    coords = {"distance": ("distance", table[0])}
    size = abs(table[1].min())
    return dataset(model, "local_volume", method, columns, coords, units, settings, size)


def _why_not(model, most):
    """Return why a volume cannot be annealed, or None."""
    missing = [function for function in ("loss", "gradient") if function not in model.functions]
    missing += [] if model.examples else ["examples"]
    if model.binary:
        return "weights are binary"
    if missing:
        return f"model has no {' and no '.join(missing)}"
    if most > 0.0:
        return "most must be 0"
    silent, loud = np.array(model.weights), np.array(model.weights)
    silent[model.output()] = 0.0
    loud[model.output()] *= 3.0
    guess = math.log(model.classes)
    if abs(model.loss(silent) - guess) > 1e-6 or model.error(loud) != model.error(model.weights):
        return (
            "loss is not the cross-entropy of outputs that are linear in the last layer (it must "
            f"be ln {model.classes} where that is 0); give `layers` and `classes`"
        )
    return None


def _mean(logs, number, tolerance, method, distance, rays):
    """Return the logarithm of the mean of runs, and its standard error, or raise."""
    mean = float(special.logsumexp(logs) - math.log(len(logs)))
    if mean == -math.inf:
        message = (
            f"no direction of method={method!r} at distance {distance:.3g} keeps the error low "
            "enough: take method='annealing' or 'splitting', more particles, a larger `most`"
        )
        raise NotConverged(Report(False, math.inf, len(logs), message), -math.inf)
    if rays:  # counts, whose spread is known
        error = math.sqrt((1.0 - math.exp(mean)) / (rays * math.exp(mean)))
    else:
        finite = np.all(np.isfinite(logs))
        error = float(np.std(logs, ddof=1)) / math.sqrt(len(logs)) if finite else math.inf
    if not error <= tolerance * number:
        message = (
            f"runs of method={method!r} at distance {distance:.3g} differ: {mean:.4g} +- "
            f"{error:.2g} nats, above {tolerance:g} per weight. Take more particles or moves"
        )
        raise NotConverged(Report(False, error / number, len(logs), message), mean)
    return mean, error


# ------------------------------------------------------------------------------------------------
# What weights at a distance are
# ------------------------------------------------------------------------------------------------


class _Shell:
    """Weights at a distance: each unit's direction in the space across its weights."""

    def __init__(self, model, per, distance):
        self.model, self.distance = model, distance
        n = len(model.weights)
        self.starts = model.blocks(per)
        self.sizes = np.diff([*self.starts, n])
        norms = np.sqrt(self.sums(model.weights**2))
        self.free = (norms > 0.0) & (self.sizes > 2)
        if not np.any(self.free):
            raise ValueError("model must have three or more weights in a unit, not all 0")
        self.number = int(self.sizes[self.free].sum())
        self.bound = float(Spherical().bound(distance))
        self.along = model.weights / self.spread(np.where(self.free, norms, 1.0))
        self.reach = self.spread(norms * self.free) * 2.0 * math.sqrt(distance * (1.0 - distance))
        shrunk = np.where(self.spread(self.free), 1.0 - 2.0 * distance, 1.0)
        self.centre = model.weights * shrunk
        self.dimension = int((self.sizes[self.free] - 2).sum())  # of the product of spheres

    def sums(self, x):
        return np.add.reduceat(x, self.starts, axis=-1)

    def spread(self, x):
        return np.repeat(x, self.sizes, axis=-1)

    def weights(self, u):
        return self.centre + self.reach * u

    def across(self, x):
        """Return directions without what lies along the weights, and 0 where units stay."""
        x = x * self.spread(self.free)
        return x - self.spread(self.sums(x * self.along)) * self.along

    def unit(self, x):
        norms = np.sqrt(self.sums(x * x))
        return x / self.spread(np.where(norms > 0.0, norms, 1.0)), norms

    def draw(self, number, rng):
        return self.unit(self.across(rng.standard_normal((number, len(self.along)))))[0]

    def tangent(self, x, u):
        """Return directions in which u can turn, of vectors across the weights."""
        return x - self.spread(self.sums(x * u)) * u

    def errors(self, u):
        return self.model.many("error", self.weights(u))

    def turn(self, u, most, width, rng):
        """Move each u along a great circle within errors of at most `most`: slice sampling.

        Return where they are, the width to try next, and how many tries were taken up.
        """
        v = self.unit(self.tangent(self.across(rng.standard_normal(u.shape)), u))[0]
        low = -width * rng.random(len(u))
        high, tries, moved = low + width, 0, u.copy()
        left = np.arange(len(u))
        while len(left):
            angle = low[left] + (high - low)[left] * rng.random(len(left))
            new = np.cos(angle)[:, None] * u[left] + np.sin(angle)[:, None] * v[left]
            good = (self.errors(new) <= most) | (np.abs(angle) < 1e-12)
            tries += len(left)
            moved[left[good]] = new[good]
            low[left] = np.where(angle < 0.0, angle, low[left])
            high[left] = np.where(angle > 0.0, angle, high[left])
            left = left[~good]
        moved = self.unit(self.across(moved))[0]
        tries /= len(u)
        return moved, min(2 * math.pi, width * math.exp(0.2 * (3.0 - tries))), 1.0 / tries


class _Flips:
    """Binary weights of which some in each unit are flipped: rows of whole weights."""

    def __init__(self, model, per, distance):
        self.model = model
        self.starts = model.blocks(per)
        self.sizes = np.diff([*self.starts, len(model.weights)])
        self.flips = np.rint(distance * self.sizes).astype(int)
        self.number = len(model.weights)
        self.distance = self.flips.sum() / self.number
        n, k = self.sizes, self.flips
        logs = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
        self.bound = logs.sum() / self.number

    def draw(self, number, rng):
        rows = np.ones((number, self.number))
        for start, size, flips in zip(self.starts, self.sizes, self.flips, strict=True):
            order = rng.random((number, size)).argsort(axis=1)
            rows[:, start : start + size][order < flips] = -1.0
        return rows

    def errors(self, u):
        return self.model.many("error", u * self.model.weights)

    def turn(self, u, most, width, rng):
        """Exchange `width` flipped weights with others, in one unit; return as `_Shell.turn`."""
        width = max(1.0, width)
        unit = rng.choice(len(self.sizes), p=self.sizes / self.number)
        part = slice(self.starts[unit], self.starts[unit] + self.sizes[unit])
        new, rows = u.copy(), np.arange(len(u))[:, None]
        score = rng.random((len(u), self.sizes[unit])) + u[:, part]  # flipped ones come first
        order = score.argsort(axis=1) + part.start
        flips = self.flips[unit]
        count = min(int(width), flips, self.sizes[unit] - flips)
        chosen = np.hstack([order[:, :count], order[:, self.sizes[unit] - count :]])
        new[rows, chosen] *= -1.0
        good = self.errors(new) <= most
        moved = np.where(good[:, None], new, u)
        return moved, width * math.exp(0.2 * (good.mean() - 0.3)), good.mean()


# ------------------------------------------------------------------------------------------------
# Methods: each returns the logarithm of a share, levels, and how often moves were taken
# ------------------------------------------------------------------------------------------------


def _rays(shell, most, number, rng):
    """Count random directions."""
    good = sum(
        np.count_nonzero(shell.errors(batch) <= most) for batch in _batches(shell, number, rng)
    )
    return (math.log(good / number) if good else -math.inf), 1, 1.0


def _batches(shell, number, rng):
    for first in range(0, number, 64):
        yield shell.draw(min(64, number - first), rng)


def _tilted(shell, most, number, rng):
    """Weigh directions of density ``exp(kappa m.u)``, m against the gradient, in each unit."""
    tried = shell.model.gradient(shell.weights(np.zeros_like(shell.along)))
    m, norms = shell.unit(-shell.across(tried))
    if not np.all(norms[shell.free] > 0.0):
        raise ValueError("model has units with a gradient of 0: take method='splitting'")
    pilots = [_weights(shell, m, pull, most, max(64, number // 20), rng) for pull in TILTS]
    best = max(range(len(TILTS)), key=lambda i: _log_mean(pilots[i]))
    return _log_mean(_weights(shell, m, TILTS[best], most, number, rng)), 1, 1.0


def _log_mean(logs):
    return float(special.logsumexp(logs) - math.log(len(logs)))


def _weights(shell, m, pull, most, number, rng):
    """Return the logarithms of weights of tilted directions, -inf for those with errors."""
    logs, cosine = np.zeros(number), np.zeros((number, len(shell.sizes)))
    t = np.linspace(-1.0, 1.0, 20_002)[1:-1]
    for k in np.flatnonzero(shell.free):
        power, kappa = (shell.sizes[k] - 4) / 2, pull * shell.sizes[k]
        even = power * np.log1p(-t * t)
        density = np.exp(even + kappa * t - np.max(even + kappa * t))
        cosine[:, k] = np.interp(rng.random(number), np.cumsum(density) / density.sum(), t)
        logs += special.logsumexp(even + kappa * t) - special.logsumexp(even)
        logs -= kappa * cosine[:, k]
    for first in range(0, number, 64):
        rows = slice(first, first + 64)
        side = shell.tangent(shell.draw(len(logs[rows]), rng), m)
        c = shell.spread(cosine[rows])
        u = c * m + np.sqrt(1.0 - c * c) * shell.unit(side)[0]
        logs[rows][shell.errors(u) > most] = -math.inf
    return logs


def _split(shell, most, particles, moves, rng):
    """Keep the better half, again and again, and let it spread below its level."""
    u = shell.draw(particles, rng)
    width, acceptance = 2.0 * math.pi, 1.0
    pool, errors, total, level = u, shell.errors(u), 0.0, math.inf
    for step in range(LEVELS):
        for _ in range(PATIENCE):  # where hardly one in eight lies below the level, look longer
            if np.count_nonzero(errors < level) >= particles / 8:
                break
            for _ in range(moves):
                u, width, acceptance = shell.turn(u, level, width, rng)
            pool, errors = np.vstack([pool, u]), np.append(errors, shell.errors(u))
        if not np.any(errors < level):
            break
        level = max(most, min(np.median(errors), errors[errors < level].max()))
        good = np.flatnonzero(errors <= level)
        if len(good) == 0:
            break
        total += math.log(len(good) / len(errors))
        if level <= most:
            return total, step + 1, acceptance
        u = pool[rng.permutation(np.resize(rng.permutation(good), particles))]
        for _ in range(moves):
            u, width, acceptance = shell.turn(u, level, width, rng)
        pool, errors = u, shell.errors(u)
    return -math.inf, step, acceptance


def _anneal(shell, particles, moves, rng):
    """Sharpen the outputs of particles until most have no errors, and weigh what is left."""
    model, output = shell.model, shell.model.output()

    def energy(u, sharpness):
        w = shell.weights(u)
        w[:, output] *= sharpness
        return model.examples * model.many("loss", w)

    def slope(u, sharpness):
        w = shell.weights(u)
        w[:, output] *= sharpness
        gradient = model.examples * model.many("gradient", w) * shell.reach
        gradient[:, output] *= sharpness
        return shell.across(gradient)

    def trajectories(u, sharpness, stride):
        steps = int(np.clip(round(1.0 / (stride * math.sqrt(shell.dimension))), 1, LONGEST))
        v = shell.tangent(shell.across(rng.standard_normal(u.shape)), u)
        stride = stride * rng.uniform(0.8, 1.2)
        new, start = u, energy(u, sharpness) + 0.5 * np.sum(v * v, axis=1)
        v = v - 0.5 * stride * shell.tangent(slope(new, sharpness), new)
        for step in range(steps):
            turned, speed = shell.unit(v)
            c, s = (shell.spread(f(stride * speed)) for f in (np.cos, np.sin))
            new, v = c * new + s * turned, shell.spread(speed) * (c * turned - s * new)
            kick = stride if step < steps - 1 else 0.5 * stride
            v = v - kick * shell.tangent(slope(new, sharpness), new)
        new = shell.unit(shell.across(new))[0]
        rise = energy(new, sharpness) + 0.5 * np.sum(v * v, axis=1) - start
        chance = np.exp(-np.maximum(rise, 0.0))
        good = rng.random(len(u)) < chance
        return np.where(good[:, None], new, u), float(np.nan_to_num(chance).mean())

    u = shell.draw(particles, rng)
    sharpness, total = 0.0, 0.0
    energies = energy(u, 0.0)
    total -= energies[0]
    stride, factor, acceptance = 0.3 / math.sqrt(shell.dimension), 2.0, 1.0
    for step in range(LEVELS):
        last = np.where(shell.errors(u) <= 0.0, energies, -math.inf)
        if np.any(np.isfinite(last)) and _effective(last) >= 0.5 * particles:
            return total + _log_mean(last), step + 1, acceptance
        if total < LEAST * shell.number:
            break
        factor, sharper = factor**2, None
        while sharper is None:
            trial = sharpness * factor if sharpness else 1e-3 * factor
            if sharpness == 0.0 or _effective(energies - energy(u, trial)) >= 0.5 * particles:
                sharper = trial
            else:
                factor **= 0.7
        logs = energies - energy(u, sharper)
        total += _log_mean(logs)
        chances = np.exp(logs - special.logsumexp(logs))
        places = (np.arange(particles) + rng.random()) / particles
        u = u[np.minimum(np.searchsorted(np.cumsum(chances), places), particles - 1)]
        if sharpness:
            stride *= math.sqrt(sharpness / sharper)  # walls are steeper
        sharpness = sharper
        for _ in range(moves):
            u, acceptance = trajectories(u, sharpness, stride)
            stride = min(
                stride * math.exp(0.7 * (acceptance - 0.75)), 0.5 / math.sqrt(shell.dimension)
            )
        energies = energy(u, sharpness)
    return -math.inf, step, acceptance


def _effective(logs):
    """Return the effective number of weights, given their logarithms."""
    return math.exp(2.0 * special.logsumexp(logs) - special.logsumexp(2.0 * logs))
