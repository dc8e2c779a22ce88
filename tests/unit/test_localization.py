"""Whether stochastic localisation draws typical solutions: theory."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import CrossEntropy, LogPotential, Margin, Perceptron, Spherical
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import localization, typical
from wfmlib.theory.typical.entropy import solved

BINARY, SPHERE = Perceptron(), Perceptron(Spherical())


@pytest.mark.parametrize("constraint", [Margin(0.0), LogPotential(1.0)])
def test_the_time_begins_with_the_replicon(constraint):
    """``t = (1 - replicon) (q1_hat - q0_hat)`` where the difference is small."""
    state = solved(BINARY, 0.4, constraint)[1]
    path = localization.curve(BINARY, 0.4, constraint=constraint, points=10)
    grown = path.overlap.values[1] - path.overlap.values[0]  # E (1 - m^2)^2 for a unit of field
    split = grown / state.entropic.fluctuation
    assert path.time.values[1] == pytest.approx((1.0 - state.replicon) * split, rel=5e-3)


def test_on_the_sphere_without_patterns_the_posterior_is_known():
    """``w + noise / sqrt(t)`` leaves the variance ``1 / (1 + t)``."""
    path = localization.curve(SPHERE, 0.0, points=10)
    np.testing.assert_allclose(path.complement, 1.0 / (1.0 + path.time), rtol=1e-9)


def test_near_the_end_the_time_grows_or_falls_with_the_logarithm():
    """Of slope ``2 - alpha A / 2`` in ``-ln(1 - q1)``, A the slope of the density at s = 0."""
    for load, sign in ((0.4, 1), (0.65, -1)):
        state = solved(BINARY, load, LogPotential(1.0))[1]
        _, weight = state._fields
        linear = load * float(weight @ (state._pattern.curvature + state._pattern.slope**2))
        path = localization.curve(BINARY, load, constraint=LogPotential(1.0), points=60)
        place = -np.log(path.complement.values)
        slope = np.diff(path.time.values)[-1] / np.diff(place)[-1]
        assert slope == pytest.approx(2.0 - 0.5 * linear, abs=0.06)  # corrections fall as 1 / ln
        assert np.sign(slope) == sign


def test_thresholds():
    assert localization.threshold(BINARY) == 0.0
    assert localization.threshold(BINARY, constraint=LogPotential(0.5)) == 0.0
    path = localization.curve(BINARY, 0.05, constraint=LogPotential(0.5), points=10)
    assert path.time.values[-1] < 0.0
    end = localization.threshold(SPHERE, constraint=Margin(-0.5), points=30)
    assert end == pytest.approx(typical.instability(SPHERE, constraint=Margin(-0.5)), abs=2e-3)


def test_bad_arguments_are_named():
    with pytest.raises(TypeError, match="constraint"):
        localization.curve(BINARY, 0.4, constraint=CrossEntropy(1.0, 1.0))
    with pytest.raises(ValueError, match="points"):
        localization.curve(BINARY, 0.4, points=3)
    with pytest.raises(ValueError, match="alpha"):
        localization.curve(BINARY, -1.0)
    with pytest.raises(NotConverged):
        localization.curve(BINARY, 0.9)
