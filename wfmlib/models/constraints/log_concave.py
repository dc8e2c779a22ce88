"""Log-concave constraints: averages over the fields of a pattern, from f and derivatives.

A constraint's weight is a log-concave function of the field, and so is its average over a normal
density: f is concave, its mean force f' falls with the field, and what pushes a field has one
equilibrium. That is all that is used here. A new constraint is a class with `at` and `features`;
it may replace what is below by kernels of its own.

Groups of m replicas: what they share of a field on top of what all share, y, weighs ``e^{m f}``.

Infinitely many real replicas: the overlap q0 between groups tends to their own overlap q1 as the
number y of replicas grows, and ``d0 = y (q1 - q0)``, the spread, stays in the equations. What a
group shares on top of the common field w0 is of order ``1 / sqrt(y)`` and weighs ``y f``: its
average becomes a maximum  [eq-ld-infinite]. With ``de = c'(q1) d0``,

    term = E max_u {-u^2 / 2 + f(w0 + sqrt(de) u)},   w* = w0 + de f'(w*) at the maximum,

and every derivative follows from the fields w*: ``d term / d de = E f'(w*)^2 / 2``.

A finite machine (`finite_machines`) has averages of its own. As an activation it offers

    pattern_averages(q0, difference, complement, kappa, m) -> Grouped
    limit_averages(q1, spread, kappa) -> Limit

at the overlap q0 of the weights, the difference q1 - q0, the complement 1 - q1 and m replicas; or
at q1 and ``spread = d0``. Both are per pattern, with responses summed over units; the effective
overlap of such an activation is q itself and its scale 1.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wfmlib.numerics import gaussian

__all__ = ["Averages", "Grouped", "Limit", "LogConcave", "Response", "Split", "Tilted"]

REACH = 9.0  # how far fields are followed: the normal density beyond weighs 2e-19
NEAR = 8.5  # the same next to a reference: beyond it weighs 2e-17
RULE = gaussian.legendre_rule(16)
FEW = 8000  # pairs of fields that NumPy averages as fast as kernels


class Response(NamedTuple):
    """What a pattern does at shared fields omega, each of omega's shape.

    Attributes
    ----------
    log_weight, slope, curvature : ndarray
        f, the mean force f', and f''.
    edge : ndarray
        How f changes as the constraint is loosened; NaN where it has no edge.

    Examples
    --------
    >>> import numpy as np
    >>> from wfmlib import Margin
    >>> Margin(0.0).at(np.zeros(1), 1.0).slope.round(4).tolist()
    [0.7979]
    """

    log_weight: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    edge: np.ndarray


class Pointwise:
    """The same, each computed when it is asked for: for a constraint with a formula for each."""

    def __init__(self, constraint, omega, variance):
        self._constraint, self._arguments = constraint, (omega, variance)

    @cached_property
    def log_weight(self):
        """The logarithm f of the average weight."""
        return self._constraint.log_weight(*self._arguments)

    @cached_property
    def slope(self):
        """The mean force f'."""
        return self._constraint.slope(*self._arguments)

    @cached_property
    def curvature(self):
        """The second derivative of f."""
        return self._constraint.curvature(*self._arguments)

    @property
    def edge(self):
        """How f changes as the margin is lowered: as with a field that is lifted."""
        return self.slope


class Grouped(NamedTuple):
    """What a pattern contributes at one step of symmetry breaking.

    Attributes
    ----------
    common : float
        ``E <f'>^2``.
    spread : float
        ``E [<f'^2> - <f'>^2]``, between the members of a group.
    term : float
        ``(1/m) E ln < e^{m f} >``.
    information : float
        ``E [m <f> - ln < e^{m f} >]`` with the first average tilted and the second not: how much
        the weight of the groups changes the measure, a relative entropy. Not negative.

    Examples
    --------
    >>> from wfmlib import Margin
    >>> round(Margin(0.0).grouped(0.3, 0.2, 0.5, 0.5).term, 4)
    -0.9029
    """

    common: float
    spread: float
    term: float
    information: float


class Tilted(NamedTuple):
    """Fields in groups of m, as their replicas see them.

    Attributes
    ----------
    m : float
        Replicas in a group.
    outer : ndarray
        Weights of the fields that all groups share.
    starts : ndarray
        Where each of these begins in the arrays of the fields inside its groups.
    central, inside : Response
        At the likeliest field inside, and at all of them.
    share : ndarray
        Weight of each field inside.
    log_norm, moved : ndarray
        ``ln <e^{m f}>``, without f at the likeliest field; what its mean is compared with.

    Examples
    --------
    >>> from wfmlib import Band
    >>> fields = Band(1.0).tilted(0.3, 0.2, 0.5, 0.5)
    >>> round(fields.grouped().term, 4)
    -0.4162
    """

    m: float
    outer: np.ndarray
    starts: np.ndarray
    central: Response
    inside: Response
    share: np.ndarray
    log_norm: np.ndarray
    moved: np.ndarray

    def mean(self, values):
        """Average over the fields inside, for each that all groups share."""
        return np.add.reduceat(self.share * values, self.starts)

    def grouped(self):
        """Return the averages of `Grouped`."""
        sizes = np.diff([*self.starts, len(self.share)])
        response = self.inside.slope - np.repeat(self.central.slope, sizes)
        first, second = self.mean(response), self.mean(response**2)
        return Grouped(
            common=float(self.outer @ (self.central.slope + first) ** 2),
            spread=float(self.outer @ (second - first**2)),
            term=float(self.outer @ (self.central.log_weight + self.log_norm / self.m)),
            information=float(self.outer @ (self.mean(self.moved) - self.log_norm)),
        )


class Limit(NamedTuple):
    """What a pattern contributes with infinitely many replicas, at fixed q1 and d0.

    The fields of a finite machine: w*_l of unit l, ``f' = d ln Sigma / d w_l``, sums over l.

    Attributes
    ----------
    term : float
        ``E max_u {-u^2 / 2 + f}``, not above zero  [eq-ld-infinite].
    force : float
        ``E f'(w*)^2 = E u*^2 / de``, twice the derivative of `term` in de.
    spread : float
        Limit of ``y E [<f'^2> - <f'>^2]``, y times `Grouped.spread`:
        ``E de f''^2 / (1 - de f'')`` for one field. It is ``force + 2 d term / d c`` at fixed de,
        and so, for a finite machine, ``force + 2 d term / d q1`` at fixed d0.

    Examples
    --------
    >>> from wfmlib import Margin
    >>> round(Margin(0.0).limit(0.5, 0.2, 0.5).term, 4)
    -0.8175
    """

    term: float
    force: float
    spread: float


class Averages(NamedTuple):
    """Averages over the fields that one pattern exerts on the reference and on the counted ones.

    Attributes
    ----------
    log_weight : float
        ``E f``: what a pattern costs  [eq-fp-energetic].
    force : float
        ``E f'^2``.
    common : float
        ``E r f'`` with the force r on another reference.
    pull : float
        ``E r f'`` with the force on the reference itself.
    stiffness : float
        ``E f''^2``.

    Examples
    --------
    >>> Averages(-0.5, 1.0, 0.4, 0.3, 0.2).force
    1.0
    """

    log_weight: float
    force: float
    common: float
    pull: float
    stiffness: float


class Split(NamedTuple):
    """How the fields of one pattern are split, on a reference and on counted solutions.

    Given x and y, what counted solutions share of their field is ``slope x + width y``, and `own`
    is the variance of the rest; the reference's field has the mean ``sqrt(c) x + lean y`` and the
    variance `left`, and `variance` given x alone.

    Examples
    --------
    >>> Split(c=0.5, variance=0.5, slope=0.6, width=0.3, own=0.5, lean=0.2, left=0.46).lean
    0.2
    """

    c: float
    variance: float
    slope: float
    width: float
    own: float
    lean: float
    left: float


class LogConcave:
    """A constraint whose weight is a log-concave function of a pattern's field.

    Fields are in units of the activation's scale, see `rescaled`. A member has `kappa` if it has
    an edge.

    Examples
    --------
    >>> from wfmlib import Margin
    >>> issubclass(Margin, LogConcave), Margin(0.0).hard, Margin(0.0).even
    (True, True, False)
    """

    hard = True  #: whether a pattern is right or wrong: what is counted are solutions
    even = False  #: whether the weight has no sign: typical solutions are orthogonal
    tilt = 0.0  #: how far below zero a hard-won pattern pulls omega: averages reach as far
    order = gaussian.ORDER  #: nodes in a panel, for averages over omega
    #: distance of the nearest pole of f' from real fields, in standard deviations; 0: not known
    pole = 0.0

    def at(self, omega, variance):
        """Return what a pattern does at shared fields: attributes as of `Response`."""
        return Pointwise(self, omega, variance)

    def within_range(self, scale):
        """Raise ValueError if the constraint is not solved for an activation of that scale."""

    def grouped(self, c0, gap, variance, m, rule=RULE):
        """Average over what groups of m replicas share of a field  [eq-1rsb-energetic].

        Parameters
        ----------
        c0, gap, variance : float
            Variances of what all groups share, of what a group shares on top, of the rest.
        m : float
            Positive.
        rule : ndarray
            From `gaussian.legendre_rule`, for every panel.

        Returns
        -------
        Grouped
        """
        return self.tilted(c0, gap, variance, m, rule).grouped()

    def tilted(self, c0, gap, variance, m, rule=RULE):
        """Return the fields in groups with their weights; arguments as `grouped`.

        Returns
        -------
        Tilted
        """
        root, width = math.sqrt(c0), math.sqrt(gap)
        shared = [(centre, math.hypot(w, width)) for centre, w in self.features(variance)]
        x, outer = self._shared(root, shared, rule)
        middle = self.pushed(root * x, m * gap, variance)
        central = self.at(middle, variance)
        place = width * m * central.slope  # of y, where the group's weight is largest
        narrow = 1.0 / np.sqrt(1.0 - m * gap * central.curvature)
        nodes, weights = [], []
        bends = self.bends(variance, m)
        for i in range(len(x)):
            features = [(0.0, narrow[i])]
            features += [((c - middle[i]) / width, w / width) for c, w in bends]
            node, weight = gaussian.fill_grid(np.array(features), -REACH, REACH, rule)
            nodes.append(node)
            weights.append(weight)
        sizes = [len(node) for node in nodes]
        starts = np.cumsum([0, *sizes[:-1]])
        t, weight = np.concatenate(nodes), np.concatenate(weights)
        inside = self.at(np.repeat(middle, sizes) + width * t, variance)
        # y^2 / 2 = place^2 / 2 + place t + t^2 / 2; the weight's logarithm is largest at t = 0
        exponent = m * (inside.log_weight - np.repeat(central.log_weight, sizes))
        exponent -= np.repeat(place, sizes) * t
        excess = weight * np.expm1(exponent)
        tilted, excess = weight + excess, np.add.reduceat(excess, starts)
        return Tilted(
            m=m,
            outer=outer,
            starts=starts,
            central=central,
            inside=inside,
            share=tilted / np.repeat(1.0 + excess, sizes),
            log_norm=np.log1p(excess) - 0.5 * place**2,
            moved=exponent + np.repeat(place, sizes) * t,
        )

    def limit(self, c, spread, variance):
        """Return the same for infinitely many replicas  [eq-ld-infinite].

        Parameters
        ----------
        c, variance : float
            Variance of what all share of a field, and of the rest.
        spread : float
            ``c'(q1) d0``, positive.

        Returns
        -------
        Limit
        """
        root = math.sqrt(c)
        x, measure = self._shared(root, self.bends(variance, spread / variance), RULE)
        response = self.at(self.pushed(root * x, spread, variance), variance)
        give = -response.curvature
        return Limit(
            term=float(measure @ (response.log_weight - 0.5 * spread * response.slope**2)),
            force=float(measure @ response.slope**2),
            spread=float(measure @ (give * (spread * give / (1.0 + spread * give)))),
        )

    def around(self, reference, fields, split, *, by_parts=False, forces_only=False):
        """Average over the fields on a reference and on solutions counted around it.

        Parameters
        ----------
        reference : LogConcave
            What the reference is drawn from.
        fields : tuple of ndarray
            Nodes x for what references share of a field, their weights, the force of the pattern
            on another reference there, and the logarithm of its weight.
        split : Split
        by_parts : bool, optional
            Whether the reference's force is integrated by parts, as it is too steep otherwise.
        forces_only : bool, optional
            Whether `force` and `common` are all that is needed; the others are NaN then.

        Returns
        -------
        Averages
        """
        strip = math.inf
        if split.width > 0.0:
            strip = self.pole * math.sqrt(split.own) / split.width
        if split.lean != 0.0:
            strip = min(strip, reference.pole * math.sqrt(split.left) / abs(split.lean))
        nodes = gaussian.spaced(strip, -NEAR, NEAR, FEW // len(fields[0]))
        if nodes is None:
            return self.around_graded(reference, fields, split, by_parts, forces_only)
        x, outer, other, log_weight = (value[:, None] for value in fields)
        y, response = _spaced_response(reference, split, x, split.lean * other, nodes[0])
        step = nodes[0][1] - nodes[0][0]
        outer = outer * step / gaussian.SQRT_2PI
        measure = outer * np.exp(response.log_weight - log_weight - 0.5 * y * y)
        sums = self._sums(split, x, other, y, measure, response, by_parts, forces_only)
        return Averages(*sums.tolist())

    def around_graded(self, reference, fields, split, by_parts, forces_only):
        """Return what `around` does, over panels that are graded anew for every x."""
        root = math.sqrt(split.c)
        sums = np.zeros(5)
        for x, outer, other, log_weight in zip(*fields, strict=True):
            mean = split.lean * other  # of y: about there its log-concave density lies
            features = []
            if split.width > 1e-8:
                bends = self.features(split.own)
                features += [
                    ((c - split.slope * x) / split.width, w / split.width) for c, w in bends
                ]
            if abs(split.lean) > 1e-8:
                bends = reference.features(split.left)
                features += [((c - root * x) / split.lean, w / abs(split.lean)) for c, w in bends]
            features = np.array(features).reshape(-1, 2) - [mean, 0.0]
            shift, weight = gaussian.fill_grid(features, -REACH, REACH, RULE)
            y = shift + mean
            response = reference.at(root * x + split.lean * y, split.left)
            tilt = np.exp(response.log_weight - log_weight - mean * (shift + 0.5 * mean))
            measure = outer * weight * tilt
            sums += self._sums(split, x, other, y, measure, response, by_parts, forces_only)
        return Averages(*sums.tolist())

    def _sums(self, split, x, other, y, measure, response, by_parts, forces_only):
        """Return what is in `Averages`, from nodes y and their measure."""
        counted = self.at(split.slope * x + split.width * y, split.own)
        slope = counted.slope
        moved = measure * slope
        force, common = np.vdot(moved, slope), np.vdot(moved.sum(axis=-1, keepdims=True), other)
        if forces_only:
            return np.array([math.nan, force, common, math.nan, math.nan])
        if by_parts:
            pull = np.vdot(moved, y) - split.width * np.vdot(measure, counted.curvature)
            pull /= split.lean
        else:
            pull = np.vdot(moved, response.slope)
        cost, bend = np.vdot(measure, counted.log_weight), counted.curvature
        return np.array([cost, force, common, pull, np.vdot(measure, bend * bend)])

    def pushed(self, omega, spread, variance):
        """Return where fields come to rest that a pattern pushes: ``w = omega + spread f'(w)``.

        By Newton's steps in a bracket: the push falls with the field, so that w lies between
        omega and ``omega + spread f'(omega)``.
        """
        omega = np.asarray(omega, dtype=float)
        shape, omega = omega.shape, omega.ravel()
        far = omega + spread * self.at(omega, variance).slope
        low, high = np.minimum(omega, far), np.maximum(omega, far)
        w = 0.5 * (low + high)
        found, rest = np.empty_like(w), np.arange(len(w))  # fields at rest; those on the way
        for _ in range(200):
            response = self.at(w, variance)
            excess = w - omega - spread * response.slope
            low, high = np.where(excess > 0.0, low, w), np.where(excess > 0.0, w, high)
            step = excess / (1.0 - spread * response.curvature)
            after = w - step
            after = np.where((after >= low) & (after <= high), after, 0.5 * (low + high))
            found[rest] = after
            moves = ~(np.abs(after - w) <= 1e-14 * (1.0 + np.abs(w)))
            if not np.any(moves):
                break
            rest, omega, w = rest[moves], omega[moves], after[moves]
            low, high = low[moves], high[moves]
        return found.reshape(shape)

    def bends(self, variance, strength):
        """Return where f bends, and where a pull of that strength begins to be felt."""
        begin = math.sqrt(2.0 * math.log1p(strength))
        bends = []
        for centre, width in self.features(variance):
            inner = centre + math.copysign(width * begin, -centre if self.even else 1.0)
            bends += [(centre, width), (inner, width / (1.0 + begin))]
        return bends

    def _shared(self, root, features, rule):
        """Return nodes and weights for the field that all share, of width `root`."""
        if root == 0.0:
            return np.zeros(1), np.ones(1)
        table = np.array(features) / root if root > 0.05 else np.empty((0, 2))
        if self.even:  # twice the half line
            x, weight = gaussian.fill_grid(table, 0.0, REACH, rule)
            return x, 2.0 * weight
        return gaussian.fill_grid(table, self.tilt - REACH, REACH, rule)


def _spaced_response(reference, split, x, mean, shift):
    """Return nodes y, about their mean given x, and what a pattern does to a reference there.

    The nodes of each x are moved by less than their distance, such that the reference's fields lie
    at the same distances from its front for all x: there are fewer of these than nodes.
    """
    root, step = math.sqrt(split.c), shift[1] - shift[0]
    if abs(split.lean) < 0.01:
        y = shift + mean
        return y, reference.at(root * x + split.lean * y, split.left)
    front = (reference.front - root * x) / split.lean
    first = np.ceil((mean + shift[0] - front) / step).astype(int)
    lowest, last = first.min(), first.max() + len(shift)
    fields = reference.front + split.lean * step * np.arange(lowest, last)
    response, places = reference.at(fields, split.left), np.arange(len(shift)) + first
    log_weight, slope = (value[places - lowest] for value in (response.log_weight, response.slope))
    return front + step * places, Response(log_weight, slope, None, None)
