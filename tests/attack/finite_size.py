"""Targets at finite size: what holds of every instance, whatever an algorithm finds on it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from tests.attack.target import Target, between
from tests.attack.values import SEEDS, WEIGHTS, edges, instances, powers
from wfmlib import landscape, learning, networks, patterns
from wfmlib.theory import Binary

QUICK = {"max_sweeps": 30}


def on(drawn, **more):
    """Return the arguments of an algorithm: an instance, and its own."""
    return st.builds(lambda instance, own: instance | own, drawn, st.fixed_dictionaries(more))


def network(weights, units, tree):
    """Return the network with these weights."""
    if units == 1:
        return networks.Perceptron(np.ravel(weights))
    return (networks.TreeCommittee if tree else networks.Committee)(weights)


def check_solution(found, xi, sigma, units, tree=True, **_):
    """The errors that are told are those of the weights that are given."""
    assert np.all(np.isfinite(found.weights))
    assert found.errors == network(found.weights, units, tree).errors(xi, sigma)


def check_marginals(found, xi, sigma, units, tree, weights, **_):
    check_solution(found, xi, sigma, units, tree)
    assert np.all(found.variances >= 0.0)
    if isinstance(weights, Binary):
        between("means", found.means, -1.0, 1.0)
    if found.converged:
        most = math.log(2.0) if isinstance(weights, Binary) else 0.0
        between("entropy", found.entropy, -math.inf, most + 1e-5 + 1.0 / found.means.size)


def check_again(found, **_):
    """The same call gives the same weights."""
    one, other = found
    np.testing.assert_array_equal(one.weights, other.weights)


def twice(algorithm):
    return lambda **arguments: (algorithm(**arguments), algorithm(**arguments))


def check_counts(found, xi, sigma, **_):
    """Patterns and labels that are turned together have the same solutions."""
    N = xi.shape[1]
    between("solutions", found.count, 0, 2**N)
    turned = learning.enumerate_solutions(-xi, -sigma, keep=2**N)
    assert turned.count == found.count
    kept = found.solutions
    assert len(kept) == found.count
    for w in kept[:20]:
        assert networks.Perceptron(w).errors(xi, sigma) == 0


def counted(xi, sigma):
    return learning.enumerate_solutions(xi, sigma, keep=2 ** xi.shape[1])


def check_evolution(overlaps, **_):
    between("overlaps", overlaps, 0.0, 1.0)


@st.composite
def weighted(draw, units=(1, 3)):
    """Return an instance with weights on it: +-1, or real ones."""
    drawn = draw(instances(units=units))
    K, tree, N = drawn["units"], drawn["tree"], drawn["xi"].shape[1]
    shape = (N,) if K == 1 else (K, N // K if tree else N)
    rng = np.random.default_rng(draw(SEEDS))
    w = rng.choice([-1.0, 1.0], shape) if draw(st.booleans()) else rng.standard_normal(shape)
    return {"weights": w, "xi": drawn["xi"], "sigma": drawn["sigma"], "tree": tree}


def check_volume(curve, weights, **_):
    good = curve.converged.values
    assert np.all(np.isnan(curve.excess.values[~good]))
    between("excess", curve.excess.values[good], -math.inf, 1e-5 + 1.0 / weights.size)
    between("distance", curve.distance.values[good], 0.0, 1.0)


def check_hessian(found, weights, xi, sigma, tree, beta):
    matrix, spectrum, largest = found
    scale = np.abs(matrix).max() + 1.0
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(spectrum, np.linalg.eigvalsh(matrix), rtol=0, atol=1e-8 * scale)
    between("largest", largest, spectrum[-1] - 1e-4 * scale, spectrum[-1] + 1e-4 * scale)


def curvature(weights, xi, sigma, tree, beta):
    at = {"weights": weights, "xi": xi, "sigma": sigma, "tree": tree, "beta": beta}
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
    """Return weights on an instance, and how far they are to be moved."""
    drawn = draw(weighted().filter(lambda one: one["weights"].shape[-1] > 1))
    drawn["net"] = drawn.pop("weights")
    return drawn | {"distances": draw(edges(0.0, 1.0)), "seed": draw(SEEDS), "samples": 3}


MACHINES = instances(units=(1, 3))
GRADIENTS = {"max_epochs": st.just(30), "seed": SEEDS}
LEARNING = [
    Target(
        learning.belief_propagation,
        on(
            MACHINES,
            weights=WEIGHTS,
            seed=SEEDS,
            damping=edges(0.0, 0.9),
            form=st.sampled_from(["exact", "expanded"]),
        ).map(lambda one: one | QUICK),
        check_marginals,
    ),
    Target(
        learning.focusing_bp,
        on(MACHINES, weights=WEIGHTS, seed=SEEDS, replicas=powers(1.0, 100.0)).map(
            lambda one: one | QUICK | {"protocol": [0.5, 2.0]}
        ),
        check_solution,
    ),
    Target(
        twice(learning.least_action),
        on(MACHINES, **GRADIENTS),
        check_again,
        (learning.least_action,),
    ),
    Target(learning.least_action, on(MACHINES, **GRADIENTS), check_solution),
    Target(
        learning.entropic_least_action,
        on(MACHINES, **GRADIENTS, replicas=st.integers(2, 5)),
        check_solution,
    ),
    Target(learning.cross_entropy_sgd, on(MACHINES, **GRADIENTS), check_solution),
    Target(
        learning.simulated_annealing,
        on(MACHINES, seed=SEEDS, sweeps=st.integers(1, 30), steps=st.integers(1, 5)),
        check_solution,
    ),
    Target(
        counted,
        instances(most_weights=13).map(lambda one: {k: one[k] for k in ("xi", "sigma")}),
        check_counts,
        (learning.enumerate_solutions,),
    ),
    Target(
        learning.state_evolution,
        st.fixed_dictionaries(
            {"alpha": powers(1e-6, 30.0), "sweeps": st.integers(1, 60), "weights": WEIGHTS}
        ),
        check_evolution,
    ),
    Target(
        patterns.random,
        st.fixed_dictionaries({"P": st.integers(1, 50), "N": st.integers(1, 50), "seed": SEEDS}),
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
