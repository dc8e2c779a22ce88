"""The capacity by activation: replica symmetry, one step, two, and the continuous hierarchy.

Nothing is drawn: one sample of each, whatever the seed.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf, expit, ndtr

from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.models import Activation, Margin, ReLU, TreeCommittee
from wfmlib.theory import full_breaking, typical


def gelu(x):
    """Return ``x Phi(x)``."""
    return x * ndtr(x)


def swish(x):
    """Return ``x / (1 + exp(-x))``."""
    return x * expit(x)


UNITS = {
    "erf": erf,
    "tanh": np.tanh,
    "GELU": gelu,
    "swish": swish,
    "square": np.square,
    "abs": np.abs,
}
VARIABLES = {
    "symmetric": Variable("patterns per weight", "capacity, replica symmetry"),
    "one_step": Variable("patterns per weight", "capacity, one step of symmetry breaking"),
    "two_steps": Variable("patterns per weight", "capacity, two steps"),
    "full": Variable("patterns per weight", "capacity, continuous hierarchy"),
    "error": Variable("patterns per weight", "estimate of the error of the last"),
    "smallest": Variable("1", "smallest overlap of the continuous hierarchy"),
    "gap_low": Variable("1", "where a gap of overlaps begins; NaN without one"),
    "gap_high": Variable("1", "where it ends"),
    "overlap": Variable("1", "overlaps at which y rises; NaN beyond the last", dims=("level",)),
    "height": Variable("1", "y above each of them, where Lambda(0) = 1", dims=("level",)),
}
LEVEL = {"level": Axis("1", "level of the hierarchy, from the smallest overlap")}
LEVELS = {"level": tuple(range(33))}
AGREEMENT = Agreement(
    rtol=1e-2, atol=1e-3, why="a minimiser stops where rounding lets it; loads err far less"
)


def device(name):
    """Return the committee of infinitely many units of this kind."""
    return TreeCommittee(math.inf, ReLU() if name == "ReLU" else Activation(UNITS[name]))


def capacities(device, constraint):
    """Return a sample: four capacities, and the overlaps of the last."""
    hierarchy = full_breaking.solve(device, constraint)
    low, high = hierarchy.gap or (math.nan, math.nan)
    ladder = np.full((2, len(LEVELS["level"])), np.nan)
    ladder[:, : len(hierarchy.overlaps)] = hierarchy.overlaps, hierarchy.heights
    return {
        "symmetric": typical.capacity(device, constraint=constraint),
        "one_step": typical.capacity(device, constraint=constraint, ansatz="1RSB"),
        "two_steps": typical.capacity(device, constraint=constraint, ansatz=2),
        "full": hierarchy.alpha,
        "error": hierarchy.error,
        "smallest": hierarchy.smallest_overlap,
        "gap_low": low,
        "gap_high": high,
        "overlap": ladder[0],
        "height": ladder[1],
    }


def sample(settings, point, seed):
    """Return the capacities of one activation."""
    return capacities(device(point["activation"]), Margin(settings["kappa"]))


EXPERIMENT = Experiment(
    name="full-capacities",
    title="Capacity of infinitely wide tree committees by activation and ansatz",
    source="Annesi et al., SciPost Phys. 18, 118 (2025)",
    chapter=11,
    scales={
        "quick": Scale(
            grid={"activation": ("erf",)}, samples=1, settings={"kappa": 0.0}, coordinates=LEVELS
        ),
        "paper": Scale(
            grid={"activation": ("ReLU", *UNITS)},
            samples=1,
            settings={"kappa": 0.0},
            coordinates=LEVELS,
        ),
    },
    variables=VARIABLES,
    axes=LEVEL | {"activation": Axis("1", "activation of the hidden units")},
    sample=sample,
    agreement=AGREEMENT,
    seed=2025,
)
