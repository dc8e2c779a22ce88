"""Tangent space of units of fixed norm: the directions in which they can move.

A reflection of each unit's space takes the unit's weights to the first axis (or its opposite);
the other axes then span the tangent space of the product of spheres.
"""

from __future__ import annotations

import numpy as np


def pull(surface):
    """Return ``w_k . g_k`` of each unit: what the bending of its sphere takes off."""
    return np.sum(surface.w * surface.gradient(), axis=1)


def normal(surface):
    """Return where, after the reflection, the directions along the weights lie."""
    K, M = surface.w.shape
    return np.arange(K) * M


def bend(matrix, surface):
    """Subtract the pull from the diagonal, in place."""
    M = surface.w.shape[1]
    matrix[np.diag_indices(len(matrix))] -= np.repeat(pull(surface), M)


def mirrors(surface):
    """Return unit vectors u, shape (K, M): ``1 - 2 u u^T`` takes w to the first axis or its
    opposite, whichever is farther, so that no digits are lost.
    """
    u = surface.w.copy()
    u[:, 0] += np.where(u[:, 0] >= 0.0, 1.0, -1.0)
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def mirrored(x, mirrors):
    """Return the reflection of a direction, shape (K, M)."""
    return x - 2 * np.sum(x * mirrors, axis=1, keepdims=True) * mirrors


def reflect(matrix, mirrors):
    """Reflect each unit's rows and columns, in place."""
    K, M = mirrors.shape
    blocks = [slice(k * M, (k + 1) * M) for k in range(K)]
    V = np.stack([matrix[:, span] @ mirrors[k] for k, span in enumerate(blocks)], axis=1)
    S = np.stack([mirrors[k] @ V[span] for k, span in enumerate(blocks)])
    for k, block in enumerate(blocks):
        V[block] -= mirrors[k][:, None] * S[k]
    for k, block in enumerate(blocks):
        matrix[:, block] -= 2 * np.outer(V[:, k], mirrors[k])
        matrix[block] -= 2 * np.outer(mirrors[k], V[:, k])
