"""Message passing on one instance, sweep by sweep: what `belief_propagation` and `focusing_bp` do.

The perceptron has binary weights, messages their exact form. The arithmetic is that of
`factor_graph.BinaryMessages`, whose kernels are called; numbers differ by rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.book.lab.kernels import pcg64
from wfmlib.learning.messages import binary_messages
from wfmlib.learning.messages.binary_messages import LEAST_ODDS
from wfmlib.learning.messages.factor_graph import MOST_FIELD, RENEWAL, START, BinaryMessages

kernel = njit(cache=True, nogil=True, error_model="numpy")

LEAST = BinaryMessages.possible[0]  # of an entropy
ROWS = 5  # of what is kept of the weights
ODDS, FIELD, STAR, CENTRE, REFERENCE = range(ROWS)


@kernel
def _set(weights, fields):
    """Keep the odds that belong to fields."""
    for i in range(len(fields)):
        bounded = min(max(fields[i], -MOST_FIELD), MOST_FIELD)
        weights[ODDS, i] = math.exp(-2.0 * bounded)


@kernel
def _sum_up(t, weights):
    """Sum the weights' fields up from the messages."""
    fields = weights[FIELD].copy()
    for a in range(t.shape[0]):
        for i in range(t.shape[2]):
            fields[i] += math.atanh(t[a, 0, i])
    _set(weights, fields)


@kernel
def _log_sum(a, b):
    """Return ``ln(e^a + e^b)``."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


@kernel
def _through(h, coupling):
    """Return ``arctanh(tanh(coupling) tanh(h))``, as `factor_graph`."""
    same = _log_sum(h + coupling, -h - coupling)
    return 0.5 * (same - _log_sum(h - coupling, coupling - h))


@kernel
def _refresh(weights, star, pull, replicas):
    """Renew the fields that do not come from patterns; return their largest change.

    With a star, `pull` couples to the centre of `replicas` copies; otherwise to the reference.
    """
    N = weights.shape[1]
    fields, change = np.empty(N), 0.0
    for i in range(N):
        before = weights[FIELD, i]
        h = -0.5 * math.log(weights[ODDS, i])
        if star:
            was = math.tanh(weights[STAR, i])
            through = _through(h - before, pull)
            weights[CENTRE, i] = math.tanh(replicas * through)
            weights[STAR, i] = _through((replicas - 1.0) * through, pull)
            change = max(change, abs(math.tanh(weights[STAR, i]) - was))
            weights[FIELD, i] = weights[STAR, i]
        else:
            weights[FIELD, i] = pull * weights[REFERENCE, i]
        fields[i] = h + (weights[FIELD, i] - before)
    _set(weights, fields)
    return change


@kernel
def started(seed, random, t, weights, clock):
    """Draw the first messages, as ``rng=seed`` has them.

    Parameters
    ----------
    seed : float
        A whole number from 0 to `pcg64.LARGEST`.
    random : ndarray, shape (6,), uint64
        The generator.
    t : ndarray, shape (P, 1, N)
        The messages, ``1 + t w``.
    weights : ndarray, shape (5, N)
        Odds ``(1 - m) / (1 + m)``; the field that does not come from patterns; the star's; the
        means of the replicas' centre; the reference, which is left as it is.
    clock : ndarray, shape (1,)
        Sweeps since fields were summed up.

    Returns
    -------
    float
        0.
    """
    pcg64.seed(np.int64(seed), random)
    P, _, N = t.shape
    scale = START / math.sqrt(P)
    for a in range(P):
        for i in range(N):
            t[a, 0, i] = pcg64.normal(random) * scale
    weights[FIELD], weights[STAR], weights[CENTRE] = 0.0, 0.0, 0.0
    clock[0] = 0.0
    _sum_up(t, weights)
    return 0.0


@kernel
def focused(pull, replicas, weights):
    """Couple the weights to the centre of `replicas` copies, as a step of `focusing_bp` begins."""
    return _refresh(weights, True, pull, replicas)


@kernel
def pulled(pull, weights):
    """Draw the weights to the reference, as `belief_propagation` with one."""
    return _refresh(weights, False, pull, 1.0)


@kernel
def swept(damping, star, pull, replicas, patterns, random, t, weights, clock):
    """Renew all messages in a random order, as one sweep of `belief_propagation`.

    Parameters
    ----------
    damping : float
        Share of the old message that is kept.
    star : float
        1 for replicas around a centre, 0 for a reference.
    pull, replicas : float
        The coupling to either, and the number of replicas.
    patterns : ndarray, shape (P, N), int8
        As `drawn` fills them.
    random, t, weights, clock : ndarray
        As `started` fills them.

    Returns
    -------
    float
        The residual; infinite where a message is not a number.
    """
    clock[0] += 1.0
    if clock[0] >= RENEWAL:
        clock[0] = 0.0
        _sum_up(t, weights)
    order, starts = np.empty(len(patterns), dtype=np.int64), np.zeros(1, dtype=np.int64)
    pcg64.shuffled(random, order)
    odds = weights[ODDS : ODDS + 1]
    residual = binary_messages.sweep(order, patterns, starts, t, odds, odds, 1.0 - damping, False)
    if not residual < math.inf:
        return residual
    fields, cut = np.empty(patterns.shape[1]), False
    for i in range(len(fields)):
        fields[i] = -0.5 * math.log(odds[0, i])
        cut |= not LEAST_ODDS < odds[0, i] < 1.0 / LEAST_ODDS
    if cut:
        _sum_up(t, weights)
    else:
        _set(weights, fields)
    return max(residual, _refresh(weights, star > 0.0, pull, replicas))


@kernel
def means(weights, out):
    """Fill in the weights' means; return their mean square, and that of the centre's."""
    own = centre = 0.0
    for i in range(len(out)):
        out[i] = math.tanh(-0.5 * math.log(weights[ODDS, i]))
        own += out[i] ** 2
        centre += weights[CENTRE, i] ** 2
    return own / len(out), centre / len(out)


@kernel
def errors(patterns, values):
    """Return how many patterns the signs of `values` answer wrongly; 0 counts as +1."""
    wrong = 0
    for a in range(len(patterns)):
        total = 0
        for i in range(len(values)):
            total += -patterns[a, i] if values[i] < 0.0 else patterns[a, i]
        wrong += total <= 0
    return float(wrong)


@kernel
def entropy(pull, patterns, t, weights):
    """Return the entropy in nats per weight, and the distance from the reference.

    As `BinaryMessages`, with a reference that `pull` couples to, or with none. The distance means
    nothing then.
    """
    P, N = patterns.shape
    starts = np.zeros(1, dtype=np.int64)
    h, odds = np.empty(N), np.empty((1, N))
    for i in range(N):
        h[i] = -0.5 * math.log(weights[ODDS, i])
        odds[0, i] = math.exp(-2.0 * h[i])
    gain, edges = binary_messages.pattern_and_edge_terms(patterns, starts, t, odds, False)
    total, overlap = gain - edges, 0.0
    for i in range(N):
        total += _log_sum(h[i], -h[i])
        overlap += weights[REFERENCE, i] * math.tanh(h[i])
        for a in range(P):
            total += 0.5 * math.log1p(-(t[a, 0, i] ** 2))
    overlap /= N
    return total / N - pull * overlap, 0.5 * (1.0 - overlap)


@kernel
def surrounded(pull, tolerance, most, patterns, random, t, weights, clock):
    """Send messages around the reference until they settle; return what lies there.

    Parameters
    ----------
    pull : float
        The coupling to the reference.
    tolerance, most : float
        On the residual, and the number of sweeps.
    patterns, random, t, weights, clock : ndarray
        As of `swept`; messages may be those around another reference.

    Returns
    -------
    tuple of float
        The entropy of solutions in nats per weight, their mean distance, and the sweeps. As in
        `belief_propagation`, NaN where messages have not settled, or on what solutions cannot
        be: an entropy far below 0, or above that of all weights so near.
    """
    pulled(pull, weights)
    residual, sweeps = math.inf, 0
    while sweeps < most and not residual <= tolerance:
        sweeps += 1
        residual = swept(0.0, 0.0, pull, 1.0, patterns, random, t, weights, clock)
        if not residual < math.inf:
            break
    if residual <= tolerance:
        local_entropy, distance = entropy(pull, patterns, t, weights)
        share = min(max(distance, 1e-300), 0.5)
        bound = -share * math.log(share) - (1.0 - share) * math.log1p(-share)
        slack = 1.0 / patterns.shape[1] + 10.0 * tolerance
        if LEAST <= local_entropy <= bound + slack:
            return local_entropy, distance, float(sweeps)
    return math.nan, math.nan, float(sweeps)
