"""How far in load three algorithms go on the binary perceptron."""

from __future__ import annotations

import numpy as np

from wfmlib import Perceptron, learning, patterns
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.learning.descent.clipped_rule import clipped_rule
from wfmlib.learning.messages.reinforced import reinforced_message_passing
from wfmlib.numerics.solvers import NotConverged

SETTINGS = {
    "replicas": 10,
    "protocol": "solve",
    "max_sweeps": 5,
    "tolerance": 1e-4,
    "form": "expanded",
    "rate": 0.003,
    "lean": 0.1,
    "most_sweeps": 600,  # of the reinforced messages
    "epochs": 2000,  # of the clipped rule
}
ALGORITHMS = ("focusing BP", "reinforced AMP", "clipped rule")


def sample(settings, point, seed):
    """Return how one run ended."""
    patterns_seed, start = seed.spawn(2)
    N = point["N"]
    xi, sigma = patterns.random(round(point["alpha"] * N), N, rng=patterns_seed)
    weights, sweeps = _weights(settings, point["algorithm"], xi, sigma, start)
    errors = int(np.count_nonzero(sigma * (xi.astype(np.int32) @ weights) <= 0))
    return {"solved": errors == 0, "errors": errors, "sweeps": sweeps}


def _weights(settings, algorithm, xi, sigma, start):
    """Return the last weights of an algorithm, and how often it went through all patterns."""
    if algorithm == "focusing BP":
        names = "replicas", "protocol", "max_sweeps", "tolerance", "form"
        options = {name: settings[name] for name in names}
        try:
            found = learning.focusing_bp(
                Perceptron(), xi, sigma, stop_at_solution=True, rng=start, **options
            )
        except NotConverged:
            return np.zeros(xi.shape[1], dtype=np.int8), -1
        return found.weights, found.epochs
    if algorithm == "reinforced AMP":
        options = {name: settings[name] for name in ("rate", "lean")}
        options["max_sweeps"] = settings["most_sweeps"]
        reinforced = reinforced_message_passing(xi, sigma, rng=start, **options)
        return reinforced.weights, reinforced.sweeps
    number = int(start.generate_state(1)[0])
    return clipped_rule(xi, sigma, seed=number, epochs=settings["epochs"])


EXPERIMENT = Experiment(
    name="cluster-reach",
    title="Three algorithms on the binary perceptron: success against load",
    source="Baldassi et al., PNAS 113, E7655 (2016); Baldassi, J. Stat. Phys. 136, 902 (2009)",
    chapter=10,
    scales={
        "quick": Scale(
            grid={"N": (101,), "algorithm": ALGORITHMS, "alpha": (0.4, 0.6)},
            samples=2,
            settings=SETTINGS,
        ),
        "paper": Scale(
            grid={
                "N": (1001,),
                "algorithm": ALGORITHMS,
                "alpha": (0.6, 0.65, 0.7, 0.72, 0.74, 0.76, 0.78),
            },
            samples=20,
            settings=SETTINGS,
        ),
    },
    variables={
        "solved": Variable("1", "whether a solution was found", dtype="bool"),
        "errors": Variable("1", "wrong answers of the last weights", dtype="int32"),
        "sweeps": Variable("1", "times through all patterns; -1: not a number", dtype="int32"),
    },
    axes={"alpha": Axis("1", "load P / N"), "N": Axis("1", "number of weights")},
    sample=sample,
    paired=True,
    agreement=Agreement(
        rtol=1e-5,
        atol=1e-7,
        why="messages that have not settled and single precision amplify roundings",
        chaotic=True,
    ),
    seed=1016,
)
