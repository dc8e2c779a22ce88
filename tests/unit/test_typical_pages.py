"""What the pages' calculator finds of typical solutions is what `typical` finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wfmlib import Activation, Binary, Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.numerics.zeros import FOUND, NO_ZERO
from wfmlib.theory import typical
from wfmlib.theory.typical import pages

DEVICES = [
    make(weights)
    for weights in (Binary(), Spherical())
    for make in (
        Perceptron,
        lambda weights: TreeCommittee(math.inf, Sign(), weights),
        lambda weights: TreeCommittee(math.inf, ReLU(), weights),
        lambda weights: TreeCommittee(math.inf, Activation(np.tanh), weights),
    )
]
NAMES = ("q", "q_hat", "distance", "entropy", "replicon", "margin_density")
# Of an activation that is sampled c and its slopes have errors of 1e-11.
EXACT, SAMPLED = 1e-12, 1e-10


@pytest.fixture(params=DEVICES, ids=str)
def known(request):
    """Return a device, what kernels take of it, and the relative error of their numbers."""
    device = request.param
    error = SAMPLED if isinstance(device.activation, Activation) else EXACT
    return device, pages.described(device), error


@pytest.mark.parametrize("kappa", [-0.6, 0.0, 0.35])
def test_a_point_is_that_of_solve(known, kappa):
    device, given, error = known
    capacity = typical.capacity(device, constraint=Margin(kappa))
    for alpha in (0.0, 0.3, 0.8):
        alpha *= capacity if math.isfinite(capacity) else 4.0
        ended, residual, *found = pages.typical_solve(alpha, kappa, *given)
        wanted = typical.solve(device, alpha, Margin(kappa))
        assert ended == FOUND
        assert residual < 1e-12
        for name, value in zip(NAMES, found, strict=True):
            rounding = 1e-13 * (1.0 + alpha) if name == "entropy" else 0.0
            assert value == pytest.approx(getattr(wanted, name), rel=error, abs=rounding), name


@pytest.mark.parametrize("kappa", [-0.6, 0.0, 0.35])
def test_thresholds_are_those_of_the_package(known, kappa):
    device, given, error = known
    for name in ("capacity", "instability"):
        ended, _, found = getattr(pages, f"typical_{name}")(kappa, *given)
        wanted = getattr(typical, name)(device, constraint=Margin(kappa))
        assert ended == FOUND
        assert found == pytest.approx(wanted, rel=error), name


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.7, 3.0])
def test_margins_are_those_of_the_package(known, alpha):
    """A margin may be near 0: the error is that of the load, which falls by about itself."""
    device, given, error = known
    for name in ("max_margin", "last_margin"):
        ended, _, found = getattr(pages, f"typical_{name}")(alpha, *given)
        assert ended == FOUND
        assert found == pytest.approx(getattr(typical, name)(device, alpha), rel=error, abs=error)


def test_margins_out_of_range_are_told(known):
    device, given, _ = known
    ended, _, found = pages.typical_max_margin(1e9, *given)
    if device == TreeCommittee(math.inf, Sign()):
        assert (ended, found) == (FOUND, math.inf)
        return
    with pytest.raises(ValueError, match="so small that"):
        typical.max_margin(device, 1e9)
    assert ended == pages.BELOW_RANGE


def test_past_the_last_load_there_is_no_point(known):
    _, given, _ = known
    last = pages.typical_last_load(0.3, *given)
    if math.isinf(last):
        return
    ended, _, *found = pages.typical_solve(1.01 * last, 0.3, *given)
    assert ended == NO_ZERO
    assert all(map(math.isnan, found))


def test_a_curve_is_made_of_points(known):
    device, given, error = known
    for log_q_hat in (-8.0, -1.0, 0.5):
        alpha, entropy, q, replicon = pages.typical_curve(log_q_hat, 0.2, *given)
        wanted = typical.solve(device, alpha, Margin(0.2))
        found = entropy, q, replicon
        assert found == pytest.approx((wanted.entropy, wanted.q, wanted.replicon), rel=error)
