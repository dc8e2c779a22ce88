"""Surroundings of solutions and real replicas in the pages' modules: the package's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tools import wasm
from wfmlib import Margin, Perceptron, TreeCommittee
from wfmlib.numerics.solvers import NotConverged
from wfmlib.numerics.zeros import NO_ZERO
from wfmlib.theory import franz_parisi, large_deviation, typical
from wfmlib.theory.saddles.constrained import FREE
from wfmlib.theory.saddles.pages_reference import COLLAPSED, EMPTY
from wfmlib.theory.saddles.pages_reference import STATE as REFERENCES
from wfmlib.theory.saddles.pages_replicas import APART
from wfmlib.theory.saddles.pages_replicas import STATE as GROUPS

PERCEPTRON, SIGNS = Perceptron(), TreeCommittee(math.inf)
AROUND = [  # load, margins of the reference and of what is counted, distance
    (0.5, 0.2, 0.0, 0.1),
    (0.5, 0.02, 0.0, 0.003),
    (0.5, 0.0, 0.0, 0.02),
    (0.8, 0.0, 0.0, 0.1),
    (0.3, 0.4, 0.1, 0.01),
    (0.7, 0.1, -0.3, 0.05),
    (0.0, 0.1, 0.0, 0.2),
    (0.5, 0.417, 0.0, 1e-5),
]
REPLICAS = [  # load, margin, y, overlap
    (0.7, 0.0, math.inf, 0.9),
    (0.7, 0.0, 20.0, 0.9),
    (0.7, 0.0, 1.0, 0.9),
    (0.3, 0.2, 5.0, 0.99),
    (0.3, -0.5, 50.5, 0.7),
    (0.2, 0.0, 1.3, 0.5),
    (0.5, 0.0, math.inf, 0.9999),
    (0.0, 0.0, 3.0, 0.5),
]


def answers(calls):
    return wasm.called([list(call) for call in calls])["answers"]


def drawn_around():
    """Return places at random, up to 0.98 of the capacity and to the largest margin."""
    rng, places = np.random.default_rng(8), []
    for _ in range(20):
        kappa = rng.uniform(-1.0, 1.0)
        alpha = rng.uniform(0.02, 0.98) * typical.capacity(PERCEPTRON, constraint=Margin(kappa))
        kt = kappa + rng.uniform() * (typical.max_margin(PERCEPTRON, alpha) - kappa)
        places.append((alpha, kt, kappa, 10 ** rng.uniform(-4.0, -0.31)))
    return [tuple(map(float, place)) for place in places]


def test_surroundings_are_those_of_the_package():
    """Local entropies to 1e-12, relative; near 0 to the rounding of what cancels in them.

    Both iterate to a residual of 1e-11, in which a local entropy is stationary. What is not errs
    by about as much: slopes and overlaps are allowed 1e-9. Where no pattern is felt, the slope and
    the overlap with another reference depend on a field that is not there, to its size, 1e-10^1/2.
    """
    places = AROUND + drawn_around()
    for place, found in zip(
        places, answers(("binary_surroundings", *one) for one in places), strict=True
    ):
        alpha, kt, kappa, distance = place
        given = {"reference": Margin(kt), "constraint": Margin(kappa)}
        try:
            wanted = franz_parisi.solve(PERCEPTRON, alpha, distance, **given)
        except NotConverged:
            assert found[0] == COLLAPSED, place
            continue
        assert found[0] == 0.0, place
        assert found[1] <= 1e-8
        rounding = 2e-14 * (1.0 + alpha)
        assert found[3] == pytest.approx(wanted.local_entropy, rel=1e-12, abs=rounding), place
        assert found[4] == pytest.approx(wanted.bound, rel=1e-12, abs=1e-15)
        loose = 1e-9 if wanted.replicon > 1e-9 else 10.0 * math.sqrt(FREE)
        assert found[5] == pytest.approx(wanted.slope, rel=loose, abs=loose), place
        assert found[6] == pytest.approx(wanted.p, abs=1e-9)
        assert found[7] == pytest.approx(wanted.t0, abs=loose)
        assert found[8] == pytest.approx(wanted.replicon, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("kt", [0.0, 0.02, 0.2])
def test_a_curve_goes_on_from_point_to_point(kt):
    """The same points as from nothing; the state travels from call to call."""
    distances = np.geomspace(0.3, 1e-4, 12)
    curve = franz_parisi.curve(PERCEPTRON, 0.5, distances, reference=Margin(kt))
    told = wasm.called([["binary_begun", 0.5, kt, 0.0, np.zeros(REFERENCES)]])
    for distance, height, reached in zip(
        distances, curve.local_entropy.values, curve.converged.values, strict=True
    ):
        state = np.array(told["arrays"][0][0])
        told = wasm.called([["binary_around", 0.5, kt, 0.0, float(distance), 0.0, state]])
        found = told["answers"][0]
        assert (found[0] == 0.0) == reached
        if reached:
            assert found[3] == pytest.approx(height, rel=1e-12, abs=3e-14)


def test_few_digits_are_enough_to_look_around():
    state = wasm.called([["binary_begun", 0.5, 0.03, 0.0, np.zeros(REFERENCES)]])["arrays"][0][0]
    for distance in (0.1, 0.01, 1e-3):
        place = [0.5, 0.03, 0.0, distance]
        rough, exact = (
            wasm.called([["binary_around", *place, coarse, np.array(state)]])["answers"][0]
            for coarse in (1.0, 0.0)
        )
        assert rough[3] == pytest.approx(exact[3], abs=1e-4)


@pytest.mark.parametrize(
    ("name", "device"), [("binary_replicas", PERCEPTRON), ("signs_replicas", SIGNS)]
)
def test_replicas_are_those_of_the_package(name, device):
    """Free entropies to 1e-12, and so what follows from them; the spread and q0 to 1e-11.

    Both meet the load to 1e-13. A local entropy is a difference of two free entropies, whose
    rounding is left; a complexity loses a factor y.
    """
    rng, places = np.random.default_rng(9), list(REPLICAS)
    for _ in range(16):
        alpha = rng.uniform(0.05, 0.8) * (1.0 if device is PERCEPTRON else 5.0)
        y = rng.choice([2.0, 7.0, math.inf, 10 ** rng.uniform(0.0, 4.0)])
        places.append((alpha, 0.0, y, 1.0 - 10 ** rng.uniform(-3.0, -0.2)))
    places = [tuple(map(float, place)) for place in places]
    for place, found in zip(places, answers((name, *one) for one in places), strict=True):
        alpha, kappa, y, overlap = place
        try:
            wanted = large_deviation.solve(
                device, alpha, overlap, replicas=y, constraint=Margin(kappa)
            )
        except NotConverged:
            assert found[0] == APART, place
            continue
        assert found[0] == 0.0, place
        rounding = 1e-14 / (1.0 - overlap) ** 0.5
        assert found[2] == pytest.approx(wanted.entropy, rel=1e-12, abs=rounding), place
        assert found[3] == pytest.approx(wanted.local_entropy, rel=1e-11, abs=rounding)
        assert found[4] == pytest.approx(wanted.energetic, rel=1e-11, abs=rounding)
        assert found[5] == pytest.approx(wanted.q0, rel=1e-11)
        assert found[6] == pytest.approx(wanted.spread, rel=1e-11)
        assert found[7] == pytest.approx(wanted.slope, rel=1e-9, abs=1e-11)
        assert found[8] == pytest.approx(wanted.entropy_slope, rel=1e-11)
        if wanted.complexity is not None:
            assert found[9] == pytest.approx(wanted.complexity, rel=1e-10, abs=1e-14 * y)


def test_distances_are_those_from_the_barycentre():
    """By the formula's own check: the mean of three vectors with mutual overlap 0.9."""
    (found,) = answers([("binary_replicas", 0.7, 0.0, 3.0, 0.9)])
    cosine = 1.0 - 2.0 * found[10]
    gram = 0.1 * np.eye(3) + 0.9
    assert cosine == pytest.approx(gram.mean(0)[0] / math.sqrt(gram.mean()), rel=1e-13)
    step = 1e-5
    low, high = answers(
        [("binary_replicas", 0.7, 0.0, 3.0, 0.9 + side * step) for side in (-1, 1)]
    )
    slope = (high[2] - low[2]) / (high[10] - low[10])
    assert found[11] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.7])
def test_thresholds_are_those_of_the_package(alpha):
    """The package's own search stops at 1e-10 in the logarithm of the margin, and at 1e-9."""
    calls = [("binary_no_gap", alpha, 0.0), ("binary_monotonic", alpha, 0.0)]
    gapless, monotonic, largest = answers([*calls, ("binary_largest", alpha)])
    assert gapless[2] == pytest.approx(franz_parisi.margin_no_gap(PERCEPTRON, alpha), rel=1e-8)
    wanted = franz_parisi.margin_monotonic(PERCEPTRON, alpha)
    assert monotonic[2] == pytest.approx(wanted, rel=1e-8)
    assert largest[2] == pytest.approx(typical.max_margin(PERCEPTRON, alpha), rel=1e-11)


@pytest.mark.parametrize(("alpha", "kappa"), [(0.76, 0.0), (0.5, 0.45)])
def test_where_even_the_largest_margin_has_a_dip_there_is_no_threshold(alpha, kappa):
    for found in answers((name, alpha, kappa) for name in ("binary_no_gap", "binary_monotonic")):
        assert found[0] == NO_ZERO
        assert math.isnan(found[2])


def test_a_gap_is_that_of_the_package():
    begun = ["binary_begun", 0.5, 0.02, 0.0, np.zeros(REFERENCES)]
    state = np.array(wasm.called([begun])["arrays"][0][0])
    inner, outer = franz_parisi.gap(PERCEPTRON, 0.5, reference=Margin(0.02))
    for low, high, wanted in ((5e-5, 5e-4, inner), (2e-3, 0.01, outer)):
        (found,) = answers([("binary_turn", 0.0, 0.5, 0.02, 0.0, low, high, state)])
        assert found[0] == 0.0
        assert found[2] == pytest.approx(wanted, rel=1e-9)
    top = franz_parisi.distance_of_maximum(PERCEPTRON, 0.5, reference=Margin(0.02))
    (found,) = answers([("binary_turn", 1.0, 0.5, 0.02, 0.0, 0.2, 0.45, state)])
    assert found[2] == pytest.approx(top, rel=1e-8)


@pytest.mark.parametrize(("alpha", "kt"), [(0.5, 0.6), (0.9, 0.0), (3.0, 0.0)])
def test_without_references_there_is_no_number(alpha, kt):
    (found,) = answers([("binary_surroundings", alpha, kt, 0.0, 0.1)])
    assert found[0] in (EMPTY, NO_ZERO)
    assert np.all(np.isnan(found[5:]))


def test_searches_take_no_more_memory_than_a_point():
    """Arrays make room for others: 4 MB, at a thousand averages or ten."""
    calls = [["binary_no_gap", 0.5, 0.0], ["binary_monotonic", 0.6, 0.0]]
    assert wasm.called(calls)["memory"] < 2**22
    state = np.zeros(GROUPS)
    calls = [["binary_replicas_around", 0.7, 0.0, 20.0, q, 0.0, state] for q in (0.6, 0.9, 0.99)]
    assert wasm.called(calls)["memory"] < 2**22
