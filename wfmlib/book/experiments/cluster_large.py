"""Reach in load of focusing BP and the clipped rule at 10^4 weights and more.

The runs of `cluster_reach` on larger instances: each case has its own loads and its own number of
instances, since a sweep of 30,001 weights takes nine hundred times as long as one of 1001.
"""

from __future__ import annotations

import numpy as np

from wfmlib import Perceptron, learning, patterns
from wfmlib.book.experiments.cluster_scale import AXES, ENDED, VARIABLES, run_instances, scale
from wfmlib.book.runs import Agreement, Experiment
from wfmlib.learning.descent.clipped_rule import clipped_rule
from wfmlib.learning.solution import outcome

FOCUSING = {
    "replicas": 10,
    "steps": 30,  # of `pseudo_reinforcement`
    "max_sweeps": 5,
    "tolerance": 1e-4,
    "form": "expanded",
}
SLOW = FOCUSING | {"steps": 100}
CLIPPED = {"epochs": 1000}
#: What is run: the algorithm, weights, instances in a sample, loads, and what it is told.
RUNS = {
    "focusing BP, 10001 weights": (10001, 3, (0.7, 0.72, 0.74, 0.76), FOCUSING),
    "slow focusing BP, 10001 weights": (10001, 3, (0.72, 0.74), SLOW),
    "focusing BP, 30001 weights": (30001, 1, (0.72,), FOCUSING),
    "clipped rule, 10001 weights": (10001, 1, (0.6, 0.65, 0.7), CLIPPED),
}
QUICK = {
    "focusing BP, 101 weights": (101, 3, (0.4,), FOCUSING),
    "clipped rule, 101 weights": (101, 3, (0.4,), CLIPPED),
}
MOST = 3  # instances of a sample


def sample(settings, point, seed):
    """Return how some instances ended; -1 stands for one that was not run."""
    return run_instances(settings, point, seed, _run_instance, MOST)


def _run_instance(run, alpha, seed):
    """Return the fewest wrong answers of a run on one instance, its sweeps, and how it ended."""
    patterns_seed, start = seed.spawn(2)
    xi, sigma = patterns.random(
        round(alpha * run["N"]), run["N"], rng=patterns_seed, dtype=np.int8
    )
    options = dict(run["options"])
    if "steps" in options:
        protocol = learning.pseudo_reinforcement(options.pop("steps"))
        focused = learning.focusing_bp(
            Perceptron(),
            xi,
            sigma,
            protocol=protocol,
            stop_at_solution=True,
            rng=start,
            **options,
        )
        return focused.errors, focused.epochs, focused.outcome
    number = int(start.generate_state(1)[0])
    weights, epochs = clipped_rule(xi, sigma, seed=number, **options)
    errors = Perceptron().network(weights).errors(xi, sigma)
    return errors, epochs, outcome(errors, settled=False)


EXPERIMENT = Experiment(
    name="cluster-large",
    title="Focusing BP at two speeds and the clipped rule at 10^4 weights: success against load",
    source="Baldassi et al., PNAS 113, E7655 (2016); Baldassi, J. Stat. Phys. 136, 902 (2009)",
    chapter=10,
    scales={"quick": scale(QUICK, 2, MOST), "paper": scale(RUNS, 2, MOST)},
    variables=VARIABLES | {"ending": ENDED},
    axes=AXES,
    sample=sample,
    paired=True,
    agreement=Agreement(
        rtol=1e-5,
        atol=1e-7,
        why="messages that have not settled and single precision amplify roundings",
        chaotic=True,
    ),
    seed=1125,
)
