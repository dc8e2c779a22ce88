"""Every solution of a binary tree committee or parity machine, for `enumerate_solutions`.

A unit sees N/K weights only. So its answers to all patterns are tabulated once for each of its
2^(N/K) weight vectors, as bits of 64-bit words; then the units' vectors are combined:

- *Committee.* Units are added one by one. Of each pattern it is kept, in unary, how many units
  are wrong on it: a bit for "at least one", one for "at least two", ... A choice of the first
  units that is wrong once too often on some pattern is passed over with all that follows. The
  last unit must only be right where no further wrong one can be afforded.
- *Parity.* The signs of all units but the last say what the last one has to answer to every
  pattern; its table is sorted by answers, and those vectors are looked up.

What is computed, in plain NumPy, for all 2^N rows ``w`` at once, with n = N/K::

    parts = [slice(unit * n, (unit + 1) * n) for unit in range(K)]
    signs = np.array([np.sign(w[:, part] @ xi[:, part].T) for part in parts])
    votes = signs.sum(axis=0)                           # committee; parity: signs.prod(axis=0)
    solutions = w[((sigma * votes > 0) & signs.all(axis=0)).all(axis=1)]
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numba import njit

LARGEST_UNIT = 20  # weights of one unit, all of whose vectors are tabulated

_UNTIMED = 27  # weights that take some two seconds at most: no estimate
_TIMED = 0.02  # seconds: a sample that takes this long is an estimate
_CHUNK = 21  # weights, at least, that one task of a thread runs through; but ...
_PREFIX = 8  # ... a task fixes at most this many, all of the first unit


class Tables(NamedTuple):
    """What the kernel needs of one instance; row v of a unit is one of its weight vectors.

    Vectors that tie on some pattern solve nothing and are left out.
    """

    wrong: np.ndarray  # (K, 2^n, words) uint64: a one for each pattern answered wrongly
    weights: np.ndarray  # (K, 2^n) uint64: the weights as bits, in their places among all N
    distance: np.ndarray  # (K, 2^n) int64: Hamming distance from the unit's part of the reference
    sizes: np.ndarray  # (K,) int64: how many rows are filled
    parity: bool

    @property
    def N(self):
        """Number of weights of the whole machine."""
        units, rows = self.weights.shape
        return units * (rows.bit_length() - 1)


def prefix_bits(tables):
    """Return b, where 2^b tasks share the work."""
    return min(max(tables.N - _CHUNK, 0), _PREFIX, tables.N // len(tables.sizes))


def tabulate(xi, sigma, units, parity, centre):
    """Tabulate the answers of all weight vectors of every unit.

    Of a parity machine only the first unit is compared with the labels; the others with +1.
    The product is right on a pattern when an even number of units is "wrong".
    """
    N = xi.shape[1]
    n = N // units
    ones = np.ones_like(sigma)
    built = []
    for unit in range(units):
        part = slice(unit * n, (unit + 1) * n)
        aligned = xi[:, part] * (ones if parity and unit else sigma)[:, None]
        wrong, ties = _answers(aligned)
        (rows,) = np.nonzero(~ties)
        if parity and unit == units - 1:
            rows = rows[np.lexsort(wrong[rows].T[::-1])]  # ascending answers, first word first
        differ = rows ^ int("".join("1" if sign > 0 else "0" for sign in centre[part]), 2)
        built.append((wrong[rows], rows << (N - (unit + 1) * n), np.bitwise_count(differ)))

    tables = Tables(
        wrong=np.zeros((units, 2**n, wrong.shape[1]), dtype=np.uint64),
        weights=np.zeros((units, 2**n), dtype=np.uint64),
        distance=np.zeros((units, 2**n), dtype=np.int64),
        sizes=np.array([len(weights) for _, weights, _ in built]),
        parity=parity,
    )
    for unit, columns in enumerate(built):
        for table, column in zip(tables[:3], columns, strict=True):
            table[unit, : len(column)] = column
    return tables


def unit_fields(xi):
    """Return ``w . xi`` for all weight vectors w of a unit, int8, shape (2^n, P).

    The vectors are in ascending lexicographic order; n is at most 127, or int8 would overflow.
    """
    fields = np.zeros((1, len(xi)), dtype=np.int8)
    for column in xi.T:
        fields = (fields[:, None] + np.stack([-column, column])).reshape(-1, len(xi))
    return fields


def _answers(aligned):
    """Return the bits of the wrong patterns, (2^n, words), and whether any pattern ties, (2^n,).

    64 patterns at a time: their fields take 64 bytes for each weight vector.
    """
    words, ties = [], False
    for start in range(0, len(aligned), 64):
        fields = unit_fields(aligned[start : start + 64])
        ties = ties | np.any(fields == 0, axis=1)
        wrong = np.zeros((len(fields), 64), dtype=bool)
        wrong[:, : fields.shape[1]] = fields < 0
        words.append(np.packbits(wrong, axis=1).view(np.uint64))
    return np.hstack(words), ties


def walk(tables, prefix, bits, room):
    """Visit one of 2^bits equal shares of the first unit's vectors, with all the others'.

    Returns what the kernel of `enumerate_solutions` does: the number of solutions by the units
    that are right on their worst pattern (of a parity machine: by the product, all at 1), by
    Hamming distance, with each weight up, and the first `room` of them as integers.
    """
    size = int(tables.sizes[0])
    first, last = (prefix * size) >> bits, ((prefix + 1) * size) >> bits
    return _combine(*tables, tables.N, first, last, room)


def estimate(tables):
    """Return the seconds that one thread needs, from timing the kernel on a random sample.

    The last unit is kept whole. Of the others a few vectors are drawn, and more until it takes
    long enough: the cost is proportional to the number of combinations, on average over draws.
    """
    if tables.N <= _UNTIMED or not np.all(tables.sizes):
        return 0.0
    rng = np.random.default_rng(0)
    shuffled = Tables(*(table.copy() for table in tables[:4]), tables.parity)
    for unit, size in enumerate(tables.sizes[:-1]):
        order = rng.permutation(size)
        for table in shuffled[:3]:
            table[unit, :size] = table[unit, order]
    shuffled.sizes[:-1] = 1
    walk(shuffled, 0, 0, 0)  # compiles, where it was not
    while True:
        start = time.perf_counter()
        walk(shuffled, 0, 0, 0)
        seconds = time.perf_counter() - start
        share = shuffled.sizes / tables.sizes
        if seconds > _TIMED or np.all(share == 1):
            return float(seconds / np.prod(share))
        unit = np.argmin(share)
        shuffled.sizes[unit] = min(2 * shuffled.sizes[unit], tables.sizes[unit])


# --- the kernel: one bit per pattern ------------------------------------------------------------

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_1 = np.uint64(1)


@njit(cache=True, nogil=True)
def _combine(wrong, weights, distance, sizes, parity, N, first, last, room):
    """Combine rows `first` to `last` of the first unit with all rows of the others.

    ``state[u, j]`` belongs to a choice of the first u units: the patterns on which more than j
    of them are wrong. On `allowed` + 1 wrong ones the choice is lost. A parity machine has
    ``state[u, 0]`` only: the patterns on which an odd number of them is wrong.
    """
    units, _, words = wrong.shape
    n = N // units
    end_unit = units - 1
    allowed = 0 if parity else end_unit // 2
    levels = 1 if parity else units

    lowest = np.zeros(levels + 1, dtype=np.int64)
    distances = np.zeros(N + 1, dtype=np.int64)
    used = np.zeros(weights.shape, dtype=np.int64)  # solutions by unit and row
    ups = np.zeros(N, dtype=np.int64)
    kept = np.empty(room, dtype=np.uint64)
    n_kept = 0

    state = np.zeros((units, allowed + 1, words), dtype=np.uint64)
    chosen = np.zeros(units, dtype=np.uint64)  # the weights of the first u units
    away = np.zeros(units, dtype=np.int64)  # their distance
    row = np.zeros(units, dtype=np.int64)
    forbidden = np.zeros(words, dtype=np.uint64)

    unit = 0
    row[0] = first
    while True:
        if row[unit] == (last if unit == 0 else sizes[unit]):
            if unit == 0:
                break
            unit -= 1
            row[unit] += 1
            continue
        lost = np.uint64(0)
        for word in range(words):
            bits = wrong[unit, row[unit], word]
            if parity:
                state[unit + 1, 0, word] = state[unit, 0, word] ^ bits
            else:
                state[unit + 1, 0, word] = state[unit, 0, word] | bits
                for j in range(1, allowed + 1):
                    state[unit + 1, j, word] = state[unit, j, word] | (
                        state[unit, j - 1, word] & bits
                    )
                lost |= state[unit + 1, allowed, word]
        if lost != 0:
            row[unit] += 1
            continue
        chosen[unit + 1] = chosen[unit] | weights[unit, row[unit]]
        away[unit + 1] = away[unit] + distance[unit, row[unit]]
        if unit + 1 < end_unit:
            unit += 1
            row[unit] = 0
            continue

        start, stop = 0, sizes[end_unit]
        if parity:  # answers equal to the state, and nothing to forbid among them
            start = _bisect(wrong[end_unit], stop, state[end_unit, 0], False)
            stop = _bisect(wrong[end_unit], stop, state[end_unit, 0], True)
        else:
            for word in range(words):
                forbidden[word] = state[end_unit, allowed - 1, word] if allowed > 0 else _ALL
        solutions = 0
        for r in range(start, stop):
            harm = np.uint64(0)
            for word in range(words):
                harm |= wrong[end_unit, r, word] & forbidden[word]
            if harm != 0:
                continue
            worst = 0 if parity else _most_wrong(state[end_unit], wrong[end_unit, r], allowed)
            lowest[levels - worst] += 1
            distances[away[end_unit] + distance[end_unit, r]] += 1
            used[end_unit, r] += 1
            solutions += 1
            if n_kept < room:
                kept[n_kept] = chosen[end_unit] | weights[end_unit, r]
                n_kept += 1
        for u in range(end_unit):
            used[u, row[u]] += solutions
        row[unit] += 1

    for u in range(units):
        for r in range(sizes[u]):
            if used[u, r] > 0:
                for i in range(u * n, (u + 1) * n):
                    up = (weights[u, r] >> np.uint64(N - 1 - i)) & _1
                    ups[i] += used[u, r] * np.int64(up)
    return lowest, distances, ups, kept[:n_kept].copy()


@njit(cache=True, nogil=True)
def _most_wrong(state, bits, allowed):
    """Return how many units are wrong on the worst pattern, the last unit being wrong on `bits`.

    It is known to be at most `allowed`.
    """
    for j in range(allowed - 1, -1, -1):
        for word in range(len(bits)):
            more = bits[word] if j == 0 else state[j - 1, word] & bits[word]
            if (state[j, word] | more) != 0:
                return j + 1
    return 0


@njit(cache=True, nogil=True)
def _bisect(rows, size, answers, after):
    """Return the first of `size` ascending rows not below `answers`, or above them if `after`."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        below = after
        for word in range(len(answers)):
            if rows[middle, word] != answers[word]:
                below = rows[middle, word] < answers[word]
                break
        if below:
            low = middle + 1
        else:
            high = middle
    return low
