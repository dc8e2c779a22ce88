"""One sweep of message passing, slow and obvious: what the kernels of `wfmlib.learning` compute.

Sequential sweeps keep no running totals: before every visit the weights' parameters are summed
up from the messages as they are. `outside` is what acts on a weight beside the patterns.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import log_ndtr, logsumexp


def log_z(x, plus, minus):
    """Return ``ln(plus H(-x) + minus H(x))``."""
    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log(plus) + log_ndtr(x), np.log(minus) + log_ndtr(-x))


def slope(x, plus, minus):
    """Return the derivative of `log_z`."""
    with np.errstate(divide="ignore"):
        log_density = -0.5 * np.square(x) - 0.5 * math.log(2 * math.pi)
        return np.exp(np.log(plus - minus) + log_density - log_z(x, plus, minus))


def ask_by_sum(x):
    """Return ``ln P(right)`` and, for each unit, the log-probabilities given its answer.

    The sum runs over all 2^K answers; a sum of zero is wrong.
    """
    K = len(x)
    right = []
    given = np.full((2, K), -np.inf)
    for tau in itertools.product((-1, 1), repeat=K):
        if sum(tau) <= 0:
            continue
        logs = log_ndtr(np.array(tau) * x)
        right.append(logs.sum())
        for k in range(K):
            row = 0 if tau[k] > 0 else 1
            given[row, k] = np.logaddexp(given[row, k], np.delete(logs, k).sum())
    return logsumexp(right), given[0], given[1]


def ask_by_moments(x):
    """Return the same with a normal sum of the other units, which mean and variance fix."""
    p = np.exp(log_ndtr(x))
    mean, variance = 2 * p - 1, 4 * p * (1 - p)
    if len(x) == 1:
        return log_ndtr(x[0]), np.array([0.0]), np.array([-np.inf])
    m, s = mean.sum() - mean, np.sqrt(variance.sum() - variance)
    whole = log_ndtr(mean.sum() / np.sqrt(variance.sum()))
    return whole, log_ndtr((m + 1) / s), log_ndtr((m - 1) / s)


def _ask(x, gaussian):
    """Return what the node asks of each unit, the larger one set to 1."""
    _, plus, minus = (ask_by_moments if gaussian else ask_by_sum)(np.asarray(x))
    return np.ones(len(plus)), np.exp(minus - plus)


def spherical(order, xi, starts, U, V, outside_mu, outside_zeta, keep, in_place, gaussian):
    """Return U, V after a sweep of the exact form; all shapes as in `spherical_messages.sweep`."""
    U, V = U.copy(), V.copy()
    K, M = outside_mu.shape
    old_U, old_V = U.copy(), V.copy()
    for a in order:
        now_U, now_V = (U, V) if in_place else (old_U, old_V)
        s = 1 / (now_V.sum(axis=0) + outside_zeta - now_V[a])  # (K, M), without pattern a
        m = s * (now_U.sum(axis=0) + outside_mu - now_U[a])
        row = np.array([xi[a, first : first + M] for first in starts])
        c, v = (row * m).sum(axis=1), s.sum(axis=1)
        plus, minus = _ask(c / np.sqrt(v), gaussian)
        for k in range(K):
            for i in range(M):
                rest, width = c[k] - row[k, i] * m[k, i], math.sqrt(v[k] - s[k, i])
                g = slope(rest / width, plus[k], minus[k]) / width
                U[a, k, i] += keep * (row[k, i] * g - U[a, k, i])
                V[a, k, i] += keep * (g * (g + rest / width**2) - V[a, k, i])
    return U, V


def spherical_expanded(
    order, xi, starts, U, V, outside_mu, outside_zeta, keep, in_place, gaussian
):
    """Return U, V after a sweep of the expanded form: one V for each pattern and unit."""
    U, V = U.copy(), V.copy()
    K, M = outside_mu.shape
    old_U, old_V = U.copy(), V.copy()
    for a in order:
        now_U, now_V = (U, V) if in_place else (old_U, old_V)
        s = 1 / (now_V.sum(axis=0) + outside_zeta - now_V[a])  # (K,)
        m = s[:, None] * (now_U.sum(axis=0) + outside_mu - now_U[a])
        row = np.array([xi[a, first : first + M] for first in starts])
        c, v = (row * m).sum(axis=1), M * s
        plus, minus = _ask(c / np.sqrt(v), gaussian)
        for k in range(K):
            g = slope(c[k] / math.sqrt(v[k]), plus[k], minus[k]) / math.sqrt(v[k])
            derivative = -(c[k] / v[k]) * g - g**2
            U[a, k] += keep * (row[k] * g - derivative * m[k] - U[a, k])
            V[a, k] += keep * (-derivative - V[a, k])
    return U, V


def binary(order, xi, starts, t, outside, keep, in_place, gaussian):
    """Return t after a sweep of the exact form; all shapes as in `binary_messages.sweep`."""
    t = t.copy()
    K, M = outside.shape
    old = t.copy()
    for a in order:
        now = t if in_place else old
        u = np.arctanh(now)
        m = np.tanh(u.sum(axis=0) + outside - u[a])
        s = 1 - m**2
        row = np.array([xi[a, first : first + M] for first in starts])
        c, v = (row * m).sum(axis=1), np.maximum(s.sum(axis=1), 2)
        plus, minus = _ask(c / np.sqrt(v), gaussian)
        for k in range(K):
            for i in range(M):
                rest, width = c[k] - row[k, i] * m[k, i], math.sqrt(v[k] - s[k, i])
                up = log_z((rest + row[k, i]) / width, plus[k], minus[k])
                down = log_z((rest - row[k, i]) / width, plus[k], minus[k])
                t[a, k, i] += keep * (math.tanh((up - down) / 2) - t[a, k, i])
    return t


def binary_expanded(order, xi, starts, u, outside, keep, in_place, gaussian, second_order=True):
    """Return the fields u after a sweep of the expanded form.

    A weight's mean without one message, and after a change of one, is taken to second order in
    the message, or in the change; or exactly, if not `second_order`.
    """
    u = u.copy()
    K, M = outside.shape
    old = u.copy()
    m = np.tanh(u.sum(axis=0) + outside)
    for a in order:
        now = u if in_place else old
        if second_order:
            cavity = m - (1 - m**2) * now[a] - m * (1 - m**2) * now[a] ** 2
        else:
            cavity = np.tanh(now.sum(axis=0) + outside - now[a])
        row = np.array([xi[a, first : first + M] for first in starts])
        c, v = (row * cavity).sum(axis=1), np.maximum((1 - cavity**2).sum(axis=1), 2)
        plus, minus = _ask(c / np.sqrt(v), gaussian)
        for k in range(K):
            g = slope(c[k] / math.sqrt(v[k]), plus[k], minus[k]) / math.sqrt(v[k])
            derivative = -(c[k] / v[k]) * g - g**2
            change = keep * (row[k] * g - derivative * cavity[k] - u[a, k])
            u[a, k] += change
            if in_place:
                step = (1 - m[k] ** 2) * change - m[k] * (1 - m[k] ** 2) * change**2
                m[k] = np.clip(m[k] + step, -1, 1)  # a long step leaves the range of the tanh
    return u
