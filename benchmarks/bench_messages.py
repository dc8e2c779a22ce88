"""Messages: nanoseconds an edge or an entry and sweep, and seconds to a solution.

The peer of belief propagation is a C++ implementation of focusing BP for the binary perceptron,
built with -Ofast, on one thread. Its numbers, per edge and sweep at N = 1001, P = 601 and per
random instance at N = 1001, are given ones, not measured here. These times are the processor's,
which other programs disturb less than a clock's. The peer of approximate message passing is a
sweep in NumPy, with the patterns as a matrix of floats.
"""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest

from wfmlib import learning, patterns
from wfmlib.learning.messages.approximate import Messages, _sweep
from wfmlib.learning.messages.belief_propagation import prepare
from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.models import Binary, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged

pytestmark = pytest.mark.benchmark(group="Messages, one core")

N, P = 1001, 601
PEER = "focusing BP in C++, quoted"


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize(
    ("what", "device", "form", "quoted"),
    [
        (f"BP, exact, binary weights, N = {N}, P = {P}", Perceptron(), "exact", (PEER, 20.7)),
        ("BP, exact, spherical weights", Perceptron(Spherical()), "exact", ()),
        ("BP, exact, spherical weights, seven units", TreeCommittee(7), "exact", ()),
        ("BP, expanded, binary weights", Perceptron(), "expanded", (PEER, 7.0)),
        ("BP, expanded, spherical weights", Perceptron(Spherical()), "expanded", ()),
    ],
)
def bench_sweep(row, what, device, form, quoted):
    """Messages in the middle of a run: after five sweeps."""
    engine = prepare(device, *patterns.random(P, N, rng=1), form, rng=1)
    for _ in range(5):
        engine.sweep(damping=0.5, in_place=True)
    row(
        what,
        lambda: engine.sweep(damping=0.5, in_place=True),
        "ns an edge and sweep",
        engine.xi.size * 1e-9,
        quoted=quoted,
        rounds=30,
    )


def somewhere(packed):
    """Return messages such as occur in the middle of a run."""
    rng = np.random.default_rng(1)
    return Messages(0.8 * rng.uniform(-1, 1, packed.N), rng.exponential(size=packed.P))


@pytest.mark.parametrize(
    ("what", "size", "threads", "rounds"),
    [
        ("AMP, N = P = 10,000", 10_000, 1, 20),
        ("AMP, N = P = 100,000", 100_000, 1, 3),
        ("the same on two cores", 100_000, 2, 3),
    ],
)
def bench_approximate(row, what, size, threads, rounds):
    packed = PackedPatterns.random(size, size, rng=1)
    start = somewhere(packed)
    row(
        what,
        lambda: _sweep(packed, start, Binary(), 0.0, threads),
        "ns an entry and sweep",
        size**2 * 1e-9,
        rounds=rounds,
    )


@pytest.mark.parametrize("beside", ["", "NumPy, patterns in float64"])
def bench_approximate_beside_a_dense_matrix(row, beside):
    packed = PackedPatterns.random(3000, 3000, rng=1)
    now = somewhere(packed)
    F = packed.unpack() / np.sqrt(3000)

    def dense():
        V = 1 - np.mean(now.means**2)
        u = -(F @ now.means - V * now.pulls) / np.sqrt(V)
        g = gaussian.hazard(u) / np.sqrt(V)
        stiffness = np.sum(gaussian.hazard_derivative(u)) / (F.shape[1] * V)
        return np.tanh(F.T @ g + stiffness * now.means)

    def ours():
        return _sweep(packed, now, Binary(), 0.0, None).means

    found = row(
        "AMP, N = P = 3,000",
        dense if beside else ours,
        "ns an entry and sweep",
        F.size * 1e-9,
        beside=beside,
    )
    np.testing.assert_allclose(found, dense(), rtol=0, atol=1e-10)


def solve(load, seed):
    """Solve one random instance by the hurried protocol; return the processor's seconds."""
    xi, sigma = patterns.random(round(load * N), N, rng=seed)
    options = {"form": "expanded", "stop_at_solution": True, "protocol": "solve"}
    began = time.thread_time()
    with contextlib.suppress(NotConverged):  # at load 0.7 nine of ten are solved
        learning.focusing_bp(Perceptron(), xi, sigma, rng=seed, **options)
    return time.thread_time() - began


@pytest.mark.benchmark(
    group="To a solution: focusing BP, binary perceptron, N = 1001, median of ten instances"
)
@pytest.mark.parametrize(("load", "quoted"), [(0.5, 1.2), (0.6, 1.9), (0.7, 5.3)])
def bench_solve(benchmark, row, load, quoted):
    what = f"load {load}, hurried protocol"
    found = row(
        what, lambda: [solve(load, seed) for seed in range(10)], quoted=(PEER, quoted), rounds=1
    )
    benchmark.extra_info["seconds"] = float(np.median(found))
