"""Typical solutions: a saddle point, capacities and stabilities, beside what one would write.

The replica-symmetric saddle point beside both equations solved by `optimize.root`, every average
an adaptive quadrature asked for 1e-10. The capacity with one step beside its closed form for
rectifiers, minimised by SciPy's simplex; it is accurate to 1e-8.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, optimize, special

from wfmlib.models import Perceptron, ReLU, TreeCommittee
from wfmlib.theory import stabilities, typical

pytestmark = pytest.mark.benchmark(group="Theory")

ALPHA = 0.5
RELU = TreeCommittee(np.inf, ReLU())  # spherical weights


def point_by_wfmlib():
    found = typical.solve(Perceptron(), ALPHA)
    return found.q, found.q_hat, found.entropy


def gaussian_average(f):
    return integrate.quad(
        lambda x: f(x) * math.exp(-0.5 * x * x), -10.0, 10.0, epsabs=1e-10, epsrel=1e-10
    )[0] / math.sqrt(2.0 * math.pi)


def equations(order):
    """Return what is left of the two saddle-point equations."""
    q, q_hat = order
    ratio, field = math.sqrt(q / (1.0 - q)), math.sqrt(q_hat)
    force = gaussian_average(
        lambda x: 2.0 / math.pi / special.erfcx(-ratio * x / math.sqrt(2.0)) ** 2 / (1.0 - q)
    )
    return gaussian_average(lambda x: math.tanh(field * x) ** 2) - q, ALPHA * force - q_hat


def point_by_scipy():
    q, q_hat = optimize.root(equations, (0.3, 0.6), tol=1e-12).x
    ratio, field = math.sqrt(q / (1.0 - q)), math.sqrt(q_hat)
    entropic = gaussian_average(lambda x: math.log(2.0 * math.cosh(field * x)))
    pattern = gaussian_average(lambda x: special.log_ndtr(ratio * x))
    return q, q_hat, -0.5 * q_hat * (1.0 - q) + entropic + ALPHA * pattern


@pytest.mark.parametrize(
    ("beside", "function"),
    [("", point_by_wfmlib), ("SciPy's quadrature and root", point_by_scipy)],
)
def bench_saddle_point(row, beside, function):
    what = "replica-symmetric saddle point, binary perceptron"
    found = row(what, function, "ms", 1e-3, beside=beside)
    assert found == pytest.approx(point_by_wfmlib(), abs=1e-9)


def effective_overlap(q):
    """c for ReLU units, as printed (P2, appendix B1)."""
    angle = math.pi - math.acos(q)
    return (math.sqrt(1.0 - q * q) + angle * q - 1.0) / (math.pi - 1.0)


def capacity_by_wfmlib():
    return typical.capacity(RELU, ansatz="1RSB")


def capacity_by_scipy():
    """P2, equations B7-B8, with the sign of f."""
    X = np.linspace(-9.0, 9.0, 181)
    DX = (X[1] - X[0]) * np.exp(-0.5 * X**2) / math.sqrt(2.0 * math.pi)

    def log_load(x):
        q0, ratio = special.expit(x[0]), math.exp(x[1])
        slope = 1.0 / (1.0 - 1.0 / math.pi)
        shared, pull = effective_overlap(q0), ratio / slope
        spread = 1.0 - shared
        total = 1.0 + pull * spread
        short = -math.sqrt(shared) * X
        held = np.exp(-0.5 * pull * short**2 / total) / math.sqrt(total)
        weight = held * special.ndtr(short / math.sqrt(spread * total))
        f = DX @ np.log(weight + special.ndtr(-short / math.sqrt(spread)))
        stretch = 1.0 + ratio * (1.0 - q0)
        return math.log((math.log(stretch) + ratio * q0 / stretch) / (-2.0 * f))

    return math.exp(optimize.minimize(log_load, (1.0, 2.5), method="Nelder-Mead", tol=1e-10).fun)


@pytest.mark.parametrize(
    ("beside", "function"),
    [
        ("", capacity_by_wfmlib),
        ("the closed form for rectifiers, SciPy's simplex", capacity_by_scipy),
    ],
)
def bench_capacity(row, beside, function):
    found = row("1RSB capacity, committee of rectifiers", function, beside=beside)
    assert found == pytest.approx(capacity_by_wfmlib(), abs=1e-8)


def bench_density(row):
    points = np.linspace(0.0, 4.0, 4001)
    device = TreeCommittee(np.inf)
    found = row(
        "density of stabilities, 4,001 of them, 20 replicas",
        lambda: stabilities.density(device, 1.0, points, overlap=0.9, replicas=20.0),
        rounds=2,
    )
    assert np.all(found >= 0.0)
