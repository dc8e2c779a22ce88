"""Calibration of flatness measures where the truth is known: a table, and what made it.

`calibration.csv` beside this file is what `calibrate` returned. Every measure quotes the line of
its method that is nearest to it in size.
"""

from __future__ import annotations

import csv
import functools
import importlib
import math
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import xarray
from annotated_types import Ge
from numpy.typing import ArrayLike
from scipy import linalg, special

from wfmlib import landscape, learning, patterns
from wfmlib.models import Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import arguments
from wfmlib.numerics.gaussian import H
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.solvers import NotConverged
from wfmlib.probe.model import Model, ModelWarning

TABLE = Path(__file__).with_name("calibration.csv")
RULER = {  # what each line is about, and how the truth is known
    "energy": "spherical perceptron, teacher; Gaussian integrals",
    "curvature": "spherical perceptron, teacher; the whole matrix",
    "quadratic": "quadratic loss; half the weights",
    "quartic": "sum of fourth powers; a quarter of the weights",
    "messages": "spherical perceptron, teacher; belief propagation",
    "committee": "tree committee of 3 units, teacher; belief propagation",
    "counted": "binary perceptron, teacher; enumeration",
    "binary": "binary perceptron, teacher; belief propagation",
}


def dataset(model, measure, method, columns, coords, units, settings, size=1.0):
    """Return what a measure found, with its settings and the nearest line of the table.

    `size` is the scale of the value, beside the number of weights, by which lines are near.
    """
    attrs = {
        "model": model.kind,
        "weights": len(model.weights),
        **settings,
        "calibration": nearest(measure, method, len(model.weights), model.binary, size),
    }
    labelled = xarray.Dataset(columns, coords=coords, attrs=attrs)
    for name, unit in units.items():
        labelled[name].attrs["units"] = unit
    return labelled


@functools.cache
def table():
    """Return the lines of the table."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def nearest(measure, method, number, binary, size):
    """Return the line of a measure that is nearest in the number of weights, in words."""
    lines = [line for line in table() if (line["measure"], line["method"]) == (measure, method)]
    lines = [line for line in lines if line["ruler"].startswith("binary") == binary]
    if not lines:
        return "none: nothing of this kind was compared with a truth"

    def off(line):
        places = math.log(float(line["weights"]) / number)
        return abs(places), abs(math.log(max(abs(float(line["truth"])), 1e-9) / max(size, 1e-9)))

    line = min(lines, key=off)
    value, error = float(line["value"]), float(line["error"])
    place = f", distance {line['distance']}" if line["distance"] else ""
    text = f"{value:.4g} +- {error:.2g}" if math.isfinite(value) else "nothing found"
    return (
        f"{line['ruler']}, {line['weights']} weights, {line['examples']} examples{place}: "
        f"{text}, truth {float(line['truth']):.4g} (seed {line['seed']})"
    )


@arguments.checked
def calibrate(
    *,
    sizes: Annotated[ArrayLike, Ge(21)] = (50, 200, 1000),
    rng: Annotated[int, Ge(0)] = 2021,
    progress: bool | None = None,
) -> xarray.Dataset:
    """Compare every measure with a truth, and return the table that `probe` quotes.

    Parameters
    ----------
    sizes : array_like, optional
        Numbers of weights, at least 21. Rays and importance sampling are tried at all of them,
        splitting up to 200 weights.
    rng : int, optional
        Seed of patterns, teachers and moves alike, not negative.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    xarray.Dataset
        Over `line`: `measure`, `method`, `ruler` (the model; how the truth is known), `weights`,
        `examples`, `distance`, `truth`, `value` and its standard error `error`, `seconds`,
        `seed`. Where a method raised `NotConverged`, `value` is what it had by then: -inf where no
        direction was found.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    The default takes some twenty minutes. ``calibrate().to_dataframe().to_csv(...)`` writes it.

    Examples
    --------
    >>> calibrate(sizes=(5,))
    Traceback (most recent call last):
        ...
    ValueError: sizes must be finite and >= 21, got 5.0
    """
    measured = (line for size in np.atleast_1d(sizes) for line in _lines(int(size), rng))
    lines = [line | {"seed": rng} for line in progress_bar(progress, measured, unit="line")]
    columns = {name: ("line", np.array([line[name] for line in lines])) for name in lines[0]}
    return xarray.Dataset(columns)


def _lines(N: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of one size."""
    probe = importlib.import_module("wfmlib.probe")  # which this module serves

    def line(measure, ruler, model, truth, place="", **options):
        start, method = time.perf_counter(), options.get("method", "")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # a teacher is at no minimum
                value, error = measure(model, rng=seed, **options)
        except NotConverged as short:
            value, error = float(np.asarray(short.state)), math.inf
        return {
            "measure": measure.__name__,
            "method": method,
            "ruler": RULER[ruler],
            "weights": len(model.weights),
            "examples": model.examples,
            "distance": place,
            "truth": round(float(truth), 4),
            "value": round(float(value), 4),
            "error": round(float(error), 4),
            "seconds": round(time.perf_counter() - start, 1),
        }

    def local_energy(model, **options):
        energy = probe.local_energy(model, noise=0.5, **options)
        return energy.error_rate[0], energy.error[0]

    def curvature(model, **options):
        spectrum = probe.curvature(model, per="none", **options).sel(quantity="largest eigenvalue")
        return spectrum.value, spectrum.error

    def learning_coefficient(model, **options):
        estimate = probe.learning_coefficient(model, **options)
        return estimate.learning_coefficient, estimate.error

    def local_volume(model, **options):
        volume = probe.local_volume(model, **options)
        return volume.log_share[0], volume.error[0]

    model, net, xi, sigma = _taught(Perceptron(Spherical()), N, N // 2, seed)
    s = xi @ model.weights * sigma / math.sqrt(N)
    yield line(local_energy, "energy", model, np.mean(H(s / 0.5)))
    bend = special.expit(s) * special.expit(-s) / (len(xi) * N)
    top = linalg.eigvalsh((xi * bend[:, None]).T @ xi)[-1]
    yield line(curvature, "curvature", model, top)
    for power, ruler in ((2, "quadratic"), (4, "quartic")):
        yield line(learning_coefficient, ruler, _bowl(N, power), N / power, localization=1e-3)
    for load, distance in ((0.5, 0.1), (1.0, 0.2)):
        model, net, xi, sigma = _taught(Perceptron(Spherical()), N, round(load * N), seed)
        truth = _log_share_by_messages(net, xi, sigma, distance)
        methods = ["rays", "importance", "annealing"] + ["splitting"] * (N <= 200)
        for method in methods if load == 0.5 else methods[2:3]:
            options = {"method": method, "distance": distance}
            yield line(local_volume, "messages", model, truth, distance, **options)
    if N <= 200:
        tree, odd = TreeCommittee(3, weights=Spherical()), N - N % 6 + 3
        for device, ruler in ((tree, "committee"), (Perceptron(), "binary")):
            size = 21 if ruler == "binary" and N <= 50 else odd
            ruler = "counted" if size == 21 else ruler
            model, net, xi, sigma = _taught(device, size, size // 2, seed)
            distance = round(0.1 * size) / size
            if ruler == "counted":
                truth = _counted(device, model, xi, sigma, round(0.1 * size))
            else:
                truth = _log_share_by_messages(net, xi, sigma, distance)
            options = {"method": "splitting", "distance": distance}
            yield line(local_volume, ruler, model, truth, round(distance, 4), **options)


def _bowl(N, power):
    """Return the model of a loss that is the sum of a power of the weights."""
    return Model(
        np.zeros(N),
        error=lambda w: 0.0,
        loss=lambda w: float(np.sum(w**power)),
        gradient=lambda w: power * w ** (power - 1),
        examples=1_000_000,
    )


def _taught(device, N, P, seed):
    """Return the model of a teacher, its network, patterns and labels."""
    xi, _ = patterns.random(P, N, rng=seed)
    drawn = np.random.default_rng([seed, N]).standard_normal(device.shape(N))
    net = device.network(np.sign(drawn).astype(int) if device.weights.discrete else drawn)
    sigma = net.output(xi)
    return Model(net, xi, sigma), net, xi, sigma


def _log_share_by_messages(net, xi, sigma, distance):
    """Return the logarithm of a share of the sphere, by messages."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", learning.NotSettled)  # at distances other than this
        curve = landscape.local_entropy(net, xi, sigma, rng=0)
    return landscape.excess_at(distance, curve.distance, curve.excess)[0] * net.w.size


def _counted(device, model, xi, sigma, flips):
    """Return the same for binary weights, by enumeration."""
    everything = learning.enumerate_solutions(device, xi, sigma, keep=2**21).solutions
    away = np.count_nonzero(everything != model.weights, axis=1)
    return math.log(np.count_nonzero(away == flips) / math.comb(len(model.weights), flips))
