"""What results share: they print in ten lines, compare, hash, pickle and copy."""

import copy
import math
import pickle

import pytest

from tests.unit.test_types import has
from wfmlib import (
    Binary,
    CrossEntropy,
    Margin,
    Perceptron,
    Spherical,
    landscape,
    learning,
    patterns,
)
from wfmlib.models import protocols
from wfmlib.theory import (
    cross_entropy,
    franz_parisi,
    franz_parisi_1rsb,
    large_deviation,
    margin_students,
    teacher_student,
    typical,
)

BINARY, REAL = Perceptron(Binary()), Perceptron(Spherical())
POINTS = {
    "typical": lambda: typical.solve(BINARY, 0.5),
    "gibbs": lambda: typical.solve(BINARY, 0.5, CrossEntropy(1.0, 5.0)),
    "groups": lambda: typical.solve_1rsb(REAL, 2.5, Margin(-0.5)),
    "around": lambda: franz_parisi.solve(BINARY, 0.5, 0.1),
    "groups around": lambda: franz_parisi_1rsb.solve(BINARY, 0.5, 0.1, m=0.5),
    "replicas": lambda: large_deviation.solve(BINARY, 0.5, 0.9, replicas=3),
    "limit of replicas": lambda: large_deviation.solve(BINARY, 0.5, 0.9, replicas=math.inf),
    "learned": lambda: teacher_student.solve(BINARY, 0.5),
    "student": lambda: margin_students.solve(BINARY, 0.5, Margin(0.1)),
    "around a student": lambda: margin_students.surroundings(
        BINARY, 1.0, 0.1, reference=Margin(0.1)
    ),
    "students": lambda: margin_students.replicas(BINARY, 1.0, 0.9),
    "cold": lambda: cross_entropy.zero_temperature(BINARY, 0.5, 1.0),
}
XI, SIGMA = patterns.random(20, 31, rng=1)
FOUND = {
    "messages": lambda: learning.belief_propagation(BINARY, XI, SIGMA, rng=0),
    "focusing": lambda: learning.focusing_bp(BINARY, XI, SIGMA, rng=0),
    "least action": lambda: learning.least_action(REAL, XI, SIGMA, rng=0),
    "enumeration": lambda: learning.enumerate_solutions(BINARY, XI[:, :15], SIGMA),
}


@pytest.mark.parametrize("name", POINTS)
def test_points_compare_hash_pickle_and_copy(name):
    point, again = POINTS[name](), POINTS[name]()
    assert point == again
    assert hash(point) == hash(again)
    assert len({point, again, pickle.loads(pickle.dumps(point)), copy.deepcopy(point)}) == 1


@pytest.mark.parametrize("name", POINTS)
def test_points_print_in_ten_lines_and_as_a_table(name):
    point = POINTS[name]()
    first, *rows = repr(point).splitlines()
    assert first.startswith(f"{type(point).__name__}(Perceptron(")
    assert 3 <= len(rows) < 10
    assert max(map(len, rows)) < 80
    table = point._repr_html_()
    assert table.count("<tr>") == len(rows)
    for row in rows:
        assert all(word in table for word in row.split())


@pytest.mark.parametrize("name", POINTS)
def test_points_have_what_the_protocol_names(name):
    has(protocols.Point, POINTS[name]())


@pytest.mark.parametrize("name", ["messages", "focusing", "least action"])
def test_what_algorithms_found_has_what_the_protocol_names(name):
    has(protocols.Found, FOUND[name]())


def test_other_points_are_others():
    assert typical.solve(BINARY, 0.5) != typical.solve(BINARY, 0.6)
    assert typical.solve(BINARY, 0.5) != typical.solve(REAL, 0.5)


def test_a_point_above_the_capacity_says_so():
    """The log of a share of the sphere is always negative, that of a number is not."""
    word = "negative: there are none"
    assert word in repr(typical.solve(BINARY, 0.9))
    assert word not in repr(typical.solve(BINARY, 0.8))
    assert word not in repr(typical.solve(REAL, 0.8))
    assert word not in repr(large_deviation.solve(BINARY, 0.5, 0.9, replicas=3))  # relative


@pytest.mark.parametrize("name", FOUND)
def test_what_algorithms_found_equals_itself_alone(name):
    found = FOUND[name]()
    assert found == found
    assert found != FOUND[name]()
    assert hash(found) == hash(found)
    assert len(repr(found).splitlines()) <= 10
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def test_messages_print_their_entropy():
    found = FOUND["messages"]()
    assert f"entropy: {found.entropy:.6g} nats per weight" in repr(found)


def test_a_seed_is_told_its_name():
    with pytest.raises(TypeError, match="write rng=3"):
        learning.focusing_bp(BINARY, XI, SIGMA, seed=3)


def test_sweeps_pickle_and_are_tables():
    curve = franz_parisi.curve(BINARY, 0.5, [0.1, 0.2])
    assert pickle.loads(pickle.dumps(curve)).identical(curve)
    assert list(curve.to_dataframe().index) == [0.1, 0.2]
    found = FOUND["least action"]()
    measured = landscape.local_entropy(found, XI, SIGMA, couplings=[1.0, 3.0])
    assert pickle.loads(pickle.dumps(measured)).identical(measured)
