"""Targets asked in several ways: whatever numbers, threads or processes are, one answer.

Each asks one question twice or more and holds that all answers are the same. A refusal and
`NotConverged` are answers too: they must come every way, in the same words.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import xarray as xr
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from tests.attack.finite_size import ALL, BINARY, QUICK, SMOOTH, curvature, on, weighted
from tests.attack.target import Target
from tests.attack.theory import arguments, around, model
from tests.attack.values import DISTANCES, LOADS, OVERLAPS, SEEDS, edges, instances, powers
from wfmlib import landscape, learning
from wfmlib.models import Margin, Perceptron, TreeCommittee
from wfmlib.numerics import _threads
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import franz_parisi, large_deviation, typical

PATIENCE = 300.0  # seconds for an answer of another process: what fails there may hang


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


def check_one_answer(answers, rtol=0.0, atol=0.0, **_):
    """All answers are that of the first way: to the bit, unless a tolerance is given."""
    (first, expected), *others = answers.items()
    for way, found in others:
        assert found.keys() == expected.keys(), f"{first}: {expected}; {way}: {found}"
        for name, value in expected.items():
            told = f"{name}: {first} and {way} differ"
            if isinstance(value, str) or value.dtype.kind not in "f":
                assert np.array_equal(found[name], value), f"{told}: {value}, {found[name]}"
            else:
                np.testing.assert_allclose(found[name], value, rtol, atol, err_msg=told)


# ------------------------------------------------------------------------------------------------
# Types of numbers, and how arrays lie
# ------------------------------------------------------------------------------------------------


def rounded(value):
    """Return a number, or an array, as float32 can hold it."""
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


TYPES = {
    "float64": lambda value: value,
    "float32": held_as(np.float32),
    "longdouble": held_as(np.longdouble),
    "Fortran order": laid(np.asfortranarray),
    "every second": laid(lambda value: np.repeat(value, 2, axis=-1)[..., ::2]),
    "backwards": laid(lambda value: value[..., ::-1].copy()[..., ::-1]),
}


def in_types(call):
    """Return the question with the numbers of its arguments in each type."""

    def asked(**arguments):
        same = {name: rounded(value) for name, value in arguments.items()}
        return {
            way: told(call, {name: change(value) for name, value in same.items()})
            for way, change in TYPES.items()
        }

    return asked


# ------------------------------------------------------------------------------------------------
# Threads
# ------------------------------------------------------------------------------------------------


class Threads:
    """So many threads for the package, BLAS and OpenMP, however many processors there are."""

    def __init__(self, number):
        self.number, self.limits = number, threadpool_limits(limits=number)

    def __enter__(self):
        self.kept, _threads.available = _threads.available, lambda: self.number

    def __exit__(self, *_):
        _threads.available = self.kept
        self.limits.restore_original_limits()


def in_threads(call):
    """Return the question with one thread, and with four."""

    def asked(**arguments):
        answers = {}
        for number in (1, 4):
            with Threads(number):
                answers[f"{number} threads"] = told(call, arguments)
        return answers

    return asked


# ------------------------------------------------------------------------------------------------
# Processes
# ------------------------------------------------------------------------------------------------


@functools.cache
def spawned():
    """Return a process that started empty; one for all calls, since it imports the package."""
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def forked(call, arguments):
    """Return what a child tells that has all that this process had when it was forked."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply_async(told, (call, arguments)).get(PATIENCE)


def in_processes(call):
    """Return the question asked here, in a fork of this process, and in an empty one."""

    def asked(**arguments):
        answers = {"here": told(call, arguments)}
        if "fork" in multiprocessing.get_all_start_methods():
            answers["fork"] = forked(call, arguments)
        answers["spawn"] = spawned().submit(told, call, arguments).result(PATIENCE)
        return answers

    return asked


# ------------------------------------------------------------------------------------------------
# Questions
# ------------------------------------------------------------------------------------------------

TYPICAL = arguments(model(), alpha=LOADS)
AROUND = arguments(around(), distance=DISTANCES, alpha=LOADS)
GROUPS = arguments(model(), overlap=OVERLAPS, alpha=LOADS, replicas=powers(1.0, 1e5))
THREE = st.fixed_dictionaries(  # its averages are shared out to threads
    {
        "device": st.just(TreeCommittee(3)),
        "alpha": st.floats(0.1, 1.0),
        "overlap": st.floats(0.5, 0.95),
        "replicas": st.just(math.inf),
        "constraint": st.just(Margin(0.0)),
    }
)
MESSAGES = on(ALL, rng=SEEDS, damping=edges(0.0, 0.9)).map(lambda one: one | QUICK)
DESCENT = on(SMOOTH, rng=SEEDS, max_epochs=st.just(30))
COUNTED = instances([Perceptron()], most_weights=13)
COUPLINGS = st.lists(powers(0.01, 20.0), min_size=1, max_size=3).map(np.array)
VOLUME = on(weighted(), couplings=COUPLINGS, rng=SEEDS, max_sweeps=st.just(40))
CURVED = on(weighted(), beta=powers(0.1, 20.0))
COOLED = on(instances(BINARY), rng=SEEDS, sweeps=st.integers(1, 20), steps=st.integers(1, 5))

ASKED = [
    (in_types, typical.solve, TYPICAL),
    (in_types, franz_parisi.solve, AROUND),
    (in_types, large_deviation.solve, GROUPS),
    (in_types, learning.belief_propagation, MESSAGES),
    (in_types, learning.least_action, DESCENT),
    (in_types, learning.cross_entropy_sgd, DESCENT),
    (in_types, learning.enumerate_solutions, COUNTED),
    (in_types, landscape.local_entropy, VOLUME),
    (in_types, landscape.hessian, CURVED),
    (in_threads, large_deviation.solve, THREE),
    (in_threads, learning.belief_propagation, MESSAGES),
    (in_threads, learning.enumerate_solutions, COUNTED),
    (in_threads, learning.simulated_annealing, COOLED),
    (in_threads, landscape.local_entropy, VOLUME),
    (in_processes, typical.solve, TYPICAL),
    (in_processes, learning.belief_propagation, MESSAGES),
    (in_processes, learning.least_action, DESCENT),
    (in_processes, learning.enumerate_solutions, COUNTED),
]
BLAS = 1e-12  # of the largest entry: its sums are added up in another order


def check_curvature(answers, **_):
    scale = np.abs(answers["1 threads"]["answer.0"]).max() + 1.0
    check_one_answer(answers, atol=BLAS * scale)


TARGETS = [
    *(Target(ways(call), drawn, check_one_answer, (call,)) for ways, call, drawn in ASKED),
    Target(in_threads(curvature), CURVED, check_curvature, (landscape.hessian,)),
]
