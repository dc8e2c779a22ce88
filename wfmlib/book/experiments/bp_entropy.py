"""The entropy of a tree committee by belief propagation, against the load (P1, Sec. III).

Where messages do not settle is part of the result: `converged` says whether the residual fell
below `tolerance` within `max_sweeps` undamped sweeps.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib import TreeCommittee, learning, patterns
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.numerics.solvers import NotConverged


def sample(settings, point, seed):
    """Return entropy and convergence on one set of random patterns."""
    patterns_seed, messages_seed = seed.spawn(2)
    N = settings["N"]
    xi, sigma = patterns.random(round(point["alpha"] * N), N, rng=patterns_seed)
    try:
        marginals = learning.belief_propagation(
            TreeCommittee(settings["units"]),
            xi,
            sigma,
            tolerance=settings["tolerance"],
            max_sweeps=settings["max_sweeps"],
            rng=messages_seed,
        )
    except NotConverged as error:
        sweeps = error.report.iterations
        return dict(NOTHING, sweeps=sweeps)
    return {
        "entropy": marginals.entropy,
        "overlap": float(np.mean(marginals.means**2)),
        "converged": marginals.converged,
        "sweeps": marginals.sweeps,
        "residual": marginals.residual,
    }


NOTHING = {
    "entropy": math.nan,
    "overlap": math.nan,
    "converged": False,
    "residual": math.inf,
}


def unsettled(values):
    """Say whether messages did not settle."""
    return not values["converged"]


LOADS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.5, 1.6, 1.65, 1.7, 1.75, 1.8, 1.9, 2.0)

EXPERIMENT = Experiment(
    name="bp-entropy",
    title="Entropy of the K = 3 tree committee by belief propagation, and where it converges",
    source="P1, Sec. III",
    chapter=7,
    scales={
        "quick": Scale(
            grid={"alpha": (0.5, 1.0, 1.5)},
            samples=2,
            settings={"N": 99, "units": 3, "tolerance": 1e-5, "max_sweeps": 300},
        ),
        "paper": Scale(
            grid={"alpha": LOADS},
            samples=10,
            settings={"N": 999, "units": 3, "tolerance": 1e-5, "max_sweeps": 500},
        ),
    },
    variables={
        "entropy": Variable("nats per weight", "log of the solutions' share of the sphere"),
        "overlap": Variable("1", "mean square of the weights' means"),
        "converged": Variable("1", "whether messages settled", dtype="bool"),
        "sweeps": Variable("1", "sweeps", dtype="int32"),
        "residual": Variable("1", "largest change of the messages in the last sweep"),
    },
    axes={"alpha": Axis("1", "load P / N")},
    sample=sample,
    agreement=Agreement(
        rtol=1e-5,
        atol=1e-7,
        why="settled messages forget roundings up to their tolerance; unsettled ones amplify them",
        chaotic=unsettled,
    ),
    seed=1905,
)
