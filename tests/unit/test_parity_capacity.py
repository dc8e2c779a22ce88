"""The capacity of parity machines with one step: other integrals, plain grids, printed values."""

import math

import numpy as np
import pytest
import scipy

from tests.naive_groups import over_groups
from wfmlib import Binary, Margin, ParityMachine, theory
from wfmlib.models.activations import Linear
from wfmlib.theory.machines import parity_capacity
from wfmlib.theory.machines.parity_capacity import averages, one_step
from wfmlib.theory.saddles import one_step_capacity

capacity = theory.typical.capacity


def load(units, q0, ratio):
    """The load at which the free entropy of one step vanishes."""
    stretch = ratio * (1.0 - q0)
    entropic = math.log1p(stretch) + ratio * q0 / (1.0 + stretch)
    return entropic / (-2.0 * averages(units, q0, 1.0 - q0, ratio)[0])


def test_capacities_that_are_printed():
    """Barkai, Hansel and Kanter: about 4.02 for two units and 5 for three."""
    found = [capacity(ParityMachine(units), ansatz="1RSB") for units in range(2, 7)]
    assert found[:2] == pytest.approx([4.02, 5.0], abs=0.02)
    assert found == pytest.approx([4.03424, 4.99754, 5.60819, 6.06244, 6.42377], abs=1e-5)
    without = [parity_capacity.symmetric(units) for units in range(2, 7)]
    assert np.all(np.array(found) < without)


def test_the_load_without_breaking():
    """1 / E D^2: for two units E min(x^2, y^2) = 1 - 2 / pi, half of the patterns wrong."""
    assert parity_capacity.symmetric(2) == pytest.approx(2.0 / (1.0 - 2.0 / math.pi), rel=1e-10)


@pytest.mark.parametrize("units", [2, 3, 4, 6])
def test_orthogonal_groups_otherwise(units):
    """At q0 = 0 by the density of the field nearest to its threshold, and one search."""

    def log_load(x):
        r = math.exp(x)

        def density(w):
            return units * math.sqrt(2.0 / math.pi) * math.erfc(w / math.sqrt(2.0)) ** (units - 1)

        weight, _ = scipy.integrate.quad(
            lambda w: density(w) * math.exp(-0.5 * (1.0 + r) * w**2), 0.0, math.inf, epsabs=1e-13
        )
        return math.log(math.log1p(r) / (-2.0 * math.log(0.5 + 0.5 * weight)))

    found = math.exp(scipy.optimize.minimize_scalar(log_load, bounds=(0.0, 9.0)).fun)
    if units == 2:
        assert found > capacity(ParityMachine(2), ansatz="1RSB") + 0.02
    else:
        assert found == pytest.approx(capacity(ParityMachine(units), ansatz="1RSB"), rel=1e-9)


def shortfall(fields):
    """The square of the least move, for a label +1."""
    wrong = np.prod(np.sign(fields), axis=0) < 0.0
    return np.where(wrong, np.min(fields**2, axis=0), 0.0)


def on_a_grid(q0, ratio, step):
    """Two units: <e^{-r D^2 / 2}> by sums over both fields, and over what groups share."""
    field = step * (np.arange(-round(6.5 / step), round(6.5 / step)) + 0.5)
    weights = np.exp(-0.5 * ratio * shortfall(np.stack(np.meshgrid(field, field))))
    spread = np.exp(-0.5 * (field[:, None] - field) ** 2 / (1.0 - q0))
    spread /= step**-1 * math.sqrt(2.0 * math.pi * (1.0 - q0))
    share = np.exp(-0.5 * field**2 / q0)
    share /= share.sum()
    inside = np.abs(field) < 5.0
    kept = (spread @ weights @ spread.T)[np.ix_(inside, inside)]
    return share[inside] @ np.log(kept) @ share[inside]


def test_two_units_on_a_plain_grid():
    at = one_step(2)
    assert at.q0 == pytest.approx(0.455, abs=1e-3)
    plain = on_a_grid(at.q0, at.ratio, 0.02)
    assert plain == pytest.approx(averages(2, at.q0, 1.0 - at.q0, at.ratio)[0], rel=1e-4)
    stretch = at.ratio * (1.0 - at.q0)
    entropic = math.log1p(stretch) + at.ratio * at.q0 / (1.0 + stretch)
    assert entropic / (-2.0 * plain) == pytest.approx(at.alpha, rel=1e-4)


def test_three_units_on_a_plain_grid():
    q0, ratio = 0.4, 12.0
    plain = over_groups(
        lambda fields: np.exp(-0.5 * ratio * shortfall(fields + 0.05)), q0, 1.0 - q0, 0.1
    )
    assert plain == pytest.approx(averages(3, q0, 1.0 - q0, ratio)[0], rel=5e-3)


@pytest.mark.parametrize(("q0", "ratio"), [(0.3, 5.0), (0.6, 20.0), (0.0, 3.0)])
def test_one_unit_is_a_perceptron(q0, ratio):
    overlap = Linear().effective(q0, 1.0 - q0)
    usual = one_step_capacity._group(overlap, ratio, 0.0)
    assert averages(1, q0, 1.0 - q0, ratio) == pytest.approx(usual, rel=1e-6)


@pytest.mark.parametrize("units", [2, 3, 5])
def test_moves_are_derivatives(units):
    """By q0 and by the ratio, of the average over groups and patterns."""
    q0, ratio, h = 0.4, 15.0, 1e-3
    _, pull, square = averages(units, q0, 1.0 - q0, ratio)
    ends = [averages(units, q0 + one, 1.0 - q0 - one, ratio)[0] for one in (h, -h)]
    assert (ends[0] - ends[1]) / (2.0 * h) == pytest.approx(-0.5 * ratio**2 * pull, rel=1e-4)
    ends = [averages(units, q0, 1.0 - q0, ratio + one)[0] for one in (h, -h)]
    assert (ends[0] - ends[1]) / (2.0 * h) == pytest.approx(-0.5 * square, rel=1e-4)


@pytest.mark.parametrize("units", [3, 4, 5])
def test_no_overlap_between_groups_is_better_from_three_units_on(units):
    least = one_step(units)
    assert least.q0 == 0.0
    overlaps = (0.01, 0.1, 0.3, 0.5, 0.7)[: {3: 5, 4: 4}.get(units, 3)]
    stretches = least.ratio * np.exp([-2.0, -1.0, 0.0, 1.0])
    for q0 in overlaps:
        assert all(load(units, q0, one / (1.0 - q0)) > least.alpha for one in stretches)


@pytest.mark.parametrize(
    ("device", "asked"),
    [
        (ParityMachine(3), {"ansatz": "RS"}),
        (ParityMachine(3), {"ansatz": "2RSB"}),
        (ParityMachine(3), {"ansatz": "full"}),
        (ParityMachine(3, Binary()), {"ansatz": "1RSB"}),
        (ParityMachine(1), {"ansatz": "1RSB"}),
        (ParityMachine(7), {"ansatz": "1RSB"}),
        (ParityMachine(3), {"ansatz": "1RSB", "constraint": Margin(0.1)}),
    ],
)
def test_what_is_not_solved_is_refused(device, asked):
    with pytest.raises(ValueError, match=r"^(device|constraint)"):
        capacity(device, **asked)
