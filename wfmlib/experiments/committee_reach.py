"""How far in load simple algorithms solve the K = 3 tree committee (P1, Sec. IV).

On the patterns of `fbp_committee`, sample by sample, which says how far focusing goes.
"""

from __future__ import annotations

from wfmlib import patterns
from wfmlib.experiments.committee_algorithms import ALGORITHMS, solve
from wfmlib.experiments.experiment import Axis, Experiment, Scale, Variable
from wfmlib.experiments.fbp_committee import EXPERIMENT as FOCUSING

# Where they give up: some twenty times the epochs that they take at load 1.
LIMITS = {"LAL": 20_000, "eLAL": 3_000, "ceSGD fast": 10_000, "ceSGD slow": 20_000}
SETTINGS = {"N": 999, "units": 3}


def sample(settings, point, seed):
    """Return how one run ended."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    N, algorithm = settings["N"], point["algorithm"]
    xi, sigma = patterns.random(round(point["alpha"] * N), N, patterns_seed)
    limit = min(LIMITS[algorithm], settings["max_epochs"])
    found = solve(algorithm, xi, sigma, settings["units"], algorithm_seed, max_epochs=limit)
    if found is None:
        return {"solved": False, "errors": -1, "epochs": -1, "fewest": -1}
    history = found.history["errors"]
    return {
        "solved": found.errors == 0,
        "errors": found.errors,
        "epochs": found.epochs,
        "fewest": int(min(history)),
    }


EXPERIMENT = Experiment(
    name="committee-reach",
    title="Simple algorithms on the K = 3 tree committee: success against load",
    source="P1, Sec. IV",
    chapter=8,
    scales={
        "quick": Scale(
            grid={"alpha": (0.5, 1.0), "algorithm": ALGORITHMS[1:]},
            samples=2,
            settings=SETTINGS | {"N": 99, "max_epochs": 500},
        ),
        "paper": Scale(
            grid={"alpha": (1.5, 1.8, 2.0, 2.2, 2.4, 2.6), "algorithm": ALGORITHMS[1:]},
            samples=10,
            settings=SETTINGS | {"max_epochs": 20_000},
        ),
    },
    variables={
        "solved": Variable("1", "whether the weights make no error", dtype="bool"),
        "errors": Variable(
            "1", "wrong answers of the last weights; -1: not a number", dtype="int32"
        ),
        "epochs": Variable("1", "epochs", dtype="int32"),
        "fewest": Variable(
            "1", "fewest wrong answers in an epoch; -1: not a number", dtype="int32"
        ),
    },
    axes={
        "alpha": Axis("1", "load P / N"),
        "algorithm": Axis("1", "name of the algorithm"),
    },
    sample=sample,
    seed=FOCUSING.seed,
    paired=True,
)
