"""The capacity of the spherical perceptron of negative margin, by margin and ansatz.

Nothing is drawn: one sample of each, whatever the seed.
"""

from __future__ import annotations

from wfmlib.book.experiments.full_capacities import (
    AGREEMENT,
    LEVEL,
    LEVELS,
    VARIABLES,
    capacities,
)
from wfmlib.book.runs import Axis, Experiment, Scale
from wfmlib.models import Margin, Perceptron, Spherical


def sample(settings, point, seed):
    """Return the capacities at one margin."""
    return capacities(Perceptron(Spherical()), Margin(point["kappa"]))


EXPERIMENT = Experiment(
    name="full-margins",
    title="Capacity of the spherical perceptron of negative margin by ansatz",
    source="Annesi et al., SciPost Phys. 18, 118 (2025)",
    chapter=11,
    scales={
        "quick": Scale(grid={"kappa": (-0.5,)}, samples=1, coordinates=LEVELS),
        "paper": Scale(
            grid={"kappa": (-2.0, -1.8, -1.6, -1.4, -1.2, -1.0, -0.8, -0.6, -0.4, -0.2)},
            samples=1,
            coordinates=LEVELS,
        ),
    },
    variables=VARIABLES,
    axes=LEVEL | {"kappa": Axis("1", "margin, in units of a random pattern's standard deviation")},
    sample=sample,
    agreement=AGREEMENT,
    seed=2025,
)
