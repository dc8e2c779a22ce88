"""Gradient descent whose norms are free: what does it find if no schedule controls them (P1)?

The units' norms beta_k = |w_k| and the output's norm gamma descend the cross-entropy
ln(1 + exp(-2 gamma u)) as all weights do, from given norms, with one learning rate: after a
mini-batch gamma grows by eta sum 2 u / (1 + exp(2 gamma u)). A run stops after the first epoch
without errors of the sign units. On the patterns of `tree_minima`, instance by instance, so that
the schedules of that experiment and of `slow_growth` are what it compares with.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib import patterns
from wfmlib.book.experiments import slow_growth, tree_minima
from wfmlib.book.experiments.committee_algorithms import AGREEMENT
from wfmlib.book.experiments.focusing import AXES, CURVE, curve, no_curve
from wfmlib.book.runs import Axis, Experiment, Scale, Variable
from wfmlib.learning.descent.cross_entropy_sgd import Descent
from wfmlib.learning.descent.schedules import Schedule
from wfmlib.learning.descent.soft_committee import fill, measure, move, pull
from wfmlib.models import TreeCommittee

#: Norms at the start, of the units and of the output: those of P1's slow schedule, and one each.
STARTS = {"soft": (0.5, 0.1), "one": (1.0, 1.0)}
SETTINGS = tree_minima.TASK | {"starts": STARTS, "batch": 100, "max_epochs": 1500}
VARIABLES = {
    "errors": Variable("1", "wrong answers of the weights", dtype="int32"),
    "epochs": Variable("1", "epochs", dtype="int32"),
    "end_beta": Variable("1", "mean norm of the units at the end"),
    "end_gamma": Variable("1", "norm of the output at the end"),
} | {f"around_{name}": variable for name, variable in CURVE.items()}


def sample(settings, point, seed):
    """Return where one run stops, and what surrounds it."""
    patterns_seed, algorithm_seed = seed.spawn(2)
    xi, sigma = patterns.random(settings["P"], settings["N"], rng=patterns_seed)
    beta, gamma = settings["starts"][point["start"]]
    schedule = Schedule(eta=point["eta"], beta=beta, gamma=gamma, batch=settings["batch"])
    K, rng = settings["units"], np.random.default_rng(algorithm_seed)
    made = Descent(xi * sigma[:, None], K, settings["N"] // K, schedule, rng)
    made.w *= beta
    errors, epochs = len(xi), 0
    while errors > 0 and epochs < settings["max_epochs"]:
        order = rng.permutation(len(xi))
        gamma = _epoch(made.w, made.xi, order, gamma, schedule.eta, schedule.batch, made.fields)
        if gamma < 0.0:  # the same network, whose majority is the answer
            gamma *= -1.0
            made.w *= -1.0
        _, errors = measure(made.w, made.xi, made.everyone, gamma, 1.0, made.fields)
        epochs += 1
    norms = np.linalg.norm(made.w, axis=1)
    around = no_curve(settings)
    if errors == 0:
        net = TreeCommittee(K).network(made.weights() / norms[:, None])
        around = curve(settings, net, xi, sigma)
    return {
        "errors": errors,
        "epochs": epochs,
        "end_beta": norms.mean(),
        "end_gamma": gamma,
    } | {f"around_{name}": values for name, values in around.items()}


@njit(cache=True, nogil=True)
def _epoch(w, xi, order, gamma, eta, batch, fields):
    """Take one step for each mini-batch, changing the weights; return the output's norm."""
    heard, four = np.empty(batch, np.int64), np.empty((4, 3))
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        pulls, step = fields[: len(rows)], 0.0
        fill(w, xi, rows, pulls)
        for b in range(len(rows)):
            u = np.sum(np.tanh(pulls[b])) / math.sqrt(len(w))
            step += 2.0 * u / (1.0 + math.exp(2.0 * gamma * u))
        pull(pulls, gamma, 1.0, 2.0 * gamma * eta)
        move(w, xi, rows, pulls, heard, four)
        gamma += eta * step
    return gamma


GRID = {"start": tuple(STARTS), "eta": (0.005, 0.01, 0.02)}
EXPERIMENT = Experiment(
    name="free-norms",
    title="Gradient descent whose norms are free, K = 9 tree committee",
    source="P1, Secs. II.F and V",
    chapter=8,
    scales={
        "quick": Scale(
            grid=GRID,
            samples=2,
            settings=SETTINGS | {"N": 99, "P": 50},
            coordinates={"coupling": (1.0, 10.0)},
        ),
        "paper": Scale(
            grid=GRID,
            samples=6,
            settings=SETTINGS,
            coordinates={"coupling": slow_growth.COUPLINGS},
        ),
    },
    variables=VARIABLES,
    axes={
        "start": Axis("1", "norms of units and output at the start"),
        "eta": Axis("1", "learning rate"),
        "coupling": AXES["coupling"],
    },
    sample=sample,
    seed=tree_minima.SEED,
    paired=True,
    agreement=AGREEMENT,
)
