"""The Gaussian tail beside scipy.special, and a Gaussian average beside scipy.integrate.quad."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special

from wfmlib.numerics.gaussian import H, average, grid, hazard, hazard_derivative, log_H

POINTS = np.random.default_rng(1).uniform(-6.0, 30.0, 100_000)
C, KAPPA = 1 - 1e-6, 0.3
ROOT, WIDTH = math.sqrt(C), math.sqrt(1 - C)
FEATURE = (KAPPA / ROOT, WIDTH / ROOT)


def scipy_hazard(x):
    return math.sqrt(2 / math.pi) / special.erfcx(x / math.sqrt(2))


TAIL = {
    "H": {"wfmlib": H, "scipy.special.ndtr": lambda x: special.ndtr(-x)},
    "log_H": {"wfmlib": log_H, "scipy.special.log_ndtr": lambda x: special.log_ndtr(-x)},
    "hazard": {"wfmlib": hazard, "scipy.special.erfcx": scipy_hazard},
    "hazard_derivative": {
        "wfmlib": hazard_derivative,
        "scipy.special.erfcx": lambda x: (h := scipy_hazard(x)) * (h - x),  # cancels at large x
    },
}


@pytest.mark.parametrize(
    ("name", "by"), [(name, by) for name in TAIL for by in TAIL[name]], ids=lambda value: value
)
def test_tail_at_100_000_points(benchmark, name, by):
    benchmark.group = f"{name} at 1e5 points"
    values = benchmark(TAIL[name][by], POINTS)
    np.testing.assert_allclose(values, TAIL[name]["wfmlib"](POINTS), rtol=2e-12)


def integrand(x):
    return log_H((KAPPA - ROOT * x) / WIDTH)


def by_grid():
    nodes, weights = grid(FEATURE)
    return weights @ integrand(nodes)


def by_average():
    return average(integrand, FEATURE)[0]


def by_quad():
    # with the kink alone in `points`, quad claims 1e-13 and is off by 5e-10
    return integrate.quad(
        lambda x: special.log_ndtr((ROOT * x - KAPPA) / WIDTH) * math.exp(-x * x / 2),
        -10.0,
        10.0,
        points=[FEATURE[0] + k * FEATURE[1] for k in (-8, 0, 8)],
        epsrel=1e-12,
        epsabs=0.0,
        limit=200,
    )[0] / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("by", [by_grid, by_average, by_quad], ids=lambda f: f.__name__)
def test_average_of_log_H_with_a_sharp_argument(benchmark, by):
    benchmark.group = "E ln H((kappa - sqrt(c) x) / sqrt(1 - c)), 1 - c = 1e-6"
    assert benchmark(by) == pytest.approx(by_grid(), rel=1e-12)


def test_building_the_grid(benchmark):
    benchmark.group = "graded grid"
    nodes, _ = benchmark(grid, FEATURE)
    assert len(nodes) < 1000
