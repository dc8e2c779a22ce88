"""What surrounds a solution, and real replicas at a fixed overlap: points and thresholds.

Beside the former the literal free entropy of the tests on a dense grid, made stationary by
Newton's method from the solution itself; beside the latter the free entropy on trapezoids,
minimised over q0.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy import optimize, special

from tests import naive_franz_parisi as naive
from wfmlib.models import Margin, ParityMachine, Perceptron, TreeCommittee
from wfmlib.theory import franz_parisi, large_deviation

pytestmark = pytest.mark.benchmark(group="Theory")

POINT = "Franz-Parisi point, binary perceptron"
REPLICAS = "point of real replicas, 20 of them, spherical committee"


def point():
    return franz_parisi.solve(Perceptron(), 0.5, 0.1, reference=Margin(0.1))


def bench_point(row):
    assert row(POINT, point, "ms", 1e-3).report.converged


def bench_point_by_the_literal_formula(row):
    known = point()
    q, q_hat = naive.reference(0.5, 0.1, naive.perceptron, False)
    problem = naive.Problem(0.1, 0.5, 0.1, 0.0, naive.perceptron, False, q, q_hat)
    start = naive.guess(round(known.p, 2), round(known.t0, 2), problem)
    order, _ = row(
        POINT,
        lambda: naive.stationary(start, problem),
        "ms",
        1e-3,
        beside="the literal formula, Newton's method",
        rounds=1,
    )
    assert naive.value(order, problem) == pytest.approx(known.local_entropy, abs=1e-10)


def bench_replicas(row):
    overlaps = np.linspace(0.6, 0.98, 40)
    device = TreeCommittee(np.inf)
    curve = row(
        REPLICAS,
        lambda: large_deviation.curve(device, 1.0, overlaps, replicas=20.0),
        "ms",
        1e-3 * len(overlaps),
        rounds=2,
    )
    assert curve.converged.all()


def bench_replicas_by_the_literal_formula(row):
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

    found = row(
        REPLICAS, minimum, "ms", 1e-3, beside="the literal formula on trapezoids", rounds=1
    )
    known = large_deviation.solve(TreeCommittee(np.inf), alpha, q1, replicas=y)
    assert found == pytest.approx(known.entropy, abs=1e-9)


@pytest.mark.parametrize(
    ("what", "threshold", "options"),
    [
        ("`franz_parisi.dense_threshold`, binary perceptron", franz_parisi.dense_threshold, {}),
        (
            "`large_deviation.dense_threshold`, binary perceptron",
            large_deviation.dense_threshold,
            {"replicas": math.inf},
        ),
        (
            "the same on the line of zero complexity",
            large_deviation.dense_threshold,
            {"replicas": "zero complexity"},
        ),
    ],
)
def bench_threshold(benchmark, what, threshold, options):
    question = partial(threshold, Perceptron(), **options)
    question(constraint=Margin(0.01))  # compiles; an answer is remembered, so of another question
    benchmark.extra_info.update(what=what, unit="s", beside="")
    assert 0.5 < benchmark.pedantic(question, rounds=1) < 0.8


@pytest.mark.parametrize(
    ("what", "device", "replicas"),
    [
        ("committee of three, infinitely many replicas, one point", TreeCommittee(3), math.inf),
        ("parity machine of three, 2.5 replicas, one point", ParityMachine(3), 2.5),
    ],
)
def bench_finite_machine(row, what, device, replicas):
    found = row(what, lambda: large_deviation.solve(device, 1.0, 0.9, replicas=replicas), rounds=2)
    assert found.report.converged
