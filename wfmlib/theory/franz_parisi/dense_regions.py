"""Thresholds of the local entropy: no gap, monotonic growth, and the end of dense regions.

As the reference's margin grows from the margin that is counted, the local entropy, positive very
close to the reference, first has a gap where it is negative, then a dip, then grows monotonically
up to its maximum. Each change is a condition on the curve: ``phi = 0``  [eq-fp-gap],
``phi = phi' = 0``  [eq-fp-no-gap], ``phi' = phi'' = 0``  [eq-fp-monotonic]. The last two are
solved as roots, in the margin or the load, of the lowest value that phi or phi' takes near the
reference.
The names are public in `franz_parisi`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import scipy
from annotated_types import Interval
from numpy.typing import ArrayLike

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Binary
from wfmlib.numerics import arguments
from wfmlib.numerics.solvers import NotConverged, NoZero, Report, first_root
from wfmlib.theory.axes import Load, checked, energetic, values_over
from wfmlib.theory.franz_parisi.dips import Profile, Scan, estimate, touching
from wfmlib.theory.typical.thresholds import capacity, max_margin

STEP = 0.25  # in the logarithm of the distance
#: Loads; below, dips lie closer to the reference than the digits reach.
Dips: TypeAlias = Annotated[ArrayLike, Interval(ge=0.01, lt=math.inf)]
NEAREST = -50.0  # logarithm of the least distance looked at


# ------------------------------------------------------------------------------------------------
# Distances, at given margins
# ------------------------------------------------------------------------------------------------


@arguments.checked
def distance_of_maximum(
    device: Device,
    alpha: Load,
    constraint: Constraint = Margin(0.0),
    *,
    reference: Constraint = Margin(0.0),
) -> float:
    """Return the distance at which the local entropy around a typical reference is largest.

    It is the typical distance between solutions of the two margins: there ``t1 = t0``, a counted
    solution is as close to its reference as to any other  [eq-fp-maximum].

    Parameters
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load, patterns per weight; not negative.
    constraint : Margin
        Of the counted solutions.
    reference : Margin or CrossEntropy

    Returns
    -------
    float
        ``(1 - t0) / 2``; for binary weights the fraction that differs.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `franz_parisi.solve`.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron
    >>> device = Perceptron()
    >>> best = Margin(max_margin(device, 0.5))
    >>> round(distance_of_maximum(device, 0.5, reference=best), 5)
    0.2849
    """
    return math.exp(Profile(device, alpha, reference, constraint).top())


@arguments.checked
def gap(
    device: Device,
    alpha: Load,
    constraint: Constraint = Margin(0.0),
    *,
    reference: Constraint = Margin(0.0),
) -> tuple[float, float]:
    """Return the distances between which typical references have no solutions.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights.
    alpha : float
        Load, patterns per weight; not negative.
    constraint : Margin
        Of the counted solutions.
    reference : Margin or CrossEntropy

    Returns
    -------
    inner, outer : float
        Where the local entropy vanishes  [eq-fp-gap]; between them it is negative. `inner` is 0
        where the reference's margin does not exceed the margin that is counted: such a reference
        is isolated. NaN, NaN where the local entropy is positive all the way to its maximum.
        Around configurations of a loss, which may make errors, the search goes down from the
        maximum to where a saddle point is found: NaN, NaN if the local entropy is positive down to
        there, and NaN for `inner` if it is negative down to there.

    Raises
    ------
    TypeError, ValueError
        As `franz_parisi.solve`.
    NotConverged
        As `franz_parisi.solve`. So where the two margins are close, and replica symmetry fails
        before the inner edge.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron
    >>> inner, outer = gap(Perceptron(), 0.5, reference=Margin(0.02))
    >>> round(inner, 6), round(outer, 6)
    (0.000121, 0.003567)
    """
    profile = Profile(device, alpha, reference, constraint, weights=(Binary,))
    if profile.case.alpha == 0.0:
        return math.nan, math.nan
    top = profile.top()
    if profile.at(top).local_entropy < 0.0:
        raise NotConverged(
            Report(False, 0.0, 1, "there are no solutions of that margin at any distance"), None
        )

    def height(place):
        return profile.at(place).local_entropy

    if profile.difference <= 0.0:
        return 0.0, math.exp(_descend(height, top))
    if math.isnan(profile.difference):
        return _gap_of_loss(height, top)
    scan = Scan("local_entropy")
    bottom, lowest = scan(profile)
    if not lowest < 0.0:
        if scan.failed:
            message = "replica symmetry fails near the reference: the two margins are too close"
            raise NotConverged(Report(False, math.nan, 1, message), None)
        return math.nan, math.nan
    outer = scipy.optimize.brentq(height, bottom, top, xtol=1e-13)
    return math.exp(_descend(height, bottom)), math.exp(outer)


def _gap_of_loss(height, top):
    """Return the gap around configurations of a loss, going down from the maximum."""
    try:
        outer = _descend(height, top)
    except NotConverged:
        return math.nan, math.nan
    try:
        return math.exp(_descend(height, outer - 1e-6)), math.exp(outer)
    except NotConverged:
        return math.nan, math.exp(outer)


def _descend(height, place):
    """Return the next zero below, in short steps: the branch may end not far behind it."""
    sign = math.copysign(1.0, height(place))
    while sign * height(place - STEP) > 0.0:
        place -= STEP
        if place < NEAREST:
            message = "the local entropy vanishes closer to the reference than the digits reach"
            raise NotConverged(Report(False, math.nan, 1, message), place)
    return scipy.optimize.brentq(height, place - STEP, place, xtol=1e-13)


# ------------------------------------------------------------------------------------------------
# Margins of the reference, at a given load
# ------------------------------------------------------------------------------------------------


@arguments.checked
def margin_no_gap(
    device: Device,
    alpha: Dips,
    constraint: Constraint = Margin(0.0),
) -> Any:
    """Return the least reference margin around which there are solutions at every distance.

    P3's kappa_min: there the local entropy touches zero at its dip  [eq-fp-no-gap].

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights.
    alpha : float or array_like
        Load, patterns per weight, at least 0.01.
    constraint : Margin
        Of the counted solutions.

    Returns
    -------
    float or ndarray
        In raw stability, of the shape of `alpha`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
        Also above the load (see `gapless_threshold`) from which on even references of the largest
        margin have a gap.

    Notes
    -----
    Source: P3, letter, Fig. 3.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(margin_no_gap(Perceptron(), 0.5), 4)
    0.0291
    """
    return _margins("local_entropy", device, alpha, constraint)


@arguments.checked
def margin_monotonic(
    device: Device,
    alpha: Dips,
    constraint: Constraint = Margin(0.0),
) -> Any:
    """Return the least reference margin around which the local entropy grows up to its maximum.

    P3's kappa_u: there the curve has a horizontal point of inflection  [eq-fp-monotonic].

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights.
    alpha : float or array_like
        Load, patterns per weight, at least 0.01.
    constraint : Margin
        Of the counted solutions.

    Returns
    -------
    float or ndarray
        In raw stability, of the shape of `alpha`.

    Raises
    ------
    TypeError, ValueError
        As `margin_no_gap`, with `dense_threshold`.

    Notes
    -----
    Source: P3, letter, Fig. 3.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(margin_monotonic(Perceptron(), 0.5), 4)
    0.0364
    """
    return _margins("derivative", device, alpha, constraint)


def _margins(quantity, device, alpha, constraint):
    checked(device, constraint, weights=(Binary,))

    return values_over(lambda load: _margin(quantity, device, load, constraint), alpha)


@lru_cache(maxsize=256)  # seconds each, and a page asks for the same ones again
def _margin(quantity, device, alpha, constraint):
    """Return the reference margin at which the lowest value of a quantity is zero."""
    kappa, largest = constraint.kappa, max_margin(device, alpha)
    if not largest > kappa:
        raise ValueError(
            f"constraint must be a margin below the largest one, {largest:.6g} at alpha = "
            f"{alpha:.6g}, got {constraint}"
        )
    scan, top = Scan(quantity), math.log(largest - kappa)

    def lowest(log_difference):
        reference = Margin(min(kappa + math.exp(log_difference), largest))
        return scan(Profile(device, alpha, reference, constraint))

    guess = estimate(quantity, device, alpha, constraint)
    dip = guess and touching(quantity, device, alpha, constraint, guess)
    if dip is not None and dip[1] < top:
        place, _ = lowest(dip[1])
        if abs(place - dip[0]) < 1e-2:  # it is the lowest one
            return kappa + math.exp(dip[1])
    # without a guess that leads there: by the lowest values alone
    start = min(math.log(0.08 * alpha * energetic(device).scale), top)
    limit = start - 30.0 if lowest(start)[1] > 0.0 else top
    try:
        root, _ = first_root(lambda x: lowest(x)[1], start, limit, step=0.3, tolerance=1e-9)
    except NoZero:
        name = {"local_entropy": "gapless_threshold", "derivative": "dense_threshold"}[quantity]
        raise ValueError(
            f"alpha must be below {name}: above it even the surroundings of solutions of the "
            f"largest margin have a dip (of solutions of margin {kappa:.6g}); got {alpha:.6g}"
        ) from None
    return kappa + math.exp(root)


# ------------------------------------------------------------------------------------------------
# Loads, around references of the largest margin
# ------------------------------------------------------------------------------------------------


@arguments.checked
def dense_threshold(
    device: Device,
    constraint: Constraint = Margin(0.0),
) -> float:
    """Return the load up to which references of the largest margin lie in a dense region.

    P3's alpha'_u, where `margin_monotonic` meets the largest margin: above it the local entropy
    around typical solutions of every margin stops growing at a short distance
    [eq-dense-threshold].

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights.
    constraint : Margin
        Of the counted solutions.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        If there is no such load between a third of the capacity and the capacity.

    Notes
    -----
    Source: P3, letter, Fig. 4; SM, Figs. 6 and 7.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(dense_threshold(Perceptron()), 4)
    0.729
    """
    checked(device, constraint, weights=(Binary,))
    return _load("derivative", device, constraint)


@arguments.checked
def gapless_threshold(
    device: Device,
    constraint: Constraint = Margin(0.0),
) -> float:
    """Return the load up to which there are solutions at all distances from those of most margin.

    There `margin_no_gap` meets the largest margin. It lies above `dense_threshold`.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights.
    constraint : Margin
        Of the counted solutions.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `dense_threshold`.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> gapless_threshold(Perceptron()) > dense_threshold(Perceptron())
    True
    """
    checked(device, constraint, weights=(Binary,))
    return _load("local_entropy", device, constraint)


@lru_cache(maxsize=64)
def _load(quantity, device, constraint):
    return load_of_dip(
        quantity,
        lambda alpha: Margin(max_margin(device, alpha)),
        lambda alpha, reference: Profile(device, alpha, reference, constraint),
        capacity(device, constraint=constraint),
    )


def load_of_dip(quantity, reference, profile, end):
    """Return the load at which a quantity's lowest value around a reference turns negative."""
    scan = Scan(quantity)

    def lowest(alpha):
        return scan(profile(alpha, reference(alpha)))[1]

    return first_root(lowest, end / 3.0, end * (1.0 - 1e-6), step=end / 8.0, tolerance=1e-11)[0]
