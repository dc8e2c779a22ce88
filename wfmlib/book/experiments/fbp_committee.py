"""Reach in load of focusing belief propagation on the K = 3 tree committee (P1, App. D 1).

Exact and expanded messages on the same patterns: the paper reaches 2.7 with the former and 2.6
with the latter.
"""

from __future__ import annotations

from wfmlib.book.experiments.focusing import AGREEMENT, AXES, OUTCOME, success
from wfmlib.book.runs import Experiment, Scale

SETTINGS = {
    "N": 999,
    "units": 3,
    "weights": "spherical",
    "replicas": 10,
    "max_sweeps": 200,
    "tolerance": 1e-4,
    "stop_at_solution": True,
}

EXPERIMENT = Experiment(
    name="fbp-committee",
    title="Focusing BP on the K = 3 tree committee: success against load, two forms of messages",
    source="P1, App. D 1",
    chapter=7,
    scales={
        "quick": Scale(
            grid={"alpha": (1.0, 1.5), "form": ("exact", "expanded")},
            samples=2,
            settings=SETTINGS | {"N": 99, "max_sweeps": 50},
        ),
        "paper": Scale(
            grid={"alpha": (1.5, 2.6, 2.7, 2.8), "form": ("exact", "expanded")},
            samples=10,
            settings=SETTINGS,
        ),
    },
    variables=OUTCOME,
    axes={"alpha": AXES["alpha"]},
    sample=success,
    agreement=AGREEMENT,
    seed=2019,
    paired=True,
)
