"""Growth of the norms: is it the speed that leads to wide minima, or the sharpness at the end?

On the patterns of `tree_minima`, instance by instance, with the seeds of its slow schedule: that
experiment has what P1's two schedules find. Here slow growth stops at its first solution; two
further readings of the fast schedule let gamma grow, too; and two speeds are crossed with two
ends. Those four runs take one path, from where P1's slow schedule begins to one end or the other,
stay there, and stop after the first epoch without errors.
"""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from wfmlib import landscape, patterns
from wfmlib.book.experiments import tree_minima
from wfmlib.book.experiments.committee_algorithms import AGREEMENT, solve
from wfmlib.book.experiments.focusing import AXES, CURVE, curve, no_curve
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.learning.descent.cross_entropy_sgd import Descent
from wfmlib.learning.descent.schedules import FAST, SLOW, Schedule
from wfmlib.models import TreeCommittee

VARIABLES = {
    "errors": Variable("1", "wrong answers of the weights; -1: not a number", dtype="int32"),
    "epochs": Variable("1", "epochs", dtype="int32"),
    "end_beta": Variable("1", "sharpness of the units at the end"),
    "end_gamma": Variable("1", "sharpness of the loss at the end"),
    "largest": Variable("1", "largest eigenvalue, smoothed square loss", ("beta",)),
} | {f"around_{name}": variable for name, variable in CURVE.items()}
FIRST = "slow, first solution"
SOFT, SHARP = 2.2, 7.1  # beta at the end: where P1's fast, and its slow schedule stand at theirs
TENFOLD = replace(
    SLOW, gamma_growth=10 * SLOW.gamma_growth, beta_growth=10 * SLOW.beta_growth, stop="errors"
)
#: A schedule, and the beta from which on it does not grow, None: without end.
RUNS = {
    FIRST: (replace(SLOW, stop="errors"), None),
    "fast, gamma grows by 0.0003": (replace(FAST, gamma_growth=3e-4), None),
    "fast, gamma grows by 0.0006": (replace(FAST, gamma_growth=6e-4), None),
    "slow to the soft end": (replace(SLOW, stop="errors"), SOFT),
    "ten times faster to the soft end": (TENFOLD, SOFT),
    "slow to the sharp end": (replace(SLOW, stop="errors"), SHARP),
    "ten times faster to the sharp end": (TENFOLD, SHARP),
}
SETTINGS = tree_minima.TASK | {
    "schedules": {name: asdict(schedule) for name, (schedule, _) in RUNS.items()},
    "last_beta": {name: last for name, (_, last) in RUNS.items() if last is not None},
    "max_epochs": 20_000,
}


def sample(settings, point, seed):
    """Return where one schedule stops, and what surrounds it."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    xi, sigma = patterns.random(settings["P"], settings["N"], rng=patterns_seed)
    schedule = settings["schedules"][point["schedule"]]
    device, most = TreeCommittee(settings["units"]), settings["max_epochs"]
    last = settings["last_beta"].get(point["schedule"])
    if last is None:
        recipe = {"schedule": schedule, "max_epochs": most}
        result = solve("ceSGD slow", device, xi, sigma, algorithm_seed, **recipe)
        if result is None or result.errors > 0:
            return _nothing(settings, result)
        net, epochs = result.network, result.epochs
        ends = result.history["beta"][-1], result.history["gamma"][-1]
    else:
        net, epochs, *ends = _grow(
            device, xi, sigma, Schedule(**schedule), last, most, algorithm_seed
        )
        if net is None:
            return _nothing(settings, None)
    around = curve(settings, net, xi, sigma)
    return {
        "errors": net.errors(xi, sigma),
        "epochs": epochs,
        "end_beta": ends[0],
        "end_gamma": ends[1],
        "largest": np.array(
            [landscape.max_eigenvalue(net, xi, sigma, beta=beta) for beta in settings["beta"]]
        ),
    } | {f"around_{name}": values for name, values in around.items()}


def _grow(device, xi, sigma, schedule, last, most, seed):
    """Grow until beta is `last`, then stay; return the network of the first epoch without errors.

    Also its number, beta and gamma. The network is None where there is none in `most` epochs.
    """
    K, N = device.units, xi.shape[1]
    descent = Descent(xi * sigma[:, None], K, N // K, schedule, np.random.default_rng(seed))
    for epoch in range(most):
        grown = descent.beta >= last
        if grown:
            descent.schedule = replace(schedule, beta_growth=0.0, gamma_growth=0.0)
        record = descent.epoch()
        if grown and record["errors"] == 0:
            net = device.network(np.sqrt(N // K) * descent.weights())
            return net, epoch + 1, record["beta"], record["gamma"]
    return None, most, np.nan, np.nan


def _nothing(settings, result):
    """Return the measures where there is no solution to measure at."""
    around = no_curve(settings)
    return {
        "errors": -1 if result is None else result.errors,
        "epochs": -1 if result is None else result.epochs,
        "end_beta": np.nan,
        "end_gamma": np.nan,
        "largest": np.full(len(settings["beta"]), np.nan),
    } | {f"around_{name}": values for name, values in around.items()}


# Of those of tree_minima, the ones at which distances are about 0.015 to 0.21.
COUPLINGS = tree_minima.COUPLINGS[8:24:2]
BETAS = (2.0, 3.0, 5.0, 10.0)
GRID = {"schedule": tuple(RUNS)}
EXPERIMENT = Experiment(
    name="slow-growth",
    title="Growth of the norms at two speeds, to two ends, K = 9 tree committee",
    source="P1, Sec. IV and Fig. 5, continued",
    chapter=8,
    scales={
        "quick": Scale(
            grid=GRID,
            samples=2,
            settings=SETTINGS | {"N": 99, "P": 50},
            coordinates={"coupling": (1.0, 10.0), "beta": (2.0, 8.0)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=10,
            settings=SETTINGS,
            coordinates={"coupling": COUPLINGS, "beta": BETAS},
        ),
    },
    variables=VARIABLES,
    axes={
        "schedule": Axis("1", "how the norms grow, and where growth ends"),
        "coupling": AXES["coupling"],
        "beta": Axis("1", "sharpness of the smooth units"),
    },
    sample=sample,
    version=3,  # two speeds and two ends
    seed=tree_minima.SEED,
    paired=True,
    agreement=AGREEMENT,
)
