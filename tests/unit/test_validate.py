"""The checks at the public door name the argument, what came and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from wfmlib.numerics import _validate


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.5])
def test_real_refuses_what_lies_outside(value):
    with pytest.raises(ValueError, match=r"alpha must be finite and >= 0 and <= 1, got"):
        _validate.real("alpha", value, 0, 1)


def test_real_refuses_integers_that_no_float_holds():
    for value in (10**400, -(10**400)):
        with pytest.raises(ValueError, match="alpha must be finite"):
            _validate.real("alpha", value)


@pytest.mark.parametrize("value", ["1", None, True, [1.0], 1j, np.ma.masked])
def test_real_refuses_other_types(value):
    with pytest.raises(TypeError, match="alpha must be a real number, got"):
        _validate.real("alpha", value, 0, 1)


def test_real_takes_numpy_scalars_and_open_ends():
    assert _validate.real("q", np.float32(0.5), 0, 1) == 0.5
    assert _validate.real("q", np.array(0.25), 0, 1) == 0.25
    with pytest.raises(ValueError, match="> 0 and < 1"):
        _validate.real("q", 1.0, 0, 1, low_open=True, high_open=True)


def test_integer():
    assert _validate.integer("P", np.int64(3), 1) == 3
    with pytest.raises(TypeError, match=r"P must be an integer, got 3\.0"):
        _validate.integer("P", 3.0, 1)
    with pytest.raises(ValueError, match="P must be >= 1, got 0"):
        _validate.integer("P", 0, 1)
    with pytest.raises(ValueError, match="N must be from 1 to 8, got 9"):
        _validate.integer("N", 9, 1, 8)


def test_patterns():
    xi, sigma = _validate.patterns([[1, -1], [1.0, 1]], np.array([1, -1]))
    assert xi.dtype == sigma.dtype == np.int8
    with pytest.raises(ValueError, match=r"xi must hold -1 and \+1 only, got an entry 0"):
        _validate.patterns([[1, 0]], [1])
    with pytest.raises(ValueError, match=r"xi has shape \(1, 2\), sigma has shape \(2,\)"):
        _validate.patterns([[1, 1]], [1, 1])
    with pytest.raises(ValueError, match="2 axes"):
        _validate.patterns([1, 1], [1, 1])
    with pytest.raises(TypeError, match="xi must be an array of -1 and"):
        _validate.patterns([["a"]], [1])


def test_arrays():
    assert _validate.reals("q", [[1, 2], [3, 4]]).dtype == np.float64
    assert np.isnan(_validate.reals("q", np.nan))
    for check in (_validate.array, _validate.reals):
        with pytest.raises(ValueError, match=r"q must be a rectangular array, got \[\[1"):
            check("q", [[1], [2, 3]])
        with pytest.raises(TypeError, match=r"q must be .* got a masked array"):
            check("q", np.ma.masked_equal([1, 2], 2))
    with pytest.raises(TypeError, match="q must hold real numbers, got dtype complex128"):
        _validate.reals("q", [1j])
    with pytest.raises(TypeError, match="q must be a real number, got 'a'"):
        _validate.reals("q", "a")


@pytest.mark.parametrize("rng", [1.5, "3", True, [1, 2]])
def test_generator_refuses_other_types(rng):
    with pytest.raises(TypeError, match="rng must be None, a non-negative integer"):
        _validate.generator(rng)


def test_generator():
    with pytest.raises(ValueError, match="got -1"):
        _validate.generator(-1)
    generator = np.random.default_rng(3)
    assert _validate.generator(generator) is generator
    assert _validate.generator(np.random.SeedSequence(3)).random() == generator.random()
    assert _validate.generator(None).random() != _validate.generator(None).random()


def test_member_and_choice():
    with pytest.raises(TypeError, match=r"weights must be int\(\.\.\.\), got .* call the class"):
        _validate.member("weights", int, (int,))
    with pytest.raises(ValueError, match="ansatz must be one of 'RS', got 'FRSB'"):
        _validate.choice("ansatz", "FRSB", ("RS",))
    for value in (1, [True], np.array([True, False])):
        with pytest.raises(ValueError, match="force must be one of False, True, got"):
            _validate.choice("force", value, (False, True))
    assert _validate.choice("force", np.True_, (False, True))


def test_function():
    assert _validate.function("f", abs) is abs
    with pytest.raises(TypeError, match="f must be a function, got 3"):
        _validate.function("f", 3)
