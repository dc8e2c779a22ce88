"""Cross-entropy's Gibbs measure: a saddle point, the line of zero entropy, what surrounds it.

Beside the saddle point what one would write at first: the literal free entropy of the tests, on a
grid of fields, made stationary by a general root finder. Both agree to 1e-8.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from tests import naive_cross_entropy as naive
from wfmlib.models import Binary, CrossEntropy, Perceptron, ReLU, TreeCommittee
from wfmlib.theory import cross_entropy, franz_parisi, typical

CASES = {
    "perceptron": (Perceptron(), CrossEntropy(1.0, 5.0)),
    "perceptron-cold": (Perceptron(), CrossEntropy(5.0, 1e4)),
    "perceptron-sharp": (Perceptron(), CrossEntropy(math.inf, 5.0)),
    "relu": (TreeCommittee(math.inf, ReLU(), Binary()), CrossEntropy(1.0, 5.0)),
}
DISTANCES = np.geomspace(5e-3, 0.3, 40)


@pytest.mark.parametrize("case", CASES)
def bench_point(benchmark, case):
    device, constraint = CASES[case]
    point = benchmark(typical.solve, device, 0.4, constraint)
    assert point.report.converged


def bench_point_by_the_literal_formula(benchmark):
    alpha, constraint = 0.4, CASES["perceptron"][1]
    literal = naive.Measure(alpha, constraint.gamma, constraint.beta)

    def gradient(order, step=1e-4):
        moves = step * np.eye(2)
        phi = literal.free_entropy
        return [(phi(*(order + one)) - phi(*(order - one))) / (2.0 * step) for one in moves]

    found = benchmark.pedantic(
        lambda: optimize.root(gradient, (0.3, 0.5), tol=1e-10), rounds=1, iterations=1
    )
    point = typical.solve(Perceptron(), alpha, constraint)
    assert literal.free_entropy(*found.x) == pytest.approx(point.free_entropy, abs=1e-8)


@pytest.mark.parametrize("gamma", [1.0, 5.0])
@pytest.mark.parametrize("line", ["zero_entropy_beta", "instability_beta"])
def bench_line(benchmark, line, gamma):
    function = getattr(cross_entropy, line)
    beta = benchmark.pedantic(function, args=(Perceptron(), 0.4, gamma), rounds=3, iterations=1)
    assert math.isfinite(beta)


@pytest.mark.parametrize("case", CASES)
def bench_curve_of_forty_points(benchmark, case):
    """Divide by 40 for one point."""
    device, reference = CASES[case]
    curve = benchmark.pedantic(
        franz_parisi.curve,
        args=(device, 0.4, DISTANCES),
        kwargs={"reference": reference},
        rounds=1,
        iterations=1,
        warmup_rounds=1,
    )
    assert curve.converged[DISTANCES > 0.1].all()
