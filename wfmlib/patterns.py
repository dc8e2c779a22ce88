"""Patterns to store: random ones, ones that a teacher has labelled, and one's own as signs.

The first two take a seed, a `numpy.random.SeedSequence` or a `numpy.random.Generator` as `rng`.
A sweep over samples gives each its own child of one seed sequence,

    for child in np.random.SeedSequence(1).spawn(samples):
        xi, sigma = patterns.random(P, N, rng=child)

so that a sample is the same whatever the order, and the number of workers, it is drawn with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.types import Array, Seed

__all__ = ["random", "signs", "teacher_student"]


def __dir__():
    return __all__


@arguments.checked
def random(
    P: Count, N: Count, *, rng: Seed = None, dtype: DTypeLike = np.int64
) -> tuple[Array, Array]:
    """Draw P patterns and their labels, every entry -1 or +1 with probability 1/2.

    This is the storage problem [eq-stability] at load ``alpha = P / N``.

    Parameters
    ----------
    P, N : int
        Number of patterns and number of weights, both at least 1.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from: fresh entropy where None; a generator is advanced.
    dtype : numpy.dtype, optional
        Of what is returned. The default is wide enough to calculate with, and takes 8 bytes an
        entry; ``np.int8`` takes one, and its sums wrap beyond 127: for data that are large and
        are handed on to functions of this package.

    Returns
    -------
    xi : numpy.ndarray
        Patterns, shape (P, N), entries -1 and +1.
    sigma : numpy.ndarray
        Labels, shape (P,), entries -1 and +1.

    Raises
    ------
    TypeError
        If `P` or `N` is not an integer, or `rng` is none of the four kinds.
    ValueError
        If `P` or `N` is below 1, an integer `rng` is negative, or `dtype` does not hold signs.

    Examples
    --------
    >>> xi, sigma = random(3, 5, rng=1)
    >>> xi.shape, sigma.shape
    ((3, 5), (3,))
    """
    rng, kind = arguments.generator(rng), arguments.dtype(dtype)
    return _signs(rng, (P, N)).astype(kind), _signs(rng, P).astype(kind)


@arguments.checked
def teacher_student(
    P: Count, N: Count, *, rng: Seed = None, dtype: DTypeLike = np.int64
) -> tuple[Array, Array, Array]:
    """Draw a binary teacher and P random patterns, labelled by the sign of ``teacher @ xi``.

    At even N a pattern can tie, ``teacher . xi = 0``. The teacher would then break its own rule
    (a tie counts as an error everywhere in this package), so a tied pattern is drawn again: the
    patterns are uniform over those that do not tie. At odd N there is no tie and nothing is
    drawn twice.

    Parameters
    ----------
    P, N : int
        Number of patterns and number of weights, both at least 1.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from: fresh entropy where None; a generator is advanced.
    dtype : numpy.dtype, optional
        Of what is returned. The default is wide enough to calculate with, and takes 8 bytes an
        entry; ``np.int8`` takes one, and its sums wrap beyond 127: for data that are large and
        are handed on to functions of this package.

    Returns
    -------
    xi : numpy.ndarray
        Patterns, shape (P, N), entries -1 and +1.
    sigma : numpy.ndarray
        The teacher's labels, shape (P,), entries -1 and +1.
    teacher : numpy.ndarray
        The teacher's weights, shape (N,), entries -1 and +1.

    Raises
    ------
    TypeError
        If `P` or `N` is not an integer, or `rng` is none of the four kinds.
    ValueError
        If `P` or `N` is below 1, an integer `rng` is negative, or `dtype` does not hold signs.

    Examples
    --------
    >>> xi, sigma, teacher = teacher_student(3, 5, rng=1)
    >>> bool(np.all(sigma == np.sign(xi @ teacher)))
    True
    """
    rng, kind = arguments.generator(rng), arguments.dtype(dtype)
    teacher = _signs(rng, N)
    xi = _signs(rng, (P, N))
    field = xi @ teacher.astype(np.int64)
    while len(tied := np.flatnonzero(field == 0)):
        xi[tied] = _signs(rng, (len(tied), N))
        field[tied] = xi[tied] @ teacher.astype(np.int64)
    return xi.astype(kind), np.sign(field).astype(kind), teacher.astype(kind)


@arguments.checked
def signs(X: ArrayLike, *, dtype: DTypeLike = np.int64) -> Array:
    """Return an array that holds two values, as signs: patterns or labels of one's own.

    Signs stay what they are. False and 0 become -1, True and 1 become +1. Of any two other values,
    such as the classes 3 and 8, the one that sorts first becomes -1.

    Parameters
    ----------
    X : array_like
        Of any shape: numbers, bools or words; two values in all, or one that is -1, 0, 1 or a
        bool. A matrix of `scipy.sparse` holds 0 wherever it holds nothing; integers and bools of
        pandas that may be missing must not be.
    dtype : numpy.dtype, optional
        Of what is returned, as for `random`.

    Returns
    -------
    numpy.ndarray
        Of the shape of X, entries -1 and +1.

    Raises
    ------
    TypeError, ValueError
        If `X` is empty, holds another number of values, or one that is missing or not a number,
        or `dtype` does not hold signs.

    Examples
    --------
    >>> signs([[0, 1, 1], [1, 0, 1]])
    array([[-1,  1,  1],
           [ 1, -1,  1]])
    >>> signs(["dress", "coat", "dress"])
    array([ 1, -1,  1])
    """
    kind = arguments.dtype(dtype)
    entries = arguments.array("X", X.toarray() if hasattr(X, "toarray") else X)
    if entries.dtype.kind not in "biufU":
        raise TypeError(f"X must hold numbers, bools or words, got dtype {entries.dtype}")
    values = np.unique(entries)
    if entries.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError("X must hold two values, got NaN among them")
    alone = len(values) == 1 and entries.dtype.kind != "U" and values[0] in (-1, 0, 1)
    if len(values) != 2 and not alone:
        some = ", ".join(str(value) for value in values[:4]) + (", ..." if len(values) > 4 else "")
        raise ValueError(
            f"X must hold two values, got {len(values)} ({some}): cut it first, as X > 0.5"
        )
    above = entries == values[-1]
    if alone and values[0] != 1:
        above = ~above
    return np.where(above, kind.type(1), kind.type(-1))


def _signs(rng, shape):
    """Return independent fair signs: int8, whatever is handed out, as that sets the stream."""
    return 2 * rng.integers(2, size=shape, dtype=np.int8) - 1
