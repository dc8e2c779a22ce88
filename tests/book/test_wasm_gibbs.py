"""The Gibbs measure of the cross-entropy in a page's module is the package's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tools import wasm
from wfmlib import CrossEntropy, Perceptron
from wfmlib.numerics.solvers import NotConverged
from wfmlib.numerics.zeros import INEXACT
from wfmlib.theory import cross_entropy, typical
from wfmlib.theory.saddles import pages_gibbs

GRID = [(gamma, beta, alpha) for gamma in (0.3, 1.0, 4.0) for beta in (1.0, 30.0)
        for alpha in (0.05, 0.4, 1.1)]  # fmt: skip
COLD = [(0.001, 7e3, 0.4), (0.001, 1e4, 0.4), (0.125, 3e5, 7.25), (0.125, 1e300, 7.25)]
CURVES = [(0.5, 0.4), (1.0, 0.8), (4.0, 0.4), (30.0, 0.4), (math.inf, 0.5), (0.1, 1.0), (3.0, 1.5)]


def drawn():
    """Return places at random: gamma and beta over decades, loads up to 1.5."""
    rng = np.random.default_rng(8)
    gammas, betas = np.exp(rng.uniform(-1.5, 3.0, 25)), np.exp(rng.uniform(-1.0, 7.0, 25))
    return list(
        zip(gammas.tolist(), betas.tolist(), rng.uniform(0.02, 1.5, 25).tolist(), strict=True)
    )


def solved(gamma, beta, alpha):
    """Return the package's point, or None where it finds none."""
    try:
        return typical.solve(Perceptron(), alpha, CrossEntropy(gamma, beta))
    except NotConverged:
        return None


def test_what_bends_is_what_the_package_says():
    for gamma, beta, variance in [(1.0, 20.0, 0.3), (4.0, 3.0, 0.01), (math.inf, 50.0, 0.2)]:
        wanted = CrossEntropy(gamma, beta).features(variance)
        assert pages_gibbs.features(variance, gamma, beta) == pytest.approx(np.array(wanted))


def test_points_are_those_of_the_package():
    """On a grid, at random and at infinite gamma.

    The nodes are the package's: relative to 1e-12, and to rounding where beta times the energy
    cancels in the entropy.
    """
    places = [*GRID, *drawn(), (math.inf, 50.0, 0.4), (math.inf, 5.0, 1.2)]
    calls = [["gibbs_point", beta, gamma, alpha] for gamma, beta, alpha in places]
    answers = wasm.called(calls)["answers"]
    for place, found in zip(places, answers, strict=True):
        point = solved(*place)
        assert found[0] == 0.0
        assert found[1] < 1e-12
        wanted = np.array([point.entropy, point.energy, point.error_rate, point.q, point.replicon])
        rounding = np.zeros(5)
        rounding[0] = 1e-13 * (1.0 + place[1] * point.energy)
        # errors are a tail, which the C library's exponential moves by its own rounding
        allowed = 1e-12 * np.abs(wanted) + rounding + [0.0, 0.0, 1e-14, 0.0, 0.0]
        assert np.all(np.abs(found[2:7] - wanted) <= allowed), place


def test_what_the_package_does_not_find_is_not_found():
    """Far too cold, or nowhere: the residual is bounded as in the package's searches."""
    calls = [["gibbs_point", beta, gamma, alpha] for gamma, beta, alpha in COLD]
    for place, found in zip(COLD, wasm.called(calls)["answers"], strict=True):
        assert (found[0] == 0.0) == (solved(*place) is not None), place


@pytest.mark.parametrize("which", ["zero_entropy", "instability"])
def test_ends_are_those_of_the_package(which):
    places = [(0.5, 0.4), (1.0, 0.4), (4.0, 0.4), (1.0, 0.8), (8.0, 0.4), (1.0, 1.5), (0.2, 0.05)]
    answers = wasm.called([[f"gibbs_{which}", *place] for place in places])["answers"]
    end = getattr(cross_entropy, f"{which}_beta")
    wanted = [end(Perceptron(), alpha, gamma) for gamma, alpha in places]
    assert [one[0] for one in answers] == [0.0] * len(places)
    np.testing.assert_allclose([one[2] for one in answers], wanted, rtol=1e-9)


def test_an_end_that_does_not_exist_is_infinite_and_one_that_is_not_met_is_none():
    """The sign of the entropy changes by a jump where the package gives up for rounding."""
    answers = wasm.called(
        [["gibbs_zero_entropy", math.inf, 0.4], ["gibbs_zero_entropy", 1e-3, 0.4]]
    )
    assert answers["answers"][0] == [0.0, 0.0, math.inf]
    assert answers["answers"][1][0] == INEXACT
    with pytest.raises(NotConverged):
        cross_entropy.zero_entropy_beta(Perceptron(), 0.4, 1e-3)


@pytest.mark.parametrize(("gamma", "alpha"), CURVES)
def test_a_curve_is_within_a_ten_thousandth(gamma, alpha):
    """Entropy, error rate and overlap; and it goes on to below zero, where it reaches that.

    The ends that it marks are read off it: to 1e-3 of a decade, but where entropies are so flat
    that 1e-4 is more than that.
    """
    told = wasm.called([["gibbs_curve", gamma, alpha, np.zeros((pages_gibbs.ROWS, 51))]])
    rows = np.array(told["arrays"][0]).reshape(pages_gibbs.ROWS, 51)
    known = ~np.isnan(rows[1])
    assert np.all(np.diff(known.astype(int)) <= 0)
    assert np.all(known) or rows[1, known][-1] < 0.0
    assert rows[0, [0, -1]].tolist() == list(pages_gibbs.AXIS)
    for step, entropy, errors, q, _ in rows.T[known]:
        point = solved(gamma, 10.0**step, alpha)
        if point.entropy > -0.1:
            assert entropy == pytest.approx(point.entropy, abs=1e-4)
            assert errors == pytest.approx(point.error_rate, abs=1e-4)
            assert q == pytest.approx(point.q, abs=1e-4)
    vanishes, unstable = told["answers"][0]
    for mark, end in zip(
        (vanishes, unstable),
        (cross_entropy.zero_entropy_beta, cross_entropy.instability_beta),
        strict=True,
    ):
        wanted = math.log10(end(Perceptron(), alpha, gamma))
        if wanted < 4.9:
            assert mark == pytest.approx(wanted, abs=1e-3)
        else:
            assert math.isnan(mark)


def test_memory_does_not_grow_with_calls():
    """Nor with the length of a search: arrays that nobody needs any more make room for others."""
    calls = [["gibbs_curve", 1.0, 0.4, np.zeros((5, 51))], ["gibbs_zero_entropy", 4.0, 0.4]]
    few, many = (wasm.called(calls * count)["memory"] for count in (1, 10))
    assert few == many < 2**20
