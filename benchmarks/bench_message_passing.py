"""Approximate message passing: a sweep from N P = 10^6 to 10^10, beside a dense matrix.

What is recorded with each time: nanoseconds per entry of the patterns, bytes of packed patterns
read per second, as a share of what one plain pass over the same memory reaches (as many threads),
and the largest resident memory of the process so far.
"""

import resource
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from wfmlib import gaussian
from wfmlib.learning.message_passing import Messages, _sweep, approximate_message_passing
from wfmlib.learning.packed_patterns import PackedPatterns
from wfmlib.theory import Binary, Spherical


def reading_speed(words, threads):
    """Return the bytes per second at which the words can be summed, NumPy's loop in threads."""
    parts = np.array_split(words.reshape(-1), threads)
    best = np.inf
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(3):
            began = time.perf_counter()
            list(pool.map(np.sum, parts))
            best = min(best, time.perf_counter() - began)
    return words.nbytes / best


def somewhere(packed):
    """Return messages such as occur in the middle of a run."""
    rng = np.random.default_rng(1)
    return Messages(0.8 * rng.uniform(-1, 1, packed.N), rng.exponential(size=packed.P))


@pytest.mark.benchmark(group="message passing, one sweep")
@pytest.mark.parametrize("threads", [1, numba.config.NUMBA_NUM_THREADS])
@pytest.mark.parametrize("size", [1000, 3000, 10_000, 30_000, 100_000])
def test_sweep(benchmark, size, threads):
    packed = PackedPatterns.random(size, size, seed=1)
    start = somewhere(packed)
    benchmark.pedantic(
        _sweep,
        args=(packed, start, Binary(), 0.0, threads),
        rounds=20 if size <= 10_000 else 3,
        warmup_rounds=1,
    )
    if benchmark.stats:
        seconds = benchmark.stats["min"]
        read = 2 * packed.words.nbytes / seconds
        benchmark.extra_info["ns per entry"] = seconds / size**2 * 1e9
        benchmark.extra_info["GB per second"] = read / 1e9
        benchmark.extra_info["of memory's"] = read / reading_speed(packed.words, threads)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    benchmark.extra_info["peak memory, MB"] = peak / 1e3  # Linux counts kilobytes


def dense_sweep(F, now):
    """One sweep for binary weights with patterns as a matrix of floats."""
    V = 1 - np.mean(now.means**2)
    u = -(F @ now.means - V * now.pulls) / np.sqrt(V)
    g = gaussian.hazard(u) / np.sqrt(V)
    stiffness = np.sum(gaussian.hazard_derivative(u)) / (F.shape[1] * V)
    return np.tanh(F.T @ g + stiffness * now.means)


@pytest.mark.benchmark(group="message passing, one sweep at N = P = 3000")
@pytest.mark.parametrize("kind", ["packed", "float64 matrix"])
def test_beside_a_dense_matrix(benchmark, kind):
    packed = PackedPatterns.random(3000, 3000, seed=1)
    start = somewhere(packed)
    F = packed.unpack() / np.sqrt(3000)
    if kind == "packed":
        means = benchmark(_sweep, packed, start, Binary(), 0.0, None).means
    else:
        means = benchmark(dense_sweep, F, start)
    np.testing.assert_allclose(means, dense_sweep(F, start), rtol=0, atol=1e-10)


@pytest.mark.benchmark(group="message passing, to convergence at N = 10000")
@pytest.mark.parametrize(
    ("weights", "alpha"), [(Binary(), 0.5), (Spherical(), 1.0)], ids=["binary", "spherical"]
)
def test_converge(benchmark, weights, alpha):
    packed = PackedPatterns.random(round(alpha * 10_000), 10_000, seed=1)
    found = benchmark.pedantic(
        approximate_message_passing,
        args=(packed,),
        kwargs={"weights": weights},
        rounds=3,
        warmup_rounds=1,
    )
    assert found.converged
    benchmark.extra_info["sweeps"] = found.sweeps
