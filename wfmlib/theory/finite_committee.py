"""Tree committees of a finite number of sign units: how many patterns they store.

Replica symmetry, spherical weights of each unit, margin 0. The output is the majority of K signs;
as the overlap of solutions tends to 1, a pattern's K preactivations, normal with unit variance,
are moved by the least distance D that makes the desired output the majority, and the capacity is
``1 / E D^2``  [eq-nearest-solution].

With n > K/2 units on the wrong side, those ``n - (K - 1) / 2`` cross over that are nearest to
their threshold. So a unit with preactivation ``-x`` crosses over, at the cost x^2, if at least
(K - 1) / 2 of the other K - 1 lie below it, and

    E D^2 = K int_0^inf dx G(x) x^2 Prob(B >= (K - 1) / 2),   B binomial(K - 1, H(x)).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from wfmlib import _validate, gaussian

__all__ = ["rs_capacity"]

MOST_UNITS = 10**6 + 1


def rs_capacity(units):
    """Return the replica-symmetric capacity of a tree committee of sign units.

    Parameters
    ----------
    units : int or array_like of int
        Number K of hidden units, odd, from 1 to 1000001.

    Returns
    -------
    float or ndarray
        Patterns per weight, of the shape of `units`: ``1 / E D^2``  [eq-nearest-solution]. It
        grows like ``sqrt(72 K / pi) - 9``, up to terms of order ``1 / sqrt(K)``
        [eq-sign-rs-scaling].

    Raises
    ------
    TypeError, ValueError
        If `units` holds anything but odd integers in that range.

    Notes
    -----
    Exact at this level but for the quadrature: relative error below 1e-11. For K = 1 it is the
    capacity of the perceptron; for more units replica symmetry breaks at a smaller load, and the
    value is an upper bound.

    Source: P2, main text (the law for large K); E. Barkai, D. Hansel, H. Sompolinsky, Phys. Rev. A
    45, 4146 (1992), and A. Engel et al., Phys. Rev. A 45, 7590 (1992), for K = 3.

    Examples
    --------
    >>> round(rs_capacity(1), 10), round(rs_capacity(3), 4)
    (2.0, 4.0252)
    """
    given = _validate.array("units", units)
    if given.ndim == 0:
        return _capacity(_odd(units))
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"units must hold integers, got dtype {given.dtype}")
    found = [_capacity(_odd(one)) for one in given.ravel().tolist()]
    return np.array(found, dtype=float).reshape(given.shape)


def _odd(units):
    if type(units) is np.ndarray:
        units = units.item()
    units = _validate.integer("units", units, 1, MOST_UNITS)
    if units % 2 == 0:
        raise ValueError(f"units must be odd, got {units}")
    return units


def _capacity(units):
    half = (units - 1) // 2
    # the chance to cross over falls from one half to zero within about 1 / sqrt(units)
    features = np.array([[0.0, 1.0 / math.sqrt(units)]])
    x, weight = gaussian.fill_grid(features, 0.0, gaussian.LIMIT, gaussian.legendre_rule())
    # at least half of twice half others: an incomplete beta function, 1 without others
    crossing = special.betainc(half, half + 1, gaussian.H(x)) if half else 1.0
    return float(1.0 / (units * (weight @ (x**2 * crossing))))
