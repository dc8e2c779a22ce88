"""Parity machines with any number of replicas, and with infinitely many."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, special, stats

from wfmlib import ParityMachine
from wfmlib.models.constraints import margin
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import large_deviation
from wfmlib.theory.machines import parity, parity_limit, parity_replicas
from wfmlib.theory.machines.finite_machines import Parity
from wfmlib.theory.machines.parity_limit import _best, _fold, _log_sigma, limit_averages


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
            t = margin.shortfall(-field, spread, -field)
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


@pytest.mark.parametrize("units", [2, 3])
def test_no_memory_is_read_before_it_is_written(units, monkeypatch):
    """With NaN in all new memory, the averages are the same."""
    root, spread, rule = 1.2, 2.0, gaussian.legendre_rule(1)
    monkeypatch.setattr(parity_limit, "REACH", 2.0)
    monkeypatch.setattr(np, "empty", lambda *shape: np.full(*shape, math.nan))
    found = parity_limit._limit_averages.py_func(units, root, spread, rule)
    assert np.all(np.isfinite(found))
    assert found[0] < 0.0 < found[1]


# ------------------------------------------------------------------------------------------------
# Any number of replicas
# ------------------------------------------------------------------------------------------------


def normal_rule(count, reach):
    x, weight = np.polynomial.legendre.leggauss(count)
    x = reach * x
    return x, reach * weight * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)


@pytest.mark.parametrize("units", [2, 3])
@pytest.mark.parametrize("m", [1.25, 1.7, 2.5, 5.5, 12.5, 30.3])
def test_real_replicas_between_independent_groups(units, m):
    """``E Sigma^m`` at q0 = 0 by plain quadrature; below two replicas less is known."""
    x, weight = normal_rule(100, 8.0)
    even = special.erf(math.sqrt(0.6 / 0.4) * x / math.sqrt(2.0))
    product = np.outer(even, even)
    average = np.einsum("i,j,ij->", weight, weight, (0.5 + 0.5 * product) ** m)
    if units == 3:
        powers = (0.5 + 0.5 * product[:, :, None] * even) ** m
        average = np.einsum("i,j,k,ijk->", weight, weight, weight, powers)
    found = Parity(units).pattern_averages(0.0, 0.6, 0.4, 0.0, m)
    error = 2e-4 if m < 2.0 else 1e-5 if m < 3.0 else 3e-6
    assert found.term == pytest.approx(math.log(average) / m, rel=error)
    assert found.common == 0.0


@pytest.mark.parametrize("m", [1.5, 2.5, 7.3])
def test_real_replicas_of_two_units(m):
    """With an overlap between groups: four fields."""
    q0, difference, complement = 0.3, 0.3, 0.4
    v, outer = normal_rule(40, 6.0)
    u, inner = normal_rule(50, 7.0)
    fields = math.sqrt(q0) * v[:, None] + math.sqrt(difference) * u
    even = special.erf(fields / math.sqrt(2.0 * complement))
    term = 0.0
    for i in range(len(v)):
        for j in range(len(v)):
            powers = (0.5 + 0.5 * np.outer(even[i], even[j])) ** m
            term += outer[i] * outer[j] * math.log(inner @ powers @ inner) / m
    found = Parity(2).pattern_averages(q0, difference, complement, 0.0, m)
    assert found.term == pytest.approx(term, rel=1e-4 if m < 2.0 else 1e-5)


@pytest.mark.parametrize("case", [(2, 2.5), (3, 2.5), (2, 7.3), (2, 30.5), (4, 3.5)])
def test_forces_of_real_replicas_are_derivatives(case):
    units, m = case
    step = 1e-3

    def term(dq0, dq1):
        return parity_replicas.pattern_averages(units, 0.3 + dq0, 0.4 + dq1 - dq0, 0.3 - dq1, m)[2]

    at = parity_replicas.pattern_averages(units, 0.3, 0.4, 0.3, m)
    in_q0 = (term(step, 0.0) - term(-step, 0.0)) / (2.0 * step)
    assert in_q0 == pytest.approx(-0.5 * m * at.common, rel=1e-3)
    in_q1 = (term(0.0, step) - term(0.0, -step)) / (2.0 * step)
    assert in_q1 == pytest.approx(0.5 * (m - 1.0) * (at.common + at.spread), rel=1e-3)


@pytest.mark.parametrize("units", [2, 3])
@pytest.mark.parametrize("spread", [0.6, 3.0, 9.0])
def test_many_replicas_against_powers(units, spread):
    """Powers go on above 50, if the grid of shared fields is fine enough: here it is."""
    m, q1 = 64, 0.5
    found = parity_replicas.pattern_averages(units, q1 - spread / m, spread / m, 1.0 - q1, m)
    powers = parity.pattern_averages(units, q1 - spread / m, spread / m, 1.0 - q1, m)
    assert found.term == pytest.approx(powers.term, rel=1e-4)
    assert found.common == pytest.approx(powers.common, rel=3e-3)


@pytest.mark.parametrize(
    ("m", "numbers"),
    [
        (1.5, range(1, 11)),
        (3.9, range(1, 11)),
        (4.5, range(1, 9)),
        (7.9, range(4, 12)),
        (8.1, range(6, 12)),
        (20.5, range(18, 24)),
        (48.5, range(45, 51)),
        (49.9, range(45, 51)),
    ],
)
def test_which_numbers_of_replicas_it_is_interpolated_between(m, numbers, monkeypatch):
    """More of them where fewer replicas are, around theirs, and none above 50."""
    powers, asked = parity.pattern_averages, []

    def ask(units, q0, difference, complement, k, most=None):
        asked.append(k)
        assert most == numbers[-1]  # one grid for all
        return powers(units, q0, difference, complement, k, most)

    monkeypatch.setattr(parity, "pattern_averages", ask)
    parity_replicas.pattern_averages(2, 0.0, 0.3, 0.7, m)
    assert asked == [*numbers]


def test_groups_too_wide():
    with pytest.raises(NotConverged, match="too wide"):
        parity_replicas.pattern_averages(2, 0.2, 0.3, 0.5, 60.0)


def test_local_entropy_of_any_number_of_replicas():
    """Across an integer, across 50 where the way changes, and up to infinity."""

    def entropy(replicas):
        return large_deviation.local_entropy(ParityMachine(2), 0.5, 0.5, replicas=replicas)

    assert entropy(3.001) - entropy(3) == pytest.approx(entropy(3) - entropy(2.999), rel=2e-2)
    assert entropy(2.001) - entropy(2) == pytest.approx(entropy(2) - entropy(1.999), rel=0.1)
    rising = [entropy(y) for y in (1, 1.5, 2.5, 49.5, 50, 50.5, 400.0, math.inf)]
    assert np.all(np.diff(rising) > 0.0)
    assert rising[5] - rising[4] == pytest.approx(rising[4] - rising[3], rel=0.1)
    assert entropy(1e5) == pytest.approx(rising[-1], abs=1e-4)


@pytest.mark.parametrize("case", [(2, 0.5, 0.5, -0.10724), (3, 0.9, 1.0, -0.01028)])
def test_local_entropy_of_infinitely_many(case):
    units, overlap, alpha, value = case
    point = large_deviation.solve(ParityMachine(units), alpha, overlap)
    assert point.local_entropy == pytest.approx(value, abs=6e-6)
    assert point.q0 == overlap


def test_machines_of_more_units_have_few_replicas():
    for wrong in (50.5, 60, math.inf):
        with pytest.raises(ValueError, match="replicas must be from 1 to 50"):
            large_deviation.solve(ParityMachine(4), 0.5, 0.5, replicas=wrong)
