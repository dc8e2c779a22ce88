"""Patterns of an instance, drawn as `wfmlib.patterns.random` draws them."""

from __future__ import annotations

import numpy as np
from numba import njit

from wfmlib.book.lab.kernels import pcg64


@njit(cache=True, nogil=True)
def drawn(seed, patterns, labels):
    """Draw patterns and multiply them by their labels.

    Parameters
    ----------
    seed : float
        A whole number from 0 to `pcg64.LARGEST`.
    patterns : ndarray, shape (P, N), int8
        Filled with what ``xi * sigma[:, None]`` holds after
        ``xi, sigma = patterns.random(P, N, rng=seed)``.
    labels : ndarray, shape (P,), int8
        Filled with ``sigma``.

    Returns
    -------
    float
        P.
    """
    state = np.empty(pcg64.WORDS, dtype=np.uint64)
    pcg64.seed(np.int64(seed), state)
    flat = np.empty(patterns.size, dtype=np.int8)
    pcg64.signs(state, flat)
    pcg64.signs(state, labels)
    P, N = patterns.shape
    for a in range(P):
        for i in range(N):
            patterns[a, i] = flat[a * N + i] * labels[a]
    return float(len(labels))
