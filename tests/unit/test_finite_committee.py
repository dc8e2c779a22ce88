"""The capacity of K sign units: Monte Carlo, independent integrals, the law for many units."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special

from wfmlib import Margin, Perceptron, Spherical, TreeCommittee
from wfmlib.theory import full_breaking, typical
from wfmlib.theory.machines import committee_of_three

THREE = TreeCommittee(3)


def capacity(units):
    return typical.capacity(TreeCommittee(units))


def solve(alpha):
    return typical.solve(THREE, alpha)


def square_distances(x):
    """Least square distance of each row to where most coordinates are positive, literally."""
    needed = np.maximum((x <= 0).sum(axis=1) - (x.shape[1] - 1) // 2, 0)
    costs = np.sort(np.where(x <= 0, x, np.inf) ** 2, axis=1)
    costs[np.isinf(costs)] = 0.0  # never among the first `needed`
    return np.where(np.arange(x.shape[1]) < needed[:, None], costs, 0.0).sum(axis=1)


def test_square_distances_of_the_test():
    x = np.array([[1.0, 2.0, -3.0], [-1.0, -2.0, 3.0], [-3.0, -1.0, -2.0]])
    assert square_distances(x).tolist() == [0.0, 1.0, 5.0]


@pytest.mark.parametrize("units", [1, 3, 7, 31, 101])
def test_monte_carlo(units):
    rng = np.random.default_rng(units)
    squares = square_distances(rng.standard_normal((2_000_000 // units, units)))
    mean, error = squares.mean(), squares.std() / math.sqrt(len(squares))
    assert error < 0.03 * mean
    assert abs(1.0 / capacity(units) - mean) < 4.0 * error


def test_one_unit_is_the_perceptron():
    assert capacity(1) == pytest.approx(typical.capacity(Perceptron(Spherical())), rel=1e-14)


def test_three_units_by_cases():
    """4.02 (Barkai et al. 1992, Engel et al. 1992).

    Two of three coordinates negative (chance 3/8): the smaller of the two crosses over. All
    three negative (1/8): the two smallest do, that is all but the largest.
    """

    def density(x):
        return math.sqrt(2.0 / math.pi) * math.exp(-0.5 * x * x)

    def beyond(x):  # of the absolute value of a normal variable
        return math.erfc(x / math.sqrt(2.0))

    smaller = integrate.quad(lambda x: x * x * 2.0 * density(x) * beyond(x), 0.0, 12.0)[0]
    largest = integrate.quad(lambda x: x * x * 3.0 * density(x) * (1 - beyond(x)) ** 2, 0.0, 12.0)
    expected = 3.0 / 8.0 * smaller + (3.0 - largest[0]) / 8.0
    found = capacity(3)
    assert found == pytest.approx(1.0 / expected, rel=1e-12)
    assert int(100 * found) == 402


@pytest.mark.parametrize("units", [5, 9, 25])
def test_order_statistics_one_by_one(units):
    """E of the i-th smallest square among n half-normal ones, summed as the definition says."""
    x, weight = np.polynomial.legendre.leggauss(200)
    x, weight = 6.0 * (x + 1.0), 6.0 * weight  # from 0 to 12
    inside = special.erf(x / math.sqrt(2.0))
    total = 0.0
    for n in range((units + 1) // 2, units + 1):
        for i in range(1, n - (units - 1) // 2 + 1):
            rest = special.erfc(x / math.sqrt(2.0)) ** (n - i) * inside ** (i - 1)
            order = i * math.comb(n, i) * rest * math.sqrt(2.0 / math.pi) * np.exp(-0.5 * x * x)
            total += math.comb(units, n) / 2.0**units * (weight @ (x * x * order))
    assert capacity(units) == pytest.approx(1.0 / total, rel=1e-12)


@pytest.mark.parametrize("units", [101, 601])
def test_in_mpmath(units):
    half = (units - 1) // 2

    def crossing(x):
        return mp.betainc(half, half + 1, 0, mp.erfc(x / mp.sqrt(2)) / 2, regularized=True)

    with mp.workdps(20):
        width = 1 / mp.sqrt(units)
        ends = [0, width, 2 * width, 4 * width, 8 * width, 16 * width, 32 * width]
        mean = units * mp.quad(lambda x: x**2 * mp.npdf(x) * crossing(x), ends, maxdegree=3)
    assert capacity(units) == pytest.approx(float(1 / mean), rel=1e-11)


def test_many_units():
    """sqrt(72 K / pi), P2; the next terms are -9 and one of order 1 / sqrt(K)."""
    units = np.array([1001, 10_001, 100_001, 1_000_001])
    found = np.array([capacity(one) for one in units.tolist()])
    law = np.sqrt(72.0 * units / math.pi)
    rest = np.sqrt(units) * (found - law + 9.0)
    # the first term of the correction: rest = A + B / sqrt(K) with a steady A
    steps = np.diff(rest) / np.diff(1.0 / np.sqrt(units))
    limit = rest[-1] - steps[-1] / math.sqrt(units[-1])
    assert np.all(np.abs(limit - rest) < 20.0 / np.sqrt(units))
    assert found[-1] / law[-1] == pytest.approx(1.0, abs=9.1 / law[-1])
    assert limit == pytest.approx(third_term(), abs=1e-3)


def third_term():
    """Coefficient of 1 / sqrt(K), from the moments of a beta variable.

    The unit at the border has ``H(x) = 1/2 - delta`` with a beta density ``(1/4 - delta^2)^(h-1)
    (1/2 + delta)``, h = (K - 1) / 2, and ``E D^2 = 2 pi K E[delta^3 / 3 + 2 pi delta^5 / 15]``
    over delta > 0, up to the seventh power.
    """

    def moment(power, half):
        def part(a):
            return mp.mpf(4) ** (1 - half) * mp.beta((a + 1) / 2, half) / 2 ** (a + 2)

        return (part(mp.mpf(power)) / 2 + part(mp.mpf(power) + 1)) / mp.beta(half, half + 1)

    def rest(units):
        half = (units - 1) / 2
        mean = 2 * mp.pi * units * (moment(3, half) / 3 + 2 * mp.pi * moment(5, half) / 15)
        return mp.sqrt(units) * (1 / mean - mp.sqrt(72 * units / mp.pi) + 9)

    with mp.workdps(60):
        return float(rest(mp.mpf(10) ** 16 + 1))


def test_it_grows_with_the_units():
    found = [capacity(units) for units in range(1, 400, 2)]
    assert np.all(np.diff(found) > 0.0)


@pytest.mark.parametrize("units", [2, 100, 1_000_003])
def test_numbers_of_units_that_are_not_solved(units):
    with pytest.raises(ValueError, match=r"device(\.units)? must"):
        capacity(units)


# ------------------------------------------------------------------------------------------------
# Three units below capacity
# ------------------------------------------------------------------------------------------------


def test_no_patterns():
    state = solve(0.0)
    assert (state.q, state.replicon) == (0.0, 0.0)
    assert state.entropy == 0.0


def test_first_patterns_cost_one_half_each():
    state = solve(1e-4)
    assert state.entropy == pytest.approx(-1e-4 * math.log(2.0), rel=1e-3)


def test_entropy_is_stationary():
    """Its derivative in the load at the saddle point is the term of one pattern."""
    step = 1e-3
    slope = (solve(1.0 + step).entropy - solve(1.0 - step).entropy) / (2.0 * step)
    state = solve(1.0)
    term = committee_of_three.symmetric_averages(state.q, 1.0 - state.q)[0]
    assert slope == pytest.approx(term, rel=1e-6)


def test_instability_lies_where_the_replicon_is_one():
    load = typical.instability(THREE)
    state = solve(load)
    assert state.replicon == pytest.approx(1.0, abs=1e-6)
    assert 1.7 < load < 1.8  # 1.76 in the literature
    assert solve(load - 0.1).replicon < 1.0 < solve(load + 0.1).replicon


def test_instability_of_small_differences():
    """Two close replicas move apart where the load within a group exceeds that between groups."""
    load, width = typical.instability(THREE), 1e-4
    state = solve(load)
    complement = 1.0 - state.q
    at = committee_of_three.pattern_averages(
        state.q, width * complement, (1.0 - width) * complement, 2.0
    )
    split_hat = width / (complement * (1.0 - width) * (1.0 + width))
    assert load * at.spread == pytest.approx(split_hat, rel=5e-3)


def test_monte_carlo_of_the_entropy_term():
    rng = np.random.default_rng(8)
    p = special.ndtr(math.sqrt(0.5 / 0.5) * rng.standard_normal((3, 400_000)))
    values = np.log(p[0] * p[1] + p[0] * p[2] + p[1] * p[2] - 2.0 * p[0] * p[1] * p[2])
    found = committee_of_three.symmetric_averages(0.5, 0.5)[0]
    assert abs(values.mean() - found) < 4.0 * values.std() / math.sqrt(values.size)


def test_a_state_says_of_what_it_is():
    state = solve(1.0)
    assert (state.device, state.alpha, state.constraint) == (THREE, 1.0, Margin(0.0))
    assert state.distance == pytest.approx(0.5 * (1.0 - state.q), rel=1e-15)
    assert state.q_hat == pytest.approx(state.q / (1.0 - state.q) ** 2, rel=1e-14)
    assert state.report.converged
    curve = typical.curve(THREE, [0.5, 1.0, 4.0])
    assert curve.converged.values.tolist() == [True, True, False]
    assert curve.entropy[1] == state.entropy


@pytest.mark.parametrize("units", [1, 5])
def test_other_numbers_of_units_are_refused(units):
    device = TreeCommittee(units)
    for function in (lambda: typical.solve(device, 1.0), lambda: typical.instability(device)):
        with pytest.raises(ValueError, match="TreeCommittee of three sign units with Spherical"):
            function()
    with pytest.raises(ValueError, match=r"TreeCommittee of three sign units .* ansatz '2RSB'"):
        typical.capacity(device, ansatz="2RSB")


def test_one_step_of_up_to_eleven_units():
    assert typical.capacity(TreeCommittee(1), ansatz="1RSB") == pytest.approx(2.0, rel=1e-11)
    five = typical.capacity(TreeCommittee(5), ansatz="1RSB")
    assert five == full_breaking.finite_capacity(TreeCommittee(5)).alpha < 3.62
    with pytest.raises(ValueError, match=r"device must .* TreeCommittee of 1 to 11 sign units"):
        typical.capacity(TreeCommittee(13), ansatz="1RSB")


def test_other_margins_are_refused():
    for function in (
        lambda: typical.solve(THREE, 1.0, Margin(0.1)),
        lambda: typical.capacity(THREE, constraint=Margin(0.1)),
        lambda: typical.instability(THREE, constraint=Margin(0.1)),
    ):
        with pytest.raises(ValueError, match=r"constraint must be Margin\(0\.0\)"):
            function()


def test_questions_that_are_not_answered():
    for function in (typical.max_margin, typical.last_margin, typical.solve_1rsb):
        with pytest.raises(ValueError, match="device must be a Perceptron or have infinitely"):
            function(THREE, 1.0)


def test_loads_out_of_range():
    for wrong in (-0.1, 4.0, math.nan):
        with pytest.raises(ValueError, match="alpha must be"):
            solve(wrong)
