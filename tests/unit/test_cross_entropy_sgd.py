"""Gradient descent on the cross-entropy: its step, its schedules, its stops, its limits."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from wfmlib import Committee, Perceptron, Spherical, TreeCommittee, networks, patterns
from wfmlib.learning.descent import schedules, soft_committee
from wfmlib.learning.descent.cross_entropy_sgd import cross_entropy_sgd
from wfmlib.learning.descent.schedules import FAST, FAST_IMAGES, SLOW, SLOW_IMAGES, Schedule
from wfmlib.learning.solution import ENDINGS, NoSolution
from wfmlib.numerics.solvers import NotConverged

SHAPES = pytest.mark.parametrize(
    ("units", "tree"), [(1, True), (3, True), (9, True), (3, False), (5, False)]
)


def instance(P, N, seed, units=3, tree=True):
    """Return patterns times labels as (P, K or 1, M), and weights of unit norm."""
    xi, sigma = patterns.random(P, N, rng=seed)
    parts = units if tree else 1
    w = np.random.default_rng(seed).normal(size=(units, N // parts))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    return (xi * sigma[:, None]).reshape(P, parts, N // parts), w


def padded(x):
    """Return an array as the kernels take it, its last axis filled up with zeros."""
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % soft_committee.LANES)])


def outputs(w, xi, beta):
    """Return preactivations (P, K) and outputs (P,) of tanh units."""
    fields = np.einsum("pki,ki->pk", np.broadcast_to(xi, (len(xi), *w.shape)), w)
    return fields, np.tanh(beta * fields).sum(axis=1) / math.sqrt(len(w))


def naive_loss(w, xi, gamma, beta):
    """Return the sum of the losses, as the formula has it."""
    return np.sum(np.logaddexp(0.0, -2.0 * gamma * outputs(w, xi, beta)[1])) / (2.0 * gamma)


GRID = 2.0**-44  # weights, and what patterns add to them, are multiples of it


def grid(w):
    """Return the nearest numbers on the grid."""
    return np.rint(w / GRID) * GRID


def naive_step(w, xi, gamma, beta, eta):
    """Return the weights after one step, not normalised."""
    fields, output = outputs(w, xi, beta)
    slope = expit(-2.0 * gamma * output) / math.sqrt(len(w))
    pull = slope[:, None] * beta * (1.0 - np.tanh(beta * fields) ** 2)
    pull = grid(eta * pull)
    return w + np.einsum("pk,pki->ki", pull, np.broadcast_to(xi, (len(xi), *w.shape)))


def unit(w):
    return w / np.linalg.norm(w, axis=1, keepdims=True)


def pulled(w, xi, gamma, beta):
    """Return minus the gradient with respect to the weights, by the kernels."""
    P, units = len(xi), len(w)
    rows, pulls = np.arange(P), np.empty((P, units))
    soft_committee.fill(padded(w), padded(xi), rows, pulls)
    soft_committee.pull(pulls, gamma, beta, 1.0)
    found = np.zeros_like(padded(w))
    soft_committee.move(found, padded(xi), rows, pulls, np.empty(P, np.int64), np.empty((4, 3)))
    return found[:, : w.shape[1]]


def measured(w, xi, gamma, beta):
    """Return sum of losses and errors, by the kernel."""
    rows, fields = np.arange(len(xi)), np.empty((len(xi), len(w)))
    return soft_committee.measure(padded(w), padded(xi), rows, gamma, beta, fields)


# ------------------------------------------------------------------------------------------------
# The step
# ------------------------------------------------------------------------------------------------


@SHAPES
@pytest.mark.parametrize(("gamma", "beta"), [(0.1, 0.5), (3.0, 1.0), (5.0, 4.0)])
def test_gradient_against_differences(units, tree, gamma, beta):
    xi, w = instance(23, 45, 1, units, tree)
    found, small = pulled(w, xi, gamma, beta), 1e-3
    for k, i in [(0, 0), (units - 1, 4), (units // 2, w.shape[1] - 1)]:
        values = []
        for shift in (-2, -1, 1, 2):  # fourth order: h^4 = 1e-12, and rounding 1e-15 / h
            moved = w.copy()
            moved[k, i] += shift * small
            values.append(measured(moved, xi, gamma, beta)[0])
        slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * small)
        scale = np.abs(found).max()
        assert -slope == pytest.approx(found[k, i], rel=1e-7, abs=1e-8 * scale)


@SHAPES
@pytest.mark.parametrize("P", [1, 2, 3, 4, 22])
def test_loss_and_errors_against_their_formulas(units, tree, P):
    xi, w = instance(P, 45, 2, units, tree)
    network = networks.TreeCommitteeNetwork if tree else networks.CommitteeNetwork
    loss, errors = measured(w, xi, 2.0, 1.5)
    assert loss == pytest.approx(naive_loss(w, xi, 2.0, 1.5), rel=1e-13)
    assert errors == network(w).errors(xi.reshape(P, -1), np.ones(P))


def test_ties_are_errors():
    xi = np.ones((2, 3, 2), np.int8)
    xi[0, 0, 1] = -1  # the first unit ties on the first pattern, and is outvoted
    w = np.full((3, 2), math.sqrt(0.5))
    assert measured(w, xi, 1.0, 1.0)[1] == 1


@SHAPES
@pytest.mark.parametrize(("step", "loss"), [("sum", "divided"), ("mean", "plain")])
@pytest.mark.parametrize("normalise", ["batch", "epoch"])
@pytest.mark.parametrize("batch", [1, 7, 26, 100])
def test_epochs_against_their_statement(units, tree, step, loss, normalise, batch):
    P, N, epochs = 26, 45, 3
    xi, sigma = patterns.random(P, N, rng=3)
    device = (TreeCommittee if tree else Committee)(units)
    schedule = Schedule(
        eta=0.3, gamma=0.7, beta=1.1, gamma_growth=0.2, beta_growth=0.1, stop=1e-30,
        batch=batch, loss=loss, step=step, normalise=normalise, per="pattern",
    )  # fmt: skip
    found = cross_entropy_sgd(
        device,
        xi,
        sigma,
        schedule=schedule,
        rng=5,
        max_epochs=epochs,
    )
    rng, parts = np.random.default_rng(5), units if tree else 1
    x = (xi * sigma[:, None]).reshape(P, parts, N // parts)
    w = grid(unit(rng.uniform(-1.0, 1.0, (units, N // parts))))
    network = networks.TreeCommitteeNetwork if tree else networks.CommitteeNetwork
    gamma, beta, passed = 0.7, 1.1, []
    for t in range(epochs):
        for rows in np.split(rng.permutation(P), range(batch, P, batch)):
            eta = 0.3 if step == "sum" else 0.3 / len(rows)
            eta *= 1.0 if loss == "divided" else 2.0 * gamma
            w = naive_step(w, x[rows], gamma, beta, eta)
            w = grid(unit(w)) if normalise == "batch" else w
        w = grid(unit(w))
        assert found.history["loss"][t] == pytest.approx(
            naive_loss(w, x, gamma, beta) / P * (1.0 if loss == "divided" else 2.0 * gamma),
            rel=1e-11,
        )
        assert found.history["gamma"][t] == pytest.approx(gamma, rel=1e-15)
        assert found.history["beta"][t] == pytest.approx(beta, rel=1e-15)
        gamma, beta = gamma * 1.2, beta * 1.1
        passed.append((network(w).errors(xi, sigma), -t, w))
    errors, place, w = min(passed, key=lambda one: one[:2])  # of the fewest errors, the last
    assert (found.errors, found.best) == (errors, 1 - place)
    np.testing.assert_allclose(unit(found.weights), w, rtol=0, atol=1e-12)
    assert not found.converged
    assert found.epochs == epochs


# ------------------------------------------------------------------------------------------------
# Symmetries
# ------------------------------------------------------------------------------------------------


def descended(w, xi, tree=True, epochs=3):
    """Return weights after some epochs in the given order of patterns."""
    w = padded(w)
    for _ in range(epochs):
        soft_committee.descend(
            w, padded(xi), np.arange(len(xi)), 2.0, 1.5, 0.05, False, 10, True,
            np.empty((len(xi), len(w))),
        )  # fmt: skip
    return w


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_gauge(seed):
    """Flip an input in all patterns and its weight with it: all goes as before."""
    xi, w = instance(31, 33, seed)
    gauge = np.random.default_rng(seed + 1).choice([-1, 1], size=w.shape)
    found = descended(w * gauge, (xi * gauge).astype(np.int8))
    np.testing.assert_array_equal(found, descended(w, xi) * padded(gauge))


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(5)), st.integers(0, 10**6))
def test_permutation_of_units(order, seed):
    xi, w = instance(31, 35, seed, units=5)
    shared, whole = instance(31, 35, seed, units=5, tree=False)
    np.testing.assert_allclose(
        descended(w[order], xi[:, order]), descended(w, xi)[order], rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        descended(whole[order], shared), descended(whole, shared)[order], rtol=0, atol=1e-12
    )


def test_tree_is_a_fully_connected_machine_with_masked_inputs():
    """Each unit takes the step of a fully connected one, and keeps the part that it sees."""
    xi, w = instance(20, 33, 7)
    mask = np.kron(np.eye(3), np.ones(11))
    whole = pulled(mask * np.tile(w.ravel(), (3, 1)), xi.reshape(20, 1, 33), 2.0, 1.5)
    tree = pulled(w, xi, 2.0, 1.5)
    np.testing.assert_allclose((mask * whole).sum(axis=0), tree.ravel(), rtol=1e-12)


# ------------------------------------------------------------------------------------------------
# Limits
# ------------------------------------------------------------------------------------------------


def test_dull_units_follow_hebb():
    """As gamma and beta vanish every pattern pulls alike: slope beta / (2 sqrt(K))."""
    xi, w = instance(40, 33, 8)
    expected = 1e-4 / (2.0 * math.sqrt(3)) * xi.sum(axis=0)
    np.testing.assert_allclose(pulled(w, xi, 1e-4, 1e-4), expected, rtol=0, atol=1e-3 * 1e-4)


def test_sharp_loss_counts_by_how_much_patterns_are_wrong():
    """gamma to infinity: the loss is max(0, -output), and right patterns are silent."""
    xi, w = instance(40, 33, 9)
    output = outputs(w, xi, 2.0)[1]
    assert np.abs(output).min() > 1e-4
    assert measured(w, xi, 1e7, 2.0)[0] == pytest.approx(np.maximum(-output, 0.0).sum(), rel=1e-12)
    wrong = xi[output < 0.0]
    np.testing.assert_allclose(
        pulled(w, xi, 1e7, 2.0), pulled(w, wrong, 1e7, 2.0), rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("gamma", [1e-12, 1.0, 1e12, 1e300])
@pytest.mark.parametrize("beta", [1e-12, 1.0, 1e12, 1e300])
@pytest.mark.filterwarnings("error")
def test_nothing_overflows(gamma, beta):
    xi, w = instance(40, 33, 10)
    loss, errors = measured(w, xi, gamma, beta)
    output = outputs(w, xi, min(beta, 1e20))[1]
    expected = math.log(2.0) / (2.0 * gamma) if gamma < 1 else np.maximum(-output, 0.0).mean()
    if gamma != 1.0:
        assert loss / 40 == pytest.approx(expected, rel=1e-6, abs=1e-11)
    assert math.isfinite(loss)
    assert errors == measured(w, xi, 1.0, 1.0)[1]
    assert np.all(np.isfinite(pulled(w, xi, gamma, beta)))


def test_saturated_units_stay():
    xi, w = instance(40, 33, 10)
    np.testing.assert_array_equal(pulled(w, xi, 1.0, 1e6), 0.0)


def test_a_loss_that_is_not_finite_raises():
    xi, sigma = patterns.random(20, 9, rng=0)
    schedule = Schedule(eta=1e200, gamma=1.0, beta=1.0)  # squares overflow in the norm
    with pytest.raises(NotConverged, match="the loss was nan after epoch 1") as caught:
        cross_entropy_sgd(TreeCommittee(3), xi, sigma, schedule=schedule, rng=0)
    assert not caught.value.report.converged
    assert caught.value.state.shape == (3, 3)


# ------------------------------------------------------------------------------------------------
# Runs
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("schedule", ["fast", FAST])
def test_fast_solves(tree, schedule):
    xi, sigma = patterns.random(120, 165, rng=11)
    device = (TreeCommittee if tree else Committee)(5)
    found = cross_entropy_sgd(device, xi, sigma, schedule=schedule, rng=1)
    assert found.device == device
    assert found.converged
    assert found.schedule == FAST
    assert found.errors == found.network.errors(xi, sigma) == found.history["errors"][-1] == 0
    assert np.all(found.history["errors"][:-1] > 0)  # and it stopped at once
    assert found.weights.shape == (5, 33 if tree else 165)
    # On the sphere, and within half a step of the grid for each weight where units have norm one.
    lengths = np.linalg.norm(found.weights, axis=1) / math.sqrt(found.weights.shape[1])
    bound = math.sqrt(found.weights.shape[1]) * GRID / 2
    np.testing.assert_allclose(lengths, 1.0, rtol=0, atol=bound)
    assert {len(one) for one in found.history.values()} == {found.epochs}
    assert set(found.history) == {"loss", "errors", "gamma", "beta"}


@pytest.mark.parametrize(("per", "share"), [("pattern", 1 / 60), ("batch", 7 / 60), ("epoch", 1)])
def test_slow_stops_at_its_loss(per, share):
    xi, sigma = patterns.random(60, 135, rng=12)
    schedule = dataclasses.replace(SLOW, gamma_growth=0.01, beta_growth=0.005, batch=7, per=per)
    found = cross_entropy_sgd(TreeCommittee(3), xi, sigma, schedule=schedule, rng=1)
    loss = found.history["loss"]
    assert found.converged
    assert loss[-1] <= 1e-7 < loss[:-1].min()
    x = (xi * sigma[:, None]).reshape(60, 3, 45)
    last = naive_loss(
        unit(found.weights), x, found.history["gamma"][-1], found.history["beta"][-1]
    )
    assert loss[-1] == pytest.approx(last * share, rel=1e-9)
    assert found.errors == 0


def test_one_unit_is_the_perceptron():
    xi, sigma = patterns.random(60, 99, rng=15)
    one = cross_entropy_sgd(Perceptron(Spherical()), xi, sigma, rng=1)
    tree = cross_entropy_sgd(TreeCommittee(1), xi, sigma, rng=1)
    assert one.converged
    assert one.weights.shape == (99,)
    np.testing.assert_array_equal(tree.weights, one.weights[None])
    assert one.errors == one.network.errors(xi, sigma) == 0


def test_stops_at_the_limit():
    xi, sigma = patterns.random(90, 33, rng=13)  # no machine of this size can store them
    found = cross_entropy_sgd(TreeCommittee(3), xi, sigma, max_epochs=5, rng=0)
    assert not found.converged
    assert found.epochs == 5
    assert found.errors == found.history["errors"].min() > 0
    assert found.outcome == ENDINGS[2]


@pytest.mark.parametrize("tree", [True, False])
def test_the_best_weights_are_returned_not_the_last(tree):
    """Too long a step, which goes past what it had found."""
    xi, sigma = patterns.random(60, 33, rng=13)
    device = (TreeCommittee if tree else Committee)(3)
    schedule = dataclasses.replace(FAST, eta=0.1)
    found = cross_entropy_sgd(device, xi, sigma, schedule=schedule, max_epochs=59, rng=0)
    errors = found.history["errors"]
    assert found.errors == errors.min() < errors[-1]
    assert found.errors == found.network.errors(xi, sigma)
    assert errors[found.best - 1] == errors.min() < errors[found.best :].min()
    again = cross_entropy_sgd(device, xi, sigma, schedule=schedule, max_epochs=found.best, rng=0)
    np.testing.assert_array_equal(found.weights, again.weights)
    assert found.ending == f"NO SOLUTION, {found.errors} patterns are answered wrongly"


def test_a_loss_that_is_met_with_errors_has_settled_without_a_solution():
    xi, sigma = patterns.random(90, 33, rng=13)
    schedule = dataclasses.replace(FAST, stop=1e3)
    with pytest.warns(NoSolution, match="Try a schedule that stops at a lower loss"):
        found = cross_entropy_sgd(TreeCommittee(3), xi, sigma, schedule=schedule, rng=0)
    assert found.converged
    assert found.errors > 0
    assert found.outcome == ENDINGS[1]


def test_same_seed_same_bits():
    xi, sigma = patterns.random(60, 45, rng=14)
    runs = [
        cross_entropy_sgd(TreeCommittee(3), xi, sigma, rng=seed, max_epochs=20, progress=seed == 3)
        for seed in (3, np.random.default_rng(3), np.random.SeedSequence(3), 4)
    ]
    for other in runs[1:3]:
        np.testing.assert_array_equal(runs[0].weights, other.weights)
        np.testing.assert_array_equal(runs[0].history["loss"], other.history["loss"])
    assert np.any(runs[0].weights != runs[3].weights)


# ------------------------------------------------------------------------------------------------
# Schedules
# ------------------------------------------------------------------------------------------------


def test_the_papers_values():
    assert schedules.NAMED == {"fast": FAST, "slow": SLOW}
    assert (FAST.eta, FAST.gamma, FAST.gamma_growth) == (1e-2, 3.0, 0.0)
    assert (FAST.beta, FAST.beta_growth, FAST.stop) == (1.0, 1e-3, "errors")
    assert (SLOW.eta, SLOW.gamma, SLOW.gamma_growth) == (3e-3, 0.1, 4e-4)
    assert (SLOW.beta, SLOW.stop) == (0.5, 1e-7)
    assert (FAST_IMAGES.eta, FAST_IMAGES.gamma, FAST_IMAGES.beta) == (2e-4, 5.0, 2.0)
    assert (FAST_IMAGES.beta_growth, FAST_IMAGES.stop) == (1e-4, "errors")
    assert (SLOW_IMAGES.eta, SLOW_IMAGES.gamma, SLOW_IMAGES.beta) == (3e-5, 0.5, 0.5)
    assert (SLOW_IMAGES.gamma_growth, SLOW_IMAGES.beta_growth) == (1e-3, 1e-3)
    assert SLOW_IMAGES.stop == 1e-7
    assert {one.batch for one in (FAST, SLOW, FAST_IMAGES, SLOW_IMAGES)} == {100}


def test_schedules_are_values():
    one = Schedule(eta=1, gamma=np.float64(2), beta=3)
    assert one == Schedule(eta=1.0, gamma=2.0, beta=3.0)
    assert hash(one) == hash(Schedule(eta=1.0, gamma=2.0, beta=3.0))
    assert type(one.eta) is float
    assert type(one.gamma) is float
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.eta = 2.0


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("eta", 0.0, ValueError),
        ("eta", math.nan, ValueError),
        ("eta", "1", TypeError),
        ("gamma", 0.0, ValueError),
        ("beta", -1.0, ValueError),
        ("gamma_growth", -0.1, ValueError),
        ("beta_growth", math.inf, ValueError),
        ("stop", 0.0, ValueError),
        ("stop", "loss", ValueError),
        ("stop", None, TypeError),
        ("batch", 0, ValueError),
        ("batch", 1.5, TypeError),
        ("loss", "halved", ValueError),
        ("step", "max", ValueError),
        ("normalise", "never", ValueError),
        ("per", "run", ValueError),
    ],
)
def test_bad_schedules_are_named(name, value, error):
    with pytest.raises(error, match=f"^{name} "):
        dataclasses.replace(FAST, **{name: value})


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"device": TreeCommittee(2)}, ValueError, "device must have an odd number of units"),
        ({"device": TreeCommittee(5)}, ValueError, "units must divide N, got 5 units with N = 9"),
        ({"device": Perceptron()}, ValueError, r"device must be .* Spherical\(\)"),
        ({"device": 3}, TypeError, "device must be a device"),
        ({"schedule": "medium"}, ValueError, "schedule must be one of 'fast', 'slow'"),
        ({"schedule": 3}, TypeError, "schedule must be 'fast', 'slow' or a Schedule, got 3"),
        ({"max_epochs": 0}, ValueError, "max_epochs must be >= 1"),
        ({"rng": "0"}, TypeError, "rng must be"),
        ({"progress": "yes"}, ValueError, "progress must be one of"),
        ({"sigma": np.ones(3)}, ValueError, "sigma must have one label per pattern"),
        ({"xi": np.zeros((4, 9))}, ValueError, "xi must hold -1 and"),
    ],
)
def test_bad_arguments_are_named(change, error, words):
    given_ = {"device": TreeCommittee(3), "xi": np.ones((4, 9)), "sigma": np.ones(4)} | change
    with pytest.raises(error, match=words):
        cross_entropy_sgd(**given_)


def test_overflowing_growth_raises():
    """A schedule whose beta leaves the floating-point range ends with a word, not with NaN."""
    xi, sigma = patterns.random(30, 9, rng=0)
    schedule = Schedule(eta=0.1, gamma=1.0, beta=1e300, beta_growth=1e5)
    with pytest.raises(NotConverged):
        cross_entropy_sgd(TreeCommittee(3), xi, sigma, schedule=schedule, max_epochs=5, rng=0)
