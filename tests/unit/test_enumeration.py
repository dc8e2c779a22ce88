"""Enumeration against the naive statement, closed forms and symmetries."""

import math
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.special import comb

from tests import naive
from wfmlib import CrossEntropy, Margin, Perceptron, Spherical, patterns
from wfmlib.learning import enumerate_solutions
from wfmlib.learning.exact import enumeration

all_signs = cache(naive.all_signs)


def small_tasks(block, chunk):
    """Cut the walk otherwise than a large N would: blocks and tasks of few weights."""
    return patch.multiple(enumeration, _BLOCK=block, _CHUNK=chunk)


def assert_same(a, b):
    """Compare two enumerations field by field, exactly."""
    assert a.count == b.count
    for name in (
        "margins", "counts_by_margin", "counts_by_distance", "magnetisation", "solutions",
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@st.composite
def instances(draw, max_N=12, max_P=20):
    N, P = draw(st.integers(1, max_N)), draw(st.integers(1, max_P))
    return patterns.random(P, N, rng=draw(st.integers(0, 2**32)))


@given(
    instances(),
    st.integers(-15, 15),
    st.sampled_from([0.0, 0.25, 0.5, 0.75]),
    st.integers(1, 6),
    st.integers(6, 13),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_everything_against_the_naive_statement(instance, whole, part, block, chunk, data):
    xi, sigma = instance
    N = xi.shape[1]
    # In units of 1/sqrt(N): every attainable stability, exactly, and points between them.
    threshold = whole + part
    w = all_signs(N)
    smallest = naive.smallest_agreement(w, xi, sigma)
    expected = w[smallest > threshold]
    reference = w[data.draw(st.integers(0, 2**N - 1))]

    with small_tasks(block, chunk):
        found = enumerate_solutions(
            Perceptron(),
            xi,
            sigma,
            constraint=Margin(threshold / np.sqrt(N)),
            reference=reference,
            keep=2**N,
        )

    assert found.count == len(expected)
    assert isinstance(found.count, int)
    np.testing.assert_array_equal(found.solutions, expected)
    assert found.solutions.dtype == np.int64

    levels = [s for s in range(-N, N + 1, 2) if s > threshold]
    np.testing.assert_array_equal(found.margins, np.array(levels) / np.sqrt(N))
    np.testing.assert_array_equal(
        found.counts_by_margin, [np.count_nonzero(smallest == s) for s in levels]
    )
    distance = np.count_nonzero(expected != reference, axis=1)
    np.testing.assert_array_equal(found.counts_by_distance, np.bincount(distance, minlength=N + 1))
    if found.count:
        assert found.entropy == math.log(len(expected)) / N
        # The mean of at most 2^12 signs, rounded a few times.
        np.testing.assert_allclose(found.magnetisation, expected.mean(axis=0), rtol=0, atol=1e-15)
    else:
        assert found.entropy == -math.inf
        assert np.all(np.isnan(found.magnetisation))
        assert math.isnan(found.overlap)


@given(instances(), st.integers(-12, 12), st.integers(-14, 14))
@settings(deadline=None)
def test_count_at_is_the_count_of_another_enumeration(instance, low, high):
    xi, sigma = instance
    low, high = sorted((low, high))
    root = np.sqrt(xi.shape[1])
    found = enumerate_solutions(Perceptron(), xi, sigma, constraint=Margin(low / root))
    other = enumerate_solutions(Perceptron(), xi, sigma, constraint=Margin(high / root))
    assert found.count_at(high / root) == other.count
    assert found.entropy_at(high / root) == other.entropy
    assert found.count_at(low / root) == found.count


def test_count_at_takes_arrays_and_falls_with_the_margin():
    found = enumerate_solutions(
        Perceptron(), *patterns.random(5, 15, rng=1), constraint=Margin(-1.0)
    )
    margins = np.linspace(-1.0, 4.0, 60).reshape(6, 10)
    counts = found.count_at(margins)
    assert counts.shape == margins.shape
    assert counts[0, 0] == found.count
    assert counts[-1, -1] == 0
    assert np.all(np.diff(counts.ravel()) <= 0)
    some = counts > 0
    entropy = found.entropy_at(margins)
    np.testing.assert_allclose(entropy[some], np.log(counts[some]) / 15, rtol=1e-15)
    assert np.all(entropy[~some] == -np.inf)
    # Strictly above: the tail after an attainable value does not hold that value's solutions.
    np.testing.assert_array_equal(
        found.count_at(found.margins), found.count - np.cumsum(found.counts_by_margin)
    )


@pytest.mark.parametrize("N", range(1, 41))
def test_a_margin_that_is_a_stability_excludes_it_however_it_is_rounded(N):
    for agreements in range(N + 1):
        s = 2 * agreements - N
        for margin in (s / np.sqrt(N), s * (1 / np.sqrt(N)), s * np.sqrt(N) / N):
            for rounded in (margin, np.nextafter(margin, 9), np.nextafter(margin, -9)):
                assert enumeration._agreements_needed(rounded, N) == agreements + 1
        # A real step to either side is seen.
        assert enumeration._agreements_needed(s / np.sqrt(N) - 1e-9, N) == agreements
        assert enumeration._agreements_needed(s / np.sqrt(N) + 1e-9, N) == agreements + 1


@pytest.mark.parametrize("margin", [-1e308, -3.1, -3.0001])
def test_below_every_stability_all_weights_are_solutions(margin):
    found = enumerate_solutions(
        Perceptron(), *patterns.random(3, 9, rng=1), constraint=Margin(margin)
    )
    assert found.count == 2**9
    np.testing.assert_array_equal(found.magnetisation, np.zeros(9))
    assert found.entropy == pytest.approx(math.log(2), rel=1e-15)


@pytest.mark.parametrize("margin", [3.0, 3.5, 1e308])
def test_beyond_every_stability_there_are_none(margin):
    found = enumerate_solutions(
        Perceptron(), *patterns.random(3, 9, rng=1), constraint=Margin(margin), keep=5
    )
    assert found.count == 0
    assert found.margins.shape == found.counts_by_margin.shape == (0,)
    assert found.solutions.shape == (0, 9)
    assert repr(found).endswith("0 solutions)")


@pytest.mark.parametrize(("N", "margin"), [(22, 0.0), (23, 0.0), (23, -1.0)])
def test_one_pattern_in_closed_form(N, margin):
    # The weights that agree with the pattern in exactly u places: comb(N, u) of them.
    xi, sigma = patterns.random(1, N, rng=7)
    reference = sigma[0] * xi[0]
    found = enumerate_solutions(
        Perceptron(), xi, sigma, constraint=Margin(margin), reference=reference
    )
    agreements = np.array([u for u in range(N + 1) if 2 * u - N > margin * np.sqrt(N)])
    by_margin = comb(N, agreements, exact=False)
    np.testing.assert_array_equal(found.counts_by_margin, by_margin)
    assert found.count == by_margin.sum()
    np.testing.assert_array_equal(found.counts_by_distance[: len(agreements)], by_margin[::-1])
    assert found.counts_by_distance[len(agreements) :].sum() == 0
    mean = np.sum((2 * agreements - N) * by_margin) / N / by_margin.sum()
    np.testing.assert_allclose(found.magnetisation, mean * reference, rtol=0, atol=1e-14)


def test_many_words_in_closed_form():
    # 61 copies of a pattern are one pattern; with its opposite among them nothing is stored.
    xi, sigma = patterns.random(1, 12, rng=3)
    once = enumerate_solutions(Perceptron(), xi, sigma, keep=2**12, reference=xi[0])
    many = enumerate_solutions(
        Perceptron(), np.repeat(xi, 61, axis=0), np.repeat(sigma, 61), keep=2**12, reference=xi[0]
    )
    assert_same(once, many)
    xi = np.repeat(xi, 61, axis=0)
    for place in range(61):
        labels = np.repeat(sigma, 61)
        labels[place] *= -1
        assert enumerate_solutions(Perceptron(), xi, labels).count == 0


@pytest.mark.parametrize("margin", [-2.0, -0.5, 0.0, 0.25])
def test_the_kernel_at_60_weights(margin):
    # 2^11 of the 2^60 weights: those with a given prefix. Bytes and shifts at their limits.
    N, free = 60, 11
    rng = np.random.default_rng(5)
    prefix = rng.choice([-1, 1], N - free)
    w = np.hstack([np.tile(prefix, (2**free, 1)), all_signs(free)])
    xi = rng.choice([-1, 1], (13, N))
    sigma = np.sign(xi[:, : N - free] @ prefix)  # an odd number of places: no zero
    smallest = naive.smallest_agreement(w, xi, sigma)
    needed = enumeration._agreements_needed(margin, N)
    lowest, distances, ups, kept = enumeration.walk(
        *enumeration._tables(xi * sigma[:, None], needed),
        needed,
        enumeration._bits(w[0]),
        enumeration._bits(prefix),
        N - free,
        2**free,
    )
    expected = smallest > margin * np.sqrt(N)
    assert expected.sum() > 0
    np.testing.assert_array_equal(
        lowest, np.bincount((smallest[expected] + N) // 2, minlength=N + 1)
    )
    np.testing.assert_array_equal(enumeration._signs(np.sort(kept), N), w[expected])
    np.testing.assert_array_equal(ups, np.count_nonzero(w[expected] == 1, axis=0))
    assert distances.sum() == expected.sum()
    far = np.count_nonzero(w[expected] != w[0], axis=1)
    np.testing.assert_array_equal(distances, np.bincount(far, minlength=N + 1))


@given(instances(), st.integers(-4, 4), st.data())
@settings(deadline=None)
def test_gauge_symmetry(instance, level, data):
    xi, sigma = instance
    P, N = xi.shape
    margin = level / np.sqrt(N)
    gauge = all_signs(N)[data.draw(st.integers(0, 2**N - 1))]
    reference = np.ones(N)
    plain = enumerate_solutions(
        Perceptron(), xi, sigma, constraint=Margin(margin), reference=reference, keep=2**N
    )
    turned = enumerate_solutions(
        Perceptron(),
        xi * gauge,
        sigma,
        constraint=Margin(margin),
        reference=reference * gauge,
        keep=2**N,
    )
    np.testing.assert_array_equal(turned.counts_by_margin, plain.counts_by_margin)
    np.testing.assert_array_equal(turned.counts_by_distance, plain.counts_by_distance)
    np.testing.assert_array_equal(turned.magnetisation, plain.magnetisation * gauge)
    assert set(map(tuple, turned.solutions)) == set(map(tuple, plain.solutions * gauge))
    # A pattern with its label is worth the opposite pattern with the opposite label.
    flip = np.where(np.arange(P) % 2, 1, -1)
    flipped = enumerate_solutions(
        Perceptron(),
        xi * flip[:, None],
        sigma * flip,
        constraint=Margin(margin),
        reference=reference,
        keep=2**N,
    )
    assert_same(flipped, plain)


@given(instances(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_patterns_and_weights_does_not_matter(instance, random):
    xi, sigma = instance
    P, N = xi.shape
    rows, columns = random.sample(range(P), P), random.sample(range(N), N)
    reference = np.arange(N) % 2 * 2 - 1
    plain = enumerate_solutions(Perceptron(), xi, sigma, reference=reference, keep=2**N)
    shuffled = enumerate_solutions(
        Perceptron(), xi[rows][:, columns], sigma[rows], reference=reference[columns], keep=2**N
    )
    np.testing.assert_array_equal(shuffled.counts_by_margin, plain.counts_by_margin)
    np.testing.assert_array_equal(shuffled.counts_by_distance, plain.counts_by_distance)
    np.testing.assert_array_equal(shuffled.magnetisation, plain.magnetisation[columns])
    assert set(map(tuple, shuffled.solutions)) == set(map(tuple, plain.solutions[:, columns]))


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_number_of_threads_does_not_matter(threads):
    xi, sigma = patterns.random(6, 20, rng=11)
    with small_tasks(6, 12):
        one = enumerate_solutions(Perceptron(), xi, sigma, reference=xi[0], keep=10**6, threads=1)
        more = enumerate_solutions(
            Perceptron(), xi, sigma, reference=xi[0], keep=10**6, threads=threads
        )
    assert one.count > 1000
    assert_same(one, more)
    # Nor does the way the walk is cut.
    assert_same(one, enumerate_solutions(Perceptron(), xi, sigma, reference=xi[0], keep=10**6))


def test_the_reference_is_a_solution_and_the_networks_agree():
    xi, sigma, teacher = patterns.teacher_student(9, 17, rng=2)
    found = enumerate_solutions(Perceptron(), xi, sigma, reference=teacher, keep=10**6)
    assert found.count > 1
    assert found.counts_by_distance[0] == 1
    assert found.counts_by_distance.sum() == found.count
    assert np.any(np.all(found.solutions == teacher, axis=1))
    smallest = []
    for w in found.solutions:
        net = found.device.network(w)
        assert net.errors(xi, sigma) == 0
        smallest.append(net.stabilities(xi, sigma).min())
    # The same quotient of the same integers on both sides: equal, not merely close.
    counts = [np.count_nonzero(np.array(smallest) == one) for one in found.margins]
    np.testing.assert_array_equal(counts, found.counts_by_margin)


def test_solutions_are_kept_up_to_the_number_asked_for():
    xi, sigma = patterns.random(6, 20, rng=11)
    with small_tasks(6, 12):
        count = enumerate_solutions(Perceptron(), xi, sigma).count
        assert enumerate_solutions(Perceptron(), xi, sigma).solutions is None
        assert enumerate_solutions(Perceptron(), xi, sigma, keep=count - 1).solutions is None
        assert enumerate_solutions(Perceptron(), xi, sigma, keep=count).solutions.shape == (
            count,
            20,
        )


def test_overlaps_are_means_over_pairs():
    found = enumerate_solutions(Perceptron(), *patterns.random(5, 13, rng=4), keep=10**4)
    w = found.solutions.astype(int)
    assert len(w) > 10
    # 1e-13: means of up to 10^4 pairs, each rounded at 1e-16.
    assert found.overlap == pytest.approx(np.mean(w @ w.T / 13), abs=1e-13)
    distance = pdist(w, "hamming")
    assert found.overlap_distinct == pytest.approx(np.mean(1 - 2 * distance), abs=1e-13)
    np.testing.assert_allclose(found.magnetisation, w.mean(axis=0), rtol=0, atol=1e-15)


def test_overlap_of_a_single_solution():
    xi = naive.all_signs(3)
    sigma = np.sign(xi.sum(axis=1))
    found = enumerate_solutions(Perceptron(), xi, sigma)
    assert found.count == 1
    assert found.overlap == 1.0
    assert math.isnan(found.overlap_distinct)
    assert found.entropy == 0.0
    assert repr(found) == (
        "Enumeration(Perceptron(weights=Binary()), N=3, P=8, Margin(kappa=0.0): "
        "1 solution, entropy 0.0000 nats per weight, "
        "overlap 1.0000; keep=1 would keep them)"
    )


def test_overlap_of_two_solutions():
    """One pair of different ones: what they agree in, less what they do not."""
    xi = naive.all_signs(3)
    free = xi[:, 2] == 1  # the last weight: patterns that it decides are left out
    kept = free & (xi[:, 0] == xi[:, 1])
    found = enumerate_solutions(Perceptron(), xi[kept], xi[kept, 0])
    assert found.count == 2
    assert found.overlap == pytest.approx(2 / 3, abs=1e-15)
    assert found.overlap_distinct == pytest.approx(1 / 3, abs=1e-15)


# --- time, threads, bad input -----------------------------------------------------------------


def test_what_would_take_too_long_is_refused_with_an_estimate():
    with pytest.raises(ValueError, match=r"N = 50 means 2\^50 = 1\.1e\+15 .* force=True"):
        enumerate_solutions(Perceptron(), *patterns.random(25, 50, rng=1))
    with pytest.raises(ValueError, match=r"N = 61 columns.*at most 60"):
        enumerate_solutions(Perceptron(), *patterns.random(30, 61, rng=1), force=True)


def test_force_runs_what_is_refused():
    xi, sigma = patterns.random(13, 26, rng=1)
    with patch.object(enumeration, "LONGEST", 0.0):
        with pytest.raises(ValueError, match="N = 26"):
            enumerate_solutions(Perceptron(), xi, sigma)
        assert enumerate_solutions(Perceptron(), xi, sigma, force=True, progress=False).count > 0


def test_the_estimate_is_shared_by_the_threads_that_the_machine_has():
    xi, sigma = patterns.random(6, 12, rng=1)
    with (
        patch.object(enumeration, "_estimate", lambda walk, N: 90.0),
        patch.object(enumeration.numba.config, "NUMBA_DEFAULT_NUM_THREADS", 2),
    ):
        for threads in (2, 8):
            enumerate_solutions(Perceptron(), xi, sigma, threads=threads, progress=False)
        with pytest.raises(ValueError, match=r"about 1\.5 minutes .*threads: 1"):
            enumerate_solutions(Perceptron(), xi, sigma, threads=1)
    with (
        patch.object(enumeration, "_estimate", lambda walk, N: 150.0),
        patch.object(enumeration.numba.config, "NUMBA_DEFAULT_NUM_THREADS", 2),
        pytest.raises(ValueError, match="threads: 8"),
    ):
        enumerate_solutions(Perceptron(), xi, sigma, threads=8)


def test_the_estimate_is_of_the_right_size():
    # Measured against the walk itself; a machine shared with others earns a factor of ten.
    walk = enumeration.walk
    xi, sigma = patterns.random(13, 26, rng=1)
    calls = []
    tables = enumeration._tables(xi * sigma[:, None], 14)

    def count_weights(prefix, prefix_bits, room):
        calls.append(2.0 ** (26 - prefix_bits))
        return walk(*tables, 14, 0, prefix, prefix_bits, room)

    estimate = enumeration._estimate(count_weights, 26)
    assert sum(calls) < 2**26 / 8
    started = enumeration.time.perf_counter()
    walk(*tables, 14, 0, 0, 0, 0)
    took = enumeration.time.perf_counter() - started
    assert took / 10 < estimate < took * 10


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59.9, "59.9 seconds"),
        (90, "1.5 minutes"),
        (4320, "1.2 hours"),
        (86400 * 3.5, "3.5 days"),
        (31556952e4, "10,000.0 years"),
    ],
)
def test_durations_read_well(seconds, text):
    assert enumeration._duration(seconds) == text


def test_a_bar_is_shown_where_asked_for_and_otherwise_only_for_long_runs(capsys):
    xi, sigma = patterns.random(13, 23, rng=1)
    enumerate_solutions(Perceptron(), xi, sigma)
    assert capsys.readouterr().err == ""
    enumerate_solutions(Perceptron(), xi, sigma, progress=True)
    assert "enumerating: 100%" in capsys.readouterr().err
    xi, sigma = patterns.random(13, 26, rng=1)
    with patch.multiple(enumeration, DELAY=0.0, watched=lambda: True):
        enumerate_solutions(Perceptron(), xi, sigma, progress=False)
        assert capsys.readouterr().err == ""
        enumerate_solutions(Perceptron(), xi, sigma)
        assert "enumerating: 100%" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"xi": [[1, 0, -1]]}, ValueError, "xi must hold -1 and \\+1 only, got an entry 0"),
        ({"xi": [[1, np.nan, 1]]}, ValueError, "xi must hold -1 and \\+1 only, got an entry nan"),
        ({"xi": [1, 1, 1]}, ValueError, r"xi must be a non-empty array with 2 axes.*\(3,\)"),
        ({"xi": np.ones((0, 3))}, ValueError, r"xi must be a non-empty array.*\(0, 3\)"),
        ({"xi": [["a"]]}, TypeError, "xi must be an array of -1 and \\+1"),
        ({"sigma": [2]}, ValueError, "sigma must hold -1 and \\+1 only, got an entry 2"),
        ({"sigma": [1, 1]}, ValueError, "sigma must have one label per pattern"),
        (
            {"constraint": CrossEntropy(1.0, 1.0)},
            TypeError,
            r"constraint must be Margin\(\.\.\.\)",
        ),
        ({"device": Perceptron(Spherical())}, ValueError, r"device must be .* Binary\(\)"),
        ({"reference": [1, 1]}, ValueError, r"reference must have one entry per weight.*\(2,\)"),
        ({"reference": [1, 1, 3]}, ValueError, "reference must hold -1 and \\+1 only"),
        ({"keep": -1}, ValueError, "keep must be >= 0, got -1"),
        ({"keep": 1.0}, TypeError, "keep must be an integer, got 1.0"),
        ({"threads": 0}, ValueError, "threads must be >= 1, got 0"),
        ({"progress": "yes"}, ValueError, "progress must be one of True, False, None, got 'yes'"),
        ({"force": "no"}, ValueError, "force must be one of True, False, got 'no'"),
        ({"force": np.ones(2)}, ValueError, "force must be one of True, False, got array"),
        ({"xi": [[1, 1, 1], [1]]}, ValueError, "xi must be a rectangular array"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    arguments = {"device": Perceptron(), "xi": [[1, -1, 1]], "sigma": [1]} | change
    with pytest.raises(error, match=message):
        enumerate_solutions(**arguments)


def test_count_at_names_a_margin_below_its_own():
    found = enumerate_solutions(
        Perceptron(), *patterns.random(3, 9, rng=1), constraint=Margin(0.0)
    )
    with pytest.raises(ValueError, match=r"margin must not lie below 0\.0"):
        found.count_at(-0.5)
    with pytest.raises(ValueError, match="margin must be finite"):
        found.count_at([0.0, np.nan])
    with pytest.raises(TypeError, match="margin must be a real number"):
        found.count_at("0")
    with pytest.raises(ValueError, match="margin must be a rectangular array"):
        found.entropy_at([[0.1], [0.1, 0.2]])


def test_an_interrupt_of_the_kernel_is_an_interrupt(monkeypatch):
    """numba turns what the signal's handler raises into a SystemError that it causes."""
    cause = KeyboardInterrupt()

    def walk(*_):
        try:
            raise SystemError("_numba_unpickle returned a result with an exception set") from cause
        except SystemError as error:
            raise SystemError("walk returned a result with an exception set") from error

    monkeypatch.setattr(enumeration, "walk", walk)
    with pytest.raises(KeyboardInterrupt):
        enumerate_solutions(Perceptron(), *patterns.random(3, 9, rng=1), threads=1)
    cause = None
    with pytest.raises(SystemError, match="walk returned"):
        enumerate_solutions(Perceptron(), *patterns.random(3, 9, rng=1), threads=1)
