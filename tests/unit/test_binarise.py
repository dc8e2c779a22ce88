"""Binary patterns from images: where they are cut, which are kept, which are drawn."""

import os
import sys

import numpy as np
import pytest

from wfmlib import datasets
from wfmlib.datasets.binarise import binarise, draw, dress_coat, shuffle_pixels

OFFICIAL = os.environ.get("WFMLIB_DATA")


def test_cut_at_the_median():
    images = np.array([[[100, 90], [110, 101]], [[64, 64], [64, 255]]], dtype=np.uint8)
    xi, kept = binarise(images)
    assert xi.tolist() == [[-1, -1, 1, 1], [-1, -1, -1, 1]]  # equal to the median: darker
    assert xi.dtype == np.int64
    assert kept.tolist() == [True, True]


def test_brightness_does_not_matter():
    dark = np.random.default_rng(0).integers(20, 120, size=(50, 5, 5), dtype=np.uint8)
    xi, _ = binarise(dark, low=0.0, high=1.0)
    np.testing.assert_array_equal(binarise(2 * dark + 10, low=0.0, high=1.0)[0], xi)
    assert np.all(xi.sum(axis=1) <= 0)  # at most half of the pixels are above


@pytest.mark.parametrize(
    ("median", "kept"), [(63, False), (64, True), (128, True), (191, True), (192, False)]
)
def test_medians_from_a_quarter_to_three_quarters(median, kept):
    image = np.array([[[0, median, median, median, 255]]], dtype=np.uint8)
    xi, found = binarise(image)
    assert found.tolist() == [kept]
    assert len(xi) == kept


def test_limits_are_included():
    images = np.array([[51, 51, 255]], dtype=np.uint8)  # a fifth of 255
    for limits in ({"low": 0.2, "high": 0.3}, {"low": 0.1, "high": 0.2}):
        assert binarise(images, **limits)[1].all()
    assert not binarise(images, low=0.21, high=0.3)[1].any()


def test_images_that_are_none():
    with pytest.raises(TypeError, match=r"images must be uint8.*float64"):
        binarise(np.zeros((2, 3)))
    for shape in ((4,), (0, 2, 2), (2, 0)):
        with pytest.raises(ValueError, match="images must be a non-empty array with 2 axes"):
            binarise(np.zeros(shape, dtype=np.uint8))
    images = np.zeros((2, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match="low must be"):
        binarise(images, low=-0.1)
    with pytest.raises(ValueError, match="low must be at most high"):
        binarise(images, low=0.5, high=0.4)


def test_images_of_another_grey_range():
    """As scikit-learn has them, 0 to 16, and as PyTorch does, 0 to 1."""
    images = np.random.default_rng(5).integers(0, 17, (9, 8, 8), dtype=np.uint8)
    for wrong in (images, images // 16):
        with pytest.raises(
            ValueError, match=f"white is another level, say it, as white={np.max(wrong)}"
        ):
            binarise(wrong)
    xi, kept = binarise(images, white=16)
    for other, white in ((images / 16.0, 1.0), (images.astype(np.float32), 16.0)):
        found = binarise(other, white=white)
        np.testing.assert_array_equal(found[0], xi)
        np.testing.assert_array_equal(found[1], kept)
    assert len(xi) == kept.sum() > 0
    with pytest.raises(TypeError, match=r"got dtype float64; of other numbers say the brightest"):
        binarise(images / 16.0)
    with pytest.raises(ValueError, match=r"grey levels from 0 to white = 1, got 0 to 16"):
        binarise(images, white=1)
    with pytest.raises(ValueError, match=r"grey levels from 0 to white = 1, got -1 to 1"):
        binarise(images / 8.0 - 1.0, white=1)


def labelled(down, up):
    """Return patterns that are their numbers in binary, and labels."""
    count = down + up
    xi = 2 * (np.arange(count)[:, None] >> np.arange(10) & 1) - 1
    return xi.astype(np.int8), np.repeat([-1, 1], [down, up]).astype(np.int8)


def numbers(xi):
    return ((xi + 1) // 2).astype(int) @ (1 << np.arange(10))


@pytest.mark.parametrize(("patterns", "balanced"), [(21, True), (40, True), (21, False)])
def test_draw(patterns, balanced):
    xi, sigma = labelled(20, 300)
    drawn, labels = draw(xi, sigma, patterns, rng=3, balanced=balanced)
    found = numbers(drawn)
    assert drawn.shape == (patterns, 10)
    assert len(set(found)) == patterns
    np.testing.assert_array_equal(labels, np.where(found < 20, -1, 1))
    assert np.any(np.diff(found) < 0)  # not in the order of the file
    if balanced:
        assert np.sum(labels == -1) == patterns // 2
    again = numbers(draw(xi, sigma, patterns, rng=3, balanced=balanced)[0])
    other = numbers(draw(xi, sigma, patterns, rng=4, balanced=balanced)[0])
    np.testing.assert_array_equal(found, again)
    assert not np.array_equal(found, other)


def test_every_pattern_is_as_likely():
    xi, sigma = labelled(8, 24)
    counts = np.zeros(32)
    for seed in range(400):
        counts[numbers(draw(xi, sigma, 8, rng=seed)[0])] += 1
    for group, share in ((counts[:8], 0.5), (counts[8:], 1 / 6)):
        deviations = (group - 400 * share) / np.sqrt(400 * share * (1 - share))
        assert np.abs(deviations).max() < 4
    together = [np.sum(draw(xi, sigma, 8, rng=seed, balanced=False)[1] < 0) for seed in range(400)]
    spread = np.sqrt(8 * 0.25 * 0.75 * 24 / 31 / 400)  # hypergeometric
    assert abs(np.mean(together) - 2) < 4 * spread


def test_not_enough_to_draw_from():
    xi, sigma = labelled(5, 50)
    assert len(draw(xi, sigma, 11, rng=0)[0]) == 11
    with pytest.raises(ValueError, match=r"got 12: .* 6 of a class are needed, and there are 5"):
        draw(xi, sigma, 12, rng=0)
    with pytest.raises(ValueError, match=r"got 56: with balanced=False 56 are needed"):
        draw(xi, sigma, 56, rng=0, balanced=False)
    with pytest.raises(ValueError, match="patterns must be >= 1"):
        draw(xi, sigma, 0, rng=0)


def test_shuffled_pixels():
    rng = np.random.default_rng(5)
    P, N = 400, 12
    common = np.where(rng.random((P, 1)) < 0.5, -1, 1)
    bias = np.linspace(0.1, 0.9, N)
    xi = np.where(rng.random((P, N)) < bias, common, -common).astype(np.int8)  # correlated
    before = xi.copy()
    found = shuffle_pixels(xi, rng=7)
    np.testing.assert_array_equal(xi, before)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found.sum(axis=0), xi.sum(axis=0))

    def largest_correlation(patterns):
        return np.abs(np.corrcoef(patterns.T.astype(float)) - np.eye(N)).max()

    assert largest_correlation(xi) > 0.5
    assert largest_correlation(found) < 5 / np.sqrt(P)  # 66 pairs, each of width 1 / sqrt(P)
    np.testing.assert_array_equal(found, shuffle_pixels(xi, rng=7))
    assert not np.array_equal(found, shuffle_pixels(xi, rng=8))
    with pytest.raises(ValueError, match="xi must hold -1 and"):
        shuffle_pixels(np.zeros((3, 3)), rng=0)


def test_task_from_tiny_files(monkeypatch):
    rng = np.random.default_rng(2)
    asked = []

    def tiny(split, classes):
        asked.append((split, tuple(classes)))
        images = rng.integers(0, 256, size=(40, 28, 28), dtype=np.uint8)
        images[::4] = 0  # too dark
        return images, np.tile([3, 4], 20).astype(np.uint8)

    monkeypatch.setattr(sys.modules[dress_coat.__module__], "fashion_mnist", tiny)
    xi, sigma, xi_test, sigma_test = dress_coat(20, rng=1)
    assert asked == [("train", (3, 4)), ("test", (3, 4))]
    assert (xi.shape, sigma.sum()) == ((20, 784), 0)
    assert (xi_test.shape, np.sum(sigma_test == 1)) == ((30, 784), 20)  # the dark are dresses
    with pytest.raises(ValueError, match="there are 10"):
        dress_coat(22, rng=1)


@pytest.mark.skipif(not OFFICIAL, reason="WFMLIB_DATA is not set: no official files")
def test_official_files(monkeypatch):
    monkeypatch.setenv("WFMLIB_DATA", OFFICIAL)
    xi, sigma, xi_test, sigma_test = dress_coat(rng=0)
    assert (xi.shape, xi_test.shape) == ((500, 784), (677, 784))
    assert sigma.sum() == 0
    assert [np.sum(sigma_test == label) for label in (-1, 1)] == [74, 603]
    assert dress_coat(688, rng=0)[0].shape == (688, 784)  # all 344 dresses
    with pytest.raises(ValueError, match="there are 344"):
        dress_coat(690, rng=0)
    assert np.all(np.abs(xi.sum(axis=1)) <= 784 // 4)  # ties with the median are few
    images, labels = datasets.fashion_mnist("test", ["dress", "coat"])
    medians = [sorted(image.ravel().tolist()) for image in images]
    good = [64 <= (one[391] + one[392]) / 2 <= 191 for one in medians]
    first = np.flatnonzero(good)[0]
    assert sigma_test[0] == (1 if labels[first] == 4 else -1)
    level = (medians[first][391] + medians[first][392]) / 2
    np.testing.assert_array_equal(xi_test[0], np.where(images[first].ravel() > level, 1, -1))
