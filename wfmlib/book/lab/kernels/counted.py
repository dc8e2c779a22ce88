"""All solutions of a small instance, and how many others lie around one of them."""

from __future__ import annotations

import numpy as np
from numba import njit

from wfmlib.learning._words import ones
from wfmlib.learning.exact.enumeration import walk

LARGEST = 21  # weights: their vectors are walked through twice
BLOCK = 6  # weights that `walk` reads from a table
PAIRS = 2**26  # of solutions whose distance is taken
NEAR = 3  # flips: the densest solution has most others within so many
_1 = np.uint64(1)


@njit(cache=True, nogil=True)
def _tables(aligned, needed):
    """Return what `walk` needs of patterns times labels, shape (P, N): three arrays of words."""
    P, N = aligned.shape
    words, size = (P + 7) // 8, min(BLOCK, N)
    start = np.zeros(words, dtype=np.uint64)
    cost = np.zeros((N, 2, words), dtype=np.uint64)
    for a in range(8 * words):
        shift = np.uint64(8 * (a % 8))
        first = 128 + N - needed if a < P else 255
        start[a // 8] |= np.uint64(first) << shift
        if a < P:
            for i in range(N):
                cost[i, 0 if aligned[a, i] > 0 else 1, a // 8] |= _1 << shift
    block = np.zeros((words, 1 << size), dtype=np.uint64)
    for choice in range(1 << size):
        for bit in range(size):
            for word in range(words):
                block[word, choice] += cost[N - 1 - bit, (choice >> bit) & 1, word]
    return start, cost, block


@njit(cache=True, nogil=True)
def counted(patterns, around, densest, weights):
    """Count the solutions of an instance, and those at each distance from a solution.

    Where there are more than `PAIRS` pairs, only every so-many-th solution is a centre from which
    distances are taken. Solutions are in ascending lexicographic order, -1 before +1.

    Parameters
    ----------
    patterns : ndarray, shape (P, N), int8
        As `drawn` fills them; at most `LARGEST` weights.
    around : ndarray, shape (N + 1,)
        Filled with the mean number of solutions at each Hamming distance from a centre.
    densest : ndarray, shape (N + 1,)
        Filled with the numbers around the first centre that has most solutions within `NEAR`
        flips.
    weights : ndarray, shape (N,), int8
        Filled with that centre; zeros where there is no solution.

    Returns
    -------
    tuple of float
        The number of solutions, and that of centres.
    """
    N = len(weights)
    needed = N // 2 + 1
    start, cost, block = _tables(patterns, needed)
    nowhere, first = np.uint64(0), np.uint64(0)
    lowest = walk(start, cost, block, needed, nowhere, first, 0, 0)[0]
    count = lowest.sum()
    around[:], densest[:], weights[:] = 0.0, 0.0, 0
    if count == 0:
        return 0.0, 0.0
    solutions = np.sort(walk(start, cost, block, needed, nowhere, first, 0, count)[3])
    step = max(1, (count * count + PAIRS - 1) // PAIRS)
    numbers = np.empty(N + 1, dtype=np.int64)
    most, centres = -1, 0
    for c in range(0, count, step):
        numbers[:] = 0
        for s in range(count):
            numbers[np.int64(ones(solutions[c] ^ solutions[s]))] += 1
        centres += 1
        near = numbers[: NEAR + 1].sum()
        for d in range(N + 1):
            around[d] += numbers[d]
            if near > most:
                densest[d] = numbers[d]
        if near > most:
            most = near
            for i in range(N):
                weights[i] = 1 if (solutions[c] >> np.uint64(N - 1 - i)) & _1 else -1
    around /= centres
    return float(count), float(centres)
