"""Real replicas at a fixed overlap: a point of a continued curve, and thresholds.

Beside it what one would write at first: the free entropy on a plain grid, minimised over q0.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy import optimize, special

from wfmlib.models import Binary, Margin, Perceptron, ReLU, TreeCommittee
from wfmlib.theory import large_deviation

CASES = {
    "spherical-sign": (TreeCommittee(np.inf), 1.0),
    "spherical-relu": (TreeCommittee(np.inf, ReLU()), 1.0),
    "binary-perceptron": (Perceptron(), 0.5),
    "binary-relu": (TreeCommittee(np.inf, ReLU(), Binary()), 0.5),
}
OVERLAPS = np.linspace(0.6, 0.98, 40)


@pytest.mark.parametrize("replicas", [20.0, math.inf])
@pytest.mark.parametrize("case", CASES)
def bench_curve_of_forty_points(benchmark, case, replicas):
    """Divide by 40 for one point."""
    curve = benchmark.pedantic(
        large_deviation.curve,
        args=(*CASES[case], OVERLAPS),
        kwargs={"replicas": replicas},
        rounds=2,
        warmup_rounds=1,
    )
    assert curve.converged.all()


def bench_point_by_the_literal_formula(benchmark):
    """20 replicas of a spherical committee of sign units, on trapezoids."""
    q1, y, alpha, step = 0.9, 20.0, 1.0, 0.05
    x, z = np.arange(-10.0, 10.0, step), np.arange(-12.0, 30.0, step)
    measure = step * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)

    def entropy(q0):
        c0, c1 = (2.0 / math.pi * math.asin(q) for q in (q0, q1))
        field = (math.sqrt(c0) * x[:, None] + math.sqrt(c1 - c0) * z) / math.sqrt(1.0 - c1)
        inner = special.logsumexp(y * special.log_ndtr(field) - 0.5 * z**2, axis=1)
        energetic = measure @ (inner + math.log(step / math.sqrt(2.0 * math.pi))) / y
        outer = 1.0 - q1 + y * (q1 - q0)
        logs = math.log(1.0 - q1) + math.log(outer / (1.0 - q1)) / y
        return 0.5 * (logs + q0 / outer) + alpha * energetic

    def minimum():
        return optimize.minimize_scalar(entropy, bounds=(0.1, 0.89), options={"xatol": 1e-7}).fun

    found = benchmark.pedantic(minimum, rounds=1)
    point = large_deviation.solve(TreeCommittee(np.inf), alpha, q1, replicas=y)
    assert found == pytest.approx(point.entropy, abs=1e-9)


@pytest.mark.parametrize("replicas", [math.inf, "zero complexity"])
def bench_dense_threshold(benchmark, replicas):
    question = partial(large_deviation.dense_threshold, Perceptron(), replicas=replicas)
    question(constraint=Margin(0.01))  # compiles; an answer is remembered, so of another question
    load = benchmark.pedantic(question, rounds=1)
    assert 0.75 < load < 0.78
