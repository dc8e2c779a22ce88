"""Approximate message passing: a sweep from N P = 10^6 to 10^10, beside a dense matrix.

Said with each time: nanoseconds per entry of the patterns; bytes of packed patterns read per
second, as a share of what one plain pass over the same memory reaches (as many threads); how
often a table in the nearest cache is looked up or added to, eight times for a word of 64 entries
and each of the two passes of a sweep; what bounds the sweep; the gain from more threads; and the
largest resident memory of the process so far. The processor, the versions and the load of the
machine come first: with other programs running, the gain from threads says little. Of repeated
rounds the shortest counts.
"""

import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from wfmlib.learning.messages.approximate import Messages, _sweep, approximate_message_passing
from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.models import Binary, Perceptron, Spherical
from wfmlib.numerics import gaussian

BOUND = 0.5  # of the speed of a plain pass: a sweep that reads faster is bound by memory


@pytest.fixture(scope="module")
def alone():
    """Seconds of a sweep on one thread, by size: what more threads are compared with."""
    return {}


def reading_speed(words, threads):
    """Return the bytes per second at which the words can be summed, NumPy's loop in threads.

    A thread reads a small part again and again: it comes from a cache, and to start it costs
    little beside.
    """
    parts = np.array_split(words.reshape(-1), threads)
    times = 1 + 2**26 // words.nbytes
    best = np.inf
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(3):
            began = time.perf_counter()
            list(pool.map(lambda part: [np.sum(part) for _ in range(times)], parts))
            best = min(best, time.perf_counter() - began)
    return times * words.nbytes / best


def somewhere(packed):
    """Return messages such as occur in the middle of a run."""
    rng = np.random.default_rng(1)
    return Messages(0.8 * rng.uniform(-1, 1, packed.N), rng.exponential(size=packed.P))


@pytest.mark.benchmark(group="message passing, one sweep")
@pytest.mark.parametrize("threads", sorted({1, 2, numba.config.NUMBA_NUM_THREADS}))
@pytest.mark.parametrize("size", [1000, 3000, 10_000, 30_000, 100_000])
def test_sweep(benchmark, tell, alone, size, threads):
    packed = PackedPatterns.random(size, size, rng=1)
    start = somewhere(packed)
    benchmark.pedantic(
        _sweep,
        args=(packed, start, Binary(), 0.0, threads),
        rounds=20 if size <= 10_000 else 3,
        warmup_rounds=1,
    )
    if not benchmark.stats:
        return
    seconds = benchmark.stats["min"]
    read = 2 * packed.words.nbytes / seconds
    share = read / reading_speed(packed.words, threads)
    alone.setdefault(size, seconds if threads == 1 else np.nan)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tell(
        f"N = P = {size}, {threads} threads",
        ns_per_entry=seconds / size**2 * 1e9,
        GB_per_s=read / 1e9,
        share_of_a_plain_pass=share,
        look_ups_per_ns_and_thread=read / threads / 1e9,  # one for each byte
        bound_by="memory" if share > BOUND else "look-ups",
        gain_from_threads=alone[size] / seconds,
        load_average=os.getloadavg()[0],
        peak_memory_MB=peak / 1e3,  # Linux counts kilobytes
    )


def dense_sweep(F, now):
    """One sweep for binary weights with patterns as a matrix of floats."""
    V = 1 - np.mean(now.means**2)
    u = -(F @ now.means - V * now.pulls) / np.sqrt(V)
    g = gaussian.hazard(u) / np.sqrt(V)
    stiffness = np.sum(gaussian.hazard_derivative(u)) / (F.shape[1] * V)
    return np.tanh(F.T @ g + stiffness * now.means)


@pytest.mark.benchmark(group="message passing, one sweep at N = P = 3000")
@pytest.mark.parametrize("kind", ["packed", "float64 matrix"])
def test_beside_a_dense_matrix(benchmark, tell, kind):
    packed = PackedPatterns.random(3000, 3000, rng=1)
    start = somewhere(packed)
    F = packed.unpack() / np.sqrt(3000)
    if kind == "packed":
        means = benchmark(_sweep, packed, start, Binary(), 0.0, None).means
    else:
        means = benchmark(dense_sweep, F, start)
    np.testing.assert_allclose(means, dense_sweep(F, start), rtol=0, atol=1e-10)
    if benchmark.stats:
        size = packed.words.nbytes if kind == "packed" else F.nbytes
        tell(kind, ns_per_entry=benchmark.stats["min"] / F.size * 1e9, MB_of_patterns=size / 1e6)


@pytest.mark.benchmark(group="message passing, to convergence at N = 10000")
@pytest.mark.parametrize(
    ("weights", "alpha"), [(Binary(), 0.5), (Spherical(), 1.0)], ids=["binary", "spherical"]
)
def test_converge(benchmark, tell, weights, alpha):
    packed = PackedPatterns.random(round(alpha * 10_000), 10_000, rng=1)
    found = benchmark.pedantic(
        approximate_message_passing,
        args=(Perceptron(weights), packed),
        rounds=3,
        warmup_rounds=1,
    )
    assert found.converged
    if benchmark.stats:
        entries = found.sweeps * packed.N * packed.P
        tell(
            f"{weights}, alpha = {alpha}",
            sweeps=found.sweeps,
            seconds=benchmark.stats["min"],
            ns_per_entry_and_sweep=benchmark.stats["min"] / entries * 1e9,
        )
