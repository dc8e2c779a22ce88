"""What signatures say: every public function says types, and classes have what protocols name."""

from __future__ import annotations

import functools
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import wfmlib
from wfmlib import models, networks
from wfmlib.models import activations, protocols

TYPED = (
    "datasets",
    "landscape",
    "learning",
    "networks",
    "numerics.comparisons",
    "numerics.gaussian",
    "numerics.portable",
    "numerics.solvers",
    "patterns",
)
DEVICES = (
    models.Perceptron(),
    models.TreeCommittee(3),
    models.Committee(3),
    models.ParityMachine(2),
)
PAIR = models.weights.Discrete((-1, 1))
HAVE = [
    *((protocols.Weights, one) for one in (models.Binary(), models.Spherical(), PAIR)),
    *((protocols.Constraint, one) for one in (models.Margin(), models.CrossEntropy(1.0, 1.0))),
    *((protocols.Activation, one) for one in (activations.Linear(), models.Sign(), models.ReLU())),
    (protocols.Activation, models.Activation(np.tanh)),
    *((protocols.Device, one) for one in DEVICES),
    *((protocols.Network, one.network(np.ones(one.shape(6)))) for one in DEVICES),
    (protocols.Network, networks.BinaryMLP([np.ones((3, 3)), np.ones((1, 3))])),
]


def own(member: object) -> list:
    """Return the functions of the package behind a member of a module, but for compiled ones."""
    if not inspect.isclass(member):
        member = inspect.unwrap(member) if inspect.isfunction(member) else None
        return [member] if member and member.__module__.startswith("wfmlib") else []
    found = []
    for base in member.__mro__:
        if base.__module__.startswith("wfmlib"):
            for name, value in vars(base).items():
                if not name.startswith("_"):
                    value = value.fget if isinstance(value, property) else value
                    value = value.func if isinstance(value, functools.cached_property) else value
                    found.append(getattr(value, "__func__", value))
    return [one for one in found if inspect.isfunction(one)]


@pytest.mark.parametrize("name", TYPED)
def test_public_functions_say_their_types(name):
    module = importlib.import_module(f"wfmlib.{name}")
    functions = {one for member in module.__all__ for one in own(getattr(module, member))}
    assert functions or name == "numerics.portable"
    for function in functions:
        signature = inspect.signature(function)
        silent = {
            one.name
            for one in signature.parameters.values()
            if one.annotation is inspect.Parameter.empty
        }
        assert not silent - {"self", "cls"}, f"{function.__qualname__}: {silent}"
        assert signature.return_annotation is not inspect.Signature.empty, function.__qualname__


@pytest.mark.parametrize(
    ("protocol", "one"), HAVE, ids=lambda value: getattr(value, "__name__", type(value).__name__)
)
def test_classes_have_what_protocols_name(protocol, one):
    """Also under mypy, where a signature names the protocol; this finds the others."""
    has(protocol, one)


def has(protocol, one):
    """Hold that an object has what a protocol names, under the names of its arguments."""
    for name in (name for name in vars(protocol) if not name.startswith("_")):
        asked = vars(protocol)[name]
        found = getattr(one, name)
        assert callable(found) == inspect.isfunction(asked), name
        if inspect.isfunction(asked):
            names = list(inspect.signature(asked).parameters)[1:]
            assert list(inspect.signature(found).parameters)[: len(names)] == names, name


def test_checkers_of_others_are_told_that_there_are_types():
    assert (Path(wfmlib.__file__).parent / "py.typed").exists()
