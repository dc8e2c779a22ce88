"""Where panels of a quadrature are graded: a finer rule changes nothing, wherever one looks.

Each kernel says where its integrand bends and over what width. If that were a little off, the
average would be a little wrong where the bend is sharp, and nowhere else. So each is held against
itself with 24 nodes a panel, at sharp bends and at none. What the averages are, other tests say.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from wfmlib.models import Binary, CrossEntropy, Margin, Perceptron, Spherical
from wfmlib.models.activations import Linear
from wfmlib.models.constraints import margin, margin_around
from wfmlib.models.weights import spin, spin_groups
from wfmlib.numerics import gaussian
from wfmlib.theory import cross_entropy, teacher_student
from wfmlib.theory.machines import committee_powers, parity
from wfmlib.theory.saddles import (
    constrained,
    one_step_capacity,
)
from wfmlib.theory.saddles.constrained import Constrained, Reference
from wfmlib.theory.saddles.replica_symmetric import Stationary
from wfmlib.theory.stabilities import dense_stabilities, distribution
from wfmlib.theory.teacher import margin_students, taught_replicas, taught_surroundings

FINE = 24
BEYOND = np.array([1e-3, 0.1, 1.0, 3.0])  # stabilities above the margin

# overlap, spread of infinitely many replicas: sharp bends where 1 - overlap is small
SPREADS = [(0.5, 0.5), (1.0 - 1e-6, 1e-7), (1.0 - 1e-6, 0.01), (0.9, 30.0)]
# overlap between groups, what they add to it
GAPS = [(0.5, 0.3), (0.99, 0.00999), (0.3, 0.6999), (1e-3, 0.998)]
MARGINS = (0.0, 0.7, -0.5)


def product(*values):
    return list(itertools.product(*values))


CASES = [
    (
        dense_stabilities.infinite,
        12,
        [(k + BEYOND, k, c, s, 1.0 - c) for k, (c, s) in product(MARGINS, SPREADS)],
    ),
    (
        dense_stabilities.finite,
        12,
        [
            (k + BEYOND[:2], k, c, g, 1.0 - c - g, 5.0)
            for k, (c, g) in product((0.0, 0.7), GAPS[:3])
        ],
    ),
    (
        distribution._density_and_share,
        16,
        [
            (k + BEYOND, k, min(k, 0.0), c, 1.0 - c)
            for k, c in product(MARGINS, (1e-3, 0.5, 0.999, 1.0 - 1e-8))
        ],
    ),
    (
        margin.limit_averages,
        14,
        [(c, s, 1.0 - c, k) for k, (c, s) in product(MARGINS, SPREADS)],
    ),
    (
        spin.limit_averages,
        14,
        product((1e-3, 1.0, 30.0, 1e4), (0.3, 0.999, 1.0, 1.001, 3.0, 10.0, 30.0)),
    ),
    (
        taught_replicas._pattern,
        14,
        [
            (q, t, s, 1.0 - q)
            for (q, t), s in product(
                ((0.5, 0.3), (1.0 - 1e-6, 0.999), (0.9, 0.9486)), (1e-3, 0.5, 30.0)
            )
        ],
    ),
    (
        taught_replicas._weight,
        14,
        product((0.1, 1.0, 30.0), (0.3, 1.0, 3.0), (0.0, 2.0, 40.0)),
    ),
    (spin_groups.strong, 12, product((0.0, 0.3, 50.0), (0.1, 1.0, 3.0), (2.0, 50.0))),
    (
        margin.pattern_averages,
        12,
        [
            (c, g, 1.0 - c - g, k, m)
            for k, (c, g), m in product((0.0, 0.7), GAPS, (0.01, 1.0, 30.0))
        ],
    ),
    (
        spin_groups.mild,
        12,
        product((1e-3, 0.3, 50.0), (1e-3, 1.0, 30.0), (0.01, 0.5, 1.0)),
    ),
    (
        spin_groups.constrained_groups,
        10,
        [
            (1e-3, 1.0, 0.01, 10.0, 1.0, 0.0, 1.0),
            (1e-3, 1.0, 0.6, 1.0, 1.0, 0.5, 0.5),
            (0.45, 1.0, 30.0, 0.01, 30.0, 0.5, 0.1),
            (0.45, 1.0, 30.0, 10.0, 30.0, 0.5, 1.0),
        ],
    ),
    (spin.field_averages, 16, [(w,) for w in (1e-4, 0.3, 0.6, 5.0, 1e4, 1e10)]),
    (
        spin.constrained_averages,
        12,
        product((1e-4, 0.1, 0.45), (0.01, 0.6, 30.0), (0.3, 3.0, 100.0), (0.0, 0.5)),
    ),
]


def flat(found):
    """Return numbers, and tuples and arrays of them, in one row."""
    return np.hstack([np.hstack(one) if isinstance(one, tuple) else one for one in found])


@pytest.mark.parametrize(
    ("kernel", "order", "cases"),
    CASES,
    ids=[f"{one.__module__.rpartition('.')[2]}.{one.__name__}" for one, *_ in CASES],
)
def test_a_finer_rule_changes_nothing(kernel, order, cases):
    rule, fine = gaussian.legendre_rule(order), gaussian.legendre_rule(FINE)
    for case in cases:
        found, expected = flat(kernel(*case, rule)), flat(kernel(*case, fine))
        assert np.all(np.isfinite(expected))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=f"{case}")


@pytest.mark.parametrize("own", [Binary(), Spherical()])
@pytest.mark.parametrize("constraint", [Margin, CrossEntropy])
def test_a_finer_rule_changes_nothing_of_a_saddle_point(own, constraint, monkeypatch):
    """From shared fields that hardly matter to those next to a wall."""
    given = [Margin(0.0), Margin(0.8), Margin(-0.5)]
    if constraint is CrossEntropy:
        given = [CrossEntropy(*one) for one in product((1.0, 30.0, math.inf), (5.0, 100.0, 1e4))]

    def averages():
        points = (
            Stationary(q_hat, own, Linear(), one)
            for q_hat, one in product((1e-3, 1.0, 1e2, 1e4, 1e8), given)
        )
        return [(at.alpha, at.entropy, edge(at), at.replicon) for at in points]

    def edge(at):  # a loss has none
        return at.edge_density if constraint is Margin else at.force

    found = averages()
    monkeypatch.setattr(constraint, "order", FINE)
    np.testing.assert_allclose(found, averages(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "given", [Margin(0.0), Margin(0.8), Margin(-0.5), CrossEntropy(1.0, 5.0)], ids=str
)
@pytest.mark.parametrize("own", [Binary(), Spherical()], ids=str)
def test_a_finer_rule_changes_nothing_around_a_reference(own, given, monkeypatch):
    """Of references far apart and next to one another; far away from them, and close by."""
    margin = given if isinstance(given, Margin) else Margin(0.2)
    conjugates = [(0.45, 0.01, 0.0), (0.1, 1.0, 0.5), (1e-3, 100.0, 0.9)]

    def averages():
        found = []
        for q_hat, one in product((0.1, 30.0, 1e4), conjugates):
            reference = Reference(Stationary(q_hat, own, Linear(), given), 0.5)
            at = Constrained(*one, reference, own, Linear(), margin)
            found.append([*at.image(), *at.averages])
        return found

    found = averages()
    monkeypatch.setattr(constrained, "ORDER", FINE)
    monkeypatch.setattr(margin_around, "RULE", gaussian.legendre_rule(FINE))
    np.testing.assert_allclose(found, averages(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("given", [Margin(0.0), Margin(0.8), Margin(-0.5)], ids=str)
@pytest.mark.parametrize("own", [Binary(), Spherical()], ids=str)
def test_equal_distances_around_a_reference_give_what_panels_give(own, given, monkeypatch):
    """Where distances are equal for both fields of a pattern, for one, and for weights alone."""
    conjugates = [(0.45, 0.01, 0.0), (0.3, 1.0, 0.5), (0.1, 1.0, 0.5), (0.1, 0.1, 0.9)]

    def averages():
        found = []
        for q_hat, one in product((0.0, 0.1, 1.0), conjugates):
            reference = Reference(Stationary(q_hat, own, Linear(), given, alpha=0.5), 0.5)
            at = Constrained(*one, reference, own, Linear(), Margin(0.2))
            asked.append(len(reference.fields[0]))
            found.append([*at.image(), *at.averages, at.p, at.t0, at.entropic.term])
        return found

    asked = []
    found = averages()
    monkeypatch.setattr(gaussian, "spaced", lambda *_: None)
    np.testing.assert_allclose(found, averages(), rtol=3e-12, atol=1e-14)
    assert asked[: len(found)] != asked[len(found) :]


# overlap between groups, difference, 1 - q1 and replicas: ridges that are wide, and narrow ones
@pytest.mark.parametrize(
    "case",
    [
        (0.02, 0.3, 0.68, 4),
        (0.1, 0.3, 0.6, 4),
        (0.3, 0.4, 0.3, 3),
        (0.6, 0.05, 0.35, 3),
        (0.6, 0.3, 0.1, 10),
        (0.05, 0.05, 0.9, 2),
    ],
)
def test_a_finer_grid_of_shared_fields_changes_nothing(case):
    for units in (2, 3):
        found = parity.pattern_averages(units, *case)
        fine = parity.pattern_averages(units, *case, accuracy=0.5 * parity.ACCURACY[units])
        np.testing.assert_allclose(found[:3], fine[:3], rtol=2e-7)
    found = committee_powers.pattern_averages(*case)
    fine = committee_powers.pattern_averages(*case, accuracy=0.5 * committee_powers.ACCURACY)
    np.testing.assert_allclose(found[:3], fine[:3], rtol=2e-5)


def test_a_finer_grid_changes_no_average(monkeypatch):
    """Of plain functions, whose bends are named to `gaussian.grid`."""

    def averages():
        found = []
        for q, mu, kappa in product((0.3, 0.99, 1.0 - 1e-6), (0.1, 10.0, 1e4), MARGINS):
            overlap = Linear().effective(q, 1.0 - q)
            found += one_step_capacity._group(overlap, mu, kappa)
        for q_hat in (1e-3, 1.0, 1e2, 1e4):
            at = teacher_student._Students().entropic(q_hat)
            # the term is a difference of numbers of order q_hat
            found += [at.q, at.complement, 1.0 + at.term / q_hat, at.fluctuation]
        for conjugates in product((0.01, 1.0, 50.0), (0.01, 1.0, 20.0)):
            found += margin_students._overlaps(*conjugates)
        for kappa, overlaps in product((0.0, 0.3), ((0.5, 0.4), (0.99, 0.98), (0.9999, 0.99))):
            found += margin_students._forces(kappa, *overlaps)
        for load, gamma in ((0.5, 1.0), (1.0, 10.0), (2.0, math.inf)):
            at = cross_entropy.zero_temperature(Perceptron(), load, gamma)
            found += [at.dq, at.energy, at.error_rate]
        return [*found, *(Margin(kappa).shortfall() for kappa in (-1.5, 0.0, 2.0))]

    found, grid = averages(), gaussian.grid
    monkeypatch.setattr(gaussian, "grid", lambda *f, **o: grid(*f, **(o | {"order": 40})))
    np.testing.assert_allclose(found, averages(), rtol=1e-11, atol=1e-30)


def test_finer_grids_change_nothing_around_a_student(monkeypatch):
    """At a state near the saddle point."""
    student = margin_students.solve(Perceptron(), 1.0, Margin(0.1))

    def turn():
        at = taught_surroundings.Turn(0.05, np.array([-0.25, 0.86, 0.77]), student, Margin(0.0))
        return [at.local_entropy, at.slope, *at.image]

    found, panels = turn(), taught_surroundings._panels
    monkeypatch.setattr(taught_surroundings, "SHARED", (9.0, 24, 6))
    monkeypatch.setattr(taught_surroundings, "COUNTED", (8.5, 16, 5))
    monkeypatch.setattr(taught_surroundings, "_panels", lambda ends, n: panels(ends, 2 * n))
    np.testing.assert_allclose(found, turn(), atol=3e-7)
