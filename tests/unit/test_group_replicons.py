"""Stability of replica symmetry between groups, and between groups of groups."""

import math

import numpy as np
import pytest

from wfmlib import Band, Binary, Margin, Perceptron, ReLU, Sign, TreeCommittee
from wfmlib.models.activations import Linear
from wfmlib.numerics import gaussian
from wfmlib.theory import clusters, typical
from wfmlib.theory.saddles.real_replicas import saddle
from wfmlib.theory.since.clusters.arrangements import Arrangement

PERCEPTRON = Perceptron()
QUENCHED = {"average": "quenched"}


@pytest.mark.parametrize(
    "device", [PERCEPTRON, *(TreeCommittee(np.inf, unit, Binary()) for unit in (Sign(), ReLU()))]
)
def test_groups_of_one_have_the_replicon_of_solutions(device):
    groups = clusters.solve(device, 0.6, 0.9, replicas=1.0, **QUENCHED)
    expected = typical.solve(device, 0.6).replicon
    assert groups.replicon == pytest.approx(expected, rel=1e-7)  # grids are made for f and f'


def test_replicon_agrees_with_direct_averages():
    alpha, q1, m = 0.784382, 0.983034, 4.0
    state = saddle(q1, alpha, m, (Binary(), Linear(), Margin(0.0)))[0]
    x, weight = gaussian.grid((0.0, 0.3), limit=8.0)

    def squared(root, split, low, high, f):
        z = np.linspace(low, high, 4001)
        force, bend, power = f(root * x[:, None] + split * z)
        tilt = np.exp(m * (power - power.max(axis=1, keepdims=True)) - 0.5 * z**2)
        tilt /= tilt.sum(axis=1, keepdims=True)
        mean, square, bend = ((tilt * one).sum(axis=1) for one in (force, force**2, bend))
        return weight @ (bend + m * (square - mean**2)) ** 2

    def spin(h):
        return np.tanh(h), np.cosh(h) ** -2, np.logaddexp(h, -h)

    def pattern(h):
        s = math.sqrt(1.0 - q1)
        return (
            gaussian.hazard(-h / s) / s,
            -gaussian.hazard_derivative(-h / s) / s**2,
            (gaussian.log_H(-h / s)),
        )

    at = state.broken
    direct = squared(math.sqrt(at.q0_hat), math.sqrt(at.split), -20.0, 20.0, spin)
    direct *= squared(math.sqrt(state.q0), math.sqrt(q1 - state.q0), -9.0, 30.0, pattern)
    groups = clusters.solve(PERCEPTRON, alpha, q1, replicas=m, **QUENCHED)
    assert groups.replicon == pytest.approx(alpha * direct, rel=1e-5)
    assert "replicon" in repr(groups)


def test_one_level_is_a_case_of_two():
    sizes = {"one group": (1.0, 4.0), "groups of one": (4.0, 1.0)}
    one = clusters.solve(PERCEPTRON, 0.78, 0.98, replicas=4.0, **QUENCHED)
    axes = Binary(), Linear(), Margin(0.0)
    at = saddle(0.98, 0.78, 4.0, axes)[0].broken
    # in one group of four both overlaps are inside of it, and split1 is next to nothing
    near = Arrangement(at.q0_hat, 1e-6, at.split, *sizes["one group"], axes)
    assert near.replicon(0.78) == pytest.approx(one.replicon, rel=1e-4)


def test_symmetry_between_arrangements_is_stable_at_the_gap():
    for sizes in ((2, 2), (1, 4)):
        found = clusters.first_nested_gap(PERCEPTRON, sizes, **QUENCHED)
        assert 0.6 < found.replicon < 0.8
    annealed = clusters.solve(PERCEPTRON, 1.6, 0.9, Band(1.0), replicas=3.0)
    assert annealed.replicon is None
