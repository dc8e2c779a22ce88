"""Five algorithms on a tree committee of three units: how wide are the minima (P1, Sec. V)?

On the patterns of `tree_minima`, instance by instance, where the committee has nine. Steps are a
third of those there, so that a correction changes the field of a unit with three times the inputs
by the same amount. Slow growth stops at its first solution, and focusing has expanded messages.
"""

from __future__ import annotations

import numpy as np

from wfmlib import patterns
from wfmlib.book.experiments import slow_growth, tree_minima
from wfmlib.book.experiments.committee_algorithms import AGREEMENT, RECIPES, solve
from wfmlib.book.experiments.focusing import AXES, CURVE, curve, no_curve
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.models import TreeCommittee

THIRD, LIMIT = 1 / 3, {"max_epochs": 8000}


def third(recipe):
    """Return a recipe of least action or of gradient descent with a third of its step."""
    if "schedule" not in recipe:
        return recipe | {"eta": THIRD * recipe["eta"]}
    schedule = recipe["schedule"]
    return recipe | {"schedule": schedule | {"eta": THIRD * schedule["eta"]}}


SLOW = {"schedule": RECIPES["ceSGD slow"]["schedule"] | {"stop": "errors"}}
CHOSEN = {
    "fBP": RECIPES["fBP"] | {"form": "expanded"},
    "eLAL": third(RECIPES["eLAL"] | LIMIT),
    "ceSGD slow": third(SLOW | LIMIT),
    "ceSGD fast": third(RECIPES["ceSGD fast"] | LIMIT),
    "LAL": third(RECIPES["LAL"] | LIMIT),
}
SETTINGS = tree_minima.TASK | {"units": 3, "recipes": CHOSEN}
VARIABLES = {
    "errors": Variable("1", "wrong answers of the weights; -1: not a number", dtype="int32"),
    "epochs": Variable("1", "epochs; for fBP, sweeps", dtype="int32"),
    "one_vote": Variable("1", "share of the patterns that are right by one vote"),
} | {f"around_{name}": variable for name, variable in CURVE.items()}


def sample(settings, point, seed):
    """Return what one algorithm found on one set of patterns, and what surrounds it."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    xi, sigma = patterns.random(settings["P"], settings["N"], rng=patterns_seed)
    name, device = point["algorithm"], TreeCommittee(settings["units"])
    found = solve(name, device, xi, sigma, algorithm_seed, **settings["recipes"][name])
    around, one_vote = no_curve(settings), np.nan
    if found is not None and found.errors == 0:
        votes = np.sign(found.network.fields(xi) * sigma[:, None]).sum(axis=1)
        around, one_vote = curve(settings, found, xi, sigma), np.mean(votes == 1)
    return {
        "errors": -1 if found is None else found.errors,
        "epochs": -1 if found is None else found.epochs,
        "one_vote": one_vote,
    } | {f"around_{key}": values for key, values in around.items()}


GRID = {"algorithm": tuple(CHOSEN)}
EXPERIMENT = Experiment(
    name="three-units",
    title="Volume around the solutions of five algorithms, K = 3 tree committee",
    source="P1, Sec. V",
    chapter=8,
    scales={
        "quick": Scale(
            grid={"algorithm": tuple(CHOSEN)[1:]},
            samples=2,
            settings=SETTINGS | {"N": 99, "P": 40},
            coordinates={"coupling": (1.0, 10.0)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=6,
            settings=SETTINGS,
            coordinates={"coupling": slow_growth.COUPLINGS},
        ),
    },
    variables=VARIABLES,
    axes={
        "algorithm": Axis("1", "name of the algorithm"),
        "coupling": AXES["coupling"],
    },
    sample=sample,
    seed=tree_minima.SEED,
    paired=True,
    agreement=AGREEMENT,
)
