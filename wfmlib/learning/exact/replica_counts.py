"""Groups of solutions at one mutual distance, counted exactly at small N.

The two measures of how densely solutions lie, on one instance: all solutions at a distance from
a centre, `surrounding_counts`, whose y-th power summed over centres is the partition function
with a reference [eq-reference-replicas]; and groups of y solutions at one distance from each
other, `solution_clusters`, the partition function with mutual overlaps [eq-mutual-replicas].
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.learning._words import ones
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.types import Array

LARGEST = 22  # weights, for all 2^N centres
LARGEST_SOLUTION = 64  # weights: a solution is a 64-bit word


@arguments.checked
def solution_clusters(
    solutions: ArrayLike, distance: Annotated[int, Ge(0)], replicas: Count
) -> int:
    """Count the ordered groups of y solutions at one Hamming distance from each other.

    This is [eq-mutual-replicas] for one instance: the tuples ``(w_1, ..., w_y)`` of the listed
    solutions in which every two differ in exactly `distance` weights. At distance 0 these are
    the ``(w, ..., w)``. Three or more vectors have an odd mutual distance never: the three
    distances of a triple sum to an even number.

    Parameters
    ----------
    solutions : array_like
        Different solutions, shape (count, N), entries -1 and +1, N at most 64; as
        `Enumeration.solutions`. None at all, shape (0, N), is allowed.
    distance : int
        Hamming distance d_H, not negative, and at most N; ``d_H / N = (1 - overlap) / 2`` in the
        papers' unit.
    replicas : int
        The number y of solutions in a group, at least 1.

    Returns
    -------
    int
        Number of ordered groups: y! for each set of y different solutions.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If `solutions` does not hold signs, has a row twice, or a number is out of range.

    Notes
    -----
    Cliques of the graph of pairs at that distance. The cost is one comparison, about a
    nanosecond, for each pair of solutions; for three replicas one more for each two solutions
    at that distance from a third, and so on: it grows with the power y of their number.

    Examples
    --------
    >>> import numpy as np
    >>> solutions = np.array([[1, 1, 1], [1, 1, -1], [-1, -1, -1]])
    >>> solution_clusters(solutions, 1, 2)
    2
    """
    words, N = _words(solutions)
    distance = arguments.integer("distance", distance, 0, N)
    if replicas == 1 or distance == 0:
        return len(words)
    if replicas > 2 and distance % 2:
        return 0
    if replicas > len(words):
        return 0
    return int(_cliques(words, distance, replicas)) * math.factorial(replicas)


@arguments.checked
def surrounding_counts(
    solutions: ArrayLike,
    distance: Annotated[int, Ge(0)],
    *,
    centres: Literal["all", "solutions"] = "all",
) -> Array:
    """Count the solutions at a Hamming distance from every centre.

    This is ``U(W, D)`` with ``D = distance / N``, whose logarithm makes the local entropy
    [eq-local-entropy]; ``np.sum(counts.astype(float) ** y)`` is [eq-reference-replicas] for one
    instance.

    Parameters
    ----------
    solutions : array_like
        Different solutions, shape (count, N), entries -1 and +1; as `Enumeration.solutions`.
        None at all, shape (0, N), is allowed.
    distance : int
        Hamming distance d_H, not negative, and at most N.
    centres : str
        "all": every weight vector in {-1, +1}^N, N at most 22, in the order of `all_weights`;
        "solutions": the solutions only, in the order given, N at most 64.

    Returns
    -------
    numpy.ndarray
        int64, shape (2^N,) or (count,).

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If `solutions` does not hold signs, has a row twice, or a number is out of range; for
        all centres, if N is above 22: the counts would take 2^N times 8 bytes.

    Notes
    -----
    Counts around all centres are the convolution of "is a solution" with "is at that distance
    from the origin", on the group of sign flips. It is a product after a Walsh-Hadamard
    transform: N 2^N additions whatever the number of solutions.

    Examples
    --------
    >>> import numpy as np
    >>> surrounding_counts(np.array([[1, 1, 1], [1, 1, -1]]), 1)
    array([0, 0, 1, 1, 1, 1, 1, 1])
    """
    words, N = _words(solutions)
    distance = arguments.integer("distance", distance, 0, N)
    if centres == "solutions":
        return _neighbours(words, distance)
    if N > LARGEST:
        raise ValueError(
            f"solutions must have at most {LARGEST} columns for all centres, got {N}: "
            f"2^{N} counts take {8 * 2.0**N / 2**30:.2g} GiB of memory"
        )
    counts = np.zeros(2**N, dtype=np.int64)
    counts[words.astype(np.int64)] = 1
    _transform(counts)
    weight = np.bitwise_count(np.arange(2**N, dtype=np.uint32))
    # A sum may pass 2^63 on the way, and wraps: what remains at the end is below 2^42.
    counts *= _krawtchouk(N, distance)[weight]
    _transform(counts)
    return counts >> N


def _words(solutions):
    """Return different solutions as integers, the first weight in the highest bit, and N."""
    rows = arguments.array("solutions", solutions)
    if rows.ndim == 2 and len(rows) == 0 and rows.shape[1]:
        signs = rows
    else:
        signs = arguments.signs("solutions", rows, 2)
    N = signs.shape[1]
    if N > LARGEST_SOLUTION:
        raise ValueError(f"solutions must have at most {LARGEST_SOLUTION} columns, got {N}")
    words = (signs > 0) @ (np.uint64(1) << np.arange(N - 1, -1, -1, dtype=np.uint64))
    if len(np.unique(words)) < len(words):
        raise ValueError("solutions must be different from each other, got a row twice")
    return words, N


def _krawtchouk(N, distance):
    """Return the transform of a sphere, int64: for s = 0, ..., N the sum over it of (-1)^(s.x).

    Of the `distance` ones of x, j lie among the s ones of the other vector.
    """
    return np.array(
        [
            sum(
                (-1) ** j * math.comb(s, j) * math.comb(N - s, distance - j)
                for j in range(distance + 1)
            )
            for s in range(N + 1)
        ],
        dtype=np.int64,
    )


# --- the kernels --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _transform(values):
    """Replace `values` by their Walsh-Hadamard transform, not normalised."""
    half = 1
    while half < len(values):
        for start in range(0, len(values), 2 * half):
            for i in range(start, start + half):
                a, b = values[i], values[i + half]
                values[i], values[i + half] = a + b, a - b
        half *= 2


@njit(cache=True, nogil=True)
def _neighbours(words, distance):
    """Return for each word how many are at `distance`."""
    counts = np.zeros(len(words), dtype=np.int64)
    for i in range(len(words)):
        counts[i] = _count(words, words[i], distance)
    return counts


@njit(cache=True, nogil=True)
def _count(words, centre, distance):
    """Return how many words are at `distance` from one."""
    number = 0
    for word in words:
        number += ones(word ^ centre) == np.uint64(distance)
    return number


@njit(cache=True, nogil=True)
def _cliques(words, distance, size):
    """Return the number of sets of `size` >= 2 words at mutual `distance` > 0.

    A depth-first walk: ``candidates[k]`` holds the words after the k-th chosen one that are at
    that distance from the k + 1 chosen so far; the k-th choice runs through ``candidates[k - 1]``.
    """
    count = len(words)
    candidates = np.empty((size - 1, count), dtype=np.uint64)
    counts = np.zeros(size - 1, dtype=np.int64)
    choice = np.zeros(size, dtype=np.int64)
    total = 0
    for first in range(count):
        depth, word = 0, words[first]
        pool, start, stop = words, first + 1, count
        while True:
            if depth == size - 2:  # the last two of the set: no need to list
                total += _count(pool[start:stop], word, distance)
            else:
                n = 0
                for candidate in pool[start:stop]:
                    candidates[depth, n] = candidate  # kept where the next line moves on
                    n += ones(word ^ candidate) == np.uint64(distance)
                counts[depth] = n
                depth += 1
                choice[depth] = -1
            # The next choice at the deepest level that has one left.
            while depth > 0:
                choice[depth] += 1
                if choice[depth] < counts[depth - 1]:
                    break
                depth -= 1
            if depth == 0:
                break
            pool, start, stop = candidates[depth - 1], choice[depth] + 1, counts[depth - 1]
            word = pool[choice[depth]]
    return total
