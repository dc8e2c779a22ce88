"""Targets on the landscape's shape: slopes against differences, symmetries of the weights."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from tests.attack.finite_size import weighted
from tests.attack.target import Target, between
from tests.attack.values import SEEDS, edges, powers
from wfmlib import landscape

# ------------------------------------------------------------------------------------------------
# The smoothed loss
# ------------------------------------------------------------------------------------------------

LOSSES = ("square", "linear", "cross-entropy")
SHARP = 3.0  # of all tanh units: the third derivative, and with it the error below, is bounded
RIGHT = math.log(2.0) / 2.0  # a pattern that is right has a smaller cross-entropy
STEP = 1e-6  # of a weight, in units of the norm


@st.composite
def smooth(draw, largest=SHARP):
    """Return a network on an instance, and a loss."""
    names = ("beta", "output_beta", "gamma")
    at = {name: draw(powers(0.05, largest)) for name in names}
    return draw(weighted()) | {"loss": draw(st.sampled_from(LOSSES))} | at


def check_loss(found, solution, xi, sigma, **at):
    """Not below zero, and the lengths of the units play no role."""
    between("loss", found, 0.0, math.inf)
    longer = type(solution)(3.0 * solution.w.astype(float))
    again = landscape.smoothed_loss(longer, xi, sigma, **at)
    between("loss of longer weights", again - found, -1e-9 * (1 + found), 1e-9 * (1 + found))


@st.composite
def directed(draw):
    """Return a network on an instance, a loss, and a direction of the weights."""
    drawn = draw(smooth())
    shape = np.shape(drawn["solution"].w)
    direction = np.random.default_rng(draw(SEEDS)).standard_normal(shape)
    return drawn | {"direction": direction, "tangent": draw(st.booleans())}


def products(direction, **at):
    """Return the Hessian times a direction, with and without the matrix."""
    matrix = landscape.hessian(**at)
    return matrix, landscape.hessian_product(direction=direction, **at)


def check_product(found, direction, **_):
    matrix, product = found
    expected = (matrix @ direction.ravel()).reshape(direction.shape)
    scale = np.abs(matrix).max() * np.abs(direction).sum() + 1.0
    np.testing.assert_allclose(product, expected, rtol=0, atol=1e-12 * scale)


def check_gradient(found, solution, tangent, **_):
    """In the tangent space it is at right angles to every unit."""
    assert found.shape == np.shape(solution.w)
    assert np.all(np.isfinite(found))
    if tangent:
        along = np.sum(found * solution.w, axis=-1) / np.linalg.norm(solution.w, axis=-1)
        scale = np.abs(found).max() + 1.0
        between("along the weights", along, -1e-10 * scale, 1e-10 * scale)


def check_slope(found, **_):
    """The tangent gradient is the slope of the loss, which scales its weights itself.

    A difference over 2 h errs by h^2 / 6 times the third derivative, and by rounding over h. A
    field changes by at most sqrt(M), and two tanh in a row are as sharp as their product.
    """
    slope, difference, error = found
    between("slope", difference - slope, -error, error)


def slopes(direction, tangent, solution, xi, sigma, **at):
    """Return the slope of the loss along a direction, and as a difference."""
    w = np.asarray(solution.w, dtype=float)
    w /= np.linalg.norm(w, axis=-1, keepdims=True)
    direction = direction / np.linalg.norm(direction)
    sides = [
        landscape.smoothed_loss(type(solution)(w + step * direction), xi, sigma, **at)
        for step in (STEP, -STEP)
    ]
    gradient = landscape.gradient(solution, xi, sigma, tangent=True, **at)
    bent = (SHARP**2 * math.sqrt(w.shape[-1])) ** 3
    error = STEP**2 * bent + 1e-15 * (1.0 + sum(sides)) / STEP
    return np.sum(gradient * direction), (sides[0] - sides[1]) / (2.0 * STEP), error


def right_from(solution, xi, sigma):
    """Return the smallest beta of a network that solves the labels it gives itself."""
    return landscape.smallest_beta(solution, xi, solution.output(xi))


def check_smallest(found, solution, xi, sigma):
    """From there on no pattern is wrong; there, unless it is zero, one is about to be."""
    between("beta", found, 0.0, math.inf)
    labels = solution.output(xi)

    def worst(beta):
        at = {"beta": beta, "loss": "cross-entropy", "gamma": 1.0}
        patterns = zip(xi, labels, strict=True)
        return max(landscape.smoothed_loss(solution, x[None], [y], **at) for x, y in patterns)

    for factor in (1.0, 3.0, 30.0):
        beta = factor * (found * (1.0 + 1e-6) + 1e-6)
        between("loss of the worst pattern", worst(beta), 0.0, RIGHT + 1e-12)
    if found > 0.0:
        between("loss of the worst pattern there", worst(found), RIGHT - 1e-9, RIGHT + 1e-12)


# ------------------------------------------------------------------------------------------------
# Curves through points, units in another order
# ------------------------------------------------------------------------------------------------


@st.composite
def curves(draw):
    """Return points of a straight line in any order, some unknown, and places."""
    rng, count = np.random.default_rng(draw(SEEDS)), draw(st.integers(0, 12))
    distance = rng.permutation(np.linspace(0.01, 0.5, 40))[:count]
    excess = -2.0 * distance + 0.3
    excess[rng.random(count) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    places = np.array(draw(st.lists(edges(1e-3, 0.6), max_size=6)))
    return {"places": places, "distance": distance, "excess": excess, "kind": "linear"}


def check_curve(found, places, distance, excess, kind):
    """On the line between the outermost points that are known; NaN outside."""
    assert found.shape == places.shape
    known = distance[~np.isnan(excess)]
    if len(known) < 2:
        assert np.all(np.isnan(found))
        return
    inside = (places >= known.min()) & (places <= known.max())
    np.testing.assert_allclose(found[inside], 0.3 - 2.0 * places[inside], rtol=0, atol=1e-12)
    assert np.all(np.isnan(found[~inside]))


@st.composite
def shuffled(draw):
    """Return units, and the same ones in another order and with other signs."""
    K, N = draw(st.integers(1, 8)), draw(st.integers(1, 30))
    rng, signs = np.random.default_rng(draw(SEEDS)), draw(st.booleans())
    w1 = rng.standard_normal((K, N))
    turned = rng.choice([-1.0, 1.0], (K, 1)) if signs else 1.0
    return {"w1": w1, "w2": (turned * w1)[rng.permutation(K)], "signs": signs}


def check_matching(found, w1, w2, signs):
    """All units are found again. Of one weight each they are alike, or opposite."""
    assert sorted(found.permutation) == list(range(len(w1)))
    again = found.signs[:, None] * w2[found.permutation]
    norms = np.linalg.norm(w1, axis=1) * np.linalg.norm(again, axis=1)
    between("cosines", np.sum(w1 * again, axis=1) / norms, 1.0 - 1e-12, 1.0 + 1e-12)
    assert signs or np.all(found.signs == 1)


@st.composite
def layered(draw):
    """Return two networks of three layers: one, and it with its hidden units renamed."""
    sizes, rng = draw(st.lists(st.integers(2, 6), min_size=3, max_size=3)), draw(SEEDS)
    rng = np.random.default_rng(rng)
    one = [rng.standard_normal((k, n)) for n, k in zip([9, *sizes[:2]], sizes, strict=True)]
    other, columns, turned = [], np.arange(9), np.ones(9)
    for place, w in enumerate(one):
        last = place == len(one) - 1
        rows = np.arange(len(w)) if last else rng.permutation(len(w))
        flips = np.ones(len(w)) if last else rng.choice([-1.0, 1.0], len(w))
        other.append(flips[:, None] * w[rows][:, columns] * turned)
        columns, turned = rows, flips
    return {"w1": one, "w2": other}


def check_layers(found, w1, w2):
    for layer, expected in zip(found, w1, strict=True):
        np.testing.assert_allclose(layer, expected, rtol=0, atol=1e-12)


TARGETS = [
    Target(landscape.smoothed_loss, smooth(), check_loss),
    Target(
        landscape.gradient,
        directed().map(lambda one: {k: v for k, v in one.items() if k != "direction"}),
        check_gradient,
    ),
    Target(slopes, directed(), check_slope, (landscape.gradient, landscape.smoothed_loss)),
    Target(products, directed(), check_product, (landscape.hessian, landscape.hessian_product)),
    Target(right_from, weighted(), check_smallest, (landscape.smallest_beta,)),
    Target(landscape.excess_at, curves(), check_curve),
    Target(landscape.match_units, shuffled(), check_matching),
    Target(landscape.match_layers, layered(), check_layers),
]
