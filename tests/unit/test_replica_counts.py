"""Groups of solutions at one distance, against the naive statement over all tuples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from wfmlib import Binary, ParityMachine, TreeCommittee, patterns
from wfmlib.learning import all_weights, enumerate_solutions, solution_clusters, surrounding_counts

MACHINES = {"committee": TreeCommittee(3, weights=Binary()), "parity": ParityMachine(3, Binary())}


def distances(a, b):
    """Return Hamming distances between rows, shape (rows of `a`, rows of `b`), integers."""
    return np.count_nonzero(a[:, None] != b[None], axis=2)


@st.composite
def solution_lists(draw, max_N=5, max_count=8):
    N = draw(st.integers(1, max_N))
    rows = draw(st.sets(st.integers(0, 2**N - 1), min_size=1, max_size=max_count))
    order = draw(st.permutations(sorted(rows)))
    return all_weights(N)[order]


@given(solution_lists(), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_clusters_against_all_tuples(solutions, replicas):
    # Every tuple of rows, with repetitions: 8^4 at most.
    between = distances(solutions, solutions)
    N = solutions.shape[1]
    expected = dict.fromkeys(range(N + 1), 0)
    for rows in itertools.product(range(len(solutions)), repeat=replicas):
        mutual = {between[a, b] for a, b in itertools.combinations(rows, 2)}
        for distance in range(N + 1):
            expected[distance] += mutual <= {distance}
    for distance in range(N + 1):
        found = solution_clusters(solutions, distance, replicas)
        assert isinstance(found, int)
        assert found == expected[distance]


@pytest.mark.parametrize("machine", ["committee", "parity"])
def test_clusters_of_a_machine_as_products_of_the_pair_matrix(machine):
    xi, sigma = patterns.random(3, 9, rng=1)
    solutions = enumerate_solutions(MACHINES[machine], xi, sigma, keep=512).solutions
    some = False
    for distance in range(10):
        A = (cdist(solutions, solutions, "hamming") * 9).round() == distance
        A = A.astype(np.int64)
        triples = np.sum(A * (A @ A))
        around = [A[row == 1][:, row == 1] for row in A]  # the pairs of a solution's neighbours
        fours = sum(np.sum(pairs * (pairs @ pairs)) for pairs in around)
        assert solution_clusters(solutions, distance, 2) == A.sum()
        assert solution_clusters(solutions, distance, 3) == triples
        assert solution_clusters(solutions, distance, 4) == fours
        some = some or fours > 0
    assert some


@pytest.mark.parametrize("replicas", [2, 3, 4, 5])
def test_clusters_of_the_whole_cube_in_closed_form(replicas):
    # At distance 2 from one vertex lie pairs of flips; two such pairs are at distance 2 when
    # they share a flip. Sets of pairs that all meet: stars, and triangles of three flips.
    N, size = 8, replicas - 1
    stars = N * math.comb(N - 1, size) if size > 1 else math.comb(N, 2)
    triangles = math.comb(N, 3) if size == 3 else 0
    expected = 2**N * math.factorial(size) * (stars + triangles)
    assert solution_clusters(all_weights(N), 2, replicas) == expected


def test_long_solutions():
    rng = np.random.default_rng(1)
    solutions = np.unique(rng.choice([-1, 1], (300, 64)).astype(np.int8), axis=0)
    assert len(solutions) == 300
    between = distances(solutions, solutions)
    for distance in (24, 31, 32):
        assert solution_clusters(solutions, distance, 2) == np.count_nonzero(between == distance)
        np.testing.assert_array_equal(
            surrounding_counts(solutions, distance, centres="solutions"),
            np.count_nonzero(between == distance, axis=1),
        )
    opposite = np.vstack([solutions, -solutions])
    assert solution_clusters(opposite, 64, 2) == 600


@given(solution_lists(max_N=8, max_count=40))
@settings(deadline=None)
def test_surroundings_against_the_naive_statement(solutions):
    N = solutions.shape[1]
    from_all = distances(all_weights(N), solutions)
    among = distances(solutions, solutions)
    for distance in range(N + 1):
        counts = surrounding_counts(solutions, distance)
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, np.count_nonzero(from_all == distance, axis=1))
        np.testing.assert_array_equal(
            surrounding_counts(solutions, distance, centres="solutions"),
            np.count_nonzero(among == distance, axis=1),
        )


@pytest.mark.parametrize(("N", "distance"), [(16, 8), (18, 9), (18, 3)])
def test_surroundings_of_the_whole_cube(N, distance):
    # The largest numbers there are: every centre sees a whole sphere.
    counts = surrounding_counts(all_weights(N), distance)
    assert counts.shape == (2**N,)
    assert np.all(counts == math.comb(N, distance))


def test_surroundings_agree_with_the_enumeration_around_a_reference():
    xi, sigma = patterns.random(6, 15, rng=2)
    found = enumerate_solutions(MACHINES["committee"], xi, sigma, keep=10**5)
    rows = np.random.default_rng(3).integers(2**15, size=5)
    around = [
        enumerate_solutions(
            MACHINES["committee"], xi, sigma, reference=all_weights(15)[row]
        ).counts_by_distance
        for row in rows
    ]
    for distance in (0, 1, 4, 7, 15):
        counts = surrounding_counts(found.solutions, distance)
        np.testing.assert_array_equal(counts[rows], [one[distance] for one in around])
        # Each solution is seen from a whole sphere of centres; pairs are counted from both ends.
        assert counts.sum() == found.count * math.comb(15, distance)
        own = surrounding_counts(found.solutions, distance, centres="solutions")
        assert own.sum() == solution_clusters(found.solutions, distance, 2)


@pytest.mark.parametrize(("machine", "distance"), [("committee", 2), ("parity", 2), ("parity", 3)])
def test_the_mean_number_of_pairs_over_instances(machine, distance):
    # Of w and a w' that differs in given weights, how often both are right on a random pattern
    # is an average over all 2^N patterns: 1 and w' stand for every such pair.
    N, P, samples = 9, 3, 400
    xi = all_weights(N).astype(int)

    def answers(w):
        signs = np.sign((xi * w).reshape(-1, 3, 3).sum(axis=2))
        return np.sign(signs.sum(axis=1)) if machine == "committee" else signs.prod(axis=1)

    near = all_weights(N)[np.count_nonzero(all_weights(N) < 0, axis=1) == distance]
    agreement = [np.mean(answers(np.ones(N, dtype=int)) == answers(w)) for w in near]
    expected = 2**N * np.sum((np.array(agreement) / 2) ** P)
    found = []
    for child in np.random.SeedSequence(5).spawn(samples):
        solved = enumerate_solutions(
            MACHINES[machine], *patterns.random(P, N, rng=child), keep=2**N
        )
        found.append(solution_clusters(solved.solutions, distance, 2))
    error = np.std(found, ddof=1) / math.sqrt(samples)
    assert abs(np.mean(found) - expected) < 4 * error
    assert error < 0.05 * expected  # or the line above could not fail


def test_no_solution():
    none = np.zeros((0, 9), dtype=np.int8)
    assert solution_clusters(none, 0, 2) == solution_clusters(none, 4, 3) == 0
    np.testing.assert_array_equal(surrounding_counts(none, 4), np.zeros(2**9))
    assert surrounding_counts(none, 4, centres="solutions").shape == (0,)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (solution_clusters, ([[1, 0]], 1, 2), ValueError, "solutions must hold -1 and \\+1 only"),
        (solution_clusters, ([[1, 1], [1, 1]], 1, 2), ValueError, "got a row twice"),
        (solution_clusters, ([[1, 1]], 3, 2), ValueError, "distance must be from 0 to 2, got 3"),
        (solution_clusters, ([[1, 1]], 1.0, 2), TypeError, "distance must be an integer"),
        (solution_clusters, ([[1, 1]], 1, 0), ValueError, "replicas must be >= 1, got 0"),
        (solution_clusters, (np.ones((1, 65)), 1, 2), ValueError, "at most 64 columns, got 65"),
        (surrounding_counts, (np.ones((1, 23)), 1), ValueError, "at most 22 columns .* got 23"),
        (surrounding_counts, ([1, 1], 1), ValueError, "solutions must be a non-empty array"),
    ],
)
def test_bad_arguments_are_named(function, arguments, error, message):
    with pytest.raises(error, match=message):
        function(*arguments)


def test_a_bad_choice_of_centres_is_named():
    with pytest.raises(ValueError, match="centres must be one of 'all', 'solutions', got 'w'"):
        surrounding_counts([[1, 1]], 1, centres="w")
