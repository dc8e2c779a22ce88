"""Checks of the exercises: right answers pass, each mistake gives its hint, junk is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tools import exercises as chapters
from wfmlib.book import exercises
from wfmlib.book.exercises.answers import OTHERWISE, Function
from wfmlib.book.exercises.table import QUESTIONS
from wfmlib.models import Binary, Perceptron
from wfmlib.numerics import gaussian
from wfmlib.theory import typical

NUMBERS = exercises.available()
MISTAKES = [(number, k) for number in NUMBERS for k in range(len(QUESTIONS[number].mistakes))]


def answer(number, function):
    """What a student hands in: the function itself, or the number that it returns."""
    return function if isinstance(QUESTIONS[number], Function) else function()


def times(factor, number):
    """The right answer times a factor."""
    right = QUESTIONS[number].right
    return answer(number, lambda *at: factor * right(*at))


def test_chapters_say_which_answers_can_be_checked():
    said = {one.label: one.check for one in chapters.everywhere() if one.check}
    assert set(said) == {QUESTIONS[number].label for number in NUMBERS}
    for number in NUMBERS:
        assert said[QUESTIONS[number].label].startswith(f'exercises.check("{number}", ')


@pytest.mark.parametrize("number", NUMBERS)
def test_right_answer_passes_up_to_its_tolerance(number):
    tolerance = QUESTIONS[number].tolerance
    for inside in (1.0, 1.0 + 0.9 * tolerance, 1.0 - 0.9 * tolerance):
        assert exercises.check(number, times(inside, number)).right
    for outside in (1.0 + 1.1 * tolerance, 1.0 - 1.1 * tolerance):
        said = exercises.check(number, times(outside, number))
        assert not said
        assert said.said.startswith("close: ")
    assert exercises.check(number, times(1.234567, number)).said == OTHERWISE


@pytest.mark.parametrize(("number", "k"), MISTAKES)
def test_each_mistake_gives_its_own_hint(number, k):
    mistake, hint = QUESTIONS[number].mistakes[k]
    said = exercises.check(number, answer(number, mistake))
    assert (said.right, said.said) == (False, f"not yet. {hint}")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    ("factor", "hint"),
    [(-1.0, "sign"), (2.0, "factor of two"), (100.0, "per cent"), (25.0, "per weight")],
)
def test_usual_factors_give_a_hint(number, factor, hint):
    said = exercises.check(number, times(factor, number))
    assert not said.right
    assert hint in said.said


@pytest.mark.parametrize("number", NUMBERS)
def test_only_a_logarithm_is_asked_for_its_base(number):
    said = exercises.check(number, times(1.0 / math.log(2.0), number)).said
    assert ("nats" in said) == QUESTIONS[number].nats


@pytest.mark.parametrize(
    ("number", "slip", "hint"),
    [
        ("1.3", lambda right: 1.0 / right, "Inverted"),
        ("1.3", lambda right: right**2, "square"),
        ("1.3", lambda right: 1.0 - right, "one minus"),
        ("6.1", lambda right: 1.0 - 2.0 * right, "Overlap or distance"),
        ("6.3", lambda right: (1.0 - right) / 2.0, "Overlap or distance"),
        ("1.3", lambda right: round(right, 3), "more figures"),
    ],
)
def test_usual_slips_give_a_hint(number, slip, hint):
    right = QUESTIONS[number].right
    said = exercises.check(number, answer(number, lambda *at: slip(right(*at))))
    assert not said
    assert hint in said.said


def test_a_function_keeps_its_own_error():
    with pytest.raises(ZeroDivisionError) as raised:
        exercises.check("1.2", lambda load: load / 0.0)
    assert "your function's own error, at 0.1" in raised.value.__notes__[0]


@pytest.mark.parametrize("number", [Fraction(1, 2), Decimal("0.5"), np.float32(0.5), [0.5]])
def test_any_real_number_is_one(number):
    assert "more" not in exercises.check("1.3", number).said


@pytest.mark.parametrize("number", NUMBERS)
def test_no_hint_holds_the_answer(number):
    question = QUESTIONS[number]
    values = question.at_points(question.right)
    for _, hint in question.mistakes:
        assert not [value for value in values if f"{abs(value):.2f}" in hint]


def test_right_answers_found_otherwise():
    """By the solver at a small load, by the annealed entropy itself, by Gardner's integral."""
    load = 1e-3  # the next order is below load^3
    exact = typical.solve(Perceptron(Binary()), load).entropy
    assert QUESTIONS["1.1"].right(load) == pytest.approx(exact, abs=load**3)
    for load in (0.1, 0.5):
        kappa = QUESTIONS["1.2"].right(load)
        assert math.log(2.0) + load * math.log(gaussian.H(kappa)) == pytest.approx(0.0, abs=1e-12)
    x = np.linspace(-12.0, 12.0, 240_001)
    kappa = QUESTIONS["1.3"].right()
    integrand = (
        np.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi) * np.clip(kappa - x, 0.0, None) ** 2
    )
    assert np.trapezoid(integrand, x) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("number", "those"),
    [("1.9", "1.1, 1.2, 1.3; not"), ("", "such as '1.1'"), (1.2, "1.1, 1.2"), (None, "such as")],
)
def test_unknown_exercise_is_refused_with_those_there_are(number, those):
    with pytest.raises(ValueError, match="exercise must be the number") as refused:
        exercises.check(number, 1.0)
    assert those in str(refused.value)


@pytest.mark.parametrize("junk", ["0.3", None, 1j, True, [1.0, 2.0], [[1.0], [1.0, 2.0]], len])
def test_junk_is_no_number(junk):
    with pytest.raises(TypeError, match="answer must be a number, the margin at load one, not"):
        exercises.check("1.3", junk)


@pytest.mark.parametrize("junk", [0.3, None, "f"])
def test_junk_is_no_function(junk):
    with pytest.raises(TypeError, match="answer must be a function, the bound"):
        exercises.check("1.2", junk)


@pytest.mark.parametrize("value", [None, "1", [1.0, 2.0]])
def test_a_function_must_return_a_number(value):
    with pytest.raises(TypeError, match=r"returns a number at 0\.1"):
        exercises.check("1.2", lambda load: value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.0])
def test_what_is_not_finite_is_not_right(value):
    assert not exercises.check("1.3", value).right
    assert not exercises.check("1.2", lambda load: value).right


def test_result_prints_as_one_line():
    assert repr(exercises.check("1.3", 100.0)) == f"Exercise 1.3: {OTHERWISE}"
