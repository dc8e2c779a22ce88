"""The generator as kernels draws what NumPy's draws, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib.book.lab.kernels import pcg64

SEEDS = [0, 1, 7, 2**31, pcg64.LARGEST]


@pytest.fixture(params=SEEDS)
def both(request):
    state = np.empty(pcg64.WORDS, dtype=np.uint64)
    pcg64.seed(request.param, state)
    return state, np.random.default_rng(request.param)


def test_words(both):
    state, rng = both
    assert [pcg64.word(state) for _ in range(100)] == rng.bit_generator.random_raw(100).tolist()


@pytest.mark.parametrize("size", [1, 3, 4, 5, 1000])
def test_signs(both, size):
    state, rng = both
    found = np.empty(size, dtype=np.int8)
    for _ in range(3):  # a size that is no multiple of four drops what is left of a draw
        pcg64.signs(state, found)
        assert np.array_equal(found, 2 * rng.integers(2, size=size, dtype=np.int8) - 1)


def test_normal_numbers(both):
    """A hundred thousand: one in 4000 lies beyond the ziggurat, one in 80 on its edge."""
    state, rng = both
    wanted = rng.standard_normal(100_000)
    assert np.max(np.abs(wanted)) > 3.66
    np.testing.assert_allclose([pcg64.normal(state) for _ in wanted], wanted, rtol=1e-15)


def test_all_kinds_in_turn(both):
    """Halves of words are kept from one call to the next."""
    state, rng = both
    for size in range(1, 60):
        order = np.empty(size, dtype=np.int64)
        pcg64.shuffled(state, order)
        assert np.array_equal(order, rng.permutation(size))
        assert pcg64.uniform(state) == rng.random()
        assert [pcg64.quarter(state) for _ in range(size)] == rng.integers(4, size=size).tolist()
        assert pcg64.normal(state) == pytest.approx(rng.standard_normal(), rel=1e-15)
