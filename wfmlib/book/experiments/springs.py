"""An intervention: springs between replicas, and nothing else, push one algorithm to flatness.

One to twenty replicas learn the labels of a teacher, on the patterns of `committee_optimisers`.
Replicated descent has the same loss, epochs and sharpness for any number of replicas, and is plain
descent with one. Entropic least action stops when its replicas have met; with one it is least
action, which stops when nothing is wrong any more.
"""

from __future__ import annotations

from wfmlib.book.experiments import committee_optimisers
from wfmlib.book.experiments.committee_algorithms import AGREEMENT
from wfmlib.book.experiments.committee_optimisers import (
    AXES,
    BETAS,
    DISTANCES,
    SETTINGS,
    SMALL,
    VARIABLES,
)
from wfmlib.book.runs import Axis, Experiment, Scale

REPLICAS = (1, 3, 10, 20)
RATES = (0.3, 1.0, 3.0)


def sample(settings, point, seed):
    """Return what a number of replicas found on one set of patterns."""
    name = point["algorithm"]
    told = {"replicas": point["replicas"]}
    settings["rule"]["replicated SGD"] |= told
    settings["recipe"]["eLAL"] |= told
    found = committee_optimisers.measured(settings, "teacher", point["rate"], name, seed)
    return {variable: found[variable] for variable in KEPT}


KEPT = {name: variable for name, variable in VARIABLES.items() if name != "barrier"}
CHOSEN = SETTINGS | {"twin_rate": 0.0}  # no second solution
GRID = {"algorithm": ("replicated SGD", "eLAL"), "replicas": REPLICAS, "rate": RATES}
EXPERIMENT = Experiment(
    name="springs",
    title="Springs between 1 to 20 replicas: flatness and generalisation, K = 9 tree committee",
    source="this book; the machine is that of P1, Sec. V",
    chapter=13,
    scales={
        "quick": Scale(
            grid=GRID | {"replicas": (1, 3), "rate": (1.0,)},
            samples=1,
            settings=CHOSEN | SMALL,
            coordinates={"distance": (0.02, 0.1), "beta": (3.0,)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=10,
            settings=CHOSEN,
            coordinates={"distance": DISTANCES, "beta": BETAS},
        ),
    },
    variables=KEPT,
    axes=AXES
    | {
        "algorithm": Axis("1", "name of the algorithm"),
        "replicas": Axis("1", "number of replicas"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=2025,
    paired=True,
)
