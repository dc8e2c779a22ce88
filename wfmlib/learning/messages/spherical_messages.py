"""Sum-product sweeps for weights on the sphere.

The message from pattern a and unit k to weight i is the Gaussian ``exp(U w - V w^2 / 2)``, and the
weight's own distribution has the natural parameters ``mu = sum_a U`` and ``zeta = sum_a V`` plus
the fields that do not come from patterns (P1 App. D, (D10)-(D14)) [eq-bp-spherical]. In plain
NumPy, for one pattern and unit, with all arrays over the unit's weights:

    s = 1 / (zeta - V);  m = s (mu - U)                      # cavity variances and means
    c, v = sum(xi m), sum(s)                                 # the whole sum's
    c_i, v_i = c - xi m, v - s                               # without weight i
    g = slope(c_i / sqrt(v_i)) / sqrt(v_i)
    U_new, V_new = xi g, g (g + c_i / v_i)                   # exact cavity messages

V may be negative: the likelihood of a mixture over a hidden output is not log-concave.

The expanded form takes g and its derivative g' at the whole sum and corrects to first order,

    U_new, V_new = xi g0 - g0' m,  -g0'                      # V is the same for all weights

so that zeta is one number per unit and an edge costs three multiplications [eq-bp-expanded].
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.learning.messages.channel import (
    DEGREE,
    distance_bound,
    exact,
    expand,
    fast,
    fit,
    slope,
)
from wfmlib.learning.messages.direct_slope import direct_slope, powers
from wfmlib.learning.messages.output_node import output_messages

LEAST_PRECISION = 1e-6  # of a cavity distribution: V may be negative, a variance may not
LEAST_VARIANCE = 1e-12  # of a sum


@fast
def _spread(zeta, V, spreads):
    """Fill in the cavity variances; return their sum and a bound on the largest."""
    v = eighth = 0.0
    for i in range(len(zeta)):
        spread = 1.0 / max(zeta[i] - V[i], LEAST_PRECISION)
        spreads[i] = spread
        v += spread
        square = spread * spread
        eighth += (square * square) * (square * square)
    return v, eighth**0.125


@fast
def _shift(xi, mu, U, spreads, shifts):
    """Fill in the cavity means times xi; return their sum and a bound on the largest."""
    c = eighth = 0.0
    for i in range(len(xi)):
        shift = (mu[i] - U[i]) * spreads[i] * xi[i]
        shifts[i] = shift
        c += shift
        square = shift * shift
        eighth += (square * square) * (square * square)
    return c, eighth**0.125


@fast
def _by_polynomial(c, v, slopes, shifts, spreads, g, V):
    """Fill in the slopes g at each edge, and the new V, by a polynomial."""
    center = c / math.sqrt(v)
    g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, g10 = slopes
    for i in range(len(g)):
        inverse = 1.0 / math.sqrt(v - spreads[i])
        x = (c - shifts[i]) * inverse
        d = x - center
        d2 = d * d  # Estrin's scheme
        value = (g8 + g9 * d) + g10 * d2
        value = ((g4 + g5 * d) + d2 * (g6 + g7 * d)) + (d2 * d2) * value
        value = ((g0 + g1 * d) + d2 * (g2 + g3 * d)) + (d2 * d2) * value
        value *= inverse
        g[i] = value
        V[i] = value * (value + x * inverse)


@fast
def _by_formula(c, v, plus, minus, shifts, spreads, g, V):
    """As `_by_polynomial`, where edges lie too far apart for one."""
    rest, below, above = powers(plus, minus)
    for i in range(len(g)):
        inverse = 1.0 / math.sqrt(max(v - spreads[i], LEAST_VARIANCE))
        x = (c - shifts[i]) * inverse
        value = direct_slope(x, rest, below, above) * inverse
        g[i] = value
        V[i] = value * (value + x * inverse)


@fast
def _renew(fresh, keep, message, total):
    """Move messages towards their fresh values; return the root mean square difference."""
    squares = 0.0
    for i in range(len(fresh)):
        change = fresh[i] - message[i]
        squares += change * change
        change *= keep
        message[i] += change
        total[i] += change
    return math.sqrt(squares / len(fresh))


@fast
def _turn(xi, g):
    """Multiply g by the pattern."""
    for i in range(len(xi)):
        g[i] *= xi[i]


@exact
def sweep(order, xi, starts, U, V, mu, zeta, new_mu, new_zeta, keep, gaussian):
    """Visit every pattern once and renew its messages, exact form.

    Parameters
    ----------
    order : ndarray, shape (P,)
        The patterns in the order of their visits.
    xi : ndarray, shape (P, N), int8
        Patterns times labels.
    starts : ndarray, shape (K,)
        The first column that each unit sees.
    U, V : ndarray, shape (P, K, M)
        The messages, changed in place.
    mu, zeta : ndarray, shape (K, M)
        Natural parameters of the weights, of which cavity means and variances are made.
    new_mu, new_zeta : ndarray, shape (K, M)
        What changes with each message: `mu` and `zeta` themselves for sequential updates, copies
        for parallel ones.
    keep : float
        One minus the damping.
    gaussian : bool
        See `output_node.output_messages`.

    Returns
    -------
    float
        The largest, over patterns and units, of the root mean square change of the messages U,
        before damping; infinite if one is not a number.
    """
    units, width = mu.shape
    shifts, spreads = np.empty((units, width)), np.empty((units, width))
    fresh_U, fresh_V = np.empty(width), np.empty(width)
    c, v, x, reach = np.empty(units), np.empty(units), np.empty(units), np.empty(units)
    plus, minus = np.empty(units), np.empty(units)
    prefix, tails = np.empty((units + 1, units + 2)), np.empty((units + 1, units + 2))
    slopes = np.empty(DEGREE + 1)
    largest = 0.0
    for a in order:
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            v[k], largest_spread = _spread(zeta[k], V[a, k], spreads[k])
            c[k], largest_shift = _shift(row, mu[k], U[a, k], spreads[k], shifts[k])
            x[k] = c[k] / math.sqrt(v[k])
            reach[k] = distance_bound(c[k], v[k], largest_shift, largest_spread)
            if not abs(x[k]) < math.inf:
                return math.inf
        output_messages(x, gaussian, prefix, tails, plus, minus)
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            if fit(x[k], reach[k], plus[k], minus[k], slopes):
                _by_polynomial(c[k], v[k], slopes, shifts[k], spreads[k], fresh_U, fresh_V)
            else:
                _by_formula(c[k], v[k], plus[k], minus[k], shifts[k], spreads[k], fresh_U, fresh_V)
            _turn(row, fresh_U)
            change = _renew(fresh_U, keep, U[a, k], new_mu[k])
            _renew(fresh_V, keep, V[a, k], new_zeta[k])
            largest = max(largest, change)
    return largest


@fast
def _gather_means(xi, mu, U, spread, shifts):
    """Fill in the cavity means; return the mean of the sum."""
    c = 0.0
    for i in range(len(xi)):
        shifts[i] = (mu[i] - U[i]) * spread
        c += shifts[i] * xi[i]
    return c


@exact
def sweep_expanded(order, xi, starts, U, V, mu, zeta, new_mu, new_zeta, keep, gaussian):
    """Visit every pattern once and renew its messages, expanded form; see `sweep`.

    Here V is one number for all weights of a unit, shape (P, K), and so is `zeta`, shape (K,).
    """
    units, width = mu.shape
    shifts = np.empty((units, width))
    v, x = np.empty(units), np.empty(units)
    plus, minus = np.empty(units), np.empty(units)
    prefix, tails = np.empty((units + 1, units + 2)), np.empty((units + 1, units + 2))
    largest = 0.0
    for a in order:
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            spread = 1.0 / max(zeta[k] - V[a, k], LEAST_PRECISION)
            v[k] = width * spread
            x[k] = _gather_means(row, mu[k], U[a, k], spread, shifts[k]) / math.sqrt(v[k])
            if not abs(x[k]) < math.inf:
                return math.inf
        output_messages(x, gaussian, prefix, tails, plus, minus)
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            g = slope(x[k], plus[k], minus[k]) / math.sqrt(v[k])
            derivative = -g * (g + x[k] / math.sqrt(v[k]))
            expand(row, g, derivative, shifts[k])
            change = _renew(shifts[k], keep, U[a, k], new_mu[k])
            largest = max(largest, change)
            change = keep * (-derivative - V[a, k])
            V[a, k] += change
            new_zeta[k] += change
    return largest


@exact
def pattern_and_edge_terms(xi, starts, U, V, mu, zeta, gaussian):
    """Return the patterns' and the edges' parts of the Bethe free entropy (P1 (D24)-(D27)).

    V and `zeta` may have shape (P, K, 1) and (K, 1).
    """
    units, width = mu.shape
    x = np.empty(units)
    plus, minus = np.empty(units), np.empty(units)
    prefix, tails = np.empty((units + 1, units + 2)), np.empty((units + 1, units + 2))
    patterns = edges = 0.0
    for a in range(len(xi)):
        for k in range(units):
            c = v = 0.0
            for i in range(width):
                j = min(i, zeta.shape[1] - 1)
                whole = zeta[k, j]
                cavity = max(whole - V[a, k, j], LEAST_PRECISION)
                mean = mu[k, i] - U[a, k, i]
                c += xi[a, starts[k] + i] * mean / cavity
                v += 1.0 / cavity
                edges += 0.5 * (
                    math.log(cavity / whole) + mu[k, i] ** 2 / whole - mean**2 / cavity
                )
            x[k] = c / math.sqrt(v)
        patterns += output_messages(x, gaussian, prefix, tails, plus, minus)
    return patterns, edges


@exact
def norm_field(mu, zeta):
    """Return chi such that ``mean of <w^2>`` is 1 for the precisions ``zeta + chi``.

    The mean square ``<1 / z + (mu / z)^2>`` falls with chi from infinity, at ``-min zeta``, to 0:
    one root, found by halving the interval and by Newton's steps where they stay inside. NaN if
    something is not finite.

    Parameters
    ----------
    mu, zeta : ndarray, shape (M,)
    """
    lowest = math.inf
    strength = total = 0.0
    for i in range(len(mu)):
        lowest = min(lowest, zeta[i])
        strength += mu[i] * mu[i]
        total += abs(zeta[i])
    if not (strength < math.inf and total < math.inf):
        return math.nan
    low, high = 0.0, 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * strength / len(mu)))  # all at the lowest
    shift = high
    for _ in range(200):
        norm = derivative = 0.0
        for i in range(len(mu)):
            variance = 1.0 / (zeta[i] - lowest + shift)
            mean = mu[i] * variance
            norm += variance + mean * mean
            derivative -= variance * (variance + 2.0 * mean * mean)
        norm = norm / len(mu) - 1.0
        derivative /= len(mu)
        if norm > 0.0:
            low = shift
        else:
            high = shift
        if abs(norm) < 1e-14 or high - low < 1e-15 * high:
            break
        shift -= norm / derivative
        if not low < shift < high:
            shift = 0.5 * (low + high)
    return shift - lowest
