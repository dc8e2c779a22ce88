"""What an algorithm returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Solution:
    """The weights that an algorithm ended with, and how it ended.

    Attributes
    ----------
    weights : numpy.ndarray
        As the networks take them: shape (N,) for a perceptron, (K, N/K) for a tree committee,
        (K, N) for a fully connected one. int8 when they are binary.
    errors : int
        Number of patterns that a network with these weights answers wrongly, counted by
        `wfmlib.networks`.
    converged : bool
        Whether the algorithm reached its own aim.
    epochs : int
        How often it went through all patterns.
    history : dict of numpy.ndarray
        What it recorded on its way.
    """

    weights: np.ndarray
    errors: int
    converged: bool
    epochs: int
    history: dict
