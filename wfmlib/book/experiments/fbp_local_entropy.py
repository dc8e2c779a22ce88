"""Local entropy around what focusing finds on the K = 9 tree committee (P1, Fig. 5, fBP)."""

from __future__ import annotations

import numpy as np

from wfmlib.book.experiments.focusing import (
    AGREEMENT,
    AXES,
    CURVE,
    OUTCOME,
    curve,
    focus,
    no_curve,
    outcome,
)
from wfmlib.book.runs import Experiment, Scale

SETTINGS = {
    "N": 999,
    "units": 9,
    "weights": "spherical",
    "form": "exact",
    "replicas": 10,
    "max_sweeps": 200,
    "tolerance": 1e-4,
}


def sample(settings, point, seed):
    """Return how one run ended, and the local entropy around its solution."""
    xi, sigma, result = focus(settings, point["alpha"], seed, form=settings["form"])
    around = (
        curve(settings, result, xi, sigma)
        if result is not None and result.errors == 0
        else no_curve(settings)
    )
    return outcome(result) | around


EXPERIMENT = Experiment(
    name="fbp-local-entropy",
    title="Local entropy around focusing BP's solutions of the K = 9 tree committee",
    source="P1, Fig. 5",
    chapter=7,
    scales={
        "quick": Scale(
            grid={"alpha": (1.0,)},
            samples=2,
            settings=SETTINGS | {"N": 99, "max_sweeps": 50},
            coordinates={"coupling": (1.0, 10.0)},
        ),
        "paper": Scale(
            grid={"alpha": (1.0,)},
            samples=10,
            settings=SETTINGS,
            coordinates={"coupling": tuple(np.geomspace(0.1, 200.0, 30).round(6).tolist())},
        ),
    },
    variables=OUTCOME | CURVE,
    axes=AXES,
    sample=sample,
    version=2,  # distances are (1 - overlap) / 2
    agreement=AGREEMENT,
    seed=2020,
)
