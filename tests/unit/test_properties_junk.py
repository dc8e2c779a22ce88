"""What must be refused, everywhere: arguments of a kind that no function takes.

In a valid call of each public function each argument in turn is replaced, those that have a
default as well. The refusal is a TypeError or a ValueError that names the argument.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tests.calls import CALLS, INSTANCE
from wfmlib import landscape, learning, patterns, theory
from wfmlib.models import Perceptron
from wfmlib.theory import (
    clusters,
    cross_entropy,
    franz_parisi,
    margin_students,
    teacher_student,
    typical,
)

JUNK = [object(), "word", 1.0 + 1.0j, float("nan"), [[1.0], [1.0, 2.0]], {}, np.ma.masked]
UNITS = {"w1": np.eye(3), "w2": np.eye(3)}
UNRANGED = [  # calls of functions whose arguments have no range
    (typical.capacity, {"device": Perceptron()}),
    (typical.instability, {"device": Perceptron()}),
    (franz_parisi.dense_threshold, {"device": Perceptron()}),
    (franz_parisi.gapless_threshold, {"device": Perceptron()}),
    (teacher_student.dense_threshold, {"device": Perceptron()}),
    (teacher_student.perfect_learning, {"device": Perceptron()}),
    (margin_students.dense_threshold, {"device": Perceptron()}),
    (margin_students.replica_threshold, {"device": Perceptron()}),
    (clusters.breakup, {"device": Perceptron()}),
    (patterns.signs, {"X": [0, 1]}),
    (learning.enumerate_fields, {"device": Perceptron(), **INSTANCE}),
    (landscape.overlap, UNITS),
    (landscape.match_units, UNITS),
    (landscape.match_layers, {"w1": [np.eye(3)] * 2, "w2": [np.eye(3)] * 2}),
]
PASSES = [(cross_entropy.loss, "stability")]  # NaN gives NaN, as in functions of NumPy


@pytest.mark.parametrize(
    ("function", "arguments"),
    CALLS + UNRANGED,
    ids=[f"{one.__module__.rpartition('.')[2]}.{one.__name__}" for one, _ in CALLS + UNRANGED],
)
def test_junk_is_refused(function, arguments):
    for name in inspect.signature(function).parameters:
        for junk in JUNK:
            if junk != junk and (function, name) in PASSES:
                continue
            with pytest.raises((TypeError, ValueError), match=name):
                function(**arguments | {name: junk})


def test_every_public_function_is_called():
    modules = [getattr(theory, name) for name in theory.__all__] + [learning, landscape, patterns]
    public = {getattr(module, name) for module in modules for name in module.__all__}
    functions = {one for one in public if inspect.isfunction(one)}
    assert functions - {function for function, _ in CALLS + UNRANGED} == set()
