"""The answers of a deep network of sign units, from bits: XNOR, and counts of ones.

Signs take one bit, of activations as of weights. The sum of n signs ``w_i a_i`` is ``2 c - n``,
where c counts the places i at which the bits of ``w_i`` and ``a_i`` agree. Usually the bits of one
pattern share words, and an instruction counts the ones of a word. Here the bits of 512 patterns
share the words, for one unit: the ones are counted for all of them at once, bit by bit (see
`_bit_counters`), and what a unit answers is what the next layer reads.

A hidden unit is silent where its sum is 0: it answers 0. To say so takes two bits, those of
``s > 0`` and of ``s >= 0``: as signs, their mean is the answer. The next layer then reads both,
with the same weight, and all its sums are doubled. Where n is odd one bit is enough.

What is computed, in plain NumPy::

    a = xi
    for layer in w[:-1]:
        a = np.sign(a @ layer.T)
    s = a @ w[-1].T
    best = s.max(axis=1)
    label = np.where(np.sum(s == best[:, None], axis=1) == 1, s.argmax(axis=1), -1)
    sign = np.sign(s[:, 0])  # in place of the label, if there is one output unit
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wfmlib.networks._bit_counters import LANES, LEVELS, TABLE, WORD, add_rows, add_word, tabulate
from wfmlib.networks.packed_signs import padded, rows, unpack


def answers(w, packed):
    """Return the answers of the network with the weights `w`, as `BinaryMLP.output` gives them.

    Parameters
    ----------
    w : list of numpy.ndarray
        Signs, shape (units, units of the layer before), layer by layer, at most 127 units in the
        last: not checked.
    packed : PackedSigns
        As many entries in a pattern as the first layer has inputs.

    Returns
    -------
    numpy.ndarray
        Shape (P,), int8.
    """
    inputs, twice, table = packed.words, False, rows(TABLE)
    for layer in w[:-1]:
        weights, n = _packed_weights(layer, twice)
        twice = n % 2 == 0
        above = rows(len(inputs), padded(len(layer) * (1 + twice)))
        _hidden(inputs, weights, *_counters(layer, n, n // 2 + 1), table, twice, above)
        inputs = above
    weights, n = _packed_weights(w[-1], twice)
    answers = rows(len(inputs), 8)
    if len(w[-1]) == 1:
        _sign(inputs, weights, *_counters(w[-1], n, n // 2 + 1), table, n % 2 == 0, answers)
    else:
        _largest(inputs, weights, *_counters(w[-1], n, 0), table, answers)
    return unpack(answers, len(packed))


def _packed_weights(layer, twice):
    """Return weights in words of shape (units, words), and the number n of a unit's inputs.

    Beyond the last weight there are ones: the inputs there are zeros, which count as they are.
    """
    units, inputs = layer.shape
    n = inputs * (1 + twice)
    signs = np.ones((units, padded(n)), dtype=bool)
    for first in range(0, n, inputs):
        signs[:, first : first + inputs] = layer > 0
    return np.packbits(signs, axis=1, bitorder="little").view("<u8").astype(np.uint64), n


def _counters(layer, n, least):
    """Return room for the counters of a layer, the number `top`, and what they start with.

    A counter starts with 2**top - `least`: its bit `top` is 1 as soon as it has counted that
    many ones (with 0 as the least, from the start). Rows 0 to top are its bits. Those that
    follow, for the levels from 6 to top, hold a carry that waits for another one; the last two
    are the carry under way and zeros.
    """
    top = max(n.bit_length(), LEVELS)
    return rows(len(layer), 2 * top + 4 - LEVELS), top, 2**top - least


# ------------------------------------------------------------------------------------------------
# Kernels. What each adds to the counting of ones is said in NumPy, with c the count of a unit.
# ------------------------------------------------------------------------------------------------

_NONE = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def _count(inputs, weights, counters, top, start, table):
    """Count, for all units, where the bits of weights and inputs agree, in one block."""
    wait = top + 1 - LEVELS  # row of a waiting carry, less its level
    carry, zero = 2 * top + 2 - LEVELS, 2 * top + 3 - LEVELS
    units, words = weights.shape
    for k in range(units):
        counters[k, zero] = _NONE
        for level in range(top + 1):
            counters[k, level] = _ALL if start >> level & 1 else _NONE
    for g in range(words):
        tabulate(inputs, WORD * g, table)
        height = LEVELS  # two carries of the same weight make one of twice the weight
        while g >> (height - LEVELS) & 1:
            height += 1
        for k in range(units):
            counter = counters[k]
            if height == LEVELS:
                add_word(table, weights[k, g], counter, wait + LEVELS)
                continue
            add_word(table, weights[k, g], counter, carry)
            for level in range(LEVELS, height - 1):
                add_rows(counter, level, wait + level, carry, carry)
            add_rows(counter, height - 1, wait + height - 1, carry, wait + height)
    for k in range(units):
        counter = counters[k]
        counter[carry] = _NONE
        for level in range(LEVELS, top + 1):  # those that still wait
            partner = wait + level if words >> (level - LEVELS) & 1 else zero
            add_rows(counter, level, partner, carry, carry)


@njit(cache=True, nogil=True)
def _ties(counter, top, lane, even):
    """Return where 2 c = n: for even n, where one more would have been the least."""
    if not even:
        return _NONE
    tie = ~counter[top, lane]
    for level in range(top):
        tie &= counter[level, lane]
    return tie


@njit(cache=True, nogil=True)
def _hidden(inputs, weights, counters, top, start, table, even, above):
    """Write 2 c > n for each unit, and where n is even, below, 2 c >= n."""
    units = len(weights)
    for block in range(len(inputs)):
        _count(inputs[block], weights, counters, top, start, table)
        for k in range(units):
            for lane in range(LANES):
                positive = counters[k, top, lane]
                above[block, k, lane] = positive
                if even:
                    tie = _ties(counters[k], top, lane, even)
                    above[block, units + k, lane] = positive | tie


@njit(cache=True, nogil=True)
def _sign(inputs, weights, counters, top, start, table, even, answers):
    """Write np.sign(2 * c - n), of one unit, in eight bits: those of -1 are all 1."""
    for block in range(len(inputs)):
        _count(inputs[block], weights, counters, top, start, table)
        for lane in range(LANES):
            positive = counters[0, top, lane]
            tie = _ties(counters[0], top, lane, even)
            answers[block, 0, lane] = ~tie
            for bit in range(1, 8):
                answers[block, bit, lane] = ~(positive | tie)


@njit(cache=True, nogil=True)
def _largest(inputs, weights, counters, top, start, table, answers):
    """Write c.argmax() over the units, or -1 where others have as much, in eight bits."""
    for block in range(len(inputs)):
        _count(inputs[block], weights, counters, top, start, table)
        best = counters[0]
        label = answers[block]
        for lane in range(LANES):
            shared = _NONE
            for k in range(1, len(weights)):
                more, equal = _NONE, _ALL
                for level in range(top - 1, -1, -1):
                    differ = counters[k, level, lane] ^ best[level, lane]
                    more |= equal & differ & counters[k, level, lane]
                    equal &= ~differ
                for level in range(top):
                    best[level, lane] ^= more & (best[level, lane] ^ counters[k, level, lane])
                for bit in range(7):
                    chosen = _ALL if k >> bit & 1 else _NONE
                    label[bit, lane] ^= more & (label[bit, lane] ^ chosen)
                shared = (shared | equal) & ~more
            for bit in range(8):
                label[bit, lane] |= shared
