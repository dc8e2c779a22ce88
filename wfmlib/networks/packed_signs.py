"""Signs at one bit each, the patterns side by side: 512 of them are read at once."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.networks._bit_counters import LANES, WORD
from wfmlib.numerics import arguments

BLOCK = LANES * WORD  # patterns in a block


class PackedSigns:
    """Patterns of signs, packed.

    Parameters
    ----------
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.

    Attributes
    ----------
    shape : tuple of int
        P and N.
    words : numpy.ndarray
        uint64, shape (ceil(P / 512), N rounded up to a multiple of 64, 8). Bit i of
        ``words[b, j, l]`` is 1 where pattern ``512 b + 64 l + i`` has +1 at entry j; it is 0
        beyond the last pattern and entry.

    Raises
    ------
    TypeError, ValueError
        If `xi` does not hold signs, or has not two axes.
    """

    def __init__(self, xi):
        xi = arguments.signs("xi", xi, 2)
        self.shape = xi.shape
        self.words = rows(-(-len(xi) // BLOCK), padded(xi.shape[1]))
        _pack(xi, np.empty(xi.shape[1], dtype=np.uint8), self.words.view(np.uint8))

    def __repr__(self):
        P, N = self.shape
        return f"PackedSigns(P={P}, N={N}, {self.words.nbytes / 1e6:.3g} MB)"

    def __len__(self):
        return self.shape[0]


def padded(count):
    """Return a number rounded up to a multiple of 64."""
    return -(-count // WORD) * WORD


def rows(*shape):
    """Return zeros, uint64, shape (*shape, 8).

    They begin where a line of the processor's cache does: no row of 8 words lies across two.
    """
    size = math.prod(shape) * LANES
    longer = np.zeros(size + LANES, dtype=np.uint64)
    first = -longer.ctypes.data % (8 * LANES) // 8
    return longer[first : first + size].reshape(*shape, LANES)


def unpack(bits, P):
    """Return numbers of 8 bits, int8, shape (P,), from words of shape (blocks, 8, 8).

    ``bits[b, i]`` holds bit i of the numbers of block b.
    """
    digits = np.unpackbits(bits.view(np.uint8), axis=-1, bitorder="little")  # (blocks, 8, 512)
    numbers = np.packbits(digits.transpose(0, 2, 1), axis=-1, bitorder="little")
    return numbers.view(np.int8).ravel()[:P]


# ------------------------------------------------------------------------------------------------
# Kernel. In NumPy: bits = np.packbits(xi > 0, axis=0, bitorder="little"), a byte for 8 patterns;
# octets[b, j, o] = bits[64 * b + o, j]
# ------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _pack(xi, some, octets):
    """Pack patterns into bytes of shape (blocks, rows, 64); `some` is for one byte of each."""
    P, N = xi.shape
    for first in range(0, P, 8):
        some[:] = 0
        for a in range(first, min(first + 8, P)):
            bit = np.uint8(1 << (a - first))
            row = xi[a]
            for j in range(N):
                some[j] |= bit if row[j] > 0 else np.uint8(0)
        block, octet = first // BLOCK, first % BLOCK // 8
        for j in range(N):
            octets[block, j, octet] = some[j]
