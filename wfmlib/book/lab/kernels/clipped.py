"""The clipped perceptron rule, epoch by epoch: `learning.descent.clipped_rule` as kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from wfmlib.book.lab.kernels import pcg64
from wfmlib.learning.descent.clipped_rule import SHARE


@njit(cache=True, nogil=True)
def begun(seed, random, hidden):
    """Draw hidden integers from -3, -1, 1 and 3, as ``2 * rng.integers(-2, 2, N) + 1``.

    Parameters
    ----------
    seed : float
        Of the generator, a whole number from 0 to `pcg64.LARGEST`.
    random : ndarray, shape (6,), uint64
        Filled with the generator.
    hidden : ndarray, shape (N,)
        Filled in.

    Returns
    -------
    float
        0.
    """
    pcg64.seed(np.int64(seed), random)
    for i in range(len(hidden)):
        hidden[i] = 2.0 * (pcg64.quarter(random) - 2) + 1.0
    return 0.0


@njit(cache=True, nogil=True)
def corrected(patterns, random, hidden):
    """Show the rule all patterns once, in a random order.

    Parameters
    ----------
    patterns : ndarray, shape (P, N), int8
        As `drawn` fills them; N is odd.
    random, hidden : ndarray
        As `begun` fills them.

    Returns
    -------
    float
        How many patterns were wrong when they were shown.
    """
    P, N = patterns.shape
    order = np.empty(P, dtype=np.int64)
    pcg64.shuffled(random, order)
    wrong = 0
    for a in order:
        stability = 0
        for i in range(N):
            stability += patterns[a, i] if hidden[i] > 0.0 else -patterns[a, i]
        if stability <= 0:
            wrong += 1
            for i in range(N):
                hidden[i] += 2.0 * patterns[a, i]
        elif stability == 1 and pcg64.uniform(random) < SHARE:
            for i in range(N):
                if patterns[a, i] * hidden[i] > 0.0:
                    hidden[i] += 2.0 * patterns[a, i]
    return float(wrong)
