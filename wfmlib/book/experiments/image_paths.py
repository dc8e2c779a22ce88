"""Training errors between the solutions of chapter 9: pairs, triangles, and ways from a centre.

A sample is a training set, the same for all algorithms and widths. On it each algorithm runs three
times. Three geodesics join its three networks, and a triangle lies between them. Three more
geodesics lead to them from a network of entropic least action (eLAL), the centre: one of the two
algorithms of chapter 9 whose solutions have the largest local entropy, and the faster one. Hidden
units are taken as they are, matched by their weights, or matched by their answers.

What is ours: the widths, all with the recipes of nine units, and the networks with two hidden
layers of binary weights (BinaryNet), as many units in each. They see the pictures without the
first pixel: an odd number. The training sets are those of `image_training_sets`; those of bags and
coats have no picture in common.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from wfmlib import landscape
from wfmlib.book.experiments import committee_algorithms
from wfmlib.book.experiments.committee_algorithms import AGREEMENT
from wfmlib.book.experiments.image_task import ALGORITHMS, RECIPES
from wfmlib.book.experiments.image_training_sets import training_set
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.learning.descent.binary_sgd import binary_sgd
from wfmlib.models import Committee

DEEP = "BinaryNet"
CENTRE = "eLAL"
SETTINGS = {
    "images": "fashion-mnist",
    "classes": "bag, coat",
    "P": 500,
    "order": 2020,  # seed of the order in which pictures come into the sets
    "max_epochs": 5000,
    "recipes": RECIPES | {DEEP: {"eta": 1.0, "gamma": 1.0, "batch": 100, "epochs": 300}},
    "triangle": 6,  # steps on an edge
}
QUICK = SETTINGS | {
    "images": "synthetic",
    "P": 60,
    "max_epochs": 1000,
    "recipes": RECIPES | {DEEP: {"eta": 1.0, "gamma": 1.0, "batch": 20, "epochs": 40}},
    "triangle": 2,
}
MATCHES = ("none", "weights", "answers")


def sample(settings, point, seed):
    """Return the errors of what one algorithm found on one training set, and between it."""
    (xi, sigma), _, test = training_set(settings, settings["classes"], seed.spawn_key[-1])
    centre_seed, *seeds = seed.spawn(1 + len(settings["solution"]))
    algorithm, units = point["algorithm"], point["units"]
    if algorithm == DEEP:
        xi, test = xi[:, 1:], (test[0][:, 1:], test[1])
    solutions = [
        _solve(settings, algorithm, units, xi, sigma, training_seed) for training_seed in seeds
    ]
    if any(solution is None for solution in solutions):
        return _nothing(settings)
    values = {
        "errors": np.array([solution.errors for solution in solutions]),
        "test_error": np.array(
            [solution.network.errors(*test) / len(test[1]) for solution in solutions]
        ),
        "unit_overlap": np.array([_unit_overlap(solution) for solution in solutions]),
        **_overlaps(solutions, signs=algorithm == DEEP),
        **_between(settings, solutions, xi, sigma),
    }
    if algorithm == DEEP:  # no committee is of its shape
        return _nothing(settings) | values
    centre = _solve(settings, CENTRE, units, xi, sigma, centre_seed)
    return values | _from_centre(settings, centre, solutions, xi, sigma)


def _solve(settings, algorithm, units, xi, sigma, seed):
    """Return what an algorithm found; None where it broke off."""
    recipe = settings["recipes"][algorithm]
    if algorithm == DEEP:
        return binary_sgd(xi, sigma, units=[units, units], rng=seed, **recipe)
    return committee_algorithms.solve(
        algorithm,
        Committee(units),
        xi,
        sigma,
        seed,
        max_epochs=settings["max_epochs"],
        **recipe,
    )


def _unit_overlap(solution):
    """Return the mean overlap of two units of the first hidden layer of a network."""
    w = solution.weights[0] if isinstance(solution.weights, list) else solution.weights
    w = np.array(w, dtype=float)
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    return float(np.mean((w @ w.T)[np.triu_indices(len(w), 1)]))


def _overlaps(solutions, signs):
    """Return the mean overlap of all pairs: units as they are, and matched by weights."""
    pairs = list(combinations(solutions, 2))
    plain = [landscape.overlap(a, b) for a, b in pairs]
    matched = [landscape.overlap(a, b, match=True, signs=signs) for a, b in pairs]
    return {"overlap": float(np.mean(plain)), "overlap_matched": float(np.mean(matched))}


def _geodesic(settings, a, b, xi, sigma, match):
    steps = len(settings["position"]) - 1
    return landscape.simplex([a, b], xi, sigma, steps=steps, match=match)


def _between(settings, solutions, xi, sigma):
    """Return errors on the edges and in the triangle of the solutions, for each way to match."""
    error, barrier, triangle = [], [], []
    for match in settings["match"]:
        geodesics = [
            _geodesic(settings, a, b, xi, sigma, match) for a, b in combinations(solutions, 2)
        ]
        error.append(np.mean([geodesic.error_rate.values for geodesic in geodesics], axis=0))
        barrier.append([geodesic.attrs["barrier"] for geodesic in geodesics])
        inside = landscape.simplex(solutions, xi, sigma, steps=settings["triangle"], match=match)
        triangle.append(inside.error_rate.values)
    return {
        "error_rate": np.array(error),
        "barrier": np.array(barrier),
        "triangle": np.array(triangle),
    }


def _from_centre(settings, centre, solutions, xi, sigma):
    """Return errors on the ways from the centre to the solutions, for each way to match."""
    names = "centre_error_rate", "centre_barrier"
    if centre is None:
        return {name: _absent(settings, name) for name in names}
    error, barrier = [], []
    for match in settings["match"]:
        geodesics = [
            _geodesic(settings, centre, solution, xi, sigma, match) for solution in solutions
        ]
        error.append(np.mean([geodesic.error_rate.values for geodesic in geodesics], axis=0))
        barrier.append([geodesic.attrs["barrier"] for geodesic in geodesics])
    return dict(zip(names, (np.array(error), np.array(barrier)), strict=True))


def _absent(settings, name):
    shape = [len(settings[dim]) for dim in VARIABLES[name].dims]
    return np.full(shape, -1 if VARIABLES[name].dtype == "int32" else np.nan)


def _nothing(settings):
    """Return the measures where there are no networks to measure."""
    return {name: _absent(settings, name) for name in VARIABLES}


VARIABLES = {
    "errors": Variable("1", "wrong answers on the training patterns", ("solution",), "int32"),
    "test_error": Variable("1", "share of wrong answers on the official test", ("solution",)),
    "unit_overlap": Variable(
        "1", "mean overlap of two units of the first hidden layer", ("solution",)
    ),
    "overlap": Variable("1", "overlap, units as they are: mean over pairs"),
    "overlap_matched": Variable("1", "overlap, units matched by weights: mean over pairs"),
    "error_rate": Variable(
        "1", "training error on the way: mean over pairs", ("match", "position")
    ),
    "barrier": Variable(
        "1", "largest training error on the way, less the larger end", ("match", "pair")
    ),
    "triangle": Variable("1", "training error in the triangle", ("match", "place")),
    "centre_error_rate": Variable(
        "1",
        "training error on the way from the centre: mean over solutions",
        ("match", "position"),
    ),
    "centre_barrier": Variable("1", "the same on the way from the centre", ("match", "solution")),
}
ENDS = {"solution": range(3), "pair": range(3), "match": MATCHES}  # at either scale
EXPERIMENT = Experiment(
    name="image-paths",
    title="Training errors between solutions on two classes of Fashion-MNIST, units matched",
    source="P1, Sec. V (task); Ainsworth et al., ICLR 2023 (matching)",
    chapter=12,
    scales={
        "quick": Scale(
            grid={"algorithm": (*ALGORITHMS, DEEP), "units": (3,)},
            samples=1,
            settings=QUICK,
            coordinates=ENDS
            | {
                "position": (0.0, 0.25, 0.5, 0.75, 1.0),
                "place": range(6),
            },
        ),
        "paper": Scale(
            grid={"algorithm": (*ALGORITHMS, DEEP), "units": (9, 27, 81)},
            samples=10,
            settings=SETTINGS,
            coordinates=ENDS
            | {
                "position": tuple(k / 20 for k in range(21)),
                "place": range(28),
            },
        ),
    },
    variables=VARIABLES,
    axes={
        "algorithm": Axis("1", "name of the algorithm"),
        "units": Axis("1", "hidden units, in each hidden layer"),
        "solution": Axis("1", "number of the run"),
        "pair": Axis("1", "of solutions: first and second, first and third, second and third"),
        "match": Axis("1", "how hidden units are matched"),
        "position": Axis("1", "position on the way"),
        "place": Axis("1", "point of the triangle, sorted, the first solution first"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=2111,
    paired=True,
)
