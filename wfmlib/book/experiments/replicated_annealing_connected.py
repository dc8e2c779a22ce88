"""Dense solutions of fully connected committees by replicated annealing (P2, beside Fig. 3).

P2 says of the fully connected wiring that the phenomenology is the same, and no sizes. Here a
committee of few units that all see the same inputs is set beside a tree of as many units, with as
many weights in each and as many patterns: `alpha` is patterns per weight in both.
"""

from __future__ import annotations

from wfmlib.book.experiments.replicated_annealing import (
    AGREEMENT,
    AXES,
    COORDINATES,
    VARIABLES,
    sample,
)
from wfmlib.book.runs import Axis, Experiment, Scale

SETTINGS = {
    "units": {"sign": 9, "relu": 8},
    "inputs": {"sign": 201, "relu": 200},
    "alpha": 0.15,
    "replicas": 20,
    "overlap": 0.85,
    "tolerance": 0.01,
    "beta": (1.0, 6.0),
    "gain": 2.0,
    "sweeps": 3000,
    "steps": 150,
    "perturbations": 50,
}
GRID = {"machine": ("sign", "relu"), "wiring": ("tree", "connected")}

EXPERIMENT = Experiment(
    name="replicated-annealing-connected",
    title="Replicated annealing: fully connected committees beside trees of the same size",
    source="P2, Fig. 3 and below",
    chapter=5,
    scales={
        "quick": Scale(
            grid=GRID,
            samples=1,
            settings=SETTINGS
            | {
                "inputs": {"sign": 51, "relu": 50},
                "replicas": 8,
                "sweeps": 1000,
                "steps": 100,
                "perturbations": 5,
            },
            coordinates=COORDINATES,
        ),
        "paper": Scale(grid=GRID, samples=10, settings=SETTINGS, coordinates=COORDINATES),
    },
    variables=VARIABLES,
    axes=AXES | {"wiring": Axis("1", "what a unit sees: a part of the input, or all of it")},
    sample=sample,
    agreement=AGREEMENT,
    seed=1909,
)
