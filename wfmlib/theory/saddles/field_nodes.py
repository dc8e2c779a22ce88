"""Nodes and Gaussian weights for the part of a pattern's field that replicas share."""

from __future__ import annotations

import math

import numpy as np

from wfmlib.numerics import gaussian


def field_nodes(constraint, overlap, low, high, order, *, most=600, flat=0.05):
    """Return nodes x and weights for averages over a field ``sqrt(c) x``, x normal.

    At equal distances where the poles of the constraint's force are far enough from the real axis,
    and else on panels that are graded where the constraint bends.

    Parameters
    ----------
    constraint : LogConcave
    overlap : EffectiveOverlap
        Of which c is the variance of the field, and `complement` that of the rest.
    low, high : float
        Ends of x.
    order : int
        Nodes in a panel.
    most : int
        Nodes at equal distances, beyond which panels take fewer.
    flat : float
        sqrt(c) up to which the constraint bends over more than the width of the Gaussian.
    """
    root, spread = math.sqrt(overlap.c), math.sqrt(overlap.complement)
    strip = constraint.pole * spread / root if root else math.inf
    nodes = gaussian.spaced(strip, low, high, most)
    if nodes is not None:
        return nodes
    features = np.empty((0, 2))
    if root > flat:
        features = np.array(constraint.features(overlap.complement)) / root
    return gaussian.panels(features, low, high, gaussian.legendre_rule(order))
