"""An instance on a page is the package's: drawn, enumerated and solved with the same kernels."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tools import wasm
from wfmlib.learning.pages import clipped, passed
from wfmlib.learning.pages.counted import counted
from wfmlib.learning.pages.drawn import drawn


def both(name, kernel, *given):
    """Return the numbers and arrays of the module, and those of the package."""
    told = wasm.called([[name, *given]])
    arrays = [one for one in given if hasattr(one, "shape")]
    found = (
        told["answers"][0],
        [
            np.array(values, one.dtype).reshape(one.shape)
            for values, one in zip(told["arrays"][0], arrays, strict=True)
        ],
    )
    copies = [one.copy() if hasattr(one, "shape") else one for one in given]
    numbers = np.atleast_1d(kernel(*copies)).tolist()
    return found, (numbers, [one for one in copies if hasattr(one, "shape")])


def instance(P, N, seed):
    held, labels = np.zeros((P, N), dtype=np.int8), np.zeros(P, dtype=np.int8)
    drawn(float(seed), held, labels)
    return held


@pytest.mark.parametrize(("P", "N", "seed"), [(3, 5, 0), (169, 201, 2**32 - 1)])
def test_the_module_draws_the_package_s_patterns(P, N, seed):
    given = np.zeros((P, N), dtype=np.int8), np.zeros(P, dtype=np.int8)
    found, wanted = both("drawn", drawn, float(seed), *given)
    for one, other in zip(found[1], wanted[1], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(("P", "N", "seed"), [(7, 15, 1), (15, 21, 2), (15, 21, 3), (10, 21, 1)])
def test_the_module_counts_what_the_package_counts(P, N, seed):
    """Integers, and their means: not a bit differs."""
    N_1 = N + 1
    empty = np.zeros(N_1), np.zeros(N_1), np.zeros(N, dtype=np.int8)
    found, wanted = both("counted", counted, instance(P, N, seed), *empty)
    assert found[0] == wanted[0]
    for one, other in zip(found[1], wanted[1], strict=True):
        assert np.array_equal(one, other)


def test_twenty_one_weights_are_counted_in_a_second():
    """With the start of the process that calls the module; few patterns, so many solutions."""
    empty = np.zeros(22), np.zeros(22), np.zeros(21, dtype=np.int8)
    call = ["counted", instance(8, 21, 1), *empty]
    wasm.called([call])
    start = time.perf_counter()
    wasm.called([call])
    once = time.perf_counter() - start
    start = time.perf_counter()
    wasm.called([call] * 3)
    assert (time.perf_counter() - start - once) / 2 < 1.0


def begun(held, seed):
    P, N = held.shape
    state = np.zeros(6, np.uint64), np.zeros((P, 1, N)), np.zeros((passed.ROWS, N)), np.zeros(1)
    passed.started(float(seed), *state)
    return state


@pytest.mark.parametrize(("star", "pull"), [(0.0, 0.0), (0.0, 1.2), (1.0, 0.7)])
def test_the_module_passes_the_package_s_messages(star, pull):
    """Five starts, each swept three times: the same operations, relative to 1e-12.

    Exponential and logarithm are the C library's and differ by a unit in the last place.
    """
    for seed in range(5):
        held = instance(30, 61, seed)
        state = begun(held, seed)
        state[2][passed.REFERENCE] = np.sign(held.sum(axis=0) + 0.5)
        for _ in range(3):
            given = 0.3, star, pull, 5.0, held, *state
            found, wanted = both("swept", passed.swept, *given)
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
            for one, other in zip(found[1], wanted[1], strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
            state = wanted[1][1:]
        given = pull, held, *state[1:3]
        found, wanted = both("entropy", passed.entropy, *given)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12, atol=1e-13)


def test_the_module_starts_and_measures_as_the_package():
    held = instance(30, 61, 7)
    empty = np.zeros(6, np.uint64), np.zeros((30, 1, 61)), np.zeros((passed.ROWS, 61)), np.zeros(1)
    for name, kernel, *given in (
        ("started", passed.started, 7.0, *empty),
        ("focused", passed.focused, 0.5, 10.0, begun(held, 7)[2]),
        ("surrounded", passed.surrounded, 1.2, 1e-3, 50.0, held, *begun(held, 7)),
        ("means", passed.means, begun(held, 7)[2], np.zeros(61)),
        ("errors", passed.errors, held, begun(held, 7)[2][passed.ODDS] - 1.0),
    ):
        found, wanted = both(name, kernel, *given)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12, err_msg=name)
        for one, other in zip(found[1], wanted[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13, err_msg=name)


def test_the_module_corrects_as_the_package():
    """Integers: not a bit differs."""
    held, random, hidden = instance(40, 81, 3), np.zeros(6, np.uint64), np.zeros(81)
    found, wanted = both("begun", clipped.begun, 3.0, random, hidden)
    for _ in range(4):
        assert found[0] == wanted[0]
        for one, other in zip(found[1], wanted[1], strict=True):
            assert np.array_equal(one, other)
        found, wanted = both("corrected", clipped.corrected, held, *wanted[1][-2:])
