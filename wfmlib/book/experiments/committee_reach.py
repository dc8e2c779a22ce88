"""Reach in load of five algorithms on the K = 9 tree committee (P1, Sec. IV).

With the steps and schedules that P1 gives for random patterns at load 1: only the limits are set
here, and the two algorithms of least action run once more with a third of the step. A run counts
as solved where the weights made no error at the end of any epoch, whether or not the algorithm
went on.
"""

from __future__ import annotations

from wfmlib import patterns
from wfmlib.book.experiments.committee_algorithms import AGREEMENT, ALGORITHMS, RECIPES, solve
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.models import TreeCommittee

# Where they give up. The first is some hundred times, eLAL's three times, what load 1 takes; the
# slow schedule has by then sharpened its units until nothing moves.
LIMITS = {
    "LAL": 10_000,
    "LAL, third of a step": 16_000,
    "eLAL": 3_000,
    "eLAL, third of a step": 3_000,
    "ceSGD fast": 5_000,
    "ceSGD slow": 16_000,
}
STEPS = {
    f"{name}, third of a step": RECIPES[name] | {"eta": RECIPES[name]["eta"] / 3}
    for name in ("LAL", "eLAL")
}
FOCUSING = {"fBP": RECIPES["fBP"] | {"form": "expanded", "stop_at_solution": True}}
LIMITED = {
    name: recipe | {"max_epochs": LIMITS[name]}
    for name, recipe in (RECIPES | STEPS).items()
    if name in LIMITS
}
SETTINGS = {"N": 999, "units": 9, "recipes": FOCUSING | LIMITED}
QUICK = {
    "N": 99,
    "units": 3,
    "recipes": {name: LIMITED[name] | {"max_epochs": 500} for name in ALGORITHMS[1:]},
}


def sample(settings, point, seed):
    """Return how one run ended."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    N, algorithm = settings["N"], point["algorithm"]
    xi, sigma = patterns.random(round(point["alpha"] * N), N, rng=patterns_seed)
    name, recipe = algorithm.partition(",")[0], settings["recipes"][algorithm]
    result = solve(name, TreeCommittee(settings["units"]), xi, sigma, algorithm_seed, **recipe)
    if result is None:
        return {"solved": False, "errors": -1, "fewest": -1, "epochs": -1}
    fewest, last = min(int(min(result.history["errors"])), result.errors), result.errors
    if name.startswith("ceSGD"):  # it returns the best weights, not the last
        last = int(result.history["errors"][-1])
    return {
        "solved": fewest == 0,
        "errors": last,
        "fewest": fewest,
        "epochs": result.epochs,
    }


EXPERIMENT = Experiment(
    name="committee-reach",
    title="Five algorithms on the K = 9 tree committee: success against load",
    source="P1, Sec. IV",
    chapter=8,
    scales={
        "quick": Scale(
            grid={"alpha": (0.5, 1.0), "algorithm": ALGORITHMS[1:]},
            samples=2,
            settings=QUICK,
        ),
        "paper": Scale(
            grid={"alpha": (1.4, 1.6, 1.8, 2.0, 2.2), "algorithm": (*ALGORITHMS, *STEPS)},
            samples=10,
            settings=SETTINGS,
        ),
    },
    variables={
        "solved": Variable("1", "whether any epoch ended without errors", dtype="bool"),
        "errors": Variable(
            "1", "wrong answers of the last weights; -1: not a number", dtype="int32"
        ),
        "fewest": Variable(
            "1", "fewest wrong answers at the end of an epoch; -1: not a number", dtype="int32"
        ),
        "epochs": Variable("1", "epochs; for fBP steps of the protocol", dtype="int32"),
    },
    axes={
        "alpha": Axis("1", "load P / N"),
        "algorithm": Axis("1", "name of the algorithm"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=1903,
    paired=True,
)
