"""Teacher and student: what typical students know of a teacher with binary weights.

Draw the teacher first, then patterns with the labels that it gives (and, with a margin, those
patterns only that it labels with that margin). The teacher is then one of the solutions, planted
among them, and it is like every other one: what a student knows of the teacher is what it knows of
another student drawn at random, ``R = q`` (Nishimori's identity, the Bayes-optimal case). It is
the replica calculation of `typical` at n -> 1 replicas instead of n -> 0: averages over patterns
are weighted with the number of solutions, e^f, and fields on weights lean towards the teacher,

    phi = -q_hat (1 + q) / 2 + E ln 2 cosh(sqrt(q_hat) x + q_hat) + alpha E e^f f / E e^f
    q = E tanh(sqrt(q_hat) x + q_hat),   q_hat = alpha c'(q) E e^f f'^2 / E e^f

[eq-planted-entropy], with f that of `saddles.replica_symmetric`, whose saddle point is taken with
other averages. For a perceptron it is short in plain NumPy:

>>> from scipy.special import log_ndtr
>>> x, weight = np.polynomial.hermite_e.hermegauss(200)
>>> weight, alpha, q_hat = weight / weight.sum(), 1.0, 0.1
>>> for _ in range(200):
...     field = np.sqrt(q_hat) * x + q_hat
...     q = weight @ np.tanh(field)
...     u = np.sqrt(q / (1 - q)) * x
...     f, pattern = log_ndtr(u), 2 * weight * np.exp(log_ndtr(u))
...     q_hat = alpha * (pattern @ np.exp(-(u**2) - 2 * f)) / (2 * np.pi * (1 - q))
>>> entropic = weight @ np.log(2 * np.cosh(field)) - q_hat * (1 + q) / 2
>>> from wfmlib import Perceptron
>>> learned = solve(Perceptron(), alpha)
>>> print(f"{q:.6f} {learned.q:.6f}")
0.560715 0.560715
>>> print(f"{entropic + alpha * (pattern @ f):.6f} {learned.entropy:.6f}")
0.106108 0.106108
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Binary, Entropic
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Distances, Range
from wfmlib.numerics.solvers import NoZero, Report, accepted, first_root
from wfmlib.theory.axes import Load, Loads, checked, values_over, values_over_constraints
from wfmlib.theory.franz_parisi.dense_regions import load_of_dip
from wfmlib.theory.franz_parisi.dips import Profile
from wfmlib.theory.franz_parisi.potential import along, heights
from wfmlib.theory.franz_parisi.surroundings import Surroundings
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.replica_symmetric import Stationary

if TYPE_CHECKING:
    import xarray as xr


__all__ = [
    "curve",
    "dense_threshold",
    "generalisation_error",
    "local_entropy",
    "max_margin",
    "perfect_learning",
    "solve",
]


def __dir__():
    return __all__


LAST = 4.0  # logarithm of q_hat: there 1 - q is 1e-12
TEACHERS = Range(-2.0, 12.0)  # margins of teachers, in units of the activation's scale


# ------------------------------------------------------------------------------------------------
# Typical students
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Learned(Shown):
    """What a typical student of a binary teacher has learned.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    constraint : Margin
        The margin with which the teacher labels, and that students reach.
    q, q_hat : float
        Overlap between two students, and between student and teacher; and its conjugate, infinite
        where q is 1.
    entropy : float
        Logarithm of the number of students, in nats per weight; 0 where only the teacher is left.
    generalisation_error : float
        Probability that a student labels a new pattern otherwise than the teacher
        [eq-generalisation].
    report : Report
    """

    printed_answers = ("q", "q_hat", "entropy", "generalisation_error")

    device: Device
    alpha: float
    constraint: Margin
    q: float
    q_hat: float
    entropy: float
    generalisation_error: float
    report: Report = field(compare=False)


class _Students(Binary):
    """Binary weights seen from the teacher's: its +1 adds q_hat to the field on a student's."""

    def entropic(self, q_hat):
        """Return the entropic side of the saddle point  [eq-planted-entropy]."""
        width = math.sqrt(q_hat)
        x, weight = gaussian.grid((-width, 1.0 / max(width, 0.5)))
        field = width * x + q_hat
        decay = np.exp(-2.0 * np.abs(field))
        variance = 4.0 * decay / (1.0 + decay) ** 2
        complement = weight @ (np.where(field > 0.0, 2.0 * decay, 2.0) / (1.0 + decay))
        q = weight @ np.tanh(field)
        log_2cosh = weight @ (np.abs(field) + np.log1p(decay))
        term = log_2cosh - 0.5 * q_hat * (1.0 + q)
        return Entropic(q, complement, term, weight @ variance**2)


class _Planted(Stationary):
    """The saddle point of n -> 1 replicas: a pattern's fields are weighted with ``e^f``."""

    def __init__(self, q_hat, weights, term, constraint):
        super().__init__(q_hat, _Students(), term, constraint)

    @cached_property
    def _fields(self):
        c, variance = self.overlap.c, self.overlap.complement
        root, kappa = math.sqrt(c), self.constraint.kappa
        features = np.empty((0, 2))
        if root > 0.05:  # as in Stationary
            features = np.array(self.constraint.features(variance)) / root
        # patterns that the teacher stores with margin kappa: their fields are up there
        high = gaussian.LIMIT + max(kappa, 0.0)
        rule = gaussian.legendre_rule()
        x, weight = gaussian.fill_grid(features, kappa - high, high, rule)
        log_weight = self.constraint.log_weight(root * x, variance)
        weight = weight * np.exp(log_weight - np.max(log_weight))
        return root * x, weight / np.sum(weight)


def _checked(device, constraint):
    """Return the axes after checking them; a teacher's margin has a range of its own."""
    axes = checked(device, constraint, weights=(Binary,))
    TEACHERS.check("margin / activation.scale", constraint.kappa / axes[1].scale)
    return axes


@arguments.checked
def solve(device: Device, alpha: Load, constraint: Margin = Margin(0.0)) -> Learned:
    """Solve for the typical students of a teacher with binary weights.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        Teacher and students; with binary weights, a committee of infinitely many units.
    alpha : float
        Load, patterns per weight; not negative.
    constraint : Margin
        With which the teacher labels its patterns, and that students reach; from -2 to 12 times
        the activation's scale.

    Returns
    -------
    Learned
        The teacher alone, ``q = 1`` and entropy 0, above `perfect_learning`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where the saddle point cannot be resolved; not seen in the allowed range.

    Notes
    -----
    Up to the load where their entropy vanishes  [eq-planted-entropy], students are exponentially
    many, with the smallest q that solves ``q_hat = alpha c'(q) E f'^2``; beyond it the saddle
    point describes no student but the teacher  (a first-order transition).

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> learned = solve(Perceptron(), 1.0)
    >>> round(learned.q, 4), round(learned.generalisation_error, 4)
    (0.5607, 0.3105)
    """
    axes = _checked(device, constraint)
    point, report = _at_load(alpha, axes)
    q, q_hat, entropy = (
        (1.0, math.inf, 0.0) if point is None else (point.q, point.q_hat, point.entropy)
    )
    if entropy < 0.0:
        q, q_hat, entropy = 1.0, math.inf, 0.0
    error = generalisation_error(axes[1].effective_overlap(float(q)).c)
    q, q_hat, entropy = map(float, (q, q_hat, entropy))
    return Learned(device, alpha, constraint, q, q_hat, entropy, error, report)


def _at_load(alpha, axes):
    """Return the saddle point of smallest q at a load, None past the last one; and the report."""
    free = _Planted(0.0, *axes)
    below = alpha * free.overlap.slope * free.force
    if below < 1e-30:
        return free, accepted(0.0, 0.0, 1, "q_hat is proportional to the load")

    def excess(log_q_hat):
        return math.log(_Planted(math.exp(log_q_hat), *axes).alpha / alpha)

    start, alone = math.log(below) - 1e-3, "no saddle point with q below 1: the teacher alone"
    if start >= LAST:  # one step of the iteration, from below, is past it
        return None, accepted(0.0, 0.0, 1, alone)
    try:
        root, report = first_root(excess, start, LAST, step=0.2)
    except NoZero as failure:
        return None, accepted(0.0, 0.0, failure.report.iterations, alone)
    return _Planted(math.exp(root), *axes), report


@arguments.checked
def generalisation_error(overlap: Annotated[ArrayLike, Interval(ge=-1.0, le=1.0)]) -> Any:
    """Return how often two networks disagree, ``arccos(c) / pi``  [eq-generalisation].

    Parameters
    ----------
    overlap : float or array_like
        Effective overlap c, from -1 to 1; for perceptrons that of their weights.

    Returns
    -------
    float or ndarray
        Probability, of the shape of `overlap`.

    Raises
    ------
    TypeError, ValueError
        If `overlap` holds anything but numbers from -1 to 1.

    Examples
    --------
    >>> round(generalisation_error(0.5), 6)  # one third
    0.333333
    """
    error = np.arccos(overlap) / np.pi
    return float(error) if np.ndim(overlap) == 0 else error


@arguments.checked
def perfect_learning(
    device: Device,
    constraint: Margin | Sequence[Margin] = Margin(0.0),
) -> Any:
    """Return the load above which the teacher is the only solution: the entropy vanishes.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    constraint : Margin or sequence of Margin
        With which the teacher labels its patterns.

    Returns
    -------
    float or ndarray
        Of the shape of `constraint`.

    Raises
    ------
    TypeError, ValueError
        As `solve`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(perfect_learning(Perceptron()), 3)
    1.245
    """
    return values_over_constraints(
        lambda margin: _perfect_learning(_checked(device, margin)), constraint
    )


def _perfect_learning(axes):
    def entropy(log_q_hat):
        return _Planted(math.exp(log_q_hat), *axes).entropy

    root, _ = first_root(entropy, -4.0, LAST, step=0.1)
    return float(_Planted(math.exp(root), *axes).alpha)


@arguments.checked
def max_margin(device: Device, alpha: Annotated[ArrayLike, Interval(ge=0.05, lt=math.inf)]) -> Any:
    """Return the largest margin of a teacher that still has students besides itself.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    alpha : float or array_like
        Load, patterns per weight, at least 0.05, and up to the `perfect_learning` of margin 0.

    Returns
    -------
    float or ndarray
        In raw stability, of the shape of `alpha`: `perfect_learning` at it is `alpha`.

    Raises
    ------
    TypeError, ValueError
        As `solve`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(max_margin(Perceptron(), 0.7), 4)
    0.6687
    """
    axes = weights, term, _ = _checked(device, Margin(0.0))
    last, scale = _perfect_learning(axes), term.scale

    def margin(alpha):
        arguments.real("alpha", alpha, 0.05, last)

        def excess(kappa):
            load = _perfect_learning((weights, term, Margin(kappa * scale)))
            return math.log(load / alpha)

        return first_root(excess, 0.0, TEACHERS.high, step=0.2)[0] * scale

    return values_over(margin, alpha)


# ------------------------------------------------------------------------------------------------
# What surrounds the teacher
# ------------------------------------------------------------------------------------------------


@arguments.checked
def curve(
    device: Device,
    alpha: Loads,
    distance: Distances,
    constraint: Margin | Sequence[Margin] = Margin(0.0),
    *,
    reference: Margin | Sequence[Margin] = Margin(0.0),
    progress: bool | None = None,
) -> xr.Dataset:
    """Solve for the solutions at distances from the teacher  [eq-planted-local-entropy].

    The teacher is a typical solution, so that this is the Franz-Parisi potential of Bayes-optimal
    students. There are no other references, and the equations of `franz_parisi` hold with
    ``q = t0 = 0``.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    alpha : float or array_like
        Loads, patterns per weight; not negative.
    distance : float or array_like
        From 0 to 1/2, in any order.
    constraint : Margin or sequence of Margin
        Of the counted solutions.
    reference : Margin or sequence of Margin
        With which the teacher labels its patterns.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    xarray.Dataset
        As `franz_parisi.curve`.

    Raises
    ------
    TypeError, ValueError
        As `franz_parisi.curve`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> curve(Perceptron(), 0.7, [0.1, 0.3]).local_entropy.values.round(4).tolist()
    [0.1452, 0.2586]
    """

    def around(alpha, constraint, reference):
        return _teacher(device, Range.of(Load).check("alpha", alpha), reference, constraint)

    coordinates = {
        "alpha": alpha,
        "distance": distance,
        "constraint": constraint,
        "reference": reference,
    }
    return along(device, coordinates, around, progress)


@arguments.checked
def local_entropy(
    device: Device,
    alpha: Load,
    distance: Distances,
    constraint: Margin = Margin(0.0),
    *,
    reference: Margin = Margin(0.0),
) -> Any:
    """Return the local entropy around the teacher, not normalised  [eq-planted-local-entropy].

    Parameters
    ----------
    device, alpha, reference, constraint
        As `curve`.
    distance : float or array_like
        From 0 to 1/2.

    Returns
    -------
    float or ndarray
        Of the shape of `distance`, in nats per weight.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `franz_parisi.local_entropy`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(local_entropy(Perceptron(), 0.7, 0.1), 4)
    0.1452
    """
    return heights(distance, _teacher(device, alpha, reference, constraint))


def _teacher(device, alpha, reference, constraint):
    for name, margin in (("reference", reference), ("constraint", constraint)):
        arguments.member(name, margin, (Margin,))
    _checked(device, reference)
    return Surroundings(device, alpha, reference, constraint, planted=True)


@arguments.checked
def dense_threshold(
    device: Device,
    constraint: Margin = Margin(0.0),
) -> float:
    """Return the load up to which teachers of the largest margin lie in a dense region.

    As `franz_parisi.dense_threshold`, with a planted reference of `max_margin`.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    constraint : Margin
        Of the counted solutions, not negative.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `franz_parisi.dense_threshold`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(dense_threshold(Perceptron()), 3)
    1.145
    """
    axes = _checked(device, constraint)
    arguments.real("constraint.kappa", constraint.kappa, 0.0)
    return load_of_dip(
        "derivative",
        lambda alpha: Margin(max_margin(device, alpha)),
        lambda alpha, reference: Profile(device, alpha, reference, constraint, planted=True),
        _perfect_learning(axes),
    )
