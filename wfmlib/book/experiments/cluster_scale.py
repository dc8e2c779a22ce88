"""Reach in load of reinforced messages at 10^3 to 10^5 weights, and of binary least action.

Each run has its own loads, next to where its success ends, and each size its own number of
instances: a sweep of 10^5 weights takes ten thousand times as long as one of 10^3.
"""

from __future__ import annotations

import numpy as np

from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.learning import ENDINGS
from wfmlib.learning.descent.clipped_replicas import clipped_replicas
from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.learning.messages.packed_reinforced import packed_reinforced
from wfmlib.learning.solution import outcome

AT = " at load "
MESSAGES = {"lean": 0.1, "look": 5}
SLOW = {"rate": 0.003, "max_sweeps": 700} | MESSAGES
FAST = {"rate": 0.05, "max_sweeps": 90} | MESSAGES
ALONE = {"replicas": 1, "pull": 0.0, "growth": 0.0, "batch": 100, "max_epochs": 1500}
DRAWN = ALONE | {"replicas": 7, "pull": 1e-4, "growth": 0.01, "max_epochs": 1000}
NEAR = (0.6, 0.64, 0.66, 0.68, 0.7, 0.72, 0.74, 0.76)
#: What is run: the algorithm, weights, instances in a sample, loads, and what it is told.
RUNS = {
    "least action, 1001 weights": (1001, 5, (0.3, 0.4, 0.45, 0.5), ALONE),
    "entropic least action, 1001 weights": (1001, 5, (0.4, 0.5, 0.55), DRAWN),
    "reinforced AMP, rate 0.003, 1001 weights": (1001, 10, NEAR, SLOW),
    "reinforced AMP, rate 0.003, 10001 weights": (10001, 3, (0.72, 0.73, 0.74), SLOW),
    "reinforced AMP, rate 0.05, 1001 weights": (1001, 10, NEAR, FAST),
    "reinforced AMP, rate 0.05, 10001 weights": (10001, 5, (0.64, 0.66, 0.68, 0.7), FAST),
    "reinforced AMP, rate 0.05, 100001 weights": (100001, 1, (0.64, 0.66, 0.68), FAST),
}
QUICK = {
    "entropic least action, 101 weights": (101, 10, (0.3,), DRAWN | {"max_epochs": 200}),
    "reinforced AMP, rate 0.05, 101 weights": (101, 10, (0.3,), FAST),
}
MOST = 10  # instances of a sample


def settings_of(runs):
    """Return the settings of a scale."""
    names = "N", "instances", "loads", "options"
    return {"runs": {name: dict(zip(names, values, strict=True)) for name, values in runs.items()}}


def cases(runs):
    """Return the name of each run at each of its loads."""
    return tuple(f"{name}{AT}{load:g}" for name, values in runs.items() for load in values[2])


def scale(runs, samples, most):
    """Return a scale of runs; `most` is the largest number of instances in a sample."""
    return Scale(
        grid={"case": cases(runs)},
        samples=samples,
        settings=settings_of(runs),
        coordinates={"instance": range(most)},
    )


def sample(settings, point, seed):
    """Return how some instances ended; -1 stands for one that was not run."""
    return run_instances(settings, point, seed, _run_instance, MOST)


def run_instances(settings, point, seed, run_instance, most):
    """Return errors, sweeps and endings of the instances of a sample, of `most` at the most."""
    name, _, load = point["case"].rpartition(AT)
    run = settings["runs"][name]
    endings = {name: np.full(most, -1, dtype=np.int32) for name in ("errors", "sweeps", "ending")}
    for k, instance_seed in enumerate(seed.spawn(run["instances"])):
        errors, sweeps, ending = run_instance(run, float(load), instance_seed)
        endings["errors"][k], endings["sweeps"][k] = errors, sweeps
        endings["ending"][k] = ENDINGS.index(ending)
    return endings


def _run_instance(run, alpha, seed):
    """Return the fewest wrong answers of a run on one instance, its sweeps, and how it ended."""
    patterns_seed, start = seed.spawn(2)
    packed = PackedPatterns.random(round(alpha * run["N"]), run["N"], rng=patterns_seed)
    if "rate" in run["options"]:
        result = packed_reinforced(packed, rng=start, threads=1, **run["options"])
        return result.errors, result.sweeps, result.outcome
    right = np.ones(packed.P, dtype=np.int8)  # labels are in the patterns
    learned = clipped_replicas(packed.unpack(), right, rng=start, **run["options"])
    return learned.errors, learned.epochs, outcome(learned.errors, settled=False)


VARIABLES = {
    "errors": Variable("1", "wrong answers; -1: not run", ("instance",), "int32"),
    "sweeps": Variable("1", "sweeps or epochs; -1: not run", ("instance",), "int32"),
}
AXES = {
    "case": Axis("1", "algorithm, number of weights and load P / N"),
    "instance": Axis("1", "instance of a sample"),
}
ENDED = Variable("1", "place in wfmlib.learning.ENDINGS; -1: not run", ("instance",), "int32")
EXPERIMENT = Experiment(
    name="cluster-scale",
    title="Reinforced messages up to 10^5 weights, and binary least action: success against load",
    source="Braunstein, Zecchina, Phys. Rev. Lett. 96, 030201 (2006); P1, Sec. IV",
    chapter=10,
    scales={"quick": scale(QUICK, 2, MOST), "paper": scale(RUNS, 4, MOST)},
    variables=VARIABLES | {"ending": ENDED},
    axes=AXES,
    sample=sample,
    paired=True,
    agreement=Agreement(
        rtol=1e-5,
        atol=1e-7,
        why="messages that have not settled amplify roundings",
        chaotic=True,
    ),
    seed=1124,
)
