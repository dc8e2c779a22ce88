"""What a page computes on one instance is what the package computes."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import Perceptron, learning, patterns
from wfmlib.book.lab.kernels import clipped, passed, pcg64
from wfmlib.book.lab.kernels import counted as counting
from wfmlib.book.lab.kernels.counted import counted
from wfmlib.book.lab.kernels.drawn import drawn
from wfmlib.learning.descent.clipped_rule import clipped_rule
from wfmlib.learning.messages.belief_propagation import count_errors, prepare, rounded
from wfmlib.numerics.solvers import NotConverged


def instance(P, N, seed):
    """Return patterns times labels, and the labels, as a page draws them."""
    held, labels = np.zeros((P, N), dtype=np.int8), np.zeros(P, dtype=np.int8)
    assert drawn(float(seed), held, labels) == P
    return held, labels


@pytest.mark.parametrize(("P", "N", "seed"), [(1, 1, 0), (15, 21, 3), (169, 201, 2**32 - 1)])
def test_patterns_are_those_of_the_package(P, N, seed):
    held, labels = instance(P, N, seed)
    xi, sigma = patterns.random(P, N, rng=seed)
    assert np.array_equal(held, xi * sigma[:, None])
    assert np.array_equal(labels, sigma)


def listed(held):
    """Return what `counted` returns and fills in."""
    N = held.shape[1]
    around, densest, weights = np.ones(N + 1), np.ones(N + 1), np.ones(N, dtype=np.int8)
    return *counted(held, around, densest, weights), around, densest, weights


@pytest.mark.parametrize(("P", "N"), [(1, 1), (3, 2), (5, 9), (8, 13), (9, 12), (14, 17)])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_the_package(P, N, seed):
    """Means over centres are sums of integers over one: equal but for the division's rounding."""
    held, labels = instance(P, N, seed)
    count, centres, around, densest, weights = listed(held)
    xi = held * labels[:, None]
    kept = learning.enumerate_solutions(Perceptron(), xi, labels, keep=2**N)
    assert count == centres == kept.count
    if not count:
        assert not around.any()
        assert not densest.any()
        assert not weights.any()
        return
    each = [
        learning.enumerate_solutions(Perceptron(), xi, labels, reference=w).counts_by_distance
        for w in kept.solutions
    ]
    np.testing.assert_allclose(around, np.mean(each, axis=0), rtol=1e-14)
    near = np.sum(np.array(each)[:, : counting.NEAR + 1], axis=1)
    assert np.array_equal(weights, kept.solutions[np.argmax(near)])
    assert np.array_equal(densest, each[np.argmax(near)])


def test_of_many_solutions_some_are_centres():
    """Two patterns leave a quarter of 2^17 vectors: every so-many-th is a centre."""
    held, _ = instance(2, 17, 5)
    count, centres, around, densest, _ = listed(held)
    kept = learning.enumerate_solutions(Perceptron(), held, np.ones(2), keep=2**17)
    step = -(-(kept.count**2) // counting.PAIRS)
    assert step > 2
    assert centres == len(kept.solutions[::step])
    assert around.sum() == pytest.approx(count, rel=1e-12)
    assert densest.sum() == count


def begun(P, N, seed):
    """Return what `passed` keeps of an instance, at the start."""
    state = (
        np.zeros(pcg64.WORDS, dtype=np.uint64),
        np.zeros((P, 1, N)),
        np.zeros((passed.ROWS, N)),
        np.zeros(1),
    )
    passed.started(float(seed), *state)
    return state


def own_means(state):
    out = np.empty(state[2].shape[1])
    passed.means(state[2], out)
    return out


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("P", "N"), [(60, 101), (7, 15)])
def test_sweeps_are_those_of_the_package(P, N, seed):
    """Forty: fields are summed up again in between. Rounding does not grow on the way."""
    held, labels = instance(P, N, seed)
    engine = prepare(Perceptron(), held * labels[:, None], labels, rng=seed)
    state = begun(P, N, seed)
    assert np.array_equal(engine.messages, state[1])
    for _ in range(40):
        wanted = engine.sweep(damping=0.2, in_place=True)
        found = passed.swept(0.2, 0.0, 0.0, 1.0, held, *state)
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(own_means(state), engine.means()[0], rtol=1e-12, atol=1e-13)
    found = passed.entropy(0.0, held, *state[1:3])[0]
    assert found == pytest.approx(engine.entropy(), abs=1e-12)
    assert passed.errors(held, own_means(state)) == count_errors(
        rounded(engine.means(), engine), engine
    )


def test_focusing_is_that_of_the_package():
    """Steps of the protocol, up to couplings that are nearly rigid."""
    P, N = 50, 101
    held, labels = instance(P, N, 4)
    engine = prepare(Perceptron(), held * labels[:, None], labels, rng=4)
    state = begun(P, N, 4)
    for coupling in learning.atanh_steps(8):
        engine.focus(coupling, 10)
        passed.focused(coupling, 10.0, state[2])
        for _ in range(8):
            wanted = engine.sweep(damping=0.5, in_place=True)
            found = passed.swept(0.5, 1.0, coupling, 10.0, held, *state)
            assert found == pytest.approx(wanted, rel=1e-10, abs=1e-12)
        centre = state[2][passed.CENTRE]
        np.testing.assert_allclose(centre, engine.center()[0], rtol=0.0, atol=1e-11)
        polarisation = passed.means(state[2], np.empty(N))[1]
        assert polarisation == pytest.approx(np.mean(engine.center() ** 2), abs=1e-11)


def test_the_entropy_around_weights_is_that_of_the_package():
    P, N = 50, 101
    held, labels = instance(P, N, 2)
    xi, weights = held * labels[:, None], np.sign(held.sum(axis=0))
    given = {"reference": weights, "coupling": 1.2, "rng": 2, "tolerance": 1e-10}
    wanted = learning.belief_propagation(Perceptron(), xi, labels, **given)
    state = begun(P, N, 2)
    state[2][passed.REFERENCE] = weights
    passed.pulled(1.2, state[2])
    for _ in range(wanted.sweeps):
        residual = passed.swept(0.0, 0.0, 1.2, 1.0, held, *state)
    assert residual == pytest.approx(wanted.residual, abs=1e-12)
    found = passed.entropy(1.2, held, *state[1:3])
    assert found == pytest.approx((wanted.entropy, wanted.distance), abs=1e-11)
    again = begun(P, N, 2)
    again[2][passed.REFERENCE] = weights
    *found, sweeps = passed.surrounded(1.2, 1e-10, 1000.0, held, *again)
    assert sweeps == wanted.sweeps
    assert found == pytest.approx((wanted.entropy, wanted.distance), abs=1e-11)


@pytest.mark.parametrize("load", [0.4, 3.0])
def test_around_weights_without_solutions_there_is_no_number(load):
    """Far above the capacity messages settle on nothing; below it two sweeps are too few."""
    N = 101
    P = round(load * N)
    held, _ = instance(P, N, 2)
    state = begun(P, N, 2)
    state[2][passed.REFERENCE] = 1.0
    most = 2.0 if load < 1.0 else 500.0
    entropy, distance, sweeps = passed.surrounded(1.2, 1e-6, most, held, *state)
    assert np.isnan([entropy, distance]).all()
    assert 1.0 <= sweeps <= most
    if load > 1.0:
        given = {"reference": np.ones(N), "coupling": 1.2, "rng": 2, "max_sweeps": 500}
        with pytest.raises((NotConverged, learning.NotSettled)):
            learning.belief_propagation(Perceptron(), held, np.ones(P), **given)


@pytest.mark.parametrize("seed", range(3))
def test_the_clipped_rule_is_that_of_the_package(seed):
    """Bit for bit: integers, and the same generator."""
    held, labels = instance(40, 101, seed)
    wanted, epochs = clipped_rule(held * labels[:, None], labels, seed=seed)
    random, hidden = np.zeros(pcg64.WORDS, dtype=np.uint64), np.zeros(101)
    clipped.begun(float(seed), random, hidden)
    assert epochs > 1
    for _ in range(epochs):
        assert passed.errors(held, hidden) > 0
        clipped.corrected(held, random, hidden)
    assert np.array_equal(np.sign(hidden), wanted)
    assert passed.errors(held, hidden) == 0
