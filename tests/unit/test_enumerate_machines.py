"""Committees and parity machines enumerated, against the naive statement and symmetries."""

import math
from functools import cache, partial
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from wfmlib import Binary, Committee, Margin, ParityMachine, Perceptron, TreeCommittee, patterns
from wfmlib.learning import all_weights, enumerate_fields, enumerate_solutions
from wfmlib.learning.exact import enumerate_machines, enumeration

committee = partial(TreeCommittee, weights=Binary())
MACHINES = {
    "committee": committee,
    "parity": partial(ParityMachine, weights=Binary()),
}

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
    xi, sigma = patterns.random(draw(st.integers(1, max_P)), N, rng=draw(st.integers(0, 2**32)))
    return xi, sigma, units, draw(st.sampled_from(list(MACHINES)))


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
            MACHINES[machine](units),
            xi,
            sigma,
            reference=reference if flat else reference.reshape(units, -1),
            keep=2**N,
        )

    assert (found.device, found.constraint) == (MACHINES[machine](units), Margin(0.0))
    assert found.count == len(expected)
    assert isinstance(found.count, int)
    np.testing.assert_array_equal(found.solutions, expected)
    assert found.solutions.dtype == np.int64
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


@pytest.mark.parametrize("machine", list(MACHINES))
@pytest.mark.parametrize(("units", "P"), [(2, 5), (3, 5), (5, 3)])
def test_the_networks_agree(machine, units, P):
    xi, sigma = patterns.random(P, 15 if units != 2 else 14, rng=3)
    found = enumerate_solutions(MACHINES[machine](units), xi, sigma, keep=10**6, reference=xi[0])
    assert found.count > 10
    worst = []
    for w in found.solutions:
        net = found.device.network(w.reshape(units, -1))
        assert net.errors(xi, sigma) == 0
        worst.append(net.stabilities(xi, sigma).min())
    counts = [np.count_nonzero(np.array(worst) == one) for one in found.margins]
    np.testing.assert_array_equal(counts, found.counts_by_margin)


@pytest.mark.parametrize("machine", list(MACHINES))
def test_more_patterns_than_a_word_holds(machine):
    # A teacher labels 150 patterns, three words of 64: it is found, and no label may change.
    teacher = patterns.random(1, 15, rng=3)[0]
    xi, _ = patterns.random(150, 15, rng=4)
    sigma = MACHINES[machine](3).network(teacher.reshape(3, 5)).output(xi)
    expected = all_signs(15)
    expected = expected[stabilities(expected, xi, sigma, 3, machine).min(axis=1) > 0]
    found = enumerate_solutions(MACHINES[machine](3), xi, sigma, keep=100)
    np.testing.assert_array_equal(found.solutions, expected)
    assert teacher[0].tolist() in expected.tolist()
    for place in (0, 63, 64, 127, 128, 149):
        labels = sigma.copy()
        labels[place] *= -1
        both = enumerate_solutions(
            MACHINES[machine](3), np.vstack([xi, xi[place]]), np.append(labels, sigma[place])
        )
        assert both.count == 0


@pytest.mark.parametrize("machine", list(MACHINES))
def test_one_unit_is_the_perceptron(machine):
    xi, sigma = patterns.random(5, 13, rng=4)
    plain = enumerate_solutions(Perceptron(), xi, sigma, keep=10**4)
    one = enumerate_solutions(MACHINES[machine](1), xi, sigma, keep=10**4)
    np.testing.assert_array_equal(one.solutions, plain.solutions)
    # Its stability is its vote, which is all that it says.
    assert one.margins.tolist() == [1.0]
    assert one.counts_by_margin.tolist() == [plain.count]
    assert (one.count_at(0.5), one.count_at(1.0)) == (plain.count, 0)


@given(instances(), st.integers(0, 2**32))
@settings(deadline=None)
def test_gauge_symmetry(instance, seed):
    xi, sigma, units, machine = instance
    P, N = xi.shape
    gauge = np.random.default_rng(seed).choice([-1, 1], N)
    ones = np.ones(N)
    device, keep = MACHINES[machine](units), 2**N
    plain = enumerate_solutions(device, xi, sigma, reference=ones, keep=keep)
    turned = enumerate_solutions(device, xi * gauge, sigma, reference=gauge, keep=keep)
    np.testing.assert_array_equal(turned.counts_by_margin, plain.counts_by_margin)
    np.testing.assert_array_equal(turned.counts_by_distance, plain.counts_by_distance)
    assert set(map(tuple, turned.solutions)) == set(map(tuple, plain.solutions * gauge))
    # A pattern with its label is worth the opposite pattern with the machine's answer to it.
    flip = np.where(np.arange(P) % 2, 1, -1)
    answer = flip if machine == "committee" else flip**units
    flipped = enumerate_solutions(device, xi * flip[:, None], sigma * answer, keep=keep)
    np.testing.assert_array_equal(flipped.solutions, plain.solutions)


@given(instances(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_units_and_patterns_does_not_matter(instance, random):
    xi, sigma, units, machine = instance
    P, N = xi.shape
    order, rows = random.sample(range(units), units), random.sample(range(P), P)
    columns = np.arange(N).reshape(units, -1)[order].ravel()
    device, keep = MACHINES[machine](units), 2**N
    plain = enumerate_solutions(device, xi, sigma, keep=keep)
    moved = enumerate_solutions(device, xi[rows][:, columns], sigma[rows], keep=keep)
    np.testing.assert_array_equal(moved.counts_by_margin, plain.counts_by_margin)
    assert set(map(tuple, moved.solutions)) == set(map(tuple, plain.solutions[:, columns]))


@pytest.mark.parametrize("units", [2, 3, 4])
def test_two_units_of_a_parity_machine_change_sign_together(units):
    xi, sigma = patterns.random(4, 3 * units, rng=2)
    found = enumerate_solutions(ParityMachine(units, Binary()), xi, sigma, keep=10**5)
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
@pytest.mark.parametrize("machine", list(MACHINES))
def test_the_mean_count_over_instances(units, n, machine):
    # A fixed weight vector of odd units solves a random pattern with probability 1/2 (an even
    # committee: less, by half the chance of a split vote), and patterns are independent.
    P, N, samples = 4, units * n, 400
    split = math.comb(units, units // 2) / 2**units if units % 2 == 0 else 0.0
    chance = (1 - split) / 2 if machine == "committee" else 0.5
    counts = [
        enumerate_solutions(MACHINES[machine](units), *patterns.random(P, N, rng=child)).count
        for child in np.random.SeedSequence(7).spawn(samples)
    ]
    error = np.std(counts, ddof=1) / math.sqrt(samples)
    assert abs(np.mean(counts) - 2**N * chance**P) < 4 * error
    assert error < 0.1 * 2**N * chance**P  # or the line above could not fail


def test_one_pattern_in_closed_form():
    # Half of the 2^21 vectors are right on it, and none ties: units of 7 weights.
    xi, sigma = patterns.random(1, 21, rng=7)
    for machine in MACHINES:
        found = enumerate_solutions(MACHINES[machine](3), xi, sigma, reference=xi[0])
        assert found.count == 2**20
        np.testing.assert_array_equal(
            found.counts_by_distance + found.counts_by_distance[::-1],
            [math.comb(21, d) for d in range(22)],
        )
        correlation = math.comb(6, 3) / 2**6  # of a sign of 7 weights with one of them
        share = correlation / 2 if machine == "committee" else 0.0
        np.testing.assert_allclose(found.magnetisation, share * sigma[0] * xi[0], atol=1e-12)


@pytest.mark.parametrize("machine", list(MACHINES))
@pytest.mark.parametrize("threads", [2, 5])
def test_the_number_of_threads_does_not_matter(machine, threads):
    xi, sigma = patterns.random(6, 21, rng=11)
    device, options = MACHINES[machine](3), {"reference": xi[0], "keep": 10**6}
    one = enumerate_solutions(device, xi, sigma, threads=1, **options)
    with patch.object(enumerate_machines, "_CHUNK", 15):  # 64 tasks
        more = enumerate_solutions(device, xi, sigma, threads=threads, **options)
    assert one.count > 1000
    for name in ("counts_by_margin", "counts_by_distance", "magnetisation", "solutions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(more, name), err_msg=name)


# --- fields -----------------------------------------------------------------------------------


@pytest.mark.parametrize("N", [1, 2, 7])
def test_all_weights_are_in_lexicographic_order(N):
    np.testing.assert_array_equal(all_weights(N), all_signs(N))
    assert all_weights(N).dtype == np.int64


@given(instances())
@settings(deadline=None)
def test_fields_against_the_naive_statement(instance):
    xi, sigma, units, _ = instance
    w = all_signs(xi.shape[1])
    plain = enumerate_fields(Perceptron(), xi, sigma)
    np.testing.assert_array_equal(plain, (w @ xi.T.astype(int)) * sigma)
    n = xi.shape[1] // units
    fields = enumerate_fields(committee(units), xi, sigma)
    expected = np.stack(
        [w[:, u * n : (u + 1) * n] @ xi[:, u * n : (u + 1) * n].T for u in range(units)], axis=2
    )
    np.testing.assert_array_equal(fields, expected)
    assert plain.dtype == fields.dtype == np.int64


def test_fields_and_solutions_agree():
    xi, sigma = patterns.random(6, 15, rng=2)
    right = np.all(enumerate_fields(Perceptron(), xi, sigma) > 0, axis=1)
    found = enumerate_solutions(Perceptron(), xi, sigma, keep=10**5)
    np.testing.assert_array_equal(all_weights(15)[right], found.solutions)
    votes = np.sign(enumerate_fields(committee(3), xi, sigma)).sum(axis=2)
    found = enumerate_solutions(committee(3), xi, sigma, keep=10**5)
    right = np.all(sigma * votes > 0, axis=1)
    np.testing.assert_array_equal(all_weights(15)[right], found.solutions)


# --- time, bad input --------------------------------------------------------------------------


def test_what_would_take_too_long_is_refused_with_an_estimate():
    with pytest.raises(ValueError, match=r"N = 60 means 2\^60 = 1\.2e\+18 .* force=True"):
        enumerate_solutions(committee(4), *patterns.random(20, 60, rng=1))


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
    tables = enumerate_machines.tabulate(*patterns.random(80, N, rng=1), units, True, np.ones(N))
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
        assert enumerate_solutions(committee(14), xi, [1, 1]).count == 0


def test_an_interrupt_of_the_kernel_is_an_interrupt(monkeypatch):
    def combine(*_):
        raise SystemError("_combine returned a result with an exception set") from interrupt

    interrupt = KeyboardInterrupt()
    monkeypatch.setattr(enumerate_machines, "_combine", combine)
    with pytest.raises(KeyboardInterrupt):
        enumerate_solutions(committee(3), *patterns.random(3, 9, rng=1), threads=1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"device": committee(4)}, ValueError, "units must divide N, got 4 units with N = 6"),
        ({"device": "tree"}, TypeError, "device must be a device, such as .*, got 'tree'"),
        ({"device": TreeCommittee}, TypeError, "device must be a device, .*; call the class"),
        ({"device": Committee(3, weights=Binary())}, ValueError, "device must be a Perceptron or"),
        ({"device": TreeCommittee(3)}, ValueError, r"device must be .* weights Binary\(\)"),
        ({"device": committee(np.inf)}, ValueError, "device must be .* finitely many units"),
        ({"constraint": Margin(0.5)}, ValueError, r"constraint must be Margin\(0.0\) but for a"),
        ({"reference": np.ones((2, 3))}, ValueError, r"reference has shape \(2, 3\)"),
        ({"reference": np.ones(5)}, ValueError, r"reference has shape \(5,\)"),
        ({"xi": np.ones((1, 63))}, ValueError, "N = 63 columns"),
        (
            {"xi": np.ones((1, 42)), "device": committee(2)},
            ValueError,
            "at most 20 weights in each",
        ),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    arguments = {"device": committee(3), "xi": [[1, -1, 1, 1, -1, 1]], "sigma": [1]} | change
    with pytest.raises(error, match=message):
        enumerate_solutions(**arguments)


def test_bad_arguments_of_the_fields_are_named():
    with pytest.raises(ValueError, match=r"at most 20 columns, got 21: .* GiB of memory"):
        enumerate_fields(Perceptron(), *patterns.random(3, 21, rng=1))
    with pytest.raises(ValueError, match="units must divide N, got 2 units with N = 9"):
        enumerate_fields(committee(2), *patterns.random(3, 9, rng=1))
    with pytest.raises(ValueError, match="N must be from 1 to 22, got 23"):
        all_weights(23)


def test_text():
    found = enumerate_solutions(ParityMachine(3, Binary()), *patterns.random(3, 9, rng=1))
    assert repr(found).startswith(
        "Enumeration(ParityMachine(units=3, weights=Binary()), N=9, P=3, Margin(kappa=0.0): "
        "64 solutions"
    )
