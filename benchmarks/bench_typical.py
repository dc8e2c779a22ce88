"""One saddle point and one capacity, beside scipy.integrate.quad with scipy.optimize.

The other way is what one would write at first: both equations (entropy and load for the capacity)
solved by `optimize.root`, every average an adaptive quadrature. Its integrals are asked for 1e-10,
so that is how far the two must agree.
"""

from __future__ import annotations

import math

import pytest
from scipy import integrate, optimize, special

from wfmlib.models import Binary, Perceptron, ReLU, Sign, TreeCommittee
from wfmlib.theory import typical

DEVICES = {
    "perceptron": Perceptron(),
    "sign": TreeCommittee(math.inf, Sign(), Binary()),
    "relu": TreeCommittee(math.inf, ReLU(), Binary()),
}


def gaussian_average(f):
    return integrate.quad(
        lambda x: f(x) * math.exp(-0.5 * x * x), -10.0, 10.0, epsabs=1e-10, epsrel=1e-10
    )[0] / math.sqrt(2.0 * math.pi)


def effective_overlap(name, q):
    """c and c' as printed (P2, appendix B1)."""
    if name == "perceptron":
        return q, 1.0
    if name == "sign":
        return 2.0 / math.pi * math.asin(q), 2.0 / math.pi / math.sqrt(1.0 - q * q)
    norm, theta = math.pi - 1.0, math.acos(q)
    c = (math.sqrt(1.0 - q * q) + (math.pi - theta) * q - 1.0) / norm
    return c, (math.pi - theta) / norm


def equations(q, q_hat, alpha, name):
    """Return what is left of the two saddle-point equations."""
    c, slope = effective_overlap(name, q)
    ratio, field = math.sqrt(c / (1.0 - c)), math.sqrt(q_hat)
    force = gaussian_average(
        lambda x: 2.0 / math.pi / special.erfcx(-ratio * x / math.sqrt(2.0)) ** 2 / (1.0 - c)
    )
    return (
        gaussian_average(lambda x: math.tanh(field * x) ** 2) - q,
        alpha * slope * force - q_hat,
    )


def entropy(q, q_hat, alpha, name):
    c, _ = effective_overlap(name, q)
    ratio, field = math.sqrt(c / (1.0 - c)), math.sqrt(q_hat)
    entropic = gaussian_average(lambda x: math.log(2.0 * math.cosh(field * x)))
    pattern = gaussian_average(lambda x: special.log_ndtr(ratio * x))
    return -0.5 * q_hat * (1.0 - q) + entropic + alpha * pattern


def point_by_scipy(alpha, name):
    found = optimize.root(lambda x: equations(*x, alpha, name), (0.3, 0.6), tol=1e-12)
    return *found.x, entropy(*found.x, alpha, name)


def capacity_by_scipy(name):
    def unknowns(x):
        q, q_hat, alpha = x
        return *equations(q, q_hat, alpha, name), entropy(q, q_hat, alpha, name)

    return optimize.root(unknowns, (0.4, 1.5, 0.9), tol=1e-12).x[2]


def point_by_wfmlib(alpha, name):
    found = typical.solve(DEVICES[name], alpha)
    return found.q, found.q_hat, found.entropy


def capacity_by_wfmlib(name):
    return typical.capacity(DEVICES[name])


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("by", [point_by_wfmlib, point_by_scipy], ids=lambda f: f.__name__)
def test_one_saddle_point(benchmark, by, name):
    benchmark.group = f"RS saddle point, binary weights, {name}, alpha = 0.5"
    assert benchmark(by, 0.5, name) == pytest.approx(point_by_wfmlib(0.5, name), abs=1e-9)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("by", [capacity_by_wfmlib, capacity_by_scipy], ids=lambda f: f.__name__)
def test_capacity(benchmark, by, name):
    benchmark.group = f"RS capacity, binary weights, {name}"
    assert benchmark(by, name) == pytest.approx(capacity_by_wfmlib(name), abs=1e-9)


@pytest.mark.parametrize("name", DEVICES)
def test_largest_margin(benchmark, name):
    benchmark.group = "largest margin, binary weights, alpha = 0.5"
    assert benchmark(typical.max_margin, DEVICES[name], 0.5) > 0.0
