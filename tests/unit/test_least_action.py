"""Least action learning and its replicas, against an epoch in plain NumPy and in known cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfmlib import (
    Binary,
    Committee,
    ParityMachine,
    Perceptron,
    ReLU,
    Spherical,
    TreeCommittee,
    networks,
    patterns,
)
from wfmlib.learning.descent import mini_batches as _mini_batches
from wfmlib.learning.descent.entropic_least_action import entropic_least_action
from wfmlib.learning.descent.least_action import (
    _OPEN,
    _RIGHT,
    _settle,
    choose,
    least_action,
    workspace,
)
from wfmlib.numerics.solvers import NotConverged

# ------------------------------------------------------------------------------------------------
# The algorithms, stated slowly
# ------------------------------------------------------------------------------------------------


def unit_norm(w):
    """Return weights of norm 1 in each unit."""
    return w / np.linalg.norm(w, axis=-1, keepdims=True)


GRID = 2.0**-44  # weights and steps are multiples of it


def grid(w):
    """Return the nearest numbers on the grid."""
    return np.rint(w / GRID) * GRID


def first_weights(rng, K, N, tree):
    return grid(unit_norm(rng.uniform(-1.0, 1.0, (K, N // K if tree else N))))


def seen(pattern, k, w, tree):
    """Return what unit k sees of a pattern."""
    M = w.shape[1]
    return pattern[k * M : (k + 1) * M] if tree else pattern


def naive_batch(xi, sigma, rows, w, eta, tree):
    """Learn one mini-batch; return the new weights and the unit that each wrong pattern chose."""
    old, new, units = w, w.copy(), []
    for p in rows:
        fields = [math.fsum(old[k] * seen(xi[p], k, w, tree)) for k in range(len(w))]
        if 0 not in fields and np.sign(np.sum(np.sign(fields))) == sigma[p]:
            continue
        wrong = [k for k in range(len(w)) if sigma[p] * fields[k] <= 0]
        units.append(min(wrong, key=lambda k: abs(fields[k])))
        new[units[-1]] += eta * sigma[p] * seen(xi[p], units[-1], w, tree)
    return new, units


def mini_batches(order, batch):
    return [order[first : first + batch] for first in range(0, len(order), batch)]


def naive_least_action(xi, sigma, K, tree, eta, batch, epochs, seed):
    """Return the weights, and the corrections of each unit in each epoch."""
    rng, eta = np.random.default_rng(seed), grid(eta)
    w = first_weights(rng, K, xi.shape[1], tree)
    updates = np.zeros((epochs, K), dtype=int)
    for epoch in range(epochs):
        for rows in mini_batches(rng.permutation(len(xi)), batch):
            w, units = naive_batch(xi, sigma, rows, w, eta, tree)
            w = grid(unit_norm(w))
            np.add.at(updates[epoch], units, 1)
    return w, updates


def naive_entropic(xi, sigma, K, tree, y, eta, coupling, growth, batch, epochs, seed):
    """Return the replicas, their centre, and spread and mean errors of each epoch."""
    rngs, eta = np.random.default_rng(seed).spawn(y), grid(eta)
    w = np.array([first_weights(rng, K, xi.shape[1], tree) for rng in rngs])
    center = grid(w.mean(axis=0))
    spread, errors = [], []
    for epoch in range(epochs):
        pull = eta * coupling * (1 + growth) ** epoch
        orders = [mini_batches(rng.permutation(len(xi)), batch) for rng in rngs]
        wrong = 0
        for b in range(len(orders[0])):
            for a in range(y):
                w[a], units = naive_batch(xi, sigma, orders[a][b], w[a], eta, tree)
                w[a] = grid(w[a] + pull * (center - w[a]))
                wrong += len(units)
            center = grid(w.mean(axis=0))
        w = grid(unit_norm(w))
        center = grid(w.mean(axis=0))
        spread.append(np.sum((w - center) ** 2))
        errors.append(wrong / y)
    return w, center, spread, errors


def machine(K, tree):
    """Return the device of K units."""
    if K == 1:
        return Perceptron(Spherical())
    return TreeCommittee(K) if tree else Committee(K)


def recount(weights, xi, sigma, tree=True):
    """Count the errors of weights from scratch."""
    weights = np.atleast_2d(weights)
    votes = 0
    for k in range(len(weights)):
        columns = np.array([seen(x, k, weights, tree) for x in xi], dtype=float)
        votes = votes + np.sign(columns @ weights[k])
    return np.count_nonzero(np.sign(votes) != sigma)


CASES = pytest.mark.parametrize(
    ("K", "N", "P", "tree", "batch"),
    [
        (1, 21, 30, True, 1),
        (1, 20, 30, False, 7),
        (3, 33, 40, True, 10),
        (3, 16, 41, False, 8),
        (5, 105, 60, True, 60),
        (5, 34, 33, False, 1000),
        (9, 99, 50, True, 13),
    ],
)


@CASES
def test_least_action_against_plain_numpy(K, N, P, tree, batch):
    xi, sigma = patterns.random(P, N, rng=K)
    device = machine(K, tree)
    for epochs in (1, 4):
        expected, updates = naive_least_action(xi, sigma, K, tree, 0.03, batch, epochs, 5)
        assert updates[-1].sum() > 0  # else this would not be the same number of epochs
        found = least_action(device, xi, sigma, eta=0.03, batch=batch, max_epochs=epochs, rng=5)
        assert (found.device, found.weights.shape) == (device, device.shape(N))
        weights = unit_norm(np.atleast_2d(found.weights))
        np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(found.history["updates"], updates)
        np.testing.assert_array_equal(found.history["errors"], updates.sum(axis=1))
        assert found.epochs == epochs


@CASES
def test_entropic_least_action_against_plain_numpy(K, N, P, tree, batch):
    xi, sigma = patterns.random(P, N, rng=K)
    for epochs in (1, 3):
        w, center, spread, errors = naive_entropic(
            xi, sigma, K, tree, 4, 0.03, 2.0, 0.1, batch, epochs, 5
        )
        found = entropic_least_action(
            machine(K, tree),
            xi,
            sigma,
            replicas=4,
            eta=0.03,
            coupling=2.0,
            growth=0.1,
            batch=batch,
            max_epochs=epochs,
            rng=5,
        )
        replicas = unit_norm(found.replicas.reshape(w.shape))
        np.testing.assert_allclose(replicas, w, rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            unit_norm(np.atleast_2d(found.weights)), unit_norm(center), rtol=0, atol=1e-13
        )
        np.testing.assert_allclose(found.history["spread"], spread, rtol=1e-11)
        np.testing.assert_array_equal(found.history["replica_errors"], errors)
        np.testing.assert_allclose(found.history["coupling"], 2.0 * 1.1 ** np.arange(epochs))
        assert found.history["errors"][-1] == recount(center, xi, sigma, tree)


@given(st.integers(0, 2**32), st.sampled_from([1, 3, 5]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_choice_depends_on_single_precision(seed, K, tree):
    """Preactivations within its rounding of the threshold, and of each other."""
    rng = np.random.default_rng(seed)
    xi, sigma = patterns.random(31, 45, rng=rng)
    instance = _mini_batches.prepare(machine(K, tree), xi, sigma, 31)
    w = _mini_batches.uniform_weights(rng, instance.shape)
    for k in range(K):  # bring one pattern for each unit close to the threshold ...
        x = seen(xi[rng.integers(31)], k, w, tree)
        target = rng.choice([-1, 1]) * 10.0 ** rng.uniform(-12, -5)
        w[k] += (target - math.fsum(w[k] * x)) / len(x) * x
    apart = 10.0 ** rng.uniform(-12, -5)  # ... and another one to much the same in all units
    for k in range(K):
        x = sigma[0] * seen(xi[0], k, w, tree)
        w[k] += (-0.1 - apart * rng.random() - math.fsum(w[k] * x)) / len(x) * x
    rows = rng.permutation(31)
    *space, chosen = workspace(instance)
    wrong = choose(rows, instance.aligned, instance.starts, w, *space, chosen)
    expected = []
    for p in rows:
        _, units = naive_batch(xi, sigma, [p], w, 0.0, tree)
        expected.append(units[0] if units else -1)
    np.testing.assert_array_equal(chosen, expected)
    assert wrong == np.count_nonzero(chosen >= 0)


# ------------------------------------------------------------------------------------------------
# Cases that are known
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [(1.0, 1.0, 1.0), (1.0, 2.0, 0.5), (2.5, 0.5, 0.5)])
def test_what_is_settled_holds_whatever_rounding_did(bounds):
    """Of sums known to a bound each: where all that they may be lead to one unit, it is that.

    A sum that may be zero, where a unit is corrected without an error, leaves it open.
    """

    def corrected(sums):
        wrong = [k for k in range(3) if sums[k] <= 0.0]
        return _RIGHT if len(wrong) < 2 else max(wrong, key=lambda k: sums[k])

    settled = 0
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * bounds * (1.0 + 1e-6)
    for sums in itertools.product(range(-5, 6), repeat=3):
        units = {corrected(np.add(sums, corner)) for corner in corners}
        open_ = len(units) > 1 or np.any(np.abs(sums) <= bounds)
        expected = _OPEN if open_ else units.pop()
        assert _settle(np.array(sums, dtype=np.float32), np.array(bounds)) == expected, sums
        settled += not open_
    assert settled > 200


def test_one_unit_learns_by_the_perceptron_rule():
    xi, sigma = patterns.random(30, 31, rng=3)
    rng = np.random.default_rng(7)
    w = rng.uniform(-1.0, 1.0, 31)
    w /= np.linalg.norm(w)
    history = []
    while len(history) < 500 and history[-1:] != [0]:
        history.append(0)
        for p in rng.permutation(30):
            if sigma[p] * (w @ xi[p]) <= 0:
                w = w + 0.02 * sigma[p] * xi[p]
                w /= np.linalg.norm(w)
                history[-1] += 1
    found = least_action(Perceptron(Spherical()), xi, sigma, eta=0.02, batch=1, rng=7)
    assert len(history) > 3
    np.testing.assert_array_equal(found.history["errors"], history)
    np.testing.assert_allclose(unit_norm(found.weights), w, rtol=0, atol=1e-12)
    assert found.network.errors(xi, sigma) == 0


def assert_on_sphere(weights):
    """Hold that the square of each unit is the number of its weights."""
    np.testing.assert_allclose(np.sum(weights**2, axis=-1), weights.shape[-1])


@pytest.mark.parametrize(
    ("K", "N", "P", "tree"), [(1, 201, 60, True), (9, 261, 150, True), (5, 101, 150, False)]
)
def test_low_loads_are_learned(K, N, P, tree):
    xi, sigma = patterns.random(P, N, rng=1)
    found = least_action(machine(K, tree), xi, sigma, max_epochs=500, rng=0)
    assert found.converged
    assert found.errors == recount(found.weights, xi, sigma, tree) == 0
    assert found.epochs < 500
    errors = found.history["errors"]
    assert errors[-1] == 0
    assert np.all(errors[:-1] > 0)
    assert_on_sphere(found.weights)

    found = entropic_least_action(machine(K, tree), xi, sigma, replicas=4, coupling=5.0, rng=0)
    assert found.converged
    assert found.errors == recount(found.weights, xi, sigma, tree) == 0
    assert_on_sphere(found.weights)
    np.testing.assert_allclose(
        unit_norm(found.replicas),
        np.broadcast_to(unit_norm(found.weights), found.replicas.shape),
        rtol=0,
        atol=1e-3,
    )


def test_a_solution_is_left_as_it_is():
    xi, sigma = patterns.random(50, 99, rng=2)
    first = least_action(TreeCommittee(3), xi, sigma, rng=0)
    again = least_action(TreeCommittee(3), xi, sigma, start=first.weights, rng=1)
    assert again.epochs == 1
    assert again.history["errors"].tolist() == [0]
    np.testing.assert_array_equal(again.weights, first.weights)
    scaled = least_action(TreeCommittee(3), xi, sigma, start=1e200 * first.weights, rng=0)
    np.testing.assert_allclose(scaled.weights, first.weights, rtol=1e-14)


def test_a_tie_is_an_error_and_corrected():
    """The unit that cannot decide is corrected, whatever the others say."""
    xi, sigma = np.array([[1, 1, 1, 1, 1, 1]]), np.array([1])
    start = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    found = least_action(TreeCommittee(3), xi, sigma, start=start, eta=0.1, rng=0)
    np.testing.assert_array_equal(found.history["updates"], [[0, 1, 0], [0, 0, 0]])
    root = math.sqrt(0.5)
    expected = unit_norm(np.array([[1.0, 1.0], [root + 0.1, 0.1 - root], [1.0, 1.0]]))
    np.testing.assert_allclose(unit_norm(found.weights), expected, rtol=0, atol=4 * GRID)


def test_patterns_of_a_mini_batch_add_up():
    """Three copies of a pattern choose the same unit, at the weights before any of them."""
    xi, sigma = np.array([[1, 1, 1, 1, 1, -1]] * 3), np.array([1, 1, 1])
    start = unit_norm(np.array([[-3.0, 1.0], [-2.0, 1.0], [1.0, 0.0]]))
    found = least_action(TreeCommittee(3), xi, sigma, start=start, eta=0.05, max_epochs=1, rng=0)
    np.testing.assert_array_equal(found.history["updates"], [[0, 3, 0]])
    expected = start.copy()
    expected[1] += 3 * 0.05  # 0.1 twice would have been enough to turn the sign
    np.testing.assert_allclose(
        unit_norm(found.weights), unit_norm(expected), rtol=0, atol=4 * GRID
    )


def test_one_weight_may_cancel():
    xi, sigma = np.array([[1]]), np.array([1])
    options = {"start": [-2.0], "eta": 1.0, "rng": 0}
    with pytest.raises(NotConverged, match="unit 0 have cancelled"):
        least_action(Perceptron(Spherical()), xi, sigma, max_epochs=1, **options)
    # Zero is a tie: corrected in the next epoch.
    found = least_action(Perceptron(Spherical()), xi, sigma, **options)
    assert found.history["errors"].tolist() == [1, 1, 0]
    np.testing.assert_array_equal(found.weights, [1.0])


# ------------------------------------------------------------------------------------------------
# Symmetries
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", [True, False])
def test_gauge_symmetry(tree):
    """Signs of inputs, and the sign of all labels, turn the weights and change nothing else."""
    xi, sigma = patterns.random(40, 45, rng=4)
    rng = np.random.default_rng(1)
    start = rng.standard_normal((3, 15 if tree else 45))
    options = {"batch": 10, "max_epochs": 30, "rng": 2}
    plain = least_action(machine(3, tree), xi, sigma, start=start, **options)
    assert plain.epochs > 3
    gauge = rng.choice([-1, 1], 45)
    turn = gauge.reshape(3, 15) if tree else gauge
    turned = least_action(machine(3, tree), xi * gauge, sigma, start=start * turn, **options)
    np.testing.assert_array_equal(turned.history["updates"], plain.history["updates"])
    np.testing.assert_array_equal(turned.weights, plain.weights * turn)
    turned = least_action(machine(3, tree), xi, -sigma, start=-start, **options)
    np.testing.assert_array_equal(turned.history["updates"], plain.history["updates"])
    np.testing.assert_array_equal(turned.weights, -plain.weights)


@pytest.mark.parametrize("tree", [True, False])
def test_units_may_be_exchanged(tree):
    xi, sigma = patterns.random(40, 45, rng=5)
    rng = np.random.default_rng(1)
    start = rng.standard_normal((5, 9 if tree else 45))
    swap = np.array([3, 0, 4, 1, 2])
    shuffled = xi.reshape(40, 5, 9)[:, swap].reshape(40, 45) if tree else xi
    options = {"batch": 7, "max_epochs": 30, "rng": 2}
    plain = least_action(machine(5, tree), xi, sigma, start=start, **options)
    swapped = least_action(machine(5, tree), shuffled, sigma, start=start[swap], **options)
    assert plain.epochs > 3
    np.testing.assert_array_equal(swapped.history["updates"], plain.history["updates"][:, swap])
    np.testing.assert_array_equal(swapped.weights, plain.weights[swap])


def test_a_tree_is_a_committee_with_masked_inputs():
    """Zeros where a unit of the tree sees nothing: the same answers and the same choices."""
    xi, sigma = patterns.random(60, 45, rng=6)
    start = np.random.default_rng(1).standard_normal((3, 15))
    masked = np.zeros((3, 45))
    for k in range(3):
        masked[k, 15 * k : 15 * (k + 1)] = start[k]
    options = {"eta": 1e-2, "batch": 60, "max_epochs": 1, "rng": 0}
    tree = least_action(TreeCommittee(3), xi, sigma, start=start, **options)
    full = least_action(Committee(3), xi, sigma, start=masked, **options)
    assert tree.history["errors"][0] > 5
    np.testing.assert_array_equal(full.history["updates"], tree.history["updates"])
    for k in range(3):  # the corrections are masked no more, but the same where they were seen
        shown = unit_norm(full.weights[k])[15 * k : 15 * (k + 1)]
        ratio = np.linalg.norm(shown)  # the weights that nothing was seen of take the rest
        seen_by_tree = unit_norm(tree.weights[k])
        np.testing.assert_allclose(shown, ratio * seen_by_tree, rtol=0, atol=4 * GRID)


def test_without_coupling_replicas_do_not_meet():
    """Each replica goes its own way, however many there are; with coupling it does not."""
    xi, sigma = patterns.random(40, 45, rng=4)
    options = {"batch": 10, "max_epochs": 6, "rng": 8}
    two = entropic_least_action(TreeCommittee(3), xi, sigma, replicas=2, coupling=0.0, **options)
    five = entropic_least_action(TreeCommittee(3), xi, sigma, replicas=5, coupling=0.0, **options)
    np.testing.assert_array_equal(five.replicas[:2], two.replicas)
    assert np.all(np.abs(five.history["overlap"]) < 0.8)
    coupled = entropic_least_action(
        TreeCommittee(3), xi, sigma, replicas=5, coupling=1.0, **options
    )
    assert np.max(np.abs(coupled.replicas - five.replicas)) > 0.01
    assert coupled.history["spread"][-1] < five.history["spread"][-1]


# ------------------------------------------------------------------------------------------------
# Where they stop, and what they record
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", [True, False])
def test_collapse(tree):
    xi, sigma = patterns.random(60, 45, rng=4)
    options = {"replicas": 5, "batch": 20, "coupling": 10.0, "rng": 0}
    found = entropic_least_action(machine(3, tree), xi, sigma, collapse=1e-5, **options)
    assert found.converged
    assert set(found.history) == {"spread", "overlap", "errors", "replica_errors", "coupling"}
    assert all(len(one) == found.epochs for one in found.history.values())
    spread = found.history["spread"]
    assert spread[-1] <= 1e-5
    assert np.all(spread[:-1] > 1e-5)
    assert found.errors == found.history["errors"][-1] == recount(found.weights, xi, sigma, tree)
    farther = entropic_least_action(machine(3, tree), xi, sigma, collapse=1e-8, **options)
    assert farther.epochs > found.epochs
    np.testing.assert_array_equal(farther.history["spread"][: found.epochs], spread)
    # no replica errs towards the end, so that all distances shrink by the same factor
    rate = (1 - 0.01 * farther.history["coupling"][1:]) ** 6
    quiet = farther.history["replica_errors"][1:] == 0
    assert quiet.sum() > 5
    shrunk = spread_ratio = farther.history["spread"][1:] / farther.history["spread"][:-1]
    np.testing.assert_allclose(shrunk[quiet], rate[quiet], rtol=0.05)
    assert np.all(spread_ratio[quiet] < 1)


def test_spread_and_overlap_are_those_of_the_replicas():
    xi, sigma = patterns.random(60, 45, rng=4)
    found = entropic_least_action(
        TreeCommittee(3), xi, sigma, replicas=5, batch=20, max_epochs=4, rng=0
    )
    assert found.replicas.shape == (5, 3, 15)
    assert_on_sphere(found.replicas)
    assert_on_sphere(found.weights)
    replicas = found.replicas / math.sqrt(15)
    lengths = np.linalg.norm(replicas, axis=2)  # half a step for each of 15 weights
    np.testing.assert_allclose(lengths, 1.0, rtol=0, atol=math.sqrt(15) * GRID / 2)
    center = replicas.mean(axis=0)
    np.testing.assert_allclose(unit_norm(center), unit_norm(found.weights), rtol=0, atol=4 * GRID)
    spread = np.sum((replicas - center) ** 2)
    assert found.history["spread"][-1] == pytest.approx(spread, rel=1e-12)
    overlaps = np.einsum("aki,bki->ab", replicas, replicas) / 3
    mutual = overlaps[np.triu_indices(5, 1)].mean()
    assert found.history["overlap"][-1] == pytest.approx(mutual, rel=1e-12)


@pytest.mark.parametrize(("eta", "coupling"), [(0.1, 10.0), (0.5, 1e6)])
def test_a_strong_pull_goes_no_farther_than_the_centre(eta, coupling):
    """All replicas jump onto the centre, at once and whether or not it is a solution."""
    xi, sigma = patterns.random(200, 21, rng=1)
    found = entropic_least_action(
        TreeCommittee(3), xi, sigma, eta=eta, coupling=coupling, replicas=3, growth=2.0, rng=0
    )
    assert found.converged
    assert found.epochs == 1
    assert found.errors == recount(found.weights, xi, sigma) > 0


def test_limits():
    xi, sigma = patterns.random(200, 21, rng=1)  # far above capacity
    found = least_action(TreeCommittee(3), xi, sigma, max_epochs=6, rng=0)
    assert not found.converged
    assert found.epochs == len(found.history["errors"]) == 6
    assert found.errors == recount(found.weights, xi, sigma) > 0
    found = entropic_least_action(TreeCommittee(3), xi, sigma, replicas=3, max_epochs=6, rng=0)
    assert not found.converged
    assert found.epochs == len(found.history["spread"]) == 6
    assert found.errors == recount(found.weights, xi, sigma) > 0


def test_snapshots_are_where_shorter_runs_end():
    xi, sigma = patterns.random(40, 33, rng=4)
    options = {"replicas": 3, "coupling": 2.0, "rng": 0}
    found = entropic_least_action(
        TreeCommittee(3), xi, sigma, max_epochs=7, snapshots=(2, 5, 9), **options
    )
    assert set(found.snapshots) == {2, 5}
    for epoch, replicas in found.snapshots.items():
        short = entropic_least_action(TreeCommittee(3), xi, sigma, max_epochs=epoch, **options)
        assert np.array_equal(replicas, short.replicas)
        assert not np.array_equal(replicas, found.replicas)


@pytest.mark.parametrize("algorithm", [least_action, entropic_least_action])
def test_a_seed_decides_everything(algorithm):
    xi, sigma = patterns.random(40, 45, rng=4)
    options = {"batch": 10, "max_epochs": 5}
    one = algorithm(TreeCommittee(3), xi, sigma, rng=11, **options)
    same = (11, np.random.SeedSequence(11), np.random.default_rng(11))
    for seed in same:
        again = algorithm(TreeCommittee(3), xi, sigma, rng=seed, **options)
        np.testing.assert_array_equal(again.weights, one.weights)
        assert set(again.history) == set(one.history)
        for name, values in one.history.items():
            np.testing.assert_array_equal(again.history[name], values)
    other = algorithm(TreeCommittee(3), xi, sigma, rng=12, **options)
    assert not np.array_equal(other.weights, one.weights)


def test_progress_changes_nothing(capfd):
    xi, sigma = patterns.random(40, 45, rng=4)
    for algorithm in (least_action, entropic_least_action):
        quiet = algorithm(TreeCommittee(3), xi, sigma, rng=0, max_epochs=5)
        shown = algorithm(TreeCommittee(3), xi, sigma, rng=0, max_epochs=5, progress=True)
        np.testing.assert_array_equal(shown.weights, quiet.weights)
    assert capfd.readouterr().out == ""


BOTH_REFUSE = [
    (TypeError, "device must be a device", {"device": networks.TreeCommitteeNetwork}),
    (ValueError, "device must have an odd number of units", {"device": TreeCommittee(2)}),
    (
        ValueError,
        r"device must be .* Spherical\(\)",
        {"device": TreeCommittee(3, weights=Binary())},
    ),
    (ValueError, "device must be a Perceptron or", {"device": ParityMachine(3)}),
    (ValueError, r"in hidden units, Sign\(\)", {"device": Committee(3, ReLU())}),
    (ValueError, "finitely many units", {"device": TreeCommittee(np.inf)}),
    (ValueError, "units must divide N, got 5 units with N = 6", {"device": TreeCommittee(5)}),
    (ValueError, "eta must be", {"eta": 0.0}),
    (ValueError, "eta must be", {"eta": 1e7}),
    (ValueError, "eta must be", {"eta": math.nan}),
    (ValueError, "batch must be", {"batch": 0}),
    (TypeError, "batch must be", {"batch": 10.0}),
    (ValueError, "max_epochs must be", {"max_epochs": 0}),
    (TypeError, "rng must be", {"rng": "0"}),
    (ValueError, "progress must be", {"progress": 1.5}),
    (ValueError, "xi must hold -1 and \\+1", {"xi": np.zeros((4, 6))}),
    (ValueError, "sigma must have one label", {"sigma": [1, -1]}),
]
REFUSE = {
    least_action: [
        (ValueError, "start must hold finite", {"start": np.ones((3, 3))}),
        (ValueError, "start must hold finite", {"start": np.full((3, 2), np.nan)}),
        (ValueError, "zero throughout in unit 1", {"start": [[1, 0], [0, 0], [1, 1]]}),
    ],
    entropic_least_action: [
        (ValueError, "replicas must be >= 2", {"replicas": 1}),
        (ValueError, "coupling must be", {"coupling": -0.1}),
        (ValueError, "growth must be", {"growth": -1e-3}),
        (ValueError, "collapse must be", {"collapse": 0.0}),
        (ValueError, "snapshots must be >= 1", {"snapshots": (3, 0)}),
    ],
}


@pytest.mark.parametrize("algorithm", REFUSE)
def test_refusals(algorithm):
    xi, sigma = patterns.random(4, 6, rng=1)
    for error, match, options in BOTH_REFUSE + REFUSE[algorithm]:
        arguments = {"device": TreeCommittee(3), "xi": xi, "sigma": sigma} | options
        with pytest.raises(error, match=match):
            algorithm(**arguments)
