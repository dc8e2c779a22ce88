"""The kernels that pages compute with give the package's numbers, and ask for nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tools import wasm
from wfmlib.numerics import gaussian

TAILS = ["G", "H", "log_H", "hazard", "hazard_derivative"]


@pytest.fixture(scope="module")
def places():
    """Return a grid over all that float64 resolves of the tails, random points, and the ends."""
    rng = np.random.default_rng(4)
    ends = [0.0, -0.0, 1e-300, 37.5, 38.5, 1e8, 2e8, 1e150, -39.5, np.inf, -np.inf, np.nan]
    return np.concatenate([np.linspace(-40.0, 40.0, 1601), rng.normal(0.0, 8.0, 2000), ends])


@pytest.mark.parametrize("name", TAILS)
def test_tails_are_those_of_the_package(name, places):
    """To 1e-12, relative: the same operations, but for the C library's exponential and logarithm.

    Theirs differ by a unit in the last place, 1.1e-16. Subnormal numbers have fewer digits, down
    to 5e-324: 1e-300 is allowed on top.
    """
    answers = wasm.called([[name, float(x)] for x in places])["answers"]
    found = np.array([one for (one,) in answers])
    with np.errstate(all="ignore"):
        wanted = getattr(gaussian, name)(places)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-300, equal_nan=True)


def test_the_module_asks_for_nothing():
    assert wasm.called([["H", 0.5]])["imports"] == 0


def test_memory_does_not_grow_with_calls():
    few, many = (wasm.called([["H", 0.5]] * count)["memory"] for count in (1, 3000))
    assert few == many


def test_it_is_small():
    """What a page may hold is 300 kB."""
    assert (wasm.make() / "kernels.js").stat().st_size < 300_000
