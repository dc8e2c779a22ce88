"""Whatever holds signs, labels or fields is handed out in a type to calculate with."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib import (
    Committee,
    Perceptron,
    ReLU,
    TreeCommittee,
    datasets,
    landscape,
    learning,
    models,
    networks,
    patterns,
)

XI, SIGMA = patterns.random(7, 9, rng=1)
EVEN = patterns.random(5, 8, rng=2)
IMAGES = np.random.default_rng(3).integers(60, 190, (6, 3, 3), dtype=np.uint8)
TREE = TreeCommittee(3, weights=models.Binary())
RNG = np.random.default_rng(4)


def signs(*shape):
    return RNG.choice(np.array([-1, 1], np.int8), shape)


def nets():
    yield networks.PerceptronNetwork(signs(9)), XI
    yield networks.TreeCommitteeNetwork(signs(3, 3)), XI
    yield networks.CommitteeNetwork(signs(3, 9)), XI
    yield networks.ParityMachineNetwork(signs(3, 3)), XI
    yield networks.ReluCommitteeNetwork(signs(2, 4)), EVEN[0]
    yield networks.BinaryMLP([signs(3, 9), signs(1, 3)]), XI
    yield networks.BinaryMLP([signs(3, 9), signs(4, 3)]), XI


def from_networks():
    for net, xi in nets():
        yield from net.w if isinstance(net.w, list) else [net.w]
        yield net.output(xi)
        for name in ("fields", "preactivations"):
            if hasattr(net, name):
                found = getattr(net, name)(xi)
                yield from found if isinstance(found, list) else [found]
    yield networks.ReluCommitteeNetwork(signs(2, 4)).votes
    yield Perceptron().network(signs(9)).w
    yield TreeCommittee(2, ReLU(), models.Binary()).network(signs(2, 4)).w


HANDED_OUT = {
    "random": lambda: patterns.random(3, 5, rng=1),
    "teacher_student": lambda: patterns.teacher_student(3, 5, rng=1),
    "binarise": lambda: datasets.binarise(IMAGES, low=0.0, high=1.0)[:1],
    "draw": lambda: datasets.draw(XI.astype(np.int8), SIGMA, 2, balanced=False),
    "shuffle_pixels": lambda: [datasets.shuffle_pixels(XI.astype(np.int8))],
    "all_weights": lambda: [learning.all_weights(4)],
    "enumerate_fields": lambda: [
        learning.enumerate_fields(Perceptron(), XI, SIGMA),
        learning.enumerate_fields(TREE, XI, SIGMA),
    ],
    "enumerate_solutions": lambda: [
        learning.enumerate_solutions(device, XI[:1], SIGMA[:1], keep=512).solutions
        for device in (Perceptron(), TREE)
    ],
    "replicated_annealing": lambda: [
        learning.replicated_annealing(
            Perceptron(), XI[:2], SIGMA[:2], sweeps=9, steps=3, rng=1
        ).replicas
    ],
    "match_units": lambda: landscape.match_units(signs(3, 9), signs(3, 9)),
    "match_layers": lambda: landscape.match_layers(*(net for net, _ in [*nets()][-2:-1] * 2)),
    "networks": from_networks,
}


@pytest.mark.parametrize("name", HANDED_OUT)
@pytest.mark.filterwarnings("ignore")
def test_what_is_handed_out_is_wide(name):
    for each in HANDED_OUT[name]():
        assert each.dtype in (np.int64, np.float64)


def test_a_field_of_a_thousand_entries_does_not_wrap():
    xi, sigma, teacher = patterns.teacher_student(30, 1001, rng=1)
    fields = xi @ teacher
    np.testing.assert_array_equal(fields, xi.astype(float) @ teacher.astype(float))
    assert xi[0] @ xi[0] == teacher @ teacher == 1001
    net = networks.PerceptronNetwork(teacher)
    assert net.w @ teacher == 1001
    assert sigma @ net.output(xi) == 30


@pytest.mark.parametrize("dtype", [np.int8, "float32", float])
def test_large_data_in_another_type(dtype):
    wide, narrow = patterns.random(20, 30, rng=5), patterns.random(20, 30, rng=5, dtype=dtype)
    for one, other in zip(wide, narrow, strict=True):
        assert other.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(one, other)
    given = [(device, *pair) for device in (Perceptron(), Committee(3)) for pair in (wide, narrow)]
    assert learning.all_weights(3, dtype=dtype).dtype == np.dtype(dtype)
    assert learning.enumerate_fields(Perceptron(), XI, SIGMA, dtype=dtype).dtype == dtype
    for device, xi, sigma in given:
        assert device.network(np.ones(device.shape(30))).errors(xi, sigma) >= 0


@pytest.mark.parametrize("dtype", [np.uint8, bool, complex, None, "wide", "S8"])
def test_types_that_hold_no_signs_are_refused(dtype):
    with pytest.raises(ValueError, match="dtype must be a type of real numbers that holds int8"):
        patterns.random(3, 5, dtype=dtype)
