"""Annealing: its distribution against exact enumeration, its running integers, its record.

The tests of distributions let a chain of proposals run at fixed temperature, look at it every so
often, and compare the share of every configuration with its Boltzmann weight. The looks are
correlated; the statistical error is taken from the scatter of the shares over 50 parts of the
chain, and the chi-square so formed, with one degree of freedom for each configuration, is to lie
within its mean plus 6 standard deviations of it; the scatter makes it wider than a chi-square's.
"""

import itertools
import math
from functools import partial

import numpy as np
import pytest

from wfmlib import (
    Activation,
    Binary,
    Committee,
    ParityMachine,
    Perceptron,
    ReLU,
    Spherical,
    TreeCommittee,
    patterns,
)
from wfmlib.learning.annealing.moves import _choose, metropolis, pulls, waiting
from wfmlib.learning.annealing.replicated import mean_overlap, replicated_annealing
from wfmlib.learning.annealing.simulated import RARE, schedule, shares, simulated_annealing
from wfmlib.learning.annealing.state import LEVELS, Model

KERNELS = pytest.mark.parametrize("kernel", [metropolis, waiting], ids=["metropolis", "waiting"])
LOSSES = pytest.mark.parametrize("loss", ["errors", "cross-entropy"])


tree, connected = (partial(kind, weights=Binary()) for kind in (TreeCommittee, Committee))
MACHINES = pytest.mark.parametrize(
    ("device", "N"),
    [
        (Perceptron(), 9),
        (Perceptron(), 10),
        (tree(1), 9),  # it votes, which is another loss than the perceptron's
        (tree(1), 10),
        (tree(3), 9),
        (tree(3), 12),  # even parts: undecided units
        (tree(4), 12),  # even number of units: ties
        (connected(3), 5),
        (tree(2, ReLU()), 8),
        (tree(2, ReLU()), 10),  # odd parts: steps of 1
        (connected(4, ReLU()), 4),
    ],
)


def energy(model, w, loss, gamma):
    """Return the loss summed over patterns, from what the network of weights (K, n) says."""
    net = model.device.network(model.device_weights(w))
    if loss == "errors":
        return net.errors(model.xi, model.sigma)
    x = net.stabilities(model.xi, model.sigma)
    return np.sum(np.logaddexp(0.0, -2 * gamma * x)) / (2 * gamma)


def start(model, replicas=1, seed=0):
    rng = np.random.default_rng(seed)
    return model.state(rng.choice(np.array([-1, 1], dtype=np.int8), (replicas, *model.shape)))


def assert_same(state, other):
    """Hold all that is kept against what is built anew from the weights."""
    for name, found, expected in zip(state._fields, state, other, strict=True):
        if name in ("field_bits", "vote_bits", "can_fall", "can_rise"):
            found, expected = found & other.valid, expected & other.valid
        np.testing.assert_array_equal(found, expected, err_msg=name)


@KERNELS
@LOSSES
@MACHINES
@pytest.mark.parametrize("P", [7, 150])
def test_running_integers_are_those_built_anew(kernel, loss, device, N, P):
    xi, sigma = patterns.random(P, N, rng=1)
    model = Model(device, xi, sigma, loss, 0.7)
    state, rng = start(model, 3), np.random.default_rng(2)
    for beta in (0.0, 0.3, 2.0):
        kernel(state, rng, 300, beta * model.quantum, pulls(1.0, 3), False)
        assert_same(state, model.state(state.weights))
    for a, w in enumerate(state.weights):
        assert state.errors[a] == device.network(model.device_weights(w)).errors(xi, sigma)
        exact = energy(model, w, loss, 0.7)
        bound = 0.5 * P * model.quantum if loss == "cross-entropy" else 0
        assert abs(state.energy[a] * model.quantum - exact) <= bound + 1e-9


def test_a_step_is_many_quanta():
    xi, sigma = patterns.random(10, 9, rng=1)
    model = Model(Perceptron(), xi, sigma, "cross-entropy", 1.0)
    assert np.max(np.abs(model.cost[2:] - model.cost[:-2])) in (LEVELS, LEVELS + 1)


def test_both_ways_to_keep_occur():
    xi, sigma = patterns.random(5, 12, rng=1)
    ways = [
        (Perceptron(), True),
        (tree(3), False),  # parts of 4: undecided units
        (tree(4), True),
        (tree(2, ReLU()), True),
        (tree(4, ReLU()), False),  # parts of 3: steps of 1
    ]
    for device, packed in ways:
        assert Model(device, xi, sigma, "errors", 1.0).packed == packed, device


def all_weights(shape):
    """Return all binary weights of a shape, in the order of `index`."""
    size = math.prod(shape)
    return np.array(list(itertools.product((-1, 1), repeat=size)), np.int8).reshape(-1, *shape)


def index(weights):
    """Return which of `all_weights` these are."""
    return int("".join("1" if w > 0 else "0" for w in weights.ravel()), 2)


def assert_samples(kernel, model, replicas, beta, coupling, logs, looks=2500, every=60):
    """Run a chain, and compare the shares of configurations with ``exp(logs)``, normalised."""
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    state, rng = start(model, replicas), np.random.default_rng(5)
    pull, parts = pulls(coupling, replicas), 50
    kernel(state, rng, 10_000, beta * model.quantum, pull, False)
    counts = np.zeros((parts, len(exact)))
    for look in range(looks):
        kernel(state, rng, every, beta * model.quantum, pull, False)
        counts[look * parts // looks, index(state.weights)] += 1
    # Configurations in groups of similar weight, so that each group is met often enough.
    order = np.argsort(exact, kind="stable")
    groups = np.minimum((np.cumsum(exact[order]) * 20).astype(int), 19)
    expected = np.bincount(groups, exact[order], 20)
    found = np.array([np.bincount(groups, part[order], 20) for part in counts]) * parts / looks
    used = expected > 0.01
    assert used.sum() >= 8
    error = found.std(axis=0, ddof=1)[used] / math.sqrt(parts)
    deviation = (found.mean(axis=0) - expected)[used] / error
    assert np.mean(deviation**2) < 1 + 6 * math.sqrt(2 / used.sum())
    assert np.max(error) < 0.01  # a wrong distribution would show


@KERNELS
@LOSSES
@pytest.mark.parametrize(
    ("device", "N", "P"),
    [(Perceptron(), 9, 6), (tree(3), 9, 6), (tree(2, ReLU()), 8, 6), (tree(2, ReLU()), 10, 6)],
)
def test_one_replica_samples_its_boltzmann_weights(kernel, loss, device, N, P):
    xi, sigma = patterns.random(P, N, rng=3)
    model = Model(device, xi, sigma, loss, 0.8)
    beta = 1.0 if loss == "errors" else 1.5
    every = all_weights(model.shape)
    energies = [energy(model, w, loss, 0.8) for w in every]
    assert_samples(kernel, model, 1, beta, 0.0, -beta * np.array(energies))


@KERNELS
@LOSSES
@pytest.mark.parametrize(("device", "N"), [(Perceptron(), 5), (tree(2, ReLU()), 4)])
def test_two_replicas_sample_theirs(kernel, loss, device, N):
    xi, sigma = patterns.random(4, N, rng=4)
    model = Model(device, xi, sigma, loss, 0.8)
    beta, coupling = 1.0, 0.9
    one = np.array([energy(model, w, loss, 0.8) for w in all_weights(model.shape)])
    pairs = all_weights((2, N))
    logs = -beta * (one[:, None] + one).ravel() + coupling / 2 * np.prod(pairs, axis=1).sum(axis=1)
    assert_samples(kernel, model, 2, beta, coupling, logs)


@pytest.mark.parametrize("y", [2, 3, 20])
def test_pulls_are_ratios(y):
    rng = np.random.default_rng(0)
    w = rng.choice([-1, 1], y)
    flipped = w.copy()
    flipped[0] *= -1

    def log_weight(w):
        return 1.3 / y * (w.sum() ** 2 - y) / 2

    k = w[0] * w.sum() - 1
    ratio = math.exp(log_weight(flipped) - log_weight(w))
    assert pulls(1.3, y)[k + y - 1] == pytest.approx(ratio, rel=1e-12)


def test_the_flip_is_the_one_whose_rates_reach_the_draw():
    """Draws from half-open intervals, one after the other; the last possible flip for rounding."""
    rate = np.array([[[0.0, 1.0, 2.0], [0.0, 0.0, 1.0]], [[3.0, 0.0, 0.0], [1.0, 2.0, 0.0]]])
    sums, ends = rate.sum(axis=(1, 2)), np.cumsum(rate)
    for u in np.arange(0.0, 10.0, 0.5):
        place = np.searchsorted(ends, u, side="right")
        assert _choose(rate, sums, u) == np.unravel_index(place, rate.shape)
    assert _choose(rate, np.array([4.0, 7.0]), 10.5) == (1, 1, 1)
    rounding = np.array([1e-17, 0.0])  # what is left of sums where nothing is possible
    assert _choose(0.0 * rate, rounding, 0.5e-17) == (-1, -1, -1)


def test_waiting_waits_for_ever_where_nothing_is_accepted():
    xi, sigma = np.ones((1, 1)), np.ones(1)
    model = Model(Perceptron(), xi, sigma, "errors", 1.0)
    state = model.state(np.ones((1, 1, 1), dtype=np.int8))
    for beta in (30.0, 45.0, 500.0, 1e6):  # chances exp(-beta), down to 0
        proposed, accepted = waiting(
            state, np.random.default_rng(1), 1000, beta, pulls(0.0, 1), False
        )
        assert (proposed, accepted) == (1000, 0)


def test_kernels_stop_at_a_solution():
    xi, sigma = patterns.random(5, 101, rng=1)
    model = Model(Perceptron(), xi, sigma, "errors", 1.0)
    for kernel in (metropolis, waiting):
        state = start(model)
        assert state.errors[0] > 0
        proposed, accepted = kernel(
            state, np.random.default_rng(1), 10**6, 5.0, pulls(0.0, 1), True
        )
        assert state.errors[0] == 0
        assert accepted <= proposed < 10**6


@pytest.mark.parametrize(
    ("ramp", "targets"),
    [(0.0, [0.8, 0.8, 0.8, 0.8]), (0.25, [0.8, 0.8, 0.8, 0.8]), (0.5, [0.4, 0.8, 0.8, 0.8])],
)
def test_the_target_of_the_overlap_rises_in_the_steps_of_the_ramp(ramp, targets):
    xi, sigma = patterns.random(20, 51, rng=1)
    options = {"replicas": 3, "overlap": 0.8, "sweeps": 4, "steps": 4, "stop_early": False}
    found = replicated_annealing(Perceptron(), xi, sigma, ramp=ramp, rng=1, **options)
    assert found.history["target"].tolist() == targets


def test_proposals_up_to_a_solution_are_counted():
    """One number is drawn for each; the last one is accepted."""
    xi, sigma = patterns.random(5, 101, rng=1)
    state, rng = start(Model(Perceptron(), xi, sigma, "errors", 1.0)), np.random.default_rng(1)
    proposed, _ = metropolis(state, rng, 10**6, 5.0, pulls(0.0, 1), True)
    same = np.random.default_rng(1)
    same.random(proposed)
    assert rng.bit_generator.state == same.bit_generator.state


# ------------------------------------------------------------------------------------------------
# The public functions
# ------------------------------------------------------------------------------------------------


def test_cross_entropy_solves_where_errors_do_not():
    xi, sigma = patterns.random(100, 201, rng=7)
    found = simulated_annealing(Perceptron(), xi, sigma, rng=1)
    assert found.converged
    assert found.errors == found.network.errors(xi, sigma) == 0
    stuck = simulated_annealing(Perceptron(), xi, sigma, loss="errors", rng=1)
    assert not stuck.converged
    assert stuck.errors == stuck.network.errors(xi, sigma) > 5
    assert stuck.energy == stuck.errors == stuck.history["errors"][-1]
    assert stuck.epochs == 1000
    assert found.epochs < 1000


@MACHINES
def test_finds_solutions_of_every_machine(device, N):
    xi, sigma = patterns.random(3, N, rng=6)
    solvable = True
    if device.tree:
        every = all_weights(device.shape(N))
        solvable = any(device.network(w).errors(xi, sigma) == 0 for w in every)
    for loss in ("errors", "cross-entropy"):
        found = simulated_annealing(device, xi, sigma, loss=loss, sweeps=500, steps=50, rng=3)
        assert (found.device, found.weights.shape) == (device, device.shape(N))
        assert found.errors == found.network.errors(xi, sigma)
        assert found.converged == (found.errors == 0) == solvable


@pytest.mark.parametrize("moves", ["auto", "metropolis", "waiting"])
def test_same_seed_same_bits(moves):
    xi, sigma = patterns.random(60, 99, rng=1)
    runs = [
        simulated_annealing(
            Perceptron(), xi, sigma, loss="errors", sweeps=200, moves=moves, rng=seed
        )
        for seed in (4, 4, 5)
    ]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)
    for name, values in runs[0].history.items():
        np.testing.assert_array_equal(values, runs[1].history[name])
    assert np.any(runs[0].weights != runs[2].weights)


def test_auto_begins_as_metropolis_and_ends_waiting():
    xi, sigma = patterns.random(60, 99, rng=1)
    options = {"loss": "errors", "sweeps": 300, "rng": 4}
    auto = simulated_annealing(Perceptron(), xi, sigma, **options)
    plain = simulated_annealing(Perceptron(), xi, sigma, moves="metropolis", **options)
    rare = int(np.argmax(auto.history["accepted"] < RARE))
    assert 0 < rare < 99
    np.testing.assert_array_equal(
        auto.history["energy"][: rare + 1], plain.history["energy"][: rare + 1]
    )


def test_gauge_symmetry():
    # Flipping inputs together with the start flips the whole run.
    xi, sigma = patterns.random(40, 60, rng=1)
    rng = np.random.default_rng(0)
    gauge, w = rng.choice([-1, 1], 60), rng.choice([-1, 1], 60)
    runs = [
        simulated_annealing(Perceptron(), x, sigma, start=v, sweeps=50, steps=5, rng=2)
        for x, v in ((xi, w), (xi * gauge, w * gauge))
    ]
    np.testing.assert_array_equal(runs[1].weights, runs[0].weights * gauge)
    np.testing.assert_array_equal(runs[1].history["energy"], runs[0].history["energy"])


@pytest.mark.parametrize("loss", ["errors", "cross-entropy"])
def test_order_of_patterns_does_not_matter(loss):
    xi, sigma = patterns.random(130, 99, rng=1)
    order = np.random.default_rng(3).permutation(130)
    runs = [
        simulated_annealing(
            tree(3),
            xi[o],
            sigma[o],
            loss=loss,
            sweeps=50,
            steps=5,
            rng=2,
        )
        for o in (np.arange(130), order)
    ]
    np.testing.assert_array_equal(runs[1].weights, runs[0].weights)


def test_a_start_that_solves_is_returned():
    xi, sigma = np.ones((1, 5)), np.ones(1)
    found = simulated_annealing(Perceptron(), xi, sigma, start=np.ones(5), rng=0)
    np.testing.assert_array_equal(found.weights, 1)
    assert (found.converged, found.epochs, len(found.history["beta"])) == (True, 0, 0)
    longer = simulated_annealing(
        Perceptron(), xi, sigma, start=np.ones(5), stop_at_solution=False, rng=0
    )
    assert longer.epochs == 1000


def test_schedules():
    np.testing.assert_allclose(schedule((1, 100), "geometric", 3, 10), [1, 10, 100])
    np.testing.assert_allclose(schedule((0, 10), "linear", 3, 10), [0, 5, 10])
    assert shares(10, 3).tolist() == [3, 3, 4]
    assert shares(1000, 100).tolist() == [10] * 100


def test_replicas_reach_overlap_and_solutions():
    xi, sigma = patterns.random(40, 99, rng=1)
    found = replicated_annealing(tree(3), xi, sigma, replicas=6, sweeps=2000, steps=200, rng=1)
    assert found.converged
    assert found.replicas.shape == (6, 3, 33)
    errors = [found.device.network(w).errors(xi, sigma) for w in found.replicas]
    assert found.replica_errors.tolist() == errors == [0] * 6
    assert found.errors == found.network.errors(xi, sigma)
    pairs = [np.mean(a * b.astype(int)) for a, b in itertools.combinations(found.replicas, 2)]
    assert found.overlap == pytest.approx(np.mean(pairs), abs=1e-12)
    assert abs(found.overlap - 0.85) <= 0.01
    assert found.epochs < 2000
    decided = found.replicas.sum(axis=0) != 0
    assert not np.all(decided)  # ties occur, and are broken
    majority = np.sign(found.replicas.sum(axis=0))
    np.testing.assert_array_equal(found.weights[decided], majority[decided])
    assert np.all(np.abs(found.weights) == 1)
    history = found.history
    assert {len(values) for values in history.values()} == {found.epochs // 10}
    assert history["errors_most"][-1] == 0
    assert history["overlap"][-1] == found.overlap


def test_replicas_of_a_perceptron_and_same_bits():
    xi, sigma = patterns.random(20, 51, rng=1)
    runs = [
        replicated_annealing(
            Perceptron(),
            xi,
            sigma,
            replicas=3,
            overlap=0.6,
            loss=loss,
            sweeps=300,
            steps=60,
            rng=9,
        )
        for loss in ("errors", "errors", "cross-entropy")
    ]
    assert runs[0].replicas.shape == (3, 51)
    np.testing.assert_array_equal(runs[0].replicas, runs[1].replicas)
    for found in runs:
        errors = [found.device.network(w).errors(xi, sigma) for w in found.replicas]
        assert found.replica_errors.tolist() == errors


def test_feedback_holds_the_overlap_and_no_more_is_claimed():
    # Far too many patterns: no solutions, but the overlap is held, and converged says no.
    xi, sigma = patterns.random(300, 99, rng=1)
    found = replicated_annealing(
        Perceptron(),
        xi,
        sigma,
        replicas=5,
        overlap=0.7,
        beta=(0.1, 0.3),
        sweeps=2000,
        steps=400,
        rng=2,
    )
    held = found.history["overlap"][-80:]
    assert abs(held.mean() - 0.7) < 0.03
    assert not found.converged
    assert found.epochs == 2000
    assert found.replica_errors.min() > 0


def test_mean_overlap_of_equal_and_opposite_replicas():
    assert mean_overlap(np.full((1, 7), 4), 4) == 1.0
    assert mean_overlap(np.zeros((1, 7)), 2) == -1.0


BOTH = pytest.mark.parametrize("function", [simulated_annealing, replicated_annealing])


@BOTH
@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"device": tree(4)}, "units must divide N, got 4 units with N = 9"),
        ({"device": tree(3, ReLU())}, "device must have an even number of ReLU units"),
        ({"device": Perceptron(Spherical())}, r"device must be .* Binary\(\)"),
        ({"device": ParityMachine(3, Binary())}, "device must be a Perceptron or"),
        ({"device": tree(3, Activation(np.tanh))}, r"in hidden units, Sign\(\) or ReLU\(\)"),
        ({"loss": "mse"}, "loss"),
        ({"gamma": 0.0}, "gamma"),
        ({"beta": 3.0}, "beta must be a pair"),
        ({"beta": (0.0, 1.0)}, "beta"),
        ({"beta": (-1.0, 1.0), "spacing": "linear"}, "beta"),
        ({"spacing": "log"}, "spacing"),
        ({"sweeps": 0}, "sweeps"),
        ({"sweeps": 10, "steps": 11}, "steps"),
        ({"moves": "cluster"}, "moves"),
        ({"rng": -1}, "rng"),
        ({"progress": "yes"}, "progress"),
    ],
)
def test_bad_arguments_are_named(function, options, word):
    xi, sigma = patterns.random(5, 9, rng=1)
    with pytest.raises(ValueError, match=word):
        function(**{"device": Perceptron(), "xi": xi, "sigma": sigma} | options)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"replicas": 1}, "replicas"),
        ({"overlap": 1.0}, "overlap"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"ramp": 1.5}, "ramp"),
        ({"gain": 0.0}, "gain"),
        ({"stop_early": None}, "stop_early"),
    ],
)
def test_bad_arguments_of_replicas_are_named(options, word):
    xi, sigma = patterns.random(5, 9, rng=1)
    with pytest.raises(ValueError, match=word):
        replicated_annealing(Perceptron(), xi, sigma, **options)


def test_bad_starts_are_named():
    xi, sigma = patterns.random(5, 9, rng=1)
    with pytest.raises(ValueError, match=r"start must have shape \(9,\), got \(8,\)"):
        simulated_annealing(Perceptron(), xi, sigma, start=np.ones(8), rng=0)
    with pytest.raises(ValueError, match="start must hold -1 and"):
        simulated_annealing(Perceptron(), xi, sigma, start=np.zeros(9), rng=0)


def test_too_many_patterns_are_refused():
    with pytest.raises(ValueError, match="xi must have at most 130000 rows"):
        simulated_annealing(Perceptron(), np.ones((130_001, 1)), np.ones(130_001), rng=0)


def test_few_sweeps_have_as_many_steps():
    """A schedule that is not asked for fits the sweeps; one that is, and does not, is named."""
    xi, sigma = patterns.random(5, 9, rng=1)
    for anneal in (simulated_annealing, replicated_annealing):
        found = anneal(Perceptron(), xi, sigma, sweeps=7, rng=1)
        assert found.epochs <= 7
        with pytest.raises(ValueError, match="steps must be at most the number of sweeps, 7, got"):
            anneal(Perceptron(), xi, sigma, sweeps=7, steps=8)
