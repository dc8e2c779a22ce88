"""A few sign units with one step of breaking: other integrals, random fields, one and many units.

Second origins: the integrals over three units and over the perceptron's field, which are other
code; literal distances of random fields; sums over all orders of the units; closed forms.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, special

from tests.naive_groups import over_groups
from wfmlib import Band, Margin, Perceptron, ReLU, Spherical, TreeCommittee, networks
from wfmlib.numerics import gaussian
from wfmlib.theory import full_breaking, typical
from wfmlib.theory.machines import finite_committee, three_units_capacity
from wfmlib.theory.since.full_breaking import few_units, many_units, votes

PLACE = 0.63, 0.37, 46.0  # q0, 1 - q0 and ratio, close to the saddle point of five units


def group(fields, q0, complement, ratio, kappa=0.0, needed=None):
    """W for rows of shared fields ``sqrt(q0) v``: products of polynomials, unit by unit."""
    nodes, place = np.unique(fields, return_inverse=True)
    (terms, *_), right = votes._units(nodes, q0, complement, ratio, kappa)
    place = place.reshape(fields.shape)
    above_x = fields.shape[1] // 2 if needed is None else needed - 1
    spare = fields.shape[1] - 1 - above_x
    below, above, at = (one[:, place] for one in terms)  # nodes of x, rows, units
    product = {(0, 0): 1.0}  # coefficients of z^k e^l
    counts = {0: np.ones(len(fields))}  # how many are wrong
    for i in range(fields.shape[1]):
        longer = {}
        for (k, one), value in product.items():
            for key, factor in (
                ((k, one), below),
                ((k + 1, one), above),
                ((k, one + 1), at),
            ):
                if key[0] <= above_x and key[1] < 2:
                    longer[key] = longer.get(key, 0.0) + value * factor[:, :, i]
        product = longer
        wrong = {}
        for k, value in counts.items():
            wrong[k] = wrong.get(k, 0.0) + value * right[0, 1][place[:, i]]
            if k < spare:
                wrong[k + 1] = wrong.get(k + 1, 0.0) + value * right[0, 0][place[:, i]]
        counts = wrong
    return product[above_x, 1].sum(axis=0) + sum(counts.values())


# ------------------------------------------------------------------------------------------------
# What a pattern contributes
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kappa", "needed"), [(0.0, 3), (-0.4, 3), (0.0, 1), (-0.4, 4), (-1.0, 5)]
)
@pytest.mark.parametrize("fields", [[1.0, 0.2, -0.3, -0.9, -2.0], [-0.1, -0.5, -1.0, -1.2, -2.5]])
def test_a_group_of_random_fields(fields, kappa, needed):
    """The literal distance: the largest of the fields, as many as are needed, move to kappa."""
    q0, complement, ratio = PLACE
    rng = np.random.default_rng(5)
    fields = np.array([fields])
    w = math.sqrt(q0) * fields + math.sqrt(complement) * rng.standard_normal((400_000, 5))
    largest = -np.sort(-w, axis=1)[:, :needed]
    square = np.sum(np.minimum(largest - kappa, 0.0) ** 2, axis=1)
    weight = np.exp(-0.5 * ratio * square)
    error = weight.std() / math.sqrt(len(weight))
    assert error < 0.1 * weight.mean()
    found = group(fields, q0, complement, ratio, kappa, needed)
    assert abs(float(found[0]) - weight.mean()) < 4.0 * error


@pytest.mark.parametrize(("units", "needed"), [(1, 1), (3, 1), (3, 2), (4, 1), (5, 3), (5, 4)])
def test_sorted_rows_stand_for_all(units, needed):
    step = 2.0
    v, share = votes._shared(*PLACE[:2], step, 0.0)
    rows = np.array(list(itertools.product(range(len(v)), repeat=units)))
    weight = np.prod(share[rows], axis=1)
    rows, weight = rows[weight > 1e-16], weight[weight > 1e-16]
    expected = weight @ np.log(group(v[rows], *PLACE, needed=needed))
    found = votes.averages(units, *PLACE, step, needed=needed)
    assert found.log_weight == pytest.approx(expected, rel=1e-7)
    assert abs(found.left_out) < 1e-7


def test_three_units_by_other_integrals():
    q0, ratio = 0.64, 21.2
    found = votes.averages(3, q0, 1.0 - q0, ratio, 0.4)
    log_weight, pull, square = three_units_capacity.averages(q0, 1.0 - q0, ratio)
    expected = log_weight, -0.5 * ratio**2 * pull, -0.5 * square
    assert found[:3] == pytest.approx(expected, rel=1e-6)


def test_all_units_right_is_each_right():
    """W is then a product over the units, and ln W a sum."""
    one, three = (votes.averages(units, *PLACE, 0.8, needed=units) for units in (1, 3))
    assert three[:3] == pytest.approx([3.0 * part for part in one[:3]], rel=1e-9)


@pytest.mark.parametrize("needed", [1, 2])
def test_three_units_by_the_literal_distance(needed):
    """On a grid of all three fields; kinks leave an error of second order, extrapolated."""
    q0, ratio = 0.64, 21.2

    def weight(w):
        squares = np.sort(np.where(w < 0.0, w**2, 0.0), axis=0)
        return np.exp(-0.5 * ratio * squares[:needed].sum(axis=0))

    coarse, fine = (over_groups(weight, q0, 1.0 - q0, step) for step in (0.16, 0.08))
    found = votes.averages(3, q0, 1.0 - q0, ratio, 0.4, needed=needed).log_weight
    assert found == pytest.approx(fine + (fine - coarse) / 3.0, abs=2e-4)


def test_the_value_alone():
    found = votes.averages(5, *PLACE, 0.8, slopes=False)
    expected = votes.averages(5, *PLACE, 0.8)
    assert (found.log_weight, found.left_out) == (expected.log_weight, expected.left_out)
    assert math.isnan(found.by_q0)
    assert math.isnan(found.by_ratio)


@pytest.mark.parametrize(("units", "needed"), [(3, 2), (5, 3), (5, 1), (5, 4)])
def test_derivatives(units, needed):
    (q0, complement, ratio), step = PLACE, 1e-4

    def term(dq, dr):
        at = q0 + dq, complement - dq, ratio + dr
        return votes.averages(units, *at, 0.6, needed=needed).log_weight

    found = votes.averages(units, *PLACE, 0.6, needed=needed)
    by_q0 = (term(step, 0.0) - term(-step, 0.0)) / (2.0 * step)
    by_ratio = (term(0.0, step) - term(0.0, -step)) / (2.0 * step)
    assert (found.by_q0, found.by_ratio) == pytest.approx((by_q0, by_ratio), rel=1e-5)


@pytest.mark.parametrize(("units", "needed"), [(3, 2), (5, 2), (5, 3), (5, 4), (7, 4)])
def test_no_breaking_is_replica_symmetry(units, needed):
    """At r -> 0 the load is that of the nearest solution, by one integral: 1 / E <s^2>."""
    symmetric = finite_committee.rs_capacity(units, needed)
    found = votes.averages(units, 0.5, 0.5, 1e-5, 0.8, needed=needed)
    assert -0.5 / found.by_ratio == pytest.approx(symmetric, rel=1e-5)
    log_alpha, slopes, _ = few_units.log_load((math.log(5e-4), 0.0), units, 0.8, needed=needed)
    assert math.exp(log_alpha) == pytest.approx(symmetric, rel=1e-3)
    assert np.all(np.abs(slopes) < 1e-3)


# ------------------------------------------------------------------------------------------------
# Capacities
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kappa", [-0.5, -1.0, -1.5])
def test_one_unit_is_the_perceptron(kappa):
    """Where symmetry breaks, below margin 0; by the closed form for one field."""
    x, _ = few_units.minimum(1, kappa)
    found = math.exp(few_units.log_load(x, 1, 0.4, kappa)[0])
    expected = typical.capacity(Perceptron(Spherical()), constraint=Margin(kappa), ansatz="1RSB")
    assert found == pytest.approx(expected, rel=2e-6)


def test_one_unit_at_margin_zero():
    found = full_breaking.finite_capacity(TreeCommittee(1))
    assert (found.alpha, found.q0, found.ratio) == (pytest.approx(2.0), 1.0, 0.0)
    x, _ = few_units.minimum(1)  # nothing is lower
    assert math.exp(few_units.log_load(x, 1, 0.6)[0]) == pytest.approx(2.0, abs=1e-4)


def test_three_units_are_those_of_the_other_code():
    found = full_breaking.finite_capacity(TreeCommittee(3))
    expected = typical.capacity(TreeCommittee(3), ansatz="1RSB")
    assert abs(found.alpha - expected) < found.error < 1e-5
    assert found.symmetric == typical.capacity(TreeCommittee(3))
    at = three_units_capacity.one_step(found.symmetric)
    assert (found.q0, found.ratio) == pytest.approx((at.q0, at.ratio), rel=5e-3)


@pytest.mark.parametrize("units", [5, 7])
def test_the_load_is_the_smallest(units):
    """By its value alone, from another start."""
    found = full_breaking.finite_capacity(TreeCommittee(units))
    other = optimize.minimize(
        lambda x: few_units.log_load(x, units, 1.0)[0],
        [0.5, 1.5],
        method="Nelder-Mead",
        options={"xatol": 1e-3, "fatol": 1e-9},
    )
    assert math.exp(other.fun) == pytest.approx(found.alpha, rel=1e-5)
    assert special.expit(other.x[1]) == pytest.approx(found.q0, abs=5e-3)


def test_a_finer_grid_agrees_within_the_error(monkeypatch):
    found = full_breaking.finite_capacity(TreeCommittee(5))
    monkeypatch.setattr(votes, "NODES", 12)
    monkeypatch.setattr(votes, "EXTENT", 6.0)
    x = math.log(found.ratio * (1.0 - found.q0)), special.logit(found.q0)
    finer = math.exp(few_units.log_load(x, 5, 0.35)[0])
    assert abs(finer - found.alpha) < found.error < 1e-5


def test_more_units_store_more_and_break_more():
    found = [full_breaking.finite_capacity(TreeCommittee(units)) for units in (1, 3, 5, 7)]
    loads = np.array([one.alpha for one in found])
    assert np.all(np.diff(loads) > 0.0)
    assert np.all(np.diff(loads / [one.symmetric for one in found]) < 0.0)


@pytest.mark.parametrize("needed", [1, 2, 4, 5, 7])
def test_symmetric_capacities_by_random_fields(needed):
    rng = np.random.default_rng(needed)
    fields = -np.sort(-rng.standard_normal((300_000, 7)), axis=1)[:, :needed]
    squares = np.sum(np.minimum(fields, 0.0) ** 2, axis=1)
    error = squares.std() / math.sqrt(len(squares))
    found = 1.0 / finite_committee.rs_capacity(7, needed)
    assert error < 0.1 * found
    assert abs(squares.mean() - found) < 4.0 * error


@pytest.mark.parametrize("units", [1, 3, 5, 11])
def test_symmetric_capacities_of_most_units(units):
    expected = typical.capacity(TreeCommittee(units))
    assert finite_committee.rs_capacity(units, units // 2 + 1) == pytest.approx(expected, 1e-14)


def test_a_margin_says_how_many_units_must_be_right():
    """Those of networks whose stability exceeds it."""
    net = networks.TreeCommitteeNetwork(np.ones((5, 1)))
    patterns = np.array([[1] * right + [-1] * (5 - right) for right in range(6)])
    stabilities = net.stabilities(patterns, np.ones(6))
    margins = [-2.0, *(one for one in stabilities[:-1]), 0.0, 0.1, 1.4]
    for kappa in margins:
        needed = few_units.votes_needed(5, Margin(kappa))
        assert (stabilities > kappa).tolist() == [n >= needed for n in range(6)]


@pytest.mark.parametrize("units", [1, 3, 9])
def test_where_all_units_must_be_right_each_is_a_perceptron(units):
    """Of its own N / K weights: its capacity is 2 patterns a weight."""
    margin = Margin(math.sqrt(units) - 1e-3)
    found = full_breaking.finite_capacity(TreeCommittee(units), margin)
    assert found.alpha == found.symmetric == pytest.approx(2.0 / units, rel=1e-12)
    assert (found.needed, found.q0, found.ratio, found.error) == (units, 1.0, 0.0, 0.0)
    x, _ = few_units.minimum(3, needed=3)  # nothing is lower
    assert math.exp(few_units.log_load(x, 3, 0.6, needed=3)[0]) == pytest.approx(2 / 3, abs=1e-4)


def test_the_more_units_must_be_right_the_less_is_stored():
    margins = [Margin(kappa) for kappa in (-2.0, -1.0, 0.0, 1.0, 2.0)]
    found = [full_breaking.finite_capacity(TreeCommittee(5), one) for one in margins]
    assert [one.needed for one in found] == [1, 2, 3, 4, 5]
    loads = np.array([one.alpha for one in found])
    assert np.all(np.diff(loads) < 0.0)
    assert all(one.alpha < one.symmetric for one in found[:-1])
    for one in found[:-1]:
        x = math.log(one.ratio * (1.0 - one.q0)), special.logit(one.q0)
        finer = math.exp(few_units.log_load(x, 5, 0.35, needed=one.needed, slopes=False)[0])
        assert abs(finer - one.alpha) < one.error < 1e-5 * one.alpha
        other = optimize.minimize(
            lambda x, needed: few_units.log_load(x, 5, 0.8, needed=needed, slopes=False)[0],
            [x[0] + 0.5, x[1] - 0.4],
            args=(one.needed,),
            method="Nelder-Mead",
            options={"xatol": 1e-3, "fatol": 1e-9},
        )
        assert math.exp(other.fun) == pytest.approx(one.alpha, rel=1e-5)


@pytest.mark.parametrize("kappa", [-2.3, math.sqrt(5.0), 3.0])
def test_margins_that_no_vote_decides(kappa):
    with pytest.raises(ValueError, match=r"constraint must have a margin .* for 5 units"):
        full_breaking.finite_capacity(TreeCommittee(5), Margin(kappa))


@pytest.mark.parametrize("wrong", [0.0, Band(1.0), None])
def test_constraints_that_are_refused(wrong):
    with pytest.raises(TypeError, match="constraint must be Margin"):
        full_breaking.finite_capacity(TreeCommittee(5), wrong)


def test_it_prints():
    assert "error" in repr(full_breaking.finite_capacity(TreeCommittee(1)))


@pytest.mark.parametrize(
    "device",
    [
        TreeCommittee(13),
        TreeCommittee(4),
        TreeCommittee(3, ReLU()),
        TreeCommittee(math.inf),
        Perceptron(Spherical()),
        Perceptron(),
    ],
)
def test_devices_that_are_refused(device):
    with pytest.raises(ValueError, match="device must"):
        full_breaking.finite_capacity(device)


# ------------------------------------------------------------------------------------------------
# Many units
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vote", [-2.0, -0.3, 0.0, 0.8, 6.0])
@pytest.mark.parametrize("hardness", [1.0, 1e3, 1e7])
def test_a_group_of_many_units(vote, hardness):
    variance = 0.4

    def density(t):
        cost = hardness * math.pi * t**3 / 24.0
        return math.exp(-cost - 0.5 * (t + vote) ** 2 / variance)

    ends = [0.0, *np.geomspace(1e-4, 8.0, 20)]
    wrong = sum(integrate.quad(density, *pair)[0] for pair in itertools.pairwise(ends))
    expected = wrong / math.sqrt(2.0 * math.pi * variance)
    expected += special.ndtr(vote / math.sqrt(variance))
    found = many_units.group_log_weight(np.array([vote]), variance, hardness)
    assert found[0] == pytest.approx(math.log(expected), abs=1e-8)


def test_soft_groups_of_many_units():
    """At b -> 0 the mean of ``D^2 sqrt(K)``: the law of the replica-symmetric capacity."""
    found = -2.0 * many_units.log_weight(0.4, 1e-6) / 1e-6
    assert found == pytest.approx(math.sqrt(2.0 * math.pi / 144.0), rel=1e-5)


def test_hard_groups_of_many_units():
    """At b -> infinity a group must be right: one integral of ln H."""
    c = 2.0 / math.pi * math.asin(0.8)
    x, weight = gaussian.grid((0.0, 1.0))
    expected = weight @ gaussian.log_H(-math.sqrt(c / (1.0 - c)) * x)
    assert many_units.log_weight(0.2, 1e14) == pytest.approx(expected, abs=1e-3)


def test_few_units_tend_to_many():
    """Groups of the same random shared fields: the difference falls with the number of units."""
    q0, hardness, rng = 0.6, 3.0, np.random.default_rng(2)
    variance = 1.0 - 2.0 / math.pi * math.asin(q0)
    differences = []
    for units in (11, 41, 161):
        v = rng.standard_normal((16, units))
        found = np.log(
            np.concatenate(
                [group(row[None], q0, 1.0 - q0, hardness * math.sqrt(units)) for row in v]
            )
        )
        signs = 1.0 - 2.0 * special.ndtr(-math.sqrt(q0 / (1.0 - q0)) * v)
        vote = signs.sum(axis=1) / math.sqrt(units)
        many = many_units.group_log_weight(vote, variance, hardness)
        differences.append(np.mean(np.abs(found - many)))
    assert differences[0] > 2.0 * differences[2]
    assert differences[2] < 0.05


def test_growth_with_the_number_of_units():
    """``(8 / pi) sqrt(ln K)``, from below in the end, and far below twice that."""
    logs = np.array([32.0, 128.0, 512.0, 1e4])
    found = np.array([full_breaking.wide_capacity(one).alpha for one in logs])
    ratio = found / (8.0 / math.pi * np.sqrt(logs))
    assert np.all((ratio < 1.0) & (ratio > 0.8))
    assert ratio[-1] > 0.94
    assert np.all(np.diff(ratio[1:]) > 0.0)


def test_groups_of_infinitely_many_units_shrink_alike():
    """Their 1 - q1 falls with the load as 1 / K at capacity, but for terms of order ln alpha.

    By the saddle point at finite loads; there ``m phi`` tends to -1/2, m falling as the root of
    1 - q1.
    """
    signs, loads = TreeCommittee(math.inf), (9.0, 11.0)

    def log_units(load):
        return optimize.brentq(
            lambda x: full_breaking.wide_capacity(x).alpha - load, 8.0, 40.0, xtol=1e-3
        )

    points = [typical.solve_1rsb(signs, load) for load in loads]
    shrink = -np.diff(np.log([1.0 - at.q1 for at in points]))[0]
    assert shrink == pytest.approx(log_units(loads[1]) - log_units(loads[0]), rel=0.12)
    assert points[1].m * points[1].entropy == pytest.approx(-0.5, abs=0.005)


def test_many_units_at_their_minimum():
    at = full_breaking.wide_capacity(8.0)
    x = np.array([special.logit(at.q0), math.log(at.hardness)])
    for shift in ([0.1, 0.0], [-0.1, 0.0], [0.0, 0.3], [0.0, -0.3]):
        assert many_units._load(x + shift, 8.0) > at.alpha


@pytest.mark.parametrize("wrong", [3.9, 1e5, math.nan])
def test_numbers_of_units_out_of_range(wrong):
    with pytest.raises(ValueError, match="log_units must be"):
        full_breaking.wide_capacity(wrong)
