"""Slow growth of the norms, stopped at its first solution: is its place wider than its end's?

On the patterns of `tree_minima`, instance by instance, with the seeds of its slow schedule: that
experiment has what the fast schedule finds, and where slow growth ends.
"""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from wfmlib import landscape, patterns
from wfmlib.book.experiments import tree_minima
from wfmlib.book.experiments.committee_algorithms import AGREEMENT, solve
from wfmlib.book.experiments.focusing import AXES, CURVE, curve, no_curve
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.learning.descent.schedules import SLOW
from wfmlib.models import TreeCommittee

VARIABLES = {
    "errors": Variable("1", "wrong answers of the weights; -1: not a number", dtype="int32"),
    "epochs": Variable("1", "epochs", dtype="int32"),
    "end_beta": Variable("1", "sharpness of the units at the end"),
    "end_gamma": Variable("1", "sharpness of the loss at the end"),
    "largest": Variable("1", "largest eigenvalue, smoothed square loss", ("beta",)),
} | {f"around_{name}": variable for name, variable in CURVE.items()}
FIRST = "slow, first solution"
SETTINGS = tree_minima.TASK | {
    "schedules": {FIRST: asdict(replace(SLOW, stop="errors"))},
    "max_epochs": 20_000,
}


def sample(settings, point, seed):
    """Return where slow growth stands when it first makes no error."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    xi, sigma = patterns.random(settings["P"], settings["N"], rng=patterns_seed)
    recipe = {
        "schedule": settings["schedules"][point["schedule"]],
        "max_epochs": settings["max_epochs"],
    }
    device = TreeCommittee(settings["units"])
    found = solve("ceSGD slow", device, xi, sigma, algorithm_seed, **recipe)
    if found is None or found.errors > 0:
        return _nothing(settings, found)
    around = curve(settings, found, xi, sigma)
    return {
        "errors": found.errors,
        "epochs": found.epochs,
        "end_beta": found.history["beta"][-1],
        "end_gamma": found.history["gamma"][-1],
        "largest": np.array(
            [landscape.max_eigenvalue(found, xi, sigma, beta=beta) for beta in settings["beta"]]
        ),
    } | {f"around_{name}": values for name, values in around.items()}


def _nothing(settings, found):
    """Return the measures where there is no solution to measure at."""
    around = no_curve(settings)
    return {
        "errors": -1 if found is None else found.errors,
        "epochs": -1 if found is None else found.epochs,
        "end_beta": np.nan,
        "end_gamma": np.nan,
        "largest": np.full(len(settings["beta"]), np.nan),
    } | {f"around_{name}": values for name, values in around.items()}


# Of those of tree_minima, the ones at which distances are about 0.015 to 0.21.
COUPLINGS = tree_minima.COUPLINGS[8:24:2]
BETAS = (2.0, 3.0, 5.0, 10.0)
GRID = {"schedule": (FIRST,)}
EXPERIMENT = Experiment(
    name="slow-growth",
    title="Where slow growth of the norms first solves, K = 9 tree committee",
    source="P1, Sec. IV and Fig. 5, continued",
    chapter=8,
    scales={
        "quick": Scale(
            grid=GRID,
            samples=2,
            settings=SETTINGS | {"N": 99, "P": 50},
            coordinates={"coupling": (1.0, 10.0), "beta": (2.0, 8.0)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=10,
            settings=SETTINGS,
            coordinates={"coupling": COUPLINGS, "beta": BETAS},
        ),
    },
    variables=VARIABLES,
    axes={
        "schedule": Axis("1", "how the norms grow, and where growth stops"),
        "coupling": AXES["coupling"],
        "beta": Axis("1", "sharpness of the smooth units"),
    },
    sample=sample,
    version=2,  # distances are (1 - overlap) / 2
    seed=tree_minima.SEED,
    paired=True,
    agreement=AGREEMENT,
)
