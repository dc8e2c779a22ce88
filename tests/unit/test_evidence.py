"""Tests of what data can tell, against counts and simulations."""

import numpy as np
import pytest
from scipy import stats

from wfmlib.book.claim_checks import evidence


@pytest.mark.parametrize(
    ("test", "shift"),
    [
        (lambda x: evidence.compare(x), 1.0),
        (lambda x: evidence.compare(x + 3.0, 3.0), 1.0),
        (lambda x: evidence.compare_groups(x, np.zeros(9) + np.tile([-1e-9, 1e-9, 0.0], 3)), 1.0),
    ],
    ids=["zero", "bound", "groups"],
)
def test_differences_are_found_with_their_sign(test, shift):
    x = np.linspace(-1.0, 1.0, 9)
    assert test(x + shift).sign == 1
    assert test(x - shift).sign == -1
    assert test(x + 0.1).sign == 0


def test_level_is_shared_by_comparisons():
    x = np.linspace(-1.0, 1.0, 9) + 0.6
    alone = evidence.compare(x)
    assert 0.01 < alone.p < 0.05
    assert alone.sign == 1
    assert evidence.compare(x, comparisons=10).sign == 0


def test_needed_samples_have_the_power():
    """At the number that is said, four in five draws of a normal variable are told."""
    rng = np.random.default_rng(1)
    pilot = np.array([-0.7, 0.9, 1.8, 0.1, -0.4, 1.3])
    found = evidence.compare(pilot)
    assert found.sign == 0
    drawn = rng.normal(pilot.mean(), pilot.std(ddof=1), (4000, found.needed))
    told = np.mean(stats.ttest_1samp(drawn, 0.0, axis=1).pvalue < evidence.LEVEL)
    assert told == pytest.approx(evidence.POWER, abs=0.03)
    fewer = stats.ttest_1samp(drawn[:, :-2], 0.0, axis=1).pvalue < evidence.LEVEL
    assert np.mean(fewer) < told


def test_needed_of_two_groups():
    rng = np.random.default_rng(2)
    first, second = (1305.0, 797.0, 10), (861.0, 315.0, 10)
    found = evidence.compare_moments(first, second)
    assert found.sign == 0
    one, other = (rng.normal(*g[:2], (4000, found.needed)) for g in (first, second))
    told = stats.ttest_ind(one, other, axis=1, equal_var=False).pvalue < evidence.LEVEL
    assert np.mean(told) == pytest.approx(evidence.POWER, abs=0.03)


def test_shares_and_pairs():
    assert evidence.compare_shares(9, 10).sign == 1
    assert evidence.compare_shares(1, 10).sign == -1
    six = evidence.compare_shares(6, 7)
    assert (six.sign, six.p) == (0, pytest.approx(2 * 8 / 2**7))
    rng = np.random.default_rng(3)
    told = [stats.binomtest(int(k), six.needed).pvalue < evidence.LEVEL
            for k in rng.binomial(six.needed, 6 / 7, 2000)]  # fmt: skip
    assert np.mean(told) > evidence.POWER - 0.03
    one = np.array([True] * 6 + [False] + [True] * 33)
    other = np.array([False] * 6 + [True] + [True] * 33)
    pairs = evidence.compare_pairs(one, other)
    assert pairs.sign == 0
    assert pairs.needed == pytest.approx(six.needed * 40 / 7, abs=1)
    assert evidence.compare_pairs(one, one) == (0, 1.0, 10**7)


def test_claims_of_several_comparisons():
    more, less = evidence.Comparison(1, 0.0, 5), evidence.Comparison(-1, 0.0, 5)
    unknown = [evidence.Comparison(0, 0.5, n) for n in (30, 20)]
    assert evidence.decide([more, more], "so").agrees is True
    assert evidence.decide([more, less, *unknown], "so").agrees is False
    assert evidence.decide([more, *unknown], "so", "nets") == (None, "so", 30, "nets")
