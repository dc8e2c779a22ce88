"""Statistical tests of claims on data: of stated level, and how many samples would decide.

A comparison is decided where a two-sided test at `LEVEL`, divided by the number of comparisons,
finds a difference; its sign says which way. Elsewhere the data cannot tell, and `needed` samples
would: at that number the same test finds a difference of the observed size with `POWER`. Dividing
the level (Bonferroni) is stricter than `wfmlib.numerics.comparisons.holm`, which chapters use
where all p-values are there at once: `needed` asks for a level that does not depend on the
other tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

LEVEL = 0.05
POWER = 0.8
_MANY = 10**7  # samples that nobody will draw: no difference is in sight


class Answer(NamedTuple):
    """What a check found.

    Attributes
    ----------
    agrees : bool or None
        Whether the claim holds; None where the data cannot tell.
    finding : str or float
        What was found, in words; for a claim that is a number, the number.
    needed : int or None
        Where the data cannot tell, the number of samples that would decide; None where no number
        of them would.
    of : str
        What they are samples of, in the plural.
    """

    agrees: bool | None
    finding: str | float
    needed: int | None = None
    of: str = "samples"


class Comparison(NamedTuple):
    """One comparison.

    Attributes
    ----------
    sign : int
        +1 where the first is larger, -1 where it is smaller, 0 where the data cannot tell.
    p : float
        The two-sided p-value, not corrected for the number of comparisons.
    needed : int
        The number of samples, of the kind that was compared, at which the observed difference
        would be found with `POWER`.
    """

    sign: int
    p: float
    needed: int


def compare(values, bound=0.0, *, comparisons=1):
    """Compare the mean of independent values with a bound, by Student's test.

    Paired data are compared by their differences. Values that are not finite are left out.
    """
    values = np.asarray(values, dtype=float).ravel()
    values = values[np.isfinite(values)] - bound
    level = LEVEL / comparisons
    if len(values) < 2:
        return Comparison(0, 1.0, _MANY)
    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    if spread <= 1e-12 * abs(mean) or spread == 0.0:
        return Comparison(int(np.sign(mean)), 0.0 if mean else 1.0, len(values))
    p = float(stats.ttest_1samp(values, 0.0).pvalue)

    def power(n):
        freedom, shift = n - 1, abs(mean) / spread * math.sqrt(n)
        return stats.nct.sf(stats.t.isf(level / 2.0, freedom), freedom, shift)

    return _comparison(np.sign(mean), p, level, len(values), power)


def compare_groups(first, second, *, comparisons=1):
    """Compare the means of two independent groups, by Welch's test; `needed` is for each group."""
    first, second = (np.asarray(v, dtype=float).ravel() for v in (first, second))
    first, second = (values[np.isfinite(values)] for values in (first, second))
    groups = [(np.mean(v), np.std(v, ddof=1), len(v)) for v in (first, second)]
    return compare_moments(*groups, comparisons=comparisons)


def compare_moments(first, second, *, comparisons=1):
    """Compare two means by Welch's test; each group is a mean, a standard deviation, a number."""
    level = LEVEL / comparisons
    (mean, spread, number), (mean2, spread2, number2) = first, second
    difference = float(mean - mean2)
    if spread == spread2 == 0.0:
        return Comparison(int(np.sign(difference)), 0.0 if difference else 1.0, int(number))
    p = float(stats.ttest_ind_from_stats(*first, *second, equal_var=False).pvalue)
    wide = math.hypot(spread, spread2)

    def power(n):
        freedom = wide**4 / (spread**4 + spread2**4) * (n - 1)
        shift = abs(difference) / wide * math.sqrt(n)
        return stats.nct.sf(stats.t.isf(level / 2.0, freedom), freedom, shift)

    return _comparison(np.sign(difference), p, level, min(number, number2), power)


def compare_shares(successes, number, share=0.5, *, comparisons=1):
    """Compare a share with a given one, by the exact binomial test."""
    level = LEVEL / comparisons
    k, n = int(successes), int(number)
    p = float(stats.binomtest(k, n, share).pvalue)
    observed = k / n

    def power(n):  # of rejecting in the direction that is seen
        if observed > share:
            return stats.binom.sf(stats.binom.isf(level / 2.0, n, share), n, observed)
        return stats.binom.cdf(stats.binom.ppf(level / 2.0, n, share) - 1, n, observed)

    return _comparison(np.sign(observed - share), p, level, n, power)


def compare_pairs(first, second, *, comparisons=1):
    """Compare two outcomes, true or false, on the same samples, by the exact sign test."""
    first, second = (np.asarray(values, dtype=bool).ravel() for values in (first, second))
    only, only_second = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    if only + only_second == 0:
        return Comparison(0, 1.0, _MANY)
    test = compare_shares(only, only + only_second, comparisons=comparisons)
    needed = math.ceil(test.needed * len(first) / (only + only_second))
    return test._replace(needed=min(needed, _MANY))


def decide(comparisons, finding, of="samples"):
    """Return the answer to a claim that asks of each comparison that the first is larger.

    It holds where all are, differs where one is the other way round, and cannot be told otherwise.
    """
    signs = [test.sign for test in comparisons]
    if min(signs) < 0:
        return Answer(False, finding)
    if min(signs) > 0:
        return Answer(True, finding)
    needed = [test.needed for test in comparisons if test.sign == 0]
    return Answer(None, finding, max(needed), of)


def _comparison(sign, p, level, number, power: Callable[[int], float]):
    """Return what was found, and the smallest number of samples, from `number` on, with power."""
    if p < level:
        return Comparison(int(sign), p, number)
    low, high = number, 2 * number
    while high < _MANY and not power(high) >= POWER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return Comparison(0, p, min(high, _MANY))
