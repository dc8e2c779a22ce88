"""Chapters 10 to 12: groups of solutions, full symmetry breaking, draws and the ways between.

Results that the package remembers are forgotten before each round.
"""

from __future__ import annotations

import resource
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

BINARY, SPHERE, RELU = Perceptron(), Perceptron(Spherical()), TreeCommittee(np.inf, ReLU())
XI, SIGMA = patterns.random(300, 1001, rng=1)
PACKED = learning.PackedPatterns.random(300, 1001, rng=1)
TYPICAL = {"average": "quenched"}
STEEP = {"constraint": LogPotential(1.0)}


def between():
    """Return the errors between two solutions of different algorithms."""
    ends = (learning.cross_entropy_sgd, learning.least_action)
    a, b = (one(SPHERE, XI, SIGMA, rng=1) for one in ends)
    return lambda: landscape.barrier(a, b, XI, SIGMA)


CASES = {
    "groups": lambda: clusters.threshold(BINARY, 4, **TYPICAL),
    "groups of groups": lambda: clusters.first_nested_gap(BINARY, (3, 4), **TYPICAL),
    "on average": lambda: clusters.first_nested_gap(BINARY, (3, 4), constraint=Band(1.0)),
    "two steps": lambda: typical.capacity(RELU, ansatz=2),
    "full": lambda: full_breaking.solve(RELU),
    "negative margin": lambda: full_breaking.solve(SPHERE, Margin(-1.0)),
    "below capacity": lambda: full_breaking.at_load(SPHERE, 110.0, Margin(-2.0), steps=4),
    "gap opens": lambda: full_breaking.gap_onset(SPHERE, Margin(-1.4)),
    "three units": lambda: full_breaking.finite_capacity(TreeCommittee(3)),
    "seven units": lambda: full_breaking.finite_capacity(TreeCommittee(7)),
    "nine units": lambda: full_breaking.finite_capacity(TreeCommittee(9)),
    "time": lambda: localization.curve(BINARY, 0.3, points=40, **STEEP),
    "way": lambda: connectivity.error(SPHERE, 1.0, np.linspace(0.0, 1.0, 21)),
    "walk": lambda: learning.stochastic_localization(BINARY, PACKED, rng=1, threads=1, **STEEP),
    "chain": lambda: learning.potential_annealing(BINARY, XI, SIGMA, rng=1),
}


def forget():
    """Drop what the theory of groups remembers."""
    for name, module in list(sys.modules.items()):
        if name.startswith("wfmlib.theory.clusters"):
            for one in vars(module).values():
                getattr(one, "cache_clear", lambda: None)()


@pytest.mark.parametrize("case", CASES)
def bench_since_then(benchmark, case):
    benchmark.pedantic(CASES[case], setup=forget, rounds=3, warmup_rounds=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    benchmark.extra_info["peak memory so far, MB"] = peak / 1e3  # Linux counts kilobytes


def bench_barrier(benchmark):
    benchmark.pedantic(between(), rounds=3, warmup_rounds=1)
