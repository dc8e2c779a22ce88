"""The kernels that pages compute with give the package's numbers, and ask for nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tools import wasm
from wfmlib import Activation, Binary, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.models import sampled
from wfmlib.numerics import gaussian
from wfmlib.numerics.zeros import NO_ZERO
from wfmlib.theory.saddles import pages
from wfmlib.theory.typical import pages as typical_pages

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


@pytest.mark.parametrize("weights", ["binary", "spherical"])
def test_points_are_those_of_the_package(weights):
    """On a grid and at random, at margins from -2 to 3 and up to 0.99 of the last load.

    Relative to 1e-12: nearer to that load 1 - q is fixed less well, and where the entropy
    vanishes, terms of order alpha cancel in it.
    """
    point = getattr(pages, f"{weights}_point")
    last = pages.binary_last_load if weights == "binary" else pages.spherical_capacity
    rng = np.random.default_rng(5)
    places = [(share, kappa) for share in (0.0, 0.2, 0.5, 0.99) for kappa in (-2.0, 0.0, 3.0)]
    places += list(zip(rng.uniform(0.0, 0.99, 100), rng.uniform(-2.0, 3.0, 100), strict=True))
    calls = [(float(share * last(kappa)), float(kappa)) for share, kappa in places]
    answers = wasm.called([[f"{weights}_point", *call] for call in calls])["answers"]
    for call, found in zip(calls, answers, strict=True):
        wanted = point(*call)
        assert found[0] == wanted[0] == 0.0
        assert found[1] < 1e-12
        rounding = np.array([0.0, 0.0, 1e-13 * (1.0 + call[0]), 0.0, 0.0])
        allowed = 1e-12 * np.abs(wanted[2:]) + rounding
        assert np.all(np.abs(np.subtract(found[2:], wanted[2:])) <= allowed), call


@pytest.mark.parametrize("weights", ["binary", "spherical"])
def test_curves_are_those_of_the_package(weights):
    """From loads of nearly 0 to where 1 - q is 1e-7: the same operations, relative to 1e-12."""
    name = f"{weights}_curve"
    calls = [[t, kappa] for t in np.linspace(-30.0, 30.0, 31) for kappa in (-2.0, 0.3, 3.0)]
    answers = wasm.called([[name, *call] for call in calls])["answers"]
    wanted = np.array([getattr(pages, name)(*call) for call in calls])
    allowed = 1e-12 * np.abs(wanted) + [0.0, 1e-13, 0.0] * (1.0 + wanted[:, :1])
    cancel = 1e-15 * np.exp(np.array(calls)[:, :1] / 2)  # in the entropy, of 1 / (1 - q)
    assert np.all(np.abs(answers - wanted) <= allowed + [0.0, 1.0, 0.0] * cancel)


def test_capacities_are_those_of_the_package():
    kappas = np.linspace(-2.0, 3.0, 26).tolist()
    for name in ("binary_capacity", "binary_last_load", "spherical_capacity"):
        answers = wasm.called([[name, kappa] for kappa in kappas])["answers"]
        wanted = [np.atleast_1d(getattr(pages, name)(kappa))[-1] for kappa in kappas]
        np.testing.assert_allclose([one[-1] for one in answers], wanted, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("weights", ["binary", "spherical"])
def test_past_the_last_load_there_is_no_number(weights):
    (found,) = wasm.called([[f"{weights}_point", 2.5, 0.0]])["answers"]
    assert found[0] == NO_ZERO
    assert np.all(np.isnan(found[2:]))


DEVICES = [
    Perceptron(),
    Perceptron(Spherical()),
    TreeCommittee(math.inf, Sign(), Binary()),
    TreeCommittee(math.inf, ReLU(), Spherical()),
    TreeCommittee(math.inf, Activation(np.tanh), Binary()),
    TreeCommittee(math.inf, Activation(lambda x: np.clip(x, -1.0, 1.0)), Spherical()),
]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_the_calculator_s_numbers_are_those_of_the_package(device):
    """On a grid of margins and loads, and at random; relative to 1e-12, entropies as above."""
    weights, about = typical_pages.described(device)
    rng = np.random.default_rng(6)
    places = [(alpha, kappa) for alpha in (0.0, 0.2, 0.6) for kappa in (-0.5, 0.0, 0.2)]
    places += list(zip(rng.uniform(0.0, 0.4, 20), rng.uniform(-0.5, 0.5, 20), strict=True))
    calls = [["typical_solve", *place, weights, about] for place in places]
    kinds = ("capacity", "instability", "last_load")
    calls += [[f"typical_{kind}", k, weights, about] for kind in kinds for _, k in places[:3]]
    kinds = ("max_margin", "last_margin")
    calls += [[f"typical_{kind}", a, weights, about] for kind in kinds for a in (0.0, 0.5, 2.0)]
    calls += [["typical_curve", u, 0.2, weights, about] for u in (-5.0, 0.0, 2.0)]
    for (name, *given), found in zip(calls, wasm.called(calls)["answers"], strict=True):
        wanted = np.atleast_1d(getattr(typical_pages, name)(*given))
        rest = slice(2, None) if len(wanted) > 2 and name != "typical_curve" else slice(None)
        np.testing.assert_allclose(found[rest], wanted[rest], rtol=1e-12, atol=1e-13)


def test_arrays_of_samples_are_those_of_the_package():
    """To 1e-11, which is their error: a sum over 4096 degrees, and a table of logarithms."""
    t, v = np.array([-2.0, -0.75, 0.5, 2.25]), np.array([-0.5, -1.0, 1.5, 0.75])
    about = np.zeros(sampled.ROOM)
    told = wasm.called([["knotted", t, v, about]])
    held = np.array(told["arrays"][0][2])
    start = told["answers"][0][2]
    piece = ["knotted_piece", start, start - sampled.LONGEST, t, v, held]
    held = np.array(wasm.called([piece])["arrays"][0][2])
    sampled.knotted(t, v, about)
    sampled.knotted_piece(start, start - sampled.LONGEST, t, v, about)
    np.testing.assert_allclose(held, about, rtol=1e-11, atol=1e-11)


def test_the_module_asks_for_nothing():
    assert wasm.called([["H", 0.5]])["imports"] == 0


def test_memory_does_not_grow_with_calls():
    few, many = (
        wasm.called([["binary_point", 0.5, 0.1]] * count)["memory"] for count in (1, 1000)
    )
    assert few == many


@pytest.mark.parametrize("group", wasm.EXPORTS)
def test_it_is_small(group):
    """What a page may hold is 300 kB."""
    assert (wasm.make() / f"kernels-{group}.js").stat().st_size < 300_000


def test_a_kernel_has_one_group():
    names = [name for exports in wasm.EXPORTS.values() for name in exports]
    assert len(names) == len(set(names))
