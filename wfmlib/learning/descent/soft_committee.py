"""A committee of tanh units [eq-soft-committee]: kernels of the descent on its cross-entropy.

They take patterns times labels, int8, shape (P, K, M) for a tree and (P, 1, M) where all units
see the same, and weights (K, M). Rows are filled up with zeros to a multiple of `LANES`, so that
no number is left over when the processor takes several at a time. Patterns are taken four at a
time, and in fully connected machines units three at a time, so that what is read is used often.

What they compute, in plain NumPy, is said in `cross_entropy_sgd`. Weights and pulls lie on the
grid of `wfmlib.numerics.portable`: sums of signs times weights may be taken in any order, and are.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from wfmlib.numerics import portable
from wfmlib.numerics.portable import on_grid

LANES = 16
GRID = portable.scale_of(portable.WEIGHTS)

# For exact sums: NaN and infinity are kept.
_FLAGS = {"reassoc", "contract", "nsz"}
# A number times 0, 1 or -1 is exact, so that a fused operation rounds as two do.
_FUSED = {"contract"}


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _dots(w, x0, x1, x2, x3):
    """Return the products of w with four patterns."""
    s0 = s1 = s2 = s3 = 0.0
    for i in range(len(w) // LANES * LANES):
        s0 += w[i] * x0[i]
        s1 += w[i] * x1[i]
        s2 += w[i] * x2[i]
        s3 += w[i] * x3[i]
    return s0, s1, s2, s3


@njit(cache=True, nogil=True, fastmath=_FLAGS)
def _dots_of_three(u, v, w, x0, x1, x2, x3):
    """Return the products of three units with four patterns."""
    u0 = u1 = u2 = u3 = v0 = v1 = v2 = v3 = w0 = w1 = w2 = w3 = 0.0
    for i in range(len(w) // LANES * LANES):
        a, b, c, d = float(x0[i]), float(x1[i]), float(x2[i]), float(x3[i])
        u0 += u[i] * a
        u1 += u[i] * b
        u2 += u[i] * c
        u3 += u[i] * d
        v0 += v[i] * a
        v1 += v[i] * b
        v2 += v[i] * c
        v3 += v[i] * d
        w0 += w[i] * a
        w1 += w[i] * b
        w2 += w[i] * c
        w3 += w[i] * d
    return u0, u1, u2, u3, v0, v1, v2, v3, w0, w1, w2, w3


@njit(cache=True, nogil=True, fastmath=_FUSED)
def _add(w, a, b, c, d, x0, x1, x2, x3):
    """Add four patterns to a unit, each times a number."""
    for i in range(len(w) // LANES * LANES):
        w[i] = (((w[i] + a * x0[i]) + b * x1[i]) + c * x2[i]) + d * x3[i]


@njit(cache=True, nogil=True, fastmath=_FUSED)
def _add_to_three(u, v, w, pull, x0, x1, x2, x3):
    """Add four patterns to three units, each times what it pulls, `pull` of shape (4, 3)."""
    u0, u1, u2, u3 = pull[0, 0], pull[1, 0], pull[2, 0], pull[3, 0]
    v0, v1, v2, v3 = pull[0, 1], pull[1, 1], pull[2, 1], pull[3, 1]
    w0, w1, w2, w3 = pull[0, 2], pull[1, 2], pull[2, 2], pull[3, 2]
    for i in range(len(w) // LANES * LANES):
        a, b, c, d = float(x0[i]), float(x1[i]), float(x2[i]), float(x3[i])
        u[i] = (((u[i] + u0 * a) + u1 * b) + u2 * c) + u3 * d
        v[i] = (((v[i] + v0 * a) + v1 * b) + v2 * c) + v3 * d
        w[i] = (((w[i] + w0 * a) + w1 * b) + w2 * c) + w3 * d


@njit(cache=True, nogil=True, error_model="numpy")
def normalise(w):
    """Bring every unit to unit norm and to the grid; a norm that is not finite leaves NaN."""
    for k in range(len(w)):
        square = portable.square(w[k])
        scale = 1.0 / math.sqrt(square) if square < math.inf else math.nan
        for i in range(w.shape[1]):
            w[k, i] = on_grid(w[k, i] * scale, GRID)


@njit(cache=True, nogil=True)
def fill(w, xi, rows, fields):
    """Write the preactivations of some patterns, shape (len(rows), K)."""
    tree, last = xi.shape[1] > 1, len(rows) - 1
    threes = 0 if tree else len(w) // 3 * 3
    for b0 in range(0, len(rows), 4):
        b1, b2, b3 = min(b0 + 1, last), min(b0 + 2, last), min(b0 + 3, last)
        x0, x1, x2, x3 = xi[rows[b0]], xi[rows[b1]], xi[rows[b2]], xi[rows[b3]]
        f0, f1, f2, f3 = fields[b0], fields[b1], fields[b2], fields[b3]
        for k in range(0, threes, 3):
            (
                f0[k], f1[k], f2[k], f3[k],
                f0[k + 1], f1[k + 1], f2[k + 1], f3[k + 1],
                f0[k + 2], f1[k + 2], f2[k + 2], f3[k + 2],
            ) = _dots_of_three(w[k], w[k + 1], w[k + 2], x0[0], x1[0], x2[0], x3[0])  # fmt: skip
        for k in range(threes, len(w)):
            part = k if tree else 0
            f0[k], f1[k], f2[k], f3[k] = _dots(w[k], x0[part], x1[part], x2[part], x3[part])


@njit(cache=True, nogil=True)
def _tails(fields, beta):
    """Replace preactivations x by ``exp(-2 beta |x|)`` with the sign of x, in place.

    One loop, and nothing else in it, so that it becomes vector instructions.
    """
    flat = fields.reshape(-1)
    for i in range(len(flat)):
        a = beta * flat[i]
        flat[i] = math.copysign(portable.exp(-2.0 * abs(a)), a)


@njit(cache=True, nogil=True, error_model="numpy")
def pull(fields, gamma, beta, step):
    """Turn preactivations into minus the gradient of the loss with respect to them, times step.

    What comes out is on the grid. With ``e = exp(-2 |a|)``: ``tanh a = (1 - e) / (1 + e)`` up
    to its sign, and its slope is ``4 e / (1 + e)^2``, exact where tanh has saturated.
    """
    units = fields.shape[1]
    scale = 1.0 / math.sqrt(units)
    _tails(fields, beta)
    for b in range(len(fields)):
        output = 0.0
        for k in range(units):
            e = abs(fields[b, k])
            output += math.copysign((1.0 - e) / (1.0 + e), fields[b, k])
            fields[b, k] = 4.0 * e / ((1.0 + e) * (1.0 + e))
        z = -2.0 * gamma * scale * output
        e = portable.exp(-abs(z))
        wrong = (1.0 if z > 0.0 else e) / (1.0 + e)  # expit(z)
        for k in range(units):
            fields[b, k] = on_grid(fields[b, k] * (step * beta * scale * wrong), GRID)


@njit(cache=True, nogil=True)
def _move_one(w, k, part, xi, rows, pulls, heard):
    """Add to unit k the patterns times what they pull."""
    n = 0
    for b in range(len(rows)):
        heard[n] = b
        n += pulls[b, k] != 0.0
    for m in range(0, n, 4):
        h0, h1, h2, h3 = heard[m], heard[m], heard[m], heard[m]
        c1 = c2 = c3 = 0.0
        if m + 1 < n:
            h1 = heard[m + 1]
            c1 = pulls[h1, k]
        if m + 2 < n:
            h2 = heard[m + 2]
            c2 = pulls[h2, k]
        if m + 3 < n:
            h3 = heard[m + 3]
            c3 = pulls[h3, k]
        x0, x1, x2, x3 = xi[rows[h0]], xi[rows[h1]], xi[rows[h2]], xi[rows[h3]]
        _add(w[k], pulls[h0, k], c1, c2, c3, x0[part], x1[part], x2[part], x3[part])


@njit(cache=True, nogil=True)
def _move_three(w, k, xi, rows, pulls, heard, four):
    """Add to units k, k + 1 and k + 2 the patterns times what they pull; all see the same."""
    n = 0
    for b in range(len(rows)):
        heard[n] = b
        n += pulls[b, k] != 0.0 or pulls[b, k + 1] != 0.0 or pulls[b, k + 2] != 0.0
    for m in range(0, n, 4):
        for i in range(4):
            for j in range(3):
                four[i, j] = pulls[heard[m + i], k + j] if m + i < n else 0.0
        x0, x1 = xi[rows[heard[m]], 0], xi[rows[heard[min(m + 1, n - 1)]], 0]
        x2, x3 = xi[rows[heard[min(m + 2, n - 1)]], 0], xi[rows[heard[min(m + 3, n - 1)]], 0]
        _add_to_three(w[k], w[k + 1], w[k + 2], four, x0, x1, x2, x3)


@njit(cache=True, nogil=True)
def move(w, xi, rows, pulls, heard, four):
    """Add to each unit the patterns times what they pull.

    Scratch: `heard` for the patterns that pull at all, `four` of shape (4, 3) for their pulls.
    """
    tree = xi.shape[1] > 1
    threes = 0 if tree else len(w) // 3 * 3
    for k in range(0, threes, 3):
        _move_three(w, k, xi, rows, pulls, heard, four)
    for k in range(threes, len(w)):
        _move_one(w, k, k if tree else 0, xi, rows, pulls, heard)


@njit(cache=True, nogil=True)
def descend(w, xi, order, gamma, beta, eta, mean, batch, per_batch, fields):
    """Take one step for each mini-batch of one epoch, changing the weights [eq-mini-batch].

    Parameters
    ----------
    w : numpy.ndarray
        Weights, shape (K, M'), M' a multiple of 16: filled up with zeros, as the patterns are.
    xi : numpy.ndarray
        Patterns times labels, int8, shape (P, K, M'), or (P, 1, M') where all units see them.
    order : numpy.ndarray
        The patterns, in the order in which mini-batches take them.
    gamma, beta, eta : float
        Sharpness of loss and units, learning rate.
    mean : bool
        Whether the gradient is the mean over a mini-batch; otherwise it is the sum.
    batch : int
        Patterns in a mini-batch.
    each : bool
        Whether to normalise after each mini-batch; otherwise at the end.
    fields : numpy.ndarray
        Scratch, shape (P, K).
    """
    heard, four = np.empty(batch, np.int64), np.empty((4, 3))
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        pulls = fields[: len(rows)]
        fill(w, xi, rows, pulls)
        pull(pulls, gamma, beta, eta / len(rows) if mean else eta)
        move(w, xi, rows, pulls, heard, four)
        if per_batch:
            normalise(w)
    if not per_batch:
        normalise(w)


@njit(cache=True, nogil=True, error_model="numpy")
def measure(w, xi, rows, gamma, beta, fields):
    """Return the sum of the losses of some patterns, and the errors of sign units on them."""
    units = len(w)
    fill(w, xi, rows, fields)
    errors = 0
    for b in range(len(rows)):
        votes, tied = 0, False
        for k in range(units):
            votes += 1 if fields[b, k] > 0.0 else -1
            tied |= fields[b, k] == 0.0
        errors += tied or votes <= 0
    _tails(fields, beta)
    loss = 0.0
    for b in range(len(rows)):
        output = 0.0
        for k in range(units):
            e = abs(fields[b, k])
            output += math.copysign((1.0 - e) / (1.0 + e), fields[b, k])
        z = -2.0 * gamma * output / math.sqrt(units)
        loss += (max(z, 0.0) + portable.log1p(portable.exp(-abs(z)))) / (2.0 * gamma)
    return loss, errors
