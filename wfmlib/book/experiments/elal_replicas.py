"""Number of replicas in entropic least action learning, K = 9 tree committee (P1, Sec. IV, V).

On the patterns of `tree_minima`, sample by sample.
"""

from __future__ import annotations

import numpy as np

from wfmlib import landscape, learning, patterns
from wfmlib.book.experiments.committee_algorithms import AGREEMENT, RECIPES
from wfmlib.book.experiments.focusing import AXES, CURVE, curve, no_curve
from wfmlib.book.experiments.tree_minima import BETAS, COUPLINGS, SEED, TASK
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.models import TreeCommittee

RECIPE = {name: value for name, value in RECIPES["eLAL"].items() if name != "replicas"}
SETTINGS = TASK | {"recipe": RECIPE | {"max_epochs": 10_000}}
VARIABLES = {
    "errors": Variable("1", "wrong answers of the centre", dtype="int32"),
    "collapsed": Variable("1", "whether the replicas became one", dtype="bool"),
    "epochs": Variable("1", "epochs", dtype="int32"),
    "largest": Variable("1", "largest eigenvalue, smoothed square loss", ("beta",)),
}


def sample(settings, point, seed):
    """Return what a number of replicas found on one set of patterns, and what surrounds it."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    xi, sigma = patterns.random(settings["P"], settings["N"], rng=patterns_seed)
    result = learning.entropic_least_action(
        TreeCommittee(settings["units"]),
        xi,
        sigma,
        replicas=point["replicas"],
        rng=algorithm_seed,
        **settings["recipe"],
    )
    ending = {"errors": result.errors, "collapsed": result.converged, "epochs": result.epochs}
    if result.errors > 0:
        missing = np.full(len(settings["beta"]), np.nan)
        return ending | {"largest": missing} | no_curve(settings)
    largest = [landscape.max_eigenvalue(result, xi, sigma, beta=beta) for beta in settings["beta"]]
    return ending | {"largest": np.array(largest)} | curve(settings, result, xi, sigma)


EXPERIMENT = Experiment(
    name="elal-replicas",
    title="Entropic least action learning with 3 to 100 replicas, K = 9 tree committee",
    source="P1, Secs. IV and V",
    chapter=8,
    scales={
        "quick": Scale(
            grid={"replicas": (3, 10)},
            samples=2,
            settings=SETTINGS | {"N": 99, "P": 50},
            coordinates={"coupling": (1.0, 10.0), "beta": (2.0, 10.0)},
        ),
        "paper": Scale(
            grid={"replicas": (3, 10, 20, 50, 100)},
            samples=10,
            settings=SETTINGS,
            coordinates={"coupling": COUPLINGS[6::4], "beta": BETAS},
        ),
    },
    variables=VARIABLES | CURVE,
    axes={
        "replicas": Axis("1", "number of replicas"),
        "coupling": AXES["coupling"],
        "beta": Axis("1", "sharpness of the smooth units"),
    },
    sample=sample,
    version=2,  # distances are (1 - overlap) / 2
    agreement=AGREEMENT,
    seed=SEED,
    paired=True,
)
