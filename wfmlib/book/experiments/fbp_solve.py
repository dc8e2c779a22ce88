"""Reach in load of the focusing protocol that is made to find a solution soon."""

from __future__ import annotations

from wfmlib.book.experiments.focusing import AGREEMENT, AXES, OUTCOME, focus, outcome
from wfmlib.book.runs import Axis, Experiment, Scale

SETTINGS = {
    "units": 1,
    "weights": "binary",
    "protocol": "solve",  # which brings its numbers of replicas
    "replicas": 10,
    "max_sweeps": 5,
    "tolerance": 1e-4,
    "form": "expanded",
    "stop_at_solution": True,
}


def sample(settings, point, seed):
    """Return how one run ended."""
    chosen = settings | point
    names = "protocol", "form", "stop_at_solution"
    *_, result = focus(chosen, chosen["alpha"], seed, **{name: chosen[name] for name in names})
    return outcome(result)


EXPERIMENT = Experiment(
    name="fbp-solve",
    title="A short protocol of focusing on the binary perceptron: success against load",
    source="Baldassi et al., PNAS 113, E7655 (2016)",
    chapter=7,
    scales={
        "quick": Scale(grid={"N": (101, 201), "alpha": (0.5, 0.7)}, samples=2, settings=SETTINGS),
        "paper": Scale(
            grid={"N": (501, 1001, 2001), "alpha": (0.5, 0.6, 0.65, 0.7, 0.72, 0.74, 0.75)},
            samples=30,
            settings=SETTINGS,
        ),
    },
    variables=OUTCOME,
    axes={"alpha": AXES["alpha"], "N": Axis("1", "number of weights")},
    sample=sample,
    agreement=AGREEMENT,
    seed=2311,
)
