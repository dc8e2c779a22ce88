"""Parity machines with infinitely many replicas: the maximum over a group's fields."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, special, stats

from wfmlib import gaussian
from wfmlib.theory import infinite_replicas, parity
from wfmlib.theory.parity_limit import _best, _fold, _log_sigma, limit_averages


def maximum(x, spread, start=None):
    """Height and place of the maximum, by the kernel, at an x anywhere."""
    folded = np.array(x, dtype=float)
    _fold(folded)
    units = len(folded)
    # not at x itself: between two units equally far from their thresholds it is a saddle point
    z = np.maximum(folded, 1.0) if start is None else np.array(start, dtype=float)
    slope, curvature = np.empty(units), np.empty((units, units))
    work = np.empty((units + 3, units))
    return _best(folded, spread, z, slope, curvature, np.empty(units), work), z, folded


def by_scipy(x, spread, rng):
    """Height of the maximum, literally, from many starts."""

    def depth(z):
        right = 0.5 * (1.0 + np.prod(special.erf(z / math.sqrt(2.0))))
        return 0.5 * np.sum((z - x) ** 2) / spread - math.log(max(right, 1e-300))

    starts = [x] + [x + 2.0 * rng.standard_normal(len(x)) for _ in range(10)]
    return -min(optimize.minimize(depth, start, method="BFGS").fun for start in starts)


def mp_log_sigma(*z):
    return mp.log((1 + mp.fprod(mp.erf(x / mp.sqrt(2)) for x in z)) / 2)


@pytest.mark.parametrize(
    "z",
    [
        (1.3, 0.4),
        (0.9, -0.6),
        (17.0, -16.0),
        (7.0, 6.0),
        (1.1, 0.6, 0.2),
        (2.0, 1.0, -0.9),
        (15.5, 15.0, -14.0),
    ],
)
def test_log_sigma(z):
    units = len(z)
    slope, curvature = np.empty(units), np.empty((units, units))
    value = _log_sigma(np.array(z), slope, curvature)
    with mp.workdps(120):  # Sigma is a difference here
        exact = [mp.mpf(x) for x in z]
        assert value == pytest.approx(float(mp_log_sigma(*exact)), rel=1e-12)
        for i in range(units):
            order = tuple(int(k == i) for k in range(units))
            expected = float(mp.diff(mp_log_sigma, exact, order))
            assert slope[i] == pytest.approx(expected, rel=1e-10)
            for j in range(units):
                order = tuple(int(k == i) + int(k == j) for k in range(units))
                expected = float(mp.diff(mp_log_sigma, exact, order))
                assert curvature[i, j] == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("units", [2, 3])
def test_maximum_is_global(units):
    rng = np.random.default_rng(units)
    for _ in range(25):
        spread = math.exp(rng.uniform(-2.0, 5.0))
        x = rng.standard_normal(units) * math.exp(rng.uniform(-1.5, 1.0))
        assert maximum(x, spread)[0] == pytest.approx(by_scipy(x, spread, rng), abs=1e-6)


@pytest.mark.parametrize("units", [2, 3])
def test_maximum_does_not_depend_on_the_start(units):
    """The quadrature starts each climb at the maximum found before."""
    rng = np.random.default_rng(units)
    for _ in range(400):
        spread = math.exp(rng.uniform(-2.0, 12.0))
        x = rng.standard_normal(units) * math.exp(rng.uniform(-1.5, 1.5))
        heights = [maximum(x, spread)[0]]
        for _ in range(3):
            heights.append(maximum(x, spread, 3.0 * rng.standard_normal(units))[0])
        assert max(heights) - min(heights) < 1e-8 * (1.0 + abs(heights[0]))


def test_three_units_have_two_maxima_near_the_thresholds():
    """At x = 0 nobody moves below a spread, everybody does above it."""
    assert np.allclose(maximum(np.zeros(3), 5.0)[1], 0.0)
    z = maximum(np.zeros(3), 6.0)[1]
    assert z.min() > 0.5
    assert np.allclose(z, z[0])


@pytest.mark.parametrize("safe", [(40.0,), (45.0, 40.0)])
def test_one_unit_in_doubt_is_a_perceptron(safe):
    for spread in (0.1, 2.0, 50.0):
        for field in (-6.0, -1.0, 0.0, 0.5, 3.0):
            t = infinite_replicas._shortfall(-field, spread, -field)
            expected = gaussian.log_H(t) - 0.5 * spread * gaussian.hazard(t) ** 2
            height, z, _ = maximum((*safe, field), spread)
            assert height == pytest.approx(expected, rel=1e-9)
            assert z[-1] == pytest.approx(-t, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("units", [2, 3])
def test_against_fields_everywhere(units):
    """Without the region's symmetry, on a sequence of low discrepancy."""
    q1, spread = 0.6, 0.9
    uniform = stats.qmc.Sobol(units, seed=1).random_base2(14)
    found = np.empty((len(uniform), 2))
    for i, v in enumerate(special.ndtri(uniform)):
        height, z, x = maximum(math.sqrt(q1 / (1.0 - q1)) * v, spread / (1.0 - q1))
        found[i] = height, np.sum((z - x) ** 2) * (1.0 - q1) / spread**2
    term, force = found.mean(axis=0)
    at = limit_averages(units, q1, spread)
    assert at.term == pytest.approx(term, rel=1e-3)
    assert at.force == pytest.approx(force, rel=2e-3)


@pytest.mark.parametrize("case", [(2, 0.5, 1.0), (2, 0.9, 0.3), (3, 0.5, 0.4), (3, 0.8, 1.0)])
def test_limit_derivatives(case):
    """The envelope's derivatives, in the spread and in q1, against differences."""
    units, q1, spread = case

    def term(q1, spread):
        return limit_averages(units, q1, spread, 7).term

    at, step = limit_averages(units, q1, spread, 7), 0.02
    slope = (term(q1, spread * (1 + step)) - term(q1, spread * (1 - step))) / (2 * step * spread)
    assert slope == pytest.approx(0.5 * at.force, rel=5e-4)
    move = step * (1.0 - q1)
    slope = (term(q1 + move, spread) - term(q1 - move, spread)) / (2.0 * move)
    assert slope == pytest.approx(0.5 * (at.spread - at.force), abs=2e-3 * at.force)


@pytest.mark.parametrize("units", [2, 3])
def test_limit_of_many_replicas(units):
    """At a fixed spread, 1 / y corrections: they are taken off by two numbers of replicas."""
    q1, spread = 0.7, 0.5
    at = limit_averages(units, q1, spread)
    few, many = (
        parity.pattern_averages(units, q1 - spread / y, spread / y, 1.0 - q1, y) for y in (24, 48)
    )
    assert abs(many.term - at.term) < 0.6 * abs(few.term - at.term)
    assert 2.0 * many.term - few.term == pytest.approx(at.term, abs=2e-3)
    assert 2.0 * many.common - few.common == pytest.approx(at.force, rel=2e-2)
    # slower, and a difference of two forces next to one another
    assert 24 * few.spread == pytest.approx(at.spread, rel=0.1)


@pytest.mark.parametrize("units", [2, 3])
def test_without_overlap_half_the_patterns_are_right(units):
    assert limit_averages(units, 1e-8, 1e-8).term == pytest.approx(-math.log(2.0), rel=1e-7)


@pytest.mark.parametrize("units", [2, 3])
def test_force_of_a_very_wide_spread(units):
    """Units are pushed to ``sqrt(2 ln spread)``, two digits better with each ten in the exponent.

    So ``force spread^2`` is the sum of the squared moves, which are as large with a wider spread.
    """
    moves = [limit_averages(units, 0.5, math.exp(k)).force * math.exp(2.0 * k) for k in (20, 40)]
    assert 0.5 * units * 20.0 < moves[0] < moves[1] < units * 2.0 * 40.0
    assert -1e-14 < limit_averages(units, 0.5, math.exp(40.0)).term < 0.0


@pytest.mark.parametrize("units", [2, 3])
def test_panels_of_two_orders_agree(units):
    coarse, fine = limit_averages(units, 0.9, 0.3), limit_averages(units, 0.9, 0.3, 8)
    assert coarse.term == pytest.approx(fine.term, rel=1e-6)
    assert coarse.force == pytest.approx(fine.force, rel=2e-5)
