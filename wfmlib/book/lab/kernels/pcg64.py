"""NumPy's default generator as kernels: what ``numpy.random.default_rng(seed)`` draws, bit by bit.

Where no NumPy is, as on a page of the book, an instance is drawn with these, and is the one that
the same seed gives in Python. The generator is PCG64 (O'Neill 2014), 128 bits that move by one
multiplication and one addition, seeded by the hash of `numpy.random.SeedSequence`. What is drawn
from its words follows `numpy.random.Generator`: fair signs, uniform and normal numbers,
permutations.

A generator is an array of uint64, shape (6,): the high and the low word of the state, those of the
increment, whether half a word is kept, and that half.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.np.random import distributions

WORDS = 6  # of a generator
LARGEST = 2**32 - 1  # seed: one word of the hash

MULTIPLIER = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
_1, HALF, LOW = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)

# of the hash of `numpy.random.SeedSequence`, words of 32 bits
POOL = 4
FIRST, SECOND = (
    (np.uint64(0x43B0D7E5), np.uint64(0x931E8875)),
    (
        np.uint64(0x8B51F9DD),
        np.uint64(0x58F38DED),
    ),
)
MIX = np.uint64(0xCA01F9DD), np.uint64(0x4973F715)

# of the ziggurat for normal numbers (Marsaglia and Tsang 2000), as NumPy's
WIDTHS, HEIGHTS = np.array(distributions.wi_double), np.array(distributions.fi_double)
INSIDE = np.array(distributions.ki_double)
EDGE, INVERSE_EDGE = distributions.ziggurat_nor_r, distributions.ziggurat_nor_inv_r

kernel = njit(cache=True, nogil=True, error_model="numpy")


@kernel
def _folded(word):
    """Mix the upper half of a word of 32 bits into the lower."""
    word &= LOW
    return word ^ (word >> np.uint64(16))


@kernel
def _product(a, b):
    """Return the high and the low word of the product of two words."""
    a1, a0, b1, b0 = a >> HALF, a & LOW, b >> HALF, b & LOW
    middle = a1 * b0 + ((a0 * b0) >> HALF)
    lower = (middle & LOW) + a0 * b1
    return a1 * b1 + (middle >> HALF) + (lower >> HALF), a * b


@kernel
def _sum(high, low, more_high, more_low):
    """Return the sum of two numbers of 128 bits."""
    total = low + more_low
    return high + more_high + (_1 if total < low else np.uint64(0)), total


@kernel
def _step(state):
    """Move a generator on."""
    high, low = _product(state[1], MULTIPLIER[1])
    high += state[0] * MULTIPLIER[1] + state[1] * MULTIPLIER[0]
    state[0], state[1] = _sum(high, low, state[2], state[3])


@kernel
def seed(number, state):
    """Set a generator to that of ``numpy.random.default_rng(number)``.

    Parameters
    ----------
    number : int
        From 0 to `LARGEST`.
    state : ndarray, shape (6,), uint64
        Filled in.
    """
    pool = np.zeros(POOL, dtype=np.uint64)
    pool[0] = np.uint64(number)
    constant = FIRST[0]
    for i in range(POOL):
        word = pool[i] ^ constant
        constant = (constant * FIRST[1]) & LOW
        pool[i] = _folded(word * constant)
    for i in range(POOL):
        for j in range(POOL):
            if i != j:
                word = pool[i] ^ constant
                constant = (constant * FIRST[1]) & LOW
                mixed = MIX[0] * pool[j] - MIX[1] * _folded(word * constant)
                pool[j] = _folded(mixed)
    words = np.empty(2 * POOL, dtype=np.uint64)
    constant = SECOND[0]
    for i in range(2 * POOL):
        word = pool[i % POOL] ^ constant
        constant = (constant * SECOND[1]) & LOW
        words[i] = _folded(word * constant)
    pairs = words[::2] | (words[1::2] << HALF)
    state[:] = np.uint64(0)
    state[2] = (pairs[2] << _1) | (pairs[3] >> np.uint64(63))
    state[3] = (pairs[3] << _1) | _1
    _step(state)
    state[0], state[1] = _sum(state[0], state[1], pairs[0], pairs[1])
    _step(state)


@kernel
def word(state):
    """Return the next 64 bits."""
    _step(state)
    turn = state[0] >> np.uint64(58)
    mixed = state[0] ^ state[1]
    return (mixed >> turn) | (mixed << ((np.uint64(64) - turn) & np.uint64(63)))


@kernel
def half(state):
    """Return the next 32 bits: a word gives two, the lower first."""
    if state[4]:
        state[4] = np.uint64(0)
        return state[5]
    pair = word(state)
    state[4], state[5] = _1, pair >> HALF
    return pair & LOW


@kernel
def signs(state, out):
    """Fill an array with fair signs, as ``2 * integers(2, size, dtype=np.int8) - 1``."""
    four = np.uint64(0)
    for i in range(len(out)):
        four = half(state) if i % 4 == 0 else four >> np.uint64(8)
        out[i] = 1 if four & np.uint64(0x80) else -1


@kernel
def uniform(state):
    """Return a number from 0 to below 1, as ``random()``."""
    return np.int64(word(state) >> np.uint64(11)) * 2.0**-53


@kernel
def normal(state):
    """Return a standard normal number, as ``standard_normal()``."""
    while True:
        bits = word(state)
        i = np.int64(bits & np.uint64(0xFF))
        inside = (bits >> np.uint64(9)) & np.uint64(0xFFFFFFFFFFFFF)
        x = np.int64(inside) * WIDTHS[i]
        if bits & np.uint64(0x100):
            x = -x
        if inside < INSIDE[i]:
            return x
        if i == 0:
            while True:
                beyond = -INVERSE_EDGE * np.log1p(-uniform(state))
                depth = -np.log1p(-uniform(state))
                if depth + depth > beyond * beyond:
                    x = EDGE + beyond
                    return -x if (inside >> np.uint64(8)) & _1 else x
        step = (HEIGHTS[i - 1] - HEIGHTS[i]) * uniform(state) + HEIGHTS[i]
        if step < np.exp(-0.5 * x * x):
            return x


@kernel
def quarter(state):
    """Return an integer from 0 to below 4, as ``integers(4)``."""
    return np.int64(half(state) >> np.uint64(30))


@kernel
def _up_to(state, most):
    """Return an integer from 0 to a number below 2^32: draws that are larger are drawn again."""
    mask = np.uint64(most)
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> np.uint64(shift)
    drawn = half(state) & mask
    while drawn > np.uint64(most):
        drawn = half(state) & mask
    return np.int64(drawn)


@kernel
def shuffled(state, order):
    """Fill an array with 0, 1, ... in random order, as ``permutation(len(order))``."""
    for i in range(len(order)):
        order[i] = i
    for i in range(len(order) - 1, 0, -1):
        j = _up_to(state, i)
        order[i], order[j] = order[j], order[i]
