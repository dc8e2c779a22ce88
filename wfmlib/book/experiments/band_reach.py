"""Reach in load of reinforced message passing on the symmetric binary perceptron."""

from __future__ import annotations

from wfmlib import Band, patterns
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.learning import ENDINGS
from wfmlib.learning.messages.reinforced import reinforced_message_passing

SETTINGS = {"kappa": 1.0, "lean": 0.1, "duration": 1.8}  # sweeps at most, times the rate


def sample(settings, point, seed):
    """Return how one run ended."""
    patterns_seed, start = seed.spawn(2)
    N = point["N"]
    xi, sigma = patterns.random(round(point["alpha"] * N), N, rng=patterns_seed)
    result = reinforced_message_passing(
        xi,
        sigma,
        constraint=Band(settings["kappa"]),
        rate=point["rate"],
        max_sweeps=round(settings["duration"] / point["rate"]),
        lean=settings["lean"],
        rng=start,
    )
    return {
        "solved": result.errors == 0,
        "errors": result.errors,
        "sweeps": result.sweeps,
        "ending": ENDINGS.index(result.outcome),
    }


EXPERIMENT = Experiment(
    name="band-reach",
    title="Reinforced messages on the symmetric binary perceptron: success against load",
    source="Aubin, Perkins, Zdeborova, J. Phys. A 52, 294003 (2019)",
    chapter=10,
    scales={
        "quick": Scale(
            grid={"N": (101,), "rate": (0.003,), "alpha": (0.6, 0.9)},
            samples=2,
            settings=SETTINGS,
        ),
        "paper": Scale(
            grid={
                "N": (501, 1001, 2001),
                "rate": (0.003, 0.001),
                "alpha": (1.2, 1.3, 1.4, 1.45, 1.5, 1.55, 1.6, 1.65),
            },
            samples=10,
            settings=SETTINGS,
        ),
    },
    variables={
        "solved": Variable("1", "whether a solution was found", dtype="bool"),
        "errors": Variable("1", "patterns outside of the band, at best", dtype="int32"),
        "sweeps": Variable("1", "sweeps of the messages", dtype="int32"),
        "ending": Variable("1", "place in wfmlib.learning.ENDINGS", dtype="int32"),
    },
    axes={
        "alpha": Axis("1", "load P / N"),
        "N": Axis("1", "number of weights"),
        "rate": Axis("1", "rate of the reinforcement, one over sweeps"),
    },
    sample=sample,
    paired=True,
    agreement=Agreement(
        rtol=1e-5,
        atol=1e-7,
        why="messages that have not settled and single precision amplify roundings",
        chaotic=True,
    ),
    seed=1910,
)
