"""Chapters 10 to 12: groups of solutions, full symmetry breaking, draws and the ways between.

Results that the package remembers are forgotten before each round.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from wfmlib import (
    Band,
    LogPotential,
    Margin,
    Perceptron,
    ReLU,
    Spherical,
    TreeCommittee,
    landscape,
    learning,
    patterns,
)
from wfmlib.theory import clusters, connectivity, full_breaking, localization, typical

pytestmark = pytest.mark.benchmark(group="Groups, hierarchies, draws")

BINARY, SPHERE, RELU = Perceptron(), Perceptron(Spherical()), TreeCommittee(np.inf, ReLU())
XI, SIGMA = patterns.random(300, 1001, rng=1)
PACKED = learning.PackedPatterns.random(300, 1001, rng=1)
TYPICAL = {"average": "quenched"}
STEEP = {"constraint": LogPotential(1.0)}


CASES = {
    "capacity of groups of four, quenched, binary perceptron": lambda: clusters.threshold(
        BINARY, 4, **TYPICAL
    ),
    "load at which three groups of four miss overlaps, quenched": lambda: (
        clusters.first_nested_gap(BINARY, (3, 4), **TYPICAL)
    ),
    "the same on average, symmetric perceptron": lambda: clusters.first_nested_gap(
        BINARY, (3, 4), constraint=Band(1.0)
    ),
    "capacity of rectifiers, two steps": lambda: typical.capacity(RELU, ansatz=2),
    "the same, continuous hierarchy": lambda: full_breaking.solve(RELU),
    "continuous hierarchy, perceptron of margin -1": lambda: full_breaking.solve(
        SPHERE, Margin(-1.0)
    ),
    "four steps below capacity, margin -2, load 110": lambda: full_breaking.at_load(
        SPHERE, 110.0, Margin(-2.0), steps=4
    ),
    "load at which a gap opens, margin -1.4": lambda: full_breaking.gap_onset(
        SPHERE, Margin(-1.4)
    ),
    "1RSB capacity, three sign units": lambda: full_breaking.finite_capacity(TreeCommittee(3)),
    "1RSB capacity, seven sign units": lambda: full_breaking.finite_capacity(TreeCommittee(7)),
    "1RSB capacity, nine sign units": lambda: full_breaking.finite_capacity(TreeCommittee(9)),
    "time of stochastic localisation at 40 overlaps": lambda: localization.curve(
        BINARY, 0.3, points=40, **STEEP
    ),
    "error between two typical solutions at 21 positions": lambda: connectivity.error(
        SPHERE, 1.0, np.linspace(0.0, 1.0, 21)
    ),
    "draw by stochastic localisation, N = 1001, P = 300": lambda: learning.stochastic_localization(
        BINARY, PACKED, rng=1, threads=1, **STEEP
    ),
    "draw by annealing the potential, 1,000 sweeps, N = 1001, P = 300": lambda: (
        learning.potential_annealing(BINARY, XI, SIGMA, rng=1)
    ),
}


def forget():
    """Drop what the theory of groups remembers."""
    for name, module in list(sys.modules.items()):
        if name.startswith("wfmlib.theory.since.clusters"):
            for one in vars(module).values():
                getattr(one, "cache_clear", lambda: None)()


@pytest.mark.parametrize("what", CASES)
def bench_since_then(row, what):
    row(what, CASES[what], rounds=3, setup=forget)


def bench_barrier(row):
    """The way between the solutions of two algorithms."""
    ends = (learning.cross_entropy_sgd, learning.least_action)
    a, b = (one(SPHERE, XI, SIGMA, rng=1) for one in ends)
    what = "error at 51 positions between two solutions, N = 1001, P = 300"
    row(what, lambda: landscape.barrier(a, b, XI, SIGMA), "ms", 1e-3, rounds=3)
