"""Students that reach a margin, of a teacher that has none: P3's planted scenario.

A teacher with binary weights labels random patterns. Students are counted that give the same
labels with a margin; unlike those of `teacher_student`, they are not like the teacher, and their
overlap R with it is a number of its own. Two thresholds follow, as without a teacher: the load up
to which typical students of the largest margin lie in a dense region of students
[eq-taught-local-entropy], and the load up to which the densest regions hold together
[eq-taught-replicas]. Perceptrons with binary weights, replica symmetric. The saddle points stand
in `taught_surroundings`, around one student, and `taught_replicas`, of many.

The overlap R may be prescribed instead: then R_hat is what sets it, and the students are those,
rare ones, that are so near to the teacher or so far from it  [eq-informed-reference].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.models.constraints import Margin
from wfmlib.models.devices import Perceptron
from wfmlib.models.weights import Binary
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Distance, Range
from wfmlib.numerics.solvers import Report, first_root, fixed_point
from wfmlib.theory.axes import PERCEPTRON, checked
from wfmlib.theory.points import Shown
from wfmlib.theory.teacher import taught_replicas, taught_surroundings

__all__ = [
    "dense_threshold",
    "max_margin",
    "replica_threshold",
    "replicas",
    "solve",
    "surroundings",
]


def __dir__():
    return __all__


Load: TypeAlias = Annotated[float, Interval(ge=0.1, le=1.2)]  #: beyond, the teacher is soon alone
Overlap: TypeAlias = Annotated[float, Interval(gt=0.0, le=0.999)]
Known: TypeAlias = Annotated[float, Interval(gt=0.0, le=0.99)]  #: overlap with the teacher
MARGIN = Range(0.0, 1.0)
KNOWN = Range.of(Known)  # checked by hand where students of that overlap must exist, too
STRIDE = 0.05  # in the margin, from one student to the next
TOLERANCE = 1e-12
START = (0.0, 0.5, 0.3)  # of `taught_surroundings.Turn`, far from the reference
PATH = (0.1, 0.05, 0.02)  # distances on the way to smaller ones
DIPS = math.log(2e-3), math.log(3e-2)  # logarithms of distances between which the slope has one
LOGITS = 1.4, 4.2  # of mutual overlaps between which the replicas' slope is largest
THRESHOLDS = (1.02, 1.12)  # loads between which both are looked for


# ------------------------------------------------------------------------------------------------
# Typical students
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Student(Shown):
    """Typical students of a margin, or typical ones among those of an overlap with the teacher.

    Attributes
    ----------
    device : Perceptron
    alpha : float
        Load: patterns per weight.
    constraint : Margin
        The stability that every pattern exceeds.
    q, q_hat : float
        Overlap of two students, and its conjugate.
    teacher, teacher_hat : float
        Overlap R of a student with the teacher, found or prescribed, and its conjugate.
    entropy : float
        Logarithm of the number of students, in nats per weight  [eq-taught-entropy]. Negative:
        there are none.
    report : Report
    """

    printed_answers = ("q", "q_hat", "teacher", "teacher_hat", "entropy")

    device: Perceptron
    alpha: float
    constraint: Margin
    q: float
    q_hat: float
    teacher: float
    teacher_hat: float
    entropy: float
    report: Report = field(compare=False)


@arguments.checked
def solve(
    device: Perceptron,
    alpha: Load,
    constraint: Margin = Margin(0.0),
    *,
    teacher: Known | None = None,
) -> Student:
    """Solve for the typical students of a margin  [eq-taught-entropy].

    Parameters
    ----------
    device : Perceptron
        With binary weights.
    alpha : float
        Load, patterns per weight, from 0.1 to 1.2.
    constraint : Margin
        From 0 to 1.
    teacher : float, optional
        Overlap with the teacher, above 0, up to 0.99: students of this overlap alone
        [eq-informed-reference]. That of most students where None.

    Returns
    -------
    Student

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where no saddle point is found: at small loads, for margins near the largest.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron
    >>> student = solve(Perceptron(), 1.0, Margin(0.1))
    >>> round(student.q, 4), round(student.teacher, 4), round(student.entropy, 4)
    (0.6472, 0.5994, 0.0176)
    >>> round(solve(Perceptron(), 1.0, teacher=0.7).entropy, 4)  # without a margin
    0.0915
    """
    margin = _checked(device, constraint).kappa
    student: Any = None
    for step in np.linspace(0.0, margin, 1 + math.ceil(margin / STRIDE)).tolist():
        student = _student(alpha, step, student, teacher)
    return student


def _checked(device, constraint=Margin(0.0)):
    """Return the constraint after checking device and margin."""
    arguments.member("device", device, (Perceptron,))
    checked(device, constraint, kinds=(PERCEPTRON,), weights=(Binary,))
    MARGIN.check("constraint.kappa", constraint.kappa)
    return constraint


def _student(alpha, margin, near, teacher=None):
    """Return the saddle point found from that of a similar margin, at a given overlap or none."""
    start = [0.5, 0.5] if near is None else [near.q_hat, near.teacher_hat]
    unknowns = 2 if teacher is None else 1

    def conjugates(logs):
        q_hat = math.exp(logs[0])
        return q_hat, math.exp(logs[1]) if teacher is None else _lean(q_hat, teacher)

    def image(logs):
        if not np.all(np.abs(logs) < 8.0):
            return np.full(unknowns, np.nan)
        forces = _forces(margin, *_overlaps(*conjugates(logs))[:2])
        return np.log(alpha * np.array(forces[:unknowns]))

    start = np.log(start[:unknowns])
    logs, report = fixed_point(image, start, tolerance=TOLERANCE, max_iterations=300)
    q_hat, teacher_hat = conjugates(logs)
    q, known, term = _overlaps(q_hat, teacher_hat)
    *_, energetic = _forces(margin, q, known)
    entropy = -0.5 * q_hat * (1.0 - q) - known * teacher_hat + term + alpha * energetic
    numbers = map(float, (q, q_hat, known, teacher_hat, entropy))
    return Student(Perceptron(), alpha, Margin(margin), *numbers, report)


def _lean(q_hat, teacher):
    """Return the R_hat at which weights have an overlap with the teacher."""
    most = 10.0 + 6.0 * math.sqrt(q_hat)
    return scipy.optimize.brentq(
        lambda lean: _overlaps(q_hat, lean)[1] - teacher, -most, most, xtol=1e-14
    )


def _overlaps(q_hat, teacher_hat):
    """Return q, R and ``E ln 2cosh`` of a weight's field."""
    width = math.sqrt(q_hat)
    x, weight = gaussian.grid((-teacher_hat / width, 1.0 / max(width, 0.5)))
    push = width * x + teacher_hat
    m = np.tanh(push)
    return weight @ m**2, weight @ m, weight @ np.logaddexp(push, -push)


def _forces(margin, q, teacher):
    """Return what a pattern adds to q_hat, to R_hat and to the entropy."""
    root, own, doubt = math.sqrt(q), math.sqrt(1.0 - q), math.sqrt(1.0 - teacher**2 / q)
    x, weight = gaussian.grid(
        (margin / root, own / root), (0.0, doubt * root / max(teacher, 1e-9))
    )
    needed, lean = (margin - root * x) / own, teacher / root * x / doubt
    force = gaussian.hazard(needed) / own
    agrees = 2.0 * weight * gaussian.H(-lean)
    from_teacher = 2.0 * weight @ (gaussian.G(lean) * force) / doubt
    return agrees @ force**2, from_teacher, agrees @ gaussian.log_H(needed)


@arguments.checked
def max_margin(device: Perceptron, alpha: Annotated[float, Interval(ge=0.55, le=1.2)]) -> float:
    """Return the largest margin that students reach: there their entropy vanishes.

    Parameters
    ----------
    device : Perceptron
        With binary weights.
    alpha : float
        From 0.55 to 1.2.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(max_margin(Perceptron(), 1.0), 4)
    0.1174
    """
    _checked(device)
    return _best(alpha).constraint.kappa


@lru_cache(maxsize=64)
def _best(alpha):
    """Return the typical students of the largest margin."""
    students = [_student(alpha, 0.0, None)]

    def entropy(margin):
        students.append(_student(alpha, margin, students[-1]))
        return students[-1].entropy

    margin, _ = first_root(entropy, 0.0, MARGIN.high, step=STRIDE, tolerance=1e-13)
    return _student(alpha, margin, students[-1])


# ------------------------------------------------------------------------------------------------
# What surrounds them
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Surroundings(Shown):
    """The students of one margin at one distance from a student of another.

    Attributes
    ----------
    device : Perceptron
    alpha, distance : float
        The load, and the fraction of weights that differ.
    reference, constraint : Margin
        The reference's, and that of the students counted.
    reference_teacher : float
        Overlap of the reference with the teacher.
    local_entropy : float
        Logarithm of their number, in nats per weight  [eq-taught-local-entropy].
    slope : float
        Its derivative with respect to the distance.
    p, t0, teacher : float
        Overlaps of a counted student with another one, with another reference, with the teacher.
    report : Report
        Residual: largest change of an unknown in one more turn of the loop.
    """

    printed_arguments = (
        *("device", "alpha", "distance", "reference", "constraint"),
        "reference_teacher",
    )
    counted = ("local_entropy",)
    printed_answers = ("local_entropy", "slope", "p", "t0", "teacher")

    device: Perceptron
    alpha: float
    distance: float
    reference: Margin
    constraint: Margin
    reference_teacher: float
    local_entropy: float
    slope: float
    p: float
    t0: float
    teacher: float
    report: Report = field(compare=False)

    def _most(self) -> dict[str, float]:
        return {"local_entropy": float(self.device.weights.bound(self.distance))}


@arguments.checked
def surroundings(
    device: Perceptron,
    alpha: Load,
    distance: Distance,
    constraint: Margin = Margin(0.0),
    *,
    reference: Margin,
    reference_teacher: float | None = None,
) -> Surroundings:
    """Solve for the students at one distance from a typical student  [eq-taught-local-entropy].

    Parameters
    ----------
    device : Perceptron
        With binary weights.
    alpha : float
        From 0.1 to 1.2.
    distance : float
        Above 0, up to 1/2.
    constraint : Margin
        Of the students that are counted, from 0 to 1.
    reference : Margin
        Of the student in the middle, from 0 to `max_margin`.
    reference_teacher : float, optional
        Its overlap with the teacher, above 0, up to 0.99  [eq-informed-reference]. That of most
        students where None.

    Returns
    -------
    Surroundings

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; also if there are no
        students of the reference's margin, or of its overlap with the teacher.
    NotConverged
        Where no saddle point is found.

    Notes
    -----
    Local entropies are right to about 1e-8, slopes to 1e-7, but for distances below 1e-3.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron
    >>> point = surroundings(Perceptron(), 1.0, 0.1, reference=Margin(0.1))
    >>> round(point.local_entropy, 4), round(point.teacher, 4)
    (0.0785, 0.5916)

    Students nearer to the teacher have more students around them:

    >>> around = [
    ...     surroundings(Perceptron(), 1.0, 0.1, reference=Margin(0.0), reference_teacher=overlap)
    ...     for overlap in (0.4, 0.7)
    ... ]
    >>> [round(point.local_entropy, 4) for point in around]
    [0.0478, 0.0694]
    """
    arguments.member("reference", reference, (Margin,))
    _checked(device, constraint)
    MARGIN.check("reference.kappa", reference.kappa)
    if reference_teacher is not None:
        KNOWN.check("reference_teacher", reference_teacher)
    student = solve(device, alpha, reference, teacher=reference_teacher)
    if student.entropy < -1e-9 and reference_teacher is not None:
        raise ValueError(
            "reference_teacher must be an overlap that students have, at alpha = "
            f"{student.alpha:g} and {reference}; got {reference_teacher:g}"
        )
    if student.entropy < -1e-9:
        raise ValueError(
            f"reference must be a margin that students reach, at alpha = {student.alpha:g} at "
            f"most {max_margin(device, alpha):.10g}; got {reference}"
        )
    path = [*(place for place in PATH if place > distance), distance]
    turn, report = _follow(path, student, constraint)
    problem = device, student.alpha, distance, reference, constraint, student.teacher
    p, t0, teacher = map(float, (turn.p, turn.t0, turn.teacher))
    return Surroundings(*problem, turn.local_entropy, turn.slope, p, t0, teacher, report)


def _follow(path, student, constraint):
    """Return the turn of the loop at the end of a path of distances, and the report."""
    state = np.array(START)
    for distance in path:
        turn, state, report = taught_surroundings.solve(distance, student, constraint, state)
    return turn, report


@arguments.checked
def dense_threshold(device: Perceptron) -> float:
    """Return the load up to which students of the largest margin lie in a dense region.

    As `franz_parisi.dense_threshold`, with labels of a teacher: above it the local entropy of
    students without a margin, around typical students of the largest one, stops growing at a
    short distance  [eq-dense-threshold].

    Parameters
    ----------
    device : Perceptron
        With binary weights.

    Returns
    -------
    float
        Within 1e-5.

    Raises
    ------
    TypeError, ValueError
        If `device` is another one.

    Notes
    -----
    Source: P3, letter: such a threshold is said to be close to that of the densest regions; its
    value is not given.

    Examples
    --------
    For `Perceptron` it is 1.0466, in half a minute; on the sphere there is none:

    >>> from wfmlib import Perceptron, Spherical
    >>> dense_threshold(Perceptron(Spherical()))
    Traceback (most recent call last):
        ...
    ValueError: device must have weights Binary() here, got Perceptron(weights=Spherical())
    """
    _checked(device)
    return _dense_threshold()


@lru_cache(maxsize=1)
def _dense_threshold():
    states = {}

    def lowest(alpha):
        return _lowest_slope(alpha, states)[0]

    return first_root(lowest, *THRESHOLDS, step=0.05, tolerance=1e-6)[0]


def _lowest_slope(alpha, states):
    """Return the lowest slope of the local entropy around the best students, and where it is.

    `states` holds those known at this load or one nearby, by the logarithm of the distance.
    """
    student = _best(alpha)

    def slope(place):
        near = min(states, key=lambda tried: abs(tried - place), default=None)
        start = states.get(near, np.array(START))
        turn, states[place], _ = taught_surroundings.solve(
            math.exp(place), student, Margin(0.0), start
        )
        return turn.slope

    for distance in PATH if not states else ():
        slope(math.log(distance))
    # at the minimum an error of 0.01 in the place is one of some 1e-4 in the slope
    minimum = scipy.optimize.minimize_scalar(
        slope, bounds=DIPS, method="bounded", options={"xatol": 0.01}
    )
    return float(minimum.fun), math.exp(minimum.x)


# ------------------------------------------------------------------------------------------------
# Where students lie densest
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Replicas(Shown):
    """Infinitely many students at one mutual overlap.

    Attributes
    ----------
    device : Perceptron
    alpha, overlap : float
    entropy, slope : float
        Logarithm of their number, per weight and student, and its derivative in the overlap.
    teacher : float
        Overlap of a student with the teacher.
    report : Report
    """

    printed_arguments = ("device", "alpha", "overlap")
    printed_answers = ("entropy", "slope", "teacher")

    device: Perceptron
    alpha: float
    overlap: float
    entropy: float
    slope: float
    teacher: float
    report: Report = field(compare=False)


@arguments.checked
def replicas(device: Perceptron, alpha: Load, overlap: Overlap) -> Replicas:
    """Solve for infinitely many students at a mutual overlap  [eq-taught-replicas].

    Parameters
    ----------
    device : Perceptron
        With binary weights.
    alpha : float
        From 0.1 to 1.2.
    overlap : float
        Above 0, up to 0.999, and not below the typical one.

    Returns
    -------
    Replicas

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where no saddle point is found: at overlaps of typical students and below.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> point = replicas(Perceptron(), 1.0, 0.9)
    >>> round(point.entropy, 4), round(point.slope, 4), round(point.teacher, 4)
    (0.0575, -0.1488, 0.5875)
    """
    _checked(device)
    start = [0.0, 0.0]
    for step in [*np.arange(0.8, overlap, 0.05).tolist(), overlap]:
        turn, start, report = taught_replicas.solve(step, alpha, start)
    return Replicas(device, alpha, overlap, turn.entropy, turn.slope, turn.teacher, report)


@arguments.checked
def replica_threshold(device: Perceptron) -> float:
    """Return the load at which the replicas' entropy stops falling with their overlap.

    As `large_deviation.dense_threshold`, with infinitely many replicas and labels of a teacher.

    Parameters
    ----------
    device : Perceptron
        With binary weights.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If `device` is another one.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> round(replica_threshold(Perceptron()), 3)
    1.086
    """
    _checked(device)
    return _replica_threshold()


@lru_cache(maxsize=1)
def _replica_threshold():
    return first_root(_largest_slope, *THRESHOLDS, step=0.05, tolerance=1e-7)[0]


def _largest_slope(alpha):
    """Return the negative of the largest slope of the replicas' entropy."""
    states = {}

    def fall(logit):
        near = min(states, key=lambda tried: abs(tried - logit), default=None)
        start = states.get(near, [0.0, 0.0])
        turn, states[logit], _ = taught_replicas.solve(
            float(scipy.special.expit(logit)), alpha, start
        )
        return -turn.slope

    for logit in LOGITS[0], 0.5 * sum(LOGITS):
        fall(logit)
    minimum = scipy.optimize.minimize_scalar(
        fall, bounds=LOGITS, method="bounded", options={"xatol": 1e-4}
    )
    return float(minimum.fun)
