"""Machines of finitely many units: their probabilities, and averages over a pattern's fields."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, special

from wfmlib import Margin, ParityMachine, Spherical, TreeCommittee
from wfmlib.numerics import gaussian
from wfmlib.theory.axes import PARITY, THREE_UNITS, checked, odd_signs
from wfmlib.theory.machines import (
    committee_of_three,
    committee_powers,
    parity,
    parity_replicas,
)
from wfmlib.theory.machines.committee_of_three import _best, _log_sigma, symmetric_averages
from wfmlib.theory.machines.finite_machines import Parity, SignCommittee
from wfmlib.theory.machines.three_units import middle_grid, neighbour_grid
from wfmlib.theory.machines.unit_moments import moments
from wfmlib.theory.saddles import real_replicas

LEGENDRE = np.polynomial.legendre.leggauss(120)


def committee(z):
    """Probability that two of three, literally; units along the first axis."""
    p = special.ndtr(z)
    return p[0] * p[1] + p[0] * p[2] + p[1] * p[2] - 2.0 * p[0] * p[1] * p[2]


def even(z):
    return 0.5 * (1.0 + np.prod(special.erf(z / math.sqrt(2.0)), axis=0))


def log_sigma(z):
    slope, curvature = np.empty(3), np.empty((3, 3))
    value = _log_sigma(np.array(z, dtype=float), slope, curvature)
    return value, slope, curvature


def monte_carlo(sigma, units, q0, difference, complement, m, samples=(1500, 1500), seed=1):
    """Term, common, spread and information by simulation, with their standard errors."""
    rng = np.random.default_rng(seed)
    rows = []
    step = 1e-4
    for shared in rng.standard_normal((samples[0], units)):
        own = rng.standard_normal((samples[1] // 2, units))
        own = np.concatenate((own, -own))
        z = (math.sqrt(q0) * shared + math.sqrt(difference) * own).T / math.sqrt(complement)
        f = np.log(np.maximum(sigma(z), 1e-300))
        weight = np.exp(m * f)
        norm = weight.mean()
        common = spread = 0.0
        for unit in range(units):
            moved = z.copy()
            moved[unit] += step
            slope = (np.log(np.maximum(sigma(moved), 1e-300)) - f) / step
            first = (weight * slope).mean() / norm
            common += first**2 / complement
            spread += ((weight * slope**2).mean() / norm - first**2) / complement
        tilted = m * (weight * f).mean() / norm
        rows.append((common, spread, math.log(norm) / m, tilted - math.log(norm)))
    rows = np.array(rows)
    return rows.mean(axis=0), rows.std(axis=0) / math.sqrt(samples[0])


# ------------------------------------------------------------------------------------------------
# The machines
# ------------------------------------------------------------------------------------------------


def test_sigma_is_what_tree_machines_do():
    """Preactivations drawn around given means; the share of right outputs."""
    rng = np.random.default_rng(0)
    mean = np.array([0.4, -0.2, -1.0])
    draws = mean[:, None] + rng.standard_normal((3, 1_000_000))
    right = (np.sign(draws).sum(axis=0) > 0).mean()
    assert math.exp(log_sigma(mean)[0]) == pytest.approx(right, abs=4 * 0.5e-3)
    product = (np.prod(np.sign(draws), axis=0) > 0).mean()
    assert even(mean) == pytest.approx(product, abs=4 * 0.5e-3)
    assert math.exp(log_sigma([0.4, -0.2, -1.0])[0]) == pytest.approx(committee(mean), rel=1e-13)


def test_derivatives_of_log_sigma():
    for z in ([0.3, -0.5, -2.0], [3.0, 1.0, -4.0], [-2.0, -2.5, -2.6], [-20.0, -21.0, -25.0]):
        value, slope, curvature = log_sigma(z)
        assert np.all(slope >= 0.0)
        for unit in range(3):
            up, down = np.array(z), np.array(z)
            up[unit] += 1e-5
            down[unit] -= 1e-5
            above, below = log_sigma(up), log_sigma(down)
            assert (above[0] - below[0]) / 2e-5 == pytest.approx(slope[unit], rel=1e-6, abs=1e-8)
            second = (above[1] - below[1]) / 2e-5
            assert second == pytest.approx(curvature[unit], rel=1e-5, abs=1e-6)
        assert value == log_sigma(z)[0]


def test_deep_tail():
    """Two units must cross: ``ln Sigma`` is near the sum of the two largest ln P."""
    z = np.array([-40.0, -41.0, -60.0])
    assert log_sigma(z)[0] == pytest.approx(special.log_ndtr(z[:2]).sum(), rel=1e-12)


@pytest.mark.parametrize("spread", [0.1, 1.0, 10.0])
def test_maximum_against_scipy(spread):
    rng = np.random.default_rng(int(10 * spread))

    def descend(z, x):
        order = -np.sort(-z)
        return 0.5 * np.sum((z - x) ** 2) / spread - log_sigma(order)[0]

    for root in (0.5, 2.0, 6.0):
        for _ in range(6):
            x = -np.sort(-root * rng.standard_normal(3))
            z, slope, curvature = np.empty(3), np.empty(3), np.empty((3, 3))
            found = _best(x, spread, z, slope, curvature)
            starts = [x, np.maximum(x, 0.0), np.array([max(x[0], 0), max(x[1], 0), x[2]]), x * 0.5]
            other = -min(
                optimize.minimize(descend, start, args=(x,), method="BFGS").fun for start in starts
            )
            assert found >= other - 1e-8
            assert found == pytest.approx(-descend(z, x), abs=1e-12)
            assert z - x == pytest.approx(spread * slope, abs=1e-7)


# ------------------------------------------------------------------------------------------------
# Averages over fields
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_the_neighbour_of_a_unit(scale, side):
    """Averages over a shared field above, or below, that of the unit in the middle.

    Above, of what is lost while it may be wrong; below, of the chance to be right, over the
    middle unit's where both are beyond their thresholds.
    """
    rule = gaussian.legendre_rule(8)
    for middle in (-1.0, -0.01, 0.5, 2.0):
        x, weight = neighbour_grid(middle, side, scale, rule)
        assert np.all(np.diff(x[:-1]) > 0.0)
        assert np.all(side * (x - middle) > 0.0)

        least = gaussian.log_H(max(-middle / scale, 0.0))

        def value(v, least=least):
            right = gaussian.log_H(-v / scale)
            return right if side > 0.0 else np.exp(right - least)

        fine, density = gaussian.grid((0.0, scale), (middle, scale), order=40)
        density = density * (side * (fine - middle) > 0.0)
        assert weight.sum() == pytest.approx(gaussian.H(side * middle), abs=3e-9)
        assert weight @ value(x) == pytest.approx(density @ value(fine), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("scale", [0.05, 1.0, 5.0])
def test_the_unit_in_the_middle(scale):
    """Where it is safe, and the two others with it or one of them alone, nothing is left."""
    v, weight = middle_grid(scale, gaussian.legendre_rule(8))
    assert v[0] > -6.0
    assert min(6.0, 7.0 * scale) - 0.1 * scale < v[-1] < min(6.0, 7.0 * scale)
    assert weight.sum() == pytest.approx(1.0 - gaussian.H(min(6.0, 7.0 * scale)), abs=3e-9)
    fine, density = gaussian.grid((0.0, scale), order=40)
    wrong = density @ gaussian.log_H(-fine / scale)
    assert weight @ gaussian.log_H(-v / scale) == pytest.approx(wrong, rel=3e-7)


def test_symmetric_averages_by_plain_quadrature():
    x, weight = LEGENDRE
    x, weight = 7.0 * x, 7.0 * weight * np.exp(-24.5 * x**2) / math.sqrt(2.0 * math.pi)
    z = math.sqrt(0.5 / 0.5) * np.stack(np.meshgrid(x, x, x, indexing="ij"))

    def average(values):
        return np.einsum("i,j,k,ijk->", weight, weight, weight, values)

    # by hand: the chance to be right is linear in that of each unit
    sigma, p = committee(z), special.ndtr(z)
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    slope = np.empty_like(z)
    mixed = np.empty_like(z)  # of the two units that are not this one
    for unit in range(3):
        one, other = (unit + 1) % 3, (unit + 2) % 3
        first = density[unit] * (p[one] + p[other] - 2.0 * p[one] * p[other])
        slope[unit] = first / sigma
        mixed[unit] = density[one] * density[other] * (1.0 - 2.0 * p[unit]) / sigma
    diagonal = sum(average((-z[unit] * slope[unit] - slope[unit] ** 2) ** 2) for unit in range(3))
    pairs = sum(
        average((mixed[unit] - slope[unit - 1] * slope[unit - 2]) ** 2) for unit in range(3)
    )
    force = sum(average(slope[unit] ** 2) for unit in range(3))
    found = symmetric_averages(0.5, 0.5)
    assert found[0] == pytest.approx(average(np.log(sigma)), abs=1e-7)
    wanted = force / 0.5, diagonal / 0.5**2, (diagonal + 2.0 * pairs) / 0.5**2
    assert found[1:] == pytest.approx(wanted, rel=1e-6)


def test_committee_against_simulation():
    """Term, common and spread by powers; the information from the tensor."""
    found = SignCommittee().pattern_averages(0.5, 0.1, 0.4, 0.0, 2.0)
    tensor = committee_of_three.pattern_averages(0.5, 0.1, 0.4, 2.0)
    mean, error = monte_carlo(committee, 3, 0.5, 0.1, 0.4, 2.0)
    assert math.isnan(found.information)
    found = found._replace(information=tensor.information)
    # what 1500 draws of a group's fields leave is of order m^2 / 1500
    assert np.all(np.abs(np.array(found) - mean) < 4.0 * error + 2e-3)


@pytest.mark.parametrize("case", [(0.5, 0.1, 2), (0.5, 0.1, 5), (0.05, 0.85, 4)])
def test_powers_against_the_tensor(case):
    """Two ways that share nothing but the definition of Sigma; the tensor's error is 2e-4."""
    q0, difference, m = case
    complement = 1.0 - q0 - difference
    powers = SignCommittee().pattern_averages(q0, difference, complement, 0.0, m)
    tensor = committee_of_three.pattern_averages(q0, difference, complement, float(m))
    assert powers.term == pytest.approx(tensor.term, rel=3e-4)
    assert powers.common == pytest.approx(tensor.common, rel=3e-4)
    assert powers.spread == pytest.approx(tensor.spread, rel=3e-4)


@pytest.mark.parametrize("m", [2, 3, 6])
def test_powers_between_independent_groups(m):
    """At q0 = 0 the units are alike: ``E Sigma^m`` by plain quadrature over three fields."""
    x, weight = np.polynomial.legendre.leggauss(64)
    x, weight = 7.0 * x, 7.0 * weight * np.exp(-24.5 * x**2) / math.sqrt(2.0 * math.pi)
    z = math.sqrt(0.6 / 0.4) * np.stack(np.meshgrid(x, x, x, indexing="ij"))
    average = np.einsum("i,j,k,ijk->", weight, weight, weight, committee(z) ** m)
    found = SignCommittee().pattern_averages(0.0, 0.6, 0.4, 0.0, m)
    assert found.term == pytest.approx(math.log(average) / m, abs=1e-9)


@pytest.mark.parametrize("case", [(0.4, 0.3, 3), (0.7, 0.28, 20), (0.2, 0.1, 50)])
def test_forces_of_the_powers_are_derivatives(case):
    """As of parity machines below: in q0 at fixed q1, and in q1 at fixed q0."""
    q0, difference, m = case
    complement = 1.0 - q0 - difference
    step = 1e-3 * difference

    def term(dq0, dq1):
        return committee_powers.pattern_averages(
            q0 + dq0, difference + dq1 - dq0, complement - dq1, m
        ).term

    at = committee_powers.pattern_averages(q0, difference, complement, m)
    in_q0 = (term(step, 0.0) - term(-step, 0.0)) / (2.0 * step)
    assert in_q0 == pytest.approx(-0.5 * m * at.common, rel=2e-5)
    in_q1 = (term(0.0, step) - term(0.0, -step)) / (2.0 * step)
    assert in_q1 == pytest.approx(0.5 * (m - 1) * (at.common + at.spread), rel=2e-5)


def test_narrow_groups_by_powers():
    """For small differences ``spread = difference E sum f_lk^2``: the replicon."""
    _, force, _, whole = symmetric_averages(0.6, 0.4)
    averages = SignCommittee().pattern_averages(0.6, 1e-5, 0.4 - 1e-5, 0.0, 2)
    assert averages.spread == pytest.approx(1e-5 * whole, rel=2e-4)
    assert averages.common == pytest.approx(force, rel=1e-4)


def test_one_replica_does_not_see_its_own_overlap():
    """For m = 1 the group's average is that over all solutions, whatever q1 is."""
    at = SignCommittee().pattern_averages(0.3, 0.4, 0.3, 0.0, 1.0)
    term, force, *_ = symmetric_averages(0.3, 0.7)
    assert at.term == pytest.approx(term, abs=1e-5)
    assert at.common == pytest.approx(force, rel=2e-5)


def test_an_overlap_between_groups_that_is_rounding_is_none():
    exact = parity_replicas.pattern_averages(3, 0.0, 0.6, 0.4, 60.0)
    rounded = parity_replicas.pattern_averages(3, 1e-17, 0.6, 0.4, 60.0)
    assert rounded[:3] == exact[:3]


def test_narrow_groups_feel_the_curvature():
    """For small differences ``spread = difference E sum f_lk^2``: the replicon, a second way."""
    _, force, _, whole = symmetric_averages(0.6, 0.4)
    averages = committee_of_three.pattern_averages(0.6, 2e-8, 0.4 - 2e-8, 2.0)
    assert averages.spread == pytest.approx(2e-8 * whole, rel=1e-4)
    assert averages.common == pytest.approx(force, rel=1e-4)
    assert averages.information == pytest.approx(0.0, abs=2e-5)  # the quadrature of the logarithm


@pytest.mark.parametrize("case", [(2, 0.4, 0.3, 2), (2, 0.3, 0.5, 5), (3, 0.4, 0.3, 3)])
def test_parity_against_simulation(case):
    units, q0, difference, m = case
    complement = 1.0 - q0 - difference
    found = Parity(units).pattern_averages(q0, difference, complement, 0.0, m)
    mean, error = monte_carlo(even, units, q0, difference, complement, m)
    assert math.isnan(found.information)
    # what 1500 draws of a group's fields leave is of order m^2 / 1500
    assert np.all(np.abs(np.array(found) - mean)[:3] < 4.0 * error[:3] + 5e-3)


def test_parity_of_two_units_in_mpmath():
    """Shared fields so far from the thresholds that the alternating sum would lose all digits."""
    m, width = 4, 0.5
    x = np.array([9.0, 8.0])
    logs, slopes, curved = moments(x, width, m)
    plain, *_ = parity._signed_moments(x, width, m)

    def one(x, power):
        peak = x / (1.0 + power * width**2)  # H falls like a normal density
        ends = [peak + step for step in (-5, -2, -1, -0.5, 0, 0.5, 1, 2, 5)]

        def density(z):
            return mp.npdf(z, x, width) * mp.ncdf(z) ** (m - power) * mp.ncdf(-z) ** power

        return mp.quad(density, ends)

    with mp.workdps(20):
        first = [one(9.0, k) for k in range(m + 1)]
        second = [one(8.0, k) for k in range(m + 1)]
        # right if exactly one of the two is wrong in a replica: shared fields of opposite signs
        exact = mp.fsum(mp.binomial(m, k) * first[k] * second[m - k] for k in range(m + 1))
    assert logs[0] == pytest.approx(
        [float(mp.log(value)) for value in first], rel=1e-10, abs=1e-12
    )
    state = logs[1]
    result, terms = np.empty(3), np.empty(m + 1)
    factorial = np.array([math.lgamma(k + 1.0) for k in range(m + 1)])
    parity._hard(m, logs[0], slopes[0], curved[0], state, factorial, 1, terms, result)
    assert result[2] == pytest.approx(float(mp.log(exact)), rel=1e-10)
    alternating = sum((-1) ** j * math.comb(m, j) * np.prod(plain[:, j]) for j in range(m + 1))
    assert abs(alternating) / 2.0**m < parity.CANCELLED


@pytest.mark.parametrize("wrong", [0, 1])
def test_logarithms_and_alternating_sums_agree(wrong):
    """Three units where both keep their digits: mean force, mean squared force and norm."""
    m, width = 7, 1.3
    x = np.array([0.7, 0.2, 1.1])
    logs, slopes, curved = moments(x, width, m)
    plain, steep, bent = parity._signed_moments(x, width, m)
    factorial = np.array([math.lgamma(k + 1.0) for k in range(m + 1)])
    rows, ready = np.empty((3, m + 1, m + 1)), np.zeros(3, np.bool_)
    state, terms, result = np.empty((2, m + 1)), np.empty(m + 1), np.empty(3)
    for level in range(2):
        parity._add_unit(logs, np.array([0, 1]), level, state, rows, ready, factorial, terms)
    parity._hard(m, logs[2], slopes[2], curved[2], state[1], factorial, wrong, terms, result)
    sign, j = 1 - 2 * wrong, np.arange(m + 1)
    others = special.comb(m, j) * plain[0] * plain[1] * float(sign) ** j / 2.0**m
    norm = others @ plain[2]
    fewer = special.comb(m - 2, j[:-2]) * (plain[0] * plain[1])[2:] * float(sign) ** j[:-2]
    assert result[2] == pytest.approx(math.log(norm), rel=1e-11)
    assert result[0] == pytest.approx(others @ steep[2] / (m * norm), rel=1e-9)
    assert result[1] == pytest.approx(fewer @ bent[2, :-2] / 2.0**m / norm, rel=1e-9)


@pytest.mark.parametrize("units", [2, 3, 4])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_parity_between_independent_groups(units, m):
    """At q0 = 0: ``E Sigma^m = 2^-m sum_j binom(m, j) (E e^j)^K``, even j only."""
    x, weight = LEGENDRE
    x, weight = 9.0 * x, 9.0 * weight * np.exp(-40.5 * x**2) / math.sqrt(2.0 * math.pi)
    even_one = special.erf(math.sqrt(0.8 / 0.2) * x / math.sqrt(2.0))
    moments = [(weight @ even_one**j) ** units for j in range(m + 1)]
    expected = sum(math.comb(m, j) * moments[j] for j in range(0, m + 1, 2)) / 2.0**m
    found = Parity(units).pattern_averages(0.0, 0.8, 0.2, 0.0, m)
    assert found.term == pytest.approx(math.log(expected) / m, abs=1e-7)
    assert found.common == 0.0
    assert math.isnan(found.spread) == (m == 1)


def test_parity_of_many_replicas_and_units():
    """Rising with m; for many units and few replicas each group is as good as random."""
    terms = [parity.pattern_averages(2, 0.0, 0.8, 0.2, m).term for m in (1, 2, 5, 20)]
    assert np.all(np.diff(terms) > 0.0)
    assert terms[0] == pytest.approx(-math.log(2.0), abs=1e-9)
    found = Parity(6).pattern_averages(0.0, 0.3, 0.7, 0.0, 2)
    assert found.term == pytest.approx(-math.log(2.0), abs=1e-3)


def test_parity_mean_force_is_a_derivative():
    """``d term / d q0 = -(m / 2) common`` where q1 stays."""
    step, m = 1e-4, 3
    above = parity.pattern_averages(2, 0.4 + step, 0.3 - step, 0.3, m).term
    below = parity.pattern_averages(2, 0.4 - step, 0.3 + step, 0.3, m).term
    common = parity.pattern_averages(2, 0.4, 0.3, 0.3, m).common
    assert (above - below) / (2.0 * step) == pytest.approx(-0.5 * m * common, rel=1e-5)


def test_parity_mean_square_force_is_a_derivative():
    """``d term / d q1 = (m - 1) / 2 (common + spread)`` where q0 stays."""
    step, m = 1e-4, 3
    above = parity.pattern_averages(2, 0.4, 0.3 + step, 0.3 - step, m).term
    below = parity.pattern_averages(2, 0.4, 0.3 - step, 0.3 + step, m).term
    at = parity.pattern_averages(2, 0.4, 0.3, 0.3, m)
    slope = 0.5 * (m - 1) * (at.common + at.spread)
    assert (above - below) / (2.0 * step) == pytest.approx(slope, rel=1e-5)


# ------------------------------------------------------------------------------------------------
# Infinitely many replicas
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [(0.7, 0.3), (0.9, 0.3)])
def test_limit_derivatives(case):
    """The envelope's derivatives, in the spread and in q1, against differences."""
    q1, spread = case
    limit = committee_of_three.limit_averages

    def term(q1, spread):
        return limit(q1, spread, 6).term

    at, step = limit(q1, spread, 6), 0.02
    slope = (term(q1, spread * (1 + step)) - term(q1, spread * (1 - step))) / (2 * step * spread)
    assert slope == pytest.approx(0.5 * at.force, rel=2e-4)
    move = step * (1.0 - q1)
    slope = (term(q1 + move, spread) - term(q1 - move, spread)) / (2.0 * move)
    assert slope == pytest.approx(0.5 * (at.spread - at.force), abs=2e-3 * at.force)


def test_limit_against_random_fields():
    """Fields at random; the maximum for each by scipy, literally, from many starts."""
    q1, spread = 0.7, 0.4
    rng = np.random.default_rng(5)
    shift, complement = spread / (1.0 - q1), 1.0 - q1

    def descend(z, x):
        value = max(float(committee(z)), 1e-300)
        return 0.5 * np.sum((z - x) ** 2) / shift - math.log(value)

    heights = []
    for v in rng.standard_normal((200, 3)):
        x = math.sqrt(q1 / complement) * v
        starts = [x, np.maximum(x, 0.5)]
        for unit in range(3):  # the other two pushed
            pushed = np.maximum(x, 0.5)
            pushed[unit] = x[unit]
            starts.append(pushed)
        heights.append(
            -min(
                optimize.minimize(descend, start, args=(x,), method="BFGS").fun for start in starts
            )
        )
    error = np.std(heights) / math.sqrt(len(heights))
    found = SignCommittee().limit_averages(q1, spread, 0.0).term
    assert error < 0.08
    assert abs(np.mean(heights) - found) < 3.0 * error


def test_panels_of_two_orders_agree():
    coarse = committee_of_three.limit_averages(0.9, 0.3, 5)
    fine = committee_of_three.limit_averages(0.9, 0.3, 7)
    assert coarse.term == pytest.approx(fine.term, rel=2e-5)
    assert coarse.force == pytest.approx(fine.force, rel=5e-5)


# ------------------------------------------------------------------------------------------------
# The public door
# ------------------------------------------------------------------------------------------------


MACHINES = (THREE_UNITS, PARITY)


def test_they_are_values():
    assert SignCommittee() == SignCommittee(3) != SignCommittee(5)
    assert Parity(2) == Parity(2) != Parity(3)
    assert hash(Parity(2)) == hash(Parity(2))
    for machine in (SignCommittee(), Parity(4)):
        c, complement, slope, curvature = machine.effective_overlap(0.3)
        assert (c, complement, slope, curvature) == (0.3, 0.7, 1.0, 0.0)
        assert machine.scale == machine.slope_at_one == 1.0


def test_devices_and_their_terms():
    for device, term in ((TreeCommittee(3), SignCommittee(3)), (ParityMachine(4), Parity(4))):
        weights, found, constraint = checked(device, Margin(0.0), kinds=MACHINES)
        assert (weights, found, constraint) == (Spherical(), term, Margin(0.0))
        with pytest.raises(ValueError, match=r"device must be .* infinitely many units"):
            checked(device, Margin(0.0))
        with pytest.raises(ValueError, match=r"constraint must be Margin\(0\.0\)"):
            checked(device, Margin(0.1), kinds=MACHINES)


@pytest.mark.parametrize("units", [1, 2, 4, 5])
def test_committees_of_other_sizes(units):
    with pytest.raises(ValueError, match="device must"):
        checked(TreeCommittee(units), Margin(0.0), kinds=MACHINES)


def test_committees_of_any_odd_size_where_that_is_asked_for():
    for units in (1, 5, 1_000_001):
        found = checked(TreeCommittee(units), Margin(0.0), kinds=(odd_signs(units),))
        assert found[1] == SignCommittee(units)
    with pytest.raises(ValueError, match="device must have an odd number of units"):
        checked(TreeCommittee(4), Margin(0.0), kinds=(odd_signs(5),))


@pytest.mark.parametrize("units", [1, 7])
def test_parity_machines_of_other_sizes(units):
    with pytest.raises(ValueError, match=r"device\.units must be from 2 to 6"):
        checked(ParityMachine(units), Margin(0.0), kinds=MACHINES)


def test_what_is_not_offered():
    for machine in (SignCommittee(), Parity(2)):
        with pytest.raises(ValueError, match="margin must be 0"):
            machine.pattern_averages(0.3, 0.3, 0.4, 0.1, 2)
    with pytest.raises(ValueError, match="margin must be 0"):
        SignCommittee().limit_averages(0.6, 0.1, 0.1)
    for wrong in (0.5, math.inf, math.nan):
        with pytest.raises(ValueError, match="replicas must be from 1 to 50"):
            Parity(2).pattern_averages(0.3, 0.3, 0.4, 0.0, wrong)
    with pytest.raises(ValueError, match="replicas must be from 1 to 50"):
        Parity(4).pattern_averages(0.3, 0.3, 0.4, 0.0, 50.5)
    with pytest.raises(ValueError, match="margin must be 0"):
        Parity(2).limit_averages(0.6, 0.1, 0.1)
    with pytest.raises(ValueError, match="replicas must be finite"):
        Parity(4).limit_averages(0.6, 0.1, 0.0)


@pytest.mark.parametrize("machine", [SignCommittee(), Parity(2)])
def test_coarse_averages_are_close(machine):
    coarse = machine.limit_averages(0.8, 0.6, 0.0, coarse=True)
    assert coarse == pytest.approx(machine.limit_averages(0.8, 0.6, 0.0), rel=2e-2)


def test_infinitely_many_replicas_take_few_fine_averages(monkeypatch):
    """Coarse averages say where to begin; where the saddle point is they do not."""
    fine, limit_averages = [], Parity.limit_averages

    def counted(self, q1, spread, kappa, coarse=False):
        fine.append(not coarse)
        return limit_averages(self, q1, spread, kappa, coarse)

    monkeypatch.setattr(Parity, "limit_averages", counted)
    axes = Spherical(), Parity(2), Margin(0.0)
    state, place, report = real_replicas.saddle(0.8, 0.5, math.inf, axes)
    assert report.residual < 1e-9
    assert 2 <= sum(fine) <= 6
    monkeypatch.setattr(real_replicas, "_coarse_start", lambda *given: (given[3], 1.0))
    other, same_place, _ = real_replicas.saddle(0.8, 0.5, math.inf, axes)
    assert place == pytest.approx(same_place, abs=1e-8)
    assert state.entropy(0.5) == pytest.approx(other.entropy(0.5), abs=1e-9)
