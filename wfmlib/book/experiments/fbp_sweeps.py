"""Limit on the sweeps of focusing: what it changes on the binary perceptron (P3, Fig. 3).

`fbp_perceptron` goes on to the next step after 200 sweeps, whether or not messages have settled;
P3 waits until they have. Here each instance is run twice, with that limit and with one so high
that it is hardly met, and the two results are compared.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wfmlib import landscape
from wfmlib.book.experiments.focusing import AGREEMENT, AXES, focus
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.learning import atanh_steps

SETTINGS = {
    "N": 2001,
    "units": 1,
    "weights": "binary",
    "form": "expanded",
    "replicas": 20,
    "tolerance": 1e-4,
    "steps": 30,
}
LIMITS = (200, 5000)
COUPLINGS = (0.1, 0.5, 1.0, 1.5)


def unsettled(values):
    """Say whether messages did not settle in a step: roundings then grow to differences."""
    return not bool(np.all(values["settled"]))


def sample(settings, point, seed):
    """Return what came of both runs, and how much their solutions overlap."""
    results = []
    for limit in settings["limit"].tolist():
        xi, sigma, result = focus(
            settings | {"max_sweeps": limit},
            point["alpha"],
            np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key),  # the same twice
            form=settings["form"],
            protocol=atanh_steps(settings["steps"]),
        )
        if result is None:
            raise FloatingPointError(f"a message ceased to be a number, {limit} sweeps a step")
        results.append(result)
    around = [
        landscape.local_entropy(result, xi, sigma, couplings=settings["coupling"], rng=0)
        for result in results
    ]
    histories = [result.history for result in results]
    return {
        "errors": [result.errors for result in results],
        "wrong": [record["errors"] for record in histories],
        "sweeps": [record["sweeps"] for record in histories],
        "settled": [record["settled"] for record in histories],
        "overlap": np.mean(results[0].weights.astype(float) * results[1].weights),
        "distance": [curve["distance"].values for curve in around],
        "local_entropy": [curve["local_entropy"].values for curve in around],
    }


EXPERIMENT = Experiment(
    name="fbp-sweeps",
    title="Focusing BP on the binary perceptron with few and with many sweeps in each step",
    source="P3, Fig. 3 and App. B 3",
    chapter=7,
    scales={
        "quick": Scale(
            grid={"alpha": (0.5,)},
            samples=2,
            settings=SETTINGS | {"N": 101, "steps": 10},
            coordinates={"limit": (20, 100), "step": tuple(range(10)), "coupling": (0.5, 1.0)},
        ),
        "paper": Scale(
            grid={"alpha": (1000 / 2001,)},
            samples=10,
            settings=SETTINGS,
            coordinates={"limit": LIMITS, "step": tuple(range(30)), "coupling": COUPLINGS},
        ),
    },
    variables={
        "errors": Variable("1", "wrong answers of the last weights", ("limit",), dtype="int32"),
        "wrong": Variable("1", "wrong answers after each step", ("limit", "step"), dtype="int32"),
        "sweeps": Variable("1", "sweeps in each step", ("limit", "step"), dtype="int32"),
        "settled": Variable("1", "whether messages settled", ("limit", "step"), dtype="bool"),
        "overlap": Variable("1", "overlap of the two runs' last weights"),
        "distance": Variable("1", "distance from the last weights", ("limit", "coupling")),
        "local_entropy": Variable("nats per weight", "local entropy", ("limit", "coupling")),
    },
    axes=AXES
    | {"limit": Axis("1", "sweeps allowed in a step"), "step": Axis("1", "step of the protocol")},
    sample=sample,
    agreement=replace(AGREEMENT, chaotic=unsettled),
    seed=2025,
)
