"""Images in experiments: P1's task, its randomised version, the algorithms."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache

import numpy as np
from scipy import ndimage

from wfmlib import Committee, landscape
from wfmlib.book.experiments import committee_algorithms
from wfmlib.book.experiments.focusing import CURVE, no_curve
from wfmlib.datasets.binarise import binarise, draw, dress_coat, shuffle_pixels
from wfmlib.learning.descent.schedules import FAST_IMAGES, SLOW_IMAGES

DATA = ("original", "shuffled")
ALGORITHMS = ("eLAL", "ceSGD slow", "ceSGD fast", "LAL")
SEED = 2020

# P1, App. E (Fashion-MNIST), and App. F for what eLAL is told of shuffled pixels.
RECIPES = {
    "eLAL": {"eta": 2e-3, "coupling": 30.0, "growth": 5e-3, "replicas": 20, "batch": 100},
    "ceSGD slow": {"schedule": asdict(SLOW_IMAGES)},
    "ceSGD fast": {"schedule": asdict(FAST_IMAGES)},
    "LAL": {"eta": 1e-4, "batch": 100},
}
SHUFFLED = {"eLAL": RECIPES["eLAL"] | {"eta": 5e-4, "coupling": 20.0, "growth": 1e-2}}
# Of which 500 patterns all is measured, as in P1, and how many randomised versions there are of
# them. The synthetic images stand in for the official files in short runs.
TASK = {
    "images": "fashion-mnist",
    "P": 500,
    "balanced": True,
    "subset": 0,
    "shuffles": 5,
    "shuffle_seed": SEED,
    "units": 9,
}
QUICK_TASK = TASK | {"images": "synthetic", "P": 60, "units": 3}
SOLVING = {
    "max_epochs": 5000,
    "recipes": {"original": RECIPES, "shuffled": RECIPES | SHUFFLED},
}
SETTINGS = TASK | SOLVING
QUICK = QUICK_TASK | SOLVING | {"max_epochs": 1000}
SIDE = 10  # of a synthetic image, in pixels


def task(settings, data, seed):
    """Return the training patterns and labels, then those for testing.

    Every sample has the same original patterns. Sample n has the shuffled version number
    ``n % shuffles`` of them, n being the last number of its seed's key, so that 50 samples are 10
    runs on each of 5 versions. The test patterns are never shuffled.
    """
    xi, sigma, *test = _patterns(
        settings["images"], settings["P"], settings["balanced"], settings["subset"]
    )
    if data == "shuffled":
        version = seed.spawn_key[-1] % settings["shuffles"]
        key = (settings["shuffle_seed"], settings["subset"], version)
        xi = shuffle_pixels(xi, rng=np.random.SeedSequence(key))
    return xi, sigma, *test


def solve(settings, point, seed):
    """Return the task at a point of the grid, what its algorithm found, and another seed.

    What was found is None where the algorithm broke off. The same seed yields the same solution
    in every experiment.
    """
    algorithm_seed, measure_seed = seed.spawn(2)
    patterns = task(settings, point["data"], seed)
    result = committee_algorithms.solve(
        point["algorithm"],
        Committee(settings["units"]),
        *patterns[:2],
        algorithm_seed,
        max_epochs=settings["max_epochs"],
        **settings["recipes"][point["data"]][point["algorithm"]],
    )
    return patterns, result, measure_seed


def ending(result):
    """Return how an algorithm ended, as the variables that every experiment has."""
    if result is None:
        return {"errors": -1, "converged": False, "epochs": -1}
    return {"errors": result.errors, "converged": result.converged, "epochs": result.epochs}


def around(settings, result, xi, sigma, names=()):
    """Return the local entropy around a solution, and what else is named of how it was measured.

    NaN where there is no solution, and 0 for a number of sweeps.
    """
    if result is None or result.errors > 0:
        count = len(settings["coupling"])
        measured = no_curve(settings) | {
            name: np.zeros(count, dtype=int) if name == "sweeps" else np.full(count, np.nan)
            for name in names
        }
    else:
        curve = landscape.local_entropy(
            result,
            xi,
            sigma,
            couplings=settings["coupling"],
            form=settings["form"],
            damping=settings["damping"],
            tolerance=settings["tolerance"],
            max_sweeps=settings["max_sweeps"],
            rng=0,
        )
        measured = {name: curve[name].values for name in (*CURVE, *names)}
    return {f"around_{name}" if name in CURVE else name: measured[name] for name in measured}


def synthetic(images, seed):
    """Return smooth grey images of two classes, and their labels.

    Parameters
    ----------
    images : int
        How many, half of each class.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    images : numpy.ndarray
        Shape (images, 10, 10), uint8.
    labels : numpy.ndarray
        Shape (images,), int8, -1 and +1.
    """
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(images) < images // 2, -1, 1).astype(np.int8)
    smooth = ndimage.gaussian_filter(rng.standard_normal((2, SIDE, SIDE)), (0, 2, 2))
    own = ndimage.gaussian_filter(rng.standard_normal((images, SIDE, SIDE)), (0, 1, 1))
    grey = 128 + 400 * (smooth[0] + 0.3 * labels[:, None, None] * smooth[1]) + 60 * own
    return np.clip(grey, 0, 255).astype(np.uint8), labels


@lru_cache(maxsize=1)
def _patterns(images, patterns, balanced, subset):
    """Return training and test patterns of the original task."""
    if images == "fashion-mnist":
        return dress_coat(patterns, rng=subset, balanced=balanced)
    grey, labels = synthetic(4 * patterns, SEED)
    xi, kept = binarise(grey, low=0.0, high=1.0)
    half = slice(None, None, 2), slice(1, None, 2)
    train, test = ((xi[rows], labels[kept][rows]) for rows in half)
    return *draw(*train, patterns, rng=subset, balanced=balanced), *test
