"""Curvature of the loss around the weights: Hessian, and the local learning coefficient."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
import xarray
from annotated_types import Ge
from scipy import linalg, stats
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, NotNegative, Positive
from wfmlib.numerics.solvers import NotConverged, Report
from wfmlib.numerics.types import Seed
from wfmlib.probe.calibration import dataset
from wfmlib.probe.model import Model

DENSE = 20  # up to so many weights the whole matrix is made
STEP = 1e-7  # of a difference, relative to the weights: short, for the sake of kinks
BEST = 0.574  # of Langevin moves to be taken, in many dimensions
MIXED = 1.1  # largest ratio of the chains' spread together to their spread alone


@arguments.checked
def curvature(
    model: Model,
    *,
    per: Literal["weight", "unit", "layer", "none"] = "weight",
    probes: Annotated[int, Ge(2)] = 10,
    tolerance: Positive = 1e-2,
    max_iterations: Count = 20,
    rng: Seed = None,
) -> xarray.Dataset:
    """Measure the largest eigenvalue and the trace of the Hessian of the loss.

    Products of the Hessian with a vector are central differences of gradients, two for each. The
    eigenvalue comes by Lanczos' method, the trace as the mean of ``v.H v`` over vectors of random
    signs (Hutchinson).

    Parameters
    ----------
    model : Model
        With a `loss` and a `gradient`.
    per : {"weight", "unit", "layer", "none"}, optional
        What moves are relative to. The matrix is ``D H D``, D the size of each weight, or the root
        mean square over its unit or layer: what a second difference gives for a relative
        perturbation. It does not change where a unit of rectifiers is rescaled ("weight"), or a
        whole layer ("weight", "unit", "layer"); that of H alone, "none", may be anything. A weight
        of 0 does not move relative to itself.
    probes : int, optional
        Vectors for the trace, at least 2.
    tolerance : float, optional
        Error allowed in the eigenvalue, relative to it, positive.
    max_iterations : int, optional
        Restarts of Lanczos' method, at least 1; each takes up to 20 products.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from; a generator is advanced, None is fresh entropy.

    Returns
    -------
    xarray.Dataset
        Over `quantity`, "largest eigenvalue" and "trace": `value`, `error`, and `low` and `high`.
        For the eigenvalue `error` is the norm of the residual, and an eigenvalue lies between
        `low` and `high`; for the trace it is the standard error, and they are the ends of the 95
        per cent interval (Student's t).

    Raises
    ------
    NotConverged
        If the tolerance is not reached, or the residual is above ten times the tolerance: as for
        gradients that are noisy or in single precision.
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Warns
    -----
    ModelWarning
        If the loss is not at a minimum.

    Examples
    --------
    >>> import numpy as np
    >>> bowl = Model(np.ones(3), error=lambda w: 0.0, loss=lambda w: 0.0, gradient=lambda w: 0 * w)
    >>> curvature(bowl, rng=1).value.values
    array([0., 0.])
    """
    arguments.member("model", model, (Model,)).needs("loss", "gradient")
    model.tell_slope()
    rng = arguments.generator(rng)
    w, n, before = model.weights, len(model.weights), model.cost
    scale = np.ones(n) if per == "none" else model.scale(per)
    reach = STEP * (1.0 + np.linalg.norm(w))

    def product(v):
        move = scale * v.ravel()
        size = float(np.linalg.norm(move))
        if size == 0.0:
            return np.zeros(n)
        h = reach / size
        return scale * (model.gradient(w + h * move) - model.gradient(w - h * move)) / (2.0 * h)

    top, residual = _largest(product, n, tolerance, max_iterations, rng)
    signs = rng.choice([-1.0, 1.0], (probes, n))
    traces = np.array([v @ product(v) for v in signs])
    error = traces.std(ddof=1) / math.sqrt(probes)
    half = stats.t.isf(0.025, probes - 1) * error
    value, errors = np.array([top, traces.mean()]), np.array([residual, error])
    ends = np.array([residual, half])
    names = {"value": value, "error": errors, "low": value - ends, "high": value + ends}
    return dataset(
        model,
        "curvature",
        "",
        {name: ("quantity", number) for name, number in names.items()},
        {"quantity": ["largest eigenvalue", "trace"]},
        dict.fromkeys(names, "loss" if per != "none" else "loss per squared weight"),
        {"per": per, "probes": probes, "cost": model.cost - before},
    )


def _largest(product, n, tolerance, max_iterations, rng):
    """Return the largest eigenvalue and the norm of its residual."""
    if n <= DENSE:
        matrix = np.array([product(row) for row in np.eye(n)])
        return float(linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1]), 0.0
    start = rng.standard_normal(n)
    typical = np.linalg.norm(product(start)) / np.linalg.norm(start)
    if typical == 0.0:
        return 0.0, 0.0
    operator = LinearOperator((n, n), matvec=product, dtype=float)
    options = {"k": 1, "which": "LA", "v0": start, "tol": tolerance, "ncv": min(n, 12)}
    try:
        values, vectors = eigsh(operator, maxiter=max_iterations, **options)
    except ArpackError as error:
        message = f"the largest eigenvalue is not within {tolerance:g} of its size: {error}"
        raise NotConverged(Report(False, math.inf, max_iterations, message), math.nan) from error
    top, v = float(values[0]), vectors[:, 0]
    residual = float(np.linalg.norm(product(v) - top * v))
    if not residual <= 10.0 * tolerance * abs(top) + 1e-6 * typical:
        message = (
            f"differences of gradients are no matrix: the eigenvalue {top:.4g} has a residual of "
            f"{residual:.2g}. The gradient may be noisy, in single precision, or have kinks here"
        )
        raise NotConverged(Report(False, residual, max_iterations, message), top)
    return top, residual


@arguments.checked
def learning_coefficient(
    model: Model,
    *,
    beta: Positive | None = None,
    localization: NotNegative = 1.0,
    chains: Annotated[int, Ge(2)] = 4,
    draws: Annotated[int, Ge(10)] = 1000,
    burn_in: Annotated[int, Ge(10)] = 1000,
    rng: Seed = None,
) -> xarray.Dataset:
    """Estimate the local learning coefficient: how the volume of low loss shrinks with the loss.

    Where the weights of a loss within eps of the minimum have a volume ``eps^lambda``, lambda is
    half their number for a quadratic minimum and less for a flatter one. Langevin moves, one
    gradient of all examples each, go through the weights w of density ``exp(-P beta L(w) -
    localization |w - w*|^2 / 2)``, P the number of examples and w* the weights of the model; the
    estimate is ``P beta (mean L - L(w*))``. A Metropolis test takes away the error of a finite
    step, which stochastic gradients would leave.

    Parameters
    ----------
    model : Model
        With a `loss`, a `gradient` and `examples`.
    beta : float, optional
        Inverse temperature, positive; by default ``1 / ln P``.
    localization : float, optional
        Pull back to the weights, not negative. It lowers the estimate in directions in which
        ``P beta`` times the curvature is not much larger.
    chains : int, optional
        At least 2, all from the weights.
    draws, burn_in : int, optional
        Moves that are averaged over, and moves before, in which the step adapts; at least 10.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from; a generator is advanced, None is fresh entropy.

    Returns
    -------
    xarray.Dataset
        `learning_coefficient`, its standard error `error` and `low` and `high`, the ends of the 95
        per cent interval (Student's t over chains); `mixing`, the ratio of the spread of the loss
        in all chains to that in one (Gelman and Rubin, halves of chains), 1 where they agree;
        `acceptance`; `step`.

    Raises
    ------
    NotConverged
        If `mixing` is above 1.1.
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Warns
    -----
    ModelWarning
        If the loss is not at a minimum: the estimate may then be negative.

    Notes
    -----
    The coefficient is the same in all coordinates; the estimate is not, as `localization` and the
    moves are not. Source: Lau et al., arXiv 2308.12108.

    Examples
    --------
    >>> import numpy as np
    >>> bowl = Model(
    ...     np.zeros(10),
    ...     error=lambda w: 0.0,
    ...     loss=lambda w: w @ w,
    ...     gradient=lambda w: 2 * w,
    ...     examples=1000,
    ... )
    >>> bool(abs(learning_coefficient(bowl, rng=1).learning_coefficient - 5) < 1)
    True
    """
    arguments.member("model", model, (Model,)).needs("loss", "gradient", "examples")
    model.tell_slope()
    rng = arguments.generator(rng)
    before, n = model.cost, len(model.weights)
    beta = 1.0 / math.log(max(model.number, 3)) if beta is None else beta
    heat = model.number * beta

    def look(w):
        """Return the loss, what the density falls with, and its derivatives."""
        loss, away = model.many("loss", w), w - model.weights
        slope = heat * model.many("gradient", w) + localization * away
        return loss, heat * loss + 0.5 * localization * np.sum(away**2, axis=1), slope

    w = np.tile(model.weights, (chains, 1))
    step = 1.0 / (heat + localization)
    (loss, height, slope), kept, acceptances = look(w), [], []
    for move in range(burn_in + draws):
        noise = rng.standard_normal(w.shape)
        new = w - 0.5 * step * slope + math.sqrt(step) * noise
        proposal = look(new)
        back = w - new + 0.5 * step * proposal[2]
        rise = (
            proposal[1]
            - height
            + 0.5 * (np.sum(back**2, axis=1) / step - np.sum(noise**2, axis=1))
        )
        chance = np.nan_to_num(np.exp(-np.maximum(rise, 0.0)))
        good = rng.random(chains) < chance
        w = np.where(good[:, None], new, w)
        loss, height = np.where(good, proposal[0], loss), np.where(good, proposal[1], height)
        slope = np.where(good[:, None], proposal[2], slope)
        if move < burn_in:
            step *= math.exp((chance.mean() - BEST) / math.sqrt(1.0 + move / 50))
        else:
            kept.append(loss)
            acceptances.append(chance.mean())
    excess = heat * (np.array(kept).T - model.loss(model.weights))  # (chains, draws)
    halves = excess[:, : draws // 2 * 2].reshape(2 * chains, -1)
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    mixing = math.sqrt(1.0 + between / within) if within > 0.0 else math.inf
    means = excess.mean(axis=1)
    value, error = float(means.mean()), float(means.std(ddof=1)) / math.sqrt(chains)
    if not mixing <= MIXED:
        message = (
            f"chains of learning_coefficient do not mix: {value:.4g} +- {error:.2g}, ratio of "
            f"spreads {mixing:.3g}, above {MIXED:g}. Take more draws, burn_in or localization"
        )
        raise NotConverged(Report(False, mixing, burn_in + draws, message), value)
    half = stats.t.isf(0.025, chains - 1) * error
    columns = {"learning_coefficient": value, "error": error, "low": value - half}
    columns |= {
        "high": value + half,
        "mixing": mixing,
        "acceptance": np.mean(acceptances),
        "step": step,
    }
    settings = {"beta": beta, "localization": localization, "chains": chains}
    settings |= {"draws": draws, "cost": model.cost - before}
    units = dict.fromkeys(["learning_coefficient", "error", "low", "high"], "1")
    return dataset(model, "learning_coefficient", "", columns, {}, units, settings, n / 2)
