"""Targets that count: what holds of every list of solutions, however they were found."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from tests.attack.target import Target, between
from tests.attack.values import SEEDS, instances
from wfmlib import learning
from wfmlib.models import Binary, ParityMachine, Perceptron, TreeCommittee


def check_all(vectors, N):
    """Every vector once, in order, and its opposite in the opposite place."""
    assert vectors.shape == (2**N, N)
    np.testing.assert_array_equal(np.abs(vectors), 1)
    np.testing.assert_array_equal(vectors[::-1], -vectors)
    numbers = (vectors > 0) @ (2.0 ** np.arange(N)[::-1])
    np.testing.assert_array_equal(numbers, np.arange(2**N))


def check_fields(fields, device, xi, sigma):
    """Rows are in the order of `all_weights`; a tree's units have no label."""
    weights = learning.all_weights(xi.shape[1])
    if device.units == 1:
        expected = (weights @ xi.T.astype(int)) * sigma
    else:
        parts = [np.split(one, device.units, axis=1) for one in (weights, xi.astype(int))]
        expected = np.stack([w @ x.T for w, x in zip(*parts, strict=True)], axis=-1)
    np.testing.assert_array_equal(fields, expected)


@st.composite
def listed(draw, least=0):
    """Return different vectors of signs, as many as are drawn, and a distance."""
    N = draw(st.integers(1, 10))
    count = draw(st.integers(least, min(2**N, 40)))
    rows = np.random.default_rng(draw(SEEDS)).permutation(2**N)[:count]
    return {"solutions": learning.all_weights(N)[rows], "distance": draw(st.integers(0, N))}


def around_all_and_some(solutions, distance):
    """Return the counts around every vector, and around the solutions only."""
    return [
        learning.surrounding_counts(solutions, distance, centres=centres)
        for centres in ("all", "solutions")
    ]


def check_counts(found, solutions, distance):
    """Each solution is at that distance from so many vectors; both ways agree."""
    everywhere, here = found
    count, N = solutions.shape
    between("counts", everywhere, 0, count)
    assert everywhere.sum() == count * math.comb(N, distance)
    rows = (solutions > 0) @ (1 << np.arange(N)[::-1])
    np.testing.assert_array_equal(everywhere[rows], here)
    apart = (solutions[:, None] != solutions).sum(axis=-1)
    np.testing.assert_array_equal(here, (apart == distance).sum(axis=1))


@st.composite
def grouped(draw):
    """Return a list of solutions, a distance, and how many solutions make a group."""
    drawn = draw(listed())
    few = {"solutions": drawn["solutions"][:12]}
    return drawn | few | {"replicas": draw(st.integers(1, 4))}


def check_groups(found, solutions, distance, replicas):
    """As many as are counted one set after the other, in y! orders each."""
    apart = (solutions[:, None] != solutions).sum(axis=-1)
    if distance == 0 or replicas == 1:
        expected = len(solutions)
    else:
        sets = combinations(range(len(solutions)), replicas)
        alike = sum(all(apart[a, b] == distance for a, b in combinations(s, 2)) for s in sets)
        expected = alike * math.factorial(replicas)
    assert found == expected


BINARY = Binary()
MACHINES = [Perceptron(), TreeCommittee(3, weights=BINARY), ParityMachine(3, weights=BINARY)]
TARGETS = [
    Target(learning.all_weights, st.fixed_dictionaries({"N": st.integers(1, 14)}), check_all),
    Target(
        learning.enumerate_fields,
        instances(MACHINES, most_patterns=10, most_weights=11),
        check_fields,
    ),
    Target(around_all_and_some, listed(), check_counts, (learning.surrounding_counts,)),
    Target(learning.solution_clusters, grouped(), check_groups),
]
