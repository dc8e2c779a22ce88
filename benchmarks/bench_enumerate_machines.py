"""Enumeration of three-unit machines, what is counted on it, and plain NumPy beside it."""

import numpy as np
import pytest

from wfmlib import Binary, ParityMachine, TreeCommittee, patterns
from wfmlib.learning import enumerate_solutions, solution_clusters, surrounding_counts

COMMITTEE = TreeCommittee(3, weights=Binary())
MACHINES = [COMMITTEE, ParityMachine(3, Binary())]


def wfmlib_count(xi, sigma, machine):
    """Count the solutions of three units with the kernel."""
    return enumerate_solutions(machine, xi, sigma).count


def numpy_count(xi, sigma, machine):
    """Count the solutions of three units from the signs of all 2^N weight vectors at once."""
    n = xi.shape[1] // 3
    w = (2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1) - 1).astype(np.int8)
    one, two, three = (np.sign(w @ part.T) for part in np.split(xi, 3, axis=1))
    signs = one[:, None, None], two[None, :, None], three[None, None]
    if machine == COMMITTEE:
        votes = signs[0] + signs[1] + signs[2]
    else:
        votes = signs[0] * signs[1] * signs[2]
    return int(np.count_nonzero(np.all(sigma * votes > 0, axis=3)))


@pytest.mark.benchmark(group="enumeration of machines, K = 3, alpha = 0.5")
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("N", "P"), [(21, 10), (24, 12), (27, 14), (33, 16)])
def test_enumerate(benchmark, N, P, machine):
    xi, sigma = patterns.random(P, N, rng=1)
    benchmark.extra_info["weight vectors"] = 2**N
    benchmark.pedantic(
        enumerate_solutions,
        args=(machine, xi, sigma),
        kwargs={"progress": False},
        rounds=5,
        warmup_rounds=1,
    )


@pytest.mark.benchmark(group="enumeration of machines, half of all weights solutions")
@pytest.mark.parametrize("machine", MACHINES)
def test_enumerate_when_half_are_solutions(benchmark, machine):
    xi, sigma = patterns.random(1, 27, rng=1)
    found = benchmark.pedantic(wfmlib_count, args=(xi, sigma, machine), rounds=3, warmup_rounds=1)
    assert found == 2**26


@pytest.mark.benchmark(group="enumeration of machines, N = 21, P = 10")
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("count", [wfmlib_count, numpy_count])
def test_beside_numpy(benchmark, count, machine):
    xi, sigma = patterns.random(10, 21, rng=1)
    found = benchmark.pedantic(count, args=(xi, sigma, machine), rounds=3, warmup_rounds=1)
    assert found == wfmlib_count(xi, sigma, machine)


@pytest.mark.benchmark(group="solutions at distance 4 of a committee, N = 21, P = 9")
@pytest.mark.parametrize("replicas", [2, 3, 4])
def test_clusters(benchmark, replicas):
    solutions = _solutions()
    benchmark.extra_info["solutions"] = len(solutions)
    benchmark.pedantic(solution_clusters, args=(solutions, 4, replicas), rounds=3, warmup_rounds=1)


@pytest.mark.benchmark(group="solutions at distance 4 of a committee, N = 21, P = 9")
def test_surroundings(benchmark):
    benchmark.pedantic(surrounding_counts, args=(_solutions(), 4), rounds=3, warmup_rounds=1)


def _solutions():
    xi, sigma = patterns.random(9, 21, rng=1)
    return enumerate_solutions(COMMITTEE, xi, sigma, keep=10**6).solutions
