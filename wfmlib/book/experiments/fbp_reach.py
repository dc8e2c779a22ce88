"""Reach in load of focusing BP on tree committees of three and of nine units (P1).

The cheaper, expanded messages, at loads up to one at which no run is solved. With three units
`fbp_committee` compares both forms of messages; the instances here are others.
"""

from __future__ import annotations

from wfmlib.book.experiments.focusing import AGREEMENT, AXES, OUTCOME, success
from wfmlib.book.runs import Axis, Experiment, Scale

SETTINGS = {
    "N": 999,
    "weights": "spherical",
    "form": "expanded",
    "replicas": 10,
    "max_sweeps": 200,
    "tolerance": 1e-4,
    "stop_at_solution": True,
}

EXPERIMENT = Experiment(
    name="fbp-reach",
    title="Focusing BP on tree committees of 3 and 9 units: success against load, up to the end",
    source="P1, Sec. IV and App. D 1",
    chapter=7,
    scales={
        "quick": Scale(
            grid={"units": (3, 9), "alpha": (1.0, 1.5)},
            samples=2,
            settings=SETTINGS | {"N": 99, "max_sweeps": 50},
        ),
        "paper": Scale(
            grid={"units": (3, 9), "alpha": (2.6, 2.8, 3.0)},
            samples=2,
            settings=SETTINGS,
        ),
    },
    variables=OUTCOME,
    axes={"alpha": AXES["alpha"], "units": Axis("1", "hidden units K")},
    sample=success,
    agreement=AGREEMENT,
    seed=2024,
    paired=True,
)
