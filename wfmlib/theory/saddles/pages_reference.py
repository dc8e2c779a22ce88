"""The surroundings of typical solutions as kernels: what the pages of the book compute with.

`constrained` is the same saddle point for any axes, and `franz_parisi` its public door. As in
`pages` a device is fixed when its kernels are compiled, and the formulas of its weights,
activation and constraint are those of `models`. Both iterate to the same residual, 1e-11: a local
entropy, stationary there, agrees to rounding, its slope and the overlaps to about that residual.

What stays the same from one distance to the next stands in an array, `state`, which `begun` fills:
each distance starts where the last two lead.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.models.activations import Linear
from wfmlib.models.constraints.margin_around import NO_TABLE, MarginSplit, averages, forces
from wfmlib.models.weights.binary import Binary
from wfmlib.models.weights.spherical import Spherical
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import EXCESS
from wfmlib.numerics.zeros import FOUND, first_zero
from wfmlib.theory.saddles import pages
from wfmlib.theory.saddles.constrained import FREE, LIMIT, RULE, SHARP
from wfmlib.theory.saddles.pages import HIGHEST, LOWEST, Edge, log_weight, slope

#: How a kernel ended, besides the words of `numerics.zeros`: the margin has no solutions; two
#: counted solutions become one; the iteration does not settle; there are more solutions than
#: configurations.
EMPTY, COLLAPSED, UNSETTLED, ABOVE = range(4, 8)
TOLERANCE, ROUNDING = 1e-11, 1e-8  # as `franz_parisi.surroundings`
STEPS, FEW, PATIENCE = 60, 12, 6
COARSE = gaussian.legendre_rule(4)  # to look around: errors are a thousandth of the curve's height
NEAR, CLOSE = 1e-2, 5.0  # the residual that is enough for that, and how far fields are followed
LOG_FREE = math.log(FREE)
ENDS = -1.0  # where a branch has ended, and there is nothing below
NOWHERE = np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0)
STATE = 12  # numbers: the reference's, the start, and of the last two distances place and unknowns


class Alone(NamedTuple):
    """A reference, as the methods of the weights see it."""

    q: float
    complement: float
    q_hat: float


@njit(error_model="numpy")
def fields(c, variance, kt, limit, rule):
    """Return what references share of a pattern's field, as `constrained.Reference`."""
    root = math.sqrt(c)
    x, weight = np.zeros(1), np.ones(1)
    if root > 0.0:
        features = np.empty((1, 2))
        features[0, 0], features[0, 1] = kt / root, math.sqrt(variance) / root
        x, weight = gaussian.fill_grid(features, -limit, limit, rule)
    push, cost = np.empty_like(x), np.empty_like(x)
    for i in range(len(x)):
        push[i] = slope(Edge(kt), root * x[i], variance)
        cost[i] = log_weight(Edge(kt), root * x[i], variance)
    return x, weight, push, cost


@njit(error_model="numpy")
def divided(reference, counted, other, nearest, kt, kappa):
    """Split the fields' covariance, as `Constrained`; `reference` is its effective overlap."""
    c, variance = reference.c, reference.complement
    lean_out = other.c / math.sqrt(c) if c > 0.0 else 0.0
    width = math.sqrt(max(counted.c - lean_out**2, 0.0))
    lean, left = 0.0, variance
    if width > 0.0:
        lean = (nearest.c - other.c) / width
        left = variance - lean**2
        if left < SHARP * variance:
            gap = nearest.complement
            beyond = (2.0 - gap) * gap - counted.complement
            if c > 0.0:
                beyond -= (other.c - c * nearest.c) ** 2 / (c * variance)
            left = variance * max(beyond, 0.0) / width**2
            lean = math.copysign(math.sqrt(max(variance - left, 0.0)), lean)
    sharp = left < SHARP * variance
    left = max(left, 1e-300)
    given = math.sqrt(c), variance, kt, lean_out, width, counted.complement, kappa, lean, left
    return MarginSplit(*given, math.nan), sharp


@njit(error_model="numpy")
def mixed(x, y, rx, ry, old, count):
    """Return the next state of Anderson's iteration with two differences; `old` holds the last.

    States and what is left of them, newest first; where the differences do not span the plane,
    the newest alone is taken.
    """
    if count == 0:
        return x + rx, y + ry
    ax, ay, au, av = x - old[0, 0], y - old[0, 1], rx - old[0, 2], ry - old[0, 3]
    if count > 1:
        bx, by = old[0, 0] - old[1, 0], old[0, 1] - old[1, 1]
        bu, bv = old[0, 2] - old[1, 2], old[0, 3] - old[1, 3]
        area = au * bv - av * bu
        if abs(area) > 1e-6 * math.sqrt((au * au + av * av) * (bu * bu + bv * bv)):
            first, second = (rx * bv - ry * bu) / area, (ry * au - rx * av) / area
            return (
                x + rx - first * (ax + au) - second * (bx + bu),
                y + ry - first * (ay + av) - second * (by + bv),
            )
    size = au * au + av * av
    share = (au * rx + av * ry) / size if size > 0.0 else 0.0
    return x + rx - share * (ax + au), y + ry - share * (ay + av)


class Kernels(NamedTuple):
    """What a page may ask of the surroundings of a device's typical solutions.

    Margins are raw. `coarse` is 1 where a few digits are enough, else 0. `ended` is 0, one of the
    words of `numerics.zeros`, or `EMPTY`, `COLLAPSED`, `UNSETTLED`, `ABOVE`.

    Attributes
    ----------
    begun : compiled function
        ``begun(alpha, kt, kappa, state) -> (ended, residual, typical)``: solves for the reference
        of margin kt, and fills `state`, `STATE` numbers. `typical` is the distance between two
        references.
    around : compiled function
        ``around(alpha, kt, kappa, distance, coarse, state) -> (ended, residual, iterations,
        local_entropy, bound, slope, p, t0, replicon)``, as `franz_parisi.Point`.
    point : compiled function
        ``point(alpha, kt, kappa, distance)``: the same, from nothing.
    turn : compiled function
        ``turn(which, alpha, kt, kappa, low, high, state) -> (ended, residual, distance,
        local_entropy)``: where between two distances the local entropy (`which` 0), its slope (1)
        or ``t1 - t0`` (2, at the maximum) changes its sign.
    """

    begun: object
    around: object
    point: object
    turn: object


def _with(function, **changed):
    """Return a function that finds other values under some names of its module."""
    return FunctionType(function.__code__, function.__globals__ | changed, function.__name__)


def kernels(weights, activation, curve, bound) -> Kernels:
    """Return the kernels of a device.

    Parameters
    ----------
    weights : Binary or Spherical
    activation : Linear
    curve : compiled function
        Its `pages.Kernels.curve`.
    bound : compiled function
        ``bound(distance)``, as ``weights.bound``.
    """
    constrained = njit(type(weights).constrained)
    roughly = njit(_with(type(weights).constrained, GROUPS=COARSE))
    entropic = njit(type(weights).entropic)
    effective = njit(type(activation).effective)
    scale, largest, discrete = activation.scale, weights.largest_log_hat, weights.discrete

    @njit(error_model="numpy")
    def excess(log_q_hat, given):
        alpha, kappa = given
        return math.log(curve(log_q_hat, kappa)[0] / alpha)

    @njit(error_model="numpy")
    def conjugate(alpha, kappa):
        below = alpha * math.exp(LOWEST) / curve(LOWEST, kappa)[0]
        if below < 1e-30:
            return FOUND, 0.0, below
        start = min(math.log(below) - 1e-3, HIGHEST - 1.0)
        place, residual, ended = first_zero(
            excess, (alpha, kappa), start, HIGHEST, 0.5, 1e-14, 1e-6
        )
        return ended, residual, math.exp(place)

    @njit(error_model="numpy")
    def begun(alpha, kt, kappa, state):
        for i in range(len(state)):
            state[i] = 0.0
        q_hat, ended, residual, p_hat = 0.0, FOUND, 0.0, 1.0
        if alpha > 0.0:
            ended, residual, q_hat = conjugate(alpha, kt)
            if discrete and ended == FOUND and curve(math.log(q_hat), kt)[1] < -1e-9:
                ended = EMPTY
            found, _, start = conjugate(alpha, kappa)
            p_hat = start if found == FOUND else 1.0
        if ended != FOUND:
            return float(ended), residual, math.nan
        side = entropic(None, q_hat)
        state[0], state[1], state[2] = q_hat, side.q, side.complement
        state[3] = min(max(math.log(max(p_hat, FREE)), -5.0), largest - 1.0)
        state[4] = 0.5 if q_hat > 0.0 else 0.0
        return 0.0, residual, 0.5 * side.complement

    @njit(error_model="numpy")
    def at(distance, log_p_hat, correlation, kt, kappa, state, rule):
        reference = Alone(state[1], state[2], state[0])
        p_hat = math.exp(log_p_hat) if log_p_hat > LOG_FREE + 1e-9 else 0.0
        r = min(max(correlation, 0.0), 1.0)
        if len(rule) < len(RULE):
            side = roughly(None, distance, p_hat, r, reference)
        else:
            side = constrained(None, distance, p_hat, r, reference)
        counted = effective(None, side.p, side.complement)
        other = effective(None, side.t0, 1.0 - side.t0)
        nearest = effective(None, 1.0 - 2.0 * distance, 2.0 * distance)
        own = effective(None, state[1], state[2])
        split, sharp = divided(own, counted, other, nearest, kt, kappa)
        return side, counted, other, nearest, split, sharp

    @njit(error_model="numpy")
    def image(alpha, distance, log_p_hat, correlation, kt, kappa, state, shared, rule):
        _, counted, other, _, split, _ = at(
            distance, log_p_hat, correlation, kt, kappa, state, rule
        )
        if not counted.complement >= 1e-14:
            return math.nan, math.nan
        force, common = forces(
            shared[0], shared[1], shared[2], shared[3], split, NO_TABLE[0], NO_TABLE[1], rule
        )
        p_hat = alpha * counted.slope * force
        if p_hat <= FREE:
            return LOG_FREE, correlation
        if state[0] == 0.0:
            return math.log(p_hat), 0.0
        product = p_hat * state[0]
        t0_hat = alpha * other.slope * common
        r = t0_hat / math.sqrt(product) if product > 0.0 else 0.0
        return math.log(p_hat), min(r, 1.0)

    @njit(error_model="numpy")
    def settled(alpha, distance, x, y, kt, kappa, state, shared, rule, tolerance):
        old = np.zeros((2, 4))
        best, best_x, best_y, count, away, stride = math.inf, x, y, 0, 0, 1.0
        most = STEPS if tolerance == TOLERANCE else FEW
        for iteration in range(1, most + 1):
            u = v = math.nan
            if x > largest:
                away += 1
                if away == PATIENCE:
                    return COLLAPSED, math.inf, PATIENCE, x, y
            else:
                u, v = image(alpha, distance, x, y, kt, kappa, state, shared, rule)
            rx, ry = u - x, v - y
            size = max(abs(rx), abs(ry))
            if math.isfinite(rx) and math.isfinite(ry):
                if size < best:
                    best, best_x, best_y = size, x, y
                if size <= tolerance:
                    return FOUND, size, iteration, x, y
                next_x, next_y = mixed(x, y, rx, ry, old, count)
                for k in range(4):
                    old[1, k] = old[0, k]
                old[0, 0], old[0, 1], old[0, 2], old[0, 3] = x, y, rx, ry
                count, stride = min(count + 1, 2), 1.0
                x, y = next_x, next_y
            elif count:
                count, stride = 1, 0.5 * stride
                x, y = old[0, 0] + stride * old[0, 2], old[0, 1] + stride * old[0, 3]
            else:
                return UNSETTLED, math.inf, iteration, x, y
        ended = FOUND if best < ROUNDING else UNSETTLED
        return ended, best, most, best_x, best_y

    @njit(error_model="numpy")
    def followed(distance, state):
        """Return where to begin: where the last two distances lead, or the start."""
        if state[5] == 0.0:
            return state[3], state[4]
        x, y = state[7], state[8]
        if state[5] > 1.0 and state[6] != state[9]:
            stride = (math.log(distance) - state[6]) / (state[6] - state[9])
            stride = max(-2.0, min(stride, 2.0))
            x += stride * (x - state[10])
            y += stride * (y - state[11])
        return min(x, largest - 1.0), min(max(y, 0.0), 1.0)

    @njit(error_model="numpy")
    def solved(alpha, kt, kappa, distance, coarse, state):
        """Return how it ended, and unknowns, nodes and rule there; kt and kappa are rescaled."""
        rule = COARSE if coarse > 0.0 else RULE
        tolerance = NEAR if coarse > 0.0 else TOLERANCE
        if state[5] == ENDS:
            return COLLAPSED, math.inf, 0, math.nan, math.nan, NOWHERE, rule
        own = effective(None, state[1], state[2])
        limit = CLOSE if coarse > 0.0 else LIMIT
        shared = fields(own.c, own.complement, kt, limit, rule)
        x, y = followed(distance, state)
        given = kt, kappa, state, shared, rule, tolerance
        ended, residual, count, x, y = settled(alpha, distance, x, y, *given)
        if ended != FOUND and state[5] > 0.0 and coarse == 0.0:
            x, y = state[3], state[4]
            ended, residual, count, x, y = settled(alpha, distance, x, y, *given)
        if ended == FOUND:
            for i in range(3):
                state[9 + i] = state[6 + i]
            state[6], state[7], state[8] = math.log(distance), x, y
            state[5] = min(state[5] + 1.0, 2.0)
        elif kt == kappa and state[5] > 0.0:
            state[5] = ENDS
        return ended, residual, count, x, y, shared, rule

    @njit(error_model="numpy")
    def around(alpha, kt, kappa, distance, coarse, state):
        kt, kappa = kt / scale, kappa / scale
        height, most = math.nan, bound(distance)
        incline = p = t0 = replicon = math.nan
        ended, residual, count, x, y, shared, rule = solved(
            alpha, kt, kappa, distance, coarse, state
        )
        if ended == FOUND:
            side, counted, _, nearest, split, sharp = at(distance, x, y, kt, kappa, state, rule)
            cost, force, _, pull, stiffness = averages(
                shared[0], shared[1], shared[2], shared[3], split, *NO_TABLE, rule, sharp
            )
            height = side.term + alpha * cost
            incline = 2.0 * (side.t1_hat - alpha * nearest.slope * pull)
            response = counted.slope**2 * stiffness + counted.curvature * force
            p, t0, replicon = side.p, side.t0, alpha * side.fluctuation * response
            if not height <= most + EXCESS and coarse == 0.0:
                ended = ABOVE
        return (
            float(ended), residual, float(count), height, most, incline, p, t0, replicon
        )  # fmt: skip

    @njit(error_model="numpy")
    def point(alpha, kt, kappa, distance):
        state = np.zeros(STATE)
        ended, residual, typical = begun(alpha, kt, kappa, state)
        lost = math.nan
        if ended != 0.0:
            return ended, residual, 0.0, lost, bound(distance), lost, lost, lost, lost
        found = around(alpha, kt, kappa, distance, 0.0, state)
        if found[0] == COLLAPSED or found[0] == UNSETTLED:  # from the typical distance
            again = found
            state[5] = 0.0
            for i in range(8):
                place = typical * (distance / typical) ** (i / 7.0) if i < 7 else distance
                again = around(alpha, kt, kappa, place, 0.0, state)
                if again[0] == COLLAPSED or again[0] == UNSETTLED:
                    return found
            found = again
        return found

    @njit(error_model="numpy")
    def height_at(place, given):
        which, alpha, kt, kappa, state = given
        distance = math.exp(place)
        found = around(alpha, kt, kappa, distance, 0.0, state)
        if which == 0.0:
            return found[3]
        return found[5] if which == 1.0 else 1.0 - 2.0 * distance - found[7]

    @njit(error_model="numpy")
    def turn(which, alpha, kt, kappa, low, high, state):
        given = which, alpha, kt, kappa, state
        start, end = math.log(low), math.log(high)
        place, residual, ended = first_zero(height_at, given, start, end, end - start, 1e-13, 1e-6)
        distance = math.exp(place)
        height = math.nan
        if ended == FOUND:
            height = around(alpha, kt, kappa, distance, 0.0, state)[3]
        return float(ended), residual, distance, height

    return Kernels(begun, around, point, turn)


@njit(error_model="numpy")
def binary_bound(distance):
    """Return the entropy of all binary vectors at a distance, `Binary.bound`."""
    return -distance * math.log(distance) - (1.0 - distance) * math.log1p(-distance)


@njit(error_model="numpy")
def spherical_bound(distance):
    """Return the log-share of the sphere's slice at a distance, `Spherical.bound`."""
    return 0.5 * math.log(4.0 * distance * (1.0 - distance))


binary_begun, binary_around, binary_surroundings, binary_turn = kernels(
    Binary(), Linear(), pages.binary_curve, binary_bound
)
spherical_begun, spherical_around, spherical_surroundings, spherical_turn = kernels(
    Spherical(), Linear(), pages.spherical_curve, spherical_bound
)
