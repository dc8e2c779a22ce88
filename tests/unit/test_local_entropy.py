"""The local entropy around a configuration: closed forms, enumeration, bounds, flags."""

import math

import numpy as np
import pytest

from wfmlib import (
    Binary,
    Committee,
    ParityMachine,
    Perceptron,
    Spherical,
    TreeCommittee,
    landscape,
    networks,
    patterns,
)
from wfmlib.learning import NotSettled, all_weights, belief_propagation, focusing_bp
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi

CURVE = [0.3, 1.0, 3.0, 10.0, 50.0]
BINARY = [Perceptron(), *(kind(3, weights=Binary()) for kind in (TreeCommittee, Committee))]
SPHERICAL = [Perceptron(Spherical()), TreeCommittee(3), Committee(3)]


def closed_form(distance, binary):
    """Return the entropy of all weights at a distance."""
    if binary:
        return -distance * np.log(distance) - (1 - distance) * np.log1p(-distance)
    return 0.5 * np.log(4 * distance * (1 - distance))


@pytest.mark.parametrize("form", ["exact", "expanded"])
@pytest.mark.parametrize("device", [Perceptron(Spherical()), TreeCommittee(3)], ids=repr)
def test_spherical_closed_form_without_constraints(device, form):
    """A pattern that lies along the reference excludes nothing: load zero, for any reference."""
    rng = np.random.default_rng(1)
    reference = rng.standard_normal(device.shape(1503))
    xi = np.sign(reference).reshape(1, -1)
    net = device.network(7 * reference)
    curve = landscape.local_entropy(net, xi, [1], couplings=CURVE, form=form, rng=0)
    assert np.all(curve.converged)
    np.testing.assert_array_equal(curve.coupling, CURVE)
    expected = closed_form(curve.distance.values, binary=False)
    np.testing.assert_allclose(curve.local_entropy, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(curve.excess, 0.0, rtol=0, atol=1e-9)
    # coupling L: zeta = chi + L with 1 / zeta + (L / zeta)^2 = 1, overlap L / zeta
    zeta = 0.5 * (1 + np.sqrt(1 + 4 * np.square(CURVE)))
    np.testing.assert_allclose(curve.distance, (1 - CURVE / zeta) / 2, rtol=1e-7)


@pytest.mark.parametrize("form", ["exact", "expanded"])
@pytest.mark.parametrize("device", BINARY, ids=repr)
def test_binary_closed_form_without_constraints(device, form):
    rng = np.random.default_rng(2)
    reference = rng.choice([-1, 1], 1503)
    shape = device.shape(1503)
    weights = reference.reshape(shape) if device.tree else np.broadcast_to(reference, shape)
    couplings = [0.4, 1.0, 2.0, 6.0]
    curve = landscape.local_entropy(
        device.network(weights), reference[None], [1], couplings=couplings, form=form, rng=0
    )
    assert np.all(curve.converged)
    np.testing.assert_allclose(curve.distance, 1 / (1 + np.exp(2 * np.array(couplings))))
    expected = closed_form(curve.distance.values, binary=True)
    np.testing.assert_allclose(curve.local_entropy, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        expected, franz_parisi.geometric_bound(Perceptron(), curve.distance.values), atol=1e-12
    )


def exact_curve(xi, sigma, reference, couplings):
    """Return distance and entropy per weight by enumeration of the solutions."""
    w = all_weights(xi.shape[1]).astype(float)
    w = w[np.all((w @ xi.T) * sigma > 0, axis=1)]
    overlap = w @ reference
    points = []
    for coupling in couplings:
        largest = (coupling * overlap).max()
        weight = np.exp(coupling * overlap - largest)
        total = weight.sum()
        mean = weight @ overlap / total
        log_total = math.log(total) + largest
        points.append([0.5 * (1 - mean / len(reference)), (log_total - coupling * mean)])
    distance, entropy = np.array(points).T
    return distance, entropy / len(reference)


def test_against_enumeration():
    """Around solutions of 15 weights and three patterns, averaged: errors of some 1/N^2."""
    couplings = [0.1, 0.3, 0.6]
    errors = []
    for seed in range(60):
        xi, sigma = patterns.random(3, 15, rng=seed)
        typical = belief_propagation(Perceptron(), xi, sigma, max_sweeps=200, rng=0)
        if typical.errors:
            continue
        curve = landscape.local_entropy(typical, xi, sigma, couplings=couplings, rng=0)
        if not np.all(curve.converged) or np.any(curve.local_entropy < -0.2):
            continue
        distance, entropy = exact_curve(xi, sigma, typical.weights.astype(float), couplings)
        errors.append([curve.distance - distance, curve.local_entropy - entropy])
    errors = np.array(errors)
    assert len(errors) > 50
    assert np.all(np.abs(errors.mean(axis=0)) < 0.006)
    assert np.sqrt(np.mean(errors**2)) < 0.02


SOLVERS = list(
    zip([*BINARY, *SPHERICAL], [101, 99, 99] * 2, [40, 30, 30, 60, 70, 70], strict=True)
)


@pytest.mark.parametrize(("device", "N", "P"), SOLVERS)
@pytest.mark.parametrize("form", ["exact", "expanded"])
def test_around_solutions(device, N, P, form):
    xi, sigma = patterns.random(P, N, rng=4)
    found = focusing_bp(
        device, xi, sigma, form="expanded", max_sweeps=60, stop_at_solution=True, rng=0
    )
    binary = device.weights.discrete
    assert found.network.errors(xi, sigma) == 0
    couplings = [0.2, 0.5, 1.0] if binary else [0.2, 1.0, 5.0, 20.0]
    curve = landscape.local_entropy(
        found, xi, sigma, couplings=couplings[::-1], form=form, damping=0.3, rng=0
    )
    np.testing.assert_array_equal(curve.coupling, couplings)  # from the weakest, always
    assert np.all(curve.converged)
    assert np.all(curve.residual <= 1e-6)
    assert np.all(curve.sweeps <= 500)
    # a stronger pull is nearer, where fewer solutions are
    assert np.all(np.diff(curve.distance) < 0)
    assert np.all(np.diff(curve.local_entropy) < 0)
    expected = curve.local_entropy - closed_form(curve.distance.values, binary)
    np.testing.assert_allclose(curve.excess, expected, rtol=0, atol=1e-12)
    # the bound holds; by how much patterns may seem to help is the Gaussian step's error
    assert np.all(curve.excess < 0.5 / N)
    assert curve.excess[0] < -0.01
    # the same number by another door
    free = belief_propagation(
        device,
        xi,
        sigma,
        form=form,
        reference=found.weights,
        coupling=couplings[1],
        damping=0.3,
        rng=0,
    )
    assert free.entropy == pytest.approx(float(curve.local_entropy[1]), abs=1e-5)
    assert free.distance == pytest.approx(float(curve.distance[1]), abs=1e-5)


def test_zero_coupling_is_the_whole_space():
    xi, sigma = patterns.random(40, 101, rng=1)
    whole = belief_propagation(Perceptron(), xi, sigma, tolerance=1e-9, rng=0)
    curve = landscape.local_entropy(whole, xi, sigma, couplings=[0.0], tolerance=1e-9, rng=0)
    assert float(curve.local_entropy[0]) == pytest.approx(whole.entropy, abs=1e-8)
    overlap = np.mean(whole.weights * whole.means)
    assert float(curve.distance[0]) == pytest.approx(0.5 * (1 - overlap), abs=1e-8)


def test_points_that_have_not_settled_are_flagged():
    xi, sigma = patterns.random(40, 101, rng=1)
    found = focusing_bp(Perceptron(), xi, sigma, form="expanded", stop_at_solution=True, rng=0)
    curve = landscape.local_entropy(found, xi, sigma, couplings=[0.2, 0.4], max_sweeps=1, rng=0)
    assert not np.any(curve.converged)
    for name in ("distance", "local_entropy", "excess"):
        assert np.all(np.isnan(curve[name]))
    assert np.all(curve.sweeps == 1)
    assert np.all(curve.residual > 1e-6)


def test_entropies_that_cannot_be_are_flagged():
    """A pattern with both labels, often: messages settle on fewer than no weights at all."""
    xi, _ = patterns.random(1, 5, rng=0)
    often = 8
    reference = Perceptron().network([1, -1, 1, 1, -1])
    with pytest.warns(NotSettled):
        curve = landscape.local_entropy(
            reference,
            np.tile(xi, (often, 1)),
            [1, -1] * (often // 2),
            couplings=[0.1, 1.0, 3.0],
            max_sweeps=300,
            rng=0,
        )
    assert np.all(curve.residual <= 1e-6)
    assert not np.any(curve.converged)
    assert np.all(np.isnan(curve.local_entropy))


@pytest.mark.parametrize(("seed", "P"), [(2, 10), (6, 3)])
def test_more_solutions_than_weights_are_flagged(seed, P):
    """Around weights that are no solution messages may settle on what cannot be.

    At the strongest pull on 0.14 to 0.35 more, per weight, than there are.
    """
    device = TreeCommittee(3, weights=Binary())
    weights = np.random.default_rng(seed).choice([-1, 1], (3, 67))
    xi, sigma = patterns.random(P, weights.size, rng=seed)
    with pytest.warns(NotSettled, match="what no solutions can be"):
        curve = landscape.local_entropy(
            device.network(weights), xi, sigma, couplings=[0.3, 1.0, 3.0], rng=0
        )
    np.testing.assert_array_equal(curve.converged, [True, True, False])
    np.testing.assert_array_equal(np.isnan(curve.local_entropy), ~curve.converged)
    assert np.all(curve.residual <= 1e-6)
    assert np.all(curve.excess[:2] <= 0.0)
    with pytest.raises(NotConverged, match="settled on no set of solutions"):
        belief_propagation(
            device, xi, sigma, reference=weights, coupling=3.0, max_sweeps=500, rng=0
        )


def test_the_default_couplings_and_a_seed():
    xi, sigma = patterns.random(6, 41, rng=1)
    found = focusing_bp(Perceptron(), xi, sigma, stop_at_solution=True, rng=0)
    one, same = (
        landscape.local_entropy(found, xi, sigma, rng=3, max_sweeps=100) for _ in range(2)
    )
    assert one.identical(same)
    np.testing.assert_allclose(np.tanh(one.coupling), np.arange(1, 49) / 49)
    real = Perceptron(Spherical()).network(found.weights + 0.5)
    curve = landscape.local_entropy(real, xi, sigma, form="expanded", max_sweeps=5, rng=0)
    assert curve.coupling.values[[0, -1]] == pytest.approx([0.1, 200.0])
    assert len(curve.coupling) == 40
    assert curve.local_entropy.attrs["units"] == "nats per weight"


def test_refusals():
    xi, sigma = patterns.random(4, 6, rng=1)
    w, pair = Perceptron().network(np.ones(6)), np.ones((2, 3))
    for error, match, solution, options in (
        (TypeError, r"solution must be .* device\.network\(w\)", np.ones(6), {}),
        (TypeError, "solution must be .* sign units", ParityMachine(2).network(pair), {}),
        (TypeError, "solution must be .* sign units", networks.ReluCommitteeNetwork(pair), {}),
        (ValueError, r"solution .* got shape \(5,\)", networks.PerceptronNetwork(np.ones(5)), {}),
        (ValueError, r"solution .* \(2, 3\)", networks.TreeCommitteeNetwork(np.ones((2, 6))), {}),
        (ValueError, r"solution .* \(2, 6\)", networks.CommitteeNetwork(pair), {}),
        (ValueError, "units must divide N", networks.TreeCommitteeNetwork(np.ones((4, 1))), {}),
        (ValueError, "couplings must be numbers from 0 to 100", w, {"couplings": []}),
        (ValueError, "couplings must be finite and >= 0", w, {"couplings": [-1.0]}),
        (ValueError, "couplings must be finite and >= 0", w, {"couplings": [np.inf]}),
        (ValueError, "couplings must be numbers from 0 to 100", w, {"couplings": [[1.0]]}),
        (TypeError, "couplings must", w, {"couplings": "default"}),
        (ValueError, "form must be one of", w, {"form": "tap"}),
        (ValueError, "damping must be", w, {"damping": 1.0}),
        (ValueError, "tolerance must be", w, {"tolerance": -1.0}),
        (ValueError, "max_sweeps must be", w, {"max_sweeps": 0}),
    ):
        with pytest.raises(error, match=match):
            landscape.local_entropy(solution, xi, sigma, **options)


def test_excess_between_the_measured_distances():
    """Exact where the curve is of the kind's own form; unknown points and the outside are NaN."""
    D = np.array([0.4, 0.01, np.nan, 0.2, 0.05, 0.1])
    cubic = 1.0 + 2.0 * np.log(D) - 0.3 * np.log(D) ** 3
    curves = np.array([cubic, np.where(D < 0.15, cubic, np.nan)])  # of the second three are known
    places = [0.03, 0.3, 0.5]
    found = landscape.excess_at(places, np.array([D, D]), curves)
    expected = 1.0 + 2.0 * np.log(places) - 0.3 * np.log(places) ** 3
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found[0, :2], expected[:2], rtol=1e-12)
    assert np.all(np.isnan(found[0, 2:]))
    assert np.all(np.isnan(found[1]))
    straight = landscape.excess_at([0.03, 0.3], D, 2.0 - 3.0 * D, kind="linear")
    np.testing.assert_allclose(straight, [1.91, 1.1], rtol=1e-12)
    lone = np.where(D == 0.2, 1.0, np.nan)
    assert np.all(np.isnan(landscape.excess_at([0.2], D, lone, kind="linear")))


def test_refusals_between_distances():
    good = np.array([0.1, 0.2])
    for error, match, arguments, options in (
        (ValueError, "kind must be one of", (0.1, good, good), {"kind": "quadratic"}),
        (ValueError, "places, if not math.inf, must be", (0.0, good, good), {}),
        (ValueError, "places must be distances in one row", ([[0.1]], good, good), {}),
        (ValueError, "same shape", (0.1, good, good[:1]), {}),
        (ValueError, "same shape", (0.1, 0.1, 0.2), {}),
        (TypeError, "excess must", (0.1, good, ["a", "b"]), {}),
    ):
        with pytest.raises(error, match=match):
            landscape.excess_at(*arguments, **options)
