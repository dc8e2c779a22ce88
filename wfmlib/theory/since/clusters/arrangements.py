"""Arrangements of two levels at given conjugates: m1 groups of m2 solutions each.

The replicated partition function of an arrangement has a Gaussian average for each level, and one
more for what all arrangements share  [eq-nested-quenched]. Each term is

    E ln < < e^{m2 f} >_z^{m1} >_y

with a field ``sqrt(v0) x + sqrt(v1) y + sqrt(v2) z``, x under E: of the weights ``f = ln 2 cosh``,
of a pattern the logarithm of its weight. Averages are sums on even grids: for functions that are
smooth on a scale and fall off like a Gaussian these converge faster than any power. The steps of x
and y are multiples of one another, so that the inner average is taken at few fields.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
import scipy
from annotated_types import Interval

from wfmlib.numerics.solvers import NotConverged, Report, accepted
from wfmlib.theory.saddles.broken_symmetry import balanced

#: An overlap between groups, or within one.
Shared: TypeAlias = Annotated[float, Interval(ge=1e-3, le=1.0 - 1e-4)]
CLOSE = 1e-9  # of overlaps that are asked for
REACH = 8.5  # how far a Gaussian field is followed from where its weight is largest
MOST_FIELDS = 20_000_000  # in one average
FINE = (0.35, 0.6)  # steps, in units of the scale on which weights change, and patterns


class Averages(NamedTuple):
    """What one term contributes; ( ) is the average over z, < > that over y, both tilted.

    Attributes
    ----------
    term : float
        ``E ln < ( e^{m2 f} )^{m1} >``.
    common, first, second : float
        ``E <(f')>^2``, ``E <(f')^2>``, ``E <(f'^2)>``: of weights the overlaps q0, q1, q2.
    by_groups, by_members : float
        Derivatives of `term` in m1 and m2.
    response : float
        ``E (d^2 ln < ( e^{m2 f} )^{m1} > / dh^2)^2 / (m1 m2)^2``, h the common field.
    """

    term: float
    common: float
    first: float
    second: float
    by_groups: float
    by_members: float
    response: float


class Line(NamedTuple):
    """An even grid of a normal variable.

    Attributes
    ----------
    place : ndarray of int
        Nodes in units of the step.
    node, log_weight : ndarray
    """

    place: np.ndarray
    node: np.ndarray
    log_weight: np.ndarray


def _line(low, high, step):
    place = np.arange(math.floor(low / step), math.ceil(high / step) + 1)
    node = step * place
    log_weight = math.log(step) - 0.5 * node**2 - 0.5 * math.log(2.0 * math.pi)
    return Line(place, node, log_weight)


def _outer(root, step, even):
    """Return the grid of x; one node where all arrangements share nothing."""
    if root == 0.0:
        return Line(np.zeros(1, dtype=int), np.zeros(1), np.zeros(1))
    line = _line(0.0 if even else -REACH, REACH, step)
    if not even:
        return line
    return line._replace(log_weight=line.log_weight + math.log(2.0) * (line.place > 0))


def _commensurate(roots, steps):
    """Return steps of x and y that are no larger, and how often each holds their common unit."""
    wide, narrow = roots[0] * steps[0], roots[1] * steps[1]
    if wide == 0.0:
        return steps[0], steps[1], 0, 1
    if wide >= narrow:
        ratio = int(wide / narrow)
        return ratio * narrow / roots[0], steps[1], ratio, 1
    ratio = int(narrow / wide)
    return steps[0], ratio * wide / roots[1], 1, ratio


def unresolved():
    """Return the exception for overlaps that are too close, or arrangements too large."""
    message = "the overlaps of an arrangement are too close to be resolved, or out of reach"
    return NotConverged(Report(False, math.inf, 0, message))


def _tilted(exponent):
    """Return the logarithm of the sum of exponentials in each row, and their shares."""
    peak = exponent.max(axis=1, keepdims=True)
    share = np.exp(exponent - peak)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    return (np.log(total) + peak)[:, 0], share


def averages(roots, steps, reaches, sizes, f, even):
    """Return `Averages`.

    Parameters
    ----------
    roots, steps : tuple of float
        Square roots of v0, v1, v2, and the largest steps of x, y, z.
    reaches : tuple of tuple of float
        How far y and z are followed below and above 0.
    sizes : tuple of float
        m1 and m2.
    f : callable
        Of fields: f, f' and f''.
    even : bool
        Whether f is even.
    """
    m1, m2 = sizes
    *both, x_times, y_times = _commensurate(roots, steps)
    x, y = _outer(roots[0], both[0], even), _line(-reaches[0][0], reaches[0][1], both[1])
    z = _line(-reaches[1][0], reaches[1][1], steps[2])
    if max(len(x.node), len(z.node)) * len(y.node) > MOST_FIELDS:
        raise unresolved()
    place = x_times * x.place[:, None] + y_times * y.place
    side = 1.0
    if even:  # on either side of 0 a group is the same, and its force the opposite
        side, place = np.where(place < 0, -1.0, 1.0), np.abs(place)
    place, index = np.unique(place, return_inverse=True)
    index = index.reshape(len(x.node), len(y.node))
    if len(place) * len(z.node) > MOST_FIELDS:
        raise unresolved()
    shared = roots[1] * both[1] / y_times * place
    value, force, curvature = f(shared[:, None] + roots[2] * z.node)
    group, share = _tilted(z.log_weight + m2 * value)
    mean, square = (share * force).sum(axis=1), (share * force**2).sum(axis=1)
    inner = (share * value).sum(axis=1)
    # of one group, per member: d^2 ln ( e^{m2 f} ) / dh^2 / m2, and m2 times the slope squared
    bend = (share * curvature).sum(axis=1) + m2 * (square - mean**2)
    total, share = _tilted(y.log_weight + m1 * group[index])
    weight = np.exp(x.log_weight)

    def averaged(column):
        return (share * column[index]).sum(axis=1)

    middle, spread = (share * side * mean[index]).sum(axis=1), averaged(mean**2)
    response = averaged(bend) + m1 * m2 * (spread - middle**2)
    return Averages(
        term=float(weight @ total),
        common=float(weight @ middle**2),
        first=float(weight @ spread),
        second=float(weight @ averaged(square)),
        by_groups=float(weight @ averaged(group)),
        by_members=float(m1 * (weight @ averaged(inner))),
        response=float(weight @ response**2),
    )


def _spin(field):
    size, force = np.abs(field), np.tanh(field)
    return size + np.log1p(np.exp(-2.0 * size)), force, 1.0 - force**2


def entropic(h0, split1, split2, m1, m2):
    """Return `Averages` of the weights at ``h0``, ``h1 = h0 + split1``, ``h2 = h1 + split2``.

    An arrangement pulls its fields by at most m1 m2 times the root of their variance; the sign of
    its spins changes over a field ``1 / (m1 m2)``.
    """
    roots = math.sqrt(h0), math.sqrt(split1), math.sqrt(split2)
    sharp = m1 * m2, m2, 1.0
    steps = [FINE[0] / max(1.0, r * times) for r, times in zip(roots, sharp, strict=True)]
    far = REACH + m1 * m2 * roots[1], REACH + m2 * roots[2]
    return averages(roots, steps, [(reach, reach) for reach in far], (m1, m2), _spin, True)


def energetic(q0, q1, q2, m1, m2, axes):
    """Return `Averages` of a pattern, and the effective overlaps at q0, q1, q2."""
    _, activation, constraint = axes
    effective = [activation.effective(q, 1.0 - q) for q in (q0, q1, q2)]
    scaled, own = constraint.rescaled(activation.scale), effective[2].complement
    v1, v2 = effective[0].complement - effective[1].complement, effective[1].complement - own
    roots = math.sqrt(effective[0].c), math.sqrt(v1), math.sqrt(v2)
    # deep in the forbidden region a group's weight is a Gaussian of the field, of variance
    # (own + m2 v2) / m2, and that of an arrangement (own + m2 v2 + m1 m2 v1) / (m1 m2)
    group = own + m2 * v2
    whole = group + m1 * m2 * v1
    short = REACH * roots[0] + (0.0 if scaled.even else abs(scaled.kappa))
    left = short * group / whole + REACH * math.sqrt(v1 * group / whole)
    # a margin pulls fields up, the more the larger the groups are
    pull = 0.0 if scaled.even else 2.0 * math.sqrt(2.0 * math.log1p(m1 * m2))
    pulls = short * roots[1] * m1 * m2 / whole + pull, left * roots[2] * m2 / group + pull
    scales = (
        math.sqrt(own + v2 + v1) / max(roots[0], 1e-300),
        math.sqrt((own + v2) / (v1 * m1 * m2)),
        math.sqrt(own / (v2 * m2)),
    )
    steps = [FINE[1] * min(1.0, scale) for scale in scales]
    reaches = [(REACH + pull * scaled.even, REACH + pull) for pull in pulls]

    def pattern(field):
        with np.errstate(over="ignore"):
            response = scaled.at(field.ravel(), own)
        parts = response.log_weight, response.slope, response.curvature
        return [part.reshape(field.shape) for part in parts]

    fields = averages(roots, steps, reaches, (m1, m2), pattern, scaled.even)
    return fields, effective


class Arrangement:
    """Arrangements whose conjugates are given  [eq-nested-quenched].

    Parameters
    ----------
    h0, split1, split2 : float
        The conjugate of q0, 0 in the annealed average; how much those of q1 and q2 are above it,
        positive.
    m1, m2 : float
        Groups, and solutions in a group.
    axes : tuple
        Weights, activation, constraint.

    Attributes
    ----------
    q0, q1, q2 : float
        Overlaps between arrangements, between groups of one, within a group.
    entropic : float
        What weights add to `entropy`.
    """

    def __init__(self, h0, split1, split2, m1, m2, axes):
        self.conjugates, self.sizes, self.axes = (h0, split1, split2), (m1, m2), axes
        self._weights = entropic(h0, split1, split2, m1, m2)
        self.q0, self.q1, self.q2 = self._weights[1:4]
        if h0 == 0.0:  # not what rounding leaves
            self.q0 = 0.0
        h1, h2 = h0 + split1, h0 + split1 + split2
        # products of an overlap and its conjugate, for pairs at q2, q1, q0 of one vector
        self._pairs = self.q2 * h2, self.q1 * h1, self.q0 * h0
        self._h2 = h2
        own = h2 + (m2 - 1.0) * self._pairs[0] + (m1 - 1.0) * m2 * self._pairs[1]
        products = m1 * m2 * (own - m1 * m2 * self._pairs[2])
        self.entropic = float(self._weights.term - 0.5 * products)

    @cached_property
    def _pattern(self):
        return energetic(self.q0, self.q1, self.q2, *self.sizes, self.axes)

    @property
    def pattern(self):
        """What a pattern contributes to `entropy`."""
        return self._pattern[0].term

    @property
    def force(self):
        """What a pattern adds to the conjugate of q0."""
        fields, effective = self._pattern
        return float(effective[0].slope) * fields.common

    @cached_property
    def loads(self):
        """At which the equations hold for q0, for q1 and q0, for q2 and q1  [eq-nested-saddle].

        This is a saddle point where the first is the load, and a threshold where all three are.
        """
        fields, effective = self._pattern
        slope0, slope1, slope2 = (float(overlap.slope) for overlap in effective)
        forces = slope0 * fields.common, slope1 * fields.first, slope2 * fields.second
        differences = forces[0], forces[1] - forces[0], forces[2] - forces[1]
        return tuple(balanced(*pair) for pair in zip(self.conjugates, differences, strict=True))

    def entropy(self, alpha):
        """Return the logarithm of the number of arrangements, in nats per weight."""
        return self.entropic + alpha * self.pattern

    def replicon(self, alpha):
        """Return that of arrangements: symmetry between them is stable below 1.

        All solutions of an arrangement move together  [eq-nested-replicon].
        """
        at, (between, *_) = self._pattern
        force = between.slope**2 * at.response + between.curvature * at.common
        return float(alpha * self._weights.response * force)

    def leanings(self, alpha):
        """Return the derivatives of `entropy` in m1 and m2."""
        m1, m2 = self.sizes
        second, first, common = self._pairs
        rows = m2 * (m2 - 1.0) * second, m2**2 * first, m2**2 * common
        groups = m2 * self._h2 + rows[0] + (2.0 * m1 - 1.0) * rows[1] - 2.0 * m1 * rows[2]
        members = self._h2 + (2.0 * m2 - 1.0) * second
        members = m1 * (members + 2.0 * m2 * ((m1 - 1.0) * first - m1 * common))
        fields = self._pattern[0]
        return (
            self._weights.by_groups - 0.5 * groups + alpha * fields.by_groups,
            self._weights.by_members - 0.5 * members + alpha * fields.by_members,
        )


def keeping(overlaps, h0, sizes, start=None):
    """Return the splits of conjugates at which q1 and q2 are kept, h0 given.

    Raises
    ------
    NotConverged
        Where there are none.
    """
    (q1, q2), (m1, m2) = overlaps, sizes
    if start is None:
        start = 0.1 / m1 * q1 + 1e-3, 2.0 / m2

    def lack(unknowns):
        reached = entropic(h0, *np.exp(unknowns).tolist(), m1, m2)
        return [math.log(q1 / reached.first), math.log((1.0 - q2) / (1.0 - reached.second))]

    try:
        with np.errstate(all="ignore"):
            root = scipy.optimize.root(lack, np.log(start), options={"xtol": 1e-12})
    except (ArithmeticError, ValueError):
        raise unresolved() from None
    residual = float(np.max(np.abs(root.fun)))
    accepted(residual, CLOSE, int(root.nfev), "conjugates found", root.x)
    return tuple(np.exp(root.x).tolist())
