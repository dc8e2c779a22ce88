"""Patterns to store: random ones, and ones that a teacher has labelled.

Both functions take a seed, a `numpy.random.SeedSequence` or a `numpy.random.Generator` as `rng`.
A sweep over samples gives each its own child of one seed sequence,

    for child in np.random.SeedSequence(1).spawn(samples):
        xi, sigma = patterns.random(P, N, rng=child)

so that a sample is the same whatever the order, and the number of workers, it is drawn with.
"""

from __future__ import annotations

import numpy as np

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count
from wfmlib.numerics.types import Array, Seed

__all__ = ["random", "teacher_student"]


def __dir__():
    return __all__


@arguments.checked
def random(P: Count, N: Count, *, rng: Seed = None) -> tuple[Array, Array]:
    """Draw P patterns and their labels, every entry -1 or +1 with probability 1/2.

    This is the storage problem [eq-stability] at load ``alpha = P / N``.

    Parameters
    ----------
    P, N : int
        Number of patterns and number of weights, both at least 1.
    rng : None, int, numpy.random.SeedSequence or numpy.random.Generator, optional
        Where the randomness comes from: fresh entropy where None; a generator is advanced.

    Returns
    -------
    xi : numpy.ndarray
        Patterns, shape (P, N), int8, entries -1 and +1.
    sigma : numpy.ndarray
        Labels, shape (P,), int8, entries -1 and +1.

    Raises
    ------
    TypeError
        If `P` or `N` is not an integer, or `rng` is none of the four kinds.
    ValueError
        If `P` or `N` is below 1, or an integer `rng` is negative.
    """
    rng = arguments.generator(rng)
    return _signs(rng, (P, N)), _signs(rng, P)


@arguments.checked
def teacher_student(P: Count, N: Count, *, rng: Seed = None) -> tuple[Array, Array, Array]:
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

    Returns
    -------
    xi : numpy.ndarray
        Patterns, shape (P, N), int8, entries -1 and +1.
    sigma : numpy.ndarray
        The teacher's labels, shape (P,), int8, entries -1 and +1.
    teacher : numpy.ndarray
        The teacher's weights, shape (N,), int8, entries -1 and +1.

    Raises
    ------
    TypeError
        If `P` or `N` is not an integer, or `rng` is none of the four kinds.
    ValueError
        If `P` or `N` is below 1, or an integer `rng` is negative.
    """
    rng = arguments.generator(rng)
    teacher = _signs(rng, N)
    xi = _signs(rng, (P, N))
    field = xi @ teacher.astype(np.int64)
    while len(tied := np.flatnonzero(field == 0)):
        xi[tied] = _signs(rng, (len(tied), N))
        field[tied] = xi[tied] @ teacher.astype(np.int64)
    return xi, np.sign(field).astype(np.int8), teacher


def _signs(rng, shape):
    """Return an int8 array of independent fair signs."""
    return 2 * rng.integers(2, size=shape, dtype=np.int8) - 1
