"""Paired comparisons, and the correction for their number."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from wfmlib.numerics.comparisons import holm, paired, share_interval


def test_the_p_value_is_that_of_all_signs():
    """Under the null hypothesis every difference has either sign: count all of them."""
    one, other = np.array([3.0, 1.0, 4.0, 1.5, 9.0]), np.array([2.5, 2.0, 1.0, 5.0, 2.0])
    ranks = np.argsort(np.argsort(np.abs(one - other))) + 1
    seen = abs(np.sum(np.sign(one - other) * ranks))
    sums = [abs(np.dot(signs, ranks)) for signs in product((-1, 1), repeat=5)]
    found = paired(one, other)
    assert found.p == pytest.approx(np.mean(np.array(sums) >= seen))
    assert (found.number, found.larger) == (5, 3)


def test_the_interval_covers():
    rng = np.random.default_rng(1)
    rows = rng.normal(0.3, 1.0, size=(2000, 8))
    found = [paired(row, np.zeros(8)) for row in rows]
    share = np.mean([one.low < 0.3 < one.high for one in found])
    assert share == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 2000))


def test_the_interval_of_two_is_known():
    """Two values: t with one degree of freedom is Cauchy's distribution."""
    found = paired([1.0, 3.0], [0.0, 0.0])
    half = np.tan(np.pi * (0.975 - 0.5)) * 1.0  # standard error: sqrt(2) / sqrt(2)
    assert (found.mean, found.high - 2.0) == pytest.approx((2.0, half))
    assert (2.0 - found.low) == pytest.approx(half)


def test_pairs_that_lack_one_are_left_out():
    found = paired([1.0, np.nan, 3.0, np.inf], [0.0, 5.0, 1.0, 2.0])
    assert (found.number, found.larger, found.mean) == (2, 2, 1.5)
    assert np.isnan(paired([1.0], [np.nan]).mean)
    assert np.isnan(paired([1.0], [0.5]).p)
    assert paired([1.0, 2.0], [1.0, 2.0]).p == 1.0


def test_rows_must_match():
    with pytest.raises(ValueError, match="same length"):
        paired([1.0, 2.0], [1.0])


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.04, 0.01, 0.02]), [0.04, 0.03, 0.04])
    np.testing.assert_allclose(holm([0.5, 0.4]), [0.8, 0.8])
    np.testing.assert_allclose(holm([0.03, np.nan, 0.01]), [0.03, np.nan, 0.02])


def test_holm_keeps_the_level():
    """Of many families of true hypotheses at most one in twenty has a rejection."""
    rng = np.random.default_rng(2)
    families = rng.random((4000, 6))
    share = np.mean([holm(p).min() < 0.05 for p in families])
    assert share <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 4000)
    assert share > 0.03  # it is not needlessly strict: 1 - 0.95 in theory, nearly


def test_holm_refuses_what_is_no_probability():
    with pytest.raises(ValueError, match="p, if not NaN, must be finite and >= 0 and <= 1"):
        holm([0.5, 1.5])


def test_interval_has_its_coverage():
    """Whatever the share, the interval misses it in at most five per cent of the draws."""
    k = np.arange(11)
    ends = np.transpose(share_interval(k, 10))
    assert ends[0, 0] == 0.0
    assert ends[-1, 1] == 1.0
    for share in np.linspace(0.01, 0.99, 33):
        inside = (ends[:, 0] <= share) & (share <= ends[:, 1])
        assert stats.binom.pmf(k[inside], 10, share).sum() >= 0.95


def test_intervals_of_shares_are_those_of_scipy():
    for k, n in ((0, 3), (2, 3), (3, 3), (17, 50)):
        exact = stats.binomtest(k, n).proportion_ci(method="exact")
        np.testing.assert_allclose(
            share_interval(k, n), exact, rtol=1e-10
        )  # SciPy searches for its root
    assert np.shape(share_interval([[1], [2]], [4, 5])) == (2, 2, 2)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (0, 0), (0.5, 3), (np.nan, 3)])
def test_shares_of_what_cannot_be_counted_are_refused(k, n):
    with pytest.raises(ValueError, match="successes and number must be whole numbers"):
        share_interval(k, n)
