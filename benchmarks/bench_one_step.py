"""One step of symmetry breaking: a saddle point and a capacity, beside SciPy.

The other way is what one would write at first: the free entropy with its conjugates eliminated,
averages over a uniform grid (which converges as fast as any rule here), and `optimize.minimize` or
`optimize.root` on finite differences. It is accurate to 1e-6 in the overlaps.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special

from wfmlib.models import Activation, Binary, Margin, ReLU, Spherical, TreeCommittee
from wfmlib.theory import typical
from wfmlib.theory.saddles.broken_symmetry import Broken

RELU = TreeCommittee(np.inf, ReLU())  # spherical weights
X = np.linspace(-9.0, 9.0, 181)
DX = (X[1] - X[0]) * np.exp(-0.5 * X**2) / math.sqrt(2.0 * math.pi)


def effective_overlap(q):
    """c for ReLU units, as printed (P2, appendix B1)."""
    angle = math.pi - math.acos(q)
    return (math.sqrt(1.0 - q * q) + angle * q - 1.0) / (math.pi - 1.0)


def entropy(x, alpha):
    q0, q1, m = special.expit(x)
    q1 = q0 + (1.0 - q0) * q1
    c0, c1 = effective_overlap(q0), effective_overlap(q1)
    outer = 1.0 - q1 + m * (q1 - q0)
    entropic = math.log(1.0 - q1) + math.log(outer / (1.0 - q1)) / m + q0 / outer
    field = math.sqrt(c0) * X[:, None] + math.sqrt(c1 - c0) * X[None, :]
    weight = np.exp(m * special.log_ndtr(field / math.sqrt(1.0 - c1)))
    return 0.5 * entropic + alpha * (DX @ np.log(weight @ DX)) / m


def gradient(x, alpha):
    step = 1e-4 * np.eye(3)
    return [(entropy(x + h, alpha) - entropy(x - h, alpha)) / 2e-4 for h in step]


def point_by_scipy(alpha):
    found = optimize.root(gradient, (0.8, 0.1, -0.8), args=(alpha,), tol=1e-9)
    q0, q1, m = special.expit(found.x)
    return q0, q0 + (1.0 - q0) * q1, m


def point_by_wfmlib(alpha):
    found = typical.solve_1rsb(RELU, alpha)
    return found.q0, found.q1, found.m


def capacity_by_scipy():
    """P2, equations B7-B8, with the sign of f."""

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


def capacity_by_wfmlib():
    return typical.capacity(RELU, ansatz="1RSB")


@pytest.mark.parametrize("by", [point_by_wfmlib, point_by_scipy], ids=lambda f: f.__name__)
def test_one_saddle_point(benchmark, by):
    benchmark.group = "1RSB saddle point, spherical weights, ReLU, alpha = 2"
    assert benchmark(by, 2.0) == pytest.approx(point_by_wfmlib(2.0), abs=1e-5)


@pytest.mark.parametrize("by", [capacity_by_wfmlib, capacity_by_scipy], ids=lambda f: f.__name__)
def test_capacity(benchmark, by):
    benchmark.group = "1RSB capacity, spherical weights, ReLU"
    assert benchmark(by) == pytest.approx(capacity_by_wfmlib(), abs=1e-8)


CASES = {
    "replica symmetric": (RELU, 1.0),
    "just above the transition": (RELU, 1.725),
    "close to the capacity": (RELU, 2.66),
    "sign": (TreeCommittee(np.inf), 4.0),
    "any activation": (TreeCommittee(np.inf, Activation(np.tanh)), 2.0),
    "frozen": (TreeCommittee(np.inf, ReLU(), Binary()), 0.5),
    "binary, broken": (TreeCommittee(np.inf, ReLU(), Binary()), 0.0512, Margin(2.2)),
}


@pytest.mark.parametrize("name", CASES)
def test_saddle_points(benchmark, name):
    benchmark.group = "1RSB saddle points"
    assert benchmark(typical.solve_1rsb, *CASES[name]).report.converged


@pytest.mark.parametrize("weights", [Spherical(), Binary()], ids=repr)
def test_one_candidate(benchmark, weights):
    benchmark.group = "1RSB, one evaluation of the equations"
    broken = benchmark(Broken, 2.0, 1.0, 0.5, weights, ReLU(), Margin(0.0))
    assert broken.load_between > 0.0
