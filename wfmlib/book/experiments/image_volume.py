"""Volumes around what four algorithms find on images (P1, Fig. 7 top and A2).

Around the first solutions of `image_minima`, sample by sample. On correlated patterns messages
settle with damping only; the expanded form agrees with the exact one there, at a third of the
time.
"""

from __future__ import annotations

import numpy as np

from wfmlib.book.experiments.committee_algorithms import AGREEMENT
from wfmlib.book.experiments.focusing import AXES, CURVE
from wfmlib.book.experiments.image_task import (
    ALGORITHMS,
    DATA,
    QUICK,
    SEED,
    SETTINGS,
    around,
    ending,
    solve,
)
from wfmlib.book.runs import Axis, Experiment, Scale, Variable

VARIABLES = {
    "errors": Variable("1", "wrong answers of the weights", dtype="int32"),
    "converged": Variable("1", "whether the algorithm reached its own aim", dtype="bool"),
    "epochs": Variable("1", "epochs", dtype="int32"),
    "sweeps": Variable("1", "sweeps of all messages", ("coupling",), dtype="int32"),
    "residual": Variable("1", "change of the messages in the last sweep", ("coupling",)),
}
CURVES = {f"around_{name}": variable for name, variable in CURVE.items()}
COUPLINGS = tuple(np.geomspace(0.03, 1000.0, 24).round(6).tolist())


def sample(settings, point, seed):
    """Return what one algorithm found, and the local entropy around it."""
    (xi, sigma, *_), result, _ = solve(settings, point, seed)
    return ending(result) | around(settings, result, xi, sigma, ("sweeps", "residual"))


GRID = {"data": DATA, "algorithm": ALGORITHMS}
MESSAGES = {"form": "expanded", "damping": 0.5, "tolerance": 1e-4, "max_sweeps": 200}
EXPERIMENT = Experiment(
    name="image-volume",
    title="Local entropy around the solutions of four algorithms, two classes of Fashion-MNIST",
    source="P1, Figs. 7 and A2",
    chapter=9,
    scales={
        "quick": Scale(
            grid=GRID,
            samples=2,
            settings=QUICK | MESSAGES,
            coordinates={"coupling": (3.0, 30.0)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=50,
            settings=SETTINGS | MESSAGES,
            coordinates={"coupling": COUPLINGS},
        ),
    },
    variables=VARIABLES | CURVES,
    axes={
        "data": Axis("1", "the patterns, or those with every pixel shuffled among them"),
        "algorithm": Axis("1", "name of the algorithm"),
        "coupling": AXES["coupling"],
    },
    sample=sample,
    version=2,  # distances are (1 - overlap) / 2
    agreement=AGREEMENT,
    seed=SEED,
    paired=True,
)
