"""Minima of four algorithms on images: test errors, curvature, noise (P1, Fig. 7, A1, A3)."""

from __future__ import annotations

import numpy as np

from wfmlib import landscape
from wfmlib.book.experiments.committee_algorithms import AGREEMENT
from wfmlib.book.experiments.image_task import (
    ALGORITHMS,
    DATA,
    QUICK,
    SEED,
    SETTINGS,
    ending,
    solve,
)
from wfmlib.book.runs import Axis, Experiment, Scale, Variable

VARIABLES = {
    "errors": Variable("1", "wrong answers on the training patterns", dtype="int32"),
    "converged": Variable("1", "whether the algorithm reached its own aim", dtype="bool"),
    "epochs": Variable("1", "epochs", dtype="int32"),
    "test_error": Variable("1", "share of wrong answers on the test patterns"),
    "dress_error": Variable("1", "the same on the test patterns with label -1, the dresses"),
    "coat_error": Variable("1", "the same on the test patterns with label +1, the coats"),
    "smallest_beta": Variable("1", "smallest sharpness at which smooth units make no error"),
    "largest": Variable("1", "largest eigenvalue, smoothed square loss", ("beta",)),
    "largest_tangent": Variable("1", "the same on the tangent space", ("beta",)),
    "accuracy": Variable("1", "share of right answers on noisy training patterns", ("noise",)),
}
BETAS = (10.0, 30.0, 90.0)  # P1 shows 90
NOISE = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0)


def sample(settings, point, seed):
    """Return what one algorithm found, and how good and how wide it is."""
    (xi, sigma, *test), result, noise_seed = solve(settings, point, seed)
    if result is None:
        return ending(result) | _nothing(settings)
    noisy = landscape.noise_robustness(
        result,
        xi,
        sigma,
        noise=settings["noise"],
        perturbations=settings["perturbations"],
        kind="pixels",
        rng=noise_seed,
    )
    solved = result.errors == 0
    return (
        ending(result)
        | _tested(result, *test)
        | {
            "smallest_beta": landscape.smallest_beta(result, xi, sigma) if solved else np.nan,
            "largest": _largest(result, xi, sigma, settings["beta"]),
            "largest_tangent": _largest(result, xi, sigma, settings["beta"], tangent=True),
            "accuracy": noisy["accuracy"].values,
        }
    )


def _tested(result, xi, sigma):
    """Return the shares of wrong answers: of all, and of each class."""
    wrong = result.network.output(xi) != sigma
    return {
        "test_error": wrong.mean(),
        "dress_error": wrong[sigma == -1].mean(),
        "coat_error": wrong[sigma == 1].mean(),
    }


def _largest(result, xi, sigma, betas, **options):
    return np.array(
        [landscape.max_eigenvalue(result, xi, sigma, beta=beta, **options) for beta in betas]
    )


def _nothing(settings):
    """Return the measures where there are no weights to measure."""
    return {
        name: np.full([len(settings[dim]) for dim in variable.dims], np.nan)
        for name, variable in VARIABLES.items()
        if variable.dtype == "float64"
    }


GRID = {"data": DATA, "algorithm": ALGORITHMS}
EXPERIMENT = Experiment(
    name="image-minima",
    title="Test errors, curvature and noise: four algorithms on two classes of Fashion-MNIST",
    source="P1, Figs. 7, A1 and A3",
    chapter=9,
    scales={
        "quick": Scale(
            grid=GRID,
            samples=2,
            settings=QUICK | {"perturbations": 5},
            coordinates={"beta": (3.0, 10.0), "noise": (0.0, 0.1, 0.3)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=50,
            settings=SETTINGS | {"perturbations": 20},
            coordinates={"beta": BETAS, "noise": NOISE},
        ),
    },
    variables=VARIABLES,
    axes={
        "data": Axis("1", "the patterns, or those with every pixel shuffled among them"),
        "algorithm": Axis("1", "name of the algorithm"),
        "beta": Axis("1", "sharpness of the smooth units"),
        "noise": Axis("1", "share of the pixels that are drawn anew"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=SEED,
    paired=True,
)
