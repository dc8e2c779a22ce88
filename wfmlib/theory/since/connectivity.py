"""Connectivity of typical solutions on the sphere: the error along the geodesic between two.

Two solutions w1 and w2 are drawn independently from typical ones, of margins k1 and k2. Between
them lies the great circle through both, ``w = [(1 - g) w1 + g w2] / n`` with the position g from 0
to 1 and the n that keeps the norm. On a pattern all solutions of the first kind share a field
omega_1, those of the second omega_2, Gaussian with variances c(q1), c(q2) and covariance c(t0).
Given the two fields the stabilities of w1 and w2 are independent, each a normal one cut at its
margin, and that of w is Gaussian given all of them [eq-geodesic-law]. So the share of patterns
that w answers wrongly is an average over five Gaussian variables  [eq-geodesic-error].
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from annotated_types import Interval

from wfmlib.models.constraints import Margin
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Spherical
from wfmlib.numerics import arguments, gaussian
from wfmlib.numerics.arguments import Or, Shares
from wfmlib.numerics.solvers import NotConverged, NoZero, Report, bounded, first_root, fixed_point
from wfmlib.theory import typical
from wfmlib.theory.axes import PERCEPTRON, Load, checked
from wfmlib.theory.typical.entropy import solved

__all__ = ["convex_margin", "error", "overlap", "star_margin"]


def __dir__():
    return __all__


REACH = 8.5  # how far fields are followed: the normal density beyond weighs 2e-17
NATS = 37.0  # to which an exponential tail is followed
PRIVATE = 24  # nodes for what is a solution's own, on each side of a step
SHARED = gaussian.legendre_rule(8)  # nodes of a panel, for what solutions share


@arguments.checked
def overlap(
    device: Device, alpha: Load, first: Margin = Margin(0.0), second: Margin = Margin(0.0)
) -> float:
    """Return the overlap of two typical solutions of different margins, on the same patterns.

    Parameters
    ----------
    device : Perceptron or TreeCommittee
        With spherical weights; a committee of infinitely many units.
    alpha : float
        Load, patterns per weight; not negative.
    first, second : Margin
        What either satisfies.

    Returns
    -------
    float
        t0  [eq-cross-overlap]. It is the overlap of typical solutions where the margins are equal.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where there are no typical solutions.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron, Spherical
    >>> round(overlap(Perceptron(Spherical()), 1.0, Margin(-0.5), Margin(0.0)), 4)
    0.384
    """
    return _Pair(device, alpha, first, second).t0


@arguments.checked
def error(
    device: Device,
    alpha: Load,
    position: Shares,
    first: Margin = Margin(0.0),
    second: Margin = Margin(0.0),
    constraint: Margin = Margin(0.0),
) -> Any:
    """Return the training error along the geodesic between two typical solutions.

    Parameters
    ----------
    device, alpha, first, second
        As `overlap`.
    position : float or array_like
        g in ``(1 - g) w1 + g w2``, normalised: from 0 to 1, from the first solution to the second.
    constraint : Margin
        A pattern is wrong where its stability is not above this margin.

    Returns
    -------
    float or ndarray
        Share of the patterns, of the shape of `position`  [eq-geodesic-error]; absolute error
        below 1e-5.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `overlap`.

    Notes
    -----
    Source: B. L. Annesi and others, Phys. Rev. Lett. 131, 227301 (2023), for the perceptron.

    Examples
    --------
    >>> from wfmlib import Margin, Perceptron, Spherical
    >>> device = Perceptron(Spherical())
    >>> error(device, 1.0, [0.0, 0.25, 0.5], constraint=Margin(0.1)).round(4).tolist()
    [0.137, 0.0547, 0.042]
    """
    positions = np.asarray(position)
    arguments.member("constraint", constraint, (Margin,))
    pair = _Pair(device, alpha, first, second)
    errors = np.array([pair.error(g, constraint.kappa) for g in positions.ravel()])
    return float(errors[0]) if positions.ndim == 0 else errors.reshape(positions.shape)


@arguments.checked
def convex_margin(
    device: Device,
    alpha: Load,
    constraint: Margin = Margin(-0.5),
    *,
    corners: Annotated[float, Interval(ge=2.0, lt=math.inf), Or(math.inf)] = 2,
) -> float:
    """Return the least margin of typical solutions whose simplices hold solutions alone.

    Points of the perceptron's simplex of p typical solutions of margin k have stabilities above
    ``k / n``, n at least the root of ``(1 + (p - 1) q) / p``, which is n in the middle; so they
    are all solutions of the margin kappa where k is not below kappa times that root
    [eq-convex-margin].

    Parameters
    ----------
    device : Perceptron
        With spherical weights.
    alpha : float
        Load, patterns per weight; not negative.
    constraint : Margin
        Of a negative margin, that of the simplex's points.
    corners : int, optional
        Typical solutions p, at least 2, or ``math.inf``: an edge for 2, a triangle for 3, any
        number for ``math.inf``.

    Returns
    -------
    float
        A margin k, from kappa to 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.
    NotConverged
        Where there is no such margin: the load is too large for solutions that are connected.

    Examples
    --------
    >>> from wfmlib import Perceptron, Spherical
    >>> round(convex_margin(Perceptron(Spherical()), 1.0), 4)
    -0.4046
    >>> round(convex_margin(Perceptron(Spherical()), 1.0, corners=math.inf), 4)
    -0.3037
    """
    kappa = _negative(device, constraint)
    share = 1.0 / corners

    def excess(margin):
        q = solved(device, alpha, Margin(margin))[0].q
        return margin - kappa * math.sqrt(share + (1.0 - share) * q)

    return _least(excess, kappa, device, alpha)


@arguments.checked
def star_margin(
    device: Device,
    alpha: Load,
    constraint: Margin = Margin(-0.5),
) -> float:
    """Return the least margin of typical solutions that see all typical solutions of a margin.

    From a solution of margin k the geodesic to a solution of margin kappa below 0, at overlap t0,
    holds solutions alone if and, up to which patterns attain their margins, only if ``k >= kappa
    t0``  [eq-star-margin].

    Parameters
    ----------
    device, alpha
        As `convex_margin`.
    constraint : Margin
        Of a negative margin kappa.

    Returns
    -------
    float
        A margin k, from kappa to 0.

    Raises
    ------
    TypeError, ValueError, NotConverged
        As `convex_margin`.

    Examples
    --------
    >>> from wfmlib import Perceptron, Spherical
    >>> round(star_margin(Perceptron(Spherical()), 1.0), 4)
    -0.1711
    """
    kappa = _negative(device, constraint)

    def excess(margin):
        return margin - kappa * _Pair(device, alpha, Margin(margin), constraint).t0

    return _least(excess, kappa, device, alpha)


def _negative(device, constraint):
    """Return the margin after checking: of a perceptron, and negative."""
    checked(device, constraint, kinds=(PERCEPTRON,), weights=(Spherical,))
    if not constraint.kappa < 0.0:
        raise ValueError(
            "constraint must have a negative margin: with another one solutions are convex, got "
            f"{constraint!r}"
        )
    return constraint.kappa


def _least(excess, kappa, device, alpha):
    """Return the margin above kappa at which the excess becomes positive."""
    largest = min(typical.max_margin(device, alpha), 0.0)
    last = largest - 1e-3 * abs(kappa)  # where typical solutions still have an overlap below 1
    try:
        if last <= kappa:
            raise NoZero(Report(False, math.inf, 0, "no margins"), kappa)
        return float(first_root(excess, kappa, last, step=0.1 * (last - kappa))[0])
    except NoZero:
        message = f"at alpha = {alpha:g} no typical solutions are so robust (up to {last:.3g})"
        raise NotConverged(Report(False, math.inf, 1, message), largest) from None


class _Pair:
    """Two typical solutions: their overlaps, and the laws of their stabilities."""

    def __init__(self, device, alpha, first, second):
        for name, end in (("first", first), ("second", second)):
            arguments.member(name, end, (Margin,))
        _, self.term, _ = checked(device, first, weights=(Spherical,))
        checked(device, second, weights=(Spherical,))
        states = [solved(device, alpha, margin)[1] for margin in (first, second)]
        self.alpha = float(alpha)
        self.q = [state.q for state in states]
        self.c = [state.overlap.c for state in states]
        self.own = [state.overlap.complement for state in states]
        self.margins = [state.constraint for state in states]
        self.complement = [state.complement for state in states]
        self.t0 = self.q[0] if first == second else self._overlap()

    def _fields(self, c):
        """Return nodes of both shared fields at their covariance c, and weights."""
        root = math.sqrt(self.c[0])
        slope = c / self.c[0] if self.c[0] > 0.0 else 0.0
        width = math.sqrt(max(self.c[1] - slope * c, 0.0))
        x, outer = _nodes(root, self.margins[0].kappa, self.own[0])
        y, inner = np.zeros(1), np.ones(1)
        if width > 1e-7:
            y, inner = _nodes(width, 0.0, self.own[1])
        omega = root * x[:, None] + 0.0 * y
        return x, y, omega, slope * omega + width * y, outer[:, None] * inner, width

    def _overlap(self):
        """Return the overlap of both, the fixed point of [eq-cross-overlap]."""
        if self.alpha == 0.0:
            return 0.0
        top = math.sqrt(self.q[0] * self.q[1])

        def image(state):
            t0 = min(max(float(state[0]), 0.0), top)
            effective = self.term.effective(t0, 1.0 - t0)
            _, _, field1, field2, weight, _ = self._fields(effective.c)
            forces = self.margins[0].slope(field1, self.own[0]) * self.margins[1].slope(
                field2, self.own[1]
            )
            pull = self.alpha * effective.slope * float(np.sum(weight * forces))
            return np.array([self.complement[0] * self.complement[1] * pull])

        state, report = fixed_point(image, np.array([0.9 * top]), tolerance=1e-11)
        return bounded("overlap", float(state[0]), top, report)

    def _effective(self, q):
        """Return the effective overlap, also at 1, where its slope may diverge."""
        return self.term.effective(q, 1.0 - q).c if q < 1.0 else 1.0

    def error(self, g, margin):
        """Return the share of patterns below a margin at the position g."""
        t0, (q1, q2) = self.t0, self.q
        n = math.sqrt((1.0 - g) ** 2 + g**2 + 2.0 * g * (1.0 - g) * t0)
        near = ((1.0 - g + g * t0) / n, (g + (1.0 - g) * t0) / n)  # with w1 and w2 themselves
        far = (((1.0 - g) * q1 + g * t0) / n, ((1.0 - g) * t0 + g * q2) / n)  # with others
        near, far = ([self._effective(v) for v in overlaps] for overlaps in (near, far))
        x, y, field1, field2, weight, width = self._fields(self.term.effective(t0, 1.0 - t0).c)
        root = math.sqrt(self.c[0])
        on_x = far[0] / root if root > 0.0 else 0.0
        on_y = 0.0
        if width > 1e-7:
            slope = math.sqrt(max(self.c[1] - width**2, 0.0))
            on_y = (far[1] - slope * on_x) / width
        on_e = [(a - b) / math.sqrt(own) for a, b, own in zip(near, far, self.own, strict=True)]
        rest = 1.0 - on_x**2 - on_y**2 - on_e[0] ** 2 - on_e[1] ** 2
        sharp = math.sqrt(rest) if rest > 1e-12 else 0.0
        cut = [
            (required.kappa - field) / math.sqrt(own)
            for required, field, own in zip(self.margins, (field1, field2), self.own, strict=True)
        ]
        level = margin / self.term.scale - on_x * x[:, None] - on_y * y
        top = np.full(level.shape, np.inf)
        if sharp == 0.0 and on_e[0] > 1e-12:  # beyond no pattern can be wrong
            top = (level - on_e[1] * cut[1]) / on_e[0]
        e, density = _above(cut[0], top)
        level = level[..., None] - on_e[0] * e
        wrong = _below(level, on_e[1], sharp, cut[1][..., None])
        return float(np.sum(weight * np.sum(density * wrong, axis=-1)))


def _nodes(root, kappa, own):
    """Return nodes and weights of a normal variable that is a field's shared part over `root`."""
    features = np.empty((0, 2))
    if root > 0.05:
        features = np.array([[kappa / root, math.sqrt(own) / root]])
    return gaussian.fill_grid(features, -REACH, REACH, SHARED)


def _above(cut, top):
    """Return nodes of a normal variable from a cut to a top, and weights, along a last axis.

    The weights sum to the probability of the variable above the cut to be below the top.
    """
    start = np.maximum(cut, -REACH)
    length = np.minimum(np.sqrt(start**2 + 2.0 * NATS) - start, 2.0 * REACH)
    length = np.clip(top - start, 0.0, length)
    node, weight = np.polynomial.legendre.leggauss(2 * PRIVATE)
    e = start[..., None] + 0.5 * length[..., None] * (node + 1.0)
    log_density = -0.5 * e**2 - 0.5 * math.log(2.0 * math.pi) - gaussian.log_H(cut)[..., None]
    return e, 0.5 * length[..., None] * weight * np.exp(log_density)


def _below(level, slope, sharp, cut):
    """Return the probability that ``slope e + sharp z < level``; e normal above the cut."""
    cut = np.broadcast_to(cut, level.shape)
    if slope <= 1e-12:  # at the first solution
        return np.where(level > 0.0, 1.0, 0.0) if sharp == 0.0 else gaussian.H(-level / sharp)
    step = level / slope
    if sharp == 0.0:
        inside = np.maximum(step, cut)
        return -np.expm1(gaussian.log_H(inside) - gaussian.log_H(cut))
    node, weight = np.polynomial.legendre.leggauss(PRIVATE)
    node, weight = 0.5 * (node + 1.0), 0.5 * weight
    start = np.maximum(cut, -REACH)
    top = np.minimum(np.sqrt(start**2 + 2.0 * NATS), start + 2.0 * REACH)
    middle = np.clip(step, start, top)
    total = np.zeros(level.shape)
    log_norm = 0.5 * math.log(2.0 * math.pi) + gaussian.log_H(cut)
    for r, w in zip(node, weight, strict=True):
        for end in (start, top):  # nodes lie close together at the step
            e = middle + (end - middle) * r**2
            size = np.abs(end - middle) * 2.0 * r * w
            total += (
                size * np.exp(-0.5 * e**2 - log_norm) * gaussian.H((slope * e - level) / sharp)
            )
    return total
