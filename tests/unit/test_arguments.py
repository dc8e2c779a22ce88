"""What lies outside a range is refused, its ends are answered, and docstrings say it in words."""

from __future__ import annotations

import importlib
import inspect
import math
import pickle
import re
import warnings
from typing import Annotated, Literal

import numpy as np
import pytest
from annotated_types import Ge, Gt, Interval
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from numpydoc.docscrape import ClassDoc, FunctionDoc

from tests.calls import CALLS, NARROWER, WITH, ends, outside
from tools import api_reference
from wfmlib import patterns, probe
from wfmlib.datasets import cifar10, dress_coat
from wfmlib.learning import Schedule
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Or, Positive, Range, Share, Shares, Swept
from wfmlib.numerics.solvers import NotConverged
from wfmlib.theory import clusters, franz_parisi_1rsb, large_deviation, localization

SLOW = {  # ends take tens of seconds; `solve`, which these ask, answers them
    clusters.first_nested_gap,
    clusters.nested_threshold,
    franz_parisi_1rsb.search,
    large_deviation.curve,
    large_deviation.dense_threshold,
    large_deviation.energetic_term,
    large_deviation.local_entropy,
    large_deviation.zero_complexity_replicas,
    localization.threshold,
    probe.calibrate,
}
FILES = {cifar10, dress_coat}  # they read what has to be downloaded
#: Arguments with numbers in them whose ranges are no interval, by what the numbers are.
OTHER = {
    "patterns, labels, weights": "xi X sigma w w1 w2 start reference direction solutions images",
    "any real number, and NaN": "stability one other distance excess x",
    "pairs of numbers that depend on each other": "features successes number protocol overlaps",
    "names or numbers of classes": "classes",
    "values of a weight, and what depends on them": "values mean_square",
    "an overlap that students must have, of which a test of its own tells": "reference_teacher",
    "names, or numbers of steps, of which a test of its own tells": "ansatz steps",
    "what a solver has found": "residual tolerance iterations value bound",
}


def public():
    """Return public functions, and classes that check what they are made of, by full name."""
    found = {}
    for name in api_reference.modules():
        module = importlib.import_module(name)
        for one in () if name.startswith("wfmlib.book") else module.__all__:
            value = getattr(module, one)
            checks = value is Schedule or getattr(value, "__module__", "").startswith(
                "wfmlib.models"
            )
            if inspect.isfunction(value) or (inspect.isclass(value) and checks):
                found[f"{name}.{one}"] = value
    return found


PUBLIC = public()
DECLARED = [
    (function, name, *found)
    for function in PUBLIC.values()
    for name, found in arguments.declared(function).items()
]
CALLED = dict(CALLS)


def call(function, name, value, **others):
    """Make a valid call with one number replaced, alone or first in a row."""
    held = CALLED[function] | others | WITH.get((function, name, value), {})
    row = isinstance(held[name], (list, tuple))
    return function(**held | {name: [value, *held[name][1:]] if row else value})


def refused(function, name, allowed, **others):
    for value in outside(allowed):
        with pytest.raises((TypeError, ValueError), match=rf"\b{name}"):
            call(function, name, value, **others)


def answered(function, name, allowed, **others):
    for value in ends(allowed):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few sweeps are not enough
                call(function, name, value, **others)
        except NotConverged:
            pass


def test_every_number_has_a_range():
    """Or stands in the list of those that have none."""
    without = set(" ".join(OTHER.values()).split())
    silent = []
    for place, function in PUBLIC.items():
        told = arguments.declared(function)
        for one in inspect.signature(function).parameters.values():
            numbers = re.search(r"float|\bint\b|ArrayLike", str(one.annotation))
            if numbers and one.name not in told and one.name not in without:
                silent.append(f"{place}: {one.name}")
    assert not silent


def test_every_range_is_called():
    asked = {(one, name) for one, name, *_ in DECLARED if one not in FILES}
    assert asked == {
        (one, name) for one, given in CALLS for name in arguments.declared(one) if name in given
    }
    where = {(name, mark.where) for _, name, _, marks in DECLARED for mark in marks}
    known = {(name, where) for _, _, name, where in NARROWER}
    assert where == known


@pytest.mark.parametrize("function", CALLED, ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_what_is_outside_is_refused_and_the_ends_are_not(function):
    for name, (allowed, _) in arguments.declared(function).items():
        refused(function, name, allowed)
        if function not in SLOW:
            answered(function, name, allowed)


@pytest.mark.parametrize(
    ("function", "others", "name", "where"),
    NARROWER,
    ids=[f"{one.__module__}.{name} {where}" for one, _, name, where in NARROWER],
)
def test_narrower_ranges_hold_where_they_are_said_to(function, others, name, where):
    marks = arguments.declared(function)[name][1]
    allowed = next(Range.of(mark.hint) for mark in marks if mark.where == where)
    refused(function, name, allowed, **others)
    answered(function, name, allowed, **others)


# ------------------------------------------------------------------------------------------------
# What docstrings and the API reference say
# ------------------------------------------------------------------------------------------------


def words(allowed):
    """Say a range as docstrings do: "positive", "from 0 to 1/2", "at least 1"."""
    low, high = map(api_reference.number, (allowed.low, allowed.high))
    if math.isinf(allowed.high) and allowed.low == 0.0:
        told = "positive" if allowed.low_open else "not negative"
    elif math.isinf(allowed.high):
        told = f"above {low}" if allowed.low_open else f"at least {low}"
        told = "finite" if math.isinf(allowed.low) else told
    elif allowed.low_open:
        told = f"between {low} and {high}" if allowed.high_open else f"above {low}, up to {high}"
    else:
        told = f"from {low} to below {high}" if allowed.high_open else f"from {low} to {high}"
    for one in allowed.also:
        told = f"0, or {told}" if one == 0.0 else f"{told}, or {api_reference.number(one)}"
    return told


def described(function, name):
    """Return what a docstring says of an argument."""
    doc = (ClassDoc if inspect.isclass(function) else FunctionDoc)(function)
    for one in (*doc["Parameters"], *doc["Attributes"]):
        if name in one.name.split(", "):
            return " ".join(one.desc)
    raise AssertionError(f"{function.__qualname__} does not describe {name}")


def says(function, name, text):
    """Return whether a docstring says a text of an argument, or names a function whose does."""
    told = described(function, name)
    if text.lower() in told.replace("`", "").lower():
        return True
    for other in re.findall(r"`([\w.]+)`", told):
        part = ".".join(function.__module__.split(".")[:2])
        found = PUBLIC.get(api_reference.entry(other, function) or f"{part}.{other}")
        if found not in (None, function) and name in arguments.declared(found):
            return says(found, name, text)
    return False


@pytest.mark.parametrize(
    ("function", "name", "allowed", "narrower"),
    DECLARED,
    ids=[f"{one.__module__}.{one.__name__}-{name}" for one, name, *_ in DECLARED],
)
def test_docstrings_say_the_range(function, name, allowed, narrower):
    told = [words(allowed), *(f"{words(Range.of(one.hint))} {one.where}" for one in narrower)]
    for text in told:
        assert says(function, name, text), f"{text}: {described(function, name)}"


def asked(a: Positive, b: Positive, c: Share, d: float):
    pass


def test_reference_shows_the_range_in_the_line_of_the_argument():
    lines = ["Parameters", "----------", "a, b : float", "    Two.", "c, d", "    Others."]
    api_reference.prepare(None, "function", "asked", asked, None, lines)
    assert lines[2] == "a, b : float, (0, ∞)"
    assert lines[4] == "c, d : c in [0, 1]"


@pytest.mark.parametrize(
    ("hint", "said", "symbols"),
    [
        (arguments.Finite, "finite", "(-∞, ∞)"),
        (arguments.NotNegative, "not negative", "[0, ∞)"),
        (Positive, "positive", "(0, ∞)"),
        (Annotated[float, Gt(1.0)], "above 1", "(1, ∞)"),
        (Count, "at least 1", "{1, 2, ...}"),
        (Annotated[int, Interval(ge=2, le=127)], "from 2 to 127", "{2, ..., 127}"),
        (arguments.Distance, "above 0, up to 1/2", "(0, 1/2]"),
        (arguments.Damping, "from 0 to below 1", "[0, 1)"),
        (Annotated[float, Interval(gt=0, lt=1)], "between 0 and 1", "(0, 1)"),
        (Annotated[float, Ge(1e-7), Or(0.0)], "0, or at least 1e-7", "{0} ∪ [1e-7, ∞)"),
        (
            Annotated[float, Interval(ge=1e-3, le=1e6), Or(math.inf)],
            "from 1e-3 to 1e6, or math.inf",
            "[1e-3, 1e6] ∪ {∞}",
        ),
        (Annotated[ArrayLike, *Share.__metadata__, Or(math.nan)], "from 0 to 1, or NaN", None),
        (Annotated[float, Interval(ge=2.0**-44, le=1 - 1e-6)], "from 2^-44 to 1 - 1e-6", None),
        (Count | list[Count] | None, "at least 1", "{1, 2, ...}"),
    ],
)
def test_ranges_are_said_in_words_and_symbols(hint, said, symbols):
    one = Range.of(hint)
    assert words(one) == said
    assert api_reference.interval(one) == symbols or symbols is None
    for value in ends(one):
        assert one.check("x", value) == value or math.isnan(value)
    for value in outside(one):  # NaN is no integer: of another kind
        wrong = TypeError if one.whole and not float(value).is_integer() else ValueError
        with pytest.raises(wrong, match="x"):
            one.check("x", value)


@pytest.mark.parametrize("hint", [Positive, arguments.Damping, Count, arguments.Finite])
def test_what_hypothesis_draws_from_an_annotation_is_taken(hint):
    @given(st.from_type(hint))
    def taken(value):
        assert Range.of(hint).check("x", value) == value

    taken()


# ------------------------------------------------------------------------------------------------
# The door
# ------------------------------------------------------------------------------------------------


@arguments.checked
def door(
    x: Positive,
    n: Count | None = None,
    *,
    y: Annotated[float, Ge(1.0)] | Literal["many"] = 2,
    row: Shares = (0, 1),
    sweep: Annotated[ArrayLike, *Share.__metadata__, Swept()] = 0.5,
    form: Literal["exact", "rounded"] | None = None,
    quiet: bool = True,
):
    """Return what came."""
    return x, n, y, row, sweep, form, quiet


def test_numbers_are_converted():
    found = door(np.float32(2.0), np.int64(3), row=[0, 1], sweep=np.array(1))
    assert found[:3] == (2.0, 3, 2.0)
    assert [type(one) for one in found[:3]] == [float, int, float]
    assert found[3].dtype == float
    assert type(found[4]) is float
    assert door(1, y="many")[2] == "many"
    assert door(1, sweep=[0.5, 7.0])[4].tolist() == [0.5, 7.0]


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"x": 0}, ValueError, "x must be finite and > 0, got 0"),
        ({"x": 10**400}, ValueError, "x must be finite and > 0, got inf"),
        ({"x": True}, TypeError, "x must be a real number, got True"),
        ({"x": np.ma.masked}, TypeError, "x must be a real number"),
        ({"n": 0}, ValueError, "n must be >= 1, got 0"),
        ({"n": 2.0}, TypeError, r"n must be an integer, got 2\.0"),
        ({"y": 0.5}, ValueError, "y must be finite and >= 1, got 0.5"),
        ({"y": "few"}, ValueError, "y must be one of 'many', got 'few'"),
        ({"y": None}, TypeError, "y must be a real number, got None"),
        ({"row": [0.5, 1.5]}, ValueError, "row must be finite and >= 0 and <= 1, got 1.5"),
        ({"row": [[1], [1, 2]]}, ValueError, "row must be a rectangular array"),
        ({"sweep": [2.0, 3.0]}, ValueError, "sweep must be finite and >= 0 and <= 1, got 2"),
        ({"form": "round"}, ValueError, "form must be one of 'exact', 'rounded', None, got"),
        ({"quiet": 1}, ValueError, "quiet must be one of True, False, got 1"),
        ({"depth": 1}, TypeError, "unexpected keyword"),
    ],
)
def test_refusals_name_the_argument_what_came_and_what_is_allowed(given, error, told):
    with pytest.raises(error, match=told):
        door(**{"x": 1.0} | given)


def test_a_checked_function_looks_like_itself():
    assert door.__doc__ == "Return what came."
    assert list(inspect.signature(door).parameters)[:2] == ["x", "n"]
    assert pickle.loads(pickle.dumps(door)) is door
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        door()


# ------------------------------------------------------------------------------------------------
# Single checks
# ------------------------------------------------------------------------------------------------


def test_patterns():
    xi, sigma = arguments.patterns([[1, -1], [1.0, 1]], np.array([1, -1]))
    assert xi.dtype == sigma.dtype == np.int8
    with pytest.raises(ValueError, match=r"xi must hold -1 and \+1 only, got an entry 0"):
        arguments.patterns([[1, 0, -1]], [1])
    with pytest.raises(ValueError, match=r"xi has shape \(1, 2\), sigma has shape \(2,\)"):
        arguments.patterns([[1, 1]], [1, 1])
    with pytest.raises(ValueError, match="2 axes"):
        arguments.patterns([1, 1], [1, 1])
    with pytest.raises(TypeError, match="xi must be an array of -1 and"):
        arguments.patterns([["a"]], [1])


def test_arrays():
    assert np.isnan(arguments.reals("q", np.nan))
    with pytest.raises(TypeError, match=r"q must be .* got a masked array"):
        arguments.reals("q", np.ma.masked_equal([1, 2], 2))
    with pytest.raises(TypeError, match="q must hold real numbers, got dtype complex128"):
        arguments.reals("q", [1j])


def test_generator():
    generator = np.random.default_rng(3)
    assert arguments.generator(generator) is generator
    assert arguments.generator(np.random.SeedSequence(3)).random() == generator.random()
    assert arguments.generator(None).random() != arguments.generator(None).random()
    with pytest.raises(ValueError, match="got -1"):
        patterns.random(3, 5, rng=-1)
    for junk in (1.5, "3", True, [1, 2]):
        with pytest.raises(TypeError, match="rng must be None, a non-negative integer"):
            patterns.random(3, 5, rng=junk)


def test_members():
    with pytest.raises(TypeError, match=r"weights must be int\(\.\.\.\), got .* call the class"):
        arguments.member("weights", int, (int,))
    with pytest.raises(TypeError, match="f must be a function, got 3"):
        arguments.function("f", 3)
