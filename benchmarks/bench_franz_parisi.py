"""What surrounds a typical solution: a point of a continued curve, and thresholds.

Beside it what one would write at first: the literal free entropy of the tests, on a dense grid,
made stationary by Newton's method from the solution itself. Both agree to 1e-10.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests import naive_franz_parisi as naive
from wfmlib.models import Binary, Margin, Perceptron, ReLU, TreeCommittee
from wfmlib.theory import franz_parisi

CASES = {
    "binary-perceptron": (Perceptron(), 0.5),
    "binary-sign": (TreeCommittee(np.inf, weights=Binary()), 0.5),
    "binary-relu": (TreeCommittee(np.inf, ReLU(), Binary()), 0.5),
    "spherical-relu": (TreeCommittee(np.inf, ReLU()), 1.0),
}
DISTANCES = np.geomspace(1e-3, 0.3, 40)


@pytest.mark.parametrize("case", CASES)
def bench_curve_of_forty_points(benchmark, case):
    """Divide by 40 for one point."""
    curve = benchmark(franz_parisi.curve, *CASES[case], DISTANCES, reference=Margin(0.05))
    assert curve.converged.all()


def bench_point_from_nothing(benchmark):
    point = benchmark(franz_parisi.solve, Perceptron(), 0.5, 0.1, reference=Margin(0.1))
    assert point.report.converged


def bench_point_by_the_literal_formula(benchmark):
    point = franz_parisi.solve(Perceptron(), 0.5, 0.1, reference=Margin(0.1))
    q, q_hat = naive.reference(0.5, 0.1, naive.perceptron, False)
    problem = naive.Problem(0.1, 0.5, 0.1, 0.0, naive.perceptron, False, q, q_hat)
    start = naive.guess(round(point.p, 2), round(point.t0, 2), problem)
    order, _ = benchmark.pedantic(naive.stationary, args=(start, problem), rounds=1)
    assert naive.value(order, problem) == pytest.approx(point.local_entropy, abs=1e-10)


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("binary")])
def bench_dense_threshold(benchmark, case):
    device, _ = CASES[case]
    load = benchmark.pedantic(franz_parisi.dense_threshold, args=(device,), rounds=1, iterations=1)
    assert 0.5 < load < 0.8


@pytest.mark.parametrize("question", ["margin_no_gap", "margin_monotonic"])
def bench_threshold_margin(benchmark, question):
    function = getattr(franz_parisi, question)
    margin = benchmark.pedantic(function, args=(Perceptron(), 0.5), rounds=3, iterations=1)
    assert 0.02 < margin < 0.04
