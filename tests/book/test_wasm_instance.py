"""An instance on a page is the package's: drawn, enumerated and solved with the same kernels."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tools import wasm
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
