"""The clipped perceptron rule on one instance, epoch by epoch.

Weights are the signs of hidden odd integers. A pattern that is answered wrongly moves all of these
towards it; one that is answered right by the smallest stability does so three times in ten, and
for those that agree with it alone (Baldassi, J. Stat. Phys. 136, 902 (2009)).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wfmlib.numerics import arguments, pcg64

SHARE = 0.3  # of the patterns that are barely right: they move hidden integers too


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


def learned(xi, sigma, *, seed, epochs=1000):
    """Return the weights that the rule ends with, shape (N,), and how many epochs it took.

    Parameters
    ----------
    xi, sigma : numpy.ndarray
        Patterns, shape (P, N), N odd, and labels, shape (P,), entries -1 and +1.
    seed : int
        From 0 to `pcg64.LARGEST`.
    epochs : int, optional
        The most; weights are a solution where fewer were taken.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    """
    xi, sigma = arguments.patterns(xi, sigma)
    seed = arguments.integer("seed", seed, 0, pcg64.LARGEST)
    epochs = arguments.integer("epochs", epochs, 1)
    patterns = xi * sigma[:, None]
    random, hidden = np.empty(pcg64.WORDS, dtype=np.uint64), np.empty(xi.shape[1])
    begun(seed, random, hidden)
    for epoch in range(epochs):
        if np.all(patterns @ np.sign(hidden) > 0.0):
            return np.sign(hidden).astype(np.int8), epoch
        corrected(patterns, random, hidden)
    return np.sign(hidden).astype(np.int8), epochs
