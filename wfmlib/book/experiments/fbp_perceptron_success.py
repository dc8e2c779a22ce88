"""Reach in load of focusing belief propagation on the binary perceptron (P3)."""

from __future__ import annotations

from wfmlib.book.experiments.focusing import AGREEMENT, AXES, OUTCOME, success
from wfmlib.book.runs import Axis, Experiment, Scale

SETTINGS = {
    "units": 1,
    "weights": "binary",
    "replicas": 20,
    "max_sweeps": 200,
    "tolerance": 1e-4,
    "form": "expanded",
    "stop_at_solution": True,
}

EXPERIMENT = Experiment(
    name="fbp-perceptron-success",
    title="Focusing BP on the binary perceptron: success against load at two sizes",
    source="P3; Baldassi et al., PNAS 113, E7655 (2016)",
    chapter=7,
    scales={
        "quick": Scale(
            grid={"N": (101, 201), "alpha": (0.5, 0.7)},
            samples=2,
            settings=SETTINGS | {"max_sweeps": 50},
        ),
        "paper": Scale(
            grid={"N": (1001, 2001), "alpha": (0.5, 0.6, 0.65, 0.7, 0.72, 0.74, 0.76)},
            samples=10,
            settings=SETTINGS,
        ),
    },
    variables=OUTCOME,
    axes={"alpha": AXES["alpha"], "N": Axis("1", "number of weights")},
    sample=success,
    agreement=AGREEMENT,
    seed=2022,
)
