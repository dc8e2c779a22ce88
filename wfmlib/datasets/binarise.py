"""Binary patterns from grey images, and the two-class task of P1's experiments.

Every image is cut at its own median, so that about half of its pixels are +1 however bright it
is. Images whose median is very dark or very bright are left out: most of their pixels would be
cut at the background or at saturation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.datasets.images import FASHION_MNIST_CLASSES, fashion_mnist
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Share
from wfmlib.numerics.types import Array, Seed

DRESS, COAT = (FASHION_MNIST_CLASSES.index(name) for name in ("dress", "coat"))
WHITE = 255  # grey levels are counted in shares of it


@arguments.checked
def binarise(images: ArrayLike, *, low: Share = 0.25, high: Share = 0.75) -> tuple[Array, Array]:
    """Cut grey images at their medians  [eq-binarise].

    Parameters
    ----------
    images : array_like
        Shape (P, ...), uint8 from 0 to 255, such as `wfmlib.datasets.fashion_mnist` returns. The
        axes after the first are one pattern.
    low, high : float, optional
        Keep the images whose median is from `low` to `high`, as shares of 255, both
        included, from 0 to 1.

    Returns
    -------
    xi : numpy.ndarray
        Patterns, shape (number kept, N), int8: +1 where a pixel is brighter than the median of
        its image, -1 where it is darker or equal to it.
    kept : numpy.ndarray
        Shape (P,), bool: which images these are, in their order.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: P1, Sec. V.
    """
    given = arguments.array("images", images)
    if given.dtype != np.uint8:
        raise TypeError(f"images must be uint8, from 0 to 255, got dtype {given.dtype}")
    if given.ndim < 2 or given.size == 0:
        raise ValueError(
            f"images must be a non-empty array with 2 axes or more, got shape {given.shape}"
        )
    high = arguments.real("high", high, low, 1.0)
    pixels = given.reshape(len(given), -1)
    medians = np.median(pixels, axis=1)
    kept = (low * WHITE <= medians) & (medians <= high * WHITE)
    xi = np.where(pixels[kept] > medians[kept, None], 1, -1).astype(np.int8)
    return xi, kept


@arguments.checked
def dress_coat(
    patterns: Count = 500, *, rng: Seed = None, balanced: bool = True
) -> tuple[Array, Array, Array, Array]:
    """Return the task of telling dresses from coats, after Fashion-MNIST.

    Of both official sets the images are kept whose median is from 0.25 to 0.75: 344 dresses and
    3583 coats to train with, 74 and 603 to test with. The training patterns are drawn from the
    former by `draw`; the test patterns are all of the latter, whatever `rng`.

    Parameters
    ----------
    patterns : int, optional
        How many to train with, at least 1.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Which of them.
    balanced : bool, optional
        As for `draw`. P1 does not say; of all together 9 in 10 are coats.

    Returns
    -------
    xi_train : numpy.ndarray
        Shape (patterns, 784), int8, -1 and +1, in random order.
    sigma_train : numpy.ndarray
        Shape (patterns,), int8: +1 is a coat, -1 a dress.
    xi_test, sigma_test : numpy.ndarray
        The same for testing, in the order of the official file.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    ValueError, FileNotFoundError
        For a file, as for `wfmlib.datasets.fashion_mnist`.

    Source: P1, Sec. V.
    """
    return *draw(*_task("train"), patterns, rng=rng, balanced=balanced), *_task("test")


@arguments.checked
def draw(
    xi: ArrayLike, sigma: ArrayLike, patterns: Count, *, rng: Seed = None, balanced: bool = True
) -> tuple[Array, Array]:
    """Draw some of the patterns of two classes, without repetition and in random order.

    Parameters
    ----------
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    patterns : int
        How many to draw, at least 1.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Which of them.
    balanced : bool, optional
        Draw as many with label -1 as with +1 (an odd one out has +1), or from all together.

    Returns
    -------
    xi, sigma : numpy.ndarray
        Shapes (patterns, N) and (patterns,), int8.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or if there are not so many patterns;
        the message names it.
    """
    xi, sigma = arguments.patterns(xi, sigma)
    rng = arguments.generator(rng)
    if balanced:
        groups = [np.flatnonzero(sigma == label) for label in (-1, 1)]
        counts = [patterns // 2, patterns - patterns // 2]
    else:
        groups, counts = [np.arange(len(sigma))], [patterns]
    for group, count in zip(groups, counts, strict=True):
        if count > len(group):
            wanted = f"{count} of a class" if len(groups) == 2 else f"{count}"
            raise ValueError(
                f"patterns must leave enough to draw from, got {patterns}: with "
                f"balanced={balanced} {wanted} are needed, and there are {len(group)}"
            )
    chosen = [
        rng.choice(group, count, replace=False)
        for group, count in zip(groups, counts, strict=True)
    ]
    order = rng.permutation(np.concatenate(chosen))
    return xi[order], sigma[order]


def shuffle_pixels(xi: ArrayLike, *, rng: Seed = None) -> Array:
    """Permute every pixel among the patterns, each in its own way  [eq-shuffle].

    Each pixel keeps its mean over the patterns; pixels are independent of each other otherwise,
    and the patterns no longer know of their labels.

    Parameters
    ----------
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the permutations.

    Returns
    -------
    numpy.ndarray
        Shape (P, N), int8.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: P1, App. F.
    """
    return arguments.generator(rng).permuted(arguments.signs("xi", xi, 2), axis=0)


def _task(split: str) -> tuple[Array, Array]:
    """Return the patterns and labels of all dresses and coats of a split that are kept."""
    images, labels = fashion_mnist(split, (DRESS, COAT))
    xi, kept = binarise(images)
    return xi, np.where(labels[kept] == COAT, 1, -1).astype(np.int8)
