"""No point of theory is made with an entropy that nothing can have."""

import dataclasses
import math

import pytest

from wfmlib import CrossEntropy, Margin, Perceptron, Spherical, theory
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import clusters, franz_parisi, full_breaking, large_deviation, typical

BINARY, SPHERE = Perceptron(), Perceptron(Spherical())
POINTS = {
    "solutions": lambda: (typical.solve(BINARY, 0.4), "entropy", math.log(2.0)),
    "share": lambda: (typical.solve(SPHERE, 0.4), "entropy", 0.0),
    "loss": lambda: (typical.solve(BINARY, 0.4, CrossEntropy(1.0, 2.0)), "entropy", math.log(2.0)),
    "groups": lambda: (typical.solve_1rsb(SPHERE, 0.4), "entropy", 0.0),
    "hierarchy": lambda: (full_breaking.at_load(SPHERE, 0.4), "entropy", 0.0),
    "replicas": lambda: (
        large_deviation.solve(BINARY, 0.4, 0.9, replicas=3.0),
        "local_entropy",
        0.0,
    ),
    "triples": lambda: (
        clusters.solve(BINARY, 0.4, 0.9, replicas=3.0),
        "entropy",
        3.0 * math.log(2.0),
    ),
    "surroundings": lambda: (
        franz_parisi.solve(BINARY, 0.4, 0.1, reference=Margin(0.1)),
        "local_entropy",
        franz_parisi.geometric_bound(BINARY, 0.1),
    ),
    "students": lambda: (theory.teacher_student.solve(BINARY, 0.4), "entropy", math.log(2.0)),
    "students of a margin": lambda: (
        theory.margin_students.solve(BINARY, 0.4, Margin(0.1)),
        "entropy",
        math.log(2.0),
    ),
    "surroundings of students": lambda: (
        theory.margin_students.surroundings(BINARY, 1.0, 0.1, reference=Margin(0.05)),
        "local_entropy",
        franz_parisi.geometric_bound(BINARY, 0.1),
    ),
}


@pytest.mark.parametrize("name", POINTS)
def test_entropies_are_finite_and_at_most_those_of_all_weights(name):
    point, counted, most = POINTS[name]()
    assert getattr(point, counted) <= most + 1e-8
    assert repr(dataclasses.replace(point)) == repr(point)
    for wrong in (most + 1e-6, math.inf, -math.inf, math.nan):
        with pytest.raises(NotConverged, match=counted.replace("_", " ")):
            dataclasses.replace(point, **{counted: wrong})
