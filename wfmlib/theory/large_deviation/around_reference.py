"""Dense regions around a reference: y replicas at a distance d from one vector, which is free.

The references are weighed by the number of solutions around them to the power y
[eq-reference-replicas]. Ansatz: groups of a reference and its y replicas, symmetric to each other;
overlaps q1 of two replicas and ``t1 = 1 - 2d`` of a replica and its reference inside of a group,
q0, t0 and r0 (of two references) between groups. Per replica, with the two terms below,

    V = extr (1/y) { y^2 (q0 q0_hat - q1 q1_hat) / 2 - y q1_hat (1 - q1) / 2
        - y (t1 t1_hat - t0 t0_hat) - r0_hat (1 - r0) / 2 + G_S + alpha G_E }.

t1 is given, and ``- t1_hat + alpha c'(t1) E <f' g'>`` the slope of V in it; the equations of all
other overlaps and conjugates hold. A reference that is not a solution has no g: t0_hat and r0_hat
vanish. Where the slope vanishes, a reference that is a solution is one more replica
[eq-ld-references].
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Constraint, Device
from wfmlib.models.weights import Binary
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.solvers import NotConverged, Report, accepted
from wfmlib.theory.axes import checked
from wfmlib.theory.points import Shown
from wfmlib.theory.saddles.real_replicas import saddle

Load: TypeAlias = Annotated[float, Interval(ge=0.01, lt=math.inf)]
Distance: TypeAlias = Annotated[float, Interval(ge=1e-3, le=0.2)]
Around: TypeAlias = Annotated[float, Interval(ge=1e-3, le=100.0)]

LIMIT = 8.5  # of averages, from the mode
LADDER = np.array([0.0, 0.4, 1.0, 2.0, 4.0, 8.0])  # ends of panels round a feature, in its scale
ORDER = 6  # nodes in such a panel
HERMITE = 12
SIZES = (7.0, 15.0, 4.0)  # from which zero complexity is looked for
TOLERANCE = 1e-7
MOST = 60  # evaluations in one solution
FELT = 1e-9  # least conjugate of a reference that feels its margin


@dataclass(frozen=True, repr=False)
class Referred(Shown):
    """Replicas at one distance from a reference.

    Attributes
    ----------
    device : Perceptron or TreeCommittee
    alpha : float
        Load: patterns per weight.
    distance : float
        Between the reference and its replicas.
    replicas : float
        Their number y; at zero complexity where that was asked for.
    reference : Margin or None
        What the reference satisfies.
    constraint : Margin
        What the replicas satisfy.
    local_entropy : float
        Logarithm of the number of solutions at that distance from such references.
    slope : float
        Derivative of the free entropy V in the distance: at zero complexity that of
        `local_entropy` along this line.
    complexity : float
        Logarithm of the number of such references.
    entropy : float
        V, ``local_entropy + complexity / y``, in nats per weight and replica.
    overlap : float
        Of two replicas of one reference, q1.
    report : Report
    """

    printed_arguments = ("device", "alpha", "distance", "replicas", "reference", "constraint")
    printed_answers = ("local_entropy", "slope", "complexity", "entropy", "overlap")
    counted = ("local_entropy",)

    device: Device
    alpha: float
    distance: float
    replicas: float
    reference: Margin | None
    constraint: Constraint
    local_entropy: float
    slope: float
    complexity: float
    entropy: float
    overlap: float
    report: Report = field(compare=False)

    def _most(self) -> dict[str, float]:
        d = self.distance
        return {"local_entropy": float(scipy.special.entr([d, 1.0 - d]).sum())}


@arguments.checked
def around_reference(
    device: Device,
    alpha: Load,
    distance: Distance,
    constraint: Constraint = Margin(0.0),
    *,
    reference: Margin | None = Margin(0.0),
    replicas: Around | Literal["zero complexity"] = "zero complexity",
) -> Referred:
    """Count the solutions around the references that have most of them.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With binary weights; a committee of infinitely many units.
    alpha : float
        Load, patterns per weight, at least 0.01.
    distance : float
        Fraction of weights in which a replica and its reference differ, from 1e-3 to 0.2.
    constraint : Margin
        What the replicas satisfy.
    reference : Margin or None
        What the reference satisfies; None where it may be any configuration.
    replicas : float or "zero complexity"
        Their number, from 1e-3 to 100, or that at which the references are no longer
        exponentially many. With few of them the reference is a typical one.

    Returns
    -------
    Referred

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where no saddle point is found with the reference amid its replicas.

    Notes
    -----
    Around a reference that may be any configuration, the largest local entropy cannot fall with
    the distance, as random flips of the reference move it away from all its solutions.

    Source: P1, equations A5 to A10.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> point = around_reference(Perceptron(), 0.7, 0.05)
    >>> round(point.local_entropy, 4), round(point.replicas, 2)
    (0.0754, 9.57)
    """
    arguments.member("constraint", constraint, (Margin,))
    if reference is not None:
        arguments.member("reference", reference, (Margin,))
        checked(device, reference, weights=(Binary,))
    axes = checked(device, constraint, weights=(Binary,))
    state, y, report = _state(alpha, distance, replicas, reference, axes)
    return Referred(
        *(device, alpha, distance, y, reference, constraint),
        local_entropy=state.derivative,
        slope=2.0 * state.lean,
        complexity=state.exponent - y * state.derivative,
        entropy=state.exponent / y,
        overlap=state.overlaps.q1,
        report=report,
    )


# ------------------------------------------------------------------------------------------------
# The two terms
# ------------------------------------------------------------------------------------------------


class Overlaps(NamedTuple):
    """What the weights make of conjugates; `derivative` is that of G_S in y."""

    term: float
    q0: float
    q1: float
    t0: float
    r0: float
    t1: float
    derivative: float


class Forces(NamedTuple):
    """What a pattern makes of overlaps: averages of forces f' on replicas, g' on references."""

    term: float
    common: float
    square: float
    mixed: float
    reference: float
    inside: float
    derivative: float


def entropic(q0_hat, q1_hat, t0_hat, r0_hat, t1_hat, y):
    """Return `Overlaps`: ``G_S = E ln sum_w~ e^{w~ v} Dz [2 cosh(u + z + (t1^ - t0^) w~)]^y``.

    u and v have the covariance of q0_hat, t0_hat and r0_hat.
    """
    split = math.sqrt(q1_hat - q0_hat)
    u, weight = gaussian.grid((0.0, 1.0 / math.sqrt(q0_hat)), order=16, limit=7.0)
    z, dense = gaussian.grid(limit=min(LIMIT + y * split, 38.0))
    sign = np.array([1.0, -1.0])[:, None, None]
    h = math.sqrt(q0_hat) * u[:, None] + split * z + (t1_hat - t0_hat) * sign
    log_cosh = np.logaddexp(h, -h)
    peak = y * log_cosh.max(axis=2, keepdims=True)
    tilt = dense * np.exp(y * log_cosh - peak)
    total = tilt.sum(axis=2)
    t = np.tanh(h)
    mean = [(tilt * one).sum(axis=2) / total for one in (t, t * t, log_cosh)]
    slope = t0_hat / math.sqrt(q0_hat)
    rest = math.sqrt(max(r0_hat - slope**2, 0.0))
    v = slope * u[:, None] + rest * u
    up, down = (np.log(total) + peak[..., 0])[..., None] + sign * v
    log_sum = np.logaddexp(up, down)
    share = np.exp(up - log_sum), np.exp(down - log_sum)
    own = share[0] - share[1]
    t, square, derivative = (share[0] * a[:, None] + share[1] * b[:, None] for a, b in mean)
    within = share[0] * mean[0][0][:, None] - share[1] * mean[0][1][:, None]
    values = log_sum, t * t, square, t * own, own * own, within, derivative
    return Overlaps(*(float(weight @ value @ weight) for value in values))


def energetic(overlaps, y, margins, activation):
    """Return `Forces`: ``G_E = E ln Dz H(-(v + b z) / s) H(-(u + sqrt(D) z) / sqrt(1 - c1))^y``.

    u and v have the covariance of c0, c(t0) and c(r0), ``D = c1 - c0`` and b sqrt(D) is
    ``c(t1) - c(t0)``. A margin of the reference that is None leaves out its factor.
    """
    q0, q1, t0, r0, t1 = overlaps
    kappa, own = margins
    at0, at1 = (activation.effective(q, 1.0 - q) for q in (q0, q1))
    narrow, width = math.sqrt(at1.complement), math.sqrt(at1.c - at0.c)
    if own is None:
        x, weight = gaussian.grid(order=16, limit=7.0)
        u, weight, v, across, rest = math.sqrt(at0.c) * x[:, None], weight[:, None], 0.0, 0.0, 1.0
    else:
        between, inside, others = (activation.effective(t, 1.0 - t) for t in (t0, t1, r0))
        across = (inside.c - between.c) / width
        rest = math.sqrt(others.complement - across**2)
        x, weight = gaussian.grid(order=16, limit=7.0)
        e, thin = np.polynomial.hermite_e.hermegauss(HERMITE)
        along = between.c / math.sqrt(others.c)
        v = math.sqrt(others.c) * x[:, None]
        u = along * x[:, None] + math.sqrt(max(at0.c - along**2, 0.0)) * e
        weight = weight[:, None] * thin / math.sqrt(2.0 * math.pi)

    def force(z):
        total = y * width / narrow * gaussian.hazard((kappa - u - width * z) / narrow) - z
        if own is not None:
            total += across / rest * gaussian.hazard((own - v - across * z) / rest)
        return total

    mode = _mode(
        force, LIMIT + np.maximum(-u / width, 0.0) + np.maximum(-v / max(across, width), 0.0)
    )
    curvature = 1.0 + y * (width / narrow) ** 2 + (across / rest) ** 2
    features = [(mode, 1.0 / math.sqrt(curvature)), ((kappa - u) / width, narrow / width)]
    if own is not None:
        features.append((np.broadcast_to((own - v) / across, mode.shape), rest / across))
    z, dense = _nodes(mode, features)
    w = (kappa - u[..., None] - width * z) / narrow
    log_weight, f1 = gaussian.log_H(w), gaussian.hazard(w) / narrow
    power, g1 = y * log_weight - 0.5 * z * z, np.zeros(1)
    if own is not None:
        w = (own - np.asarray(v)[..., None] - across * z) / rest
        power, g1 = power + gaussian.log_H(w), gaussian.hazard(w) / rest
    peak = power.max(axis=-1, keepdims=True)
    tilt = dense * np.exp(power - peak)
    total = tilt.sum(axis=-1)
    f, square, g, both, derivative = (
        (tilt * one).sum(axis=-1) / total for one in (f1, f1 * f1, g1, f1 * g1, log_weight)
    )
    term = np.log(total / math.sqrt(2.0 * math.pi)) + peak[..., 0]
    slopes = [at0.slope, at1.slope, 0.0, 0.0, 0.0]
    if own is not None:
        slopes[2:] = between.slope, others.slope, inside.slope
    values = (f * f, square, f * g, g * g, both)
    return Forces(
        float((weight * term).sum()),
        *(float((weight * one).sum()) * slope for one, slope in zip(values, slopes, strict=True)),
        float((weight * derivative).sum()),
    )


def _mode(force, high):
    """Return where a decreasing force vanishes, by halving; 1e-9 of the range is enough."""
    low = np.full(np.shape(high), -LIMIT)
    for _ in range(34):
        middle = 0.5 * (low + high)
        positive = force(middle) > 0.0
        low, high = np.where(positive, middle, low), np.where(positive, high, middle)
    return high


def _nodes(mode, features):
    """Return nodes and weights round every mode, in panels that are short at the features."""
    edges = [mode[..., None] + np.linspace(-LIMIT, LIMIT, 11)]
    ladder = np.concatenate([-LADDER[:0:-1], LADDER])
    edges += [centre[..., None] + scale * ladder for centre, scale in features]
    ends = np.concatenate(edges, axis=-1)
    ends = np.sort(np.clip(ends, mode[..., None] - LIMIT, mode[..., None] + LIMIT), axis=-1)
    rule, half = gaussian.legendre_rule(ORDER), 0.5 * np.diff(ends)[..., None]
    shape = (*mode.shape, -1)
    nodes = 0.5 * (ends[..., 1:] + ends[..., :-1])[..., None] + half * rule[:, 0]
    return nodes.reshape(shape), (half * rule[:, 1]).reshape(shape)


# ------------------------------------------------------------------------------------------------
# The saddle point
# ------------------------------------------------------------------------------------------------


class State(NamedTuple):
    """At conjugates: ``exponent`` is yV, ``derivative`` that of yV in y, ``lean`` dV/d(2d)."""

    exponent: float
    derivative: float
    lean: float
    overlaps: Overlaps
    made: tuple[float, ...]


def _at(conjugates, alpha, y, margins, activation):
    """Return the `State` at conjugates, whether or not they solve the equations."""
    q0_hat, q1_hat, t0_hat, r0_hat, t1_hat = conjugates
    found = entropic(*conjugates, y)
    _, q0, q1, t0, r0, t1, _ = found
    if not 0.0 < q0 < q1 < 1.0 or not t0 < t1:
        raise ArithmeticError
    pattern = energetic((q0, q1, t0, r0, t1), y, margins, activation)
    exponent = 0.5 * y * y * (q0 * q0_hat - q1 * q1_hat) - 0.5 * y * q1_hat * (1.0 - q1)
    exponent += y * (t0 * t0_hat - t1 * t1_hat) - 0.5 * r0_hat * (1.0 - r0)
    exponent += found.term + alpha * pattern.term
    derivative = y * (q0 * q0_hat - q1 * q1_hat) - 0.5 * q1_hat * (1.0 - q1)
    derivative += t0 * t0_hat - t1 * t1_hat + found.derivative + alpha * pattern.derivative
    made = tuple(alpha * one for one in pattern[1:5])
    return State(exponent, derivative, t1_hat - alpha * pattern.inside, found, made)


def _conjugates(unknowns, free):
    """Return q0_hat, q1_hat, t0_hat, r0_hat, t1_hat of logarithms."""
    q0_hat, split, pull, *others = np.exp(unknowns).tolist()
    t0_hat, r0_hat = (0.0, 0.0) if free else others[:2]
    return q0_hat, q0_hat + split, t0_hat, r0_hat, t0_hat + pull


def _state(alpha, distance, replicas, reference, axes):
    """Return the `State` that solves the equations, its number of replicas and a report."""
    _, activation, constraint = axes
    kappa, own = constraint.rescaled(activation.scale).kappa, None
    if reference is not None:
        own = reference.rescaled(activation.scale).kappa
    t1, countable = 1.0 - 2.0 * distance, replicas == "zero complexity"
    sizes, failure = SIZES if countable else (replicas,), None
    for y, start in itertools.product(sizes, (_amid, _one_more)):
        try:
            unknowns, *asked = start(alpha, t1, y, (kappa, own), axes)
            unknowns, report = _solved(unknowns, *asked)
            if countable:
                unknowns, report = _solved(np.append(unknowns, math.log(y)), *asked)
            _, state, y = _lacks(unknowns, *asked)
            if own is not None and len(unknowns) < 5 and _felt(state, y, asked[-1], own, alpha):
                continue
            return state, y, report
        except (NotConverged, ArithmeticError, ValueError) as problem:
            failure = problem
    message = f"no saddle point: distance = {distance:.6g}, alpha = {alpha:.6g}"
    raise NotConverged(Report(False, math.inf, len(sizes), message)) from failure


def _felt(state, y, activation, own, alpha):
    """Say whether references without a margin would feel it: return both conjugates, or None."""
    pattern = energetic(state.overlaps[1:6], y, (own, own), activation)
    hats = alpha * pattern.mixed, alpha * pattern.reference
    return hats if max(hats) > FELT else None


def _amid(alpha, t1, y, margins, axes):
    """Return where to start, and what `_lacks` takes, from a free reference."""
    (kappa, own), activation = margins, axes[1]
    asked = alpha, t1, y, (kappa, None), activation
    unknowns = _start(alpha, t1, max(y, 1.5), kappa, axes)
    if own is None:
        return unknowns, *asked
    unknowns, _ = _solved(unknowns, *asked)
    hats = _felt(_lacks(unknowns, *asked)[1], y, activation, own, alpha)
    if hats is None:
        return unknowns, *asked
    for nearer in (own - 0.5, own):
        asked = alpha, t1, y, (kappa, nearer), activation
        if len(unknowns) == 3:
            found = entropic(*_conjugates(unknowns, True), y)
            pattern = energetic(found[1:6], y, (kappa, nearer), activation)
            hats = max(pattern.mixed, FELT), max(pattern.reference, FELT)
            unknowns = np.concatenate([unknowns, np.log(alpha * np.array(hats))])
        if nearer < own:
            unknowns, _ = _solved(unknowns, *asked)
    return unknowns, *asked


def _one_more(alpha, t1, y, margins, axes):
    """Return the same where a reference that is a solution is one of y + 1 replicas."""
    if margins[1] != margins[0]:
        raise ValueError
    state = saddle(t1, alpha, y + 1.0, axes)[0].broken
    unknowns = np.log([state.q0_hat, state.split, state.split, state.q0_hat, state.q0_hat])
    return unknowns, alpha, t1, y, margins, axes[1]


def _lacks(unknowns, alpha, t1, y, margins, activation):
    """Return what is left of the equations, the state and y; one more unknown is ln y."""
    free = margins[1] is None
    if len(unknowns) == (4 if free else 6):
        y = math.exp(unknowns[-1])
    conjugates = _conjugates(unknowns, free)
    state = _at(conjugates, alpha, y, margins, activation)
    q0_hat, q1_hat, t0_hat, r0_hat, _ = conjugates
    q0_made, q1_made, t0_made, r0_made = state.made
    left = [math.log(q0_made / q0_hat), math.log((q1_made - q0_made) / (q1_hat - q0_hat))]
    left.append(math.atanh(state.overlaps.t1) - math.atanh(t1))
    if not free:
        left += [math.log(t0_made / t0_hat), math.log(r0_made / r0_hat)]
    if len(unknowns) > len(left):
        left.append(state.exponent - y * state.derivative)
    return left, state, y


def _solved(start, *asked):
    """Return the unknowns that solve the equations, and a report."""

    def equations(unknowns):
        try:
            return _lacks(unknowns, *asked)[0]
        except (ArithmeticError, ValueError):
            return np.full(len(unknowns), 1e3)

    with np.errstate(all="ignore"):
        options = {"eps": 1e-7, "maxfev": MOST}
        found = scipy.optimize.root(equations, start, tol=1e-9, options=options)
    residual = float(np.max(np.abs(found.fun)))
    report = accepted(residual, TOLERANCE, int(found.nfev), "all equations hold", found.x)
    return found.x, report


def _start(alpha, t1, y, kappa, axes):
    """Return logarithms of conjugates that overlaps of evenly spread replicas make."""
    q1 = t1**2 + 0.03 * (1.0 - t1**2)
    try:
        q0 = min(saddle(q1, alpha, y, axes)[0].q0, 0.97 * q1)
    except NotConverged:  # groups dissolve
        q0 = 0.97 * q1
    pattern = energetic((q0, q1, 0.0, 0.0, t1), y, (kappa, None), axes[1])
    q0_hat, q1_hat = alpha * pattern.common, alpha * pattern.square

    def lack(log_pull):
        return entropic(q0_hat, q1_hat, 0.0, 0.0, math.exp(log_pull), y).t1 - t1

    log_pull = scipy.optimize.brentq(lack, -12.0, 4.0, xtol=1e-3)
    return np.array([math.log(q0_hat), math.log(q1_hat - q0_hat), log_pull])
