"""Hierarchies below capacity.

Second origins: the package's one-step saddle point, which is written in other variables and found
as a zero; its replica-symmetric one; nested Gauss-Hermite averages and a numerical integral over
the staircase; finite differences; the hierarchy at capacity, of another free entropy.
"""

import math

import numpy as np
import pytest
import scipy

from wfmlib import Activation, Margin, Perceptron, ReLU, Spherical, TreeCommittee
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import full_breaking, typical
from wfmlib.theory.axes import energetic
from wfmlib.theory.since.full_breaking import states
from wfmlib.theory.since.full_breaking.below import minimum

PERCEPTRON = Perceptron(Spherical())
RELU, SIGNS = TreeCommittee(np.inf, ReLU()), TreeCommittee(np.inf)
LINEAR = energetic(PERCEPTRON)
GAPS, SIZES = np.array([0.35, 0.24, 0.16]), np.array([0.28, 0.45])

# ------------------------------------------------------------------------------------------------
# The free entropy
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kappa", [0.0, -1.0, 0.7])
def test_two_steps_are_nested_averages(kappa):
    """By Gauss-Hermite nodes, one average inside the other, and x(q) as a staircase."""
    z, weight = np.polynomial.hermite_e.hermegauss(90)
    weight = weight / weight.sum()
    q = 1.0 - GAPS
    widths = np.sqrt(np.diff(q, prepend=0.0))
    h = widths[0] * z[:, None, None] + widths[1] * z[:, None] + widths[2] * z
    inner = np.exp(SIZES[1] * gaussian.log_H((kappa - h) / math.sqrt(GAPS[-1]))) @ weight
    energetic = weight @ np.log(inner ** (SIZES[0] / SIZES[1]) @ weight) / SIZES[0]

    def stair(at):
        return np.concatenate([[0.0], SIZES, [1.0]])[np.searchsorted(q, at, side="right")]

    def response(low):
        ends = np.unique(np.clip([low, *q, 1.0], low, 1.0))
        return float(np.sum(np.diff(ends) * stair(0.5 * (ends[:-1] + ends[1:]))))

    entropic = scipy.integrate.quad(lambda at: 1.0 / response(at), 0.0, q[-1], points=q[:-1])[0]
    expected = 0.5 * (entropic + math.log(GAPS[-1])) + 9.0 * energetic
    found = states.free_entropy(LINEAR, kappa, 9.0, GAPS, SIZES)[0]
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("activation", [LINEAR, ReLU()], ids=["perceptron", "relu"])
def test_derivatives_of_the_free_entropy(activation):
    _, *found = states.free_entropy(activation, -0.4, 5.0, GAPS, SIZES)
    for i, one in enumerate(np.concatenate(found)):
        ends = []
        for step in (-1e-5, 1e-5):
            x = np.concatenate([GAPS, SIZES])
            x[i] += step
            ends.append(states.free_entropy(activation, -0.4, 5.0, x[:3], x[3:])[0])
        assert one == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-7, abs=1e-8)


def test_equal_sizes_are_one_step():
    one = states.free_entropy(LINEAR, -1.0, 9.0, GAPS[[0, 2]], SIZES[:1])[0]
    two = states.free_entropy(LINEAR, -1.0, 9.0, GAPS, SIZES[[0, 0]])[0]
    assert one == pytest.approx(two, abs=1e-12)


@pytest.mark.parametrize("activation", [LINEAR, ReLU()], ids=["perceptron", "relu"])
def test_a_replicon_is_what_a_further_level_gains(activation):
    """Short intervals above a level, in which x is what it was: to second order in their width."""
    alpha, kappa, width, above = 5.0, -0.4, 1e-4, np.append(SIZES, 1.0)
    found = states.replicons(activation, kappa, alpha, GAPS, SIZES)
    for i, replicon in enumerate(found):
        gains = []
        for short in (width, 2.0 * width):
            gaps, sizes = np.insert(GAPS, i + 1, GAPS[i] - short), np.insert(SIZES, i, above[i])
            gains.append(states.free_entropy(activation, kappa, alpha, gaps, sizes)[2][i])
        response = GAPS[-1] + np.sum((GAPS[i:-1] - GAPS[i + 1 :]) * SIZES[i:])
        curvature = (gains[1] - 2.0 * gains[0]) / (0.5 * width**2)
        assert curvature == pytest.approx((replicon - 1.0) / response**2, rel=3e-3)


# ------------------------------------------------------------------------------------------------
# The smallest one
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "alpha", "kappa"),
    [(PERCEPTRON, 9.0, -1.0), (PERCEPTRON, 80.0, -2.0), (RELU, 2.0, 0.0), (SIGNS, 4.0, 0.0)],
    ids=["perceptron", "very negative", "relu", "sign"],
)
def test_one_step(device, alpha, kappa):
    """The package's own saddle point, a zero in other variables."""
    expected = typical.solve_1rsb(device, alpha, Margin(kappa))
    found = full_breaking.at_load(device, alpha, Margin(kappa), steps=1)
    assert found.entropy == pytest.approx(expected.entropy, abs=1e-10)
    assert found.overlaps == pytest.approx([expected.q0, expected.q1], abs=1e-6)
    assert found.sizes == pytest.approx([expected.m], abs=1e-6)
    assert found.distribution == pytest.approx([expected.m, 1.0 - expected.m], abs=1e-6)


def test_one_step_is_found_from_afar():
    """Not only where the saddle point that the search starts from lies."""
    expected = typical.solve_1rsb(PERCEPTRON, 9.0, Margin(-1.0))
    gaps, sizes, phi, _ = minimum(LINEAR, -1.0, 9.0, np.array([0.5, 0.1]), np.array([0.5]))
    assert phi == pytest.approx(expected.entropy, abs=1e-11)
    assert 1.0 - gaps == pytest.approx([expected.q0, expected.q1], abs=1e-6)
    assert sizes == pytest.approx([expected.m], abs=1e-6)


@pytest.mark.parametrize(("device", "alpha"), [(PERCEPTRON, 1.5), (RELU, 1.2), (PERCEPTRON, 0.0)])
def test_small_loads_are_symmetric(device, alpha):
    expected = typical.solve(device, alpha)
    found = full_breaking.at_load(device, alpha)
    assert found.steps == 0
    assert found.entropy == expected.entropy
    assert found.overlaps == pytest.approx([expected.q])
    assert found.distribution == pytest.approx([1.0])
    if alpha:
        gaps, none = 1.0 - found.overlaps, np.zeros(0)
        activation = energetic(device)
        phi, by_gap, _ = states.free_entropy(activation, 0.0, alpha, gaps, none)
        assert phi == pytest.approx(expected.entropy, abs=1e-12)
        assert by_gap == pytest.approx([0.0], abs=1e-9)
        replicon = states.replicons(activation, 0.0, alpha, gaps, none)
        assert replicon == pytest.approx([expected.replicon], rel=1e-10)


def test_every_step_lowers_the_entropy():
    """A continuous hierarchy: all levels tend to be marginal, as the square of the spacing."""
    found = [full_breaking.at_load(PERCEPTRON, 9.0, Margin(-1.0), steps=k) for k in (1, 2, 4, 8)]
    entropies = [one.entropy for one in found]
    assert np.all(np.diff(entropies) < 0.0)
    over = [np.max(one.replicon) - 1.0 for one in found]
    assert np.all(np.array(over[1:]) < 0.3 * np.array(over[:-1]))
    assert np.max(np.diff(found[3].overlaps)) < 0.6 * np.max(np.diff(found[2].overlaps))
    for one in found:
        assert np.all(np.diff(one.overlaps) > 0.0)
        assert np.all(one.distribution > 0.0)
        assert one.distribution.sum() == pytest.approx(1.0)


def test_no_hierarchy_drawn_at_random_is_lower():
    best = full_breaking.at_load(PERCEPTRON, 9.0, Margin(-1.0), steps=4).entropy
    rng = np.random.default_rng(3)
    for _ in range(30):
        gaps, sizes = np.sort(rng.uniform(0.05, 0.6, 5))[::-1], np.sort(rng.uniform(0.0, 1.0, 4))
        assert states.free_entropy(LINEAR, -1.0, 9.0, gaps, sizes)[0] > best


def test_one_step_is_stable_at_very_negative_margins():
    """Groups that do not split: more steps are asked for than there are."""
    found = full_breaking.at_load(PERCEPTRON, 80.0, Margin(-2.0), steps=4)
    assert found.steps == 1
    assert np.all(found.replicon < 1.0)


@pytest.mark.parametrize(
    ("kappa", "load"), [(-2.0, 95.1), (-1.8, 51.4), (-1.6, 27.3), (-1.5, 19.5)]
)
def test_where_states_split(kappa, load):
    """Loads that the chapter states: one step is stable below, the upper level splits above."""
    below, above = (
        full_breaking.at_load(PERCEPTRON, load + move, Margin(kappa), steps=1).replicon
        for move in (-0.05, 0.05)
    )
    assert np.all(below < 1.0)
    assert above[0] < 1.0 < above[1]


@pytest.mark.parametrize(("kappa", "stable"), [(-1.5, True), (-1.45, False)])
def test_one_step_where_symmetry_breaks(kappa, stable):
    load = 1.02 * typical.instability(PERCEPTRON, constraint=Margin(kappa))
    found = full_breaking.at_load(PERCEPTRON, load, Margin(kappa), steps=1)
    assert np.all((found.replicon < 1.0) == stable)
    assert np.all(np.abs(found.replicon - 1.0) < 1e-5)


def test_an_overlap_gap_below_capacity():
    """Only the upper level splits, and the gap below it stays."""
    found = [full_breaking.at_load(PERCEPTRON, 110.0, Margin(-2.0), steps=k) for k in (2, 4)]
    for one in found:
        assert one.replicon[0] < 0.91
        assert np.all(one.replicon[1:] > 1.0)
        assert one.overlaps[1] - one.overlaps[0] > 0.69


@pytest.mark.parametrize(("device", "kappa"), [(PERCEPTRON, -1.0), (RELU, 0.0)])
def test_towards_capacity(device, kappa):
    """The hierarchy at capacity is the limit; its largest overlap is 1.

    With rectifiers 1 - c has a term (1 - q)^(3/2), and the limit is approached more slowly.
    """
    end = full_breaking.solve(device, Margin(kappa), steps=2)
    away, entropies = [], []
    for rest in (1e-2, 1e-3):
        found = full_breaking.at_load(device, (1.0 - rest) * end.alpha, Margin(kappa), steps=2)
        away.append(np.abs(found.overlaps - np.append(end.overlaps, 1.0)))
        entropies.append(found.entropy)
    assert np.all(away[1] < 0.4 * away[0])
    assert np.all(away[1] < 5e-3)
    assert entropies[1] < entropies[0] - 0.5


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Perceptron(), 0.5), ValueError, "weights Spherical"),
        ((TreeCommittee(3), 0.5), ValueError, "units=np.inf"),
        ((TreeCommittee(np.inf, Activation(np.square)), 0.5), ValueError, "linear part"),
        ((RELU, -1.0), ValueError, "alpha must be"),
        ((RELU, 1.0, 0.0), TypeError, "constraint must be"),
        ((RELU, 1.0, Margin(-3.0)), ValueError, "margin / activation"),
        ((PERCEPTRON, 0.01, Margin(6.0)), ValueError, "at most 5 times"),
        ((RELU, 3.0), NotConverged, "above capacity"),
    ],
)
def test_what_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        full_breaking.at_load(*arguments)


@pytest.mark.parametrize(("steps", "error"), [(0, ValueError), (9, ValueError), (1.5, TypeError)])
def test_steps_are_few(steps, error):
    with pytest.raises(error, match="steps must be"):
        full_breaking.at_load(RELU, 1.0, steps=steps)


def test_above_the_capacity_of_two_steps():
    """One step has a solution there still."""
    end = full_breaking.solve(PERCEPTRON, Margin(-1.0), steps=2).alpha
    assert full_breaking.at_load(PERCEPTRON, 1.0002 * end, Margin(-1.0), steps=1).steps == 1
    with pytest.raises(NotConverged):
        full_breaking.at_load(PERCEPTRON, 1.0002 * end, Margin(-1.0), steps=2)
