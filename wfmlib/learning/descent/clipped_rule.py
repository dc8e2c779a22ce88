"""The clipped perceptron rule: weights are the signs of hidden odd integers.

A pattern that is answered wrongly moves all hidden integers towards it; one that is answered right
by the smallest stability does so three times in ten, and moves those that agree with it alone
(Baldassi, J. Stat. Phys. 136, 902 (2009)). One epoch, for ``aligned`` patterns, each times its
label, in plain NumPy::

    for x in aligned[rng.permutation(len(aligned))]:
        agrees = np.sign(h) * x > 0
        stability = agrees.sum() - (~agrees).sum()
        if stability <= 0:
            h += 2 * x
        elif stability == 1 and rng.random() < 0.3:
            h += 2 * x * agrees
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wfmlib.numerics import arguments

SHARE = 0.3  # of the patterns that are barely right: they move hidden integers too


@njit(cache=True, nogil=True)
def _epoch(aligned, hidden, rng):
    """Show all patterns once, in a random order."""
    P, N = aligned.shape
    for a in rng.permutation(P):
        stability = 0
        for i in range(N):
            stability += aligned[a, i] if hidden[i] > 0 else -aligned[a, i]
        if stability <= 0:
            for i in range(N):
                hidden[i] += 2 * aligned[a, i]
        elif stability == 1 and rng.random() < SHARE:
            for i in range(N):
                if aligned[a, i] * hidden[i] > 0:
                    hidden[i] += 2 * aligned[a, i]


def clipped_rule(xi, sigma, *, seed, epochs=1000):
    """Return the weights that the rule ends with, shape (N,), and how many epochs it took.

    Parameters
    ----------
    xi, sigma : numpy.ndarray
        Patterns, shape (P, N), N odd, and labels, shape (P,), entries -1 and +1.
    seed : int
        Of the generator, not negative.
    epochs : int, optional
        The most; weights are a solution where fewer were taken.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    """
    xi, sigma = arguments.patterns(xi, sigma)
    seed = arguments.integer("seed", seed, 0)
    epochs = arguments.integer("epochs", epochs, 1)
    aligned = xi * sigma[:, None]
    rng = np.random.default_rng(seed)
    hidden = 2 * rng.integers(-2, 2, xi.shape[1]) + 1
    for epoch in range(epochs):
        if np.all(aligned @ np.sign(hidden) > 0):
            return np.sign(hidden).astype(np.int8), epoch
        _epoch(aligned, hidden, rng)
    return np.sign(hidden).astype(np.int8), epochs
