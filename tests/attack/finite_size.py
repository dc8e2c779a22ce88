"""Targets at finite size: what holds of every instance, whatever an algorithm finds on it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from tests.attack.target import Target, between
from tests.attack.values import SEEDS, WEIGHTS, edges, instances, machines, powers
from wfmlib import landscape, learning, patterns
from wfmlib.models import Binary, Perceptron, Spherical

QUICK = {"max_sweeps": 30}
REAL, BINARY = machines(Spherical()), machines(Binary())


def on(drawn, **more):
    """Return the arguments of an algorithm: an instance, and its own."""
    return st.builds(lambda instance, own: instance | own, drawn, st.fixed_dictionaries(more))


def check_solution(found, device, xi, sigma, **_):
    """The errors that are told are those of the weights that are given, which have one norm."""
    assert found.device == device
    assert found.errors == device.network(found.weights).errors(xi, sigma)
    norms = np.sum(np.square(found.weights, dtype=float), axis=-1)
    np.testing.assert_allclose(norms, found.weights.shape[-1], rtol=1e-9)


def check_marginals(found, device, xi, sigma, **_):
    check_solution(found, device, xi, sigma)
    assert np.all(found.variances >= 0.0)
    if device.weights.discrete:
        between("means", found.means, -1.0, 1.0)
    if found.converged:
        most = math.log(2.0) if device.weights.discrete else 0.0
        between("entropy", found.entropy, -math.inf, most + 1e-5 + 1.0 / found.means.size)


def check_again(found, **_):
    """The same call gives the same weights."""
    one, other = found
    np.testing.assert_array_equal(one.weights, other.weights)


def twice(algorithm):
    return lambda **arguments: (algorithm(**arguments), algorithm(**arguments))


def check_counts(found, device, xi, sigma):
    """Patterns and labels that are turned together have the same solutions."""
    between("solutions", found.count, 0, 2 ** xi.shape[1])
    assert counted(device, -xi, -sigma).count == found.count
    assert len(found.solutions) == found.count
    for w in found.solutions[:20]:
        assert device.network(w).errors(xi, sigma) == 0


def counted(device, xi, sigma):
    return learning.enumerate_solutions(device, xi, sigma, keep=2 ** xi.shape[1])


def check_evolution(overlaps, **_):
    between("overlaps", overlaps, 0.0, 1.0)


def check_layers(found, xi, sigma, classes, **_):
    """Signs throughout, and the errors are those of the network that is given."""
    assert found.errors == found.network.errors(xi, sigma)
    assert found.network.classes == classes
    for layer in found.weights:
        np.testing.assert_array_equal(np.abs(layer), 1)


def check_replicas(found, device, xi, sigma, replicas, **_):
    check_solution(found, device, xi, sigma)
    assert found.replicas.shape[0] == replicas
    told = [device.network(w).errors(xi, sigma) for w in found.replicas]
    np.testing.assert_array_equal(found.replica_errors, told)
    between("overlap", found.overlap, -1.0, 1.0)


def check_protocol(found, steps, exponent, last):
    """From no coupling, and two replicas where the field is theirs alone, to ever more."""
    coupling, replicas = found.T
    rate = np.linspace(0.0, last, steps)
    assert found.shape == (steps, 2)
    assert np.all(np.diff(replicas) >= 0.0)
    between("replicas", replicas, 1.0, math.inf)
    if exponent > 0.0:
        field = (replicas - 1.0) * np.tanh(coupling) ** 2  # of the others, while it is small
        np.testing.assert_allclose(field, rate / (1.0 - rate), rtol=1e-9, atol=1e-12)


@st.composite
def labelled(draw):
    """Return patterns with labels of two classes or more, and a network's hidden layers."""
    P, N = draw(st.integers(1, 30)), 2 * draw(st.integers(0, 15)) + 1
    classes = draw(st.integers(2, 5))
    xi, sigma = patterns.random(P, N, rng=draw(SEEDS))
    if classes > 2:
        sigma = np.random.default_rng(draw(SEEDS)).integers(0, classes, P)
    odd = st.integers(0, 4).map(lambda half: 2 * half + 1)
    return {
        "xi": xi,
        "sigma": sigma,
        "classes": classes,
        "units": draw(st.lists(odd, min_size=1, max_size=3)),
    }


@st.composite
def weighted(draw):
    """Return an instance with a network on it: of weights +-1, or real ones."""
    drawn = draw(instances(REAL + BINARY))
    device, rng = drawn.pop("device"), np.random.default_rng(draw(SEEDS))
    shape = device.shape(drawn["xi"].shape[1])
    w = rng.choice([-1, 1], shape) if device.weights.discrete else rng.standard_normal(shape)
    return {"solution": device.network(w)} | drawn


def check_volume(curve, solution, **_):
    good = curve.converged.values
    assert np.all(np.isnan(curve.excess.values[~good]))
    between("excess", curve.excess.values[good], -math.inf, 1e-5 + 1.0 / solution.w.size)
    between("distance", curve.distance.values[good], 0.0, 1.0)


def check_hessian(found, **_):
    matrix, spectrum, largest = found
    scale = np.abs(matrix).max() + 1.0
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(spectrum, np.linalg.eigvalsh(matrix), rtol=0, atol=1e-8 * scale)
    between("largest", largest, spectrum[-1] - 1e-4 * scale, spectrum[-1] + 1e-4 * scale)


def curvature(**at):
    matrix = landscape.hessian(**at)
    return matrix, landscape.hessian_spectrum(**at), landscape.max_eigenvalue(**at)


def check_profile(found, **_):
    between("error rate", found.error_rate.values, 0.0, 1.0)
    between("realised", found.realised.values, 0.0, 1.0)


def check_overlap(found, w1, w2):
    between("overlap", found, -1.0 - 1e-12, 1.0 + 1e-12)
    np.testing.assert_allclose(landscape.overlap(w2, w1), found, rtol=0, atol=1e-12)


@st.composite
def pairs(draw):
    """Return two weight vectors of one size."""
    N, rng = draw(st.integers(1, 40)), np.random.default_rng(draw(SEEDS))
    return {"w1": rng.standard_normal(N), "w2": rng.standard_normal(N)}


@st.composite
def moved(draw):
    """Return a network on an instance, and how far its weights are to be moved."""
    drawn = draw(weighted().filter(lambda one: one["solution"].w.shape[-1] > 1))
    return drawn | {"distances": draw(edges(0.0, 1.0)), "rng": draw(SEEDS), "samples": 3}


ALL, SMOOTH = instances(REAL + BINARY), instances(REAL)
DESCENT = {"max_epochs": st.just(30), "rng": SEEDS}
LEARNING = [
    Target(
        learning.belief_propagation,
        on(
            ALL,
            rng=SEEDS,
            damping=edges(0.0, 0.9),
            form=st.sampled_from(["exact", "expanded"]),
        ).map(lambda one: one | QUICK),
        check_marginals,
    ),
    Target(
        learning.focusing_bp,
        on(ALL, rng=SEEDS, replicas=powers(1.0, 100.0)).map(
            lambda one: one | QUICK | {"protocol": [0.5, 2.0]}
        ),
        check_solution,
    ),
    Target(
        twice(learning.least_action),
        on(SMOOTH, **DESCENT),
        check_again,
        (learning.least_action,),
    ),
    Target(learning.least_action, on(SMOOTH, **DESCENT), check_solution),
    Target(
        learning.entropic_least_action,
        on(SMOOTH, **DESCENT, replicas=st.integers(2, 5)),
        check_solution,
    ),
    Target(learning.cross_entropy_sgd, on(SMOOTH, **DESCENT), check_solution),
    Target(
        learning.simulated_annealing,
        on(instances(BINARY), rng=SEEDS, sweeps=st.integers(1, 30), steps=st.integers(1, 5)),
        check_solution,
    ),
    Target(
        learning.replicated_annealing,
        on(
            instances(BINARY),
            rng=SEEDS,
            replicas=st.integers(2, 5),
            overlap=st.floats(0.05, 0.95),
            loss=st.sampled_from(["errors", "cross-entropy"]),
            sweeps=st.integers(5, 30),
            steps=st.integers(1, 5),
        ),
        check_replicas,
    ),
    Target(
        learning.binary_sgd,
        on(
            labelled(),
            rng=SEEDS,
            eta=powers(1e-4, 10.0),
            momentum=st.floats(0.0, 0.99),
            gamma=powers(1e-2, 100.0),
            batch=st.integers(1, 40),
            epochs=st.integers(1, 5),
        ),
        check_layers,
    ),
    Target(
        learning.pseudo_reinforcement,
        st.fixed_dictionaries(
            {
                "steps": st.integers(2, 50),
                "exponent": edges(0.0, 0.5),
                "last": st.floats(0.01, 0.999),
            }
        ),
        check_protocol,
    ),
    Target(
        counted,
        instances([Perceptron()], most_weights=13),
        check_counts,
        (learning.enumerate_solutions,),
    ),
    Target(
        learning.state_evolution,
        st.fixed_dictionaries(
            {
                "device": st.sampled_from([Perceptron(weights) for weights in WEIGHTS]),
                "alpha": powers(1e-6, 30.0),
                "sweeps": st.integers(1, 60),
            }
        ),
        check_evolution,
    ),
    Target(
        patterns.random,
        st.fixed_dictionaries({"P": st.integers(1, 50), "N": st.integers(1, 50), "rng": SEEDS}),
        lambda found, **_: between("xi", np.abs(found[0]), 1, 1),
    ),
]
LANDSCAPE = [
    Target(
        landscape.local_entropy,
        on(weighted(), couplings=st.lists(powers(0.01, 20.0), min_size=1, max_size=4)).map(
            lambda one: one | {"max_sweeps": 60, "damping": 0.5}
        ),
        check_volume,
    ),
    Target(
        curvature,
        on(weighted(), beta=powers(0.1, 20.0)),
        check_hessian,
        (landscape.hessian, landscape.hessian_spectrum, landscape.max_eigenvalue),
    ),
    Target(landscape.error_profile, moved(), check_profile),
    Target(landscape.overlap, pairs(), check_overlap),
]

TARGETS = [*LEARNING, *LANDSCAPE]
