"""Patterns: their shape, their law, their seeds, and the teacher that knows the labels."""

import numpy as np
import pytest

from wfmlib import patterns


def test_random_patterns_are_int8_signs_of_the_shape_asked_for():
    xi, sigma = patterns.random(7, 12, rng=1)
    assert xi.shape == (7, 12)
    assert sigma.shape == (7,)
    assert xi.dtype == sigma.dtype == np.int8
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
    assert xi.dtype == sigma.dtype == teacher.dtype == np.int8
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
