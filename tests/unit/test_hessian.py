"""The smoothed loss: value, slopes and spectra, against differences, closed forms, limits."""

import math
import pickle

import mpmath
import numpy as np
import pytest
from scipy import optimize

from wfmlib import Committee, ParityMachine, Perceptron, Spherical, TreeCommittee, patterns
from wfmlib.landscape import smoothing
from wfmlib.landscape.hessian import hessian, hessian_product, hessian_spectrum, max_eigenvalue
from wfmlib.landscape.smoothing import gradient, smallest_beta, smoothed_loss
from wfmlib.numerics.solvers import NotConverged

LOSSES = ["square", "linear", "cross-entropy"]
BETA, OUTPUT_BETA, GAMMA = 1.3, 0.8, 1.7
OPTIONS = {"beta": BETA, "output_beta": OUTPUT_BETA, "gamma": GAMMA}


def network(w, tree=True):
    """Return the perceptron or the committee of real weights."""
    if w.ndim == 1:
        return Perceptron(Spherical()).network(w)
    return (TreeCommittee if tree else Committee)(len(w)).network(w)


def instance(units, inputs, P, tree, seed=1):
    """Return weights with units of norm one, patterns and labels."""
    xi, sigma = patterns.random(P, units * inputs if tree else inputs, rng=seed)
    w = np.random.default_rng(seed).standard_normal((units, inputs))
    return w / np.linalg.norm(w, axis=1, keepdims=True), xi, sigma


def plain_loss(w, xi, sigma, tree, loss):
    """The loss as it is written, of complex weights too."""
    K, M = w.shape
    parts = xi.reshape(len(xi), K, M) if tree else np.repeat(xi[:, None], K, axis=1)
    s = np.tanh(BETA * np.einsum("pki,ki->pk", parts, w)).sum(axis=1) / math.sqrt(K)
    if loss == "square":
        return np.mean((sigma - np.tanh(OUTPUT_BETA * s)) ** 2)
    if loss == "linear":
        return np.mean((sigma - s) ** 2)
    return np.mean(np.log(1 + np.exp(-2 * GAMMA * sigma * s))) / (2 * GAMMA)


def slope(function, t=0.0):
    """Return the derivative by a complex step: exact to rounding."""
    return np.imag(function(t + 1e-30j)) / 1e-30


def second(function, h=1e-3):
    """Return the second derivative at 0: error of h^4 and of rounding over h."""
    near, far = (slope(function, k * h) - slope(function, -k * h) for k in (1, 2))
    return (8 * near - far) / (12 * h)


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_against_differences(loss, tree):
    w, xi, sigma = instance(3, 5, 13, tree)
    options = {**OPTIONS, "loss": loss}
    scale = np.array([[2.0], [0.1], [7.0]])  # of no consequence
    assert smoothed_loss(network(scale * w, tree), xi, sigma, **options) == pytest.approx(
        plain_loss(w, xi, sigma, tree, loss), rel=1e-13
    )
    E, T = (
        hessian(network(scale * w, tree), xi, sigma, tangent=one, **options)
        for one in (False, True)
    )
    np.testing.assert_array_equal(E, E.T)
    np.testing.assert_array_equal(T, T.T)
    g, on_spheres = (
        gradient(network(scale * w, tree), xi, sigma, tangent=o, **options) for o in (False, True)
    )
    rng = np.random.default_rng(2)
    for _ in range(6):
        d = rng.standard_normal(w.shape)
        d /= np.linalg.norm(d)

        def line(t, d=d):
            return plain_loss(w + t * d, xi, sigma, tree, loss)

        assert np.sum(g * d) == pytest.approx(slope(line), abs=1e-13)
        assert d.ravel() @ E @ d.ravel() == pytest.approx(second(line), abs=1e-9)
        product = hessian_product(network(w, tree), d, xi, sigma, **options)
        np.testing.assert_allclose(product.ravel(), E @ d.ravel(), rtol=0, atol=1e-13)
        product = hessian_product(network(w, tree), d, xi, sigma, tangent=True, **options)
        np.testing.assert_allclose(product.ravel(), T @ d.ravel(), rtol=0, atol=1e-13)

        d -= np.sum(d * w, axis=1, keepdims=True) * w
        speeds = np.linalg.norm(d, axis=1, keepdims=True)

        def geodesic(t, d=d, speeds=speeds):
            moved = np.cos(t * speeds) * w + np.sin(t * speeds) / speeds * d
            return plain_loss(moved, xi, sigma, tree, loss)

        assert np.sum(on_spheres * d) == pytest.approx(slope(geodesic), abs=1e-13)
        assert d.ravel() @ T @ d.ravel() == pytest.approx(second(geodesic), abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_unit_in_closed_form(loss):
    w, xi, sigma = instance(1, 6, 4, True)
    rule = {
        "square": lambda s, label: (label - mpmath.tanh(OUTPUT_BETA * s)) ** 2,
        "linear": lambda s, label: (label - s) ** 2,
        "cross-entropy": lambda s, label: (
            mpmath.log(1 + mpmath.exp(-2 * GAMMA * label * s)) / (2 * GAMMA)
        ),
    }[loss]
    bends = []
    with mpmath.workdps(30):
        for pattern, label in zip(xi.astype(int), sigma.astype(int), strict=True):
            x = mpmath.fdot(zip(pattern.tolist(), w[0].tolist(), strict=True))
            bend = mpmath.diff(lambda x, y=int(label): rule(mpmath.tanh(BETA * x), y), x, 2)
            bends.append(float(bend))
    expected = np.einsum("p,pi,pj->ij", bends, xi, xi) / len(xi)
    found = hessian(network(w[0]), xi, sigma, loss=loss, **OPTIONS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    # four patterns on six weights: two directions change no field
    spectrum = hessian_spectrum(network(w[0]), xi, sigma, loss=loss, **OPTIONS)
    assert np.count_nonzero(np.abs(spectrum) < 1e-14) == 2
    flat = gradient(network(w[0]), xi, sigma, loss=loss, **OPTIONS)
    assert flat.shape == (6,)
    assert hessian_product(network(w[0]), flat, xi, sigma, loss=loss, **OPTIONS).shape == (6,)


@pytest.mark.parametrize("tangent", [False, True])
@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_spectrum_and_largest_eigenvalue(loss, tree, tangent):
    w, xi, sigma = instance(3, 41, 60, tree)
    net = network(w, tree)
    options = {**OPTIONS, "loss": loss, "tangent": tangent}
    spectrum = hessian_spectrum(net, xi, sigma, **options)
    full = np.linalg.eigvalsh(hessian(net, xi, sigma, **options))
    size = np.abs(full).max()
    if tangent:  # the units' own directions are zero modes of the matrix in the whole space
        for k in range(3):
            own = np.zeros_like(w)
            own[k] = w[k]
            assert np.abs(hessian(net, xi, sigma, **options) @ own.ravel()).max() < 1e-14 * size
        assert len(spectrum) == len(full) - 3
        spectrum = np.sort(np.concatenate([spectrum, np.zeros(3)]))
    np.testing.assert_allclose(spectrum, full, rtol=0, atol=1e-13 * size)
    found = max_eigenvalue(net, xi, sigma, tolerance=1e-12, **options)
    assert found == pytest.approx(full[-1], rel=1e-11)
    assert found == max_eigenvalue(net, xi, sigma, tolerance=1e-12, **options)
    w, *given = instance(3, 7, 20, True)
    small = network(w), *given
    assert max_eigenvalue(*small, **options) == hessian_spectrum(*small, **options)[-1]


@pytest.mark.parametrize("tangent", [False, True])
def test_tree_is_a_full_device_with_masked_weights(tangent):
    w, xi, sigma = instance(3, 5, 13, True)
    wide = np.zeros((3, 15))
    for k in range(3):
        wide[k, 5 * k : 5 * k + 5] = w[k]
    mask = np.flatnonzero(wide)
    full = hessian(network(wide, False), xi, sigma, tangent=tangent, **OPTIONS)
    tree = hessian(network(w), xi, sigma, tangent=tangent, **OPTIONS)
    np.testing.assert_allclose(full[np.ix_(mask, mask)], tree, rtol=0, atol=1e-14)
    assert smoothed_loss(network(wide, False), xi, sigma, **OPTIONS) == pytest.approx(
        smoothed_loss(network(w), xi, sigma, **OPTIONS), rel=1e-14
    )


def test_symmetries():
    w, xi, sigma = instance(3, 5, 13, False)
    start = hessian(network(w, False), xi, sigma, **OPTIONS)
    flips = np.random.default_rng(3).choice([-1, 1], 5)
    gauged = hessian(network(w * flips, False), xi * flips, sigma, **OPTIONS)
    turn = np.tile(flips, 3)
    np.testing.assert_allclose(gauged, turn[:, None] * start * turn, rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        hessian(network(-w, False), xi, -sigma, **OPTIONS), start, rtol=0, atol=1e-14
    )
    order = [2, 0, 1]
    index = np.arange(15).reshape(3, 5)[order].ravel()
    exchanged = hessian(network(w[order], False), xi, sigma, **OPTIONS)
    np.testing.assert_allclose(exchanged, start[np.ix_(index, index)], rtol=0, atol=1e-14)


def test_sharp_limit_counts_errors_and_is_flat():
    w, xi, sigma = instance(3, 41, 60, True)
    sharp = {"beta": 1e6, "output_beta": 1e6}
    wrong = network(w).errors(xi, sigma)
    assert 0 < wrong < 60
    assert smoothed_loss(network(w), xi, sigma, **sharp) == pytest.approx(
        4 * wrong / 60, rel=1e-14
    )
    assert np.all(gradient(network(w), xi, sigma, **sharp) == 0.0)
    for tangent in (False, True):
        assert max_eigenvalue(network(w), xi, sigma, tangent=tangent, **sharp) == 0.0
        assert np.all(hessian_spectrum(network(w), xi, sigma, tangent=tangent, **sharp) == 0.0)


def test_which_sharpness_matters_where():
    w, *given = instance(3, 5, 13, True)
    for loss, changes in (("square", (1, 0)), ("linear", (0, 0)), ("cross-entropy", (0, 1))):
        start = hessian(network(w), *given, beta=0.9, loss=loss)
        for name, matters in zip(("output_beta", "gamma"), changes, strict=True):
            same = hessian(network(w), *given, beta=0.9, loss=loss, **{name: 1.0})
            other = hessian(network(w), *given, beta=0.9, loss=loss, **{name: 1.3})
            assert np.array_equal(start, same)
            assert np.array_equal(start, other) != bool(matters)


def test_units_of_one_weight():
    xi, sigma = patterns.random(4, 3, rng=1)
    w = np.ones((3, 1))
    assert hessian_spectrum(network(w), xi, sigma, beta=1.0, tangent=True).shape == (0,)
    assert np.all(hessian(network(w), xi, sigma, beta=1.0, tangent=True) == 0.0)
    with pytest.raises(ValueError, match="solution must have two or more"):
        max_eigenvalue(network(w), xi, sigma, beta=1.0, tangent=True)


def test_a_largest_eigenvalue_not_reached_is_said():
    w, xi, sigma = instance(3, 101, 200, True)
    with pytest.raises(NotConverged, match="largest eigenvalue") as caught:
        max_eigenvalue(network(w), xi, sigma, beta=1.0, tolerance=1e-15, max_iterations=1)
    assert not caught.value.report.converged
    assert caught.value.report.iterations == 1
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# --- the smallest sharpness ---------------------------------------------------------------------


def with_fields(rows, M=401):
    """Return weights of norm one and patterns: pattern p has field rows[p][k] at unit k."""
    rows = np.atleast_2d(rows)
    xi = np.ones((len(rows), rows.shape[1] * M), dtype=np.int8)
    assert len(rows) == 1
    w = np.outer(rows[0] / M, np.ones(M))
    w[:, 0] += np.sqrt((1 - rows[0] ** 2 / M) / 2)
    w[:, 1] -= np.sqrt((1 - rows[0] ** 2 / M) / 2)
    return w, xi, np.ones(1, dtype=np.int8)


def wrong_at(beta, w, xi, sigma):
    x = sigma * np.einsum("pki,ki->kp", xi.reshape(len(xi), *w.shape), w)
    return np.count_nonzero(np.tanh(beta * x).sum(axis=0) <= 0)


def test_smallest_beta_takes_the_last_interval():
    fields = np.array([10.0, -0.1, -0.1, 1e-3, 1e-3])
    w, xi, sigma = with_fields(fields)
    assert [wrong_at(beta, w, xi, sigma) for beta in (0.1, 10.0, 1e4)] == [0, 1, 0]
    root = optimize.brentq(lambda beta: np.tanh(beta * fields).sum(), 10.0, 1e4, xtol=1e-12)
    found = smallest_beta(network(w), xi, sigma)
    assert found == pytest.approx(root, rel=1e-9)
    assert wrong_at(found, w, xi, sigma) == 0


def test_smallest_beta_of_random_solutions():
    rng = np.random.default_rng(5)
    positive = 0
    for seed in range(40):
        w, xi, _ = instance(5, 21, 12, True, seed)
        sigma = network(w).output(xi)
        found = smallest_beta(network(3 * w), xi, sigma)
        if found == 0.0:
            assert all(wrong_at(b, w, xi, sigma) == 0 for b in np.geomspace(1e-4, 1e4, 400))
            continue
        positive += 1
        assert wrong_at(found, w, xi, sigma) == 0
        assert wrong_at(found * (1 - 1e-7), w, xi, sigma) > 0
        above = found * np.exp(rng.uniform(0, 10, 300))
        assert all(wrong_at(beta, w, xi, sigma) == 0 for beta in above)
    assert positive > 20


def test_smallest_beta_of_smaller_and_larger_fields():
    """Only the products with beta count, also where the bound on tanh could end the walk."""
    fields = np.array([1.0, -0.5, -0.5, 0.1, 0.1])
    w, *given = with_fields(fields)
    whole = smallest_beta(network(w), *given)
    assert wrong_at(0.9 * whole, *with_fields(fields)) == 1
    for scale in (10.0, 0.1, 1e-3):
        w, *given = with_fields(scale * fields)
        found = smallest_beta(network(w), *given)
        assert scale * found == pytest.approx(whole, rel=1e-9)


def test_smallest_beta_where_any_will_do():
    w, xi, _ = instance(1, 21, 12, True)
    assert smallest_beta(network(w[0]), xi, network(w[0]).output(xi)) == 0.0
    w, xi, sigma = with_fields(np.array([1.0, 0.5, -0.2]))
    assert smallest_beta(network(w), xi, sigma) == 0.0


def test_a_walk_too_long_is_said(monkeypatch):
    w, xi, sigma = with_fields(np.array([10.0, -0.1, -0.1, 1e-3, 1e-3]))
    monkeypatch.setattr(smoothing, "WALK", 3)
    with pytest.raises(NotConverged, match="within 3 steps") as caught:
        smallest_beta(network(w), xi, sigma)
    assert caught.value.state > 0.0


def test_refusals():
    w, xi, sigma = instance(3, 5, 13, True)
    functions = (smoothed_loss, gradient, hessian, hessian_spectrum, max_eigenvalue)
    for function in functions:
        for error, match, options in (
            (ValueError, "beta must be", {"beta": 0.0}),
            (TypeError, "beta must be", {"beta": "1"}),
            (ValueError, "output_beta must be", {"output_beta": -1.0}),
            (ValueError, "gamma must be", {"gamma": math.inf}),
            (ValueError, "loss must be one of", {"loss": "hinge"}),
            (ValueError, "xi must have 5 columns", {"solution": network(w, False)}),
            (TypeError, "solution must be a Solution or a network", {"solution": w}),
            (TypeError, "committee of sign units", {"solution": ParityMachine(3).network(w)}),
            (ValueError, "sigma must have one label", {"sigma": sigma[1:]}),
        ):
            given = {"solution": network(w), "xi": xi, "sigma": sigma, "beta": 1.0} | options
            with pytest.raises(error, match=match):
                function(**given)
        if function is not smoothed_loss:
            with pytest.raises(ValueError, match="tangent must be one of"):
                function(network(w), xi, sigma, beta=1.0, tangent="yes")
    with pytest.raises(ValueError, match="direction must be finite and of the weights' shape"):
        hessian_product(network(w), w[0], xi, sigma, beta=1.0)
    with pytest.raises(ValueError, match="tolerance must be"):
        max_eigenvalue(network(w), xi, sigma, beta=1.0, tolerance=0.0)
    with pytest.raises(ValueError, match="max_iterations must be"):
        max_eigenvalue(network(w), xi, sigma, beta=1.0, max_iterations=0)
    right = network(w).output(xi)
    with pytest.raises(ValueError, match="tolerance must be"):
        smallest_beta(network(w), xi, right, tolerance=-1.0)
    with pytest.raises(ValueError, match="solution must make no error, 13 patterns"):
        smallest_beta(network(w), xi, -right)
