"""The devices: what they are made of, the shapes and networks of their weights, refusals."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest

import wfmlib
from wfmlib import (
    Activation,
    Binary,
    Committee,
    Margin,
    ParityMachine,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
    models,
    networks,
    patterns,
    theory,
)
from wfmlib.models.activations import EnergeticTerm, Linear
from wfmlib.theory.axes import checked, energetic, values_over, values_over_constraints

N = 15
FOR_AND_AGAINST = np.array([1, 1, -1, -1])[:, None]  # as half of the units of P2, eq. 1, vote


def votes(x):
    return np.sign(x).sum(axis=0)


def product(x):
    return np.prod(x, axis=0)


def rectified(x):
    return (FOR_AND_AGAINST * np.maximum(x, 0.0)).sum(axis=0)


def squashed(x):
    return (FOR_AND_AGAINST * np.tanh(x / math.sqrt(15))).sum(axis=0)


class Mute(EnergeticTerm):
    """An activation for theory alone."""


TANH = Activation(np.tanh)
FINITE = [  # device, shape of its weights, network, what preactivations of the units add up to
    (Perceptron(), (15,), networks.PerceptronNetwork, lambda x: x[0]),
    (TreeCommittee(3, weights=Binary()), (3, 5), networks.TreeCommitteeNetwork, votes),
    (Committee(3, weights=Binary()), (3, 15), networks.CommitteeNetwork, votes),
    (Committee(4, ReLU()), (4, 15), networks.ReluCommitteeNetwork, rectified),
    (Committee(4, TANH), (4, 15), networks.ActivationCommitteeNetwork, squashed),
    (
        ParityMachine(3, Binary()),
        (3, 5),
        networks.ParityMachineNetwork,
        lambda x: np.prod(x, axis=0),
    ),
]


def weights_of(device, seed=0):
    rng = np.random.default_rng(seed)
    if device.weights == Binary():
        return rng.choice([-1, 1], size=device.shape(N))
    return rng.standard_normal(device.shape(N))


def test_defaults():
    assert Perceptron() == Perceptron(Binary()) != Perceptron(Spherical())
    assert TreeCommittee(3) == TreeCommittee(3, Sign(), Spherical())
    assert Committee(3) == Committee(3, Sign(), Spherical())
    assert ParityMachine(3) == ParityMachine(3, Spherical())
    assert Perceptron().units == 1
    assert Perceptron().activation == Linear()


def test_devices_are_values():
    same = [TreeCommittee(np.inf), TreeCommittee(math.inf), TreeCommittee(units=float("inf"))]
    assert len(set(same)) == 1
    assert TreeCommittee(np.int64(3)) == TreeCommittee(3)
    assert type(TreeCommittee(np.int64(3)).units) is int
    different = {TreeCommittee(3), Committee(3), ParityMachine(3), TreeCommittee(5), Perceptron()}
    assert len(different) == 5
    for device in different:
        assert pickle.loads(pickle.dumps(device)) == device
        with pytest.raises(dataclasses.FrozenInstanceError):
            device.weights = Binary()


def test_they_read_as_they_are_written():
    for device, *_ in FINITE:
        assert eval(repr(device), {**vars(wfmlib.models), "tanh": np.tanh}) == device
    assert repr(TreeCommittee(np.inf, ReLU())) == (
        "TreeCommittee(units=inf, activation=ReLU(), weights=Spherical())"
    )


@pytest.mark.parametrize(("device", "shape", "kind", "answer"), FINITE)
def test_shapes_and_networks(device, shape, kind, answer):
    assert device.shape(N) == shape
    w = weights_of(device)
    net = device.network(w)
    assert type(net) is kind
    assert np.array_equal(net.w, w)
    xi, sigma = patterns.random(200, N, rng=3)
    rows = np.atleast_2d(w)
    parts = np.split(xi, len(rows), axis=1) if device.tree else [xi] * len(rows)
    added = answer(np.array([part @ row for part, row in zip(parts, rows, strict=True)]))
    assert np.array_equal(net.output(xi), np.sign(added))
    assert net.errors(xi, sigma) == np.sum(sigma * added <= 0)
    assert 0 < net.errors(xi, sigma) < 200


@pytest.mark.parametrize("units", [0, -3, 1.5, "3", None, True, -math.inf, math.nan])
def test_units_are_counted_or_infinitely_many(units):
    with pytest.raises((TypeError, ValueError), match=r"^units.* must be"):
        TreeCommittee(units)


@pytest.mark.parametrize("device", [Committee, ParityMachine])
def test_only_trees_may_have_infinitely_many_units(device):
    with pytest.raises(TypeError, match="units must be an integer, got inf"):
        device(np.inf)


@pytest.mark.parametrize("wrong", [Binary, "binary", None, Sign()])
def test_weights_must_be_weights(wrong):
    for make in (
        lambda: Perceptron(wrong),
        lambda: TreeCommittee(3, weights=wrong),
        lambda: Committee(3, weights=wrong),
        lambda: ParityMachine(3, wrong),
    ):
        with pytest.raises(TypeError, match=r"weights must be Binary\(...\) or Spherical"):
            make()


@pytest.mark.parametrize("wrong", [Sign, "sign", np.tanh, Spherical()])
def test_activations_must_be_activations(wrong):
    for device in (TreeCommittee, Committee):
        with pytest.raises(TypeError, match=r"activation must be Sign\(...\) or ReLU"):
            device(3, wrong)


def test_weights_that_do_not_fit():
    with pytest.raises(ValueError, match="units must divide N, got 3 units with N = 10"):
        TreeCommittee(3).shape(10)
    with pytest.raises(ValueError, match="units must be finite"):
        TreeCommittee(np.inf).shape(9)
    with pytest.raises(ValueError, match="w must have 3 rows, one a unit, got shape"):
        TreeCommittee(3).network(np.ones((5, 3)))
    with pytest.raises(ValueError, match=r"w must hold -1 and \+1 only"):
        Perceptron().network([0.5, -0.5, 1.0])
    with pytest.raises(ValueError, match="w must have an even number of units"):
        TreeCommittee(3, Activation(np.tanh)).network(np.ones((3, 3)))
    with pytest.raises(
        ValueError, match=r"must be .* or have __call__, for a network: .* lacks it"
    ):
        TreeCommittee(2, Mute()).network(np.ones((2, 3)))
    for wrong in (0, -1, 2.0, "9"):
        with pytest.raises((TypeError, ValueError), match="N must be"):
            Perceptron().shape(wrong)


# ------------------------------------------------------------------------------------------------
# What theory makes of them
# ------------------------------------------------------------------------------------------------


def test_the_axes_of_a_device():
    margin = Margin(0.3)
    assert checked(Perceptron(), margin) == (Binary(), Linear(), margin)
    relu = TreeCommittee(np.inf, ReLU(), Binary())
    assert checked(relu, margin) == (Binary(), ReLU(), margin)
    assert energetic(Perceptron(Spherical())) == Linear()


def test_weights_and_constraints_that_are_not_offered():
    with pytest.raises(ValueError, match=r"device must have weights Binary\(\) here"):
        checked(Perceptron(Spherical()), Margin(0.0), weights=(Binary,))
    with pytest.raises(TypeError, match=r"constraint must be Margin\(...\), got 0.3"):
        checked(Perceptron(), 0.3)


def test_each():
    assert values_over(lambda x: 2.0 * x, 0.5) == 1.0
    assert values_over(lambda x: 2.0 * x, [[1, 2]]).tolist() == [[2.0, 4.0]]
    kappas = [[Margin(0.1)], [Margin(0.2)]]
    assert values_over_constraints(lambda one: one.kappa, Margin(0.1)) == 0.1
    assert values_over_constraints(lambda one: one.kappa, kappas).tolist() == [[0.1], [0.2]]


def test_the_package_offers_its_members():
    assert set(models.__all__) <= set(wfmlib.__all__)
    for name in models.__all__:
        assert getattr(wfmlib, name) is getattr(models, name)


def test_what_was_meant_is_said():
    for call, hint in (
        (lambda: theory.typical.solve(Perceptron(), 0.5, 0.2), r"got 0\.2; write Margin\(0\.2\)$"),
        (lambda: Margin([0.1, 0.2]), r"many margins are a sequence of them, such as \[Margin"),
        (lambda: TreeCommittee(3, Binary()), r"name the weights: weights=Binary\(\)$"),
    ):
        with pytest.raises(TypeError, match=hint):
            call()
