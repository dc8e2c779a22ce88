"""Averages over groups of solutions of three units, on a plain grid of their three fields."""

from __future__ import annotations

import math

import numpy as np


def over_groups(weight, q0, own, step):
    """Average of ln E weight(w_1, w_2, w_3), three fields on a grid, groups of variance `own`."""
    field = step * np.arange(-round(6.5 / step), round(6.5 / step) + 1)
    weights = weight(np.stack(np.meshgrid(field, field, field, indexing="ij")))
    spread = np.exp(-0.5 * (field[:, None] - field) ** 2 / own)
    spread *= step / math.sqrt(2.0 * math.pi * own)
    share = np.exp(-0.5 * field**2 / q0) * step / math.sqrt(2.0 * math.pi * q0)
    for _ in range(3):
        weights = np.tensordot(spread, weights, axes=(1, 2))
    inside = np.abs(field) < 5.5  # the rest, at the edges of the grid, weighs 1e-9
    weights, share = weights[np.ix_(inside, inside, inside)], share[inside]
    return np.einsum("ijk,i,j,k", np.log(weights), share, share, share, optimize=True)
