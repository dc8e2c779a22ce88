"""Patterns at one bit an entry, and the two products that message passing asks of them.

Labels are folded in: what is kept are the signs ``sigma_a xi_ai``, each in one bit, 64 weights to
a word, and the words of one group of 64 weights side by side over all patterns. So 10^5 patterns
of 10^5 entries take 1.25 GB and are never unpacked. Both products read eight signs at a time:

- *patterns times weights*: a byte of signs picks one of the 256 values that the sum of eight
  weights can take, from a table that is made once for all patterns;
- *weights' side, patterns summed over*: the byte picks one of 256 bins, to which the pattern's
  number is added; eight signed sums over the bins, made once, are eight entries of the product.

That is one table entry (or bin) for eight multiplications. What is computed, in plain NumPy::

    signs = sigma[:, None] * xi
    fields = signs @ w                                        # shape (P,)
    pull = signs.T @ g                                        # shape (N,)

Sums are in float64, and in an order that does not depend on the number of threads.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from wfmlib.learning._words import ones
from wfmlib.numerics import _threads, arguments
from wfmlib.numerics.types import Array, Seed

WORD = 64  # signs in a word

_BLOCK = 8192  # patterns whose sums wait together, in 64 kB
_PIECE = 2**22  # int8 entries that are packed at a time
_ALONE = 10**7  # entries that one thread takes through in less than a millisecond


class PackedPatterns:
    """Patterns times labels, one bit an entry.

    Parameters
    ----------
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.

    Attributes
    ----------
    N, P : int
        Number of weights and of patterns.
    words : numpy.ndarray
        uint64, shape (ceil(N / 64), P). Bit i of ``words[r, a]`` is 1 where pattern a, times its
        label, has +1 at weight ``64 r + i``; bits beyond the last weight are 0.

    Raises
    ------
    TypeError, ValueError
        If an array does not hold signs, or the shapes do not match.

    Examples
    --------
    >>> packed = PackedPatterns.random(6, 64, rng=1)
    >>> packed.unpack()[0].shape
    (64,)
    >>> w = np.ones(64, dtype=np.int64)
    >>> packed.errors(w), packed.fields(w).tolist()
    (2, [8.0, 0.0, -4.0, 8.0, 6.0, 2.0])
    >>> packed.stabilities(w).round(3).tolist()
    [1.0, 0.0, -0.5, 1.0, 0.75, 0.25]
    >>> packed.pull(np.arange(6.0))[:3].tolist()  # a sum over patterns times labels
    [-3.0, -7.0, -9.0]
    """

    def __init__(self, xi: ArrayLike, sigma: ArrayLike) -> None:
        xi, sigma = arguments.patterns(xi, sigma)
        self.P, self.N = xi.shape
        self.words = np.zeros((-(-self.N // WORD), self.P), dtype=np.uint64)
        rows = max(_PIECE // self.N, 1)
        for start in range(0, self.P, rows):
            chunk = slice(start, start + rows)
            bits = np.packbits(xi[chunk] == sigma[chunk, None], axis=1, bitorder="little")
            padded = np.zeros((len(bits), 8 * len(self.words)), dtype=np.uint8)
            padded[:, : bits.shape[1]] = bits
            self.words[:, chunk] = padded.view("<u8").T

    @classmethod
    def random(cls, P: int, N: int, *, rng: Seed = None) -> PackedPatterns:
        """Draw random patterns and labels, packed as they are drawn.

        The product of a fair label and a fair sign is a fair sign, so only the products are
        drawn. The law is that of `wfmlib.patterns.random`, the stream of random numbers is not:
        one seed gives other patterns there.

        Parameters
        ----------
        P, N : int
            Number of patterns and number of weights, both at least 1.
        rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Where the randomness comes from: fresh entropy where None; a generator is advanced.

        Returns
        -------
        PackedPatterns
            Drawn with 8 P bytes besides its own.

        Raises
        ------
        TypeError
            If `P` or `N` is not an integer, or `rng` is none of the four kinds.
        ValueError
            If `P` or `N` is below 1, or an integer `rng` is negative.
        """
        drawn = cls.__new__(cls)
        drawn.P, drawn.N = arguments.integer("P", P, 1), arguments.integer("N", N, 1)
        rng = arguments.generator(rng)
        drawn.words = np.empty((-(-drawn.N // WORD), drawn.P), dtype=np.uint64)
        for row in drawn.words:
            row[:] = rng.integers(2**64 - 1, size=drawn.P, dtype=np.uint64, endpoint=True)
        drawn.words[-1] >>= np.uint64(-drawn.N % WORD)
        return drawn

    def __repr__(self):
        return f"PackedPatterns(P={self.P}, N={self.N}, {self.words.nbytes / 1e6:.3g} MB)"

    def unpack(self, rows: int | slice | Array = slice(None)) -> Array:
        """Return patterns times labels as plain signs.

        Parameters
        ----------
        rows : int, slice or array_like, optional
            Which patterns, as an index of a NumPy axis of length P; all of them by default,
            which takes N P bytes.

        Returns
        -------
        numpy.ndarray
            int8, shape (number of rows, N), or (N,) for a single row.
        """
        words = np.ascontiguousarray(self.words[:, rows].T, dtype="<u8")
        bits = np.unpackbits(words.view(np.uint8), axis=-1, count=self.N, bitorder="little")
        return 2 * bits.view(np.int8) - 1

    def fields(self, w: ArrayLike, *, threads: int | None = None) -> Array:
        """Return ``sum_i sigma_a xi_ai w_i`` for every pattern a.

        Parameters
        ----------
        w : array_like
            Real numbers, shape (N,).
        threads : int, optional
            Number of threads; all that numba may use where None (``NUMBA_NUM_THREADS``).

        Returns
        -------
        numpy.ndarray
            float64, shape (P,); exact where `w` holds integers.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind, shape or range.
        """
        padded = np.zeros(WORD * len(self.words))
        padded[: self.N] = _reals("w", w, self.N)
        threads = self._threads(threads)
        out = np.empty(self.P)
        block = min(_BLOCK, -(-self.P // threads))
        _threads.run(lambda *part: _fields(self.words, padded, out, *part), self.P, block, threads)
        return out

    def pull(self, g: ArrayLike, *, threads: int | None = None) -> Array:
        """Return ``sum_a sigma_a xi_ai g_a`` for every weight i.

        Parameters
        ----------
        g : array_like
            Real numbers, shape (P,).
        threads : int, optional
            As in `fields`.

        Returns
        -------
        numpy.ndarray
            float64, shape (N,); exact where `g` holds integers.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind, shape or range.
        """
        g = _reals("g", g, self.P)
        threads = self._threads(threads)
        out = np.empty(WORD * len(self.words))
        share = -(-len(self.words) // (4 * threads)) if threads > 1 else len(self.words)
        _threads.run(
            lambda *part: _pull(self.words, g, out, *part), len(self.words), share, threads
        )
        return out[: self.N]

    def stabilities(self, w: ArrayLike, *, threads: int | None = None) -> Array:
        """Return the stability ``sigma (w . xi) / |w|`` of each pattern [eq-stability].

        Parameters
        ----------
        w : array_like
            Weights, shape (N,), finite real numbers that are not all zero.
        threads : int, optional
            As in `fields`.

        Returns
        -------
        numpy.ndarray
            float64, shape (P,), dimensionless, as a `PerceptronNetwork` gives them. For binary
            weights the numerator is an exact integer.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind, shape or range.
        """
        w = _reals("w", w, self.N)
        size = np.abs(w).max()
        if not (0.0 < size < math.inf):
            raise ValueError(f"w must be finite and not zero throughout, got entries up to {size}")
        scaled = w / size  # its squares neither overflow nor underflow
        return self.fields(scaled, threads=threads) / math.sqrt(np.sum(scaled**2))

    def errors(self, w: ArrayLike, margin: float = 0.0, *, threads: int | None = None) -> int:
        """Return how many patterns have a stability that is not above `margin`.

        Parameters
        ----------
        w : array_like
            Weights, shape (N,).
        margin : float, optional
            The margin kappa, dimensionless. A tie is an error.
        threads : int, optional
            As in `fields`.

        Returns
        -------
        int

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind, shape or range.
        """
        margin = arguments.real("margin", margin)
        w = _reals("w", w, self.N)
        if not np.all(np.abs(w) == 1.0):
            return int(np.count_nonzero(self.stabilities(w, threads=threads) <= margin))
        signs = np.zeros(8 * len(self.words), dtype=np.uint8)
        bits = np.packbits(w > 0.0, bitorder="little")
        signs[: len(bits)] = bits
        most = 0.5 * (self.N - margin * math.sqrt(self.N))  # weights that disagree, without error
        return _disagreeing(self.words, signs.view("<u8"), most)

    def _threads(self, threads):
        """Return the number of threads worth starting."""
        if threads is None:
            threads = _threads.available()
        threads = arguments.integer("threads", threads, 1)
        return threads if self.N * self.P > _ALONE else 1


def packed_together(xi, sigma):
    """Return the patterns packed with their labels, and check that these came where they must."""
    if isinstance(xi, PackedPatterns):
        if sigma is not None:
            raise ValueError("sigma must be left out where xi is packed: labels are folded in")
        return xi
    if sigma is None:
        raise TypeError("sigma must be given unless xi is PackedPatterns(...)")
    return PackedPatterns(xi, sigma)


def _reals(name, value, length):
    """Return `value` as contiguous float64 after checking its shape."""
    value = arguments.reals(name, value)
    if value.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},), got shape {value.shape}")
    return np.ascontiguousarray(value)


# ------------------------------------------------------------------------------------------------
# Kernels
# ------------------------------------------------------------------------------------------------

# A table for each of the eight bytes of a word: where it begins. Unsigned, since mixed with
# signed integers they would become floats.
_T1, _T2, _T3, _T4, _T5, _T6, _T7 = (np.uint64(256 * k) for k in range(1, 8))
_S1, _S2, _S3, _S4, _S5, _S6, _S7 = (np.uint64(8 * k) for k in range(1, 8))
_BYTE = np.uint64(255)


@njit(cache=True, nogil=True)
def _sums(w, table):
    """Fill the table of all signed sums, for each of eight groups of eight weights."""
    for k in range(8):
        start = 256 * k
        table[start] = 0.0
        for i in range(8):
            table[start] -= w[8 * k + i]
        for i in range(8):
            size = 1 << i  # what the lower weights make is there: raise this one
            for v in range(size):
                table[start + size + v] = table[start + v] + 2.0 * w[8 * k + i]


@njit(cache=True, nogil=True)
def _signed_sums(bins, out):
    """Sum each group of 256 bins eight times, signed by one bit of the bin's number."""
    for k in range(8):
        start = 256 * k
        for i in range(7, -1, -1):
            size = 1 << i
            total = 0.0
            for v in range(size):
                low, high = bins[start + v], bins[start + size + v]
                total += high - low
                bins[start + v] = low + high  # the other bits do not see this one
            out[8 * k + i] = total


@njit(cache=True, nogil=True)
def _fields(words, w, out, start, stop):
    """Write patterns times weights for the patterns from `start` to `stop`."""
    table = np.empty(2048)
    out[start:stop] = 0.0
    for r in range(len(words)):
        _sums(w[64 * r : 64 * r + 64], table)
        row = words[r]
        for a in range(start, stop):
            x = row[a]
            first = table[x & _BYTE] + table[_T1 | (x >> _S1 & _BYTE)]
            second = table[_T2 | (x >> _S2 & _BYTE)] + table[_T3 | (x >> _S3 & _BYTE)]
            third = table[_T4 | (x >> _S4 & _BYTE)] + table[_T5 | (x >> _S5 & _BYTE)]
            fourth = table[_T6 | (x >> _S6 & _BYTE)] + table[_T7 | (x >> _S7)]
            out[a] += (first + second) + (third + fourth)


@njit(cache=True, nogil=True)
def _pull(words, g, out, start, stop):
    """Write the sums over patterns for the words of weights from `start` to `stop`."""
    bins = np.empty(2048)
    for r in range(start, stop):
        bins[:] = 0.0
        row = words[r]
        for a in range(len(g)):
            x, y = row[a], g[a]
            bins[x & _BYTE] += y
            bins[_T1 | (x >> _S1 & _BYTE)] += y
            bins[_T2 | (x >> _S2 & _BYTE)] += y
            bins[_T3 | (x >> _S3 & _BYTE)] += y
            bins[_T4 | (x >> _S4 & _BYTE)] += y
            bins[_T5 | (x >> _S5 & _BYTE)] += y
            bins[_T6 | (x >> _S6 & _BYTE)] += y
            bins[_T7 | (x >> _S7)] += y
        _signed_sums(bins, out[64 * r : 64 * r + 64])


@njit(cache=True, nogil=True)
def _disagreeing(words, signs, most):
    """Return in how many patterns the signs disagree with as many entries as `most`, or more."""
    count = np.zeros(words.shape[1], dtype=np.int64)
    for r in range(len(words)):
        row, sign = words[r], signs[r]
        for a in range(len(count)):
            count[a] += np.int64(ones(row[a] ^ sign))
    return np.count_nonzero(count >= most)
