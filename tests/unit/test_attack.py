"""A minute of the attack on the package, with fixed seeds; and that an attack can fail."""

from __future__ import annotations

import inspect
import os
import warnings

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.attack import junk, run, ways
from tests.attack.target import LARGEST, Target
from wfmlib import landscape, learning, patterns, theory
from wfmlib.numerics import _threads

CALLS = 2  # of a target: `make attack` makes more


@pytest.mark.parametrize("number", range(len(run.TARGETS)))
def test_no_target_falls(number):
    tally, target = run.Tally(), run.TARGETS[number]
    run.attack(target, 1000 + number, CALLS, tally)
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.outcomes.total() >= CALLS


def test_junk_is_refused_everywhere():
    """By a TypeError or a ValueError that names the argument."""
    found = [(case[0].__name__, case[2], junk.accepted(*case)) for case in junk.cases()]
    assert [one for one in found if one[2]] == []


def test_every_public_function_is_attacked():
    modules = [getattr(theory, name) for name in theory.__all__]
    modules += [learning, landscape, patterns]
    attacked = {one for target in run.TARGETS for one in target.functions}
    attacked |= {function for function, _ in junk.VALID}
    public = {getattr(module, name) for module in modules for name in module.__all__}
    missing = {one for one in public if inspect.isfunction(one)} - attacked
    assert missing == set()


# ------------------------------------------------------------------------------------------------
# An attack can fail
# ------------------------------------------------------------------------------------------------


def right(x):
    return 0.5


def wrong(x):
    return 2.0


def dies(x):
    return 1 / 0


def warns(x):
    warnings.warn("numbers are off", RuntimeWarning, stacklevel=1)
    return 0.5


def silent(x):
    raise ValueError("no")


def scribbles(x):
    x[0] = 7.0
    return 0.5


def hungry(x):
    np.empty(LARGEST, np.int8)
    return 0.5


def in_range(found, x):
    assert 0.0 <= found <= 1.0


@pytest.mark.parametrize("call", [wrong, dies, warns, silent, scribbles, hungry])
def test_a_defect_is_found(call):
    tally = run.Tally()
    run.attack(Target(call, st.fixed_dictionaries({"x": st.builds(np.zeros, st.just(2))}),
                      in_range), 1, 5, tally)  # fmt: skip
    assert len(tally.failures) == 1
    assert call.__name__ in tally.failures[0]


def test_nothing_is_found_where_nothing_is():
    tally = run.Tally()
    run.attack(Target(right, st.fixed_dictionaries({"x": st.floats(0, 1)}), in_range), 1, 5, tally)
    assert not tally.failures
    assert tally.outcomes["answered"] == 5


def of_type(x):
    return float(np.finfo(x.dtype).bits)


def of_layout(x):
    return float(x.strides[0])


def refused_in_one_type(x):
    if x.dtype == np.float32:
        raise ValueError("x must be something else")
    return 0.5


@pytest.mark.parametrize(
    ("ways_of", "call"),
    [
        (ways.in_types, of_type),
        (ways.in_types, of_layout),
        (ways.in_types, refused_in_one_type),
        (ways.in_threads, lambda x: _threads.available()),
        (ways.in_threads, lambda x: 1e-16 * _threads.available()),
    ],
)
def test_answers_that_differ_are_found(ways_of, call):
    with pytest.raises(AssertionError):
        ways.check_one_answer(ways_of(call)(x=np.arange(3.0)))


def test_answers_of_processes_that_differ_are_found():
    here, fork, spawn = (one["answer"] for one in ways.in_processes(os.getpid)().values())
    assert len({int(here), int(fork), int(spawn)}) == 3


@pytest.mark.parametrize(
    "ways_of", [ways.in_types, ways.in_threads, ways.in_processes], ids=lambda one: one.__name__
)
def test_answers_that_agree_pass(ways_of):
    ways.check_one_answer(ways_of(learning.all_weights)(N=3))


@pytest.mark.parametrize(("call", "told"), [(right, "it was taken"), (silent, "does not name x")])
def test_junk_that_passes_is_found(call, told):
    assert told in junk.accepted(call, {"x": object()}, "x")


def test_the_command(capsys, monkeypatch):
    """It tells the seed, goes on until the time is up, and ends with 1 if something failed."""
    drawn = st.fixed_dictionaries({"x": st.floats(0, 1)})
    monkeypatch.setattr(
        run, "TARGETS", [Target(right, drawn, in_range), Target(wrong, drawn, in_range)]
    )
    assert run.main(["--minutes", "0", "--seed", "3", "right"]) == 0
    assert "seed 3, 1 targets" in capsys.readouterr().out
    assert run.main(["--minutes", "0", "--seed", "3", "wrong"]) == 1
    assert "1 failures (seed 3)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run.main(["--minutes", "0", "nobody"])
