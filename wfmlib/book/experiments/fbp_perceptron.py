"""Solutions of focusing on the binary perceptron at load 1/2 (P3, Fig. 3 and App. B 3).

Solutions, the local entropy around them, and their stabilities.
"""

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
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.learning import atanh_steps

SETTINGS = {
    "N": 2001,
    "units": 1,
    "weights": "binary",
    "form": "exact",
    "replicas": 20,
    "max_sweeps": 200,
    "tolerance": 1e-4,
}
CELLS = tuple(np.arange(0.05, 4.0, 0.1).round(2).tolist())  # centres
WIDTH = 0.1


def sample(settings, point, seed):
    """Return how one run ended, the local entropy around its solution, and its stabilities."""
    xi, sigma, result = focus(settings, point["alpha"], seed, form=settings["form"])
    if result is None or result.errors:
        missing = np.full(len(settings["stability"]), np.nan)
        return outcome(result) | no_curve(settings) | {"density": missing}
    stabilities = result.network.stabilities(xi, sigma)
    edges = np.append(settings["stability"] - WIDTH / 2, settings["stability"][-1] + WIDTH / 2)
    density = np.histogram(stabilities, edges)[0] / (len(stabilities) * WIDTH)
    around = curve(settings, result, xi, sigma)
    return outcome(result) | around | {"density": density}


EXPERIMENT = Experiment(
    name="fbp-perceptron",
    title="Local entropy and stabilities of focusing BP's solutions of the binary perceptron",
    source="P3, Fig. 3",
    chapter=7,
    scales={
        "quick": Scale(
            grid={"alpha": (0.5,)},
            samples=2,
            settings=SETTINGS | {"N": 201, "max_sweeps": 50},
            coordinates={"coupling": (0.5, 1.0), "stability": CELLS},
        ),
        "paper": Scale(
            grid={"alpha": (1000 / 2001,)},
            samples=10,
            settings=SETTINGS,
            coordinates={
                "coupling": tuple(atanh_steps(50)[1:-1].round(9).tolist()),
                "stability": CELLS,
            },
        ),
    },
    variables=OUTCOME
    | CURVE
    | {"density": Variable("1", "share of the patterns per unit of stability", ("stability",))},
    axes=AXES | {"stability": Axis("1", "stability")},
    sample=sample,
    agreement=AGREEMENT,
    seed=2021,
)
