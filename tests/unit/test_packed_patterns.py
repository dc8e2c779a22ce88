"""Packed patterns against plain arrays: all that is integer must agree exactly."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfmlib import patterns
from wfmlib.learning.messages import packed_patterns
from wfmlib.learning.messages.packed_patterns import PackedPatterns
from wfmlib.networks import PerceptronNetwork

shapes = st.tuples(st.integers(1, 40), st.integers(1, 200), st.integers(0, 2**32))


@pytest.fixture
def threaded(monkeypatch):
    """Start threads for small products, too, with blocks that do not divide them."""
    monkeypatch.setattr(packed_patterns, "_ALONE", 0)
    monkeypatch.setattr(packed_patterns, "_BLOCK", 7)


@given(shapes)
@settings(deadline=None)
def test_everything_against_plain_arrays(shape):
    xi, sigma = patterns.random(*shape[:2], rng=shape[2])
    signs = sigma[:, None] * xi
    P, N = xi.shape
    rng = np.random.default_rng(shape[2])
    packed = PackedPatterns(xi, sigma)
    assert (packed.P, packed.N) == (P, N)
    assert packed.words.nbytes == 8 * P * -(-N // 64)
    np.testing.assert_array_equal(packed.unpack(), signs)
    assert packed.unpack().dtype == np.int8

    whole, w = rng.integers(-(10**6), 10**6, size=N), rng.normal(size=N)
    np.testing.assert_array_equal(packed.fields(whole), signs @ whole)
    # each of at most N additions rounds by eps of a sum that never exceeds |w|_1
    bound = N * np.finfo(float).eps * np.abs(w).sum()
    np.testing.assert_allclose(packed.fields(w), signs @ w, rtol=0, atol=bound)

    whole, g = rng.integers(-(10**6), 10**6, size=P), rng.normal(size=P)
    np.testing.assert_array_equal(packed.pull(whole), signs.T @ whole)
    bound = (P + 256) * np.finfo(float).eps * np.abs(g).sum()
    np.testing.assert_allclose(packed.pull(g), signs.T @ g, rtol=0, atol=bound)


@pytest.mark.parametrize("rows", [3, -1, slice(2, 9, 3), [5, 0, 5], np.arange(10) % 2 == 0])
def test_rows(rows):
    xi, sigma = patterns.random(10, 70, rng=1)
    np.testing.assert_array_equal(
        PackedPatterns(xi, sigma).unpack(rows), (sigma[:, None] * xi)[rows]
    )


def test_packing_piece_by_piece(monkeypatch):
    xi, sigma = patterns.random(50, 70, rng=1)
    whole = PackedPatterns(xi, sigma).words
    monkeypatch.setattr(packed_patterns, "_PIECE", 3 * 70 + 1)
    np.testing.assert_array_equal(PackedPatterns(xi, sigma).words, whole)


@pytest.mark.parametrize(("P", "N"), [(100, 64), (37, 65), (500, 1000), (1, 300), (300, 1)])
def test_threads_change_no_bit(threaded, P, N):
    packed = PackedPatterns.random(P, N, rng=1)
    rng = np.random.default_rng(2)
    w, g = rng.normal(size=N), rng.normal(size=P)
    for product, vector in ((packed.fields, w), (packed.pull, g)):
        alone = product(vector, threads=1)
        for threads in (2, 3, 16):
            np.testing.assert_array_equal(product(vector, threads=threads), alone)
    np.testing.assert_array_equal(packed.fields(np.sign(w)), packed.unpack() @ np.sign(w))


@pytest.mark.parametrize("binary", [True, False])
def test_stabilities_and_errors_are_the_perceptrons(binary):
    xi, sigma = patterns.random(200, 100, rng=1)
    w = np.random.default_rng(2).normal(size=100)
    w = np.sign(w) if binary else w
    packed, device = PackedPatterns(xi, sigma), PerceptronNetwork(w)
    expected = device.stabilities(xi, sigma)
    np.testing.assert_allclose(packed.stabilities(w), expected, rtol=0, atol=1e-13)
    assert packed.errors(w) == np.count_nonzero(expected <= 0.0)
    assert packed.errors(w, 0.55) == np.count_nonzero(expected <= 0.55)
    if binary:
        np.testing.assert_array_equal(packed.stabilities(w), expected)
        assert np.any(expected == 0.0), "no tie is put to the test"


def test_any_length_of_the_weights():
    packed = PackedPatterns.random(20, 30, rng=1)
    w = np.random.default_rng(2).normal(size=30)
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(packed.stabilities(scale * w), packed.stabilities(w), rtol=1e-9)


def test_random_patterns_are_fair_and_repeat():
    P, N = 300, 203
    packed = PackedPatterns.random(P, N, rng=np.random.SeedSequence(5))
    np.testing.assert_array_equal(
        packed.words, PackedPatterns.random(P, N, rng=np.random.SeedSequence(5)).words
    )
    assert np.any(packed.words != PackedPatterns.random(P, N, rng=6).words)
    signs = packed.unpack().astype(float)
    # sums of independent signs: five standard deviations
    assert abs(signs.sum()) < 5 * np.sqrt(P * N)
    assert np.abs(signs.sum(axis=0)).max() < 5 * np.sqrt(P)
    assert np.abs(signs.sum(axis=1)).max() < 5 * np.sqrt(N)
    overlaps = signs @ signs.T - N * np.eye(P)
    assert np.abs(overlaps).max() < 6 * np.sqrt(N)  # of 45000 pairs
    assert np.all(packed.words[-1] < 2 ** (N % 64)), "bits beyond the last weight are not 0"


def test_a_generator_is_advanced():
    rng = np.random.default_rng(1)
    first, second = (PackedPatterns.random(5, 64, rng=rng) for _ in range(2))
    assert np.any(first.words != second.words)


def test_repr_and_pickle():
    packed = PackedPatterns.random(1000, 64, rng=1)
    assert repr(packed) == "PackedPatterns(P=1000, N=64, 0.008 MB)"
    again = pickle.loads(pickle.dumps(packed))
    np.testing.assert_array_equal(again.unpack(), packed.unpack())


def test_refusals():
    xi, sigma = patterns.random(4, 6, rng=1)
    packed = PackedPatterns(xi, sigma)
    with pytest.raises(ValueError, match="one label per pattern"):
        PackedPatterns(xi, sigma[:3])
    with pytest.raises(ValueError, match="got 0 and 1"):
        PackedPatterns(0 * xi, sigma)
    with pytest.raises(ValueError, match=r"w must have shape \(6,\), got shape \(4,\)"):
        packed.fields(np.ones(4))
    with pytest.raises(ValueError, match=r"g must have shape \(4,\), got shape \(6,\)"):
        packed.pull(np.ones(6))
    with pytest.raises(TypeError, match="w must hold real numbers"):
        packed.fields(["a"] * 6)
    with pytest.raises(ValueError, match="not zero throughout"):
        packed.stabilities(np.zeros(6))
    with pytest.raises(ValueError, match="w must be finite"):
        packed.stabilities(np.full(6, np.nan))
    with pytest.raises(ValueError, match="threads must be >= 1"):
        packed.fields(np.ones(6), threads=0)
    with pytest.raises(TypeError, match="margin must be a real number"):
        packed.errors(np.ones(6), "0")
    with pytest.raises(TypeError, match="rng must be"):
        PackedPatterns.random(4, 6, rng=0.5)
    with pytest.raises(ValueError, match="P must be >= 1"):
        PackedPatterns.random(0, 6, rng=1)
