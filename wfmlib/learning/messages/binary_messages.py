"""Sum-product sweeps for binary weights.

The message from pattern a and unit k to weight i is ``1 + t w``, so ``t = tanh u`` of the papers'
field u, and the weight's own distribution is ``(1 + m w) / 2`` [eq-bp-binary]. In plain NumPy,
for one pattern and unit, with all arrays over the unit's weights:

    m = tanh(arctanh(m_total) - arctanh(t));  s = 1 - m^2    # cavity means and variances
    c, v = sum(xi m), max(sum(s), 2)                         # the whole sum's
    x, r = (c - xi m) / sqrt(v - s), xi / sqrt(v - s)        # without weight i
    t_new = tanh((ln Z(x + r) - ln Z(x - r)) / 2)

Neither a tanh nor an arctanh is needed for it: with the odds ``o = (1 - m_total) / (1 + m_total)``
of each weight,

    m = ((1 - t) - o (1 + t)) / ((1 - t) + o (1 + t))        # nothing cancels where |m| is near 1
    o_new = o (1 + t) (1 - t_new) / ((1 - t) (1 + t_new))

and the difference of the logarithms comes from one polynomial around c / sqrt v.

The expanded form takes g and its derivative at the whole sum, ``u_new = xi g0 - g0' m``, and the
cavity means to second order in u [eq-bp-expanded].
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.learning.messages.channel import (
    CELL,
    DEGREE,
    WIDEST,
    distance_bound,
    exact,
    expand,
    fast,
    fit,
    log_weight,
    slope,
    tabulate,
)
from wfmlib.learning.messages.output_node import output_messages

# Of a sum of signs, two of them undecided: one is left without weight i. Sums take every second
# whole number, and a narrower normal law says nothing of them: messages would blow up.
LEAST_VARIANCE = 2.0
LEAST_ODDS = math.exp(-600.0)  # their products with messages stay finite
LARGEST_FIELD = 0.2  # for the series of the tanh: 2e-10 is left out
LEAST_FOR_SERIES = 60.0  # variance of a sum, for the series of a root: 3e-10 is left out
MOST = 1.0 - 1e-12  # of a message
SILENT = 9.0  # standard deviations: a unit so certain says nothing, Z is 1 to rounding


@fast
def _gather(xi, odds, t, shifts, spreads):
    """Fill in the cavity means times xi and the variances; return their sums."""
    c = v = 0.0
    for i in range(len(xi)):
        down = odds[i] * (1.0 + t[i])
        up = 1.0 - t[i]
        inverse = 1.0 / (up + down)
        shift = xi[i] * (up - down) * inverse
        spread = 4.0 * up * down * inverse * inverse
        shifts[i], spreads[i] = shift, spread
        c += shift
        v += spread
    return c, v


# A binomial coefficient and a power, over an odd number: see `_differences`.
STEPS = np.array(
    [
        [
            math.comb(n, m) / (n - m + 1) if m <= n and (n - m) % 2 == 0 else 0.0
            for n in range(DEGREE + 1)
        ]
        for m in range(DEGREE + 1)
    ]
)


@exact
def _differences(slopes, h2, quotient, change):
    """Turn a polynomial for the slope of ln Z into one for its mean over an interval.

    With ``(ln Z(d + h) - ln Z(d - h)) / 2 h = sum_j g^(2j)(d) h^2j / (2j + 1)!`` and the slope
    ``g = sum_n slopes[n] d^n``, the coefficient of d^m is ``sum_n slopes[n] h^(n-m) binomial(n, m)
    / (n - m + 1)`` over n = m, m + 2, ... `change` is its derivative with respect to h^2.
    """
    for m in range(DEGREE + 1):
        value = rate = 0.0
        for n in range(DEGREE - (DEGREE - m) % 2, m - 1, -2):
            rate = rate * h2 + value
            value = value * h2 + STEPS[m, n] * slopes[n]
        quotient[m], change[m] = value, rate


@fast
def _by_polynomial(xi, c, v, slopes, quotient, change, shifts, spreads, t):
    """Fill in the new messages by a polynomial for the slope around ``c / sqrt v``.

    Every edge needs the difference of ln Z over an interval of its own, ``2 / sqrt(v - s)``. They
    are all but equal, so there is one polynomial for the mean slope over the interval that goes
    with the mean of s, and one, of lower degree, for how it changes with the square of its length.
    """
    share, whole = 1.0 / v, 1.0 / math.sqrt(v)
    center, mean = c * whole, v / len(xi)
    h2 = 1.0 / (v - mean)
    _differences(slopes, h2, quotient, change)
    q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10 = quotient
    r0, r1, r2, r3 = change[:4] * h2
    for i in range(len(xi)):
        e = spreads[i] * share  # of the variance; (1 - e)^(-1/2) without a root
        e2 = e * e
        h = whole * (1.0 + 0.5 * e + e2 * ((0.375 + 0.3125 * e) + e2 * 0.2734375))
        d = (c - shifts[i]) * h - center
        d2 = d * d
        d4 = d2 * d2
        high = ((q4 + q5 * d) + d2 * (q6 + q7 * d)) + d4 * ((q8 + q9 * d) + d2 * q10)
        low = (q0 + q1 * d) + d2 * (q2 + q3 * d)
        rate = (r0 + r1 * d) + d2 * (r2 + r3 * d)
        u = h * ((low + d4 * high) + (spreads[i] - mean) * h * h * rate)
        s = u * u  # tanh u; see LARGEST_FIELD
        tail = (1.0 - 1 / 3 * s) + s * s * ((2 / 15 - 17 / 315 * s) + s * s * (62 / 2835))
        t[i] = xi[i] * u * tail


@fast
def _log_weight(x, low, logs, slopes):
    """Return ln Z at x from a table."""
    cell = int((x - low) * (1.0 / CELL))
    d = x - (low + (cell + 0.5) * CELL)
    row = slopes[cell]
    value = row[DEGREE] / (DEGREE + 1)
    for n in range(DEGREE - 1, -1, -1):
        value = value * d + row[n] * (1.0 / (n + 1))
    return logs[cell] + value * d


@fast
def _by_table(xi, c, v, low, logs, slopes, shifts, spreads, t):
    """As `_by_polynomial`, from a table of several series."""
    for i in range(len(xi)):
        inverse = 1.0 / math.sqrt(v - spreads[i])
        x = (c - shifts[i]) * inverse
        up = _log_weight(x + inverse, low, logs, slopes)
        down = _log_weight(x - inverse, low, logs, slopes)
        t[i] = xi[i] * min(math.tanh(0.5 * (up - down)), MOST)


@exact
def _by_edge(xi, c, v, plus, minus, shifts, spreads, t):
    """As `_by_polynomial`, where no table reaches: both logarithms are evaluated."""
    for i in range(len(xi)):
        inverse = 1.0 / math.sqrt(v - spreads[i])
        rest = c - shifts[i]
        up = log_weight((rest + 1.0) * inverse, plus, minus)
        down = log_weight((rest - 1.0) * inverse, plus, minus)
        t[i] = xi[i] * min(math.tanh(0.5 * (up - down)), MOST)


@fast
def _renew(fresh, keep, t, odds):
    """Move messages towards their fresh values; return the root mean square difference."""
    squares = 0.0
    for i in range(len(fresh)):
        change = fresh[i] - t[i]
        squares += change * change
        after = t[i] + keep * change
        factor = (1.0 + t[i]) * (1.0 - after) / ((1.0 - t[i]) * (1.0 + after))
        t[i] = after
        odds[i] = min(max(odds[i] * factor, LEAST_ODDS), 1.0 / LEAST_ODDS)
    return math.sqrt(squares / len(fresh))


@exact
def sweep(order, xi, starts, t, odds, renewed, keep, gaussian):
    """Visit every pattern once and renew its messages, exact form.

    Parameters
    ----------
    order : ndarray, shape (P,)
        The patterns in the order of their visits.
    xi : ndarray, shape (P, N), int8
        Patterns times labels.
    starts : ndarray, shape (K,)
        The first column that each unit sees.
    t : ndarray, shape (P, K, M)
        The messages, changed in place.
    odds : ndarray, shape (K, M)
        ``(1 - m) / (1 + m)`` of the weights, of which cavity means are made.
    renewed : ndarray, shape (K, M)
        What changes with each message: `odds` itself for sequential updates, a copy for parallel
        ones.
    keep : float
        One minus the damping.
    gaussian : bool
        See `output_node.output_messages`.

    Returns
    -------
    float
        The largest, over patterns and units, of the root mean square change of the messages,
        before damping; infinite if one is not a number.
    """
    units, width = odds.shape
    shifts, spreads = np.empty((units, width)), np.empty((units, width))
    c, v, x, reach = np.empty(units), np.empty(units), np.empty(units), np.empty(units)
    plus, minus = np.empty(units), np.empty(units)
    prefix, tails = np.empty((units + 1, units + 2)), np.empty((units + 1, units + 2))
    slopes, fresh = np.empty(DEGREE + 1), np.empty(width)
    quotient, change = np.empty(DEGREE + 1), np.empty(DEGREE + 1)
    cells = int(WIDEST / CELL) + 1
    logs, table = np.empty(cells), np.empty((cells, DEGREE + 1))
    largest = 0.0
    for a in order:
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            c[k], v[k] = _gather(row, odds[k], t[a, k], shifts[k], spreads[k])
            v[k] = max(v[k], LEAST_VARIANCE)
            x[k] = c[k] / math.sqrt(v[k])
            reach[k] = distance_bound(c[k], v[k], 2.0, 1.0)  # no mean, no variance is above 1
            if not abs(x[k]) < math.inf:
                return math.inf
        output_messages(x, gaussian, prefix, tails, plus, minus)
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            certain = (c[k] - 2.0) / math.sqrt(v[k]) > SILENT
            fits = not certain and fit(x[k], reach[k], plus[k], minus[k], slopes)
            field = 1.5 * (abs(slopes[0]) + abs(slopes[1]) * reach[k]) / math.sqrt(v[k])
            if certain:
                fresh[:] = 0.0
            elif fits and field <= LARGEST_FIELD and v[k] >= LEAST_FOR_SERIES:
                _by_polynomial(
                    row, c[k], v[k], slopes, quotient, change, shifts[k], spreads[k], fresh
                )
            elif 2.0 * reach[k] < WIDEST:
                low = tabulate(x[k], reach[k], plus[k], minus[k], logs, table)
                _by_table(row, c[k], v[k], low, logs, table, shifts[k], spreads[k], fresh)
            else:
                _by_edge(row, c[k], v[k], plus[k], minus[k], shifts[k], spreads[k], fresh)
            moved = _renew(fresh, keep, t[a, k], renewed[k])
            largest = max(largest, moved)
    return largest


@fast
def _gather_means(xi, m, u, shifts):
    """Fill in the cavity means, to second order in u; return mean and variance of the sum."""
    c = v = 0.0
    for i in range(len(xi)):
        shift = m[i] - (1.0 - m[i] * m[i]) * u[i] * (1.0 + m[i] * u[i])
        shifts[i] = shift
        c += xi[i] * shift
        v += 1.0 - shift * shift
    return c, v


@fast
def _renew_fields(fresh, keep, u, h, m, in_place):
    """Move messages towards their fresh values; return the root mean square difference."""
    squares = 0.0
    for i in range(len(fresh)):
        change = fresh[i] - u[i]
        squares += change * change
        change *= keep
        u[i] += change
        h[i] += change
        step = in_place * change
        m[i] = min(max(m[i] + step * (1.0 - m[i] * m[i]) * (1.0 - m[i] * step), -1.0), 1.0)
    return math.sqrt(squares / len(fresh))


@exact
def sweep_expanded(order, xi, starts, u, h, m, keep, in_place, gaussian):
    """Visit every pattern once and renew its messages, expanded form; see `sweep`.

    The messages are the fields u themselves, shape (P, K, M); `h`, shape (K, M), stays their sum
    and whatever else acts on a weight. `m`, changed in place if `in_place`, follows ``tanh h`` to
    second order in each change: the caller takes the tanh itself after each sweep.
    """
    units, width = h.shape
    shifts = np.empty((units, width))
    v, x = np.empty(units), np.empty(units)
    plus, minus = np.empty(units), np.empty(units)
    prefix, tails = np.empty((units + 1, units + 2)), np.empty((units + 1, units + 2))
    largest = 0.0
    for a in order:
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            c, v[k] = _gather_means(row, m[k], u[a, k], shifts[k])
            v[k] = max(v[k], LEAST_VARIANCE)
            x[k] = c / math.sqrt(v[k])
            if not abs(x[k]) < math.inf:
                return math.inf
        output_messages(x, gaussian, prefix, tails, plus, minus)
        for k in range(units):
            row = xi[a, starts[k] : starts[k] + width]
            g = slope(x[k], plus[k], minus[k]) / math.sqrt(v[k])
            derivative = -g * (g + x[k] / math.sqrt(v[k]))
            expand(row, g, derivative, shifts[k])
            change = _renew_fields(shifts[k], keep, u[a, k], h[k], m[k], in_place)
            largest = max(largest, change)
    return largest


@exact
def pattern_and_edge_terms(xi, starts, t, odds, gaussian):
    """Return the patterns' and the edges' parts of the Bethe free entropy.

    Every message counts as ``1 + t w``; an edge's part is then ``ln(1 + t m)`` with the cavity
    mean m [eq-bp-free-entropy].
    """
    units, width = odds.shape
    x = np.empty(units)
    plus, minus = np.empty(units), np.empty(units)
    prefix, tails = np.empty((units + 1, units + 2)), np.empty((units + 1, units + 2))
    patterns = edges = 0.0
    for a in range(len(xi)):
        for k in range(units):
            c = v = 0.0
            for i in range(width):
                down = odds[k, i] * (1.0 + t[a, k, i])
                up = 1.0 - t[a, k, i]
                mean = (up - down) / (up + down)
                c += xi[a, starts[k] + i] * mean
                v += 4.0 * up * down / (up + down) ** 2
                edges += math.log1p(t[a, k, i] * mean)
            x[k] = c / math.sqrt(max(v, LEAST_VARIANCE))
        patterns += output_messages(x, gaussian, prefix, tails, plus, minus)
    return patterns, edges
