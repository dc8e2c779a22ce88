"""Slow and obvious statements of what the kernels compute."""

from __future__ import annotations

import itertools

import numpy as np


def all_signs(N):
    """Return all 2^N vectors of signs, shape (2^N, N), in ascending lexicographic order."""
    return np.array(list(itertools.product((-1, 1), repeat=N)))


def smallest_agreement(w, xi, sigma):
    """Return the least ``sigma (w . xi)`` over the patterns, one integer per row of `w`."""
    agreement = np.asarray(sigma, dtype=int)[:, None] * (np.asarray(xi, dtype=int) @ w.T)
    return agreement.min(axis=0)
