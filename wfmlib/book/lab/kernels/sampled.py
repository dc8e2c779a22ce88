"""Effective overlaps from samples of an activation, as kernels of plain arrays: for pages.

A page has no function of Python to call. It samples an activation where these kernels say, and
keeps what the theory needs of it in one array: a head, the squared Hermite coefficients, and, for
overlaps too close to 1 for these, a table. `correlation` derives the formulas; here

    head      KIND, SCALE, SLOPE_AT_ONE, TERMS, REST, RADIUS, START, PIECES
    terms     ``a_k^2 / Var g``, k = 1, 2, ...
    pieces    of ``ln(1 - q)``, downwards from START: its two ends, and Chebyshev coefficients of
              the logarithms of ``1 - c``, ``c'`` and ``c''``, `NODES` of each

Two ways lead to it. An activation that was drawn is linear between knots, and what the theory
needs has a closed form (`knotted`). Of a typed formula, polynomials of degree 15 are taken on
intervals that are halved until they fit, between its corners and jumps (`sampled`), as
`Correlation` does; the page's script (`compute.js`) leads the way.

Relative errors are below 1e-11 in 1 - c and c', as of `Activation`, absolute ones in c. That of
c'' is below 1e-10, or ``1e-13 / (1 - q)`` if that is larger: it enters the replicon only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from wfmlib.models import correlation
from wfmlib.models.activations import EffectiveOverlap, Linear, ReLU, Sign
from wfmlib.models.correlation import AT_ENDS, LIMIT, NARROW, SLOPES, TERMS, TO_SERIES
from wfmlib.numerics import gaussian

LINEAR, SIGN, RELU, TABLE = 0.0, 1.0, 2.0, 3.0  #: kinds
KIND, SCALE, SLOPE_AT_ONE, COUNT, REST, RADIUS, START, PIECES = range(8)
HEAD = 8
NODES = 24
LENGTH = 2 + 3 * NODES  # of a piece
LONGEST, SHORTEST, MOST = 8.0, 0.5, 60  # pieces in ln(1 - q)
END = -27.6  # of it: below 1e-12 c goes on as a power of 1 - q, to 1e-6 relative
MISSED = 1e-11  # by a piece, relative
ROOM = HEAD + TERMS + MOST * LENGTH  #: numbers that an array may need
RULE = gaussian.legendre_rule()
LONG_RULE = gaussian.legendre_rule(96)  # for Hermite polynomials of degree 4096
HERMITE = np.stack(np.polynomial.hermite_e.hermegauss(16), axis=1) / [1.0, math.sqrt(2 * math.pi)]
POINTS = correlation.POINTS
ORDER = len(RULE)


class Scaled(NamedTuple):
    """An activation, as the methods of `ReLU` see it."""

    scale: float


linear, sign, relu = map(njit, (Linear.effective, Sign.effective, ReLU.effective))
kernel = njit(cache=True, nogil=True, error_model="numpy")


# ------------------------------------------------------------------------------------------------
# What the theory asks
# ------------------------------------------------------------------------------------------------


@njit(error_model="numpy")
def effective(q, complement, about):
    """Return `EffectiveOverlap` of an activation's array at ``0 <= q <= 1``."""
    if about[KIND] == LINEAR:
        return linear(None, q, complement)
    if about[KIND] == SIGN:
        return sign(None, q, complement)
    if about[KIND] == RELU:
        return relu(Scaled(about[SCALE]), q, complement)
    if q <= about[RADIUS]:
        return series(q, complement, about)
    return tabulated(complement, about)


@kernel
def series(q, complement, about):
    """Return the sums over Hermite coefficients, ``1 - c`` of positive terms only."""
    count = int(about[COUNT])
    n = count
    if q < 1.0:  # n^2 q^n is negligible beyond
        n = min(count, 20 + int(-45.0 / math.log(max(q, 1e-10))))
    c = slope = curvature = gap = total = 0.0
    power, before, rest = 1.0, 0.0, 0.0  # q^(k-1), q^(k-2), 1 - q^k
    for k in range(1, n + 1):
        share = about[HEAD + k - 1]
        rest += power * complement
        curvature += share * k * (k - 1) * before
        slope += share * k * power
        before = power
        power *= q
        c += share * power
        gap += share * rest
        total += share
    gap += max(1.0 - total, about[REST]) if n < count else about[REST]
    return EffectiveOverlap(1.0 - gap if q > 0.5 else c, gap, slope, curvature)


@kernel
def tabulated(complement, about):
    """Return the same from the table, for q above the head's RADIUS."""
    u = math.log(max(complement, 1e-300))
    first = HEAD + int(about[COUNT])
    for _ in range(int(about[PIECES]) - 1):
        if u >= about[first + 1]:
            break
        first += LENGTH
    high, low = about[first], about[first + 1]
    x = (2.0 * u - high - low) / (high - low)
    gap = math.exp(clenshaw(x, about, first + 2))
    slope = math.exp(clenshaw(x, about, first + 2 + NODES))
    curvature = math.exp(clenshaw(x, about, first + 2 + 2 * NODES))
    return EffectiveOverlap(1.0 - gap, gap, slope, curvature)


@kernel
def clenshaw(x, about, first):
    """Return a sum of Chebyshev polynomials, below -1 a straight line."""
    if x < -1.0:
        end = clenshaw(-1.0, about, first)
        return end + (x + 1.0) * (clenshaw(-0.75, about, first) - end) / 0.25
    b1 = b2 = 0.0
    for j in range(NODES - 1, 0, -1):
        b1, b2 = about[first + j] + 2.0 * x * b1 - b2, b1
    return about[first] + x * b1 - b2


@kernel
def place(high, low, j):
    """Return ``1 - q`` at a node of a piece."""
    return math.exp(0.5 * (high + low + (high - low) * math.cos(math.pi * (j + 0.5) / NODES)))


@kernel
def kept(high, low, samples, about):
    """Add a piece to the table if polynomials of its length are enough; return 1, or 0 if not.

    `samples` holds what they interpolate, shape (3, NODES). Below half a unit none is refused.
    """
    first = HEAD + int(about[COUNT]) + LENGTH * int(about[PIECES])
    about[first], about[first + 1] = high, low
    missed = 0.0
    for row in range(3):
        blurred = 1e-14 * math.exp(-low) / MISSED if row == 2 else 0.0  # rounding in c''
        for k in range(NODES):
            total = 0.0
            for j in range(NODES):
                total += math.log(samples[row, j]) * math.cos(math.pi * k * (j + 0.5) / NODES)
            total *= (1.0 if k == 0 else 2.0) / NODES
            about[first + 2 + row * NODES + k] = total
            if k >= NODES - 2:
                missed = max(missed, abs(total) / max(1.0, blurred))
    if missed > MISSED and high - low > SHORTEST:
        return 0.0
    about[PIECES] += 1.0
    return 1.0


@kernel
def begun(about, powers, rest, scale, slope):
    """Fill the head and the terms; `powers` may end early, where all that is left is `rest`."""
    count = len(powers)
    about[KIND], about[SCALE], about[SLOPE_AT_ONE] = TABLE, scale, slope
    about[COUNT], about[REST], about[RADIUS] = count, 0.0, 1.0
    for k in range(count):
        about[HEAD + k] = powers[k]
    about[START] = about[PIECES] = 0.0
    if count == TERMS:
        about[REST] = max(rest, 1e-16)
        bound = 1e-13 / (about[REST] * (count + 1) ** 2)
        about[RADIUS] = min(1.0, bound ** (1.0 / (count - 1)))
    if about[RADIUS] < 1.0:
        about[START] = math.log(1.0 - about[RADIUS])


@kernel
def enough(k, rest, powers):
    """Return whether the terms up to k leave nothing for c''."""
    last = 0.0
    for j in range(max(k - 32, 0), k):
        last += powers[j]
    return rest < 1e-12 and k * k * last < 1e-15


# ------------------------------------------------------------------------------------------------
# Drawn: linear between knots, and constant outside
# ------------------------------------------------------------------------------------------------


@kernel
def bends(t, v, out):
    """Fill in by how much the slope changes at each knot."""
    before = 0.0
    for j in range(len(t)):
        after = (v[j + 1] - v[j]) / (t[j + 1] - t[j]) if j + 1 < len(t) else 0.0
        out[j] = after - before
        before = after


@kernel
def squares(t, v):
    """Return ``Var g`` and ``E g'^2``."""
    features = np.zeros((len(t), 2))
    for j in range(len(t)):
        features[j, 0] = t[j]
    x, weight = gaussian.fill_grid(features, -LIMIT, LIMIT, RULE)
    g = np.empty_like(x)
    level = steep = total = 0.0
    for i in range(len(x)):
        j = 0
        while j < len(t) and t[j] < x[i]:
            j += 1
        slope = 0.0
        if j == 0:
            g[i] = v[0]
        elif j == len(t):
            g[i] = v[j - 1]
        else:
            slope = (v[j] - v[j - 1]) / (t[j] - t[j - 1])
            g[i] = v[j - 1] + slope * (x[i] - t[j - 1])
        level += weight[i] * g[i]
        steep += weight[i] * slope * slope
    for i in range(len(x)):
        total += weight[i] * (g[i] - level) ** 2
    return total, steep


@kernel
def knotted(t, v, about):
    """Begin the array of an activation that was drawn.

    Its Hermite coefficients are those of its second derivative, a sum of deltas:
    ``a_k = sum_j s_j G(t_j) He_{k-2}(t_j) / sqrt(k!)``, s_j the change of slope at a knot.

    Parameters
    ----------
    t, v : ndarray, shape (knots,)
        Knots, increasing, and values there.
    about : ndarray, shape (ROOM,)
        Filled in, but for its table.

    Returns
    -------
    tuple of float
        The variance of g, how much of it is linear, and where its table starts (0: there
        is none).
    """
    variance, steep = squares(t, v)
    s = np.empty(len(t))
    bends(t, v, s)
    powers = np.empty(TERMS)
    mean = 0.0  # slope: g' is minus the sum of what lies to the right
    for j in range(len(t)):
        mean += s[j] * gaussian.H(t[j])
    powers[0] = mean * mean / variance
    before, hermite = np.zeros(len(t)), np.empty(len(t))
    for j in range(len(t)):
        hermite[j] = gaussian.G(t[j])
    rest = 1.0 - powers[0]
    count = TERMS
    for k in range(2, TERMS + 1):
        total = 0.0
        for j in range(len(t)):
            total += s[j] * hermite[j]
            after = (t[j] * hermite[j] - math.sqrt(k - 2.0) * before[j]) / math.sqrt(k - 1.0)
            before[j], hermite[j] = hermite[j], after
        powers[k - 1] = total * total / (k * (k - 1.0) * variance)
        rest -= powers[k - 1]
        if enough(k, rest, powers):
            count = k
            break
    begun(about, powers[:count], rest, math.sqrt(variance), steep / variance)
    return variance, powers[0], about[START]


@kernel
def knotted_piece(high, low, t, v, about):
    """Add a piece to the table of an activation that was drawn, as `kept`.

    With ``q = cos theta``, ``Delta'' dq`` is ``W d theta``, a sum over pairs of knots of their
    normal density. So ``c'(1) - c'`` and ``c'(1) (1 - q) - (1 - c)`` are integrals from 0 to
    theta of W and of ``W (cos x - cos theta)``, which lose no digits.
    """
    s = np.empty(len(t))
    bends(t, v, s)
    closest = LIMIT
    for j in range(1, len(t)):
        closest = min(closest, t[j] - t[j - 1])
    variance = about[SCALE] ** 2
    samples = np.empty((3, NODES))
    for node in range(NODES):
        complement = place(high, low, node)
        theta = 2.0 * math.asin(math.sqrt(0.5 * complement))
        first = second = 0.0
        above = theta
        while above > 0.0:
            below = above / 1.5 if above > closest / 9.0 else 0.0
            half = 0.5 * (above - below)
            for i in range(ORDER):
                x = below + half * (1.0 + RULE[i, 0])
                part = half * RULE[i, 1] * pairs(x, t, s)
                first += part
                second += part * 2.0 * math.sin(0.5 * (theta + x)) * math.sin(0.5 * (theta - x))
            above = below
        slope = about[SLOPE_AT_ONE]
        samples[0, node] = slope * complement - second / variance
        samples[1, node] = slope - first / variance
        samples[2, node] = pairs(theta, t, s) / math.sin(theta) / variance
    return kept(high, low, samples, about)


@kernel
def pairs(theta, t, s):
    """Return W, the sum over pairs of knots of ``sin theta`` times their normal density."""
    sine, cosine = math.sin(theta), math.cos(theta)
    total = 0.0
    for i in range(len(t)):
        total += s[i] * s[i] * math.exp(-t[i] * t[i] / (1.0 + cosine))
        for j in range(i):
            apart = (t[i] - t[j]) / sine
            if abs(apart) < 9.0:
                exponent = 0.5 * apart * apart + t[i] * t[j] / (1.0 + cosine)
                total += 2.0 * s[i] * s[j] * math.exp(-exponent)
    return total / (2.0 * math.pi)


# ------------------------------------------------------------------------------------------------
# Typed: polynomials on intervals
# ------------------------------------------------------------------------------------------------


@kernel
def looked(values):
    """Return ``sqrt(E g^2)``, and the part of ``E g^2`` beyond 10, of values at `look`."""
    x, weight = gaussian.fill_grid(np.empty((0, 2)), -LIMIT, LIMIT, RULE)
    total = far = 0.0
    for i in range(len(x)):
        part = weight[i] * values[i] ** 2
        total += part
        far += part if abs(x[i]) > 10.0 else 0.0
    return math.sqrt(total), far


@kernel
def look(out):
    """Fill in where an activation is looked at first; return how many places there are."""
    x, _ = gaussian.fill_grid(np.empty((0, 2)), -LIMIT, LIMIT, RULE)
    for i in range(min(len(x), len(out))):
        out[i] = x[i]
    return float(len(x))


@kernel
def places(intervals, out):
    """Fill in where an activation is looked at on intervals: nodes, and nearly the ends."""
    for i in range(len(intervals)):
        half = 0.5 * (intervals[i, 1] - intervals[i, 0])
        for j in range(len(POINTS)):
            out[i, j] = intervals[i, 0] + half * (1.0 + POINTS[j])
    return float(len(POINTS))


@kernel
def judged(norm, intervals, values, verdict):
    """Fill in for each interval whether a polynomial of degree 15 is the activation on it."""
    terms = np.empty(16)
    for i in range(len(intervals)):
        largest = 0.0
        for k in range(16):
            terms[k] = 0.0
            for j in range(16):
                terms[k] += TO_SERIES[k, j] * values[i, j]
            largest = max(largest, abs(terms[k]))
        missed = max(abs(terms[13]), abs(terms[14]), abs(terms[15]))
        for end in range(2):
            value = 0.0
            for k in range(16):
                value += AT_ENDS[end, k] * terms[k]
            missed = max(missed, 0.1 * abs(value - values[i, 16 + end]))
        nearest = max(intervals[i, 0], -intervals[i, 1], 0.0)
        density = math.exp(-0.25 * nearest * nearest)
        good = missed * density <= 1e-13 * norm or missed <= 1e-15 * largest
        verdict[i] = 1.0 if good else 0.0
    return 0.0


@kernel
def coefficients(values):
    """Return the Legendre coefficients of each interval's polynomial, shape (n, 16)."""
    terms = np.zeros((len(values), 16))
    for i in range(len(values)):
        for k in range(16):
            for j in range(16):
                terms[i, k] += TO_SERIES[k, j] * values[i, j]
    return terms


@kernel
def straight(norm, edges, values):
    """Return 1 if an activation is linear between corners, without a jump, and 0 otherwise.

    Of intervals that are `correlation.NARROW` there may be some about a corner.
    """
    coefs = coefficients(values)
    if slope_at_one(norm, edges, coefs) == math.inf:
        return 0.0
    for i in range(len(coefs)):
        for k in range(2, 16):
            if edges[i + 1] - edges[i] > NARROW and abs(coefs[i, k]) > 1e-12 * norm:
                return 0.0
    return 1.0


@kernel
def polynomial(x, edges, owner, coefs):
    """Return an interval's polynomial at x."""
    y = (2.0 * x - edges[owner] - edges[owner + 1]) / (edges[owner + 1] - edges[owner])
    b1 = b2 = 0.0
    for k in range(15, 0, -1):
        b1, b2 = (
            coefs[owner, k] + (2.0 * k + 1.0) / (k + 1.0) * y * b1 - (k + 1.0) / (k + 2.0) * b2,
            b1,
        )
    return coefs[owner, 0] + y * b1 - 0.5 * b2


@kernel
def sampled(norm, edges, values, about):
    """Begin the array of an activation that was typed.

    Parameters
    ----------
    norm : float
        From `looked`.
    edges : ndarray, shape (n + 1,)
        Ends of the intervals, from -12 to 12.
    values : ndarray, shape (n, 16)
        Of the activation, at the first 16 of `places`.
    about : ndarray, shape (ROOM,)
        Filled in, but for its table.

    Returns
    -------
    tuple of float
        The variance of g, how much of it is linear, and where its table starts (0: there
        is none).
    """
    coefs = coefficients(values)
    features = np.zeros((len(edges), 2))
    for j in range(len(edges)):
        features[j, 0] = edges[j]
    x, weight = gaussian.fill_grid(features, -LIMIT, LIMIT, LONG_RULE)
    g = np.empty_like(x)
    owner, level, variance = 0, 0.0, 0.0
    for i in range(len(x)):
        while owner + 2 < len(edges) and edges[owner + 1] < x[i]:
            owner += 1
        g[i] = polynomial(x[i], edges, owner, coefs)
        level += weight[i] * g[i]
    for i in range(len(x)):
        g[i] -= level
        variance += weight[i] * g[i] * g[i]
    if variance <= 1e-20 * norm * norm:
        return variance, 0.0, 0.0
    scale = math.sqrt(variance)
    powers = np.empty(TERMS)
    before, hermite = np.empty_like(x), np.empty_like(x)
    for i in range(len(x)):
        g[i] *= weight[i] / scale
        before[i], hermite[i] = 1.0, x[i]
    rest, count = 1.0, TERMS
    for k in range(1, TERMS + 1):
        total = 0.0
        for i in range(len(x)):
            total += g[i] * hermite[i]
        powers[k - 1] = total * total
        rest -= powers[k - 1]
        if enough(k, rest, powers):
            count = k
            break
        root, inverse = math.sqrt(k), 1.0 / math.sqrt(k + 1.0)
        for i in range(len(x)):
            after = (x[i] * hermite[i] - root * before[i]) * inverse
            before[i] = hermite[i]
            hermite[i] = after
    slope = slope_at_one(norm, edges, coefs) / variance
    begun(about, powers[:count], rest, scale, slope)
    return variance, powers[0], about[START]


@kernel
def slope_at_one(norm, edges, coefs):
    """Return ``E g'^2``, infinite where g jumps."""
    total, before = 0.0, 0.0
    for i in range(len(coefs)):
        half = 0.5 * (edges[i + 1] - edges[i])
        left = right = 0.0
        for k in range(16):
            right += coefs[i, k]
            left += coefs[i, k] if k % 2 == 0 else -coefs[i, k]
        # by the density, as the polynomials' own errors: in the tails these are no jumps
        density = math.exp(-0.25 * edges[i] * edges[i])
        if i > 0 and density * abs(left - before) > 1e-9 * norm:
            return math.inf
        before = right
        for j in range(16):
            steep = 0.0
            for m in range(16):
                steep += SLOPES[j, m] * coefs[i, m]
            x = edges[i] + half * (1.0 + RULE[j, 0])
            total += RULE[j, 1] * gaussian.G(x) * steep * steep / half
    return total


@kernel
def sampled_node(high, low, node, edges, values, kinks, about):
    """Return what `kept` takes of an activation that was typed, at one node, by conditioning.

    `kinks` holds its corners and jumps, shape (kinks,). With many of them a node takes a while.
    """
    coefs = coefficients(values)
    coefs /= about[SCALE]
    return conditioned(place(high, low, node), edges, coefs, kinks)


@kernel
def conditioned(complement, edges, coefs, kinks):
    """Return ``1 - c``, ``c'`` and ``c''`` as `Correlation` does, close to q = 1."""
    root, sigma = math.sqrt(1.0 - complement), math.sqrt(complement)
    features = np.zeros((len(kinks) + len(edges), 2))
    for j in range(len(kinks)):
        features[j, 0], features[j, 1] = kinks[j] / root, sigma / root
    for j in range(len(edges)):
        features[len(kinks) + j, 0] = edges[j] / root
    x, weight = gaussian.fill_grid(features, -LIMIT, LIMIT, RULE)
    gap = slope = bend = 0.0
    owner = 0
    for i in range(len(x)):
        s = root * x[i]
        while owner + 2 < len(edges) and edges[owner + 1] < s:
            owner += 1
        m1, m2, spread = moments(s, sigma, owner, edges, coefs, kinks)
        gap += weight[i] * spread
        slope += weight[i] * m1 * m1
        bend += weight[i] * m2 * m2
    return gap, slope / complement, bend / complement**2


@kernel
def moments(s, sigma, owner, edges, coefs, kinks):
    """Return m_1, m_2 and the variance over y of ``g(s + sigma y) / scale``."""
    reach = 10.0 * sigma
    smooth = True
    for j in range(len(kinks)):
        smooth = smooth and abs(kinks[j] - s) > reach
    first = owner
    while first > 0 and edges[first] > s - reach:
        first -= 1
    j = first
    while smooth and j + 1 < len(edges) and edges[j] < s + reach:
        smooth = edges[j + 1] - edges[j] > 4.0 * sigma
        j += 1
    middle = polynomial(s, edges, owner, coefs)
    mean = square = m1 = m2 = 0.0
    if smooth:
        interval = first
        for i in range(len(HERMITE)):
            y = HERMITE[i, 0]
            x = s + sigma * y
            while interval + 2 < len(edges) and edges[interval + 1] < x:
                interval += 1
            g = polynomial(x, edges, interval, coefs) - middle
            part = HERMITE[i, 1] * g
            mean += part
            square += part * g
            m1 += part * y
            m2 += part * (y * y - 1.0)
        return m1, m2, max(square - mean * mean, 0.0)
    interval, low = first, s - reach
    while low < s + reach:
        while interval + 2 < len(edges) and edges[interval + 1] <= low:
            interval += 1
        high = min(low + 2.0 * sigma, s + reach)
        if edges[interval + 1] > low:
            high = min(high, edges[interval + 1])
        if not high > low:
            break
        half = 0.5 * (high - low)
        for i in range(ORDER):
            x = low + half * (1.0 + RULE[i, 0])
            y = (x - s) / sigma
            g = polynomial(x, edges, interval, coefs) - middle
            part = half / sigma * RULE[i, 1] * gaussian.G(y) * g
            mean += part
            square += part * g
            m1 += part * y
            m2 += part * (y * y - 1.0)
        low = high
    return m1, m2, max(square - mean * mean, 0.0)
