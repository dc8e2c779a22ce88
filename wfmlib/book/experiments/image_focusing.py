"""Focusing on images: whether messages settle, and what they lead to (P1, Sec. V).

P1 says that it could not run focusing on these data: inputs are correlated, and the architecture
is fully connected. The protocol is the one that solves random patterns.
"""

from __future__ import annotations

import numpy as np

from wfmlib import Committee, learning
from wfmlib.book.experiments.focusing import AGREEMENT, OUTCOME, outcome
from wfmlib.book.experiments.image_task import DATA, QUICK_TASK, SEED, TASK, task
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.numerics.solvers import NotConverged

VARIABLES = OUTCOME | {
    "step_errors": Variable("1", "wrong answers of the centre after each step", ("step",)),
    "step_residual": Variable("1", "change of the messages in a step's last sweep", ("step",)),
    "test_error": Variable("1", "share of wrong answers of the last centre on the test patterns"),
}


def sample(settings, point, seed):
    """Return how one run of the protocol went."""
    xi, sigma, *test = task(settings, point["data"], seed)
    try:
        result = learning.focusing_bp(
            Committee(settings["units"]),
            xi,
            sigma,
            form=settings["form"],
            replicas=settings["replicas"],
            damping=point["damping"],
            max_sweeps=settings["max_sweeps"],
            tolerance=settings["tolerance"],
            rng=seed.spawn(1)[0],
        )
    except NotConverged:
        missing = np.full(len(settings["step"]), np.nan)
        return outcome(None) | {
            "step_errors": missing,
            "step_residual": missing,
            "test_error": np.nan,
        }
    wrong = result.network.errors(*test)
    return outcome(result) | {
        "step_errors": result.history["errors"].astype(float),
        "step_residual": result.history["residual"],
        "test_error": wrong / len(test[1]),
    }


MESSAGES = {"form": "expanded", "replicas": 10, "tolerance": 1e-4, "max_sweeps": 200}
EXPERIMENT = Experiment(
    name="image-focusing",
    title="Focusing BP on two classes of Fashion-MNIST: whether messages settle",
    source="P1, Sec. V",
    chapter=9,
    scales={
        "quick": Scale(
            grid={"data": DATA, "damping": (0.5,)},
            samples=2,
            settings=QUICK_TASK | MESSAGES | {"max_sweeps": 20},
            coordinates={"step": range(30)},
        ),
        "paper": Scale(
            grid={"data": DATA, "damping": (0.5, 0.9)},
            samples=3,
            settings=TASK | MESSAGES,
            coordinates={"step": range(30)},
        ),
    },
    variables=VARIABLES,
    axes={
        "data": Axis("1", "the patterns, or those with every pixel shuffled among them"),
        "damping": Axis("1", "share of the old message that is kept"),
        "step": Axis("1", "step of the protocol"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=SEED,
    paired=True,
)
