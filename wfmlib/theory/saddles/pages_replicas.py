"""Real replicas at a fixed mutual overlap as kernels: what the pages of the book compute with.

`real_replicas` is the same saddle point for any axes, and `large_deviation` its public door. As in
`pages` a device is fixed when its kernels are compiled, and the formulas of its weights,
activation and constraint are those of `models`: binary weights of a perceptron, spherical weights
of a tree committee of many sign units. Each is solved as there: both equations at once for a
finite number of binary replicas, one equation else.

Where the last overlaps lead stands in an array, `state`: the next one starts there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.models.activations import Linear, Sign
from wfmlib.models.constraints.margin import (
    LIMIT_RULE,
    RULE,
    limit_averages,
    pattern_averages,
)
from wfmlib.models.weights import binary, spin, spin_groups
from wfmlib.models.weights.binary import Binary
from wfmlib.models.weights.spherical import Spherical
from wfmlib.numerics import gaussian
from wfmlib.numerics.solvers import EXCESS
from wfmlib.numerics.zeros import FOUND, NO_ZERO, first_zero
from wfmlib.theory.saddles import pages
from wfmlib.theory.saddles.pages_reference import ABOVE, UNSETTLED
from wfmlib.theory.saddles.real_replicas import ACCURACY, CLOSEST, DISSOLVED, FINE, PLACES

APART = 8  #: how a kernel ended: the overlap is not above that of typical solutions
COARSE = gaussian.legendre_rule(5)  # as `real_replicas`
NEAR = 1e-4  # of a load, and
CLOSE = 1e-2  # the last step in both unknowns, where a few digits are enough
STATE = 8  # numbers: how many are known, and of the last two overlaps ln(1 - q1) and unknowns
LAST = PLACES[1]
# a search inside of another's function: numba would compile the one into itself
inner_zero = njit(error_model="numpy")(first_zero.py_func)


@njit(error_model="numpy")
def share(x):
    """Return ``1 / (1 + e^-x)``."""
    return 1.0 / (1.0 + math.exp(-x))


@njit(error_model="numpy")
def increasing_zero(function, given, start, low, high, tolerance):
    """Find the zero of an increasing function near a guess, as `solvers.increasing_root`.

    The secant method; where that leaves the way, the first zero on the side where it must be.
    `ended` is as of `first_zero`; x is `low` if the function is positive all the way there.
    """
    x, value, slope = start, function(start, given), 1.0
    for _ in range(12):
        if abs(value) <= tolerance:
            return x, abs(value), FOUND
        move = min(max(-value / slope, -1.0), 1.0)
        far = min(max(x + move, low), high)
        if far == x:
            break
        before, value, x = value, function(far, given), far
        slope = (value - before) / move
        if not slope > 0.0:
            break
    accuracy = max(ACCURACY, 10.0 * tolerance)
    if function(start, given) < 0.0:
        return first_zero(function, given, start, high, 1.0, tolerance, accuracy)
    # downwards: from the lower end of a stride that has the zero
    upper, step = start, 1.0
    while upper > low:
        lower = max(upper - step, low)
        if function(lower, given) <= 0.0:
            break
        upper, step = lower, 1.5 * step
    else:
        return low, math.nan, NO_ZERO
    return first_zero(function, given, lower, upper, upper - lower, tolerance, accuracy)


@njit(error_model="numpy")
def remembered(overlap, state, first, second):
    """Return where to begin: where the last two overlaps lead, or what is given."""
    if state[0] == 0.0:
        return first, second
    x, y = state[2], state[3]
    if state[0] > 1.0 and state[1] != state[4]:
        stride = (math.log1p(-overlap) - state[1]) / (state[1] - state[4])
        stride = max(-2.0, min(stride, 2.0))
        x += stride * (x - state[5])
        y += stride * (y - state[6])
    return x, y


@njit(error_model="numpy")
def remember(overlap, state, x, y):
    """Note a saddle point."""
    for i in range(3):
        state[4 + i] = state[1 + i]
    state[1], state[2], state[3] = math.log1p(-overlap), x, y
    state[0] = min(state[0] + 1.0, 2.0)


@njit(error_model="numpy")
def apart(overlap, replicas):
    """Return the distance of replicas from their barycentre, and its slope  [eq-barycentre]."""
    if math.isinf(replicas):
        cosine, rise = math.sqrt(overlap), 1.0
    else:
        cosine = math.sqrt((1.0 + (replicas - 1.0) * overlap) / replicas)
        rise = (replicas - 1.0) / replicas
    return 0.5 * (1.0 - cosine), -0.25 * rise / cosine


# ------------------------------------------------------------------------------------------------
# Weights: what a group of them contributes
# ------------------------------------------------------------------------------------------------

entropic = njit(Binary.entropic)
unloaded_limit = njit(Binary._unloaded_limit)
strongest_pull = njit(Binary.strongest_pull)
spherical_broken = njit(Spherical.broken)
spherical_limit = njit(Spherical.limit)


@njit(error_model="numpy")
def _lack(log_q_hat, overlap):
    return math.log(entropic(None, math.exp(log_q_hat)).complement / (1.0 - overlap))


@njit(error_model="numpy")
def conjugate(overlap):
    """Return the conjugate at which `overlap` is that of typical solutions, `Binary`."""
    place = first_zero(_lack, overlap, math.log(overlap) - 1e-3, 90.0, 1.0, 1e-14, 1e-6)[0]
    return math.exp(place)


@njit(error_model="numpy")
def group(q0_hat, split, m, rule):
    """Return what a binary weight contributes in a group, as `Binary.group`."""
    width, inner = math.sqrt(q0_hat), math.sqrt(split)
    if m > 1.0 and m**2 * split > 4.0:
        return spin_groups.strong(width, inner, m, rule)
    return spin_groups.mild(width, inner, m, rule)


@njit(error_model="numpy")
def broken(q0_hat, split, m, rule):
    """Return q0, 1 - q1, q1 - q0, term and complexity, as `Binary.broken`."""
    common, spread, complement, term, information = group(q0_hat, split, m, rule)
    product = spread * q0_hat + (common + spread) * split
    term -= 0.5 * ((q0_hat + split) * complement + m * product)
    return common, complement, spread, term, 0.5 * m**2 * product - information


@njit(error_model="numpy")
def _wider(log_split, given):
    overlap, replicas, rule = given
    complement = broken(0.0, math.exp(log_split), replicas, rule)[1]
    return math.log((1.0 - overlap) / complement)


@njit(error_model="numpy")
def widest_split(overlap, replicas, rule):
    """Return ``q1_hat - q0_hat`` where q0 = 0, as `Binary.widest_split`."""
    start = math.log(strongest_pull(None, overlap) / replicas)
    given, tolerance = (overlap, replicas, rule), NEAR if len(rule) == len(COARSE) else FINE
    place = increasing_zero(_wider, given, start, start - 60.0, start + 40.0, tolerance)[0]
    return math.exp(place)


@njit(error_model="numpy")
def _pulled(d0_hat, given):
    width, complement = given
    return math.log(complement / spin.limit_averages(width, d0_hat, binary.LIMIT)[1])


@njit(error_model="numpy")
def binary_limit(overlap, place):
    """Return q1_hat, d0_hat, spread and term of infinitely many replicas, `Binary.limit`."""
    q1_hat = conjugate(overlap) * share(place)
    width, complement = math.sqrt(q1_hat), 1.0 - overlap
    given, high = (width, complement), strongest_pull(None, overlap)
    d0_hat = 0.0
    if _pulled(0.0, given) < 0.0:
        d0_hat = high
        if _pulled(high, given) > 0.0:
            d0_hat = inner_zero(_pulled, given, 0.0, high, high, 1e-15, 1e-6)[0]
    _, _, lean, term = spin.limit_averages(width, d0_hat, binary.LIMIT)
    spread = lean / width - complement
    return q1_hat, d0_hat, spread, term - 0.5 * (q1_hat * (complement + spread) + overlap * d0_hat)


@njit(error_model="numpy")
def binary_unloaded(overlap, replicas, rule):
    """Return entropy, slope, complexity and split without patterns, `Binary.unloaded`."""
    if math.isinf(replicas):
        entropy, slope = unloaded_limit(None, overlap)
        return entropy, slope, math.nan, math.nan
    split = widest_split(overlap, replicas, rule)
    _, _, _, entropy, complexity = broken(0.0, split, replicas, rule)
    return entropy, -0.5 * (replicas - 1.0) * split, complexity, split


@njit(error_model="numpy")
def sphere_limit(overlap, place):
    """Return the same of weights on a sphere, `Spherical.limit`."""
    side = spherical_limit(None, overlap, place)
    return side.q1_hat, side.d0_hat, side.spread, side.term


@njit(error_model="numpy")
def sphere_unloaded(overlap, replicas, rule):
    """Return the same of weights on a sphere, `Spherical.unloaded`."""
    complement = 1.0 - overlap
    if math.isinf(replicas):
        return 0.5 * math.log(complement), -0.5 / complement, math.nan, math.nan
    at = spherical_broken(None, 0.0, overlap / complement, replicas)
    return at.term, -0.5 * (replicas - 1.0) * at.split_hat, at.complexity, at.split_hat


# ------------------------------------------------------------------------------------------------
# Devices
# ------------------------------------------------------------------------------------------------


class Kernels(NamedTuple):
    """What a page may ask of a device's real replicas.

    Margins are raw; `replicas` is y, from 1, or infinite. `coarse` is 1 where a few digits are
    enough, else 0. `ended` is 0, one of the words of `numerics.zeros`, `APART`, or `UNSETTLED`
    and `ABOVE` of `pages_reference`.

    Attributes
    ----------
    begun : compiled function
        ``begun(alpha, kappa, replicas, state) -> (ended, residual, overlap)``: forgets what
        `state` holds, `STATE` numbers; the overlap is that of typical solutions.
    around : compiled function
        ``around(alpha, kappa, replicas, overlap, coarse, state) -> (ended, residual, entropy,
        local_entropy, energetic, q0, spread, slope, entropy_slope, complexity, distance,
        distance_slope)``, as `large_deviation.Point`; at last the distance from the barycentre
        and the slope of the entropy in it. The complexity is NaN with infinitely many replicas.
    point : compiled function
        ``point(alpha, kappa, replicas, overlap)``: the same, from nothing.
    """

    begun: object
    around: object
    point: object


def kernels(typical, curve, weights, activation, limit, unloaded) -> Kernels:
    """Return the kernels of a device.

    Parameters
    ----------
    typical, curve : compiled function
        The device's `pages.Kernels.point` and `pages.Kernels.curve`.
    weights : Binary or Spherical
    activation : Linear or Sign
    limit, unloaded : compiled function
        Of the weights, such as `binary_limit` and `binary_unloaded`.
    """
    effective = njit(type(activation).effective)
    scale, implicit = activation.scale, weights.implicit

    @njit(error_model="numpy")
    def closest(overlap):
        """Return the conjugate at which `overlap` is that of typical solutions."""
        return conjugate(overlap) if implicit else overlap / (1.0 - overlap) ** 2

    @njit(error_model="numpy")
    def limited(place, given):
        """Return the averages of infinitely many replicas, the load first."""
        overlap, kappa = given[0], given[1]
        q1_hat, d0_hat, spread, term = limit(overlap, place)
        at = effective(None, overlap, 1.0 - overlap)
        cost, force, stretch = limit_averages(
            at.c, at.slope * spread, at.complement, kappa, LIMIT_RULE
        )
        load = q1_hat / (at.slope * force)
        slope = at.slope * stretch + at.curvature * spread * force
        return load, spread, term, cost, slope, d0_hat

    @njit(error_model="numpy")
    def limited_excess(place, given):
        return math.log(limited(place, given)[0] / given[2])

    @njit(error_model="numpy")
    def grouped(q0, complement, difference, q0_hat, split_hat, kappa, m, rule):
        """Return the two loads of `broken_symmetry.Broken`, its term and information."""
        between = effective(None, q0, complement + difference)
        within = effective(None, 1.0 - complement, complement)
        gap = between.complement - within.complement
        if between.c < 0.5:
            gap = within.c - between.c
        common, spread, term, information = pattern_averages(
            between.c, gap, within.complement, kappa, m, rule
        )
        response = between.slope * spread + (within.slope - between.slope) * (common + spread)
        return q0_hat / (between.slope * common), split_hat / response, term, information

    @njit(error_model="numpy")
    def sphere(place, given):
        """Return groups of spherical weights whose overlap is given."""
        overlap, kappa, _, m, rule, _ = given
        complement, q0 = 1.0 - overlap, overlap * share(place)
        difference = overlap * share(-place)
        q0_hat = q0 / (complement + m * difference) ** 2
        at = spherical_broken(None, q0_hat, difference / complement, m)
        overlaps = at.q0, at.complement, at.difference, at.term, at.complexity
        sides = grouped(*overlaps[:3], q0_hat, at.split_hat, kappa, m, rule)
        return overlaps, at.split_hat, sides

    @njit(error_model="numpy")
    def sphere_excess(place, given):
        return math.log(sphere(place, given)[2][0] / given[2])

    @njit(error_model="numpy")
    def spins(place, log_split, given):
        """Return groups of binary weights."""
        _, kappa, _, m, rule, unbroken = given
        q0_hat = unbroken * share(place)
        split = math.exp(log_split)
        overlaps = broken(q0_hat, split, m, rule)
        return overlaps, split, grouped(*overlaps[:3], q0_hat, split, kappa, m, rule)

    @njit(error_model="numpy")
    def both(place, log_split, given):
        """Return the logarithms of what 1 - q1 should be over what it is, and load / alpha."""
        overlaps, _, sides = spins(place, log_split, given)
        return math.log((1.0 - given[0]) / overlaps[1]), math.log(sides[0] / given[2])

    @njit(error_model="numpy")
    def joint(overlap, alpha, kappa, m, unbroken, x, y, coarse):
        """Solve both equations, as `real_replicas`; return how it ended, residual and unknowns."""
        given = overlap, kappa, alpha, m, COARSE, unbroken
        a = b = c = d = math.nan
        for count in range(15):
            if not PLACES[0] < x < CLOSEST:
                return UNSETTLED, math.nan, x, y
            u, v = both(x, y, given)
            (u1, v1), (u2, v2) = both(x + 1e-4, y, given), both(x, y + 1e-4, given)
            a, b, c, d = (u1 - u) / 1e-4, (u2 - u) / 1e-4, (v1 - v) / 1e-4, (v2 - v) / 1e-4
            area = a * d - b * c
            dx, dy = -(d * u - b * v) / area, -(a * v - c * u) / area
            size = max(abs(dx), abs(dy))
            if not math.isfinite(size):
                return UNSETTLED, math.nan, x, y
            stride = min(1.0, 4.0 / size)
            x, y = x + stride * dx, y + stride * dy
            if size < (CLOSE if coarse > 0.0 else 1e-3):
                break
            if count == 14:
                return UNSETTLED, size, x, y
        if coarse > 0.0:
            return FOUND, CLOSE, x, y
        tolerance = FINE * max(1.0, 0.01 * m)
        given = overlap, kappa, alpha, m, RULE, unbroken
        u, v = both(x, y, given)
        for _ in range(8):
            residual = max(abs(u), abs(v))
            if residual <= tolerance:
                return FOUND, residual, x, y
            area = a * d - b * c
            dx, dy = -(d * u - b * v) / area, -(a * v - c * u) / area
            if not max(abs(dx), abs(dy)) < 1.0:
                break
            x, y = x + dx, y + dy
            u, v = both(x, y, given)
            size = dx * dx + dy * dy
            a, b = a + u * dx / size, b + u * dy / size
            c, d = c + v * dx / size, d + v * dy / size
        residual = max(abs(u), abs(v))
        return FOUND if residual <= ACCURACY else UNSETTLED, residual, x, y

    @njit(error_model="numpy")
    def told(ended, residual, replicas, overlap):
        """Return what `around` does where nothing is found."""
        distance, _ = apart(overlap, replicas)
        lost = math.nan
        return (
            float(ended), residual, lost, lost, lost, lost, lost, lost, lost, lost, distance, lost
        )  # fmt: skip

    @njit(error_model="numpy")
    def around(alpha, kappa, replicas, overlap, coarse, state):
        kappa = kappa / scale
        distance, rise = apart(overlap, replicas)
        rule = COARSE if coarse > 0.0 else RULE
        free, free_slope, free_complexity, widest = unloaded(overlap, replicas, rule)
        q0, spread = 0.0, replicas * overlap
        if math.isinf(replicas):
            q0, spread = overlap, math.inf
        alone = (
            0.0, 0.0, free, 0.0, 0.0, q0, spread, 0.0, free_slope, free_complexity,
            distance, free_slope / rise,
        )  # fmt: skip
        if alpha == 0.0:
            return alone
        unbroken = closest(overlap)
        lack = math.log(alpha / curve(math.log(unbroken), kappa * scale)[0])
        if lack > DISSOLVED:
            return told(APART, lack, replicas, overlap)
        if math.isinf(replicas):
            given = overlap, kappa, alpha
            start, _ = remembered(overlap, state, 0.0, 0.0)
            tolerance = NEAR if coarse > 0.0 else FINE
            place, residual, ended = increasing_zero(
                limited_excess, given, start, PLACES[0], LAST, tolerance
            )
            if place == PLACES[0]:  # no pattern is felt
                return alone
            if ended != FOUND:
                return told(ended, residual, replicas, overlap)
            remember(overlap, state, place, 0.0)
            _, spread, term, cost, stretch, d0_hat = limited(place, given)
            entropy, q0, complexity = term + alpha * cost, overlap, math.nan
            incline = 0.5 * (alpha * stretch - d0_hat)
        else:
            given = overlap, kappa, alpha, replicas, rule, unbroken
            if implicit:
                start = min(math.log(alpha / replicas**2 / unbroken), 0.0)
                log_split = math.log(widest * share(-start))
                asked = overlap, alpha, kappa, replicas, unbroken
                x, y = remembered(overlap, state, start, log_split)
                ended, residual, x, y = joint(*asked, x, y, coarse)
                if ended != FOUND and state[0] > 0.0:
                    ended, residual, x, y = joint(*asked, start, log_split, coarse)
            else:
                start, y = remembered(overlap, state, 0.0, 0.0)
                tolerance = NEAR if coarse > 0.0 else FINE
                x, residual, ended = increasing_zero(
                    sphere_excess, given, start, PLACES[0], LAST, tolerance
                )
            if ended != FOUND:
                return told(ended, residual, replicas, overlap)
            remember(overlap, state, x, y)
            if implicit:
                overlaps, split_hat, sides = spins(x, y, given)
            else:
                overlaps, split_hat, sides = sphere(x, given)
            q0, spread = overlaps[0], replicas * overlaps[2]
            cost = sides[2]
            entropy = overlaps[3] + alpha * cost
            complexity = overlaps[4] - alpha * sides[3]
            incline = 0.5 * (replicas - 1.0) * split_hat * (alpha / sides[1] - 1.0)
        if not entropy - free <= EXCESS and coarse == 0.0:
            return told(ABOVE, entropy - free, replicas, overlap)
        slope = incline / rise if replicas > 1.0 else math.nan
        return (
            0.0, residual, entropy, entropy - free, alpha * cost, q0, spread,
            incline - free_slope, incline, complexity, distance, slope,
        )  # fmt: skip

    @njit(error_model="numpy")
    def begun(alpha, kappa, replicas, state):
        for i in range(len(state)):
            state[i] = 0.0
        if alpha == 0.0:
            return 0.0, 0.0, 0.0
        found = typical(alpha, kappa)
        return found[0], found[1], found[2]

    @njit(error_model="numpy")
    def point(alpha, kappa, replicas, overlap):
        return around(alpha, kappa, replicas, overlap, 0.0, np.zeros(STATE))

    return Kernels(begun, around, point)


binary_replicas_begun, binary_replicas_around, binary_replicas = kernels(
    pages.binary_point, pages.binary_curve, Binary(), Linear(), binary_limit, binary_unloaded
)
SIGNS = pages.kernels(Spherical(), Sign())
signs_replicas_begun, signs_replicas_around, signs_replicas = kernels(
    SIGNS.point, SIGNS.curve, Spherical(), Sign(), sphere_limit, sphere_unloaded
)
