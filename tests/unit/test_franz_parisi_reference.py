"""The local entropy against a table of stationary points of the literal formulas B12-B13 of P3.

The table, `references_franz_parisi.json`, is what `naive_franz_parisi` finds: another program,
with complex-step derivatives of the printed formulas, hats restored, in place of saddle equations.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests import naive_franz_parisi as naive
from wfmlib import Binary, Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.theory import franz_parisi, typical

TABLE = json.loads((Path(__file__).parents[1] / "references_franz_parisi.json").read_text())
POINTS = TABLE["points"]
WEIGHTS = {"Binary": Binary(), "Spherical": Spherical()}
UNITS = {"Sign": Sign(), "ReLU": ReLU()}
OVERLAPS = {"Perceptron": naive.perceptron, "Sign": naive.sign, "ReLU": naive.relu}


def name(point):
    words = [point["weights"], point["activation"]]
    return "-".join(
        words + [f"{point[k]:g}" for k in ("alpha", "reference", "margin", "distance")]
    )


def device_and_margins(point):
    weights = WEIGHTS[point["weights"]]
    if point["activation"] == "Perceptron":
        device = Perceptron(weights)
    else:
        device = TreeCommittee(np.inf, UNITS[point["activation"]], weights)
    scale = device.activation.scale
    return device, Margin(point["reference"] * scale), Margin(point["margin"] * scale)


def problem(point):
    c, spherical = OVERLAPS[point["activation"]], point["weights"] == "Spherical"
    q, q_hat = naive.reference(point["alpha"], point["reference"], c, spherical)
    margins = point["reference"], point["margin"]
    return naive.Problem(point["distance"], point["alpha"], *margins, c, spherical, q, q_hat)


@pytest.mark.parametrize("point", POINTS, ids=name)
def test_solved(point):
    device, reference, constraint = device_and_margins(point)
    found = franz_parisi.solve(
        device, point["alpha"], point["distance"], reference=reference, constraint=constraint
    )
    # 1e-11 is left in the conjugates; the entropy does not feel it to first order
    assert found.local_entropy == pytest.approx(point["local_entropy"], abs=2e-12)
    assert found.slope == pytest.approx(point["slope"], abs=2e-10)
    assert (found.p, found.t0) == pytest.approx((point["p"], point["t0"]), abs=2e-11)


def test_curve_of_the_table():
    """Points of one curve, in any order, come out as they do one by one."""
    margins = (0.1, 0.0)
    rows = [p for p in POINTS if p["alpha"] == 0.5 and (p["reference"], p["margin"]) == margins]
    assert len(rows) == 4
    distance = np.array([row["distance"] for row in rows])[[2, 0, 3, 1]]
    found = franz_parisi.curve(Perceptron(), 0.5, distance, reference=Margin(0.1))
    expected = np.array([row["local_entropy"] for row in rows])[[2, 0, 3, 1]]
    assert found.converged.all()
    assert found.local_entropy.values == pytest.approx(expected, abs=2e-12)


@pytest.mark.parametrize("point", POINTS, ids=name)
def test_reference_of_the_table(point):
    device, reference, _ = device_and_margins(point)
    state = typical.solve(device, point["alpha"], reference)
    assert state.q == pytest.approx(point["q"], rel=1e-12)


PICKED = [  # small distance and margin; the other weights, another unit, other margins
    ("Binary", "Perceptron", 0.1, 0.03),
    ("Spherical", "ReLU", 0.3, 0.1),
]


@pytest.mark.parametrize("picked", PICKED, ids=str)
def test_the_table_holds_stationary_points(picked):
    keys = ("weights", "activation", "reference", "distance")
    (point,) = [point for point in POINTS if tuple(point[key] for key in keys) == picked]
    case, order = problem(point), np.array(point["order"])
    assert (case.q, case.q_hat) == pytest.approx((point["q"], point["q_hat"]), rel=1e-12)
    assert np.abs(naive.gradient(order, case)).max() < 1e-12
    assert np.abs(naive.gradient(order + 1e-6, case)).max() > 1e-9  # it does see a wrong point
    assert naive.value(order, case) == pytest.approx(point["local_entropy"], abs=1e-14)
    assert naive.slope(order, case) == pytest.approx(point["slope"], abs=1e-11)


def test_stationary_points_are_found():
    (point,) = [p for p in POINTS if p["activation"] == "Sign" and p["distance"] == 0.3]
    case = problem(point)
    order, left = naive.stationary([round(point["p"], 2), round(point["t0"], 2)], case)
    assert np.abs(left).max() < 1e-12
    assert order == pytest.approx(point["order"], abs=1e-11)


def test_the_determinant_of_the_spherical_entropy():
    """Of all overlaps, at integer numbers of solutions; then continued to s, n -> 0."""
    p, t0, t1, q = 0.4, 0.2, 0.6, 0.3

    def half_logdet(n, s):
        overlaps = np.full((n + s, n + s), t0)
        overlaps[:n, :n] = q
        overlaps[n:, n:] = p
        overlaps[0, n:] = overlaps[n:, 0] = t1
        np.fill_diagonal(overlaps, 1.0)
        return 0.5 * np.linalg.slogdet(overlaps)[1]

    def growth(n, s):  # tau = b Q^{-1} b, with the references' matrix Q
        squares, total = t1**2 + (n - 1) * t0**2, t1 + (n - 1) * t0
        tau = (squares - q / (1.0 - q + n * q) * total**2) / (1.0 - q)
        return 0.5 * ((s - 1) * np.log(1.0 - p) + np.log(1.0 - p + s * (p - tau)))

    for n in (1, 2, 5):
        for s in (1, 2, 4):
            assert growth(n, s) == pytest.approx(half_logdet(n, s) - half_logdet(n, 0), rel=1e-12)
    by_s = growth(0, 1e-30j).imag / 1e-30
    found = naive.entropic_spherical(p, t0, t1, q)
    assert found.real == pytest.approx(by_s, rel=1e-13)
