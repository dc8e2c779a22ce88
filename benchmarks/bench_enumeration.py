"""Enumeration: the sizes that the chapters need, and the plain NumPy statement beside it."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import Binary, Perceptron, TreeCommittee, patterns
from wfmlib.learning import enumerate_solutions, surrounding_counts

pytestmark = pytest.mark.benchmark(group="Exact enumeration")

COMMITTEE = TreeCommittee(3, weights=Binary())


@pytest.mark.parametrize(
    ("what", "device", "N", "P"),
    [
        ("all solutions, binary perceptron, N = 25, P = 12", Perceptron(), 25, 12),
        ("the same, N = 30, P = 15", Perceptron(), 30, 15),
        ("committee of three, N = 33, P = 16", COMMITTEE, 33, 16),
    ],
)
def bench_enumerate(row, what, device, N, P):
    xi, sigma = patterns.random(P, N, rng=1)
    row(what, lambda: enumerate_solutions(device, xi, sigma, progress=False), rounds=3)


def all_weights(n):
    return (2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1) - 1).astype(np.int8)


def perceptron(xi, sigma):
    """Count solutions from the stabilities of all 2^N weight vectors at once."""
    stability = all_weights(xi.shape[1]).astype(np.float32) @ (sigma[:, None] * xi).T.astype(
        np.float32
    )
    return int(np.count_nonzero(np.all(stability > 0, axis=1)))


def committee(xi, sigma):
    """Count solutions of three units from the signs of all 2^N weight vectors at once."""
    w = all_weights(xi.shape[1] // 3)
    one, two, three = (np.sign(w @ part.T) for part in np.split(xi, 3, axis=1))
    votes = one[:, None, None] + two[None, :, None] + three[None, None]
    return int(np.count_nonzero(np.all(sigma * votes > 0, axis=3)))


@pytest.mark.parametrize("beside", ["", "NumPy, all at once"])
@pytest.mark.parametrize(
    ("what", "device", "N", "plain"),
    [
        ("number of solutions, binary perceptron, N = 19, P = 10", Perceptron(), 19, perceptron),
        ("the same, committee of three, N = 21", COMMITTEE, 21, committee),
    ],
)
def bench_count(row, what, device, N, plain, beside):
    xi, sigma = patterns.random(10, N, rng=1)

    def ours(xi, sigma):
        return enumerate_solutions(device, xi, sigma).count

    count = plain if beside else ours
    found = row(what, lambda: count(xi, sigma), "ms", 1e-3, beside=beside, rounds=3)
    assert found == ours(xi, sigma)


def bench_surroundings(row):
    xi, sigma = patterns.random(9, 21, rng=1)
    solutions = enumerate_solutions(COMMITTEE, xi, sigma, keep=10**6).solutions
    what = f"solutions at distance 4 around each of {len(solutions):,}, committee of three"
    row(what, lambda: surrounding_counts(solutions, 4), "ms", 1e-3, rounds=3)
