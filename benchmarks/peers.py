"""Message passing beside its peers, on their own kind of instances: errors, sweeps and seconds.

Run as ``python benchmarks/peers.py``; some minutes. Three tables:

- the published test set of the Julia package BinaryCommitteeMachineFBP, ten patterns of 21 entries
  (here drawn alike), for which rFBP and that package report a solution with K = 1, 3 and 5 units;
- planted instances, binary weights, beside expectation propagation of the package tramp, if that
  can be imported: ``PYTHONPATH`` with a checkout of github.com/sphinxteam/tramp, and its
  networkx 1.11 in an environment apart;
- tables of scikit-learn cut at their quantiles, beside simulated annealing.
"""

from __future__ import annotations

import fractions
import math
import time
import warnings
from types import SimpleNamespace

import numpy as np
from sklearn import datasets

from wfmlib import Binary, Committee, Perceptron, learning, patterns
from wfmlib.numerics.solvers import NotConverged

fractions.gcd = math.gcd  # tramp's networkx imports it from there, as it once was
try:
    import tramp
except ImportError:
    tramp = None


def expectation_propagation(device, xi, sigma, rng=None):
    """Return errors and iterations of tramp's expectation propagation.

    It stops as in tramp's own example of a perceptron (by the variance; its usual rule takes the
    last steps to the teacher for a divergence).
    """
    from tramp.algos import EarlyStopping, ExpectationPropagation
    from tramp.channels import LinearChannel
    from tramp.likelihoods import SgnLikelihood
    from tramp.priors import BinaryPrior
    from tramp.variables import SISOVariable

    (N,) = device.shape(xi.shape[1])
    fields = LinearChannel(xi / math.sqrt(N)) @ SISOVariable(id="z") @ SgnLikelihood(sigma)
    run = ExpectationPropagation((BinaryPrior(N) @ SISOVariable(id="x") @ fields).to_model())
    run.iterate(max_iter=200, callback=EarlyStopping())
    weights = np.sign(run.get_variable_data("x")["r"])
    return SimpleNamespace(errors=int(np.sum(sigma * (xi @ weights) <= 0)), epochs=run.n_iter)


WAYS = {
    "AMP": (learning.approximate_message_passing, {}),
    "exact BP": (learning.belief_propagation, {}),
    "expanded BP": (learning.belief_propagation, {"form": "expanded"}),
    "focusing": (learning.focusing_bp, {"protocol": "papers"}),
    "focusing, solve": (learning.focusing_bp, {"protocol": "solve"}),
    "annealing": (learning.simulated_annealing, {}),
    "EP of tramp": (expectation_propagation, {}),
}


def ended(way, device, xi, sigma):
    """Return the errors of a run, its sweeps, and its seconds."""
    algorithm, options = WAYS[way]
    began = time.perf_counter()
    try:
        solution = algorithm(device, xi, sigma, rng=1, **options)
        errors, sweeps = solution.errors, solution.epochs
    except NotConverged as failure:
        errors, sweeps = failure.state["errors"], failure.report.iterations
    return errors, sweeps, time.perf_counter() - began


def machine(K):
    """Return a committee of binary weights, or the perceptron."""
    return Perceptron() if K == 1 else Committee(K, weights=Binary())


def few_patterns(starts=12):
    """Ten patterns of 21 entries: of how many starts end with a solution."""
    xi, sigma = patterns.random(10, 21, rng=2)
    for K in (1, 3, 5):
        for protocol in ("papers", "solve"):
            runs = [
                learning.focusing_bp(machine(K), xi, sigma, protocol=protocol, rng=start)
                for start in range(starts)
            ]
            solved = sum(run.errors == 0 for run in runs)
            print(f"K = {K}, {protocol}: {solved} of {starts} solved", flush=True)


def planted(instances=5):
    """Labels of a teacher: in how many instances all are learnt, medians of sweeps and seconds."""
    ways = ["AMP", "exact BP", "expanded BP", "focusing, solve"]
    ways += ["EP of tramp"] if tramp else []
    for N in (301, 501, 1001):
        for load in (1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 5.0):
            words = []
            for way in ways:
                runs = []
                for seed in range(instances):
                    xi, sigma, _ = patterns.teacher_student(round(load * N), N, rng=seed)
                    runs.append(ended(way, Perceptron(), xi, sigma))
                right = [sweeps for errors, sweeps, _ in runs if errors == 0]
                seconds = np.median([one for *_, one in runs])
                sweeps = np.median(right) if right else 0
                words.append(f"{way} {len(right)} ({sweeps:.0f}, {seconds:.2f} s)")
            print(f"N = {N}, load {load}: {', '.join(words)} of {instances}", flush=True)


def tables():
    """Errors on the training set, and seconds."""
    for name, labels in (("iris", (0, 1)), ("wine", (0, 1)), ("breast_cancer", (0,))):
        table = getattr(datasets, f"load_{name}")()
        cuts = np.quantile(table.data, [0.25, 0.5, 0.75], axis=0)
        xi = np.where(table.data > cuts[:, None, :], 1, -1).transpose(1, 0, 2)
        xi = xi.reshape(len(xi), -1)
        xi = xi[:, : xi.shape[1] - (xi.shape[1] + 1) % 2]  # an odd number cannot tie
        for label in labels:
            sigma = np.where(table.target == label, 1, -1)
            for K in (1, 3):
                words = [
                    f"{way} {errors} ({seconds:.1f} s)"
                    for way in ("focusing", "focusing, solve", "annealing")
                    for errors, _, seconds in [ended(way, machine(K), xi, sigma)]
                ]
                print(f"{name} {label} {xi.shape}, K = {K}: {', '.join(words)}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    few_patterns()
    planted()
    tables()
