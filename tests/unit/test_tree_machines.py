"""Committees and the parity machine: their answers, their ties, their symmetries."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfmlib import patterns
from wfmlib.networks import (
    CommitteeNetwork,
    ParityMachineNetwork,
    PerceptronNetwork,
    TreeCommitteeNetwork,
)

MACHINES = [TreeCommitteeNetwork, ParityMachineNetwork]

# Three units of two weights, all +1: the units' sums of each pattern are beside it.
XI = np.array(
    [
        [1, 1, 1, 1, -1, -1],  # 2 2 -2
        [-1, -1, 1, 1, -1, -1],  # -2 2 -2
        [1, 1, 1, 1, 1, -1],  # 2 2 0
        [-1, -1, -1, -1, -1, -1],  # -2 -2 -2
    ]
)
SIGMA = np.array([1, 1, 1, -1])


def test_a_worked_example():
    w = np.ones((3, 2))
    committee, parity = TreeCommitteeNetwork(w), ParityMachineNetwork(w)
    # The third pattern is a tie though two of three units say +1: the third says nothing.
    np.testing.assert_array_equal(committee.output(XI), [1, -1, 0, -1])
    np.testing.assert_array_equal(parity.output(XI), [-1, 1, 0, -1])
    assert committee.errors(XI, SIGMA) == 2
    assert parity.errors(XI, SIGMA) == 2
    root = np.sqrt(3)
    np.testing.assert_array_equal(
        committee.stabilities(XI, SIGMA), [1 / root, -1 / root, 0.0, 3 / root]
    )
    np.testing.assert_array_equal(parity.stabilities(XI, SIGMA), [-1.0, 1.0, 0.0, 1.0])
    np.testing.assert_array_equal(
        committee.fields(XI),
        np.array([[2, 2, -2], [-2, 2, -2], [2, 2, 0], [-2, -2, -2]]) / np.sqrt(2),
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_types_and_text(machine):
    net = machine([[1.0, -1.0], [1.0, 1.0], [1.0, 1.0]])
    assert net.w.dtype == np.int64
    assert repr(net) == f"{machine.__name__}(K=3, N=6, binary weights)"
    assert net.output(XI).dtype == np.int64
    assert isinstance(net.errors(XI, SIGMA), int)
    assert net.stabilities(XI, SIGMA).dtype == np.float64
    given_w = np.full((3, 2), 0.5)
    real = machine(given_w)
    given_w[:] = 7
    np.testing.assert_array_equal(real.w, np.full((3, 2), 0.5))
    assert repr(real) == f"{machine.__name__}(K=3, N=6, real weights)"


@pytest.mark.parametrize(
    ("machine", "combine"), [(TreeCommitteeNetwork, np.sum), (ParityMachineNetwork, np.prod)]
)
@pytest.mark.parametrize("units", [1, 2, 3, 4, 5])
def test_every_combination_of_signs(machine, combine, units):
    # One weight +1 a unit: a pattern is the list of the units' signs.
    xi = np.array(list(itertools.product((-1, 1), repeat=units)))
    expected = [np.sign(combine(signs)) for signs in xi]
    net = machine(np.ones((units, 1)))
    np.testing.assert_array_equal(net.output(xi), expected)
    for label in (-1, 1):
        sigma = np.full(len(xi), label)
        assert net.errors(xi, sigma) == sum(label != one for one in expected)


@st.composite
def networks(draw, machine=None):
    """Draw a machine, binary or real, with patterns and labels for it."""
    machine = machine or draw(st.sampled_from(MACHINES))
    K, n, P = draw(st.integers(1, 6)), draw(st.integers(1, 8)), draw(st.integers(1, 12))
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    w = rng.choice([-1, 1], (K, n)) if draw(st.booleans()) else rng.standard_normal((K, n))
    return machine, w, *patterns.random(P, K * n, rng=seed)


@given(networks())
def test_a_unit_is_a_perceptron(case):
    machine, w, xi, sigma = case
    net = machine(w)
    K, n = w.shape
    parts = [xi[:, unit * n : (unit + 1) * n] for unit in range(K)]
    units = [PerceptronNetwork(row) for row in w]
    fields = net.fields(xi)
    assert fields.shape == (len(xi), K)
    for unit in range(K):
        # Sums of at most 8 terms of size |w_i|, rounded in another order.
        np.testing.assert_allclose(
            fields[:, unit] * np.sqrt(n),
            parts[unit] @ w[unit],
            rtol=0,
            atol=1e-14 * np.abs(w[unit]).sum(),
        )
    signs = np.array([unit.output(part) for unit, part in zip(units, parts, strict=True)])
    decided = signs.all(axis=0)
    votes = signs.sum(axis=0) if machine is TreeCommitteeNetwork else signs.prod(axis=0)
    np.testing.assert_array_equal(net.output(xi), np.sign(votes) * decided)
    scale = np.sqrt(K) if machine is TreeCommitteeNetwork else 1.0
    np.testing.assert_array_equal(net.stabilities(xi, sigma), sigma * votes * decided / scale)


@given(networks())
def test_output_errors_and_stabilities_agree(case):
    machine, w, xi, sigma = case
    net = machine(w)
    wrong = np.count_nonzero(net.output(xi) != sigma)
    assert net.errors(xi, sigma) == wrong
    assert np.count_nonzero(net.stabilities(xi, sigma) <= 0) == wrong
    if len(w) == 1:
        assert wrong == PerceptronNetwork(w[0]).errors(xi, sigma)


@given(networks(), st.randoms(use_true_random=False))
def test_units_may_change_places_with_their_inputs(case, random):
    machine, w, xi, sigma = case
    K, n = w.shape
    order = random.sample(range(K), K)
    moved = xi.reshape(len(xi), K, n)[:, order].reshape(xi.shape)
    np.testing.assert_array_equal(
        machine(w[order]).stabilities(moved, sigma), machine(w).stabilities(xi, sigma)
    )


@given(networks(), st.integers(0, 2**32))
def test_gauge_symmetry(case, seed):
    machine, w, xi, sigma = case
    gauge = np.random.default_rng(seed).choice([-1, 1], w.shape)
    np.testing.assert_array_equal(
        machine(w * gauge).stabilities(xi * gauge.ravel(), sigma),
        machine(w).stabilities(xi, sigma),
    )


@given(networks(ParityMachineNetwork), st.data())
def test_parity_does_not_see_the_signs_of_two_units(case, data):
    _, w, xi, _ = case
    one = data.draw(st.integers(0, len(w) - 1))
    other = data.draw(st.integers(0, len(w) - 1))
    turned = w.copy()
    turned[one] *= -1
    np.testing.assert_array_equal(
        ParityMachineNetwork(turned).output(xi), -ParityMachineNetwork(w).output(xi)
    )
    turned[other] *= -1
    np.testing.assert_array_equal(
        ParityMachineNetwork(turned).output(xi), ParityMachineNetwork(w).output(xi)
    )


@given(networks(TreeCommitteeNetwork), st.floats(1e-3, 1e3))
def test_committee_is_odd_and_the_length_of_a_unit_does_not_matter(case, scale):
    _, w, xi, sigma = case
    plain = TreeCommitteeNetwork(w).stabilities(xi, sigma)
    np.testing.assert_array_equal(TreeCommitteeNetwork(-w).stabilities(xi, sigma), -plain)
    if w.dtype.kind == "f":  # sums of random reals: no tie that rounding could make or break
        longer = w * np.where(np.arange(len(w)) % 2, scale, 1.0)[:, None]
        np.testing.assert_array_equal(TreeCommitteeNetwork(longer).stabilities(xi, sigma), plain)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("w", "error", "message"),
    [
        ([1, 1], ValueError, r"w must be a non-empty array with 2 axes, got shape \(2,\)"),
        (np.ones((0, 3)), ValueError, r"w must be a non-empty array with 2 axes"),
        ([[1.0, 1.0], [0.0, 0.0]], ValueError, "zero throughout in any unit, unit 1 is"),
        ([[1.0, np.nan]], ValueError, "w must be finite, got an entry nan"),
        ([["a"]], TypeError, "w must be an array of real numbers"),
        ([[1], [1, 1]], ValueError, "w must be a rectangular array"),
    ],
)
def test_bad_weights_are_named(machine, w, error, message):
    with pytest.raises(error, match=message):
        machine(w)


@pytest.mark.parametrize("machine", MACHINES)
def test_bad_patterns_are_named(machine):
    net = machine(np.ones((3, 2)))
    for call in (net.output, net.fields):
        with pytest.raises(ValueError, match=r"w has shape \(3, 2\), xi has shape \(4, 5\)"):
            call(XI[:, :5])
    with pytest.raises(ValueError, match="xi must hold -1 and \\+1 only, got 0 and 1"):
        net.errors(np.zeros((1, 6)), [1])
    with pytest.raises(ValueError, match="sigma must have one label per pattern"):
        net.stabilities(XI, SIGMA[:3])


# ------------------------------------------------------------------------------------------------
# The fully connected committee
# ------------------------------------------------------------------------------------------------


@st.composite
def fully_connected(draw):
    """Draw weights (K, N) with patterns and labels for them."""
    K, N, P = draw(st.integers(1, 6)), draw(st.integers(1, 9)), draw(st.integers(1, 12))
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    w = rng.choice([-1, 1], (K, N)) if draw(st.booleans()) else rng.standard_normal((K, N))
    return w, *patterns.random(P, N, rng=seed)


@given(fully_connected())
def test_it_is_a_tree_that_sees_the_input_again_and_again(case):
    w, xi, sigma = case
    net, tree, again = CommitteeNetwork(w), TreeCommitteeNetwork(w), np.tile(xi, len(w))
    np.testing.assert_array_equal(net.output(xi), tree.output(again))
    np.testing.assert_array_equal(net.stabilities(xi, sigma), tree.stabilities(again, sigma))
    np.testing.assert_allclose(net.fields(xi), tree.fields(again), rtol=0, atol=1e-14 * w.size)
    assert net.errors(xi, sigma) == np.count_nonzero(net.output(xi) != sigma)
    assert net.inputs == xi.shape[1]


@given(fully_connected())
def test_each_unit_sees_the_whole_input(case):
    w, xi, _ = case
    units = np.array([PerceptronNetwork(row).output(xi) for row in w])
    expected = np.sign(units.sum(axis=0)) * units.all(axis=0)
    np.testing.assert_array_equal(CommitteeNetwork(w).output(xi), expected)
    if len(w) == 1:
        np.testing.assert_array_equal(
            CommitteeNetwork(w).output(xi), PerceptronNetwork(w[0]).output(xi)
        )


@given(fully_connected(), st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_symmetries_of_the_fully_connected_committee(case, random, seed):
    w, xi, sigma = case
    plain = CommitteeNetwork(w).stabilities(xi, sigma)
    order = random.sample(range(len(w)), len(w))
    np.testing.assert_array_equal(CommitteeNetwork(w[order]).stabilities(xi, sigma), plain)
    gauge = np.random.default_rng(seed).choice([-1, 1], w.shape[1])
    np.testing.assert_array_equal(
        CommitteeNetwork(w * gauge).stabilities(xi * gauge, sigma), plain
    )
    np.testing.assert_array_equal(CommitteeNetwork(-w).stabilities(xi, sigma), -plain)


def test_text_and_refusals_of_the_fully_connected_committee():
    net = CommitteeNetwork(np.ones((3, 6)))
    assert repr(net) == "CommitteeNetwork(K=3, N=6, binary weights)"
    assert net.w.dtype == np.int64
    # votes of three equal units: those of one; the sums are 2, -2, 4 and -6
    np.testing.assert_array_equal(net.output(XI), [1, -1, 1, -1])
    np.testing.assert_array_equal(net.fields(XI)[:, 1] * np.sqrt(6), [2, -2, 4, -6])
    np.testing.assert_array_equal(
        CommitteeNetwork([[1, 1], [1, -1]]).output([[1, 1], [1, -1]]), [0, 0]
    )
    with pytest.raises(ValueError, match=r"w has shape \(3, 6\).* xi has shape"):
        net.output(XI[:, :5])
    with pytest.raises(ValueError, match="w must be a non-empty array with 2 axes"):
        CommitteeNetwork([1, 1])
    with pytest.raises(ValueError, match="zero throughout in any unit, unit 1 is"):
        CommitteeNetwork([[1.0, 1.0], [0.0, 0.0]])
