"""The perceptron: its answers, its ties, and the unit of its stabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfmlib import patterns
from wfmlib.networks import PerceptronNetwork

XI = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, -1], [-1, -1, -1, 1]])
SIGMA = np.array([1, -1, 1, -1])


def test_a_worked_example():
    # w . xi = 4, 2, 0, -2: right, wrong, a tie, right.
    net = PerceptronNetwork([1, 1, 1, 1])
    np.testing.assert_array_equal(net.output(XI), [1, 1, 0, -1])
    assert net.errors(XI, SIGMA) == 2
    np.testing.assert_array_equal(net.stabilities(XI, SIGMA), [2.0, -1.0, 0.0, 1.0])


def test_types_and_text():
    net = PerceptronNetwork([1.0, -1.0, 1.0, 1.0])
    assert net.w.dtype == np.int64
    assert repr(net) == "PerceptronNetwork(N=4, binary weights)"
    assert net.output(XI).dtype == np.int64
    assert isinstance(net.errors(XI, SIGMA), int)
    real = PerceptronNetwork([0.5, -1.0, 1.0, 1.0])
    assert real.w.dtype == np.float64
    assert repr(real) == "PerceptronNetwork(N=4, real weights)"


def test_the_weights_are_a_copy():
    w = np.array([0.5, -1.0, 1.0, 1.0])
    net = PerceptronNetwork(w)
    w[:] = 7
    np.testing.assert_array_equal(net.w, [0.5, -1.0, 1.0, 1.0])


def test_long_binary_weights_do_not_overflow_int8():
    # w . xi = 301 is beyond an int8.
    xi, sigma = np.ones((1, 301), dtype=np.int8), np.ones(1, dtype=np.int8)
    np.testing.assert_allclose(
        PerceptronNetwork(np.ones(301)).stabilities(xi, sigma), [np.sqrt(301)], rtol=4e-16
    )


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 2**32))
def test_on_the_sphere_the_stability_is_the_papers(N, P, seed):
    xi, sigma = patterns.random(P, N, rng=seed)
    w = np.random.default_rng(seed).standard_normal(N)
    w *= np.sqrt(N) / np.linalg.norm(w)
    expected = [s * sum(x * w) / np.sqrt(N) for x, s in zip(xi, sigma, strict=True)]
    # Sums of N terms of size |w_i|, sum |w_i| <= N: rounded to N eps of that, over sqrt(N).
    np.testing.assert_allclose(
        PerceptronNetwork(w).stabilities(xi, sigma), expected, rtol=0, atol=8 * N**1.5 * 2.3e-16
    )


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 2**32), st.booleans())
def test_output_errors_and_stabilities_agree(N, P, seed, binary):
    xi, sigma = patterns.random(P, N, rng=seed)
    rng = np.random.default_rng(seed)
    net = PerceptronNetwork(rng.choice([-1, 1], N) if binary else rng.standard_normal(N))
    wrong = np.count_nonzero(net.output(xi) != sigma)
    assert net.errors(xi, sigma) == wrong
    assert np.count_nonzero(net.stabilities(xi, sigma) <= 0) == wrong
    # Changing the sign of every weight changes every answer; ties stay ties.
    np.testing.assert_array_equal(PerceptronNetwork(-net.w).output(xi), -net.output(xi))


@pytest.mark.parametrize("scale", [1e-200, 0.1, 1e200])
def test_the_length_of_the_weights_does_not_matter(scale):
    w = np.array([0.5, -1.0, 2.0, 1.25])
    np.testing.assert_allclose(
        PerceptronNetwork(scale * w).stabilities(XI, SIGMA),
        PerceptronNetwork(w).stabilities(XI, SIGMA),
        rtol=1e-14,  # some ten roundings
    )


def test_binary_stabilities_are_integers_over_sqrt_n():
    xi, sigma = patterns.random(50, 25, rng=1)
    net = PerceptronNetwork(patterns.random(1, 25, rng=2)[0][0])
    steps = 5 * net.stabilities(xi, sigma)
    np.testing.assert_allclose(steps, np.round(steps), rtol=0, atol=1e-14)
    assert np.all(np.round(steps) % 2 == 1)


@pytest.mark.parametrize(
    ("w", "error", "message"),
    [
        ([], ValueError, "w must be a non-empty array with 1 axis, got shape"),
        ([[1, 1]], ValueError, r"w must be a non-empty array with 1 axis, got shape \(1, 2\)"),
        ([0.0, 0.0], ValueError, "w must not be zero throughout"),
        ([1.0, np.nan], ValueError, "w must be finite, got an entry nan"),
        ([1.0, np.inf], ValueError, "w must be finite, got an entry inf"),
        (["a"], TypeError, "w must be an array of real numbers"),
        ([1j], TypeError, "w must be an array of real numbers"),
        ([[1], [1, 1]], ValueError, "w must be a rectangular array"),
    ],
)
def test_bad_weights_are_named(w, error, message):
    with pytest.raises(error, match=message):
        PerceptronNetwork(w)


def test_bad_patterns_are_named():
    net = PerceptronNetwork([1, 1, -1, 1])
    with pytest.raises(ValueError, match=r"one column per weight: w has 4 entries.*\(2, 3\)"):
        net.output(np.ones((2, 3)))
    with pytest.raises(ValueError, match="xi must hold -1 and \\+1 only, got 0 and 1"):
        net.errors([[1, 1, 0, 1]], [1])
    with pytest.raises(ValueError, match="sigma must have one label per pattern"):
        net.stabilities(XI, SIGMA[:3])
