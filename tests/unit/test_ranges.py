"""Declared ranges: what is outside is refused, the ends are answered, and docstrings say them."""

from __future__ import annotations

import importlib
import inspect
import math
import re
import warnings

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

from tests.calls import CALLS, NARROWER, WITH, ends, outside
from tools import api_reference
from wfmlib.datasets import cifar10, dress_coat
from wfmlib.learning import Schedule
from wfmlib.numerics import ranges
from wfmlib.numerics.ranges import Narrower, Range
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
}
FILES = {cifar10, dress_coat}  # they read what has to be downloaded
#: Arguments with numbers in them whose ranges are no interval, by what the numbers are.
OTHER = {
    "patterns, labels and weights": "xi sigma w w1 w2 start reference direction solutions images",
    "any real number, and NaN": "stability one other distance excess x",
    "pairs of numbers that depend on each other": "features successes number overlaps",
    "names or numbers of classes": "classes",
    "names, or numbers of steps, of which a test of its own tells": "ansatz",
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
    for name, found in ranges.declared(function).items()
]
CALLED = dict(CALLS)


def arguments_of(function, name, value, **others):
    """Return the arguments of a valid call with one number replaced, alone or first in a row."""
    held = CALLED[function] | others | WITH.get((function, name, value), {})
    row = isinstance(held[name], (list, tuple))
    return held | {name: [value, *held[name][1:]] if row else value}


def refused(function, name, allowed, **others):
    for value in outside(allowed):
        with pytest.raises((TypeError, ValueError), match=rf"\b{name}") as failure:
            function(**arguments_of(function, name, value, **others))
        assert not isinstance(failure.value, UnicodeError)


def answered(function, name, allowed, **others):
    for value in ends(allowed):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few sweeps are not enough
                function(**arguments_of(function, name, value, **others))
        except NotConverged:
            pass


def test_every_number_has_a_range():
    """Or stands in the list of those that have none."""
    without = set(" ".join(OTHER.values()).split())
    silent = []
    for place, function in PUBLIC.items():
        told = ranges.declared(function)
        for one in inspect.signature(function).parameters.values():
            numbers = re.search(r"float|\bint\b|ArrayLike", str(one.annotation))
            if numbers and one.name not in told and one.name not in without:
                silent.append(f"{place}: {one.name}")
    assert not silent


def test_every_range_is_called():
    asked = {(one, name) for one, name, *_ in DECLARED if one not in FILES}
    assert asked == {
        (one, name) for one, given in CALLS for name in ranges.declared(one) if name in given
    }
    where = {(one, name, mark.where) for one, name, _, marks in DECLARED for mark in marks}
    known = {(name, where) for _, _, name, where in NARROWER}
    assert {(name, place) for _, name, place in where} == known


@pytest.mark.parametrize("function", CALLED, ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_what_is_outside_is_refused_and_the_ends_are_not(function):
    for name, (allowed, _) in ranges.declared(function).items():
        refused(function, name, allowed)
        if function not in SLOW:
            answered(function, name, allowed)


@pytest.mark.parametrize(
    ("function", "others", "name", "where"),
    NARROWER,
    ids=[f"{one.__module__}.{name} {where}" for one, _, name, where in NARROWER],
)
def test_narrower_ranges_hold_where_they_are_said_to(function, others, name, where):
    marks = ranges.declared(function)[name][1]
    allowed = next(mark.range for mark in marks if mark.where == where)
    refused(function, name, allowed, **others)
    answered(function, name, allowed, **others)


# ------------------------------------------------------------------------------------------------
# What docstrings say
# ------------------------------------------------------------------------------------------------


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
        if found not in (None, function) and name in ranges.declared(found):
            return says(found, name, text)
    return False


@pytest.mark.parametrize(
    ("function", "name", "allowed", "narrower"),
    DECLARED,
    ids=[f"{one.__module__}.{one.__name__}-{name}" for one, name, *_ in DECLARED],
)
def test_docstrings_say_the_range(function, name, allowed, narrower):
    for one in (allowed, *narrower):
        assert says(function, name, str(one)), f"{one}: {described(function, name)}"


def test_reference_shows_the_range_in_the_line_of_the_argument():
    def asked(a: ranges.Positive, b: ranges.Positive, c: ranges.Share, d: float):
        pass

    asked.__globals__.setdefault("ranges", ranges)
    lines = ["Parameters", "----------", "a, b : float", "    Two.", "c, d", "    Others."]
    api_reference.prepare(None, "function", "asked", asked, None, lines)
    assert lines[2] == "a, b : float, (0, ∞)"
    assert lines[4] == "c, d : c in [0, 1]"


# ------------------------------------------------------------------------------------------------
# Ranges themselves
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "words", "symbols"),
    [
        (Range(), "finite", "(-∞, ∞)"),
        (Range(0.0), "not negative", "[0, ∞)"),
        (Range(0.0, low_open=True), "positive", "(0, ∞)"),
        (Range(1.0, low_open=True), "above 1", "(1, ∞)"),
        (Range(1, whole=True), "at least 1", "{1, 2, ...}"),
        (Range(2, 127, whole=True), "from 2 to 127", "{2, ..., 127}"),
        (Range(0.0, 0.5, low_open=True), "above 0, up to 1/2", "(0, 1/2]"),
        (Range(0.0, 1.0, high_open=True), "from 0 to below 1", "[0, 1)"),
        (Range(0.0, 1.0, low_open=True, high_open=True), "between 0 and 1", "(0, 1)"),
        (Range(1e-7, also=(0.0,)), "0, or at least 1e-7", "{0} ∪ [1e-7, ∞)"),
        (Range(1e-3, 1e6, also=(math.inf,)), "from 1e-3 to 1e6, or math.inf", "[1e-3, 1e6] ∪ {∞}"),
        (Range(0.0, 1.0, also=(math.nan,)), "from 0 to 1, or NaN", "[0, 1] ∪ {NaN}"),
        (Range(2.0**-44, 1.0 - 1e-6), "from 2^-44 to 1 - 1e-6", "[2^-44, 1 - 1e-6]"),
    ],
)
def test_ranges_are_said_in_words_and_symbols(one, words, symbols):
    assert (str(one), one.interval) == (words, symbols)
    for value in ends(one):
        assert one.check("x", value) == value or math.isnan(value)
    for value in outside(one):  # NaN is no integer: of another kind
        wrong = TypeError if one.whole and not float(value).is_integer() else ValueError
        with pytest.raises(wrong, match="x"):
            one.check("x", value)


@pytest.mark.parametrize("junk", ["word", None, 1.0 + 1.0j, True, [1.0]])
def test_only_numbers_are_in_a_range(junk):
    for one in (ranges.SHARE, Range(1e-7, also=(0.0, 1.0)), ranges.COUNT):
        with pytest.raises(TypeError, match="x"):
            one.check("x", junk)


def test_integers_stay_integers():
    assert type(ranges.COUNT.check("x", 3)) is int
    with pytest.raises(TypeError, match="x must be an integer"):
        ranges.COUNT.check("x", 3.0)


def test_narrower_ranges_say_where():
    assert str(Narrower("with three units", ranges.SHARE)) == "from 0 to 1 with three units"
