"""Networks whose flatness is known: what an estimator of it can be held against.

An instance is a device, patterns, labels, perhaps a teacher, and a solution to look around from.
Its truth is the local entropy at some distances, by counting, or by sampling with an error. All
were made by ``python -m wfmlib.bench.truths``, which writes the file that comes with the package.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import xarray

from wfmlib import patterns
from wfmlib.models import Binary, Committee, ParityMachine, Perceptron, Spherical, TreeCommittee
from wfmlib.models.protocols import Device
from wfmlib.numerics import arguments
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.solvers import NotConverged
from wfmlib.numerics.types import Array

__all__ = ["Instance", "load", "names", "score"]


def __dir__():
    return __all__


class Made(NamedTuple):
    """What an instance is made from."""

    machine: Callable[..., Device]
    weights: Binary | Spherical
    inputs: int  # columns of the patterns
    patterns: int
    planted: bool  # labels from a teacher of the same kind
    seed: int
    distances: tuple[float, ...] = ()  # none: enumerated

    @property
    def device(self):
        """The device; all machines of several units have three."""
        if self.machine is Perceptron:
            return Perceptron(self.weights)
        return self.machine(3, weights=self.weights)


FEW, NEAR = (0.02, 0.05, 0.1, 0.2), (0.01, 0.02, 0.05)
WIDE = (0.05, 0.1, 0.2, 0.3, 0.4)

#: By name: weights, machine, how many weights, and around which solution. "typical" is one drawn
#: uniformly (on a large sphere by a Markov chain), "flat" the one with most solutions within four
#: flips, "centre" the mean of solutions on the sphere, "focusing" what focusing belief propagation
#: finds.
INSTANCES = {
    "binary-perceptron-17-typical": Made(Perceptron, Binary(), 17, 7, False, 1),
    "binary-perceptron-17-flat": Made(Perceptron, Binary(), 17, 7, False, 1),
    "binary-perceptron-21-typical": Made(Perceptron, Binary(), 21, 14, True, 2),
    "binary-perceptron-21-flat": Made(Perceptron, Binary(), 21, 14, True, 2),
    "binary-perceptron-25-teacher": Made(Perceptron, Binary(), 25, 8, True, 3),
    "binary-perceptron-25-flat": Made(Perceptron, Binary(), 25, 18, True, 4),
    "binary-tree-15-typical": Made(TreeCommittee, Binary(), 15, 6, False, 5),
    "binary-tree-21-teacher": Made(TreeCommittee, Binary(), 21, 10, True, 6),
    "binary-tree-21-flat": Made(TreeCommittee, Binary(), 21, 16, True, 7),
    "binary-committee-15-typical": Made(Committee, Binary(), 5, 6, True, 8),
    "binary-committee-21-flat": Made(Committee, Binary(), 7, 12, True, 9),
    "binary-parity-15-typical": Made(ParityMachine, Binary(), 15, 6, False, 10),
    "binary-parity-21-flat": Made(ParityMachine, Binary(), 21, 12, True, 11),
    "binary-perceptron-201-teacher": Made(Perceptron, Binary(), 201, 60, True, 12, FEW),
    "binary-perceptron-201-focusing": Made(Perceptron, Binary(), 201, 100, False, 13, FEW),
    "binary-perceptron-1001-focusing": Made(Perceptron, Binary(), 1001, 300, False, 14, NEAR),
    "spherical-perceptron-5-typical": Made(Perceptron, Spherical(), 5, 5, True, 15, WIDE),
    "spherical-perceptron-9-centre": Made(Perceptron, Spherical(), 9, 8, True, 16, WIDE),
    "spherical-tree-9-typical": Made(TreeCommittee, Spherical(), 9, 6, False, 17, WIDE),
    "spherical-committee-15-typical": Made(Committee, Spherical(), 5, 6, True, 18, WIDE),
    "spherical-parity-15-typical": Made(ParityMachine, Spherical(), 15, 6, False, 19, WIDE),
    "spherical-perceptron-31-centre": Made(Perceptron, Spherical(), 31, 54, True, 20, FEW),
    "spherical-perceptron-51-typical": Made(Perceptron, Spherical(), 51, 50, False, 21, FEW),
    "spherical-perceptron-51-centre": Made(Perceptron, Spherical(), 51, 50, False, 21, FEW),
    "spherical-perceptron-201-typical": Made(Perceptron, Spherical(), 201, 120, True, 22, NEAR),
    "spherical-perceptron-201-centre": Made(Perceptron, Spherical(), 201, 120, True, 22, FEW),
    "spherical-perceptron-1001-centre": Made(Perceptron, Spherical(), 1001, 600, False, 23, NEAR),
}


@dataclass(frozen=True, eq=False)
class Instance:
    """A network whose surroundings are known.

    Attributes
    ----------
    name : str
        One of `names`.
    device : Perceptron, TreeCommittee, Committee or ParityMachine
        With binary or spherical weights; machines have three units.
    xi, sigma : numpy.ndarray
        Patterns, shape (P, N), and labels, shape (P,): int64, entries -1 and +1.
    teacher : numpy.ndarray or None
        Binary weights that gave the labels, in the shape of the device.
    weights : numpy.ndarray
        The reference, a solution in the shape of the device; on the sphere ``|w_k|^2`` is the
        number of weights of a unit.
    truth : xarray.Dataset
        Over `distance` (``(1 - overlap) / 2``, the overlap being that of all weights):
        `local_entropy` (nats per weight) and `error` (one standard error, 0 where counted).
        Attributes: `origin`; and where they are known `entropy` (nats per weight), `overlap` (of
        the reference with a solution drawn uniformly, on average), `generalisation` (probability
        of an answer that is not the teacher's: exact for binary weights, ``arccos(overlap) / pi``
        on the sphere, as for Gaussian patterns). Counted ones have `solutions` over `flips`: how
        many there are at each Hamming distance. Sampled ones may have `messages`: what belief
        propagation says, which is no part of the truth.

    Examples
    --------
    >>> instance = load("binary-perceptron-17-flat")
    >>> instance.xi.shape[1]
    17
    """

    name: str
    device: Device
    xi: Array = field(repr=False)
    sigma: Array = field(repr=False)
    teacher: Array | None = field(repr=False)
    weights: Array = field(repr=False)
    truth: xarray.Dataset = field(repr=False)


def names() -> tuple[str, ...]:
    """Return the names of all instances.

    Returns
    -------
    tuple of str
        As ``"binary-tree-21-flat"``: weights, machine, how many weights, which solution.

    Examples
    --------
    >>> len(names()) > 0
    True
    """
    return tuple(INSTANCES)


def load(name: str) -> Instance:
    """Return an instance: drawn anew from its seed, with the truth that was kept.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Instance
        Device, patterns, labels, teacher, reference and truth.

    Raises
    ------
    ValueError
        If `name` is none of `names`.

    Notes
    -----
    Local entropy is [eq-local-entropy] of one instance, per weight. Binary: the logarithm of the
    number of solutions at that distance. Spherical: the logarithm of the share of solutions among
    the points of the sphere at that distance, plus ``ln(4 d (1 - d)) / 2`` [eq-geometric-bound].

    Examples
    --------
    >>> instance = load("binary-perceptron-21-flat")
    >>> instance.device.network(instance.weights).errors(instance.xi, instance.sigma)
    0
    >>> [int(n) for n in instance.truth.solutions[:4]]
    [1, 4, 60, 97]
    """
    name = arguments.choice("name", name, names())
    recipe, kept = INSTANCES[name], _kept()["instances"][name]
    xi, sigma, teacher = drawn(recipe)
    weights = kept["weights"]
    if isinstance(weights, str):
        weights = [1 if sign == "+" else -1 for sign in weights]
    weights = np.array(weights).reshape(recipe.device.shape(recipe.inputs))
    if not recipe.weights.discrete:
        width = weights.shape[-1]
        weights = weights * np.sqrt(width / np.sum(weights**2, axis=-1, keepdims=True))
    return Instance(name, recipe.device, xi, sigma, teacher, weights, _truth(kept))


def drawn(recipe):
    """Return patterns, labels and teacher of what an instance is made from."""
    rng = np.random.default_rng(recipe.seed)
    if not recipe.planted:
        return *patterns.random(recipe.patterns, recipe.inputs, rng=rng), None
    if recipe.machine is Perceptron:
        return patterns.teacher_student(recipe.patterns, recipe.inputs, rng=rng)
    teacher = 2 * rng.integers(2, size=recipe.device.shape(recipe.inputs)) - 1
    xi, _ = patterns.random(recipe.patterns, recipe.inputs, rng=rng)
    return xi, recipe.device.network(teacher).output(xi), teacher


@functools.cache
def _kept():
    file = importlib.resources.files(__name__) / "truths.json"
    return json.loads(file.read_text(encoding="utf-8"))


def _truth(kept):
    """Return the truth that was kept, as a Dataset."""
    unit = {"units": "nats per weight"}
    words = {"local_entropy": "local entropy", "error": "one standard error of it"}
    words["messages"] = "local entropy by belief propagation"
    truth = xarray.Dataset(
        {
            name: ("distance", np.array(kept[name], dtype=float), {"long_name": word, **unit})
            for name, word in words.items()
            if name in kept
        },
        coords={"distance": ("distance", kept["distance"], {"long_name": "distance"})},
        attrs={
            name: kept[name]
            for name in ("origin", "entropy", "overlap", "generalisation")
            if name in kept
        },
    )
    if "solutions" in kept:
        truth["solutions"] = ("flips", np.array(kept["solutions"]), {"long_name": "solutions"})
    return truth


@arguments.checked
def score(
    estimator: Callable[..., Any],
    names: Sequence[str] | None = None,
    progress: bool | None = None,
) -> xarray.Dataset:
    """Hold an estimator of local entropy against the truth.

    Parameters
    ----------
    estimator : callable
        ``estimator(instance, distance)`` returns the local entropy there in nats per weight, or
        that and its error. It may refuse by ValueError or TypeError, or raise NotConverged. It is
        handed the instance without its truth.
    names : sequence of str, optional
        Which instances; all where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    xarray.Dataset
        Over `instance` and `place`, the places being the distances of each truth, NaN beyond its
        last: `distance`, `truth`, `truth_error`, `estimate`, `estimate_error`, `error` (estimate
        minus truth, nats per weight), `total` (the same in nats), `seconds`; `refusal`, what it
        said where there is no estimate, and empty elsewhere.

    Raises
    ------
    TypeError
        If `estimator` cannot be called, or returns what is no number.
    ValueError
        If a name is none of `bench.names()`, or there is none.

    Examples
    --------
    >>> def everything(instance, distance):
    ...     return float(instance.device.weights.bound(distance))
    >>> missed = score(everything, ["spherical-perceptron-51-centre"])
    >>> [round(float(x)) for x in missed.total[0]]
    [9, 20, 34, 55]
    """
    estimator = arguments.function("estimator", estimator)
    if names is not None and (isinstance(names, str) or not isinstance(names, Sequence)):
        raise TypeError(f"names must be a sequence of names, got {names!r}: write [{names!r}]")
    chosen = tuple(INSTANCES if names is None else names)
    instances = [load(arguments.choice("each of names", name, (*INSTANCES,))) for name in chosen]
    if not instances:
        raise ValueError("names must hold one name at least")
    places = max(instance.truth.sizes["distance"] for instance in instances)
    keys = ("distance", "truth", "truth_error", "estimate", "estimate_error", "seconds")
    table = {key: np.full((len(instances), places), math.nan) for key in keys}
    refusal = np.full((len(instances), places), "", dtype=object)
    entries = [
        (row, place)
        for row, instance in enumerate(instances)
        for place in range(len(instance.truth.distance))
    ]
    for row, place in progress_bar(progress, entries, unit="distance"):
        truth = instances[row].truth
        blind = Instance(**{**vars(instances[row]), "truth": xarray.Dataset()})
        distance = float(truth.distance[place])
        start = time.perf_counter()
        try:
            estimate = estimator(blind, distance)
        except (NotConverged, TypeError, ValueError) as error:
            estimate, refusal[row, place] = math.nan, f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - start
        value, error = estimate if isinstance(estimate, tuple) else (estimate, math.nan)
        expected = float(truth.local_entropy[place]), float(truth.error[place])
        line = (distance, *expected, float(value), float(error), seconds)
        for key, entry in zip(keys, line, strict=True):
            table[key][row, place] = entry
    table["error"] = table["estimate"] - table["truth"]
    table["total"] = table["error"] * np.array([[instance.weights.size] for instance in instances])
    scores = xarray.Dataset(
        {key: (("instance", "place"), values) for key, values in table.items()},
        coords={"instance": [instance.name for instance in instances]},
    )
    scores["refusal"] = (("instance", "place"), refusal.astype(str))
    for key, values in scores.data_vars.items():
        if key not in ("distance", "refusal"):
            unit = {"total": "nats", "seconds": "s"}.get(str(key), "nats per weight")
            values.attrs["units"] = unit
    return scores
