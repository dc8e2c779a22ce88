"""Binary patterns from grey images, and the two-class task of P1's experiments.

Every image is cut at its own median, so that about half of its pixels are +1 however bright it
is. Images whose median is very dark or very bright are left out: most of their pixels would be
cut at the background or at saturation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from wfmlib.datasets.images import FASHION_MNIST_CLASSES, fashion_mnist
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Positive, Share
from wfmlib.numerics.types import Array, Seed

DRESS, COAT = (FASHION_MNIST_CLASSES.index(name) for name in ("dress", "coat"))
WHITE = 255.0  # of uint8: grey levels are counted in shares of it


@arguments.checked
def binarise(
    images: ArrayLike,
    *,
    low: Share = 0.25,
    high: Share = 0.75,
    white: Positive | None = None,
    dtype: DTypeLike = np.int64,
) -> tuple[Array, Array]:
    """Cut grey images at their medians  [eq-binarise].

    Parameters
    ----------
    images : array_like
        Shape (P, ...), uint8 from 0 to 255, such as `wfmlib.datasets.fashion_mnist` returns, or
        numbers from 0 to `white`. The axes after the first are one pattern.
    low, high : float, optional
        Keep the images whose median is from `low` to `high`, as shares of `white`, both
        included, from 0 to 1.
    white : float, optional
        The brightest grey level, positive: 1 or 16, as images come elsewhere. By default 255, of
        images in uint8.
    dtype : numpy.dtype, optional
        Of what is returned. The default is wide enough to calculate with, and takes 8 bytes an
        entry; ``np.int8`` takes one, and its sums wrap beyond 127: for data that are large and
        are handed on to functions of this package.

    Returns
    -------
    xi : numpy.ndarray
        Patterns, shape (number kept, N): +1 where a pixel is brighter than the median of
        its image, -1 where it is darker or equal to it.
    kept : numpy.ndarray
        Shape (P,), bool: which images these are, in their order.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it. Also if no
        image is kept and none has a pixel above half of 255: white is another level then.

    Source: P1, Sec. V.

    Examples
    --------
    >>> images = np.array([[0.0, 80.0, 160.0, 240.0]] * 3)
    >>> xi, kept = binarise(images, white=255.0)
    >>> xi.shape
    (3, 4)
    """
    greys = arguments.array("images", images)
    if greys.dtype.kind not in "iuf" or (white is None and greys.dtype != np.uint8):
        cure = "; of other numbers say the brightest, as white=1.0" if white is None else ""
        raise TypeError(f"images must be uint8, from 0 to 255, got dtype {greys.dtype}{cure}")
    if greys.ndim < 2 or greys.size == 0:
        raise ValueError(
            f"images must be a non-empty array with 2 axes or more, got shape {greys.shape}"
        )
    if high < low:
        raise ValueError(f"low must be at most high, got low={low:g} and high={high:g}")
    kind, level = arguments.dtype(dtype), WHITE if white is None else white
    if not np.all((greys >= 0) & (greys <= level)):
        raise ValueError(
            f"images must hold grey levels from 0 to white = {level:g}, got {greys.min():g} to "
            f"{greys.max():g}"
        )
    pixels = greys.reshape(len(greys), -1)
    medians = np.median(pixels, axis=1)
    kept = (low * level <= medians) & (medians <= high * level)
    if white is None and not kept.any() and greys.max() <= level / 2.0:
        raise ValueError(
            f"images must be uint8, from 0 to 255: none has its median from {low:g} to {high:g} "
            f"of that, and no pixel is above {greys.max()}; if white is another level, say it, as "
            f"white={greys.max()}"
        )
    bright = pixels[kept] > medians[kept, None]
    return np.where(bright, kind.type(1), kind.type(-1)), kept


@arguments.checked
def dress_coat(
    patterns: Count = 500,
    *,
    rng: Seed = None,
    balanced: bool = True,
    dtype: DTypeLike = np.int64,
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
    dtype : numpy.dtype, optional
        Of what is returned. The default is wide enough to calculate with, and takes 8 bytes an
        entry; ``np.int8`` takes one, and its sums wrap beyond 127: for data that are large and
        are handed on to functions of this package.

    Returns
    -------
    xi_train : numpy.ndarray
        Shape (patterns, 784), -1 and +1, in random order.
    sigma_train : numpy.ndarray
        Shape (patterns,): +1 is a coat, -1 a dress.
    xi_test, sigma_test : numpy.ndarray
        The same for testing, in the order of the official file.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    ValueError, FileNotFoundError
        For a file, as for `wfmlib.datasets.fashion_mnist`.

    Source: P1, Sec. V.

    Examples
    --------
    >>> dress_coat(0)
    Traceback (most recent call last):
        ...
    ValueError: patterns must be >= 1, got 0
    """
    drawn = draw(*_task("train"), patterns, rng=rng, balanced=balanced, dtype=dtype)
    xi, sigma = (array.astype(dtype) for array in _task("test"))
    return *drawn, xi, sigma


@arguments.checked
def draw(
    xi: ArrayLike,
    sigma: ArrayLike,
    patterns: Count,
    *,
    rng: Seed = None,
    balanced: bool = True,
    dtype: DTypeLike = np.int64,
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
    dtype : numpy.dtype, optional
        Of what is returned. The default is wide enough to calculate with, and takes 8 bytes an
        entry; ``np.int8`` takes one, and its sums wrap beyond 127: for data that are large and
        are handed on to functions of this package.

    Returns
    -------
    xi, sigma : numpy.ndarray
        Shapes (patterns, N) and (patterns,).

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or if there are not so many patterns;
        the message names it.

    Examples
    --------
    >>> xi, sigma = np.array([[1, 1], [-1, 1], [1, -1]]), np.array([1, -1, 1])
    >>> draw(xi, sigma, 2, rng=1)[1].tolist()  # one of each class
    [-1, 1]
    """
    xi, sigma = arguments.patterns(xi, sigma)
    rng, kind = arguments.generator(rng), arguments.dtype(dtype)
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
    return xi[order].astype(kind), sigma[order].astype(kind)


@arguments.checked
def shuffle_pixels(xi: ArrayLike, *, rng: Seed = None, dtype: DTypeLike = np.int64) -> Array:
    """Permute every pixel among the patterns, each in its own way  [eq-shuffle].

    Each pixel keeps its mean over the patterns; pixels are independent of each other otherwise,
    and the patterns no longer know of their labels.

    Parameters
    ----------
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the permutations.
    dtype : numpy.dtype, optional
        Of what is returned. The default is wide enough to calculate with, and takes 8 bytes an
        entry; ``np.int8`` takes one, and its sums wrap beyond 127: for data that are large and
        are handed on to functions of this package.

    Returns
    -------
    numpy.ndarray
        Shape (P, N).

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Source: P1, App. F.

    Examples
    --------
    >>> xi = np.array([[1, 1], [-1, 1]])
    >>> shuffle_pixels(xi, rng=1).sum(axis=0).tolist()  # of every pixel as before
    [0, 2]
    """
    kind = arguments.dtype(dtype)
    return arguments.generator(rng).permuted(arguments.signs("xi", xi, 2), axis=0).astype(kind)


def _task(split: str) -> tuple[Array, Array]:
    """Return the patterns and labels of all dresses and coats of a split that are kept."""
    images, labels = fashion_mnist(split, (DRESS, COAT))
    xi, kept = binarise(images, dtype=np.int8)
    return xi, np.where(labels[kept] == COAT, 1, -1)
