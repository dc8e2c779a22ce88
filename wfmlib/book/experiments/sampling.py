"""Drawing solutions of the binary perceptron: which measure, by which algorithm, up to which load.

Two configurations are drawn for the same patterns. If both are typical of the measure, their
overlap is that of replica theory.
"""

from __future__ import annotations

import warnings

import numpy as np

from wfmlib import learning, patterns
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.landscape import overlap
from wfmlib.models import LogPotential, Margin, Perceptron
from wfmlib.numerics.solvers import NotConverged

DRAWS = 2
SETTINGS = {
    "exponent": 1.0,
    "step": 0.05,
    "end": 30.0,
    "tolerance": 1e-4,
    "damping": 0.0,
    "max_sweeps": 40,
    "sweeps": 1000,
    "widths": 50,
    "first": 3.0,
    "last": 0.01,
}


def sample(settings, point, seed):
    """Draw two configurations; return their errors and overlap, and whether messages settled."""
    pattern_seed, *draw_seeds = seed.spawn(1 + DRAWS)
    N = point["N"]
    xi, sigma = patterns.random(round(point["alpha"] * N), N, rng=pattern_seed)
    potential = LogPotential(settings["exponent"])
    draws = []
    for draw_seed in draw_seeds:
        with warnings.catch_warnings(action="ignore", category=learning.NoSolution):
            if point["method"] == "annealing":
                drawn = learning.potential_annealing(
                    Perceptron(),
                    xi,
                    sigma,
                    constraint=potential,
                    sweeps=settings["sweeps"],
                    widths=settings["widths"],
                    first=settings["first"],
                    last=settings["last"],
                    rng=draw_seed,
                )
            else:
                drawn = _localized(settings, point["method"], potential, xi, sigma, draw_seed)
        draws.append(drawn)
    finished = [draw for draw in draws if draw is not None]
    both = len(finished) == DRAWS
    return {
        "errors": np.array([-1 if draw is None else draw.errors for draw in draws]),
        "settled": np.array([draw is not None and draw.converged for draw in draws]),
        "overlap": overlap(finished[0].weights, finished[1].weights) if both else np.nan,
    }


def _localized(settings, method, potential, xi, sigma, seed):
    """Return what stochastic localisation draws, None where its messages are lost."""
    names = ("step", "end", "tolerance", "damping", "max_sweeps")
    try:
        return learning.stochastic_localization(
            Perceptron(),
            xi,
            sigma,
            constraint=Margin(0.0) if method == "uniform" else potential,
            rng=seed,
            threads=1,
            **{name: settings[name] for name in names},
        )
    except NotConverged:
        return None


def lost(values):
    """Say whether messages did not settle in a draw: roundings then grow to differences."""
    return not bool(np.all(values["settled"]))


AGREEMENT = Agreement(
    rtol=1e-5,
    atol=1e-7,
    why="weights are signs: those of settled messages are far from changing, moves are compared "
    "in the same arithmetic everywhere; messages that do not settle amplify roundings",
    chaotic=lost,
)
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7)

EXPERIMENT = Experiment(
    name="sampling",
    title="Drawing solutions of the binary perceptron: localisation and annealing against load",
    source="arXiv:2502.16292",
    chapter=12,
    scales={
        "quick": Scale(
            grid={"N": (101,), "alpha": (0.2, 0.5), "method": ("uniform", "log", "annealing")},
            samples=1,
            settings=SETTINGS | {"sweeps": 100},
            coordinates={"draw": range(DRAWS)},
        ),
        "paper": Scale(
            grid={"N": (501,), "alpha": LOADS, "method": ("uniform", "log", "annealing")},
            samples=5,
            settings=SETTINGS,
            coordinates={"draw": range(DRAWS)},
        ),
    },
    variables={
        "errors": Variable(
            "1", "wrong answers of what is drawn, -1 where messages are lost", ("draw",), "int32"
        ),
        "settled": Variable("1", "a solution, from messages that settled", ("draw",), "bool"),
        "overlap": Variable("1", "overlap of the two configurations drawn"),
    },
    axes={
        "N": Axis("1", "number of weights"),
        "alpha": Axis("patterns per weight", "load"),
        "method": Axis("1", "measure and algorithm"),
        "draw": Axis("1", "draw"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=2112,
    paired=True,
)
