"""Instances of finite size, drawn: what holds whatever an algorithm finds on them.

And what holds however they are asked: numbers of other types, arrays of other layouts, threads.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from tests.drawn import (
    BINARY,
    DISTANCES,
    LOADS,
    OVERLAPS,
    REAL,
    SEEDS,
    answer,
    around,
    between,
    edges,
    instances,
    models,
    powers,
    properties,
    weighted,
)
from wfmlib import landscape, learning, patterns
from wfmlib.models import Binary, ParityMachine, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics import _threads
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi, large_deviation, typical

SHARP = 3.0  # of all tanh units at most, which bounds the third derivative: a slope's error
COUPLINGS = st.lists(powers(0.01, 20.0), min_size=1, max_size=3).map(np.array)
ALL, SMOOTH = instances(REAL + BINARY), instances(REAL)

# ------------------------------------------------------------------------------------------------
# Learning
# ------------------------------------------------------------------------------------------------


def check_solution(found, device, xi, sigma):
    """The errors that are told are those of the weights that are given, which have one norm."""
    assert found.device == device
    assert found.errors == device.network(found.weights).errors(xi, sigma)
    norms = np.sum(np.square(found.weights, dtype=float), axis=-1)
    np.testing.assert_allclose(norms, found.weights.shape[-1], rtol=1e-9)


@properties
@given(ALL, SEEDS, edges(0.0, 0.9), st.sampled_from(["exact", "expanded"]))
def test_messages(instance, rng, damping, form):
    asked = {"rng": rng, "damping": damping, "form": form, "max_sweeps": 30}
    found = answer(learning.belief_propagation, **instance, **asked)
    check_solution(found, **instance)
    assert np.all(found.variances >= 0.0)
    discrete = instance["device"].weights.discrete
    if discrete:
        between("means", found.means, -1.0, 1.0)
    if found.converged:
        most = math.log(2.0) if discrete else 0.0
        between("entropy", found.entropy, -math.inf, most + 1e-5 + 1.0 / found.means.size)


@properties
@given(ALL, SEEDS, powers(1.0, 100.0))
def test_focused_messages(instance, rng, replicas):
    asked = {"rng": rng, "replicas": replicas, "protocol": [0.5, 2.0], "max_sweeps": 30}
    check_solution(answer(learning.focusing_bp, **instance, **asked), **instance)


@properties
@given(SMOOTH, SEEDS, st.integers(2, 5))
def test_descent(instance, rng, replicas):
    asked = {"rng": rng, "max_epochs": 30}
    found = answer(learning.least_action, **instance, **asked)
    check_solution(found, **instance)
    again = learning.least_action(**instance, **asked)
    np.testing.assert_array_equal(again.weights, found.weights)
    check_solution(answer(learning.cross_entropy_sgd, **instance, **asked), **instance)
    many = answer(learning.entropic_least_action, **instance, **asked, replicas=replicas)
    check_solution(many, **instance)


@properties
@given(
    instances(BINARY),
    SEEDS,
    st.integers(5, 30),
    st.integers(1, 5),
    st.integers(2, 5),
    st.floats(0.05, 0.95),
    st.sampled_from(["errors", "cross-entropy"]),
)
def test_annealing(instance, rng, sweeps, steps, replicas, overlap, loss):
    asked = {"rng": rng, "sweeps": sweeps, "steps": steps, "loss": loss}
    check_solution(answer(learning.simulated_annealing, **instance, **asked), **instance)
    asked |= {"replicas": replicas, "overlap": overlap}
    found = answer(learning.replicated_annealing, **instance, **asked)
    check_solution(found, **instance)
    told = [instance["device"].network(w).errors(instance["xi"], instance["sigma"])
            for w in found.replicas]  # fmt: skip
    np.testing.assert_array_equal(found.replica_errors, told)
    assert len(told) == replicas
    between("overlap", found.overlap, -1.0, 1.0)


@properties
@given(st.data(), st.integers(1, 30), st.integers(0, 15), st.integers(2, 5), SEEDS)
def test_layers_of_signs(data, P, half, classes, rng):
    xi, sigma = patterns.random(P, 2 * half + 1, rng=rng)
    if classes > 2:
        sigma = np.random.default_rng(rng).integers(0, classes, P)
    odd = st.integers(0, 4).map(lambda half: 2 * half + 1)
    units = data.draw(st.lists(odd, min_size=1, max_size=3))
    drawn = {"eta": powers(1e-4, 10.0), "momentum": st.floats(0.0, 0.99)}
    drawn |= {
        "gamma": powers(1e-2, 100.0),
        "batch": st.integers(1, 40),
        "epochs": st.integers(1, 5),
    }
    asked = {"xi": xi, "sigma": sigma, "classes": classes, "units": units, "rng": rng}
    found = answer(learning.binary_sgd, **asked, **data.draw(st.fixed_dictionaries(drawn)))
    assert found.errors == found.network.errors(xi, sigma)
    assert found.network.classes == classes
    for layer in found.weights:
        np.testing.assert_array_equal(np.abs(layer), 1)


@properties
@given(st.integers(2, 50), edges(0.0, 0.5), st.floats(0.01, 0.999))
def test_protocols_go_to_ever_more(steps, exponent, last):
    """From no coupling, and two replicas where the field is theirs alone."""
    found = answer(learning.pseudo_reinforcement, steps=steps, exponent=exponent, last=last)
    coupling, replicas = found.T
    assert np.all(np.diff(replicas) >= 0.0)
    between("replicas", replicas, 1.0, math.inf)
    if exponent > 0.0:
        rate = np.linspace(0.0, last, steps)
        field = (replicas - 1.0) * np.tanh(coupling) ** 2  # of the others, while it is small
        np.testing.assert_allclose(field, rate / (1.0 - rate), rtol=1e-9, atol=1e-12)
    for rising in (learning.exponential(steps=steps), learning.atanh_steps(steps=steps)):
        first = np.asarray(rising).reshape(steps, -1)[:, 0]
        assert np.all(np.diff(first) > 0.0)


@properties
@given(st.sampled_from([Binary(), Spherical()]), powers(1e-6, 30.0), st.integers(1, 60))
def test_state_evolution(weights, alpha, sweeps):
    asked = {"device": Perceptron(weights), "alpha": alpha, "sweeps": sweeps}
    between("overlaps", answer(learning.state_evolution, **asked), 0.0, 1.0)


# ------------------------------------------------------------------------------------------------
# Counts
# ------------------------------------------------------------------------------------------------

MACHINES = [Perceptron(), TreeCommittee(3, weights=Binary()), ParityMachine(3, weights=Binary())]


@properties
@given(instances(MACHINES, most_patterns=10, most_weights=11))
def test_all_solutions(instance):
    """Patterns and labels that are turned together have the same; every field says who solves."""
    device, xi, sigma = instance.values()
    every = learning.all_weights(xi.shape[1])
    found = answer(learning.enumerate_solutions, **instance, keep=len(every))
    assert learning.enumerate_solutions(device, -xi, -sigma).count == found.count
    shape = device.shape(xi.shape[1])
    right = [device.network(w.reshape(shape)).errors(xi, sigma) == 0 for w in every]
    np.testing.assert_array_equal(every[right], found.solutions.reshape(-1, xi.shape[1]))
    assert found.count == len(found.solutions)


@properties
@given(st.data(), st.integers(1, 10), SEEDS, st.integers(1, 4))
def test_counts_around_solutions(data, N, seed, replicas):
    distance = data.draw(st.integers(0, N))
    rows = np.random.default_rng(seed).permutation(2**N)[: data.draw(st.integers(0, 40))]
    solutions = learning.all_weights(N)[rows]
    apart = (solutions[:, None] != solutions).sum(axis=-1) == distance
    everywhere, here = (answer(learning.surrounding_counts, solutions=solutions,
                               distance=distance, centres=centres)
                        for centres in ("all", "solutions"))  # fmt: skip
    assert everywhere.sum() == len(solutions) * math.comb(N, distance)
    np.testing.assert_array_equal(everywhere[rows], here)
    np.testing.assert_array_equal(here, apart.sum(axis=1))
    few = solutions[:12]
    if distance == 0 or replicas == 1:
        expected = len(few)
    else:
        sets = combinations(range(len(few)), replicas)
        alike = sum(all(apart[a, b] for a, b in combinations(s, 2)) for s in sets)
        expected = alike * math.factorial(replicas)
    asked = {"solutions": few, "distance": distance, "replicas": replicas}
    assert answer(learning.solution_clusters, **asked) == expected


# ------------------------------------------------------------------------------------------------
# The landscape
# ------------------------------------------------------------------------------------------------


@properties
@given(weighted(), COUPLINGS, edges(0.0, 1.0), SEEDS)
def test_volumes_and_profiles(model, couplings, distances, rng):
    asked = {"couplings": couplings, "max_sweeps": 60, "damping": 0.5}
    curve = answer(landscape.local_entropy, **model, **asked)
    good = curve.converged.values
    assert np.all(np.isnan(curve.excess.values[~good]))
    most = 1e-5 + 1.0 / model["solution"].w.size
    between("excess", curve.excess.values[good], -math.inf, most)
    between("distance", curve.distance.values[good], 0.0, 1.0)
    if model["solution"].w.shape[-1] > 1:
        asked = {"distances": distances, "rng": rng, "samples": 3}
        profile = answer(landscape.error_profile, **model, **asked)
        between("error rate", profile.error_rate.values, 0.0, 1.0)
        between("realised", profile.realised.values, 0.0, 1.0)


LOSSES = st.fixed_dictionaries(
    {name: powers(0.05, SHARP) for name in ("beta", "output_beta", "gamma")}
    | {"loss": st.sampled_from(["square", "linear", "cross-entropy"])}
)


@properties
@given(weighted(), LOSSES, SEEDS)
def test_slope_and_curvature_of_a_loss(model, at, seed):
    """Lengths of units play no role; the gradient is a difference; four ways to the curvature.

    A difference over 2 h errs by h^2 / 6 times the third derivative, and by rounding over h. A
    field changes by at most sqrt(M), and two tanh in a row are as sharp as their product.
    """
    solution, asked = model["solution"], model | at
    loss = answer(landscape.smoothed_loss, **asked)
    between("loss", loss, 0.0, math.inf)
    w = solution.w / np.linalg.norm(solution.w, axis=-1, keepdims=True)
    longer = asked | {"solution": type(solution)(3.0 * w)}
    np.testing.assert_allclose(landscape.smoothed_loss(**longer), loss, rtol=1e-9, atol=1e-9)

    direction = np.random.default_rng(seed).standard_normal(w.shape)
    direction /= np.linalg.norm(direction)
    h = 1e-6
    moved = [type(solution)(w + step * direction) for step in (h, -h)]
    sides = [landscape.smoothed_loss(**asked | {"solution": one}) for one in moved]
    slope = np.sum(answer(landscape.gradient, **asked, tangent=True) * direction)
    bent = (SHARP**2 * math.sqrt(w.shape[-1])) ** 3
    error = h**2 * bent + 1e-15 * (1.0 + sum(sides)) / h
    between("slope", (sides[0] - sides[1]) / (2.0 * h) - slope, -error, error)

    matrix = answer(landscape.hessian, **asked)
    scale = np.abs(matrix).max() + 1.0
    product = answer(landscape.hessian_product, **asked, direction=direction)
    expected = (matrix @ direction.ravel()).reshape(direction.shape)
    np.testing.assert_allclose(product, expected, rtol=0, atol=1e-11 * scale * w.size)
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-10 * scale)
    spectrum = answer(landscape.hessian_spectrum, **asked)
    np.testing.assert_allclose(spectrum, np.linalg.eigvalsh(matrix), rtol=0, atol=1e-8 * scale)
    largest = answer(landscape.max_eigenvalue, **asked)
    between("largest", largest, spectrum[-1] - 1e-4 * scale, spectrum[-1] + 1e-4 * scale)


@properties
@given(weighted())
def test_from_the_smallest_beta_on_no_pattern_is_wrong(model):
    solution, xi = model["solution"], model["xi"]
    labels = solution.output(xi)
    found = answer(landscape.smallest_beta, solution=solution, xi=xi, sigma=labels)

    def worst(beta):
        at = {"beta": beta, "loss": "cross-entropy", "gamma": 1.0}
        each = zip(xi, labels, strict=True)
        return max(landscape.smoothed_loss(solution, x[None], [y], **at) for x, y in each)

    right = math.log(2.0) / 2.0  # a pattern that is right has a smaller cross-entropy
    for factor in (1.0, 3.0, 30.0):
        beta = factor * (found * (1.0 + 1e-6) + 1e-6)
        between("loss of the worst pattern", worst(beta), 0.0, right + 1e-12)
    if found > 0.0:
        between("loss of the worst pattern there", worst(found), right - 1e-9, right + 1e-12)


@properties
@given(st.integers(1, 8), st.integers(1, 30), SEEDS, st.booleans())
def test_units_are_found_again(K, N, seed, signs):
    """In another order, and with other signs. Of one weight each they are alike, or opposite."""
    rng = np.random.default_rng(seed)
    w1 = rng.standard_normal((K, N))
    w2 = ((rng.choice([-1.0, 1.0], (K, 1)) if signs else 1.0) * w1)[rng.permutation(K)]
    found = answer(landscape.match_units, w1=w1, w2=w2, signs=signs)
    assert sorted(found.permutation) == list(range(K))
    again = found.signs[:, None] * w2[found.permutation]
    norms = np.linalg.norm(w1, axis=1) * np.linalg.norm(again, axis=1)
    between("cosines", np.sum(w1 * again, axis=1) / norms, 1.0 - 1e-12, 1.0 + 1e-12)
    assert signs or np.all(found.signs == 1)
    between("overlap", answer(landscape.overlap, w1=w1, w2=w2), -1.0 - 1e-12, 1.0 + 1e-12)


# ------------------------------------------------------------------------------------------------
# One answer, however it is asked
# ------------------------------------------------------------------------------------------------


def told(call, arguments):
    """Return what a call gives, by name: the numbers of its answer, or why there is none."""
    try:
        return numbers(call(**arguments))
    except (NotConverged, TypeError, ValueError) as error:
        return {type(error).__name__: str(error)}


def numbers(found, name="answer"):
    """Return what is in an answer: arrays, texts and the rest that is compared, by name."""
    if isinstance(found, xr.Dataset):
        parts = {key: found[key].values for key in found.variables}
    elif dataclasses.is_dataclass(found):
        parts = {one.name: getattr(found, one.name) for one in dataclasses.fields(found)}
    elif isinstance(found, dict):
        parts = found
    elif isinstance(found, (list, tuple)):
        parts = dict(enumerate(found))
    elif isinstance(found, (bool, int, float, np.generic, np.ndarray)):
        return {name: np.asarray(found)}
    else:
        return {name: repr(found)}
    held = {f"{name}.{key}": part for key, part in parts.items()}
    return {key: value for at, part in held.items() for key, value in numbers(part, at).items()}


def as_float32(value):
    """Return a number, or an array, as float32 can hold it: the other types hold it as well."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(np.float32).astype(float)
    return float(np.float32(value)) if type(value) is float else value


def held_as(kind):
    """Return a function that gives the same numbers in another type."""

    def change(value):
        if type(value) is float:
            return kind(value)
        return value.astype(kind) if isinstance(value, np.ndarray) else value

    return change


def laid(out):
    """Return a function that gives the same arrays in another layout."""
    return lambda value: out(value) if isinstance(value, np.ndarray) else value


TYPES = [
    held_as(np.float32),
    held_as(np.longdouble),
    laid(np.asfortranarray),
    laid(lambda value: np.repeat(value, 2, axis=-1)[..., ::2]),
    laid(lambda value: value[..., ::-1].copy()[..., ::-1]),
]


def with_own(drawn, **more):
    """Return the arguments of a call: what is drawn, and its own."""
    return st.builds(lambda one, own: one | own, drawn, st.fixed_dictionaries(more))


MESSAGES = with_own(ALL, rng=SEEDS, damping=edges(0.0, 0.9), max_sweeps=st.just(30))
DESCENT = with_own(SMOOTH, rng=SEEDS, max_epochs=st.just(30))
COUNTED = instances([Perceptron()], most_weights=13)
VOLUME = with_own(weighted(), couplings=COUPLINGS, rng=SEEDS, max_sweeps=st.just(40))
IN_TYPES = [
    (typical.solve, with_own(models(), alpha=LOADS)),
    (franz_parisi.solve, with_own(around(), distance=DISTANCES, alpha=LOADS)),
    (large_deviation.solve, with_own(models(), overlap=OVERLAPS, alpha=LOADS)),
    (learning.belief_propagation, MESSAGES),
    (learning.least_action, DESCENT),
    (learning.cross_entropy_sgd, DESCENT),
    (learning.enumerate_solutions, COUNTED),
    (landscape.local_entropy, VOLUME),
    (landscape.hessian, with_own(weighted(), beta=powers(0.1, 20.0))),
]
COOLED = with_own(instances(BINARY), rng=SEEDS, sweeps=st.just(10), steps=st.integers(1, 5))
IN_THREADS = [
    (learning.belief_propagation, MESSAGES),
    (learning.enumerate_solutions, COUNTED),
    (learning.simulated_annealing, COOLED),
    (landscape.local_entropy, VOLUME),
]
NAMED = {"ids": lambda one: getattr(one, "__name__", "")}


@pytest.mark.parametrize(("call", "drawn"), IN_TYPES, **NAMED)
@properties
@given(st.data())
def test_types_and_layouts_change_no_bit(call, drawn, data):
    same = {name: as_float32(value) for name, value in data.draw(drawn).items()}
    expected = told(call, same)
    for change in TYPES:
        found = told(call, {name: change(value) for name, value in same.items()})
        np.testing.assert_equal(found, expected)


@pytest.mark.parametrize(("call", "drawn"), IN_THREADS, **NAMED)
@properties
@given(st.data())
def test_threads_change_no_bit(call, drawn, data):
    arguments, answers = data.draw(drawn), []
    for count in (1, 4):
        with pytest.MonkeyPatch.context() as patched, threadpool_limits(limits=count):
            patched.setattr(_threads, "available", lambda count=count: count)
            answers.append(told(call, arguments))
    np.testing.assert_equal(*answers)
