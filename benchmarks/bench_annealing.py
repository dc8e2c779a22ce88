"""Annealing: nanoseconds per proposal, of both kinds of moves, beside a recomputed energy.

Each case is brought to its temperature first. `share` is how many proposals were accepted there:
it decides which kind of moves is the faster.
"""

import numpy as np
import pytest

from wfmlib import patterns
from wfmlib.learning.annealing.moves import metropolis, pulls, waiting
from wfmlib.learning.annealing.state import Model
from wfmlib.models import Binary, Perceptron, ReLU, Sign, TreeCommittee

CASES = {  # device, weights, load
    "perceptron N=1001": (Perceptron(), 1001, 0.5),
    "sign tree K=33": (TreeCommittee(33, Sign(), Binary()), 1089, 0.4),
    "relu tree K=32": (TreeCommittee(32, ReLU(), Binary()), 1024, 0.4),
}
BETAS = {"errors": (0.5, 1.0, 2.0, 4.0, 8.0), "cross-entropy": (1.0, 10.0, 50.0)}


def prepared(case, loss, beta, replicas=1):
    """Return a model, its state after some sweeps at this temperature, and a generator."""
    device, N, alpha = CASES[case]
    model = Model(device, *patterns.random(round(alpha * N), N, rng=1), loss, 1.0)
    rng = np.random.default_rng(1)
    state = model.state(rng.choice(np.array([-1, 1], np.int8), (replicas, *model.shape)))
    sweeps = 200 if model.packed else 20
    pull = pulls(1.4 if replicas > 1 else 0.0, replicas)
    metropolis(state, rng, sweeps * state.weights.size, beta * model.quantum, pull, False)
    return model, state, rng, pull


def measure(benchmark, kernel, proposals, case):
    model, state, rng, pull = case
    beta = benchmark.extra_info["beta"] * model.quantum
    accepted = []

    def run():
        accepted.append(kernel(state, rng, proposals, beta, pull, False)[1])

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    benchmark.extra_info["share"] = float(np.mean(accepted)) / proposals
    if benchmark.stats:
        seconds = benchmark.stats["min"]
        benchmark.extra_info["ns per proposal"] = seconds / proposals * 1e9
        benchmark.extra_info["proposals per second"] = proposals / seconds


@pytest.mark.benchmark(group="annealing, one replica")
@pytest.mark.parametrize("kernel", [metropolis, waiting], ids=["metropolis", "waiting"])
@pytest.mark.parametrize(
    ("loss", "beta"), [(loss, beta) for loss, betas in BETAS.items() for beta in betas]
)
@pytest.mark.parametrize("case", CASES)
def test_moves(benchmark, case, loss, beta, kernel):
    benchmark.extra_info["beta"] = beta
    measure(benchmark, kernel, 10_000, prepared(case, loss, beta))


@pytest.mark.benchmark(group="annealing, 20 replicas")
@pytest.mark.parametrize("kernel", [metropolis, waiting], ids=["metropolis", "waiting"])
@pytest.mark.parametrize("beta", [1.0, 3.0, 6.0])
@pytest.mark.parametrize("case", ["sign tree K=33", "relu tree K=32"])
def test_replicas(benchmark, case, beta, kernel):
    benchmark.extra_info["beta"] = beta
    measure(benchmark, kernel, 200_000, prepared(case, "errors", beta, replicas=20))


@pytest.mark.benchmark(group="annealing, the energy from scratch")
@pytest.mark.parametrize("case", ["perceptron N=1001", "sign tree K=33"])
def test_recomputed(benchmark, case):
    device, N, alpha = CASES[case]
    xi, sigma = patterns.random(round(alpha * N), N, rng=1)
    xi = xi.astype(np.float32)
    shape = device.units, N // device.units
    w = np.random.default_rng(1).choice(np.array([-1, 1], np.int8), shape)
    parts = np.ascontiguousarray(xi.reshape(len(xi), *w.shape).transpose(1, 0, 2))

    def proposal():
        """One proposal in plain NumPy: flip, and count the errors."""
        w[0, 3] *= -1
        fields = np.matmul(parts, w[:, :, None].astype(np.float32))[..., 0]
        votes = fields[0] if len(w) == 1 else np.sign(fields).sum(axis=0)
        return int(np.count_nonzero(sigma * votes <= 0))

    errors = benchmark(proposal)
    assert errors == device.network(w.reshape(device.shape(N))).errors(xi, sigma)
