"""Belief propagation on one instance: nanoseconds per edge, and seconds to a solution.

The peer is a C++ implementation of focusing BP for the binary perceptron, built with -Ofast, on
one thread. Its numbers, per edge and sweep at N = 1001, P = 601 and per random instance at
N = 1001, are `PEER_EDGE` and `PEER_SOLUTION` below: given ones, not measured here. Ours should
take less than a third per edge, on one core.

Said with each time: nanoseconds per edge, as a share of the peer's; the bytes of messages and
patterns that an edge moves, the arithmetic per byte, and the shares of the speed at which the
memory copies and of that at which a product of matrices is formed, both measured on the spot. The
processor, the versions and the load of the machine come first. Times are the processor's, which
other programs disturb less than a clock's; where jobs run side by side the clock's are said, too.
Of repeated rounds the shortest counts.
"""

from __future__ import annotations

import os
import time

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from wfmlib import learning, patterns
from wfmlib.learning.messages.belief_propagation import prepare
from wfmlib.models import Binary, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics.solvers import NotConverged

N, P = 1001, 601
PEER_EDGE = {"exact": 20.7, "expanded": 7.0}  # ns per edge and sweep, binary weights
PEER_SOLUTION = {0.5: 1.2, 0.6: 1.9, 0.7: 5.3}  # s per instance; at 0.7 nine of ten are solved
TARGET = 1.0 / 3.0  # of the peer's time per edge
FLOPS = {"exact": 57, "expanded": 14}  # per edge, counted in the kernels for the sphere
INSTANCES = 10
PROTOCOLS = {
    "default": {},  # 30 couplings, at each until messages settle, at most 200 sweeps
    "hurried": {"protocol": learning.pseudo_reinforcement(30), "max_sweeps": 5},
}
DEVICES = {
    "binary": Perceptron(Binary()),
    "spherical": Perceptron(Spherical()),
    "spherical, 7 units": TreeCommittee(7),
}


def copying_speed(size):
    """Return the bytes per second that one thread reads and writes, as STREAM's copy counts.

    Two arrays of `size` bytes together: what fits a cache is copied from there, as messages are.
    """
    source, target = np.ones(size // 16), np.zeros(size // 16)
    best = np.inf
    for _ in range(20):
        began = time.process_time()
        np.copyto(target, source)
        best = min(best, time.process_time() - began)
    return 2 * source.nbytes / best


def arithmetic_speed(size=600):
    """Return the operations per second of one thread that multiplies matrices."""
    a, best = np.ones((size, size)), np.inf
    with threadpool_limits(limits=1):
        for _ in range(20):
            began = time.process_time()
            a @ a
            best = min(best, time.process_time() - began)
    return 2 * size**3 / best


def messages(device, form, rows=P, columns=N):
    """Return messages in the middle of a run: after five sweeps, the kernels compiled."""
    xi, sigma = patterns.random(rows, columns, rng=1)
    engine = prepare(device, xi, sigma, form, rng=1)
    for _ in range(5):
        engine.sweep(damping=0.5, in_place=True)
    return engine


def moved(engine):
    """Return the bytes of messages and patterns that one sweep has to read and write.

    Each message is read and written back, each pattern read. Fields of the weights, 8 bytes each,
    stay in the nearest cache.
    """
    arrays = engine.arrays().values()
    large = sum(one.nbytes for one in arrays if one.shape[0] == len(engine.xi))
    return 2 * large + engine.xi.nbytes


@pytest.mark.benchmark(
    group="belief propagation, one sweep at N = 1001, P = 601", timer=time.process_time
)
@pytest.mark.parametrize("form", ["exact", "expanded"])
@pytest.mark.parametrize("device", DEVICES)
def test_sweep(benchmark, tell, device, form):
    engine = messages(DEVICES[device], form)
    benchmark.pedantic(
        engine.sweep, kwargs={"damping": 0.5, "in_place": True}, rounds=30, warmup_rounds=1
    )
    if not benchmark.stats:
        return
    best = benchmark.stats["min"]
    speed = moved(engine) / best
    cached, streamed = copying_speed(moved(engine) // 2), copying_speed(2**28)
    flops = FLOPS[form] * engine.xi.size / best
    found = {
        "ns_per_edge": best / engine.xi.size * 1e9,
        "bytes_per_edge": moved(engine) / engine.xi.size,
        "flop_per_byte": FLOPS[form] * engine.xi.size / moved(engine),
        "Gflop_per_s": flops / 1e9,
        "share_of_a_matrix_product": flops / arithmetic_speed(),
        "GB_per_s": speed / 1e9,
        "share_of_a_copy_from_memory": speed / streamed,
        "share_of_a_copy_of_this_size": speed / cached,
        # far below a copy's speed the arithmetic bounds a sweep, near it the memory does
        "bound_by": "memory" if speed > 0.5 * cached else "arithmetic",
    }
    if device == "binary":
        found["share_of_the_peer"] = found["ns_per_edge"] / PEER_EDGE[form]
        found["below_a_third"] = found["share_of_the_peer"] < TARGET
    tell(f"{device}, {form}", **found)


@pytest.mark.benchmark(
    group="focusing on the sphere, one sweep at K = 3, N = 999, P = 2797", timer=time.process_time
)
@pytest.mark.parametrize("coupling", [0.0, 4.0])
def test_sweep_while_messages_do_not_settle(benchmark, tell, coupling):
    """A strong coupling at a high load: cavity sums of a unit lie standard deviations apart.

    Without a coupling, five sweeps from the start, a polynomial holds for all of them.
    """
    engine = messages(TreeCommittee(3), "exact", 2797, 999)
    if coupling > 0.0:
        engine.focus(coupling, 10)
        for _ in range(25):
            engine.sweep(damping=0.5, in_place=True)
    residual = benchmark.pedantic(
        engine.sweep, kwargs={"damping": 0.5, "in_place": True}, rounds=20, warmup_rounds=1
    )
    if benchmark.stats:
        tell(
            f"coupling {coupling:g}",
            ns_per_edge=benchmark.stats["min"] / engine.xi.size * 1e9,
            residual=float(residual),
        )


@pytest.mark.benchmark(
    group="belief propagation, one sweep at larger sizes", timer=time.process_time
)
@pytest.mark.parametrize("form", ["exact", "expanded"])
@pytest.mark.parametrize("columns", [301, 1001, 3001])
def test_sweep_against_size(benchmark, tell, columns, form):
    """Whether messages that no cache holds cost more per edge."""
    engine = messages(Perceptron(), form, rows=6 * columns // 10, columns=columns)
    benchmark.pedantic(
        engine.sweep, kwargs={"damping": 0.5, "in_place": True}, rounds=10, warmup_rounds=1
    )
    if benchmark.stats:
        tell(
            f"N = {columns}, {form}",
            ns_per_edge=benchmark.stats["min"] / engine.xi.size * 1e9,
            MB_of_messages=sum(one.nbytes for one in engine.arrays().values()) / 1e6,
        )


def solve(load, seed, protocol="default"):
    """Solve one random instance; return whether it is solved, and the processor's seconds."""
    xi, sigma = patterns.random(round(load * N), N, rng=seed)
    options = {"form": "expanded", "stop_at_solution": True} | PROTOCOLS[protocol]
    began = time.thread_time()
    try:
        found = learning.focusing_bp(Perceptron(), xi, sigma, rng=seed, **options)
    except NotConverged:
        return False, time.thread_time() - began
    return found.converged, time.thread_time() - began


@pytest.mark.benchmark(group="focusing, ten random instances at N = 1001, seconds in all")
@pytest.mark.parametrize("load", PEER_SOLUTION)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_solve(benchmark, tell, protocol, load):
    solve(0.1, 0)  # compiles
    found = benchmark.pedantic(
        lambda: [solve(load, seed, protocol) for seed in range(INSTANCES)], rounds=1
    )
    solved, seconds = np.array(found).T
    tell(
        f"alpha = {load}, {protocol} protocol",
        solved=f"{int(solved.sum())} of {INSTANCES}",
        median_s=float(np.median(seconds)),
        longest_s=float(seconds.max()),
        mean_as_share_of_the_peer=float(seconds.mean()) / PEER_SOLUTION[load],
    )


@pytest.mark.benchmark(group="focusing, ten instances at alpha = 0.5, N = 1001, on the cores")
@pytest.mark.parametrize(
    ("backend", "jobs"), [("threading", 1), ("threading", 2), ("loky", 2)], ids=str
)
def test_samples_in_parallel(benchmark, tell, backend, jobs):
    """Kernels let go of the interpreter's lock: threads may do as well as processes."""

    def run():
        with joblib.Parallel(jobs, backend=backend) as pool:
            return pool(joblib.delayed(solve)(0.5, seed) for seed in range(INSTANCES))

    with joblib.Parallel(jobs, backend=backend) as pool:  # starts the processes, and compiles
        pool(joblib.delayed(solve)(0.1, seed) for seed in range(jobs))
    found = benchmark.pedantic(run, rounds=1)
    busy = sum(seconds for _, seconds in found)
    if benchmark.stats:
        whole = benchmark.stats["min"]
        tell(
            f"{jobs} jobs, {backend}",
            seconds=whole,
            cores_used=busy / whole,
            load_average=os.getloadavg()[0],
        )
