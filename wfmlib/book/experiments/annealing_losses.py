"""Annealing of the binary perceptron: which loss, or replicas, and how far in load (P1, II F).

Three algorithms on the same patterns: annealing on the number of errors, the same schedule with
the cross-entropy, and replicas that attract each other, on the number of errors. A sweep of the
replicas proposes as many flips for each of them as a sweep of the others does for the one:
`sweeps` counts them for each replica, and the replicas cost `replicas` times as many proposals.

The replicas stay warm, each by itself, and are drawn together until they are nearly one: their
common beta ends at `replicas` times the last one of `replicated_beta`. It is the growing overlap
that cools. The feedback is strong, to let the overlap grow in even steps. (P1 compares with
annealing on a local entropy that belief propagation estimates; replicas sample it.)
"""

from __future__ import annotations

import numpy as np

from wfmlib import patterns
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.learning.annealing.replicated import replicated_annealing
from wfmlib.learning.annealing.simulated import simulated_annealing
from wfmlib.models import Perceptron

SETTINGS = {
    "gamma": 1.0,
    "beta": (1.0, 50.0),
    "sweeps": 5000,
    "steps": 500,
    "replicas": 7,
    "replicated_beta": (0.5, 3.0),
    "overlap": 0.998,
    "tolerance": 0.02,
    "ramp": 1.0,
    "gain": 2.0,
}
LOSSES = ("errors", "cross-entropy", "replicated")


def sample(settings, point, seed):
    """Return how one run ended."""
    patterns_seed, moves_seed = seed.spawn(2)
    N, device = point["N"], Perceptron()
    xi, sigma = patterns.random(round(point["alpha"] * N), N, rng=patterns_seed)
    common = {name: settings[name] for name in ("beta", "sweeps", "steps", "gamma")}
    if point["loss"] == "replicated":
        result = replicated_annealing(
            device,
            xi,
            sigma,
            replicas=settings["replicas"],
            overlap=settings["overlap"],
            tolerance=settings["tolerance"],
            ramp=settings["ramp"],
            gain=settings["gain"],
            rng=moves_seed,
            **(common | {"beta": settings["replicated_beta"]}),
        )
        errors = [result.errors, *result.replica_errors]
        proposals = settings["replicas"] * result.epochs
    else:
        result = simulated_annealing(
            device, xi, sigma, loss=point["loss"], rng=moves_seed, **common
        )
        errors = [result.errors]
        proposals = result.epochs
    return {
        "solved": min(errors) == 0,
        "errors": min(errors),
        "reference_errors": result.errors,
        "mean_errors": float(np.mean(errors[-settings["replicas"] :])),
        "sweeps": result.epochs,
        "proposals": proposals,
    }


EXPERIMENT = Experiment(
    name="annealing-losses",
    title="Annealing of the binary perceptron: errors, cross-entropy and replicas",
    source="P1, Sec. II F",
    chapter=2,
    scales={
        "quick": Scale(
            grid={"N": (101,), "alpha": (0.3, 0.5), "loss": LOSSES},
            samples=2,
            settings=SETTINGS | {"sweeps": 500, "steps": 100},
        ),
        "paper": Scale(
            grid={"N": (201, 501, 1001), "alpha": (0.3, 0.4, 0.5, 0.6, 0.7), "loss": LOSSES},
            samples=10,
            settings=SETTINGS,
        ),
    },
    variables={
        "solved": Variable("1", "whether a solution was found", dtype="bool"),
        "errors": Variable("1", "least errors of what was found", dtype="int32"),
        "reference_errors": Variable("1", "errors of the weights returned", dtype="int32"),
        "mean_errors": Variable("1", "mean errors of the replicas, or of the one"),
        "sweeps": Variable("1", "sweeps, of each replica", dtype="int32"),
        "proposals": Variable("1", "proposals per weight, in all replicas", dtype="int32"),
    },
    axes={
        "N": Axis("1", "number of weights"),
        "alpha": Axis("1", "load P / N"),
        "loss": Axis("1", "what is annealed"),
    },
    sample=sample,
    agreement=Agreement(rtol=1e-9, why="energies are whole numbers, and only means are rounded"),
    seed=1908,
    paired=True,
)
