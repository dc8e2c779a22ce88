"""Enumeration: the sizes that chapter 1 needs, and the plain NumPy statement beside it."""

import numpy as np
import pytest

from wfmlib import Margin, Perceptron, patterns
from wfmlib.learning import enumerate_solutions


def wfmlib_count(xi, sigma):
    """Count the solutions at margin 0 with the kernel."""
    return enumerate_solutions(Perceptron(), xi, sigma).count


def numpy_count(xi, sigma):
    """Count the solutions at margin 0 from the stabilities of all 2^N weight vectors at once."""
    N = xi.shape[1]
    bits = np.arange(2**N)[:, None] >> np.arange(N) & 1
    stability = (2 * bits - 1).astype(np.float32) @ (sigma[:, None] * xi).T.astype(np.float32)
    return int(np.count_nonzero(np.all(stability > 0, axis=1)))


@pytest.mark.benchmark(group="enumeration, alpha = 0.5")
@pytest.mark.parametrize(("N", "P"), [(25, 12), (25, 13), (30, 15)])
def test_enumerate(benchmark, N, P):
    xi, sigma = patterns.random(P, N, rng=1)
    benchmark.extra_info["weight vectors"] = 2**N
    benchmark.pedantic(
        enumerate_solutions,
        args=(Perceptron(), xi, sigma),
        kwargs={"progress": False},
        rounds=5,
        warmup_rounds=1,
    )


@pytest.mark.benchmark(group="enumeration, all weights solutions (the slowest case)")
def test_enumerate_when_everything_is_a_solution(benchmark):
    xi, sigma = patterns.random(12, 23, rng=1)
    found = benchmark.pedantic(
        enumerate_solutions,
        args=(Perceptron(), xi, sigma),
        kwargs={"constraint": Margin(-5.0)},
        rounds=5,
        warmup_rounds=1,
    )
    assert found.count == 2**23


@pytest.mark.benchmark(group="enumeration, N = 19, P = 10")
@pytest.mark.parametrize("count", [wfmlib_count, numpy_count])
def test_beside_numpy(benchmark, count):
    xi, sigma = patterns.random(10, 19, rng=1)
    found = benchmark.pedantic(count, args=(xi, sigma), rounds=3, warmup_rounds=1)
    assert found == enumerate_solutions(Perceptron(), xi, sigma).count
