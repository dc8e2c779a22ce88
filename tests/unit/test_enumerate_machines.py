"""Committees and parity machines enumerated, against the naive statement and symmetries."""

import math
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from wfmlib import patterns
from wfmlib.learning import (
    all_weights,
    enumerate_fields,
    enumerate_machines,
    enumerate_solutions,
    enumeration,
)
from wfmlib.networks import ParityMachine, TreeCommittee

NETWORKS = {"committee": TreeCommittee, "parity": ParityMachine}
MACHINES = list(NETWORKS)

all_signs = cache(naive.all_signs)


def stabilities(w, xi, sigma, units, machine):
    """Return integers, shape (rows of `w`, P): label times votes, 0 for a tie."""
    xi = np.asarray(xi, dtype=int)
    n = xi.shape[1] // units
    parts = [slice(unit * n, (unit + 1) * n) for unit in range(units)]
    signs = np.array([np.sign(w[:, part] @ xi[:, part].T) for part in parts])
    votes = signs.sum(axis=0) if machine == "committee" else signs.prod(axis=0)
    return sigma * votes * signs.all(axis=0)


@st.composite
def instances(draw, max_N=12, max_P=10):
    units = draw(st.integers(2, 6))
    N = units * draw(st.integers(1, max_N // units))
    xi, sigma = patterns.random(draw(st.integers(1, max_P)), N, draw(st.integers(0, 2**32)))
    return xi, sigma, units, draw(st.sampled_from(MACHINES))


@given(instances(), st.booleans(), st.integers(0, 4), st.data())
@settings(max_examples=150, deadline=None)
def test_everything_against_the_naive_statement(instance, flat, prefix, data):
    xi, sigma, units, machine = instance
    N = xi.shape[1]
    w = all_signs(N)
    worst = stabilities(w, xi, sigma, units, machine).min(axis=1)
    expected = w[worst > 0]
    reference = w[data.draw(st.integers(0, 2**N - 1))]

    with patch.multiple(enumerate_machines, _CHUNK=0, _PREFIX=prefix):
        found = enumerate_solutions(
            xi,
            sigma,
            units=units,
            machine=machine,
            reference=reference if flat else reference.reshape(units, -1),
            keep=2**N,
        )

    assert (found.units, found.machine, found.margin) == (units, machine, 0.0)
    assert found.count == len(expected)
    assert isinstance(found.count, int)
    np.testing.assert_array_equal(found.solutions, expected)
    assert found.solutions.dtype == np.int8
    distance = np.count_nonzero(expected != reference, axis=1)
    np.testing.assert_array_equal(found.counts_by_distance, np.bincount(distance, minlength=N + 1))

    steps = units if machine == "committee" else 1
    levels = np.array([s for s in range(-steps, steps + 1, 2) if s > 0])
    np.testing.assert_array_equal(found.margins, levels / np.sqrt(steps))
    np.testing.assert_array_equal(
        found.counts_by_margin, [np.count_nonzero(worst == s) for s in levels]
    )
    np.testing.assert_array_equal(found.count_at(found.margins - 1e-6), [
        np.count_nonzero(worst >= s) for s in levels
    ])  # fmt: skip
    if found.count:
        assert found.entropy == math.log(len(expected)) / N
        # The mean of at most 2^12 signs, rounded a few times.
        np.testing.assert_allclose(found.magnetisation, expected.mean(axis=0), rtol=0, atol=1e-15)
    else:
        assert found.entropy == -math.inf
        assert np.all(np.isnan(found.magnetisation))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("units", "P"), [(2, 5), (3, 5), (5, 3)])
def test_the_networks_agree(machine, units, P):
    xi, sigma = patterns.random(P, 15 if units != 2 else 14, 3)
    found = enumerate_solutions(
        xi, sigma, units=units, machine=machine, keep=10**6, reference=xi[0]
    )
    assert found.count > 10
    worst = []
    for w in found.solutions:
        net = NETWORKS[machine](w.reshape(units, -1))
        assert net.errors(xi, sigma) == 0
        worst.append(net.stabilities(xi, sigma).min())
    counts = [np.count_nonzero(np.array(worst) == one) for one in found.margins]
    np.testing.assert_array_equal(counts, found.counts_by_margin)


@pytest.mark.parametrize("machine", MACHINES)
def test_more_patterns_than_a_word_holds(machine):
    # A teacher labels 150 patterns, three words of 64: it is found, and no label may change.
    teacher = patterns.random(1, 15, 3)[0]
    xi, _ = patterns.random(150, 15, 4)
    sigma = NETWORKS[machine](teacher.reshape(3, 5)).output(xi)
    expected = all_signs(15)
    expected = expected[stabilities(expected, xi, sigma, 3, machine).min(axis=1) > 0]
    found = enumerate_solutions(xi, sigma, units=3, machine=machine, keep=100)
    np.testing.assert_array_equal(found.solutions, expected)
    assert teacher[0].tolist() in expected.tolist()
    for place in (0, 63, 64, 127, 128, 149):
        labels = sigma.copy()
        labels[place] *= -1
        both = enumerate_solutions(
            np.vstack([xi, xi[place]]), np.append(labels, sigma[place]), units=3, machine=machine
        )
        assert both.count == 0


@pytest.mark.parametrize("machine", MACHINES)
def test_one_unit_is_the_perceptron(machine):
    xi, sigma = patterns.random(5, 13, 4)
    plain = enumerate_solutions(xi, sigma, keep=10**4)
    one = enumerate_solutions(xi, sigma, keep=10**4, units=1, machine=machine)
    np.testing.assert_array_equal(one.solutions, plain.solutions)
    np.testing.assert_array_equal(one.counts_by_margin, plain.counts_by_margin)
    assert enumerate_solutions(xi, sigma, 0.5, units=1, machine=machine).margin == 0.5


@given(instances(), st.integers(0, 2**32))
@settings(deadline=None)
def test_gauge_symmetry(instance, seed):
    xi, sigma, units, machine = instance
    P, N = xi.shape
    gauge = np.random.default_rng(seed).choice([-1, 1], N)
    ones = np.ones(N)
    options = {"units": units, "machine": machine, "keep": 2**N}
    plain = enumerate_solutions(xi, sigma, reference=ones, **options)
    turned = enumerate_solutions(xi * gauge, sigma, reference=gauge, **options)
    np.testing.assert_array_equal(turned.counts_by_margin, plain.counts_by_margin)
    np.testing.assert_array_equal(turned.counts_by_distance, plain.counts_by_distance)
    assert set(map(tuple, turned.solutions)) == set(map(tuple, plain.solutions * gauge))
    # A pattern with its label is worth the opposite pattern with the machine's answer to it.
    flip = np.where(np.arange(P) % 2, 1, -1)
    answer = flip if machine == "committee" else flip**units
    flipped = enumerate_solutions(xi * flip[:, None], sigma * answer, **options)
    np.testing.assert_array_equal(flipped.solutions, plain.solutions)


@given(instances(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_units_and_patterns_does_not_matter(instance, random):
    xi, sigma, units, machine = instance
    P, N = xi.shape
    order, rows = random.sample(range(units), units), random.sample(range(P), P)
    columns = np.arange(N).reshape(units, -1)[order].ravel()
    options = {"units": units, "machine": machine, "keep": 2**N}
    plain = enumerate_solutions(xi, sigma, **options)
    moved = enumerate_solutions(xi[rows][:, columns], sigma[rows], **options)
    np.testing.assert_array_equal(moved.counts_by_margin, plain.counts_by_margin)
    assert set(map(tuple, moved.solutions)) == set(map(tuple, plain.solutions[:, columns]))


@pytest.mark.parametrize("units", [2, 3, 4])
def test_two_units_of_a_parity_machine_change_sign_together(units):
    xi, sigma = patterns.random(4, 3 * units, 2)
    found = enumerate_solutions(xi, sigma, units=units, machine="parity", keep=10**5)
    assert found.count > 0
    assert found.count % 2 ** (units - 1) == 0  # orbits of that many
    solutions = set(map(tuple, found.solutions))
    signs = np.ones((units, 1), dtype=np.int8)
    signs[:2] = -1
    turned = (found.solutions.reshape(-1, units, 3) * signs).reshape(-1, 3 * units)
    assert set(map(tuple, turned)) == solutions
    # One unit alone is another matter: then every answer is wrong.
    signs[0] = 1
    turned = (found.solutions.reshape(-1, units, 3) * signs).reshape(-1, 3 * units)
    assert not solutions & set(map(tuple, turned))


@pytest.mark.parametrize(("units", "n"), [(3, 3), (3, 5), (5, 3), (2, 5), (4, 3)])
@pytest.mark.parametrize("machine", MACHINES)
def test_the_mean_count_over_instances(units, n, machine):
    # A fixed weight vector of odd units solves a random pattern with probability 1/2 (an even
    # committee: less, by half the chance of a split vote), and patterns are independent.
    P, N, samples = 4, units * n, 400
    split = math.comb(units, units // 2) / 2**units if units % 2 == 0 else 0.0
    chance = (1 - split) / 2 if machine == "committee" else 0.5
    counts = [
        enumerate_solutions(*patterns.random(P, N, child), units=units, machine=machine).count
        for child in np.random.SeedSequence(7).spawn(samples)
    ]
    error = np.std(counts, ddof=1) / math.sqrt(samples)
    assert abs(np.mean(counts) - 2**N * chance**P) < 4 * error
    assert error < 0.1 * 2**N * chance**P  # or the line above could not fail


def test_one_pattern_in_closed_form():
    # Half of the 2^21 vectors are right on it, and none ties: units of 7 weights.
    xi, sigma = patterns.random(1, 21, 7)
    for machine in MACHINES:
        found = enumerate_solutions(xi, sigma, units=3, machine=machine, reference=xi[0])
        assert found.count == 2**20
        np.testing.assert_array_equal(
            found.counts_by_distance + found.counts_by_distance[::-1],
            [math.comb(21, d) for d in range(22)],
        )
        correlation = math.comb(6, 3) / 2**6  # of a sign of 7 weights with one of them
        share = correlation / 2 if machine == "committee" else 0.0
        np.testing.assert_allclose(found.magnetisation, share * sigma[0] * xi[0], atol=1e-12)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("threads", [2, 5])
def test_the_number_of_threads_does_not_matter(machine, threads):
    xi, sigma = patterns.random(6, 21, 11)
    options = {"units": 3, "machine": machine, "reference": xi[0], "keep": 10**6}
    one = enumerate_solutions(xi, sigma, threads=1, **options)
    with patch.object(enumerate_machines, "_CHUNK", 15):  # 64 tasks
        more = enumerate_solutions(xi, sigma, threads=threads, **options)
    assert one.count > 1000
    for name in ("counts_by_margin", "counts_by_distance", "magnetisation", "solutions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(more, name), err_msg=name)


# --- fields -----------------------------------------------------------------------------------


@pytest.mark.parametrize("N", [1, 2, 7])
def test_all_weights_are_in_lexicographic_order(N):
    np.testing.assert_array_equal(all_weights(N), all_signs(N))
    assert all_weights(N).dtype == np.int8


@given(instances())
@settings(deadline=None)
def test_fields_against_the_naive_statement(instance):
    xi, sigma, units, _ = instance
    w = all_signs(xi.shape[1])
    plain = enumerate_fields(xi, sigma)
    np.testing.assert_array_equal(plain, (w @ xi.T.astype(int)) * sigma)
    n = xi.shape[1] // units
    fields = enumerate_fields(xi, sigma, units=units)
    expected = np.stack(
        [w[:, u * n : (u + 1) * n] @ xi[:, u * n : (u + 1) * n].T for u in range(units)], axis=2
    )
    np.testing.assert_array_equal(fields, expected)
    assert plain.dtype == fields.dtype == np.int8


def test_fields_and_solutions_agree():
    xi, sigma = patterns.random(6, 15, 2)
    right = np.all(enumerate_fields(xi, sigma) > 0, axis=1)
    found = enumerate_solutions(xi, sigma, keep=10**5)
    np.testing.assert_array_equal(all_weights(15)[right], found.solutions)
    votes = np.sign(enumerate_fields(xi, sigma, units=3)).sum(axis=2)
    found = enumerate_solutions(xi, sigma, units=3, keep=10**5)
    right = np.all(sigma * votes > 0, axis=1)
    np.testing.assert_array_equal(all_weights(15)[right], found.solutions)


# --- time, bad input --------------------------------------------------------------------------


def test_what_would_take_too_long_is_refused_with_an_estimate():
    with pytest.raises(ValueError, match=r"N = 60 means 2\^60 = 1\.2e\+18 .* force=True"):
        enumerate_solutions(*patterns.random(20, 60, 1), units=4)


@pytest.mark.parametrize(("units", "N"), [(2, 30), (3, 33), (4, 28)])
def test_the_estimate_scales_a_sample_to_the_whole(monkeypatch, units, N):
    # A clock that goes on by a picosecond for each combination of the units' vectors.
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(
        enumerate_machines, "time", SimpleNamespace(perf_counter=lambda: clock.now)
    )
    samples = []

    def combine(wrong, weights, distance, sizes, parity, N, first, last, room):
        assert (first, last, room) == (0, sizes[0], 0), "all of the sample, and none is kept"
        samples.append(set(map(tuple, wrong[0, first:last])))
        clock.now += 1e-12 * np.prod(sizes.astype(float))

    monkeypatch.setattr(enumerate_machines, "_combine", combine)
    tables = enumerate_machines.tabulate(*patterns.random(80, N, 1), units, "parity", np.ones(N))
    whole = 1e-12 * np.prod(tables.sizes.astype(float))
    assert enumerate_machines.estimate(tables) == pytest.approx(whole, rel=1e-9)
    if whole > 1:
        assert clock.now < whole / 4
    # Of different vectors of the first unit, drawn from all of them.
    rows = set(map(tuple, tables.wrong[0, : tables.sizes[0]]))
    assert samples[-1] <= rows
    assert len(samples[-1]) > 1


def test_no_estimate_where_nothing_can_be_right():
    # Two weights a unit, both patterns: every weight vector ties on one of them.
    xi = np.tile([[1, 1], [1, -1]], (1, 14))
    with patch.object(enumeration, "LONGEST", 0.0):
        assert enumerate_solutions(xi, [1, 1], units=14).count == 0


def test_an_interrupt_of_the_kernel_is_an_interrupt(monkeypatch):
    def combine(*_):
        raise SystemError("_combine returned a result with an exception set") from interrupt

    interrupt = KeyboardInterrupt()
    monkeypatch.setattr(enumerate_machines, "_combine", combine)
    with pytest.raises(KeyboardInterrupt):
        enumerate_solutions(*patterns.random(3, 9, 1), units=3, threads=1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"units": 4}, ValueError, "units must divide the number of columns of xi, 6, got 4"),
        ({"units": 0}, ValueError, "units must be from 1 to 6, got 0"),
        ({"units": 3.0}, TypeError, "units must be an integer, got 3.0"),
        ({"machine": "tree"}, ValueError, "machine must be one of 'committee', 'parity'"),
        ({"margin": 0.5}, ValueError, "margin must be 0 for more than one unit, got 0.5"),
        ({"reference": np.ones((2, 3))}, ValueError, r"reference has shape \(2, 3\)"),
        ({"reference": np.ones(5)}, ValueError, r"reference has shape \(5,\)"),
        ({"xi": np.ones((1, 42)), "units": 2}, ValueError, "have 21 each; .*at most 20"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    arguments = {"xi": [[1, -1, 1, 1, -1, 1]], "sigma": [1], "units": 3} | change
    with pytest.raises(error, match=message):
        enumerate_solutions(**arguments)


def test_bad_arguments_of_the_fields_are_named():
    with pytest.raises(ValueError, match=r"at most 20 columns, got 21: .* GiB of memory"):
        enumerate_fields(*patterns.random(3, 21, 1))
    with pytest.raises(ValueError, match="units must divide the number of columns of xi, 9"):
        enumerate_fields(*patterns.random(3, 9, 1), units=2)
    with pytest.raises(ValueError, match="N must be from 1 to 22, got 23"):
        all_weights(23)


def test_text():
    found = enumerate_solutions(*patterns.random(3, 9, 1), units=3, machine="parity")
    assert repr(found).startswith("Enumeration(parity, K=3, N=9, P=3, margin=0: 64 solutions")
