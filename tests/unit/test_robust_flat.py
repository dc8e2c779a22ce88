"""What robust references and flat groups have to do with each other  [eq-robust-flat]."""

from __future__ import annotations

import math

import pytest

from wfmlib import LogPotential, Margin, Perceptron
from wfmlib.theory import franz_parisi, large_deviation


@pytest.mark.parametrize(
    ("device", "alpha", "reference", "distance"),
    [
        (Perceptron(), 0.3, Margin(0.0), 0.1),
        (Perceptron(), 0.3, Margin(0.85), 0.03),
        (Perceptron(), 0.5, LogPotential(1.0), 0.1),
        (Perceptron(), 0.7, Margin(0.13), 0.03),
        (Perceptron(), 0.7, LogPotential(1.0), 0.03),
    ],
)
def test_solutions_around_a_reference_are_groups(device, alpha, reference, distance):
    """Two saddle points that share no equation: the one's entropy bounds the other's."""
    at = franz_parisi.solve(device, alpha, distance, reference=reference)
    groups = [
        large_deviation.solve(device, alpha, at.p, replicas=y).entropy
        for y in (2.0, 4.0, 10.0, 40.0, math.inf)
    ]
    assert at.local_entropy < min(groups) + 1e-10
    assert min(groups) - at.local_entropy < 0.1  # and closely


def test_around_the_largest_margin_hardly_any_are_missing():
    """Where patterns are hardly felt both are the entropy of configurations of that overlap."""
    at = franz_parisi.solve(Perceptron(), 0.2, 0.02, reference=Margin(1.3))
    densest = large_deviation.solve(Perceptron(), 0.2, at.p)
    assert 0.0 <= densest.entropy - at.local_entropy < 1e-6
