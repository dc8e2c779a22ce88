"""What the calculator's kernels find of typical solutions is what `theory.typical` finds.

Of formulas that are typed, `test_lab_pages` speaks: the page's script samples them.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from wfmlib import Activation, Binary, Margin, Perceptron, ReLU, Sign, Spherical, TreeCommittee
from wfmlib.book.lab import build
from wfmlib.book.lab.kernels import sampled
from wfmlib.book.lab.kernels import typical as kernels
from wfmlib.book.lab.kernels.zeros import FOUND, NO_ZERO
from wfmlib.theory import typical

T, V = np.array([-2.0, -0.75, 0.5, 2.25]), np.array([-0.5, -1.0, 1.5, 0.75])


def bent(x):
    return np.interp(x, T, V)


def array_of(activation):
    """Return what kernels take of an activation: one of the menu, or the line above."""
    known = build.constants()["typical"]["activations"].get(type(activation).__name__)
    about = np.zeros(sampled.ROOM)
    if known:
        about[:3] = [math.inf if one is None else one for one in known]
        return about
    _, _, start = sampled.knotted(T, V, about)
    ends = [start, start - sampled.LONGEST, start - 2.0 * sampled.LONGEST, sampled.END]
    todo = [*pairwise(ends)][::-1]
    while todo:
        high, low = todo.pop()
        if sampled.knotted_piece(high, low, T, V, about) == 0.0:
            middle = 0.5 * (high + low)
            todo += [(middle, low), (high, middle)]
    return about


DEVICES = [
    make(weights)
    for weights in (Binary(), Spherical())
    for make in (
        Perceptron,
        lambda weights: TreeCommittee(math.inf, Sign(), weights),
        lambda weights: TreeCommittee(math.inf, ReLU(), weights),
    )
]
DEVICES.append(TreeCommittee(math.inf, Activation(bent), Binary()))
NAMES = ("q", "q_hat", "distance", "entropy", "replicon", "margin_density")
# Of an activation that is sampled c and its slopes have errors of 1e-11.
EXACT, SAMPLED = 1e-12, 1e-10


@pytest.fixture(params=DEVICES, ids=str)
def known(request):
    """Return a device, what kernels take of it, and the relative error of their numbers."""
    device = request.param
    error = SAMPLED if isinstance(device.activation, Activation) else EXACT
    prior = build.constants()["typical"]["weights"][type(device.weights).__name__]
    return device, (prior, array_of(device.activation)), error


def test_waves_in_the_tails_are_no_jumps():
    """The polynomials of ``sin(4 x)`` differ there, by little next to the density."""
    known = Activation(lambda x: np.sin(4.0 * x))._correlation
    low, high = known.edges[:-1, None], known.edges[1:, None]
    values = known.g(0.5 * (low + high) + 0.5 * (high - low) * sampled.RULE[:, 0])
    about = np.zeros(sampled.ROOM)
    sampled.sampled(known.norm, known.edges, values, about)
    assert about[sampled.SLOPE_AT_ONE] == pytest.approx(16.0, rel=1e-10)


@pytest.mark.parametrize("kappa", [-0.6, 0.0, 0.35])
def test_a_point_is_that_of_solve(known, kappa):
    device, given, error = known
    capacity = typical.capacity(device, constraint=Margin(kappa))
    for alpha in (0.0, 0.3, 0.8):
        alpha *= capacity if math.isfinite(capacity) else 4.0
        ended, residual, *found = kernels.typical_solve(alpha, kappa, *given)
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
        ended, _, found = getattr(kernels, f"typical_{name}")(kappa, *given)
        wanted = getattr(typical, name)(device, constraint=Margin(kappa))
        assert ended == FOUND
        assert found == pytest.approx(wanted, rel=error), name


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.7, 3.0])
def test_margins_are_those_of_the_package(known, alpha):
    """A margin may be near 0: the error is that of the load, which falls by about itself."""
    device, given, error = known
    for name in ("max_margin", "last_margin"):
        ended, _, found = getattr(kernels, f"typical_{name}")(alpha, *given)
        assert ended == FOUND
        assert found == pytest.approx(getattr(typical, name)(device, alpha), rel=error, abs=error)


def test_margins_out_of_range_are_told(known):
    device, given, _ = known
    ended, _, found = kernels.typical_max_margin(1e9, *given)
    if device == TreeCommittee(math.inf, Sign()):
        assert (ended, found) == (FOUND, math.inf)
        return
    with pytest.raises(ValueError, match="so small that"):
        typical.max_margin(device, 1e9)
    assert ended == kernels.BELOW_RANGE


def test_past_the_last_load_there_is_no_point(known):
    _, given, _ = known
    last = kernels.typical_last_load(0.3, *given)
    if math.isinf(last):
        return
    ended, _, *found = kernels.typical_solve(1.01 * last, 0.3, *given)
    assert ended == NO_ZERO
    assert all(map(math.isnan, found))


def test_a_curve_is_made_of_points(known):
    device, given, error = known
    for log_q_hat in (-8.0, -1.0, 0.5):
        alpha, entropy, q, replicon = kernels.typical_curve(log_q_hat, 0.2, *given)
        wanted = typical.solve(device, alpha, Margin(0.2))
        found = entropy, q, replicon
        assert found == pytest.approx((wanted.entropy, wanted.q, wanted.replicon), rel=error)
