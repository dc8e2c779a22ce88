"""Deep networks with binary weights on images: errors, overlaps, flatness (P3, SM, Fig. 8).

Several solutions of the same training set, from different first weights, against its size. A
sample is one training set: that of a larger size holds that of a smaller one.

What is ours: the widths, the sizes and, the same at every size, the learning rates, the sharpness
of the loss and the number of epochs; odd numbers of inputs and of hidden units, so that no hidden
unit is ever undecided; inputs that are signs, +1 where a pixel is brighter than its median over
all images there are to train on, without the first pixel; of CIFAR-10 training batch 1 only, with
batch 2 to test. MNIST is odd against even, the other two have ten classes.

The teacher's set needs no files: random patterns, labelled by a network with one hidden layer.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from wfmlib import datasets, landscape, patterns
from wfmlib.book.experiments.committee_algorithms import AGREEMENT
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.learning.descent.binary_sgd import binary_sgd
from wfmlib.networks.binary_mlp import BinaryMLP

SETTINGS = {
    "units": {"mnist": [101, 101], "fashion": [101, 101], "cifar10": [101, 101, 101]},
    "classes": {"mnist": 2, "fashion": 10, "cifar10": 10},
    "eta": {"mnist": 1.0, "fashion": 3.0, "cifar10": 1.0},
    "gamma": {"mnist": 1.0, "fashion": 3.0, "cifar10": 3.0},
    "batch": 100,
    "epochs": 300,
    "perturbations": 10,
}
QUICK = SETTINGS | {
    "units": {"teacher": [51, 31]},
    "classes": {"teacher": 2},
    "eta": {"teacher": 1.0},
    "gamma": {"teacher": 1.0},
    "batch": 20,
    "epochs": 150,
    "teacher": {"inputs": 51, "units": 5, "train": 1000, "test": 1000},
}
SIZES = (250, 500, 1000, 2000, 4000, 8000)
DISTANCES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4)
LAYERS = 4  # of weights, in the deepest of the networks


def sample(settings, point, seed):
    """Return what several trainings on one set of patterns found, and how alike they are."""
    data_seed, order_seed, random_seed, profile_seed, training_seed = seed.spawn(5)
    name = point["dataset"]
    if name == "teacher":
        (xi, sigma), test = teacher(settings["teacher"], data_seed)
    else:
        (xi, sigma), test = images(name)
    order = np.random.default_rng(order_seed).permutation(len(xi))[: point["size"]]
    xi, sigma = xi[order], sigma[order]
    seeds = training_seed.spawn(len(settings["solution"]))
    solutions = [train(settings, name, xi, sigma, run_seed) for run_seed in seeds]
    rng = np.random.default_rng(profile_seed)
    profiles = [_profile(settings, solution, xi, sigma, rng) for solution in solutions]
    return {
        "errors": np.array([solution.errors for solution in solutions]),
        "fewest": np.array([solution.fewest_errors for solution in solutions]),
        "test_error": np.array([_share(solution, *test) for solution in solutions]),
        "profile": np.array([profile["error_rate"].values for profile in profiles]),
        "realised": profiles[0]["realised"].values,
        **_overlaps(solutions),
        "overlap_random": _overlap_random(solutions[0].weights, random_seed),
    }


def train(settings, name, xi, sigma, seed):
    """Return what one training on a data set of that name found."""
    return binary_sgd(
        xi,
        sigma,
        units=settings["units"][name],
        classes=settings["classes"][name],
        eta=settings["eta"][name],
        gamma=settings["gamma"][name],
        batch=settings["batch"],
        epochs=settings["epochs"],
        rng=seed,
    )


def _share(solution, xi, sigma):
    """Return the share of wrong answers."""
    return solution.network.errors(xi, sigma) / len(xi)


# ------------------------------------------------------------------------------------------------
# How alike, and how flat
# ------------------------------------------------------------------------------------------------


def _overlaps(solutions):
    """Return mean overlaps of all pairs: as they are, matched, and matched layer by layer."""
    plain, matched, layers = [], [], []
    for first, second in combinations(solutions, 2):
        fitted = landscape.match_layers(first, second)
        plain.append(landscape.overlap(first, second))
        matched.append(landscape.overlap(first, fitted))
        layers.append(
            [landscape.overlap(a, b) for a, b in zip(first.weights, fitted, strict=True)]
        )
    by_layer = np.full(LAYERS, np.nan)
    by_layer[: len(solutions[0].weights)] = np.mean(layers, axis=0)
    return {
        "overlap": float(np.mean(plain)),
        "overlap_matched": float(np.mean(matched)),
        "overlap_layers": by_layer,
    }


def _overlap_random(like, seed):
    """Return what matching makes of two networks of random weights."""
    rng = np.random.default_rng(seed)
    first, second = ([rng.choice([-1, 1], w.shape) for w in like] for _ in range(2))
    return landscape.overlap(first, second, match=True)


def _profile(settings, solution, xi, sigma, rng):
    """Return the error profile around a solution."""
    return landscape.error_profile(
        solution,
        xi,
        sigma,
        distances=settings["distance"],
        rng=rng,
        samples=settings["perturbations"],
    )


# ------------------------------------------------------------------------------------------------
# Patterns and labels
# ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def images(name):
    """Return all images there are to train on, and those to test with, as signs, with labels.

    Parameters
    ----------
    name : {"mnist", "fashion", "cifar10"}
        The data set.

    Returns
    -------
    train, test : tuple of numpy.ndarray
        Patterns, shape (P, N) with odd N, int8, and labels, shape (P,): -1 for even and +1 for
        odd digits; else from 0 to 9.
    """
    read, parts = {
        "mnist": (datasets.mnist, ("train", "test")),
        "fashion": (datasets.fashion_mnist, ("train", "test")),
        "cifar10": (datasets.cifar10, (1, 2)),
    }[name]
    sets = [read(part) for part in parts]
    middle = np.median(sets[0][0].reshape(len(sets[0][0]), -1), axis=0)
    return tuple(_signs(name, middle, *pictures) for pictures in sets)


def _signs(name, middle, pixels, labels):
    bright = pixels.reshape(len(pixels), -1) > middle
    xi = 2 * bright[:, 1:].astype(np.int8) - 1  # an even number of pixels, less one
    labels = labels.astype(np.int8)
    return xi, 2 * (labels % 2) - 1 if name == "mnist" else labels


def teacher(settings, seed):
    """Return patterns that a random network has labelled, to train on and to test with."""
    rng = np.random.default_rng(seed)
    N, units = settings["inputs"], settings["units"]
    teacher = BinaryMLP([rng.choice([-1, 1], shape) for shape in ((units, N), (1, units))])
    sets = []
    for P in (settings["train"], settings["test"]):
        xi, _ = patterns.random(P, N, rng=rng)
        sets.append((xi, teacher.output(xi)))
    return sets


VARIABLES = {
    "errors": Variable("1", "wrong answers on the training set", ("solution",), "int32"),
    "fewest": Variable("1", "the fewest at the end of any epoch", ("solution",), "int32"),
    "test_error": Variable("1", "share of test images answered wrongly", ("solution",)),
    "profile": Variable(
        "1", "training error at a distance: mean over weights", ("solution", "distance")
    ),
    "realised": Variable("1", "mean distance of all weights there", ("distance",)),
    "overlap": Variable("1", "overlap, units as they are: mean over pairs"),
    "overlap_matched": Variable("1", "overlap, units matched: mean over pairs"),
    "overlap_layers": Variable("1", "the same in each layer of weights", ("layer",)),
    "overlap_random": Variable("1", "matched overlap of two networks of random weights"),
}
AXES = {
    "dataset": Axis("1", "data set"),
    "size": Axis("images", "images to train on"),
    "solution": Axis("1", "number of the training"),
    "distance": Axis("1", "share of each unit's weights that are flipped"),
    "layer": Axis("1", "layer of weights, from the inputs on"),
}
EXPERIMENT = Experiment(
    name="binary-networks",
    title="Deep networks with binary weights: training error, overlap and error profile",
    source="P3, SM, Fig. 8",
    chapter=9,
    scales={
        "quick": Scale(
            grid={"dataset": ("teacher",), "size": (50, 200, 800)},
            samples=1,
            settings=QUICK,
            coordinates={
                "solution": range(2),
                "distance": (0.0, 0.05, 0.1, 0.2),
                "layer": range(LAYERS),
            },
        ),
        "paper": Scale(
            grid={"dataset": ("mnist", "fashion", "cifar10"), "size": SIZES},
            samples=3,
            settings=SETTINGS,
            coordinates={
                "solution": range(4),
                "distance": DISTANCES,
                "layer": range(LAYERS),
            },
        ),
    },
    variables=VARIABLES,
    axes=AXES,
    sample=sample,
    agreement=AGREEMENT,
    seed=2107,
    paired=True,
)
