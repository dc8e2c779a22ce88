"""Patterns: their shape, their law, their seeds, and the teacher that knows the labels."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from wfmlib import Perceptron, patterns


def test_random_patterns_are_signs_of_the_shape_asked_for():
    xi, sigma = patterns.random(7, 12, rng=1)
    assert xi.shape == (7, 12)
    assert sigma.shape == (7,)
    assert xi.dtype == sigma.dtype == np.int64
    assert set(np.unique(xi)) == {-1, 1}
    assert set(np.unique(sigma)) <= {-1, 1}


def test_random_signs_are_fair_and_independent():
    xi, sigma = patterns.random(1000, 1001, rng=2)
    # A mean of n fair signs has standard deviation 1/sqrt(n): five of them, three times.
    assert abs(xi.mean(dtype=float)) < 5 / np.sqrt(xi.size)
    assert abs(sigma.mean(dtype=float)) < 5 / np.sqrt(sigma.size)
    neighbours = xi[:, 1:].astype(int) * xi[:, :-1]
    assert abs(neighbours.mean()) < 5 / np.sqrt(neighbours.size)


@pytest.mark.parametrize("draw", [patterns.random, patterns.teacher_student])
def test_a_seed_repeats_and_a_generator_goes_on(draw):
    first, again = draw(9, 11, rng=5)[0], draw(9, 11, rng=5)[0]
    np.testing.assert_array_equal(first, again)
    assert np.any(draw(9, 11, rng=6)[0] != first)

    generator = np.random.default_rng(5)
    np.testing.assert_array_equal(draw(9, 11, rng=generator)[0], first)
    assert np.any(draw(9, 11, rng=generator)[0] != first)

    one, other = np.random.SeedSequence(5).spawn(2)
    assert np.any(draw(9, 11, rng=one)[0] != draw(9, 11, rng=other)[0])

    assert np.any(draw(9, 11)[0] != draw(9, 11)[0])  # fresh entropy


@pytest.mark.parametrize("N", [1, 2, 4, 10, 11])
def test_teacher_labels_every_pattern_and_never_ties(N):
    xi, sigma, teacher = patterns.teacher_student(500, N, rng=3)
    assert xi.shape == (500, N)
    assert sigma.shape == (500,)
    assert teacher.shape == (N,)
    assert xi.dtype == sigma.dtype == teacher.dtype == np.int64
    assert np.all(np.abs(xi) == 1)
    assert np.all(np.abs(teacher) == 1)
    assert np.all(sigma * (xi.astype(int) @ teacher) > 0)


def test_teacher_patterns_are_uniform_over_those_that_do_not_tie():
    # N = 2: the two patterns +-teacher remain, each with probability 1/2.
    xi, _, teacher = patterns.teacher_student(10_000, 2, rng=4)
    assert np.all(xi[:, 0] * xi[:, 1] == teacher[0] * teacher[1])
    assert abs(np.mean(xi[:, 0], dtype=float)) < 5 / np.sqrt(10_000)


@pytest.mark.parametrize("draw", [patterns.random, patterns.teacher_student])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 5, 1), ValueError, "P must be >= 1, got 0"),
        ((5, -1, 1), ValueError, "N must be >= 1, got -1"),
        ((5.0, 5, 1), TypeError, "P must be an integer, got 5.0"),
        ((5, "5", 1), TypeError, "N must be an integer, got '5'"),
        ((5, 5, 1.5), TypeError, "rng must be None, a non-negative integer.*got 1.5"),
        ((5, 5, True), TypeError, "rng must be None, a non-negative integer.*got True"),
        ((5, 5, -3), ValueError, "rng must be a non-negative integer, got -3"),
    ],
)
def test_bad_arguments_are_named(draw, arguments, error, message):
    with pytest.raises(error, match=message):
        draw(*arguments[:2], rng=arguments[2])


# ------------------------------------------------------------------------------------------------
# One's own
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        [[0, 1], [1, 0]],
        np.array([[0, 1], [1, 0]], np.uint8),
        np.array([[False, True], [True, False]]),
        [[-1, 1], [1, -1]],
        np.array([[-1.0, 1.0], [1.0, -1.0]]),
        [[3, 8], [8, 3]],
        [["coat", "dress"], ["dress", "coat"]],
        sparse.csr_matrix([[0, 1], [1, 0]]),
        sparse.coo_array([[0, 1], [1, 0]]),
        pd.DataFrame({"a": pd.array([0, 1], "Int64"), "b": pd.array([1, 0], "UInt8")}),
        pd.DataFrame({"a": pd.array([False, True], "boolean"), "b": [True, False]}),
    ],
)
def test_two_values_become_signs(given):
    found = patterns.signs(given)
    assert found.tolist() == [[-1, 1], [1, -1]]
    assert found.dtype == np.int64
    assert patterns.signs(given, dtype=np.int8).dtype == np.int8


def test_one_value_becomes_the_sign_that_it_is_beside_the_other():
    for value, sign in ((1, 1), (True, 1), (0, -1), (False, -1), (-1, -1)):
        assert patterns.signs([value] * 3).tolist() == [sign] * 3


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([1, 2, 3], ValueError, r"two values, got 3 \(1, 2, 3\): cut it first"),
        ([7, 7], ValueError, r"two values, got 1 \(7\)"),
        ([], ValueError, "two values, got 0"),
        ([0.0, np.nan], ValueError, "got NaN"),
        (np.array([1, None]), TypeError, "numbers, bools or words, got dtype object"),
        (np.ma.masked_array([0, 1], [False, True]), TypeError, "masked"),
        ([1j, -1j], TypeError, "numbers, bools or words"),
    ],
)
def test_what_cannot_be_signs(given, error, message):
    with pytest.raises(error, match=message):
        patterns.signs(given)


SIGNS, LABELS = patterns.random(6, 8, rng=3)


def count(xi, sigma=LABELS):
    return Perceptron().network(np.ones(8)).errors(xi, sigma)


def test_integers_that_may_be_missing_are_integers():
    """Also numbers in an array of objects, and a table of pandas."""
    wanted = count(SIGNS)
    assert count(SIGNS.astype(object), LABELS.astype(object)) == wanted
    assert count(pd.DataFrame(SIGNS, dtype="Int64"), pd.Series(LABELS, dtype="Int8")) == wanted
    assert count(pd.DataFrame(SIGNS, dtype="Float64"), pd.array(LABELS, "Int64")) == wanted


@pytest.mark.parametrize("dtype", [bool, int, np.uint8, float, object, "Int64", "boolean"])
def test_the_cure_of_zeros_and_ones_works(dtype):
    """As the message says it, and for each type of array."""
    wrong = SIGNS > 0
    wrong = pd.DataFrame(wrong, dtype=dtype) if isinstance(dtype, str) else wrong.astype(dtype)
    with pytest.raises((TypeError, ValueError), match=r"xi must .* -1 and \+1") as refused:
        count(wrong)
    cure, other = str(refused.value).partition("write ")[2].split(", or ")
    for written in (cure, other):
        xi = np.asarray(eval(written, {"xi": wrong, "patterns": patterns})).astype(int)
        np.testing.assert_array_equal(xi, SIGNS)
    with pytest.raises((TypeError, ValueError), match=r"patterns.signs\(sigma\)"):
        count(SIGNS, LABELS > 0)


def test_sparse_matrices_are_refused_with_the_cure():
    held = sparse.csr_matrix((SIGNS + 1) // 2)
    with pytest.raises(TypeError, match=r"got a sparse csr_matrix: write xi.toarray\(\)"):
        count(held)
    assert count(patterns.signs(held)) == count(SIGNS)


def test_a_missing_entry_is_named():
    missing = [1, -1, 1, 1, -1, None]
    with pytest.raises(TypeError, match="dtype object with an entry None"):
        count(SIGNS, missing)
    with pytest.raises((TypeError, ValueError), match=r"entry (<NA>|nan)"):
        count(SIGNS, pd.array(missing, "Int64"))
