"""Capacities with k steps of symmetry breaking, and continuous hierarchies.

Second origins: the package's one-step capacity, which is written in other variables; nested
quadrature of the hierarchical Gaussian; Parisi's equation by finite differences; closed forms
(RS capacities 2 c'(1), exponents that the mechanical argument links); the literature's exponents.
"""

import math

import numpy as np
import pytest
import scipy
from scipy.special import erf

from wfmlib import (
    Activation,
    Band,
    Binary,
    Margin,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
)
from wfmlib.models.activations import Linear
from wfmlib.numerics import gaussian
from wfmlib.theory import full_breaking, typical
from wfmlib.theory.since.full_breaking.capacity_entropy import bound
from wfmlib.theory.since.full_breaking.ladder import climb

PERCEPTRON = Perceptron(Spherical())
RELU = TreeCommittee(np.inf, ReLU())
WIDTHS, HEIGHTS, COST = np.array([0.3, 0.5, 0.16, 0.04]), np.array([0.5, 1.0, 3.0]), 0.2


def value(kappa, widths, heights, cost):
    none = np.zeros((len(widths), 0)), np.zeros((len(heights), 0))
    return climb(kappa, np.asarray(widths), np.asarray(heights), cost, none)[0]


# ------------------------------------------------------------------------------------------------
# The ladder
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kappa", [0.0, -1.0, 0.7])
def test_a_ladder_is_nested_averages(kappa):
    """Plain quadrature, one average inside the other, from the parabola at c = 1."""
    x = np.linspace(-9.0, 9.0, 801)
    weight = gaussian.G(x) * (x[1] - x[0])

    def average(f, width, y):
        def g(h):
            inner = f(h[..., None] + math.sqrt(width) * x)
            return inner @ weight if y == 0.0 else np.log(np.exp(y * inner) @ weight) / y

        return g

    def last(h):  # the kink at kappa needs panels of its own
        z = (kappa - h) / math.sqrt(0.3)
        node, rule = np.polynomial.legendre.leggauss(60)
        low = 0.5 * (z + 12.0)[..., None] * (node + 1.0) - 12.0
        short = kappa - h[..., None] - math.sqrt(0.3) * low
        inside = (
            np.sum(rule * gaussian.G(low) * np.exp(-0.5 * 2.0 * short**2 / COST), axis=-1)
            * 0.5
            * (z + 12.0)
        )
        return np.log(gaussian.H(z) + inside) / 2.0

    two = average(last, 0.4, 0.7)
    grid = np.linspace(-6.0, 6.0, 241)
    spline = scipy.interpolate.CubicSpline(grid, two(math.sqrt(0.3) * grid))
    found = np.sum(gaussian.G(grid) * spline(grid)) * (grid[1] - grid[0])
    assert value(kappa, [0.3, 0.4, 0.3], [0.7, 2.0], COST) == pytest.approx(found, rel=1e-7)


def test_a_ladder_by_hierarchical_gaussians():
    """Monte Carlo of the cascade: 400 x 400 x 400 fields; the bias of the logarithm is smaller."""
    rng = np.random.default_rng(11)
    n, kappa, y1, y2 = 400, -0.5, 0.6, 1.5
    outer = []
    for _ in range(n):
        h0 = math.sqrt(0.3) * rng.standard_normal()
        h1 = h0 + math.sqrt(0.4) * rng.standard_normal((n, 1))
        h2 = h1 + math.sqrt(0.3) * rng.standard_normal((n, n))
        cost = -(np.maximum(kappa - h2, 0.0) ** 2) / (2.0 * COST)
        f1 = np.log(np.mean(np.exp(y2 * cost), axis=1)) / y2
        outer.append(np.log(np.mean(np.exp(y1 * f1))) / y1)
    error = np.std(outer) / math.sqrt(n)
    found = value(kappa, [0.3, 0.4, 0.3], [y1, y2], COST)
    assert abs(np.mean(outer) - found) < 4.0 * error
    assert error < 0.05 * abs(found)


@pytest.mark.parametrize("kappa", [0.0, -1.5])
def test_equal_heights_are_one_step(kappa):
    split = [0.3, 0.2, 0.3, 0.16, 0.01, 0.03], [0.5, 0.5, 1.0, 3.0, 3.0]
    assert value(kappa, *split, COST) == pytest.approx(
        value(kappa, WIDTHS, HEIGHTS, COST), rel=1e-12
    )


def test_derivatives_of_a_ladder():
    by_x = np.eye(7)[:4], np.eye(7)[4:]
    _, found = climb(-1.0, WIDTHS, HEIGHTS, COST, by_x)
    start = np.concatenate([WIDTHS, HEIGHTS])
    for i, one in enumerate(found):
        ends = []
        for step in (-1e-5, 1e-5):
            x = start.copy()
            x[i] += step
            ends.append(value(-1.0, x[:4], x[4:], COST))
        assert one == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-6, abs=1e-8)


def test_derivatives_of_a_bound():
    gaps, heights = np.array([0.4, 0.1, 0.02]), np.array([3.0, 10.0, 60.0])
    by_x = np.eye(6)[:3], np.eye(6)[3:]
    _, found = bound(ReLU(), 0.2, gaps, heights, by_x)
    start = np.concatenate([gaps, heights])
    for i, one in enumerate(found):
        ends = []
        for step in (-1e-6, 1e-6):
            x = start.copy()
            x[i] *= 1.0 + step
            ends.append(bound(ReLU(), 0.2, x[:3], x[3:], by_x)[0])
        assert one * start[i] == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-5, abs=1e-8)


# ------------------------------------------------------------------------------------------------
# Capacities
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "kappa"),
    [(RELU, 0.0), (PERCEPTRON, -1.0), (TreeCommittee(np.inf, Activation(erf)), 0.3)],
    ids=["relu", "perceptron", "erf"],
)
def test_steps_lower_the_capacity(device, kappa):
    one = typical.capacity(device, constraint=Margin(kappa), ansatz="1RSB")
    found = [full_breaking.solve(device, Margin(kappa), steps=k) for k in (1, 2, 3)]
    assert found[0].alpha == pytest.approx(one, rel=1e-9)
    loads = [each.alpha for each in found]
    assert loads[2] < loads[1] < loads[0] < typical.capacity(device, constraint=Margin(kappa))
    gains = -np.diff(loads)
    assert gains[1] < 0.5 * gains[0]
    for each in found:
        assert np.all(np.diff(each.overlaps) > 0.0)
        assert np.all(np.diff(each.heights) > 0.0)
        assert each.responses[0] == pytest.approx(1.0, rel=1e-12)
    assert typical.capacity(device, constraint=Margin(kappa), ansatz=2) == loads[1]
    assert typical.capacity(device, constraint=Margin(kappa), ansatz="2RSB") == loads[1]


def test_no_hierarchy_drawn_at_random_is_lower():
    best = full_breaking.solve(RELU, steps=3).alpha
    rng = np.random.default_rng(3)
    for _ in range(20):
        gaps = np.sort(rng.uniform(0.0, 1.0, 4))[::-1]
        heights = np.cumsum(rng.exponential(20.0, 4))
        none = np.zeros((4, 0)), np.zeros((4, 0))
        assert math.exp(bound(ReLU(), 0.0, gaps, heights, none)[0]) > 0.998 * best


@pytest.fixture(scope="module")
def full():
    return full_breaking.solve(PERCEPTRON, Margin(-1.0))


def test_a_continuous_hierarchy_is_lowest(full):
    """Six free steps come within 2e-5; their differences fall like a power of their number."""
    loads = [full_breaking.solve(PERCEPTRON, Margin(-1.0), steps=k).alpha for k in (2, 4)]
    assert full.alpha < loads[1] < loads[0]
    power = math.log((loads[0] - full.alpha) / (loads[1] - full.alpha), 2.0)
    assert 2.5 < power < 4.5
    assert full.error < 1e-5 * full.alpha
    assert full.gap is None
    assert np.all(np.diff(full.heights) > 0.0)


def test_a_continuous_hierarchy_is_marginal(full):
    """By finite differences of Parisi's equation; a few steps are unstable instead."""
    found = full_breaking.fields(full)
    np.testing.assert_allclose(found.replicon, 1.0, atol=5e-3)
    np.testing.assert_allclose(found.pull, 1.0, atol=1e-3)
    np.testing.assert_allclose(
        np.trapezoid(found.density, found.stability, axis=1), 1.0, atol=1e-4
    )
    few = full_breaking.fields(full_breaking.solve(PERCEPTRON, Margin(-1.0), steps=2))
    assert np.all(few.replicon > 1.01)
    np.testing.assert_allclose(few.pull, 1.0, atol=5e-3)


def test_finer_grids_of_fields_agree(full):
    coarse, fine = (full_breaking.fields(full, nodes=n) for n in (1200, 3600))
    np.testing.assert_allclose(coarse.replicon, fine.replicon, rtol=3e-4)


def test_strongly_negative_margins_have_an_overlap_gap():
    found = full_breaking.solve(PERCEPTRON, Margin(-1.6))
    low, high = found.gap
    assert 0.3 < low < 0.4
    assert 0.8 < high < 0.85
    assert low == found.smallest_overlap
    assert found.alpha < full_breaking.solve(PERCEPTRON, Margin(-1.6), steps=2).alpha


@pytest.mark.parametrize("ansatz", [1, 2, 4, "full"])
@pytest.mark.parametrize("kappa", [0.0, 0.5])
def test_spherical_perceptrons_of_positive_margin_are_symmetric(ansatz, kappa):
    symmetric = typical.capacity(PERCEPTRON, constraint=Margin(kappa))
    assert typical.capacity(PERCEPTRON, constraint=Margin(kappa), ansatz=ansatz) == symmetric
    if kappa == 0.0:
        assert symmetric == 2.0


def test_signs_have_no_capacity():
    assert typical.capacity(TreeCommittee(np.inf), ansatz="full") == math.inf
    with pytest.raises(ValueError, match="without jumps"):
        full_breaking.solve(TreeCommittee(np.inf))


# ------------------------------------------------------------------------------------------------
# Activations without a linear part
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("g", "slope"), [(np.square, 2.0), (np.abs, 1.0 / (1.0 - 2.0 / math.pi))])
def test_even_activations(g, slope):
    """c = q^2 for squares; for |x| the mean square of g' over the variance."""
    device = TreeCommittee(np.inf, Activation(g))
    assert device.activation.flat
    assert not Activation(erf).flat
    assert typical.capacity(device) == pytest.approx(2.0 * slope, rel=1e-10)
    one = typical.capacity(device, ansatz="1RSB")
    assert one == pytest.approx(full_breaking.solve(device, steps=1).alpha, rel=1e-8)
    assert one < 2.0 * slope


def test_groups_without_any_overlap():
    """For cos 2x ``c = (cosh 4q - 1) / (cosh 4 - 1)``; at q0 = 0 all groups see the same.

    The weight of a group is one integral over the field; the ratio alone is free.
    """
    device = TreeCommittee(np.inf, Activation(lambda x: np.cos(2.0 * x)))
    slope = 4.0 * math.sinh(4.0) / (math.cosh(4.0) - 1.0)
    assert typical.capacity(device) == pytest.approx(2.0 * slope, rel=1e-9)

    def log_load(r):
        # E exp(-r x^2 / (2 c'(1))) over negative x, and 1 over positive ones
        weight = 0.5 + 0.5 / math.sqrt(1.0 + r / slope)
        return math.log(math.log1p(r) / (-2.0 * math.log(weight)))

    least = scipy.optimize.minimize_scalar(log_load, bounds=(5.0, 200.0)).fun
    loads = [typical.capacity(device, ansatz=one) for one in ("1RSB", "2RSB", 3)]
    assert loads[0] == pytest.approx(math.exp(least), rel=1e-9)
    assert loads == pytest.approx([4.35554, 4.35311, 4.35296], abs=1e-5)
    assert full_breaking.solve(device, steps=1).alpha == pytest.approx(loads[0], rel=1e-8)
    assert full_breaking.solve(device, steps=2).smallest_overlap == 0.0
    for question in (full_breaking.solve, lambda one: typical.capacity(one, ansatz="full")):
        with pytest.raises(ValueError, match="steps must be from 1 to 6 for a device"):
            question(device)


def test_a_second_step_lowers_the_load_of_an_even_activation():
    """Also where the search from one step first leads back to it."""
    device = TreeCommittee(np.inf, Activation(lambda x: x**4 - 6.0 * x**2))
    one, two, three = (typical.capacity(device, ansatz=steps) for steps in (1, 2, 3))
    assert three < two - 5e-5 < one - 1e-3


def test_even_activations_are_refused_where_a_branch_is_followed():
    device = TreeCommittee(np.inf, Activation(np.square))
    for question in (
        lambda: typical.solve(device, 0.5),
        lambda: typical.instability(device),
        lambda: typical.max_margin(device, 1.0),
        lambda: typical.capacity(TreeCommittee(np.inf, Activation(np.square), Binary())),
    ):
        with pytest.raises(ValueError, match=r"device must .* with a linear part"):
            question()


# ------------------------------------------------------------------------------------------------
# Jamming
# ------------------------------------------------------------------------------------------------


def test_exponents_at_jamming():
    """Of spheres in infinite dimension; two relations come out that the equations do not state."""
    found = full_breaking.exponents()
    assert found.gaps == pytest.approx(0.41269, abs=5e-6)
    assert found.forces == pytest.approx(0.42311, abs=5e-6)
    assert found.overlaps == pytest.approx(1.41574, abs=5e-6)
    assert found.gaps == pytest.approx(1.0 / (2.0 + found.forces), abs=1e-9)
    assert found.overlaps == pytest.approx(2.0 - 2.0 / (3.0 + found.forces), abs=1e-9)


def test_the_breaking_function_grows_as_jamming_says(full):
    """Over the decades of 1 - q that a ladder has beyond its start and before its end."""
    part = slice(18, 28)
    slope = np.polyfit(-np.log(1.0 - full.overlaps[part]), np.log(full.heights[part]), 1)[0]
    assert slope == pytest.approx(1.0 / full_breaking.exponents().overlaps, rel=0.05)


# ------------------------------------------------------------------------------------------------
# At the door
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        (lambda: full_breaking.solve(Perceptron()), ValueError, "weights Spherical"),
        (lambda: full_breaking.solve(RELU, Band(1.0)), TypeError, "constraint must be"),
        (lambda: full_breaking.solve(RELU, Margin(-3.0)), ValueError, "margin / activation"),
        (lambda: full_breaking.solve(RELU, steps=0), ValueError, "steps must be"),
        (lambda: full_breaking.solve(RELU, steps=2.5), TypeError, "steps must be"),
        (lambda: full_breaking.solve(RELU, steps=7), ValueError, "steps must be"),
        (lambda: full_breaking.solve(TreeCommittee(3)), ValueError, "units=np.inf"),
        (lambda: full_breaking.fields(3.0), TypeError, "hierarchy must be"),
        (lambda: full_breaking.fields(full_breaking.solve(PERCEPTRON)), ValueError, "one step"),
        (lambda: typical.capacity(RELU, ansatz="3RSB"), ValueError, "ansatz must be one of"),
        (lambda: typical.capacity(RELU, ansatz=7), ValueError, "ansatz, if not 'RS'"),
        (lambda: typical.capacity(RELU, ansatz=1.5), TypeError, "ansatz, if not 'RS'"),
        (lambda: typical.capacity(Perceptron(), ansatz="full"), ValueError, "Spherical"),
        (lambda: typical.capacity(TreeCommittee(3), ansatz="full"), ValueError, "ansatz 'full'"),
    ],
)
def test_what_is_refused(question, error, message):
    with pytest.raises(error, match=message):
        question()


def test_fields_need_nodes(full):
    with pytest.raises(ValueError, match="nodes must be"):
        full_breaking.fields(full, nodes=10)


def test_linear_units_are_the_perceptron():
    linear = TreeCommittee(np.inf, Activation(lambda x: x))
    assert Linear().slope_at_one == 1.0
    ours = full_breaking.solve(linear, Margin(-0.7), steps=2).alpha
    assert ours == pytest.approx(
        full_breaking.solve(PERCEPTRON, Margin(-0.7), steps=2).alpha, rel=1e-8
    )
    assert Sign().slope_at_one == math.inf
