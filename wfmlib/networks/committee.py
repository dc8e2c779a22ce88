"""The fully connected committee: the majority of sign units that all see the whole input."""

from __future__ import annotations

import numpy as np

from wfmlib.networks.tree_committee import TreeCommittee


class Committee(TreeCommittee):
    """K sign units on the same N inputs; the output is the sign of the sum of their signs.

    All that is said of `TreeCommittee` holds, but for what a unit sees: unit l has N weights and
    its preactivation is ``w_l . xi / sqrt(N)``. Exchanging two units changes no answer.

    Parameters
    ----------
    w : array_like
        Weights, shape (K, N) with any K >= 1, finite real numbers, no unit zero throughout.

    Attributes
    ----------
    w : numpy.ndarray
        The weights, shape (K, N): int64 when they are binary, float64 otherwise.

    Raises
    ------
    TypeError
        If `w` does not hold real numbers.
    ValueError
        If `w` has not two axes, is empty, is not finite, or is zero throughout in a unit.
    """

    tree = False

    @property
    def inputs(self) -> int:
        """Number N of inputs."""
        return self.w.shape[1]

    def _parts(self, xi):
        return np.broadcast_to(xi[:, None, :], (len(xi), *self.w.shape))
