"""The training error under perturbation of the weights, and the margins without."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
import xarray
from annotated_types import Ge, Interval
from numpy.typing import ArrayLike
from scipy import stats

from wfmlib.numerics import arguments
from wfmlib.numerics.comparisons import share_interval
from wfmlib.numerics.types import Seed
from wfmlib.probe.calibration import dataset
from wfmlib.probe.model import Model


@arguments.checked
def local_energy(
    model: Model,
    *,
    noise: Annotated[ArrayLike, Interval(ge=0.0, lt=math.inf)],
    directions: Annotated[int, Ge(2)] = 50,
    per: Literal["weight", "unit", "layer"] = "weight",
    rng: Seed = None,
) -> xarray.Dataset:
    """Measure the mean training error when weights are perturbed, relative to their size.

    Parameters
    ----------
    model : Model
        With an `error`, and real weights: `landscape.error_profile` flips binary ones.
    noise : float or array_like
        Relative sizes of the perturbation, not negative, a number or one row of them.
    directions : int, optional
        At least 2, the same at all sizes.
    per : {"weight", "unit", "layer"}, optional
        What a perturbation is relative to. "weight": each weight is multiplied by ``1 + noise z``,
        z normal. "unit", "layer": the weights of each unit or layer move in a random direction by
        `noise` times their norm. The error does not change where a unit of rectifiers is rescaled
        and the weights that read it are divided ("weight"), or a whole layer (all three).
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from; a generator is advanced, None is fresh entropy.

    Returns
    -------
    xarray.Dataset
        Over `noise`: `error_rate`, the mean share of examples that are wrong; `error`, its
        standard error, and `low` and `high`, the ends of its 95 per cent interval (Student's t
        over directions, cut at 0 and 1); `excess`, `error_rate` minus the model's own.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    Source: Pittorino et al., arXiv 2006.07897, for "weight"; Li et al., arXiv 1712.09913, for
    "unit" (their filters). Cost: ``directions`` errors at each size.

    Examples
    --------
    >>> import numpy as np
    >>> half = Model(np.ones(5), error=lambda w: float(np.mean(w < 0)))
    >>> local_energy(half, noise=[0.0, 0.1], rng=1).error_rate.values
    array([0., 0.])
    """
    arguments.member("model", model, (Model,)).needs("error")
    if model.binary:
        raise ValueError("model must have real weights: landscape.error_profile flips binary ones")
    noise = np.atleast_1d(noise)
    if noise.ndim != 1 or noise.size == 0:
        raise ValueError(f"noise must be numbers in one row, got {noise!r}")
    rng = arguments.generator(rng)
    before, own = model.cost, model.error(model.weights)
    wrong = np.empty((len(noise), directions))
    for j in range(directions):
        move = _direction(model, per, rng)
        for i, size in enumerate(noise):
            wrong[i, j] = model.error(model.weights + size * move)
    rate, error = wrong.mean(axis=1), wrong.std(axis=1, ddof=1) / math.sqrt(directions)
    half = stats.t.isf(0.025, directions - 1) * error
    columns = {
        "error_rate": ("noise", rate),
        "error": ("noise", error),
        "low": ("noise", np.maximum(rate - half, 0.0)),
        "high": ("noise", np.minimum(rate + half, 1.0)),
        "excess": ("noise", rate - own),
    }
    settings = {"per": per, "directions": directions, "cost": model.cost - before}
    units = dict.fromkeys(columns, "share of the training examples")
    return dataset(model, "local_energy", "", columns, {"noise": noise}, units, settings)


def _direction(model, per, rng):
    """Return a perturbation of relative size one."""
    z = rng.standard_normal(len(model.weights))
    if per == "weight":
        return model.weights * z
    starts = model.blocks(per)
    sizes = np.diff([*starts, len(z)])
    lengths = np.sqrt(np.add.reduceat(z * z, starts) / sizes)
    return z / np.repeat(lengths, sizes) * model.scale(per)


def margins(model: Model) -> xarray.Dataset:
    """Return by how much each training example is right.

    Parameters
    ----------
    model : Model
        With a function `margins`: stabilities of devices; for a module the output of the label
        minus the largest other one.

    Returns
    -------
    xarray.Dataset
        Over `example`, ascending: `margin`, and `index`, which example it is. `wrong`, the share
        of margins that are not positive, with `low` and `high`, the ends of its 95 per cent
        interval for examples drawn like these (Clopper and Pearson).

    Raises
    ------
    TypeError
        If the model has no margins.

    Examples
    --------
    >>> import numpy as np
    >>> model = Model(np.ones(2), error=lambda w: 0.0, margins=lambda w: np.array([2.0, 1.0]))
    >>> margins(model).margin.values
    array([1., 2.])
    """
    arguments.member("model", model, (Model,)).needs("margins")
    gaps = np.asarray(model.functions["margins"](model.weights), dtype=float)
    order = np.argsort(gaps, kind="stable")
    low, high = share_interval(np.count_nonzero(gaps <= 0.0), len(gaps))
    values: dict[str, Any] = {"margin": ("example", gaps[order]), "index": ("example", order)}
    shares = {"wrong": np.mean(gaps <= 0.0), "low": low, "high": high}
    units = {"margin": "output", "wrong": "share of the training examples"}
    return dataset(model, "margins", "", values | shares, {}, units, {})
