"""Comparisons of paired samples: what is the same instance, or training set, is compared.

The unit of replication is what was drawn anew: runs on one training set say nothing of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike
from scipy import stats

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Or
from wfmlib.numerics.types import Array

__all__ = ["holm", "paired", "share_interval"]


def __dir__():
    return __all__


@dataclass(frozen=True)
class Paired:
    """How two rows of paired values differ.

    Attributes
    ----------
    number : int
        Pairs in which both are finite.
    larger : int
        In how many of them the first is larger.
    mean, low, high : float
        Mean of first minus second, and the ends of its 95 per cent interval (Student's t).
    p : float
        Two-sided p-value of Wilcoxon's signed ranks, exact for up to 50 pairs without ties; NaN
        with fewer than two pairs.
    """

    number: int
    larger: int
    mean: float
    low: float
    high: float
    p: float


def paired(one: ArrayLike, other: ArrayLike) -> Paired:
    """Compare two rows of values, pair by pair.

    Parameters
    ----------
    one, other : array_like
        Shape (pairs,), in the same order. Pairs in which one is not finite are left out.

    Returns
    -------
    Paired
        With fewer than two pairs the interval is NaN.

    Raises
    ------
    TypeError, ValueError
        If the two are not rows of numbers, of the same length.

    Examples
    --------
    >>> paired([3, 5, 4, 6, 7], [1, 2, 3, 4, 4]).p
    0.0625
    """
    one, other = arguments.reals("one", one), arguments.reals("other", other)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(
            f"one and other must be rows of the same length, got {one.shape} and {other.shape}"
        )
    differences = (one - other)[np.isfinite(one) & np.isfinite(other)]
    n, larger = len(differences), int(np.sum(differences > 0))
    mean = float(differences.mean()) if n else np.nan
    if n < 2:
        return Paired(n, larger, mean, np.nan, np.nan, np.nan)
    half = stats.t.isf(0.025, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    p = float(stats.wilcoxon(differences).pvalue) if np.any(differences) else 1.0
    return Paired(n, larger, mean, float(mean - half), float(mean + half), p)


@arguments.checked
def holm(p: Annotated[ArrayLike, Interval(ge=0.0, le=1.0), Or(np.nan)]) -> Array:
    """Correct p-values for their number, by Holm's method.

    Reject where the result is below a level: the probability of one wrong rejection or more is
    then below that level, however the tests depend on each other.

    Parameters
    ----------
    p : array_like
        Shape (tests,), from 0 to 1, or NaN: a test that could not be made stays and is not
        counted.

    Returns
    -------
    numpy.ndarray
        Shape (tests,), at least `p` and at most 1.

    Raises
    ------
    TypeError, ValueError
        If `p` is not a row of numbers from 0 to 1.

    Source: Holm, Scand. J. Statist. 6, 65 (1979).

    Examples
    --------
    >>> holm([0.01, 0.04]).tolist()
    [0.02, 0.04]
    """
    p = np.asarray(p)
    if p.ndim != 1:
        raise ValueError(f"p must be a row of numbers from 0 to 1, got {p}")
    corrected, finite = np.full(len(p), np.nan), np.flatnonzero(np.isfinite(p))
    order = finite[np.argsort(p[finite])]
    left = len(finite) - np.arange(len(finite))  # tests that are not rejected yet
    corrected[order] = np.minimum(np.maximum.accumulate(left * p[order]), 1.0)
    return corrected


def share_interval(successes: ArrayLike, number: ArrayLike) -> tuple[Array, Array]:
    """Return the 95 per cent interval of a share, by Clopper and Pearson.

    Parameters
    ----------
    successes, number : array_like
        How many of how many, whole numbers, broadcast against each other.

    Returns
    -------
    low, high : numpy.ndarray
        From 0 to 1. An interval contains the share with a probability of 95 per cent or more.

    Raises
    ------
    TypeError, ValueError
        If the two are not whole numbers, of which the first is from 0 to the second, above 0.

    Source: Clopper and Pearson, Biometrika 26, 404 (1934).

    Examples
    --------
    >>> low, high = share_interval([0, 5, 10], 10)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.187, 0.692]), array([0.308, 0.813, 1.   ]))
    """
    k, n = arguments.broadcast(successes=successes, number=number)
    if not np.all((k >= 0) & (k <= n) & (n > 0) & (k % 1 == 0) & (n % 1 == 0)):
        raise ValueError(
            "successes and number must be whole numbers, from 0 to number, which is positive, got "
            f"{successes} and {number}"
        )
    low = np.where(k > 0, stats.beta.ppf(0.025, np.maximum(k, 1), n - k + 1), 0.0)
    high = np.where(k < n, stats.beta.ppf(0.975, k + 1, np.maximum(n - k, 1)), 1.0)
    return low, high
